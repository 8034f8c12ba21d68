package verify

import (
	"errors"
	"math"
	"math/big"
	"sort"
	"strings"
)

// Rules that decide about two expressions.
const (
	ruleIdentical = "identical"        // the same after parsing
	ruleExact     = "exact"            // rational arithmetic
	ruleModular   = "modular identity" // random points of two finite fields
	ruleNumeric   = "numeric"          // two precisions of floating point
	rulePoints    = "numeric identity" // floating point at random points
	ruleIntegers  = "integer points"   // exact values at integer points
	ruleInfinite  = "infinite"         // signed infinity
	ruleAlgebraic = "algebraic"        // proved by a bound on how small an algebraic number can be
	ruleMagnitude = "magnitude"        // too large to write out, of different size
	ruleResidues  = "residues"         // too large to write out, compared modulo primes
	ruleTolerance = "within tolerance"
)

// result is the outcome of comparing two nodes.
type result struct {
	outcome Outcome
	rule    string
	reason  string // set where it is not the outcome's usual one
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
}

// scalars compares two numbers or expressions. It is symmetric.
func (c *comparer) scalars(a, b *node) result {
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
			r.reason = ReasonRestated
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

// variables lists the symbols of both nodes in order.
func variables(ns ...*node) []string {
	seen := map[string]bool{}
	for _, n := range ns {
		n.walk(func(m *node) bool {
			if m.kind == kindSymbol && (m.name == "" || m.name[0] != '#') {
				seen[m.name] = true
			}
			return true
		})
	}
	names := make([]string, 0, len(seen))
	for s := range seen {
		names = append(names, s)
	}
	sort.Strings(names)
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

// constants compares two expressions without variables by their values. tooLarge says that one is rational and could
// not be written out.
func (c *comparer) constants(a, b *node, tooLarge bool) result {
	if tooLarge {
		if r, ok := c.sizes(a, b); ok {
			return r
		}
		if r, ok := c.residues(a, b); ok {
			return r
		}
	}
	for _, complex := range []bool{imaginary(a, b), true} {
		eval := func(n *node, prec uint) (complexValue, error) {
			x := numeric{real: real{prec: prec, steps: c.steps}, complex: complex}
			return x.value(n)
		}
		r := c.settle(a, b, eval)
		if r.outcome != OutcomeDifferent {
			r = c.proved(a, b, eval, r)
		}
		if r.outcome != OutcomeUnknown || c.steps.spent() {
			return r
		}
		if complex {
			_, ea := eval(a, precisions[0])
			_, eb := eval(b, precisions[0])
			if errors.Is(ea, errUndefined) && eb == nil || errors.Is(eb, errUndefined) && ea == nil {
				return different("undefined")
			}
			return r
		}
	}
	return unknown("")
}

// Values are computed to one of these precisions and then to twice as many bits. They differ if they do so at two
// precisions in which each of them is stable. They are equal if they agree to all but slack bits, of at least 256 and
// of more than the numbers written in them have together: a difference cannot hide in 10^-100.
var precisions = [...]uint{128, 320, 896, 2000}

const slack = 64

// settle decides about two values that can be computed to any precision.
func (c *comparer) settle(a, b *node, eval func(*node, uint) (complexValue, error)) result {
	need := max(256, 128+written(a)+written(b))
	both := func(prec uint) (va, vb complexValue, err error) {
		if va, err = eval(a, prec); err == nil {
			vb, err = eval(b, prec)
		}
		return va, vb, err
	}
	for _, prec := range precisions {
		va, vb, err := both(prec)
		if errors.Is(err, errPrecision) {
			continue
		}
		if err != nil {
			return undecided(err)
		}
		gap := distance(va, vb, prec)
		scale := max(va.magnitude(), vb.magnitude())
		bits := math.MaxInt32 // of agreement
		if gap != math.MinInt32 {
			bits = scale - gap
		}
		if bits >= int(prec)-slack {
			if int(prec) >= need+max(scale, 0) {
				return equal(ruleNumeric)
			}
			if need+max(scale, 0) > int(precisions[len(precisions)-1]) {
				break // too large for its last digits to be seen
			}
			continue
		}
		if bits > int(prec)-2*slack {
			continue
		}
		// They differ at this precision. A value that is stable under more precision is no rounding artefact.
		more := prec * 2
		if more > widest {
			break
		}
		wa, wb, err := both(more)
		if err != nil {
			return undecided(err)
		}
		za, zb := vanishes(va, wa, prec), vanishes(vb, wb, prec)
		sa, sb := stable(va, wa, more), stable(vb, wb, more)
		switch {
		case za && zb && int(more) >= need:
			return equal(ruleNumeric)
		case za && sb || zb && sa:
			return different(ruleNumeric)
		case sa && sb && max(wa.magnitude(), wb.magnitude())-distance(wa, wb, more) <= int(more)/2:
			return different(ruleNumeric)
		}
	}
	return unknown(ruleNumeric)
}

// written returns the bits of the numbers in n, powers of numbers multiplied out.
func written(n *node) int {
	bits := 0
	n.walk(func(m *node) bool {
		switch m.kind {
		case kindNumber, kindBased:
			bits += size(m.rat)
		case kindPower:
			if e, ok := m.args[1].integer(); ok && m.args[0].kind == kindNumber {
				bits += min(int(abs64(int64(e))), maxBits) * size(m.args[0].rat)
			}
		}
		bits = min(bits, maxBits)
		return true
	})
	return bits
}

func undecided(err error) result {
	if errors.Is(err, errUndefined) {
		return unknown("undefined")
	}
	return unknown("")
}

// distance returns the binary exponent of |a-b|, and math.MinInt32 for zero.
func distance(a, b complexValue, prec uint) int {
	x := numeric{real: real{prec: prec}}
	return x.add(a, x.negate(b)).magnitude()
}

// stable reports whether a value changed little under more precision.
func stable(v, w complexValue, prec uint) bool {
	if w.magnitude() == math.MinInt32 {
		return v.magnitude() == math.MinInt32
	}
	return distance(v, w, prec) <= w.magnitude()-32
}

// vanishes reports whether a value is zero, or shrinks with the precision it is computed in.
func vanishes(v, w complexValue, prec uint) bool {
	if w.magnitude() == math.MinInt32 {
		return true
	}
	return w.magnitude() < v.magnitude()-int(prec)/2
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

// identity compares two expressions in the named variables.
func (c *comparer) identity(a, b *node, names []string) result {
	seed := seedOf(a, b)
	if r, ok := c.modular(a, b, names, seed); ok {
		return r
	}
	if c.steps.spent() {
		return unknown("")
	}
	if discrete(a) || discrete(b) {
		if r := c.integerPoints(a, b, names, seed); r.outcome != OutcomeUnknown {
			return r
		}
	}
	r := c.realPoints(a, b, names, seed)
	if r.outcome == OutcomeDifferent && (periodic(a) || periodic(b)) && c.integerPoints(a, b, names, seed).outcome == OutcomeEqual {
		return unknown(ruleIntegers) // sin(n pi) is 0 for integers
	}
	return r
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

// modular decides about rational functions; false if one of the two is none.
func (c *comparer) modular(a, b *node, names []string, seed uint64) (result, bool) {
	agreed := 0
	for try := 0; try < 8; try++ {
		f := field{p: primes[try%2][0], i: primes[try%2][1], steps: c.steps, at: make(map[string]uint64, len(names))}
		for _, name := range names {
			f.at[name] = next(&seed) % f.p
		}
		va, ea := f.value(a)
		vb, eb := f.value(b)
		switch {
		case errors.Is(ea, errIrrational) || errors.Is(eb, errIrrational):
			return result{}, false
		case errors.Is(ea, errBudget) || errors.Is(eb, errBudget):
			return unknown(""), true
		case ea != nil || eb != nil:
			continue // a pole; another point
		case va != vb:
			return different(ruleModular), true
		}
		if agreed++; agreed == 4 {
			return equal(ruleModular), true
		}
	}
	return result{}, false
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

// integerPoints compares at small positive integers, where factorials, floors and (-1)^n are defined.
func (c *comparer) integerPoints(a, b *node, names []string, seed uint64) result {
	agreed := 0
	fractions := stepped(a) && stepped(b)
	for try := range 24 {
		at := make(map[string]*node, len(names))
		for _, name := range names {
			v := int64(1 + next(&seed)%uint64(6+2*try))
			at[name] = number(v)
			if fractions && !strings.Contains(wholes, name[:1]) {
				at[name] = rational(big.NewRat(v, int64(1+try%5)))
			}
		}
		r := c.values(a.substitute(at), b.substitute(at))
		switch r.outcome {
		case OutcomeDifferent:
			return different(ruleIntegers)
		case OutcomeEqual:
			if agreed++; agreed == 10 {
				return equal(ruleIntegers)
			}
		}
		if c.steps.spent() {
			break
		}
	}
	return unknown(ruleIntegers)
}

// values compares two expressions without variables; points at which either is undefined are unknown.
func (c *comparer) values(a, b *node) result {
	x := exact{steps: c.steps}
	va, ea := x.value(a)
	vb, eb := x.value(b)
	switch {
	case ea == nil && eb == nil:
		if va.Cmp(vb) == 0 {
			return equal(ruleExact)
		}
		return different(ruleExact)
	case errors.Is(ea, errUndefined) || errors.Is(eb, errUndefined) || c.steps.spent():
		return unknown("")
	}
	return c.constants(a, b, errors.Is(ea, errBudget) || errors.Is(eb, errBudget))
}

// Ranges that the variables are drawn from in turn, so that roots, logarithms and inverse functions meet their
// domains and a sign that matters is met.
var ranges = [...][2]float64{{0, 1}, {-3, -1}, {1, 3}, {-1, 0}, {-3, 3}, {2, 40}, {-1, 1}}

// realPoints compares at random real points. Points where one side is undefined over the reals are passed over: an
// identity is one on the common domain. Both sides are complex as soon as i occurs in one of them.
func (c *comparer) realPoints(a, b *node, names []string, seed uint64) result {
	complex := imaginary(a, b)
	agreed := 0
	for try := range 40 {
		points := make([]float64, len(names))
		r := ranges[try%len(ranges)]
		for k := range names {
			u := float64(next(&seed)>>11) / (1 << 53)
			points[k] = r[0] + (r[1]-r[0])*u
		}
		eval := func(n *node, prec uint) (complexValue, error) {
			x := numeric{real: real{prec: prec, steps: c.steps}, complex: complex, at: make(map[string]*big.Float, len(names))}
			for k, name := range names {
				x.at[name] = x.float().SetFloat64(points[k])
			}
			return x.value(n)
		}
		switch c.settle(a, b, eval).outcome {
		case OutcomeDifferent:
			return different(rulePoints)
		case OutcomeEqual:
			if agreed++; agreed == len(ranges) {
				return equal(rulePoints)
			}
		}
		if c.steps.spent() {
			return unknown("")
		}
	}
	if agreed >= 3 {
		return equal(rulePoints)
	}
	return unknown(rulePoints)
}
