// How an equality or a difference was shown.

package decide

import (
	"fmt"
	"math"
)

// Proof says how an equality or a difference between numbers and expressions was shown. The weakest proof that a verdict
// rests on is the verdict's.
type Proof uint8

const (
	ProofNone      Proof = iota // no numbers or expressions were compared, as with words and choices
	ProofExact                  // the same after reading, rational arithmetic, or disjoint intervals: certain
	ProofAlgebraic              // a bound on how small an algebraic number can be without being zero: certain
	ProofModular                // random points of finite fields; Verdict.Error bounds the probability of an error
	ProofPiecewise              // as modular, in every cell of absolute values, maxima, minima and roots
	ProofProbable               // values that agree at every point and precision that was tried: no proof
)

var proofNames = [...]string{"", "exact", "algebraic", "modular", "piecewise", "probable"}

// String returns the name of the proof; empty for none.
func (p Proof) String() string { return proofNames[p] }

// MarshalText writes the proof as its name.
func (p Proof) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (p *Proof) UnmarshalText(text []byte) error {
	for i, name := range proofNames {
		if string(text) == name {
			*p = Proof(i)
			return nil
		}
	}
	return fmt.Errorf("unknown proof %q; known: exact, algebraic, modular, piecewise, probable", text)
}

// Evidence collects what a verdict rests on: the weakest proof, and the sum of the error probabilities.
type Evidence struct {
	Proof Proof
	Error float64
}

// rest notes a proof whose error probability is at most 2^-bits; no bits stand for certainty.
func (e *Evidence) rest(p Proof, bits float64) {
	e.Proof = max(e.Proof, p)
	if bits > 0 {
		e.Error += math.Exp2(-bits)
	}
}
