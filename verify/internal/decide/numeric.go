// Values as disks that hold the number.

package decide

import (
	"errors"
	"math"
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// complexValue is a disk: every number within err of re + i*im. A nil im is exactly zero, and so is the imaginary part of
// the number that is meant.
type complexValue struct {
	re, im *big.Float
	err    radius
}

func (v complexValue) real() bool { return v.im == nil || v.im.Sign() == 0 }

// zero reports whether the centre of the disk is zero.
func (v complexValue) zero() bool { return v.re.Sign() == 0 && v.real() }

// mayVanish reports whether zero lies in the disk.
func (v complexValue) mayVanish() bool { return !v.err.less(v.size()) }

// size bounds the distance of the centre from zero.
func (v complexValue) size() radius {
	if v.real() {
		return magnitudeOf(v.re)
	}
	a, b := magnitudeOf(v.re), magnitudeOf(v.im)
	return a.times(a).plus(b.times(b)).root(2)
}

// magnitude returns a binary exponent e with |v| < 2^e at the centre, at most two too large; zero gives the least integer.
func (v complexValue) magnitude() int {
	e := math.MinInt32
	if v.re.Sign() != 0 {
		e = v.re.MantExp(nil)
	}
	if !v.real() {
		e = max(e, v.im.MantExp(nil))
	}
	return e
}

// numeric evaluates expressions in binary floating point of one precision, with a bound on the error of each value. Over
// the reals (complex false) a root or logarithm of a negative number is undefined and odd roots are real; over the complex
// numbers all functions take their principal value.
type numeric struct {
	real
	complex bool
	at      map[string]*big.Rat // values of the variables

	spread  int  // largest binary exponent, up or down, of a value met so far
	assumed bool // a value that may be an integer, or a pole, to all digits was taken for one
}

// value evaluates n. An error of errPrecision may go away with more bits.
func (x *numeric) value(n *formula.Node) (complexValue, error) {
	v, err := x.compute(n)
	if err == nil {
		if e := v.magnitude(); e != math.MinInt32 && !v.mayVanish() {
			x.spread = max(x.spread, e, -e)
		}
	}
	return v, err
}

func (x *numeric) compute(n *formula.Node) (complexValue, error) {
	if !x.steps.Spend(costNode + costFloat + int(x.prec)/16) {
		return complexValue{}, errBudget
	}
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		return x.rational(n.Rat), nil
	case formula.KindSymbol:
		if v, ok := x.at[n.Name]; ok {
			return x.rational(v), nil
		}
		return complexValue{}, errSymbolic
	case formula.KindConstant:
		switch n.Name {
		case "pi":
			return x.rounded(complexValue{re: x.pi()}), nil
		case "e":
			e, err := x.exp(x.float().SetInt64(1))
			return x.function(complexValue{re: e}), err
		case "i":
			return complexValue{re: x.float(), im: x.float().SetInt64(1)}, nil
		}
		return complexValue{}, errUndefined
	case formula.KindPercent:
		v, err := x.value(n.Args[0])
		if err != nil {
			return v, err
		}
		return x.divide(v, complexValue{re: x.float().SetInt64(100)})
	case formula.KindQuantity:
		if n.Name == "degree" {
			v, err := x.value(n.Args[0])
			if err != nil {
				return v, err
			}
			return x.divide(x.multiply(v, x.rounded(complexValue{re: x.pi()})), complexValue{re: x.float().SetInt64(180)})
		}
	case formula.KindNegate:
		v, err := x.value(n.Args[0])
		if err != nil {
			return v, err
		}
		return x.negate(v), nil
	case formula.KindAdd, formula.KindMultiply:
		acc, err := x.value(n.Args[0])
		if err != nil {
			return acc, err
		}
		for _, a := range n.Args[1:] {
			v, err := x.value(a)
			if err != nil {
				return v, err
			}
			if n.Kind == formula.KindAdd {
				acc = x.add(acc, v)
			} else {
				acc = x.multiply(acc, v)
			}
		}
		return x.finite(acc)
	case formula.KindDivide:
		a, err := x.value(n.Args[0])
		if err != nil {
			return a, err
		}
		b, err := x.value(n.Args[1])
		if err != nil {
			return b, err
		}
		return x.divide(a, b)
	case formula.KindPower:
		return x.powerNode(n)
	case formula.KindCall:
		return x.call(n)
	}
	return complexValue{}, errIrrational
}

// rational returns r, exactly where it fits.
func (x *numeric) rational(r *big.Rat) complexValue {
	f := x.float().SetRat(r)
	v := complexValue{re: f}
	if r.IsInt() && r.Num().BitLen() <= int(x.prec) || f.Acc() == big.Exact && formula.Size(r) < int(x.prec) {
		return v
	}
	return x.rounded(v)
}

// rounded adds the error of one rounding.
func (x *numeric) rounded(v complexValue) complexValue {
	if e := v.magnitude(); e != math.MinInt32 {
		v.err = v.err.plus(powerOfTwo(e - int(x.prec) + 1))
	}
	return v
}

// function adds the error of an elementary function, which is good to all but the last 32 bits.
func (x *numeric) function(v complexValue) complexValue {
	if v.re == nil {
		return v
	}
	v.err = v.err.plus(powerOfTwo(max(v.magnitude(), math.MinInt32/2) - int(x.prec) + 32))
	return v
}

// absolutely adds the error of an elementary function whose last bits are those of a number of size 1.
func (x *numeric) absolutely(v complexValue) complexValue {
	if v.re == nil {
		return v
	}
	v.err = v.err.plus(powerOfTwo(max(v.magnitude(), 0) - int(x.prec) + 32))
	return v
}

// finite refuses values that left the range of exponents.
func (x *numeric) finite(v complexValue) (complexValue, error) {
	if v.re.IsInf() || v.im != nil && v.im.IsInf() || v.err.e > math.MaxInt32/2 {
		return v, errBudget
	}
	return v, nil
}

func (x *numeric) negate(v complexValue) complexValue {
	w := complexValue{re: x.float().Neg(v.re), err: v.err}
	if v.im != nil {
		w.im = x.float().Neg(v.im)
	}
	return w
}

// inexact bounds the rounding error of f as the result of a single operation.
func (x *numeric) inexact(f *big.Float) radius {
	if f.Sign() == 0 && f.Acc() == big.Exact || f.IsInf() {
		return radius{}
	}
	return powerOfTwo(exponent(f) - int(x.prec) + 1)
}

// plus adds two reals and bounds the error of that.
func (x *numeric) plus(a, b *big.Float) (*big.Float, radius) {
	f := x.sum(a, b)
	if f.Acc() == big.Exact && a.Sign() != 0 && b.Sign() != 0 {
		if gap := a.MantExp(nil) - b.MantExp(nil); gap <= int(x.prec)+64 && gap >= -int(x.prec)-64 {
			return f, radius{}
		}
	} else if a.Sign() == 0 || b.Sign() == 0 {
		return f, radius{}
	}
	return f, x.inexact(f).plus(powerOfTwo(max(exponent(a), exponent(b)) - int(x.prec) - 60))
}

// times multiplies two reals and bounds the error of that.
func (x *numeric) times(a, b *big.Float) (*big.Float, radius) {
	f := x.product(a, b)
	if f.Acc() == big.Exact {
		return f, radius{}
	}
	return f, x.inexact(f)
}

func (x *numeric) add(a, b complexValue) complexValue {
	re, r := x.plus(a.re, b.re)
	w := complexValue{re: re, err: a.err.plus(b.err).plus(r)}
	switch {
	case a.im == nil:
		w.im = b.im
	case b.im == nil:
		w.im = a.im
	default:
		w.im, r = x.plus(a.im, b.im)
		w.err = w.err.plus(r)
	}
	return w
}

func (x *numeric) multiply(a, b complexValue) complexValue {
	var w complexValue
	if !a.err.zero() || !b.err.zero() {
		w.err = a.err.times(b.size()).plus(b.err.times(a.size())).plus(a.err.times(b.err))
	}
	product := func(p, q *big.Float) *big.Float {
		f, r := x.times(p, q)
		w.err = w.err.plus(r)
		return f
	}
	switch {
	case a.im == nil && b.im == nil:
		w.re = product(a.re, b.re)
	case a.im == nil:
		w.re, w.im = product(a.re, b.re), product(a.re, b.im)
	case b.im == nil:
		w.re, w.im = product(a.re, b.re), product(a.im, b.re)
	default:
		var r, s radius
		p, q := product(a.re, b.re), product(a.im, b.im)
		w.re, r = x.plus(p, x.float().Neg(q))
		p, q = product(a.re, b.im), product(a.im, b.re)
		w.im, s = x.plus(p, q)
		w.err = w.err.plus(r).plus(s)
	}
	return w
}

// divide divides. A denominator that is zero is a pole, and so is, as far as this precision goes, one that is zero to
// half of the bits.
func (x *numeric) divide(a, b complexValue) (complexValue, error) {
	size := b.size()
	if b.zero() && b.err.zero() {
		return a, errUndefined
	}
	if !b.err.less(size.scaled(-1)) {
		if b.err.exponent() < min(a.magnitude(), 0)-int(x.prec)/2 && x.prec >= sure && b.mayVanish() {
			x.assumed = true
			return a, errUndefined
		}
		return a, errPrecision
	}
	var w complexValue
	if b.im == nil {
		w.re = x.quotient(a.re, b.re)
		if a.im != nil {
			w.im = x.quotient(a.im, b.re)
		}
	} else {
		norm := x.sum(x.product(b.re, b.re), x.product(b.im, b.im))
		if norm.Sign() == 0 || norm.IsInf() {
			return a, errBudget
		}
		v := x.multiply(complexValue{re: a.re, im: a.im}, complexValue{re: b.re, im: x.float().Neg(b.im)})
		w.re = x.quotient(v.re, norm)
		if v.im != nil {
			w.im = x.quotient(v.im, norm)
		}
	}
	// |a/b - A/B| <= (da + |A/B| db)/|b| with |b| at least half of |B|; four roundings on the way are bounded by eight.
	if !a.err.zero() || !b.err.zero() {
		w.err = a.err.plus(w.size().times(b.err)).over(size.scaled(-1)).scaled(1)
	}
	if b.im != nil || w.im != nil || w.re.Acc() != big.Exact {
		w.err = w.err.plus(w.size().scaled(4 - int(x.prec)))
		if b.im != nil {
			w.err = w.err.plus(a.size().over(size.scaled(-1)).scaled(5 - int(x.prec)))
		}
	}
	return x.finite(w)
}

// powerNode evaluates a^b: repeated multiplication for integers, real roots for fractions, else exp(b log a).
func (x *numeric) powerNode(n *formula.Node) (complexValue, error) {
	if n.Args[0].Kind == formula.KindConstant && n.Args[0].Name == "e" {
		b, err := x.value(n.Args[1])
		if err != nil {
			return b, err
		}
		return x.complexExp(b)
	}
	a, err := x.value(n.Args[0])
	if err != nil {
		return a, err
	}
	e, err := x.exactly(n.Args[1])
	switch {
	case err == nil && e.IsInt() && e.Num().IsInt64() && abs64(e.Num().Int64()) <= 1<<24:
		return x.integerPower(a, e.Num().Int64())
	case err == nil && !e.IsInt() && e.Num().IsInt64() && abs64(e.Num().Int64()) <= 1<<24 && e.Denom().IsInt64() && e.Denom().Int64() <= 1000:
		r, err := x.root(a, e.Denom().Int64())
		if err != nil {
			return r, err
		}
		return x.integerPower(r, e.Num().Int64())
	case errors.Is(err, errBudget):
		return a, err
	}
	b, err := x.value(n.Args[1])
	if err != nil {
		return b, err
	}
	return x.pow(a, b)
}

// exactly evaluates an exponent, degree or bound without rounding.
func (x *numeric) exactly(n *formula.Node) (*big.Rat, error) {
	return Exact{Steps: x.steps, at: x.at}.Value(n)
}

func (x *numeric) pow(a, b complexValue) (complexValue, error) {
	if a.zero() && a.err.zero() {
		if b.real() && b.re.Sign() > 0 && !b.mayVanish() {
			return complexValue{re: x.float()}, nil
		}
		return a, errUndefined
	}
	if a.mayVanish() {
		return a, errPrecision
	}
	if !x.complex && a.real() && a.re.Sign() < 0 {
		if b.real() && b.re.IsInt() && b.err.zero() {
			if k, acc := b.re.Int64(); acc == big.Exact && abs64(k) <= 1<<24 {
				return x.integerPower(a, k)
			}
		}
		return a, errUndefined
	}
	l, err := x.complexLog(a)
	if err != nil {
		return l, err
	}
	return x.complexExp(x.multiply(l, b))
}

func (x *numeric) integerPower(a complexValue, k int64) (complexValue, error) {
	if k <= 0 && a.zero() && a.err.zero() {
		return a, errUndefined
	}
	acc := complexValue{re: x.float().SetInt64(1)}
	base := a
	for m := abs64(k); m > 0; m >>= 1 {
		if m&1 == 1 {
			acc = x.multiply(acc, base)
		}
		if m > 1 {
			base = x.multiply(base, base)
		}
		if acc.re.IsInf() || base.re.IsInf() || acc.im != nil && acc.im.IsInf() || base.im != nil && base.im.IsInf() || !x.steps.Spend(8+int(x.prec/64)*int(x.prec/64)/8) {
			return acc, errBudget
		}
	}
	if k < 0 {
		return x.divide(complexValue{re: x.float().SetInt64(1)}, acc)
	}
	return x.finite(acc)
}

// root returns the k-th root: real and odd where that exists over the reals, principal over the complex numbers.
func (x *numeric) root(a complexValue, k int64) (complexValue, error) {
	if k < 1 {
		return a, errUndefined
	}
	if k == 1 {
		return a, nil
	}
	if a.real() {
		if a.zero() && a.err.zero() {
			return a, nil
		}
		positive := x.float().Abs(a.re)
		if a.mayVanish() { // the root of what may be zero
			if !(k%2 == 1 || a.re.Sign() >= 0 || x.complex || a.err.exponent() < -int(x.prec)/2) {
				return a, errPrecision
			}
			return complexValue{re: x.float(), im: a.im, err: a.size().plus(a.err).root(int(k))}, nil
		}
		r, err := x.realRoot(positive, k)
		if err != nil {
			return a, err
		}
		// The slope of the root is at most root/(k (|a|-err)) on the way; an eighth more for the curvature and rounding.
		v := x.function(complexValue{re: r})
		if !a.err.zero() {
			if a.err.less(a.size().scaled(-1)) {
				v.err = v.err.plus(a.err.times(v.size()).over(a.size().scaled(-1)))
			} else {
				v.err = v.err.plus(a.size().plus(a.err).root(int(k)))
			}
		} else if k == 2 && new(big.Float).SetPrec(2*x.prec).Mul(r, r).Cmp(positive) == 0 {
			v.err = radius{}
		}
		switch {
		case a.re.Sign() > 0:
			return v, nil
		case k%2 == 1:
			v.re.Neg(v.re)
			return v, nil
		case !x.complex:
			return a, errUndefined
		case k == 2:
			return complexValue{re: x.float(), im: v.re, err: v.err}, nil
		}
	}
	l, err := x.complexLog(a)
	if err != nil {
		return a, err
	}
	l, err = x.divide(l, complexValue{re: x.float().SetInt64(k)})
	if err != nil {
		return a, err
	}
	return x.complexExp(l)
}

func (x *numeric) complexExp(v complexValue) (complexValue, error) {
	if v.err.exponent() > -1 {
		return v, errPrecision
	}
	r, err := x.exp(v.re)
	if err != nil {
		return v, err
	}
	e := exponent(r)
	x.spread = max(x.spread, e, -e)
	w := x.function(complexValue{re: r})
	if !v.real() {
		s, c, err := x.sincos(v.im)
		if err != nil {
			return v, err
		}
		w = complexValue{re: x.product(r, c), im: x.product(r, s), err: magnitudeOf(r).scaled(34 - int(x.prec))}
	}
	// |e^d - 1| <= 2|d| for |d| <= 1/2
	if !v.err.zero() {
		w.err = w.err.plus(w.size().times(v.err).scaled(1))
	}
	return w, nil
}

func (x *numeric) complexLog(v complexValue) (complexValue, error) {
	if v.zero() && v.err.zero() {
		return v, errUndefined
	}
	if !v.err.less(v.size().scaled(-1)) {
		return v, errPrecision
	}
	slack := v.err.over(v.size().scaled(-1)).scaled(1)
	if v.real() && v.re.Sign() > 0 {
		l, err := x.log(v.re)
		w := x.absolutely(complexValue{re: l})
		w.err = w.err.plus(slack)
		return w, err
	}
	if !x.complex && v.real() {
		return v, errUndefined
	}
	im := v.im
	if im == nil {
		im = x.float()
	} else if v.re.Sign() < 0 && !v.err.zero() && !v.err.less(magnitudeOf(im)) {
		return v, errPrecision // the cut along the negative axis
	}
	norm := x.sum(x.product(v.re, v.re), x.product(im, im))
	l, err := x.log(norm)
	if err != nil {
		return v, err
	}
	theta, err := x.atan2(im, v.re)
	if err != nil {
		return v, err
	}
	w := x.absolutely(complexValue{re: l.Quo(l, x.float().SetInt64(2)), im: theta})
	w.err = w.err.plus(slack)
	return w, nil
}

// call evaluates a function.
func (x *numeric) call(n *formula.Node) (complexValue, error) {
	if n.Name == "sum" || n.Name == "prod" {
		return x.series(n)
	}
	if n.Name == "det" {
		return x.determinant(n.Args[0])
	}
	vs := make([]complexValue, len(n.Args))
	for i, a := range n.Args {
		v, err := x.value(a)
		if err != nil {
			return v, err
		}
		vs[i] = v
	}
	if n.Name == "root" {
		k, err := x.exactly(n.Args[1])
		if err == nil && k.IsInt() && k.Num().IsInt64() && k.Num().Int64() <= 1000 {
			return x.root(vs[0], k.Num().Int64())
		}
		one := complexValue{re: x.float().SetInt64(1)}
		inverse, err := x.divide(one, vs[1])
		if err != nil {
			return inverse, err
		}
		return x.pow(vs[0], inverse)
	}
	allReal := true
	for _, v := range vs {
		allReal = allReal && v.real()
	}
	switch n.Name {
	case "ln":
		return x.complexLog(vs[0])
	case "log":
		l, err := x.complexLog(vs[0])
		if err != nil || len(vs) == 1 {
			return l, err
		}
		b, err := x.complexLog(vs[1])
		if err != nil {
			return b, err
		}
		return x.divide(l, b)
	case "abs":
		if allReal {
			return complexValue{re: x.float().Abs(vs[0].re), err: vs[0].err}, nil
		}
		norm := x.sum(x.product(vs[0].re, vs[0].re), x.product(vs[0].im, vs[0].im))
		return x.function(complexValue{re: x.float().Sqrt(norm), err: vs[0].err}), nil
	case "conj":
		if vs[0].im == nil {
			return vs[0], nil
		}
		return complexValue{re: vs[0].re, im: x.float().Neg(vs[0].im), err: vs[0].err}, nil
	case "re":
		return complexValue{re: vs[0].re, err: vs[0].err}, nil
	case "im":
		if vs[0].im == nil {
			return complexValue{re: x.float()}, nil
		}
		return complexValue{re: vs[0].im, err: vs[0].err}, nil
	case "max", "min":
		if !allReal {
			return vs[0], errUndefined
		}
		best, err := vs[0], vs[0].err
		for _, v := range vs[1:] {
			if c := v.re.Cmp(best.re); c > 0 && n.Name == "max" || c < 0 && n.Name == "min" {
				best = v
			}
			if err.less(v.err) {
				err = v.err
			}
		}
		best.err = err
		return best, nil
	case "sign":
		if allReal {
			if vs[0].mayVanish() && !vs[0].err.zero() {
				if !x.negligible(vs[0].err) {
					return vs[0], errPrecision
				}
				return complexValue{re: x.float()}, nil
			}
			return complexValue{re: x.float().SetInt64(int64(vs[0].re.Sign()))}, nil
		}
	case "floor", "ceil":
		if allReal {
			return x.whole(vs[0], n.Name == "ceil")
		}
	}
	if allReal && !(x.complex && outsideReal(n.Name, vs[0].re)) {
		return x.realFunction(n.Name, vs)
	}
	return x.complexFunction(n.Name, vs)
}

// outsideReal reports whether a real argument has a complex value only.
func outsideReal(name string, v *big.Float) bool {
	one := big.NewFloat(1)
	a := new(big.Float).Abs(v)
	switch name {
	case "arcsin", "arccos", "artanh":
		return a.Cmp(one) > 0
	case "arcsec", "arccsc":
		return a.Cmp(one) < 0
	case "arcosh":
		return v.Cmp(one) < 0
	}
	return false
}

// sure is the precision from which on a value that is an integer, or zero, to half of the bits is assumed to be one.
const sure = 256

// negligible reports whether an error is so small that a value within it may be assumed, and notes that.
func (x *numeric) negligible(err radius) bool {
	if x.prec < sure || err.exponent() > -int(x.prec)/2 {
		return false
	}
	x.assumed = true
	return true
}

// whole returns floor or ceiling. A value that may be an integer is assumed to be one if nothing can tell it apart.
func (x *numeric) whole(v complexValue, up bool) (complexValue, error) {
	if v.re.MantExp(nil) > int(x.prec)/2 {
		return complexValue{}, errPrecision
	}
	n, _ := v.re.Int(nil)
	if v.re.Sign() < 0 && !v.re.IsInt() {
		n.Sub(n, big.NewInt(1)) // floor of the centre
	}
	low := x.difference(v.re, x.float().SetInt(n))
	high := x.difference(x.float().SetInt64(1), low)
	switch {
	case v.err.zero():
		if up && low.Sign() != 0 {
			n.Add(n, big.NewInt(1))
		}
	case !v.err.less(magnitudeOf(low)): // may be n
		if !x.negligible(v.err) {
			return complexValue{}, errPrecision
		}
	case !v.err.less(magnitudeOf(high)): // may be n+1
		if !x.negligible(v.err) {
			return complexValue{}, errPrecision
		}
		n.Add(n, big.NewInt(1))
	case up:
		n.Add(n, big.NewInt(1))
	}
	return complexValue{re: x.float().SetInt(n)}, nil
}

func (x *numeric) series(n *formula.Node) (complexValue, error) {
	if infinity(n.Args[2]) != 0 || infinity(n.Args[3]) != 0 {
		return complexValue{}, errBudget
	}
	lo, err := x.exactly(n.Args[2])
	if err != nil {
		return complexValue{}, err
	}
	hi, err := x.exactly(n.Args[3])
	if err != nil {
		return complexValue{}, err
	}
	if !lo.IsInt() || !hi.IsInt() || !lo.Num().IsInt64() || !hi.Num().IsInt64() {
		return complexValue{}, errBudget
	}
	a, b := lo.Num().Int64(), hi.Num().Int64()
	acc := complexValue{re: x.float()}
	if n.Name == "prod" {
		acc.re.SetInt64(1)
	}
	if b-a >= maxTerms || b-a < 0 && b > a {
		return acc, errBudget
	}
	if b < a-1 && len(x.at) > 0 {
		return acc, errConvention
	}
	inner := *x
	inner.at = make(map[string]*big.Rat, len(x.at)+1)
	for name, v := range x.at {
		inner.at[name] = v
	}
	defer func() { x.spread, x.assumed = max(x.spread, inner.spread), x.assumed || inner.assumed }()
	for k := a; k <= b; k++ {
		inner.at[n.Args[1].Name] = big.NewRat(k, 1)
		v, err := inner.value(n.Args[0])
		if err != nil {
			return v, err
		}
		if n.Name == "sum" {
			acc = x.add(acc, v)
		} else {
			acc = x.multiply(acc, v)
		}
		if acc, err = x.finite(acc); err != nil {
			return acc, err
		}
	}
	return acc, nil
}

// determinant expands matrices by elimination.
func (x *numeric) determinant(m *formula.Node) (complexValue, error) {
	if m.Kind != formula.KindMatrix || m.Cols*m.Cols != len(m.Args) {
		return complexValue{}, errUndefined
	}
	n := m.Cols
	if n > maxElimination {
		return complexValue{}, errBudget
	}
	rows := make([][]complexValue, n)
	for i := range rows {
		for j := range n {
			v, err := x.value(m.Args[i*n+j])
			if err != nil {
				return v, err
			}
			rows[i] = append(rows[i], v)
		}
	}
	det := complexValue{re: x.float().SetInt64(1)}
	for c := range n {
		pivot := c
		for r := c; r < n; r++ {
			if rows[r][c].magnitude() > rows[pivot][c].magnitude() {
				pivot = r
			}
		}
		if p := rows[pivot][c]; p.mayVanish() {
			for r := c; r < n; r++ {
				if !rows[r][c].zero() || !rows[r][c].err.zero() {
					return complexValue{}, errPrecision
				}
			}
			return complexValue{re: x.float()}, nil
		}
		if pivot != c {
			rows[pivot], rows[c] = rows[c], rows[pivot]
			det = x.negate(det)
		}
		det = x.multiply(det, rows[c][c])
		for r := c + 1; r < n; r++ {
			f, err := x.divide(rows[r][c], rows[c][c])
			if err != nil {
				return f, err
			}
			for k := c; k < n; k++ {
				if !x.steps.Spend(costFloat + int(x.prec)/16) {
					return f, errBudget
				}
				rows[r][k] = x.add(rows[r][k], x.negate(x.multiply(f, rows[c][k])))
			}
		}
	}
	return x.finite(det)
}
