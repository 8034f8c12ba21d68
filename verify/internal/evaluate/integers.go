// Small facts about numbers and nodes that evaluating needs.

package evaluate

import (
	"math/big"
	"slices"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// Radicands are the primes whose square roots exist modulo each of the primes.
var Radicands = [...]uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47}

func RootDegree(n *formula.Node) (int64, bool) {
	if n.Kind != formula.KindCall || n.Name != "root" {
		return 0, false
	}
	k, ok := n.Args[1].Integer()
	return int64(k), ok && k > 1
}

// primePower is a factor of a rational number.
type primePower struct {
	Base     uint64
	Exponent int
}

// Factors writes a positive rational as a product of powers of small primes and of what is left of its numerator and
// denominator; false if these are too large.
func Factors(r *big.Rat) (out []primePower, ok bool) {
	for sign, v := range map[int]*big.Int{1: r.Num(), -1: r.Denom()} {
		powers := [14]int{} // of the first six primes
		if v.BitLen() > 64 {
			if v.BitLen() > 1024 {
				return nil, false
			}
			rest, quotient, remainder := new(big.Int).Set(v), new(big.Int), new(big.Int)
			for _, q := range Radicands[:6] { // up to 13
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
		case a.Base < b.Base:
			return -1
		case a.Base > b.Base:
			return 1
		}
		return 0
	})
	return out, true
}

func Gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return Abs64(a)
}

// Infinity returns the sign of a node that is plus or minus infinity, and 0 for others.
func Infinity(n *formula.Node) int {
	switch {
	case n.Kind == formula.KindConstant && n.Name == "infinity":
		return 1
	case n.Kind == formula.KindNegate:
		return -Infinity(n.Args[0])
	}
	return 0
}
