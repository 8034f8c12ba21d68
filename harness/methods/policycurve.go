// The curve of rows that train a policy: from one training, every balance between what the policy says and what experts cost.

package methods

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// policyKnobs is the sweep of a policy, dearest first: mu from "the dearest at any odds" over 0, where training put the policy, to
// "the cheapest at any odds", in units of the log-probability of an expert over its price as a share of the dearest's.
func policyKnobs() []float64 {
	const steps = 84 // from 1e-2 to 1e4, and as many below 0
	knobs := []float64{0, 1e9}
	for i := range steps {
		mu := math.Pow(10, -2+6*float64(i)/(steps-1))
		knobs = append(knobs, mu, -mu)
	}
	knobs = append(knobs, -1e9)
	slices.Sort(knobs)
	return knobs
}

// rarest is the least probability that a policy's curve tells apart from none: a softmax may round to 0, and at some price every
// expert is chosen.
const rarest = 1e-30

// Knobs implements routing.Frontier.
func (r *policyRouter) Knobs() []float64 { return policyKnobs() }

// RouteAt implements routing.Frontier: it takes the expert with the largest log pi(m|x) - mu*c(m), c being its list price over the dearest's;
// ties go to the cheaper one. At 0 these are the decisions of Route where decoding is argmax. The policy reads a text once.
func (r *policyRouter) RouteAt(ctx context.Context, queries []routing.Query, mu float64) ([]routing.Decision, error) {
	said, err := r.say(ctx, queries)
	if err != nil {
		return nil, err
	}
	return decide(queries, len(r.costs), func(i int, _ routing.Query) int {
		best, top := 0, math.Inf(-1)
		for m, p := range said[i].prob {
			if u := math.Log(max(p, rarest)) - mu*r.costs[m]; u > top {
				best, top = m, u
			}
		}
		return best
	}), nil
}

// say returns what the policy says of the problem of every query. It reads texts that it was not asked about before, and keeps what
// it said for as long as the router lives.
func (r *policyRouter) say(ctx context.Context, queries []routing.Query) ([]opinion, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	var texts []string
	asked := map[string]bool{}
	for _, q := range queries {
		if _, known := r.known[q.Problem.Text]; !known && !asked[q.Problem.Text] {
			asked[q.Problem.Text] = true
			texts = append(texts, q.Problem.Text)
		}
	}
	if texts != nil {
		said, err := r.chooser.choose(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("route: %w", err)
		}
		if r.known == nil {
			r.known = map[string]opinion{}
		}
		for i, text := range texts {
			r.known[text] = said[i]
		}
	}
	said := make([]opinion, len(queries))
	for i, q := range queries {
		said[i] = r.known[q.Problem.Text]
		if math.IsNaN(slices.Max(said[i].prob)) {
			return nil, fmt.Errorf("route: the policy gives no number for problem %s; its weights are damaged, train it again", q.Problem.ID)
		}
	}
	return said, nil
}
