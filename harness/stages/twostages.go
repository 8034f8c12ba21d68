// Stage I and Stage II, one after the other.

package stages

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/train"
)

// train runs both stages. The caller closes the model.
func (t *Training) train(ctx context.Context, set routing.TrainSet, work routing.Work) (model *policy.Model, curve *train.Curve, err error) {
	defer func() {
		if err == nil {
			return
		}
		if model != nil {
			model.Close()
		}
		err = fmt.Errorf("method %s: %w", t.With.Name, err)
	}()
	reader, err := t.newPolicy(ctx, set.Experts, routing.Texts(set.SFT))
	if err != nil {
		return nil, nil, err
	}
	examples, err := t.examples(ctx, reader, set.SFT, routing.Strongest(set.SFT, len(set.C), t.Targets.Strongest), work.Seed)
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(examples, func(x train.Example) bool { return x.Weight > 0 }) {
		return nil, nil, &routing.Unfit{Why: "no problem weighs anything in Stage I"}
	}
	if examples, err = t.taught(ctx, reader, set, examples, work); err != nil {
		return nil, nil, err
	}
	conduct := Conduct(t.Policy, work)
	if model, curve, err = t.first(ctx, conduct, reader, examples, work.Seed); err != nil {
		return model, nil, err
	}
	model.WrittenBy(t.writer(work))
	if t.With.StageTwo == nil {
		return model, curve, nil
	}
	prompts, err := t.With.StageTwo(ctx, reader, set, work)
	if err != nil {
		return model, nil, err
	}
	if len(prompts) == 0 {
		return model, nil, &routing.Unfit{Why: "no problem is left for Stage II"}
	}
	later, err := conduct.GRPO(ctx, model, prompts, t.GRPO, work.Seed.Derive("grpo"))
	if err != nil {
		return model, nil, err
	}
	curve.Append(later)
	return model, curve, nil
}

// first is Stage I: a new network trained on examples, or as it is remembered. Language models are not remembered, whose weights are many.
func (t *Training) first(ctx context.Context, conduct train.Conduct, reader policy.Policy, examples []train.Example, s seed.Seed) (model *policy.Model, curve *train.Curve, err error) {
	memory := t.With.Memory
	if t.Policy.Kind != "compact" {
		memory = nil
	}
	key, err := keyOfStageOne(t.With.Backend.Name(), reader, t.SFT, s, examples)
	if err != nil {
		return nil, nil, err
	}
	if weights, curve, ok := memory.find(key, reader.Experts()); ok {
		model, err = policy.With(t.With.Backend, reader, weights)
		return model, curve, err
	}
	if model, err = policy.New(t.With.Backend, reader, s); err != nil {
		return nil, nil, err
	}
	if curve, err = conduct.SFT(ctx, model, examples, t.SFT, s.Derive("sft")); err != nil {
		return model, nil, err
	}
	return model, curve, memory.learn(key, model, curve)
}
