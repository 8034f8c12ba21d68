// The value of arithmetic as models write it out: 3 * (4 + 5), 7^2, 145 // 15.

package publisher

import (
	"math/big"
	"strings"
)

// value is the value of a formula of numbers, the four operations, // for the quotient rounded down, ^ or ** for whole powers, and
// parentheses; nil: it is none, or has none.
func value(formula string) *big.Rat {
	f := &arithmetic{rest: strings.TrimSpace(formula)}
	if n := f.sum(); n != nil && f.rest == "" {
		return n
	}
	return nil
}

// arithmetic is what is left to be read of a formula. What its methods cannot read they return as nil.
type arithmetic struct {
	rest string
	deep int
}

// The deepest parentheses, the largest exponent, and the longest number to which one is applied, in bits.
const (
	deepest     = 50
	highest     = 100
	longestBase = 1000
)

// take reads one of several signs, longer ones given first; "": none of them is there.
func (f *arithmetic) take(signs ...string) string {
	for _, s := range signs {
		if rest, ok := strings.CutPrefix(f.rest, s); ok {
			f.rest = strings.TrimSpace(rest)
			return s
		}
	}
	return ""
}

func (f *arithmetic) sum() *big.Rat {
	n := f.product()
	for n != nil {
		sign := f.take("+", "-")
		if sign == "" {
			break
		}
		m := f.product()
		if m == nil {
			return nil
		}
		if sign == "-" {
			m.Neg(m)
		}
		n.Add(n, m)
	}
	return n
}

func (f *arithmetic) product() *big.Rat {
	n := f.signed()
	for n != nil && !strings.HasPrefix(f.rest, "**") {
		sign := f.take("*", "//", "/")
		if sign == "" {
			break
		}
		m := f.signed()
		if m == nil || sign != "*" && m.Sign() == 0 {
			return nil
		}
		if sign == "*" {
			n.Mul(n, m)
			continue
		}
		if n.Quo(n, m); sign == "//" {
			n.SetInt(new(big.Int).Div(n.Num(), n.Denom()))
		}
	}
	return n
}

func (f *arithmetic) signed() *big.Rat {
	sign := f.take("+", "-")
	if sign == "" {
		return f.power()
	}
	if f.deep++; f.deep > deepest {
		return nil
	}
	n := f.signed()
	f.deep--
	if n != nil && sign == "-" {
		n.Neg(n)
	}
	return n
}

func (f *arithmetic) power() *big.Rat {
	n := f.single()
	if n == nil || f.take("^", "**") == "" {
		return n
	}
	e := f.signed()
	if e == nil || !e.IsInt() || new(big.Rat).Abs(e).Cmp(big.NewRat(highest, 1)) > 0 || e.Sign() < 0 && n.Sign() == 0 || max(n.Num().BitLen(), n.Denom().BitLen()) > longestBase {
		return nil
	}
	by := e.Num()
	if e.Sign() < 0 {
		n.Inv(n)
		by = new(big.Int).Neg(by)
	}
	return new(big.Rat).SetFrac(new(big.Int).Exp(n.Num(), by, nil), new(big.Int).Exp(n.Denom(), by, nil))
}

// single reads a number or what is in parentheses.
func (f *arithmetic) single() *big.Rat {
	if f.take("(") != "" {
		if f.deep++; f.deep > deepest {
			return nil
		}
		n := f.sum()
		f.deep--
		if f.take(")") == "" {
			return nil
		}
		return n
	}
	to := 0
	for to < len(f.rest) && strings.IndexByte("0123456789.", f.rest[to]) >= 0 {
		to++
	}
	n, ok := new(big.Rat).SetString(f.rest[:to])
	if !ok {
		return nil
	}
	f.rest = strings.TrimSpace(f.rest[to:])
	return n
}
