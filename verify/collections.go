package verify

// collections compares tuples, lists, sets, matrices and intervals.
func (c *comparer) collections(a, b *node, scalarA, scalarB bool) result {
	if scalarA || scalarB {
		one, many := a, b
		if scalarB {
			one, many = b, a
		}
		if many.kind == kindList && many.name == "or" {
			same := true
			for _, n := range many.args {
				same = same && c.pair(n, one, scalarA).outcome == OutcomeEqual
			}
			if same {
				return equal("one value in several forms")
			}
		}
		switch {
		case (many.kind == kindSet || many.kind == kindBracket || many.kind == kindList) && len(many.args) == 1:
			return c.pair(many.args[0], one, scalarA)
		case many.kind == kindSet || many.kind == kindList && c.policy.IgnoreRepeats:
			if kept, _ := c.distinct(many.args); len(kept) == 1 {
				return c.pair(kept[0], one, scalarA)
			}
		case many.kind == kindMatrix && len(many.args) == 1:
			return c.pair(many.args[0], one, scalarA)
		}
		if one.has(func(n *node) bool { return n.kind >= kindTuple && n.kind <= kindBuilder }) {
			return unknown("an operation on collections")
		}
		return different("one value against several")
	}
	if c.policy.AnyOrder && (a.kind == kindSet) != (b.kind == kindSet) && (a.kind == kindTuple || b.kind == kindTuple) {
		return c.multiset(c.members(a), c.members(b))
	}
	switch {
	case a.kind == kindMatrix || b.kind == kindMatrix:
		return c.matrices(a, b)
	case a.kind == kindTuple && b.kind == kindTuple, a.kind == kindBracket && b.kind == kindBracket:
		return c.ordered(a.args, b.args)
	case a.kind == kindList && b.kind == kindList:
		return c.lists(a, b)
	case a.kind == kindSet && b.kind == kindSet:
		return c.sets(c.progression(a.args), c.progression(b.args))
	case a.kind == kindSet && b.kind == kindList || a.kind == kindList && b.kind == kindSet:
		return c.multiset(c.members(a), c.members(b))
	case a.kind == kindTuple && b.kind == kindList || a.kind == kindList && b.kind == kindTuple,
		len(a.args) > 2 && a.kind == kindTuple && b.kind == kindBracket || len(a.args) > 2 && a.kind == kindBracket && b.kind == kindTuple:
		return c.ordered(a.args, b.args)
	case a.kind == kindBracket && b.kind == kindList || a.kind == kindList && b.kind == kindBracket:
		return c.ordered(a.args, b.args)
	}
	return c.realSets(a, b)
}

// pair compares in the order gold, answer; swapped says that y is the gold's.
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
		case OutcomeDifferent:
			return different("elements in order")
		case OutcomeUnknown:
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
	if x, y, ok := withoutParameters(a, b); ok {
		return c.compare(x, y)
	}
	words := true
	for _, n := range a.args {
		words = words && n.kind == kindText && len(n.name) > 1
	}
	if words {
		return c.ordered(a.args, b.args)
	}
	return c.multiset(c.members(a), c.members(b))
}

// withoutParameters takes clauses such as k ∈ Z off two lists and gives their parameters the same name; false if there is
// no such clause on both sides, or none that is the same on both.
func withoutParameters(a, b *node) (x, y *node, ok bool) {
	x, ka := parameter(a)
	y, kb := parameter(b)
	if ka == nil || kb == nil || !identical(ka.args[1], kb.args[1]) {
		return a, b, false
	}
	from, to := kb.args[0].name, ka.args[0]
	if from != to.name {
		y = y.substitute(map[string]*node{from: to})
	}
	return x, y, true
}

// parameter splits a list into the rest and its only clause "k in Z".
func parameter(n *node) (rest, clause *node) {
	var kept []*node
	for _, a := range n.args {
		if a.kind == kindRelation && len(a.ops) == 1 && a.ops[0] == "in" && a.args[0].kind == kindSymbol && a.args[1].kind == kindNamedSet && (a.args[1].name[0] == 'Z' || a.args[1].name[0] == 'N') {
			if clause != nil {
				return n, nil
			}
			clause = a
			continue
		}
		kept = append(kept, a)
	}
	switch {
	case clause == nil || len(kept) == 0:
		return n, nil
	case len(kept) == 1:
		return kept[0], clause
	}
	m := *n
	m.args = kept
	return &m, clause
}

// members lists the elements of a list, or those of a set without repetitions.
func (c *comparer) members(n *node) []*node {
	args := c.progression(n.args)
	if n.kind == kindSet || c.policy.IgnoreRepeats {
		args, _ = c.distinct(args)
	}
	return args
}

// multiset finds a one-to-one matching of equal elements.
func (c *comparer) multiset(a, b []*node) result {
	if len(a) != len(b) {
		return different("different numbers of elements")
	}
	a, b, decided := c.unmatched(a, b)
	switch {
	case len(a) == 0:
		return equal("elements in any order")
	case decided && c.tol == nil:
		return different("elements in any order")
	}
	return c.matching(a, b)
}

// unmatched pairs off elements that are the same number or the same tree, and returns the rest. decided says that the
// rest are numbers only, which are then different from each other.
func (c *comparer) unmatched(a, b []*node) (restA, restB []*node, decided bool) {
	decided = true
	have := make(map[string]int, len(b))
	keys := make([]string, len(b))
	for i, n := range b {
		key, exact := c.key(n)
		keys[i] = key
		decided = decided && exact
		have[key]++
	}
	for _, n := range a {
		key, exact := c.key(n)
		if have[key] > 0 {
			have[key]--
			continue
		}
		decided = decided && exact
		restA = append(restA, n)
	}
	for i, n := range b {
		if have[keys[i]] > 0 {
			have[keys[i]]--
			restB = append(restB, n)
		}
	}
	return restA, restB, decided
}

// key returns a text that only equal elements share; exact says that different texts mean different numbers.
func (c *comparer) key(n *node) (key string, isExact bool) {
	if n.scalar() {
		if v, err := (exact{steps: c.steps}).value(n); err == nil {
			return digits(v), true
		}
	}
	return n.String(), false
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
	case possible(func(o Outcome) bool { return o == OutcomeEqual }):
		return equal("elements in any order")
	case c.steps.spent() || possible(func(o Outcome) bool { return o != OutcomeDifferent }):
		return unknown("elements in any order")
	}
	return different("elements in any order")
}

// sets compares finite sets: every element of one is in the other.
func (c *comparer) sets(a, b []*node) result {
	a, exactA := c.distinct(a)
	b, exactB := c.distinct(b)
	if exactA && exactB && c.tol == nil && len(a) != len(b) {
		return different("set")
	}
	inA, inB, decided := c.unmatched(a, b)
	if len(inA)+len(inB) == 0 {
		return equal("set")
	}
	if decided && c.tol == nil {
		return different("set")
	}
	doubt := false
	contained := func(xs, ys []*node, swapped bool) bool {
		for _, x := range xs {
			found, maybe := false, false
			for _, y := range ys {
				r := c.pair(x, y, swapped)
				found = found || r.outcome == OutcomeEqual
				maybe = maybe || r.outcome == OutcomeUnknown
				if found {
					break
				}
			}
			if !found && !maybe {
				return false
			}
			doubt = doubt || !found
		}
		return true
	}
	switch {
	case !contained(inA, b, false) || !contained(inB, a, true):
		return different("set")
	case doubt:
		return unknown("set")
	}
	return equal("set")
}

// distinct drops repeated elements.
func (c *comparer) distinct(args []*node) (kept []*node, allExact bool) {
	allExact = true
	seen := make(map[string]bool, len(args))
	for _, n := range args {
		key, exact := c.key(n)
		allExact = allExact && exact
		if !seen[key] {
			seen[key] = true
			kept = append(kept, n)
		}
	}
	return kept, allExact
}
