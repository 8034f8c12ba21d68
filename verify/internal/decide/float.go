// Values in doubles with bounds of their errors.

package decide

import (
	"errors"
	"math"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// coordinate is the value of a variable at a sample point: a double, or a rational that the double is near.
type coordinate struct {
	near  float64
	exact *big.Rat // nil for the double itself
}

// rat returns the value.
func (c coordinate) rat() *big.Rat {
	if c.exact != nil {
		return c.exact
	}
	return new(big.Rat).SetFloat64(c.near)
}

// off bounds the difference between the double and the value.
func (c coordinate) off() float64 {
	if c.exact == nil {
		return 0
	}
	return math.Abs(c.near) * ulp
}

// coordinateOf returns r as a coordinate; false if it is beyond doubles.
func coordinateOf(r *big.Rat) (coordinate, bool) {
	f, same := r.Float64()
	switch {
	case math.IsInf(f, 0):
		return coordinate{}, false
	case same:
		return coordinate{near: f}, true
	}
	return coordinate{near: f, exact: r}, true
}

// estimate is a double with a bound on its error.
type estimate struct{ v, off float64 }

// sketch evaluates expressions over the reals in doubles, to find points where two of them differ. Its bounds hold if the
// functions of package math are good to sixteen units in the last place; they claim less than two. What differs by less
// than a million times the bounds is checked with more bits.
type sketch struct {
	steps *formula.Budget
	names []string
	at    []coordinate
}

// clear is how many times the error of doubles values have to be apart to need no second look.
const clear = 1 << 20

// clearly reports whether two estimates are of different values without any doubt.
func clearly(a, b estimate) bool {
	gap := math.Abs(a.v - b.v)
	return gap > clear*(a.off+b.off) && gap > clear*ulp*ulp
}

// errVague says that doubles do not tell: out of range, next to a pole, next to a step.
var errVague = errors.New("beyond doubles")

const ulp = 0x1p-52

// rounded adds the error of so many roundings to a result.
func (s *sketch) rounded(v, off, roundings float64) (estimate, error) {
	if math.IsInf(v, 0) || math.IsNaN(v) || math.IsInf(off, 0) || math.IsNaN(off) {
		return estimate{}, errVague
	}
	return estimate{v, off + math.Abs(v)*ulp*roundings + 0x1p-1060}, nil
}

func (s *sketch) value(n *formula.Node) (estimate, error) {
	if !s.steps.Spend(2) {
		return estimate{}, errBudget
	}
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		a, b := n.Rat.Num(), n.Rat.Denom()
		if a.BitLen() <= 53 && b.BitLen() <= 53 {
			p, q := float64(a.Int64()), float64(b.Int64())
			if q == 1 {
				return estimate{p, 0}, nil
			}
			return s.rounded(p/q, 0, 1)
		}
		f, same := n.Rat.Float64()
		if same {
			return estimate{f, 0}, nil
		}
		return s.rounded(f, 0, 1)
	case formula.KindSymbol:
		for i, name := range s.names {
			if name == n.Name {
				return estimate{s.at[i].near, s.at[i].off()}, nil
			}
		}
		return estimate{}, errSymbolic
	case formula.KindConstant:
		switch n.Name {
		case "pi":
			return estimate{math.Pi, math.Pi * ulp}, nil
		case "e":
			return estimate{math.E, math.E * ulp}, nil
		}
		return estimate{}, errIrrational
	case formula.KindPercent:
		v, err := s.value(n.Args[0])
		if err != nil {
			return v, err
		}
		return s.rounded(v.v/100, v.off/100, 1)
	case formula.KindQuantity:
		if n.Name == "degree" {
			v, err := s.value(n.Args[0])
			if err != nil {
				return v, err
			}
			return s.rounded(v.v*math.Pi/180, v.off, 3)
		}
	case formula.KindNegate:
		v, err := s.value(n.Args[0])
		v.v = -v.v
		return v, err
	case formula.KindAdd:
		acc, err := s.value(n.Args[0])
		if err != nil {
			return acc, err
		}
		for _, a := range n.Args[1:] {
			v, err := s.value(a)
			if err != nil {
				return v, err
			}
			sum := acc.v + v.v
			// A sum that is exact, as those of small integers are, stays exact.
			if back := sum - acc.v; acc.off == 0 && v.off == 0 && back == v.v && sum-back == acc.v {
				acc.v = sum
				continue
			}
			if acc, err = s.rounded(sum, acc.off+v.off, 1); err != nil {
				return acc, err
			}
		}
		return acc, nil
	case formula.KindMultiply:
		acc, err := s.value(n.Args[0])
		if err != nil {
			return acc, err
		}
		for _, a := range n.Args[1:] {
			v, err := s.value(a)
			if err != nil {
				return v, err
			}
			if acc, err = s.times(acc, v); err != nil {
				return acc, err
			}
		}
		return acc, nil
	case formula.KindDivide:
		a, err := s.value(n.Args[0])
		if err != nil {
			return a, err
		}
		b, err := s.value(n.Args[1])
		if err != nil {
			return b, err
		}
		return s.over(a, b)
	case formula.KindPower:
		return s.power(n)
	case formula.KindCall:
		return s.call(n)
	}
	return estimate{}, errIrrational
}

func (s *sketch) times(a, b estimate) (estimate, error) {
	p := a.v * b.v
	if a.off == 0 && b.off == 0 && math.Abs(p) < 1<<53 && p == math.Trunc(p) && a.v == math.Trunc(a.v) && b.v == math.Trunc(b.v) {
		return estimate{p, 0}, nil
	}
	return s.rounded(p, math.Abs(a.v)*b.off+math.Abs(b.v)*a.off+a.off*b.off, 1)
}

func (s *sketch) over(a, b estimate) (estimate, error) {
	if math.Abs(b.v) <= 2*b.off {
		if b.v == 0 && b.off == 0 {
			return estimate{}, errUndefined
		}
		return estimate{}, errVague
	}
	q := a.v / b.v
	return s.rounded(q, (a.off+math.Abs(q)*b.off)/(math.Abs(b.v)-b.off), 1)
}

// power evaluates a^b.
func (s *sketch) power(n *formula.Node) (estimate, error) {
	a, err := s.value(n.Args[0])
	if err != nil {
		return a, err
	}
	e := n.Args[1]
	negative := e.Kind == formula.KindNegate
	if negative {
		e = e.Args[0]
	}
	if e.Kind == formula.KindNumber && e.Rat.IsInt() && e.Rat.Num().IsInt64() {
		k := e.Rat.Num().Int64()
		if negative {
			k = -k
		}
		return s.integerPower(a, k)
	}
	if v, err := (Exact{Steps: s.steps}).Value(n.Args[1]); err == nil {
		switch {
		case v.IsInt() && v.Num().IsInt64():
			return s.integerPower(a, v.Num().Int64())
		case !v.IsInt() && v.Num().IsInt64() && v.Denom().IsInt64():
			r, err := s.root(a, v.Denom().Int64())
			if err != nil {
				return r, err
			}
			return s.integerPower(r, v.Num().Int64())
		}
		return estimate{}, errVague
	}
	b, err := s.value(n.Args[1])
	if err != nil {
		return b, err
	}
	if b.off == 0 && b.v == math.Trunc(b.v) && math.Abs(b.v) < 1<<24 {
		return s.integerPower(a, int64(b.v))
	}
	switch {
	case a.v > 2*a.off:
	case a.v < -a.off && b.off == 0:
		return estimate{}, errUndefined
	default:
		return estimate{}, errVague
	}
	l := math.Log(a.v)
	return s.exp(estimate{l * b.v, math.Abs(l)*b.off + math.Abs(b.v)*(2*a.off/a.v+ulp*4) + math.Abs(l*b.v)*ulp*4})
}

func (s *sketch) integerPower(a estimate, k int64) (estimate, error) {
	if k <= 0 && a.v == 0 && a.off == 0 {
		return estimate{}, errUndefined
	}
	acc, base := estimate{1, 0}, a
	var err error
	for m := abs64(k); m > 0; m >>= 1 {
		if m&1 == 1 {
			if acc, err = s.times(acc, base); err != nil {
				return acc, err
			}
		}
		if m > 1 {
			if base, err = s.times(base, base); err != nil {
				return base, err
			}
		}
	}
	if k < 0 {
		return s.over(estimate{1, 0}, acc)
	}
	return acc, nil
}

func (s *sketch) exp(v estimate) (estimate, error) {
	if v.off > 0.5 || v.v > 700 {
		return v, errVague
	}
	f := math.Exp(v.v)
	return s.rounded(f, f*2*v.off, 8)
}

// root evaluates a real root.
func (s *sketch) root(a estimate, k int64) (estimate, error) {
	if k < 1 || k > 1000 {
		return a, errVague
	}
	if a.v == 0 && a.off == 0 || k == 1 {
		return a, nil
	}
	size := math.Abs(a.v)
	if size <= 2*a.off {
		return a, errVague
	}
	if a.v < 0 && k%2 == 0 {
		return a, errUndefined
	}
	r := math.Sqrt(size)
	if k != 2 {
		r = math.Pow(size, 1/float64(k))
	}
	return s.rounded(math.Copysign(r, a.v), 2*r*a.off/size, 16)
}

func (s *sketch) call(n *formula.Node) (estimate, error) {
	switch n.Name {
	case "sum", "prod", "det", "conj", "re", "im", "arg", "open", "doublefactorial", "arrangements":
		return estimate{}, errVague
	}
	if !s.steps.Spend(6) {
		return estimate{}, errBudget
	}
	var space [4]estimate
	vs := space[:0]
	for _, a := range n.Args {
		v, err := s.value(a)
		if err != nil {
			return v, err
		}
		vs = append(vs, v)
	}
	v := vs[0]
	smooth := func(f, slope float64) (estimate, error) { return s.rounded(f, slope*v.off, 16) }
	ratio := func(a, b float64) (estimate, error) {
		x, err := s.rounded(a, v.off, 16)
		if err != nil {
			return x, err
		}
		y, err := s.rounded(b, v.off, 16)
		if err != nil {
			return y, err
		}
		return s.over(x, y)
	}
	switch n.Name {
	case "root":
		if k, ok := rootDegree(n); ok {
			return s.root(v, k)
		}
		return v, errVague
	case "abs":
		return estimate{math.Abs(v.v), v.off}, nil
	case "sign":
		if math.Abs(v.v) <= v.off && v.off > 0 {
			return v, errVague
		}
		switch {
		case v.v > 0:
			return estimate{1, 0}, nil
		case v.v < 0:
			return estimate{-1, 0}, nil
		}
		return estimate{}, nil
	case "max", "min":
		for _, w := range vs[1:] {
			if n.Name == "max" {
				v.v = math.Max(v.v, w.v)
			} else {
				v.v = math.Min(v.v, w.v)
			}
			v.off = math.Max(v.off, w.off)
		}
		return v, nil
	case "floor", "ceil":
		f := math.Floor
		if n.Name == "ceil" {
			f = math.Ceil
		}
		if math.Abs(v.v) > 1<<52 || f(v.v-v.off) != f(v.v+v.off) {
			return v, errVague
		}
		return estimate{f(v.v), 0}, nil
	case "mod", "gcd", "lcm", "binom", "factorial":
		return s.integers(n.Name, vs)
	case "ln", "log":
		l, err := s.log(v)
		if err != nil || len(vs) == 1 {
			return l, err
		}
		b, err := s.log(vs[1])
		if err != nil {
			return b, err
		}
		return s.over(l, b)
	}
	if v.off > 0.25*math.Max(1, math.Abs(v.v)) || v.off > 1 {
		return v, errVague
	}
	switch n.Name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		sin, cos := math.Sincos(v.v)
		switch n.Name {
		case "sin":
			return smooth(sin, 1)
		case "cos":
			return smooth(cos, 1)
		case "tan":
			return ratio(sin, cos)
		case "cot":
			return ratio(cos, sin)
		case "sec":
			return ratio(1, cos)
		}
		return ratio(1, sin)
	case "sinh":
		return smooth(math.Sinh(v.v), 2*math.Cosh(v.v))
	case "cosh":
		return smooth(math.Cosh(v.v), 2*math.Cosh(v.v))
	case "tanh":
		return smooth(math.Tanh(v.v), 1)
	case "arctan":
		return smooth(math.Atan(v.v), 1)
	case "arcsin", "arccos":
		if math.Abs(v.v) > 1+v.off {
			return v, errUndefined
		}
		if math.Abs(v.v) > 0.99 {
			return v, errVague
		}
		if n.Name == "arcsin" {
			return smooth(math.Asin(v.v), 8)
		}
		return smooth(math.Acos(v.v), 8)
	case "arsinh":
		return smooth(math.Asinh(v.v), 1)
	case "arcosh":
		if v.v < 1-v.off {
			return v, errUndefined
		}
		if v.v < 1.01 {
			return v, errVague
		}
		return smooth(math.Acosh(v.v), 8)
	case "artanh":
		if math.Abs(v.v) > 1+v.off {
			return v, errUndefined
		}
		if math.Abs(v.v) > 0.99 {
			return v, errVague
		}
		return smooth(math.Atanh(v.v), 64)
	}
	return v, errVague
}

func (s *sketch) log(v estimate) (estimate, error) {
	switch {
	case v.v < -v.off || v.v == 0 && v.off == 0:
		return v, errUndefined
	case v.v <= 2*v.off:
		return v, errVague
	}
	l := math.Log(v.v)
	return s.rounded(l, 2*v.off/v.v+ulp*4, 4)
}

// integers evaluates functions of integers that doubles hold.
func (s *sketch) integers(name string, vs []estimate) (estimate, error) {
	var k [2]int64
	if len(vs) > 2 {
		return estimate{}, errVague
	}
	for i, v := range vs {
		if math.Abs(v.v-math.Round(v.v)) > v.off {
			return estimate{}, errConvention
		}
		if v.off != 0 || math.Abs(v.v) > 1<<53 {
			return estimate{}, errVague
		}
		k[i] = int64(v.v)
	}
	switch {
	case name == "mod" && k[1] != 0:
		m := abs64(k[1])
		return estimate{float64((k[0]%m + m) % m), 0}, nil
	case name == "gcd" && len(vs) == 2:
		return estimate{float64(gcd(k[0], k[1])), 0}, nil
	case name == "lcm" && len(vs) == 2:
		if g := gcd(k[0], k[1]); g != 0 {
			if f := math.Abs(vs[0].v) / float64(g) * math.Abs(vs[1].v); f < 1<<53 {
				return estimate{f, 0}, nil
			}
		}
	case name == "factorial" && k[0] >= 0 && k[0] < 170:
		acc := estimate{1, 0}
		var err error
		for j := int64(2); j <= k[0] && err == nil; j++ {
			acc, err = s.times(acc, estimate{float64(j), 0})
		}
		return acc, err
	case name == "binom":
		n, m := k[0], k[1]
		if m < 0 || n >= 0 && m > n {
			return estimate{}, nil
		}
		if m = min(m, n-m); n < 0 || m > 300 || !s.steps.Spend(int(m)) {
			break
		}
		acc := estimate{1, 0}
		var err error
		for j := int64(1); j <= m && err == nil; j++ {
			if acc, err = s.times(acc, estimate{float64(n - m + j), 0}); err == nil {
				acc, err = s.over(acc, estimate{float64(j), 0})
			}
		}
		return acc, err
	}
	return estimate{}, errVague
}
