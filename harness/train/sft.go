// Stage I: the policy is fitted to targets.

package train

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Example is one problem of Stage I.
type Example struct {
	ID     string     // names the problem in random streams; unique
	Row    policy.Row // the text, and the rationale if the policy writes one
	Prob   []float64  // [M] Q(.|x), sums to 1
	Weight float64    // 1, or 2 for the two rationales of a problem that only the strongest expert solves; 0 skips it
}

// SFT is Stage I: it minimises the cross-entropy between the soft targets and the policy (L_SFT of section 3.2 of the paper),
//
//	sum_x w(x) * -sum_m Q(m|x) log pi(m|x)  /  sum_x w(x)
//
// over each batch. A policy that writes adds the negative log-probability of its rationale's tokens, and the mean
// is then over all tokens, the choice being one.
//
// The optimizer is Adam with decoupled weight decay; the rate rises linearly over the first cfg.WarmUp of the steps
// and falls to 0 on a cosine (the paper names the warm-up share and no schedule). The last batch of an epoch may be
// smaller. The context is looked at before every step. If SFT fails, m is left half-trained and the curve ends there.
func SFT(ctx context.Context, m *policy.Model, examples []Example, cfg spec.SFT, s seed.Seed) (curve *Curve, err error) {
	s = s.Derive("sft")
	experts := m.Policy().Experts()
	examples, ids, err := checkSFT(examples, cfg, len(experts))
	if err != nil {
		return nil, fmt.Errorf("sft: %w", err)
	}
	size := min(cfg.Batch, len(examples))
	probe, err := m.Policy().Inputs(nil, size)
	if err != nil {
		return nil, fmt.Errorf("sft: %w", err)
	}
	l, err := newLearner(m, cfg.WeightDecay, cfg.Dropout, s, len(probe), sftLoss)
	if err != nil {
		return nil, fmt.Errorf("sft: %w", err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	curve = &Curve{Experts: experts}
	perEpoch := (len(examples) + size - 1) / size
	total := cfg.Epochs * perEpoch
	for epoch := range cfg.Epochs {
		indices := order(s, epoch, ids)
		for b := range perEpoch {
			step := epoch*perEpoch + b
			if ctx.Err() != nil {
				return curve, wrap(ctx, "sft", step, nil)
			}
			batch := make([]Example, 0, size)
			for _, i := range indices[b*size : min((b+1)*size, len(indices))] {
				batch = append(batch, examples[i])
			}
			rate := cfg.LR * warmUpCosine(step, total, cfg.WarmUp)
			inputs, err := sftInputs(m.Policy(), batch, size)
			if err != nil {
				return curve, wrap(ctx, "sft", step, err)
			}
			loss, reported, err := l.step(rate, inputs)
			if err != nil {
				return curve, wrap(ctx, "sft", step, err)
			}
			point := Point{Stage: "sft", Step: step, Epoch: epoch, Rate: rate, Loss: loss,
				Reward: math.NaN(), AnchorKL: math.NaN(), ZeroGroups: math.NaN()}
			point.distribution(reported[0][:len(batch)*len(experts)], len(experts))
			curve.Points = append(curve.Points, point)
		}
	}
	return curve, nil
}

// checkSFT returns the examples that count and their ids.
func checkSFT(examples []Example, cfg spec.SFT, m int) (kept []Example, ids []string, err error) {
	switch {
	case cfg.Epochs < 1 || cfg.Batch < 1:
		return nil, nil, fmt.Errorf("%d epochs in batches of %d; both must be at least 1", cfg.Epochs, cfg.Batch)
	case !(cfg.LR > 0) || !(cfg.WeightDecay >= 0):
		return nil, nil, fmt.Errorf("learning rate %v must be above 0 and weight decay %v not below", cfg.LR, cfg.WeightDecay)
	case !(cfg.WarmUp >= 0 && cfg.WarmUp <= 1) || !(cfg.Dropout >= 0 && cfg.Dropout < 1):
		return nil, nil, fmt.Errorf("warm-up share %v must lie in [0,1], dropout %v in [0,1)", cfg.WarmUp, cfg.Dropout)
	}
	for _, e := range examples {
		if err := checkDistribution("target", e.Prob, m); err != nil {
			return nil, nil, fmt.Errorf("example %q: %w", e.ID, err)
		}
		if !(e.Weight >= 0) || math.IsInf(e.Weight, 1) {
			return nil, nil, fmt.Errorf("example %q: weight %v; it must be a number not below 0", e.ID, e.Weight)
		}
		if e.Weight > 0 {
			kept = append(kept, e)
			ids = append(ids, e.ID)
		}
	}
	if len(kept) == 0 {
		return nil, nil, errors.New("no example with a weight above 0")
	}
	return kept, ids, checkIDs(ids)
}

// sftInputs packs a batch of at most size examples; the rows behind the last example weigh nothing.
func sftInputs(p policy.Policy, batch []Example, size int) ([]*tensors.Tensor, error) {
	m := len(p.Experts())
	rows := make([]policy.Row, len(batch))
	target, weight := make([]float32, size*m), make([]float32, size)
	for i, e := range batch {
		rows[i] = e.Row
		for k, q := range e.Prob {
			target[i*m+k] = float32(q)
		}
		weight[i] = float32(e.Weight)
	}
	inputs, err := p.Inputs(rows, size)
	if err != nil {
		return nil, err
	}
	return append(inputs, tensors.FromFlatDataAndDimensions(target, size, m),
		tensors.FromFlatDataAndDimensions(weight, size)), nil
}

// sftLoss returns the loss of SFT from targets [B,M] and weights [B], and the policy's log-probabilities [B,M].
func sftLoss(out policy.Outputs, extra []*graph.Node) []*graph.Node {
	target, weight := extra[0], extra[1]
	logProbs := graph.LogSoftmax(out.Choice, -1)
	loss := graph.Neg(graph.ReduceSum(graph.Mul(target, logProbs), -1))
	tokens := graph.OnesLike(weight)
	if out.Written != nil {
		loss = graph.Sub(loss, graph.ReduceSum(graph.Mul(out.Mask, out.Written), -1))
		tokens = graph.Add(tokens, graph.ReduceSum(out.Mask, -1))
	}
	mean := graph.Div(graph.ReduceAllSum(graph.Mul(weight, loss)), graph.ReduceAllSum(graph.Mul(weight, tokens)))
	return []*graph.Node{mean, logProbs}
}

// warmUpCosine is the share of the peak rate at a step of total: linear up to 1 over the first share of the steps,
// then half a cosine that would reach 0 one step after the last.
func warmUpCosine(step, total int, share float64) float64 {
	up := int(math.Round(share * float64(total)))
	if step < up {
		return float64(step+1) / float64(up)
	}
	return (1 + math.Cos(math.Pi*float64(step-up)/float64(total-up))) / 2
}
