package verify

import "math/big"

// progression writes a list with an ellipsis in normal form if its numbers are an arithmetic or geometric progression:
// a finite one is written out, an infinite one becomes its first three terms and the ellipsis. Other lists are returned
// as they are.
func (c *comparer) progression(args []*node) []*node {
	dots := -1
	for i, a := range args {
		if a.kind == kindEllipsis {
			if dots >= 0 {
				return args
			}
			dots = i
			continue
		}
		if literal(a) == nil {
			return openEnded(args)
		}
	}
	if dots == 1 && len(args) == 3 { // 1, ..., 100
		a, b := literal(args[0]), literal(args[2])
		if a.IsInt() && b.IsInt() && new(big.Rat).Sub(b, a).Cmp(big.NewRat(2, 1)) > 0 {
			return c.progression([]*node{args[0], rational(new(big.Rat).Add(a, big.NewRat(1, 1))), args[1], args[2]})
		}
	}
	if dots < 2 {
		return args
	}
	first, second := literal(args[0]), literal(args[1])
	step := new(big.Rat).Sub(second, first)
	following := func(v *big.Rat) *big.Rat { return new(big.Rat).Add(v, step) }
	if dots > 2 && first.Sign() != 0 && new(big.Rat).Sub(literal(args[2]), second).Cmp(step) != 0 {
		ratio := new(big.Rat).Quo(second, first)
		following = func(v *big.Rat) *big.Rat { return new(big.Rat).Mul(v, ratio) }
	}
	v := first
	for i := 0; i < dots; i++ {
		if literal(args[i]).Cmp(v) != 0 {
			return args
		}
		v = following(v)
	}
	out := []*node{rational(first)}
	tail := args[dots+1:]
	v = first
	for len(tail) > 0 || len(out) < 3 {
		next := following(v)
		if next.Cmp(v) == 0 {
			return args
		}
		if size(next) > 4096 || len(out) > maxTerms {
			c.steps.exhaust()
			return args
		}
		v = next
		out = append(out, rational(v))
		if len(tail) > 0 && v.Cmp(literal(tail[0])) == 0 {
			for _, t := range tail[1:] { // ..., 98, 99, 100
				if v = following(v); v.Cmp(literal(t)) != 0 {
					return args
				}
				out = append(out, rational(v))
			}
			return out
		}
	}
	return append(out, &node{kind: kindEllipsis})
}

// openEnded writes 1, 2, 3, ..., n with two terms before the ellipsis, if those that are written are an arithmetic
// progression. Other lists are returned as they are.
func openEnded(args []*node) []*node {
	dots := len(args) - 2
	if dots < 3 || args[dots].kind != kindEllipsis || literal(args[0]) == nil || literal(args[1]) == nil {
		return args
	}
	step := new(big.Rat).Sub(literal(args[1]), literal(args[0]))
	for i := 1; i < dots; i++ {
		if literal(args[i]) == nil || new(big.Rat).Sub(literal(args[i]), literal(args[i-1])).Cmp(step) != 0 {
			return args
		}
	}
	return append([]*node{args[0], args[1]}, args[dots:]...)
}

// literal returns the value of a number, possibly with a sign, and nil for anything else.
func literal(n *node) *big.Rat {
	switch {
	case n.kind == kindNumber:
		return n.rat
	case n.kind == kindNegate && n.args[0].kind == kindNumber:
		return new(big.Rat).Neg(n.args[0].rat)
	}
	return nil
}
