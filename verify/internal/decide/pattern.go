// Sums and products that are written with an ellipsis.

package decide

import (
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// patternIndex is the running index of a sum or product that was written with an ellipsis.
const patternIndex = "#..."

// pattern reads terms with one ellipsis before the last, as in 1+2+...+100 and 1·2 + 2·3 + ... + n(n+1), as a finite sum
// or product: the numbers in which the terms differ go on arithmetically or geometrically, and all of them reach the last
// term after the same number of steps. It returns nil if there is no such pattern, or more than one.
func pattern(name string, terms []*formula.Node, steps *formula.Budget) *formula.Node {
	dots := len(terms) - 2
	if dots < 2 || dots > 64 || terms[dots].Kind != formula.KindEllipsis {
		return nil
	}
	for _, t := range terms[:dots] {
		if t.Kind == formula.KindEllipsis {
			return nil
		}
	}
	lead, last := terms[:dots], terms[dots+1]
	var found *formula.Node
	for _, geometric := range []bool{false, true} {
		p := progress{geometric: geometric, budget: steps}
		body := p.unify(lead[0], lead[1], last)
		if body == nil || p.steps == nil || !p.passes(body, lead) {
			continue
		}
		if found != nil {
			if dots == 2 && !p.byOne {
				return nil // 1/2 + 1/4 + ... + 1/256
			}
			break
		}
		found = formula.Call(name, body, formula.Symbol(patternIndex), formula.Number(0), p.steps)
		if p.byOne && dots == 2 {
			break
		}
	}
	return found
}

// progress unifies the terms of a pattern.
type progress struct {
	geometric bool
	budget    *formula.Budget
	steps     *formula.Node // from the first term to the last
	byOne     bool          // some number goes on by one
}

// unify returns the term at patternIndex, given the first, the second and the last one; nil if there is none.
func (p *progress) unify(first, second, last *formula.Node) *formula.Node {
	if !p.budget.Spend(costCompare + first.Weight()) {
		return nil
	}
	if formula.Identical(first, second) && formula.Identical(first, last) {
		return first
	}
	a, b := formula.Literal(first), formula.Literal(second)
	if first.Kind != second.Kind {
		a, b = fractional(first), fractional(second) // 1 + 1/2 + 1/4
	}
	if a != nil && b != nil && a.Cmp(b) != 0 {
		return p.hole(a, b, last)
	}
	if first.Kind != second.Kind || first.Kind != last.Kind || first.Name != second.Name || first.Name != last.Name || len(first.Args) != len(second.Args) || len(first.Args) != len(last.Args) || len(first.Args) == 0 {
		return nil
	}
	n := *first
	n.Args = make([]*formula.Node, len(first.Args))
	for i := range first.Args {
		if n.Args[i] = p.unify(first.Args[i], second.Args[i], last.Args[i]); n.Args[i] == nil {
			return nil
		}
	}
	return &n
}

// hole returns the number at patternIndex of a progression that starts with a and b and ends with last.
func (p *progress) hole(a, b *big.Rat, last *formula.Node) *formula.Node {
	var at, steps *formula.Node
	if p.geometric {
		if a.Sign() == 0 || b.Sign() == 0 {
			return nil
		}
		ratio := new(big.Rat).Quo(b, a)
		at = formula.Apply(formula.KindMultiply, formula.Rational(a), formula.Power(formula.Rational(ratio), formula.Symbol(patternIndex)))
		steps = geometricSteps(a, ratio, last)
	} else {
		step := new(big.Rat).Sub(b, a)
		p.byOne = p.byOne || step.Cmp(big.NewRat(1, 1)) == 0
		at = formula.Apply(formula.KindAdd, formula.Rational(a), formula.Apply(formula.KindMultiply, formula.Rational(step), formula.Symbol(patternIndex)))
		steps = formula.Divide(formula.Subtract(last, formula.Rational(a)), formula.Rational(step))
	}
	if steps == nil || !p.agree(steps) {
		return nil
	}
	return at
}

// geometricSteps returns the power of ratio that takes a to last: a number, or an exponent; nil if there is none.
func geometricSteps(a, ratio *big.Rat, last *formula.Node) *formula.Node {
	if z := fractional(last); z != nil {
		v := new(big.Rat).Set(a)
		for k := int64(0); k <= 4096 && formula.Size(v) < 8192; k++ {
			if v.Cmp(z) == 0 {
				return formula.Number(k)
			}
			v.Mul(v, ratio)
		}
		return nil
	}
	if last.Kind != formula.KindPower || formula.Literal(last.Args[0]) == nil || formula.Literal(last.Args[0]).Cmp(ratio) != 0 {
		return nil
	}
	if k := geometricSteps(big.NewRat(1, 1), ratio, formula.Rational(a)); k != nil {
		return formula.Subtract(last.Args[1], k)
	}
	return nil
}

// agree notes how many steps a progression takes and reports whether all take as many.
func (p *progress) agree(steps *formula.Node) bool {
	if v, err := (evaluate.Exact{Steps: p.budget}).Value(steps); err == nil {
		if !v.IsInt() || v.Sign() <= 0 {
			return false
		}
		steps = formula.Rational(v)
	}
	if p.steps == nil {
		p.steps = steps
		return true
	}
	c := Comparer{Steps: p.budget}
	return c.scalars(p.steps, steps).Outcome == OutcomeEqual
}

// fractional returns the value of a number or a fraction of two, and nil for anything else.
func fractional(n *formula.Node) *big.Rat {
	if n.Kind != formula.KindDivide {
		return formula.Literal(n)
	}
	a, b := formula.Literal(n.Args[0]), formula.Literal(n.Args[1])
	if a == nil || b == nil || b.Sign() == 0 {
		return nil
	}
	return new(big.Rat).Quo(a, b)
}

// passes reports whether the terms that are written follow the pattern.
func (p *progress) passes(body *formula.Node, lead []*formula.Node) bool {
	c := Comparer{Steps: p.budget}
	for k := 2; k < len(lead); k++ {
		at := body.Substitute(map[string]*formula.Node{patternIndex: formula.Number(int64(k))})
		if c.scalars(at, lead[k]).Outcome != OutcomeEqual {
			return false
		}
	}
	return true
}
