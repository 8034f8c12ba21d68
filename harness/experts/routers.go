package experts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Candidate is an expert as a language model that routes is shown it: one line of JSON in its prompt.
type Candidate struct {
	ID       string             `json:"id"`
	Billions float64            `json:"billion_parameters,omitempty"`
	In       float64            `json:"usd_per_million_input_tokens"`
	Out      float64            `json:"usd_per_million_output_tokens"`
	Strength string             `json:"strength,omitempty"`
	Accuracy map[string]float64 `json:"accuracy,omitempty"` // share of right answers on profiled problems, by difficulty
}

// What encloses the problem in the prompt of a language model that routes.
const (
	problemOpen  = "<problem>\n"
	problemClose = "\n</problem>"
)

// RoutingPrompt returns the template of a prompt that asks a language model which expert should answer: the task, a line
// a candidate, the problem, and the form that the answer should have. It is an error if a part holds what stands for the
// problem or encloses it.
func RoutingPrompt(task string, candidates []Candidate, form string) (string, error) {
	var b strings.Builder
	b.WriteString(task + "\n\n")
	for _, c := range candidates {
		line, err := json.Marshal(c)
		if err != nil {
			return "", fmt.Errorf("candidate %s: %w", c.ID, err)
		}
		b.WriteString(string(line) + "\n")
	}
	b.WriteString("\n")
	for _, taken := range []string{placeholder, problemOpen, strings.TrimSpace(problemClose)} {
		if strings.Contains(b.String()+form, taken) {
			return "", fmt.Errorf("the prompt holds %q outside the problem; word it without", strings.TrimSpace(taken))
		}
	}
	return b.String() + problemOpen + placeholder + problemClose + "\n\n" + form, nil
}

// Routers are simulated language models that are asked which expert should answer: stand-ins for an LLM-as-a-router
// whose skill is assumed (spec.SimRouter). They read candidates and problem from the prompt, and decide by the true
// success probability of the simulated experts. An answer depends on the root seed, the model, the text of the problem,
// the set of candidates and the request's seed alone, not on the order of the candidates.
type Routers struct {
	sim    *Simulated
	lookup Lookup
	knobs  map[string]spec.SimRouter
}

// NewRouters returns the routers of a simulated pool. lookup knows the problems that they may be asked about.
func NewRouters(sim *Simulated, knobs map[string]spec.SimRouter, lookup Lookup) *Routers {
	return &Routers{sim, lookup, knobs}
}

// Experts implements Pool: the routers by name.
func (r *Routers) Experts() []routing.Expert {
	var all []routing.Expert
	for _, name := range slices.Sorted(maps.Keys(r.knobs)) {
		all = append(all, routing.Expert{ID: name, Model: name})
	}
	return all
}

// Complete implements Pool. Usage counts a quarter of the bytes as tokens; there is no limit.
func (r *Routers) Complete(ctx context.Context, q Request) (Completion, error) {
	if err := ctx.Err(); err != nil {
		return Completion{}, err
	}
	knobs, ok := r.knobs[q.Expert]
	if !ok {
		return Completion{}, fmt.Errorf("%w %q; the routers are: %s", ErrUnknownExpert, q.Expert, list(slices.Sorted(maps.Keys(r.knobs))))
	}
	candidates, text, err := readRoutingPrompt(q.Prompt)
	if err != nil {
		return Completion{}, err
	}
	hash := routing.TextHash(text)
	_, latent, ok := r.lookup(hash)
	if !ok {
		return Completion{}, fmt.Errorf("%w: %.60q: simulated routers know the generated problems of the run only", ErrUnknownProblem, text)
	}
	truths, err := r.sim.True(hash, latent)
	if err != nil {
		return Completion{}, err
	}
	best := len(candidates) - 1
	for i := len(candidates) - 1; i >= 0; i-- {
		m, ok := r.sim.index[candidates[i].ID]
		if !ok {
			return Completion{}, fmt.Errorf("%w %q among the candidates; the pool has: %s", ErrUnknownExpert, candidates[i].ID, list(slices.Sorted(maps.Keys(r.sim.index))))
		}
		if truths[m].Correct >= knobs.Tau {
			best = i
		}
	}
	stream := r.sim.root.Derive("router", q.Expert, hash, wireSeed(q.Seed)).Rand()
	choice := best
	if stream.Float64() >= knobs.Skill && len(candidates) > 1 {
		choice = (best + 1 + stream.IntN(len(candidates)-1)) % len(candidates)
	}
	c := Completion{Finish: routing.Stop, Text: `{"model": "` + candidates[choice].ID + `"}`}
	if stream.Float64() < knobs.Malformed {
		c.Text = malformed(candidates, choice, stream)
	}
	c.Usage = cost.Usage{In: int64(len(q.Prompt)+3) / 4, Out: int64(len(c.Text)+3) / 4}
	return c, nil
}

// malformed says what a model says that was told to answer with JSON and does not: half of it still names its choice.
func malformed(candidates []Candidate, choice int, stream *rand.Rand) string {
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

// readRoutingPrompt finds the candidates, cheapest first whatever their order in the prompt, and the problem.
func readRoutingPrompt(prompt string) ([]Candidate, string, error) {
	head, rest, opened := strings.Cut(prompt, problemOpen)
	end := strings.LastIndex(rest, problemClose)
	if !opened || end < 0 {
		return nil, "", fmt.Errorf("%w: no problem between %q and %q: simulated routers read no other prompt", ErrUnknownProblem, strings.TrimSpace(problemOpen), strings.TrimSpace(problemClose))
	}
	var candidates []Candidate
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, `{"id":`) {
			continue
		}
		var c Candidate
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, "", fmt.Errorf("%w: a candidate of the prompt is not JSON (%w)", ErrUnknownExpert, err)
		}
		candidates = append(candidates, c)
	}
	if len(candidates) == 0 {
		return nil, "", fmt.Errorf("%w: the prompt holds no candidate", ErrUnknownExpert)
	}
	experts := make([]routing.Expert, len(candidates))
	byID := map[string]Candidate{}
	for i, c := range candidates {
		experts[i] = routing.Expert{ID: c.ID, Price: cost.Price{Out: c.Out}}
		byID[c.ID] = c
	}
	routing.SortByPrice(experts)
	for i, e := range experts {
		candidates[i] = byID[e.ID]
	}
	return candidates, rest[:end], nil
}

// Join makes one pool of two. Of models with one id those of the first answer.
func Join(a, b Pool) Pool {
	j := joined{all: append(a.Experts(), b.Experts()...), of: map[string]Pool{}}
	for _, p := range []Pool{b, a} {
		for _, e := range p.Experts() {
			j.of[e.ID] = p
		}
	}
	return j
}

type joined struct {
	all []routing.Expert
	of  map[string]Pool
}

func (j joined) Experts() []routing.Expert { return slices.Clone(j.all) }

func (j joined) Complete(ctx context.Context, q Request) (Completion, error) {
	if p, ok := j.of[q.Expert]; ok {
		return p.Complete(ctx, q)
	}
	return Completion{}, fmt.Errorf("%w %q; the pool has: %s", ErrUnknownExpert, q.Expert, list(slices.Sorted(maps.Keys(j.of))))
}
