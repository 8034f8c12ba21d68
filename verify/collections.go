package verify

// collections compares tuples, lists, sets, matrices and intervals.
func (c *comparer) collections(a, b *node, scalarA, scalarB bool) result {
	if scalarA || scalarB {
		one, many := a, b
		if scalarB {
			one, many = b, a
		}
		switch {
		case (many.kind == kindSet || many.kind == kindBracket || many.kind == kindList) && len(many.args) == 1:
			return c.pair(many.args[0], one, scalarA)
		case many.kind == kindMatrix && len(many.args) == 1:
			return c.pair(many.args[0], one, scalarA)
		}
		return different("one value against several")
	}
	switch {
	case a.kind == kindMatrix || b.kind == kindMatrix:
		return c.matrices(a, b)
	case a.kind == kindTuple && b.kind == kindTuple, a.kind == kindBracket && b.kind == kindBracket:
		return c.ordered(a.args, b.args)
	case a.kind == kindList && b.kind == kindList:
		return c.lists(a, b)
	case a.kind == kindSet && b.kind == kindSet:
		return c.sets(a.args, b.args)
	case a.kind == kindSet && b.kind == kindList || a.kind == kindList && b.kind == kindSet:
		return c.multiset(a.args, b.args)
	case a.kind == kindTuple && b.kind == kindList || a.kind == kindList && b.kind == kindTuple,
		len(a.args) > 2 && a.kind == kindTuple && b.kind == kindBracket || len(a.args) > 2 && a.kind == kindBracket && b.kind == kindTuple:
		return c.ordered(a.args, b.args)
	case a.kind == kindBracket && b.kind == kindList || a.kind == kindList && b.kind == kindBracket:
		return c.ordered(a.args, b.args)
	}
	return c.realSets(a, b)
}

// pair compares in the order gold, answer.
func (c *comparer) pair(x, y *node, swapped bool) result {
	if swapped {
		return c.compare(y, x)
	}
	return c.compare(x, y)
}

// ordered compares element by element.
func (c *comparer) ordered(a, b []*node) result {
	if len(a) != len(b) {
		return different("different lengths")
	}
	doubt := false
	for i := range a {
		switch r := c.compare(a[i], b[i]); r.outcome {
		case Different:
			return different("elements in order")
		case Unknown:
			doubt = true
		}
	}
	if doubt {
		return unknown("elements in order")
	}
	return equal("elements in order")
}

func (c *comparer) matrices(a, b *node) result {
	if a.kind == b.kind {
		if a.cols != b.cols {
			if len(a.args) == len(b.args) && (a.cols == 1 || a.cols == len(a.args)) && (b.cols == 1 || b.cols == len(b.args)) && !c.policy.StrictVector {
				return c.ordered(a.args, b.args)
			}
			return different("different shapes")
		}
		return c.ordered(a.args, b.args)
	}
	m, o := a, b
	if b.kind == kindMatrix {
		m, o = b, a
	}
	if (o.kind == kindTuple || o.kind == kindBracket) && (m.cols == 1 || m.cols == len(m.args)) && !c.policy.StrictVector {
		return c.ordered(a.args, b.args)
	}
	if o.kind == kindBracket { // [[1,2],[3,4]]
		rows := len(m.args) / m.cols
		var flat []*node
		for _, r := range o.args {
			if r.kind != kindBracket && r.kind != kindTuple || len(r.args) != m.cols {
				return different("different shapes")
			}
			flat = append(flat, r.args...)
		}
		if len(o.args) != rows {
			return different("different shapes")
		}
		if m == a {
			return c.ordered(m.args, flat)
		}
		return c.ordered(flat, m.args)
	}
	return different("a matrix against something else")
}

// lists compares unordered lists with multiplicity. Lists of words keep their order.
func (c *comparer) lists(a, b *node) result {
	words := true
	for _, n := range a.args {
		words = words && n.kind == kindText && len(n.name) > 1
	}
	if words {
		return c.ordered(a.args, b.args)
	}
	x, y := progression(a.args), progression(b.args)
	return c.multiset(x, y)
}

// multiset finds a one-to-one matching of equal elements.
func (c *comparer) multiset(a, b []*node) result {
	if len(a) != len(b) {
		return different("different numbers of elements")
	}
	if r := c.ordered(a, b); r.outcome == Equal {
		return r
	}
	return c.matching(a, b)
}

// matching looks for a perfect matching by augmenting paths. With a tolerance for each answer, the tolerance belongs
// to the gold's element.
func (c *comparer) matching(a, b []*node) result {
	n := len(a)
	verdicts := make([]Outcome, n*n)
	known := make([]bool, n*n)
	look := func(i, j int) Outcome {
		if !known[i*n+j] {
			known[i*n+j] = true
			verdicts[i*n+j] = c.compare(a[i], b[j]).outcome
		}
		return verdicts[i*n+j]
	}
	possible := func(accept func(Outcome) bool) bool {
		return perfect(n, func(i, j int) bool { return accept(look(i, j)) })
	}
	if n > 512 {
		return unknown("")
	}
	switch {
	case possible(func(o Outcome) bool { return o == Equal }):
		return equal("elements in any order")
	case c.steps.spent() || possible(func(o Outcome) bool { return o != Different }):
		return unknown("elements in any order")
	}
	return different("elements in any order")
}

// sets compares finite sets: every element of one is in the other.
func (c *comparer) sets(a, b []*node) result {
	doubt := false
	for _, dir := range [2][2][]*node{{a, b}, {b, a}} {
		for _, x := range dir[0] {
			found, maybe := false, false
			for _, y := range dir[1] {
				var r result
				if &dir[0][0] == &a[0] {
					r = c.compare(x, y)
				} else {
					r = c.compare(y, x)
				}
				found = found || r.outcome == Equal
				maybe = maybe || r.outcome == Unknown
				if found {
					break
				}
			}
			if !found && !maybe {
				return different("set")
			}
			doubt = doubt || !found
		}
	}
	if doubt {
		return unknown("set")
	}
	return equal("set")
}
