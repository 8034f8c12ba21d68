package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// conversing puts policies before a stand-in. They ask the smallest expert everything and hand over what it says; asked by
// them in words of their own or of their protocol, it is right.
type conversing struct {
	*standIn
	policy, experts atomic.Int64
}

func (c *conversing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		rec := httptest.NewRecorder()
		c.standIn.ServeHTTP(rec, r)
		io.WriteString(w, strings.Replace(rec.Body.String(), `"data":[`, `"data":[{"id":"router-r1"},{"id":"xrouter"},`, 1))
		return
	}
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var q struct {
		Model     string
		Messages  []struct{ Role, Content string }
		MaxTokens int  `json:"max_tokens"`
		Continue  bool `json:"continue_final_message"`
		Tools     []any
	}
	if err := json.Unmarshal(body, &q); err != nil {
		c.t.Error(err)
	}
	first, last := q.Messages[0], q.Messages[len(q.Messages)-1]
	message := map[string]any{}
	tool := func(name, arguments string) {
		message["tool_calls"] = []any{map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}}
	}
	switch {
	case q.Model == "router-r1" && !q.Continue:
		_, question, _ := strings.Cut(last.Content, "\nQuestion: ")
		message["content"] = "<think>Hard.</think> <search>qwen3-4b: " + strings.TrimSuffix(question, "?\n") + "</search>"
	case q.Model == "router-r1":
		answer := "none"
		if m := regexp.MustCompile(`boxed{(-?\d+)}`).FindStringSubmatch(last.Content); m != nil {
			answer = m[1]
		}
		message["content"] = "<think>Good.</think><answer>" + answer + "</answer>"
	case q.Model == "xrouter" && len(q.Messages) == 2:
		tool("call_qwen3-4b", `{"optimized_system_prompt":"Solve it."}`)
	case q.Model == "xrouter":
		tool("select_response", `{"model_call_name":"call_qwen3-4b"}`)
	case first.Role == "system" || strings.HasPrefix(first.Content, "You are one of several agents"):
		text := strings.TrimSuffix(last.Content, instruction)
		if _, question, ok := strings.Cut(text, "The question: "); ok {
			if text = strings.TrimSuffix(question, "\n"); q.MaxTokens != 512 {
				c.t.Errorf("Router-R1's expert may write %d tokens", q.MaxTokens)
			}
		}
		message["content"] = "<think>Easy.</think>\\boxed{" + c.golds[text] + "}"
		c.experts.Add(1)
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.standIn.ServeHTTP(w, r)
		return
	}
	if strings.Contains(q.Model, "router") {
		c.policy.Add(1)
	}
	json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 50, "completion_tokens": 100, "total_tokens": 150},
	})
}

func TestTheSpecOfMultiRoundRoutersRunsAgainstServers(t *testing.T) {
	server, _ := newStandIn(t)
	c := &conversing{standIn: server}
	srv := httptest.NewServer(c)
	defer srv.Close()
	url := srv.URL + "/v1"
	dir := t.TempDir()
	liveData(t, server, dir, map[string]int{"math-train": 6, "hmmt-feb25": 2, "aime25": 2, "olympiadbench": 2, "aime24": 2, "amc": 2, "math500": 2})
	text := builtin(t, "live-multiround.yaml", url)
	small := strings.ReplaceAll(text, "size: 500", "size: 6")
	if small == text {
		t.Fatal("live-multiround.yaml has other sizes: adapt this test")
	}
	write(t, filepath.Join(dir, "live-multiround.yaml"), small)
	write(t, filepath.Join(dir, "pools", "vllm.yaml"), builtin(t, "pools/vllm.yaml", url))
	args := []string{"run", filepath.Join(dir, "live-multiround.yaml"), "--data", filepath.Join(dir, "data"), "--out", filepath.Join(dir, "out"), "--figures", filepath.Join(dir, "fig")}
	first := command(t, args...)
	// 12 problems of 2 runs in three rows, two turns each, but the two rows of Router-R1 begin alike. In its own limits it asks
	// experts with a fixed seed, so both runs of a problem are one call; those of the row in the experts' limits the
	// stand-in answers as it does everybody.
	if p, e := c.policy.Load(), c.experts.Load(); p != 24+24+24+48 || e != 12+24 {
		t.Errorf("policies were asked %d times, experts %d times", p, e)
	}
	if again := command(t, args...); untimed(again) != untimed(first) || c.policy.Load() != 120 {
		t.Errorf("the second run printed\n%s\nthe first\n%s", again, first)
	}
	set := measured(t, filepath.Join(dir, "fig"), "live-multiround")
	unitsAreDocumented(t, set)
	for row, want := range map[string]map[string]float64{
		// 100 tokens of the smallest expert at 0.03 dollars per million.
		"router-r1":      {"accuracy-%": 100, "well-formed-%": 100, "calls/query": 1, "asked-qwen3-4b-%": 100, "own-answers-%": 100, "usd/query": 3e-6},
		"router-r1-wide": {"well-formed-%": 100, "call-rate-%": 100},
		"xrouter":        {"accuracy-%": 100, "calls/query": 1, "own-answers-%": 0, "invalid-turns-%": 0, "usd/query": 3e-6},
	} {
		m, ok, err := set.Find(metrics.Key{Name: "method", Value: row}, metrics.Key{Name: "benchmark", Value: metrics.Average})
		if err != nil || !ok {
			t.Fatal(row, err)
		}
		for unit, number := range want {
			if v, ok := m.Value(unit); !ok || v.Number != number {
				t.Errorf("%s: %s is %v, want %v", row, unit, v.Number, number)
			}
		}
	}
}
