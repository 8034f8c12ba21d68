package methods

import (
	"context"
	"errors"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Spend returns the mean dollars a question that a router spends on profiled examples.
func Spend(ctx context.Context, r routing.Router, examples []routing.Example) (float64, error) {
	decisions, err := r.Route(ctx, queries(examples))
	if err != nil {
		return 0, err
	}
	return spent(decisions, examples), nil
}

func queries(examples []routing.Example) []routing.Query {
	q := make([]routing.Query, len(examples))
	for i, e := range examples {
		q[i] = routing.Query{Problem: e.Problem}
	}
	return q
}

func spent(decisions []routing.Decision, examples []routing.Example) float64 {
	var usd float64
	for i, d := range decisions {
		if d.Expert != routing.Expected {
			usd += examples[i].USD[d.Expert]
			continue
		}
		for m, p := range d.Prob {
			usd += p * examples[i].USD[m]
		}
	}
	return usd / float64(len(decisions))
}

// Match fixes the knob of a router so that it spends usd a question on the training examples: a coin between the two
// neighbouring settings whose spending brackets usd. Where both settings agree the decision is theirs; where they
// differ it is scored by its expectation, so the coin adds no noise. Below its cheapest or above its dearest setting
// the router stays there.
func Match(ctx context.Context, f routing.Frontier, examples []routing.Example, usd float64) (routing.Router, error) {
	if len(examples) == 0 {
		return nil, errors.New("match: no training problem to match the cost on")
	}
	qs := queries(examples)
	matched := &matched{router: f}
	below, above := -1.0, -1.0 // spending of the brackets; -1: none yet
	for _, knob := range f.Knobs() {
		d, err := f.RouteAt(ctx, qs, knob)
		if err != nil {
			return nil, err
		}
		switch c := spent(d, examples); {
		case c <= usd && (below < 0 || c > below):
			below, matched.cheap = c, knob
		case c > usd && (above < 0 || c < above):
			above, matched.dear = c, knob
		}
	}
	switch {
	case below < 0:
		matched.cheap = matched.dear
	case above < 0:
		matched.dear = matched.cheap
	default:
		matched.share = (usd - below) / (above - below)
	}
	return matched, nil
}

// matched takes the dear setting of the knob with probability share.
type matched struct {
	router      routing.Frontier
	cheap, dear float64
	share       float64
}

func (r *matched) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	out, err := r.router.RouteAt(ctx, queries, r.cheap)
	if err != nil || r.share == 0 {
		return out, err
	}
	dear, err := r.router.RouteAt(ctx, queries, r.dear)
	if err != nil {
		return nil, err
	}
	for i, d := range dear {
		if d.Expert == out[i].Expert && d.Expert != routing.Expected {
			continue
		}
		prob := make([]float64, len(d.Prob))
		for m := range prob {
			prob[m] = (1-r.share)*out[i].Prob[m] + r.share*d.Prob[m]
		}
		out[i].Prob, out[i].Expert = prob, routing.Expected
	}
	return out, nil
}
