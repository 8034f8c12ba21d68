// The names of outcomes.

package decide

// What a comparison ends in.

import (
	"fmt"
)

// Outcome is the decision about one pair of answers.
type Outcome uint8

const (
	OutcomeUnknown   Outcome = iota // not decidable within the documented bounds; never silently "wrong"
	OutcomeEqual                    // the response gives the ground truth
	OutcomeDifferent                // the response gives something else
)

// String returns "unknown", "equal" or "different".
func (o Outcome) String() string {
	switch o {
	case OutcomeEqual:
		return "equal"
	case OutcomeDifferent:
		return "different"
	}
	return "unknown"
}

// MarshalText writes the outcome as its name.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (o *Outcome) UnmarshalText(text []byte) error {
	for _, known := range []Outcome{OutcomeUnknown, OutcomeEqual, OutcomeDifferent} {
		if string(text) == known.String() {
			*o = known
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q; known: equal, different, unknown", text)
}

// Tolerance accepts |response - gold| <= Abs or <= Rel*|gold|; the zero value is exact.
type Tolerance struct {
	Abs float64 `json:"abs,omitempty"`
	Rel float64 `json:"rel,omitempty"`
}
