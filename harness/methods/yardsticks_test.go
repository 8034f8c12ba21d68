package methods

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

func TestRandomAsksEveryExpertEquallyOften(t *testing.T) {
	const n = 9000
	qs := make([]routing.Query, n)
	for i := range qs {
		qs[i] = routing.Query{Problem: routing.Problem{ID: "p"}, Run: i} // runs of one problem are drawn apart
	}
	count := make([]int, 3)
	for _, d := range routingtest.Route(t, fit(t, build(t, "random", ""), routing.TrainSet{Experts: routingtest.Pool()}, 1), qs) {
		count[d.Expert]++
		if d.Prob[0] != 1.0/3 {
			t.Fatalf("distribution %v", d.Prob)
		}
	}
	for m, c := range count {
		if sd := math.Sqrt(n * (1.0 / 3) * (2.0 / 3)); math.Abs(float64(c)-n/3) > 4*sd {
			t.Errorf("expert %d answers %d of %d queries", m, c, n)
		}
	}
	for _, d := range routingtest.Route(t, fit(t, build(t, "random", "closed_form: true"), routing.TrainSet{Experts: routingtest.Pool()}, 1), qs[:2]) {
		if d.Expert != routing.Expected {
			t.Errorf("the closed form draws expert %d", d.Expert)
		}
	}
}

func TestFixedFindsItsExpert(t *testing.T) {
	three := routing.TrainSet{Experts: routingtest.Pool()}
	for name, want := range map[string]int{"small": 0, "large": 2, "cheapest": 0, "middle": 1, "strongest": 2} {
		if got := routingtest.Route(t, fit(t, build(t, "fixed", "expert: "+name), three, 1), routingtest.Fresh(1))[0].Expert; got != want {
			t.Errorf("%s is expert %d, want %d", name, got, want)
		}
	}
	three.SFT = []routing.Example{{Kappa: []float64{0, 1, 0.5}}, {Kappa: []float64{0.6, 0.4, 0.5}}}
	if got := routingtest.Route(t, fit(t, build(t, "fixed", "expert: best"), three, 1), routingtest.Fresh(1))[0].Expert; got != 1 {
		t.Errorf("the most accurate on the training problems is expert %d, want 1", got)
	}
	two := routing.TrainSet{Experts: routingtest.Pool()[:2]}
	if got := routingtest.Route(t, fit(t, build(t, "fixed", "expert: middle"), two, 1), routingtest.Fresh(1))[0].Expert; got != 0 {
		t.Errorf("the middle of two experts is %d, want the cheaper", got)
	}
	named := routing.TrainSet{Experts: []routing.Expert{{ID: "a"}, {ID: "cheapest"}}}
	if got := routingtest.Route(t, fit(t, build(t, "fixed", "expert: cheapest"), named, 1), routingtest.Fresh(1))[0].Expert; got != 1 {
		t.Errorf("an id of the pool gives way to a word: expert %d", got)
	}
	_, err := build(t, "fixed", "expert: gpt").Fit(t.Context(), three, routingtest.Work(1))
	if err == nil || !strings.Contains(err.Error(), `"gpt"`) || !strings.Contains(err.Error(), "small, medium, large, cheapest") {
		t.Errorf("unknown expert: %v", err)
	}
	s := setup(t, "fixed", "")
	s.Method.File, s.Method.Line, s.Method.Path = "a.yaml", 9, "methods[1]"
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "a.yaml:9: methods[1].params.expert: not set") {
		t.Errorf("no expert: %v", err)
	}
}

func TestOracleTakesTheCheapestRightAnswer(t *testing.T) {
	right, wrong := 1.0, 0.0
	outcome := func(correct ...float64) (o []routing.Outcome) {
		for m, c := range correct {
			o = append(o, routing.Outcome{Correct: c, USD: []float64{3, 1, 2}[m]}) // not in the order of prices
		}
		return o
	}
	for name, c := range map[string]struct {
		outcomes []routing.Outcome
		want     int
	}{
		"all are right: the cheapest answer":           {outcome(right, right, right), 1},
		"the cheapest is wrong: the next":              {outcome(right, wrong, right), 2},
		"only the dearest is right":                    {outcome(right, wrong, wrong), 0},
		"only the last is right":                       {outcome(wrong, wrong, right), 2},
		"none is right: the cheapest answer":           {outcome(wrong, wrong, wrong), 1},
		"a probability is not right":                   {outcome(right, 0.99, 0.5), 0},
		"of equal answers, the expert that is cheaper": {[]routing.Outcome{{Correct: 1, USD: 1}, {Correct: 1, USD: 1}}, 0},
	} {
		d, err := (&oracle{}).RouteKnowing(t.Context(), routingtest.Fresh(1), [][]routing.Outcome{c.outcomes})
		if err != nil || d[0].Expert != c.want {
			t.Errorf("%s: expert %d, %v; want %d", name, d[0].Expert, err, c.want)
		}
	}
	if d, err := (&oracle{}).RouteKnowing(t.Context(), nil, nil); err != nil || len(d) != 0 {
		t.Errorf("no query: %v, %v", d, err)
	}
	if _, err := (&oracle{}).RouteKnowing(t.Context(), routingtest.Fresh(2), nil); err == nil {
		t.Error("queries without outcomes are routed")
	}
	if _, err := fit(t, build(t, "oracle", ""), routing.TrainSet{}, 1).Route(t.Context(), routingtest.Fresh(1)); err == nil {
		t.Error("the oracle routes without outcomes")
	}
}

// means of one problem are its own numbers.
func pointsSet(usd, kappa []float64) routing.TrainSet {
	return routing.TrainSet{
		Experts: make([]routing.Expert, len(usd)),
		SFT:     []routing.Example{{Problem: routing.Problem{ID: "p", Benchmark: "b", Text: "x"}, USD: usd, Kappa: kappa}},
	}
}

func TestMixtureWalksTheHullOfTheExperts(t *testing.T) {
	// 0 (1, .2), 1 (2, .3) below the line from 0 to 2, 2 (3, .6), 3 (6, .6) no better than 2.
	set := pointsSet([]float64{1, 2, 3, 6}, []float64{.2, .3, .6, .6})
	r := fit(t, build(t, "mixture", ""), set, 1).(routing.Frontier)
	if knobs := r.Knobs(); !slices.Equal(knobs, []float64{6, 3, 2, 1}) {
		t.Fatalf("knobs %v", knobs)
	}
	for knob, want := range map[float64]int{6: 2, 3: 2, 2.99: 0, 2: 0, 1: 0, 0.5: 0} {
		d, err := routing.RouteAt(t.Context(), r, routingtest.Fresh(3), knob)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range d {
			if x.Expert != want {
				t.Errorf("at %v dollars expert %d is asked, want %d", knob, x.Expert, want)
			}
		}
	}
	if d := routingtest.Route(t, r, routingtest.Fresh(1)); d[0].Expert != 2 {
		t.Errorf("with no budget expert %d is asked, want the dearest on the hull", d[0].Expert)
	}
	matched, err := routing.Match(t.Context(), r, set.SFT, 2.5)
	if err != nil {
		t.Fatal(err)
	}
	if d := routingtest.Route(t, matched, routingtest.Fresh(1)); !near(d[0].Prob, []float64{.25, 0, .75, 0}) || d[0].Expert != routing.Expected {
		t.Errorf("2.5 dollars are %+v, want a coin with 3/4 on expert 2", d[0])
	}
}

// At every budget between two experts the matched mixture earns what the hull of the training means gives.
func TestMatchedMixtureLiesOnTheHull(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(2, 5).Draw(rt, "experts")
		usd := rapid.SliceOfN(rapid.Float64Range(0.01, 10), n, n).Draw(rt, "usd")
		kappa := rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(rt, "kappa")
		slices.Sort(usd)
		set := pointsSet(usd, kappa)
		r, err := mixture{}.Fit(t.Context(), set, routingtest.Work(1))
		if err != nil {
			rt.Fatal(err)
		}
		hull := metrics.UpperHull(func() (p []metrics.Point) {
			for m := range usd {
				p = append(p, metrics.Point{Cost: usd[m], Quality: kappa[m]})
			}
			return p
		}())
		budget := rapid.Float64Range(hull[0].Cost, hull[len(hull)-1].Cost).Draw(rt, "budget")
		matched, err := routing.Match(t.Context(), r.(routing.Frontier), set.SFT, budget)
		if err != nil {
			rt.Fatal(err)
		}
		d, err := matched.Route(t.Context(), queries(set.SFT))
		if err != nil {
			rt.Fatal(err)
		}
		quality, cost := 0.0, 0.0
		for m, p := range d[0].Asked(n) {
			quality += p * kappa[m]
			cost += p * usd[m]
		}
		if math.Abs(cost-budget) > 1e-9*budget || math.Abs(quality-hull.At(budget)) > 1e-9 {
			rt.Errorf("spends %v of %v and earns %v of %v", cost, budget, quality, hull.At(budget))
		}
	})
}

func TestBenchmarkIdentityKnowsTheNameOnly(t *testing.T) {
	example := func(id, benchmark string, kappa ...float64) routing.Example {
		return routing.Example{Problem: routing.Problem{ID: id, Benchmark: benchmark}, Kappa: kappa, USD: []float64{1, 10}}
	}
	set := routing.TrainSet{Experts: routingtest.Pool()[:2], SFT: []routing.Example{
		example("a", "sums", 1, 1), example("b", "sums", 0.8, 1), example("c", "proofs", 0, 1), example("d", "proofs", 0.2, 1), example("e", "proofs", 0, 1),
	}}
	r := fit(t, build(t, "benchmark", ""), set, 1).(routing.Frontier)
	// The unit is 10, so at knob mu expert 1 costs 0.9 mu more: sums gain 0.1, proofs 14/15, all together 0.6.
	for mu, want := range map[float64]map[string]int{
		0.1: {"sums": 1, "proofs": 1, "unseen": 1},
		0.2: {"sums": 0, "proofs": 1, "unseen": 1},
		0.7: {"sums": 0, "proofs": 1, "unseen": 0},
		1.1: {"sums": 0, "proofs": 0, "unseen": 0},
	} {
		for name, expert := range want {
			d, err := routing.RouteAt(t.Context(), r, []routing.Query{
				{Problem: routing.Problem{ID: "x", Benchmark: name, Text: "one text"}},
				{Problem: routing.Problem{ID: "y", Benchmark: name, Text: "another"}},
			}, mu)
			if err != nil || d[0].Expert != expert || d[1].Expert != expert {
				t.Errorf("%s at %v: %v, %v; want expert %d", name, mu, d, err, expert)
			}
		}
	}
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
}

// Two of three runs are no 0.8, three of three are; where nobody is reliable the strongest is asked.
func TestTheOracleOnPassRatesAsksTheCheapestReliableExpert(t *testing.T) {
	right, wrong := routing.Outcome{Correct: 1, USD: 1}, routing.Outcome{USD: 1}
	var queries []routing.Query
	var outcomes [][]routing.Outcome
	for id, runs := range map[string][3][]routing.Outcome{
		"middle":  {{right, right, wrong}, {right, right, wrong}, {wrong, right, wrong}},
		"nobody":  {{right, wrong, wrong}, {wrong, wrong, wrong}, {wrong, wrong, wrong}},
		"several": {{right, right, right}, {right, right, right}, {right, right, right}},
	} {
		for run, o := range runs {
			queries = append(queries, routing.Query{Problem: routing.Problem{ID: id}, Run: run})
			outcomes = append(outcomes, o)
		}
	}
	decisions, err := (&oracle{By: "kappa", tau: 0.8}).RouteKnowing(t.Context(), queries, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"middle": 1, "nobody": 2, "several": 0}
	for _, d := range decisions {
		if d.Expert != want[d.Problem] {
			t.Errorf("%s: expert %d, want %d", d.Problem, d.Expert, want[d.Problem])
		}
	}
}

func TestMatchedRoutersSpendTheBudgetToRounding(t *testing.T) {
	set := routingtest.Planted(160)
	for _, kind := range []string{"mixture", "benchmark", "logistic"} {
		r := fit(t, build(t, kind, ""), set, 1).(routing.Frontier)
		knobs := r.Knobs()
		low, high := spends(t, r, knobs[len(knobs)-1], set.RL), spends(t, r, knobs[0], set.RL)
		rapid.Check(t, func(rt *rapid.T) {
			usd := rapid.Float64Range(low, high).Draw(rt, "usd")
			m, err := routing.Match(t.Context(), r, set.RL, usd)
			if err != nil {
				rt.Fatal(err)
			}
			got, err := routing.Spend(t.Context(), m, set.RL)
			if err != nil || math.Abs(got-usd) > 1e-9*usd {
				rt.Errorf("%s spends %v of %v: %v", kind, got, usd, err)
			}
		})
	}
}
