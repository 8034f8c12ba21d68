package multiround

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const (
	askSmall  = `{"optimized_system_prompt":"Multiply with care.","temperature":0.3}`
	askLarge  = `{"optimized_system_prompt":"You know tables."}`
	takeSmall = `{"model_call_name":"call_small"}`
)

func TestEveryConversationWithToolsEnds(t *testing.T) {
	text := func(s string) experts.Completion { return says(s)[0] }
	down := func(experts.ChatRequest) (experts.Completion, error) {
		return experts.Completion{}, fmt.Errorf("expert small: %w after 6 tries", experts.ErrUnavailable)
	}
	long := text("The answer is 4")
	long.Finish = routing.Length
	for _, c := range []struct {
		name    string
		policy  []experts.Completion
		expert  func(experts.ChatRequest) (experts.Completion, error)
		ending  Ending
		from    string
		answer  string
		verdict routing.Bucket
		turns   int
		calls   int
		invalid string
	}{
		{"plain text is the answer", []experts.Completion{text("<think>easy</think>\n\\boxed{42}")}, nil, EndAnswer, "", "\\boxed{42}", routing.Correct, 1, 0, ""},
		{"text that was cut", []experts.Completion{long}, nil, EndAnswer, "", "The answer is 4", routing.Truncated, 1, 0, ""},
		{"no text and no call", []experts.Completion{text("<think>hm</think>")}, nil, EndEmpty, "", "", routing.NoAnswer, 1, 0, ""},
		{"a response handed over", []experts.Completion{calls("call_small", askSmall), calls(selectTool, takeSmall)}, nil, EndSelect, "small", "small says 42", routing.Correct, 2, 1, ""},
		{"by the expert's id", []experts.Completion{calls("call_large_v2", askLarge), calls(selectTool, `{"model_call_name":"large.v2"}`)}, nil, EndSelect, "large.v2", "large.v2 says 42", routing.Correct, 2, 1, ""},
		{"a synthesis", []experts.Completion{calls("call_small", askSmall), text("It is 42.")}, nil, EndAnswer, "", "It is 42.", routing.Correct, 2, 1, ""},
		{"calls side by side", []experts.Completion{calls("call_small", askSmall, "call_large_v2", askLarge), calls(selectTool, takeSmall)}, nil, EndSelect, "small", "small says 42", routing.Correct, 2, 2, ""},
		{"three turns of calls and the last word", []experts.Completion{calls("call_small", askSmall), calls("call_small", askSmall), calls("call_small", askSmall), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 4, 3, ""},
		{"a fourth turn of calls is beyond the limit", []experts.Completion{calls("call_small", askSmall)}, nil, EndLimit, "", "", routing.NoAnswer, 4, 3, "4:beyond-the-limit"},
		{"even to hand something over", []experts.Completion{calls("call_small", askSmall), calls("call_small", askSmall), calls("call_small", askSmall), calls(selectTool, takeSmall)}, nil, EndLimit, "", "", routing.NoAnswer, 4, 3, "4:beyond-the-limit"},
		{"select beside a call is refused and the call is made", []experts.Completion{calls("call_small", askSmall, selectTool, takeSmall), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 1, "1:not-alone"},
		{"select of nobody", []experts.Completion{calls(selectTool, takeSmall), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:nothing-to-take"},
		{"select of a name that is none", []experts.Completion{calls(selectTool, `{"model_call_name":"gpt"}`), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:nothing-to-take"},
		{"select without a name", []experts.Completion{calls(selectTool, `{}`), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:bad-arguments"},
		{"an unknown tool", []experts.Completion{calls("call_gpt", askSmall), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:unknown-tool"},
		{"arguments that are no JSON", []experts.Completion{calls("call_small", `{"optimized`), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:bad-arguments"},
		{"arguments without the prompt", []experts.Completion{calls("call_small", `{"temperature":1}`), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:bad-arguments"},
		{"a temperature that no server takes", []experts.Completion{calls("call_small", `{"optimized_system_prompt":"","temperature":-1}`), text("42")}, nil, EndAnswer, "", "42", routing.Correct, 2, 0, "1:bad-arguments"},
		{"a failed call cannot be handed over", []experts.Completion{calls("call_small", askSmall), calls(selectTool, takeSmall), text("42")}, down, EndAnswer, "", "42", routing.Correct, 3, 1, "1:call-failed 2:nothing-to-take"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := &chat{policy: c.policy, expert: c.expert}
			got := play(t, SourceTools(), server)
			if got.Ending != c.ending || got.From != c.from || got.Answer != c.answer || got.Verdict != c.verdict || got.Turns != c.turns || len(got.Calls) != c.calls || reasons(got) != c.invalid {
				t.Errorf("%s from %q: %q is %s, %d turns, %d calls, invalid %q", got.Ending, got.From, got.Answer, got.Verdict, got.Turns, len(got.Calls), reasons(got))
			}
			// Servers refuse a conversation in which a tool call has no result.
			for _, r := range server.to(router) {
				var open []string
				for _, m := range r.Messages {
					for _, c := range m.Calls {
						open = append(open, c.ID)
					}
					if m.Role == "tool" {
						if len(open) == 0 || open[0] != m.CallID {
							t.Fatalf("result of %q where %v are open", m.CallID, open)
						}
						open = open[1:]
					}
				}
				if len(open) > 0 {
					t.Errorf("calls %v have no result", open)
				}
			}
		})
	}
}

func TestExpertsReadThePromptOfThePolicyAndTheQuery(t *testing.T) {
	server := &chat{policy: []experts.Completion{calls("call_small", askSmall, "call_large_v2", askLarge), says("42")[0]}}
	got := play(t, SourceTools(), server)
	want := []experts.ChatRequest{
		{Expert: "small", Messages: []experts.Message{{Role: "system", Content: "Multiply with care."}, {Role: "user", Content: `What is 6*7 Use \boxed{}.`}}, Sampling: spec.Sampling{Temperature: 0.3, TopP: 0.9, TopK: 20}},
		{Expert: "large.v2", Messages: []experts.Message{{Role: "system", Content: "You know tables."}, {Role: "user", Content: `What is 6*7 Use \boxed{}.`}}, Sampling: spec.Sampling{Temperature: 1, TopP: 0.9, TopK: 20}},
	}
	asked := []experts.ChatRequest{server.to("small")[0], server.to("large.v2")[0]}
	if asked[0].Seed == asked[1].Seed {
		t.Error("two calls share a stream")
	}
	for i := range asked {
		asked[i].Seed, asked[i].Sampling.Prompt = 0, ""
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	first := server.to(router)[0]
	if first.Messages[1].Content != "USER QUERY:\n"+`What is 6*7 Use \boxed{}.` || first.MaxTokens != 8192 || len(first.Tools) != 3 {
		t.Errorf("first turn %+v", first)
	}
	var names []string
	for _, tool := range first.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"call_small", "call_large_v2", "select_response"}, names); diff != "" {
		t.Error(diff)
	}
	if got.Calls[0].Expert != "small" || got.Calls[1].Expert != "large.v2" || got.Calls[0].System != "Multiply with care." || got.Calls[1].Temperature != 1 {
		t.Errorf("calls %+v", got.Calls)
	}
}

func TestToolsSayWhatExpertsSolveIfItIsKnown(t *testing.T) {
	for _, c := range []struct {
		accuracy []float64
		show     bool
		want     bool
	}{{[]float64{0.614, 0.9}, true, true}, {[]float64{0.614, 0.9}, false, false}, {nil, true, false}} {
		p := SourceTools()
		p.ShowAccuracy = c.show
		if got := strings.Contains(p.offer(pool, c.accuracy)[0].Description, "Solves 61% of"); got != c.want {
			t.Errorf("%+v: told: %v", c, got)
		}
	}
}

func TestNamesOfToolsDiffer(t *testing.T) {
	names := toolNames([]routing.Expert{{ID: "a.b"}, {ID: "a b"}, {ID: "a_b"}, {ID: "a-b"}})
	if diff := cmp.Diff([]string{"call_a_b", "call_a_b_", "call_a_b__", "call_a-b"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestParallelCallsAreMadeAtOnce(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	met := make(chan struct{})
	go func() { both.Wait(); close(met) }()
	server := &chat{policy: []experts.Completion{calls("call_small", askSmall, "call_small", askLarge), says("42")[0]}, watch: func(context.Context, experts.ChatRequest) {
		both.Done()
		select {
		case <-met:
		case <-time.After(10 * time.Second):
			t.Error("the other call is not under way")
		}
	}}
	if got := play(t, SourceTools(), server); len(got.Calls) != 2 || got.Messages[3].CallID != "id0" || got.Messages[4].CallID != "id1" {
		t.Errorf("%+v", got)
	}
}

func TestSimpleModeHandsTheOnlyResponseOver(t *testing.T) {
	p := SourceTools()
	p.Simple = true
	server := &chat{policy: []experts.Completion{calls("call_small", askSmall)}}
	if got := play(t, p, server); got.Ending != EndSelect || got.From != "small" || got.Turns != 1 {
		t.Errorf("%+v", got)
	}
	server = &chat{policy: []experts.Completion{calls("call_small", askSmall, "call_small", askSmall), says("42")[0]}}
	if got := play(t, p, server); got.Ending != EndAnswer || got.Turns != 2 {
		t.Errorf("two calls: %+v", got)
	}
}

func TestTheLastResponseIsHandedOver(t *testing.T) {
	n := 0
	server := &chat{policy: []experts.Completion{calls("call_small", askSmall), calls("call_small", askSmall), calls(selectTool, takeSmall)}, expert: func(experts.ChatRequest) (experts.Completion, error) {
		n++
		return experts.Completion{Text: fmt.Sprintf("\\boxed{%d}", 40+n), Finish: routing.Stop, Usage: cost.Usage{Out: 1}}, nil
	}}
	if got := play(t, SourceTools(), server); got.Answer != "\\boxed{42}" || got.Verdict != routing.Correct {
		t.Errorf("%+v", got)
	}
	if a, b := server.to("small")[0].Seed, server.to("small")[1].Seed; a == b {
		t.Error("asking again cannot get another answer")
	}
}

// Of calls side by side the first is the first move, whether or not it was answered.
func TestADecisionHasOneFirstMove(t *testing.T) {
	answered := func(n int) func(experts.ChatRequest) (experts.Completion, error) {
		return func(r experts.ChatRequest) (experts.Completion, error) {
			if r.Expert != pool[n].ID {
				return experts.Completion{}, fmt.Errorf("expert %s: %w after 6 tries", r.Expert, experts.ErrUnavailable)
			}
			return experts.Completion{Text: "42", Finish: routing.Stop}, nil
		}
	}
	for n := range pool {
		server := &chat{policy: []experts.Completion{calls("call_small", askSmall, "call_large_v2", askLarge), says("42")[0]}, expert: answered(n)}
		r := &Router{Engine: engine(SourceTools(), server)}
		d := r.decision(play(t, SourceTools(), server))
		if diff := cmp.Diff([]float64{1, 0}, d.Prob); diff != "" || len(d.Calls) != 1 || d.Calls[0].Expert != n {
			t.Errorf("expert %d answers: calls %+v, first move %s", n, d.Calls, diff)
		}
	}
}

func TestToolCallsWithoutNamesOfTheirOwnGetSome(t *testing.T) {
	c := calls("call_small", askSmall)
	c.Calls[0].ID = ""
	server := &chat{policy: []experts.Completion{c, says("42")[0]}}
	if got := play(t, SourceTools(), server); got.Messages[2].Calls[0].ID != "call-1-1" || got.Messages[3].CallID != "call-1-1" {
		t.Errorf("%+v", got.Messages)
	}
}
