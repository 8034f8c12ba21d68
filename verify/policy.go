package verify

import (
	"math/big"
	"strings"
)

// Policy switches conventions on which graders differ. The zero value is the default.
type Policy struct {
	StrictUnits  bool // a unit on one side only is a difference
	KeepUnits    bool // units of one dimension do not convert into each other
	StrictBase   bool // a base subscript on one side only is a difference
	StrictVector bool // a column vector and a tuple are different
	KeepBound    bool // f(x)=3x and f(t)=3t are different
	Rounded      bool // a decimal of the response with at least six significant digits may be the rounded gold
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
	if c.percentAsked && b.kind == kindPercent && scalarLike(a) {
		if r := c.scalar(a, b.args[0]); r.outcome == Equal {
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
		return c.compare(gold.args[i], answer.args[j]).outcome == Equal
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
	if r.outcome == Equal || len(variables(a, b)) > 0 {
		return r
	}
	va, okA := c.approximate(a)
	vb, okB := c.approximate(b)
	if !okA || !okB {
		return r
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

// decimalOf returns the shortest decimal that prints as f: 0.1 is a tenth.
func decimalOf(f float64) *big.Rat {
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
