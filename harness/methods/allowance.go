// What rows that learn from texts are allowed: what they read, and what they choose by their training problems.

package methods

import (
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
)

// Allowance is what a row may learn with, in words.
type Allowance struct {
	Reads   string // of a text
	Chooses string // by every fit, inside its training problems; empty: nothing
}

// AllowanceOf returns the allowance of a row; ok is false for those that learn nothing from texts.
func AllowanceOf(row spec.Method, x *spec.Experiment) (a Allowance, ok bool) {
	method, err := New(Setup{Method: row, Spec: x})
	if err != nil {
		return a, false // said where the row is planned
	}
	switch m := method.(type) {
	case interface{ allowance() Allowance }:
		a = m.allowance()
	case *stages.Training:
		a = policyAllowance(m)
	}
	return a, a.Reads != ""
}

func (l *logistic) allowance() Allowance {
	return Allowance{inWords(l.Features), oneOf(len(l.L2), "penalties")}
}

func (b *bag) allowance() Allowance {
	return Allowance{inWords(b.Features), oneOf(len(b.L2), "penalties")}
}

func (d *difficulty) allowance() Allowance {
	return Allowance{inWords(d.Features), oneOf(len(d.L2), "penalties")}
}

func (k *knn) allowance() Allowance {
	return Allowance{inWords(k.Features), oneOf(len(k.K), "numbers of neighbours")}
}

func (c *cluster) allowance() Allowance   { return Allowance{Reads: inWords(c.Features)} }
func (r *swRanking) allowance() Allowance { return Allowance{Reads: inWords(r.Features)} }

func (r *routeLLM) allowance() Allowance {
	if r.Scores != "" {
		return Allowance{}
	}
	return Allowance{inWords(r.Features), oneOf(r.Epochs, "epochs")}
}

func (f *forc) allowance() Allowance {
	if f.Pihat != "" {
		return Allowance{}
	}
	return Allowance{inWords(f.Features), oneOf(len(f.L2), "penalties")}
}

func (*mean) allowance() Allowance {
	return Allowance{Reads: "what the rows that it averages read", Chooses: "what they choose"}
}

func policyAllowance(t *stages.Training) Allowance {
	return Allowance{policyInWords(t.Policy, t.Features), oneOf(len(t.Validate.WeightDecay), "weight decays")}
}

// startedFrom is the allowance of a policy that starts from what the rows of a mean expect.
func (m *mean) startedFrom(a Allowance) Allowance {
	var kinds []string
	for _, of := range m.Of {
		kinds = append(kinds, of.Name)
	}
	a.Reads += ", starting from the mean of what rows of kind " + strings.Join(kinds, ", ") + " expect"
	if a.Chooses != "" {
		a.Chooses += " and "
	}
	a.Chooses += "what they choose"
	return a
}

func (e *entroPlus) allowance() Allowance {
	a := policyAllowance(e.Training)
	if e.rows != nil {
		return e.rows.startedFrom(a)
	}
	if e.Prior == 0 {
		return a
	}
	a.Reads += ", its text regression " + inWords(e.Features)
	if a.Chooses != "" {
		a.Chooses += " and "
	}
	a.Chooses += oneOf(len(predict.PenaltyGrid()), "penalties")
	return a
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

// allowance is that of a router that may ask several experts: a small network reads texts by regressions with one penalty.
func (k *asksSeveral) allowance() Allowance {
	if k.LM {
		return Allowance{Reads: "the text itself, and who has been asked"}
	}
	return Allowance{Reads: inWords(rounds.Features())}
}
