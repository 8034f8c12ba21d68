// Rational numbers in machine words.

package evaluate

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// shortRat is a rational number in lowest terms whose parts fit into machine words; den is positive.
type shortRat struct{ num, den int64 }

// binding is the value of a variable.
type binding struct {
	name  string
	value shortRat
}

func (f shortRat) rat() *big.Rat {
	if f.den == 1 {
		return formula.Whole(f.num)
	}
	r := new(big.Rat).SetInt64(f.num)
	r.Denom().SetInt64(f.den) // without looking for common divisors once more
	return r
}

// shortOf returns r as a shortRat; false if it is too large.
func shortOf(r *big.Rat) (shortRat, bool) {
	n, d := r.Num(), r.Denom()
	return shortRat{n.Int64(), d.Int64()}, n.BitLen() < 63 && d.BitLen() < 63
}

// productOfWords multiplies; false on overflow.
func productOfWords(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(Abs64(a)), uint64(Abs64(b)))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

func sumOfWords(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0) && s != math.MinInt64
}

func (f shortRat) times(g shortRat) (shortRat, bool) {
	p, q := Gcd(f.num, g.den), Gcd(g.num, f.den)
	if p == 0 || q == 0 { // one of them is zero
		return shortRat{0, 1}, true
	}
	n, ok := productOfWords(f.num/p, g.num/q)
	d, fine := productOfWords(f.den/q, g.den/p)
	return shortRat{n, d}, ok && fine
}

func (f shortRat) plus(g shortRat) (shortRat, bool) {
	if f.den == 1 && g.den == 1 {
		n, ok := sumOfWords(f.num, g.num)
		return shortRat{n, 1}, ok
	}
	c := Gcd(f.den, g.den)
	a, ok1 := productOfWords(f.num, g.den/c)
	b, ok2 := productOfWords(g.num, f.den/c)
	d, ok3 := productOfWords(f.den/c, g.den)
	n, ok4 := sumOfWords(a, b)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return shortRat{}, false
	}
	if c = Gcd(n, d); c > 1 {
		n, d = n/c, d/c
	}
	return shortRat{n, d}, true
}

func (f shortRat) inverse() shortRat {
	if f.num < 0 {
		return shortRat{-f.den, -f.num}
	}
	return shortRat{f.den, f.num}
}

// small evaluates what is made of + - * / and integer powers and stays small on the way; false for anything else. It is
// what most answers are, and takes no memory.
func (x Exact) small(n *formula.Node) (shortRat, bool) {
	if !x.Steps.Spend(2) {
		return shortRat{}, false
	}
	switch n.Kind {
	case formula.KindNumber, formula.KindBased:
		return shortOf(n.Rat)
	case formula.KindSymbol:
		for k := len(x.bound) - 1; k >= 0; k-- {
			if x.bound[k].name == n.Name {
				return x.bound[k].value, true
			}
		}
		if v, ok := x.At[n.Name]; ok {
			return shortOf(v)
		}
	case formula.KindNegate:
		f, ok := x.small(n.Args[0])
		return shortRat{-f.num, f.den}, ok
	case formula.KindAdd, formula.KindMultiply:
		acc, ok := x.small(n.Args[0])
		for _, a := range n.Args[1:] {
			if !ok {
				break
			}
			var f shortRat
			if f, ok = x.small(a); !ok {
				break
			}
			if n.Kind == formula.KindAdd {
				acc, ok = acc.plus(f)
			} else {
				acc, ok = acc.times(f)
			}
		}
		return acc, ok
	case formula.KindDivide:
		a, ok := x.small(n.Args[0])
		if !ok {
			break
		}
		b, ok := x.small(n.Args[1])
		if !ok || b.num == 0 {
			break
		}
		return a.times(b.inverse())
	case formula.KindPower:
		a, ok := x.small(n.Args[0])
		if !ok {
			break
		}
		e, ok := x.small(n.Args[1])
		if !ok || e.den != 1 || Abs64(e.num) > 64 || a.num == 0 {
			break
		}
		if e.num < 0 {
			a = a.inverse()
		}
		acc := shortRat{1, 1}
		for range Abs64(e.num) {
			if acc, ok = acc.times(a); !ok {
				break
			}
		}
		return acc, ok
	}
	return shortRat{}, false
}

// smallSeries adds or multiplies the terms of a sum or product that stays small.
func (x Exact) smallSeries(n *formula.Node, from, to int64) (shortRat, bool) {
	x.bound = append(append([]binding(nil), x.bound...), binding{name: n.Args[1].Name})
	index := &x.bound[len(x.bound)-1].value
	acc := shortRat{0, 1}
	if n.Name == "prod" {
		acc.num = 1
	}
	for k := from; k <= to; k++ {
		*index = shortRat{k, 1}
		v, ok := x.small(n.Args[0])
		if !ok {
			return acc, false
		}
		if n.Name == "sum" {
			acc, ok = acc.plus(v)
		} else {
			acc, ok = acc.times(v)
		}
		if !ok {
			return acc, false
		}
	}
	return acc, true
}
