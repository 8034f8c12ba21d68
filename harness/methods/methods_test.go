package methods

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
)

func TestEveryKindBuildsAMethodOfItsName(t *testing.T) {
	for _, k := range list() {
		m := build(t, k.name, paramsOf(k.name))
		if m.Name() != k.name {
			t.Errorf("%s builds a method named %q", k.name, m.Name())
		}
		if Seeded(k.name) != k.seeded {
			t.Errorf("Seeded(%q) = %v", k.name, !k.seeded)
		}
	}
	if Seeded("nobody") || Knob("nobody") {
		t.Error("an unknown kind is seeded or has a knob")
	}
}

func TestUnknownNamesAreRefusedWithTheKnownOnes(t *testing.T) {
	_, err := New(setup(t, "logistics", ""))
	if err == nil || !strings.Contains(err.Error(), `"logistics"`) || !strings.Contains(err.Error(), "random") {
		t.Errorf("unknown method: %v", err)
	}
	for kind, known := range map[string]string{
		"random": "closed_form", "fixed": "expert", "self": "no key is known", "oracle": "by", "mixture": "no key is known",
		"benchmark": "no key is known", "logistic": "features", "knn": "prior", "difficulty": "features", "bag": "dropout", "cluster": "alpha", "forc": "all_wrong", "routellm": "extension", "swranking": "most", "llmrouter": "shuffle_order", "sft": "targets", "entrorouter": "anchor", "entroplus": "prior",
		"routerr1": "critic_lr", "xrouter": "cost_unit",
	} {
		_, err := New(setup(t, kind, "zzz: 1"))
		if err == nil || !strings.Contains(err.Error(), `"zzz"`) || !strings.Contains(err.Error(), known) {
			t.Errorf("%s: unknown param: %v", kind, err)
		}
	}
}

// Every router but the oracle, which is none: valid decisions in the order of the queries, the same ones for the same
// seed, whatever the order of the queries and however they are split into calls.
func TestDecisionsAreValidAndDependOnSeedAndQueryAlone(t *testing.T) {
	set := routingtest.Planted(120)
	var qs []routing.Query
	for _, q := range routingtest.Fresh(25) {
		qs = append(qs, q, routing.Query{Problem: q.Problem, Run: q.Run + 1}) // runs of a problem share its text
	}
	type row struct{ name, kind, params string }
	rows := []row{{"routerr1 behind a server", "routerr1", servedParams}, {"xrouter behind a server", "xrouter", servedParams}}
	for _, kind := range Kinds() {
		if kind != "oracle" {
			rows = append(rows, row{kind, kind, paramsOf(kind)})
		}
	}
	for _, x := range rows {
		t.Run(x.name, func(t *testing.T) {
			kind := x.kind
			m := build(t, kind, x.params)
			r := fit(t, m, set, 7)
			want := routingtest.Route(t, r, qs)
			for i, d := range want {
				valid(t, d, qs[i], len(set.Experts), AnswersItself(kind))
			}
			sameDecisions(t, "fitted again", routingtest.Route(t, fit(t, m, set, 7), qs), want)

			back := slices.Clone(qs)
			slices.Reverse(back)
			got := routingtest.Route(t, r, back)
			slices.Reverse(got)
			sameDecisions(t, "asked in reverse", got, want)

			sameDecisions(t, "asked in two calls", append(routingtest.Route(t, r, qs[:13]), routingtest.Route(t, r, qs[13:])...), want)
			if d := routingtest.Route(t, r, nil); len(d) != 0 {
				t.Errorf("%d decisions on no query", len(d))
			}
		})
	}
}

func TestKnobsSweepFromTheDearestToTheCheapestSetting(t *testing.T) {
	set := routingtest.Planted(120)
	for _, kind := range []string{"mixture", "benchmark", "logistic", "knn", "difficulty", "bag", "cluster", "forc", "routellm", "swranking", "sft", "entrorouter", "entroplus"} {
		r := fit(t, build(t, kind, ""), set, 1).(routing.Frontier)
		var costs []float64
		for _, knob := range r.Knobs() {
			costs = append(costs, spends(t, r, knob, set.RL))
		}
		if n := len(costs); n < 2 || costs[0] <= costs[n-1] || slices.Max(costs) != costs[0] || slices.Min(costs) != costs[n-1] {
			t.Errorf("%s spends %v over its sweep", kind, costs)
		}
	}
}

// At mu = 0 the curve of a policy goes through where training put it.
func TestThePolicysCurveGoesThroughItsOwnDecisions(t *testing.T) {
	set := routingtest.Planted(60)
	for _, kind := range Kinds() {
		if !Policy(kind) {
			continue
		}
		r := fit(t, build(t, kind, ""), set, 1).(routing.Frontier)
		if !slices.Contains(r.Knobs(), 0) {
			t.Fatalf("%s sweeps %v", kind, r.Knobs())
		}
		own, err := r.Route(t.Context(), queries(set.RL))
		if err != nil {
			t.Fatal(err)
		}
		at, err := routing.RouteAt(t.Context(), r, queries(set.RL), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range own {
			if d.Expert != at[i].Expert {
				t.Errorf("%s: problem %s goes to %d, on the curve to %d", kind, d.Problem, d.Expert, at[i].Expert)
			}
		}
	}
}

func TestTheGuardSweepsFromTheStrongestToTheCheapest(t *testing.T) {
	set := routingtest.Planted(120)
	r := fit(t, build(t, "knn", "guard: 2"), set, 1).(routing.Frontier)
	knobs := r.Knobs()
	last := len(set.Experts) - 1
	for _, at := range []struct {
		knob float64
		want func(expert int) bool
	}{{knobs[0], func(m int) bool { return m == last }}, {knobs[len(knobs)-1], func(m int) bool { return m == 0 }}} {
		d, err := routing.RouteAt(t.Context(), r, queries(set.RL), at.knob)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range d {
			if !at.want(x.Expert) {
				t.Fatalf("at %g standard errors expert %d is asked", at.knob, x.Expert)
			}
		}
	}
	own, err := r.Route(t.Context(), queries(set.RL))
	if err != nil {
		t.Fatal(err)
	}
	at, err := routing.RouteAt(t.Context(), r, queries(set.RL), 2)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(own, at, func(a, b routing.Decision) bool { return a.Expert == b.Expert }) {
		t.Error("the router does not stand at its guard")
	}
}

func TestTheListSaysWhichKindsHaveAKnob(t *testing.T) {
	set := routingtest.Planted(60)
	for _, kind := range Kinds() {
		if _, ok := fit(t, build(t, kind, paramsOf(kind)), set, 1).(routing.Frontier); ok != Knob(kind) {
			t.Errorf("%s has a knob: %v; the list says %v", kind, ok, Knob(kind))
		}
	}
}

func TestTheListSaysWhichKindsPredictPassRates(t *testing.T) {
	set, qs := routingtest.Planted(60), routingtest.Fresh(9)
	for _, kind := range Kinds() {
		p, ok := fit(t, build(t, kind, paramsOf(kind)), set, 1).(routing.Predictor)
		if ok != PredictsRates(kind) {
			t.Errorf("%s predicts pass rates: %v; the list says %v", kind, ok, PredictsRates(kind))
		}
		if !ok {
			continue
		}
		rates, err := p.PassRates(t.Context(), qs)
		if err != nil || len(rates) != len(qs) {
			t.Fatalf("%s: %d rates, %v", kind, len(rates), err)
		}
		for _, r := range rates {
			if len(r) != len(set.Experts) || slices.Min(r) < 0 || slices.Max(r) > 1 {
				t.Errorf("%s predicts %v", kind, r)
			}
		}
	}
	for kind, params := range map[string]string{"knn": "guard: 2", "forc": "strategy: greedy"} {
		if _, ok := fit(t, build(t, kind, params), set, 1).(routing.Predictor); ok != (kind == "forc") {
			t.Errorf("%s with %s predicts pass rates: %v", kind, params, ok)
		}
	}
}

// A router that weighs predicted rates and spends without limit asks the expert with the highest.
func TestARouterDecidesByTheRatesThatItPredicts(t *testing.T) {
	set, qs := routingtest.Planted(60), routingtest.Fresh(30)
	for _, kind := range []string{"benchmark", "logistic", "knn", "bag", "difficulty", "mean"} {
		r := fit(t, build(t, kind, paramsOf(kind)), set, 1)
		rates, err := r.(routing.Predictor).PassRates(t.Context(), qs)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range routingtest.Route(t, r, qs) {
			if rates[i][d.Expert] != slices.Max(rates[i]) {
				t.Errorf("%s asks expert %d where it predicts %v", kind, d.Expert, rates[i])
			}
		}
	}
}

func TestLearningFromNothingIsAnError(t *testing.T) {
	for _, kind := range []string{"mixture", "benchmark", "logistic", "knn", "difficulty", "bag", "cluster", "forc", "routellm", "swranking", "routerr1", "xrouter", "sft", "entrorouter", "entroplus"} {
		_, err := build(t, kind, "").Fit(t.Context(), routing.TrainSet{Experts: routingtest.Pool()}, routingtest.Work(1))
		if err == nil || !strings.Contains(err.Error(), "method "+kind) {
			t.Errorf("%s on no problem: %v", kind, err)
		}
	}
}

func TestDrawFollowsTheDistribution(t *testing.T) {
	prob := []float64{0.25, 0, 0.75}
	for u, want := range map[float64]int{0: 0, 0.2499: 0, 0.25: 2, 0.9999: 2} {
		if got := routing.Draw(prob, u); got != want {
			t.Errorf("routing.Draw(%v, %v) = %d, want %d", prob, u, got, want)
		}
	}
	if got := routing.Draw([]float64{0.5, 0.5 - 1e-12}, math.Nextafter(1, 0)); got != 1 {
		t.Errorf("a distribution that rounds below 1 draws %d", got)
	}
}

func valid(t testing.TB, d routing.Decision, q routing.Query, experts int, answersItself bool) {
	t.Helper()
	if d.Problem != q.Problem.ID || d.Run != q.Run {
		t.Errorf("decision on %s run %d stands at query %s run %d", d.Problem, d.Run, q.Problem.ID, q.Run)
	}
	sum := 0.0
	for _, p := range d.Prob {
		if p < 0 || math.IsNaN(p) {
			t.Errorf("%s: probability %v", d.Problem, p)
		}
		sum += p
	}
	if len(d.Prob) != experts || sum > 1+1e-9 || !answersItself && sum < 1-1e-9 {
		t.Errorf("%s: distribution %v over %d experts", d.Problem, d.Prob, experts)
	}
	if d.Expert != routing.Expected && (d.Expert < 0 || d.Expert >= experts) && !(answersItself && d.Expert == routing.Self) {
		t.Errorf("%s: expert %d of %d", d.Problem, d.Expert, experts)
	}
	called := d.Calls == nil
	for _, c := range d.Calls {
		if c.Expert < 0 || c.Expert >= experts {
			t.Errorf("%s: call of expert %d of %d", d.Problem, c.Expert, experts)
		}
		called = called || c.Expert == d.Expert
	}
	if !called && d.Expert != routing.Self {
		t.Errorf("%s: the answer of expert %d stands, who was not called: %v", d.Problem, d.Expert, d.Calls)
	}
	if d.Spoiled < 0 || d.Spoiled > 1 || d.Spoiled > 0 && (d.Expert != routing.Self || len(d.Calls) == 0) {
		t.Errorf("%s: spoiled %v with expert %d and calls %v", d.Problem, d.Spoiled, d.Expert, d.Calls)
	}
}

// sameDecisions compares choices exactly and distributions to 1e-6: a network adds up a batch of another size in
// another order.
func sameDecisions(t testing.TB, when string, got, want []routing.Decision) {
	t.Helper()
	for i, w := range want {
		g := got[i]
		if g.Problem != w.Problem || g.Run != w.Run || g.Expert != w.Expert || g.Spoiled != w.Spoiled || !slices.Equal(g.Calls, w.Calls) {
			t.Errorf("%s: decision %d is %+v, want %+v", when, i, g, w)
		}
		for m := range w.Prob {
			if math.Abs(g.Prob[m]-w.Prob[m]) > 1e-6 {
				t.Errorf("%s: decision %d has distribution %v, want %v", when, i, g.Prob, w.Prob)
				break
			}
		}
	}
}

func TestSeedsOfSeededKindsMatter(t *testing.T) {
	set, qs := routingtest.Planted(60), routingtest.Fresh(40)
	for _, k := range list() {
		if k.name == "oracle" {
			continue
		}
		m := build(t, k.name, paramsOf(k.name))
		differ := false
		a, b := routingtest.Route(t, fit(t, m, set, 1), qs), routingtest.Route(t, fit(t, m, set, seed.Seed(2)), qs)
		for i := range a {
			differ = differ || a[i].Expert != b[i].Expert || !slices.Equal(a[i].Calls, b[i].Calls) || !slices.Equal(a[i].Prob, b[i].Prob)
		}
		if differ != k.seeded {
			t.Errorf("%s: decisions differ between seeds: %v; the list says %v", k.name, differ, k.seeded)
		}
	}
}

func TestMarkersAreNumberedWithoutGaps(t *testing.T) {
	next := len(Marked())
	seen := map[int]string{}
	for _, k := range list() {
		marked := k.also
		if k.marker != unmarked {
			marked = append([]mark{{k.name, k.marker}}, marked...)
		}
		for _, m := range marked {
			if other, ok := seen[m.marker]; ok || m.marker < 0 || m.marker >= next {
				t.Errorf("row %s has marker %d, which is row %q's or outside 0 to %d; a new row takes %d", m.row, m.marker, other, next-1, next-1)
			}
			seen[m.marker] = m.row
		}
	}
	if Marked()[0] != ReferenceRow {
		t.Errorf("marker 0 is %s's", Marked()[0])
	}
}

func TestAKindSaysAllOfItself(t *testing.T) {
	for _, k := range list() {
		if k.section == "" {
			t.Errorf("%s has no section; tables need a heading for its rows", k.name)
		}
		if k.says == "" {
			t.Errorf("%s does not say what it is; lists have it in a few words", k.name)
		}
		if TraitsOf(build(t, k.name, paramsOf(k.name))).Limit != "" && !k.knob {
			t.Errorf("%s says what holds its knob back and the list says it has none", k.name)
		}
	}
}

func TestWhatHoldsARowBackAtItsOwnOperatingPoint(t *testing.T) {
	for _, c := range []struct{ kind, params, want string }{
		{"forc", "", "predicted pass rate"}, {"forc", "strategy: cost", "dollars"}, {"forc", "strategy: greedy", ""},
		{"routellm", "", "share of the training questions"}, {"logistic", "", ""}, {"entrorouter", "", ""},
	} {
		got := RowTraits(setup(t, c.kind, c.params).Method, routingtest.Experiment()).Limit
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s %s: %q, want %q", c.kind, c.params, got, c.want)
		}
	}
}

func TestWhatTrainsNothing(t *testing.T) {
	for _, kind := range Kinds() {
		want := slices.Contains([]string{"fixed", "self", "oracle"}, kind)
		if TrainsNothing(kind) != want {
			t.Errorf("%s trains nothing: %v", kind, !want)
		}
	}
}
