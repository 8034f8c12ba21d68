package multiround

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/entrorouter/entrorouter/harness/routing"
)

var near = cmpopts.EquateApprox(0, 1e-12)

// spent is a trajectory of Tags with one call of large.v2 (3 and 10 dollars per million tokens) that wrote out tokens.
func spent(in, out int64, correct float64, faults ...Fault) Trajectory {
	t := Trajectory{Protocol: "tags", Correct: correct, Format: faults}
	if out > 0 {
		t.Calls = []Call{{Turn: 1, Expert: "large.v2", Tokens: Tokens{in, out}}}
	}
	return t
}

func fill(t *testing.T, r Reward, err error, ts ...Trajectory) (costs, rewards []float64) {
	t.Helper()
	if err == nil {
		err = r.Fill(ts)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range ts {
		costs, rewards = append(costs, x.Cost), append(rewards, x.Reward)
	}
	return costs, rewards
}

// With alpha 0.6, costs 0, 4000 and 1000 have roots 0, 63.25 and 31.62. One value: cheapness 1/2. Two: the percentiles are
// 0.05 and 0.95 of 63.25, and 63.25 is above. Three: 5% and 95% of 0, 31.62, 63.25 are 3.162 and 60.08; 31.62 is half way.
func TestRouterR1sWindowIsFedInOrder(t *testing.T) {
	p := SourceRouterR1()
	p.Alpha = 0.6
	r, err := p.For(pool)
	costs, rewards := fill(t, r, err, spent(0, 0, 1), spent(7, 400, 1), spent(7, 100, 1), spent(7, 100, 0), spent(7, 100, 1, FaultEnd))
	if diff := cmp.Diff([]float64{0, 4000, 1000, 1000, 1000}, costs, near); diff != "" {
		t.Errorf("costs in millionths of a dollar, of tokens written alone: %s", diff)
	}
	if diff := cmp.Diff([]float64{0.7, 0.4, 0.7, 0, -1}, rewards, near); diff != "" {
		t.Error(diff)
	}
	// Training and validation share the window: what comes next is placed among the five before.
	_, rewards = fill(t, r, nil, spent(0, 0, 1))
	if math.Abs(rewards[0]-1) > 1e-12 {
		t.Errorf("free, among dearer ones: %v", rewards[0])
	}
}

func TestWithoutTheSourcesQuirksTheOrderDoesNotMatter(t *testing.T) {
	p := RouterR1{Alpha: 0.6, Compat: "none"}
	r, err := p.For(pool)
	costs, rewards := fill(t, r, err, spent(0, 0, 1), spent(1000, 100, 1), spent(0, 400, 1))
	if diff := cmp.Diff([]float64{0, 4000, 4000}, costs, near); diff != "" {
		t.Errorf("tokens read are priced: %s", diff)
	}
	if diff := cmp.Diff([]float64{1, 0.4, 0.4}, rewards, near); diff != "" {
		t.Error(diff)
	}
	_, back := fill(t, r, nil, spent(0, 400, 1), spent(1000, 100, 1), spent(0, 0, 1))
	if diff := cmp.Diff([]float64{0.4, 0.4, 1}, back, near); diff != "" {
		t.Error(diff)
	}
}

func TestACallBonusIsForAnsweredCalls(t *testing.T) {
	p := SourceRouterR1()
	p.CallBonus = 0.1
	r, err := p.For(pool)
	failed := spent(0, 1, 1)
	failed.Calls[0] = Call{Turn: 1, Expert: "large.v2", Failed: "down"}
	_, rewards := fill(t, r, err, spent(0, 0, 1), spent(0, 1, 1), failed)
	if diff := cmp.Diff([]float64{1, 1.1, 1}, rewards, near); diff != "" {
		t.Error(diff)
	}
}

// A call that read 100,000 tokens at 3 dollars and wrote 10,000 at 10 dollars per million costs 0.4 dollars.
func TestXRouterPricesAllTokensInTheUnitThatIsSet(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*XRouter)
		cost   float64
		reward float64
	}{
		{"dollars, above the cap of 0.8", func(*XRouter) {}, 0.4, 0.2},
		{"dollars, a lambda of 1", func(x *XRouter) { x.Lambda = 1 }, 0.4, 0.6},
		{"a K of 2", func(x *XRouter) { x.Lambda, x.K = 1, 2 }, 0.4, 1.6},
		{"dollars a thousand queries", func(x *XRouter) { x.Lambda, x.CostUnit = 0.001, "usd_per_1k_queries" }, 400, 0.6},
		{"in answers of the strongest", func(x *XRouter) { x.Lambda, x.CostUnit = 0.1, "normalised" }, 2, 0.8},
	} {
		p := SourceXRouter()
		c.change(&p)
		r, err := p.For(pool, 0.2)
		wrong := spent(100_000, 10_000, 0)
		costs, rewards := fill(t, r, err, spent(100_000, 10_000, 1), wrong, spent(0, 0, 1))
		if diff := cmp.Diff([]float64{c.cost, c.cost, 0}, costs, near); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff([]float64{c.reward, 0, p.K}, rewards, near); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	p := SourceXRouter()
	p.CostUnit = "normalised"
	if _, err := p.For(pool, 0); err == nil || !strings.Contains(err.Error(), "use usd") {
		t.Error(err)
	}
}

func TestACallOfAStrangerIsAnError(t *testing.T) {
	stranger := []Trajectory{{Problem: "p", Calls: []Call{{Expert: "gpt"}}}}
	r1, err := SourceRouterR1().For(pool)
	if err != nil {
		t.Fatal(err)
	}
	x, err := SourceXRouter().For(pool, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Reward{r1, x} {
		if err := r.Fill(stranger); err == nil || !strings.Contains(err.Error(), `"gpt"`) {
			t.Error(err)
		}
	}
}

func TestSummaryCountsWhatACollapseShows(t *testing.T) {
	ts := []Trajectory{
		{Protocol: "tags", Turns: 1, Ending: EndAnswer, Correct: 1, Verdict: routing.Correct, Cost: 0, Reward: 1},
		{Protocol: "tags", Turns: 1, Ending: EndAnswer, Verdict: routing.Wrong, Format: []Fault{FaultEnd, FaultStart}, Reward: -1},
		{Protocol: "tags", Turns: 3, Ending: EndAnswer, Correct: 1, Verdict: routing.Correct, Cost: 6, Reward: 0.6, Calls: []Call{{Turn: 1, Expert: "small"}, {Turn: 2, Expert: "small"}}},
		{Protocol: "tags", Turns: 5, Ending: EndLimit, Verdict: routing.NoAnswer, Cost: 2, Calls: []Call{{Turn: 1, Expert: "small", Failed: "down"}, {Turn: 2, Expert: "large.v2"}},
			Format: []Fault{FaultEnd}, Invalid: []Invalid{{1, CallFailed}, {3, NoAction}, {3, NoColon}}, Reward: -1},
	}
	f := func(v float64) *float64 { return &v }
	want := Summary{
		Trajectories: 4, CallRate: 0.5, Calls: 0.75, Expert: map[string]float64{"small": 0.25, "large.v2": 0.25}, Format: f(0.5),
		Invalid: 0.2, Failed: 0.25, Accuracy: 0.5, AccuracyCall: f(0.5), AccuracyNone: f(0.5), Cost: 2, Reward: -0.1, Turns: 2.5,
		Entropy: math.Log(2),
		Endings: map[Ending]int{EndAnswer: 3, EndLimit: 1}, Verdicts: map[routing.Bucket]int{routing.Correct: 2, routing.Wrong: 1, routing.NoAnswer: 1},
		Reasons: map[Reason]int{CallFailed: 1, NoAction: 1, NoColon: 1}, Faults: map[Fault]int{FaultEnd: 2, FaultStart: 1},
	}
	if diff := cmp.Diff(want, summarise(ts, pool), near); diff != "" {
		t.Error(diff)
	}
	none := summarise([]Trajectory{{Protocol: "tools", Turns: 1, Ending: EndAnswer}}, pool)
	if none.AccuracyCall != nil || none.Format != nil || none.AccuracyNone == nil || none.Entropy != 0 {
		t.Errorf("%+v", none)
	}
	if s := summarise(nil, pool); s.Trajectories != 0 || s.CallRate != 0 {
		t.Errorf("%+v", s)
	}
}
