// Conventions and tolerances, applied.

package decide

// What policies and tolerances change about comparing.

import (
	"math"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
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

// percents compares an answer with a percent sign and one without.
func (c *Comparer) percents(a, b *formula.Node) (Result, bool) {
	if c.Policy.AnyPercent && a.Kind == formula.KindPercent && formula.ScalarLike(b) {
		if r := c.scalar(a.Args[0], b); r.Outcome == OutcomeEqual {
			return equal("percent sign or none"), true
		}
	}
	if (c.PercentAsked || c.Policy.AnyPercent) && b.Kind == formula.KindPercent && formula.ScalarLike(a) {
		if r := c.scalar(a, b.Args[0]); r.Outcome == OutcomeEqual {
			return equal("percent sign as asked for"), true
		}
	}
	return Result{}, false
}

// WithTolerance compares with the tolerances of the key: none, one for all, or one an answer in the gold's order.
func (c *Comparer) WithTolerance(gold, answer *formula.Node, tolerances []Tolerance) Result {
	switch {
	case len(tolerances) == 0:
		return c.compare(gold, answer)
	case len(tolerances) == 1:
		if tolerances[0] != (Tolerance{}) {
			c.Tol = &tolerances[0]
		}
		return c.compare(gold, answer)
	}
	if gold.Kind != formula.KindList && gold.Kind != formula.KindTuple || gold.Kind != answer.Kind || len(gold.Args) != len(answer.Args) || len(gold.Args) != len(tolerances) {
		return c.compare(gold, answer)
	}
	n := len(gold.Args)
	equalAt := func(i, j int) bool {
		c.Tol = nil
		if tolerances[i] != (Tolerance{}) {
			c.Tol = &tolerances[i]
		}
		return c.compare(gold.Args[i], answer.Args[j]).Outcome == OutcomeEqual
	}
	if gold.Kind == formula.KindTuple {
		for i := range n {
			if !equalAt(i, i) {
				return different(ruleTolerance)
			}
		}
		return equal(ruleTolerance)
	}
	if n > 64 {
		return Unknown("")
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
func (c *Comparer) tolerant(a, b *formula.Node) Result {
	r := c.scalars(a, b)
	if r.Outcome == OutcomeEqual || len(formula.Variables(a, b)) > 0 {
		return r
	}
	va, okA := c.approximate(a)
	vb, okB := c.approximate(b)
	if !okA || !okB {
		return c.tolerantComplex(a, b, r)
	}
	gap := new(big.Rat).Sub(va, vb)
	gap.Abs(gap)
	bound := decimalOf(c.Tol.Abs)
	if rel := new(big.Rat).Mul(decimalOf(c.Tol.Rel), new(big.Rat).Abs(va)); rel.Cmp(bound) > 0 {
		bound = rel
	}
	if gap.Cmp(bound) <= 0 {
		return equal(ruleTolerance)
	}
	return different("outside tolerance")
}

// tolerantComplex compares two complex constants within the tolerance, by the distance between them; otherwise is the
// verdict if they are none.
func (c *Comparer) tolerantComplex(a, b *formula.Node, otherwise Result) Result {
	x := evaluate.Numeric{Real: evaluate.Real{Prec: 256, Steps: c.Steps}, Complex: true}
	va, ea := x.Value(a)
	vb, eb := x.Value(b)
	if ea != nil || eb != nil || va.Magnitude() > formula.MaxBits || vb.Magnitude() > formula.MaxBits {
		return otherwise
	}
	size := func(v evaluate.ComplexValue) *big.Rat {
		im := v.Im
		if im == nil {
			im = x.Float()
		}
		r, _ := x.Float().Sqrt(x.Sum(x.Product(v.Re, v.Re), x.Product(im, im))).Rat(nil)
		return r
	}
	gap, bound := size(x.Add(va, x.Negate(vb))), decimalOf(c.Tol.Abs)
	if rel := new(big.Rat).Mul(decimalOf(c.Tol.Rel), size(va)); rel.Cmp(bound) > 0 {
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
func (c *Comparer) approximate(n *formula.Node) (*big.Rat, bool) {
	if v, err := (evaluate.Exact{Steps: c.Steps}).Value(n); err == nil {
		return v, true
	}
	x := evaluate.Numeric{Real: evaluate.Real{Prec: 256, Steps: c.Steps}}
	v, err := x.Value(n)
	if err != nil || !v.Real() || evaluate.Abs64(int64(evaluate.Exponent(v.Re))) > formula.MaxBits && v.Re.Sign() != 0 {
		return nil, false
	}
	r, _ := v.Re.Rat(nil)
	return r, true
}

// samePlaces reports whether two values, of which at least one is written as a decimal, round to the same six places. Integers
// are exact.
func (c *Comparer) samePlaces(a, b *formula.Node) bool {
	decimal := func(n *formula.Node) bool {
		return n.Has(func(m *formula.Node) bool { return m.Kind == formula.KindNumber && m.Dec })
	}
	if !decimal(a) && !decimal(b) {
		return false
	}
	x, okX := c.approximate(a)
	y, okY := c.approximate(b)
	return okX && okY && !x.IsInt() && !y.IsInt() && x.FloatString(6) == y.FloatString(6)
}

// rounded reports whether a decimal answer is the gold rounded to the places that are written.
func (c *Comparer) rounded(gold, answer *formula.Node) bool {
	n := answer
	if n.Kind == formula.KindNegate {
		n = n.Args[0]
	}
	if n.Kind != formula.KindNumber || n.Places < 1 || figures(n.Rat, n.Places) < 6 {
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
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n.Places)), nil))
	half.Mul(half, big.NewRat(1, 2))
	return gap.Abs(gap).Cmp(half) <= 0
}

// figures counts the significant digits of a decimal written with places digits after the point.
func figures(r *big.Rat, places int) int {
	scaled := new(big.Rat).Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
	return len(new(big.Int).Quo(scaled.Num(), scaled.Denom()).String())
}
