// Lists with an ellipsis that are progressions.

package decide

import (
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// progression writes a list with an ellipsis in normal form if its numbers are an arithmetic or geometric progression:
// a finite one is written out, an infinite one becomes its first three terms and the ellipsis. Other lists are returned
// as they are.
func (c *Comparer) progression(args []*formula.Node) []*formula.Node {
	dots := -1
	for i, a := range args {
		if a.Kind == formula.KindEllipsis {
			if dots >= 0 {
				return args
			}
			dots = i
			continue
		}
		if formula.Literal(a) == nil {
			return openEnded(args)
		}
	}
	if dots == 1 && len(args) == 3 { // 1, ..., 100
		a, b := formula.Literal(args[0]), formula.Literal(args[2])
		if a.IsInt() && b.IsInt() && new(big.Rat).Sub(b, a).Cmp(big.NewRat(2, 1)) > 0 {
			return c.progression([]*formula.Node{args[0], formula.Rational(new(big.Rat).Add(a, big.NewRat(1, 1))), args[1], args[2]})
		}
	}
	if dots < 2 {
		return args
	}
	first, second := formula.Literal(args[0]), formula.Literal(args[1])
	step := new(big.Rat).Sub(second, first)
	following := func(v *big.Rat) *big.Rat { return new(big.Rat).Add(v, step) }
	if dots > 2 && first.Sign() != 0 && new(big.Rat).Sub(formula.Literal(args[2]), second).Cmp(step) != 0 {
		ratio := new(big.Rat).Quo(second, first)
		following = func(v *big.Rat) *big.Rat { return new(big.Rat).Mul(v, ratio) }
	}
	v := first
	for i := 0; i < dots; i++ {
		if formula.Literal(args[i]).Cmp(v) != 0 {
			return args
		}
		v = following(v)
	}
	out := []*formula.Node{formula.Rational(first)}
	tail := args[dots+1:]
	v = first
	for len(tail) > 0 || len(out) < 3 {
		next := following(v)
		if next.Cmp(v) == 0 {
			return args
		}
		if formula.Size(next) > 4096 || len(out) > evaluate.MaxTerms {
			c.Steps.Exhaust()
			return args
		}
		v = next
		out = append(out, formula.Rational(v))
		if len(tail) > 0 && v.Cmp(formula.Literal(tail[0])) == 0 {
			for _, t := range tail[1:] { // ..., 98, 99, 100
				if v = following(v); v.Cmp(formula.Literal(t)) != 0 {
					return args
				}
				out = append(out, formula.Rational(v))
			}
			return out
		}
	}
	return append(out, &formula.Node{Kind: formula.KindEllipsis})
}

// openEnded writes 1, 2, 3, ..., n with two terms before the ellipsis, if those that are written are an arithmetic
// progression. Other lists are returned as they are.
func openEnded(args []*formula.Node) []*formula.Node {
	dots := len(args) - 2
	if dots < 3 || args[dots].Kind != formula.KindEllipsis || formula.Literal(args[0]) == nil || formula.Literal(args[1]) == nil {
		return args
	}
	step := new(big.Rat).Sub(formula.Literal(args[1]), formula.Literal(args[0]))
	for i := 1; i < dots; i++ {
		if formula.Literal(args[i]) == nil || new(big.Rat).Sub(formula.Literal(args[i]), formula.Literal(args[i-1])).Cmp(step) != 0 {
			return args
		}
	}
	return append([]*formula.Node{args[0], args[1]}, args[dots:]...)
}
