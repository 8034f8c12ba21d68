// The choice of a weight decay on training problems that are held out.

package stages

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// validated returns the method with the weight decay, of both stages, that does best on a fifth of the training problems
// when it is fitted to the others: by the mean of what the last stage maximises, the shaped reward of the experts that it
// decides for or, without Stage II, the negative of Stage I's loss. The reward is that of decisions and not of the
// policy's distribution, because a strong decay makes a policy timid and need not change what it decides. Of equally good
// ones the strongest wins. With nothing to choose from it is the method itself.
//
// What is held out is that of holdOut, and is balanced for Stage II as the others are. Who the strongest expert is, and how features are
// standardised, is learned from the others alone; what a policy starts from (Start) is not fitted again.
func (t *Training) validated(ctx context.Context, set routing.TrainSet, work routing.Work) (*Training, error) {
	if len(t.Validate.WeightDecay) == 0 {
		return t, nil
	}
	kept, held := holdOutOfBoth(set)
	if len(held.SFT) == 0 || len(held.RL) == 0 {
		return nil, fmt.Errorf("method %s: validate: too few training problems to hold a fifth of them out, %d; give it more, or leave validate out of the spec", t.With.Name, min(len(set.SFT), len(set.RL)))
	}
	grid := slices.Clone(t.Validate.WeightDecay)
	slices.SortFunc(grid, func(a, b float64) int { return cmp.Compare(b, a) })
	if lr := max(t.SFT.LR, t.GRPO.LR); grid[0]*lr >= 1 {
		return nil, fmt.Errorf("method %s: validate: a weight decay of %g at a learning rate of %g turns weights around at every step; want less than %g", t.With.Name, grid[0], lr, 1/lr)
	}
	var best *Training
	top := math.Inf(-1)
	for _, decay := range grid {
		next := *t
		next.SFT.WeightDecay, next.GRPO.WeightDecay = decay, decay
		work := work
		if work.Unfinished != "" {
			work.Unfinished = filepath.Join(work.Unfinished, fmt.Sprintf("weight-decay-%g", decay))
		}
		score, err := next.score(ctx, kept, held, work)
		if err != nil {
			return nil, err
		}
		if best == nil || score > top {
			best, top = &next, score
		}
	}
	work.Log.Debug("weight decay chosen", "method", t.With.Name, "weight_decay", best.SFT.WeightDecay, "score", top)
	return best, nil
}

// score fits to some problems and returns the score on others, see validated; -Inf if the policy is left without a number.
func (t *Training) score(ctx context.Context, kept, held routing.TrainSet, work routing.Work) (score float64, err error) {
	model, _, err := t.train(ctx, kept, work)
	if err != nil {
		return 0, err
	}
	defer model.Close()
	if t.With.StageTwo == nil {
		examples, err := t.examples(ctx, model.Policy(), held.SFT, routing.Strongest(kept.SFT, len(kept.C), t.Targets.Strongest), work.Seed)
		if err != nil {
			return 0, err
		}
		rows := make([]policy.Row, len(examples))
		var weight float64
		for i, x := range examples {
			rows[i] = x.Row
			weight += x.Weight
		}
		probs, err := model.ProbsOf(ctx, rows)
		if err != nil || numberless(probs) {
			return math.Inf(-1), err
		}
		for i, x := range examples {
			for m, q := range x.Prob {
				if q > 0 {
					score += x.Weight / weight * q * math.Log(probs[i][m])
				}
			}
		}
		return score, nil
	}
	held.SFT = kept.SFT // a reward may rest on Stage I's problems, which must not be those it is scored on
	prompts, err := t.With.StageTwo(ctx, model.Policy(), held, work)
	if err != nil {
		return 0, err
	}
	rows := make([]policy.Row, len(prompts))
	for i, x := range prompts {
		rows[i] = x.Row
	}
	probs, err := model.ProbsOf(ctx, rows)
	if err != nil || numberless(probs) {
		return math.Inf(-1), err
	}
	for i, x := range prompts {
		if t.With.Decoding == "argmax" {
			probs[i] = routing.OneHot(len(probs[i]), slices.Index(probs[i], slices.Max(probs[i])))
		}
		for m, p := range probs[i] {
			score += p * x.Reward[m] / float64(len(prompts))
		}
	}
	return score, nil
}

// numberless says whether a policy of which these are distributions was trained until its weights left all numbers.
func numberless(probs [][]float64) bool {
	return slices.ContainsFunc(probs, func(p []float64) bool { return math.IsNaN(slices.Max(p)) })
}

// holdOut returns the examples without those that learn.HeldOut names in the order of routing.InHashOrder, and those.
func holdOut(examples []routing.Example) (kept, held []routing.Example) {
	sorted := slices.Clone(examples)
	routing.InHashOrder(sorted)
	questions := routing.Questions(sorted)
	n := learn.HeldOut(len(sorted), learn.AFifth, func(i int) int { return questions[i] })
	return sorted[n:], sorted[:n]
}

// holdOutOfBoth is holdOut in both stages. No text that is held out of Stage II is kept in Stage I, which may have seen it.
func holdOutOfBoth(set routing.TrainSet) (kept, held routing.TrainSet) {
	kept, held = set, set
	kept.SFT, held.SFT = holdOut(set.SFT)
	kept.RL, held.RL = holdOut(set.RL)
	out := map[string]bool{}
	for _, x := range held.RL {
		out[x.Problem.Text] = true
	}
	kept.SFT = slices.DeleteFunc(kept.SFT, func(x routing.Example) bool { return out[x.Problem.Text] })
	return kept, held
}
