package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

func TestRoutersThatNobodyServesAreRefusedBeforeAnythingIsAsked(t *testing.T) {
	for want, change := range map[string]func(*spec.Resolved){
		`row r: cannot be done: model "router-9" has no url and is no simulated router of pool sim; it has: [router-0.4 router-0.6 router-0.8 router-1.0]`: func(r *spec.Resolved) {
			r.Experiment.Methods = []spec.Method{toy.Row(t, "llmrouter", "r", "{model: router-9}")}
		},
		`model "router-0.6" has no url, and pool sim is of kind http, which has no simulated routers; give the row a url`: func(r *spec.Resolved) {
			p := r.Pools[0]
			p.Kind, p.Simulation = "http", nil
			r.Pools = []spec.Pool{p}
			for name, b := range r.Benchmarks {
				b.Generated, b.File = nil, &spec.File{Path: "x"}
				r.Benchmarks[name] = b
			}
			r.Experiment.Large = 0
			r.Experiment.Methods = []spec.Method{toy.Row(t, "llmrouter", "r", "{model: router-0.6}")}
		},
		`row mixture: match names r, which asks a language model for every decision`: func(r *spec.Resolved) {
			r.Experiment.Methods = []spec.Method{toy.Row(t, "llmrouter", "r", "{model: router-0.6}"), {Name: "mixture", Match: "r"}}
		},
	} {
		r := toy.Tiny(t)
		change(r)
		r.Experiment.Outputs = nil
		_, err := Run(t.Context(), r, Options{Out: t.TempDir()})
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// The simulated routers end to end, and the same rows again through a server with an address.
func TestLLMRoutersRunOnSimulatedAndOnServedModels(t *testing.T) {
	r := toy.Tiny(t)
	server := httptest.NewServer(http.HandlerFunc(strongestOrNonsense))
	defer server.Close()
	r.Experiment.Methods = append(r.Experiment.Methods,
		toy.Row(t, "llmrouter", "sim", "{model: router-1.0, billed_as: Qwen3-235B-A22B-Instruct-2507}"),
		toy.Row(t, "llmrouter", "served", fmt.Sprintf("{model: oracle-9000, url: %q, shuffle_order: true}", server.URL+"/v1")))
	out := t.TempDir()
	result := runIn(t, r, out)
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		at := func(method string, unit string) float64 {
			t.Helper()
			m, ok, err := result.Measurements.Find(metrics.Keys("arena", arena, "method", method, "benchmark", metrics.Average, "seed", "")...)
			v, has := m.Value(unit)
			if err != nil || !ok || !has {
				t.Fatalf("%s of %s in %s: %v, %v", unit, method, arena, ok, err)
			}
			return v.Number
		}
		if got := at("served", methods.ParseFail); got <= 10 || got >= 90 {
			t.Errorf("%s: %v%% of the decisions fell back, want about half", arena, got)
		}
		if a, b := at("served", metrics.Accuracy), at("qwen3-235b", metrics.Accuracy); a != b {
			t.Errorf("%s: accuracy %v of a router that names the strongest, which has %v", arena, a, b)
		}
		if got := at("sim", methods.RouterUSD); got < 1e-5 || got > 1e-4 {
			t.Errorf("%s: a router costs %v dollars per query", arena, got)
		}
		if got := at("sim", units.RouterTokens); got < 200 || got > 1000 {
			t.Errorf("%s: a router reads and writes %v tokens per query", arena, got)
		}
		// Its curve is what it says between the two ends.
		middle, ok, err := result.Measurements.Find(metrics.Keys("arena", arena, "method", "sim", "knob", "001")...)
		if v, _ := middle.Value(metrics.Accuracy); err != nil || !ok || math.Abs(v.Number-at("sim", metrics.Accuracy)) > 1.01e-3 {
			t.Errorf("%s: the middle of the curve is at %v, the row at %v (%v)", arena, v.Number, at("sim", metrics.Accuracy), err)
		}
		curve := result.Measurements.Where(metrics.Keys("arena", arena, "method", "sim", "step", "")...)
		if !slices.ContainsFunc(curve, func(m metrics.Measurement) bool { _, ok := m.Value(units.MeanGain); return ok && m.Name == "Curve" }) {
			t.Errorf("%s: no mean gain of a router that is asked", arena)
		}
	}
	text := render(t, result)
	for _, want := range []string{"LLM-as-a-router", "the routers' own tokens", `served +\d+\.\d`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	// Everything is stored: offline, with the servers gone, the tables are the same.
	server.Close()
	again, err := Run(t.Context(), r, Options{Out: out, Offline: true})
	if err != nil || render(t, again) != text {
		t.Errorf("again: %v", err)
	}
	// Answers outlive decisions: another row that asks the same gets them from the rollouts.
	r.Experiment.Methods = append(r.Experiment.Methods, toy.Row(t, "llmrouter", "cheap", fmt.Sprintf("{model: oracle-9000, url: %q, shuffle_order: true, on_parse_fail: cheapest}", server.URL+"/v1")))
	if _, err := Run(t.Context(), r, Options{Out: out, Offline: true}); err != nil {
		t.Error(err)
	}

	// What is assumed of a router is part of the recipe of its decisions.
	pool := r.Pools[0]
	law := *pool.Simulation
	law.Routers = maps.Clone(law.Routers)
	law.Routers["router-1.0"] = spec.SimRouter{Skill: 0.9, Tau: 0.8}
	pool.Simulation = &law
	r.Pools = []spec.Pool{pool}
	steps, _, err := Plan(t.Context(), r, Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	var todo []string
	for _, s := range steps {
		if !s.Stored {
			todo = append(todo, s.Name)
		}
	}
	if want := []string{"fit sim seed=1", "measure"}; !slices.Equal(todo, want) {
		t.Errorf("another skill leaves to do %v, want %v", todo, want)
	}
}

// strongestOrNonsense names the dearest expert for half of the texts and no one for the other half. It is the same for
// a text and its reminder.
func strongestOrNonsense(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"data":[{"id":"oracle-9000"}]}`)
		return
	}
	var q struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, rest, _ := strings.Cut(q.Messages[0].Content, "<problem>")
	text, _, _ := strings.Cut(rest, "</problem>")
	answer := `{\"model\": \"qwen3-235b\"}`
	if seed.Hash(text)%2 == 0 {
		answer = "All of them."
	}
	fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":300,"completion_tokens":9}}`, answer)
}
