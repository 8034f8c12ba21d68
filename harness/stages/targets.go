// What each stage learns from.

package stages

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/train"
)

// examples are the Stage I problems with their targets.
func (t *Training) examples(ctx context.Context, policy policy.Policy, set []routing.Example, strongest int, s seed.Seed) ([]train.Example, error) {
	rows, err := policy.Encode(ctx, routing.Texts(set))
	if err != nil {
		return nil, err
	}
	examples := make([]train.Example, len(set))
	for i, x := range set {
		target := routing.NewTarget(x.Kappa, x.Probe, strongest, t.Targets)
		examples[i] = train.Example{ID: x.Problem.ID, Row: rows[i], Prob: t.Noise.target(target.Prob, s, x.Problem.ID), Weight: target.Weight}
	}
	return examples, nil
}

// Prompts is the StageTwo of the paper: the problems with the shaped reward of every expert, and the soft anchor.
func (t *Training) Prompts(ctx context.Context, policy policy.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error) {
	strongest := routing.Strongest(set.SFT, len(set.C), t.Targets.Strongest)
	problems := t.Noise.rates(set.RL, strongest, work.Seed)
	if t.Reward.Balance {
		problems = routing.Balance(problems, t.Targets.Tau, strongest, t.Reward, work.Seed)
	}
	rows, err := policy.Encode(ctx, routing.Texts(problems))
	if err != nil {
		return nil, err
	}
	prompts := make([]train.Prompt, len(problems))
	for i, x := range problems {
		kappa := routing.StageTwoKappa(x.Kappa, strongest, t.Reward)
		prompts[i] = train.Prompt{
			ID: x.Problem.ID, Row: rows[i],
			Anchor: routing.LogAnchor(routing.Utility(kappa, set.C, t.Anchor.Alpha), t.Anchor.T),
			Reward: routing.ShapedReward(kappa, set.C, t.Targets.Tau, strongest, t.Reward, t.Anchor),
			Cut:    cutReward(t.Reward),
		}
	}
	return prompts, nil
}
