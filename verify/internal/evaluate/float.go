// Values in doubles with bounds of their errors.

package evaluate

import (
	"errors"
	"math"
	"math/big"

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
func (s *Sketch) rounded(v, off, roundings float64) (estimate, error) {
	if math.IsInf(v, 0) || math.IsNaN(v) || math.IsInf(off, 0) || math.IsNaN(off) {
		return estimate{}, errVague
	}
	return estimate{v, off + math.Abs(v)*ulp*roundings + 0x1p-1060}, nil
}

func (s *Sketch) Value(n *formula.Node) (estimate, error) {
	if !s.Steps.Spend(2) {
		return estimate{}, ErrBudget
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
		for i, name := range s.Names {
			if name == n.Name {
				return estimate{s.At[i].Near, s.At[i].off()}, nil
			}
		}
		return estimate{}, ErrSymbolic
	case formula.KindConstant:
		switch n.Name {
		case "pi":
			return estimate{math.Pi, math.Pi * ulp}, nil
		case "e":
			return estimate{math.E, math.E * ulp}, nil
		}
		return estimate{}, ErrIrrational
	case formula.KindPercent:
		v, err := s.Value(n.Args[0])
		if err != nil {
			return v, err
		}
		return s.rounded(v.V/100, v.Off/100, 1)
	case formula.KindQuantity:
		if n.Name == "degree" {
			v, err := s.Value(n.Args[0])
			if err != nil {
				return v, err
			}
			return s.rounded(v.V*math.Pi/180, v.Off, 3)
		}
	case formula.KindNegate:
		v, err := s.Value(n.Args[0])
		v.V = -v.V
		return v, err
	case formula.KindAdd:
		acc, err := s.Value(n.Args[0])
		if err != nil {
			return acc, err
		}
		for _, a := range n.Args[1:] {
			v, err := s.Value(a)
			if err != nil {
				return v, err
			}
			sum := acc.V + v.V
			// A sum that is exact, as those of small integers are, stays exact.
			if back := sum - acc.V; acc.Off == 0 && v.Off == 0 && back == v.V && sum-back == acc.V {
				acc.V = sum
				continue
			}
			if acc, err = s.rounded(sum, acc.Off+v.Off, 1); err != nil {
				return acc, err
			}
		}
		return acc, nil
	case formula.KindMultiply:
		acc, err := s.Value(n.Args[0])
		if err != nil {
			return acc, err
		}
		for _, a := range n.Args[1:] {
			v, err := s.Value(a)
			if err != nil {
				return v, err
			}
			if acc, err = s.times(acc, v); err != nil {
				return acc, err
			}
		}
		return acc, nil
	case formula.KindDivide:
		a, err := s.Value(n.Args[0])
		if err != nil {
			return a, err
		}
		b, err := s.Value(n.Args[1])
		if err != nil {
			return b, err
		}
		return s.over(a, b)
	case formula.KindPower:
		return s.power(n)
	case formula.KindCall:
		return s.call(n)
	}
	return estimate{}, ErrIrrational
}

func (s *Sketch) times(a, b estimate) (estimate, error) {
	p := a.V * b.V
	if a.Off == 0 && b.Off == 0 && math.Abs(p) < 1<<53 && p == math.Trunc(p) && a.V == math.Trunc(a.V) && b.V == math.Trunc(b.V) {
		return estimate{p, 0}, nil
	}
	return s.rounded(p, math.Abs(a.V)*b.Off+math.Abs(b.V)*a.Off+a.Off*b.Off, 1)
}

func (s *Sketch) over(a, b estimate) (estimate, error) {
	if math.Abs(b.V) <= 2*b.Off {
		if b.V == 0 && b.Off == 0 {
			return estimate{}, ErrUndefined
		}
		return estimate{}, errVague
	}
	q := a.V / b.V
	return s.rounded(q, (a.Off+math.Abs(q)*b.Off)/(math.Abs(b.V)-b.Off), 1)
}

// power evaluates a^b.
func (s *Sketch) power(n *formula.Node) (estimate, error) {
	a, err := s.Value(n.Args[0])
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
	if v, err := (Exact{Steps: s.Steps}).Value(n.Args[1]); err == nil {
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
	b, err := s.Value(n.Args[1])
	if err != nil {
		return b, err
	}
	if b.Off == 0 && b.V == math.Trunc(b.V) && math.Abs(b.V) < 1<<24 {
		return s.integerPower(a, int64(b.V))
	}
	switch {
	case a.V > 2*a.Off:
	case a.V < -a.Off && b.Off == 0:
		return estimate{}, ErrUndefined
	default:
		return estimate{}, errVague
	}
	l := math.Log(a.V)
	return s.exp(estimate{l * b.V, math.Abs(l)*b.Off + math.Abs(b.V)*(2*a.Off/a.V+ulp*4) + math.Abs(l*b.V)*ulp*4})
}

func (s *Sketch) integerPower(a estimate, k int64) (estimate, error) {
	if k <= 0 && a.V == 0 && a.Off == 0 {
		return estimate{}, ErrUndefined
	}
	acc, base := estimate{1, 0}, a
	var err error
	for m := Abs64(k); m > 0; m >>= 1 {
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

func (s *Sketch) exp(v estimate) (estimate, error) {
	if v.Off > 0.5 || v.V > 700 {
		return v, errVague
	}
	f := math.Exp(v.V)
	return s.rounded(f, f*2*v.Off, 8)
}

// root evaluates a real root.
func (s *Sketch) root(a estimate, k int64) (estimate, error) {
	if k < 1 || k > 1000 {
		return a, errVague
	}
	if a.V == 0 && a.Off == 0 || k == 1 {
		return a, nil
	}
	size := math.Abs(a.V)
	if size <= 2*a.Off {
		return a, errVague
	}
	if a.V < 0 && k%2 == 0 {
		return a, ErrUndefined
	}
	r := math.Sqrt(size)
	if k != 2 {
		r = math.Pow(size, 1/float64(k))
	}
	return s.rounded(math.Copysign(r, a.V), 2*r*a.Off/size, 16)
}

func (s *Sketch) call(n *formula.Node) (estimate, error) {
	switch n.Name {
	case "sum", "prod", "det", "conj", "re", "im", "arg", "open", "doublefactorial", "arrangements":
		return estimate{}, errVague
	}
	if !s.Steps.Spend(6) {
		return estimate{}, ErrBudget
	}
	var space [4]estimate
	vs := space[:0]
	for _, a := range n.Args {
		v, err := s.Value(a)
		if err != nil {
			return v, err
		}
		vs = append(vs, v)
	}
	v := vs[0]
	smooth := func(f, slope float64) (estimate, error) { return s.rounded(f, slope*v.Off, 16) }
	ratio := func(a, b float64) (estimate, error) {
		x, err := s.rounded(a, v.Off, 16)
		if err != nil {
			return x, err
		}
		y, err := s.rounded(b, v.Off, 16)
		if err != nil {
			return y, err
		}
		return s.over(x, y)
	}
	switch n.Name {
	case "root":
		if k, ok := RootDegree(n); ok {
			return s.root(v, k)
		}
		return v, errVague
	case "abs":
		return estimate{math.Abs(v.V), v.Off}, nil
	case "sign":
		if math.Abs(v.V) <= v.Off && v.Off > 0 {
			return v, errVague
		}
		switch {
		case v.V > 0:
			return estimate{1, 0}, nil
		case v.V < 0:
			return estimate{-1, 0}, nil
		}
		return estimate{}, nil
	case "max", "min":
		for _, w := range vs[1:] {
			if n.Name == "max" {
				v.V = math.Max(v.V, w.V)
			} else {
				v.V = math.Min(v.V, w.V)
			}
			v.Off = math.Max(v.Off, w.Off)
		}
		return v, nil
	case "floor", "ceil":
		f := math.Floor
		if n.Name == "ceil" {
			f = math.Ceil
		}
		if math.Abs(v.V) > 1<<52 || f(v.V-v.Off) != f(v.V+v.Off) {
			return v, errVague
		}
		return estimate{f(v.V), 0}, nil
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
	if v.Off > 0.25*math.Max(1, math.Abs(v.V)) || v.Off > 1 {
		return v, errVague
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
			return v, ErrUndefined
		}
		if math.Abs(v.V) > 0.99 {
			return v, errVague
		}
		if n.Name == "arcsin" {
			return smooth(math.Asin(v.V), 8)
		}
		return smooth(math.Acos(v.V), 8)
	case "arsinh":
		return smooth(math.Asinh(v.V), 1)
	case "arcosh":
		if v.V < 1-v.Off {
			return v, ErrUndefined
		}
		if v.V < 1.01 {
			return v, errVague
		}
		return smooth(math.Acosh(v.V), 8)
	case "artanh":
		if math.Abs(v.V) > 1+v.Off {
			return v, ErrUndefined
		}
		if math.Abs(v.V) > 0.99 {
			return v, errVague
		}
		return smooth(math.Atanh(v.V), 64)
	}
	return v, errVague
}

func (s *Sketch) log(v estimate) (estimate, error) {
	switch {
	case v.V < -v.Off || v.V == 0 && v.Off == 0:
		return v, ErrUndefined
	case v.V <= 2*v.Off:
		return v, errVague
	}
	l := math.Log(v.V)
	return s.rounded(l, 2*v.Off/v.V+ulp*4, 4)
}

// integers evaluates functions of integers that doubles hold.
func (s *Sketch) integers(name string, vs []estimate) (estimate, error) {
	var k [2]int64
	if len(vs) > 2 {
		return estimate{}, errVague
	}
	for i, v := range vs {
		if math.Abs(v.V-math.Round(v.V)) > v.Off {
			return estimate{}, ErrConvention
		}
		if v.Off != 0 || math.Abs(v.V) > 1<<53 {
			return estimate{}, errVague
		}
		k[i] = int64(v.V)
	}
	switch {
	case name == "mod" && k[1] != 0:
		m := Abs64(k[1])
		return estimate{float64((k[0]%m + m) % m), 0}, nil
	case name == "gcd" && len(vs) == 2:
		return estimate{float64(Gcd(k[0], k[1])), 0}, nil
	case name == "lcm" && len(vs) == 2:
		if g := Gcd(k[0], k[1]); g != 0 {
			if f := math.Abs(vs[0].V) / float64(g) * math.Abs(vs[1].V); f < 1<<53 {
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
		if m = min(m, n-m); n < 0 || m > 300 || !s.Steps.Spend(int(m)) {
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
