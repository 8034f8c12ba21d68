package methods

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

// learning are the rows whose fit leaves what it learned.
func learning() map[string][]string {
	return map[string][]string{
		"mixture": {""}, "benchmark": {""}, "logistic": {"", "cost: mean"}, "knn": {"", "most: 20"}, "difficulty": {""}, "bag": {""}, "cluster": {"", "alpha: 0.3"},
		"forc":      {"", "strategy: performance", "strategy: cost", "strategy: greedy", "strategy: cost\ncost: per_bucket", "cost: predicted"},
		"swranking": {"", "most: 20"},
		"mean":      {twoRows, "of: [{name: knn}, {name: difficulty}]"},
		"routellm":  {"", "extension: ladder", "extension: argmax"},
	}
}

func TestALoadedRouterIsTheOneThatWasFitted(t *testing.T) {
	set, qs := routingtest.Planted(100), routingtest.Fresh(30)
	for kind, all := range learning() {
		for _, params := range all {
			m := build(t, kind, params)
			fitted, loaded := routingtest.Work(3), routingtest.Work(3)
			fitted.Dir, loaded.Dir = t.TempDir(), t.TempDir()
			before, err := m.Fit(t.Context(), set, fitted)
			if err != nil {
				t.Fatal(err)
			}
			after, err := m.(Loader).Load(t.Context(), set.Experts, fitted.Dir, loaded)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(routingtest.Route(t, before, qs), routingtest.Route(t, after, qs)); diff != "" {
				t.Errorf("%s %s: %s", kind, params, diff)
			}
			a, sweeps := before.(routing.Frontier)
			b, too := after.(routing.Frontier)
			if sweeps != too {
				t.Errorf("%s %s: a fitted router with a knob: %v, a loaded one: %v", kind, params, sweeps, too)
			}
			if sweeps && too {
				for _, knob := range []float64{a.Knobs()[0], a.Knobs()[len(a.Knobs())/2]} {
					x, err := routing.RouteAt(t.Context(), a, qs, knob)
					if err != nil {
						t.Fatal(err)
					}
					y, err := routing.RouteAt(t.Context(), b, qs, knob)
					if diff := cmp.Diff(x, y); err != nil || diff != "" || !slices.Equal(a.Knobs(), b.Knobs()) {
						t.Errorf("%s %s at %g: %v %s", kind, params, knob, err, diff)
					}
				}
			}
			if r, ok := before.(Reporter); ok {
				if diff := cmp.Diff(r.Report(), after.(Reporter).Report()); diff != "" {
					t.Errorf("%s %s: %s", kind, params, diff)
				}
			}
			want, err := os.ReadFile(filepath.Join(fitted.Dir, predict.LearnedFile))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(loaded.Dir, predict.LearnedFile)); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: a loaded router leaves another %s than its fit: %v", kind, params, predict.LearnedFile, err)
			}
		}
	}
}

func TestWhatWasLearnedOfAnotherPoolOrNotAtAllIsNotLoaded(t *testing.T) {
	set := routingtest.Planted(30)
	other := set
	other.Experts = slices.Clone(set.Experts)
	other.Experts[0].ID = "tiny"
	for kind := range learning() {
		w := routingtest.Work(1)
		w.Dir = t.TempDir()
		m := build(t, kind, paramsOf(kind))
		if _, err := m.Fit(t.Context(), set, w); err != nil {
			t.Fatal(err)
		}
		load := m.(Loader).Load
		if _, err := load(t.Context(), other.Experts, w.Dir, routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "chooses among small, medium, large, the pool is tiny, medium, large") {
			t.Errorf("%s of another pool: %v", kind, err)
		}
		if _, err := load(t.Context(), set.Experts, t.TempDir(), routingtest.Work(1)); !errors.Is(err, predict.ErrNotLearned) {
			t.Errorf("%s of a fit that left nothing: %v", kind, err)
		}
		for text, old := range map[string]bool{"{": false, `{"format": 0, "learned": {}}`: true} {
			if err := os.WriteFile(filepath.Join(w.Dir, predict.LearnedFile), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := load(t.Context(), set.Experts, w.Dir, routingtest.Work(1)); err == nil || errors.Is(err, predict.ErrNotLearned) != old {
				t.Errorf("%s of a file %s: %v", kind, text, err)
			}
		}
	}
}
