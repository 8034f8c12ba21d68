package verify

import (
	"math"
	"math/big"
	"math/bits"
)

// The limits of one verdict. They are part of the policy: a pair beyond them is unknown, on every machine and under
// every load, because work is counted and never timed.
const (
	maxAnswer   = 32 << 10  // bytes of one extracted answer or ground truth
	maxTokens   = 8 << 10   // tokens of one answer
	maxDepth    = 200       // nesting of brackets, fractions, exponents
	maxBits     = 1 << 16   // bits of an integer that is written out
	maxTerms    = 20_000    // terms of a finite sum or product, elements of an expanded progression
	maxElements = 4_096     // elements of a collection
	maxSteps    = 1_000_000 // steps of one verdict; a step is worth about ten nanoseconds of one core
	maxSigns    = 4         // independent ± signs expanded
	maxWrappers = 8         // boxes, braces and announcements around one answer that are taken off
	maxBoxes    = 64        // adjacent boxes read as one list

	maxElimination = 64 // rows of a determinant

	maxBareResponse = 256 // bytes of a response that may be nothing but its answer
)

// What the kinds of work are charged, in steps.
const (
	costNode    = 4  // visiting a node
	costExact   = 28 // an operation on small rationals
	costFloat   = 40 // an operation on floats of two words
	costCompare = 8  // comparing two nodes before any arithmetic
)

// budget counts the work of one verdict. Once spent it stays spent, and the verdict is unknown.
type budget struct{ left int }

// spend charges n steps and reports whether they were there.
func (b *budget) spend(n int) bool {
	if b.left < n {
		b.left = 0
		return false
	}
	b.left -= n
	return true
}

// exhaust notes that a limit was met, after which nothing is decided any more.
func (b *budget) exhaust() { b.left = 0 }

// spent reports whether the budget ran out.
func (b *budget) spent() bool { return b.left == 0 }

// rationals charges an operation on two rational numbers, whose result is brought to lowest terms unless both are
// integers: that takes about ten nanoseconds for every pair of words of the result's numerator and denominator.
func (b *budget) rationals(x, y *big.Rat) bool {
	if x.IsInt() && y.IsInt() {
		return b.multiply(size(x), size(y))
	}
	words := (size(x)+size(y))/(2*bits.UintSize) + 1
	return b.spend(4*costExact + words*words)
}

// quotient charges a division, which ends in lowest terms.
func (b *budget) quotient(x, y *big.Rat) bool {
	words := (size(x)+size(y))/(2*bits.UintSize) + 1
	return b.spend(2*costExact + words*words)
}

// multiply charges the cost of multiplying an x-bit by a y-bit integer, which math/big does by Karatsuba's method where
// both are long.
func (b *budget) multiply(x, y int) bool {
	const long = 40 // words
	m, n := min(x, y)/bits.UintSize+1, max(x, y)/bits.UintSize+1
	if m <= long {
		return b.spend(costExact + m*n/2)
	}
	return b.spend(costExact + int(float64(n)*long/2*math.Pow(float64(m)/long, math.Log2(3)-1)))
}

// quadratic charges the cost of a division or greatest common divisor of an x-bit and a y-bit integer.
func (b *budget) quadratic(x, y int) bool {
	return b.spend(costExact + (x/bits.UintSize+1)*(y/bits.UintSize+1)/2)
}
