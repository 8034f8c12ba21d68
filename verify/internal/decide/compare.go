// Two parsed answers, compared.

package decide

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// compare decides whether two parsed answers are the same; a is the ground truth where a policy asks which is which.
func (c *Comparer) compare(a, b *formula.Node) Result {
	if !c.Steps.Spend(costCompare + 2*(a.Weight()+b.Weight())) {
		return Unknown("")
	}
	if formula.Identical(a, b) {
		if formula.ScalarLike(a) {
			c.Evidence.rest(ProofExact, 0)
		}
		return equal(RuleIdentical)
	}
	if n := c.named(a, b); n != nil {
		return c.compare(n, b)
	}
	if n := c.named(b, a); n != nil {
		return c.compare(a, n)
	}
	if a.Kind == formula.KindQuantity || b.Kind == formula.KindQuantity {
		return c.quantities(a, b)
	}
	if (a.Kind == formula.KindPercent) != (b.Kind == formula.KindPercent) {
		if r, ok := c.percents(a, b); ok {
			return r
		}
	}
	if a.Kind == formula.KindText || b.Kind == formula.KindText {
		return c.texts(a, b)
	}
	if a.Kind == formula.KindDefine || b.Kind == formula.KindDefine {
		return c.definitions(a, b)
	}
	if (a.Kind == formula.KindRatio || b.Kind == formula.KindRatio || a.Kind == formula.KindTime || b.Kind == formula.KindTime) && a.Kind != formula.KindRelation && b.Kind != formula.KindRelation {
		return c.ratios(a, b)
	}
	if a.Kind == formula.KindList && b.Kind == formula.KindList {
		if x, y, clause := withoutParameters(a, b); clause != nil {
			return c.families(x, y, clause)
		}
	}
	if (a.Kind == formula.KindList) != (b.Kind == formula.KindList) { // x = k pi, k in Z against x = k pi
		if rest, clause := parameter(a); clause != nil {
			if m := adopting(b, rest, clause); m != nil {
				return c.families(rest, m, clause)
			}
		}
		if rest, clause := parameter(b); clause != nil {
			if m := adopting(a, rest, clause); m != nil {
				return c.families(m, rest, clause)
			}
		}
	}
	if m := restricted(a); m != nil && expressed(b) {
		return c.compare(m, b)
	}
	if m := restricted(b); m != nil && expressed(a) {
		return c.compare(a, m)
	}
	if (a.Kind == formula.KindRelation || b.Kind == formula.KindRelation) && signs(a)+signs(b) > 0 {
		return c.expanded(a, b)
	}
	if r, ok := c.relations(a, b); ok {
		return r
	}
	if signs(a) > 0 || signs(b) > 0 {
		return c.expanded(a, b)
	}
	if !c.Policy.StrictBase && sameDigits(a, b) {
		return equal("base as in the ground truth")
	}
	if a.Kind == formula.KindCall && a.Name == "base" || b.Kind == formula.KindCall && b.Name == "base" {
		return different("another numeral")
	}
	sa, sb := formula.ScalarLike(a), formula.ScalarLike(b)
	if sa && sb {
		return c.scalar(a, b)
	}
	return c.collections(a, b, sa, sb)
}

// restricted returns the expression of an answer that states its domain as well, such as "1/x, x != 0"; nil for others.
func restricted(n *formula.Node) *formula.Node {
	if n.Kind != formula.KindList || n.Name != "," || !expressed(n.Args[0]) {
		return nil
	}
	names := formula.Variables(n.Args[0])
	for _, a := range n.Args[1:] {
		if a.Kind != formula.KindRelation || len(a.Ops) != 1 || a.Ops[0] == "=" || a.Ops[0] == "~" || a.Args[0].Kind != formula.KindSymbol || !slices.Contains(names, a.Args[0].Name) {
			return nil
		}
	}
	return n.Args[0]
}

// expressed reports whether n is an expression, or gives one a name.
func expressed(n *formula.Node) bool {
	return formula.ScalarLike(n) || n.Kind == formula.KindDefine || n.Kind == formula.KindRelation && len(n.Ops) == 1 && n.Ops[0] == "=" && formula.Assignable(n.Args[0])
}

// sameDigits reports whether the answer is the gold's numeral without its base.
func sameDigits(gold, answer *formula.Node) bool {
	if gold.Kind == formula.KindNegate && answer.Kind == formula.KindNegate {
		gold, answer = gold.Args[0], answer.Args[0]
	}
	if answer.Kind == formula.KindCall && answer.Name == "base" { // 100_b
		return formula.Identical(gold, answer.Args[0])
	}
	if gold.Kind == formula.KindCall && gold.Name == "base" {
		return formula.Identical(gold.Args[0], answer)
	}
	return gold.Kind == formula.KindBased && answer.Kind == formula.KindNumber && gold.Name == answer.Rat.RatString()
}

// scalar compares two expressions with the tolerance at hand.
func (c *Comparer) scalar(a, b *formula.Node) Result {
	if c.Tol != nil {
		return c.tolerant(a, b)
	}
	r := c.scalars(a, b)
	if r.Outcome == OutcomeDifferent && c.Policy.Rounded && c.rounded(a, b) || r.Outcome != OutcomeEqual && c.Policy.SixPlaces && c.samePlaces(a, b) {
		return equal("rounded")
	}
	if r.Outcome == OutcomeDifferent && (ambiguousLog(a) || ambiguousLog(b)) {
		if s := c.scalars(decimalLog(a), decimalLog(b)); s.Outcome == OutcomeEqual {
			return equal("log as base 10")
		}
	}
	if r.Outcome == OutcomeDifferent && (golden(a) != nil || golden(b) != nil) {
		if s := c.scalars(orGolden(a, b), orGolden(b, a)); s.Outcome == OutcomeEqual {
			return equal("phi as the golden ratio")
		}
	}
	if r.Outcome == OutcomeDifferent {
		if s := c.arbitrary(a, b); s.Outcome == OutcomeEqual {
			return s
		}
	}
	if r.Outcome == OutcomeDifferent && (len(formula.Variables(a)) == 0) != (len(formula.Variables(b)) == 0) {
		if names := formula.Variables(a, b); len(names) == 1 && names[0] == "I" {
			i := map[string]*formula.Node{"I": formula.Constant("i")}
			if s := c.scalars(a.Substitute(i), b.Substitute(i)); s.Outcome == OutcomeEqual {
				return equal("I as the imaginary unit")
			}
		}
		x, y := selections(a), selections(b)
		if len(formula.Variables(x, y)) == 0 {
			if s := c.scalars(x, y); s.Outcome == OutcomeEqual {
				return equal("a number of selections")
			}
		}
	}
	return r
}

// selections reads C_5^2 as a binomial coefficient and A_5^2 or P_5^2 as a number of arrangements.
func selections(n *formula.Node) *formula.Node {
	if n.Kind == formula.KindPower && n.Args[0].Kind == formula.KindSymbol {
		letter, of, subscripted := strings.Cut(n.Args[0].Name, "_")
		size, ok := formula.Integer(of)
		if k, fine := n.Args[1].Integer(); subscripted && ok && fine && k >= 0 && int64(k) <= size {
			switch letter {
			case "C":
				return formula.Call("binom", formula.Number(size), n.Args[1])
			case "A", "P":
				return formula.Call("arrangements", formula.Number(size), n.Args[1])
			}
		}
	}
	return n.Map(selections)
}

// named returns the collection that n names besides its value, where the other side is a collection: A(1,2) is the point
// (1,2), \binom12 is a vector, and \text{the point } (1,2) is a point as well. It returns nil for anything else.
func (c *Comparer) named(n, other *formula.Node) *formula.Node {
	if other.Kind < formula.KindList || other.Kind > formula.KindMatrix || other.Kind == formula.KindList && n.Kind == formula.KindCall {
		return nil
	}
	if m := evaluatedMatrix(n); m != n {
		return m
	}
	if other.Kind == formula.KindTuple || other.Kind == formula.KindMatrix && (other.Cols == 1 || other.Cols == len(other.Args)) {
		if v := c.components(n, len(other.Args)); v != nil {
			return v
		}
	}
	switch n.Kind {
	case formula.KindCall:
		switch {
		case n.Name == "binom" && other.Kind == formula.KindMatrix, (n.Name == "binom" || n.Name == "arrangements") && other.Kind == formula.KindTuple:
			return formula.Apply(formula.KindTuple, n.Args...)
		}
	case formula.KindMultiply:
		last := n.Args[len(n.Args)-1]
		if last.Kind != formula.KindTuple && last.Kind != formula.KindSet && last.Kind != formula.KindInterval && last.Kind != formula.KindBracket {
			return nil
		}
		for _, a := range n.Args[:len(n.Args)-1] {
			if a.Kind != formula.KindSymbol || len(a.Name) == 1 && (a.Name[0] < 'A' || a.Name[0] > 'Z') || len(n.Args) > 2 && len(a.Name) == 1 {
				return nil
			}
		}
		return last
	}
	return nil
}

// golden returns the value of an expression in which phi is the only variable, with phi as the golden ratio; nil for
// any other, and where phi is the argument of a function, which makes it an angle.
func golden(n *formula.Node) *formula.Node {
	v := formula.Variables(n)
	if len(v) != 1 || v[0] != "phi" || n.Has(func(m *formula.Node) bool {
		return m.Kind == formula.KindCall && m.Name != "root" && len(formula.Variables(m)) > 0
	}) {
		return nil
	}
	return n.Substitute(map[string]*formula.Node{"phi": formula.Divide(formula.Apply(formula.KindAdd, formula.Number(1), formula.Call("root", formula.Number(5), formula.Number(2))), formula.Number(2))})
}

// orGolden returns n, or its value if it is an expression in phi and so is the other side, or that has no variables.
func orGolden(n, other *formula.Node) *formula.Node {
	if g := golden(n); g != nil && (len(formula.Variables(other)) == 0 || golden(other) != nil) {
		return g
	}
	return n
}

// ambiguousLog reports whether n holds \log without a base and nothing that settles what it means.
func ambiguousLog(n *formula.Node) bool {
	return n.Has(func(m *formula.Node) bool { return m.Kind == formula.KindCall && m.Name == "log" && len(m.Args) == 1 })
}

// decimalLog reads \log without a base as the decimal logarithm.
func decimalLog(n *formula.Node) *formula.Node {
	m := n.Map(decimalLog)
	if m.Kind == formula.KindCall && m.Name == "log" && len(m.Args) == 1 {
		m.Args = append(m.Args, formula.Number(10))
	}
	return m
}

// definitions compares functions up to the names of their parameters, and a definition with a bare expression.
func (c *Comparer) definitions(a, b *formula.Node) Result {
	if a.Kind != formula.KindDefine {
		return c.compare(a, b.Args[0])
	}
	if b.Kind != formula.KindDefine {
		if b.Kind == formula.KindRelation {
			if name, value, r := c.assigned(b); r.Outcome == OutcomeUnknown && name != nil && value != nil {
				return c.compare(a.Args[0], value)
			}
		}
		return c.compare(a.Args[0], b)
	}
	if len(a.Ops) != len(b.Ops) || !strings.EqualFold(a.Name, b.Name) {
		return different("different functions")
	}
	body := b.Args[0]
	if !c.Policy.KeepBound {
		with := make(map[string]*formula.Node, len(b.Ops))
		for _, name := range a.Ops {
			with[name] = formula.Symbol("#" + name) // free in b
		}
		for i, name := range b.Ops {
			with[name] = formula.Symbol(a.Ops[i])
		}
		body = body.Substitute(with)
	}
	return c.compare(a.Args[0], body)
}

// signs counts ± and ∓ in n.
func signs(n *formula.Node) int {
	count := 0
	n.Walk(func(m *formula.Node) bool {
		if m.Kind == formula.KindSign {
			count++
		}
		return true
	})
	return count
}

// expanded compares answers with ± as the lists of their values: first with one choice of sign for all signs of an
// element, then with independent signs.
func (c *Comparer) expanded(a, b *formula.Node) Result {
	for _, independent := range []bool{false, true} {
		x, okX := expand(a, independent)
		y, okY := expand(b, independent)
		if !okX || !okY {
			return Unknown("")
		}
		r := c.compare(x, y)
		if r.Outcome == OutcomeEqual || independent || signs(a) < 2 && signs(b) < 2 {
			return r
		}
	}
	return different(RuleExact)
}

// expand replaces a ± x by the list of both; elements of a list or set expand in place.
func expand(n *formula.Node, independent bool) (*formula.Node, bool) {
	if signs(n) == 0 {
		return n, true
	}
	if n.Kind == formula.KindList || n.Kind == formula.KindSet {
		var args []*formula.Node
		for _, a := range n.Args {
			e, ok := expand(a, independent)
			if !ok || len(args) > formula.MaxElements {
				return nil, false
			}
			if e != a && e.Kind == formula.KindList {
				args = append(args, e.Args...)
			} else {
				args = append(args, e)
			}
		}
		m := *n
		m.Args = args
		return &m, true
	}
	if n.Kind == formula.KindMinus || n.Kind == formula.KindUnion || n.Kind == formula.KindMeet {
		m := *n
		m.Args = make([]*formula.Node, len(n.Args))
		for i, a := range n.Args {
			e, ok := expand(a, independent)
			if !ok {
				return nil, false
			}
			m.Args[i] = e
		}
		return &m, true
	}
	if n.Kind == formula.KindRelation && len(n.Ops) == 1 && signs(n.Args[0]) == 0 {
		e, ok := expand(n.Args[1], independent)
		if !ok {
			return nil, false
		}
		var args []*formula.Node
		for _, a := range e.Args {
			args = append(args, &formula.Node{Kind: formula.KindRelation, Ops: n.Ops, Args: []*formula.Node{n.Args[0], a}})
		}
		name := "or"
		if n.Ops[0] == "!=" {
			name = "and"
		}
		return &formula.Node{Kind: formula.KindList, Name: name, Args: args}, true
	}
	count := 1
	if independent {
		count = signs(n)
	}
	if count > maxSigns {
		return nil, false
	}
	var args []*formula.Node
	for bits := range 1 << count {
		k := 0
		args = append(args, withSigns(n, bits, independent, &k))
	}
	return &formula.Node{Kind: formula.KindList, Name: "or", Args: args}, true
}

// withSigns replaces every ± by the sign that bits gives it.
func withSigns(n *formula.Node, bits int, independent bool, k *int) *formula.Node {
	if n.Kind == formula.KindSign {
		minus := bits>>*k&1 == 1
		if independent {
			*k++
		}
		arg := withSigns(n.Args[0], bits, independent, k)
		if minus != (n.Name == "mp") {
			return formula.Negate(arg)
		}
		return arg
	}
	return n.Map(func(a *formula.Node) *formula.Node { return withSigns(a, bits, independent, k) })
}
