package harness

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
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
	set, err := e.measurements(t.Context(), e.measured...)
	if err != nil {
		t.Fatal(err)
	}
	arenas, err := book.Open(madeBy{t.Context(), e}, e.measured[0].recipe)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arenas {
		var sum, tokens, whole float64
		for i, b := range a.Benchmarks {
			n := b.Pass
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
