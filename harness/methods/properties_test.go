package methods

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Properties that every router has, the oracle apart, which is none. What depends on the kind is in its own tests.

// everyRouter fits every kind but some on a training set, with parameters that suit any pool.
func everyRouter(t *testing.T, set routing.TrainSet, but []string, check func(t *testing.T, kind string, r routing.Router)) {
	for _, kind := range Kinds() {
		if kind == "oracle" || slices.Contains(but, kind) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			copied := set
			copied.SFT, copied.RL = slices.Clone(set.SFT), slices.Clone(set.RL)
			check(t, kind, fit(t, build(t, kind, paramsOf(kind)), copied, 7))
		})
	}
}

// A fit is a function of the set of its problems: their order says nothing, at any setting of a knob. Pass rates are
// noise, so that whatever differs in the fit shows in decisions.
func TestTheOrderOfTrainingProblemsDoesNotMatter(t *testing.T) {
	set, qs := routingtest.Planted(60), routingtest.Fresh(40)
	for _, stage := range [][]routing.Example{set.SFT, set.RL} {
		for i, e := range stage {
			r := seed.Derive("noise", e.Problem.ID).Rand()
			stage[i].Kappa = []float64{float64(r.IntN(6)) / 5, float64(r.IntN(6)) / 5, float64(r.IntN(6)) / 5}
		}
	}
	back := set
	back.SFT, back.RL = slices.Clone(set.SFT), slices.Clone(set.RL)
	slices.Reverse(back.SFT)
	slices.Reverse(back.RL)
	sweep := func(t *testing.T, r routing.Router) (all []routing.Decision) {
		all = routingtest.Route(t, r, qs)
		if f, ok := r.(routing.Frontier); ok {
			for _, knob := range f.Knobs() {
				d, err := routing.RouteAt(t.Context(), f, qs, knob)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, d...)
			}
		}
		return all
	}
	want := map[string][]routing.Decision{}
	everyRouter(t, set, nil, func(t *testing.T, kind string, r routing.Router) { want[kind] = sweep(t, r) })
	everyRouter(t, back, nil, func(t *testing.T, kind string, r routing.Router) {
		sameDecisions(t, "fitted in reverse", sweep(t, r), want[kind])
	})
}

// With one expert there is one answer. Networks refuse to choose from one, and say so.
func TestAPoolOfOneExpert(t *testing.T) {
	set := routingtest.Planted(40)
	set.Experts, set.C = set.Experts[2:], set.C[2:]
	for _, stage := range [][]routing.Example{set.SFT, set.RL} {
		for i, e := range stage {
			stage[i].Kappa, stage[i].Samples, stage[i].Tokens, stage[i].USD = e.Kappa[2:], e.Samples[2:], e.Tokens[2:], e.USD[2:]
		}
	}
	qs := routingtest.Fresh(10)
	networks := []string{"sft", "entrorouter", "entroplus"}
	everyRouter(t, set, networks, func(t *testing.T, kind string, r routing.Router) {
		for i, d := range routingtest.Route(t, r, qs) {
			valid(t, d, qs[i], 1, AnswersItself(kind))
			if d.Expert > 0 {
				t.Errorf("query %d goes to expert %d of one", i, d.Expert)
			}
		}
	})
	for _, kind := range networks {
		if _, err := build(t, kind, "").Fit(t.Context(), set, routingtest.Work(1)); err == nil || !strings.Contains(err.Error(), "a router needs at least 2") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Experts that are free, equally good, and equally dear leave nothing to compare.
func TestPoolsOfEquals(t *testing.T) {
	for name, usd := range map[string]float64{"free": 0, "equally dear": 0.01} {
		t.Run(name, func(t *testing.T) {
			set := routingtest.Planted(40)
			for m := range set.Experts {
				set.Experts[m].Price, set.C[m] = cost.Price{Out: 100 * usd}, 100*usd
			}
			for _, stage := range [][]routing.Example{set.SFT, set.RL} {
				for i := range stage {
					stage[i].Kappa, stage[i].USD, stage[i].Tokens = []float64{0.6, 0.6, 0.6}, []float64{usd, usd, usd}, []float64{100, 100, 100}
				}
			}
			qs := routingtest.Fresh(10)
			everyRouter(t, set, nil, func(t *testing.T, kind string, r routing.Router) {
				for i, d := range routingtest.Route(t, r, qs) {
					valid(t, d, qs[i], 3, AnswersItself(kind))
				}
			})
		})
	}
}

// What was measured is a number, or nothing is fitted to it: the error says which problem and expert.
func TestNothingIsFittedToWhatIsNoNumber(t *testing.T) {
	for name, spoil := range map[string]func(e *routing.Example){
		"a pass rate of NaN":     func(e *routing.Example) { e.Kappa = []float64{1, math.NaN(), 1} },
		"a pass rate of 1.2":     func(e *routing.Example) { e.Kappa = []float64{1, 1.2, 1} },
		"a cost of NaN dollars":  func(e *routing.Example) { e.USD = []float64{1, math.NaN(), 2} },
		"a cost of -1 dollars":   func(e *routing.Example) { e.USD = []float64{1, -1, 2} },
		"a cost of +Inf dollars": func(e *routing.Example) { e.USD = []float64{1, math.Inf(1), 2} },
	} {
		set := routingtest.Planted(30)
		spoil(&set.SFT[7])
		for _, kind := range []string{"mixture", "benchmark", "logistic", "knn", "difficulty", "bag", "cluster", "forc", "routellm", "swranking", "mean"} {
			want := fmt.Sprintf("method %s: problem p7, expert medium: %s", kind, name)
			if _, err := build(t, kind, paramsOf(kind)).Fit(t.Context(), set, routingtest.Work(1)); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

// Whoever types a problem may type anything.
func TestTextsUnlikeAnyInTraining(t *testing.T) {
	var qs []routing.Query
	for i, text := range []string{
		"", " ", "?", "\x00\xff\xfe", "{problem}", "<problem>", "数学の問題を解け。", strings.Repeat("tensor ", 20_000), "$\\frac{", fmt.Sprint(math.MaxInt64), "zyzzyva qoph",
	} {
		qs = append(qs, routing.Query{Problem: routing.Problem{ID: fmt.Sprint("odd", i), Benchmark: "unheard-of", Text: text}})
	}
	everyRouter(t, routingtest.Planted(40), nil, func(t *testing.T, kind string, r routing.Router) {
		for i, d := range routingtest.Route(t, r, qs) {
			valid(t, d, qs[i], 3, AnswersItself(kind))
		}
		f, ok := r.(routing.Frontier)
		if !ok {
			return
		}
		for _, knob := range f.Knobs() {
			ds, err := routing.RouteAt(t.Context(), f, qs, knob)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range ds {
				valid(t, d, qs[i], 3, AnswersItself(kind))
			}
		}
	})
}

// What is asked beside a question decides nothing, of routers that say so, whatever their knob is set to.
func TestRoutersThatDecideIndependentlyDoSo(t *testing.T) {
	set, qs := routingtest.Planted(60), routingtest.Fresh(40)
	independent := 0
	everyRouter(t, set, nil, func(t *testing.T, kind string, r routing.Router) {
		all := []routing.Router{r}
		if f, ok := r.(routing.Frontier); ok {
			matched, err := routing.Match(t.Context(), f, set.RL, set.RL[0].USD[1])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, matched)
		}
		for _, r := range all {
			if !routing.Independent(r) {
				continue
			}
			independent++
			var got []routing.Decision
			for some := range slices.Chunk(qs, 7) {
				got = append(got, routingtest.Route(t, r, some)...)
			}
			sameDecisions(t, "a few at a time", got, routingtest.Route(t, r, qs))
		}
	})
	if independent < 20 {
		t.Errorf("%d routers decide independently", independent)
	}
}
