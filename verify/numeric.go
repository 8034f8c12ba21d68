package verify

import (
	"errors"
	"math"
	"math/big"
)

// complexValue is re + i*im; a nil im is exactly zero.
type complexValue struct{ re, im *big.Float }

func (v complexValue) real() bool { return v.im == nil || v.im.Sign() == 0 }

// magnitude returns a binary exponent e with |v| < 2^e, at most one too large; zero gives the least integer.
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

// numeric evaluates expressions in binary floating point of one precision. Over the reals (complex false) a root or
// logarithm of a negative number is undefined and odd roots are real; over the complex numbers all functions take
// their principal value.
type numeric struct {
	real
	complex bool
	at      map[string]*big.Float // values of the variables
}

func (x *numeric) value(n *node) (complexValue, error) {
	if !x.steps.spend(costNode + costFloat + int(x.prec)/16) {
		return complexValue{}, errBudget
	}
	switch n.kind {
	case kindNumber, kindBased:
		return complexValue{re: x.float().SetRat(n.rat)}, nil
	case kindSymbol:
		if v, ok := x.at[n.name]; ok {
			return complexValue{re: v}, nil
		}
		return complexValue{}, errSymbolic
	case kindConstant:
		switch n.name {
		case "pi":
			return complexValue{re: x.pi()}, nil
		case "e":
			e, err := x.exp(x.float().SetInt64(1))
			return complexValue{re: e}, err
		case "i":
			return complexValue{re: x.float(), im: x.float().SetInt64(1)}, nil
		}
		return complexValue{}, errUndefined
	case kindPercent:
		v, err := x.value(n.args[0])
		if err != nil {
			return v, err
		}
		return x.divide(v, complexValue{re: x.float().SetInt64(100)})
	case kindQuantity:
		if n.name == "degree" {
			v, err := x.value(n.args[0])
			if err != nil {
				return v, err
			}
			return x.divide(x.multiply(v, complexValue{re: x.pi()}), complexValue{re: x.float().SetInt64(180)})
		}
	case kindNegate:
		v, err := x.value(n.args[0])
		if err != nil {
			return v, err
		}
		return x.negate(v), nil
	case kindAdd, kindMultiply:
		acc, err := x.value(n.args[0])
		if err != nil {
			return acc, err
		}
		for _, a := range n.args[1:] {
			v, err := x.value(a)
			if err != nil {
				return v, err
			}
			if n.kind == kindAdd {
				acc = x.add(acc, v)
			} else {
				acc = x.multiply(acc, v)
			}
		}
		return x.finite(acc)
	case kindDivide:
		a, err := x.value(n.args[0])
		if err != nil {
			return a, err
		}
		b, err := x.value(n.args[1])
		if err != nil {
			return b, err
		}
		return x.divide(a, b)
	case kindPower:
		return x.powerNode(n)
	case kindCall:
		return x.call(n)
	}
	return complexValue{}, errIrrational
}

// finite refuses values that left the range of exponents.
func (x *numeric) finite(v complexValue) (complexValue, error) {
	if v.re.IsInf() || v.im != nil && v.im.IsInf() {
		return v, errBudget
	}
	return v, nil
}

func (x *numeric) negate(v complexValue) complexValue {
	w := complexValue{re: x.float().Neg(v.re)}
	if v.im != nil {
		w.im = x.float().Neg(v.im)
	}
	return w
}

func (x *numeric) add(a, b complexValue) complexValue {
	w := complexValue{re: x.sum(a.re, b.re)}
	switch {
	case a.im == nil:
		w.im = b.im
	case b.im == nil:
		w.im = a.im
	default:
		w.im = x.sum(a.im, b.im)
	}
	return w
}

func (x *numeric) multiply(a, b complexValue) complexValue {
	if a.im == nil && b.im == nil {
		return complexValue{re: x.product(a.re, b.re)}
	}
	ai, bi := a.im, b.im
	if ai == nil {
		return complexValue{re: x.product(a.re, b.re), im: x.product(a.re, bi)}
	}
	if bi == nil {
		return complexValue{re: x.product(a.re, b.re), im: x.product(ai, b.re)}
	}
	return complexValue{
		re: x.sum(x.product(a.re, b.re), x.float().Neg(x.product(ai, bi))),
		im: x.sum(x.product(a.re, bi), x.product(ai, b.re)),
	}
}

func (x *numeric) divide(a, b complexValue) (complexValue, error) {
	if b.re.Sign() == 0 && b.real() {
		return a, errUndefined
	}
	if b.im == nil {
		w := complexValue{re: x.quotient(a.re, b.re)}
		if a.im != nil {
			w.im = x.quotient(a.im, b.re)
		}
		return x.finite(w)
	}
	norm := x.sum(x.product(b.re, b.re), x.product(b.im, b.im))
	if norm.Sign() == 0 || norm.IsInf() {
		return a, errBudget
	}
	v := x.multiply(a, complexValue{re: b.re, im: x.float().Neg(b.im)})
	w := complexValue{re: x.quotient(v.re, norm)}
	if v.im != nil {
		w.im = x.quotient(v.im, norm)
	}
	return x.finite(w)
}

// powerNode evaluates a^b: repeated multiplication for integers, real roots for fractions, else exp(b log a).
func (x *numeric) powerNode(n *node) (complexValue, error) {
	if n.args[0].kind == kindConstant && n.args[0].name == "e" {
		b, err := x.value(n.args[1])
		if err != nil {
			return b, err
		}
		return x.complexExp(b)
	}
	a, err := x.value(n.args[0])
	if err != nil {
		return a, err
	}
	e, err := x.exactly(n.args[1])
	switch {
	case err == nil && e.IsInt() && e.Num().IsInt64() && abs64(e.Num().Int64()) <= 1<<24:
		return x.integerPower(a, e.Num().Int64())
	case err == nil && !e.IsInt() && e.Num().IsInt64() && e.Denom().IsInt64() && e.Denom().Int64() <= 1000:
		r, err := x.root(a, e.Denom().Int64())
		if err != nil {
			return r, err
		}
		return x.integerPower(r, e.Num().Int64())
	case errors.Is(err, errBudget):
		return a, err
	}
	b, err := x.value(n.args[1])
	if err != nil {
		return b, err
	}
	return x.pow(a, b)
}

// exactly evaluates an exponent, degree or bound without rounding; integer values of variables count as exact.
func (x *numeric) exactly(n *node) (*big.Rat, error) {
	e := exact{steps: x.steps}
	if len(x.at) > 0 {
		e.at = make(map[string]*big.Rat, len(x.at))
		for name, v := range x.at {
			if i, acc := v.Int64(); acc == big.Exact {
				e.at[name] = big.NewRat(i, 1)
			}
		}
	}
	return e.value(n)
}

func (x *numeric) pow(a, b complexValue) (complexValue, error) {
	if a.re.Sign() == 0 && a.real() {
		if b.real() && b.re.Sign() > 0 {
			return complexValue{re: x.float()}, nil
		}
		return a, errUndefined
	}
	if !x.complex && a.real() && a.re.Sign() < 0 {
		if b.real() && b.re.IsInt() {
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
	if a.re.Sign() == 0 && a.real() && k <= 0 {
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
		if acc.re.IsInf() || base.re.IsInf() || acc.im != nil && acc.im.IsInf() || base.im != nil && base.im.IsInf() || !x.steps.spend(8+int(x.prec/64)*int(x.prec/64)/8) {
			return acc, errBudget
		}
	}
	if k < 0 {
		return x.divide(complexValue{re: x.float().SetInt64(1)}, acc)
	}
	return acc, nil
}

// root returns the k-th root: real and odd where that exists over the reals, principal over the complex numbers.
func (x *numeric) root(a complexValue, k int64) (complexValue, error) {
	if k < 1 {
		return a, errUndefined
	}
	if a.real() {
		if a.re.Sign() >= 0 {
			r, err := x.realRoot(a.re, k)
			return complexValue{re: r}, err
		}
		if k%2 == 1 {
			r, err := x.realRoot(x.float().Neg(a.re), k)
			if err != nil {
				return a, err
			}
			return complexValue{re: r.Neg(r)}, nil
		}
		if !x.complex {
			return a, errUndefined
		}
		if k == 2 {
			r, err := x.realRoot(x.float().Neg(a.re), 2)
			return complexValue{re: x.float(), im: r}, err
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
	r, err := x.exp(v.re)
	if err != nil || v.real() {
		return complexValue{re: r}, err
	}
	s, c, err := x.sincos(v.im)
	if err != nil {
		return v, err
	}
	return complexValue{re: x.product(r, c), im: x.product(r, s)}, nil
}

func (x *numeric) complexLog(v complexValue) (complexValue, error) {
	if v.re.Sign() == 0 && v.real() {
		return v, errUndefined
	}
	if v.real() && v.re.Sign() > 0 {
		l, err := x.log(v.re)
		return complexValue{re: l}, err
	}
	if !x.complex && v.real() {
		return v, errUndefined
	}
	im := v.im
	if im == nil {
		im = x.float()
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
	return complexValue{re: l.Quo(l, x.float().SetInt64(2)), im: theta}, nil
}

// call evaluates a function.
func (x *numeric) call(n *node) (complexValue, error) {
	if n.name == "sum" || n.name == "prod" {
		return x.series(n)
	}
	if n.name == "det" {
		return x.determinant(n.args[0])
	}
	vs := make([]complexValue, len(n.args))
	for i, a := range n.args {
		v, err := x.value(a)
		if err != nil {
			return v, err
		}
		vs[i] = v
	}
	if n.name == "root" {
		k, err := x.exactly(n.args[1])
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
	switch n.name {
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
			return complexValue{re: x.float().Abs(vs[0].re)}, nil
		}
		return complexValue{re: x.float().Sqrt(x.sum(x.product(vs[0].re, vs[0].re), x.product(vs[0].im, vs[0].im)))}, nil
	case "conj":
		if vs[0].im == nil {
			return vs[0], nil
		}
		return complexValue{re: vs[0].re, im: x.float().Neg(vs[0].im)}, nil
	case "re":
		return complexValue{re: vs[0].re}, nil
	case "im":
		if vs[0].im == nil {
			return complexValue{re: x.float()}, nil
		}
		return complexValue{re: vs[0].im}, nil
	case "max", "min":
		if !allReal {
			return vs[0], errUndefined
		}
		best := vs[0]
		for _, v := range vs[1:] {
			if c := v.re.Cmp(best.re); c > 0 && n.name == "max" || c < 0 && n.name == "min" {
				best = v
			}
		}
		return best, nil
	case "sign":
		if allReal {
			return complexValue{re: x.float().SetInt64(int64(vs[0].re.Sign()))}, nil
		}
	case "floor", "ceil":
		if allReal {
			return x.rounded(vs[0].re, n.name == "ceil")
		}
	}
	if allReal && !(x.complex && outsideReal(n.name, vs[0].re)) {
		return x.realFunction(n.name, vs)
	}
	return x.complexFunction(n.name, vs)
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

// rounded returns floor or ceiling, unless the value is too close to an integer to tell.
func (x *numeric) rounded(v *big.Float, up bool) (complexValue, error) {
	if v.MantExp(nil) > int(x.prec)/2 {
		return complexValue{}, errPrecision
	}
	n, _ := v.Int(nil)
	near := x.difference(v, x.float().SetInt(n))
	if v.Sign() < 0 && near.Sign() != 0 {
		n.Sub(n, big.NewInt(1))
		near = x.sum(near, x.float().SetInt64(1))
	}
	gap := x.difference(x.float().SetInt64(1), near)
	switch tiny := -int(x.prec) / 2; {
	case near.Sign() == 0 || near.MantExp(nil) < tiny:
		// an integer to half the precision
	case gap.Sign() == 0 || gap.MantExp(nil) < tiny:
		n.Add(n, big.NewInt(1))
	case up:
		n.Add(n, big.NewInt(1))
	}
	return complexValue{re: x.float().SetInt(n)}, nil
}

func (x *numeric) series(n *node) (complexValue, error) {
	if infinity(n.args[2]) != 0 || infinity(n.args[3]) != 0 {
		return complexValue{}, errBudget
	}
	lo, err := x.exactly(n.args[2])
	if err != nil {
		return complexValue{}, err
	}
	hi, err := x.exactly(n.args[3])
	if err != nil {
		return complexValue{}, err
	}
	if !lo.IsInt() || !hi.IsInt() || !lo.Num().IsInt64() || !hi.Num().IsInt64() {
		return complexValue{}, errBudget
	}
	a, b := lo.Num().Int64(), hi.Num().Int64()
	acc := complexValue{re: x.float()}
	if n.name == "prod" {
		acc.re.SetInt64(1)
	}
	if b-a >= maxTerms || b-a < 0 && b > a {
		return acc, errBudget
	}
	inner := *x
	inner.at = make(map[string]*big.Float, len(x.at)+1)
	for name, v := range x.at {
		inner.at[name] = v
	}
	for k := a; k <= b; k++ {
		inner.at[n.args[1].name] = x.float().SetInt64(k)
		v, err := inner.value(n.args[0])
		if err != nil {
			return v, err
		}
		if n.name == "sum" {
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

// determinant expands small matrices by elimination.
func (x *numeric) determinant(m *node) (complexValue, error) {
	if m.kind != kindMatrix || m.cols*m.cols != len(m.args) || m.cols > 12 {
		return complexValue{}, errUndefined
	}
	n := m.cols
	rows := make([][]complexValue, n)
	for i := range rows {
		for j := range n {
			v, err := x.value(m.args[i*n+j])
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
		if rows[pivot][c].re.Sign() == 0 && rows[pivot][c].real() {
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
				rows[r][k] = x.add(rows[r][k], x.negate(x.multiply(f, rows[c][k])))
			}
		}
	}
	return x.finite(det)
}
