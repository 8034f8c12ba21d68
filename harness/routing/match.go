// Sets the knob of a router so that it spends as much as another.

package routing

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Spend returns the mean dollars per question that a router spends on profiled examples, of which there must be one.
// Calls of experts are counted, the router's own tokens are not.
func Spend(ctx context.Context, r Router, examples []Example) (float64, error) {
	if len(examples) == 0 {
		return 0, errors.New("spend: no training problem to count dollars on")
	}
	decisions, err := r.Route(ctx, Queries(examples))
	if err != nil {
		return 0, err
	}
	return spent(decisions, examples), nil
}

// Queries are those that ask the problems of examples once.
func Queries(examples []Example) []Query {
	q := make([]Query, len(examples))
	for i, e := range examples {
		q[i] = Query{Problem: e.Problem}
	}
	return q
}

// spent returns the mean dollars of decisions on the examples they were made for.
func spent(decisions []Decision, examples []Example) float64 {
	var usd float64
	for i, d := range decisions {
		for m, n := range d.Asked(len(examples[i].USD)) {
			usd += n * examples[i].USD[m]
		}
	}
	return usd / float64(len(decisions))
}

// Match fixes the knob of a router so that it spends usd a question on the training examples: a coin between two
// settings, the one that spends most of those that spend no more than usd, and the one that spends least of those
// that spend more. Where both make the same choice the decision is theirs; where they differ it is scored by its
// expectation, so the coin adds no noise, and the training examples cost usd to rounding. With a budget below the
// router's cheapest setting or above its dearest, the router stays there, as a router in use would.
//
// Spending need not fall with the knob, since a router sweeps dollars that it predicts: the two settings are neighbours
// in spending, whatever their order in the sweep. Of settings that spend the same, the first of the sweep is taken.
func Match(ctx context.Context, f Frontier, examples []Example, usd float64) (Router, error) {
	s, err := Settle(ctx, f, examples, usd)
	if err != nil {
		return nil, err
	}
	return s.Router(f), nil
}

// Setting is where a knob stands: at the dear one of two settings with probability Share, from 0 to 1, else at the cheap
// one.
type Setting struct{ Cheap, Dear, Share float64 }

// Settle returns the setting at which Match fixes the knob. Of the examples it needs the ids and the dollars.
func Settle(ctx context.Context, f Frontier, examples []Example, usd float64) (s Setting, err error) {
	if len(examples) == 0 {
		return s, errors.New("match: no training problem to match the cost on")
	}
	if math.IsNaN(usd) || usd < 0 {
		return s, fmt.Errorf("match: cannot spend %v dollars per question", usd)
	}
	choice, err := f.Weigh(ctx, Queries(examples))
	if err != nil {
		return s, err
	}
	below, above := math.Inf(-1), math.Inf(1) // spending of the two settings
	for _, knob := range f.Knobs() {
		c := 0.0
		for i, e := range examples {
			c += e.USD[choice.At(i, knob)]
		}
		switch c /= float64(len(examples)); {
		case c <= usd && c > below:
			below, s.Cheap = c, knob
		case c > usd && c < above:
			above, s.Dear = c, knob
		}
	}
	switch {
	case math.IsInf(below, -1) && math.IsInf(above, 1):
		return s, errors.New("match: the router's knob has no settings")
	case math.IsInf(below, -1):
		s.Cheap = s.Dear
	case !math.IsInf(above, 1):
		s.Share = (usd - below) / (above - below)
	}
	return s, nil
}

// Router returns a router with its knob there.
func (s Setting) Router(f Frontier) Router { return &matched{f, s} }

// Independent says whether a router decides about a query whatever else is asked: those with a knob do, and those whose knob was set.
func Independent(r Router) bool {
	switch r.(type) {
	case Frontier, *matched:
		return true
	}
	return false
}

// matched takes the dear setting of the knob with probability Share.
type matched struct {
	router Frontier
	Setting
}

func (r *matched) Route(ctx context.Context, queries []Query) ([]Decision, error) {
	choice, err := r.router.Weigh(ctx, queries)
	if err != nil {
		return nil, err
	}
	out := Choices(queries, choice.Experts, func(i int, _ Query) int { return choice.At(i, r.Cheap) })
	if r.Share == 0 {
		return out, nil
	}
	for i := range out {
		cheap, dear := out[i].Expert, choice.At(i, r.Dear)
		if cheap != dear {
			prob := make([]float64, choice.Experts)
			prob[cheap], prob[dear] = 1-r.Share, r.Share
			out[i].Prob, out[i].Expert = prob, Expected
		}
	}
	return out, nil
}
