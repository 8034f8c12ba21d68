// Tuples, lists, sets, matrices and intervals, compared.

package decide

import (
	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// collections compares tuples, lists, sets, matrices and intervals.
func (c *Comparer) collections(a, b *formula.Node, scalarA, scalarB bool) Result {
	if scalarA || scalarB {
		one, many := a, b
		if scalarB {
			one, many = b, a
		}
		if many.Kind == formula.KindList && many.Name == "or" {
			same := true
			for _, n := range many.Args {
				same = same && c.pair(n, one, scalarA).Outcome == OutcomeEqual
			}
			if same {
				return equal("one value in several forms")
			}
		}
		switch {
		case (many.Kind == formula.KindSet || many.Kind == formula.KindBracket || many.Kind == formula.KindList) && len(many.Args) == 1:
			return c.pair(many.Args[0], one, scalarA)
		case many.Kind == formula.KindSet || many.Kind == formula.KindList && c.Policy.IgnoreRepeats:
			if kept, _ := c.distinct(many.Args); len(kept) == 1 {
				return c.pair(kept[0], one, scalarA)
			}
		case many.Kind == formula.KindMatrix && len(many.Args) == 1:
			return c.pair(many.Args[0], one, scalarA)
		}
		if one.Has(func(n *formula.Node) bool { return n.Kind >= formula.KindTuple && n.Kind <= formula.KindBuilder }) {
			return Unknown("an operation on collections")
		}
		return different("one value against several")
	}
	if c.Policy.AnyOrder && (a.Kind == formula.KindSet) != (b.Kind == formula.KindSet) && (a.Kind == formula.KindTuple || b.Kind == formula.KindTuple) {
		return c.multiset(c.members(a), c.members(b))
	}
	switch {
	case a.Kind == formula.KindMatrix || b.Kind == formula.KindMatrix:
		return c.matrices(a, b)
	case a.Kind == formula.KindTuple && b.Kind == formula.KindTuple, a.Kind == formula.KindBracket && b.Kind == formula.KindBracket:
		return c.ordered(a.Args, b.Args)
	case a.Kind == formula.KindList && b.Kind == formula.KindList:
		return c.lists(a, b)
	case a.Kind == formula.KindSet && b.Kind == formula.KindSet:
		return c.sets(c.progression(a.Args), c.progression(b.Args))
	case a.Kind == formula.KindSet && b.Kind == formula.KindList || a.Kind == formula.KindList && b.Kind == formula.KindSet:
		return c.multiset(c.members(a), c.members(b))
	case a.Kind == formula.KindTuple && b.Kind == formula.KindList || a.Kind == formula.KindList && b.Kind == formula.KindTuple,
		len(a.Args) > 2 && a.Kind == formula.KindTuple && b.Kind == formula.KindBracket || len(a.Args) > 2 && a.Kind == formula.KindBracket && b.Kind == formula.KindTuple:
		return c.ordered(a.Args, b.Args)
	case a.Kind == formula.KindBracket && b.Kind == formula.KindList || a.Kind == formula.KindList && b.Kind == formula.KindBracket:
		return c.ordered(a.Args, b.Args)
	}
	return c.realSets(a, b)
}

// pair compares in the order gold, answer; swapped says that y is the gold's.
func (c *Comparer) pair(x, y *formula.Node, swapped bool) Result {
	if swapped {
		return c.compare(y, x)
	}
	return c.compare(x, y)
}

// ordered compares element by element.
func (c *Comparer) ordered(a, b []*formula.Node) Result {
	if len(a) != len(b) {
		return different("different lengths")
	}
	doubt := false
	for i := range a {
		switch r := c.compare(a[i], b[i]); r.Outcome {
		case OutcomeDifferent:
			return different("elements in order")
		case OutcomeUnknown:
			doubt = true
		}
	}
	if doubt {
		return Unknown("elements in order")
	}
	return equal("elements in order")
}

func (c *Comparer) matrices(a, b *formula.Node) Result {
	if a.Kind == b.Kind {
		if a.Cols != b.Cols {
			return different("different shapes")
		}
		return c.ordered(a.Args, b.Args)
	}
	m, o := a, b
	if b.Kind == formula.KindMatrix {
		m, o = b, a
	}
	if (o.Kind == formula.KindTuple || o.Kind == formula.KindBracket) && (m.Cols == 1 || m.Cols == len(m.Args)) && !c.Policy.StrictVector {
		return c.ordered(a.Args, b.Args)
	}
	if o.Kind == formula.KindBracket { // [[1,2],[3,4]]
		rows := len(m.Args) / m.Cols
		var flat []*formula.Node
		for _, r := range o.Args {
			if r.Kind != formula.KindBracket && r.Kind != formula.KindTuple || len(r.Args) != m.Cols {
				return different("different shapes")
			}
			flat = append(flat, r.Args...)
		}
		if len(o.Args) != rows {
			return different("different shapes")
		}
		if m == a {
			return c.ordered(m.Args, flat)
		}
		return c.ordered(flat, m.Args)
	}
	return different("a matrix against something else")
}

// lists compares unordered lists with multiplicity. Lists of words keep their order.
func (c *Comparer) lists(a, b *formula.Node) Result {
	words := true
	for _, n := range a.Args {
		words = words && n.Kind == formula.KindText && len(n.Name) > 1
	}
	if words {
		return c.ordered(a.Args, b.Args)
	}
	return c.multiset(c.members(a), c.members(b))
}

// withoutParameters takes clauses such as k ∈ Z off two lists and gives their parameters the same name, that of the clause
// it returns; nil if there is no such clause on both sides, or none that is the same on both.
func withoutParameters(a, b *formula.Node) (x, y, clause *formula.Node) {
	x, ka := parameter(a)
	y, kb := parameter(b)
	if ka == nil || kb == nil || !formula.Identical(ka.Args[1], kb.Args[1]) {
		return a, b, nil
	}
	from, to := kb.Args[0].Name, ka.Args[0]
	if from != to.Name {
		y = y.Substitute(map[string]*formula.Node{from: to})
	}
	return x, y, ka
}

// parameter splits a list into the rest and its only clause "k in Z".
func parameter(n *formula.Node) (rest, clause *formula.Node) {
	var kept []*formula.Node
	for _, a := range n.Args {
		if a.Kind == formula.KindRelation && len(a.Ops) == 1 && a.Ops[0] == "in" && a.Args[0].Kind == formula.KindSymbol && a.Args[1].Kind == formula.KindNamedSet && (a.Args[1].Name[0] == 'Z' || a.Args[1].Name[0] == 'N' || a.Args[1].Name == "R") {
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
	m.Args = kept
	return &m, clause
}

// members lists the elements of a list, or those of a set without repetitions.
func (c *Comparer) members(n *formula.Node) []*formula.Node {
	args := c.progression(n.Args)
	if n.Kind == formula.KindSet || c.Policy.IgnoreRepeats {
		args, _ = c.distinct(args)
	}
	return args
}

// multiset finds a one-to-one matching of equal elements.
func (c *Comparer) multiset(a, b []*formula.Node) Result {
	if len(a) != len(b) {
		return different("different numbers of elements")
	}
	a, b, decided := c.unmatched(a, b)
	switch {
	case len(a) == 0:
		return equal("elements in any order")
	case decided && c.Tol == nil:
		return different("elements in any order")
	}
	return c.matching(a, b)
}

// unmatched pairs off elements that are the same number or the same tree, and returns the rest. decided says that the
// rest are numbers only, which are then different from each other.
func (c *Comparer) unmatched(a, b []*formula.Node) (restA, restB []*formula.Node, decided bool) {
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
func (c *Comparer) key(n *formula.Node) (key string, isExact bool) {
	if n.Scalar() {
		if v, err := (evaluate.Exact{Steps: c.Steps}).Value(n); err == nil {
			return formula.Digits(v), true
		}
	}
	return n.String(), false
}

// matching looks for a perfect matching by augmenting paths. With a tolerance for each answer, the tolerance belongs
// to the gold's element.
func (c *Comparer) matching(a, b []*formula.Node) Result {
	n := len(a)
	verdicts := make([]Outcome, n*n)
	known := make([]bool, n*n)
	look := func(i, j int) Outcome {
		if !known[i*n+j] {
			known[i*n+j] = true
			verdicts[i*n+j] = c.compare(a[i], b[j]).Outcome
		}
		return verdicts[i*n+j]
	}
	possible := func(accept func(Outcome) bool) bool {
		return perfect(n, func(i, j int) bool { return accept(look(i, j)) })
	}
	if n > 512 {
		return Unknown("")
	}
	switch {
	case possible(func(o Outcome) bool { return o == OutcomeEqual }):
		return equal("elements in any order")
	case c.Steps.Spent() || possible(func(o Outcome) bool { return o != OutcomeDifferent }):
		return Unknown("elements in any order")
	}
	return different("elements in any order")
}

// sets compares finite sets: every element of one is in the other.
func (c *Comparer) sets(a, b []*formula.Node) Result {
	a, exactA := c.distinct(a)
	b, exactB := c.distinct(b)
	if exactA && exactB && c.Tol == nil && len(a) != len(b) {
		return different("set")
	}
	inA, inB, decided := c.unmatched(a, b)
	if len(inA)+len(inB) == 0 {
		return equal("set")
	}
	if decided && c.Tol == nil {
		return different("set")
	}
	doubt := false
	contained := func(xs, ys []*formula.Node, swapped bool) bool {
		for _, x := range xs {
			found, maybe := false, false
			for _, y := range ys {
				r := c.pair(x, y, swapped)
				found = found || r.Outcome == OutcomeEqual
				maybe = maybe || r.Outcome == OutcomeUnknown
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
		return Unknown("set")
	}
	return equal("set")
}

// distinct drops repeated elements.
func (c *Comparer) distinct(args []*formula.Node) (kept []*formula.Node, allExact bool) {
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
