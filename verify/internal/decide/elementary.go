// Elementary functions of real numbers in binary floating point.

package decide

import (
	"math"
	"math/big"
	"sync"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// real holds elementary functions of real numbers in binary floating point with prec bits; results are good to all
// but the last 32 bits.
type real struct {
	prec  uint
	steps *formula.Budget
}

func (x *real) float() *big.Float { return new(big.Float).SetPrec(x.prec) }

// sum, product and quotient turn what big.Float would panic at (∞-∞, 0·∞, 0/0) into infinity, which callers refuse.
func (x *real) sum(a, b *big.Float) *big.Float {
	if a.IsInf() || b.IsInf() {
		return x.float().SetInf(false)
	}
	// What is too small to be seen is left out: big.Float would write out all the bits between.
	if a.Sign() != 0 && b.Sign() != 0 {
		switch gap := a.MantExp(nil) - b.MantExp(nil); {
		case gap > int(x.prec)+64:
			return x.float().Set(a)
		case gap < -int(x.prec)-64:
			return x.float().Set(b)
		}
	}
	return x.float().Add(a, b)
}

func (x *real) difference(a, b *big.Float) *big.Float { return x.sum(a, x.float().Neg(b)) }

func (x *real) product(a, b *big.Float) *big.Float {
	if a.IsInf() || b.IsInf() {
		return x.float().SetInf(false)
	}
	return x.float().Mul(a, b)
}

func (x *real) quotient(a, b *big.Float) *big.Float {
	if a.IsInf() || b.IsInf() || b.Sign() == 0 {
		return x.float().SetInf(false)
	}
	return x.float().Quo(a, b)
}

// widest is the largest precision in use; the constants are kept to more than that.
const widest = 8192

// Constants to widest+64 bits as integers scaled by 2^(widest+64); computed at first use, never changed.
var (
	piScaled = sync.OnceValue(func() *big.Int { // Machin
		a, b := arctanInverse(5), arctanInverse(239)
		a.Lsh(a, 2).Sub(a, b)
		return a.Lsh(a, 2)
	})
	ln2Scaled = sync.OnceValue(func() *big.Int { // ln 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749)
		a, b, c := artanhInverse(26), artanhInverse(4801), artanhInverse(8749)
		a.Mul(a, big.NewInt(18))
		a.Sub(a, b.Lsh(b, 1))
		return a.Add(a, c.Lsh(c, 3))
	})
)

func arctanInverse(n int64) *big.Int { return inverseSeries(n, true) }

func artanhInverse(n int64) *big.Int { return inverseSeries(n, false) }

// inverseSeries sums 1/n ∓ 1/(3n^3) + 1/(5n^5) ∓ ... with alternating or equal signs.
func inverseSeries(n int64, alternate bool) *big.Int {
	term := new(big.Int).Lsh(big.NewInt(1), widest+64)
	term.Quo(term, big.NewInt(n))
	total, square := new(big.Int).Set(term), big.NewInt(n*n)
	for k := int64(3); term.Sign() > 0; k += 2 {
		term.Quo(term, square)
		t := new(big.Int).Quo(term, big.NewInt(k))
		if alternate && k%4 == 3 {
			total.Sub(total, t)
		} else {
			total.Add(total, t)
		}
	}
	return total
}

func (x *real) scaled(v *big.Int) *big.Float {
	f := x.float().SetInt(v)
	return f.SetMantExp(f, -(widest + 64))
}

func (x *real) pi() *big.Float { return x.scaled(piScaled()) }

func (x *real) ln2() *big.Float { return x.scaled(ln2Scaled()) }

// wide returns the same functions with more bits.
func (x *real) wide(extra uint) *real { return &real{prec: x.prec + extra, steps: x.steps} }

// charge pays for a series of n terms.
func (x *real) charge(n int) bool {
	words := int(x.prec/64) + 1
	return x.steps.Spend(n * (16 + words*words))
}

// exp returns e^v.
func (x *real) exp(v *big.Float) (*big.Float, error) {
	if v.Sign() == 0 {
		return x.float().SetInt64(1), nil
	}
	if v.MantExp(nil) > 30 {
		if v.Sign() < 0 {
			return nil, errBudget
		}
		return nil, errBudget
	}
	if !x.charge(64) {
		return nil, errBudget
	}
	w := x.wide(64)
	r := w.float().Set(v)
	k := 0
	if r.MantExp(nil) > -1 {
		q, _ := w.quotient(r, w.ln2()).Float64()
		k = int(math.Round(q))
		r = w.difference(r, w.product(w.ln2(), w.float().SetInt64(int64(k))))
	}
	const halvings = 12
	r.SetMantExp(r, -halvings)
	acc, term := w.float().SetInt64(1), w.float().SetInt64(1)
	for n := int64(1); ; n++ {
		term.Mul(term, r)
		term.Quo(term, w.float().SetInt64(n))
		if term.Sign() == 0 || term.MantExp(nil) < -int(w.prec) {
			break
		}
		acc = w.sum(acc, term)
	}
	for range halvings {
		acc.Mul(acc, acc)
	}
	return x.float().SetMantExp(acc, k), nil
}

// log returns ln v for v > 0, by Halley's iteration on exp from a float64.
func (x *real) log(v *big.Float) (*big.Float, error) {
	if v.Sign() <= 0 {
		return nil, errUndefined
	}
	w := x.wide(64)
	m := w.float()
	e := v.MantExp(m) // m in [1/2, 1)
	f, _ := m.Float64()
	y := w.float().SetFloat64(math.Log(f))
	for bits := 40; bits < int(w.prec); bits *= 3 {
		t, err := w.exp(y)
		if err != nil {
			return nil, err
		}
		step := w.quotient(w.difference(m, t), w.sum(m, t))
		y = w.sum(y, step.Add(step, step))
	}
	y = w.sum(y, w.product(w.ln2(), w.float().SetInt64(int64(e))))
	return x.float().Set(y), nil
}

// sincos returns sin v and cos v.
func (x *real) sincos(v *big.Float) (sin, cos *big.Float, err error) {
	size := v.MantExp(nil)
	if size > int(x.prec) || size > 1024 {
		return nil, nil, errBudget
	}
	if !x.charge(96) {
		return nil, nil, errBudget
	}
	w := x.wide(64 + uint(max(size, 0)))
	if w.prec > widest {
		return nil, nil, errBudget
	}
	// v = q*pi/2 + r with |r| <= pi/4
	half := w.pi()
	half.SetMantExp(half, -1)
	ratio := w.quotient(v, half)
	ratio = w.sum(ratio, w.float().SetFloat64(math.Copysign(0.5, float64(ratio.Sign()))))
	q, _ := ratio.Int(nil)
	r := w.difference(v, w.product(half, w.float().SetInt(q)))
	square := w.product(r, r)
	series := func(first *big.Float, n int64) *big.Float {
		acc, term := w.float().Set(first), w.float().Set(first)
		for ; ; n += 2 {
			term.Mul(term, square)
			term.Quo(term, w.float().SetInt64(-n*(n+1)))
			if term.Sign() == 0 || term.MantExp(nil) < acc.MantExp(nil)-int(w.prec) {
				return acc
			}
			acc = w.sum(acc, term)
		}
	}
	s, c := series(r, 2), series(w.float().SetInt64(1), 1)
	switch new(big.Int).And(q, big.NewInt(3)).Int64() {
	case 1:
		s, c = c, s.Neg(s)
	case 2:
		s.Neg(s)
		c.Neg(c)
	case 3:
		s, c = c.Neg(c), s
	}
	return x.float().Set(s), x.float().Set(c), nil
}

// atan2 returns the angle of (a, b) = (sin, cos) direction, in (-pi, pi].
func (x *real) atan2(a, b *big.Float) (*big.Float, error) {
	if a.Sign() == 0 && b.Sign() >= 0 {
		return x.float(), nil
	}
	w := x.wide(64)
	scale := max(exponent(a), exponent(b))
	A, B := w.float().SetMantExp(a, -scale), w.float().SetMantExp(b, -scale)
	fa, _ := A.Float64()
	fb, _ := B.Float64()
	y := w.float().SetFloat64(math.Atan2(fa, fb))
	if a.Sign() == 0 {
		return x.pi(), nil
	}
	for bits := 40; bits < int(w.prec); bits *= 3 {
		s, c, err := w.sincos(y)
		if err != nil {
			return nil, err
		}
		// d = tan(angle - y); y += d - d^3/3
		d := w.quotient(w.difference(w.product(A, c), w.product(B, s)), w.sum(w.product(B, c), w.product(A, s)))
		cube := w.product(w.product(d, d), d)
		d = w.difference(d, cube.Quo(cube, w.float().SetInt64(3)))
		y = w.sum(y, d)
	}
	return x.float().Set(y), nil
}

func exponent(v *big.Float) int {
	if v.Sign() == 0 {
		return -1 << 30
	}
	return v.MantExp(nil)
}

// realRoot returns the k-th root of v >= 0.
func (x *real) realRoot(v *big.Float, k int64) (*big.Float, error) {
	if v.Sign() == 0 {
		return x.float(), nil
	}
	if !x.charge(8) {
		return nil, errBudget
	}
	if k == 2 {
		return x.float().Sqrt(v), nil
	}
	if k == 1 {
		return v, nil
	}
	// Newton's iteration on y^k = m from a float64, where v = m 2^(k e).
	w := x.wide(64)
	e := v.MantExp(nil) / int(k)
	m := w.float().SetMantExp(v, -e*int(k))
	f, _ := m.Float64()
	y := w.float().SetFloat64(math.Pow(f, 1/float64(k)))
	kk := w.float().SetInt64(k)
	for bits := 40; bits < 2*int(w.prec); bits *= 2 {
		if !x.charge(4 * (1 + int(k)/8)) {
			return nil, errBudget
		}
		p := w.power(y, k-1)
		step := w.quotient(w.difference(w.product(p, y), m), w.product(kk, p))
		y = w.difference(y, step)
	}
	return x.float().SetMantExp(y, e), nil
}

// power returns v^k for k >= 0.
func (x *real) power(v *big.Float, k int64) *big.Float {
	acc, base := x.float().SetInt64(1), x.float().Set(v)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			acc = x.product(acc, base)
		}
		base = x.product(base, base)
	}
	return acc
}
