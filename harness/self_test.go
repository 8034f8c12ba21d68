package harness

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

// What a row that answers itself needs is beside what the others need: their steps keep their keys.
func TestARowThatAnswersItselfMovesNoOtherStep(t *testing.T) {
	keysOf := func(change func(*spec.Resolved)) (keys []string) {
		r := tiny(t)
		change(r)
		steps, err := Plan(t.Context(), r, Options{Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.Name != "measure" {
				keys = append(keys, s.Name+" "+s.Key)
			}
		}
		return keys
	}
	with := keysOf(func(*spec.Resolved) {})
	without := keysOf(func(r *spec.Resolved) {
		x := &r.Experiment
		x.Methods = slices.DeleteFunc(slices.Clone(x.Methods), func(m spec.Method) bool { return m.Name == "self" })
	})
	for _, k := range without {
		if !slices.Contains(with, k) {
			t.Errorf("%s moved", k)
		}
	}
	if want := 4 + 1; len(with) != len(without)+want { // two benchmarks in two arenas, and the fit
		t.Errorf("%d steps with the row, %d without it, want %d more", len(with), len(without), want)
	}
}

func TestTheRouterAloneScoresWhatTheProbeDoesAndPaysNothing(t *testing.T) {
	r := tiny(t)
	e, err := newEngine(t.Context(), r, Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	set, err := e.measurements(t.Context(), e.measured)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range e.arenas {
		var sum, tokens, whole float64
		for i, n := range questionsOfAPass(&a.Arena, e.spec.Benchmarks) {
			var right, out, queries float64
			for k, o := range a.Self {
				if a.Strata[a.Question[k]] == i {
					right, out, queries = right+o.Correct, out+o.Out, queries+1
				}
			}
			sum, tokens, whole = sum+n*right/queries, tokens+n*out/queries, whole+n
		}
		m, ok, err := set.Find(metrics.Keys("arena", a.Name, "method", "self", "benchmark", metrics.Average)...)
		if err != nil || !ok {
			t.Fatal(err)
		}
		for unit, want := range map[string]float64{
			metrics.Accuracy: 100 * sum / whole, units.RouterTokens: tokens / whole,
			metrics.USDPerQuery: 0, units.Tokens: 0, units.CallRate: 0, units.Calls: 0, units.OwnAnswers: 100, units.HullGain: 0,
		} {
			v, ok := m.Value(unit)
			tolerance := 0.06 // of rounding
			if slices.Contains([]string{metrics.USDPerQuery, units.Tokens, units.CallRate, units.Calls}, unit) {
				tolerance = 0
			}
			if !ok || math.Abs(v.Number-want) > tolerance {
				t.Errorf("%s: %s is %v, want %v", a.Name, unit, v.Number, want)
			}
		}
		if sum == 0 || sum == whole {
			t.Errorf("%s: the probe gets %v of %v right: too few questions to test anything", a.Name, sum, whole)
		}
	}
	share, ok, err := set.Find(metrics.Keys("method", "self", "stratum", "hard", "expert", routing.SelfID)...)
	if err != nil || !ok || share.Values[0].Number != 100 {
		t.Errorf("own share on hard problems: %v %v", share, err)
	}
	if n := len(set.Where(metrics.Keys("method", "sft", "expert", routing.SelfID)...)); n > 0 {
		t.Errorf("%d shares of a router that cannot answer itself", n)
	}
}

func TestDecisionsReadAsTheyWereWritten(t *testing.T) {
	queries := []routing.Query{{Problem: routing.Problem{ID: "a"}}, {Problem: routing.Problem{ID: "a"}, Run: 1}, {Problem: routing.Problem{ID: "b"}}}
	at := func(i int, d routing.Decision) routing.Decision {
		d.Problem, d.Run = queries[i].Problem.ID, queries[i].Run
		return d
	}
	for _, c := range []struct {
		name      string
		decisions []routing.Decision
		fields    int
	}{
		{"single-round routers", []routing.Decision{
			at(0, routing.Decision{Prob: []float64{0.25, 0.75}, Expert: 1, Usage: cost.Usage{In: 3, Out: 4}}),
			at(1, routing.Decision{Prob: []float64{0.5, 0.5}, Expert: routing.Expected}),
			at(2, routing.Decision{Prob: []float64{1, 0}}),
		}, 7},
		{"routers that call and answer", []routing.Decision{
			at(0, routing.Decision{Prob: []float64{0.25, 0.25}, Expert: 1, Calls: []routing.Call{{Expert: 0}, {Expert: 1}, {Expert: 0}}}),
			at(1, routing.Decision{Prob: []float64{0, 0}, Expert: routing.Self, Calls: []routing.Call{}, Spoiled: 0}),
			at(2, routing.Decision{Prob: []float64{0.5, 0}, Expert: routing.Self, Calls: []routing.Call{{Expert: 1}}, Spoiled: 0.125}),
		}, 9},
		{"a list of calls is not no list", []routing.Decision{
			at(0, routing.Decision{Prob: []float64{1, 0}}),
			at(1, routing.Decision{Prob: []float64{1, 0}, Calls: []routing.Call{{Expert: 0}}}),
			at(2, routing.Decision{Prob: []float64{0, 0}, Expert: routing.Self}),
		}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := store.Open(t.TempDir(), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			entry := makeEntry(t, s, func(d *store.Draft) error { return writeDecisions(d, "x", c.decisions) })
			got, err := readDecisions(entry, "x", queries, 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.decisions, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
				t.Error(diff)
			}
			text, err := entry.ReadFile(decisionsFile("x"))
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			if n := strings.Count(first, ",") + 1; n != c.fields {
				t.Errorf("%d fields in %q, want %d", n, first, c.fields)
			}
		})
	}
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entry := makeEntry(t, s, func(d *store.Draft) error {
		return d.WriteFile(decisionsFile("x"), []byte("a,0,1,0,0,1.0,0.0,0 2,0.0\n"))
	})
	if _, err := readDecisions(entry, "x", queries[:1], 2); err == nil || !strings.Contains(err.Error(), `call of "2"`) {
		t.Errorf("a call of nobody: %v", err)
	}
}

// makeEntry makes an entry.
func makeEntry(t *testing.T, s *store.Store, build func(*store.Draft) error) store.Entry {
	t.Helper()
	recipe, err := store.NewRecipe("test", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := s.Make(t.Context(), recipe, func(_ context.Context, d *store.Draft) error { return build(d) })
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// A policy that has hardly been trained asks as often as it can: what it asks is stored, paid, counted and shown.
func TestRowsThatAskSeveralExpertsGoThroughTheEngine(t *testing.T) {
	r, out := tiny(t), t.TempDir()
	var params yaml.Node
	if err := yaml.Unmarshal([]byte("{assimilation: 0.5, select: false, steps: 1, cold_start: 0.999, max_turns: 2}"), &params); err != nil {
		t.Fatal(err)
	}
	x := &r.Experiment
	x.Methods = append(slices.Clone(x.Methods), spec.Method{Name: "xrouter", Params: *params.Content[0]})
	x.Evaluate.Seeds = []uint64{1}
	result := runIn(t, r, out)
	for _, arena := range []string{metrics.PaperArena, metrics.LargeArena} {
		line := func(method string) func(unit string) float64 {
			m, ok, err := result.Measurements.Find(metrics.Keys("arena", arena, "method", method, "benchmark", metrics.Average, "seed", "")...)
			if err != nil || !ok {
				t.Fatalf("%s: %v", method, err)
			}
			return func(unit string) float64 {
				v, ok := m.Value(unit)
				if !ok {
					t.Errorf("%s of %s has no %s", method, arena, unit)
				}
				return v.Number
			}
		}
		got, alone := line("xrouter"), line("self")
		if got(units.CallRate) != 100 || got(units.Calls) != 2 || got(metrics.USDPerQuery) <= 0 {
			t.Errorf("%s: asks on %v%% of the queries, %v calls, %v dollars", arena, got(units.CallRate), got(units.Calls), got(metrics.USDPerQuery))
		}
		// Neither of two calls is used on a quarter of the queries.
		if own := got(units.OwnAnswers); own < 5 || own > 50 {
			t.Errorf("%s: the router's own answer stands on %v%% of the queries, want about 25%%", arena, own)
		}
		if got(units.RouterTokens) >= alone(units.RouterTokens) {
			t.Errorf("%s: answers of its own take %v tokens, all of them %v", arena, got(units.RouterTokens), alone(units.RouterTokens))
		}
	}
	if text := render(t, result); !strings.Contains(text, "how often routers that may answer themselves ask") || !strings.Contains(text, "Multi-round") {
		t.Errorf("no table of calls in\n%s", text)
	}
	routed, err := Route(t.Context(), r, Options{Out: out}, "xrouter", []routing.Query{{Problem: routing.Problem{ID: "new", Text: "What is 1 + 1?"}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(routed[0].Calls); n != 2 || routed[0].USD <= 0 {
		t.Errorf("routed: %+v", routed[0])
	}
}
