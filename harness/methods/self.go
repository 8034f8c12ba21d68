// Row kind self: the router alone.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// self is the router alone: it answers every problem itself and asks nobody. A multi-round router whose policy has
// collapsed is this row, so tables with such routers cannot be read without it; the paper has no such row.
//
// The model that plays the router is the pool's probe. That is a choice: the paper's multi-round routers start from
// language models that it does not name, and nothing here is fitted to their rows.
type self struct{ experts int }

func newSelf(s Setup) (routing.Method, error) {
	return self{}, spec.DecodeParams(s.Method, &struct{}{})
}

func (self) Name() string { return "self" }

func (self) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	return self{len(train.Experts)}, nil
}

func (r self) Route(_ context.Context, queries []routing.Query) ([]routing.Decision, error) {
	out := make([]routing.Decision, len(queries))
	for i, q := range queries {
		out[i] = routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: make([]float64, r.experts), Expert: routing.Self}
	}
	return out, nil
}
