package verify

import "math/big"

// realFunction evaluates the trigonometric and hyperbolic functions and factorials of real arguments.
func (x *numeric) realFunction(name string, vs []complexValue) (complexValue, error) {
	v := vs[0].re
	one := x.float().SetInt64(1)
	wrap := func(f *big.Float, err error) (complexValue, error) {
		if err != nil {
			return complexValue{}, err
		}
		return x.finite(complexValue{re: f})
	}
	ratio := func(a, b *big.Float, err error) (complexValue, error) {
		if err != nil {
			return complexValue{}, err
		}
		// A denominator that is zero but for rounding is a pole.
		if b.Sign() == 0 || b.MantExp(nil) < exponent(a)-int(x.prec)*3/4 {
			return complexValue{}, errUndefined
		}
		return wrap(x.quotient(a, b), nil)
	}
	switch name {
	case "sin", "cos", "tan", "cot", "sec", "csc":
		s, c, err := x.sincos(v)
		switch name {
		case "sin":
			return wrap(s, err)
		case "cos":
			return wrap(c, err)
		case "tan":
			return ratio(s, c, err)
		case "cot":
			return ratio(c, s, err)
		case "sec":
			return ratio(one, c, err)
		}
		return ratio(one, s, err)
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		p, err := x.exp(v)
		if err != nil {
			return complexValue{}, err
		}
		m := x.quotient(one, p)
		s, c := x.difference(p, m), x.sum(p, m)
		half := func(f *big.Float) *big.Float { return x.float().SetMantExp(f, -1) }
		switch name {
		case "sinh":
			return wrap(half(s), nil)
		case "cosh":
			return wrap(half(c), nil)
		case "tanh":
			return ratio(s, c, nil)
		case "coth":
			return ratio(c, s, nil)
		case "sech":
			return ratio(one, half(c), nil)
		}
		return ratio(one, half(s), nil)
	case "arctan":
		return wrap(x.atan2(v, one))
	case "arccot": // in (0, pi)
		return wrap(x.atan2(one, v))
	case "arcsec", "arccsc":
		if v.Sign() == 0 {
			return complexValue{}, errUndefined
		}
		v = x.quotient(one, v)
		name = map[string]string{"arcsec": "arccos", "arccsc": "arcsin"}[name]
		fallthrough
	case "arcsin", "arccos":
		rest := x.difference(one, x.product(v, v))
		if rest.Sign() < 0 {
			return complexValue{}, errUndefined
		}
		other := x.float().Sqrt(rest)
		if name == "arcsin" {
			return wrap(x.atan2(v, other))
		}
		return wrap(x.atan2(other, v))
	case "arsinh":
		return wrap(x.log(x.sum(v, x.float().Sqrt(x.sum(x.product(v, v), one)))))
	case "arcosh":
		if v.Cmp(one) < 0 {
			return complexValue{}, errUndefined
		}
		return wrap(x.log(x.sum(v, x.float().Sqrt(x.difference(x.product(v, v), one)))))
	case "artanh":
		den := x.difference(one, v)
		if den.Sign() <= 0 || x.sum(one, v).Sign() <= 0 {
			return complexValue{}, errUndefined
		}
		l, err := x.log(x.quotient(x.sum(one, v), den))
		if err != nil {
			return complexValue{}, err
		}
		return wrap(l.SetMantExp(l, -1), nil)
	case "factorial", "doublefactorial", "binom", "arrangements", "gcd", "lcm", "mod":
		return x.integerFunction(name, vs)
	}
	return complexValue{}, errIrrational
}

// integerFunction passes integer arguments on to exact arithmetic.
func (x *numeric) integerFunction(name string, vs []complexValue) (complexValue, error) {
	args := make([]*node, len(vs))
	for i, v := range vs {
		if !v.re.IsInt() || v.re.MantExp(nil) > int(x.prec)-64 {
			return complexValue{}, errUndefined
		}
		n, _ := v.re.Int(nil)
		args[i] = rational(new(big.Rat).SetInt(n))
	}
	r, err := exact{steps: x.steps}.value(call(name, args...))
	if err != nil {
		return complexValue{}, err
	}
	return complexValue{re: x.float().SetRat(r)}, nil
}

// complexFunction evaluates functions of complex arguments by their exponential forms.
func (x *numeric) complexFunction(name string, vs []complexValue) (complexValue, error) {
	v := vs[0]
	if v.im == nil {
		v.im = x.float()
	}
	iv := complexValue{re: x.float().Neg(v.im), im: v.re}
	one, two := complexValue{re: x.float().SetInt64(1)}, complexValue{re: x.float().SetInt64(2)}
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
		theta, err := x.atan2(v.im, v.re)
		return complexValue{re: theta}, err
	}
	return v, errIrrational
}
