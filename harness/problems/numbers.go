// Arithmetic that topics need.

package problems

import "math/big"

// Integer functions on which the topics rest. Arguments are positive unless said otherwise.

func gcd(a, b int64) int64 {
	return new(big.Int).GCD(nil, nil, big.NewInt(a), big.NewInt(b)).Int64()
}

// powMod returns b^e mod m.
func powMod(b, e, m int64) int64 {
	return new(big.Int).Exp(big.NewInt(b), big.NewInt(e), big.NewInt(m)).Int64()
}

// power is a prime power in a factorisation.
type power struct{ p, e int64 }

// factor returns the factorisation of n by trial division, primes increasing.
func factor(n int64) []power {
	var out []power
	for p := int64(2); p*p <= n; p++ {
		if p > 3 && p%2 == 0 {
			continue
		}
		e := int64(0)
		for n%p == 0 {
			n, e = n/p, e+1
		}
		if e > 0 {
			out = append(out, power{p, e})
		}
	}
	if n > 1 {
		out = append(out, power{n, 1})
	}
	return out
}

// nextPrime returns the smallest prime greater than n.
func nextPrime(n int64) int64 {
	for n++; !isPrime(n); n++ {
	}
	return n
}

// isPrime is certain: ProbablyPrime makes no mistake below 2^64.
func isPrime(n int64) bool { return big.NewInt(n).ProbablyPrime(0) }

// digitSum returns the sum of the base-b digits of n.
func digitSum(n, b int64) int64 {
	s := int64(0)
	for ; n > 0; n /= b {
		s += n % b
	}
	return s
}

// choose returns the binomial coefficient, and 0 if it exceeds maxValue; k is small and may be 0.
func choose(n, k int64) int64 {
	out := new(big.Int).Binomial(n, k)
	if out.Cmp(big.NewInt(maxValue)) > 0 {
		return 0
	}
	return out.Int64()
}

func abs(n int64) int64 { return max(n, -n) }
