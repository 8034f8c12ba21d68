package multiround

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var (
	pool = []routing.Expert{
		{ID: "small", Model: "Small", Params: 4, Price: cost.Price{In: 1, Out: 2}, MaxTokens: 900},
		{ID: "large.v2", Model: "Large", Params: 70, Price: cost.Price{In: 3, Out: 10}, MaxTokens: 900},
	}
	problem = routing.Problem{ID: "p-1", Text: "What is 6*7", Gold: []string{"42"}}
	quiet   = slog.New(slog.DiscardHandler)
)

// chat answers requests in process and keeps them.
type chat struct {
	mu     sync.Mutex
	asked  []experts.ChatRequest
	policy []experts.Completion                                  // one a turn of the conversation; the last is repeated
	expert func(experts.ChatRequest) (experts.Completion, error) // nil: echo
	refuse func(turn int, r experts.ChatRequest) error           // of the policy; nil: never
	watch  func(ctx context.Context, r experts.ChatRequest)      // of experts
}

const router = "router"

func (c *chat) Chat(ctx context.Context, r experts.ChatRequest) (experts.Completion, error) {
	c.mu.Lock()
	c.asked = append(c.asked, r)
	turn := 0
	for _, q := range c.asked {
		if q.Expert == router {
			turn++
		}
	}
	c.mu.Unlock()
	if r.Expert == router {
		if c.refuse != nil {
			if err := c.refuse(turn, r); err != nil {
				return experts.Completion{}, err
			}
		}
		return c.policy[min(turn, len(c.policy))-1], nil
	}
	if c.watch != nil {
		c.watch(ctx, r)
	}
	if c.expert != nil {
		return c.expert(r)
	}
	return experts.Completion{Text: r.Expert + " says 42", Finish: routing.Stop, Usage: cost.Usage{In: 10, Out: 100}}, nil
}

// to returns the requests to one model.
func (c *chat) to(id string) (found []experts.ChatRequest) {
	for _, r := range c.asked {
		if r.Expert == id {
			found = append(found, r)
		}
	}
	return found
}

func says(texts ...string) (all []experts.Completion) {
	for _, text := range texts {
		all = append(all, experts.Completion{Text: text, Finish: routing.Stop, Usage: cost.Usage{In: 1000, Out: 20}})
	}
	return all
}

// calls is a message with tool calls: name and arguments by turns.
func calls(pairs ...string) experts.Completion {
	c := experts.Completion{Finish: "tool_calls", Usage: cost.Usage{In: 1000, Out: 20}}
	for i := 0; i < len(pairs); i += 2 {
		c.Calls = append(c.Calls, experts.ToolCall{ID: fmt.Sprint("id", i/2), Name: pairs[i], Arguments: pairs[i+1]})
	}
	return c
}

func engine(p Protocol, c *chat) *Engine {
	return &Engine{
		Policy: Endpoint{Chat: c, ID: router, Sampling: spec.Sampling{Temperature: 1, TopP: 0.95}}, Experts: pool, Chat: c,
		Sampling: spec.Sampling{Temperature: 0.6, TopP: 0.9, TopK: 20, Prompt: "{problem} Use \\boxed{}."},
		Protocol: p, Failures: Inform, Policies: 1, Calls: 2, Log: quiet,
	}
}

func play(t *testing.T, p Protocol, c *chat) Trajectory {
	t.Helper()
	got, err := engine(p, c).play(t.Context(), routing.Query{Problem: problem})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func reasons(t Trajectory) string {
	var all []string
	for _, v := range t.Invalid {
		all = append(all, fmt.Sprintf("%d:%s", v.Turn, v.Reason))
	}
	return strings.Join(all, " ")
}
