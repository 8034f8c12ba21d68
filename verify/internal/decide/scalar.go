// Two scalar expressions, compared by what fits them, and the results of comparisons.

package decide

import (
	"errors"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/draw"
	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Rules that decide about two expressions.
const (
	RuleIdentical    = "identical"        // the same after parsing
	RuleExact        = "exact"            // rational arithmetic
	ruleModular      = "modular identity" // random points of four finite fields
	ruleNumeric      = "numeric"          // intervals around constants
	rulePoints       = "numeric identity" // values at real points
	ruleIntegers     = "integer points"   // values at integer points
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
	ReasonRefused      = "refused"
	ReasonRestated     = "restated"
	ReasonContradicted = "contradicted"
)

// Result is the outcome of comparing two nodes.
type Result struct {
	Outcome Outcome
	Rule    string
	Reason  string // set where it is not the outcome's usual one

	proof Proof   // of what was just compared; none for what was decided by its parts
	bits  float64 // the error probability is 2^-bits; zero for certainty
}

func equal(rule string) Result { return Result{Outcome: OutcomeEqual, Rule: rule} }

func different(rule string) Result { return Result{Outcome: OutcomeDifferent, Rule: rule} }

func Unknown(rule string) Result { return Result{Outcome: OutcomeUnknown, Rule: rule} }

// Comparer decides about two answers within one budget.
type Comparer struct {
	Steps  *formula.Budget
	Policy Policy
	Tol    *Tolerance // of the scalars at hand; nil is exact

	PercentAsked bool   // the question asks for a percentage
	Question     string // the question; empty if it is not known

	unordered bool     // it could not be told which of two ends of intervals is the larger
	Evidence  Evidence // of all comparisons of numbers and expressions so far
}

// scalars compares two numbers or expressions and notes what the verdict rests on. It is symmetric.
func (c *Comparer) scalars(a, b *formula.Node) Result {
	r := c.decide(a, b)
	if r.Outcome == OutcomeUnknown {
		return r
	}
	if r.proof == ProofProbable && c.Policy.Proved {
		return Unknown(r.Rule)
	}
	c.Evidence.rest(max(r.proof, ProofExact), r.bits)
	return r
}

func (c *Comparer) decide(a, b *formula.Node) Result {
	if !c.Steps.Spend(4 * (a.Weight() + b.Weight())) {
		return Unknown("")
	}
	if formula.Identical(a, b) {
		return equal(RuleIdentical)
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
	x := evaluate.Exact{Steps: c.Steps}
	va, ea := x.Value(a)
	vb, eb := x.Value(b)
	switch {
	case ea == nil && eb == nil:
		if va.Cmp(vb) == 0 {
			return equal(RuleExact)
		}
		return different(RuleExact)
	case c.Steps.Spent():
		return Unknown("")
	case errors.Is(ea, evaluate.ErrUndefined) || errors.Is(eb, evaluate.ErrUndefined):
		if ea != nil && eb != nil {
			return Unknown("undefined")
		}
		return different("undefined")
	}
	if x, y := withoutCommon(a, b); x != a {
		return c.decide(x, y)
	}
	if draw.Hash(a.String()) > draw.Hash(b.String()) { // whichever comes first, the same is done
		a, b, ea, eb = b, a, eb, ea
	}
	names := formula.Variables(a, b)
	if len(names) == 0 {
		return c.constants(a, b, errors.Is(ea, evaluate.ErrBudget) || errors.Is(eb, evaluate.ErrBudget))
	}
	return c.identity(a, b, names)
}

// opaque lists the values of undefined functions in n, such as f(1), in order of appearance.
func opaque(n *formula.Node) []*formula.Node {
	var found []*formula.Node
	n.Walk(func(m *formula.Node) bool {
		if formula.Applied(m) {
			found = append(found, m)
			return len(found) < maxSigns
		}
		return true
	})
	return found
}

// abstracted compares expressions with values of undefined functions, which stand for themselves: f(1) is a variable.
func (c *Comparer) abstracted(a, b *formula.Node, fa, fb []*formula.Node) Result {
	if len(fa) == 0 || len(fb) == 0 {
		r := different("an unevaluated function")
		if len(fb) > 0 {
			r.Reason = ReasonRestated
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
	if r.Outcome == OutcomeDifferent && !shared {
		return Unknown("undefined functions")
	}
	return r
}

// abstract replaces values of undefined functions by variables.
func abstract(n *formula.Node) *formula.Node {
	if formula.Applied(n) {
		return formula.Symbol(n.String())
	}
	return n.Map(abstract)
}

// open compares a decimal that goes on, as 12.2474..., with a value: different if the value has other digits, and else
// unknown, since nobody can tell how it goes on.
func (c *Comparer) open(a, b *formula.Node) (Result, bool) {
	tail, other := a, b
	if b.Kind == formula.KindCall && b.Name == "open" {
		tail, other = b, a
	}
	if tail.Kind != formula.KindCall || tail.Name != "open" {
		return Result{}, false
	}
	v, ok := c.approximate(other)
	if !ok {
		return Unknown("open decimal"), true
	}
	low := tail.Args[0].Rat
	if v.Cmp(low) < 0 || v.Cmp(new(big.Rat).Add(low, tail.Args[1].Rat)) > 0 {
		return different("open decimal"), true
	}
	return Unknown("open decimal"), true
}

// infinite compares values of which one is signed infinity.
func (c *Comparer) infinite(a, b *formula.Node) (Result, bool) {
	sa, sb := evaluate.Infinity(a), evaluate.Infinity(b)
	switch {
	case sa == 0 && sb == 0:
		return Result{}, false
	case sa == sb:
		return equal(ruleInfinite), true
	}
	return different(ruleInfinite), true
}

func imaginary(ns ...*formula.Node) bool {
	for _, n := range ns {
		if n.Has(func(m *formula.Node) bool { return m.Kind == formula.KindConstant && m.Name == "i" }) {
			return true
		}
	}
	return false
}

// distance returns the binary exponent of |a-b|, and math.MinInt32 for zero.
func distance(a, b evaluate.ComplexValue, prec uint) int {
	x := evaluate.Numeric{Real: evaluate.Real{Prec: prec}}
	return x.Add(a, x.Negate(b)).Magnitude()
}

// seedOf derives the random points of a comparison from the comparison itself, whichever side comes first.
func seedOf(a, b *formula.Node) uint64 { return draw.Hash(a.String()) + draw.Hash(b.String()) }
