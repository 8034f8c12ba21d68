// Functions of real and complex numbers with bounds of their errors.

package evaluate

import (
	"math/big"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// realFunction evaluates the trigonometric and hyperbolic functions and factorials of real arguments.
func (x *Numeric) realFunction(name string, vs []ComplexValue) ComplexValue {
	v := vs[0]
	one := ComplexValue{Re: x.Float().SetInt64(1)}
	half := func(w ComplexValue) ComplexValue {
		return ComplexValue{Re: w.Re.SetMantExp(w.Re, -1), Err: w.Err.scaled(-1)}
	}
	// angle returns the angle of the direction (b, a), a unit vector or longer.
	angle := func(a, b ComplexValue) ComplexValue {
		w := x.function(ComplexValue{Re: x.atan2(a.Re, b.Re)})
		w.Err = w.Err.Plus(a.Err.Plus(b.Err).scaled(1))
		return x.finite(w)
	}
	switch name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		f, g := x.sincos(v.Re)
		s, c := x.absolutely(ComplexValue{Re: f}), x.absolutely(ComplexValue{Re: g})
		if Exponent(v.Re) < 0 {
			s = x.function(ComplexValue{Re: f})
		}
		s.Err, c.Err = s.Err.Plus(v.Err), c.Err.Plus(v.Err)
		return OfSine(name, s, c, one, x.divide)
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		p := x.complexExp(v)
		m := x.divide(one, p)
		s, c := x.Add(p, x.Negate(m)), x.Add(p, m)
		switch name {
		case "sinh":
			return half(s)
		case "cosh":
			return half(c)
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
		v = x.divide(one, v)
		name = map[string]string{"arcsec": "arccos", "arccsc": "arcsin"}[name]
		fallthrough
	case "arcsin", "arccos":
		other := x.root(x.Add(one, x.Negate(x.multiply(v, v))), 2)
		switch {
		case !other.Real():
			panic(failing.With(ErrUndefined))
		case name == "arcsin":
			return angle(v, other)
		}
		return angle(other, v)
	case "arsinh", "arcosh":
		if name == "arcosh" {
			one.Re.SetInt64(-1)
			if low := x.Add(v, one); low.MayVanish() && !low.Err.zero() {
				panic(failing.With(ErrPrecision))
			} else if low.Re.Sign() < 0 {
				panic(failing.With(ErrUndefined))
			}
		}
		return x.complexLog(x.Add(v, x.root(x.Add(x.multiply(v, v), one), 2)))
	case "artanh":
		low, high := x.Add(one, x.Negate(v)), x.Add(one, v)
		if low.Re.Sign() <= 0 && !low.MayVanish() || high.Re.Sign() <= 0 && !high.MayVanish() || low.zero() && low.Err.zero() || high.zero() && high.Err.zero() {
			panic(failing.With(ErrUndefined))
		}
		return half(x.complexLog(x.divide(high, low)))
	case "factorial", "doublefactorial", "binom", "arrangements", "gcd", "lcm", "mod":
		return x.integerFunction(name, vs)
	}
	panic(failing.With(ErrIrrational))
}

// integerFunction passes integer arguments on to exact arithmetic.
func (x *Numeric) integerFunction(name string, vs []ComplexValue) ComplexValue {
	args := make([]*formula.Node, len(vs))
	for i, v := range vs {
		if v.Re.MantExp(nil) > int(x.Prec)-64 {
			panic(failing.With(ErrPrecision))
		}
		low := x.whole(v, false)
		if off := x.difference(v.Re, low.Re); off.Sign() != 0 && v.Err.less(magnitudeOf(off)) {
			panic(failing.With(ErrUndefined))
		}
		n, _ := low.Re.Int(nil)
		args[i] = formula.Rational(new(big.Rat).SetInt(n))
	}
	return x.rational(failing.Must(Exact{Steps: x.Steps}.Value(formula.Call(name, args...))))
}

// complexFunction evaluates functions of complex arguments by their exponential forms.
func (x *Numeric) complexFunction(name string, vs []ComplexValue) ComplexValue {
	v := vs[0]
	if v.Im == nil {
		v.Im = x.Float()
	}
	iv := ComplexValue{Re: x.Float().Neg(v.Im), Im: v.Re, Err: v.Err}
	two := ComplexValue{Re: x.Float().SetInt64(2)}
	i := ComplexValue{Re: x.Float(), Im: x.Float().SetInt64(1)}
	half := func(w ComplexValue) ComplexValue { return x.divide(w, two) }
	switch name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		p := x.complexExp(iv)
		m := x.complexExp(x.Negate(iv))
		return OfSine(name, x.divide(x.Add(p, x.Negate(m)), x.multiply(two, i)), half(x.Add(p, m)), ComplexValue{Re: x.Float().SetInt64(1)}, x.divide)
	case "sinh", "cosh", "tanh":
		p := x.complexExp(v)
		m := x.complexExp(x.Negate(v))
		switch name {
		case "sinh":
			return half(x.Add(p, x.Negate(m)))
		case "cosh":
			return half(x.Add(p, m))
		}
		return x.divide(x.Add(p, x.Negate(m)), x.Add(p, m))
	case "arg":
		l := x.complexLog(v)
		if l.Im == nil {
			l.Im = x.Float()
		}
		return ComplexValue{Re: l.Im, Err: l.Err}
	}
	panic(failing.With(ErrIrrational))
}

// OfSine returns the function of a name from the sine s and the cosine c of its argument, circular or hyperbolic.
func OfSine[T any](name string, s, c, one T, divide func(a, b T) T) T {
	switch name {
	case "sin":
		return s
	case "cos":
		return c
	case "tan":
		return divide(s, c)
	case "cot":
		return divide(c, s)
	case "sec":
		return divide(one, c)
	}
	return divide(one, s)
}
