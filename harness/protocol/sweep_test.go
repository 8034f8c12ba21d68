package protocol

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store/storetest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// listed is a router whose choices are a list, [settings][queries]; its knob is the setting.
type listed [][]int

func (r listed) Knobs() (knobs []float64) {
	for j := range r {
		knobs = append(knobs, float64(j))
	}
	return knobs
}

func (r listed) Route(ctx context.Context, qs []routing.Query) ([]routing.Decision, error) {
	return routing.RouteAt(ctx, r, qs, 0)
}

func (r listed) Weigh(context.Context, []routing.Query) (routing.Choice, error) {
	return routing.Choice{Experts: 4, At: func(i int, knob float64) int { return r[int(knob)][i] }}, nil
}

func sweptQueries(n int) []routing.Query {
	qs := make([]routing.Query, n)
	for i := range qs {
		qs[i] = routing.Query{Problem: routing.Problem{ID: fmt.Sprint("p", i/2)}, Run: i % 2}
	}
	return qs
}

func TestASweepNeedsASetting(t *testing.T) {
	if _, err := sweepOf(t.Context(), listed{}, sweptQueries(3)); err == nil || !strings.Contains(err.Error(), "no settings") {
		t.Error(err)
	}
}

func TestWhatIsReplayedIsWhatWasSwept(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const experts = 4
		qs := sweptQueries(rapid.IntRange(1, 6).Draw(rt, "queries"))
		choices := make(listed, rapid.IntRange(1, 5).Draw(rt, "settings"))
		for j := range choices {
			choices[j] = rapid.SliceOfN(rapid.IntRange(0, experts-1), len(qs), len(qs)).Draw(rt, "choices")
		}
		entry := storetest.Entry(t, func(d *store.Draft) error { return writeSweep(t.Context(), d, "x", choices, qs) })
		s, err := book.ReadSweep(entry, "x", qs, len(choices), experts)
		if err != nil {
			rt.Fatal(err)
		}
		r := newReplayed(experts, s)
		for j, knob := range r.Knobs() {
			d, err := routing.RouteAt(t.Context(), r, qs, knob)
			if err != nil {
				rt.Fatal(err)
			}
			var got []int
			for i, x := range d {
				if x.Problem != qs[i].Problem.ID || x.Run != qs[i].Run || x.Prob[x.Expert] != 1 {
					rt.Fatalf("decision %+v on %+v", x, qs[i])
				}
				got = append(got, x.Expert)
			}
			if diff := cmp.Diff(choices[j], got); diff != "" {
				rt.Fatalf("setting %d: %s", j, diff)
			}
		}
		if _, err := r.Route(t.Context(), append(slices.Clone(qs), qs[0])); err == nil {
			rt.Error("queries that were not swept were routed")
		}
	})
}

// Where a match reads its decisions off a sweep, `route` fits the router again and sets its knob: both are one router.
func TestAMatchDecidesAsTheRouterThatRouteFitsAgain(t *testing.T) {
	r, out := toy.Tiny(t), t.TempDir()
	carriedOut(t, r, out)
	e := open(t, r, steps.Options{Out: out}).split
	a := e.arenas[0]
	if err := a.loadQueries(t.Context()); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, m := range r.Experiment.Methods {
		if m.Match == "" {
			continue
		}
		f := e.fits[i][1]
		want, err := f.decisions(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		router, done, err := f.router(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := router.Route(t.Context(), a.Queries)
		done()
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if got[k].Expert != want[k].Expert {
				t.Fatalf("row %s, query %d: %+v fitted again, %+v off the sweep", m.RowID(), k, got[k], want[k])
			}
		}
		checked++
	}
	swept := 0
	for _, m := range r.Experiment.Methods {
		switch {
		case methods.Knob(m.Name) && methods.Seeded(m.Name):
			swept += len(r.Experiment.Evaluate.Seeds)
		case methods.Knob(m.Name):
			swept++
		}
	}
	fits, err := filepath.Glob(filepath.Join(out, "stages", "fit", "*", "sweep", "train.csv"))
	if err != nil || checked < 3 || len(fits) != swept {
		t.Errorf("%d matched rows, sweeps of %d fits, not %d (%v): rows that depend on no seed have one each", checked, len(fits), swept, err)
	}
	if matches, _ := os.ReadDir(filepath.Join(out, "stages", "match")); len(matches) != checked*len(r.Experiment.Evaluate.Seeds) {
		t.Errorf("%d matches", len(matches))
	}
}
