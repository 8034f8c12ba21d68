// Language models that route, as opposed to the experts they route to: who answers for them, and what is kept.

package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// routers are the language models that route, as opposed to the experts they route to.
type routers struct {
	clients  map[string]*experts.HTTP // by URL and model
	loopback *sim.Loopback            // serves the simulated ones
	known    problems.Index           // what those may be asked about: the problems of every arena
}

func (r *routers) close() {
	for _, c := range r.clients {
		c.Close()
	}
	if r.loopback != nil {
		r.loopback.Close()
	}
}

// routerSource says who answers for a language model that routes: a server, or a simulation and its parameters. It is
// part of the recipe of what it decides. A model without a URL must be one of the pool's simulated routers.
func (e *engine) routerSource(m experts.Endpoint) (string, error) {
	if m.URL != "" {
		return "http", nil
	}
	if e.sim == nil {
		return "", fmt.Errorf("%w: model %q has no url, and pool %s is of kind %s, which has no simulated routers; give the row a url", ErrUsage, m.Model, e.poolSpec.Name, e.poolSpec.Kind)
	}
	knobs, ok := e.poolSpec.Simulation.Routers[m.Model]
	if !ok {
		return "", fmt.Errorf("%w: model %q has no url and is no simulated router of pool %s; it has: %v", ErrUsage, m.Model, e.poolSpec.Name, slices.Sorted(maps.Keys(e.poolSpec.Simulation.Routers)))
	}
	text, err := spec.Canonical(knobs)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s router %016x v%d", e.source, uint64(seed.Derive(string(text))), simulatedRouterVersion), nil
}

// router returns the client that asks a language model that routes, starting the server of the simulated ones first.
func (e *engine) router(ctx context.Context, m experts.Endpoint) (*experts.HTTP, error) {
	r := &e.routers
	key := m.URL + " " + m.Model
	if c := r.clients[key]; c != nil {
		return c, nil
	}
	if m.URL == "" {
		if err := e.startRouters(ctx); err != nil {
			return nil, err
		}
		m.URL = r.loopback.URL
	}
	client, err := e.connect(ctx, []experts.Endpoint{m})
	if err != nil {
		return nil, err
	}
	if r.clients == nil {
		r.clients = map[string]*experts.HTTP{}
	}
	r.clients[key] = client
	return client, nil
}

// startRouters serves the simulated routers on the problems of every arena. Where two problems share a text, which a
// reader of the text cannot tell apart, the first counts.
func (e *engine) startRouters(ctx context.Context) (err error) {
	r := &e.routers
	if r.loopback != nil {
		return nil
	}
	for _, a := range e.arenas {
		for _, b := range a.benches {
			if err := b.set.load(ctx); err != nil {
				return err
			}
			r.known.AddNew(b.set.problems, b.set.latents)
		}
	}
	pool := sim.NewRouters(e.sim, e.poolSpec.Simulation.Routers, r.known.Lookup)
	r.loopback, err = sim.StartLoopback(pool, e.opt.Log)
	return err
}

// Ask implements methods.Servers. Answers are kept with the rollouts, under the model, the template and the sampling, so
// that all rows and experiments of the store share them. Unlike those of conversations they are stored many at a time:
// a simulated router is asked about every problem of the large set.
func (r servers) Ask(ctx context.Context, m experts.Endpoint, s spec.Sampling, asks []methods.Ask) ([]experts.Completion, error) {
	e := r.e
	source, err := e.routerSource(m)
	if err != nil {
		return nil, err
	}
	scope := store.Scope{
		Source: source, Model: m.Model, Revision: m.Revision, Prompt: s.Prompt,
		Temperature: s.Temperature, TopP: s.TopP, TopK: s.TopK, MaxTokens: m.MaxTokens, Split: routing.Routing,
	}
	keyOf := func(a methods.Ask) store.RolloutKey {
		return store.RolloutKey{Problem: store.KeyOfText(a.Text), Run: a.Run, Seed: uint64(a.Seed) & (1<<53 - 1)}
	}
	have, err := e.answers(ctx, scope)
	if err != nil {
		return nil, err
	}
	var todo []methods.Ask
	want := map[store.RolloutKey]bool{}
	for _, a := range asks {
		if k := keyOf(a); !want[k] {
			if _, ok := have[k]; !ok {
				want[k] = true
				todo = append(todo, a)
			}
		}
	}
	if len(todo) > 0 {
		if e.opt.Offline {
			return nil, fmt.Errorf("%w: %d of %d answers of %s are not stored and --offline forbids asking for them", ErrIncomplete, len(todo), len(asks), m.Model)
		}
		client, err := e.router(ctx, m)
		if err != nil {
			return nil, err
		}
		e.opt.Progress.Start("asking "+m.Model, len(todo))
		defer e.opt.Progress.Done()
		err = gather(ctx, e.spec.Experiment.Profile.Concurrency, todo, func(ctx context.Context, a methods.Ask) (store.Row, error) {
			c, err := client.Complete(ctx, experts.Request{
				Expert: m.ID, Prompt: experts.Prompt(s.Prompt, a.Text), Seed: a.Seed, Sampling: s, MaxTokens: m.MaxTokens,
			})
			if err != nil {
				return store.Row{}, fmt.Errorf("problem %.60q: %w", a.Text, err)
			}
			return store.Row{Text: a.Text, Run: a.Run, Seed: uint64(a.Seed) & (1<<53 - 1), Response: c.Text, Finish: c.Finish, In: c.Usage.In, Out: c.Usage.Out}, nil
		}, func(batch []store.Row) error {
			e.opt.Progress.Add(len(batch))
			_, err := e.rollouts.Put(context.WithoutCancel(ctx), scope, batch)
			return err
		})
		if err != nil {
			return nil, err
		}
		// Another process may have stored its answer first, and that one stays.
		if have, err = e.answers(ctx, scope); err != nil {
			return nil, err
		}
	}
	out := make([]experts.Completion, len(asks))
	for i, a := range asks {
		out[i] = have[keyOf(a)]
	}
	return out, nil
}

// answers returns what is stored under a scope.
func (e *engine) answers(ctx context.Context, scope store.Scope) (map[store.RolloutKey]experts.Completion, error) {
	have := map[store.RolloutKey]experts.Completion{}
	for s, err := range e.rollouts.Load(ctx, scope, verify.Version) {
		if err != nil {
			return nil, err
		}
		have[s.Key] = experts.Completion{Finish: s.Finish, Usage: cost.Usage{In: s.In, Out: s.Out}}
	}
	if len(have) == 0 {
		return have, nil
	}
	for a, err := range e.rollouts.Responses(ctx, scope) {
		if err != nil {
			return nil, err
		}
		c := have[a.Key]
		c.Text, c.Finish = a.Response, a.Finish
		have[a.Key] = c
	}
	return have, nil
}
