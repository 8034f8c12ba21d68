// Servers that methods ask by themselves.

package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// servers lets methods ask language models by themselves.
type servers struct{ e *engine }

// Pool implements methods.Servers.
func (s servers) Pool(ctx context.Context) ([]experts.Endpoint, spec.Sampling, error) {
	endpoints, err := s.e.endpoints(ctx)
	if err != nil {
		return nil, spec.Sampling{}, err
	}
	if !s.e.opt.Offline {
		if _, err := s.e.pool(ctx); err != nil { // the preflight
			return nil, spec.Sampling{}, err
		}
	}
	return endpoints[:len(s.e.experts)], s.e.poolSpec.Sampling, nil
}

// Chat implements methods.Servers.
func (s servers) Chat(ctx context.Context, endpoints []experts.Endpoint) (experts.Chatter, error) {
	source := s.e.source
	if s.e.sim != nil { // whose answers depend on the experiment's seed beside their own
		source += fmt.Sprintf(" seed=%d", s.e.spec.Experiment.Seed)
	}
	if s.e.opt.Offline {
		return offline{experts.Remember(nil, endpoints, s.e.rollouts, source)}, nil
	}
	client, err := s.e.connect(ctx, endpoints)
	if err != nil {
		return nil, err
	}
	s.e.chats = append(s.e.chats, client)
	return experts.Remember(client, endpoints, s.e.rollouts, source), nil
}

// Progress implements methods.Servers.
func (s servers) Progress(what string, total int) (one, done func()) {
	s.e.opt.Progress.Start(what, total)
	return func() { s.e.opt.Progress.Add(1) }, s.e.opt.Progress.Done
}

// askable fails if a model that rows are yet to ask is not served, before anybody has been asked for anything.
func (e *engine) askable(ctx context.Context) error {
	if e.opt.Offline {
		return nil
	}
	var endpoints []experts.Endpoint
	for _, row := range e.fits {
		for _, f := range row {
			m, ok := f.method.(methods.Asking)
			if !ok {
				continue
			}
			if _, err := e.store.Get(f.recipe); err == nil {
				continue
			}
			for _, x := range m.Endpoints() {
				if x.URL != "" && !slices.ContainsFunc(endpoints, func(y experts.Endpoint) bool { return x.URL == y.URL && x.Model == y.Model }) {
					endpoints = append(endpoints, x)
				}
			}
		}
	}
	client, err := e.connect(ctx, endpoints)
	if err == nil {
		client.Close()
	}
	return err
}

// offline says in the words of this package that an answer is missing.
type offline struct{ experts.Chatter }

func (o offline) Chat(ctx context.Context, r experts.ChatRequest) (experts.Completion, error) {
	c, err := o.Chatter.Chat(ctx, r)
	if errors.Is(err, experts.ErrNotStored) {
		err = fmt.Errorf("%w: %w, and --offline forbids asking for it", ErrIncomplete, err)
	}
	return c, err
}
