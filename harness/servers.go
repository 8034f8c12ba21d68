package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/experts"
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
func (s servers) Chat(endpoints []experts.Endpoint) (experts.Chatter, error) {
	if s.e.opt.Offline {
		return offline{experts.Remember(nil, endpoints, s.e.rollouts, s.e.source)}, nil
	}
	client, err := experts.NewHTTP(endpoints, s.e.httpOptions())
	if err != nil {
		return nil, err
	}
	s.e.chats = append(s.e.chats, client)
	return experts.Remember(client, endpoints, s.e.rollouts, s.e.source), nil
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
