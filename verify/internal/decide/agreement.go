// Decides by the laws of algebra: elements drawn at random that agree.

package decide

// Testing an identity in several fields, and what its verdict proves.

import (
	"errors"
	"math"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// degree bounds the degree of n in the elements that are drawn for it, and the largest degree of an argument on which it
// depends whether two values of a function are taken for one. What a function gives is an element of its own, of which
// powers up to unit times the coefficients of its argument are taken.
func degree(n *formula.Node) (own, inner float64) {
	for _, a := range n.Args {
		o, i := degree(a)
		own, inner = own+o, max(inner, i)
	}
	fresh := func(args ...*formula.Node) float64 {
		e := float64(unit)
		for _, a := range args {
			e *= coefficients(a)
		}
		return e
	}
	switch n.Kind {
	case formula.KindSymbol, formula.KindConstant:
		return unit, 0
	case formula.KindPower:
		if k, ok := n.Args[1].Integer(); ok {
			return own * math.Abs(float64(k)), inner
		}
		return own + fresh(n.Args[1]), max(inner, own)
	case formula.KindCall:
		switch n.Name {
		case "abs", "sign", "root", "max", "min", "det":
			return own, inner
		}
		return own + fresh(n.Args...), max(inner, own)
	}
	return own, inner
}

// coefficients bounds the numbers by which the terms of an argument are multiplied.
func coefficients(n *formula.Node) float64 {
	if n.Rat != nil {
		f, _ := n.Rat.Float64()
		return min(1+math.Abs(f), 1<<41) // larger ones are not taken as exponents
	}
	e := 1.0
	if n.Kind != formula.KindCall {
		for _, a := range n.Args {
			e = min(e*coefficients(a), 1<<41)
		}
	}
	return e
}

// points of a field that have to agree.
const agreements = 4

// formal decides whether two expressions are the same by the laws of algebra. It says equal if they are; different only
// if they are rational functions, but for pi and square roots of numbers; else it says unknown.
func (c *Comparer) formal(a, b *formula.Node, names []string, seed uint64, complex bool) Result {
	ownA, innerA := degree(a)
	ownB, innerB := degree(b)
	calls := float64(a.Weight() + b.Weight())
	margin := 60 - math.Log2(1+ownA+ownB+calls*calls*max(innerA, innerB))
	if !(margin >= 12) {
		return Unknown("")
	}
	coins := 0
	f := field{steps: c.Steps, complex: complex}
	for round := range agreements {
		r := f.agree(a, b, names, &seed, round)
		if r != OutcomeEqual {
			return Result{Outcome: r, Rule: ruleModular}
		}
		coins = max(coins, f.most)
	}
	r := Result{Outcome: OutcomeEqual, Rule: ruleModular, proof: ProofModular, bits: math.Floor(agreements * margin)}
	if coins > 0 {
		r.Rule, r.proof = ruleCells, ProofPiecewise
	}
	return r
}

// agree compares two expressions at a random point, for every pattern of branches there; at another if one of them has no
// value. It says different only if no function without laws and no branch took part.
func (f *field) agree(a, b *formula.Node, names []string, seed *uint64, round int) Outcome {
	const tries = 48
	for try := range tries {
		f.prime = fields()[(round+try)%len(fields())]
		start := next(seed)
		f.most = 0
		for f.pattern = 0; ; f.pattern++ {
			if f.pattern == 1<<f.most {
				return OutcomeEqual
			}
			va, vb, err := f.both(a, b, names, start)
			if errors.Is(err, errUndefined) {
				break
			}
			switch {
			case err != nil:
				return OutcomeUnknown
			case va == vb:
			case f.free || len(f.coins) > 0:
				return OutcomeUnknown
			default:
				return OutcomeDifferent
			}
			f.most = max(f.most, len(f.coins))
		}
	}
	return OutcomeUnknown
}

// both evaluates two expressions at the point that seed draws.
func (f *field) both(a, b *formula.Node, names []string, seed uint64) (va, vb uint64, err error) {
	f.seed, f.at, f.logs, f.coins, f.free = next(&seed), f.at[:0], nil, f.coins[:0], false
	if !f.steps.Spend(13 * costPower * len(names)) {
		return 0, 0, errBudget
	}
	for _, name := range names {
		f.at = append(f.at, f.draw(name, next(&seed)))
	}
	if va, err = f.value(a); err == nil {
		vb, err = f.value(b)
	}
	return va, vb, err
}

// signOf returns the sign of a real constant, where a few digits show it.
func (f *field) signOf(n *formula.Node) (int, bool) {
	if f.complex || len(formula.Variables(n)) > 0 {
		return 0, false
	}
	x := numeric{real: real{prec: 128, steps: f.steps}}
	v, err := x.value(n)
	if err != nil || !v.real() || v.mayVanish() {
		return 0, false
	}
	return v.re.Sign(), true
}
