// Answers as they are written: fractions, radicals, sets, intervals.

package problems

import (
	"math/big"
	"slices"
	"strings"
)

// The functions of this file write exact values in LaTeX.

// fraction writes num/den in lowest terms; den must not be 0.
func fraction(num, den int64) string {
	q := big.NewRat(num, den)
	if q.IsInt() {
		return q.Num().String()
	}
	sign := ""
	if q.Sign() < 0 {
		sign = "-"
	}
	return sign + `\frac{` + new(big.Int).Abs(q.Num()).String() + "}{" + q.Denom().String() + "}"
}

// splitSquare writes n as outer^2 * inner with square-free inner; n must be positive.
func splitSquare(n int64) (outer, inner int64) {
	outer, inner = 1, 1
	rest := n
	for p := int64(2); p*p*p <= rest; p++ {
		for rest%(p*p) == 0 {
			outer, rest = outer*p, rest/(p*p)
		}
		if rest%p == 0 {
			inner, rest = inner*p, rest/p
		}
	}
	// What is left has at most two prime factors, neither below the last p.
	if s := isqrt(rest); s*s == rest {
		return outer * s, inner
	}
	return outer, inner * rest
}

// isqrt returns the largest integer whose square is at most n; n must not be negative.
func isqrt(n int64) int64 { return new(big.Int).Sqrt(big.NewInt(n)).Int64() }

// radical writes k*sqrt(n) simplified; k and n must be positive.
func radical(k, n int64) string {
	outer, inner := splitSquare(n)
	return times(k*outer, inner)
}

// times writes k*sqrt(n) as it is, for square-free n.
func times(k, n int64) string {
	switch {
	case n == 1:
		return itoa(k)
	case k == 1:
		return `\sqrt{` + itoa(n) + "}"
	}
	return itoa(k) + `\sqrt{` + itoa(n) + "}"
}

// set writes the distinct members in increasing order.
func set(members ...int64) string {
	members = slices.Clone(members)
	slices.Sort(members)
	return `\{` + join(slices.Compact(members)) + `\}`
}

// tuple writes the members in order.
func tuple(members ...int64) string { return "(" + join(members) + ")" }

func join(members []int64) string {
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = itoa(m)
	}
	return strings.Join(parts, ", ")
}

// polynomial writes the polynomial in x with the given coefficients, the leading one first.
func polynomial(coefs ...int64) string {
	var b strings.Builder
	for i, c := range coefs {
		power := len(coefs) - 1 - i
		if c == 0 {
			continue
		}
		switch {
		case c < 0 && b.Len() == 0:
			b.WriteString("-")
		case c < 0:
			b.WriteString(" - ")
		case b.Len() > 0:
			b.WriteString(" + ")
		}
		if abs := max(c, -c); abs != 1 || power == 0 {
			b.WriteString(itoa(abs))
		}
		switch {
		case power == 1:
			b.WriteString("x")
		case power > 1:
			b.WriteString("x^{" + itoa(int64(power)) + "}")
		}
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}

// decimal writes num/den as a finite decimal; den must divide a power of ten not above 10^6.
func decimal(num, den int64) string {
	s := big.NewRat(num, den).FloatString(6)
	s = strings.TrimRight(s, "0")
	return strings.TrimSuffix(s, ".")
}
