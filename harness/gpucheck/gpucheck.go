// Package gpucheck compares one training on two backends.
package gpucheck

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/compute"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// Comparison is one number of a training on two backends.
type Comparison struct {
	Stage string // sft, or grpo with the estimator
	Step  int
	What  string // loss or entropy
	A, B  float64
}

// String prints a comparison on one line.
func (c Comparison) String() string {
	return fmt.Sprintf("%-12s step %3d  %-7s  %.7f  %.7f  %+.1e", c.Stage, c.Step, c.What, c.A, c.B, c.A-c.B)
}

// Diff returns |A-B|.
func (c Comparison) Diff() float64 { return math.Abs(c.A - c.B) }

// Compare trains a compact policy on both backends, from the same weights on the same made-up problems: SFT,
// then GRPO with either estimator, steps each. It returns loss and entropy of every step. Two sound float32 backends
// stay within about 1e-4 over 20 steps; TF32 does not (policy.OpenBackend turns it off).
func Compare(ctx context.Context, a, b compute.Backend, steps int) ([]Comparison, error) {
	curveA, err := curve(ctx, a, steps)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", a.Name(), err)
	}
	curveB, err := curve(ctx, b, steps)
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w", b.Name(), err)
	}
	var found []Comparison
	for i, p := range curveA {
		q := curveB[i]
		found = append(found, Comparison{p.Stage, p.Step, "loss", p.Loss, q.Loss},
			Comparison{p.Stage, p.Step, "entropy", p.Entropy, q.Entropy})
	}
	return found, nil
}

func curve(ctx context.Context, backend compute.Backend, steps int) ([]train.Point, error) {
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
	reader, err := compact.New(spec.Policy{Buckets: 256, NGrams: 2, Hidden: 32}, experts, texts, nil)
	if err != nil {
		return nil, err
	}
	rows, err := reader.Encode(texts)
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
	all, err := train.SFT(ctx, m, examples, spec.SFT{Epochs: 1, Batch: batch, LR: 3e-3, WarmUp: .1}, root)
	if err != nil {
		return nil, err
	}
	for _, estimator := range []string{train.Exact, train.Sampled} {
		stage, err := train.GRPO(ctx, m, prompts, spec.GRPO{Estimator: estimator, Steps: steps, Batch: batch, Group: group,
			LR: 3e-3, ClipLow: .2, ClipHigh: .2, DualClip: 3, StdNorm: true, Epochs: 1}, root)
		if err != nil {
			return nil, err
		}
		for i := range stage.Points {
			stage.Points[i].Stage += " " + estimator
		}
		all.Append(stage)
	}
	return all.Points, nil
}
