package methods

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// benchmark is the benchmark-identity router: it knows the name of the benchmark that a question comes from and
// nothing of its text. Pass rates and dollars are the training means of that benchmark, and the overall training
// means for a benchmark that training has not seen, where it is a constant. It is the control for "the router only
// recognises the data set".
type benchmark struct{}

func newBenchmark(s Setup) (routing.Method, error) {
	b := benchmark{}
	return b, spec.DecodeParams(s.Method, &b)
}

func (benchmark) Name() string { return "benchmark" }

func (benchmark) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	n := len(train.Experts)
	groups := map[string][]routing.Example{}
	for _, e := range train.Examples() {
		groups[e.Problem.Benchmark] = append(groups[e.Problem.Benchmark], e)
	}
	r := &byBenchmark{known: map[string]cell{}}
	r.other.usd, r.other.acc = means(train.Examples(), n)
	for name, g := range groups {
		var c cell
		c.usd, c.acc = means(g, n)
		r.known[name] = c
	}
	return r, nil
}

type cell struct{ usd, acc []float64 } // [M]

type byBenchmark struct {
	known map[string]cell
	other cell
}

func (r *byBenchmark) Knobs() []float64 { return utilityKnobs() }

// Route ignores the price: knob 0.
func (r *byBenchmark) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return r.RouteAt(ctx, queries, 0)
}

func (r *byBenchmark) RouteAt(_ context.Context, queries []routing.Query, mu float64) ([]routing.Decision, error) {
	n := len(r.other.usd)
	return decide(queries, n, func(_ int, q routing.Query) int {
		c, ok := r.known[q.Problem.Benchmark]
		if !ok {
			c = r.other
		}
		return utility(c.acc, c.usd, mu, r.other.usd[n-1])
	}), nil
}
