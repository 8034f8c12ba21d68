package verify

import (
	"math/big"
	"math/bits"
)

// field is the integers modulo a prime with a square root of -1, so that i has a value. Two expressions made of
// + - * / and integer powers that agree at a random point of such a field are equal, with an error probability of at
// most their degree over 2^61; if they differ at a point they are different for certain.
type field struct {
	p, i  uint64
	steps *budget
	at    map[string]uint64
}

// The two largest primes below 2^61 that are 1 mod 4, and a square root of -1 modulo each.
var primes = [2][2]uint64{
	{2305843009213693921, 583529827753931384},
	{2305843009213693693, 1339157886866684138},
}

func (f *field) multiply(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	_, r := bits.Div64(hi, lo, f.p)
	return r
}

func (f *field) add(a, b uint64) uint64 {
	s := a + b
	if s >= f.p {
		s -= f.p
	}
	return s
}

func (f *field) negate(a uint64) uint64 {
	if a == 0 {
		return 0
	}
	return f.p - a
}

func (f *field) power(a, e uint64) uint64 {
	r := uint64(1)
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			r = f.multiply(r, a)
		}
		a = f.multiply(a, a)
	}
	return r
}

func (f *field) inverse(a uint64) uint64 { return f.power(a, f.p-2) }

func (f *field) reduce(v *big.Int) uint64 {
	if v.IsInt64() {
		if n := v.Int64(); n >= 0 {
			return uint64(n) % f.p
		} else if n > -1<<60 {
			return f.p - uint64(-n)%f.p
		}
	}
	return new(big.Int).Mod(v, new(big.Int).SetUint64(f.p)).Uint64()
}

func (f *field) rational(r *big.Rat) (uint64, error) {
	n := f.reduce(r.Num())
	if r.IsInt() {
		return n, nil
	}
	d := f.reduce(r.Denom())
	if d == 0 {
		return 0, errUndefined
	}
	return f.multiply(n, f.inverse(d)), nil
}

// value evaluates n; errUndefined asks for another point, errIrrational says that n is no rational function.
func (f *field) value(n *node) (uint64, error) {
	if !f.steps.spend(2) {
		return 0, errBudget
	}
	switch n.kind {
	case kindNumber, kindBased:
		return f.rational(n.rat)
	case kindSymbol:
		if v, ok := f.at[n.name]; ok {
			return v, nil
		}
	case kindConstant:
		if n.name == "i" {
			return f.i, nil
		}
	case kindPercent:
		v, err := f.value(n.args[0])
		if err != nil {
			return 0, err
		}
		return f.multiply(v, f.inverse(100)), nil
	case kindNegate:
		v, err := f.value(n.args[0])
		return f.negate(v % f.p), err
	case kindAdd, kindMultiply:
		acc, err := f.value(n.args[0])
		if err != nil {
			return 0, err
		}
		for _, a := range n.args[1:] {
			v, err := f.value(a)
			if err != nil {
				return 0, err
			}
			if n.kind == kindAdd {
				acc = f.add(acc, v)
			} else {
				acc = f.multiply(acc, v)
			}
		}
		return acc, nil
	case kindDivide:
		a, err := f.value(n.args[0])
		if err != nil {
			return 0, err
		}
		b, err := f.value(n.args[1])
		if err != nil {
			return 0, err
		}
		if b == 0 {
			return 0, errUndefined
		}
		return f.multiply(a, f.inverse(b)), nil
	case kindPower:
		e, err := exact{steps: f.steps}.value(n.args[1])
		if err != nil || !e.IsInt() || !e.Num().IsInt64() {
			return 0, errIrrational
		}
		a, err := f.value(n.args[0])
		if err != nil {
			return 0, err
		}
		k := e.Num().Int64()
		if k <= 0 && a == 0 {
			return 0, errUndefined
		}
		if !f.steps.spend(2 * bits.Len64(uint64(abs64(k)))) {
			return 0, errBudget
		}
		v := f.power(a, uint64(abs64(k)))
		if k < 0 {
			v = f.inverse(v)
		}
		return v, nil
	}
	// What is constant and rational, such as 5! or a binomial coefficient, has a value in every field.
	r, err := exact{steps: f.steps}.value(n)
	if err != nil {
		return 0, errIrrational
	}
	return f.rational(r)
}
