// The kinds of trainable policies, and how the trainings of each go.

package stages

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

// Shown is a pool as the prompt of a language model shows it.
func Shown(experts []routing.Expert) []lm.Expert {
	pool := make([]lm.Expert, len(experts))
	for i, x := range experts {
		pool[i] = lm.Expert{ID: x.ID, Params: x.Params, Price: x.Price}
	}
	return pool
}

// newPolicy builds the policy of the row, for the given experts, cheapest first. Constants of features are fitted on texts,
// which should be the training texts. It fails on an unknown kind or a size below 1.
func (t *Training) newPolicy(ctx context.Context, experts []routing.Expert, texts []string) (policy.Policy, error) {
	switch t.Policy.Kind {
	case "compact":
		p, err := compact.New(ctx, t.Policy, routing.IDs(experts), texts, t.With.Reading)
		return t.starting(p), err
	case "lm":
		if t.With.Models == nil {
			return nil, ErrNoModels
		}
		return t.With.Models.New(t.With.Backend, t.Policy, Shown(experts))
	default:
		return nil, fmt.Errorf("policy: unknown kind %q; known: compact, lm", t.Policy.Kind)
	}
}

// starting is a compact policy that starts where the training says.
func (t *Training) starting(p *compact.Policy) policy.Policy {
	if t.With.Start == nil || p == nil {
		return p
	}
	return p.From(t.With.Start.logits)
}

// Conduct keeps the trainings of language models as they go; the compact network is trained again in less time than a
// file takes.
func Conduct(p spec.Policy, work routing.Work) train.Conduct {
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
func (t *Training) readPolicy(kind string, config []byte) (policy.Policy, error) {
	switch kind {
	case "compact":
		p, err := compact.Read(config, t.With.Reading)
		return t.starting(p), err
	case "lm":
		if t.With.Models == nil {
			return nil, ErrNoModels
		}
		return t.With.Models.Read(t.With.Backend, config)
	default:
		return nil, fmt.Errorf("unknown policy %q; known: compact, lm", kind)
	}
}

// ErrNoModels is the error of whoever needs a language model where none can be opened.
var ErrNoModels = errors.New("policy: language models are opened by a run; there is none here")

// ModelDigest returns what tells apart the language models that the policy may start from, and their prompts; empty: it
// starts from none.
func (t *Training) ModelDigest() (string, error) { return ModelDigest(t.Policy, t.With.Models) }

// ModelDigest is that of any policy.
func ModelDigest(p spec.Policy, models *lm.Models) (string, error) {
	switch {
	case p.Kind != "lm":
		return "", nil
	case models == nil:
		return "", ErrNoModels
	}
	return models.Digest(p)
}
