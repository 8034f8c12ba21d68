// Row kind random: an expert by lot.

package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// random draws an expert uniformly for every problem and run; with ClosedForm it is scored by its expectation,
// which has no sampling noise.
type random struct {
	ClosedForm bool `yaml:"closed_form"`

	experts int
	seed    seed.Seed
}

func newRandom(s Setup) (routing.Method, error) {
	r := &random{}
	return r, spec.DecodeParams(s.Method, r)
}

func (r *random) Name() string { return "random" }

func (r *random) Fit(_ context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	return &random{ClosedForm: r.ClosedForm, experts: len(train.Experts), seed: work.Seed}, nil
}

func (r *random) Route(_ context.Context, queries []routing.Query) ([]routing.Decision, error) {
	out := make([]routing.Decision, len(queries))
	for i, q := range queries {
		prob := make([]float64, r.experts)
		for m := range prob {
			prob[m] = 1 / float64(r.experts)
		}
		out[i] = routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: prob, Expert: routing.Expected}
		if !r.ClosedForm {
			out[i].Expert = routing.Draw(prob, r.seed.Derive("random", q.Problem.ID, q.Run).Uniform())
		}
	}
	return out, nil
}
