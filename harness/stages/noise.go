// Corrupted estimates of pass rates, for the paper's test of robustness.

package stages

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Noise corrupts the offline estimates of a share of the training problems (appendix "Robustness to noisy offline
// estimates"): in Stage I the label moves to an adjacent tier, in Stage II the pass rates move by noiseSize. A problem
// of both stages is corrupted in both or in neither.
//
// The paper leaves the distribution open. Here a fair coin decides each direction; a label at the end of the pool moves
// inward, and its problem weighs what it did; rates are clipped to [0,1]; the strongest expert's rate stays, which the paper's
// Stage II has by decree. Which problems are corrupted follows from the training seed, and those of a smaller share are among
// those of a larger one.
type Noise struct {
	Share float64 `yaml:"share" in:"[0,1]"` // of the training problems; paper: 0.1
}

// noiseSize is by how much a pass rate moves (appendix K of the paper).
const noiseSize = 0.2

func (n Noise) hits(s seed.Seed, problem string) bool {
	return s.Derive("noise", problem).Uniform() < n.Share
}

// target returns the Stage I distribution of a problem, corrupted or not.
func (n Noise) target(prob []float64, s seed.Seed, problem string) []float64 {
	if !n.hits(s, problem) {
		return prob
	}
	return moved(prob, s.Derive("noise", problem, "label").Uniform() < 0.5)
}

// moved returns a distribution over the pool with its mass one tier up or down: the other way if mass at an end cannot
// go there, and with mass at both ends each end moves inward.
func moved(prob []float64, up bool) []float64 {
	last := len(prob) - 1
	if last == 0 {
		return prob
	}
	switch low, high := prob[0] > 0, prob[last] > 0; {
	case low && !high:
		up = true
	case high && !low:
		up = false
	}
	out := make([]float64, len(prob))
	for m, p := range prob {
		to := m - 1
		if m == 0 || up && m < last {
			to = m + 1
		}
		out[to] += p
	}
	return out
}

// rates returns the Stage II problems with the pass rates of the corrupted ones moved. The examples given stay as they
// are.
func (n Noise) rates(examples []routing.Example, strongest int, s seed.Seed) []routing.Example {
	if n.Share == 0 {
		return examples
	}
	out := slices.Clone(examples)
	for i, x := range out {
		if !n.hits(s, x.Problem.ID) {
			continue
		}
		kappa := slices.Clone(x.Kappa)
		for m := range kappa {
			if m == strongest {
				continue
			}
			step := noiseSize
			if s.Derive("noise", x.Problem.ID, "rate", m).Uniform() < 0.5 {
				step = -noiseSize
			}
			kappa[m] = min(max(kappa[m]+step, 0), 1)
		}
		out[i].Kappa = kappa
	}
	return out
}
