// Integers too large to write out, by residues and by what they divide.

package evaluate

import (
	"errors"
	"math/big"
	"math/bits"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Primes below 2^31 for residues of numbers too large to write out. Exponents are reduced modulo the totient, whose
// factors trial division finds.
var SmallPrimes = [...]uint64{2147483647, 2147483629, 2147483587, 2147483579, 2147483563}

// Residue returns an integer expression modulo m; division needs m to be prime.
func (x Exact) Residue(n *formula.Node, m uint64, prime bool) (uint64, error) {
	if !x.Steps.Spend(costNode) {
		return 0, ErrBudget
	}
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		v := new(big.Int).Mod(n.Rat.Num(), new(big.Int).SetUint64(m)).Uint64()
		if n.Rat.IsInt() {
			return v, nil
		}
		if !prime {
			return 0, ErrIrrational
		}
		d := new(big.Int).Mod(n.Rat.Denom(), new(big.Int).SetUint64(m)).Uint64()
		return divideModulo(v, d, m)
	case formula.KindNegate:
		v, err := x.Residue(n.Args[0], m, prime)
		return (m - v) % m, err
	case formula.KindAdd, formula.KindMultiply:
		acc, err := x.Residue(n.Args[0], m, prime)
		if err != nil {
			return 0, err
		}
		for _, a := range n.Args[1:] {
			v, err := x.Residue(a, m, prime)
			if err != nil {
				return 0, err
			}
			if n.Kind == formula.KindAdd {
				acc = (acc + v) % m
			} else {
				acc = acc * v % m
			}
		}
		return acc, nil
	case formula.KindDivide:
		if !prime {
			return 0, ErrIrrational
		}
		a, err := x.Residue(n.Args[0], m, prime)
		if err != nil {
			return 0, err
		}
		b, err := x.Residue(n.Args[1], m, prime)
		if err != nil {
			return 0, err
		}
		return divideModulo(a, b, m)
	case formula.KindPower:
		return x.powerResidue(n, m, prime)
	case formula.KindCall:
		if n.Name == "factorial" {
			v, err := x.Value(n.Args[0])
			if err != nil || !v.IsInt() || v.Sign() < 0 {
				return 0, ErrIrrational
			}
			if v.Num().Cmp(new(big.Int).SetUint64(m)) >= 0 {
				return 0, nil
			}
			k := v.Num().Uint64()
			if k > MaxTerms*20 || !x.Steps.Spend(int(k)) {
				return 0, ErrBudget
			}
			acc := uint64(1) % m
			for i := uint64(2); i <= k; i++ {
				acc = acc * i % m
			}
			return acc, nil
		}
	}
	v, err := x.Value(n)
	if err != nil {
		return 0, err
	}
	return x.Residue(formula.Rational(v), m, prime)
}

// powerResidue uses a^e = a^(e mod phi(m) + phi(m)) for e >= log2 m, whatever a has in common with m.
func (x Exact) powerResidue(n *formula.Node, m uint64, prime bool) (uint64, error) {
	a, err := x.Residue(n.Args[0], m, prime)
	if err != nil {
		return 0, err
	}
	e, err := x.Value(n.Args[1])
	if err == nil && e.IsInt() && e.Num().IsInt64() {
		k := e.Num().Int64()
		if k >= 0 {
			return powerModulo(a, uint64(k), m), nil
		}
		if !prime {
			return 0, ErrIrrational
		}
		return divideModulo(1, powerModulo(a, uint64(-k), m), m)
	}
	if err != nil && !errors.Is(err, ErrBudget) || err == nil && (!e.IsInt() || e.Sign() < 0) || !positive(n.Args[1]) {
		return 0, ErrIrrational
	}
	phi := totient(m)
	if !x.Steps.Spend(1 << 16) {
		return 0, ErrBudget
	}
	k, err := x.Residue(n.Args[1], phi, false)
	if err != nil {
		return 0, err
	}
	return powerModulo(a, k+phi, m), nil
}

// positive reports whether an integer expression is positive for certain.
func positive(n *formula.Node) bool {
	switch n.Kind {
	case formula.KindNumber:
		return n.Rat.Sign() > 0 && n.Rat.IsInt()
	case formula.KindPower:
		return positive(n.Args[0]) && positive(n.Args[1])
	case formula.KindAdd, formula.KindMultiply:
		for _, a := range n.Args {
			if !positive(a) {
				return false
			}
		}
		return true
	case formula.KindCall:
		return n.Name == "factorial" && positive(n.Args[0])
	}
	return false
}

func powerModulo(a, e, m uint64) uint64 {
	r := 1 % m
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			hi, lo := bits.Mul64(r, a)
			_, r = bits.Div64(hi%m, lo, m)
		}
		hi, lo := bits.Mul64(a, a)
		_, a = bits.Div64(hi%m, lo, m)
	}
	return r
}

func divideModulo(a, b, p uint64) (uint64, error) {
	if b == 0 {
		return 0, ErrUndefined
	}
	return a * powerModulo(b, p-2, p) % p, nil
}

// totient returns Euler's function of m < 2^32.
func totient(m uint64) uint64 {
	phi := m
	for d := uint64(2); d*d <= m; d++ {
		if m%d == 0 {
			phi -= phi / d
			for m%d == 0 {
				m /= d
			}
		}
	}
	if m > 1 {
		phi -= phi / m
	}
	return phi
}

// remainder returns a mod m for an integer expression too large to write out.
func (x Exact) remainder(a *formula.Node, m *big.Int) (*big.Rat, error) {
	m = new(big.Int).Abs(m)
	if m.IsUint64() && m.Uint64() < 1<<31 {
		r, err := x.Residue(a, m.Uint64(), false)
		return new(big.Rat).SetInt(new(big.Int).SetUint64(r)), err
	}
	r, err := x.modulo(a, m)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetInt(r), nil
}

// modulo returns an integer expression modulo m.
func (x Exact) modulo(n *formula.Node, m *big.Int) (*big.Int, error) {
	if !x.Steps.Spend(costNode) {
		return nil, ErrBudget
	}
	switch n.Kind {
	case formula.KindNegate:
		v, err := x.modulo(n.Args[0], m)
		if err != nil {
			return nil, err
		}
		return v.Mod(v.Neg(v), m), nil
	case formula.KindAdd, formula.KindMultiply:
		acc, err := x.modulo(n.Args[0], m)
		if err != nil {
			return nil, err
		}
		for _, a := range n.Args[1:] {
			v, err := x.modulo(a, m)
			if err != nil || !x.Steps.Multiply(2*m.BitLen(), 2*m.BitLen()) {
				return nil, ErrBudget
			}
			if n.Kind == formula.KindAdd {
				acc.Add(acc, v)
			} else {
				acc.Mul(acc, v)
			}
			acc.Mod(acc, m)
		}
		return acc, nil
	case formula.KindPower:
		e, err := x.Value(n.Args[1])
		if err != nil || !e.IsInt() || e.Sign() < 0 {
			return nil, ErrBudget
		}
		b, err := x.modulo(n.Args[0], m)
		words := m.BitLen()/bits.UintSize + 1
		if err != nil || !x.Steps.Spend(e.Num().BitLen()*(formula.CostExact+2*words*words)) {
			return nil, ErrBudget
		}
		return b.Exp(b, e.Num(), m), nil
	}
	v, err := x.Value(n)
	if err != nil {
		return nil, err
	}
	if !v.IsInt() {
		return nil, ErrIrrational
	}
	return new(big.Int).Mod(v.Num(), m), nil
}

// prime powers of an integer that is written as a product of powers: exponents by base.
type factorisation map[uint64]*big.Int

// factored returns the factors of a product of powers of small numbers; false if it is anything else.
func (x Exact) factored(n *formula.Node) (factorisation, bool) {
	if !x.Steps.Spend(formula.CostExact) {
		return nil, false
	}
	out := factorisation{}
	switch n.Kind {
	case formula.KindNumber:
		if !n.Rat.IsInt() || n.Rat.Sign() <= 0 || !x.Steps.Spend(1000) {
			return nil, false
		}
		parts, ok := Factors(n.Rat)
		for _, q := range parts {
			if ok = ok && q.Base < 1_000_000; ok { // else it may be no prime
				out[q.Base] = big.NewInt(int64(q.Exponent))
			}
		}
		return out, ok
	case formula.KindMultiply:
		for _, a := range n.Args {
			f, ok := x.factored(a)
			if !ok {
				return nil, false
			}
			for q, e := range f {
				if out[q] == nil {
					out[q] = new(big.Int)
				}
				out[q].Add(out[q], e)
			}
		}
		return out, true
	case formula.KindPower:
		k, err := x.Value(n.Args[1])
		if err != nil || !k.IsInt() || k.Sign() < 0 || k.Num().BitLen() > 256 {
			return nil, false
		}
		f, ok := x.factored(n.Args[0])
		if !ok {
			return nil, false
		}
		for q, e := range f {
			out[q] = e.Mul(e, k.Num())
		}
		return out, true
	}
	return nil, false
}

// common returns the greatest common divisor or least common multiple of products of powers; false if they are none.
func (x Exact) common(n *formula.Node) (*big.Rat, bool, error) {
	var acc factorisation
	for i, a := range n.Args {
		f, ok := x.factored(a)
		if !ok {
			return nil, false, nil
		}
		if i == 0 {
			acc = f
			continue
		}
		for q, e := range acc {
			if n.Name == "gcd" && f[q] == nil {
				delete(acc, q)
			} else if f[q] != nil && (f[q].Cmp(e) < 0) == (n.Name == "gcd") {
				acc[q] = f[q]
			}
		}
		if n.Name == "lcm" {
			for q, e := range f {
				if acc[q] == nil {
					acc[q] = e
				}
			}
		}
	}
	product := formula.Apply(formula.KindMultiply, formula.Number(1))
	for q, e := range acc {
		product.Args = append(product.Args, formula.Power(formula.Number(int64(q)), formula.Rational(new(big.Rat).SetInt(e))))
	}
	v, err := x.Value(product)
	return v, true, err
}
