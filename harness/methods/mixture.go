package methods

import (
	"context"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// mixture is the best constant policy: a coin between the two fixed experts that are neighbours on the upper hull
// of (dollars, accuracy) on the training problems. It never reads the question. Its knob is the mean dollars a
// question that it may spend: one corner of the hull a setting, and a coin between settings is the mixture.
type mixture struct{}

func newMixture(s Setup) (routing.Method, error) {
	m := mixture{}
	return m, spec.DecodeParams(s.Method, &m)
}

func (mixture) Name() string { return "mixture" }

func (mixture) Fit(_ context.Context, train routing.TrainSet, _ routing.Work) (routing.Router, error) {
	usd, acc := means(train.Examples(), len(train.Experts))
	return coin{usd: usd, acc: acc}, nil
}

type coin struct{ usd, acc []float64 }

// hull returns the experts at the corners, cheapest first.
func (c coin) hull() []int {
	points := make([]metrics.Point, len(c.usd))
	for m := range points {
		points[m] = metrics.Point{Cost: c.usd[m], Quality: c.acc[m]}
	}
	var corners []int
	for _, p := range metrics.UpperHull(points) {
		corners = append(corners, slices.Index(points, p))
	}
	return corners
}

// Knobs returns what the corners cost: between two of them a coin is the mixture.
func (c coin) Knobs() []float64 {
	var knobs []float64
	for _, m := range slices.Backward(c.hull()) {
		knobs = append(knobs, c.usd[m])
	}
	return knobs
}

// Route spends as much as the hull allows: its dearest corner.
func (c coin) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return c.RouteAt(ctx, queries, math.Inf(1))
}

// RouteAt asks the dearest corner that costs no more than the knob, the cheapest if all do.
func (c coin) RouteAt(_ context.Context, queries []routing.Query, knob float64) ([]routing.Decision, error) {
	hull := c.hull()
	best := hull[0]
	for _, m := range hull {
		if c.usd[m] <= knob {
			best = m
		}
	}
	return decide(queries, len(c.usd), func(int, routing.Query) int { return best }), nil
}
