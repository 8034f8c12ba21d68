// The kinds of trainable policies.

package methods

import (
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// checkPolicy refuses a row whose policy is to compute on another backend than the run's, or whose knobs do not belong together.
func checkPolicy(s Setup, p spec.Policy) error {
	if p.Backend != s.Spec.Policy.Backend {
		return paramFault(s.Method, "policy.backend", "a run has one backend; set policy.backend of the experiment, which is %s here", s.Spec.Policy.Backend)
	}
	if knob, fault := p.Check(); fault != "" {
		return paramFault(s.Method, "policy"+knob, "%s", fault)
	}
	return nil
}

// newPolicy builds the policy of the row, for the given experts, cheapest first. Constants of features are fitted on texts,
// which should be the training texts. It fails on an unknown kind or a size below 1.
func (e *entroRouter) newPolicy(experts []routing.Expert, texts []string) (policy.Policy, error) {
	switch e.Policy.Kind {
	case "compact":
		return compact.New(e.Policy, expertIDs(experts), texts, e.memory)
	case "lm":
		if e.models == nil {
			return nil, errNoModels
		}
		return e.models.New(e.backend, e.Policy, lmPool(experts))
	default:
		return nil, fmt.Errorf("policy: unknown kind %q; known: compact, lm", e.Policy.Kind)
	}
}

// readPolicy is the policy.Read of every kind.
func (e *entroRouter) readPolicy(kind string, config []byte) (policy.Policy, error) {
	switch kind {
	case "compact":
		return compact.Read(config)
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
	return models.Digest(*p.Model)
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

func (e *entroRouter) policy() spec.Policy { return e.Policy }
func (e *entroPlus) policy() spec.Policy   { return e.Policy }
