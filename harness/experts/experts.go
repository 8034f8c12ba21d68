// Package experts asks language models for responses: HTTP asks any OpenAI-compatible server, Remember stores what was
// answered, and Recording reads outcomes that were measured elsewhere. It knows no simulation: package sim simulates
// experts and serves them over the same protocol, so that the default run talks to them as it would to vLLM.
package experts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Pool is a set of experts that can be asked.
type Pool interface {
	// Experts returns every model the pool answers for, the probe included, in the order in which they were given.
	Experts() []routing.Expert
	// Complete asks one expert for one response. It is safe for concurrent use. The error wraps ErrUnknownExpert,
	// ErrUnknownProblem, ErrUnavailable or ErrRefused where one of them is the cause, and the context's error when ctx ended.
	Complete(ctx context.Context, r Request) (Completion, error)
}

var (
	// ErrUnknownExpert says that the pool or the server does not know the model.
	ErrUnknownExpert = errors.New("unknown expert")
	// ErrUnknownProblem says that a simulated expert was sent a text that no generated problem has.
	ErrUnknownProblem = errors.New("unknown problem")
	// ErrUnavailable says that a server could not be reached, or kept failing until the last try: asking again later
	// may help, which is not so for any other error.
	ErrUnavailable = errors.New("expert unavailable")
	// ErrRefused says that a server turned one request down for what it asks, such as more tokens than its window holds;
	// it may take others.
	ErrRefused = errors.New("request refused")
)

// Request asks for one response.
type Request struct {
	Expert    string        // expert id
	Prompt    string        // the user message, as Prompt renders it
	Seed      seed.Seed     // of this response; its low 53 bits are sent, which every JSON reader keeps exactly
	Sampling  spec.Sampling // temperature and the like; simulated experts ignore them
	MaxTokens int           // the response is cut at this length; 0: the expert's own limit
}

// Completion is one response.
type Completion struct {
	Text      string         // as the server sent it, thinking included where the server leaves it in: package verify grades what follows </think>
	Reasoning string         // thinking that the server sent apart
	Calls     []ToolCall     // of tools, in the model's order; nil unless tools were offered
	Finish    routing.Finish // other values than Stop and Length are passed on as the server wrote them
	Usage     cost.Usage     // Out includes the tokens of the thinking
}

// Prompt puts the text of a problem into a template. An empty template is the text alone.
func Prompt(template, text string) string {
	if template == "" {
		return text
	}
	return strings.ReplaceAll(template, Placeholder, text)
}

// Placeholder stands for the text of the problem in a template.
const Placeholder = "{problem}"

// WireSeed is the part of a seed that travels: its low 53 bits, which every JSON reader keeps exactly.
func WireSeed(s seed.Seed) uint64 { return uint64(s) & (1<<53 - 1) }

// Members returns the experts of a pool with their prices, cheapest first, and its probe, nil if it has none.
// An expert without a price is an error; a probe without one is free, since nobody is routed to it.
func Members(pool spec.Pool, prices spec.Prices) ([]routing.Expert, *routing.Expert, error) {
	seen := map[string]bool{}
	member := func(e spec.Expert) (routing.Expert, error) {
		if e.ID == "" || strings.ContainsAny(e.ID, " /\t\n") {
			return routing.Expert{}, fmt.Errorf("pool %s: expert id %q: must be a name without spaces or slashes", pool.Name, e.ID)
		}
		if seen[e.ID] {
			return routing.Expert{}, fmt.Errorf("pool %s: expert id %q is there twice", pool.Name, e.ID)
		}
		seen[e.ID] = true
		return routing.Expert{ID: e.ID, Model: e.Model, Revision: e.Revision, Params: e.Params, MaxTokens: e.MaxTokens, Price: prices.Models[e.Model]}, nil
	}
	experts := make([]routing.Expert, 0, len(pool.Experts))
	for _, e := range pool.Experts {
		if _, ok := prices.Models[e.Model]; !ok {
			return nil, nil, fmt.Errorf("pool %s: model %q of expert %s has no price in the list of %s; it has: %s",
				pool.Name, e.Model, e.ID, prices.Date, list(slices.Sorted(maps.Keys(prices.Models))))
		}
		m, err := member(e)
		if err != nil {
			return nil, nil, err
		}
		experts = append(experts, m)
	}
	routing.SortByPrice(experts)
	if pool.Probe == nil {
		return experts, nil, nil
	}
	probe, err := member(*pool.Probe)
	if err != nil {
		return nil, nil, err
	}
	return experts, &probe, nil
}

// list writes names for an error message.
func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
