package present

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Quantiles of t have closed forms at one degree of freedom, tan(pi (p-1/2)), and at two, (2p-1)/sqrt(2p(1-p)). Of 1-0.05/2 and 1-0.05/6
// they are 12.7062 and 38.1885, and 4.30265 and 7.64887; at many they are the normal 1.959964 and 2.393980.
func TestIntervalsOfSeveralRoutersAreWider(t *testing.T) {
	one, two := 38.1885/12.7062, 7.64887/4.30265
	for _, c := range []struct {
		name      string
		of        trained
		routers   int
		questions int
		want      float64
		spread    float64
	}{
		{"one router", trained{share: 0.3, df: 2}, 1, 50, 1, 0.3},
		{"many questions, one training", trained{}, 3, 1e7, 2.393980 / 1.959964, 0},
		{"three questions, one training", trained{}, 3, 3, two, 0},
		{"two trainings alone", trained{share: 1, df: 1}, 3, 1e7, one, 1},
		{"a quarter is of two trainings", trained{share: 0.25, df: 1}, 3, 3, math.Sqrt(0.75*two*two + 0.25*one*one), 0.25 * one * one / (0.75*two*two + 0.25*one*one)},
	} {
		if got, spread := c.of.widening(c.routers, c.questions, 0.95); math.Abs(got-c.want) > 1e-4 || math.Abs(spread-c.spread) > 1e-4 {
			t.Errorf("%s: %g, of which %g is of trainings, want %g and %g", c.name, got, spread, c.want, c.spread)
		}
	}
}

// Gains of 8 and 10 have an error of 1 with one degree of freedom, 12.7062 on either side: a quarter of the square of 25.4124. Two partitions
// into three folds have twice the variance. Accuracies that are nearly alike count less, and other rows not at all.
func TestTheShareOfTrainingsIsReadOffTheirLines(t *testing.T) {
	line := func(row, seed string, values ...metrics.Value) metrics.Measurement {
		keys := metrics.Keys("pool", "mine", "method", row, "benchmark", metrics.Average)
		if seed != "" {
			keys = append(keys, metrics.Keys("seed", seed)...)
		}
		return metrics.Measurement{Name: "Route", Keys: keys, Values: values}
	}
	number := func(x float64, unit string) metrics.Value { return metrics.Rounded(x, unit, 3) }
	mean := line("logistic", "", number(50, metrics.Accuracy).Within(10, 90), number(9, units.HullGain).Within(9-25.4124, 40))
	r := &Run{Measurements: &metrics.Set{Measurements: []metrics.Measurement{
		mean,
		line("logistic", "1", number(49.9, metrics.Accuracy), number(8, units.HullGain)),
		line("logistic", "2", number(50.1, metrics.Accuracy), number(10, units.HullGain)),
		line("other", "1", number(0, units.HullGain)),
	}}, Spec: &spec.Resolved{Experiment: spec.Experiment{Protocol: "split", Evaluate: spec.Evaluate{Confidence: 0.95}, Folds: spec.Folds{K: 3}}}}
	if got := r.trained(mean); math.Abs(got.share-0.25) > 1e-4 || got.df != 1 {
		t.Errorf("two trainings: %+v, want a quarter at one degree of freedom", got)
	}
	r.Spec.Experiment.Protocol = "folds"
	if got := r.trained(mean); math.Abs(got.share-0.5) > 1e-4 || got.df != 1 {
		t.Errorf("two partitions: %+v, want a half at one degree of freedom", got)
	}
	r.Measurements.Measurements = r.Measurements.Measurements[:2]
	if got := r.trained(mean); got != (trained{}) {
		t.Errorf("one training: %+v, want none", got)
	}
}

// judging is a run of two experts, small at a tenth of the dollars of big, and of routers with the values given.
type judging struct {
	questions int
	kept      [3]float64 // percent of big's accuracy, with the ends of its interval
	share     [3]float64
	gain      [3]float64
}

func (c judging) text(t *testing.T) string {
	t.Helper()
	interval := func(unit string, x [3]float64) metrics.Value {
		return metrics.Rounded(x[0], unit, 3).Within(x[1], x[2])
	}
	line := func(row string, accuracy, share, kept, gain [3]float64) metrics.Measurement {
		return metrics.Measurement{Name: "Route", Keys: metrics.Keys("pool", "mine", "arena", metrics.PaperArena, "method", row, "benchmark", metrics.Average), N: c.questions,
			Values: []metrics.Value{interval(metrics.Accuracy, accuracy), metrics.Rounded(share[0]*1.2345e-7, metrics.USDPerQuery, 8), interval(units.CostShare, share),
				interval(units.Retention, kept), interval(units.HullGain, gain), metrics.Rounded(float64(c.questions), metrics.Questions, 0)}}
	}
	set := &metrics.Set{Measurements: []metrics.Measurement{
		line("always-small", [3]float64{50, 45, 55}, [3]float64{10, 9, 11}, [3]float64{62.5, 60, 65}, [3]float64{}),
		line("always-big", [3]float64{80, 76, 84}, [3]float64{100, 100, 100}, [3]float64{100, 100, 100}, [3]float64{}),
		line("logistic", [3]float64{c.kept[0] * 0.8, 70, 90}, c.share, c.kept, c.gain),
	}}
	fixed := func(id string) spec.Method {
		m := spec.Method{Name: "fixed", ID: "always-" + id, Label: "Always " + id}
		if err := m.Params.Encode(map[string]string{"expert": id}); err != nil {
			t.Fatal(err)
		}
		return m
	}
	r := &Run{Measurements: set, Spec: &spec.Resolved{
		Pools:  []spec.Pool{{Name: "mine", Kind: "http", Experts: []spec.Expert{{ID: "small", Model: "small"}, {ID: "big", Model: "big"}}}},
		Prices: spec.Prices{Models: map[string]cost.Price{"small": {Out: 1}, "big": {Out: 10}}},
		Experiment: spec.Experiment{Name: "mine", Protocol: "split", Prices: "mine", Evaluate: spec.Evaluate{Confidence: 0.95},
			Methods: []spec.Method{fixed("small"), fixed("big"), {Name: "logistic", Label: "Logistic"}}},
	}}
	r.Spec.Experiment.Outputs = []spec.Output{{Kind: "verdict", File: "mine", Rows: []string{"logistic"}}}
	text, err := r.verdictText(r.Spec.Experiment.Outputs[0])
	if err != nil {
		t.Fatal(err)
	}
	best, pays, err := r.Recommended()
	if says := strings.Contains(text, "saves"); err != nil || pays != says || pays && (best.Row != "logistic" || best.Budget != 0) {
		t.Errorf("recommended is %+v, %v, %v beside:\n%s", best, pays, err, text)
	}
	return text
}

// What is said follows from the numbers: a saving of 100 minus the share of the dollars, and 80 points times what is kept beyond 100%.
func TestTheVerdictFollowsFromTheNumbers(t *testing.T) {
	for _, c := range []struct {
		of   judging
		want string
	}{
		{judging{1000, [3]float64{99.5, 98, 101}, [3]float64{69, 55, 88}, [3]float64{9, 7.5, 10.5}},
			"At the accuracy of big, the strongest expert, the router saves 31% [12, 45] of its dollars ($0.00852 instead of $0.0123 for 1,000 questions): Logistic. Its accuracy differs from that of big by -0.4 points [-1.6, 0.8], and is 9.0 points [7.5, 10.5] above the coin flip between small and big."},
		{judging{1000, [3]float64{90, 88, 92}, [3]float64{40, 36, 44}, [3]float64{12, 10.5, 13.5}},
			"Logistic, the router, is 12.0 points [10.5, 13.5] above the coin flip between small and big. Its accuracy differs from that of big, the strongest expert, by -8.0 points [-9.6, -6.4], and it saves 60% [56, 64] of the dollars ($0.00494 instead of $0.0123 for 1,000 questions)."},
		{judging{1000, [3]float64{90, 88, 92}, [3]float64{70, 66, 74}, [3]float64{0.5, -1, 2}},
			"No router is shown to be above the coin flip between small and big: Logistic, the router, differs from it by 0.5 points [-1.0, 2.0]."},
		{judging{100, [3]float64{90, 88, 92}, [3]float64{100, 98, 102}, [3]float64{0.5, -5.5, 6.5}},
			"No router is shown to be above always asking big: Logistic, the router, differs from it by 0.5 points [-5.5, 6.5]. 100 scored questions are too few to tell differences of 2 points; about 900 would do."},
		{judging{1000, [3]float64{90, 88, 92}, [3]float64{70, 66, 74}, [3]float64{4, -206, 214}},
			"No router is shown to be above the coin flip between small and big: Logistic, the router, differs from it by 4.0 points [-100.0, 100.0]. 1000 scored questions are too few to tell differences of 2 points; about 3000000 would do."},
		{judging{29, [3]float64{90, 88, 92}, [3]float64{70, 66, 74}, [3]float64{0, 0, 0}},
			"29 questions are too few to say whether a router pays: some hundreds are needed."},
		{judging{1, [3]float64{90, 88, 92}, [3]float64{70, 66, 74}, [3]float64{0, 0, 0}},
			"1 question is too few to say whether a router pays: some hundreds are needed."},
	} {
		text := c.of.text(t)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if got := lines[len(lines)-1]; got != c.want {
			t.Errorf("%+v\n%s\nwant\n%s", c.of, got, c.want)
		}
		if !strings.Contains(text, "0.00123 ") || !strings.Contains(text, "0.0123 ") {
			t.Errorf("dollars of 1,000 questions are missing:\n%s", text)
		}
	}
}

// A gain that is not defined has no verdict, and no words about one.
func TestAVerdictNeedsGains(t *testing.T) {
	v := Verdict{Finding: Undefined, Why: "the strongest expert cost nothing"}
	r := &Run{Spec: &spec.Resolved{Experiment: spec.Experiment{Methods: []spec.Method{{Name: "random"}}}}, Measurements: &metrics.Set{}}
	if got, want := said(t, "verdict", ofVerdict{r.words(), v}), "Whether a router pays cannot be said: the strongest expert cost nothing."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	var lines strings.Builder
	if v.lines(&lines); lines.String() != "" {
		t.Errorf("a table without a row: %q", lines.String())
	}
}

// Where trainings make an interval wide more questions would not help, and more trainings do.
func TestAWideVerdictSaysWhatNarrowsIt(t *testing.T) {
	for _, c := range []struct {
		spread float64
		want   string
	}{
		{0.4, "100 scored questions are too few to tell differences of 2 points; about 900 would do."},
		{0.6, "Most of the width of such intervals is the spread over 3 partitions: run it again with --partitions 10."},
	} {
		level := Judged{Label: "Logistic", Gain: Range{0.5, -5.5, 6.5}, Share: Range{100, 100, 100}, spread: c.spread}
		v := Verdict{Questions: 100, Routers: 1, Strongest: "big", Flip: []string{"big"}, routers: []Judged{level}}
		v.find()
		r := &Run{Measurements: &metrics.Set{}, Spec: &spec.Resolved{
			Pools:      []spec.Pool{{Name: "mine", Kind: "recorded", Recorded: &spec.Recorded{}}},
			Experiment: spec.Experiment{Protocol: "folds", Evaluate: spec.Evaluate{Confidence: 0.95}, Folds: spec.Folds{Seeds: []uint64{0, 1, 2}}},
		}}
		if got := said(t, "verdict", ofVerdict{r.words(), v}); !strings.HasSuffix(got, "differs from it by 0.5 points [-5.5, 6.5]. "+c.want) {
			t.Errorf("%g of the width is of trainings: %s\nwant %s", c.spread, got, c.want)
		}
	}
}

// Who is the dearest goes by the price of a token. A model that writes so much that it costs more is named.
func TestAModelThatCostsMoreThanTheDearestIsNamed(t *testing.T) {
	r := &Run{Measurements: &metrics.Set{}, Spec: &spec.Resolved{
		Pools:      []spec.Pool{{Name: "mine", Kind: "recorded", Recorded: &spec.Recorded{}}},
		Experiment: spec.Experiment{Protocol: "folds", Evaluate: spec.Evaluate{Confidence: 0.95}, Folds: spec.Folds{Seeds: []uint64{0}}},
	}}
	want := "thinker costs more per question than plain, which is called the dearest since no output tokens have a higher price: a budget is a part of what plain costs.\n"
	for low, names := range map[float64]bool{99: false, 101: true} {
		v := Verdict{Questions: 10, Routers: 1, Finding: TooFew, Dearest: "plain"}
		v.Dearer = dearer([]Judged{{Share: Range{100, 100, 100}}, {Share: Range{110, low, 120}}}, []string{"plain", "thinker"})
		if got := said(t, "verdict", ofVerdict{r.words(), v}); strings.Contains(got, want) != names {
			t.Errorf("its cost is at least %g%%: %s", low, got)
		}
	}
}

// For less than the cheapest expert costs some questions would have no answer, so no router spends that; and none spends more than it does
// without limit.
func TestABudgetIsARouterWhereItIsSpent(t *testing.T) {
	var values []metrics.Value
	for _, percent := range units.Budgets() {
		values = append(values, metrics.Rounded(1, fmt.Sprintf(units.GainAt, percent), 3).Within(0, 2), metrics.Rounded(50, fmt.Sprintf(units.QualityAt, percent), 3).Within(40, 106))
	}
	row := Judged{Label: "Logistic", line: metrics.Measurement{Name: "Route", Values: values}}
	for _, c := range []struct {
		cheapest, unlimited float64
		want                string
	}{
		{25, 120, "Logistic at 25%, Logistic at 50%, Logistic at 75%"},
		{26, 120, "Logistic at 50%, Logistic at 75%"},
		{76, 120, "Logistic"},
		{10, 62, "Logistic at 25%, Logistic at 50%, Logistic"},
		{10, 10, "Logistic"},
	} {
		row.Share.Number = c.unlimited
		var labels []string
		for _, j := range row.settings(spec.Method{Name: "logistic"}, c.cheapest) {
			labels = append(labels, j.Label)
			if j.Budget > 0 && j.Accuracy != (Range{50, 40, 100}) {
				t.Errorf("%s: accuracy %v, want no end beyond 100%%", j.Label, j.Accuracy)
			}
		}
		if got := strings.Join(labels, ", "); got != c.want {
			t.Errorf("the cheapest expert costs %g%%, and the row without limit %g%%: %s, want %s", c.cheapest, c.unlimited, got, c.want)
		}
	}
}
