package verify

import (
	"errors"
	"math/big"
	"slices"
)

// Rules that decide about two expressions.
const (
	ruleIdentical    = "identical"        // the same after parsing
	ruleExact        = "exact"            // rational arithmetic
	ruleModular      = "modular identity" // random points of two finite fields
	ruleNumeric      = "numeric"          // two precisions of floating point
	rulePoints       = "numeric identity" // floating point at random points
	ruleIntegers     = "integer points"   // exact values at integer points
	ruleInfinite     = "infinite"         // signed infinity
	ruleAlgebraic    = "algebraic"        // proved by a bound on how small an algebraic number can be
	ruleMagnitude    = "magnitude"        // too large to write out, of different size
	ruleResidues     = "residues"         // too large to write out, compared modulo primes
	ruleTolerance    = "within tolerance"
	ruleCells        = "piecewise identity" // as ruleModular, for every choice of branches
	ruleDomains      = "different domains"  // one has values where the other has none
	ruleOneUndefined = "undefined"          // at the point at hand
)

// Reasons of verdicts that comparing finds.
const (
	reasonRefused      = "refused"
	reasonRestated     = "restated"
	reasonContradicted = "contradicted"
)

// result is the outcome of comparing two nodes.
type result struct {
	outcome Outcome
	rule    string
	reason  string // set where it is not the outcome's usual one

	proof Proof   // of what was just compared; none for what was decided by its parts
	bits  float64 // the error probability is 2^-bits; zero for certainty
}

func equal(rule string) result     { return result{outcome: OutcomeEqual, rule: rule} }
func different(rule string) result { return result{outcome: OutcomeDifferent, rule: rule} }
func unknown(rule string) result   { return result{outcome: OutcomeUnknown, rule: rule} }

// comparer decides about two answers within one budget.
type comparer struct {
	steps  *budget
	policy Policy
	tol    *Tolerance // of the scalars at hand; nil is exact

	percentAsked bool // the question asks for a percentage

	unordered bool     // it could not be told which of two ends of intervals is the larger
	evidence  evidence // of all comparisons of numbers and expressions so far
}

// scalars compares two numbers or expressions and notes what the verdict rests on. It is symmetric.
func (c *comparer) scalars(a, b *node) result {
	r := c.decide(a, b)
	if r.outcome == OutcomeUnknown {
		return r
	}
	if r.proof == ProofProbable && c.policy.Proved {
		return unknown(r.rule)
	}
	c.evidence.rest(max(r.proof, ProofExact), r.bits)
	return r
}

func (c *comparer) decide(a, b *node) result {
	if !c.steps.spend(4 * (a.weight() + b.weight())) {
		return unknown("")
	}
	if identical(a, b) {
		return equal(ruleIdentical)
	}
	if r, ok := c.infinite(a, b); ok {
		return r
	}
	if r, ok := c.open(a, b); ok {
		return r
	}
	if fa, fb := opaque(a), opaque(b); len(fa)+len(fb) > 0 {
		return c.abstracted(a, b, fa, fb)
	}
	x := exact{steps: c.steps}
	va, ea := x.value(a)
	vb, eb := x.value(b)
	switch {
	case ea == nil && eb == nil:
		if va.Cmp(vb) == 0 {
			return equal(ruleExact)
		}
		return different(ruleExact)
	case c.steps.spent():
		return unknown("")
	case errors.Is(ea, errUndefined) || errors.Is(eb, errUndefined):
		if ea != nil && eb != nil {
			return unknown("undefined")
		}
		return different("undefined")
	}
	if x, y := withoutCommon(a, b); x != a {
		return c.decide(x, y)
	}
	if hash(a.String()) > hash(b.String()) { // whichever comes first, the same is done
		a, b, ea, eb = b, a, eb, ea
	}
	names := variables(a, b)
	if len(names) == 0 {
		return c.constants(a, b, errors.Is(ea, errBudget) || errors.Is(eb, errBudget))
	}
	return c.identity(a, b, names)
}

// opaque lists the values of undefined functions in n, such as f(1), in order of appearance.
func opaque(n *node) []*node {
	var found []*node
	n.walk(func(m *node) bool {
		if m.kind == kindCall && !evaluated[m.name] {
			found = append(found, m)
			return len(found) < maxSigns
		}
		return true
	})
	return found
}

// evaluated holds the names of calls that have a value.
var evaluated = func() map[string]bool {
	m := map[string]bool{"root": true, "factorial": true, "doublefactorial": true, "sum": true, "prod": true, "mod": true, "open": true, "arrangements": true, "conj": true}
	for _, f := range functions {
		m[f] = true
	}
	return m
}()

// abstracted compares expressions with values of undefined functions, which stand for themselves: f(1) is a variable.
func (c *comparer) abstracted(a, b *node, fa, fb []*node) result {
	if len(fa) == 0 || len(fb) == 0 {
		r := different("an unevaluated function")
		if len(fb) > 0 {
			r.reason = reasonRestated
		}
		return r
	}
	shared := true
	names := map[string]bool{}
	for _, f := range fa {
		names[f.String()] = true
	}
	for _, f := range fb {
		shared = shared && names[f.String()]
	}
	r := c.scalars(abstract(a), abstract(b))
	if r.outcome == OutcomeDifferent && !shared {
		return unknown("undefined functions")
	}
	return r
}

// abstract replaces values of undefined functions by variables.
func abstract(n *node) *node {
	if n.kind == kindCall && !evaluated[n.name] {
		return symbol(n.String())
	}
	if len(n.args) == 0 {
		return n
	}
	m := *n
	m.args = make([]*node, len(n.args))
	for i, a := range n.args {
		m.args[i] = abstract(a)
	}
	return &m
}

// open compares a decimal that goes on, as 12.2474..., with a value: different if the value has other digits, and else
// unknown, since nobody can tell how it goes on.
func (c *comparer) open(a, b *node) (result, bool) {
	tail, other := a, b
	if b.kind == kindCall && b.name == "open" {
		tail, other = b, a
	}
	if tail.kind != kindCall || tail.name != "open" {
		return result{}, false
	}
	v, ok := c.approximate(other)
	if !ok {
		return unknown("open decimal"), true
	}
	low := tail.args[0].rat
	if v.Cmp(low) < 0 || v.Cmp(new(big.Rat).Add(low, tail.args[1].rat)) > 0 {
		return different("open decimal"), true
	}
	return unknown("open decimal"), true
}

// infinite compares values of which one is signed infinity.
func (c *comparer) infinite(a, b *node) (result, bool) {
	sa, sb := infinity(a), infinity(b)
	switch {
	case sa == 0 && sb == 0:
		return result{}, false
	case sa == sb:
		return equal(ruleInfinite), true
	}
	return different(ruleInfinite), true
}

// infinity returns the sign of a node that is plus or minus infinity, and 0 for others.
func infinity(n *node) int {
	switch {
	case n.kind == kindConstant && n.name == "infinity":
		return 1
	case n.kind == kindNegate:
		return -infinity(n.args[0])
	}
	return 0
}

// variables lists the symbols of nodes in order.
func variables(ns ...*node) []string {
	var names []string
	for _, n := range ns {
		names = n.symbols(names)
	}
	if len(names) > 1 {
		slices.Sort(names)
	}
	return names
}

// symbols appends the symbols of n that names does not hold yet; indices of sums are none.
func (n *node) symbols(names []string) []string {
	if n.kind == kindSymbol && (n.name == "" || n.name[0] != '#') && !slices.Contains(names, n.name) {
		names = append(names, n.name)
	}
	for _, a := range n.args {
		names = a.symbols(names)
	}
	return names
}

func imaginary(ns ...*node) bool {
	for _, n := range ns {
		if n.has(func(m *node) bool { return m.kind == kindConstant && m.name == "i" }) {
			return true
		}
	}
	return false
}

// distance returns the binary exponent of |a-b|, and math.MinInt32 for zero.
func distance(a, b complexValue, prec uint) int {
	x := numeric{real: real{prec: prec}}
	return x.add(a, x.negate(b)).magnitude()
}

// seedOf derives the random points of a comparison from the comparison itself, whichever side comes first.
func seedOf(a, b *node) uint64 { return hash(a.String()) + hash(b.String()) }

func hash(s string) uint64 { // FNV-1a
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// next is a splitmix64 step.
func next(s *uint64) uint64 {
	*s += 0x9e3779b97f4a7c15
	z := *s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
