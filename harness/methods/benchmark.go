// Row kind benchmark: the router that knows the name of the benchmark and no text.

package methods

import (
	"context"
	"maps"
	"slices"

	"github.com/entrorouter/entrorouter/harness/predict"
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

func (b benchmark) Fit(_ context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(b, train)
	if err != nil {
		return nil, err
	}
	groups := map[string][]routing.Example{}
	for _, e := range examples {
		groups[e.Problem.Benchmark] = append(groups[e.Problem.Benchmark], e)
	}
	n := len(train.Experts)
	r := byBenchmark{Known: map[string]cell{}}
	r.Other.USD, r.Other.Acc = routing.Means(examples, n)
	for name, g := range groups {
		var c cell
		c.USD, c.Acc = routing.Means(g, n)
		r.Known[name] = c
	}
	return predict.Keep(train.Experts, work, r, byBenchmark.router)
}

// Load implements Loader.
func (b benchmark) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, byBenchmark.router)
}

// cell is the training means of a benchmark, [M].
type cell struct {
	USD []float64 `json:"usd"`
	Acc []float64 `json:"acc"`
}

// byBenchmark knows training means by the name of the benchmark, and overall.
type byBenchmark struct {
	Known map[string]cell `json:"known"`
	Other cell            `json:"other"`
	unit  float64         // of the knob, see predict.UtilityKnobs
}

func (r byBenchmark) router() (routing.Router, error) {
	r.unit = predict.DollarUnit(r.Other.USD)
	return &r, nil
}

func (r *byBenchmark) Knobs() []float64 { return predict.UtilityKnobs() }

// Benchmarks implements routing.Benchmarked.
func (r *byBenchmark) Benchmarks() []string { return slices.Sorted(maps.Keys(r.Known)) }

// Route ignores the price: knob 0.
func (r *byBenchmark) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return routing.RouteAt(ctx, r, queries, 0)
}

// Weigh implements routing.Frontier.
func (r *byBenchmark) Weigh(_ context.Context, queries []routing.Query) (routing.Choice, error) {
	cells := make([]cell, len(queries))
	for i, q := range queries {
		cells[i] = r.of(q)
	}
	return routing.Choice{Experts: len(r.Other.USD), At: func(i int, mu float64) int {
		return predict.Utility(cells[i].Acc, cells[i].USD, mu, r.unit)
	}}, nil
}

// PassRates implements routing.Predictor.
func (r *byBenchmark) PassRates(_ context.Context, queries []routing.Query) ([][]float64, error) {
	out := make([][]float64, len(queries))
	for i, q := range queries {
		out[i] = predict.Certain(r.of(q).Acc)
	}
	return out, nil
}

func (r *byBenchmark) of(q routing.Query) cell {
	if c, ok := r.Known[q.Problem.Benchmark]; ok {
		return c
	}
	return r.Other
}
