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
// question that it may spend; it is scored by its expectation.
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

// Knobs returns 101 budgets between the cheapest and the dearest corner of the hull.
func (c coin) Knobs() []float64 {
	hull := c.hull()
	lo, hi := c.usd[hull[0]], c.usd[hull[len(hull)-1]]
	knobs := make([]float64, 101)
	for i := range knobs {
		knobs[i] = lo + (hi-lo)*float64(i)/100
	}
	return knobs
}

// Route spends as much as the hull allows: its dearest corner.
func (c coin) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return c.RouteAt(ctx, queries, math.Inf(1))
}

func (c coin) RouteAt(_ context.Context, queries []routing.Query, budget float64) ([]routing.Decision, error) {
	prob := c.mix(budget)
	out := make([]routing.Decision, len(queries))
	for i, q := range queries {
		out[i] = routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: prob, Expert: routing.Expected}
	}
	return out, nil
}

func (c coin) mix(budget float64) []float64 {
	hull := c.hull()
	if budget <= c.usd[hull[0]] {
		return oneHot(len(c.usd), hull[0])
	}
	for i := 1; i < len(hull); i++ {
		a, b := hull[i-1], hull[i]
		if budget <= c.usd[b] {
			prob := make([]float64, len(c.usd))
			prob[b] = (budget - c.usd[a]) / (c.usd[b] - c.usd[a])
			prob[a] = 1 - prob[b]
			return prob
		}
	}
	return oneHot(len(c.usd), hull[len(hull)-1])
}
