// Package verify decides whether the response of a language model gives the same answer as the ground truth.
//
// It imports nothing of the rest of this project, so that somebody who only wants to grade answers can use it alone.
package verify

// Version is part of the key under which verdicts are stored: it changes whenever any verdict may change.
const Version = "1"

// Outcome is the decision about one pair of answers.
type Outcome uint8

const (
	Unknown   Outcome = iota // not decidable within the documented bounds; never silently "wrong"
	Equal                    // the response gives the ground truth
	Different                // the response gives something else
)

// Tolerance accepts |response - gold| <= Abs or <= Rel*|gold|; the zero value is exact.
type Tolerance struct {
	Abs float64
	Rel float64
}

// Key is what a response is graded against.
type Key struct {
	Gold      []string    // acceptable ground truths, any of which will do
	Options   []string    // multiple choice: the options in order, A first; nil otherwise
	Tolerance []Tolerance // nil: exact; one: for every answer; several: one an answer, in the gold's order
}

// Verdict says what was decided and why.
type Verdict struct {
	Outcome   Outcome
	Reason    string // reason code, one of the constants of this package
	Extracted string // the answer found in the response; empty if there was none
	Gold      string // normal form of the ground truth
	Answer    string // normal form of the extracted answer
	Rule      string // the rule that decided
}

// Grade grades a response against a single ground truth.
func Grade(gold, response string) Verdict { return Key{Gold: []string{gold}}.Grade(response) }

// Grade grades a response. It is deterministic, bounded by counted steps and safe for concurrent use.
func (k Key) Grade(response string) Verdict {
	return Verdict{}
}
