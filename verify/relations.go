package verify

import (
	"errors"
	"slices"
	"strings"
)

var (
	contradiction = result{outcome: OutcomeDifferent, rule: "a chain that contradicts itself", reason: reasonContradicted}
	tautology     = result{outcome: OutcomeDifferent, rule: "an equation that says nothing"}
)

// assigned splits "x = ... = value" into what is assigned and its value. The result is different if the chain
// contradicts itself, and unknown otherwise; name is nil if the chain starts with a value.
func (c *comparer) assigned(n *node) (name, value *node, r result) {
	exactPart := len(n.args) - 1
	for i, op := range n.ops {
		switch op {
		case "=":
		case "==":
			if len(n.ops) > 1 {
				return nil, nil, result{}
			}
		case "~":
			if exactPart == len(n.args)-1 {
				exactPart = i
			}
		case "in":
			if len(n.ops) == 1 {
				return n.args[0], n.args[1], result{}
			}
			return nil, nil, result{}
		default:
			return nil, nil, result{}
		}
	}
	parts := n.args
	if assignable(parts[0]) {
		name = parts[0]
		if name.kind == kindDivide { // dy/dx is y'
			name = symbol(name.args[0].args[1].name + "'")
		}
		parts = parts[1:]
		exactPart--
	} else if len(parts) == 2 && assignable(parts[1]) && len(variables(parts[0])) == 0 {
		return parts[1], parts[0], result{}
	}
	if exactPart < 0 {
		exactPart = 0
	}
	if name == nil && len(n.ops) == 1 && len(variables(n)) > 0 {
		return nil, nil, result{} // an equation
	}
	for exactPart > 0 && parts[exactPart].kind == kindSymbol && len(variables(parts[exactPart-1])) == 0 {
		exactPart-- // x=12=y
	}
	value = parts[exactPart]
	if name == nil && !slices.ContainsFunc(parts, func(p *node) bool { return !identical(p, value) }) { // 5=5
		return nil, nil, tautology
	}
	amount, unit := split(value)
	for i := 0; i < len(parts); i++ {
		part, other := split(parts[i])
		if i == exactPart || !scalarLike(part) || !scalarLike(amount) || unit != "" && other != "" && unit != other {
			continue
		}
		if i > exactPart {
			if !c.near(amount, part) {
				return name, nil, contradiction
			}
			continue
		}
		if len(variables(part)) == 0 && len(variables(amount)) == 0 && c.scalars(part, amount).outcome == OutcomeDifferent {
			return name, nil, contradiction
		}
	}
	return name, value, result{}
}

// assignable reports whether n can stand left of an assignment: a name, f(x), a tuple of names.
func assignable(n *node) bool {
	switch n.kind {
	case kindSymbol, kindText:
		return true
	case kindCall:
		return applied(n) || n.name == "abs" || n.name == "det" || n.name == "max" || n.name == "min" || n.name == "gcd" || n.name == "lcm"
	case kindTuple, kindList:
		for _, a := range n.args {
			if !assignable(a) {
				return false
			}
		}
		return true
	case kindMultiply: // f(x) read as a product, P(A), AB, P(X>2)
		for i, a := range n.args {
			if a.kind != kindSymbol && a.kind != kindQuantity && !(i == 1 && a.kind == kindRelation && len(n.args) == 2) {
				return false
			}
		}
		return true
	case kindQuantity: // the number of ways
		return assignable(n.args[0])
	case kindRatio: // AB:CD
		for _, a := range n.args {
			if !assignable(a) {
				return false
			}
		}
		return true
	case kindDivide: // dy/dx
		d := func(m *node) bool {
			return m.kind == kindMultiply && len(m.args) == 2 && m.args[0].kind == kindSymbol && m.args[0].name == "d" && m.args[1].kind == kindSymbol
		}
		return d(n.args[0]) && d(n.args[1])
	}
	return false
}

// near reports whether an approximation is one, to a tenth.
func (c *comparer) near(a, b *node) bool {
	x := numeric{real: real{prec: 64, steps: c.steps}}
	va, ea := x.value(a)
	vb, eb := x.value(b)
	if ea != nil || eb != nil {
		return true
	}
	return distance(va, vb, 64) <= max(va.magnitude(), vb.magnitude())-3
}

const ruleSolution = "an equation against one of its solutions"

func isRelation(n *node) bool { return n.kind == kindRelation }

// relations compares answers of which one is a relation or a list of them; false if neither is.
func (c *comparer) relations(a, b *node) (result, bool) {
	ra, rb := isRelation(a), isRelation(b)
	if !ra && !rb {
		if w := computed(a); w != nil {
			return c.compare(w, b), true
		}
		if w := computed(b); w != nil {
			return c.compare(a, w), true
		}
		if conditions(a) != conditions(b) {
			return c.realSets(a, b), true
		}
		if conditions(a) {
			_, okA := c.region(a, true)
			_, okB := c.region(b, true)
			switch {
			case okA && okB:
				return c.realSets(a, b), true
			case a.name != b.name && a.name != "," && b.name != ",":
				return different("and against or"), true
			}
		}
		if allAssignments(a) != allAssignments(b) {
			if allAssignments(a) {
				a = c.assignedValues(a, b)
			} else {
				b = c.assignedValues(b, a)
			}
			if a != nil && b != nil {
				return c.compare(a, b), true
			}
		}
		return result{}, false
	}
	if ra && rb {
		return c.twoRelations(a, b), true
	}
	rel, other := a, b
	if rb {
		rel, other = b, a
	}
	_, value, r := c.assigned(rel)
	if r.outcome == OutcomeDifferent {
		return r, true
	}
	if value != nil {
		if scalarLike(other) && (rel.ops[0] == "==" && literal(other) != nil || rb && unsolved(rel.args[0]) && !c.policy.AnyEquation) {
			return different("a relation against a value"), true
		}
		r := c.pair(value, other, rb)
		if r.outcome == OutcomeEqual && r.rule == ruleIdentical {
			r.rule = "assigned value"
		}
		if r.outcome != OutcomeEqual && len(rel.ops) > 0 && rel.ops[len(rel.ops)-1] == "~" { // the rounded value was asked for
			if s := c.pair(rel.args[len(rel.args)-1], other, rb); s.outcome == OutcomeEqual {
				return s, true
			}
		}
		return r, true
	}
	if scalarLike(other) {
		if asked(rel) || c.policy.AnyEquation && onlyEquals(rel) {
			return c.pair(rel.args[len(rel.args)-1], other, rb), true
		}
		return different("a relation against a value"), true
	}
	return c.realSets(a, b), true
}

// unsolved reports whether n, on the left of an equation, is |x| or xy: the unknowns are what was to be found, and the
// equation has several solutions. |S|, |AB|, |z| and AB name a size, a length, an absolute value and a segment.
func unsolved(n *node) bool {
	unknown := func(m *node) bool { return m.kind == kindSymbol && (m.name == "x" || m.name == "y") }
	switch n.kind {
	case kindCall:
		return n.name == "abs" && unknown(n.args[0])
	case kindMultiply:
		return slices.ContainsFunc(n.args, unknown) && !slices.ContainsFunc(n.args, func(m *node) bool { return !unknown(m) && !(m.kind == kindSymbol && m.name == "z") })
	}
	return false
}

// asked reports whether a relation gives the value of an expression in several unknowns, as m+n=117 and 1/a+1/b=5 do: a
// value that was asked for as such, as the unknowns do not follow from it. The equation of a line or circle in a usual
// form is none: it holds constants, or its constants are denominators.
func asked(n *node) bool {
	if len(n.ops) != 1 || n.ops[0] != "=" || len(variables(n.args[0])) < 2 || len(variables(n.args[1])) > 0 {
		return false
	}
	terms := []*node{n.args[0]}
	if n.args[0].kind == kindAdd {
		terms = n.args[0].args
	}
	if line(n.args[0], terms) {
		return false
	}
	if v := literal(n.args[1]); v != nil && v.Sign() == 0 && slices.ContainsFunc(terms, func(t *node) bool { return t.has(func(m *node) bool { return m.kind == kindNumber }) }) {
		return false // a+3z=0
	}
	for _, t := range terms {
		if len(variables(t)) == 0 || t.has(func(m *node) bool {
			return m.kind == kindAdd || m.kind == kindCall || m.kind == kindDivide && len(variables(m.args[1])) == 0
		}) {
			return false
		}
	}
	return true
}

// line reports whether terms such as 2x+3y are the left side of the equation of a line or plane.
func line(sum *node, terms []*node) bool {
	for _, name := range variables(sum) {
		if name != "x" && name != "y" && name != "z" {
			return false
		}
	}
	scaled := false
	for _, t := range terms {
		if t.kind == kindNegate {
			t = t.args[0]
		}
		switch {
		case t.kind == kindMultiply && len(t.args) == 2 && len(variables(t.args[0])) == 0 && t.args[1].kind == kindSymbol:
			scaled = true
		case t.kind != kindSymbol:
			return false
		}
	}
	return scaled
}

// computed returns the last of several steps of arithmetic, "2*3 = 6; 6+1 = 7", whose value is the answer; nil if n is
// anything else.
func computed(n *node) *node {
	if n.kind != kindList || n.name != "," {
		return nil
	}
	for _, a := range n.args {
		if a.kind != kindRelation || len(variables(a)) > 0 || a.args[0].kind != kindAdd && a.args[0].kind != kindMultiply && a.args[0].kind != kindDivide && a.args[0].kind != kindQuantity {
			return nil
		}
		for _, op := range a.ops {
			if op != "=" {
				return nil
			}
		}
	}
	return n.args[len(n.args)-1]
}

// conditions reports whether n is a list of relations of which at least one is an inequality.
func conditions(n *node) bool {
	if n.kind != kindList {
		return false
	}
	inequality := false
	for _, a := range n.args {
		if a.kind != kindRelation {
			return false
		}
		inequality = inequality || a.ops[0] != "="
	}
	return inequality
}

// allAssignments reports whether n is a list of assignments.
func allAssignments(n *node) bool {
	if n.kind != kindList && n.kind != kindTuple && n.kind != kindSet {
		return false
	}
	for _, a := range n.args {
		if a.kind != kindRelation || len(a.ops) != 1 || a.ops[0] != "=" || !assignable(a.args[0]) {
			return false
		}
	}
	return true
}

// assignedValues strips the names of a list of assignments. Several values of one name are a list, values of
// different names a tuple in the order given.
func (c *comparer) assignedValues(n, other *node) *node {
	same := true
	for _, a := range n.args {
		same = same && identical(a.args[0], n.args[0].args[0])
	}
	m := &node{kind: kindTuple}
	if same || other.kind == kindSet || other.kind == kindList && subscriptedAlike(n) {
		m = &node{kind: kindList, name: ","}
	}
	for _, a := range n.args {
		m.args = append(m.args, a.args[1])
	}
	return m
}

func onlyEquals(n *node) bool {
	for _, op := range n.ops {
		if op != "=" {
			return false
		}
	}
	return true
}

// subscriptedAlike reports whether the names of a list of assignments are those of one family: x_1, x_2, x_3.
func subscriptedAlike(n *node) bool {
	family, _, subscripted := strings.Cut(n.args[0].args[0].name, "_")
	for _, a := range n.args {
		f, _, ok := strings.Cut(a.args[0].name, "_")
		if !ok || f != family {
			return false
		}
	}
	return subscripted
}

// twoRelations compares equations, inequalities, chains and congruences.
func (c *comparer) twoRelations(a, b *node) result {
	if len(a.ops) > 1 && len(a.ops) == len(b.ops) && onlyEquals(a) && onlyEquals(b) && len(a.args) < 16 {
		if r := c.multiset(a.args, b.args); r.outcome == OutcomeEqual {
			return equal("a chain in any order")
		}
	}
	na, va, r := c.assigned(a)
	if r.outcome == OutcomeDifferent {
		return r
	}
	nb, vb, r := c.assigned(b)
	if r.outcome == OutcomeDifferent {
		return r
	}
	if va != nil && vb != nil {
		switch {
		case na == nil || nb == nil || identical(na, nb):
			if r := c.compare(va, vb); r.outcome != OutcomeDifferent || len(variables(va, vb)) == 0 {
				return r
			}
		case len(a.ops) > 1 || len(b.ops) > 1 || !scalarLike(va) || !scalarLike(vb):
			return different("values of different names")
		}
	}
	if len(a.ops) == 1 && len(b.ops) == 1 && a.ops[0] == "=" && b.ops[0] == "=" {
		if r := c.equations(a, b); r.outcome != OutcomeUnknown || r.rule == ruleSolution {
			return r
		}
	}
	_, okA := c.region(a, true)
	_, okB := c.region(b, true)
	if okA && okB {
		if r := c.realSets(a, b); r.outcome != OutcomeUnknown {
			return r
		}
	}
	return c.inequalities(a, b)
}

// equations compares f = 0 and g = 0 by whether f/g is a constant other than zero.
func (c *comparer) equations(a, b *node) result {
	for _, n := range []*node{a, b} {
		if !scalarLike(n.args[0]) || !scalarLike(n.args[1]) {
			if len(a.args) == len(b.args) {
				return c.ordered(a.args, b.args)
			}
			return unknown("")
		}
	}
	ratio, r := c.proportional(a, b)
	if r.outcome == OutcomeEqual && ratio == 0 {
		return unknown("")
	}
	if r.outcome == OutcomeUnknown {
		x, y := c.scalars(a.args[0], a.args[1]).outcome, c.scalars(b.args[0], b.args[1]).outcome
		if x == OutcomeEqual && y == OutcomeDifferent || x == OutcomeDifferent && y == OutcomeEqual {
			return tautology // x=x
		}
	}
	if r.outcome == OutcomeDifferent && c.solves(a, b) {
		return unknown(ruleSolution)
	}
	if r.outcome == OutcomeDifferent && (hasVariableBelow(a) || hasVariableBelow(b)) {
		x, y := cleared(a), cleared(b)
		if _, s := c.proportional(x, y); s.outcome == OutcomeEqual {
			return equal("equations without their denominators")
		}
	}
	return r
}

// solves reports whether the answer is a value of the only variable of the gold's equation that satisfies it.
func (c *comparer) solves(gold, answer *node) bool {
	names := variables(gold)
	x, v := answer.args[0], answer.args[1]
	if len(names) != 1 || gold.args[0].kind == kindSymbol || x.kind != kindSymbol || x.name != names[0] || len(variables(v)) > 0 {
		return false
	}
	at := map[string]*node{x.name: v}
	return c.scalars(gold.args[0].substitute(at), gold.args[1].substitute(at)).outcome == OutcomeEqual
}

// hasVariableBelow reports whether a variable stands in a denominator.
func hasVariableBelow(n *node) bool {
	return n.has(func(m *node) bool { return m.kind == kindDivide && len(variables(m.args[1])) > 0 })
}

// cleared multiplies an equation by its denominators.
func cleared(n *node) *node {
	num, _ := fraction(subtract(n.args[0], n.args[1]))
	return &node{kind: kindRelation, ops: n.ops, args: []*node{num, number(0)}}
}

// fraction writes an expression as numerator and denominator; nil stands for the denominator 1.
func fraction(n *node) (num, den *node) {
	times := func(a, b *node) *node {
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		}
		return apply(kindMultiply, a, b)
	}
	switch n.kind {
	case kindNegate:
		num, den = fraction(n.args[0])
		return negate(num), den
	case kindDivide:
		a, b := fraction(n.args[0])
		p, q := fraction(n.args[1])
		return times(a, q), times(b, p)
	case kindMultiply:
		for _, f := range n.args {
			a, b := fraction(f)
			num, den = times(num, a), times(den, b)
		}
		return num, den
	case kindAdd:
		num, den = fraction(n.args[0])
		for _, t := range n.args[1:] {
			a, b := fraction(t)
			num = apply(kindAdd, times(num, b), times(a, den))
			den = times(den, b)
		}
		return num, den
	}
	return n, nil
}

// proportional reports whether lhs-rhs of a is a constant times that of b, and the sign of the constant where it is
// known to be real.
func (c *comparer) proportional(a, b *node) (sign int, r result) {
	f, g := subtract(a.args[0], a.args[1]), subtract(b.args[0], b.args[1])
	names := variables(f, g)
	if len(names) == 0 {
		return 0, unknown("")
	}
	// f(x)g(y) = f(y)g(x) says that the ratio is constant; y are the names at a fixed point.
	seed := seedOf(f, g)
	at := make(map[string]*node, len(names))
	for try := 0; ; try++ {
		if try == 8 {
			return 0, unknown("")
		}
		for _, name := range names {
			at[name] = number(int64(2 + next(&seed)%97))
			if try%2 == 1 {
				at[name] = divide(at[name], number(101))
			}
		}
		f0, g0 := f.substitute(at), g.substitute(at)
		sf, okF := c.sign(f0)
		sg, okG := c.sign(g0)
		if !okF || !okG {
			continue
		}
		if sf == 0 || sg == 0 {
			continue
		}
		r := c.scalars(apply(kindMultiply, f, g0), apply(kindMultiply, g, f0))
		return sf * sg, r
	}
}

// sign returns the sign of a real constant.
func (c *comparer) sign(n *node) (int, bool) {
	v, err := exact{steps: c.steps}.value(n)
	if err == nil {
		return v.Sign(), true
	}
	if errors.Is(err, errUndefined) || errors.Is(err, errSymbolic) {
		return 0, false
	}
	x := numeric{real: real{prec: 192, steps: c.steps}}
	w, err := x.value(n)
	if err != nil || !w.real() {
		return 0, false
	}
	if w.magnitude() < -120 {
		return 0, true
	}
	return w.re.Sign(), true
}

var flipped = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "=", "==": "==", "~": "~"}

// inequalities compares relations that are not solved for one variable.
func (c *comparer) inequalities(a, b *node) result {
	if (a.ops[0] == "==") != (b.ops[0] == "==") {
		return unknown("a congruence against another relation")
	}
	if len(a.ops) != len(b.ops) {
		return different("relations of different shape")
	}
	if len(a.ops) == 1 && flipped[a.ops[0]] != "" && flipped[b.ops[0]] != "" && scalarLike(a.args[0]) && scalarLike(a.args[1]) && scalarLike(b.args[0]) && scalarLike(b.args[1]) {
		if a.ops[0] != b.ops[0] && a.ops[0] != flipped[b.ops[0]] {
			return different("different relation signs")
		}
		sign, r := c.proportional(a, b)
		if r.outcome == OutcomeEqual {
			if sign > 0 == (a.ops[0] == b.ops[0]) || a.ops[0] == flipped[a.ops[0]] {
				return equal("equivalent relation")
			}
			return different("the opposite relation")
		}
		return r
	}
	straight := true
	for i := range a.ops {
		straight = straight && a.ops[i] == b.ops[i]
	}
	if straight {
		if r := c.ordered(a.args, b.args); r.outcome != OutcomeDifferent {
			return r
		}
	}
	n := len(b.args)
	reversed := true
	turned := make([]*node, n)
	for i := range b.args {
		turned[n-1-i] = b.args[i]
		if i < len(b.ops) {
			reversed = reversed && a.ops[len(b.ops)-1-i] == flipped[b.ops[i]]
		}
	}
	if reversed {
		return c.ordered(a.args, turned)
	}
	return different("relations of different shape")
}
