// What Stage II sees again of Stage I.

package protocol

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// seenAgain is tiny.yaml with stages of their own benchmarks, a share of the second seen in the first.
func seenAgain(t *testing.T, share float64) *spec.Resolved {
	t.Helper()
	r := toy.TinyWith(t, "rl: {benchmark: sim-train-sft", "rl: {benchmark: sim-train-rl")
	r.Experiment.Train.Seen = share
	return r
}

func TestStageTwoSeesAShareOfStageOneAgain(t *testing.T) {
	for _, share := range []float64{0, 0.25, 0.6, 1} {
		e := open(t, seenAgain(t, share), steps.Options{Out: t.TempDir()}).split
		set, err := e.trainSet(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		size := e.Spec.Experiment.Train.RL.Size
		if len(set.RL) != size {
			t.Fatalf("share %v: Stage II has %d problems, want %d", share, len(set.RL), size)
		}
		if want := len(set.SFT) + size - int(math.Round(share*float64(size))); len(set.Examples()) != want {
			t.Errorf("share %v: both stages together have %d problems, want %d", share, len(set.Examples()), want)
		}
		// A row that learns from the first n of each stage sees of these, and no others, the same share again.
		for _, n := range []int{1, 10, 17, size} {
			first := map[string]routing.Example{}
			for _, x := range set.SFT[:n] {
				first[x.Problem.ID] = x
			}
			seen := 0
			for _, x := range set.RL[:n] {
				of, again := first[x.Problem.ID]
				if again {
					seen++
				}
				if again && !cmp.Equal(of, x) {
					t.Errorf("share %v: problem %s was measured otherwise in Stage I", share, x.Problem.ID)
				}
				if !again && x.Problem.Benchmark == e.Spec.Experiment.Train.SFT.Benchmark {
					t.Errorf("share %v: problem %s is none of the first %d of Stage I", share, x.Problem.ID, n)
				}
			}
			if want := int(math.Round(share * float64(n))); seen != want {
				t.Errorf("share %v: of the first %d problems %d were seen, want %d", share, n, seen, want)
			}
		}
		dollars, err := e.stageTwo(t.Context(), (*profile).dollars)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(dollars, set.RL, func(a, b routing.Example) bool { return a.Problem.ID == b.Problem.ID && cmp.Equal(a.USD, b.USD) }) {
			t.Errorf("share %v: dollars are those of other problems", share)
		}
	}
}

// Nobody is asked for a problem of Stage II's own benchmark that Stage II does not read.
func TestWhatStageTwoSeesAgainIsNotAskedAgain(t *testing.T) {
	rollouts := func(share float64) (n int) {
		r := seenAgain(t, share)
		r.Experiment.Methods = slices.DeleteFunc(r.Experiment.Methods, func(m spec.Method) bool { return methods.Blind(m.Name) })
		for _, w := range open(t, r, steps.Options{Out: t.TempDir()}).split.wants {
			if w.set.benchmark == "sim-train-rl" {
				n += w.set.n
			}
		}
		return n
	}
	if got := []int{rollouts(0), rollouts(0.25), rollouts(1)}; !slices.Equal(got, []int{30, 22, 0}) {
		t.Errorf("of Stage II's own problems %v are asked for, want 30, 22 and none", got)
	}
}
