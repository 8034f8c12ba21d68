// Functions of real and complex numbers with bounds of their errors.

package evaluate

import (
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// realFunction evaluates the trigonometric and hyperbolic functions and factorials of real arguments.
func (x *Numeric) realFunction(name string, vs []ComplexValue) (ComplexValue, error) {
	v := vs[0]
	one := ComplexValue{Re: x.Float().SetInt64(1)}
	half := func(w ComplexValue, err error) (ComplexValue, error) {
		if err != nil {
			return w, err
		}
		return ComplexValue{Re: w.Re.SetMantExp(w.Re, -1), Err: w.Err.scaled(-1)}, nil
	}
	// angle returns the angle of the direction (b, a), a unit vector or longer.
	angle := func(a, b ComplexValue) (ComplexValue, error) {
		f, err := x.atan2(a.Re, b.Re)
		if err != nil {
			return ComplexValue{}, err
		}
		w := x.function(ComplexValue{Re: f})
		w.Err = w.Err.Plus(a.Err.Plus(b.Err).scaled(1))
		return x.finite(w)
	}
	switch name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		f, g, err := x.sincos(v.Re)
		if err != nil {
			return ComplexValue{}, err
		}
		s, c := x.absolutely(ComplexValue{Re: f}), x.absolutely(ComplexValue{Re: g})
		if Exponent(v.Re) < 0 {
			s = x.function(ComplexValue{Re: f})
		}
		s.Err, c.Err = s.Err.Plus(v.Err), c.Err.Plus(v.Err)
		return x.ofSine(name, s, c)
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		p, err := x.complexExp(v)
		if err != nil {
			return ComplexValue{}, err
		}
		m, err := x.divide(one, p)
		if err != nil {
			return ComplexValue{}, err
		}
		s, c := x.Add(p, x.Negate(m)), x.Add(p, m)
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
			one.Re.SetInt64(2)
			return x.divide(one, c)
		}
		one.Re.SetInt64(2)
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
		other, err := x.root(x.Add(one, x.Negate(x.multiply(v, v))), 2)
		switch {
		case err != nil:
			return other, err
		case !other.Real():
			return other, ErrUndefined
		case name == "arcsin":
			return angle(v, other)
		}
		return angle(other, v)
	case "arsinh", "arcosh":
		if name == "arcosh" {
			one.Re.SetInt64(-1)
			if low := x.Add(v, one); low.MayVanish() && !low.Err.zero() {
				return low, ErrPrecision
			} else if low.Re.Sign() < 0 {
				return low, ErrUndefined
			}
		}
		r, err := x.root(x.Add(x.multiply(v, v), one), 2)
		if err != nil {
			return r, err
		}
		return x.complexLog(x.Add(v, r))
	case "artanh":
		low, high := x.Add(one, x.Negate(v)), x.Add(one, v)
		if low.Re.Sign() <= 0 && !low.MayVanish() || high.Re.Sign() <= 0 && !high.MayVanish() || low.zero() && low.Err.zero() || high.zero() && high.Err.zero() {
			return low, ErrUndefined
		}
		q, err := x.divide(high, low)
		if err != nil {
			return q, err
		}
		return half(x.complexLog(q))
	case "factorial", "doublefactorial", "binom", "arrangements", "gcd", "lcm", "mod":
		return x.integerFunction(name, vs)
	}
	return ComplexValue{}, ErrIrrational
}

// integerFunction passes integer arguments on to exact arithmetic.
func (x *Numeric) integerFunction(name string, vs []ComplexValue) (ComplexValue, error) {
	args := make([]*formula.Node, len(vs))
	for i, v := range vs {
		if v.Re.MantExp(nil) > int(x.Prec)-64 {
			return ComplexValue{}, ErrPrecision
		}
		low, err := x.whole(v, false)
		if err != nil {
			return v, err
		}
		if off := x.difference(v.Re, low.Re); off.Sign() != 0 && v.Err.less(magnitudeOf(off)) {
			return ComplexValue{}, ErrUndefined
		}
		n, _ := low.Re.Int(nil)
		args[i] = formula.Rational(new(big.Rat).SetInt(n))
	}
	r, err := Exact{Steps: x.Steps}.Value(formula.Call(name, args...))
	if err != nil {
		return ComplexValue{}, err
	}
	return x.rational(r), nil
}

// complexFunction evaluates functions of complex arguments by their exponential forms.
func (x *Numeric) complexFunction(name string, vs []ComplexValue) (ComplexValue, error) {
	v := vs[0]
	if v.Im == nil {
		v.Im = x.Float()
	}
	iv := ComplexValue{Re: x.Float().Neg(v.Im), Im: v.Re, Err: v.Err}
	two := ComplexValue{Re: x.Float().SetInt64(2)}
	i := ComplexValue{Re: x.Float(), Im: x.Float().SetInt64(1)}
	half := func(w ComplexValue, err error) (ComplexValue, error) {
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
		m, err := x.complexExp(x.Negate(iv))
		if err != nil {
			return v, err
		}
		c, err := half(x.Add(p, m), nil)
		if err != nil {
			return v, err
		}
		s, err := x.divide(x.Add(p, x.Negate(m)), x.multiply(two, i))
		if err != nil {
			return v, err
		}
		return x.ofSine(name, s, c)
	case "sinh", "cosh", "tanh":
		p, err := x.complexExp(v)
		if err != nil {
			return v, err
		}
		m, err := x.complexExp(x.Negate(v))
		if err != nil {
			return v, err
		}
		switch name {
		case "sinh":
			return half(x.Add(p, x.Negate(m)), nil)
		case "cosh":
			return half(x.Add(p, m), nil)
		}
		return x.divide(x.Add(p, x.Negate(m)), x.Add(p, m))
	case "arg":
		l, err := x.complexLog(v)
		if err != nil {
			return v, err
		}
		if l.Im == nil {
			l.Im = x.Float()
		}
		return ComplexValue{Re: l.Im, Err: l.Err}, nil
	}
	return v, ErrIrrational
}

// ofSine returns the trigonometric function of a name from the sine and the cosine of its argument.
func (x *Numeric) ofSine(name string, s, c ComplexValue) (ComplexValue, error) {
	one := ComplexValue{Re: x.Float().SetInt64(1)}
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
