// Row kind mixture: the best coin between two experts.

package methods

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// mixture is the best constant policy: a coin between the two fixed experts that are neighbours on the upper hull
// of (dollars, accuracy) on the training problems. It never reads the question. Its knob is the mean dollars a
// question that it may spend; routing.Match flips the coin between two settings.
type mixture struct{}

func newMixture(s Setup) (routing.Method, error) {
	return mixture{}, spec.DecodeParams(s.Method, &mixture{})
}

func (mixture) Name() string { return "mixture" }

func (m mixture) Fit(_ context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(m, train)
	if err != nil {
		return nil, err
	}
	var c coin
	var acc []float64
	c.USD, acc = routing.Means(examples, len(train.Experts))
	points := make([]metrics.Point, len(c.USD))
	for m := range points {
		points[m] = metrics.Point{Cost: c.USD[m], Quality: acc[m]}
	}
	c.Hull = metrics.Vertices(points)
	return predict.Keep(train.Experts, work, c, coin.router)
}

// Load implements Loader.
func (m mixture) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, coin.router)
}

// coin routes every query to the same expert, which its knob chooses among those on the hull.
type coin struct {
	USD  []float64 `json:"usd"`  // [M] training means
	Hull []int     `json:"hull"` // experts at the corners, cheapest first
}

func (c coin) router() (routing.Router, error) { return c, nil }

// Knobs returns what the experts cost, dearest first: between two of them a coin is the mixture. Experts below the
// hull have a setting too, so that the number of settings does not depend on the training problems.
func (c coin) Knobs() []float64 {
	knobs := slices.Clone(c.USD)
	slices.SortFunc(knobs, func(a, b float64) int { return cmp.Compare(b, a) })
	return knobs
}

// Route spends as much as the hull allows: its dearest corner.
func (c coin) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return routing.RouteAt(ctx, c, queries, math.Inf(1))
}

// Weigh implements routing.Frontier: every query goes to the dearest corner that costs no more than the knob, the cheapest if all do.
func (c coin) Weigh(context.Context, []routing.Query) (routing.Choice, error) {
	return routing.Choice{Experts: len(c.USD), At: func(_ int, knob float64) int {
		best := c.Hull[0]
		for _, m := range c.Hull {
			if c.USD[m] <= knob {
				best = m
			}
		}
		return best
	}}, nil
}
