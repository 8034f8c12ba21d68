// Routers with a knob: asked at every setting, and replayed from what was stored.

package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// trainSweep names the sweep over the Stage II problems, which knobs are set on.
const trainSweep = "train"

// weighedAtOnce is how many queries a router reads before the next ones: few enough for what it makes of them to stay near.
const weighedAtOnce = 1024

// sweepOf asks a router at every one of its settings.
func sweepOf(ctx context.Context, f routing.Frontier, queries []routing.Query) (*book.Sweep, error) {
	knobs := f.Knobs()
	if len(knobs) == 0 {
		return nil, errors.New("the router's knob has no settings")
	}
	s := &book.Sweep{Settings: len(knobs)}
	for some := range slices.Chunk(queries, weighedAtOnce) {
		choice, err := f.Weigh(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, q := range some {
			x := book.Swept{Problem: q.Problem.ID, Run: q.Run, First: choice.At(i, knobs[0])}
			last := x.First
			for j, knob := range knobs[1:] {
				if m := choice.At(i, knob); m != last {
					x.Turns = append(x.Turns, book.Turn{Setting: 1 + j, Expert: m})
					last = m
				}
			}
			s.Queries = append(s.Queries, x)
		}
	}
	return s, nil
}

// replayed is a router with a knob read from its sweeps: it answers the lists of queries that were swept and no others.
// Its knob is the setting's index.
type replayed struct {
	sweeps  []*book.Sweep
	experts int
}

func newReplayed(experts int, sweeps ...*book.Sweep) *replayed { return &replayed{sweeps, experts} }

// Knobs implements routing.Frontier.
func (r *replayed) Knobs() []float64 {
	knobs := make([]float64, r.sweeps[0].Settings)
	for j := range knobs {
		knobs[j] = float64(j)
	}
	return knobs
}

// Route implements routing.Router at the dearest setting.
func (r *replayed) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	return routing.RouteAt(ctx, r, queries, 0)
}

// Weigh implements routing.Frontier.
func (r *replayed) Weigh(_ context.Context, queries []routing.Query) (routing.Choice, error) {
	for _, s := range r.sweeps {
		if slices.EqualFunc(s.Queries, queries, func(x book.Swept, q routing.Query) bool { return x.Problem == q.Problem.ID && x.Run == q.Run }) {
			return routing.Choice{Experts: r.experts, At: func(i int, knob float64) int { return s.Queries[i].At(int(knob)) }}, nil
		}
	}
	return routing.Choice{}, fmt.Errorf("no sweep of these %d queries", len(queries))
}
