// The compact policy on two backends.

package gpucheck

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// Compact trains a compact policy on both backends, from the same weights on the same made-up problems: SFT, then GRPO
// with either estimator, some steps each. It compares entropy and mean probabilities of every step, and the losses of SFT and of
// exact GRPO; the loss of sampled GRPO is 0 on the policy that sampled.
func Compact(ctx context.Context, a, b policy.Backend, steps int) ([]Agreement, error) {
	x, err := curves(ctx, a, steps)
	if err != nil {
		return nil, fmt.Errorf("compact policy on %s: %w", a.Name(), err)
	}
	y, err := curves(ctx, b, steps)
	if err != nil {
		return nil, fmt.Errorf("compact policy on %s: %w", b.Name(), err)
	}
	var found []Agreement
	for i, c := range x {
		for _, what := range []struct {
			name string
			of   func(train.Point) []float64
		}{
			{"loss", func(p train.Point) []float64 { return []float64{p.Loss} }},
			{"entropy", func(p train.Point) []float64 { return []float64{p.Entropy} }},
			{"probability", func(p train.Point) []float64 { return p.Share }},
		} {
			if what.name == "loss" && c.stage == "stage II "+train.Sampled {
				continue
			}
			agreement, err := compare("compact policy, "+c.stage, what.name, series(c.points, what.of), series(y[i].points, what.of), float32Allowed)
			if err != nil {
				return nil, err
			}
			found = append(found, agreement)
		}
	}
	return found, nil
}

type curve struct {
	stage  string
	points []train.Point
}

func curves(ctx context.Context, backend policy.Backend, steps int) ([]curve, error) {
	const batch, group = 64, 16
	experts := []string{"small", "middle", "large"}
	root := seed.Derive("compare backends")
	nouns := []string{"triangle", "integral", "matrix", "prime", "circle", "sequence"}
	texts := make([]string, batch*steps)
	for i := range texts {
		r := root.Derive(i).Rand()
		texts[i] = fmt.Sprintf("Given a %s with %d parts and a %s, find $x_{%d}$.",
			nouns[r.IntN(len(nouns))], r.IntN(1000), nouns[r.IntN(len(nouns))], r.IntN(100))
	}
	reader, err := compact.New(ctx, spec.Policy{Buckets: 256, NGrams: 2, Hidden: 32}, experts, texts, features.Reading{})
	if err != nil {
		return nil, err
	}
	rows, err := reader.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	examples, prompts := make([]train.Example, len(rows)), make([]train.Prompt, len(rows))
	for i, row := range rows {
		r := root.Derive("target", i).Rand()
		prob := make([]float64, len(experts))
		prob[r.IntN(len(prob))] = 1
		id := fmt.Sprint(i)
		examples[i] = train.Example{ID: id, Row: row, Prob: prob, Weight: 1}
		prompts[i] = train.Prompt{ID: id, Row: row, Reward: []float64{r.Float64(), r.Float64(), r.Float64()}}
	}
	m, err := policy.New(backend, reader, root)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	sft, err := (train.Conduct{}).SFT(ctx, m, examples, spec.SFT{Epochs: 1, Batch: batch, LR: 3e-3, WarmUp: .1}, root)
	if err != nil {
		return nil, err
	}
	all := []curve{{"stage I", sft.Points}}
	for _, estimator := range []string{train.Exact, train.Sampled} {
		stage, err := (train.Conduct{}).GRPO(ctx, m, prompts, spec.GRPO{Estimator: estimator, Steps: steps, Batch: batch, Group: group,
			LR: 3e-3, ClipLow: .2, ClipHigh: .2, DualClip: 3, StdNorm: true, Epochs: 1}, root)
		if err != nil {
			return nil, err
		}
		all = append(all, curve{"stage II " + estimator, stage.Points})
	}
	return all, nil
}
