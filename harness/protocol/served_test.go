package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/internal/jsontest"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/multiround"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/units"
)

const servedSpec = `
name: served
base: base.yaml
title: Policies behind a server
pools: [sim]
prices: paper-novita
profile: {rollouts: 1, concurrency: 8}
train:
  sft: {benchmark: sim-train-sft, size: 20}
  rl: {benchmark: sim-train-sft, size: 20}
test: [sim-aime25, sim-math500]
evaluate: {seeds: [1, 2], bootstrap: 20, max_problems: 6, max_runs: 2}
methods:
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: self}
  - name: routerr1
    params: {policy: {url: "URL", model: router, temperature: 0.5}, protocol: {wrapper: problem, expert_max_tokens: 0}}
  - name: xrouter
    params: {policy: {url: "URL", model: router}, protocol: {expert_max_tokens: 0}}
outputs: [{kind: table}]
`

// policyServer is a policy that asks the 30B with every word of the problem, and hands the response over (tools) or repeats
// its last line (tags).
func policyServer(t *testing.T, texts map[string]bool) (url string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data":[{"id":"router"}]}`)
			return
		}
		if r.Method == http.MethodGet { // its health and its version
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		var q struct {
			Messages []struct{ Role, Content string }
			Tools    []any
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		tool := func(name, arguments string) map[string]any {
			return map[string]any{"tool_calls": []any{map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}}}
		}
		last := q.Messages[len(q.Messages)-1].Content
		var message map[string]any
		switch {
		case q.Tools != nil && len(q.Messages) == 2:
			message = tool("call_qwen3-30b", `{"optimized_system_prompt":"Be careful."}`)
		case q.Tools != nil:
			message = tool("select_response", `{"model_call_name":"call_qwen3-30b"}`)
		case len(q.Messages) == 1:
			_, problem, _ := strings.Cut(last, "\nQuestion: ")
			if problem = strings.TrimSuffix(problem, "\n"); !texts[problem] { // the protocol has made it a question
				problem = strings.TrimSuffix(problem, "?")
			}
			message = map[string]any{"content": "<think>Hm.</think><search>qwen3-30b:" + problem + "</search>"}
		default:
			lines := strings.Split(strings.TrimSuffix(strings.TrimSpace(last), "</information>"), "\n")
			message = map[string]any{"content": "<think>So.</think><answer>" + lines[len(lines)-1] + "</answer>"}
		}
		json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107},
		})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

// From the spec to the table: what is measured of rows with a policy behind a server is what their trajectories say.
func TestRowsBehindAServerAreScoredByTheirTrajectories(t *testing.T) {
	texts := map[string]bool{}
	url, asked := policyServer(t, texts)
	dir := t.TempDir()
	write := func(text string) string {
		path := filepath.Join(dir, "served.yaml")
		toy.Put(t, path, strings.ReplaceAll(text, "URL", url))
		return path
	}
	r := toy.Load(t, write(servedSpec))
	out := filepath.Join(dir, "out")
	a := open(t, r, steps.Options{Out: filepath.Join(dir, "queries")}).split.arenas[0]
	if err := a.loadQueries(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, q := range a.Queries {
		texts[q.Problem.Text] = true
	}
	set := carriedOut(t, r, out)
	e := open(t, r, steps.Options{Out: out, Look: true}).split
	whole := asked.Load()
	if want := int64(2 * 2 * 2 * len(a.Queries)); whole != want { // rows, seeds, turns
		t.Errorf("the policy was asked %d times, want %d", whole, want)
	}
	for i, row := range []string{"routerr1", "xrouter"} {
		var right, usd, queries, called, played float64
		for _, f := range e.fits[2+i] {
			entry, err := e.Get(t.Context(), f.Step)
			if err != nil {
				t.Fatal(err)
			}
			file, err := entry.Open("trajectories.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			trajectories := jsontest.Lines[multiround.Trajectory](t, file)
			file.Close()
			for k, x := range trajectories {
				if len(x.Calls) != 1 || x.Turns != 2 || len(x.Invalid) > 0 || x.Problem != a.Queries[k].Problem.ID {
					t.Fatalf("%s: %+v", row, x)
				}
				w := 1 / float64(a.benches[a.Strata[a.Question[k]]].runs)
				right += w * x.Correct
				usd += w * e.pool.Experts[1].Price.USD(cost.Usage{Out: x.Calls[0].Out}, false)
				called += x.Correct
				queries, played = queries+w, played+1
			}
		}
		var m metrics.Measurement
		for _, x := range set.Where(metrics.Keys("arena", metrics.PaperArena, "method", row, "benchmark", metrics.Average)...) {
			if _, ok := x.Value(units.CallRate); ok { // the others are single seeds
				m = x
			}
		}
		for unit, want := range map[string]float64{
			// Averages are of questions, what the row reports of trajectories.
			metrics.Accuracy: 100 * right / queries, metrics.USDPerQuery: usd / queries, units.CallRate: 100, units.Calls: 1, units.RouterTokens: 214,
			"asked-qwen3-30b-%": 100, "asked-qwen3-4b-%": 0, "accuracy-given-call-%": 100 * called / played, "invalid-turns-%": 0,
			units.OwnAnswers: map[string]float64{"routerr1": 100}[row],
		} {
			if v, ok := m.Value(unit); !ok || math.Abs(v.Number-want) > 1e-3*math.Max(want, 1) && math.Abs(v.Number-want) > 1e-7 {
				t.Errorf("%s: %s is %v, want %v", row, unit, v.Number, want)
			}
		}
		if right == 0 || right == queries {
			t.Errorf("%s: %v of %v right: too few to test anything", row, right, queries)
		}
	}

	again := filepath.Join(dir, "out", "stages", "fit")
	if err := os.RemoveAll(again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(set, carriedOut(t, r, out)); diff != "" || asked.Load() != whole {
		t.Errorf("after its fits were lost, a run asked %d times more: %s", asked.Load()-whole, diff)
	}
	left := t.TempDir()
	p := a.Queries[0].Problem
	routed, err := Route(t.Context(), r, steps.Options{Out: out}, By{Row: "xrouter", Dir: left}, []routing.Query{{Problem: p}, {Problem: p, Run: 1}, {Problem: p, Run: 2}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(left, "trajectories.jsonl"))
	if err != nil || strings.Count(string(text), "\n") != 3 {
		t.Errorf("trajectories for a trainer: %v\n%s", err, text)
	}
	played := jsontest.Lines[multiround.Trajectory](t, bytes.NewReader(text))
	for k, x := range routed {
		if x.Run != k || x.Expert != "qwen3-30b" || x.Answer != played[k].Answer || x.Answer == "" || x.USD != e.pool.Experts[1].Price.USD(cost.Usage{Out: played[k].Calls[0].Out}, false) {
			t.Errorf("routed %+v, played %+v", x, played[k])
		}
	}
	if n := asked.Load() - whole; n != 2 { // the first two runs are those of the table
		t.Errorf("a third run was asked %d times", n)
	}
	other := toy.Load(t, write(strings.ReplaceAll(servedSpec, "model: router}", "model: router, revision: step-40}")))
	if err := failing(t, other, steps.Options{Out: out, Offline: true}); !errors.Is(err, steps.ErrIncomplete) || !strings.Contains(err.Error(), "--offline") {
		t.Errorf("offline, another revision: %v", err)
	}
	unserved := toy.Load(t, write(strings.ReplaceAll(servedSpec, "model: router}", "model: another}")))
	empty := filepath.Join(dir, "empty")
	if err := failing(t, unserved, steps.Options{Out: empty}); err == nil || !strings.Contains(err.Error(), `policy of xrouter: unknown expert: `) || !strings.Contains(err.Error(), "it serves: router") {
		t.Errorf("a policy that is not served: %v", err)
	}
	if _, err := os.Stat(filepath.Join(empty, "stages", "profile")); err == nil {
		t.Error("experts were asked before the policy was found to be missing")
	}
	matched := toy.Load(t, write(servedSpec+"\n"))
	matched.Experiment.Methods[0].Name, matched.Experiment.Methods[0].Match = "mixture", "xrouter"
	matched.Experiment.Methods[0].Params.Content = nil
	if err := failing(t, matched, steps.Options{Out: out}); !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), "asks a language model") {
		t.Errorf("matched to a row that asks: %v", err)
	}
}

// A policy whose server has no room for what it may write, or takes no tools, is found before anybody is asked; two rows of one model are looked at apart.
func TestPoliciesAreLookedAtBeforeAnybodyIsAsked(t *testing.T) {
	for _, c := range []struct {
		room int
		want []string
	}{
		{1000, []string{"policy of routerr1: ", "room for 1000 tokens in all, so every request for max_tokens 1024", "policy of xrouter: ", "for max_tokens 8192"}},
		{9000, []string{"policy of xrouter: ", "takes no tools, with which it is to be asked (it says: no --tool-call-parser)"}},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/v1/models":
				fmt.Fprintf(w, `{"data":[{"id":"router","max_model_len":%d}]}`, c.room)
			case "/version":
				io.WriteString(w, `{"version":"0.32.0"}`)
			case "/v1/chat/completions":
				var q struct {
					Tools []any
					Most  int `json:"max_tokens"`
				}
				if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Tools == nil || q.Most <= c.room {
					t.Errorf("asked with %d tools for %d tokens: %v", len(q.Tools), q.Most, err)
				}
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"error":{"message":"no --tool-call-parser"}}`)
			}
		}))
		dir := t.TempDir()
		path := filepath.Join(dir, "served.yaml")
		toy.Put(t, path, strings.ReplaceAll(servedSpec, "URL", s.URL+"/v1"))
		err := failing(t, toy.Load(t, path), steps.Options{Out: filepath.Join(dir, "out")})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("room %d: error %v does not say %q", c.room, err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), "fit ") {
			t.Errorf("room %d: only a fit noticed: %v", c.room, err)
		}
		s.Close()
	}
}
