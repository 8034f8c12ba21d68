// Sets of real numbers, compared.

package decide

import (
	"errors"
	"slices"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/failing"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// span is an interval of the extended real line; lo == hi is a point.
type span struct {
	lo, hi         *formula.Node
	openLo, openHi bool
}

// region is a union of spans in ascending order, disjoint and not touching. variable names what it is a set of, if
// it was written as a relation.
type region struct {
	spans    []span
	variable string
}

// realSets compares two answers as sets of real numbers.
func (c *Comparer) realSets(a, b *formula.Node) Result {
	const rule = "sets of real numbers"
	if a.Kind == formula.KindSet && b.Kind == formula.KindBuilder {
		b = c.enumerated(b)
	} else if b.Kind == formula.KindSet && a.Kind == formula.KindBuilder {
		a = c.enumerated(a)
	}
	x, okX := c.region(a)
	y, okY := c.region(b)
	if !okX || !okY {
		if (a.Kind == formula.KindUnion || a.Kind == formula.KindMeet) && a.Kind == b.Kind {
			return c.multiset(a.Args, b.Args)
		}
		if a.Kind == formula.KindBuilder && b.Kind == formula.KindBuilder {
			return c.builders(a, b)
		}
		if a.Kind == b.Kind && len(a.Args) == len(b.Args) && a.Name == b.Name && a.Kind != formula.KindRelation {
			return c.ordered(a.Args, b.Args)
		}
		if c.unordered {
			return Unknown(rule)
		}
		if okX != okY || a.Kind != b.Kind {
			return c.unlike(a, b)
		}
		return Unknown(rule)
	}
	if x.variable != y.variable && x.variable != "" && y.variable != "" && x.variable != formula.Unnamed && y.variable != formula.Unnamed {
		return different("sets of different variables")
	}
	if len(x.spans) != len(y.spans) {
		return different(rule)
	}
	doubt := false
	for i := range x.spans {
		s, t := x.spans[i], y.spans[i]
		if s.openLo != t.openLo || s.openHi != t.openHi {
			return different(rule)
		}
		for _, ends := range [2][2]*formula.Node{{s.lo, t.lo}, {s.hi, t.hi}} {
			switch c.scalar(ends[0], ends[1]).Outcome {
			case OutcomeDifferent:
				return different(rule)
			case OutcomeUnknown:
				doubt = true
			}
		}
	}
	if doubt {
		return Unknown(rule)
	}
	return equal(rule)
}

// enumerated writes the integers between two bounds out: {x in Z : -2 <= x <= 2}. Other sets are returned as they are.
func (c *Comparer) enumerated(n *formula.Node) *formula.Node {
	head := n.Args[0]
	if head.Kind != formula.KindRelation || len(head.Ops) != 1 || head.Ops[0] != "in" || head.Args[0].Kind != formula.KindSymbol || head.Args[1].Kind != formula.KindNamedSet || head.Args[1].Name != "Z" {
		return n
	}
	r, ok := c.region(n.Args[1])
	if !ok || len(r.spans) != 1 || r.variable != head.Args[0].Name {
		return n
	}
	s := r.spans[0]
	lo, errLo := (evaluate.Exact{Steps: c.Steps}).Value(s.lo)
	hi, errHi := (evaluate.Exact{Steps: c.Steps}).Value(s.hi)
	if errLo != nil || errHi != nil || !lo.IsInt() || !hi.IsInt() || !lo.Num().IsInt64() || !hi.Num().IsInt64() {
		return n
	}
	from, to := lo.Num().Int64(), hi.Num().Int64()
	if s.openLo {
		from++
	}
	if s.openHi {
		to--
	}
	if to-from < 0 || to-from >= formula.MaxElements {
		return n
	}
	set := &formula.Node{Kind: formula.KindSet}
	for v := from; v <= to; v++ {
		set.Args = append(set.Args, formula.Number(v))
	}
	return set
}

// builders compares two set-builders up to the names of their variables. Sets can be described in many ways, so what
// does not match is unknown.
func (c *Comparer) builders(a, b *formula.Node) Result {
	a, b = described(a), described(b)
	free := func(n *formula.Node) []string {
		var names []string
		n.Walk(func(m *formula.Node) bool {
			if m.Kind == formula.KindSymbol && !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
			return len(names) < maxSigns
		})
		return names
	}
	x, y := free(a), free(b)
	if len(x) == len(y) {
		with := make(map[string]*formula.Node, len(y))
		for i := range y {
			with[y[i]] = formula.Symbol(x[i])
		}
		if r := c.ordered(a.Args, b.Substitute(with).Args); r.Outcome == OutcomeEqual {
			return equal("set-builder")
		}
	}
	return Unknown("set-builder")
}

// described writes {x : x = 2k, k ∈ Z} as {2k : k ∈ Z}.
func described(n *formula.Node) *formula.Node {
	head, condition := n.Args[0], n.Args[1]
	if head.Kind != formula.KindSymbol || condition.Kind != formula.KindList {
		return n
	}
	for i, e := range condition.Args {
		if e.Kind == formula.KindRelation && len(e.Ops) == 1 && e.Ops[0] == "=" && formula.Identical(e.Args[0], head) {
			rest := slices.Delete(slices.Clone(condition.Args), i, i+1)
			if len(rest) == 1 {
				return formula.Apply(formula.KindBuilder, e.Args[1], rest[0])
			}
			return formula.Apply(formula.KindBuilder, e.Args[1], formula.Apply(formula.KindList, rest...))
		}
	}
	return n
}

// unlike decides about answers of different kinds.
func (c *Comparer) unlike(a, b *formula.Node) Result {
	if a.Kind == formula.KindBuilder || b.Kind == formula.KindBuilder || a.Kind == formula.KindNamedSet && b.Kind == formula.KindNamedSet {
		if a.Kind == formula.KindNamedSet && b.Kind == formula.KindNamedSet {
			return different("different sets")
		}
		return Unknown("set-builder")
	}
	if a.Kind == formula.KindRelation && len(a.Ops) == 1 && a.Ops[0] == "=" && len(formula.Variables(a)) == 1 && !formula.Assignable(a.Args[0]) {
		return Unknown("an equation against what may be its solutions")
	}
	for _, n := range []*formula.Node{a, b} {
		if n.Kind == formula.KindSet && n.Has(func(m *formula.Node) bool { return m.Kind == formula.KindEllipsis }) {
			return Unknown("a set with an ellipsis")
		}
	}
	return different("answers of different kinds")
}

var infinite = formula.Constant("infinity")

func everything() region {
	return region{spans: []span{{lo: formula.Negate(infinite), hi: infinite, openLo: true, openHi: true}}}
}

// errNoRegion ends the reading of what is no set of real numbers, or none that can be told.
var errNoRegion = errors.New("no set of real numbers")

// region reads a node as a set of real numbers; false if it is none.
func (c *Comparer) region(n *formula.Node) (region, bool) {
	r, err := failing.Try(func() region { return c.reals(n) })
	return r, err == nil
}

// reals is region inside a reading, which it ends where there is no region.
func (c *Comparer) reals(n *formula.Node) region {
	switch n.Kind {
	case formula.KindInterval:
		return c.interval(n.Args[0], n.Args[1], n.Name[0] == '(', n.Name[1] == ')')
	case formula.KindTuple:
		if len(n.Args) == 2 {
			if r := c.interval(n.Args[0], n.Args[1], true, true); len(r.spans) > 0 { // (1,1) is a point
				return r
			}
		}
	case formula.KindBracket:
		if len(n.Args) == 2 {
			return c.interval(n.Args[0], n.Args[1], false, false)
		}
	case formula.KindSet:
		if len(n.Args) == 1 && n.Args[0].Kind == formula.KindRelation && n.Args[0].Ops[0] != "=" { // {1 < x < 2}
			r := c.reals(n.Args[0])
			r.variable = ""
			return r
		}
		r := region{}
		for _, a := range n.Args {
			if !c.isReal(a) {
				panic(failing.With(errNoRegion))
			}
			r = c.union(r, region{spans: []span{{lo: a, hi: a}}})
		}
		return r
	case formula.KindNamedSet:
		half := func(op string) region { return c.half(op, formula.Number(0), nil) }
		switch n.Name {
		case "R+", "R>0", "R^+":
			return half(">")
		case "Rge0", "Rgeq0", "R+0", "R0+", "Rgeqslant0":
			return half(">=")
		case "R-", "R<0":
			return half("<")
		case "R*":
			return half("!=")
		case "R":
			return everything()
		case "empty":
			return region{}
		}
	case formula.KindUnion, formula.KindMeet, formula.KindMinus:
		return c.combined(n)
	case formula.KindList:
		return c.listed(n)
	case formula.KindRelation:
		return c.solved(n)
	case formula.KindBuilder:
		r := c.reals(n.Args[1])
		head := n.Args[0]
		if head.Kind == formula.KindRelation && len(head.Ops) == 1 && head.Ops[0] == "in" {
			if head.Args[1].Kind != formula.KindNamedSet || head.Args[1].Name != "R" {
				panic(failing.With(errNoRegion))
			}
			head = head.Args[0]
		}
		if head.Kind != formula.KindSymbol || r.variable != head.Name {
			panic(failing.With(errNoRegion))
		}
		r.variable = ""
		return r
	}
	panic(failing.With(errNoRegion))
}

// isReal reports whether n is a real constant or infinite.
func (c *Comparer) isReal(n *formula.Node) bool {
	return formula.ScalarLike(n) && len(formula.Variables(n)) == 0 && !imaginary(n)
}

func (c *Comparer) interval(lo, hi *formula.Node, openLo, openHi bool) region {
	if !c.isReal(lo) || !c.isReal(hi) {
		panic(failing.With(errNoRegion))
	}
	order := c.order(lo, hi)
	if order > 0 {
		panic(failing.With(errNoRegion))
	}
	if order == 0 && (openLo || openHi) {
		return region{}
	}
	// Brackets at infinity are always open.
	return region{spans: []span{{lo: lo, hi: hi, openLo: openLo || evaluate.Infinity(lo) != 0, openHi: openHi || evaluate.Infinity(hi) != 0}}}
}

// order compares two real constants.
func (c *Comparer) order(a, b *formula.Node) int {
	ia, ib := evaluate.Infinity(a), evaluate.Infinity(b)
	if ia != 0 || ib != 0 {
		switch {
		case ia == ib:
			return 0
		case ia > 0 || ib < 0:
			return 1
		}
		return -1
	}
	switch c.scalars(a, b).Outcome {
	case OutcomeEqual:
		return 0
	case OutcomeUnknown:
		c.unordered = true
		panic(failing.With(errNoRegion))
	}
	s, ok := c.sign(formula.Subtract(a, b))
	if !ok {
		c.unordered = true
		panic(failing.With(errNoRegion))
	}
	return s
}

// combined evaluates unions, intersections and differences.
func (c *Comparer) combined(n *formula.Node) region {
	acc := c.reals(n.Args[0])
	for _, a := range n.Args[1:] {
		if n.Kind == formula.KindMinus && formula.ScalarLike(a) { // [0,1] \setminus {0.5}, in braces that TeX does not show
			a = formula.Apply(formula.KindSet, a)
		}
		r := c.reals(a)
		switch n.Kind {
		case formula.KindUnion:
			acc = c.union(acc, r)
		case formula.KindMeet:
			acc = c.meet(acc, r)
		default:
			acc = c.meet(acc, c.complement(r))
		}
		if len(acc.spans) > formula.MaxElements {
			c.Steps.Exhaust()
		}
		if c.Steps.Spent() {
			panic(failing.With(errNoRegion))
		}
	}
	return acc
}

// listed reads relations joined by commas, and, or. "x < 2 or x > 5" is a union; "and" is an intersection; a comma is
// what makes sense: an intersection if that is not empty, else a union.
func (c *Comparer) listed(n *formula.Node) region {
	var acc region
	for i, a := range n.Args {
		if a.Kind != formula.KindRelation && a.Kind != formula.KindInterval && a.Kind != formula.KindUnion && a.Kind != formula.KindTuple && a.Kind != formula.KindBracket {
			panic(failing.With(errNoRegion))
		}
		r := c.reals(a)
		if i > 0 && r.variable != acc.variable {
			panic(failing.With(errNoRegion))
		}
		if i == 0 {
			acc = r
			continue
		}
		meet, union := c.meet(acc, r), c.union(acc, r)
		name := acc.variable
		if n.Name == "and" && len(meet.spans) == 0 && unequal(n) { // x < 1 and x > 3, which may be meant as either
			c.unordered = true
			panic(failing.With(errNoRegion))
		}
		if n.Name == "or" || len(meet.spans) == 0 || a.Kind != formula.KindRelation {
			acc = union
		} else {
			acc = meet
		}
		acc.variable = name
	}
	return acc
}

// unequal reports whether all of a list are inequalities.
func unequal(n *formula.Node) bool {
	return !slices.ContainsFunc(n.Args, func(a *formula.Node) bool {
		return a.Kind != formula.KindRelation || a.Ops[0] == "=" || a.Ops[0] == "in"
	})
}

// solved reads a relation that is solved for one variable: x > 3, 2 <= x < 5, x != 1, |x| < 2, x in S.
func (c *Comparer) solved(n *formula.Node) region {
	acc := everything()
	name := ""
	for i, op := range n.Ops {
		l, r := n.Args[i], n.Args[i+1]
		if op == "in" && l.Kind == formula.KindSymbol {
			s := c.reals(r)
			if len(n.Ops) > 1 {
				panic(failing.With(errNoRegion))
			}
			s.variable = l.Name
			return s
		}
		if op == "notin" && l.Kind == formula.KindSymbol && len(n.Ops) == 1 {
			s := c.complement(c.reals(r))
			s.variable = l.Name
			return s
		}
		if formula.Applied(l) {
			l = formula.Symbol(l.String())
		} else if formula.Applied(r) {
			r = formula.Symbol(r.String())
		}
		v, bound := l, r
		if v.Kind != formula.KindSymbol {
			v, bound, op = r, l, flipped[op]
		}
		label, centre, absolute := distanceOf(v)
		if v.Kind != formula.KindSymbol && !absolute {
			if label, centre, absolute = distanceOf(l); absolute {
				v, bound, op = l, r, n.Ops[i]
			}
		}
		if !absolute {
			label = v.Name
		}
		if v.Kind != formula.KindSymbol && !absolute || !c.isReal(bound) || name != "" && label != name {
			panic(failing.With(errNoRegion))
		}
		name = label
		acc = c.meet(acc, c.half(op, bound, centre))
	}
	acc.variable = name
	return acc
}

// distanceOf reads |x|, |x-3| and |3-x|: the variable and the value from which its distance is taken.
func distanceOf(n *formula.Node) (name string, centre *formula.Node, ok bool) {
	if n.Kind != formula.KindCall || n.Name != "abs" {
		return "", nil, false
	}
	arg := n.Args[0]
	if arg.Kind == formula.KindSymbol {
		return arg.Name, formula.Number(0), true
	}
	if arg.Kind != formula.KindAdd {
		return "", nil, false
	}
	var rest []*formula.Node
	negative := false
	for _, t := range arg.Args {
		bare := t
		if t.Kind == formula.KindNegate {
			bare = t.Args[0]
		}
		switch {
		case bare.Kind == formula.KindSymbol && name == "":
			name, negative = bare.Name, bare != t
		case len(formula.Variables(t)) > 0:
			return "", nil, false
		default:
			rest = append(rest, t)
		}
	}
	if name == "" {
		return "", nil, false
	}
	centre = formula.Apply(formula.KindAdd, append(rest, formula.Number(0))...)
	if !negative {
		centre = formula.Negate(centre)
	}
	return name, centre, true
}

// half returns the solutions of x op bound, or of |x-centre| op bound if there is a centre.
func (c *Comparer) half(op string, bound, centre *formula.Node) region {
	absolute := centre != nil
	minus := formula.Negate(infinite)
	lo := minus
	if absolute {
		if s, ok := c.sign(bound); !ok || s <= 0 {
			panic(failing.With(errNoRegion))
		}
		lo, bound = formula.Subtract(centre, bound), formula.Apply(formula.KindAdd, centre, bound)
	}
	switch op {
	case "<":
		return region{spans: []span{{lo: lo, hi: bound, openLo: true, openHi: true}}}
	case "<=":
		return region{spans: []span{{lo: lo, hi: bound, openLo: !absolute}}}
	case ">", ">=":
		right := span{lo: bound, hi: infinite, openLo: op == ">", openHi: true}
		if absolute {
			return region{spans: []span{{lo: minus, hi: lo, openLo: true, openHi: op == ">"}, right}}
		}
		return region{spans: []span{right}}
	case "=":
		if absolute {
			return region{spans: []span{{lo: lo, hi: lo}, {lo: bound, hi: bound}}}
		}
		return region{spans: []span{{lo: bound, hi: bound}}}
	case "!=":
		if absolute {
			return c.complement(region{spans: []span{{lo: lo, hi: lo}, {lo: bound, hi: bound}}})
		}
		return c.complement(region{spans: []span{{lo: bound, hi: bound}}})
	}
	panic(failing.With(errNoRegion))
}

// complement returns the rest of the real line.
func (c *Comparer) complement(r region) region {
	out := region{variable: r.variable}
	lo, open := formula.Negate(infinite), true
	for _, s := range r.spans {
		out.spans = append(out.spans, span{lo: lo, hi: s.lo, openLo: open, openHi: !s.openLo})
		lo, open = s.hi, !s.openHi
	}
	out.spans = append(out.spans, span{lo: lo, hi: infinite, openLo: open, openHi: true})
	return c.normal(out)
}

// normal drops empty spans.
func (c *Comparer) normal(r region) region {
	out := region{variable: r.variable}
	for _, s := range r.spans {
		o := c.order(s.lo, s.hi)
		if o > 0 || o == 0 && (s.openLo || s.openHi) {
			continue
		}
		out.spans = append(out.spans, s)
	}
	return out
}

// meet intersects two regions.
func (c *Comparer) meet(a, b region) region {
	out := region{variable: a.variable}
	for _, s := range a.spans {
		for _, t := range b.spans {
			u := s
			o := c.order(s.lo, t.lo)
			if o < 0 {
				u.lo, u.openLo = t.lo, t.openLo
			} else if o == 0 {
				u.openLo = s.openLo || t.openLo
			}
			o = c.order(s.hi, t.hi)
			if o > 0 {
				u.hi, u.openHi = t.hi, t.openHi
			} else if o == 0 {
				u.openHi = s.openHi || t.openHi
			}
			out.spans = append(out.spans, u)
		}
	}
	return c.normal(out)
}

// union joins two regions: the complement of the meeting of the complements.
func (c *Comparer) union(a, b region) region {
	z := c.complement(c.meet(c.complement(a), c.complement(b)))
	z.variable = a.variable
	return z
}
