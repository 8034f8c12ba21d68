// A trained policy that routes.

package rounds

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/theory"
)

// router walks a trained policy through a problem.
type router struct {
	training *Training
	policy   *theory.Policy
	model    io.Closer // of a language model; nil: none
	look     look
	seed     seed.Seed
}

// Close frees the language model, if there is one.
func (r *router) Close() error {
	if r.model == nil {
		return nil
	}
	return r.model.Close()
}

// Route implements routing.Router.
func (r *router) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	texts := make([]string, len(queries))
	for i, q := range queries {
		texts[i] = q.Problem.Text
	}
	seen, err := r.look(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	out := make([]routing.Decision, len(queries))
	for i, q := range queries {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("route: %w", err)
		}
		c := r.policy.Play(seen[i], throw{r, q})
		d := routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: c.First, Expert: c.Expert, Calls: []routing.Call{}}
		for _, m := range c.Calls {
			d.Calls = append(d.Calls, routing.Call{Expert: m})
		}
		if c.Expert < 0 {
			d.Expert, d.Spoiled = routing.Self, 1-math.Pow(1-r.training.Distraction, float64(c.Ignored))
			if c.Broken {
				d.Spoiled = 1
			}
		}
		out[i] = d
	}
	if err := r.policy.Err(); err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	return out, nil
}

// throw throws the coins of one query, each from a stream of its own.
type throw struct {
	*router
	q routing.Query
}

func (t throw) coin(what string, calls int) float64 {
	return t.seed.Derive(what, t.q.Problem.ID, t.q.Run, calls).Uniform()
}

// Choose implements theory.Coins.
func (t throw) Choose(calls int, probs []float64) int {
	if t.training.Decoding == "sample" {
		return routing.Draw(probs, t.coin("decode", calls))
	}
	return slices.Index(probs, slices.Max(probs))
}

// Malformed implements theory.Coins.
func (t throw) Malformed(calls int) bool { return t.coin("format", calls) < t.training.FormatFail }

// Assimilated implements theory.Coins.
func (t throw) Assimilated(calls int) bool {
	return t.coin("assimilate", calls) < t.training.Assimilation
}
