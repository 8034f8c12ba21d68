// Values in doubles with bounds of their errors.

package evaluate

import (
	"errors"
	"math"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Coordinate is the value of a variable at a sample point: a double, or a rational that the double is near.
type Coordinate struct {
	Near  float64
	Exact *big.Rat // nil for the double itself
}

// Rat returns the value.
func (c Coordinate) Rat() *big.Rat {
	if c.Exact != nil {
		return c.Exact
	}
	return new(big.Rat).SetFloat64(c.Near)
}

// off bounds the difference between the double and the value.
func (c Coordinate) off() float64 {
	if c.Exact == nil {
		return 0
	}
	return math.Abs(c.Near) * ulp
}

// CoordinateOf returns r as a coordinate; false if it is beyond doubles.
func CoordinateOf(r *big.Rat) (Coordinate, bool) {
	f, same := r.Float64()
	switch {
	case math.IsInf(f, 0):
		return Coordinate{}, false
	case same:
		return Coordinate{Near: f}, true
	}
	return Coordinate{Near: f, Exact: r}, true
}

// estimate is a double with a bound on its error.
type estimate struct{ V, Off float64 }

// Sketch evaluates expressions over the reals in doubles, to find points where two of them differ. Its bounds hold if the
// functions of package math are good to sixteen units in the last place; they claim less than two. What differs by less
// than a million times the bounds is checked with more bits.
type Sketch struct {
	Steps *formula.Budget
	Names []string
	At    []Coordinate
}

// clear is how many times the error of doubles values have to be apart to need no second look.
const clear = 1 << 20

// Clearly reports whether two estimates are of different values without any doubt.
func Clearly(a, b estimate) bool {
	gap := math.Abs(a.V - b.V)
	return gap > clear*(a.Off+b.Off) && gap > clear*ulp*ulp
}

// errVague says that doubles do not tell: out of range, next to a pole, next to a step.
var errVague = errors.New("beyond doubles")

const ulp = 0x1p-52

// rounded adds the error of so many roundings to a result.
func (s *Sketch) rounded(v, off, roundings float64) estimate {
	if math.IsInf(v, 0) || math.IsNaN(v) || math.IsInf(off, 0) || math.IsNaN(off) {
		panic(failing.With(errVague))
	}
	return estimate{v, off + math.Abs(v)*ulp*roundings + 0x1p-1060}
}

// Value evaluates n.
func (s *Sketch) Value(n *formula.Node) (estimate, error) {
	return failing.Try(func() estimate { return s.value(n) })
}

// value is Value inside an evaluation.
func (s *Sketch) value(n *formula.Node) estimate {
	s.spend(2)
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		a, b := n.Rat.Num(), n.Rat.Denom()
		if a.BitLen() <= 53 && b.BitLen() <= 53 {
			p, q := float64(a.Int64()), float64(b.Int64())
			if q == 1 {
				return estimate{p, 0}
			}
			return s.rounded(p/q, 0, 1)
		}
		f, same := n.Rat.Float64()
		if same {
			return estimate{f, 0}
		}
		return s.rounded(f, 0, 1)
	case formula.KindSymbol:
		for i, name := range s.Names {
			if name == n.Name {
				return estimate{s.At[i].Near, s.At[i].off()}
			}
		}
		panic(failing.With(ErrSymbolic))
	case formula.KindConstant:
		switch n.Name {
		case "pi":
			return estimate{math.Pi, math.Pi * ulp}
		case "e":
			return estimate{math.E, math.E * ulp}
		}
		panic(failing.With(ErrIrrational))
	case formula.KindPercent:
		v := s.value(n.Args[0])
		return s.rounded(v.V/100, v.Off/100, 1)
	case formula.KindQuantity:
		if n.Name == "degree" {
			v := s.value(n.Args[0])
			return s.rounded(v.V*math.Pi/180, v.Off, 3)
		}
	case formula.KindNegate:
		v := s.value(n.Args[0])
		v.V = -v.V
		return v
	case formula.KindAdd:
		acc := s.value(n.Args[0])
		for _, a := range n.Args[1:] {
			v := s.value(a)
			sum := acc.V + v.V
			// A sum that is exact, as those of small integers are, stays exact.
			if back := sum - acc.V; acc.Off == 0 && v.Off == 0 && back == v.V && sum-back == acc.V {
				acc.V = sum
				continue
			}
			acc = s.rounded(sum, acc.Off+v.Off, 1)
		}
		return acc
	case formula.KindMultiply:
		acc := s.value(n.Args[0])
		for _, a := range n.Args[1:] {
			acc = s.times(acc, s.value(a))
		}
		return acc
	case formula.KindDivide:
		return s.over(s.value(n.Args[0]), s.value(n.Args[1]))
	case formula.KindPower:
		return s.power(n)
	case formula.KindCall:
		return s.call(n)
	}
	panic(failing.With(ErrIrrational))
}

func (s *Sketch) spend(steps int) { Spend(s.Steps, steps) }

func (s *Sketch) times(a, b estimate) estimate {
	p := a.V * b.V
	if a.Off == 0 && b.Off == 0 && math.Abs(p) < 1<<53 && p == math.Trunc(p) && a.V == math.Trunc(a.V) && b.V == math.Trunc(b.V) {
		return estimate{p, 0}
	}
	return s.rounded(p, math.Abs(a.V)*b.Off+math.Abs(b.V)*a.Off+a.Off*b.Off, 1)
}

func (s *Sketch) over(a, b estimate) estimate {
	if math.Abs(b.V) <= 2*b.Off {
		if b.V == 0 && b.Off == 0 {
			panic(failing.With(ErrUndefined))
		}
		panic(failing.With(errVague))
	}
	q := a.V / b.V
	if a.Off == 0 && b.Off == 0 && a.V == math.Trunc(a.V) && b.V == math.Trunc(b.V) && math.FMA(q, b.V, -a.V) == 0 { // as 60/30
		return estimate{q, 0}
	}
	return s.rounded(q, (a.Off+math.Abs(q)*b.Off)/(math.Abs(b.V)-b.Off), 1)
}

// power evaluates a^b.
func (s *Sketch) power(n *formula.Node) estimate {
	a := s.value(n.Args[0])
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
	if v, err := (Exact{Steps: s.Steps}).Value(n.Args[1]); err == nil {
		switch {
		case v.IsInt() && v.Num().IsInt64():
			return s.integerPower(a, v.Num().Int64())
		case !v.IsInt() && v.Num().IsInt64() && v.Denom().IsInt64():
			return s.integerPower(s.root(a, v.Denom().Int64()), v.Num().Int64())
		}
		panic(failing.With(errVague))
	}
	b := s.value(n.Args[1])
	if b.Off == 0 && b.V == math.Trunc(b.V) && math.Abs(b.V) < 1<<24 {
		return s.integerPower(a, int64(b.V))
	}
	switch {
	case a.V > 2*a.Off:
	case a.V < -a.Off && b.Off == 0:
		panic(failing.With(ErrUndefined))
	default:
		panic(failing.With(errVague))
	}
	l := math.Log(a.V)
	return s.exp(estimate{l * b.V, math.Abs(l)*b.Off + math.Abs(b.V)*(2*a.Off/a.V+ulp*4) + math.Abs(l*b.V)*ulp*4})
}

func (s *Sketch) integerPower(a estimate, k int64) estimate {
	if k <= 0 && a.V == 0 && a.Off == 0 {
		panic(failing.With(ErrUndefined))
	}
	acc, base := estimate{1, 0}, a
	for m := Abs64(k); m > 0; m >>= 1 {
		if m&1 == 1 {
			acc = s.times(acc, base)
		}
		if m > 1 {
			base = s.times(base, base)
		}
	}
	if k < 0 {
		return s.over(estimate{1, 0}, acc)
	}
	return acc
}

func (s *Sketch) exp(v estimate) estimate {
	if v.Off > 0.5 || v.V > 700 {
		panic(failing.With(errVague))
	}
	f := math.Exp(v.V)
	return s.rounded(f, f*2*v.Off, 8)
}

// root evaluates a real root.
func (s *Sketch) root(a estimate, k int64) estimate {
	if k < 1 || k > 1000 {
		panic(failing.With(errVague))
	}
	if a.V == 0 && a.Off == 0 || k == 1 {
		return a
	}
	size := math.Abs(a.V)
	if size <= 2*a.Off {
		panic(failing.With(errVague))
	}
	if a.V < 0 && k%2 == 0 {
		panic(failing.With(ErrUndefined))
	}
	r := math.Sqrt(size)
	if k != 2 {
		r = math.Pow(size, 1/float64(k))
	}
	return s.rounded(math.Copysign(r, a.V), 2*r*a.Off/size, 16)
}

func (s *Sketch) call(n *formula.Node) estimate {
	switch n.Name {
	case "sum", "prod", "det", "conj", "re", "im", "arg", "open", "doublefactorial", "arrangements":
		panic(failing.With(errVague))
	}
	s.spend(6)
	var space [4]estimate
	vs := space[:0]
	for _, a := range n.Args {
		vs = append(vs, s.value(a))
	}
	v := vs[0]
	smooth := func(f, slope float64) estimate { return s.rounded(f, slope*v.Off, 16) }
	ratio := func(a, b float64) estimate {
		return s.over(s.rounded(a, v.Off, 16), s.rounded(b, v.Off, 16))
	}
	switch n.Name {
	case "root":
		if k, ok := RootDegree(n); ok {
			return s.root(v, k)
		}
		panic(failing.With(errVague))
	case "abs":
		return estimate{math.Abs(v.V), v.Off}
	case "sign":
		if math.Abs(v.V) <= v.Off && v.Off > 0 {
			panic(failing.With(errVague))
		}
		switch {
		case v.V > 0:
			return estimate{1, 0}
		case v.V < 0:
			return estimate{-1, 0}
		}
		return estimate{}
	case "max", "min":
		for _, w := range vs[1:] {
			if n.Name == "max" {
				v.V = math.Max(v.V, w.V)
			} else {
				v.V = math.Min(v.V, w.V)
			}
			v.Off = math.Max(v.Off, w.Off)
		}
		return v
	case "floor", "ceil":
		f := math.Floor
		if n.Name == "ceil" {
			f = math.Ceil
		}
		if math.Abs(v.V) > 1<<52 || f(v.V-v.Off) != f(v.V+v.Off) {
			panic(failing.With(errVague))
		}
		return estimate{f(v.V), 0}
	case "mod", "gcd", "lcm", "binom", "factorial":
		return s.integers(n.Name, vs)
	case "ln", "log":
		l := s.log(v)
		if len(vs) == 1 {
			return l
		}
		return s.over(l, s.log(vs[1]))
	}
	if v.Off > 0.25*math.Max(1, math.Abs(v.V)) || v.Off > 1 {
		panic(failing.With(errVague))
	}
	switch n.Name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		sin, cos := math.Sincos(v.V)
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
		return smooth(math.Sinh(v.V), 2*math.Cosh(v.V))
	case "cosh":
		return smooth(math.Cosh(v.V), 2*math.Cosh(v.V))
	case "tanh":
		return smooth(math.Tanh(v.V), 1)
	case "arctan":
		return smooth(math.Atan(v.V), 1)
	case "arcsin", "arccos":
		if math.Abs(v.V) > 1+v.Off {
			panic(failing.With(ErrUndefined))
		}
		if math.Abs(v.V) > 0.99 {
			panic(failing.With(errVague))
		}
		if n.Name == "arcsin" {
			return smooth(math.Asin(v.V), 8)
		}
		return smooth(math.Acos(v.V), 8)
	case "arsinh":
		return smooth(math.Asinh(v.V), 1)
	case "arcosh":
		if v.V < 1-v.Off {
			panic(failing.With(ErrUndefined))
		}
		if v.V < 1.01 {
			panic(failing.With(errVague))
		}
		return smooth(math.Acosh(v.V), 8)
	case "artanh":
		if math.Abs(v.V) > 1+v.Off {
			panic(failing.With(ErrUndefined))
		}
		if math.Abs(v.V) > 0.99 {
			panic(failing.With(errVague))
		}
		return smooth(math.Atanh(v.V), 64)
	}
	panic(failing.With(errVague))
}

func (s *Sketch) log(v estimate) estimate {
	switch {
	case v.V < -v.Off || v.V == 0 && v.Off == 0:
		panic(failing.With(ErrUndefined))
	case v.V <= 2*v.Off:
		panic(failing.With(errVague))
	}
	return s.rounded(math.Log(v.V), 2*v.Off/v.V+ulp*4, 4)
}

// integers evaluates functions of integers that doubles hold.
func (s *Sketch) integers(name string, vs []estimate) estimate {
	var few [4]int64
	k := few[:0]
	for _, v := range vs {
		if math.Abs(v.V-math.Round(v.V)) > v.Off {
			panic(failing.With(ErrConvention))
		}
		if v.Off != 0 || math.Abs(v.V) > 1<<53 {
			panic(failing.With(errVague))
		}
		k = append(k, int64(v.V))
	}
	switch {
	case name == "mod" && k[1] != 0:
		m := Abs64(k[1])
		return estimate{float64((k[0]%m + m) % m), 0}
	case name == "gcd" || name == "lcm":
		acc := Abs64(k[0])
		for _, v := range k[1:] {
			g := Gcd(acc, v)
			if name == "lcm" && g != 0 {
				if f := float64(acc/g) * math.Abs(float64(v)); f >= 1<<53 {
					panic(failing.With(errVague))
				}
				g = acc / g * Abs64(v)
			}
			acc = g
		}
		return estimate{float64(acc), 0}
	case name == "factorial" && k[0] >= 0 && k[0] < 170:
		acc := estimate{1, 0}
		for j := int64(2); j <= k[0]; j++ {
			acc = s.times(acc, estimate{float64(j), 0})
		}
		return acc
	case name == "binom":
		n, m := k[0], k[1]
		if m < 0 || n >= 0 && m > n {
			return estimate{}
		}
		if m = min(m, n-m); n < 0 || m > 300 || !s.Steps.Spend(int(m)) {
			break
		}
		acc := estimate{1, 0}
		for j := int64(1); j <= m; j++ {
			acc = s.over(s.times(acc, estimate{float64(n - m + j), 0}), estimate{float64(j), 0})
		}
		return acc
	}
	panic(failing.With(errVague))
}
