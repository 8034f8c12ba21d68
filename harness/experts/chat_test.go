package experts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

const toolAnswer = `{"choices":[{"message":{"content":null,"tool_calls":[
	{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},
	{"id":"b","type":"function","function":{"name":"g","arguments":{"y":2}}}]},"finish_reason":"tool_calls"}],
	"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}`

func TestToolCallsAreReadAsTextOrAsJSON(t *testing.T) {
	h, _ := scripted(t, HTTPOptions{}, say(200, toolAnswer))
	c, err := h.Chat(context.Background(), ChatRequest{Expert: "e", Messages: []Message{{Role: "user", Content: "?"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := Completion{Calls: []ToolCall{{"a", "f", `{"x": 1}`}, {"b", "g", `{"y":2}`}}, Finish: "tool_calls", Usage: cost.Usage{In: 3, Out: 9}}
	c.Server = ""
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

func TestConversationsTravelWhole(t *testing.T) {
	var got any
	h, _ := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
		json.NewDecoder(r.Body).Decode(&got)
		say(200, answer)(w, r)
	})
	_, err := h.Chat(context.Background(), ChatRequest{
		Expert: "e",
		Messages: []Message{
			{Role: "system", Content: "be \"brief\""}, {Role: "user", Content: "2+2"},
			{Role: "assistant", Calls: []ToolCall{{"a", "f", `{"x":1}`}, {"b", "f", "{"}}},
			{Role: "tool", Content: "4", CallID: "a"}, {Role: "assistant", Content: "so"},
		},
		Tools:    []Tool{{"f", "asks", `{"type":"object"}`}, {"g", "", `{}`}},
		Continue: true, MaxTokens: 7, Seed: 5, Sampling: spec.Sampling{Temperature: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal([]byte(`{"model":"m","messages":[
		{"role":"system","content":"be \"brief\""},{"role":"user","content":"2+2"},
		{"role":"assistant","content":"","tool_calls":[{"type":"function","id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"type":"function","id":"b","function":{"name":"f","arguments":"{"}}]},
		{"role":"tool","content":"4","tool_call_id":"a"},{"role":"assistant","content":"so"}],
		"tools":[{"type":"function","function":{"name":"f","description":"asks","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g","description":"","parameters":{}}}],
		"add_generation_prompt":false,"continue_final_message":true,"n":1,"seed":5,"max_tokens":7,"temperature":1,"top_k":-1,"min_p":0}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const topAnswer = `{"choices":[{"message":{"content":"A"},"finish_reason":"length","logprobs":{"content":[
	{"token":"A","logprob":-0.25,"top_logprobs":[{"token":"A","logprob":-0.25,"bytes":[65]},{"token":" B","logprob":-2}]},
	{"token":"C","logprob":-1,"top_logprobs":[{"token":"C","logprob":-1}]}]}}],
	"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`

func TestTheLikeliestFirstTokensAreAskedFor(t *testing.T) {
	var got map[string]any
	h, _ := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
		json.NewDecoder(r.Body).Decode(&got)
		say(200, topAnswer)(w, r)
	})
	answer, err := h.Chat(t.Context(), ChatRequest{Expert: "e", Messages: []Message{{Role: "user", Content: "2+2"}}, Top: 20, MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]TopToken{{"A", -.25}, {" B", -2}}, answer.Top); diff != "" {
		t.Error(diff)
	}
	if got["logprobs"] != true || got["top_logprobs"] != 20. || got["max_tokens"] != 1. {
		t.Errorf("asked %v", got)
	}
}

func TestAnUnknownEndpointIsRefused(t *testing.T) {
	h, asked := scripted(t, HTTPOptions{}, say(200, answer))
	if _, err := h.Chat(context.Background(), ChatRequest{Expert: "f"}); !errors.Is(err, ErrUnknownExpert) || !strings.Contains(err.Error(), `"f"`) || asked.Load() != 0 {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
}

// Answers are stored under the digest, so it must be the same in every version; the endpoint's limit is part of it where the
// request has none.
func TestTheDigestOfAConversationStays(t *testing.T) {
	q := ChatRequest{
		Messages: []Message{{Role: "user", Content: "2+2"}, {Role: "assistant", Calls: []ToolCall{{"a", "f", `{"x":1}`}}}, {Role: "tool", Content: "4", CallID: "a"}},
		Tools:    []Tool{{"f", "asks", `{"type":"object"}`}}, Seed: 5, Sampling: spec.Sampling{Temperature: 1, TopK: 20}, Top: 3,
	}
	e := Endpoint{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 500}}
	short := q
	short.MaxTokens = 7
	for want, q := range map[string]ChatRequest{
		"b8be29547b0352c123581edefc1e6654ca3e65da0b5cda8f1e65960a57d2a3c5": q,
		"00fa5bbf369ee3d2c9ab150241ba7cc0d8d564fe52fa60aaaeeccbfe6638c310": short,
	} {
		if got := fmt.Sprintf("%x", q.Digest(e)); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
	}
}

// Requests that are sent with other words are stored apart, whatever of them says that something is off.
func TestWhatIsLeftOutIsInTheDigest(t *testing.T) {
	e := Endpoint{Expert: routing.Expert{ID: "e", Model: "m"}}
	digests, sent := map[string][32]byte{}, map[[32]byte]string{}
	for _, leave := range []spec.JSON{"", `["top_k"]`, `["min_p"]`, `["min_p","top_k"]`, `["seed"]`, `["min_p","seed","temperature","top_k","top_p"]`} {
		for _, topK := range []int{0, 20} {
			r := ChatRequest{Messages: []Message{{Role: "user", Content: "2+2"}}, Sampling: spec.Sampling{TopP: 1, TopK: topK, LeaveOut: leave}}
			body, digest := string(e.body(r, 3)), r.Digest(e)
			if was, ok := digests[body]; ok && was != digest {
				t.Errorf("two digests of %s", body)
			}
			if was, ok := sent[digest]; ok && was != body {
				t.Errorf("one digest of\n%s and\n%s", was, body)
			}
			digests[body], sent[digest] = digest, body
		}
	}
}
