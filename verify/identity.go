package verify

import (
	"errors"
	"math/big"
	"strings"
)

// identity compares two expressions in the named variables. They are different if they differ at a point, or if one of
// them has values where the other has none; they are equal if the laws of algebra say so, and probably equal if they agree
// at all the points.
func (c *comparer) identity(a, b *node, names []string) result {
	seed := seedOf(a, b)
	complex := imaginary(a, b)
	formal := c.formal(a, b, names, seed, complex)
	if formal.outcome == OutcomeDifferent || formal.outcome == OutcomeEqual && !partial(a) && !partial(b) {
		return formal
	}
	if c.steps.spent() {
		return unknown("")
	}
	s := sampler{comparer: c, a: a, b: b, names: names, seed: seed, complex: complex, whole: discrete(a) || discrete(b)}
	r := s.compare(formal.outcome == OutcomeEqual)
	if r.outcome == OutcomeUnknown && s.whole && s.agreed == 0 && formal.outcome != OutcomeEqual && !c.steps.spent() {
		s.whole = false
		r = s.compare(false)
	}
	switch {
	case r.outcome == OutcomeDifferent && !s.whole && (periodic(a) || periodic(b)):
		s.whole = true
		if s.compare(false).outcome == OutcomeEqual {
			return unknown(ruleIntegers) // sin(n pi) is 0 for integers
		}
	case r.outcome != OutcomeDifferent && formal.outcome == OutcomeEqual:
		return formal
	}
	return r
}

// partial reports whether n may be without a value for more than single values of its variables.
func partial(n *node) bool {
	return n.has(func(m *node) bool {
		switch m.kind {
		case kindCall:
			return m.name != "abs" && m.name != "max" && m.name != "min" && m.name != "det" && m.name != "sign" && len(variables(m)) > 0
		case kindPower:
			if _, ok := m.args[1].integer(); !ok {
				return len(variables(m)) > 0
			}
		}
		return false
	})
}

// wholes are the names that usually stand for integers.
const wholes = "nkmNKMijpq"

// periodic reports whether n holds a trigonometric function of pi times a name that usually stands for an integer.
func periodic(n *node) bool {
	return n.has(func(m *node) bool {
		switch {
		case m.kind != kindCall || m.name != "sin" && m.name != "cos" && m.name != "tan":
			return false
		case !m.has(func(l *node) bool { return l.kind == kindConstant && l.name == "pi" }):
			return false
		}
		for _, name := range variables(m) {
			if !strings.Contains(wholes, name[:1]) {
				return false
			}
		}
		return len(variables(m)) > 0
	})
}

// stepped reports whether floors and ceilings are all that makes an expression one of integers.
func stepped(n *node) bool {
	return !n.has(func(m *node) bool {
		return m.kind == kindCall && m.name != "floor" && m.name != "ceil" && discrete(call(m.name)) || m.kind == kindPower && discrete(m)
	})
}

// discrete reports whether n makes sense for integers only: factorials, floors, (-1)^n.
func discrete(n *node) bool {
	return n.has(func(m *node) bool {
		switch m.kind {
		case kindCall:
			switch m.name {
			case "factorial", "doublefactorial", "binom", "arrangements", "floor", "ceil", "mod", "gcd", "lcm", "sum", "prod":
				return true
			}
		case kindPower:
			base := m.args[0]
			return len(variables(m.args[1])) > 0 && (base.kind == kindNegate || base.kind == kindNumber && base.rat.Sign() < 0)
		}
		return false
	})
}

// sampler compares two expressions at points.
type sampler struct {
	*comparer
	a, b    *node
	names   []string
	seed    uint64
	complex bool
	whole   bool // integers, where the names do not say otherwise
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
func (s *sampler) compare(formal bool) result {
	s.agreed, s.valued = 0, 0
	points := s.generic(firstLook)
	if r := s.sketches(points); r.outcome == OutcomeDifferent {
		return r
	}
	points = append(points, s.generic(8)...)
	scales, complete := s.scales()
	points = append(points, s.scaled(scales)...)
	var switches []*node
	if !formal {
		switches = s.switches()
		points = append(points, s.breakpoints(switches)...)
	}
	if r := s.sketches(points[firstLook:]); r.outcome == OutcomeDifferent || formal || s.valued == 0 && !s.complex {
		return r
	}
	tried := 0
	enough := realPoints
	if s.whole {
		enough = wholePoints
	}
	// One point of every cell, then points in turn from both ends: generic ones, and those that tell.
	cells, front := s.cells(points, switches, scales)
	for k := range points {
		if tried == thorough || tried == hopeless && s.agreed == 0 || s.steps.spent() || s.agreed >= enough && k >= max(front, 2*enough) {
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
		switch r.outcome {
		case OutcomeDifferent:
			return different(s.rule())
		case OutcomeEqual:
			s.agreed++
		default:
			complete = complete && (k >= cells || r.rule == ruleOneUndefined)
		}
	}
	switch {
	case s.steps.spent():
		return unknown("")
	case complete && cells <= thorough && (s.agreed >= enough || !s.whole && s.agreed >= fewPoints):
		return result{outcome: OutcomeEqual, rule: s.rule(), proof: ProofProbable}
	}
	return unknown(s.rule())
}

func (s *sampler) rule() string {
	if s.whole {
		return ruleIntegers
	}
	return rulePoints
}

// sketches compares at points in doubles, and what differs there with more bits. Points that were drawn at random tell
// where one side has no value.
func (s *sampler) sketches(points []point) result {
	if s.complex {
		return unknown("")
	}
	domain, inexact := 0, 0
	for _, p := range points {
		k := sketch{steps: s.steps, names: s.names, at: p.at}
		va, ea := k.value(s.a)
		if ea != nil && !errors.Is(ea, errUndefined) {
			if ea != errConvention {
				s.valued++
			}
			continue
		}
		vb, eb := k.value(s.b)
		if ea == nil && eb != errUndefined && eb != errConvention {
			s.valued++
		}
		switch {
		case ea == nil && eb == nil:
			if gap := va.v - vb.v; gap > va.off+vb.off || -gap > va.off+vb.off {
				if clearly(va, vb) || s.at(p).outcome == OutcomeDifferent {
					return different(s.rule())
				}
			} else if inexact < thorough/4 && p.inexact() { // on a breakpoint that doubles miss
				inexact++
				if s.at(p).outcome == OutcomeDifferent {
					return different(s.rule())
				}
			}
		case p.generic && !s.whole && p.negatives() < 2 && (ea == nil && errors.Is(eb, errUndefined) || eb == nil && errors.Is(ea, errUndefined)):
			if domain < 2 && s.at(p).rule == ruleOneUndefined {
				s.complex = true
				apart := s.at(p).outcome == OutcomeDifferent // and not as e^(ln x) and x
				s.complex = false
				if domain++; !apart {
					domain = 2
				} else if domain == 2 {
					return different(ruleDomains)
				}
			}
		}
		if s.steps.spent() {
			break
		}
	}
	return unknown("")
}

// at compares at a point: exactly where both values are rational, else by disks. A point takes a share of the budget at
// most; one that asks for more says nothing.
func (s *sampler) at(p point) result {
	share := budget{left: min(s.steps.left, maxSteps/16)}
	before := share.left
	whole := s.comparer
	part := *whole
	part.steps = &share
	s.comparer = &part
	r := s.within(p)
	s.comparer = whole
	s.steps.spend(before - share.left)
	return r
}

func (s *sampler) within(p point) result {
	at := make(map[string]*big.Rat, len(s.names))
	for i, name := range s.names {
		at[name] = p.at[i].rat()
	}
	x := exact{steps: s.steps, at: at}
	va, ea := x.value(s.a)
	vb, eb := x.value(s.b)
	switch {
	case ea == nil && eb == nil:
		if va.Cmp(vb) == 0 {
			return equal(ruleExact)
		}
		return different(ruleExact)
	case errors.Is(ea, errConvention) || errors.Is(eb, errConvention):
		return unknown(ruleOneUndefined)
	case s.steps.spent():
		return unknown("")
	}
	return s.settle(s.a, s.b, s.complex, at, true)
}
