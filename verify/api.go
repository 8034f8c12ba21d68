// The types of this package that lie below it.

package verify

// What the packages below define for users of this one.

import "github.com/entrorouter/entrorouter/verify/internal/decide"

// Outcome is the decision about one pair of answers. The zero value is unknown.
type Outcome = decide.Outcome

// Outcomes of verdicts.
const (
	OutcomeUnknown   = decide.OutcomeUnknown   // not decidable within the documented bounds; never silently "wrong"
	OutcomeEqual     = decide.OutcomeEqual     // the response gives the ground truth
	OutcomeDifferent = decide.OutcomeDifferent // the response gives something else
)

// Tolerance accepts |response - gold| <= Abs or <= Rel*|gold|; the zero value is exact.
type Tolerance = decide.Tolerance

// Policy switches conventions on which graders differ; Policies names the switches. The zero value is the default.
type Policy = decide.Policy

// Proof says how an equality or a difference between numbers and expressions was shown; see the package comment.
type Proof = decide.Proof

// Proofs, from the strongest to the weakest.
const (
	ProofNone      = decide.ProofNone      // no numbers or expressions were compared, as with words and choices
	ProofExact     = decide.ProofExact     // the same after reading, rational arithmetic, or disjoint intervals: certain
	ProofAlgebraic = decide.ProofAlgebraic // a bound on how small an algebraic number can be without being zero: certain
	ProofModular   = decide.ProofModular   // random points of finite fields; Verdict.Error bounds the probability of an error
	ProofPiecewise = decide.ProofPiecewise // as modular, in every cell of absolute values, maxima, minima and roots
	ProofProbable  = decide.ProofProbable  // values that agree at every point and precision that was tried: no proof
)
