package verify

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Policy switches conventions on which graders differ. The zero value is the default, which Policies calls
// "math-verify-2025": the conventions of Math-Verify 0.8 where the package comment does not say otherwise.
type Policy struct {
	StrictUnits  bool // a unit on one side only is a difference
	KeepUnits    bool // units of one dimension do not convert into each other
	StrictBase   bool // a base subscript of the gold that the answer lacks is a difference
	StrictVector bool // a column or row vector and a tuple are different
	KeepBound    bool // f(x)=3x and f(t)=3t are different
	Proved       bool // numbers that are only probably equal are unknown; see Proof
	Rounded      bool // a decimal answer of at least six significant digits may be the rounded gold

	// What Math-Verify accepts and the default does not.
	SixPlaces     bool // a decimal and another value are equal if they round to the same six places
	AnyUnit       bool // units are not compared
	AnyPercent    bool // 20 and 20% are equal
	AnyOrder      bool // a tuple and a set with the same elements are equal
	AnyEquation   bool // an equation is the value of its right side
	IgnoreRepeats bool // lists do not count repetitions
}

// PolicySwitch is one named policy and the default that it replaces.
type PolicySwitch struct {
	Name        string // as ParsePolicy takes it
	Effect      string // what it does, one sentence
	DefaultName string // the default's name, which ParsePolicy takes too
	Default     string // what holds by default, one sentence
	set         func(p *Policy, on bool)
}

// Policies lists the named policies in the order of their names.
func Policies() []PolicySwitch {
	return []PolicySwitch{
		{"any-equation", "2x=5 is equal to 5: the right side of an equation counts.", "solved-equation", "An equation is equal to a value only if it assigns it, or if several unknowns show that it was asked for.", func(p *Policy, on bool) { p.AnyEquation = on }},
		{"any-order", "(1,2) and \\{2,1\\} are equal.", "ordered-tuple", "A tuple is no set.", func(p *Policy, on bool) { p.AnyOrder = on }},
		{"any-percent", "20 and 20% are equal.", "percent-as-asked", "20% is 20 only if the question asks for a percentage.", func(p *Policy, on bool) { p.AnyPercent = on }},
		{"any-unit", "5 cm and 5 m are equal.", "compared-units", "Units that conflict are different.", func(p *Policy, on bool) { p.AnyUnit = on }},
		{"ignore-repeats", "1, 1, 2 and 1, 2 are equal.", "count-repeats", "Lists count repetitions, sets in braces do not.", func(p *Policy, on bool) { p.IgnoreRepeats = on }},
		{"keep-bound", "f(x)=3x and f(t)=3t are different.", "rename-bound", "The parameters of a definition are renamed.", func(p *Policy, on bool) { p.KeepBound = on }},
		{"keep-units", "100 cm and 1 m are different.", "convert-units", "Units of one dimension convert into each other.", func(p *Policy, on bool) { p.KeepUnits = on }},
		{"math-verify", "What Math-Verify 0.9 accepts by convention: any-equation, any-order, any-percent, any-unit, ignore-repeats and six-places.", "math-verify-2025", "None of these.", func(p *Policy, on bool) {
			p.AnyEquation, p.AnyOrder, p.AnyPercent, p.AnyUnit, p.IgnoreRepeats, p.SixPlaces = on, on, on, on, on, on
		}},
		{"proved", "Equality that is probable and not proved is unknown.", "probable", "Expressions that agree at every point and precision tried are equal.", func(p *Policy, on bool) { p.Proved = on }},
		{"rounded", "A decimal answer with six significant digits or more is equal to a gold that rounds to it.", "exact", "Decimals are exact: 0.33 is not 1/3; use a tolerance where rounding is asked for.", func(p *Policy, on bool) { p.Rounded = on }},
		{"six-places", "A decimal is equal to what rounds to the same six places after the point.", "all-places", "Every place counts.", func(p *Policy, on bool) { p.SixPlaces = on }},
		{"strict-base", "4343 is different from the gold 4343_6.", "optional-base", "An answer may leave out the base that the gold is written in.", func(p *Policy, on bool) { p.StrictBase = on }},
		{"strict-units", "5 and 5 cm are different, and so are 2 and 2 pm.", "optional-units", "A unit may be missing on one side; conflicting units are different.", func(p *Policy, on bool) { p.StrictUnits = on }},
		{"strict-vector", "A column vector and a tuple are different.", "vector-as-tuple", "A vector and a tuple with the same elements are equal.", func(p *Policy, on bool) { p.StrictVector = on }},
	}
}

// Conventions lists what no policy changes: the name and the rule.
func Conventions() [][2]string {
	return [][2]string{
		{"percent", "20% is 0.2. Against a gold without a sign, 20% counts as 20 only if the question asks for a percentage."},
		{"tuple", "A tuple is no set. (1,2) is a pair against a pair and an interval against an interval or inequality. A comma list equals a set, ignoring order, and a tuple, in order."},
		{"set", "Sets in braces ignore repetition; lists count it. \"10, 11 or 12\" is a list and not 10."},
		{"plus-minus", "\\pm stands for both values."},
		{"assignment", "x=5 against 5 compares the values; x=5 and y=5 are different. In a chain the last exact value counts, and a chain that contradicts itself is different. m+n=17 and 17 are equal: several unknowns do not follow from one value, so that it was asked for. xy=5, |x|=5, 5=5, a+3z=0 and x=5 mod 7 are not 5 or 0: they leave the unknowns open or say nothing. A ground truth xy=6 accepts 6."},
		{"equation", "Equations are equal up to a factor, inequalities up to a positive one. A gold interval accepts the inequality solved for one variable, not an unsolved one."},
		{"noun", "Nouns are not compared: 5 apples is 5. 90° is 90 and pi/2."},
		{"name", "A point or quantity may carry its name: P(1,2) is (1,2), P(A|B)=1/2 and \\lim a_n=1/2 are 1/2. C(5,2), _5C_2 and C_5^2 are selections, P(5,2) and A_5^2 arrangements. phi is the golden ratio where it is the only name on both sides and no function is applied to it."},
		{"logarithm", "\\log without a base is natural, or decimal if that makes both sides equal."},
		{"decimal-comma", "3,14 and 1.234,5 are decimals in an answer against a gold that is one number; a gold 3,14 is a list, and so are 2,0 and 3, 14."},
		{"ratio", "Ratios are equal up to a factor; 1:2 is 1/2."},
		{"words", "Words are compared without case, articles and punctuation. A sentence gives what it says about its subject (\"the graph is an ellipse\"); one that merely holds the gold is different."},
		{"choice", "Multiple choice: the letter that is declared last, or the text of an option. Letters beyond the options, and the English words \"a\" and \"I\", are none."},
		{"restatement", "An expression copied from the question instead of its value is different, if the question is known."},
	}
}

// ParsePolicy reads policy names separated by commas; of two that exclude each other the later counts. The empty string
// and "math-verify-2025" are the default.
func ParsePolicy(names string) (Policy, error) {
	var p Policy
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		found := false
		known := make([]string, 0, 8)
		for _, s := range Policies() {
			known = append(known, s.Name)
			if name == s.Name || name == s.DefaultName {
				s.set(&p, name == s.Name)
				found = true
			}
		}
		if !found {
			return p, fmt.Errorf("unknown policy %q; known: %s", name, strings.Join(known, ", "))
		}
	}
	return p, nil
}

// asksPercent reports whether a question asks for a percentage.
func asksPercent(question string) bool {
	if question == "" {
		return false
	}
	q := strings.ToLower(question)
	for _, s := range []string{"percentage", "what percent", "which percent", "how many percent", "as a percent", "in percent", "by what percent", "what is the percent", "find the percent", "what \\%", "what %"} {
		if strings.Contains(q, s) {
			return true
		}
	}
	return false
}

// percents compares an answer with a percent sign and one without.
func (c *comparer) percents(a, b *node) (result, bool) {
	if c.policy.AnyPercent && a.kind == kindPercent && scalarLike(b) {
		if r := c.scalar(a.args[0], b); r.outcome == OutcomeEqual {
			return equal("percent sign or none"), true
		}
	}
	if (c.percentAsked || c.policy.AnyPercent) && b.kind == kindPercent && scalarLike(a) {
		if r := c.scalar(a, b.args[0]); r.outcome == OutcomeEqual {
			return equal("percent sign as asked for"), true
		}
	}
	return result{}, false
}

// withTolerance compares with the tolerances of the key: none, one for all, or one an answer in the gold's order.
func (c *comparer) withTolerance(gold, answer *node, tolerances []Tolerance) result {
	switch {
	case len(tolerances) == 0:
		return c.compare(gold, answer)
	case len(tolerances) == 1:
		if tolerances[0] != (Tolerance{}) {
			c.tol = &tolerances[0]
		}
		return c.compare(gold, answer)
	}
	if gold.kind != kindList && gold.kind != kindTuple || gold.kind != answer.kind || len(gold.args) != len(answer.args) || len(gold.args) != len(tolerances) {
		return c.compare(gold, answer)
	}
	n := len(gold.args)
	equalAt := func(i, j int) bool {
		c.tol = nil
		if tolerances[i] != (Tolerance{}) {
			c.tol = &tolerances[i]
		}
		return c.compare(gold.args[i], answer.args[j]).outcome == OutcomeEqual
	}
	if gold.kind == kindTuple {
		for i := range n {
			if !equalAt(i, i) {
				return different(ruleTolerance)
			}
		}
		return equal(ruleTolerance)
	}
	if n > 64 {
		return unknown("")
	}
	if perfect(n, equalAt) {
		return equal(ruleTolerance)
	}
	return different(ruleTolerance)
}

// perfect reports whether every i can be matched with a j of its own.
func perfect(n int, match func(i, j int) bool) bool {
	owner := make([]int, n)
	for j := range owner {
		owner[j] = -1
	}
	var augment func(i int, seen []bool) bool
	augment = func(i int, seen []bool) bool {
		for j := range n {
			if seen[j] || !match(i, j) {
				continue
			}
			seen[j] = true
			if owner[j] < 0 || augment(owner[j], seen) {
				owner[j] = i
				return true
			}
		}
		return false
	}
	for i := range n {
		if !augment(i, make([]bool, n)) {
			return false
		}
	}
	return true
}

// tolerant compares two real constants within the tolerance; bounds are inclusive in exact arithmetic.
func (c *comparer) tolerant(a, b *node) result {
	r := c.scalars(a, b)
	if r.outcome == OutcomeEqual || len(variables(a, b)) > 0 {
		return r
	}
	va, okA := c.approximate(a)
	vb, okB := c.approximate(b)
	if !okA || !okB {
		return c.tolerantComplex(a, b, r)
	}
	gap := new(big.Rat).Sub(va, vb)
	gap.Abs(gap)
	bound := decimalOf(c.tol.Abs)
	if rel := new(big.Rat).Mul(decimalOf(c.tol.Rel), new(big.Rat).Abs(va)); rel.Cmp(bound) > 0 {
		bound = rel
	}
	if gap.Cmp(bound) <= 0 {
		return equal(ruleTolerance)
	}
	return different("outside tolerance")
}

// tolerantComplex compares two complex constants within the tolerance, by the distance between them; otherwise is the
// verdict if they are none.
func (c *comparer) tolerantComplex(a, b *node, otherwise result) result {
	x := numeric{real: real{prec: 256, steps: c.steps}, complex: true}
	va, ea := x.value(a)
	vb, eb := x.value(b)
	if ea != nil || eb != nil || va.magnitude() > maxBits || vb.magnitude() > maxBits {
		return otherwise
	}
	size := func(v complexValue) *big.Rat {
		im := v.im
		if im == nil {
			im = x.float()
		}
		r, _ := x.float().Sqrt(x.sum(x.product(v.re, v.re), x.product(im, im))).Rat(nil)
		return r
	}
	gap, bound := size(x.add(va, x.negate(vb))), decimalOf(c.tol.Abs)
	if rel := new(big.Rat).Mul(decimalOf(c.tol.Rel), size(va)); rel.Cmp(bound) > 0 {
		bound = rel
	}
	// The distance was rounded, so that a hair is allowed at the bound.
	bound.Add(bound, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200)))
	if gap.Cmp(bound) <= 0 {
		return equal(ruleTolerance)
	}
	return different("outside tolerance")
}

// decimalOf returns the shortest decimal that prints as f: 0.1 is a tenth. What is no finite positive number is no
// tolerance.
func decimalOf(f float64) *big.Rat {
	if !(f > 0) || math.IsInf(f, 0) {
		return new(big.Rat)
	}
	r, ok := new(big.Rat).SetString(big.NewFloat(f).Text('g', -1))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// approximate returns a real constant exactly, or to 256 bits.
func (c *comparer) approximate(n *node) (*big.Rat, bool) {
	if v, err := (exact{steps: c.steps}).value(n); err == nil {
		return v, true
	}
	x := numeric{real: real{prec: 256, steps: c.steps}}
	v, err := x.value(n)
	if err != nil || !v.real() || abs64(int64(exponent(v.re))) > maxBits && v.re.Sign() != 0 {
		return nil, false
	}
	r, _ := v.re.Rat(nil)
	return r, true
}

// samePlaces reports whether two values, of which at least one is written as a decimal, round to the same six places. Integers
// are exact.
func (c *comparer) samePlaces(a, b *node) bool {
	decimal := func(n *node) bool { return n.has(func(m *node) bool { return m.kind == kindNumber && m.dec }) }
	if !decimal(a) && !decimal(b) {
		return false
	}
	x, okX := c.approximate(a)
	y, okY := c.approximate(b)
	return okX && okY && !x.IsInt() && !y.IsInt() && x.FloatString(6) == y.FloatString(6)
}

// rounded reports whether a decimal answer is the gold rounded to the places that are written.
func (c *comparer) rounded(gold, answer *node) bool {
	n := answer
	if n.kind == kindNegate {
		n = n.args[0]
	}
	if n.kind != kindNumber || n.places < 1 || figures(n.rat, n.places) < 6 {
		return false
	}
	g, ok := c.approximate(gold)
	if !ok {
		return false
	}
	a, ok := c.approximate(answer)
	if !ok {
		return false
	}
	gap := new(big.Rat).Sub(g, a)
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.places)), nil))
	half.Mul(half, big.NewRat(1, 2))
	return gap.Abs(gap).Cmp(half) <= 0
}

// figures counts the significant digits of a decimal written with places digits after the point.
func figures(r *big.Rat, places int) int {
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	return len(new(big.Int).Quo(scaled.Num(), scaled.Denom()).String())
}
