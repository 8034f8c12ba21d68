package present

import (
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestYardsticksAndAssumptionsDoNotCompete(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t)}
	for _, c := range []struct {
		row  spec.Method
		want bool
	}{
		{spec.Method{Name: "oracle"}, true},
		{toy.Row(t, "fixed", "qwen3-235b", "{expert: qwen3-235b}"), true},
		{toy.Row(t, "fixed", "the-dear-one", "{expert: strongest}"), true},
		{toy.Row(t, "fixed", "qwen3-4b", "{expert: qwen3-4b}"), false},
		{toy.Row(t, "fixed", "the-cheap-one", "{expert: cheapest}"), false},
		{spec.Method{Name: "self"}, false},
		{spec.Method{Name: "entrorouter"}, false},
		{toy.Row(t, "llmrouter", "simulated", "{model: router-0.6}"), true},
		{toy.Row(t, "llmrouter", "served", `{model: router-0.6, url: "http://localhost:8000/v1"}`), false},
		{toy.Row(t, "routerr1", "trained", "{assimilation: 0}"), true},
		{toy.Row(t, "xrouter", "trained", "{assimilation: 1}"), true},
		{toy.Row(t, "xrouter", "served", `{policy: {url: "http://localhost:8000/v1", model: m}, failures: stop}`), false},
	} {
		if got := r.row(c.row, part{pool: r.Spec.Pools[0]}); got.Reference != c.want {
			t.Errorf("%s %s: %v, want %v", c.row.Name, c.row.ID, got.Reference, c.want)
		}
	}
}

// Of two experts at one price the last by id is the strongest, as it is for the rows that always ask it.
func TestTheStrongestOfExpertsAtOnePriceIsTheOneThatIsAsked(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t)}
	pool := r.Spec.Pools[0]
	pool.Experts = nil
	for _, id := range []string{"zeta", "alpha"} {
		e := r.Spec.Pools[0].Experts[0]
		e.ID = id
		pool.Experts = append(pool.Experts, e)
	}
	slices.Reverse(pool.Experts)
	for range 2 {
		slices.Reverse(pool.Experts)
		if got := r.strongest(pool); got != "zeta" {
			t.Errorf("strongest %s", got)
		}
		if id, ok := r.asks(toy.Row(t, "fixed", "dear", "{expert: strongest}"), pool); !ok || id != "zeta" {
			t.Errorf("asks %s, %v", id, ok)
		}
	}
}

func TestAssumptionsAreNamedWithTheirValues(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t)}
	stated := func(rows ...spec.Method) string {
		r.Spec.Experiment.Methods = rows
		return said(t, "assumptions", r.words())
	}
	if got := stated(spec.Method{Name: "entrorouter"}); got != "" {
		t.Errorf("of rows that assume nothing: %s", got)
	}
	got := stated(
		toy.Row(t, "llmrouter", "low", "{model: router-0.4}"), toy.Row(t, "llmrouter", "high", "{model: router-1.0}"),
		toy.Row(t, "routerr1", "r0", "{assimilation: 0}"), toy.Row(t, "routerr1", "r15", "{assimilation: 0.15, distraction: 0.2, cold_start: 0.7}"), toy.Row(t, "xrouter", "x", "{assimilation: 0, cold_start: 0.7}"))
	for _, want := range []string{
		"whose probability reaches tau = 0.8, else", "The skill is assumed: 0.4 (low), 1 (high).",
		"a = 0 (r0; x), 0.15 (r15);", "its own pass rate, 0.05 (r0; x), 0.2 (r15);", "reinforcement learning, 0.9 (r0), 0.7 (r15; x).",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := stated(toy.Row(t, "xrouter", "x", "{assimilation: 0.5}")); !strings.Contains(got, "a = 0.5; distraction") {
		t.Errorf("one row: %s", got)
	}
}

func TestAnOwnHullIsNamedWhereThereIsOne(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}
	for kind, want := range map[string]bool{"entrorouter": false, "xrouter": true} {
		r.Spec.Experiment.Methods = []spec.Method{{Name: kind}}
		for _, table := range []string{"large notes", "metrics notes"} {
			if got := said(t, table, ofTable{words: r.words()}); strings.Contains(got, "includes the router alone at no cost") != want {
				t.Errorf("%s of %s:\n%s", table, kind, got)
			}
		}
	}
}

// Only the paper's arena has an oracle that is chosen by the answers.
func TestLuckIsNamedWhereItIs(t *testing.T) {
	r := &Run{Spec: toy.Tiny(t), Measurements: &metrics.Set{}}
	for large, want := range map[int]bool{0: true, 100: false} {
		r.Spec.Experiment.Large = large
		if got := said(t, "metrics notes", ofTable{words: r.words()}); strings.Contains(got, "luck inflates the gap") != want {
			t.Errorf("with %d problems in the larger set:\n%s", large, got)
		}
	}
}
