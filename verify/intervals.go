package verify

import "slices"

// span is an interval of the extended real line; lo == hi is a point.
type span struct {
	lo, hi         *node
	openLo, openHi bool
}

// region is a union of spans in ascending order, disjoint and not touching. variable names what it is a set of, if
// it was written as a relation.
type region struct {
	spans    []span
	variable string
}

// realSets compares two answers as sets of real numbers.
func (c *comparer) realSets(a, b *node) result {
	const rule = "sets of real numbers"
	if a.kind == kindSet && b.kind == kindBuilder {
		b = c.enumerated(b)
	} else if b.kind == kindSet && a.kind == kindBuilder {
		a = c.enumerated(a)
	}
	x, okX := c.region(a, true)
	y, okY := c.region(b, true)
	if !okX || !okY {
		if (a.kind == kindUnion || a.kind == kindMeet) && a.kind == b.kind {
			return c.multiset(a.args, b.args)
		}
		if a.kind == kindBuilder && b.kind == kindBuilder {
			return c.builders(a, b)
		}
		if a.kind == b.kind && len(a.args) == len(b.args) && a.name == b.name && a.kind != kindRelation {
			return c.ordered(a.args, b.args)
		}
		if c.unordered {
			return unknown(rule)
		}
		if okX != okY || a.kind != b.kind {
			return c.unlike(a, b)
		}
		return unknown(rule)
	}
	if x.variable != y.variable && x.variable != "" && y.variable != "" && x.variable != unnamed && y.variable != unnamed {
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
		for _, ends := range [2][2]*node{{s.lo, t.lo}, {s.hi, t.hi}} {
			switch c.scalar(ends[0], ends[1]).outcome {
			case OutcomeDifferent:
				return different(rule)
			case OutcomeUnknown:
				doubt = true
			}
		}
	}
	if doubt {
		return unknown(rule)
	}
	return equal(rule)
}

// enumerated writes the integers between two bounds out: {x in Z : -2 <= x <= 2}. Other sets are returned as they are.
func (c *comparer) enumerated(n *node) *node {
	head := n.args[0]
	if head.kind != kindRelation || len(head.ops) != 1 || head.ops[0] != "in" || head.args[0].kind != kindSymbol || head.args[1].kind != kindNamedSet || head.args[1].name != "Z" {
		return n
	}
	r, ok := c.region(n.args[1], true)
	if !ok || len(r.spans) != 1 || r.variable != head.args[0].name {
		return n
	}
	s := r.spans[0]
	lo, errLo := (exact{steps: c.steps}).value(s.lo)
	hi, errHi := (exact{steps: c.steps}).value(s.hi)
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
	if to-from < 0 || to-from >= maxElements {
		return n
	}
	set := &node{kind: kindSet}
	for v := from; v <= to; v++ {
		set.args = append(set.args, number(v))
	}
	return set
}

// builders compares two set-builders up to the names of their variables. Sets can be described in many ways, so what
// does not match is unknown.
func (c *comparer) builders(a, b *node) result {
	a, b = described(a), described(b)
	free := func(n *node) []string {
		var names []string
		n.walk(func(m *node) bool {
			if m.kind == kindSymbol && !slices.Contains(names, m.name) {
				names = append(names, m.name)
			}
			return len(names) < maxSigns
		})
		return names
	}
	x, y := free(a), free(b)
	if len(x) == len(y) {
		with := make(map[string]*node, len(y))
		for i := range y {
			with[y[i]] = symbol(x[i])
		}
		if r := c.ordered(a.args, b.substitute(with).args); r.outcome == OutcomeEqual {
			return equal("set-builder")
		}
	}
	return unknown("set-builder")
}

// described writes {x : x = 2k, k ∈ Z} as {2k : k ∈ Z}.
func described(n *node) *node {
	head, condition := n.args[0], n.args[1]
	if head.kind != kindSymbol || condition.kind != kindList {
		return n
	}
	for i, e := range condition.args {
		if e.kind == kindRelation && len(e.ops) == 1 && e.ops[0] == "=" && identical(e.args[0], head) {
			rest := slices.Delete(slices.Clone(condition.args), i, i+1)
			if len(rest) == 1 {
				return apply(kindBuilder, e.args[1], rest[0])
			}
			return apply(kindBuilder, e.args[1], apply(kindList, rest...))
		}
	}
	return n
}

// unlike decides about answers of different kinds.
func (c *comparer) unlike(a, b *node) result {
	if a.kind == kindBuilder || b.kind == kindBuilder || a.kind == kindNamedSet && b.kind == kindNamedSet {
		if a.kind == kindNamedSet && b.kind == kindNamedSet {
			return different("different sets")
		}
		return unknown("set-builder")
	}
	if a.kind == kindRelation && len(a.ops) == 1 && a.ops[0] == "=" && len(variables(a)) == 1 && !assignable(a.args[0]) {
		return unknown("an equation against what may be its solutions")
	}
	for _, n := range []*node{a, b} {
		if n.kind == kindSet && n.has(func(m *node) bool { return m.kind == kindEllipsis }) {
			return unknown("a set with an ellipsis")
		}
	}
	return different("answers of different kinds")
}

var infinite = constant("infinity")

func everything() region {
	return region{spans: []span{{lo: negate(infinite), hi: infinite, openLo: true, openHi: true}}}
}

// region reads a node as a set of real numbers. pairs says whether (a,b) and [a,b] may be intervals.
func (c *comparer) region(n *node, pairs bool) (region, bool) {
	switch n.kind {
	case kindInterval:
		return c.interval(n.args[0], n.args[1], n.name[0] == '(', n.name[1] == ')')
	case kindTuple:
		if len(n.args) == 2 && pairs {
			return c.interval(n.args[0], n.args[1], true, true)
		}
	case kindBracket:
		if len(n.args) == 2 && pairs {
			return c.interval(n.args[0], n.args[1], false, false)
		}
	case kindSet:
		if len(n.args) == 1 && n.args[0].kind == kindRelation && n.args[0].ops[0] != "=" { // {1 < x < 2}
			r, ok := c.region(n.args[0], true)
			r.variable = ""
			return r, ok
		}
		r := region{}
		for _, a := range n.args {
			if !c.isReal(a) {
				return r, false
			}
			var ok bool
			if r, ok = c.union(r, region{spans: []span{{lo: a, hi: a}}}); !ok {
				return r, false
			}
		}
		return r, true
	case kindNamedSet:
		half := func(op string) (region, bool) { return c.half(op, number(0), nil) }
		switch n.name {
		case "R+", "R>0", "R^+":
			return half(">")
		case "Rge0", "Rgeq0", "R+0", "R0+", "Rgeqslant0":
			return half(">=")
		case "R-", "R<0":
			return half("<")
		case "R*":
			return half("!=")
		case "R":
			return everything(), true
		case "empty":
			return region{}, true
		}
	case kindUnion, kindMeet, kindMinus:
		return c.combined(n)
	case kindList:
		return c.listed(n)
	case kindRelation:
		return c.solved(n)
	case kindBuilder:
		r, ok := c.region(n.args[1], true)
		head := n.args[0]
		if head.kind == kindRelation && len(head.ops) == 1 && head.ops[0] == "in" {
			if head.args[1].kind != kindNamedSet || head.args[1].name != "R" {
				return r, false
			}
			head = head.args[0]
		}
		if !ok || head.kind != kindSymbol || r.variable != head.name {
			return r, false
		}
		r.variable = ""
		return r, true
	}
	return region{}, false
}

// isReal reports whether n is a real constant or infinite.
func (c *comparer) isReal(n *node) bool {
	if !scalarLike(n) || len(variables(n)) > 0 || imaginary(n) {
		return false
	}
	return true
}

func (c *comparer) interval(lo, hi *node, openLo, openHi bool) (region, bool) {
	if !c.isReal(lo) || !c.isReal(hi) {
		return region{}, false
	}
	order, ok := c.order(lo, hi)
	if !ok || order > 0 {
		return region{}, false
	}
	if order == 0 {
		if openLo || openHi {
			return region{}, true
		}
	}
	// Brackets at infinity are always open.
	return region{spans: []span{{lo: lo, hi: hi, openLo: openLo || infinity(lo) != 0, openHi: openHi || infinity(hi) != 0}}}, true
}

// order compares two real constants.
func (c *comparer) order(a, b *node) (int, bool) {
	ia, ib := infinity(a), infinity(b)
	if ia != 0 || ib != 0 {
		switch {
		case ia == ib:
			return 0, true
		case ia > 0 || ib < 0:
			return 1, true
		}
		return -1, true
	}
	switch c.scalars(a, b).outcome {
	case OutcomeEqual:
		return 0, true
	case OutcomeUnknown:
		c.unordered = true
		return 0, false
	}
	s, ok := c.sign(subtract(a, b))
	c.unordered = c.unordered || !ok
	return s, ok
}

// combined evaluates unions, intersections and differences.
func (c *comparer) combined(n *node) (region, bool) {
	acc, ok := c.region(n.args[0], true)
	if !ok {
		return acc, false
	}
	for _, a := range n.args[1:] {
		if n.kind == kindMinus && scalarLike(a) { // [0,1] \setminus {0.5}, in braces that TeX does not show
			a = apply(kindSet, a)
		}
		r, ok := c.region(a, true)
		if !ok {
			return acc, false
		}
		switch n.kind {
		case kindUnion:
			acc, ok = c.union(acc, r)
		case kindMeet:
			acc, ok = c.meet(acc, r)
		default:
			if r, ok = c.complement(r); ok {
				acc, ok = c.meet(acc, r)
			}
		}
		if len(acc.spans) > maxElements {
			c.steps.exhaust()
		}
		if !ok || c.steps.spent() {
			return acc, false
		}
	}
	return acc, true
}

// listed reads relations joined by commas, and, or. "x < 2 or x > 5" is a union; "and" is an intersection; a comma is
// what makes sense: an intersection if that is not empty, else a union.
func (c *comparer) listed(n *node) (region, bool) {
	var acc region
	for i, a := range n.args {
		if a.kind != kindRelation && a.kind != kindInterval && a.kind != kindUnion && a.kind != kindTuple && a.kind != kindBracket {
			return acc, false
		}
		r, ok := c.region(a, true)
		if !ok || i > 0 && r.variable != acc.variable {
			return acc, false
		}
		if i == 0 {
			acc = r
			continue
		}
		meet, ok := c.meet(acc, r)
		if !ok {
			return acc, false
		}
		union, ok := c.union(acc, r)
		if !ok {
			return acc, false
		}
		name := acc.variable
		if n.name == "or" || len(meet.spans) == 0 || a.kind != kindRelation {
			acc = union
		} else {
			acc = meet
		}
		acc.variable = name
	}
	return acc, true
}

// solved reads a relation that is solved for one variable: x > 3, 2 <= x < 5, x != 1, |x| < 2, x in S.
func (c *comparer) solved(n *node) (region, bool) {
	acc := everything()
	name := ""
	for i, op := range n.ops {
		l, r := n.args[i], n.args[i+1]
		if op == "in" && l.kind == kindSymbol {
			s, ok := c.region(r, true)
			if !ok {
				return s, false
			}
			s.variable = l.name
			return s, len(n.ops) == 1
		}
		if op == "notin" && l.kind == kindSymbol && len(n.ops) == 1 {
			s, ok := c.region(r, true)
			if !ok {
				return s, false
			}
			s, ok = c.complement(s)
			s.variable = l.name
			return s, ok
		}
		if applied(l) {
			l = symbol(l.String())
		} else if applied(r) {
			r = symbol(r.String())
		}
		v, bound := l, r
		if v.kind != kindSymbol {
			v, bound, op = r, l, flipped[op]
		}
		label, centre, absolute := distanceOf(v)
		if v.kind != kindSymbol && !absolute {
			if label, centre, absolute = distanceOf(l); absolute {
				v, bound, op = l, r, n.ops[i]
			}
		}
		if !absolute {
			label = v.name
		}
		if v.kind != kindSymbol && !absolute || !c.isReal(bound) || name != "" && label != name {
			return acc, false
		}
		name = label
		part, ok := c.half(op, bound, centre)
		if !ok {
			return acc, false
		}
		if acc, ok = c.meet(acc, part); !ok {
			return acc, false
		}
	}
	acc.variable = name
	return acc, true
}

// applied reports whether n is f(x), which stands for a variable in -1 <= f(x) <= 1.
func applied(n *node) bool { return n.kind == kindCall && !evaluated[n.name] }

// distanceOf reads |x|, |x-3| and |3-x|: the variable and the value from which its distance is taken.
func distanceOf(n *node) (name string, centre *node, ok bool) {
	if n.kind != kindCall || n.name != "abs" {
		return "", nil, false
	}
	arg := n.args[0]
	if arg.kind == kindSymbol {
		return arg.name, number(0), true
	}
	if arg.kind != kindAdd {
		return "", nil, false
	}
	var rest []*node
	negative := false
	for _, t := range arg.args {
		bare := t
		if t.kind == kindNegate {
			bare = t.args[0]
		}
		switch {
		case bare.kind == kindSymbol && name == "":
			name, negative = bare.name, bare != t
		case len(variables(t)) > 0:
			return "", nil, false
		default:
			rest = append(rest, t)
		}
	}
	if name == "" {
		return "", nil, false
	}
	centre = apply(kindAdd, append(rest, number(0))...)
	if !negative {
		centre = negate(centre)
	}
	return name, centre, true
}

// half returns the solutions of x op bound, or of |x-centre| op bound if there is a centre.
func (c *comparer) half(op string, bound, centre *node) (region, bool) {
	absolute := centre != nil
	minus := negate(infinite)
	lo := minus
	if absolute {
		if s, ok := c.sign(bound); !ok || s <= 0 {
			return region{}, false
		}
		lo, bound = subtract(centre, bound), apply(kindAdd, centre, bound)
	}
	switch op {
	case "<":
		return region{spans: []span{{lo: lo, hi: bound, openLo: true, openHi: true}}}, true
	case "<=":
		return region{spans: []span{{lo: lo, hi: bound, openLo: !absolute}}}, true
	case ">", ">=":
		right := span{lo: bound, hi: infinite, openLo: op == ">", openHi: true}
		if absolute {
			return region{spans: []span{{lo: minus, hi: lo, openLo: true, openHi: op == ">"}, right}}, true
		}
		return region{spans: []span{right}}, true
	case "=":
		if absolute {
			return region{spans: []span{{lo: lo, hi: lo}, {lo: bound, hi: bound}}}, true
		}
		return region{spans: []span{{lo: bound, hi: bound}}}, true
	case "!=":
		if absolute {
			return c.complement(region{spans: []span{{lo: lo, hi: lo}, {lo: bound, hi: bound}}})
		}
		return c.complement(region{spans: []span{{lo: bound, hi: bound}}})
	}
	return region{}, false
}

// complement returns the rest of the real line.
func (c *comparer) complement(r region) (region, bool) {
	out := region{variable: r.variable}
	lo, open := negate(infinite), true
	for _, s := range r.spans {
		out.spans = append(out.spans, span{lo: lo, hi: s.lo, openLo: open, openHi: !s.openLo})
		lo, open = s.hi, !s.openHi
	}
	out.spans = append(out.spans, span{lo: lo, hi: infinite, openLo: open, openHi: true})
	return c.normal(out)
}

// normal drops empty spans.
func (c *comparer) normal(r region) (region, bool) {
	out := region{variable: r.variable}
	for _, s := range r.spans {
		o, ok := c.order(s.lo, s.hi)
		if !ok {
			return out, false
		}
		if o > 0 || o == 0 && (s.openLo || s.openHi) {
			continue
		}
		out.spans = append(out.spans, s)
	}
	return out, true
}

// meet intersects two regions.
func (c *comparer) meet(a, b region) (region, bool) {
	out := region{variable: a.variable}
	for _, s := range a.spans {
		for _, t := range b.spans {
			u := s
			o, ok := c.order(s.lo, t.lo)
			if !ok {
				return out, false
			}
			if o < 0 {
				u.lo, u.openLo = t.lo, t.openLo
			} else if o == 0 {
				u.openLo = s.openLo || t.openLo
			}
			if o, ok = c.order(s.hi, t.hi); !ok {
				return out, false
			}
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
func (c *comparer) union(a, b region) (region, bool) {
	x, ok := c.complement(a)
	if !ok {
		return a, false
	}
	y, ok := c.complement(b)
	if !ok {
		return a, false
	}
	z, ok := c.meet(x, y)
	if !ok {
		return a, false
	}
	z, ok = c.complement(z)
	z.variable = a.variable
	return z, ok
}
