package harness

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// A policy that has hardly been trained asks as often as it can: what it asks is stored, paid, counted and shown.
func TestRowsThatAskSeveralExpertsGoThroughTheEngine(t *testing.T) {
	r, out := toy.Tiny(t), t.TempDir()
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
	text := render(t, result)
	if why := `Mean gain is not defined for xrouter: what a call costs`; !strings.Contains(strings.Join(strings.Fields(text), " "), why) {
		t.Errorf("no %q in\n%s", why, text)
	}
	if !strings.Contains(text, "how often routers that may answer themselves ask") || !strings.Contains(text, "Multi-round") {
		t.Errorf("no table of calls in\n%s", text)
	}
	routed, err := protocol.Route(t.Context(), r, Options{Out: out}, protocol.By{Row: "xrouter"}, []routing.Query{{Problem: routing.Problem{ID: "new", Text: "What is 1 + 1?"}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(routed[0].Calls); n != 2 || routed[0].USD <= 0 {
		t.Errorf("routed: %+v", routed[0])
	}
}
