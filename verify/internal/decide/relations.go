// Equations and inequalities, compared.

package decide

import (
	"errors"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/draw"
	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

var (
	contradiction = Result{Outcome: OutcomeDifferent, Rule: "a chain that contradicts itself", Reason: ReasonContradicted}
	tautology     = Result{Outcome: OutcomeDifferent, Rule: "an equation that says nothing"}
)

// assigned splits "x = ... = value" into what is assigned and its value. The result is different if the chain
// contradicts itself, and unknown otherwise; name is nil if the chain starts with a value.
func (c *Comparer) assigned(n *formula.Node) (name, value *formula.Node, r Result) {
	exactPart := len(n.Args) - 1
	for i, op := range n.Ops {
		switch op {
		case "=":
		case "==":
			if len(n.Ops) > 1 {
				return nil, nil, Result{}
			}
		case "~":
			if exactPart == len(n.Args)-1 {
				exactPart = i
			}
		case "in":
			if len(n.Ops) == 1 {
				return n.Args[0], n.Args[1], Result{}
			}
			return nil, nil, Result{}
		default:
			return nil, nil, Result{}
		}
	}
	parts := n.Args
	if formula.Assignable(parts[0]) {
		name = parts[0]
		if name.Kind == formula.KindDivide { // dy/dx is y'
			name = formula.Symbol(name.Args[0].Args[1].Name + "'")
		}
		parts = parts[1:]
		exactPart--
	} else if len(parts) == 2 && formula.Assignable(parts[1]) && len(formula.Variables(parts[0])) == 0 {
		return parts[1], parts[0], Result{}
	}
	if exactPart < 0 {
		exactPart = 0
	}
	if name == nil && len(n.Ops) == 1 && len(formula.Variables(n)) > 0 {
		return nil, nil, Result{} // an equation
	}
	for exactPart > 0 && parts[exactPart].Kind == formula.KindSymbol && len(formula.Variables(parts[exactPart-1])) == 0 {
		exactPart-- // x=12=y
	}
	value = parts[exactPart]
	if name == nil && !slices.ContainsFunc(parts, func(p *formula.Node) bool { return !formula.Identical(p, value) }) { // 5=5
		return nil, nil, tautology
	}
	amount, unit := formula.Split(value)
	for i := 0; i < len(parts); i++ {
		part, other := formula.Split(parts[i])
		if i == exactPart || !formula.ScalarLike(part) || !formula.ScalarLike(amount) || unit != "" && other != "" && unit != other {
			continue
		}
		if i > exactPart {
			if !c.near(amount, part) {
				return name, nil, contradiction
			}
			continue
		}
		if len(formula.Variables(part)) == 0 && len(formula.Variables(amount)) == 0 && c.scalars(part, amount).Outcome == OutcomeDifferent {
			return name, nil, contradiction
		}
	}
	return name, value, Result{}
}

// near reports whether an approximation is one, to a tenth.
func (c *Comparer) near(a, b *formula.Node) bool {
	x := evaluate.Numeric{Real: evaluate.Real{Prec: 64, Steps: c.Steps}}
	va, ea := x.Value(a)
	vb, eb := x.Value(b)
	if ea != nil || eb != nil {
		return true
	}
	return distance(va, vb, 64) <= max(va.Magnitude(), vb.Magnitude())-3
}

const ruleSolution = "an equation against one of its solutions"

// relations compares answers of which one is a relation or a list of them; false if neither is.
func (c *Comparer) relations(a, b *formula.Node) (Result, bool) {
	ra, rb := a.Kind == formula.KindRelation, b.Kind == formula.KindRelation
	if !ra && !rb {
		if w := computed(a); w != nil {
			return c.compare(w, b), true
		}
		if w := computed(b); w != nil {
			return c.compare(a, w), true
		}
		if formula.ScalarLike(b) {
			if w := concluded(a); w != nil {
				return c.compare(w, b), true
			}
		} else if formula.ScalarLike(a) {
			if w := concluded(b); w != nil {
				return c.compare(a, w), true
			}
		}
		if conditions(a) != conditions(b) {
			return c.realSets(a, b), true
		}
		if conditions(a) {
			_, okA := c.region(a)
			_, okB := c.region(b)
			switch {
			case okA && okB:
				return c.realSets(a, b), true
			case a.Name != b.Name && a.Name != "," && b.Name != ",":
				return different("and against or"), true
			}
		}
		if formula.AllAssignments(a) && formula.AllAssignments(b) && (indexes(a, b) || indexes(b, a)) { // x_1=2, x_2=3 for x=2 or x=3
			return c.multiset(assignedTo(a), assignedTo(b)), true
		}
		if formula.AllAssignments(a) != formula.AllAssignments(b) {
			if formula.AllAssignments(a) {
				a = c.assignedValues(a, b)
			} else {
				b = c.assignedValues(b, a)
			}
			return c.compare(a, b), true
		}
		return Result{}, false
	}
	if ra && rb {
		return c.twoRelations(a, b), true
	}
	rel, other := a, b
	if rb {
		rel, other = b, a
	}
	if list := shared(rel); list != nil && !formula.ScalarLike(other) {
		return c.pair(list, other, rb), true
	}
	_, value, r := c.assigned(rel)
	if r.Outcome == OutcomeDifferent {
		return r, true
	}
	if value != nil {
		if formula.ScalarLike(other) && (rel.Ops[0] == "==" && formula.Literal(other) != nil && !residue(other) || rb && Unsolved(rel.Args[0]) && !c.Policy.AnyEquation) {
			return different("a relation against a value"), true
		}
		r := c.pair(value, other, rb)
		if r.Outcome == OutcomeEqual && r.Rule == RuleIdentical {
			r.Rule = "assigned value"
		}
		if r.Outcome != OutcomeEqual && len(rel.Ops) > 0 && rel.Ops[len(rel.Ops)-1] == "~" { // the rounded value was asked for
			if s := c.pair(rel.Args[len(rel.Args)-1], other, rb); s.Outcome == OutcomeEqual {
				return s, true
			}
		}
		return r, true
	}
	if formula.ScalarLike(other) {
		if asked(rel) || c.Policy.AnyEquation && onlyEquals(rel) {
			return c.pair(rel.Args[len(rel.Args)-1], other, rb), true
		}
		if onlyEquals(rel) && len(formula.Variables(other)) > 0 && !slices.ContainsFunc(rel.Args, func(n *formula.Node) bool { return c.pair(n, other, rb).Outcome != OutcomeEqual }) {
			return equal("both sides of an identity"), true // x^2-1 = (x-1)(x+1)
		}
		return different("a relation against a value"), true
	}
	return c.realSets(a, b), true
}

// residue reports whether n is the class of a number by a modulus.
func residue(n *formula.Node) bool {
	return n.Kind == formula.KindQuantity && strings.HasPrefix(n.Name, "mod ")
}

// Unsolved reports whether n, on the left of an equation, is |x| or xy: the unknowns are what was to be found, and the
// equation has several solutions. |S|, |AB|, |z| and AB name a size, a length, an absolute value and a segment.
func Unsolved(n *formula.Node) bool {
	unknown := func(m *formula.Node) bool { return m.Kind == formula.KindSymbol && (m.Name == "x" || m.Name == "y") }
	switch n.Kind {
	case formula.KindCall:
		return n.Name == "abs" && unknown(n.Args[0])
	case formula.KindMultiply:
		return slices.ContainsFunc(n.Args, unknown) && !slices.ContainsFunc(n.Args, func(m *formula.Node) bool { return !unknown(m) && !(m.Kind == formula.KindSymbol && m.Name == "z") })
	}
	return false
}

// asked reports whether a relation gives the value of an expression in several unknowns, as m+n=117 and 1/a+1/b=5 do: a
// value that was asked for as such, as the unknowns do not follow from it. The equation of a line or circle in a usual
// form is none: it holds constants, or its constants are denominators.
func asked(n *formula.Node) bool {
	if len(n.Ops) != 1 || n.Ops[0] != "=" || len(formula.Variables(n.Args[0])) < 2 || len(formula.Variables(n.Args[1])) > 0 {
		return false
	}
	terms := []*formula.Node{n.Args[0]}
	if n.Args[0].Kind == formula.KindAdd {
		terms = n.Args[0].Args
	}
	if line(n.Args[0], terms) {
		return false
	}
	if v := formula.Literal(n.Args[1]); v != nil && v.Sign() == 0 && slices.ContainsFunc(terms, func(t *formula.Node) bool {
		return t.Has(func(m *formula.Node) bool { return m.Kind == formula.KindNumber })
	}) {
		return false // a+3z=0
	}
	for _, t := range terms {
		if len(formula.Variables(t)) == 0 || t.Has(func(m *formula.Node) bool {
			return m.Kind == formula.KindAdd || m.Kind == formula.KindCall || m.Kind == formula.KindDivide && len(formula.Variables(m.Args[1])) == 0
		}) {
			return false
		}
	}
	return true
}

// line reports whether terms such as 2x+3y are the left side of the equation of a line or plane.
func line(sum *formula.Node, terms []*formula.Node) bool {
	for _, name := range formula.Variables(sum) {
		if name != "x" && name != "y" && name != "z" {
			return false
		}
	}
	scaled := false
	for _, t := range terms {
		if t.Kind == formula.KindNegate {
			t = t.Args[0]
		}
		switch {
		case t.Kind == formula.KindMultiply && len(t.Args) == 2 && len(formula.Variables(t.Args[0])) == 0 && t.Args[1].Kind == formula.KindSymbol:
			scaled = true
		case t.Kind != formula.KindSymbol:
			return false
		}
	}
	return scaled
}

// computed returns the last of several steps of arithmetic, "2*3 = 6; 6+1 = 7", whose value is the answer; nil if n is
// anything else.
func computed(n *formula.Node) *formula.Node {
	if n.Kind != formula.KindList || n.Name != "," {
		return nil
	}
	for _, a := range n.Args {
		if a.Kind != formula.KindRelation || len(formula.Variables(a)) > 0 || a.Args[0].Kind != formula.KindAdd && a.Args[0].Kind != formula.KindMultiply && a.Args[0].Kind != formula.KindDivide && a.Args[0].Kind != formula.KindQuantity {
			return nil
		}
		for _, op := range a.Ops {
			if op != "=" {
				return nil
			}
		}
	}
	return n.Args[len(n.Args)-1]
}

// concluded returns the last of a list of equations, with the values put in, if it gives an expression in names that those
// before it give values to: "m=3, n=4, m+n=7". It returns nil for anything else.
func concluded(n *formula.Node) *formula.Node {
	if n.Kind != formula.KindList || n.Name == "or" || !formula.AllAssignments(&formula.Node{Kind: formula.KindList, Args: n.Args[:len(n.Args)-1]}) {
		return nil
	}
	last := n.Args[len(n.Args)-1]
	if last.Kind != formula.KindRelation || !onlyEquals(last) || last.Args[0].Kind == formula.KindSymbol || len(formula.Variables(last.Args[0])) == 0 {
		return nil
	}
	values := map[string]*formula.Node{}
	for _, a := range n.Args[:len(n.Args)-1] {
		if a.Args[0].Kind != formula.KindSymbol || len(formula.Variables(a.Args[1])) > 0 {
			return nil
		}
		values[a.Args[0].Name] = a.Args[1]
	}
	for _, name := range formula.Variables(last.Args[0]) {
		if values[name] == nil {
			return nil
		}
	}
	return last.Substitute(values)
}

// conditions reports whether n is a list of relations of which at least one is an inequality.
func conditions(n *formula.Node) bool {
	if n.Kind != formula.KindList {
		return false
	}
	inequality := false
	for _, a := range n.Args {
		if a.Kind != formula.KindRelation {
			return false
		}
		inequality = inequality || a.Ops[0] != "="
	}
	return inequality
}

// assignedValues strips the names of a list of assignments. Several values of one name are a list, values of
// different names a tuple in the order given, and in that of their names if these are x, y and z.
func (c *Comparer) assignedValues(n, other *formula.Node) *formula.Node {
	same := true
	for _, a := range n.Args {
		same = same && formula.Identical(a.Args[0], n.Args[0].Args[0])
	}
	m := &formula.Node{Kind: formula.KindTuple}
	if same || other.Kind == formula.KindSet || other.Kind == formula.KindList && subscriptedAlike(n) {
		m = &formula.Node{Kind: formula.KindList, Name: ","}
	}
	if m.Kind == formula.KindTuple && coordinates(n.Args) {
		n = &formula.Node{Args: slices.SortedStableFunc(slices.Values(n.Args), func(a, b *formula.Node) int { return strings.Compare(a.Args[0].Name, b.Args[0].Name) })}
	}
	m.Args = assignedTo(n)
	return m
}

// indexes reports whether the names of a list of assignments are those of another one with indices.
func indexes(indexed, plain *formula.Node) bool {
	name := plain.Args[0].Args[0]
	family, _, _ := strings.Cut(indexed.Args[0].Args[0].Name, "_")
	return name.Kind == formula.KindSymbol && name.Name == family && subscriptedAlike(indexed) && !slices.ContainsFunc(plain.Args, func(n *formula.Node) bool { return !formula.Identical(n.Args[0], name) })
}

// assignedTo returns the values of a list of assignments.
func assignedTo(n *formula.Node) (values []*formula.Node) {
	for _, a := range n.Args {
		values = append(values, a.Args[1])
	}
	return values
}

// shared writes x=y=z=1 as x=1, y=1, z=1; nil if n is anything else.
func shared(n *formula.Node) *formula.Node {
	last := len(n.Args) - 1
	if last < 2 || !onlyEquals(n) || n.Args[last].Kind == formula.KindSymbol {
		return nil
	}
	list := &formula.Node{Kind: formula.KindList, Name: ","}
	for _, name := range n.Args[:last] {
		if name.Kind != formula.KindSymbol {
			return nil
		}
		list.Args = append(list.Args, &formula.Node{Kind: formula.KindRelation, Ops: []string{"="}, Args: []*formula.Node{name, n.Args[last]}})
	}
	return list
}

// coordinates reports whether assignments are to x, y and z, which have an order of their own.
func coordinates(args []*formula.Node) bool {
	return !slices.ContainsFunc(args, func(a *formula.Node) bool {
		return a.Args[0].Name != "x" && a.Args[0].Name != "y" && a.Args[0].Name != "z"
	})
}

func onlyEquals(n *formula.Node) bool {
	for _, op := range n.Ops {
		if op != "=" {
			return false
		}
	}
	return true
}

// subscriptedAlike reports whether the names of a list of assignments are those of one family: x_1, x_2, x_3.
func subscriptedAlike(n *formula.Node) bool {
	family, _, subscripted := strings.Cut(n.Args[0].Args[0].Name, "_")
	for _, a := range n.Args {
		f, _, ok := strings.Cut(a.Args[0].Name, "_")
		if !ok || f != family {
			return false
		}
	}
	return subscripted
}

// twoRelations compares equations, inequalities, chains and congruences.
func (c *Comparer) twoRelations(a, b *formula.Node) Result {
	if len(a.Ops) > 1 && len(a.Ops) == len(b.Ops) && onlyEquals(a) && onlyEquals(b) && len(a.Args) < 16 {
		if r := c.multiset(a.Args, b.Args); r.Outcome == OutcomeEqual {
			return equal("a chain in any order")
		}
	}
	na, va, r := c.assigned(a)
	if r.Outcome == OutcomeDifferent {
		return r
	}
	nb, vb, r := c.assigned(b)
	if r.Outcome == OutcomeDifferent {
		return r
	}
	if va != nil && vb != nil && (a.Ops[0] == "==") != (b.Ops[0] == "==") && residue(va) != residue(vb) {
		if formula.Literal(va) != nil || formula.Literal(vb) != nil {
			return different("a residue against a value")
		}
		return Unknown("a congruence against another relation")
	}
	if va != nil && vb != nil {
		switch {
		case na == nil || nb == nil || formula.Identical(na, nb):
			if r := c.compare(va, vb); r.Outcome != OutcomeDifferent || len(formula.Variables(va, vb)) == 0 {
				return r
			}
		case len(a.Ops) > 1 || len(b.Ops) > 1 || !formula.ScalarLike(va) || !formula.ScalarLike(vb):
			return different("values of different names")
		}
	}
	if len(a.Ops) == 1 && len(b.Ops) == 1 && a.Ops[0] == "=" && b.Ops[0] == "=" {
		if r := c.equations(a, b); r.Outcome != OutcomeUnknown || r.Rule == ruleSolution {
			return r
		}
	}
	if (formula.Bound(a) || formula.Bound(b)) && len(a.Ops) == 1 && slices.Equal(a.Ops, b.Ops) && (a.Args[1].Kind == formula.KindQuantity || b.Args[1].Kind == formula.KindQuantity) && a.Args[0].Kind == formula.KindSymbol && b.Args[0].Kind == formula.KindSymbol {
		return c.compare(a.Args[1], b.Args[1]) // at least 5 cm
	}
	_, okA := c.region(a)
	_, okB := c.region(b)
	if okA && okB {
		if r := c.realSets(a, b); r.Outcome != OutcomeUnknown {
			return r
		}
	}
	return c.inequalities(a, b)
}

// equations compares f = 0 and g = 0 by whether f/g is a constant other than zero.
func (c *Comparer) equations(a, b *formula.Node) Result {
	for _, n := range []*formula.Node{a, b} {
		if !formula.ScalarLike(n.Args[0]) || !formula.ScalarLike(n.Args[1]) {
			if len(a.Args) == len(b.Args) {
				return c.ordered(a.Args, b.Args)
			}
			return Unknown("")
		}
	}
	ratio, r := c.proportional(a, b)
	if r.Outcome == OutcomeEqual && ratio == 0 {
		return Unknown("")
	}
	if r.Outcome == OutcomeUnknown {
		x, y := c.scalars(a.Args[0], a.Args[1]).Outcome, c.scalars(b.Args[0], b.Args[1]).Outcome
		if x == OutcomeEqual && y == OutcomeDifferent || x == OutcomeDifferent && y == OutcomeEqual {
			return tautology // x=x
		}
	}
	if r.Outcome == OutcomeDifferent && c.solves(a, b) {
		return Unknown(ruleSolution)
	}
	if r.Outcome == OutcomeDifferent && (hasVariableBelow(a) || hasVariableBelow(b)) {
		x, y := cleared(a), cleared(b)
		if _, s := c.proportional(x, y); s.Outcome == OutcomeEqual {
			return equal("equations without their denominators")
		}
	}
	return r
}

// solves reports whether the answer is a value of the only variable of the gold's equation that satisfies it.
func (c *Comparer) solves(gold, answer *formula.Node) bool {
	names := formula.Variables(gold)
	x, v := answer.Args[0], answer.Args[1]
	if len(names) != 1 || gold.Args[0].Kind == formula.KindSymbol || x.Kind != formula.KindSymbol || x.Name != names[0] || len(formula.Variables(v)) > 0 {
		return false
	}
	at := map[string]*formula.Node{x.Name: v}
	return c.scalars(gold.Args[0].Substitute(at), gold.Args[1].Substitute(at)).Outcome == OutcomeEqual
}

// hasVariableBelow reports whether a variable stands in a denominator.
func hasVariableBelow(n *formula.Node) bool {
	return n.Has(func(m *formula.Node) bool {
		return m.Kind == formula.KindDivide && len(formula.Variables(m.Args[1])) > 0
	})
}

// cleared multiplies an equation by its denominators.
func cleared(n *formula.Node) *formula.Node {
	num, _ := fraction(formula.Subtract(n.Args[0], n.Args[1]))
	return &formula.Node{Kind: formula.KindRelation, Ops: n.Ops, Args: []*formula.Node{num, formula.Number(0)}}
}

// fraction writes an expression as numerator and denominator; nil stands for the denominator 1.
func fraction(n *formula.Node) (num, den *formula.Node) {
	times := func(a, b *formula.Node) *formula.Node {
		switch {
		case a == nil:
			return b
		case b == nil:
			return a
		}
		return formula.Apply(formula.KindMultiply, a, b)
	}
	switch n.Kind {
	case formula.KindNegate:
		num, den = fraction(n.Args[0])
		return formula.Negate(num), den
	case formula.KindDivide:
		a, b := fraction(n.Args[0])
		p, q := fraction(n.Args[1])
		return times(a, q), times(b, p)
	case formula.KindMultiply:
		for _, f := range n.Args {
			a, b := fraction(f)
			num, den = times(num, a), times(den, b)
		}
		return num, den
	case formula.KindAdd:
		num, den = fraction(n.Args[0])
		for _, t := range n.Args[1:] {
			a, b := fraction(t)
			num = formula.Apply(formula.KindAdd, times(num, b), times(a, den))
			den = times(den, b)
		}
		return num, den
	}
	return n, nil
}

// proportional reports whether lhs-rhs of a is a constant times that of b, and the sign of the constant where it is
// known to be real.
func (c *Comparer) proportional(a, b *formula.Node) (sign int, r Result) {
	f, g := formula.Subtract(a.Args[0], a.Args[1]), formula.Subtract(b.Args[0], b.Args[1])
	names := formula.Variables(f, g)
	if len(names) == 0 {
		return 0, Unknown("")
	}
	// f(x)g(y) = f(y)g(x) says that the ratio is constant; y are the names at a fixed point.
	seed := seedOf(f, g)
	at := make(map[string]*formula.Node, len(names))
	for try := 0; ; try++ {
		if try == 8 {
			return 0, Unknown("")
		}
		for _, name := range names {
			at[name] = formula.Number(int64(2 + draw.Next(&seed)%97))
			if try%2 == 1 {
				at[name] = formula.Divide(at[name], formula.Number(101))
			}
		}
		f0, g0 := f.Substitute(at), g.Substitute(at)
		sf, okF := c.sign(f0)
		sg, okG := c.sign(g0)
		if !okF || !okG {
			continue
		}
		if sf == 0 || sg == 0 {
			continue
		}
		r := c.scalars(formula.Apply(formula.KindMultiply, f, g0), formula.Apply(formula.KindMultiply, g, f0))
		return sf * sg, r
	}
}

// sign returns the sign of a real constant.
func (c *Comparer) sign(n *formula.Node) (int, bool) {
	v, err := evaluate.Exact{Steps: c.Steps}.Value(n)
	if err == nil {
		return v.Sign(), true
	}
	if errors.Is(err, evaluate.ErrUndefined) || errors.Is(err, evaluate.ErrSymbolic) {
		return 0, false
	}
	x := evaluate.Numeric{Real: evaluate.Real{Prec: 192, Steps: c.Steps}}
	w, err := x.Value(n)
	if err != nil || !w.Real() {
		return 0, false
	}
	if w.Magnitude() < -120 {
		return 0, true
	}
	return w.Re.Sign(), true
}

var flipped = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!=", "=": "=", "==": "==", "~": "~"}

// inequalities compares relations that are not solved for one variable.
func (c *Comparer) inequalities(a, b *formula.Node) Result {
	if (a.Ops[0] == "==") != (b.Ops[0] == "==") {
		return Unknown("a congruence against another relation")
	}
	if len(a.Ops) != len(b.Ops) {
		return different("relations of different shape")
	}
	if len(a.Ops) == 1 && flipped[a.Ops[0]] != "" && flipped[b.Ops[0]] != "" && formula.ScalarLike(a.Args[0]) && formula.ScalarLike(a.Args[1]) && formula.ScalarLike(b.Args[0]) && formula.ScalarLike(b.Args[1]) {
		if a.Ops[0] != b.Ops[0] && a.Ops[0] != flipped[b.Ops[0]] {
			return different("different relation signs")
		}
		sign, r := c.proportional(a, b)
		if r.Outcome == OutcomeEqual {
			if sign > 0 == (a.Ops[0] == b.Ops[0]) || a.Ops[0] == flipped[a.Ops[0]] {
				return equal("equivalent relation")
			}
			return different("the opposite relation")
		}
		return r
	}
	straight := true
	for i := range a.Ops {
		straight = straight && a.Ops[i] == b.Ops[i]
	}
	if straight {
		if r := c.ordered(a.Args, b.Args); r.Outcome != OutcomeDifferent {
			return r
		}
	}
	n := len(b.Args)
	reversed := true
	turned := make([]*formula.Node, n)
	for i := range b.Args {
		turned[n-1-i] = b.Args[i]
		if i < len(b.Ops) {
			reversed = reversed && a.Ops[len(b.Ops)-1-i] == flipped[b.Ops[i]]
		}
	}
	if reversed {
		return c.ordered(a.Args, turned)
	}
	return different("relations of different shape")
}
