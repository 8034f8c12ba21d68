// Servers that methods ask by themselves.

package asking

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Servers lets methods ask language models by themselves.
type Servers struct{ *Asker }

// Pool implements methods.Servers.
func (s Servers) Pool(ctx context.Context) ([]experts.Endpoint, spec.Sampling, error) {
	endpoints, err := s.endpoints(ctx)
	if err != nil {
		return nil, spec.Sampling{}, err
	}
	if !s.plan.Options.Offline {
		if _, err := s.experts(ctx); err != nil { // the preflight
			return nil, spec.Sampling{}, err
		}
	}
	for _, x := range s.pool.Experts {
		if s.pool.SourceOf(x.ID) == spec.Answered {
			return nil, spec.Sampling{}, fmt.Errorf("%w: expert %s of pool %s has a file of answers and cannot be talked to; leave the row out or give the expert a server", spec.ErrUsage, x.ID, s.pool.Name)
		}
	}
	return endpoints[:len(s.pool.Experts)], s.pool.Sampling, nil
}

// Chat implements methods.Servers.
func (s Servers) Chat(ctx context.Context, endpoints []experts.Endpoint) (experts.Chatter, error) {
	source := s.source
	if s.Sim != nil { // whose answers depend on the experiment's seed beside their own
		source += fmt.Sprintf(" seed=%d", s.plan.Spec.Experiment.Seed)
	}
	t := &talk{Asker: s.Asker, endpoints: map[string]experts.Endpoint{}, source: source, flight: &flight{starting: ctx}}
	for _, e := range endpoints {
		t.endpoints[e.ID] = e
	}
	if s.plan.Options.Offline {
		return t, nil
	}
	client, err := s.connect(ctx, endpoints, s.httpOptions())
	if err != nil {
		return nil, err
	}
	s.clients = append(s.clients, client)
	t.next = client
	return t, s.startRun(ctx)
}

// Progress implements methods.Servers.
func (s Servers) Progress(what string, total int) (one, done func()) {
	task := s.plan.Options.Progress.Start(what, total)
	return func() { task.Add(1) }, task.Done
}

// Preflight fails if one of some models is not served, before anybody has been asked for anything.
func (a *Asker) Preflight(ctx context.Context, endpoints []experts.Endpoint) error {
	if a.plan.Options.Offline {
		return nil
	}
	client, err := a.connect(ctx, endpoints, a.httpOptions())
	if err == nil {
		client.Close()
	}
	return err
}
