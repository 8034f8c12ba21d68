// Arithmetic that topics need.

package problems

// Integer functions on which the topics rest. Arguments are positive unless said otherwise.

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// powMod returns b^e mod m for m below 2^31.
func powMod(b, e, m int64) int64 {
	out := int64(1) % m
	for b %= m; e > 0; e >>= 1 {
		if e&1 == 1 {
			out = out * b % m
		}
		b = b * b % m
	}
	return out
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

func isPrime(n int64) bool {
	if n < 4 {
		return n >= 2
	}
	if n%2 == 0 || n%3 == 0 {
		return false
	}
	for p := int64(5); p*p <= n; p += 6 {
		if n%p == 0 || n%(p+2) == 0 {
			return false
		}
	}
	return true
}

// digitSum returns the sum of the base-b digits of n.
func digitSum(n, b int64) int64 {
	s := int64(0)
	for ; n > 0; n /= b {
		s += n % b
	}
	return s
}

// choose returns the binomial coefficient, and 0 if it exceeds maxValue. n must not exceed nine million, so that no
// product overflows; k may be 0.
func choose(n, k int64) int64 {
	if k > n {
		return 0
	}
	out := int64(1)
	for i := range k {
		if out = out * (n - i) / (i + 1); out > maxValue {
			return 0
		}
	}
	return out
}

func abs(n int64) int64 { return max(n, -n) }
