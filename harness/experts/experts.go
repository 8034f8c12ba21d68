// Package experts asks language models for responses: HTTP asks any OpenAI-compatible server, and Recording reads outcomes
// that were measured elsewhere. It stores nothing, which package asking does, and knows no simulation: package sim simulates
// experts and serves them over the same protocol, so that the default run talks to them as it would to vLLM.
package experts

import (
	"context"
	"errors"
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
	// Complete asks one expert for one response. It is safe for concurrent use. The error is a Failure if this request
	// alone failed; it wraps ErrMisconfigured if all would, the context's error when ctx ended, and that of Attempts.Begin.
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
	// ErrKey says that a server wants another key, or money: what was asked for may be had once it has it.
	ErrKey = errors.New("key not accepted")
)

// Request asks for one response.
type Request struct {
	Expert    string        // expert id
	Prompt    string        // the user message, as Prompt renders it
	Seed      seed.Seed     // of this response; its low 53 bits are sent, which every JSON reader keeps exactly
	Sampling  spec.Sampling // temperature and the like; simulated experts ignore them
	MaxTokens int           // the response is cut at this length; 0: the expert's own limit
	Attempts  Attempts      // hears of every attempt; nil: nobody
}

// Completion is one response.
type Completion struct {
	Text      string         // as the server sent it, thinking included where the server leaves it in: package verify grades what follows </think>
	Reasoning string         // thinking that the server sent apart
	Calls     []ToolCall     // of tools, in the model's order; nil unless tools were offered
	Finish    routing.Finish // other values than Stop and Length are passed on as the server wrote them
	Usage     cost.Usage     // Out includes the tokens of the thinking
	Top       []TopToken     // the likeliest first tokens; nil unless they were asked for and the server sends them
	Server    string         // base URL of who answered
	Estimated bool           // Usage was counted here, since the server did not send it
}

// TopToken is a token and its log-probability.
type TopToken struct {
	Token   string  `json:"token"`
	LogProb float64 `json:"logprob"`
}

// ToolCall is a call of a tool that a model asks for.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON as the model wrote it, which need not be valid
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

// list writes names for an error message.
func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
