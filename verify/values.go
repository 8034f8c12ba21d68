package verify

import (
	"errors"
	"math"
	"math/big"
)

// constants compares two expressions without variables by their values. tooLarge says that one is rational and could
// not be written out.
func (c *comparer) constants(a, b *node, tooLarge bool) result {
	if tooLarge {
		if r, ok := c.sizes(a, b); ok {
			return r
		}
		if r, ok := c.residues(a, b); ok {
			return r
		}
	}
	k := sketch{steps: c.steps}
	va, ea := k.value(a)
	vb, eb := k.value(b)
	tried := ea == nil && eb == nil // both have a value
	if tried {
		if clearly(va, vb) {
			return different(ruleNumeric)
		}
		if r := c.formal(a, b, nil, seedOf(a, b), false); r.outcome != OutcomeUnknown {
			return r
		}
	}
	for _, complex := range []bool{imaginary(a, b), true} {
		r := c.settle(a, b, complex, nil, tried)
		if r.outcome == OutcomeDifferent || r.outcome == OutcomeEqual && r.proof != ProofProbable {
			return r
		}
		if p := c.proved(a, b, complex); p.outcome != OutcomeUnknown {
			return p
		}
		if r.outcome != OutcomeUnknown || c.steps.spent() {
			return r
		}
		if complex && r.rule == ruleOneUndefined {
			return different(ruleOneUndefined)
		}
		if complex {
			return r
		}
	}
	return unknown("")
}

// withoutCommon takes the terms that two sums share off both; it returns a and b themselves if there are none.
func withoutCommon(a, b *node) (x, y *node) {
	terms := func(n *node) []*node {
		if n.kind == kindAdd {
			return n.args
		}
		return []*node{n}
	}
	p, q := terms(a), terms(b)
	if len(p) == 1 && len(q) == 1 || len(p)*len(q) > 4096 {
		return a, b
	}
	gone := make([]bool, len(q))
	var left, right []*node
	for _, t := range p {
		found := false
		for j, u := range q {
			if found = !gone[j] && identical(t, u); found {
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
	total := func(ts []*node) *node {
		switch len(ts) {
		case 0:
			return number(0)
		case 1:
			return ts[0]
		}
		return apply(kindAdd, ts...)
	}
	return total(left), total(right)
}

// Precisions that values are computed in, in turn, until they are told apart or agree to as many bits as could hide a
// difference: the numbers that are written and the values on the way, squared, and 256 more.
const (
	firstPrecision = 96
	lastPrecision  = widest - 192
)

// settle compares the values of two expressions at a point by disks that hold them. Values in disjoint disks are
// different; values in disks so small that nothing could hide in them are equal, which is probable and no proof, but
// where the laws of algebra give it; tried says that they do not, or are not to be asked.
func (c *comparer) settle(a, b *node, complex bool, at map[string]*big.Rat, tried bool) result {
	for prec := uint(firstPrecision); ; {
		x := numeric{real: real{prec: prec, steps: c.steps}, complex: complex, at: at}
		va, ea := x.value(a)
		vb, eb := va, ea
		if ea == nil || errors.Is(ea, errPrecision) || errors.Is(ea, errUndefined) {
			vb, eb = x.value(b)
		}
		more := prec * 3
		switch {
		case errors.Is(ea, errUndefined) && eb == nil || errors.Is(eb, errUndefined) && ea == nil:
			return unknown(ruleOneUndefined)
		case errors.Is(ea, errPrecision) || errors.Is(eb, errPrecision):
			if c.steps.spent() {
				return unknown("")
			}
		case ea != nil:
			return undecided(ea)
		case eb != nil:
			return undecided(eb)
		default:
			gap := x.add(va, x.negate(vb))
			if !gap.mayVanish() {
				r := different(ruleNumeric)
				if x.assumed {
					r.proof = ProofProbable
				}
				return r
			}
			if !tried {
				tried = true
				if r := c.formal(a, b, nil, seedOf(a, b), complex); r.outcome != OutcomeUnknown {
					return r
				}
			}
			need := 256 + 2*(written(a)+written(b)+x.spread)
			size := max(va.magnitude(), vb.magnitude())
			if va.mayVanish() || vb.mayVanish() {
				size = 0
			}
			if gap.err.exponent() <= min(size, 0)-need {
				r := equal(ruleNumeric)
				r.proof = ProofProbable
				return r
			}
			if more = uint(need + max(size, 0) + 64); more > lastPrecision {
				return unknown(ruleNumeric)
			}
			if more <= prec {
				more = prec * 2
			}
		}
		if prec == lastPrecision {
			return unknown(ruleNumeric)
		}
		prec = min(more, lastPrecision)
	}
}

// written returns the bits of the numbers in n, powers of numbers multiplied out.
func written(n *node) int {
	bits := 0
	n.walk(func(m *node) bool {
		switch m.kind {
		case kindNumber, kindBased:
			bits += size(m.rat)
		case kindPower:
			if e, ok := m.args[1].integer(); ok && m.args[0].kind == kindNumber {
				bits += min(int(abs64(int64(e))), maxBits) * size(m.args[0].rat)
			}
		}
		bits = min(bits, maxBits)
		return true
	})
	return bits
}

func undecided(err error) result {
	if errors.Is(err, errUndefined) || errors.Is(err, errConvention) {
		return unknown(ruleOneUndefined)
	}
	return unknown("")
}

// maxSeparation is the precision up to which equality of algebraic numbers is proved.
const maxSeparation = 6000

// proved decides about two algebraic numbers where the separation bound is within reach: they are computed so precisely
// that a difference would have to show.
func (c *comparer) proved(a, b *node, complex bool) result {
	bits, ok := separation(a, b)
	if !ok || bits > maxSeparation || math.IsNaN(bits) {
		return unknown("")
	}
	for prec := uint(bits) + 192; prec <= lastPrecision; prec *= 2 {
		x := numeric{real: real{prec: prec, steps: c.steps}, complex: complex}
		va, err := x.value(a)
		if err != nil {
			return unknown("")
		}
		vb, err := x.value(b)
		if err != nil || x.assumed {
			return unknown("")
		}
		gap := x.add(va, x.negate(vb))
		switch {
		case !gap.mayVanish():
			return result{outcome: OutcomeDifferent, rule: ruleAlgebraic}
		case gap.size().plus(gap.err).exponent() < -int(bits):
			return result{outcome: OutcomeEqual, rule: ruleAlgebraic, proof: ProofAlgebraic}
		}
	}
	return unknown("")
}
