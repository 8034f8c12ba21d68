package verify

import (
	"slices"
	"strings"
)

// compare decides whether two parsed answers are the same; a is the ground truth where a policy asks which is which.
func (c *comparer) compare(a, b *node) result {
	if !c.steps.spend(costCompare + 2*(a.weight()+b.weight())) {
		return unknown("")
	}
	if identical(a, b) {
		if scalarLike(a) {
			c.evidence.rest(ProofExact, 0)
		}
		return equal(ruleIdentical)
	}
	if n := c.named(a, b); n != nil {
		return c.compare(n, b)
	}
	if n := c.named(b, a); n != nil {
		return c.compare(a, n)
	}
	if a.kind == kindQuantity || b.kind == kindQuantity {
		return c.quantities(a, b)
	}
	if (a.kind == kindPercent) != (b.kind == kindPercent) {
		if r, ok := c.percents(a, b); ok {
			return r
		}
	}
	if a.kind == kindText || b.kind == kindText {
		return c.texts(a, b)
	}
	if a.kind == kindDefine || b.kind == kindDefine {
		return c.definitions(a, b)
	}
	if (a.kind == kindRatio || b.kind == kindRatio || a.kind == kindTime || b.kind == kindTime) && !isRelation(a) && !isRelation(b) {
		return c.ratios(a, b)
	}
	if (a.kind == kindList) != (b.kind == kindList) { // x = k pi, k in Z against x = k pi
		if rest, clause := parameter(a); clause != nil && b.has(func(n *node) bool { return identical(n, clause.args[0]) }) {
			return c.compare(rest, b)
		}
		if rest, clause := parameter(b); clause != nil && a.has(func(n *node) bool { return identical(n, clause.args[0]) }) {
			return c.compare(a, rest)
		}
	}
	if m := restricted(a); m != nil && scalarLike(b) {
		return c.compare(m, b)
	}
	if m := restricted(b); m != nil && scalarLike(a) {
		return c.compare(a, m)
	}
	if (isRelation(a) || isRelation(b)) && signs(a)+signs(b) > 0 {
		return c.expanded(a, b)
	}
	if r, ok := c.relations(a, b); ok {
		return r
	}
	if signs(a) > 0 || signs(b) > 0 {
		return c.expanded(a, b)
	}
	if !c.policy.StrictBase && sameDigits(a, b) {
		return equal("base as in the ground truth")
	}
	if a.kind == kindCall && a.name == "base" || b.kind == kindCall && b.name == "base" {
		return different("another numeral")
	}
	sa, sb := scalarLike(a), scalarLike(b)
	if sa && sb {
		return c.scalar(a, b)
	}
	return c.collections(a, b, sa, sb)
}

// restricted returns the expression of an answer that states its domain as well, such as "1/x, x != 0"; nil for others.
func restricted(n *node) *node {
	if n.kind != kindList || n.name != "," || !scalarLike(n.args[0]) {
		return nil
	}
	names := variables(n.args[0])
	for _, a := range n.args[1:] {
		if a.kind != kindRelation || len(a.ops) != 1 || a.ops[0] == "=" || a.ops[0] == "~" || a.args[0].kind != kindSymbol || !slices.Contains(names, a.args[0].name) {
			return nil
		}
	}
	return n.args[0]
}

// sameDigits reports whether the answer is the gold's numeral without its base.
func sameDigits(gold, answer *node) bool {
	if gold.kind == kindNegate && answer.kind == kindNegate {
		gold, answer = gold.args[0], answer.args[0]
	}
	if answer.kind == kindCall && answer.name == "base" { // 100_b
		return identical(gold, answer.args[0])
	}
	if gold.kind == kindCall && gold.name == "base" {
		return identical(gold.args[0], answer)
	}
	return gold.kind == kindBased && answer.kind == kindNumber && gold.name == answer.rat.RatString()
}

func scalarLike(n *node) bool { return n.scalar() || n.kind == kindPercent }

// scalar compares two expressions with the tolerance at hand.
func (c *comparer) scalar(a, b *node) result {
	if c.tol != nil {
		return c.tolerant(a, b)
	}
	r := c.scalars(a, b)
	if r.outcome == OutcomeDifferent && c.policy.Rounded && c.rounded(a, b) || r.outcome != OutcomeEqual && c.policy.SixPlaces && c.samePlaces(a, b) {
		return equal("rounded")
	}
	if r.outcome == OutcomeDifferent && (ambiguousLog(a) || ambiguousLog(b)) {
		if s := c.scalars(decimalLog(a), decimalLog(b)); s.outcome == OutcomeEqual {
			return equal("log as base 10")
		}
	}
	if r.outcome == OutcomeDifferent && (golden(a) != nil || golden(b) != nil) {
		if s := c.scalars(orGolden(a, b), orGolden(b, a)); s.outcome == OutcomeEqual {
			return equal("phi as the golden ratio")
		}
	}
	if r.outcome == OutcomeDifferent && (len(variables(a)) == 0) != (len(variables(b)) == 0) {
		x, y := selections(a), selections(b)
		if len(variables(x, y)) == 0 {
			if s := c.scalars(x, y); s.outcome == OutcomeEqual {
				return equal("a number of selections")
			}
		}
	}
	return r
}

// selections reads C_5^2 as a binomial coefficient and A_5^2 or P_5^2 as a number of arrangements.
func selections(n *node) *node {
	if n.kind == kindPower && n.args[0].kind == kindSymbol {
		letter, of, subscripted := strings.Cut(n.args[0].name, "_")
		size, ok := integer(of)
		if k, fine := n.args[1].integer(); subscripted && ok && fine && k >= 0 && int64(k) <= size {
			switch letter {
			case "C":
				return call("binom", number(size), n.args[1])
			case "A", "P":
				return call("arrangements", number(size), n.args[1])
			}
		}
	}
	if len(n.args) == 0 {
		return n
	}
	m := *n
	m.args = make([]*node, len(n.args))
	for i, a := range n.args {
		m.args[i] = selections(a)
	}
	return &m
}

// named returns the collection that n names besides its value, where the other side is a collection: A(1,2) is the point
// (1,2), \binom12 is a vector, and \text{the point } (1,2) is a point as well. It returns nil for anything else.
func (c *comparer) named(n, other *node) *node {
	if other.kind < kindList || other.kind > kindMatrix || other.kind == kindList && n.kind == kindCall {
		return nil
	}
	if m := evaluatedMatrix(n); m != n {
		return m
	}
	if other.kind == kindTuple || other.kind == kindMatrix && (other.cols == 1 || other.cols == len(other.args)) {
		if v := c.components(n, len(other.args)); v != nil {
			return v
		}
	}
	switch n.kind {
	case kindCall:
		switch {
		case n.name == "binom" && other.kind == kindMatrix, (n.name == "binom" || n.name == "arrangements") && other.kind == kindTuple:
			return apply(kindTuple, n.args...)
		}
	case kindMultiply:
		last := n.args[len(n.args)-1]
		if last.kind != kindTuple && last.kind != kindSet && last.kind != kindInterval && last.kind != kindBracket {
			return nil
		}
		for _, a := range n.args[:len(n.args)-1] {
			if a.kind != kindSymbol || len(a.name) == 1 && (a.name[0] < 'A' || a.name[0] > 'Z') || len(n.args) > 2 && len(a.name) == 1 {
				return nil
			}
		}
		return last
	}
	return nil
}

// golden returns the value of an expression in which phi is the only variable, with phi as the golden ratio; nil for
// any other, and where phi is the argument of a function, which makes it an angle.
func golden(n *node) *node {
	v := variables(n)
	if len(v) != 1 || v[0] != "phi" || n.has(func(m *node) bool { return m.kind == kindCall && m.name != "root" && len(variables(m)) > 0 }) {
		return nil
	}
	return n.substitute(map[string]*node{"phi": divide(apply(kindAdd, number(1), call("root", number(5), number(2))), number(2))})
}

// orGolden returns n, or its value if it is an expression in phi and so is the other side, or that has no variables.
func orGolden(n, other *node) *node {
	if g := golden(n); g != nil && (len(variables(other)) == 0 || golden(other) != nil) {
		return g
	}
	return n
}

// ambiguousLog reports whether n holds \log without a base and nothing that settles what it means.
func ambiguousLog(n *node) bool {
	return n.has(func(m *node) bool { return m.kind == kindCall && m.name == "log" && len(m.args) == 1 })
}

// decimalLog reads \log without a base as the decimal logarithm.
func decimalLog(n *node) *node {
	if len(n.args) == 0 {
		return n
	}
	m := *n
	m.args = make([]*node, len(n.args), len(n.args)+1)
	for i, a := range n.args {
		m.args[i] = decimalLog(a)
	}
	if m.kind == kindCall && m.name == "log" && len(m.args) == 1 {
		m.args = append(m.args, number(10))
	}
	return &m
}

// definitions compares functions up to the names of their parameters, and a definition with a bare expression.
func (c *comparer) definitions(a, b *node) result {
	if a.kind != kindDefine {
		return c.compare(a, b.args[0])
	}
	if b.kind != kindDefine {
		if b.kind == kindRelation {
			if name, value, r := c.assigned(b); r.outcome == OutcomeUnknown && name != nil && value != nil {
				return c.compare(a.args[0], value)
			}
		}
		return c.compare(a.args[0], b)
	}
	if len(a.ops) != len(b.ops) || !strings.EqualFold(a.name, b.name) {
		return different("different functions")
	}
	body := b.args[0]
	if !c.policy.KeepBound {
		with := make(map[string]*node, len(b.ops))
		for i, name := range b.ops {
			with[name] = symbol(a.ops[i])
		}
		body = body.substitute(with)
	}
	return c.compare(a.args[0], body)
}

// signs counts ± and ∓ in n.
func signs(n *node) int {
	count := 0
	n.walk(func(m *node) bool {
		if m.kind == kindSign {
			count++
		}
		return true
	})
	return count
}

// expanded compares answers with ± as the lists of their values: first with one choice of sign for all signs of an
// element, then with independent signs.
func (c *comparer) expanded(a, b *node) result {
	for _, independent := range []bool{false, true} {
		x, okX := expand(a, independent)
		y, okY := expand(b, independent)
		if !okX || !okY {
			return unknown("")
		}
		r := c.compare(x, y)
		if r.outcome == OutcomeEqual || independent || signs(a) < 2 && signs(b) < 2 {
			return r
		}
	}
	return different(ruleExact)
}

// expand replaces a ± x by the list of both; elements of a list or set expand in place.
func expand(n *node, independent bool) (*node, bool) {
	if signs(n) == 0 {
		return n, true
	}
	if n.kind == kindList || n.kind == kindSet {
		var args []*node
		for _, a := range n.args {
			e, ok := expand(a, independent)
			if !ok || len(args) > maxElements {
				return nil, false
			}
			if e != a && e.kind == kindList {
				args = append(args, e.args...)
			} else {
				args = append(args, e)
			}
		}
		m := *n
		m.args = args
		return &m, true
	}
	if n.kind == kindMinus || n.kind == kindUnion || n.kind == kindMeet {
		m := *n
		m.args = make([]*node, len(n.args))
		for i, a := range n.args {
			e, ok := expand(a, independent)
			if !ok {
				return nil, false
			}
			m.args[i] = e
		}
		return &m, true
	}
	if n.kind == kindRelation && len(n.ops) == 1 && signs(n.args[0]) == 0 {
		e, ok := expand(n.args[1], independent)
		if !ok {
			return nil, false
		}
		var args []*node
		for _, a := range e.args {
			args = append(args, &node{kind: kindRelation, ops: n.ops, args: []*node{n.args[0], a}})
		}
		name := "or"
		if n.ops[0] == "!=" {
			name = "and"
		}
		return &node{kind: kindList, name: name, args: args}, true
	}
	count := 1
	if independent {
		count = signs(n)
	}
	if count > maxSigns {
		return nil, false
	}
	var args []*node
	for bits := range 1 << count {
		k := 0
		args = append(args, withSigns(n, bits, independent, &k))
	}
	return &node{kind: kindList, name: "or", args: args}, true
}

// withSigns replaces every ± by the sign that bits gives it.
func withSigns(n *node, bits int, independent bool, k *int) *node {
	if n.kind == kindSign {
		minus := bits>>*k&1 == 1
		if independent {
			*k++
		}
		arg := withSigns(n.args[0], bits, independent, k)
		if minus != (n.name == "mp") {
			return negate(arg)
		}
		return arg
	}
	if len(n.args) == 0 {
		return n
	}
	m := *n
	m.args = make([]*node, len(n.args))
	for i, a := range n.args {
		m.args[i] = withSigns(a, bits, independent, k)
	}
	return &m
}
