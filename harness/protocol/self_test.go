package protocol

import (
	"math"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/units"
)

// What a row that answers itself needs is beside what the others need: their steps keep their keys.
func TestARowThatAnswersItselfMovesNoOtherStep(t *testing.T) {
	keysOf := func(change func(*spec.Resolved)) (keys []string) {
		r := toy.Tiny(t)
		change(r)
		for _, s := range open(t, r, steps.Options{Out: t.TempDir()}).Steps {
			if s.Name != "measure" {
				keys = append(keys, s.Name+" "+s.Recipe.Key().String())
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
	r := toy.Tiny(t)
	run := open(t, r, steps.Options{Out: t.TempDir()})
	set, err := run.Measurements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	arenas, err := book.Open(run.Entries(t.Context()), run.Measured[0].Recipe)
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
