// Expressions compared by the laws of algebra.

package decide

import (
	"github.com/entrorouter/entrorouter/verify/internal/formula"
	"github.com/entrorouter/entrorouter/verify/internal/modular"
)

// formal decides whether two expressions are the same by the laws of algebra. It says equal if they are; different only
// if they are rational functions, but for pi and square roots of numbers; else it says unknown.
func (c *Comparer) formal(a, b *formula.Node, names []string, seed uint64, complex bool) Result {
	found, coins, bits := modular.Compare(a, b, names, seed, complex, c.Steps)
	switch found {
	case modular.Differ:
		return Result{Outcome: OutcomeDifferent, Rule: ruleModular}
	case modular.Agree:
		r := Result{Outcome: OutcomeEqual, Rule: ruleModular, proof: ProofModular, bits: bits}
		if coins > 0 {
			r.Rule, r.proof = ruleCells, ProofPiecewise
		}
		return r
	}
	return Unknown("")
}
