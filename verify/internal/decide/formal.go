package decide

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// field is the integers modulo a prime in which expressions have values of the same algebra: an identity between them
// holds there too. Variables, pi, and what no law of algebra binds, such as sin 1 or n!, are random elements; roots of
// unity, square roots of small numbers, powers and logarithms keep their laws. Of |u|, and of a root of u, one of two
// branches is taken, as pattern says; an identity that holds for every pattern holds in every cell. Values that differ
// mean that the functions differ only if nothing but rational functions, pi and square roots of numbers took part (free is
// false).
type field struct {
	prime
	steps   *formula.Budget
	seed    uint64
	complex bool

	at      []unknownAt       // the variables
	logs    map[uint64]uint64 // arguments of the logarithms met, by their values
	coins   []uint64          // what has two branches, in order of appearance
	pattern uint64            // bit k is the branch of coins[k]
	most    int               // branches of one pattern
	free    bool              // a function without laws took part
	depth   int               // of sums
}

// unknownAt is a variable x = t^unit at a point.
type unknownAt struct {
	name string
	x, t uint64
}

// Steps that operations in a field are charged.
const (
	costPower   = 6   // for every bit of an exponent
	costInverse = 380 // an exponent of 61 bits
)

// prime is a prime p = 1 mod 2*unit, an element zeta of order 2*unit that stands for e^(i pi/unit), and square roots of
// the small primes.
type prime struct {
	p, zeta, i uint64
	roots      [len(radicands)]uint64
}

// unit is the least common denominator of the exponents and angles that have an algebra.
const unit = 5040

// radicands are the primes whose square roots exist modulo each of the primes.
var radicands = [...]uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47}

// fields returns the primes: the largest below 2^61 with these properties.
var fields = sync.OnceValue(func() [4]prime {
	var out [4]prime
	for k, pz := range [4][2]uint64{
		{2305843009102160641, 497860080203537049},
		{2305843009028364961, 524661481307843504},
		{2305843008977712961, 1077298780897964487},
		{2305843008573756961, 320069407037732462},
	} {
		f := field{prime: prime{p: pz[0], zeta: pz[1]}}
		f.i = f.power(f.zeta, unit/2)
		// Gauss: the sum of (k/q) e^(2 pi i k/q) is the root of q, or i times that.
		for j, q := range radicands {
			switch {
			case q == 2:
				f.roots[j] = f.add(f.power(f.zeta, unit/4), f.inverse(f.power(f.zeta, unit/4)))
			case q < 8:
				sum := uint64(0)
				for a := uint64(1); a < q; a++ {
					z := f.power(f.zeta, a*2*unit/q)
					if big.Jacobi(new(big.Int).SetUint64(a), new(big.Int).SetUint64(q)) < 0 {
						z = f.negate(z)
					}
					sum = f.add(sum, z)
				}
				if q%4 == 3 {
					sum = f.multiply(sum, f.inverse(f.i))
				}
				f.roots[j] = sum
			default:
				f.roots[j], _ = f.squareRoot(q)
			}
		}
		out[k] = f.prime
	}
	return out
})

func (f *prime) multiply(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	_, r := bits.Div64(hi, lo, f.p)
	return r
}

func (f *prime) add(a, b uint64) uint64 {
	s := a + b
	if s >= f.p {
		s -= f.p
	}
	return s
}

func (f *prime) negate(a uint64) uint64 {
	if a == 0 {
		return 0
	}
	return f.p - a
}

func (f *prime) power(a, e uint64) uint64 {
	r := uint64(1)
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			r = f.multiply(r, a)
		}
		a = f.multiply(a, a)
	}
	return r
}

func (f *prime) inverse(a uint64) uint64 { return f.power(a, f.p-2) }

// signed returns a^k.
func (f *prime) signed(a uint64, k int64) uint64 {
	if k < 0 {
		return f.inverse(f.power(a, uint64(-k)))
	}
	return f.power(a, uint64(k))
}

func (f *prime) reduce(v *big.Int) uint64 {
	if v.IsInt64() {
		if n := v.Int64(); n >= 0 {
			return uint64(n) % f.p
		} else if n > -1<<60 {
			return f.p - uint64(-n)%f.p
		}
	}
	return new(big.Int).Mod(v, new(big.Int).SetUint64(f.p)).Uint64()
}

func (f *prime) rational(r *big.Rat) (uint64, error) {
	n := f.reduce(r.Num())
	if r.IsInt() {
		return n, nil
	}
	d := f.reduce(r.Denom())
	switch d {
	case 0:
		return 0, errUndefined
	case 2:
		return f.half(n), nil
	}
	return f.multiply(n, f.inverse(d)), nil
}

// half returns v/2.
func (f *prime) half(v uint64) uint64 {
	if v&1 == 1 {
		v += f.p
	}
	return v >> 1
}

// canonical returns the smaller of v and -v, and whether that is v.
func (f *prime) canonical(v uint64) (uint64, bool) {
	if w := f.negate(v); w < v {
		return w, false
	}
	return v, true
}

// squareRoot returns the smaller root of v, after Tonelli and Shanks; false if there is none.
func (f *prime) squareRoot(v uint64) (uint64, bool) {
	if v == 0 {
		return 0, true
	}
	if f.power(v, (f.p-1)/2) != 1 {
		return 0, false
	}
	s := bits.TrailingZeros64(f.p - 1)
	q := (f.p - 1) >> s
	z := uint64(2) // not a square
	for f.power(z, (f.p-1)/2) == 1 {
		z++
	}
	m, c, t, r := s, f.power(z, q), f.power(v, q), f.power(v, (q+1)/2)
	for t != 1 {
		i, u := 0, t
		for u != 1 {
			u = f.multiply(u, u)
			i++
		}
		b := f.power(c, 1<<(m-i-1))
		m, c = i, f.multiply(b, b)
		t, r = f.multiply(t, c), f.multiply(r, b)
	}
	r, _ = f.canonical(r)
	return r, true
}

// random returns the element that stands for a function of values, always the same one.
func (f *field) random(name string, values ...uint64) uint64 {
	f.free = true
	s := f.seed ^ hash(name)
	for _, v := range values {
		s ^= v
		s = next(&s)
	}
	return 1 + next(&s)%(f.p-1)
}

// odd returns the element of an odd function.
func (f *field) odd(name string, v uint64) uint64 {
	w, same := f.canonical(v)
	r := f.random(name, w)
	if v == 0 {
		return 0
	}
	if !same {
		r = f.negate(r)
	}
	return r
}

// maxCoins bounds what has two branches; every pattern of them is visited.
const maxCoins = 6

// branch returns whether the first branch of key is to be taken.
func (f *field) branch(key uint64) (bool, error) {
	k := slices.Index(f.coins, key)
	if k < 0 {
		if k = len(f.coins); k == maxCoins {
			return false, errIrrational
		}
		f.coins = append(f.coins, key)
	}
	return f.pattern>>k&1 == 0, nil
}

// absolute returns |v|: v or -v.
func (f *field) absolute(v uint64) (uint64, error) {
	w, _ := f.canonical(v)
	first, err := f.branch(w)
	if !first {
		w = f.negate(w)
	}
	f.free = true
	return w, err
}

// find returns a variable; nil if there is none of that name.
func (f *field) find(name string) *unknownAt {
	for k := range f.at {
		if f.at[k].name == name {
			return &f.at[k]
		}
	}
	return nil
}

// draw puts a variable at a random point.
func (f *field) draw(name string, random uint64) unknownAt {
	t := 1 + random%(f.p-1)
	return unknownAt{name: name, x: f.power(t, unit), t: t}
}

// pi is an element like any other: pi is transcendental.
func (f *field) pi() uint64 {
	free := f.free
	defer func() { f.free = free }()
	return f.random("pi")
}

// value evaluates n; errUndefined asks for another point, errIrrational says that n has no value in a field.
func (f *field) value(n *formula.Node) (uint64, error) {
	if !f.steps.Spend(2) {
		return 0, errBudget
	}
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		if !n.Rat.IsInt() && !f.steps.Spend(costInverse) {
			return 0, errBudget
		}
		return f.rational(n.Rat)
	case formula.KindSymbol:
		if v := f.find(n.Name); v != nil {
			return v.x, nil
		}
	case formula.KindConstant:
		switch n.Name {
		case "i":
			return f.i, nil
		case "pi":
			return f.pi(), nil
		case "e":
			return f.exponential([]summand{{coefficient: one, value: 1}})
		}
	case formula.KindPercent:
		v, err := f.value(n.Args[0])
		if err != nil {
			return 0, err
		}
		return f.multiply(v, f.inverse(100)), nil
	case formula.KindQuantity:
		if n.Name == "degree" {
			v, err := f.value(n.Args[0])
			return f.multiply(f.multiply(v, f.pi()), f.inverse(180)), err
		}
	case formula.KindNegate:
		v, err := f.value(n.Args[0])
		return f.negate(v), err
	case formula.KindAdd, formula.KindMultiply:
		acc, err := f.value(n.Args[0])
		if err != nil {
			return 0, err
		}
		for _, a := range n.Args[1:] {
			v, err := f.value(a)
			if err != nil {
				return 0, err
			}
			if n.Kind == formula.KindAdd {
				acc = f.add(acc, v)
			} else {
				acc = f.multiply(acc, v)
			}
		}
		return acc, nil
	case formula.KindDivide:
		a, err := f.value(n.Args[0])
		if err != nil {
			return 0, err
		}
		b, err := f.value(n.Args[1])
		if err != nil {
			return 0, err
		}
		if b == 0 {
			return 0, errUndefined
		}
		if b == 1 {
			return a, nil
		}
		if !f.steps.Spend(costInverse) {
			return 0, errBudget
		}
		return f.multiply(a, f.inverse(b)), nil
	case formula.KindPower:
		return f.raised(n)
	case formula.KindCall:
		return f.call(n)
	}
	return 0, errIrrational
}

// raised evaluates a power: of an integer exponent, a root, or e^(b ln a).
func (f *field) raised(n *formula.Node) (uint64, error) {
	e, err := Exact{Steps: f.steps}.Value(n.Args[1])
	switch {
	case errors.Is(err, errBudget):
		return 0, err
	case err == nil && e.IsInt() && e.Num().IsInt64():
		a, err := f.value(n.Args[0])
		if err != nil {
			return 0, err
		}
		k := e.Num().Int64()
		if k <= 0 && a == 0 {
			return 0, errUndefined
		}
		if !f.steps.Spend(costPower*bits.Len64(uint64(abs64(k)))) || k < 0 && !f.steps.Spend(costInverse) {
			return 0, errBudget
		}
		return f.signed(a, k), nil
	case err == nil && !e.IsInt() && e.Num().IsInt64() && e.Denom().IsInt64():
		r, err := f.root(n.Args[0], e.Denom().Int64())
		if err != nil {
			return 0, err
		}
		if r == 0 && e.Sign() < 0 {
			return 0, errUndefined
		}
		return f.signed(r, e.Num().Int64()), nil
	case err == nil:
		r, err := Exact{Steps: f.steps}.Value(n.Args[0])
		if err != nil || !e.IsInt() || r.Sign() == 0 || !f.steps.Spend(2*costInverse) {
			return 0, errIrrational
		}
		a, err := f.rational(r)
		if err == nil && a == 0 {
			err = errUndefined
		}
		k := new(big.Int).Mod(e.Num(), new(big.Int).SetUint64(f.p-1)) // Fermat
		return f.power(a, k.Uint64()), err
	}
	terms, err := f.summands(n.Args[1], one, nil)
	if err != nil {
		return 0, err
	}
	base := n.Args[0]
	if base.Kind == formula.KindConstant && base.Name == "e" {
		return f.exponential(terms)
	}
	r, err := Exact{Steps: f.steps}.Value(base)
	switch {
	case err == nil && r.Sign() < 0: // (-2)^n = (-1)^n 2^n for the integers
		acc := uint64(1)
		f.free = true
		for _, t := range terms {
			if !t.coefficient.IsInt() {
				return 0, errIrrational
			}
			if t.coefficient.Num().Bit(0) == 0 {
				continue
			}
			first := false
			if !t.plain {
				var err error
				if first, err = f.branch(f.random("sign", t.value)); err != nil {
					return 0, err
				}
			}
			if !first {
				acc = f.negate(acc)
			}
		}
		if r = new(big.Rat).Neg(r); r.Cmp(one) == 0 {
			return acc, nil
		}
		v, err := f.elevated(formula.Rational(r), terms)
		return f.multiply(v, acc), err
	case err == nil && r.Sign() == 0:
		return 0, errIrrational
	}
	return f.elevated(base, terms)
}

// elevated evaluates base^(sum of terms) as e^(terms times ln base); rational exponents of a number are taken as such.
func (f *field) elevated(base *formula.Node, terms []summand) (uint64, error) {
	l, err := f.logarithm(base)
	if err != nil {
		return 0, err
	}
	acc := uint64(1)
	var rest []summand
	for _, t := range terms {
		if t.value == 1 && t.plain {
			v, err := f.raised(formula.Power(base, formula.Rational(t.coefficient)))
			if err != nil {
				return 0, err
			}
			acc = f.multiply(acc, v)
			continue
		}
		for _, part := range l {
			rest = append(rest, summand{coefficient: new(big.Rat).Mul(t.coefficient, part.coefficient), value: f.multiply(t.value, part.value)})
		}
	}
	v, err := f.exponential(rest)
	return f.multiply(acc, v), err
}

// summand is a term of a sum: a rational number times a value; plain says that it is the number alone.
type summand struct {
	coefficient *big.Rat
	value       uint64
	plain       bool
}

var one = big.NewRat(1, 1)

// summands splits n times c into terms, with sums multiplied by numbers written out.
func (f *field) summands(n *formula.Node, c *big.Rat, acc []summand) ([]summand, error) {
	if len(acc) > 64 {
		return nil, errIrrational
	}
	if r, err := (Exact{Steps: f.steps}).Value(n); err == nil {
		return append(acc, summand{coefficient: new(big.Rat).Mul(r, c), value: 1, plain: true}), nil
	} else if errors.Is(err, errBudget) {
		return nil, err
	}
	var err error
	switch n.Kind {
	case formula.KindNegate:
		return f.summands(n.Args[0], new(big.Rat).Neg(c), acc)
	case formula.KindAdd:
		for _, a := range n.Args {
			if acc, err = f.summands(a, c, acc); err != nil {
				return nil, err
			}
		}
		return acc, nil
	case formula.KindDivide:
		if d, err := (Exact{Steps: f.steps}).Value(n.Args[1]); err == nil && d.Sign() != 0 {
			return f.summands(n.Args[0], new(big.Rat).Quo(c, d), acc)
		}
	case formula.KindPercent:
		return f.summands(n.Args[0], new(big.Rat).Mul(c, big.NewRat(1, 100)), acc)
	case formula.KindQuantity:
		if n.Name == "degree" {
			return f.summands(formula.Apply(formula.KindMultiply, n.Args[0], formula.Constant("pi")), new(big.Rat).Mul(c, big.NewRat(1, 180)), acc)
		}
	}
	coefficient, rest := f.coefficient(n)
	c = new(big.Rat).Mul(c, coefficient)
	if len(rest) == 1 && (rest[0].Kind == formula.KindAdd || rest[0].Kind == formula.KindDivide) && rest[0] != n {
		return f.summands(rest[0], c, acc)
	}
	v := uint64(1)
	for _, r := range rest {
		w, err := f.value(r)
		if err != nil {
			return nil, err
		}
		v = f.multiply(v, w)
	}
	return append(acc, summand{coefficient: c, value: v}), nil
}

// coefficient splits the numbers off a product.
func (f *field) coefficient(n *formula.Node) (*big.Rat, []*formula.Node) {
	switch n.Kind {
	case formula.KindNegate:
		c, rest := f.coefficient(n.Args[0])
		return new(big.Rat).Neg(c), rest
	case formula.KindMultiply:
		c := one
		var rest []*formula.Node
		for _, a := range n.Args {
			r, err := Exact{Steps: f.steps}.Value(a)
			if err == nil {
				c = new(big.Rat).Mul(c, r)
				continue
			}
			d, more := f.coefficient(a)
			c, rest = new(big.Rat).Mul(c, d), append(rest, more...)
		}
		return c, rest
	case formula.KindDivide:
		if d, err := (Exact{Steps: f.steps}).Value(n.Args[1]); err == nil && d.Sign() != 0 {
			c, rest := f.coefficient(n.Args[0])
			return new(big.Rat).Quo(c, d), rest
		}
		if r, err := (Exact{Steps: f.steps}).Value(n.Args[0]); err == nil && r.Cmp(one) != 0 {
			return r, []*formula.Node{formula.Divide(formula.Number(1), n.Args[1])}
		}
	}
	return one, []*formula.Node{n}
}

// steps returns unit times c, if that is an integer of moderate size.
func units(c *big.Rat) (int64, bool) {
	k := new(big.Rat).Mul(c, big.NewRat(unit, 1))
	if !k.IsInt() || k.Num().BitLen() > 40 {
		return 0, false
	}
	return k.Num().Int64(), true
}

// exponential evaluates e to a sum: the product of powers of elements, one for each value; e^(i pi) is a root of unity,
// and e^(ln u) is u.
func (f *field) exponential(terms []summand) (uint64, error) {
	acc := uint64(1)
	for _, t := range terms {
		if t.value == 0 || t.coefficient.Sign() == 0 {
			continue
		}
		if !f.steps.Spend(costInverse) {
			return 0, errBudget
		}
		if u, ok := f.logs[t.value]; ok && t.coefficient.IsInt() && t.coefficient.Num().IsInt64() {
			acc = f.multiply(acc, f.signed(u, t.coefficient.Num().Int64()))
			continue
		}
		k, ok := units(t.coefficient)
		if !ok { // an element of its own
			c, err := f.rational(t.coefficient)
			if err != nil {
				return 0, err
			}
			acc = f.multiply(acc, f.odds("exp", f.multiply(c, t.value)))
			continue
		}
		turn := f.multiply(f.i, f.pi())
		switch t.value {
		case turn:
			acc = f.multiply(acc, f.signed(f.zeta, k))
		case f.negate(turn):
			acc = f.multiply(acc, f.signed(f.zeta, -k))
		default:
			acc = f.multiply(acc, f.signed(f.odds("exp", t.value), k))
		}
	}
	return acc, nil
}

// odds returns the element of a function with f(-v) = 1/f(v).
func (f *field) odds(name string, v uint64) uint64 {
	w, same := f.canonical(v)
	r := f.random(name, w)
	if !same {
		r = f.inverse(r)
	}
	return r
}

// circle returns e^(i n).
func (f *field) circle(n *formula.Node) (uint64, error) {
	terms, err := f.summands(n, one, nil)
	if err != nil {
		return 0, err
	}
	for k := range terms {
		terms[k].value = f.multiply(terms[k].value, f.i)
	}
	return f.exponential(terms)
}

// logarithm returns ln n as a sum. Over the reals, that of a product is the sum of the factors', where all have one.
func (f *field) logarithm(n *formula.Node) ([]summand, error) {
	f.free = true
	if r, err := (Exact{Steps: f.steps}).Value(n); err == nil {
		if r.Sign() <= 0 {
			return nil, errIrrational
		}
		parts, ok := factors(r)
		if !ok {
			return nil, errIrrational
		}
		var out []summand
		for _, q := range parts {
			out = append(out, summand{coefficient: big.NewRat(int64(q.exponent), 1), value: f.noted(q.base%f.p, f.random("ln", q.base))})
		}
		return out, nil
	}
	if n.Kind == formula.KindConstant && n.Name == "e" {
		return []summand{{coefficient: one, value: 1, plain: true}}, nil
	}
	if !f.complex {
		scaled := func(m *formula.Node, c *big.Rat) ([]summand, error) {
			l, err := f.logarithm(m)
			for k := range l {
				l[k].coefficient = new(big.Rat).Mul(l[k].coefficient, c)
			}
			return l, err
		}
		switch n.Kind {
		case formula.KindMultiply, formula.KindDivide:
			var out []summand
			for k, a := range n.Args {
				c := one
				if k > 0 && n.Kind == formula.KindDivide {
					c = big.NewRat(-1, 1)
				}
				l, err := scaled(a, c)
				if err != nil {
					return nil, err
				}
				out = append(out, l...)
			}
			return out, nil
		case formula.KindPower:
			if e, err := (Exact{Steps: f.steps}).Value(n.Args[1]); err == nil {
				return scaled(n.Args[0], e)
			}
			if n.Args[0].Kind == formula.KindConstant && n.Args[0].Name == "e" {
				return f.summands(n.Args[1], one, nil)
			}
			l, err := f.logarithm(n.Args[0])
			if err != nil {
				return nil, err
			}
			v, err := f.value(n.Args[1])
			for k := range l {
				l[k].value, l[k].plain = f.multiply(l[k].value, v), false
			}
			return l, err
		case formula.KindCall:
			if k, ok := rootDegree(n); ok {
				return scaled(n.Args[0], big.NewRat(1, k))
			}
		}
	}
	v, err := f.value(n)
	if err != nil {
		return nil, err
	}
	if v == 0 {
		return nil, errUndefined
	}
	return []summand{{coefficient: one, value: f.noted(v, f.random("ln", v))}}, nil
}

// noted remembers that l is the logarithm of v.
func (f *field) noted(v, l uint64) uint64 {
	if f.logs == nil {
		f.logs = map[uint64]uint64{}
	}
	f.logs[l] = v
	return l
}

// total adds terms up.
func (f *field) total(terms []summand) (uint64, error) {
	acc := uint64(0)
	for _, t := range terms {
		c, err := f.rational(t.coefficient)
		if err != nil {
			return 0, err
		}
		acc = f.add(acc, f.multiply(c, t.value))
	}
	return acc, nil
}

func rootDegree(n *formula.Node) (int64, bool) {
	if n.Kind != formula.KindCall || n.Name != "root" {
		return 0, false
	}
	k, ok := n.Args[1].Integer()
	return int64(k), ok && k > 1
}

// primePower is a factor of a rational number.
type primePower struct {
	base     uint64
	exponent int
}

// factors writes a positive rational as a product of powers of small primes and of what is left of its numerator and
// denominator; false if these are too large.
func factors(r *big.Rat) (out []primePower, ok bool) {
	for sign, v := range map[int]*big.Int{1: r.Num(), -1: r.Denom()} {
		powers := [14]int{} // of the first six primes
		if v.BitLen() > 64 {
			if v.BitLen() > 1024 {
				return nil, false
			}
			rest, quotient, remainder := new(big.Int).Set(v), new(big.Int), new(big.Int)
			for _, q := range radicands[:6] { // up to 13
				for {
					quotient.QuoRem(rest, new(big.Int).SetUint64(q), remainder)
					if remainder.Sign() != 0 {
						break
					}
					rest.Set(quotient)
					powers[q]++
				}
			}
			if v = rest; !v.IsUint64() {
				return nil, false
			}
		}
		m := v.Uint64()
		for q := uint64(2); q < 1000 && (q*q <= m || q < uint64(len(powers))); q++ {
			k := 0
			if q < uint64(len(powers)) {
				k = powers[q]
			}
			for m%q == 0 {
				m /= q
				k++
			}
			if k > 0 {
				out = append(out, primePower{q, sign * k})
			}
		}
		if m > 1 {
			out = append(out, primePower{m, sign})
		}
	}
	slices.SortFunc(out, func(a, b primePower) int {
		switch {
		case a.base < b.base:
			return -1
		case a.base > b.base:
			return 1
		}
		return 0
	})
	return out, true
}

// root evaluates a k-th root. Those of a variable x = t^unit are powers of t; square roots of numbers are products of
// those of primes; of any other root one branch is taken.
func (f *field) root(n *formula.Node, k int64) (uint64, error) {
	if k < 2 || k > unit {
		return 0, errIrrational
	}
	r, err := Exact{Steps: f.steps}.Value(n)
	switch {
	case errors.Is(err, errBudget):
		return 0, err
	case err == nil:
		return f.numberRoot(r, k)
	case n.Kind == formula.KindSymbol && unit%k == 0:
		if v := f.find(n.Name); v != nil {
			f.free = true
			return f.power(v.t, uint64(unit/k)), nil
		}
	case n.Kind == formula.KindPower && !f.complex:
		if e, ok := n.Args[1].Integer(); ok && e != 0 {
			if k%2 == 0 && e%2 == 0 { // the root of w^2 is |w|
				v, err := f.magnitude(n.Args[0])
				if err != nil {
					return 0, err
				}
				if g := gcd(int64(e), k); g == k {
					return f.signed(v, int64(e)/k), nil
				}
			} else if n.Args[0].Kind == formula.KindSymbol {
				v, err := f.root(n.Args[0], k)
				return f.signed(v, int64(e)), err
			}
		}
	}
	if n.Kind == formula.KindDivide {
		if r, err := (Exact{Steps: f.steps}).Value(n.Args[0]); err == nil && r.Sign() > 0 { // the root of 2/x
			v, err := f.numberRoot(r, k)
			if err != nil {
				return 0, err
			}
			w, err := f.root(n.Args[1], k)
			if err == nil && w == 0 {
				err = errUndefined
			}
			return f.multiply(v, f.inverse(w)), err
		}
	}
	if c, rest := f.coefficient(n); c.Sign() > 0 && c.Cmp(one) != 0 && len(rest) > 0 {
		v, err := f.numberRoot(c, k)
		if err != nil {
			return 0, err
		}
		w, err := f.root(productOf(rest), k)
		return f.multiply(v, w), err
	}
	f.free = true
	v, err := f.value(n)
	switch {
	case err != nil || v == 0:
		return 0, err
	case !f.steps.Spend(4 * costInverse):
		return 0, errBudget
	case k == 2:
		s, ok := f.squareRoot(v)
		if !ok {
			return 0, errUndefined
		}
		first, err := f.branch(f.random("branch", v))
		if !first {
			s = f.negate(s)
		}
		return s, err
	case k%2 == 1 && !f.complex:
		return f.odd("root", f.multiply(v, uint64(k))), nil
	}
	return f.random("root", v, uint64(k)), nil
}

// productOf is the product of nodes.
func productOf(ns []*formula.Node) *formula.Node {
	if len(ns) == 1 {
		return ns[0]
	}
	return formula.Apply(formula.KindMultiply, ns...)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return abs64(a)
}

// numberRoot evaluates the k-th root of a number.
func (f *field) numberRoot(r *big.Rat, k int64) (uint64, error) {
	if k <= 64 {
		if v, ok := (Exact{Steps: f.steps}).root(r, int(k)); ok {
			return f.rational(v)
		}
	}
	acc := uint64(1)
	if r.Sign() < 0 {
		if k%2 == 0 && !f.complex || k != 2 {
			return 0, errIrrational
		}
		acc, r = f.i, new(big.Rat).Neg(r)
	}
	parts, ok := factors(r)
	if !ok {
		return 0, errIrrational
	}
	if !f.steps.Spend(costInverse * (2 + len(parts))) {
		return 0, errBudget
	}
	for _, q := range parts {
		e := int64(q.exponent)
		whole := e / k
		if e%k < 0 {
			whole--
		}
		acc = f.multiply(acc, f.signed(q.base%f.p, whole))
		rest := e - whole*k
		switch {
		case rest == 0:
		case 2*rest == k:
			j := slices.Index(radicands[:], q.base)
			s := uint64(0)
			if j >= 0 {
				s = f.roots[j]
			} else if q.base < 1_000_000 { // a prime, as no factor below a thousand is left
				var ok bool
				if s, ok = f.squareRoot(q.base); !ok {
					return 0, errUndefined
				}
			} else {
				return 0, errIrrational
			}
			acc = f.multiply(acc, s)
		default:
			acc = f.multiply(acc, f.power(f.random("surd", q.base, uint64(k/gcd(rest, k))), uint64(rest/gcd(rest, k))))
		}
	}
	return acc, nil
}

// magnitude evaluates |n|, that of a product as the product of the factors'.
func (f *field) magnitude(n *formula.Node) (uint64, error) {
	if r, err := (Exact{Steps: f.steps}).Value(n); err == nil {
		return f.rational(new(big.Rat).Abs(r))
	}
	acc := uint64(1)
	switch n.Kind {
	case formula.KindNegate:
		return f.magnitude(n.Args[0])
	case formula.KindMultiply, formula.KindDivide:
		for k, a := range n.Args {
			v, err := f.magnitude(a)
			if err != nil {
				return 0, err
			}
			if k > 0 && n.Kind == formula.KindDivide {
				if v == 0 {
					return 0, errUndefined
				}
				v = f.inverse(v)
			}
			acc = f.multiply(acc, v)
		}
		return acc, nil
	case formula.KindPower:
		if e, ok := n.Args[1].Integer(); ok {
			if e%2 == 0 {
				return f.value(n)
			}
			v, err := f.magnitude(n.Args[0])
			if err == nil && v == 0 && e < 0 {
				err = errUndefined
			}
			return f.signed(v, int64(e)), err
		}
	}
	v, err := f.value(n)
	if err != nil {
		return 0, err
	}
	if s, ok := f.signOf(n); ok {
		if s < 0 {
			v = f.negate(v)
		}
		return v, nil
	}
	return f.absolute(v)
}

// call evaluates a function by its laws, or as a random element.
func (f *field) call(n *formula.Node) (uint64, error) {
	// What is constant and rational, such as 5! or a binomial coefficient, has a value in every field.
	if r, err := (Exact{Steps: f.steps}).Value(n); err == nil {
		return f.rational(r)
	} else if errors.Is(err, errBudget) {
		return 0, err
	}
	switch n.Name {
	case "root":
		if k, ok := rootDegree(n); ok {
			return f.root(n.Args[0], k)
		}
		return 0, errIrrational
	case "ln":
		l, err := f.logarithm(n.Args[0])
		if err != nil {
			return 0, err
		}
		v, err := f.total(l)
		if err == nil && f.complex {
			return v, nil
		}
		if w, e := f.value(n.Args[0]); err == nil && e == nil {
			f.noted(w, v)
		}
		return v, err
	case "log":
		l, err := f.logarithm(n.Args[0])
		if err != nil {
			return 0, err
		}
		v, err := f.total(l)
		if err != nil || len(n.Args) == 1 {
			return v, err
		}
		if l, err = f.logarithm(n.Args[1]); err != nil {
			return 0, err
		}
		b, err := f.total(l)
		if err == nil && b == 0 {
			err = errUndefined
		}
		return f.multiply(v, f.inverse(b)), err
	case "sin", "cos", "tan", "cot", "sec", "csc":
		if !f.steps.Spend(3 * costInverse) {
			return 0, errBudget
		}
		z, err := f.circle(n.Args[0])
		if err != nil {
			return 0, err
		}
		w := f.inverse(z)
		return f.ratio(n.Name[:3], f.half(f.multiply(f.add(w, f.negate(z)), f.i)), f.half(f.add(z, w)))
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		if !f.steps.Spend(3 * costInverse) {
			return 0, errBudget
		}
		terms, err := f.summands(n.Args[0], one, nil)
		if err != nil {
			return 0, err
		}
		z, err := f.exponential(terms)
		if err != nil {
			return 0, err
		}
		w := f.inverse(z)
		return f.ratio(n.Name[:3], f.half(f.add(z, f.negate(w))), f.half(f.add(z, w)))
	case "abs", "sign":
		if f.complex {
			break
		}
		v, err := f.magnitude(n.Args[0])
		if err != nil || n.Name == "abs" {
			return v, err
		}
		u, err := f.value(n.Args[0])
		if err == nil && u == 0 {
			err = errUndefined
		}
		return f.multiply(v, f.inverse(u)), err
	case "max", "min":
		return f.extreme(n)
	case "floor", "ceil":
		return f.whole(n.Args[0], n.Name == "ceil")
	case "mod":
		m, err := Exact{Steps: f.steps}.Value(n.Args[1])
		if err != nil || m.Sign() <= 0 {
			break
		}
		a, err := f.value(n.Args[0])
		if err != nil {
			return 0, err
		}
		q, err := f.whole(formula.Divide(n.Args[0], n.Args[1]), false)
		if err != nil {
			return 0, err
		}
		b, err := f.rational(m)
		return f.add(a, f.negate(f.multiply(b, q))), err
	case "factorial":
		return f.factorial(n.Args[0])
	case "binom", "arrangements":
		return f.selections(n)
	case "sum", "prod":
		return f.series(n)
	case "det":
		return f.determinant(n.Args[0])
	}
	vs := make([]uint64, len(n.Args))
	for k, a := range n.Args {
		v, err := f.value(a)
		if err != nil {
			return 0, err
		}
		vs[k] = v
	}
	quarter := func() uint64 { return f.half(f.pi()) }
	switch n.Name {
	case "arcsin", "arctan", "arsinh", "artanh":
		return f.odd(n.Name, vs[0]), nil
	case "arccos":
		return f.add(quarter(), f.negate(f.odd("arcsin", vs[0]))), nil
	case "arccot":
		return f.add(quarter(), f.negate(f.odd("arctan", vs[0]))), nil
	case "gcd", "lcm":
		slices.Sort(vs)
	}
	return f.random(n.Name, vs...), nil
}

// ratio returns the function of the given name from sine and cosine, circular or hyperbolic.
func (f *field) ratio(name string, s, c uint64) (uint64, error) {
	over := func(a, b uint64) (uint64, error) {
		if b == 0 {
			return 0, errUndefined
		}
		return f.multiply(a, f.inverse(b)), nil
	}
	switch name {
	case "sin":
		return s, nil
	case "cos":
		return c, nil
	case "tan":
		return over(s, c)
	case "cot":
		return over(c, s)
	case "sec":
		return over(1, c)
	}
	return over(1, s)
}

// extreme evaluates a maximum or minimum: (a+b±|a-b|)/2.
func (f *field) extreme(n *formula.Node) (uint64, error) {
	acc, err := f.value(n.Args[0])
	if err != nil {
		return 0, err
	}
	for _, a := range n.Args[1:] {
		v, err := f.value(a)
		if err != nil {
			return 0, err
		}
		d, err := f.absolute(f.add(acc, f.negate(v)))
		if err != nil {
			return 0, err
		}
		if n.Name == "min" {
			d = f.negate(d)
		}
		acc = f.half(f.add(f.add(acc, v), d))
	}
	return acc, nil
}

// apart splits the integer that is added off a sum: the rest and the integer.
func (f *field) apart(n *formula.Node) (rest uint64, whole *big.Int, err error) {
	terms, err := f.summands(n, one, nil)
	if err != nil {
		return 0, nil, err
	}
	plain := new(big.Rat)
	for _, t := range terms {
		if t.plain {
			plain.Add(plain, t.coefficient)
		}
	}
	whole = new(big.Int).Div(plain.Num(), plain.Denom())
	v, err := f.total(terms)
	return f.add(v, f.negate(f.reduce(whole))), whole, err
}

// whole evaluates floor or ceiling; that of u+3 is 3 more than that of u.
func (f *field) whole(n *formula.Node, up bool) (uint64, error) {
	if up {
		n = formula.Negate(n)
	}
	rest, whole, err := f.apart(n)
	if err != nil {
		return 0, err
	}
	v := f.reduce(whole)
	if rest != 0 {
		v = f.add(v, f.random("floor", rest))
	}
	if up {
		v = f.negate(v)
	}
	return v, nil
}

// factorial evaluates n!; that of n+2 is (n+2)(n+1) n!.
func (f *field) factorial(n *formula.Node) (uint64, error) {
	if r, err := (Exact{Steps: f.steps}).Value(formula.Call("factorial", n)); err == nil {
		return f.rational(r)
	}
	rest, whole, err := f.apart(n)
	if err != nil {
		return 0, err
	}
	if whole.BitLen() > 8 || whole.Sign() < 0 && !f.steps.Spend(costInverse*int(-whole.Int64())) {
		return f.random("factorial", f.add(rest, f.reduce(whole))), nil
	}
	v, k := f.random("factorial", rest), whole.Int64()
	for j := int64(1); j <= k; j++ {
		v = f.multiply(v, f.add(rest, uint64(j)))
	}
	for j := int64(0); j > k; j-- {
		d := f.add(rest, f.negate(uint64(-j)))
		if d == 0 {
			return 0, errUndefined
		}
		v = f.multiply(v, f.inverse(d))
	}
	return v, nil
}

// selections evaluates binomial coefficients and numbers of arrangements: falling factorials, or n!/(k! (n-k)!).
func (f *field) selections(n *formula.Node) (uint64, error) {
	of, k := n.Args[0], n.Args[1]
	if r, err := (Exact{Steps: f.steps}).Value(k); err == nil && r.IsInt() && r.Sign() >= 0 && r.Num().BitLen() <= 7 {
		f.free = true // zero for n < k, but undefined below zero
		v, err := f.value(of)
		if err != nil {
			return 0, err
		}
		acc := uint64(1)
		if !f.steps.Spend(costInverse * int(r.Num().Uint64())) {
			return 0, errBudget
		}
		for j := uint64(0); j < r.Num().Uint64(); j++ {
			acc = f.multiply(acc, f.add(v, f.negate(j)))
			if n.Name == "binom" {
				acc = f.multiply(acc, f.inverse(j+1))
			}
		}
		return acc, nil
	}
	v, err := f.factorial(of)
	if err != nil {
		return 0, err
	}
	below := []*formula.Node{formula.Subtract(of, k)}
	if n.Name == "binom" {
		below = append(below, k)
	}
	for _, b := range below {
		w, err := f.factorial(b)
		switch {
		case err != nil:
			return 0, err
		case w == 0:
			return 0, errUndefined
		}
		v = f.multiply(v, f.inverse(w))
	}
	return v, nil
}

// series evaluates a sum or product as a function of its bounds and of its term at a random index.
func (f *field) series(n *formula.Node) (uint64, error) {
	if infinity(n.Args[2]) != 0 || infinity(n.Args[3]) != 0 {
		return 0, errIrrational
	}
	inner := *f
	inner.depth++
	inner.at = append([]unknownAt{f.draw(n.Args[1].Name, f.random("index", uint64(inner.depth)))}, f.at...)
	body, err := inner.value(n.Args[0])
	f.coins, f.free = inner.coins, true
	if !f.steps.Spend(len(f.at) + 16*costPower) {
		return 0, errBudget
	}
	if err != nil {
		return 0, err
	}
	lo, err := f.value(n.Args[2])
	if err != nil {
		return 0, err
	}
	hi, err := f.value(n.Args[3])
	if err != nil {
		return 0, err
	}
	return f.random(n.Name, body, lo, hi), nil
}

// determinant eliminates.
func (f *field) determinant(m *formula.Node) (uint64, error) {
	if m.Kind != formula.KindMatrix || m.Cols*m.Cols != len(m.Args) || m.Cols > formula.MaxElimination {
		return 0, errIrrational
	}
	n := m.Cols
	if !f.steps.Spend(n * n * n) {
		return 0, errBudget
	}
	rows := make([][]uint64, n)
	for i := range rows {
		for j := range n {
			v, err := f.value(m.Args[i*n+j])
			if err != nil {
				return 0, err
			}
			rows[i] = append(rows[i], v)
		}
	}
	det := uint64(1)
	for c := range n {
		pivot := c
		for pivot < n && rows[pivot][c] == 0 {
			pivot++
		}
		if pivot == n {
			return 0, nil
		}
		if pivot != c {
			rows[pivot], rows[c] = rows[c], rows[pivot]
			det = f.negate(det)
		}
		det = f.multiply(det, rows[c][c])
		if !f.steps.Spend(costInverse) {
			return 0, errBudget
		}
		inverse := f.inverse(rows[c][c])
		for r := c + 1; r < n; r++ {
			q := f.negate(f.multiply(rows[r][c], inverse))
			for k := c; k < n; k++ {
				rows[r][k] = f.add(rows[r][k], f.multiply(q, rows[c][k]))
			}
		}
	}
	return det, nil
}

// degree bounds the degree of n in the elements that are drawn for it, and the largest degree of an argument on which it
// depends whether two values of a function are taken for one. What a function gives is an element of its own, of which
// powers up to unit times the coefficients of its argument are taken.
func degree(n *formula.Node) (own, inner float64) {
	for _, a := range n.Args {
		o, i := degree(a)
		own, inner = own+o, max(inner, i)
	}
	fresh := func(args ...*formula.Node) float64 {
		e := float64(unit)
		for _, a := range args {
			e *= coefficients(a)
		}
		return e
	}
	switch n.Kind {
	case formula.KindSymbol, formula.KindConstant:
		return unit, 0
	case formula.KindPower:
		if k, ok := n.Args[1].Integer(); ok {
			return own * math.Abs(float64(k)), inner
		}
		return own + fresh(n.Args[1]), max(inner, own)
	case formula.KindCall:
		switch n.Name {
		case "abs", "sign", "root", "max", "min", "det":
			return own, inner
		}
		return own + fresh(n.Args...), max(inner, own)
	}
	return own, inner
}

// coefficients bounds the numbers by which the terms of an argument are multiplied.
func coefficients(n *formula.Node) float64 {
	if n.Rat != nil {
		f, _ := n.Rat.Float64()
		return min(1+math.Abs(f), 1<<41) // larger ones are not taken as exponents
	}
	e := 1.0
	if n.Kind != formula.KindCall {
		for _, a := range n.Args {
			e = min(e*coefficients(a), 1<<41)
		}
	}
	return e
}

// points of a field that have to agree.
const agreements = 4

// formal decides whether two expressions are the same by the laws of algebra. It says equal if they are; different only
// if they are rational functions, but for pi and square roots of numbers; else it says unknown.
func (c *Comparer) formal(a, b *formula.Node, names []string, seed uint64, complex bool) Result {
	ownA, innerA := degree(a)
	ownB, innerB := degree(b)
	calls := float64(a.Weight() + b.Weight())
	margin := 60 - math.Log2(1+ownA+ownB+calls*calls*max(innerA, innerB))
	if !(margin >= 12) {
		return Unknown("")
	}
	coins := 0
	f := field{steps: c.Steps, complex: complex}
	for round := range agreements {
		r := f.agree(a, b, names, &seed, round)
		if r != OutcomeEqual {
			return Result{Outcome: r, Rule: ruleModular}
		}
		coins = max(coins, f.most)
	}
	r := Result{Outcome: OutcomeEqual, Rule: ruleModular, proof: ProofModular, bits: math.Floor(agreements * margin)}
	if coins > 0 {
		r.Rule, r.proof = ruleCells, ProofPiecewise
	}
	return r
}

// agree compares two expressions at a random point, for every pattern of branches there; at another if one of them has no
// value. It says different only if no function without laws and no branch took part.
func (f *field) agree(a, b *formula.Node, names []string, seed *uint64, round int) Outcome {
	const tries = 48
	for try := range tries {
		f.prime = fields()[(round+try)%len(fields())]
		start := next(seed)
		f.most = 0
		for f.pattern = 0; ; f.pattern++ {
			if f.pattern == 1<<f.most {
				return OutcomeEqual
			}
			va, vb, err := f.both(a, b, names, start)
			if errors.Is(err, errUndefined) {
				break
			}
			switch {
			case err != nil:
				return OutcomeUnknown
			case va == vb:
			case f.free || len(f.coins) > 0:
				return OutcomeUnknown
			default:
				return OutcomeDifferent
			}
			f.most = max(f.most, len(f.coins))
		}
	}
	return OutcomeUnknown
}

// both evaluates two expressions at the point that seed draws.
func (f *field) both(a, b *formula.Node, names []string, seed uint64) (va, vb uint64, err error) {
	f.seed, f.at, f.logs, f.coins, f.free = next(&seed), f.at[:0], nil, f.coins[:0], false
	if !f.steps.Spend(13 * costPower * len(names)) {
		return 0, 0, errBudget
	}
	for _, name := range names {
		f.at = append(f.at, f.draw(name, next(&seed)))
	}
	if va, err = f.value(a); err == nil {
		vb, err = f.value(b)
	}
	return va, vb, err
}

// signOf returns the sign of a real constant, where a few digits show it.
func (f *field) signOf(n *formula.Node) (int, bool) {
	if f.complex || len(formula.Variables(n)) > 0 {
		return 0, false
	}
	x := numeric{real: real{prec: 128, steps: f.steps}}
	v, err := x.value(n)
	if err != nil || !v.real() || v.mayVanish() {
		return 0, false
	}
	return v.re.Sign(), true
}
