// Expressions with variables, compared.

package decide

import (
	"errors"
	"math/big"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// identity compares two expressions in the named variables. They are different if they differ at a point, or if one of
// them has values where the other has none; they are equal if the laws of algebra say so, and probably equal if they agree
// at all the points.
func (c *Comparer) identity(a, b *formula.Node, names []string) Result {
	seed := seedOf(a, b)
	complex := imaginary(a, b)
	formal := c.formal(a, b, names, seed, complex)
	if formal.Outcome == OutcomeDifferent || formal.Outcome == OutcomeEqual && !partial(a) && !partial(b) {
		return formal
	}
	if c.Steps.Spent() {
		return Unknown("")
	}
	s := sampler{Comparer: c, a: a, b: b, names: names, seed: seed, complex: complex, whole: discrete(a) || discrete(b), stepped: stepped(a) && stepped(b)}
	r := s.compare(formal.Outcome == OutcomeEqual)
	if r.Outcome == OutcomeUnknown && s.whole && s.agreed == 0 && formal.Outcome != OutcomeEqual && !c.Steps.Spent() {
		s.whole = false
		r = s.compare(false)
	}
	switch {
	case r.Outcome == OutcomeDifferent && !s.whole && (periodic(a) || periodic(b)):
		s.whole = true
		if s.compare(false).Outcome == OutcomeEqual {
			return Unknown(ruleIntegers) // sin(n pi) is 0 for integers
		}
	case r.Outcome != OutcomeDifferent && formal.Outcome == OutcomeEqual:
		return formal
	}
	return r
}

// partial reports whether n may be without a value for more than single values of its variables.
func partial(n *formula.Node) bool {
	return n.Has(func(m *formula.Node) bool {
		switch m.Kind {
		case formula.KindCall:
			return m.Name != "abs" && m.Name != "max" && m.Name != "min" && m.Name != "det" && m.Name != "sign" && len(formula.Variables(m)) > 0
		case formula.KindPower:
			if _, ok := m.Args[1].Integer(); !ok {
				return len(formula.Variables(m)) > 0
			}
		}
		return false
	})
}

// wholes are the names that usually stand for integers.
const wholes = "nkmNKMijpq"

// periodic reports whether n holds a trigonometric function of pi times a name that usually stands for an integer.
func periodic(n *formula.Node) bool {
	return n.Has(func(m *formula.Node) bool {
		switch {
		case m.Kind != formula.KindCall || m.Name != "sin" && m.Name != "cos" && m.Name != "tan":
			return false
		case !m.Has(func(l *formula.Node) bool { return l.Kind == formula.KindConstant && l.Name == "pi" }):
			return false
		}
		for _, name := range formula.Variables(m) {
			if !strings.Contains(wholes, name[:1]) {
				return false
			}
		}
		return len(formula.Variables(m)) > 0
	})
}

// stepped reports whether floors and ceilings are all that makes an expression one of integers.
func stepped(n *formula.Node) bool {
	return !n.Has(func(m *formula.Node) bool { return ofIntegers(m) && m.Name != "floor" && m.Name != "ceil" })
}

// discrete reports whether n makes sense for integers only: factorials, floors, (-1)^n.
func discrete(n *formula.Node) bool { return n.Has(ofIntegers) }

// ofIntegers reports whether the operation of a node itself makes sense for integers only.
func ofIntegers(m *formula.Node) bool {
	switch m.Kind {
	case formula.KindCall:
		switch m.Name {
		case "factorial", "doublefactorial", "binom", "arrangements", "floor", "ceil", "mod", "gcd", "lcm", "sum", "prod":
			return true
		}
	case formula.KindPower:
		base := m.Args[0]
		return len(formula.Variables(m.Args[1])) > 0 && (base.Kind == formula.KindNegate || base.Kind == formula.KindNumber && base.Rat.Sign() < 0)
	}
	return false
}

// sampler compares two expressions at points.
type sampler struct {
	*Comparer
	a, b    *formula.Node
	names   []string
	seed    uint64
	complex bool
	whole   bool // integers, where the names do not say otherwise
	stepped bool // floors and ceilings are all that asks for integers
	agreed  int  // points at which the values are the same
	valued  int  // points at which both sides may have a value
}

// The numbers of points.
const (
	firstLook   = 6  // points before the scales and breakpoints are looked for
	wholePoints = 12 // integer points that have to agree
	realPoints  = 7  // real points that have to agree to many digits
	fewPoints   = 3  // where most points are out of the domain
	hopeless    = 8  // points that say nothing, after which no others are tried
	thorough    = 64 // points compared with more than doubles at most
)

// compare looks for a point where the expressions differ. Without one they are probably equal, unless formal says that
// this is known already.
func (s *sampler) compare(formal bool) Result {
	s.agreed, s.valued = 0, 0
	points := s.generic(firstLook)
	if r := s.sketches(points); r.Outcome == OutcomeDifferent {
		return r
	}
	points = append(points, s.generic(8)...)
	scales, complete := s.scales()
	points = append(points, s.scaled(scales)...)
	if r := s.sketches(points[firstLook:]); r.Outcome == OutcomeDifferent || formal || s.valued == 0 && !s.complex {
		return r
	}
	switches := s.switches()
	turns := s.breakpoints(switches)
	if r := s.sketches(turns); r.Outcome == OutcomeDifferent {
		return r
	}
	points = append(points, turns...)
	tried := 0
	enough := realPoints
	if s.whole {
		enough = wholePoints
	}
	// One point of every cell, then points in turn from both ends: generic ones, and those that tell.
	cells, front := s.cells(points, switches, scales)
	for k := range points {
		if tried == thorough || tried == hopeless && s.agreed == 0 || s.Steps.Spent() || s.agreed >= enough && k >= max(front, 2*enough) {
			break
		}
		p := points[k]
		if rest := k - front; rest >= 0 && rest%2 == 1 {
			p = points[len(points)-1-rest/2]
		} else if rest >= 0 {
			p = points[front+rest/2]
		}
		tried++
		r := s.at(p)
		switch r.Outcome {
		case OutcomeDifferent:
			return different(s.rule())
		case OutcomeEqual:
			s.agreed++
		default:
			complete = complete && (k >= cells || r.Rule == ruleOneUndefined)
		}
	}
	switch {
	case s.Steps.Spent():
		return Unknown("")
	case complete && cells <= thorough && (s.agreed >= enough || !s.whole && s.agreed >= fewPoints):
		return Result{Outcome: OutcomeEqual, Rule: s.rule(), proof: ProofProbable}
	}
	return Unknown(s.rule())
}

func (s *sampler) rule() string {
	if s.whole {
		return ruleIntegers
	}
	return rulePoints
}

// sketches compares at points in doubles, and what differs there with more bits. Points that were drawn at random tell
// where one side has no value.
func (s *sampler) sketches(points []point) Result {
	if s.complex {
		return Unknown("")
	}
	domain, inexact := 0, 0
	for _, p := range points {
		k := evaluate.Sketch{Steps: s.Steps, Names: s.names, At: p.at}
		va, ea := k.Value(s.a)
		if ea != nil && !errors.Is(ea, evaluate.ErrUndefined) {
			if ea != evaluate.ErrConvention {
				s.valued++
			}
			continue
		}
		vb, eb := k.Value(s.b)
		if ea == nil && eb != evaluate.ErrUndefined && eb != evaluate.ErrConvention {
			s.valued++
		}
		switch {
		case ea == nil && eb == nil:
			if gap := va.V - vb.V; gap > va.Off+vb.Off || -gap > va.Off+vb.Off {
				if evaluate.Clearly(va, vb) || s.at(p).Outcome == OutcomeDifferent {
					return different(s.rule())
				}
			} else if inexact < thorough/4 && p.inexact() { // on a breakpoint that doubles miss
				inexact++
				if s.at(p).Outcome == OutcomeDifferent {
					return different(s.rule())
				}
			}
		case p.generic && !s.whole && p.negatives() < 2 && (ea == nil && errors.Is(eb, evaluate.ErrUndefined) || eb == nil && errors.Is(ea, evaluate.ErrUndefined)):
			if domain < 2 && s.at(p).Rule == ruleOneUndefined {
				s.complex = true
				apart := s.at(p).Outcome == OutcomeDifferent // and not as e^(ln x) and x
				s.complex = false
				if domain++; !apart {
					domain = 2
				} else if domain == 2 {
					return different(ruleDomains)
				}
			}
		}
		if s.Steps.Spent() {
			break
		}
	}
	return Unknown("")
}

// at compares at a point: exactly where both values are rational, else by disks. A point takes a share of the budget at
// most; one that asks for more says nothing.
func (s *sampler) at(p point) Result {
	share := formula.Budget{Left: min(s.Steps.Left, formula.MaxSteps/16)}
	before := share.Left
	whole := s.Comparer
	part := *whole
	part.Steps = &share
	s.Comparer = &part
	r := s.within(p)
	s.Comparer = whole
	s.Steps.Spend(before - share.Left)
	return r
}

func (s *sampler) within(p point) Result {
	at := make(map[string]*big.Rat, len(s.names))
	for i, name := range s.names {
		at[name] = p.at[i].Rat()
	}
	x := evaluate.Exact{Steps: s.Steps, At: at}
	va, ea := x.Value(s.a)
	vb, eb := x.Value(s.b)
	switch {
	case ea == nil && eb == nil:
		if va.Cmp(vb) == 0 {
			return equal(RuleExact)
		}
		return different(RuleExact)
	case errors.Is(ea, evaluate.ErrConvention) || errors.Is(eb, evaluate.ErrConvention):
		return Unknown(ruleOneUndefined)
	case s.Steps.Spent():
		return Unknown("")
	}
	return s.settle(s.a, s.b, s.complex, at, true)
}
