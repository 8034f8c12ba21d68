package verify

import "math/big"

// patternIndex is the running index of a sum or product that was written with an ellipsis.
const patternIndex = "#..."

// pattern reads terms with one ellipsis before the last, as in 1+2+...+100 and 1·2 + 2·3 + ... + n(n+1), as a finite sum
// or product: the numbers in which the terms differ go on arithmetically or geometrically, and all of them reach the last
// term after the same number of steps. It returns nil if there is no such pattern, or more than one.
func pattern(name string, terms []*node, steps *budget) *node {
	dots := len(terms) - 2
	if dots < 2 || dots > 64 || terms[dots].kind != kindEllipsis {
		return nil
	}
	for _, t := range terms[:dots] {
		if t.kind == kindEllipsis {
			return nil
		}
	}
	lead, last := terms[:dots], terms[dots+1]
	var found *node
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
		found = call(name, body, symbol(patternIndex), number(0), p.steps)
		if p.byOne && dots == 2 {
			break
		}
	}
	return found
}

// progress unifies the terms of a pattern.
type progress struct {
	geometric bool
	budget    *budget
	steps     *node // from the first term to the last
	byOne     bool  // some number goes on by one
}

// unify returns the term at patternIndex, given the first, the second and the last one; nil if there is none.
func (p *progress) unify(first, second, last *node) *node {
	if !p.budget.spend(costCompare + first.weight()) {
		return nil
	}
	if identical(first, second) && identical(first, last) {
		return first
	}
	a, b := literal(first), literal(second)
	if first.kind != second.kind {
		a, b = fractional(first), fractional(second) // 1 + 1/2 + 1/4
	}
	if a != nil && b != nil && a.Cmp(b) != 0 {
		return p.hole(a, b, last)
	}
	if first.kind != second.kind || first.kind != last.kind || first.name != second.name || first.name != last.name || len(first.args) != len(second.args) || len(first.args) != len(last.args) || len(first.args) == 0 {
		return nil
	}
	n := *first
	n.args = make([]*node, len(first.args))
	for i := range first.args {
		if n.args[i] = p.unify(first.args[i], second.args[i], last.args[i]); n.args[i] == nil {
			return nil
		}
	}
	return &n
}

// hole returns the number at patternIndex of a progression that starts with a and b and ends with last.
func (p *progress) hole(a, b *big.Rat, last *node) *node {
	var at, steps *node
	if p.geometric {
		if a.Sign() == 0 || b.Sign() == 0 {
			return nil
		}
		ratio := new(big.Rat).Quo(b, a)
		at = apply(kindMultiply, rational(a), power(rational(ratio), symbol(patternIndex)))
		steps = geometricSteps(a, ratio, last)
	} else {
		step := new(big.Rat).Sub(b, a)
		p.byOne = p.byOne || step.Cmp(big.NewRat(1, 1)) == 0
		at = apply(kindAdd, rational(a), apply(kindMultiply, rational(step), symbol(patternIndex)))
		steps = divide(subtract(last, rational(a)), rational(step))
	}
	if steps == nil || !p.agree(steps) {
		return nil
	}
	return at
}

// geometricSteps returns the power of ratio that takes a to last: a number, or an exponent; nil if there is none.
func geometricSteps(a, ratio *big.Rat, last *node) *node {
	if z := fractional(last); z != nil {
		v := new(big.Rat).Set(a)
		for k := int64(0); k <= 4096 && size(v) < 8192; k++ {
			if v.Cmp(z) == 0 {
				return number(k)
			}
			v.Mul(v, ratio)
		}
		return nil
	}
	if last.kind != kindPower || literal(last.args[0]) == nil || literal(last.args[0]).Cmp(ratio) != 0 {
		return nil
	}
	if k := geometricSteps(big.NewRat(1, 1), ratio, rational(a)); k != nil {
		return subtract(last.args[1], k)
	}
	return nil
}

// agree notes how many steps a progression takes and reports whether all take as many.
func (p *progress) agree(steps *node) bool {
	if v, err := (exact{steps: p.budget}).value(steps); err == nil {
		if !v.IsInt() || v.Sign() <= 0 {
			return false
		}
		steps = rational(v)
	}
	if p.steps == nil {
		p.steps = steps
		return true
	}
	c := comparer{steps: p.budget}
	return c.scalars(p.steps, steps).outcome == OutcomeEqual
}

// fractional returns the value of a number or a fraction of two, and nil for anything else.
func fractional(n *node) *big.Rat {
	if n.kind != kindDivide {
		return literal(n)
	}
	a, b := literal(n.args[0]), literal(n.args[1])
	if a == nil || b == nil || b.Sign() == 0 {
		return nil
	}
	return new(big.Rat).Quo(a, b)
}

// passes reports whether the terms that are written follow the pattern.
func (p *progress) passes(body *node, lead []*node) bool {
	c := comparer{steps: p.budget}
	for k := 2; k < len(lead); k++ {
		at := body.substitute(map[string]*node{patternIndex: number(int64(k))})
		if c.scalars(at, lead[k]).outcome != OutcomeEqual {
			return false
		}
	}
	return true
}
