// Language models that route, as opposed to the experts they route to: who answers for them, and what is kept.

package asking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// RouterSource says who answers for a language model that routes: a server, or a simulation and its parameters. It is
// part of the recipe of what it decides. A model without a URL must be one of the pool's simulated routers.
func (a *Asker) RouterSource(m experts.Endpoint) (string, error) {
	if m.URL != "" {
		return "http", nil
	}
	if a.Sim == nil {
		return "", fmt.Errorf("%w: model %q has no url, and pool %s is of kind %s, which has no simulated routers; give the row a url", spec.ErrUsage, m.Model, a.pool.Name, a.pool.Kind)
	}
	knobs, ok := a.pool.Simulation.Routers[m.Model]
	if !ok {
		return "", fmt.Errorf("%w: model %q has no url and is no simulated router of pool %s; it has: %v", spec.ErrUsage, m.Model, a.pool.Name, slices.Sorted(maps.Keys(a.pool.Simulation.Routers)))
	}
	text, err := spec.Canonical(knobs)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s router %016x v%d", a.source, uint64(seed.Derive(string(text))), sim.RouterVersion), nil
}

// routerClient returns the client that asks a language model that routes; simulated ones answer in this process.
func (a *Asker) routerClient(ctx context.Context, m experts.Endpoint) (*experts.HTTP, error) {
	r := &a.routers
	key := m.URL + " " + m.Model
	if c := r.clients[key]; c != nil {
		return c, nil
	}
	if m.URL == "" {
		if err := a.startRouters(ctx); err != nil {
			return nil, err
		}
		m.URL, m.Handler = sim.Address, r.handler
	}
	client, err := a.connect(ctx, []experts.Endpoint{m}, a.httpOptions())
	if err != nil {
		return nil, err
	}
	if r.clients == nil {
		r.clients = map[string]*experts.HTTP{}
	}
	r.clients[key] = client
	return client, nil
}

// startRouters makes what answers for the simulated routers on the problems of every arena and of training. Where two problems share a text, which a
// reader of the text cannot tell apart, the first counts.
func (a *Asker) startRouters(ctx context.Context) error {
	r := &a.routers
	if r.handler != nil {
		return nil
	}
	add := func(problems []routing.Problem, latents []routing.Latent) error {
		r.known.AddNew(problems, latents)
		return nil
	}
	if err := errors.Join(a.Arena(ctx, add), a.Known(ctx, add)); err != nil {
		return err
	}
	pool := sim.NewRouters(a.Sim, a.pool.Simulation.Routers, r.known.Lookup)
	r.handler = sim.NewServer(pool, vllm.Options{Log: a.plan.Options.Log})
	return nil
}

// Ask implements methods.Servers. Answers are kept with the rollouts, under the model, the template and the sampling, so
// that all rows and experiments of the store share them. Unlike those of conversations they are stored many at a time:
// a simulated router is asked about every problem of the large set.
func (s Servers) Ask(ctx context.Context, m experts.Endpoint, sampling spec.Sampling, asks []experts.Ask) ([]experts.Completion, error) {
	a := s.Asker
	source, err := a.RouterSource(m)
	if err != nil {
		return nil, err
	}
	scope := scope(source, m.Expert, sampling, routing.Routing)
	keyOf := func(q experts.Ask) store.RolloutKey {
		return store.RolloutKey{Problem: store.KeyOfText(q.Text), Run: q.Run, Seed: uint64(q.Seed) & (1<<53 - 1)}
	}
	have, err := a.answers(ctx, scope)
	if err != nil {
		return nil, err
	}
	q := queue{expert: m.Expert}
	q.expert.Sampling = sampling
	want := map[store.RolloutKey]bool{}
	var mu sync.Mutex // of have and failed
	failed, first := 0, error(nil)
	for _, ask := range asks {
		k := keyOf(ask)
		if _, ok := have[k]; ok || want[k] {
			continue
		}
		want[k] = true
		q.requests = append(q.requests, request{
			scope: scope, row: store.Row{Text: ask.Text, Run: ask.Run, Seed: k.Seed}, prompt: experts.Prompt(sampling.Prompt, ask.Text),
			kept: func(c experts.Completion, _ store.Verdict, _ store.RolloutID) {
				mu.Lock()
				defer mu.Unlock()
				have[k] = experts.Completion{Text: c.Text, Finish: c.Finish, Usage: c.Usage}
			},
			failed: func(f *experts.Failure, _ bool) {
				mu.Lock()
				defer mu.Unlock()
				if failed++; first == nil {
					first = f
				}
			},
		})
	}
	if len(q.requests) > 0 {
		if a.plan.Options.Offline {
			return nil, fmt.Errorf("%w: %d of %d answers of %s are not stored and --offline forbids asking for them", steps.ErrIncomplete, len(q.requests), len(asks), m.Model)
		}
		if q.pool, err = a.routerClient(ctx, m); err != nil {
			return nil, err
		}
		if err := a.startRun(ctx); err != nil {
			return nil, err
		}
		a.rollouts.Want(scope, len(have)+len(q.requests))
		if err := a.gather(ctx, "asking "+m.Model, []queue{q}); err != nil {
			return nil, err
		}
		if err := a.sayCounted(ctx, []*wants{{expert: m.Expert, scope: scope}}); err != nil {
			return nil, err
		}
	}
	if first != nil {
		return nil, fmt.Errorf("%w: %d of %d decisions of %s are not to be had, the first because: %w; what was answered is kept", steps.ErrIncomplete, failed, len(asks), m.Model, first)
	}
	out := make([]experts.Completion, len(asks))
	for i, q := range asks {
		out[i] = have[keyOf(q)]
	}
	return out, nil
}

// answers returns what is stored under a scope.
func (a *Asker) answers(ctx context.Context, scope store.Scope) (map[store.RolloutKey]experts.Completion, error) {
	have := map[store.RolloutKey]experts.Completion{}
	for s, err := range a.rollouts.Load(ctx, scope, verify.Version) {
		if err != nil {
			return nil, err
		}
		have[s.Key] = experts.Completion{Finish: s.Finish, Usage: cost.Usage{In: s.In, Out: s.Out}}
	}
	if len(have) == 0 {
		return have, nil
	}
	for r, err := range a.rollouts.Responses(ctx, scope) {
		if err != nil {
			return nil, err
		}
		c := have[r.Key]
		c.Text, c.Finish = r.Response, r.Finish
		have[r.Key] = c
	}
	return have, nil
}
