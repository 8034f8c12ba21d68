// Stage II: GRPO on the policy.

package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Prompt is one problem of Stage II.
type Prompt struct {
	ID     string     // names the problem in random streams; unique
	Row    policy.Row // the text
	Reward []float64  // [M] shaped reward r(m,x) + beta*log pi_ref(m|x), or that up to a constant of x
	Anchor []float64  // [M] log pi_ref(.|x), for the curve alone; nil: not measured
	Cut    float64    // reward of a text that was cut before it came to a choice, whatever would have been chosen
}

// Estimators of spec.GRPO.
const (
	Sampled = "sampled"
	Exact   = "exact"
)

// GRPO is Stage II: group relative policy optimization (section 3.3 of the paper and its training details, which name the
// algorithm, the group and the number of steps; VeRL where they are silent).
//
// A step takes the next cfg.Batch prompts of a shuffled pass over all prompts (a new pass begins within a batch if
// need be), samples cfg.Group choices for each at temperature 1, turns their rewards into advantages, and takes
// cfg.Epochs gradient steps on
//
//	rho  = exp(clamp(log pi(a) - log pi_old(a), -20, 20))
//	L    = max(-A*rho, -A*clip(rho, 1-ClipLow, 1+ClipHigh)), and at most -A*DualClip where A < 0
//
// averaged over all tokens of the batch (token-mean; the choice is one token, each token of a written rationale
// another with the same advantage).
//
// Where it is not GRPO as it was proposed, or not VeRL's, or not what the paper does:
//
//   - One epoch (the default) is exactly on-policy: rho is 1 and clipping never acts, as in VeRL with one mini-batch a step.
//   - There is no KL loss against a frozen policy and no entropy bonus. The paper's anchor is in the rewards.
//   - The mean is over the tokens of a batch (VeRL's default), not first over each text (the original).
//   - With a rationale the policy writes at temperature 1 until it ends the text or reaches its bound; then it chooses among the experts alone,
//     as without one. A text that was cut has the reward Prompt.Cut, whatever is chosen behind it.
//   - Without a rationale a rollout is one token, and the policy's whole distribution over the experts is at hand: choices are drawn
//     from it, never from the vocabulary, so that no rollout is without an expert.
//   - The rate is constant, gradients are cut to a global norm of 1 (VeRL's defaults); the paper names neither. The optimizer is that of
//     SFT, with moments that begin at zero, and nothing is dropped out.
//   - Estimator Exact replaces sampling by the expectation: the loss is -mean_x sum_m pi(m|x) Reward(m,x), whose gradient
//     is that of the sampled estimator with StdNorm off in the limit of large groups. Group, StdNorm and the clips then
//     do not act. It needs a policy that does not write.
//
// The context is looked at before every step; where it has ended, or what writes for the policy fails, the state is kept. If GRPO fails, m is left half-trained and the
// curve ends there.
func (c Conduct) GRPO(ctx context.Context, m *policy.Model, prompts []Prompt, cfg spec.GRPO, s seed.Seed) (curve *Curve, err error) {
	s = s.Derive("grpo")
	ids, err := checkGRPO(m.Policy(), prompts, cfg)
	if err != nil {
		return nil, fmt.Errorf("grpo: %w", err)
	}
	r, err := newRollout(c, m, cfg, s)
	if err != nil {
		return nil, fmt.Errorf("grpo: %w", err)
	}
	defer r.old.Finalize()
	l, err := newLearner(m, cfg.WeightDecay, 0, s, grpoLoss(cfg))
	if err != nil {
		return nil, fmt.Errorf("grpo: %w", err)
	}
	defer func() { err = errors.Join(err, l.close()) }()
	curve = &Curve{Experts: m.Policy().Experts()}
	done, points, err := c.resume("grpo", m)
	if err != nil {
		return nil, fmt.Errorf("grpo: %w", err)
	}
	curve.Points = points
	pace := c.pace("grpo", done, cfg.Steps)
	var indices []int
	taken, pass := 0, -1
	for step := range cfg.Steps {
		var batch []Prompt
		for range min(cfg.Batch, len(prompts)) {
			if taken == len(indices) {
				pass++
				indices, taken = order(s, pass, ids), 0
			}
			batch = append(batch, prompts[indices[taken]])
			taken++
		}
		if step < done {
			continue // its batch alone is needed, to find the next one
		}
		point := Point{Stage: "grpo", Step: step, Epoch: pass, Rate: cfg.LR}
		rows, err := r.write(ctx, batch, step)
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return curve, c.stop(ctx, "grpo", m, step, curve.Points, err)
		}
		if err := r.step(l, rows, batch, &point); err != nil {
			return curve, wrap(ctx, "grpo", step, err)
		}
		curve.Points = append(curve.Points, point)
		if err := c.keep("grpo", m, step+1, cfg.Steps, curve.Points); err != nil {
			return curve, wrap(ctx, "grpo", step, err)
		}
		passes := cfg.Epochs
		if cfg.Estimator == Sampled {
			passes++ // the look at what the policy chooses
		}
		pace.after(step, point.Loss, rows, passes)
	}
	return curve, nil
}

func checkGRPO(p policy.Policy, prompts []Prompt, cfg spec.GRPO) (ids []string, err error) {
	_, writes := policy.WriterOf(p)
	switch {
	case cfg.Estimator != Sampled && cfg.Estimator != Exact:
		return nil, fmt.Errorf("unknown estimator %q; known: sampled, exact", cfg.Estimator)
	case cfg.Estimator == Exact && writes:
		return nil, fmt.Errorf("estimator exact cannot sum over the texts that policy %s may write; use sampled", p.Kind())
	case cfg.Steps < 1 || cfg.Batch < 1 || cfg.Epochs < 1 || cfg.Group < 1:
		return nil, fmt.Errorf("%d steps of %d prompts with %d rollouts and %d epochs; all must be at least 1",
			cfg.Steps, cfg.Batch, cfg.Group, cfg.Epochs)
	case !(cfg.LR > 0) || !(cfg.WeightDecay >= 0):
		return nil, fmt.Errorf("learning rate %v must be above 0 and weight decay %v not below", cfg.LR, cfg.WeightDecay)
	case !(cfg.ClipLow >= 0 && cfg.ClipLow < 1) || !(cfg.ClipHigh >= 0) || !(cfg.DualClip > 1):
		return nil, fmt.Errorf("clip_low %v must lie in [0,1), clip_high %v must not be below 0, dual_clip %v must be above 1",
			cfg.ClipLow, cfg.ClipHigh, cfg.DualClip)
	case len(prompts) == 0:
		return nil, errors.New("no prompt")
	}
	m := len(p.Experts())
	for _, q := range prompts {
		if len(q.Reward) != m {
			return nil, fmt.Errorf("prompt %q: %d rewards for %d experts", q.ID, len(q.Reward), m)
		}
		for _, v := range q.Reward {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("prompt %q: reward %v; every expert needs a finite one", q.ID, v)
			}
		}
		if q.Anchor != nil {
			if err := checkDistribution("anchor", exps(q.Anchor), m); err != nil {
				return nil, fmt.Errorf("prompt %q: %w", q.ID, err)
			}
		}
		ids = append(ids, q.ID)
	}
	return ids, checkIDs(ids)
}

// advantages turns the rewards of one group into advantages: (R-mean)/(sd+1e-6) with the sample standard deviation
// (n-1), or R-mean without stdNorm. A group of one keeps its reward, as in VeRL (mean 0, sd 1). Equal rewards give
// exactly 0.
func advantages(rewards []float64, stdNorm bool) []float64 {
	n := float64(len(rewards))
	a := make([]float64, len(rewards))
	mean, sd := 0.0, 1.0
	if n > 1 {
		// Differences to one reward, so that equal rewards have the mean without rounding.
		for _, r := range rewards {
			mean += (r - rewards[0]) / n
		}
		mean += rewards[0]
		sd = 0
		for _, r := range rewards {
			sd += (r - mean) * (r - mean) / (n - 1)
		}
		sd = math.Sqrt(sd)
	}
	for i, r := range rewards {
		a[i] = r - mean
		if stdNorm {
			a[i] /= sd + 1e-6
		}
	}
	return a
}

// rollout samples choices and takes the gradient steps on them.
type rollout struct {
	Conduct
	model   *policy.Model
	cfg     spec.GRPO
	seed    seed.Seed
	old     *model.Exec // log-probabilities under the sampling policy: choices [B,M], written tokens [B,T]
	choices int         // A: all rollouts of a prompt in its row, or one if the policy writes, which has a row a rollout
}

func newRollout(c Conduct, m *policy.Model, cfg spec.GRPO, s seed.Seed) (*rollout, error) {
	r := &rollout{Conduct: c, model: m, cfg: cfg, seed: s, choices: cfg.Group}
	if _, writes := policy.WriterOf(m.Policy()); writes {
		r.choices = 1
	}
	var err error
	r.old, err = model.NewExec(m.Backend(), m.Store(), func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		out := m.Policy().Forward(m.Scope(), in, 0)
		nodes := []*graph.Node{graph.LogSoftmax(out.Choice, -1)}
		if out.Written != nil {
			nodes = append(nodes, out.Written)
		}
		return nodes
	})
	return r, err
}

// step is one step of GRPO on the rows of a batch of prompts. It fills in what the curve tells of it.
func (r *rollout) step(l *learner, rows []policy.Row, batch []Prompt, point *Point) error {
	divided := r.parts(rows)
	var sampled samples
	if r.cfg.Estimator == Sampled {
		old, err := r.look(rows, divided)
		if err != nil {
			return err
		}
		r.policy(point, old.choices, batch, len(rows)/len(batch))
		sampled = r.sample(old, rows, batch, point)
		point.Written = meanWritten(rows)
		point.Gap = gap(rows, old.written)
	}
	for epoch := range r.cfg.Epochs {
		var parts []part
		for _, at := range divided {
			inputs, err := r.model.Policy().Inputs(pickRows(rows, at), len(at))
			if err != nil {
				return err
			}
			p := part{policy: inputs, rows: len(at), share: share(rows, at, r.choices)}
			if r.cfg.Estimator == Exact {
				p.loss = rewardInputs(batch, at)
			} else {
				p.loss = sampled.inputs(at)
			}
			parts = append(parts, p)
		}
		loss, reported, err := l.step(r.cfg.LR, parts)
		if err != nil {
			return err
		}
		point.Loss += loss / float64(r.cfg.Epochs)
		if r.cfg.Estimator == Exact && epoch == 0 { // before the update, as sampling would have found it
			m := len(r.model.Policy().Experts())
			logProbs := make([]float32, len(rows)*m)
			for i, at := range divided {
				for j, k := range at {
					copy(logProbs[k*m:(k+1)*m], reported[i][0][j*m:])
				}
			}
			r.policy(point, logProbs, batch, 1)
			point.expect(logProbs, batch)
		}
	}
	return nil
}

// meanWritten is the mean number of tokens that rows have written.
func meanWritten(rows []policy.Row) float64 {
	var all int
	for _, row := range rows {
		all += len(row.Written)
	}
	return float64(all) / float64(len(rows))
}

// gap is the mean distance of the log-probabilities that a server gave the tokens of rows from those computed here; NaN without a
// server.
func gap(rows []policy.Row, written [][]float32) float64 {
	var sum float64
	n := 0
	for i, row := range rows {
		for k, said := range row.Said {
			sum += math.Abs(float64(said) - float64(written[i][k]))
			n++
		}
	}
	return sum / float64(n) // 0/0 is NaN
}

// share is that of a part in the tokens of a batch: the choices of its rows and what was written before them.
func share(rows []policy.Row, at []int, choices int) float64 {
	tokens := func(r policy.Row) int { return choices + len(r.Written) }
	var own, all int
	for _, k := range at {
		own += tokens(rows[k])
	}
	for _, r := range rows {
		all += tokens(r)
	}
	return float64(own) / float64(all)
}

// policy fills in what a point tells of the policy, from its log-probabilities [B,M] on a batch whose prompts have copies rows each.
func (r *rollout) policy(point *Point, logProbs []float32, batch []Prompt, copies int) {
	point.distribution(logProbs, len(r.model.Policy().Experts()))
	point.AnchorKL = anchorKL(logProbs, batch, copies)
}

// write returns the rows of a step: the prompts, or one copy a rollout with the text that the policy writes.
func (r *rollout) write(ctx context.Context, batch []Prompt, step int) ([]policy.Row, error) {
	rows, ids := make([]policy.Row, len(batch)), make([]string, len(batch))
	for i, p := range batch {
		rows[i], ids[i] = p.Row, p.ID
	}
	rows, _, err := r.model.Write(ctx, ids, rows, r.cfg.Group, false, r.seed.Derive("write", step))
	return rows, err
}

// before is what the sampling policy says of rows: log-probabilities of choices [B*M] and, of a policy that writes, of the tokens of
// every row, padded as its part was.
type before struct {
	choices []float32
	written [][]float32
}

func (r *rollout) look(rows []policy.Row, divided [][]int) (b before, err error) {
	m := len(r.model.Policy().Experts())
	b.choices, b.written = make([]float32, len(rows)*m), make([][]float32, len(rows))
	for _, at := range divided {
		inputs, err := r.model.Policy().Inputs(pickRows(rows, at), len(at))
		if err != nil {
			return b, err
		}
		out, err := policy.Call(r.old, inputs)
		if err != nil {
			return b, err
		}
		for j, k := range at {
			copy(b.choices[k*m:(k+1)*m], out[0][j*m:])
			if len(out) > 1 {
				width := len(out[1]) / len(at)
				b.written[k] = out[1][j*width : (j+1)*width]
			}
		}
	}
	return b, nil
}

// samples are the choices of a step with their advantages, a list of A for every row.
type samples struct {
	choices             int // A
	actions             []int32
	advantages, logProb []float32
	written             [][]float32
}

// sample draws the choices of a step, those of every row from its log-probabilities.
func (r *rollout) sample(old before, rows []policy.Row, batch []Prompt, point *Point) samples {
	m, group := len(batch[0].Reward), r.cfg.Group
	n := len(batch) * group
	s := samples{r.choices, make([]int32, n), make([]float32, n), make([]float32, n), old.written}
	rewards := make([]float64, group)
	for i, p := range batch {
		// The position tells apart two copies of a prompt, where a new pass begins within the batch.
		stream := r.seed.Derive("choice", point.Step, i, p.ID)
		for g := range group {
			k := i*group + g
			logProbs := old.choices[k/r.choices*m : (k/r.choices+1)*m]
			a := draw(logProbs, stream.Derive(g).Uniform())
			s.actions[k], s.logProb[k], rewards[g] = int32(a), logProbs[a], p.Reward[a]
			if row := rows[k/r.choices]; row.Cut {
				rewards[g] = p.Cut
				point.Cut += 1 / float64(n)
			}
			point.Reward += rewards[g] / float64(n)
		}
		zero := true
		for g, a := range advantages(rewards, r.cfg.StdNorm) {
			s.advantages[i*group+g] = float32(a)
			zero = zero && rewards[g] == rewards[0]
		}
		if zero {
			point.ZeroGroups += 1 / float64(len(batch))
		}
	}
	return s
}

// inputs are those of clippedLoss for some rows: actions, advantages and old log-probabilities [rows,A], and those of the tokens
// written [rows,T].
func (s samples) inputs(at []int) []*tensors.Tensor {
	a := s.choices
	var actions []int32
	var advantages, logProb, written []float32
	for _, k := range at {
		actions = append(actions, s.actions[k*a:(k+1)*a]...)
		advantages = append(advantages, s.advantages[k*a:(k+1)*a]...)
		logProb = append(logProb, s.logProb[k*a:(k+1)*a]...)
		written = append(written, s.written[k]...)
	}
	inputs := []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(actions, len(at), a),
		tensors.FromFlatDataAndDimensions(advantages, len(at), a),
		tensors.FromFlatDataAndDimensions(logProb, len(at), a),
	}
	if written != nil {
		inputs = append(inputs, tensors.FromFlatDataAndDimensions(written, len(at), len(written)/len(at)))
	}
	return inputs
}

// draw returns the index at which the cumulative probability passes u in [0,1).
func draw(logProbs []float32, u float64) int {
	var sum float64
	for i, l := range logProbs {
		if sum += math.Exp(float64(l)); u < sum {
			return i
		}
	}
	return len(logProbs) - 1 // rounding left the sum a little below 1
}

// rewardInputs are the inputs of exactLoss for some prompts.
func rewardInputs(batch []Prompt, at []int) []*tensors.Tensor {
	var rewards []float32
	for _, k := range at {
		for _, v := range batch[k].Reward {
			rewards = append(rewards, float32(v))
		}
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(rewards, len(at), len(batch[0].Reward))}
}

// expect fills in the reward that a policy of these log-probabilities [B,M] expects; there are no groups.
func (p *Point) expect(logProbs []float32, batch []Prompt) {
	m := len(batch[0].Reward)
	for i, x := range batch {
		for k, v := range x.Reward {
			p.Reward += math.Exp(float64(logProbs[i*m+k])) * v / float64(len(batch))
		}
	}
	p.ZeroGroups = math.NaN()
}

// anchorKL is the mean KL(pi || pi_ref) of a batch whose prompts have copies rows each; NaN if an anchor is missing.
func anchorKL(logProbs []float32, batch []Prompt, copies int) float64 {
	m := len(batch[0].Reward)
	var kl float64
	for i, l := range logProbs {
		p := batch[i/m/copies]
		if p.Anchor == nil {
			return math.NaN()
		}
		if prob := math.Exp(float64(l)); prob > 0 {
			kl += prob * (float64(l) - p.Anchor[i%m])
		}
	}
	return kl / float64(len(logProbs)/m)
}

// grpoLoss builds the loss of an estimator.
func grpoLoss(cfg spec.GRPO) func(policy.Outputs, []*graph.Node) []*graph.Node {
	if cfg.Estimator == Exact {
		return exactLoss
	}
	return clippedLoss(cfg)
}

// clippedLoss builds the loss of GRPO from actions [B,A], advantages [B,A], old log-probabilities of the actions
// [B,A] and, if the policy writes, of the tokens [B,T].
func clippedLoss(cfg spec.GRPO) func(policy.Outputs, []*graph.Node) []*graph.Node {
	return func(out policy.Outputs, extra []*graph.Node) []*graph.Node {
		actions, advantages, old := extra[0], extra[1], extra[2]
		m := out.Choice.Shape().Dim(-1)
		logProbs := graph.ExpandAxes(graph.LogSoftmax(out.Choice, -1), 1) // [B,1,M]
		chosen := graph.ReduceSum(graph.Mul(graph.OneHot(actions, m, out.Choice.DType()), logProbs), -1)
		sum := graph.ReduceAllSum(surrogate(chosen, old, advantages, cfg))
		tokens := graph.Scalar(sum.Graph(), sum.DType(), float64(chosen.Shape().Size()))
		if out.Written != nil {
			// One choice a row: its advantage [B,1] is that of every token before it.
			written := surrogate(out.Written, extra[3], advantages, cfg)
			sum = graph.Add(sum, graph.ReduceAllSum(graph.Mul(out.Mask, written)))
			tokens = graph.Add(tokens, graph.ReduceAllSum(out.Mask))
		}
		return []*graph.Node{graph.Div(sum, tokens)}
	}
}

// surrogate is VeRL's clipped loss of every token: see GRPO.
func surrogate(logProbs, old, advantages *graph.Node, cfg spec.GRPO) *graph.Node {
	ratio := graph.Exp(graph.ClipScalar(graph.Sub(logProbs, old), -20, 20))
	advantages = graph.BroadcastToShape(advantages, ratio.Shape())
	cost := graph.Neg(advantages)
	loss := graph.Max(graph.Mul(cost, ratio), graph.Mul(cost, graph.ClipScalar(ratio, 1-cfg.ClipLow, 1+cfg.ClipHigh)))
	bounded := graph.Min(loss, graph.MulScalar(cost, cfg.DualClip))
	return graph.Where(graph.LessThan(advantages, graph.ZerosLike(advantages)), bounded, loss)
}

// exactLoss is minus the expected reward, from rewards [B,M], and the policy's log-probabilities [B,M].
func exactLoss(out policy.Outputs, extra []*graph.Node) []*graph.Node {
	expected := graph.ReduceSum(graph.Mul(graph.Softmax(out.Choice, -1), extra[0]), -1)
	return []*graph.Node{graph.Neg(graph.ReduceAllMean(expected)), graph.LogSoftmax(out.Choice, -1)}
}
