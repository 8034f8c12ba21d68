// Package sim stands in for experts and for language models that route. Pool holds experts simulated by an item-response
// model, Routers choose among them, Calibrate solves their parameters for given accuracies and costs, and Server puts
// either behind the protocol of real servers. All are synthetic: what they measure is the pipeline and the law that was
// assumed, no language model.
package sim

// The pool: what a simulated expert answers to a request, and the closed-form truth about it.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Versions of what is simulated: raised when other responses come out of the same parameters.
const (
	Version       = 1 // of the responses of experts
	RouterVersion = 1 // of the answers of routers
)

// Lookup finds the generated problem with a text, by routing.TextHash. It must be safe for concurrent use.
type Lookup func(textHash uint64) (routing.Problem, routing.Latent, bool)

// Pool is a set of experts that follow the item-response model of spec.Simulation: a synthetic stand-in,
// calibrated to the fixed experts of the paper and to nothing else. A rollout depends on the root seed, the expert,
// the text of the problem and the request's seed alone.
type Pool struct {
	law      law
	members  []routing.Expert
	index    map[string]int
	root     seed.Seed
	lookup   Lookup
	wrong    Distractor
	prefix   string // of the prompt template, before the problem
	suffix   string
	template bool
}

// New returns the pool of a spec of kind simulated. members are those that routing.Members returns, the probe among them
// if it is to be asked; each needs a skill in the spec.
func New(pool spec.Pool, members []routing.Expert, root seed.Seed, lookup Lookup, wrong Distractor) (*Pool, error) {
	if pool.Simulation == nil {
		return nil, fmt.Errorf("pool %s: no simulation section: a pool of kind simulated needs one", pool.Name)
	}
	if err := checkSimulation(*pool.Simulation, members); err != nil {
		return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
	}
	s := &Pool{law: newLaw(*pool.Simulation), members: slices.Clone(members), index: map[string]int{}, root: root, lookup: lookup, wrong: wrong}
	s.prefix, s.suffix, s.template = strings.Cut(pool.Sampling.Prompt, experts.Placeholder)
	for i, e := range members {
		s.index[e.ID] = i
	}
	return s, nil
}

// checkSimulation finds names that lead nowhere, which maps would answer with silent zeros.
func checkSimulation(sim spec.Simulation, members []routing.Expert) error {
	for _, c := range slices.Sorted(maps.Keys(sim.Cells)) {
		var total float64
		for _, t := range slices.Sorted(maps.Keys(sim.Cells[c].Mix)) {
			if _, ok := sim.Topics[t]; !ok {
				return fmt.Errorf("cells.%s.mix: unknown topic %q; known: %s", c, t, list(sim.Topics))
			}
			total += sim.Cells[c].Mix[t]
		}
		if total < 0.999 || total > 1.001 {
			return fmt.Errorf("cells.%s.mix: the shares sum to %g: they must sum to 1", c, total)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(sim.Experts)) {
		skill := sim.Experts[id]
		for _, t := range slices.Sorted(maps.Keys(skill.W)) {
			if _, ok := sim.Topics[t]; !ok {
				return fmt.Errorf("skills.%s.w: unknown topic %q; known: %s", id, t, list(sim.Topics))
			}
		}
		for _, c := range slices.Sorted(maps.Keys(skill.Offset)) {
			if _, ok := sim.Cells[c]; !ok {
				return fmt.Errorf("skills.%s.offset: unknown cell %q; known: %s", id, c, list(sim.Cells))
			}
		}
		for _, c := range slices.Sorted(maps.Keys(skill.Tokens)) {
			if _, ok := sim.Cells[c]; !ok {
				return fmt.Errorf("skills.%s.mean_tokens: unknown cell %q; known: %s", id, c, list(sim.Cells))
			}
			if skill.Tokens[c] <= 0 {
				return fmt.Errorf("skills.%s.mean_tokens.%s: %g: must be positive", id, c, skill.Tokens[c])
			}
		}
	}
	for _, e := range members {
		if _, ok := sim.Experts[e.ID]; !ok {
			return fmt.Errorf("expert %q has no skill; there are skills for: %s", e.ID, list(sim.Experts))
		}
		if e.MaxTokens < 1 {
			return fmt.Errorf("expert %q: max_tokens %d: must be at least 1", e.ID, e.MaxTokens)
		}
	}
	return nil
}

// Experts implements experts.Pool.
func (s *Pool) Experts() []routing.Expert { return slices.Clone(s.members) }

// Truth is what an expert does on one problem, on average over its responses.
type Truth struct {
	Correct   float64 // probability that a response is right; a truncated one is not
	Out       float64 // mean billed output tokens
	Truncated float64 // probability that the limit cuts a response
}

// True returns the truth about every expert of Experts on a problem, in closed form. It takes the latent as an
// argument so that a large set can be scored without serving it.
func (s *Pool) True(textHash uint64, latent routing.Latent) ([]Truth, error) {
	truths := make([]Truth, len(s.members))
	for i := range s.members {
		p, t, err := s.chances(i, textHash, latent)
		if err != nil {
			return nil, err
		}
		limit := float64(s.members[i].MaxTokens)
		within := t.within(limit)
		truths[i] = Truth{Correct: p * within, Out: t.billed(limit), Truncated: 1 - within}
	}
	return truths, nil
}

// chances returns expert i's probability of a right answer, if it is not cut, and its length law.
func (s *Pool) chances(i int, textHash uint64, latent routing.Latent) (float64, length, error) {
	id := s.members[i].ID
	skill := s.law.sim.Experts[id]
	cell, ok := s.law.sim.Cells[latent.Cell]
	if !ok {
		return 0, length{}, fmt.Errorf("unknown cell %q of a generated problem; the pool has: %s", latent.Cell, list(s.law.sim.Cells))
	}
	if _, ok := cell.Mix[latent.Topic]; !ok {
		return 0, length{}, fmt.Errorf("topic %q is not one of cell %s; it has: %s", latent.Topic, latent.Cell, list(cell.Mix))
	}
	mean, ok := skill.Tokens[latent.Cell]
	if !ok {
		return 0, length{}, fmt.Errorf("expert %s has no mean_tokens for cell %s; it has: %s", id, latent.Cell, list(skill.Tokens))
	}
	e := s.root.Derive("residual", id, textHash).Rand().NormFloat64() * s.law.sim.ResidualSD
	return s.law.success(skill, latent.Cell, latent.Topic, latent.Difficulty, e),
		length{mean * s.law.stretch(latent.Cell, latent.Difficulty), s.law.sim.Tokens.Sigma}, nil
}

// Complete implements experts.Pool. Usage reports simulated tokens: a drawn length for the output, a quarter of the bytes
// for the prompt.
func (s *Pool) Complete(ctx context.Context, r experts.Request) (experts.Completion, error) {
	if err := ctx.Err(); err != nil {
		return experts.Completion{}, err
	}
	i, ok := s.index[r.Expert]
	if !ok {
		return experts.Completion{}, fmt.Errorf("%w %q; the pool has: %s", experts.ErrUnknownExpert, r.Expert, list(s.index))
	}
	text := s.problemText(r.Prompt)
	hash := routing.TextHash(text)
	problem, latent, ok := s.lookup(hash)
	if !ok {
		return experts.Completion{}, fmt.Errorf("%w: %.60q: simulated experts know the generated problems of the run only", experts.ErrUnknownProblem, text)
	}
	p, t, err := s.chances(i, hash, latent)
	if err != nil {
		return experts.Completion{}, err
	}
	limit := cmp.Or(r.MaxTokens, s.members[i].MaxTokens)

	stream := s.root.Derive("rollout", r.Expert, hash, experts.WireSeed(r.Seed)).Rand()
	correct := stream.Float64() < p
	tokens := t.draw(stream.NormFloat64())
	c := experts.Completion{Finish: routing.Stop, Usage: cost.Usage{In: int64(len(r.Prompt)+3) / 4, Out: int64(limit)}}
	if tokens < float64(limit) {
		c.Usage.Out = max(1, min(int64(tokens+0.5), int64(limit)-1))
		c.Text = solve(problem, correct, s.wrong, stream)
	} else {
		c.Finish = routing.Length
		c.Text = interrupt(problem, stream)
	}
	return c, nil
}

// problemText takes the pool's template off a prompt.
func (s *Pool) problemText(prompt string) string {
	if text, ok := between(prompt, s.prefix, s.suffix); s.template && ok {
		return text
	}
	return prompt
}

// list writes the names of what there is for an error message.
func list[V any](of map[string]V) string {
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(of)), ", "), "nothing")
}
