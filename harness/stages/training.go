// Package stages trains a policy as a router in the two stages of the paper: Stage I on soft targets, Stage II by GRPO on a shaped
// reward. A Training is a routing.Method; what it returns is a Router, which decides by the policy and has a curve.
//
//	training.go   both stages, the checkpoint they leave, and how it comes back
//	start.go      what a policy may start from
//	targets.go    what each stage learns from: equations 1 to 4 in Stage I, 5 to 8 in Stage II
//	policies.go   the kinds of policies: a compact network, a language model
//	rationale.go  what a policy that writes is taught to write before it chooses
//	noise.go      corrupted pass rates
//	validate.go   a weight decay that is chosen on held-out problems
//	memory.go     what Stage I comes to, remembered
//	router.go     decisions of a policy and its curve
//	server.go     a policy behind a server
//	programs.go   the training steps of a language model, compiled and not carried out
//
// Which rows there are, and with which knobs, is package methods' business.
package stages

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// Knobs are those of two stages, whatever the second rewards, as the params of a row have them.
type Knobs struct {
	Targets  spec.Targets  `yaml:"targets"`
	Policy   spec.Policy   `yaml:"policy"`
	SFT      spec.SFT      `yaml:"sft"`
	GRPO     spec.GRPO     `yaml:"grpo"`
	Validate spec.Validate `yaml:"validate,omitempty"`
}

// Training is a policy that is trained as a router: the knobs of the paper's method, as the params of a row have them, and what it is
// carried out with.
type Training struct {
	Knobs  `yaml:",inline"`
	Anchor spec.Anchor `yaml:"anchor"`
	Reward spec.Reward `yaml:"reward"`
	Noise  Noise       `yaml:"noise"`

	Features spec.Features `yaml:"features,omitempty"` // what a policy of kind compact reads, as other rows; default: words, as policy says

	With With `yaml:"-"`
}

// With is what a training is carried out with. It decides no number that a knob does not decide.
type With struct {
	Name     string // of the method
	StageTwo StageTwo
	Start    *Start // of a policy of kind compact; nil: it starts from random weights
	Decoding string // argmax or sample
	Backend  policy.Backend
	Reading  features.Reading // of the features of a policy of kind compact
	Memory   *Memory          // nil: Stage I is trained each time
	Models   *lm.Models       // nil: no language model can be opened
	Teacher  *Teacher         // of a policy that writes; nil: it has none
	Writer   *spec.Writer     // who writes for such a policy; nil: this program
}

// StageTwo returns the problems of Stage II as rows of a policy with the reward of every expert; nil: there is Stage I alone.
type StageTwo func(ctx context.Context, reader policy.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error)

// Name implements routing.Method.
func (t *Training) Name() string { return t.With.Name }

// Fit implements routing.Method. It leaves the trained policy and the curve of the training in work.Dir.
func (t *Training) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (_ routing.Router, err error) {
	if t, err = t.validated(ctx, set, work); err != nil {
		return nil, err
	}
	model, curve, err := t.train(ctx, set, work)
	if err != nil {
		return nil, err
	}
	if work.Dir != "" {
		err = model.Save(filepath.Join(work.Dir, checkpointDir))
		if err == nil {
			err = write(filepath.Join(work.Dir, CurveFile), curve.WriteCSV)
		}
		if err != nil {
			model.Close()
			return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
		}
	}
	return t.router(network{model}, set.Experts, work), nil
}

// CurveFile is where a fit leaves how training went, as train.Curve writes it.
const CurveFile = "curve.csv"

// checkpointDir is where a fit leaves the trained policy.
const checkpointDir = "checkpoint"

// Load returns the router that Fit returned from the folder that Fit wrote to, without training, and leaves in work.Dir what Fit
// leaves there. It fails on anything missing, damaged or of another pool.
func (t *Training) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	model, err := policy.Load(t.With.Backend, t.readPolicy, filepath.Join(from, checkpointDir))
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	writes, err := t.writer(work)
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	model.WrittenBy(writes)
	if got, want := model.Policy().Experts(), routing.IDs(experts); !slices.Equal(got, want) {
		err = fmt.Errorf("the checkpoint in %s chooses among %s, the pool is %s", from, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	if err == nil && work.Dir != "" {
		if err = model.Save(filepath.Join(work.Dir, checkpointDir)); err == nil {
			err = copyFile(filepath.Join(work.Dir, CurveFile), filepath.Join(from, CurveFile))
		}
	}
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	return t.router(network{model}, experts, work), nil
}

func (t *Training) router(by chooser, experts []routing.Expert, work routing.Work) *Router {
	return &Router{chooser: by, writes: t.Policy.Rationale == "cot", decoding: t.With.Decoding, seed: work.Seed, costs: routing.Costs(experts, "normalised"), start: t.With.Start}
}

// write makes a file of what to writes.
func write(path string, to func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(to(f), f.Close())
}

// copyFile makes a file with the bytes of another.
func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}

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
	writes, err := t.writer(work)
	if err != nil {
		return nil, nil, err
	}
	if model, curve, err = t.first(ctx, conduct, reader, examples, work.Seed); err != nil {
		return model, nil, err
	}
	model.WrittenBy(writes)
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
	key, err := keyOfStageOne(reader, t.SFT, s, examples)
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
