// The limits of comparing, besides those of package formula, and what its work is charged.

package decide

const (
	maxTerms       = 20_000 // terms of a finite sum or product, elements of an expanded progression
	maxSigns       = 4      // independent ± signs expanded
	maxElimination = 64     // rows of a determinant
)

// What the kinds of work are charged, in steps.
const (
	costNode    = 4  // visiting a node
	costFloat   = 40 // an operation on floats of two words
	costCompare = 8  // comparing two nodes before any arithmetic
)
