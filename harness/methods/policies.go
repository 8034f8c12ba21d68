// The kinds of trainable policies, and how one is trained.

package methods

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

// checkPolicy refuses a row whose policy is to compute on another backend than the run's, or whose knobs do not belong together.
func checkPolicy(s Setup, p spec.Policy) error {
	if p.Backend != s.Spec.Policy.Backend {
		return paramFault(s.Method, "policy.backend", "a run has one backend; set policy.backend of the experiment, which is %s here", s.Spec.Policy.Backend)
	}
	if knob, fault := p.Check(); fault != "" {
		return paramFault(s.Method, "policy"+knob, "%s", fault)
	}
	return checkTeacher(s, p)
}

// startingPolicy is the policy that the params of a row lie over: the experiment's, without the knobs of a language model if the row names
// another kind.
func startingPolicy(s Setup) spec.Policy {
	var named struct {
		Policy struct {
			Kind string `yaml:"kind"`
		} `yaml:"policy"`
	}
	p := s.Spec.Policy
	if err := s.Method.Params.Decode(&named); err == nil && named.Policy.Kind == "compact" { // a fault is said where params are decoded
		return spec.Policy{Kind: p.Kind, Buckets: p.Buckets, NGrams: p.NGrams, Hidden: p.Hidden, Backend: p.Backend}
	}
	return p
}

// newPolicy builds the policy of the row, for the given experts, cheapest first. Constants of features are fitted on texts,
// which should be the training texts. It fails on an unknown kind or a size below 1.
func (e *entroRouter) newPolicy(ctx context.Context, experts []routing.Expert, texts []string) (policy.Policy, error) {
	switch e.Policy.Kind {
	case "compact":
		return compact.New(ctx, e.Policy, expertIDs(experts), texts, e.reading.compact())
	case "lm":
		if e.models == nil {
			return nil, errNoModels
		}
		return e.models.New(e.backend, e.Policy, lmPool(experts))
	default:
		return nil, fmt.Errorf("policy: unknown kind %q; known: compact, lm", e.Policy.Kind)
	}
}

// compact is what the small policy reads.
func (r reading) compact() compact.Reading {
	return compact.Reading{Of: r.of, Vectors: r.vectors, Memory: r.memory}
}

// conductOf keeps the trainings of language models as they go; the compact network is trained again in less time than a
// file takes.
func conductOf(p spec.Policy, work routing.Work) train.Conduct {
	c := train.Conduct{Micro: p.MicroBatch}
	if p.Kind == "compact" {
		if work.Say != nil {
			c.Tell = func(far train.Progress) { work.Say(fmt.Sprintf("%s step %d of %d", far.Stage, far.Step, far.Of)) }
		}
		return c
	}
	if work.Every > 0 {
		c.Dir, c.Every = work.Unfinished, work.Every
	}
	c.Tell = func(far train.Progress) {
		if work.Say != nil {
			work.Say(far.String())
		}
		work.Log.Debug("training", "progress", far.String())
	}
	return c
}

// readPolicy is the policy.Read of every kind.
func (e *entroRouter) readPolicy(kind string, config []byte) (policy.Policy, error) {
	switch kind {
	case "compact":
		return compact.Read(config, e.reading.compact())
	case "lm":
		if e.models == nil {
			return nil, errNoModels
		}
		return e.models.Read(e.backend, config)
	default:
		return nil, fmt.Errorf("unknown policy %q; known: compact, lm", kind)
	}
}

var errNoModels = errors.New("policy: language models are opened by a run; there is none here")

// ModelDigest returns what tells apart the language models that the policy may start from, and their prompts; empty: it
// starts from none.
func (e *entroRouter) ModelDigest() (string, error) { return modelDigest(e.Policy, e.models) }

// ModelDigest is as that of entroRouter.
func (e *entroPlus) ModelDigest() (string, error) { return modelDigest(e.Policy, e.setup.Models) }

func modelDigest(p spec.Policy, models *lm.Models) (string, error) {
	switch {
	case p.Kind != "lm":
		return "", nil
	case models == nil:
		return "", errNoModels
	}
	return models.Digest(p)
}

// LanguageModel returns the policy of a row that trains a language model, or a head on one; ok is false for other rows.
func LanguageModel(row spec.Method, x *spec.Experiment) (p spec.Policy, ok bool) {
	method, err := New(Setup{Method: row, Spec: x})
	if err != nil {
		return p, false // said where the row is planned
	}
	trained, ok := method.(interface{ policy() spec.Policy })
	if !ok || trained.policy().Kind != "lm" {
		return p, false
	}
	return trained.policy(), true
}

// FrozenTrunk says whether a row trains nothing of a language model but a linear head on it.
func FrozenTrunk(row spec.Method, x *spec.Experiment) bool {
	p, ok := LanguageModel(row, x)
	return ok && p.Tune.Part == "head"
}

// Network is what is trained of a row in steps, for estimates.
type Network struct {
	Policy  bool   // by the two stages of the experiment; otherwise by the row's own
	Weights int64  // how many; of a model in a folder, which is not opened: 0
	Knob    string // that makes them many, as the row's params name it
	Value   string // of the knobs that do, in words
}

// NetworkOf returns the network of a row; ok is false if it has none.
func NetworkOf(row spec.Method, x *spec.Experiment) (n Network, ok bool) {
	method, err := New(Setup{Method: row, Spec: x})
	if err != nil {
		return n, false // said where the row is planned
	}
	hashed := func(knob string, buckets, width int) Network {
		return Network{Weights: int64(buckets) * int64(width), Knob: knob + "buckets", Value: fmt.Sprintf("%d buckets of %d units", buckets, width)}
	}
	switch m := method.(type) {
	case interface {
		policy() spec.Policy
		reads() (param string, f spec.Features)
	}:
		p := m.policy()
		n = Network{Knob: "policy.model", Value: "a language model"}
		if p.Kind != "lm" {
			n = hashed("policy.", p.Buckets, p.Hidden)
			if param, f := m.reads(); len(f.Read) > 0 {
				n = hashed(param+".words.", f.Words.Buckets, p.Hidden)
				if f.Characters.Buckets > f.Words.Buckets {
					n = hashed(param+".characters.", f.Characters.Buckets, p.Hidden)
				}
			}
		} else if l := p.Model; l.Folder == "" {
			n.Weights = int64(l.Layers) * int64(l.Hidden) * (2*int64(l.HeadDim)*int64(l.Heads+l.KVHeads) + 3*int64(l.Inner))
			n.Value = fmt.Sprintf("%d layers of width %d and %d inside", l.Layers, l.Hidden, l.Inner)
		}
		n.Policy = true
		return n, true
	case *bag:
		return hashed("features.words.", m.Features.Words.Buckets, m.Hidden), true
	case *routeLLM:
		return hashed("features.words.", m.Features.Words.Buckets, m.Dims), true
	}
	return n, false
}

func (e *entroRouter) policy() spec.Policy { return e.Policy }
func (e *entroPlus) policy() spec.Policy   { return e.Policy }

// reads returns what the compact policy reads, and the parameter that says so.
func (e *entroRouter) reads() (param string, f spec.Features) { return "features", e.Features }
func (e *entroPlus) reads() (param string, f spec.Features) {
	return "policy_features", e.PolicyFeatures
}
