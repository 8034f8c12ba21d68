package methods

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/lm"
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

	name     string
	stageTwo func(context.Context, lm.Policy, routing.TrainSet, routing.Work) ([]train.Prompt, error) // nil: Stage I alone
	decoding string
	backend  lm.Backend
	memory   *lm.Texts
}

func newEntroRouter(s Setup) (routing.Method, error) { return newTrained(s, true) }

// newSFT is EntroRouter after Stage I.
func newSFT(s Setup) (routing.Method, error) { return newTrained(s, false) }

func newTrained(s Setup, stageTwo bool) (routing.Method, error) {
	e := &entroRouter{
		Targets: s.Spec.Targets, Anchor: s.Spec.Anchor, Reward: s.Spec.Reward, Policy: s.Spec.Policy,
		SFT: s.Spec.SFT, GRPO: s.Spec.GRPO,
		name: s.Method.Name, decoding: s.Spec.Evaluate.Decoding, backend: s.Backend, memory: s.Texts,
	}
	if stageTwo {
		e.stageTwo = func(_ context.Context, policy lm.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error) {
			return e.prompts(policy, set, work.Seed)
		}
	}
	return e, spec.DecodeParams(s.Method, e)
}

func (e *entroRouter) Name() string { return e.name }

func (e *entroRouter) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (_ routing.Router, err error) {
	var model *lm.Model
	defer func() {
		if err == nil {
			return
		}
		if model != nil {
			model.Close()
		}
		err = fmt.Errorf("method %s: %w", e.name, err)
	}()
	ids := make([]string, len(set.Experts))
	for m, x := range set.Experts {
		ids[m] = x.ID
	}
	texts := make([]string, len(set.SFT))
	for i, x := range set.SFT {
		texts[i] = x.Problem.Text
	}
	policy, err := lm.NewPolicy(e.Policy, ids, texts, e.memory)
	if err != nil {
		return nil, err
	}
	if model, err = lm.New(e.backend, policy, work.Seed); err != nil {
		return nil, err
	}
	rows, err := policy.Encode(texts)
	if err != nil {
		return nil, err
	}
	examples := make([]train.Example, len(set.SFT))
	for i, x := range set.SFT {
		target := routing.NewTarget(x.Kappa, x.Probe, e.Targets)
		examples[i] = train.Example{ID: x.Problem.ID, Row: rows[i], Prob: e.Noise.target(target.Prob, work.Seed, x.Problem.ID), Weight: target.Weight}
	}
	curve, err := train.SFT(ctx, model, examples, e.SFT, work.Seed.Derive("sft"))
	if err != nil {
		return nil, err
	}
	if e.stageTwo != nil {
		prompts, err := e.stageTwo(ctx, policy, set, work)
		if err != nil {
			return nil, err
		}
		later, err := train.GRPO(ctx, model, prompts, e.GRPO, work.Seed.Derive("grpo"))
		if err != nil {
			return nil, err
		}
		curve.Append(later)
	}
	if work.Dir != "" {
		if err := model.Save(filepath.Join(work.Dir, "checkpoint")); err != nil {
			return nil, err
		}
		if err := writeCurve(filepath.Join(work.Dir, "curve.csv"), curve); err != nil {
			return nil, err
		}
	}
	return &policyRouter{model: model, decoding: e.decoding, seed: work.Seed}, nil
}

func writeCurve(path string, c *train.Curve) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return c.WriteCSV(f)
}

// prompts are the Stage II problems with the shaped reward of every expert.
func (e *entroRouter) prompts(policy lm.Policy, set routing.TrainSet, s seed.Seed) ([]train.Prompt, error) {
	problems := e.Noise.rates(set.RL, s)
	if e.Reward.Balance {
		problems = routing.Balance(problems, e.Targets.Tau, e.Reward, s)
	}
	texts := make([]string, len(problems))
	for i, x := range problems {
		texts[i] = x.Problem.Text
	}
	rows, err := policy.Encode(texts)
	if err != nil {
		return nil, err
	}
	prompts := make([]train.Prompt, len(problems))
	for i, x := range problems {
		kappa := routing.StageTwoKappa(x.Kappa, e.Reward)
		anchor := routing.LogAnchor(routing.Utility(kappa, set.C, e.Anchor.Alpha), e.Anchor.T)
		for m := range anchor {
			anchor[m] = math.Exp(anchor[m])
		}
		prompts[i] = train.Prompt{
			ID: x.Problem.ID, Row: rows[i], Anchor: anchor,
			Reward: routing.ShapedReward(kappa, set.C, e.Targets.Tau, e.Reward, e.Anchor),
		}
	}
	return prompts, nil
}

// policyRouter decides by a trained policy: its likeliest expert, or a sample of its distribution.
type policyRouter struct {
	model    *lm.Model
	decoding string
	seed     seed.Seed
}

var _ io.Closer = (*policyRouter)(nil)

// Close frees the model.
func (r *policyRouter) Close() error {
	r.model.Close()
	return nil
}

func (r *policyRouter) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	var texts []string
	index := map[string]int{} // runs of a problem share its text
	for _, q := range queries {
		if _, ok := index[q.Problem.Text]; !ok {
			index[q.Problem.Text] = len(texts)
			texts = append(texts, q.Problem.Text)
		}
	}
	probs, err := r.model.Probs(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	out := make([]routing.Decision, len(queries))
	for i, q := range queries {
		prob := probs[index[q.Problem.Text]]
		if math.IsNaN(slices.Max(prob)) {
			return nil, fmt.Errorf("route: the policy gives no number for problem %s; its weights are damaged, train it again", q.Problem.ID)
		}
		out[i] = routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: prob, Expert: slices.Index(prob, slices.Max(prob))}
		if r.decoding == "sample" {
			out[i].Expert = draw(prob, r.seed.Derive("decode", q.Problem.ID, q.Run).Uniform())
		}
	}
	return out, nil
}
