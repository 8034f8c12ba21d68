// How large numbers may become, and how much work a verdict may take.

package formula

import (
	"math"
	"math/big"
	"math/bits"
)

// Size returns the bits of r.
func Size(r *big.Rat) int { return r.Num().BitLen() + r.Denom().BitLen() }

// The limits of one verdict. They are part of the policy: a pair beyond them is unknown, on every machine and under
// every load, because work is counted and never timed.
const (
	MaxAnswer   = 32 << 10  // bytes of one extracted answer or ground truth
	maxTokens   = 8 << 10   // tokens of one answer
	maxDepth    = 200       // nesting of brackets, fractions, exponents
	MaxBits     = 1 << 16   // bits of an integer that is written out
	MaxElements = 4_096     // elements of a collection
	MaxSteps    = 1_000_000 // steps of one verdict; a step is worth about ten nanoseconds of one core
	maxWrappers = 8         // boxes, braces and announcements around one answer that are taken off
	MaxBoxes    = 64        // adjacent boxes read as one list

	MaxBareResponse = 256 // bytes of a response that may be nothing but its answer
)

// CostExact is what an operation on small rationals is charged, in steps.
const CostExact = 28

// Budget counts the work of one verdict. Once spent it stays spent, and the verdict is unknown.
type Budget struct{ Left int }

// Spend charges n steps and reports whether they were there.
func (b *Budget) Spend(n int) bool {
	if b.Left < n {
		b.Left = 0
		return false
	}
	b.Left -= n
	return true
}

// Exhaust notes that a limit was met, after which nothing is decided any more.
func (b *Budget) Exhaust() { b.Left = 0 }

// Spent reports whether the budget ran out.
func (b *Budget) Spent() bool { return b.Left == 0 }

// Rationals charges an operation on two rational numbers, whose result is brought to lowest terms unless both are
// integers: that takes about ten nanoseconds for every pair of words of the result's numerator and denominator.
func (b *Budget) Rationals(x, y *big.Rat) bool {
	if x.IsInt() && y.IsInt() {
		return b.Multiply(Size(x), Size(y))
	}
	words := (Size(x)+Size(y))/(2*bits.UintSize) + 1
	return b.Spend(4*CostExact + words*words)
}

// Quotient charges a division, which ends in lowest terms.
func (b *Budget) Quotient(x, y *big.Rat) bool {
	words := (Size(x)+Size(y))/(2*bits.UintSize) + 1
	return b.Spend(2*CostExact + words*words)
}

// Multiply charges the cost of multiplying an x-bit by a y-bit integer, which math/big does by Karatsuba's method where
// both are long.
func (b *Budget) Multiply(x, y int) bool {
	const long = 40 // words
	m, n := min(x, y)/bits.UintSize+1, max(x, y)/bits.UintSize+1
	if m <= long {
		return b.Spend(CostExact + m*n/2)
	}
	return b.Spend(CostExact + int(float64(n)*long/2*math.Pow(float64(m)/long, math.Log2(3)-1)))
}

// Quadratic charges the cost of a division or greatest common divisor of an x-bit and a y-bit integer.
func (b *Budget) Quadratic(x, y int) bool {
	return b.Spend(CostExact + (x/bits.UintSize+1)*(y/bits.UintSize+1)/2)
}
