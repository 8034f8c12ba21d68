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
// Where it is not what the paper does, or the paper is silent:
//
//   - The paper turns a problem into one or two texts, each with one label; here a problem is one row with a distribution.
//     Without a rationale that is the same loss.
//   - The rate rises linearly over the first cfg.WarmUp of the steps and falls to 0 on a cosine; the paper names the share.
//   - The optimizer is Adam (0.9, 0.999, epsilon 1e-8) with decoupled weight decay: a step takes rate times cfg.WeightDecay
//     off every weight, those of biases too, but not of norms and what else the policy excepts. Gradients are cut to a
//     global norm of 1. The paper names none of these.
//   - cfg.Dropout is the share of what the head reads that is dropped; the rest is scaled up.
//   - The last batch of an epoch may be smaller.
//
// The context is looked at before every step; where it has ended the state is kept. If SFT fails, m is left half-trained and the
// curve ends there.
func (c Conduct) SFT(ctx context.Context, m *policy.Model, examples []Example, cfg spec.SFT, s seed.Seed) (curve *Curve, err error) {
	s = s.Derive("sft")
	experts := m.Policy().Experts()
	examples, ids, err := checkSFT(examples, cfg, len(experts))
	if err != nil {
		return nil, fmt.Errorf("sft: %w", err)
	}
	l, err := newLearner(m, cfg.WeightDecay, cfg.Dropout, s, sftLoss)
	if err != nil {
		return nil, fmt.Errorf("sft: %w", err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	size := min(cfg.Batch, len(examples))
	perEpoch := (len(examples) + size - 1) / size
	total := cfg.Epochs * perEpoch
	curve = &Curve{Experts: experts}
	done, points, err := c.resume("sft", m)
	if err != nil {
		return nil, fmt.Errorf("sft: %w", err)
	}
	curve.Points = points
	pace := c.pace("sft", done, total)
	var indices []int
	for step := done; step < total; step++ {
		if err := ctx.Err(); err != nil {
			return curve, c.stop(ctx, "sft", m, step, curve.Points, err)
		}
		epoch, b := step/perEpoch, step%perEpoch
		if step == done || b == 0 {
			indices = order(s, epoch, ids)
		}
		var batch []Example
		for _, i := range indices[b*size : min((b+1)*size, len(indices))] {
			batch = append(batch, examples[i])
		}
		rate := cfg.LR * warmUpCosine(step, total, cfg.WarmUp)
		parts, err := c.sftParts(m.Policy(), batch, size)
		if err != nil {
			return curve, wrap(ctx, "sft", step, err)
		}
		loss, reported, err := l.step(rate, parts)
		if err != nil {
			return curve, wrap(ctx, "sft", step, err)
		}
		point := Point{Stage: "sft", Step: step, Epoch: epoch, Rate: rate, Loss: loss,
			Reward: math.NaN(), AnchorKL: math.NaN(), ZeroGroups: math.NaN()}
		point.distribution(logProbsOf(parts, reported, len(experts)), len(experts))
		point.Written, point.Gap = meanWritten(rowsOf(batch)), math.NaN()
		curve.Points = append(curve.Points, point)
		if err := c.keep("sft", m, step+1, total, curve.Points); err != nil {
			return curve, wrap(ctx, "sft", step, err)
		}
		pace.after(step, loss, rowsOf(batch), 1)
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

// sftParts packs a batch of at most size examples; what fills up a part weighs nothing.
func (c Conduct) sftParts(p policy.Policy, batch []Example, size int) (parts []part, err error) {
	rows, m := rowsOf(batch), len(p.Experts())
	if c.Micro > 0 {
		size = min(size, c.Micro)
	}
	var all float64
	for _, e := range batch {
		all += e.tokens()
	}
	for _, at := range c.parts(rows) {
		target, weight, own := make([]float32, size*m), make([]float32, size), 0.0
		for i, k := range at {
			for j, q := range batch[k].Prob {
				target[i*m+j] = float32(q)
			}
			weight[i] = float32(batch[k].Weight)
			own += batch[k].tokens()
		}
		inputs, err := p.Inputs(pickRows(rows, at), size)
		if err != nil {
			return nil, err
		}
		loss := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(target, size, m), tensors.FromFlatDataAndDimensions(weight, size)}
		parts = append(parts, part{policy: inputs, loss: loss, rows: len(at), share: own / all})
	}
	return parts, nil
}

// tokens are those that the loss is a mean over, weighed: the choice and what was written before it.
func (e Example) tokens() float64 { return e.Weight * float64(1+len(e.Row.Written)) }

func rowsOf(batch []Example) []policy.Row {
	rows := make([]policy.Row, len(batch))
	for i, e := range batch {
		rows[i] = e.Row
	}
	return rows
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
