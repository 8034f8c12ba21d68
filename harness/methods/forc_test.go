package methods

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
)

func TestThresholdStrategyByHand(t *testing.T) {
	s := predict.Scores{Pass: []float64{0.4, 0.5, 0.9}, USD: []float64{1, 2, 10}}
	for _, c := range []struct {
		params    string
		threshold float64
		want      int
	}{
		{"", 0.3, 0}, {"", 0.4, 1}, {"", 0.5, 2}, // the comparison is strict
		{"", 0.9, 2}, {"", 1, 2}, {"all_wrong: cheapest", 0.9, 0}, {"all_wrong: cheapest", 1, 0},
		{"multiple: biggest", 0.3, 2}, {"multiple: biggest", 0, 2}, {"", 0, 0},
	} {
		f := build(t, "forc", c.params).(*forc)
		if got := f.overThreshold(s, c.threshold); got != c.want {
			t.Errorf("%q at %v: expert %d, want %d", c.params, c.threshold, got, c.want)
		}
	}
	f := build(t, "forc", "").(*forc)
	dear := predict.Scores{Pass: []float64{0.9, 0.9, 0.9}, USD: []float64{3, 1, 2}}
	if got := f.overThreshold(dear, 0.5); got != 1 {
		t.Errorf("the cheapest is expert %d, want the one that costs least, 1", got)
	}
	if got := f.overThreshold(dear, 0.9); got != 0 {
		t.Errorf("the biggest is expert %d, want the one that costs most, 0", got)
	}
}

func TestRaisingTheThresholdNeverLowersPredictedDollars(t *testing.T) {
	f := build(t, "forc", "").(*forc)
	rapid.Check(t, func(rt *rapid.T) {
		s := someScores(rt, 1)[0]
		last := math.Inf(1)
		for _, knob := range chanceKnobs() {
			m := f.overThreshold(s, knob)
			if s.USD[m] > last {
				rt.Fatalf("at %v a question costs %v, at a higher threshold %v", knob, s.USD[m], last)
			}
			last = s.USD[m]
		}
	})
}

func TestStrategiesOfFORCOnThePlantedRule(t *testing.T) {
	set, qs := routingtest.Planted(300), routingtest.Fresh(100)
	share := func(params string) (cheap, strong float64, r routing.Router) {
		r = fit(t, build(t, "forc", params), set, 1)
		for i, d := range routingtest.Route(t, r, qs) {
			if d.Expert == 0 && !routingtest.Hard(i) {
				cheap++
			}
			if d.Expert == 2 && routingtest.Hard(i) {
				strong++
			}
		}
		return cheap / 50, strong / 50, r
	}
	if cheap, strong, _ := share("l2: [0.01]"); cheap < 0.9 || strong < 0.9 {
		t.Errorf("threshold: %v of easy questions go to the cheapest and %v of hard ones to the strongest", cheap, strong)
	}
	if _, strong, r := share("{strategy: performance, l2: [0.01]}"); strong < 0.9 {
		t.Errorf("performance: %v of hard questions go to the strongest", strong)
	} else if _, ok := r.(routing.Frontier); ok {
		t.Error("performance has a knob")
	}
	usd, _ := routing.Means(set.SFT, 3)
	for _, budget := range []float64{0.2, 0.6, 1} {
		_, _, r := share("{strategy: cost, l2: [0.01], share: " + fmt.Sprint(budget) + "}")
		var spends float64
		for _, d := range routingtest.Route(t, r, queries(set.SFT)) {
			spends += usd[d.Expert] / float64(len(set.SFT))
		}
		if spends > budget*usd[2]*(1+1e-9) {
			t.Errorf("with a budget of %v, %v dollars are spent", budget*usd[2], spends)
		}
	}
}

// The price turns the budget into the best assignment there is for the money that it spends, as a search over all
// assignments by dynamic programming finds it.
func TestAssignmentAtAPriceIsTheBestForItsMoney(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := someScores(rt, rapid.IntRange(1, 7).Draw(rt, "questions"))
		budget := rapid.Float64Range(0, 8).Draw(rt, "budget")
		mu := priceOf(all, budget, 1)
		var value float64
		var spends, least int
		for _, s := range all {
			m := predict.Utility(s.Pass, s.USD, mu, 1)
			value += s.Pass[m]
			spends += int(s.USD[m])
			least += int(slices.Min(s.USD))
		}
		if limit := budget * float64(len(all)); float64(spends) > limit && spends > least {
			rt.Fatalf("spends %d of %v, and %d would do", spends, limit, least)
		}
		if best := mostRight(all, spends); value < best-1e-9 {
			rt.Errorf("%v right answers for %d dollars; %v are possible", value, spends, best)
		}
		// Weak duality: nothing within the budget beats the price's own bound.
		limit := max(int(budget*float64(len(all))), least)
		if bound := value + mu*(float64(limit)-float64(spends)); mostRight(all, limit) > bound+1e-6*(1+mu) {
			rt.Errorf("the best within %d is %v, above the bound %v", limit, mostRight(all, limit), bound)
		}
	})
}

// The budget of the greedy strategy holds whenever it can, and no assignment within it beats the exact program's.
func TestGreedyKeepsItsBudgetAndIsNoBetterThanTheExactProgram(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := someScores(rt, rapid.IntRange(1, 7).Draw(rt, "questions"))
		budget := rapid.IntRange(0, 56).Draw(rt, "budget")
		var value float64
		var spends, least int
		for i, m := range greedy(all, float64(budget)) {
			value += all[i].Pass[m]
			spends += int(all[i].USD[m])
			least += int(slices.Min(all[i].USD))
		}
		if spends > max(budget, least) {
			rt.Fatalf("spends %d of %d; the cheapest cost %d", spends, budget, least)
		}
		if best := mostRight(all, max(budget, least)); value > best+1e-9 {
			rt.Errorf("%v right answers for %d dollars; no more than %v are possible", value, spends, best)
		}
		var priced float64
		for _, s := range all {
			priced += s.Pass[predict.Utility(s.Pass, s.USD, 0, 1)]
		}
		free := 0.0
		for i, m := range greedy(all, math.Inf(1)) {
			free += all[i].Pass[m]
		}
		if math.Abs(free-priced) > 1e-9 {
			rt.Errorf("with money to burn greedy expects %v right answers, performance %v", free, priced)
		}
	})
}

func TestGreedyByHand(t *testing.T) {
	all := []predict.Scores{
		{Pass: []float64{0.5, 0.9, 0.9}, USD: []float64{1, 5, 4}}, // the same pass rate for less
		{Pass: []float64{0.2, 0.1, 0.9}, USD: []float64{1, 2, 6}}, // too dear by now, and the second is worse
		{Pass: []float64{0.2, 0.8, 0.9}, USD: []float64{1, 4, 9}},
	}
	if got := greedy(all, 9); !slices.Equal(got, []int{2, 0, 1}) {
		t.Errorf("with 9 dollars %v, want the last, the first and the second", got)
	}
	if got := greedy(all, 2); !slices.Equal(got, []int{0, 0, 0}) {
		t.Errorf("with less than the cheapest cost, %v", got)
	}
}

func TestTheGreedyRouterSharesOneBudgetWhateverTheOrder(t *testing.T) {
	set, qs := routingtest.Planted(200), routingtest.Fresh(60)
	usd, _ := routing.Means(set.SFT, 3)
	for _, share := range []float64{0.2, 0.6, 1} {
		r := fit(t, build(t, "forc", "{strategy: greedy, l2: [0.01], share: "+fmt.Sprint(share)+"}"), set, 1)
		want := routingtest.Route(t, r, qs)
		spends := 0.0
		for _, d := range want {
			spends += usd[d.Expert] / float64(len(qs))
		}
		if spends > share*usd[2]*(1+1e-9) {
			t.Errorf("with %v dollars per question, %v are spent", share*usd[2], spends)
		}
		back := slices.Clone(qs)
		slices.Reverse(back)
		got := routingtest.Route(t, r, back)
		slices.Reverse(got)
		sameDecisions(t, "asked in reverse", got, want)
		if _, ok := r.(routing.Frontier); ok {
			t.Error("greedy has a knob")
		}
	}
}

func TestCalibrationErrorByHand(t *testing.T) {
	set := []routing.Example{{Kappa: []float64{0, 1}}, {Kappa: []float64{1, 1}}}
	found := []predict.Scores{{Pass: []float64{0.1, 0.6}}, {Pass: []float64{0.2, 1}}}
	// Two bins: .1 and .2 against 0 and 1, .6 and 1 against 1 and 1.
	if got := *calibrationError(set, found, 2); math.Abs(got-(0.7+0.4)/4) > 1e-12 {
		t.Errorf("two bins: %v", got)
	}
	// Ten: .1 against 0, .2 against 1, .6 against 1, 1 against 1.
	if got := *calibrationError(set, found, 10); math.Abs(got-(0.1+0.8+0.4)/4) > 1e-12 {
		t.Errorf("ten bins: %v", got)
	}
}

func TestFORCReportsItsCalibration(t *testing.T) {
	for _, params := range []string{"l2: [0.01]", "{strategy: performance, l2: [0.01]}", "{strategy: cost, l2: [0.01]}", "{strategy: greedy, l2: [0.01]}"} {
		r, ok := fit(t, build(t, "forc", params), routingtest.Planted(300), 1).(Reporter)
		if !ok {
			t.Fatalf("%s reports nothing", params)
		}
		if few := fit(t, build(t, "forc", params), routingtest.Planted(4), 1).(Reporter).Report(); len(few) != 0 {
			t.Errorf("%s: on 4 problems %v", params, few)
		}
		if v := r.Report(); len(v) != 1 || v[0].Unit != CalibrationError || v[0].Number <= 0 || v[0].Number > 10 {
			t.Errorf("%s: %v", params, v)
		}
	}
}

func TestDollarsByBucketAreThoseOfProblemsAboutAsEasy(t *testing.T) {
	var set []routing.Example
	var found []predict.Scores
	for i := range 10 { // 10, 9, ... 1 dollars, the easier the fewer
		p := float64(i) / 10
		set = append(set, routing.Example{Kappa: []float64{p, p}, USD: []float64{float64(10 - i), 1}})
		found = append(found, predict.Scores{Pass: []float64{p, p}})
	}
	usd := bucketDollars(set, found).dollars
	for p, want := range map[float64]float64{0: 9.5, 0.1: 9.5, 0.15: 9.5, 0.2: 7.5, 0.55: 5.5, 0.8: 1.5, 1: 1.5} {
		if got := usd(predict.Scores{Pass: []float64{p, p}}); math.Abs(got[0]-want) > 1e-12 || got[1] != 1 {
			t.Errorf("predicted %v: %v dollars, want %v", p, got, want)
		}
	}
	same := bucketDollars(set, slices.Repeat([]predict.Scores{{Pass: []float64{0.5, 0.5}}}, 10)).dollars
	if got := same(predict.Scores{Pass: []float64{0.9, 0.9}}); math.Abs(got[0]-5.5) > 1e-12 {
		t.Errorf("where all are equally easy, %v dollars", got)
	}
	hardest := fit(t, build(t, "forc", "{strategy: cost, cost: per_bucket, l2: [0.01]}"), routingtest.Planted(300), 1)
	for i, d := range routingtest.Route(t, hardest, routingtest.Fresh(60)) {
		if !routingtest.Hard(i) && d.Expert != 0 {
			t.Errorf("question %d is easy and goes to expert %d", i, d.Expert)
		}
	}
}

func TestALargerBudgetNeverRaisesThePrice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		all := someScores(rt, 5)
		a, b := rapid.Float64Range(0, 8).Draw(rt, "a"), rapid.Float64Range(0, 8).Draw(rt, "b")
		if priceOf(all, max(a, b), 1) > priceOf(all, min(a, b), 1) {
			rt.Errorf("budgets %v and %v", a, b)
		}
	})
}

// someScores draws questions on which three experts cost whole dollars.
func someScores(rt *rapid.T, n int) []predict.Scores {
	all := make([]predict.Scores, n)
	for i := range all {
		all[i].Pass = rapid.SliceOfN(rapid.Float64Range(0, 1), 3, 3).Draw(rt, "pass")
		for range 3 {
			all[i].USD = append(all[i].USD, float64(rapid.IntRange(0, 8).Draw(rt, "usd")))
		}
	}
	return all
}

// mostRight is the most that pass rates can add up to for at most budget dollars.
func mostRight(all []predict.Scores, budget int) float64 {
	best := make([]float64, budget+1)
	for _, s := range all {
		next := make([]float64, budget+1)
		for money := range next {
			next[money] = math.Inf(-1)
			for m, usd := range s.USD {
				if left := money - int(usd); left >= 0 {
					next[money] = max(next[money], best[left]+s.Pass[m])
				}
			}
		}
		best = next
	}
	return best[budget]
}
