package asking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// says answers in process.
type says func(experts.ChatRequest) (experts.Completion, error)

func (s says) Chat(_ context.Context, q experts.ChatRequest) (experts.Completion, error) { return s(q) }

// talking returns who talks to next and keeps with a; nil: to nobody.
func talking(ctx context.Context, a *Asker, next experts.Chatter, endpoints ...experts.Endpoint) *talk {
	t := &talk{Asker: a, next: next, endpoints: map[string]experts.Endpoint{}, source: served, flight: &flight{starting: ctx}}
	for _, e := range endpoints {
		t.endpoints[e.ID] = e
	}
	return t
}

var (
	endpoint = experts.Endpoint{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 500}}
	tooled   = experts.ChatRequest{
		Expert:   "e",
		Messages: []experts.Message{{Role: "user", Content: "2+2"}, {Role: "assistant", Calls: []experts.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}}}, {Role: "tool", Content: "4", CallID: "a"}},
		Tools:    []experts.Tool{{Name: "f", Description: "asks", Parameters: `{"type":"object"}`}}, Seed: 5, Sampling: spec.Sampling{Temperature: 1, TopK: 20}, Top: 3,
	}
	whole = experts.Completion{Text: "so", Reasoning: "hm", Calls: []experts.ToolCall{{ID: "b", Name: "f", Arguments: "{}"}}, Finish: "tool_calls", Usage: cost.Usage{In: 3, Out: 9}, Top: []experts.TopToken{{Token: "A", LogProb: -.25}}}
	// How whole, as the answer to tooled, has always been stored.
	wholeScope = store.Scope{Source: "http", Model: "m", Split: "chat"}
	wholeRow   = store.Row{
		Text: "chat b8be29547b0352c123581edefc1e6654ca3e65da0b5cda8f1e65960a57d2a3c5", Seed: 5, Finish: "tool_calls", In: 3, Out: 9,
		Response: `{"text":"so","reasoning":"hm","tool_calls":[{"id":"b","name":"f","arguments":"{}"}],"finish":"tool_calls","in":3,"out":9,"top":[{"token":"A","logprob":-0.25}]}`,
	}
)

// What a store of an earlier version holds is found, and what is stored now is what that version would have stored.
func TestConversationsOfOlderStoresAreFound(t *testing.T) {
	old := engine(t, "", t.TempDir(), 1)
	old.rollouts.Keep(wholeScope, wholeRow, "", store.Verdict{}, nil)
	if err := old.rollouts.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := talking(t.Context(), old, nil, endpoint).Chat(t.Context(), tooled)
	if diff := cmp.Diff(whole, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	now := engine(t, "", t.TempDir(), 1)
	if _, err := talking(t.Context(), now, says(func(experts.ChatRequest) (experts.Completion, error) { return whole, nil }), endpoint).Chat(t.Context(), tooled); err != nil {
		t.Fatal(err)
	}
	n := 0
	for a, err := range now.rollouts.Responses(t.Context(), wholeScope) {
		n++
		if got := (store.Row{Text: wholeRow.Text, Run: a.Key.Run, Seed: a.Key.Seed, Finish: a.Finish, In: a.In, Out: a.Out, Response: a.Response}); got != wholeRow || a.Key != wholeRow.Key() || err != nil {
			t.Errorf("stored %+v, %v", got, err)
		}
	}
	if n != 1 {
		t.Errorf("%d answers are stored", n)
	}
}

// A program that was killed opens the file again and asks for nothing that was answered.
func TestWhatWasSaidIsNotAskedForAgain(t *testing.T) {
	dir := t.TempDir()
	a := engine(t, "", dir, 1)
	again := func() *Asker {
		a.Close()
		a.plan.Close()
		a = engine(t, "", dir, 1)
		return a
	}
	later := endpoint
	later.ID, later.Revision = "later", "2"
	asked := 0
	model := says(func(experts.ChatRequest) (experts.Completion, error) {
		if asked++; asked == 2 {
			return experts.Completion{}, experts.ErrUnavailable
		}
		return whole, nil
	})
	for round := range 2 {
		got, err := talking(t.Context(), again(), model, endpoint).Chat(t.Context(), tooled)
		if diff := cmp.Diff(whole, got); diff != "" || err != nil || asked != 1 {
			t.Errorf("round %d: %d requests, %v; %s", round, asked, err, diff)
		}
	}
	other := tooled
	other.Seed = 1
	one, two := talking(t.Context(), again(), model, endpoint), talking(t.Context(), a, model, endpoint) // two rows of a run
	if _, err := one.Chat(t.Context(), other); !errors.Is(err, experts.ErrUnavailable) {
		t.Errorf("another seed got %v", err)
	}
	for _, c := range []*talk{one, two, one} {
		if _, err := c.Chat(t.Context(), other); err != nil || asked != 3 {
			t.Errorf("%d requests, %v: a failure was stored, or an answer was not", asked, err)
		}
	}
	nobody := talking(t.Context(), again(), nil, endpoint, later)
	if got, err := nobody.Chat(t.Context(), tooled); err != nil || len(got.Calls) != 1 {
		t.Errorf("offline: %+v, %v", got, err)
	}
	simulated := talking(t.Context(), a, nil, endpoint)
	simulated.source = "simulated"
	if _, err := simulated.Chat(t.Context(), tooled); !errors.Is(err, steps.ErrIncomplete) {
		t.Errorf("another source: %v", err)
	}
	other = tooled
	other.Expert = "later"
	if _, err := nobody.Chat(t.Context(), other); !errors.Is(err, steps.ErrIncomplete) || err.Error() != "incomplete: an answer of expert later is not stored, and --offline forbids asking for it" {
		t.Errorf("another revision: %v", err)
	}
	if _, err := nobody.Chat(t.Context(), experts.ChatRequest{Expert: "nobody"}); !errors.Is(err, experts.ErrUnknownExpert) {
		t.Error(err)
	}
}

// Budgets end conversations as they end all else that is asked.
func TestBudgetsEndConversations(t *testing.T) {
	for name, c := range map[string]struct {
		budget *cost.Budget
		want   string
	}{
		"tokens":     {&cost.Budget{Tokens: 1}, "incomplete: the budget is spent: "},
		"a deadline": {&cost.Budget{Until: time.Now().Add(time.Second)}, "incomplete: the budget is spent: the deadline "},
	} {
		server := httptest.NewServer(&asker{})
		t.Cleanup(server.Close)
		e := engine(t, server.URL, t.TempDir(), 1)
		e.plan.Options.Budget = c.budget
		chat, err := (Servers{e}).Chat(t.Context(), []experts.Endpoint{{Expert: one, URL: server.URL + "/v1"}})
		if err != nil {
			t.Fatal(err)
		}
		q := experts.ChatRequest{Expert: "one", Messages: []experts.Message{{Role: "user", Content: "2+2"}}, MaxTokens: 100}
		if _, err := chat.Chat(t.Context(), q); err != nil {
			t.Fatal(name, err)
		}
		if !c.budget.Until.IsZero() {
			time.Sleep(time.Until(c.budget.Until))
		}
		q.Seed = 1
		if _, err := chat.Chat(t.Context(), q); !errors.Is(err, steps.ErrIncomplete) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestWhoAsksTheSameAtTheSameTimeWaitsForOneAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release, asked := make(chan struct{}), 0
		c := talking(t.Context(), engine(t, "", t.TempDir(), 1), says(func(experts.ChatRequest) (experts.Completion, error) {
			asked++
			<-release
			return whole, nil
		}), endpoint)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := c.Chat(t.Context(), tooled); err != nil || got.Usage.Out != 9 {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		all.Wait()
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// played is a server of the policy and the experts: an answer depends on the request alone. Every third request is
// turned away once.
type played struct {
	mu      sync.Mutex
	asked   map[string]int // requests by body
	answers int
	stop    func() // called when the limit is reached
	limit   int
}

func (s *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body bytes.Buffer
	body.ReadFrom(r.Body)
	var q struct {
		Model    string
		Messages []struct {
			Role, Content string
			ToolCalls     []any `json:"tool_calls"`
		}
		Tools []any
	}
	if err := json.Unmarshal(body.Bytes(), &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked[body.String()]++
	again := s.asked[body.String()] > 1
	if !again && len(s.asked)%3 == 0 {
		s.mu.Unlock()
		w.Header().Set("Retry-After", "0.001")
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	if s.answers++; s.answers == s.limit {
		s.stop()
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	last := q.Messages[len(q.Messages)-1]
	message := map[string]any{"role": "assistant", "content": "\\boxed{42}"}
	switch {
	case q.Model != "Router":
	case q.Tools != nil && last.Role == "user":
		call := func(id, name string) any {
			return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": `{"optimized_system_prompt":"Multiply with care.","temperature":0.3}`}}
		}
		message = map[string]any{"content": nil, "tool_calls": []any{call("a", "call_small"), call("b", "call_large_v2")}}
	case q.Tools != nil:
		message = map[string]any{"content": nil, "tool_calls": []any{map[string]any{"id": "c", "type": "function", "function": map[string]any{"name": "select_response", "arguments": `{"model_call_name":"call_small"}`}}}}
	case strings.HasSuffix(strings.TrimSpace(last.Content), "</information>"):
		message["content"] = "<think>I should multiply.</think>\n<answer> 42 </answer>"
	default:
		message["content"] = "<think>I should multiply.</think>\n<search> small:How much are six sevens? </search>"
	}
	json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": body.Len() / 4, "completion_tokens": 9, "total_tokens": body.Len()/4 + 9},
	})
}

func TestAKilledRunGoesOnAndAsksNothingTwice(t *testing.T) {
	var queries []routing.Query
	for i := range 6 {
		p := routing.Problem{ID: fmt.Sprint("p-", i), Text: fmt.Sprintf("What is 6*7 (%d)", i), Gold: []string{"42"}}
		queries = append(queries, routing.Query{Problem: p}, routing.Query{Problem: p, Run: 1})
	}
	pool := []routing.Expert{{ID: "small", Model: "Small", Params: 4, MaxTokens: 900}, {ID: "large.v2", Model: "Large", Params: 70, MaxTokens: 900}}
	quiet := slog.New(slog.DiscardHandler)
	for name, p := range map[string]multiround.Protocol{"tags": multiround.SourceTags(), "tools": multiround.SourceTools()} {
		t.Run(name, func(t *testing.T) {
			// run plays against a server that kills the run at its limit-th answer, 0: never.
			run := func(dir string, limit int) ([]multiround.Trajectory, *played, error) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s := &played{asked: map[string]int{}, limit: limit, stop: cancel}
				server := httptest.NewServer(s)
				defer server.Close()
				endpoints := []experts.Endpoint{{Expert: routing.Expert{ID: "router", Model: "Router"}, URL: server.URL}}
				for _, x := range pool {
					endpoints = append(endpoints, experts.Endpoint{Expert: x, URL: server.URL})
				}
				h, err := experts.NewHTTP(endpoints, experts.HTTPOptions{Wait: time.Millisecond, Log: quiet})
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				k := engine(t, server.URL, dir, 1)
				defer k.plan.Close()
				defer k.Close()
				c := talking(ctx, k, h, endpoints...)
				e := &multiround.Engine{Policy: multiround.Endpoint{Chat: c, ID: "router", Sampling: spec.Sampling{Temperature: 1}}, Experts: pool, Chat: c, Protocol: p, Failures: multiround.Stop, Log: quiet}
				n := 0
				got, err := e.PlayAll(ctx, queries, 3, func() { n++ })
				if n != len(queries) {
					t.Errorf("%d of %d were said to be played", n, len(queries))
				}
				return got, s, err
			}
			want, whole, err := run(t.TempDir(), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range want {
				if x.Verdict != routing.Correct || len(x.Calls) == 0 {
					t.Fatalf("%+v", x)
				}
			}
			dir := t.TempDir()
			kills, answered := 0, 0
			var got []multiround.Trajectory
			var last *played
			for limit := 4; ; limit += 3 {
				var err error
				if got, last, err = run(dir, limit); err == nil {
					answered += last.answers
					break
				}
				kills++
				answered += last.answers - 1 // the one that was killed gave none
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			// A kill loses the answers that are under way in the other two workers, at most two of Tools' calls each.
			if extra := answered - whole.answers; kills == 0 || extra < 0 || extra > 4*kills {
				t.Errorf("%d kills, %d answers instead of %d", kills, answered, whole.answers)
			}
			if again, s, err := run(dir, 0); err != nil || s.answers != 0 || len(again) != len(want) {
				t.Errorf("a run that is complete asks %d times, %v", s.answers, err)
			}
		})
	}
}
