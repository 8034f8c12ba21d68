package stages

import (
	"context"
	"sync"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

var backend = sync.OnceValues(func() (policy.Backend, error) { return policy.OpenBackend("go") })

// build makes a training of knobs that are YAML; one named sft has no Stage II, and one named other is rewarded by pass rates there.
func build(t testing.TB, name, knobs string) *Training {
	t.Helper()
	b, err := backend()
	if err != nil {
		t.Fatal(err)
	}
	x := routingtest.Experiment()
	m := &Training{
		Knobs: Knobs{Targets: x.Targets, Policy: x.Policy, SFT: x.SFT, GRPO: x.GRPO}, Anchor: x.Anchor, Reward: x.Reward,
		With: With{Name: name, Decoding: x.Evaluate.Decoding, Backend: b},
	}
	row := spec.Method{Name: name}
	if knobs != "" {
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(knobs), &doc); err != nil {
			t.Fatal(err)
		}
		row.Params = *doc.Content[0]
	}
	if err := spec.DecodeParams(row, m); err != nil {
		t.Fatal(err)
	}
	switch name {
	case "entrorouter":
		m.With.StageTwo = m.Prompts
	case "other":
		m.With.StageTwo = func(ctx context.Context, reader policy.Policy, set routing.TrainSet, work routing.Work) ([]train.Prompt, error) {
			prompts, err := m.Prompts(ctx, reader, set, work)
			for i := range prompts {
				prompts[i].Reward = set.RL[i].Kappa
			}
			return prompts, err
		}
	}
	return m
}

func fit(t testing.TB, m *Training, set routing.TrainSet, s seed.Seed) *Router {
	t.Helper()
	r, err := m.Fit(t.Context(), set, routingtest.Work(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.(*Router).Close() })
	return r.(*Router)
}
