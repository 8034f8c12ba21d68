// Decisions of a trained policy, and its curve: from one training, every balance between what the policy says and what experts cost.

package stages

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Router decides by a trained policy: its likeliest expert, or a sample of its distribution. It is safe for concurrent use as far as
// its chooser is.
type Router struct {
	chooser  chooser
	writes   bool // before it chooses
	decoding string
	seed     seed.Seed
	costs    []float64 // [M] c(m), list prices over the dearest's
	start    *Start    // nil: the policy starts from nothing

	known remember.Memory[opinion] // by text

	cut float64 // share of the queries of the last call of Route whose rationale was cut
}

var _ io.Closer = (*Router)(nil)

// Close frees the model, if it is here.
func (r *Router) Close() error {
	if m := r.Model(); m != nil {
		m.Close()
	}
	return nil
}

// Model returns the trained policy; nil: a server has it.
func (r *Router) Model() *policy.Model {
	n, _ := r.chooser.(network)
	return n.Model
}

func (r *Router) Route(ctx context.Context, queries []routing.Query) ([]routing.Decision, error) {
	said, err := r.say(ctx, queries)
	if err != nil {
		return nil, err
	}
	out := make([]routing.Decision, len(queries))
	r.cut = 0
	for i, q := range queries {
		if said[i].cut {
			r.cut += 1 / float64(len(queries))
		}
		prob := said[i].prob
		out[i] = routing.Decision{Problem: q.Problem.ID, Run: q.Run, Prob: prob, Expert: slices.Index(prob, slices.Max(prob)), Usage: said[i].usage}
		if r.decoding == "sample" {
			out[i].Expert = routing.Draw(prob, r.seed.Derive("decode", q.Problem.ID, q.Run).Uniform())
		}
	}
	return out, nil
}

// CutRationale is the unit of what Report says of a router that writes before it chooses: decisions whose rationale was cut, in
// percent. They are those of the letters behind what was written.
const CutRationale = "cut-rationale-%"

// Report returns the share of decisions whose rationale was cut, of a policy that writes.
func (r *Router) Report() []metrics.Value {
	if !r.writes {
		return nil
	}
	return []metrics.Value{metrics.Rounded(100*r.cut, CutRationale, 3)}
}

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
func (r *Router) Knobs() []float64 {
	if r.start != nil {
		return slices.Clone(r.start.Prices)
	}
	return policyKnobs()
}

// Weigh implements routing.Frontier: a query goes to the expert with the largest log pi(m|x) - mu*c(m), c being its list price over the
// dearest's; ties go to the cheaper one. At 0 these are the decisions of Route where decoding is argmax. The policy reads a text once.
// Of a policy with a Start mu is the price, and pi the policy at it.
func (r *Router) Weigh(ctx context.Context, queries []routing.Query) (routing.Choice, error) {
	said, err := r.say(ctx, queries)
	if err != nil {
		return routing.Choice{}, err
	}
	logs := make([][]float64, len(queries))
	for i := range logs {
		logs[i] = make([]float64, len(r.costs))
		for m, p := range said[i].prob {
			logs[i][m] = math.Log(max(p, rarest))
		}
	}
	return routing.Choice{Experts: len(r.costs), At: func(i int, mu float64) int {
		costs := r.costs
		if r.start != nil {
			costs, mu = said[i].cost, r.start.scale(mu)
		}
		best, top := 0, math.Inf(-1)
		for m, l := range logs[i] {
			if u := l - mu*costs[m]; u > top {
				best, top = m, u
			}
		}
		return best
	}}, nil
}

// say returns what the policy says of the problem of every query. It reads texts that it was not asked about before, and keeps what
// it said for as long as the router lives.
func (r *Router) say(ctx context.Context, queries []routing.Query) ([]opinion, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	texts := make([]string, len(queries))
	for i, q := range queries {
		texts[i] = q.Problem.Text
	}
	said, err := r.known.Of(texts, func(texts []string) ([]opinion, error) {
		said, err := r.chooser.choose(ctx, texts)
		if err != nil || r.start == nil {
			return said, err
		}
		expected, err := r.start.Expect(ctx, texts)
		for i, x := range expected {
			said[i].cost = x.Cost
		}
		return said, err
	})
	if err != nil {
		return nil, fmt.Errorf("route: %w", err)
	}
	for i, q := range queries {
		if math.IsNaN(slices.Max(said[i].prob)) {
			return nil, fmt.Errorf("route: the policy gives no number for problem %s; its weights are damaged, or left all numbers in training: train it again, at a lower learning rate if they did", q.Problem.ID)
		}
	}
	return said, nil
}

func (t *Training) router(by chooser, experts []routing.Expert, work routing.Work) *Router {
	return &Router{chooser: by, writes: t.Policy.Reasons(), decoding: t.With.Decoding, seed: work.Seed, costs: routing.Costs(experts, "normalised"), start: t.With.Start}
}
