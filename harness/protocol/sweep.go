// Routers with a knob: asked at every setting, and replayed from what was stored.

package protocol

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// trainSweep names the sweep over the Stage II problems, which knobs are set on.
const trainSweep = "train"

// sweptAtOnce is how many queries are asked about at every setting before the next ones: few enough to stay near.
const sweptAtOnce = 1024

// sweepOf asks a router at every one of its settings.
func sweepOf(ctx context.Context, f routing.Frontier, queries []routing.Query) (*book.Sweep, error) {
	knobs := f.Knobs()
	s := &book.Sweep{Settings: len(knobs)}
	for some := range slices.Chunk(queries, sweptAtOnce) {
		swept := make([]book.Swept, len(some))
		last := make([]int, len(some))
		for j, knob := range knobs {
			decisions, err := f.RouteAt(ctx, some, knob)
			if err != nil {
				return nil, err
			}
			for i, d := range decisions {
				switch {
				case d.Expert < 0:
					return nil, fmt.Errorf("at setting %d the router asks no single expert about problem %s; a router with a knob must choose one", j, d.Problem)
				case j == 0:
					swept[i] = book.Swept{Problem: d.Problem, Run: d.Run, First: d.Expert}
				case d.Expert != last[i]:
					swept[i].Turns = append(swept[i].Turns, book.Turn{Setting: j, Expert: d.Expert})
				}
				last[i] = d.Expert
			}
		}
		s.Queries = append(s.Queries, swept...)
	}
	return s, nil
}

// replayed is a router with a knob read from its sweeps: it answers the lists of queries that were swept and no others.
// Its knob is the setting's index.
type replayed struct {
	sweeps []*book.Sweep
	always [][]float64 // [M] the distribution that is sure of each expert
}

func newReplayed(experts int, sweeps ...*book.Sweep) *replayed {
	r := &replayed{sweeps: sweeps}
	for m := range experts {
		r.always = append(r.always, make([]float64, experts))
		r.always[m][m] = 1
	}
	return r
}

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
	return r.RouteAt(ctx, queries, 0)
}

// RouteAt implements routing.Frontier.
func (r *replayed) RouteAt(_ context.Context, queries []routing.Query, knob float64) ([]routing.Decision, error) {
	for _, s := range r.sweeps {
		if !slices.EqualFunc(s.Queries, queries, func(x book.Swept, q routing.Query) bool { return x.Problem == q.Problem.ID && x.Run == q.Run }) {
			continue
		}
		out := make([]routing.Decision, len(queries))
		for i, x := range s.Queries {
			m := x.At(int(knob))
			out[i] = routing.Decision{Problem: x.Problem, Run: x.Run, Prob: r.always[m], Expert: m}
		}
		return out, nil
	}
	return nil, fmt.Errorf("no sweep of these %d queries", len(queries))
}
