// Row kinds sft and entrorouter: the paper's method after Stage I and after Stage II.

package methods

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// entroRouter is the paper's method: Stage I fits the soft targets, Stage II improves the policy by GRPO on the
// shaped reward. Its params lay over the experiment's own knobs, so that an ablation names what it changes.
type entroRouter struct {
	Targets spec.Targets `yaml:"targets"`
	Anchor  spec.Anchor  `yaml:"anchor"`
	Reward  spec.Reward  `yaml:"reward"`
	Policy  spec.Policy  `yaml:"policy"`
	SFT     spec.SFT     `yaml:"sft"`
	GRPO    spec.GRPO    `yaml:"grpo"`
	Noise   noise        `yaml:"noise"`

	Validate spec.Validate `yaml:"validate,omitempty"`

	Features spec.Features `yaml:"features,omitempty"` // what a policy of kind compact reads, as other rows; default: words, as policy says

	name     string
	stageTwo func(context.Context, policy.Policy, routing.TrainSet, routing.Work) ([]train.Prompt, error) // nil: Stage I alone
	decoding string
	backend  policy.Backend
	reading  reading
	stages   *StageOne
	models   *lm.Models
	setup    Setup
}

func newEntroRouter(s Setup) (routing.Method, error) { return newTrained(s, true) }

// newSFT is EntroRouter after Stage I.
func newSFT(s Setup) (routing.Method, error) { return newTrained(s, false) }

func newTrained(s Setup, stageTwo bool) (routing.Method, error) {
	e := &entroRouter{
		Targets: s.Spec.Targets, Anchor: s.Spec.Anchor, Reward: s.Spec.Reward, Policy: startingPolicy(s),
		SFT: s.Spec.SFT, GRPO: s.Spec.GRPO, Validate: s.Spec.Validate, Features: s.Spec.Features,
		name: s.Method.Name, decoding: s.Spec.Evaluate.Decoding, backend: s.Backend, stages: s.Stages, models: s.Models, setup: s,
	}
	if stageTwo {
		e.stageTwo = func(ctx context.Context, policy policy.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error) {
			return e.prompts(ctx, policy, set, work.Seed)
		}
	}
	if err := spec.DecodeParams(s.Method, e); err != nil {
		return nil, err
	}
	if err := checkPolicy(s, e.Policy); err != nil {
		return nil, err
	}
	var err error
	e.reading, err = s.policyReads("features", &e.Features, e.Policy)
	return e, err
}

func (e *entroRouter) Name() string { return e.name }

func (e *entroRouter) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (_ routing.Router, err error) {
	if e, err = e.validated(ctx, set, work); err != nil {
		return nil, err
	}
	model, curve, err := e.train(ctx, set, work)
	if err != nil {
		return nil, err
	}
	if work.Dir != "" {
		err = model.Save(filepath.Join(work.Dir, checkpointDir))
		if err == nil {
			err = replaceFile(filepath.Join(work.Dir, CurveFile), curve.WriteCSV)
		}
		if err != nil {
			model.Close()
			return nil, fmt.Errorf("method %s: %w", e.name, err)
		}
	}
	return e.router(model, set.Experts, work), nil
}

// CurveFile is where a fit leaves how training went, as train.Curve writes it.
const CurveFile = "curve.csv"

// checkpointDir is where a fit leaves the trained policy.
const checkpointDir = "checkpoint"

// Load implements Loader.
func (e *entroRouter) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	model, err := policy.Load(e.backend, e.readPolicy, filepath.Join(from, checkpointDir))
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", e.name, err)
	}
	write, err := e.writer(work)
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("method %s: %w", e.name, err)
	}
	model.WrittenBy(write)
	if got, want := model.Policy().Experts(), expertIDs(experts); !slices.Equal(got, want) {
		err = fmt.Errorf("the checkpoint in %s chooses among %s, the pool is %s", from, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	if err == nil && work.Dir != "" {
		if err = model.Save(filepath.Join(work.Dir, checkpointDir)); err == nil {
			err = copyFile(filepath.Join(work.Dir, CurveFile), filepath.Join(from, CurveFile))
		}
	}
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("method %s: %w", e.name, err)
	}
	return e.router(model, experts, work), nil
}

func (e *entroRouter) router(model *policy.Model, experts []routing.Expert, work routing.Work) *policyRouter {
	return &policyRouter{chooser: network{model}, decoding: e.decoding, seed: work.Seed, costs: routing.Costs(experts, "normalised")}
}

// expertIDs are the experts that a method is to choose among, cheapest first.
func expertIDs(experts []routing.Expert) []string {
	ids := make([]string, len(experts))
	for m, x := range experts {
		ids[m] = x.ID
	}
	return ids
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

// train runs both stages. The caller closes the model.
func (e *entroRouter) train(ctx context.Context, set routing.TrainSet, work routing.Work) (model *policy.Model, curve *train.Curve, err error) {
	defer func() {
		if err == nil {
			return
		}
		if model != nil {
			model.Close()
		}
		err = fmt.Errorf("method %s: %w", e.name, err)
	}()
	reader, err := e.newPolicy(ctx, set.Experts, textsOf(set.SFT))
	if err != nil {
		return nil, nil, err
	}
	examples, err := e.examples(ctx, reader, set.SFT, routing.Strongest(set.SFT, len(set.C), e.Targets.Strongest), work.Seed)
	if err != nil {
		return nil, nil, err
	}
	if !slices.ContainsFunc(examples, func(x train.Example) bool { return x.Weight > 0 }) {
		return nil, nil, &routing.Unfit{Why: "no problem weighs anything in Stage I"}
	}
	if examples, err = e.taught(ctx, reader, set, examples, work); err != nil {
		return nil, nil, err
	}
	conduct := conductOf(e.Policy, work)
	write, err := e.writer(work)
	if err != nil {
		return nil, nil, err
	}
	if model, curve, err = e.first(ctx, conduct, reader, examples, work.Seed); err != nil {
		return model, nil, err
	}
	model.WrittenBy(write)
	if e.stageTwo == nil {
		return model, curve, nil
	}
	prompts, err := e.stageTwo(ctx, reader, set, work)
	if err != nil {
		return model, nil, err
	}
	if len(prompts) == 0 {
		return model, nil, &routing.Unfit{Why: "no problem is left for Stage II"}
	}
	later, err := conduct.GRPO(ctx, model, prompts, e.GRPO, work.Seed.Derive("grpo"))
	if err != nil {
		return model, nil, err
	}
	curve.Append(later)
	return model, curve, nil
}

// first is Stage I: a new network trained on examples, or as it is remembered. Language models are not remembered, whose weights are many.
func (e *entroRouter) first(ctx context.Context, conduct train.Conduct, reader policy.Policy, examples []train.Example, s seed.Seed) (model *policy.Model, curve *train.Curve, err error) {
	memory := e.stages
	if e.Policy.Kind != "compact" {
		memory = nil
	}
	key, err := keyOfStageOne(reader, e.SFT, s, examples)
	if err != nil {
		return nil, nil, err
	}
	if weights, curve, ok := memory.find(key, reader.Experts()); ok {
		model, err = policy.With(e.backend, reader, weights)
		return model, curve, err
	}
	if model, err = policy.New(e.backend, reader, s); err != nil {
		return nil, nil, err
	}
	if curve, err = conduct.SFT(ctx, model, examples, e.SFT, s.Derive("sft")); err != nil {
		return model, nil, err
	}
	return model, curve, memory.learn(key, model, curve)
}

// examples are the Stage I problems with their targets.
func (e *entroRouter) examples(ctx context.Context, policy policy.Policy, set []routing.Example, strongest int, s seed.Seed) ([]train.Example, error) {
	rows, err := policy.Encode(ctx, textsOf(set))
	if err != nil {
		return nil, err
	}
	examples := make([]train.Example, len(set))
	for i, x := range set {
		target := routing.NewTarget(x.Kappa, x.Probe, strongest, e.Targets)
		examples[i] = train.Example{ID: x.Problem.ID, Row: rows[i], Prob: e.Noise.target(target.Prob, s, x.Problem.ID), Weight: target.Weight}
	}
	return examples, nil
}

// validated returns the method with the weight decay, of both stages, that does best on a fifth of the training problems
// when it is fitted to the others: by the mean of what the last stage maximises, the shaped reward of the experts that it
// decides for or, without Stage II, the negative of Stage I's loss. The reward is that of decisions and not of the
// policy's distribution, because a strong decay makes a policy timid and need not change what it decides. Of equally good
// ones the strongest wins. With nothing to choose from it is the method itself.
func (e *entroRouter) validated(ctx context.Context, set routing.TrainSet, work routing.Work) (*entroRouter, error) {
	if len(e.Validate.WeightDecay) == 0 {
		return e, nil
	}
	kept, held := holdOutOfBoth(set)
	if len(held.SFT) == 0 || len(held.RL) == 0 {
		return nil, fmt.Errorf("method %s: validate: %d training problems are too few to hold a fifth of them out; give it more, or leave validate out of the spec", e.name, min(len(set.SFT), len(set.RL)))
	}
	grid := slices.Clone(e.Validate.WeightDecay)
	slices.SortFunc(grid, func(a, b float64) int { return cmp.Compare(b, a) })
	if lr := max(e.SFT.LR, e.GRPO.LR); grid[0]*lr >= 1 {
		return nil, fmt.Errorf("method %s: validate: a weight decay of %g at a learning rate of %g turns weights around at every step; want less than %g", e.name, grid[0], lr, 1/lr)
	}
	var best *entroRouter
	top := math.Inf(-1)
	for _, decay := range grid {
		next := *e
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
	work.Log.Debug("weight decay chosen", "method", e.name, "weight_decay", best.SFT.WeightDecay, "score", top)
	return best, nil
}

// score fits to some problems and returns the score on others, see validated.
func (e *entroRouter) score(ctx context.Context, kept, held routing.TrainSet, work routing.Work) (score float64, err error) {
	model, _, err := e.train(ctx, kept, work)
	if err != nil {
		return 0, err
	}
	defer model.Close()
	if e.stageTwo == nil {
		examples, err := e.examples(ctx, model.Policy(), held.SFT, routing.Strongest(kept.SFT, len(kept.C), e.Targets.Strongest), work.Seed)
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
		if err != nil {
			return 0, err
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
	prompts, err := e.stageTwo(ctx, model.Policy(), held, work)
	if err != nil {
		return 0, err
	}
	rows := make([]policy.Row, len(prompts))
	for i, x := range prompts {
		rows[i] = x.Row
	}
	probs, err := model.ProbsOf(ctx, rows)
	if err != nil {
		return 0, err
	}
	for i, x := range prompts {
		if e.decoding == "argmax" {
			probs[i] = oneHot(len(probs[i]), slices.Index(probs[i], slices.Max(probs[i])))
		}
		for m, p := range probs[i] {
			score += p * x.Reward[m] / float64(len(prompts))
		}
	}
	return score, nil
}

// holdOut returns the examples without those of the smallest fifth of the keys of inHashOrder, and those.
func holdOut(examples []routing.Example) (kept, held []routing.Example) {
	sorted := slices.Clone(examples)
	inHashOrder(sorted)
	n := len(sorted) / 5
	return sorted[n:], sorted[:n]
}

// holdOutOfBoth is holdOut in both stages. No problem that is held out of Stage II is kept in Stage I, which may have seen it.
func holdOutOfBoth(set routing.TrainSet) (kept, held routing.TrainSet) {
	kept, held = set, set
	kept.SFT, held.SFT = holdOut(set.SFT)
	kept.RL, held.RL = holdOut(set.RL)
	out := map[string]bool{}
	for _, x := range held.RL {
		out[x.Problem.ID] = true
	}
	kept.SFT = slices.DeleteFunc(kept.SFT, func(x routing.Example) bool { return out[x.Problem.ID] })
	return kept, held
}

// prompts are the Stage II problems with the shaped reward of every expert.
func (e *entroRouter) prompts(ctx context.Context, policy policy.Policy, set routing.TrainSet, s seed.Seed) ([]train.Prompt, error) {
	problems := e.Noise.rates(set.RL, s)
	strongest := routing.Strongest(set.SFT, len(set.C), e.Targets.Strongest)
	if e.Reward.Balance {
		problems = routing.Balance(problems, e.Targets.Tau, strongest, e.Reward, s)
	}
	texts := make([]string, len(problems))
	for i, x := range problems {
		texts[i] = x.Problem.Text
	}
	rows, err := policy.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	prompts := make([]train.Prompt, len(problems))
	for i, x := range problems {
		kappa := routing.StageTwoKappa(x.Kappa, strongest, e.Reward)
		anchor := routing.LogAnchor(routing.Utility(kappa, set.C, e.Anchor.Alpha), e.Anchor.T)
		for m := range anchor {
			anchor[m] = math.Exp(anchor[m])
		}
		prompts[i] = train.Prompt{
			ID: x.Problem.ID, Row: rows[i], Anchor: anchor,
			Reward: routing.ShapedReward(kappa, set.C, e.Targets.Tau, strongest, e.Reward, e.Anchor),
			Cut:    cutReward(e.Reward),
		}
	}
	return prompts, nil
}

// policyRouter decides by a trained policy: its likeliest expert, or a sample of its distribution. It is safe for concurrent use as far as
// its chooser is.
type policyRouter struct {
	chooser  chooser
	decoding string
	seed     seed.Seed
	costs    []float64 // [M] c(m), list prices over the dearest's

	lock  sync.Mutex
	known map[string]opinion // by text

	cut float64 // share of the queries of the last call of Route whose rationale was cut
}

var _ io.Closer = (*policyRouter)(nil)

// Close frees the model, if it is here.
func (r *policyRouter) Close() error {
	if m := r.Model(); m != nil {
		m.Close()
	}
	return nil
}

// Model returns the trained policy; nil: a server has it.
func (r *policyRouter) Model() *policy.Model {
	n, _ := r.chooser.(network)
	return n.Model
}

func (r *policyRouter) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	said, err := r.say(ctx, queries)
	if err != nil {
		return nil, err
	}
	out := make([]routing.Decision, len(queries))
	r.cut = 0
	for i, q := range queries {
		if said[i].cut {
			r.cut += 1 / float64(len(queries))
		}
		prob := said[i].prob
		out[i] = routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: prob, Expert: slices.Index(prob, slices.Max(prob)), Usage: said[i].usage}
		if r.decoding == "sample" {
			out[i].Expert = draw(prob, r.seed.Derive("decode", q.Problem.ID, q.Run).Uniform())
		}
	}
	return out, nil
}

// CutRationale is the unit of what Report says of a router that writes before it chooses: decisions whose rationale was cut, in
// percent. They are those of the letters behind what was written.
const CutRationale = "cut-rationale-%"

// Report implements Reporter.
func (r *policyRouter) Report() []metrics.Value {
	if m := r.Model(); m != nil {
		if _, writes := policy.WriterOf(m.Policy()); writes {
			return []metrics.Value{metrics.Rounded(100*r.cut, CutRationale, 3)}
		}
	}
	return nil
}
