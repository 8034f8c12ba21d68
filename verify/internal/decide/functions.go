// Functions of real and complex numbers with bounds of their errors.

package decide

import (
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// realFunction evaluates the trigonometric and hyperbolic functions and factorials of real arguments.
func (x *numeric) realFunction(name string, vs []complexValue) (complexValue, error) {
	v := vs[0]
	one := complexValue{re: x.float().SetInt64(1)}
	half := func(w complexValue, err error) (complexValue, error) {
		if err != nil {
			return w, err
		}
		return complexValue{re: w.re.SetMantExp(w.re, -1), err: w.err.scaled(-1)}, nil
	}
	// angle returns the angle of the direction (b, a), a unit vector or longer.
	angle := func(a, b complexValue) (complexValue, error) {
		f, err := x.atan2(a.re, b.re)
		if err != nil {
			return complexValue{}, err
		}
		w := x.function(complexValue{re: f})
		w.err = w.err.plus(a.err.plus(b.err).scaled(1))
		return x.finite(w)
	}
	switch name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		f, g, err := x.sincos(v.re)
		if err != nil {
			return complexValue{}, err
		}
		s, c := x.absolutely(complexValue{re: f}), x.absolutely(complexValue{re: g})
		if exponent(v.re) < 0 {
			s = x.function(complexValue{re: f})
		}
		s.err, c.err = s.err.plus(v.err), c.err.plus(v.err)
		return x.ofSine(name, s, c)
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		p, err := x.complexExp(v)
		if err != nil {
			return complexValue{}, err
		}
		m, err := x.divide(one, p)
		if err != nil {
			return complexValue{}, err
		}
		s, c := x.add(p, x.negate(m)), x.add(p, m)
		switch name {
		case "sinh":
			return half(s, nil)
		case "cosh":
			return half(c, nil)
		case "tanh":
			return x.divide(s, c)
		case "coth":
			return x.divide(c, s)
		case "sech":
			one.re.SetInt64(2)
			return x.divide(one, c)
		}
		one.re.SetInt64(2)
		return x.divide(one, s)
	case "arctan":
		return angle(v, one)
	case "arccot": // in (0, pi)
		return angle(one, v)
	case "arcsec", "arccsc":
		w, err := x.divide(one, v)
		if err != nil {
			return w, err
		}
		v = w
		name = map[string]string{"arcsec": "arccos", "arccsc": "arcsin"}[name]
		fallthrough
	case "arcsin", "arccos":
		other, err := x.root(x.add(one, x.negate(x.multiply(v, v))), 2)
		switch {
		case err != nil:
			return other, err
		case !other.real():
			return other, errUndefined
		case name == "arcsin":
			return angle(v, other)
		}
		return angle(other, v)
	case "arsinh", "arcosh":
		if name == "arcosh" {
			one.re.SetInt64(-1)
			if low := x.add(v, one); low.mayVanish() && !low.err.zero() {
				return low, errPrecision
			} else if low.re.Sign() < 0 {
				return low, errUndefined
			}
		}
		r, err := x.root(x.add(x.multiply(v, v), one), 2)
		if err != nil {
			return r, err
		}
		return x.complexLog(x.add(v, r))
	case "artanh":
		low, high := x.add(one, x.negate(v)), x.add(one, v)
		if low.re.Sign() <= 0 && !low.mayVanish() || high.re.Sign() <= 0 && !high.mayVanish() || low.zero() && low.err.zero() || high.zero() && high.err.zero() {
			return low, errUndefined
		}
		q, err := x.divide(high, low)
		if err != nil {
			return q, err
		}
		return half(x.complexLog(q))
	case "factorial", "doublefactorial", "binom", "arrangements", "gcd", "lcm", "mod":
		return x.integerFunction(name, vs)
	}
	return complexValue{}, errIrrational
}

// integerFunction passes integer arguments on to exact arithmetic.
func (x *numeric) integerFunction(name string, vs []complexValue) (complexValue, error) {
	args := make([]*formula.Node, len(vs))
	for i, v := range vs {
		if v.re.MantExp(nil) > int(x.prec)-64 {
			return complexValue{}, errPrecision
		}
		low, err := x.whole(v, false)
		if err != nil {
			return v, err
		}
		if off := x.difference(v.re, low.re); off.Sign() != 0 && v.err.less(magnitudeOf(off)) {
			return complexValue{}, errUndefined
		}
		n, _ := low.re.Int(nil)
		args[i] = formula.Rational(new(big.Rat).SetInt(n))
	}
	r, err := Exact{Steps: x.steps}.Value(formula.Call(name, args...))
	if err != nil {
		return complexValue{}, err
	}
	return x.rational(r), nil
}

// complexFunction evaluates functions of complex arguments by their exponential forms.
func (x *numeric) complexFunction(name string, vs []complexValue) (complexValue, error) {
	v := vs[0]
	if v.im == nil {
		v.im = x.float()
	}
	iv := complexValue{re: x.float().Neg(v.im), im: v.re, err: v.err}
	two := complexValue{re: x.float().SetInt64(2)}
	i := complexValue{re: x.float(), im: x.float().SetInt64(1)}
	half := func(w complexValue, err error) (complexValue, error) {
		if err != nil {
			return w, err
		}
		return x.divide(w, two)
	}
	switch name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		p, err := x.complexExp(iv)
		if err != nil {
			return v, err
		}
		m, err := x.complexExp(x.negate(iv))
		if err != nil {
			return v, err
		}
		c, err := half(x.add(p, m), nil)
		if err != nil {
			return v, err
		}
		s, err := x.divide(x.add(p, x.negate(m)), x.multiply(two, i))
		if err != nil {
			return v, err
		}
		return x.ofSine(name, s, c)
	case "sinh", "cosh", "tanh":
		p, err := x.complexExp(v)
		if err != nil {
			return v, err
		}
		m, err := x.complexExp(x.negate(v))
		if err != nil {
			return v, err
		}
		switch name {
		case "sinh":
			return half(x.add(p, x.negate(m)), nil)
		case "cosh":
			return half(x.add(p, m), nil)
		}
		return x.divide(x.add(p, x.negate(m)), x.add(p, m))
	case "arg":
		l, err := x.complexLog(v)
		if err != nil {
			return v, err
		}
		if l.im == nil {
			l.im = x.float()
		}
		return complexValue{re: l.im, err: l.err}, nil
	}
	return v, errIrrational
}

// ofSine returns the trigonometric function of a name from the sine and the cosine of its argument.
func (x *numeric) ofSine(name string, s, c complexValue) (complexValue, error) {
	one := complexValue{re: x.float().SetInt64(1)}
	switch name {
	case "sin":
		return s, nil
	case "cos":
		return c, nil
	case "tan":
		return x.divide(s, c)
	case "cot":
		return x.divide(c, s)
	case "sec":
		return x.divide(one, c)
	}
	return x.divide(one, s)
}
