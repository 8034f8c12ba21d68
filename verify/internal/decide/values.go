// Expressions without variables, compared by their values.

package decide

import (
	"errors"
	"math"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// constants compares two expressions without variables by their values. tooLarge says that one is rational and could
// not be written out.
func (c *Comparer) constants(a, b *formula.Node, tooLarge bool) Result {
	if tooLarge {
		if r, ok := c.sizes(a, b); ok {
			return r
		}
		if r, ok := c.residues(a, b); ok {
			return r
		}
	}
	k := evaluate.Sketch{Steps: c.Steps}
	va, ea := k.Value(a)
	vb, eb := k.Value(b)
	tried := ea == nil && eb == nil // both have a value
	if tried {
		if evaluate.Clearly(va, vb) {
			return different(ruleNumeric)
		}
		if r := c.formal(a, b, nil, seedOf(a, b), false); r.Outcome != OutcomeUnknown {
			return r
		}
	}
	for _, complex := range []bool{imaginary(a, b), true} {
		r := c.settle(a, b, complex, nil, tried)
		if r.Outcome == OutcomeDifferent || r.Outcome == OutcomeEqual && r.proof != ProofProbable {
			return r
		}
		if p := c.proved(a, b, complex); p.Outcome != OutcomeUnknown {
			return p
		}
		if r.Outcome != OutcomeUnknown || c.Steps.Spent() {
			return r
		}
		if complex && r.Rule == ruleOneUndefined {
			return different(ruleOneUndefined)
		}
		if complex {
			return r
		}
	}
	return Unknown("")
}

// withoutCommon takes the terms that two sums share off both; it returns a and b themselves if there are none.
func withoutCommon(a, b *formula.Node) (x, y *formula.Node) {
	terms := func(n *formula.Node) []*formula.Node {
		if n.Kind == formula.KindAdd {
			return n.Args
		}
		return []*formula.Node{n}
	}
	p, q := terms(a), terms(b)
	if len(p) == 1 && len(q) == 1 || len(p)*len(q) > 4096 {
		return a, b
	}
	gone := make([]bool, len(q))
	var left, right []*formula.Node
	for _, t := range p {
		found := false
		for j, u := range q {
			if found = !gone[j] && formula.Identical(t, u); found {
				gone[j] = true
				break
			}
		}
		if !found {
			left = append(left, t)
		}
	}
	if len(left) == len(p) {
		return a, b
	}
	for j, u := range q {
		if !gone[j] {
			right = append(right, u)
		}
	}
	total := func(ts []*formula.Node) *formula.Node {
		switch len(ts) {
		case 0:
			return formula.Number(0)
		case 1:
			return ts[0]
		}
		return formula.Apply(formula.KindAdd, ts...)
	}
	return total(left), total(right)
}

// Precisions that values are computed in, in turn, until they are told apart or agree to as many bits as could hide a
// difference: the numbers that are written and the values on the way, squared, and 256 more.
const (
	firstPrecision = 96
	lastPrecision  = evaluate.Widest - 192
)

// settle compares the values of two expressions at a point by disks that hold them. Values in disjoint disks are
// different; values in disks so small that nothing could hide in them are equal, which is probable and no proof, but
// where the laws of algebra give it; tried says that they do not, or are not to be asked.
func (c *Comparer) settle(a, b *formula.Node, complex bool, at map[string]*big.Rat, tried bool) Result {
	for prec := uint(firstPrecision); ; {
		x := evaluate.Numeric{Real: evaluate.Real{Prec: prec, Steps: c.Steps}, Complex: complex, At: at}
		va, ea := x.Value(a)
		vb, eb := va, ea
		if ea == nil || errors.Is(ea, evaluate.ErrPrecision) || errors.Is(ea, evaluate.ErrUndefined) {
			vb, eb = x.Value(b)
		}
		more := prec * 3
		switch {
		case errors.Is(ea, evaluate.ErrUndefined) && eb == nil || errors.Is(eb, evaluate.ErrUndefined) && ea == nil:
			return Unknown(ruleOneUndefined)
		case errors.Is(ea, evaluate.ErrPrecision) || errors.Is(eb, evaluate.ErrPrecision):
			if c.Steps.Spent() {
				return Unknown("")
			}
		case ea != nil:
			return undecided(ea)
		case eb != nil:
			return undecided(eb)
		default:
			gap := x.Add(va, x.Negate(vb))
			if !gap.MayVanish() {
				r := different(ruleNumeric)
				if x.Assumed {
					r.proof = ProofProbable
				}
				return r
			}
			if !tried {
				tried = true
				if r := c.formal(a, b, nil, seedOf(a, b), complex); r.Outcome != OutcomeUnknown {
					return r
				}
			}
			need := 256 + 2*(written(a)+written(b)+x.Spread)
			size := max(va.Magnitude(), vb.Magnitude())
			if va.MayVanish() || vb.MayVanish() {
				size = 0
			}
			if gap.Err.Exponent() <= min(size, 0)-need {
				r := equal(ruleNumeric)
				r.proof = ProofProbable
				return r
			}
			if more = uint(need + max(size, 0) + 64); more > lastPrecision {
				return Unknown(ruleNumeric)
			}
			if more <= prec {
				more = prec * 2
			}
		}
		if prec == lastPrecision {
			return Unknown(ruleNumeric)
		}
		prec = min(more, lastPrecision)
	}
}

// written returns the bits of the numbers in n, powers of numbers multiplied out.
func written(n *formula.Node) int {
	bits := 0
	n.Walk(func(m *formula.Node) bool {
		switch m.Kind {
		case formula.KindNumber, formula.KindBased:
			bits += formula.Size(m.Rat)
		case formula.KindPower:
			if e, ok := m.Args[1].Integer(); ok && m.Args[0].Kind == formula.KindNumber {
				bits += min(int(evaluate.Abs64(int64(e))), formula.MaxBits) * formula.Size(m.Args[0].Rat)
			}
		}
		bits = min(bits, formula.MaxBits)
		return true
	})
	return bits
}

func undecided(err error) Result {
	if errors.Is(err, evaluate.ErrUndefined) || errors.Is(err, evaluate.ErrConvention) {
		return Unknown(ruleOneUndefined)
	}
	return Unknown("")
}

// maxSeparation is the precision up to which equality of algebraic numbers is proved.
const maxSeparation = 6000

// proved decides about two algebraic numbers where the separation bound is within reach: they are computed so precisely
// that a difference would have to show.
func (c *Comparer) proved(a, b *formula.Node, complex bool) Result {
	bits, ok := separation(a, b)
	if !ok || bits > maxSeparation || math.IsNaN(bits) {
		return Unknown("")
	}
	for prec := uint(bits) + 192; prec <= lastPrecision; prec *= 2 {
		x := evaluate.Numeric{Real: evaluate.Real{Prec: prec, Steps: c.Steps}, Complex: complex}
		va, err := x.Value(a)
		if err != nil {
			return Unknown("")
		}
		vb, err := x.Value(b)
		if err != nil || x.Assumed {
			return Unknown("")
		}
		gap := x.Add(va, x.Negate(vb))
		switch {
		case !gap.MayVanish():
			return Result{Outcome: OutcomeDifferent, Rule: ruleAlgebraic}
		case gap.Size().Plus(gap.Err).Exponent() < -int(bits):
			return Result{Outcome: OutcomeEqual, Rule: ruleAlgebraic, proof: ProofAlgebraic}
		}
	}
	return Unknown("")
}
