// Upper bounds on errors.

package evaluate

import (
	"math"
	"math/big"
)

// radius is an upper bound on an error: m 2^e with m in [1,2), or zero. Its operations round up.
type radius struct {
	m float64
	e int
}

// unbounded is the radius of a value of which nothing is known.
var unbounded = radius{m: 1, e: math.MaxInt32}

func (r radius) zero() bool { return r.m == 0 }

// up brings m 2^e into normal form, rounded up.
func up(m float64, e int) radius {
	if m == 0 {
		return radius{}
	}
	f, k := math.Frexp(m)
	return radius{m: 2 * f * (1 + 0x1p-50), e: min(e+k-1, math.MaxInt32)}
}

// powerOfTwo returns 2^e.
func powerOfTwo(e int) radius { return radius{m: 1, e: e} }

func (r radius) Plus(s radius) radius {
	if r.m == 0 {
		return s
	}
	if s.m == 0 {
		return r
	}
	if r.e < s.e {
		r, s = s, r
	}
	if r.e-s.e > 60 {
		return up(r.m*(1+0x1p-50), r.e)
	}
	return up(r.m+math.Ldexp(s.m, s.e-r.e), r.e)
}

func (r radius) times(s radius) radius {
	if r.m == 0 || s.m == 0 {
		return radius{}
	}
	return up(r.m*s.m, r.e+s.e)
}

// scaled returns r 2^k.
func (r radius) scaled(k int) radius {
	if r.m != 0 {
		r.e += k
	}
	return r
}

// over returns r/s for a lower bound s.
func (r radius) over(s radius) radius {
	if r.m == 0 {
		return radius{}
	}
	return up(r.m/s.m, r.e-s.e)
}

// root returns a bound on the k-th root.
func (r radius) root(k int) radius {
	if r.m == 0 {
		return radius{}
	}
	q := r.e / k
	if r.e < 0 && r.e%k != 0 {
		q--
	}
	return up(math.Pow(math.Ldexp(r.m, r.e-q*k), 1/float64(k))*(1+0x1p-40), q)
}

func (r radius) less(s radius) bool {
	switch {
	case s.m == 0:
		return false
	case r.m == 0 || r.e < s.e:
		return true
	}
	return r.e == s.e && r.m < s.m
}

// Exponent returns e with r < 2^e; the least integer for zero.
func (r radius) Exponent() int {
	if r.m == 0 {
		return math.MinInt32
	}
	return r.e + 1
}

// size returns an upper bound on |v| that is off by a factor of at most 1+2^-40.
func magnitudeOf(v *big.Float) radius {
	if v == nil || v.Sign() == 0 {
		return radius{}
	}
	if v.IsInf() {
		return unbounded
	}
	e := v.MantExp(nil)
	if e < -1000 || e > 1000 {
		var m big.Float
		v.MantExp(&m)
		f, _ := m.Float64()
		return up(math.Abs(f), e)
	}
	f, _ := v.Float64()
	return up(math.Abs(f), 0)
}
