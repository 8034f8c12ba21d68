// What rows that learn from texts are allowed: what they read, and what they choose by their training problems.

package methods

import (
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// Allowance is what a row may learn with, in words; none: it learns nothing from texts.
type Allowance struct {
	Reads   string // of a text
	Chooses string // by every fit, inside its training problems; empty: nothing
}

// oneOf is what a fit chooses from; empty where there is no choice.
func oneOf(n int, what string) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("one of %d %s", n, what)
}

// policyInWords is what a policy reads.
func policyInWords(p spec.Policy, f spec.Features) string {
	switch {
	case p.Kind == "lm":
		return "the text itself"
	case len(f.Read) > 0:
		return inWords(f)
	}
	return "counts of " + inWords(spec.Features{Read: []string{spec.ReadStructure, spec.ReadWords}, Words: spec.Words{Buckets: p.Buckets, NGrams: p.NGrams}})
}

// inWords says what features are of.
func inWords(f spec.Features) string {
	var parts []string
	for _, part := range f.Only().Read {
		switch part {
		case spec.ReadWords:
			part = fmt.Sprintf("n-grams of 1 to %d words in %d buckets", f.Words.NGrams, f.Words.Buckets)
			if f.Words.NGrams == 1 {
				part = fmt.Sprintf("words in %d buckets", f.Words.Buckets)
			}
		case spec.ReadCharacters:
			part = fmt.Sprintf("n-grams of %d to %d characters in %d buckets", f.Characters.Shortest, f.Characters.Longest, f.Characters.Buckets)
		case spec.ReadVectors:
			part = "vectors of " + f.Vectors.File + f.Vectors.Model
			if f.Vectors.Frozen {
				part = "states of the frozen language model"
			}
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
