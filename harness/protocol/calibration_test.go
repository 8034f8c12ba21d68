package protocol

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// A truth with the probe in it, or of other problems, would be far from the pass rates.
func TestTheTruthIsThatOfTheExpertsOnTheirProblems(t *testing.T) {
	e := open(t, toy.Figures(t), steps.Options{Out: t.TempDir()}).split
	examples, err := e.rlProfile.examples(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	truth, err := e.truth(e.rlProfile.set, examples)
	if err != nil {
		t.Fatal(err)
	}
	if len(truth) != len(examples) {
		t.Fatalf("%d truths of %d problems", len(truth), len(examples))
	}
	for m := range e.pool.Experts {
		var squares float64
		for i, x := range examples {
			if len(truth[i]) != len(x.Kappa) {
				t.Fatalf("%d truths of %d experts", len(truth[i]), len(x.Kappa))
			}
			squares += (truth[i][m] - x.Kappa[m]) * (truth[i][m] - x.Kappa[m]) / float64(len(examples))
		}
		// Five rollouts err by at most sqrt(1/20) = 0.22 on average.
		if math.Sqrt(squares) > 0.22 {
			t.Errorf("expert %d: pass rates err by %.2f", m, math.Sqrt(squares))
		}
	}
}

// At least 4 of 5 rollouts right: 5p^4(1-p) + p^5.
