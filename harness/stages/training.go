// Package stages trains a policy as a router in the two stages of the paper: Stage I on soft targets, Stage II by GRPO on a shaped
// reward. A Training is a routing.Method; what it returns is a Router, which decides by the policy and has a curve.
//
//	training.go   the knobs of a training, and what it is carried out with
//	fit.go        a fit, the checkpoint it leaves, and how it comes back
//	twostages.go  one stage after the other
//	start.go      what a policy may start from
//	targets.go    what each stage learns from: equations 1 to 4 in Stage I, 5 to 8 in Stage II
//	policies.go   the kinds of policies: a compact network, a language model
//	rationale.go  what a policy that writes is taught to write before it chooses
//	noise.go      corrupted pass rates
//	validate.go   a weight decay that is chosen on held-out problems
//	memory.go     what Stage I comes to, remembered
//	chooser.go    what a policy says of a text
//	router.go     decisions of a policy and its curve
//	server.go     a policy behind a server
//	programs.go   the training steps of a language model, compiled and not carried out
//
// Which rows there are, and with which knobs, is package methods' business.
package stages

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/entrorouter/entrorouter/harness/experts"
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
	Handover string           // folder of adapters for a writer that names none, unless a training has its own; empty: there is none
}

// Teacher is who writes the rationales of Stage I.
type Teacher struct {
	spec.Teacher
	Endpoint experts.Endpoint
	Seed     seed.Seed // of the experiment
	Servers  Asker     // nil: nobody can be asked
}

// Asker asks a language model for an answer to each text, in order, each in the template of s, and asks nothing twice.
type Asker interface {
	Ask(ctx context.Context, model experts.Endpoint, s spec.Sampling, asks []experts.Ask) ([]experts.Completion, error)
}

// StageTwo returns the problems of Stage II as rows of a policy with the reward of every expert; nil: there is Stage I alone.
type StageTwo func(ctx context.Context, reader policy.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error)

// Name implements routing.Method.
func (t *Training) Name() string { return t.With.Name }

// write makes a file of what to writes.
func write(path string, to func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(to(f), f.Close())
}
