// Simulated language models that route, at a stated skill.

package sim

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Routers are simulated language models that are asked which expert should answer: stand-ins for an LLM-as-a-router
// whose skill is assumed (spec.SimRouter). They read candidates and problem from the prompt, and decide by the true
// success probability of the simulated experts. An answer depends on the root seed, the model, the text of the problem,
// the set of candidates and the request's seed alone, not on the order of the candidates.
type Routers struct {
	pool   *Pool
	lookup Lookup
	knobs  map[string]spec.SimRouter
}

// NewRouters returns the routers of a pool. lookup knows the problems that they may be asked about.
func NewRouters(pool *Pool, knobs map[string]spec.SimRouter, lookup Lookup) *Routers {
	return &Routers{pool, lookup, knobs}
}

// Experts implements experts.Pool: the routers by name.
func (r *Routers) Experts() []routing.Expert {
	var all []routing.Expert
	for _, name := range slices.Sorted(maps.Keys(r.knobs)) {
		all = append(all, routing.Expert{ID: name, Model: name})
	}
	return all
}

// Complete implements experts.Pool. Usage counts a quarter of the bytes as tokens; there is no limit.
func (r *Routers) Complete(ctx context.Context, q experts.Request) (experts.Completion, error) {
	if err := ctx.Err(); err != nil {
		return experts.Completion{}, err
	}
	knobs, ok := r.knobs[q.Expert]
	if !ok {
		return experts.Completion{}, fmt.Errorf("%w %q; the routers are: %s", experts.ErrUnknownExpert, q.Expert, list(r.knobs))
	}
	candidates, text, err := experts.ReadRoutingPrompt(q.Prompt)
	if err != nil {
		return experts.Completion{}, err
	}
	hash := routing.TextHash(text)
	_, latent, ok := r.lookup(hash)
	if !ok {
		return experts.Completion{}, fmt.Errorf("%w: %.60q: simulated routers know the generated problems of the run only", experts.ErrUnknownProblem, text)
	}
	truths, err := r.pool.True(hash, latent)
	if err != nil {
		return experts.Completion{}, err
	}
	best := len(candidates) - 1
	for i := len(candidates) - 1; i >= 0; i-- {
		m, ok := r.pool.index[candidates[i].ID]
		if !ok {
			return experts.Completion{}, fmt.Errorf("%w %q among the candidates; the pool has: %s", experts.ErrUnknownExpert, candidates[i].ID, list(r.pool.index))
		}
		if truths[m].Correct >= knobs.Tau {
			best = i
		}
	}
	if chosen, asked := experts.ReadChosen(q.Prompt); asked {
		var solved float64
		for _, x := range candidates {
			solved += truths[r.pool.index[x.ID]].Correct / float64(len(candidates))
		}
		return explain(r.pool.root, q, knobs, text, latent, candidates, chosen, solved), nil
	}
	stream := r.pool.root.Derive("router", q.Expert, hash, experts.WireSeed(q.Seed)).Rand()
	choice := best
	if stream.Float64() >= knobs.Skill && len(candidates) > 1 {
		choice = (best + 1 + stream.IntN(len(candidates)-1)) % len(candidates)
	}
	c := experts.Completion{Finish: routing.Stop, Text: `{"model": "` + candidates[choice].ID + `"}`}
	if stream.Float64() < knobs.Malformed {
		c.Text = malformed(candidates, choice, stream)
	}
	c.Usage = cost.Usage{In: int64(len(q.Prompt)+3) / 4, Out: int64(len(c.Text)+3) / 4}
	return c, nil
}

// malformed says what a model says that was told to answer with JSON and does not: half of it still names its choice.
func malformed(candidates []experts.Candidate, choice int, stream *rand.Rand) string {
	id := candidates[choice].ID
	switch stream.IntN(4) {
	case 0:
		return "```json\n{\"model\": \"" + id + "\"}\n```"
	case 1:
		return "I would ask " + id + "."
	case 2:
		return `{"model": "gpt-router-best"}`
	default:
		return "That depends: " + candidates[0].ID + " is cheap, but " + candidates[len(candidates)-1].ID + " is safer."
	}
}
