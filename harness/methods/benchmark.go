// Row kind benchmark: the router that knows the name of the benchmark and no text.

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
	return benchmark{}, spec.DecodeParams(s.Method, &benchmark{})
}

func (benchmark) Name() string { return "benchmark" }

func (b benchmark) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	examples, err := profiled(b, train)
	if err != nil {
		return nil, err
	}
	groups := map[string][]routing.Example{}
	for _, e := range examples {
		groups[e.Problem.Benchmark] = append(groups[e.Problem.Benchmark], e)
	}
	n := len(train.Experts)
	r := &byBenchmark{known: map[string]cell{}}
	r.other.usd, r.other.acc = means(examples, n)
	r.unit = dollarUnit(r.other.usd)
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
	unit  float64 // of the knob, see utilityKnobs
}

func (r *byBenchmark) Knobs() []float64 { return utilityKnobs() }

// Route ignores the price: knob 0.
func (r *byBenchmark) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return r.RouteAt(ctx, queries, 0)
}

func (r *byBenchmark) RouteAt(_ context.Context, queries []routing.Query, mu float64) ([]routing.Decision, error) {
	return decide(queries, len(r.other.usd), func(_ int, q routing.Query) int {
		c, ok := r.known[q.Problem.Benchmark]
		if !ok {
			c = r.other
		}
		return utility(c.acc, c.usd, mu, r.unit)
	}), nil
}
