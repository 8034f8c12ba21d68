// Families of values: solutions with an integer parameter, antiderivatives with a constant, and lists with an ellipsis that are progressions.

package decide

import (
	"math/big"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// counter reports whether a name is one that integer parameters have.
func counter(name string) bool {
	return name == "j" || name == "k" || name == "l" || name == "m" || name == "n"
}

// adopting returns n with the parameter of a clause such as k ∈ Z, which stands beside rest: n itself if it holds that
// name, and with its own parameter renamed if it holds exactly one that rest lacks. It returns nil for anything else.
func adopting(n, rest, clause *formula.Node) *formula.Node {
	names := formula.Variables(n)
	if slices.Contains(names, clause.Args[0].Name) {
		return n
	}
	others := formula.Variables(rest)
	names = slices.DeleteFunc(names, func(v string) bool { return slices.Contains(others, v) })
	if len(names) != 1 || !counter(names[0]) {
		return nil
	}
	return n.Substitute(map[string]*formula.Node{names[0]: clause.Args[0]})
}

// families compares answers in the parameter of a clause such as k ∈ Z. Over all integers, -1+3k and 2-3k are the same.
func (c *Comparer) families(a, b, clause *formula.Node) Result {
	r := c.compare(a, b)
	if r.Outcome != OutcomeDifferent || clause.Args[1].Name != "Z" {
		return r
	}
	k := clause.Args[0].Name
	x, y := solution(a, b), solution(b, a)
	if names := formula.Variables(x, y); !formula.ScalarLike(x) || !formula.ScalarLike(y) || len(names) != 1 || names[0] != k {
		return r
	}
	at := func(n *formula.Node, i int64) *formula.Node {
		return n.Substitute(map[string]*formula.Node{k: formula.Number(i)})
	}
	same := func(x, y *formula.Node) bool { return c.scalars(x, y).Outcome == OutcomeEqual }
	step := formula.Subtract(at(x, 1), at(x, 0))
	for _, n := range []*formula.Node{x, y} {
		run := formula.Subtract(n, at(n, 0))
		rise := formula.Apply(formula.KindMultiply, formula.Symbol(k), step)
		if !same(run, rise) && (n == x || !same(run, formula.Negate(rise))) {
			return r
		}
	}
	apart := formula.Subtract(at(y, 0), at(x, 0))
	steps, ok := c.approximate(formula.Divide(apart, step))
	if !ok {
		return r
	}
	f, _ := steps.Float64()
	nearest, _ := big.NewFloat(f + 0.5).Int64()
	for _, i := range []int64{nearest, nearest - 1} {
		if same(apart, formula.Apply(formula.KindMultiply, formula.Number(i), step)) {
			return equal("the same family")
		}
	}
	return r
}

// solution returns what n assigns to a name, if the other answer assigns to the same name or to none; otherwise n.
func solution(n, other *formula.Node) *formula.Node {
	assigns := func(m *formula.Node) bool {
		return m.Kind == formula.KindRelation && len(m.Ops) == 1 && m.Ops[0] == "=" && m.Args[0].Kind == formula.KindSymbol
	}
	if assigns(n) && (!assigns(other) || formula.Identical(n.Args[0], other.Args[0])) {
		return n.Args[1]
	}
	return n
}

// arbitrary compares expressions up to what may be chosen freely in them: the name of the integer in pi/4+2k*pi, and the
// constant of an antiderivative, into which other constants go; and up to the marks of unit vectors. It is different where there is nothing of the kind.
func (c *Comparer) arbitrary(a, b *formula.Node) Result {
	x, y := formula.Variables(a), formula.Variables(b)
	if len(x) == 0 || len(y) == 0 {
		return different(RuleExact)
	}
	if hatted(a) != hatted(b) {
		if u, v := c.components(a, 3), c.components(b, 3); u != nil && v != nil {
			return c.ordered(u.Args, v.Args)
		}
	}
	if len(x) == 1 && len(y) == 1 && x[0] != y[0] && counter(x[0]) && counter(y[0]) && turns(a) && turns(b) {
		return c.scalars(a, b.Substitute(map[string]*formula.Node{y[0]: formula.Symbol(x[0])}))
	}
	f, nameA := antiderivative(a)
	g, nameB := antiderivative(b)
	if f == nil || g == nil || nameA != "C" && nameB != "C" {
		return different(RuleExact)
	}
	names := formula.Variables(f, g)
	if len(names) != 1 {
		return c.scalars(f, g)
	}
	elsewhere := map[string]*formula.Node{names[0]: formula.Symbol(names[0] + "'")}
	if s := c.scalars(formula.Subtract(f, f.Substitute(elsewhere)), formula.Subtract(g, g.Substitute(elsewhere))); s.Outcome != OutcomeEqual {
		return s
	}
	return equal("up to a constant")
}

// hatted reports whether n holds a unit vector that is marked as one.
func hatted(n *formula.Node) bool {
	return n.Has(func(m *formula.Node) bool {
		return m.Kind == formula.KindSymbol && (strings.HasPrefix(m.Name, "hat ") || strings.HasPrefix(m.Name, "vec "))
	})
}

// turns reports whether n holds pi, as the angles of solutions do.
func turns(n *formula.Node) bool {
	return n.Has(func(m *formula.Node) bool { return m.Kind == formula.KindConstant && m.Name == "pi" })
}

// antiderivative splits f(x)+C into f(x), of small letters, and the name of the constant; nil for anything else.
func antiderivative(n *formula.Node) (f *formula.Node, name string) {
	if n.Kind != formula.KindAdd {
		return nil, ""
	}
	var rest []*formula.Node
	for _, t := range n.Args {
		if t.Kind == formula.KindSymbol && (t.Name == "C" || t.Name == "c" || t.Name == "K") && name == "" {
			name = t.Name
			continue
		}
		rest = append(rest, t)
	}
	if name == "" {
		return nil, ""
	}
	f = rest[0]
	if len(rest) > 1 {
		f = formula.Apply(formula.KindAdd, rest...)
	}
	names := formula.Variables(f)
	if len(names) == 0 || slices.ContainsFunc(names, func(v string) bool { return v[0] < 'a' || v == name }) {
		return nil, ""
	}
	return f, name
}

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
