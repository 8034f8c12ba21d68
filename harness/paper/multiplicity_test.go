package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

func TestAdjustedValuesByHand(t *testing.T) {
	for _, c := range []struct {
		name                string
		p, holm, discovered []float64
	}{
		{"none", nil, nil, nil},
		{"one is not adjusted", []float64{0.03}, []float64{0.03}, []float64{0.03}},
		// In order .005 .01 .03 .04. Holm: times 4, 3, 2, 1 is .02 .03 .06 .04, and none is below the one before.
		// Benjamini and Hochberg: times 4/1, 4/2, 4/3, 4/4 is .02 .02 .04 .04.
		{"four", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}, []float64{0.02, 0.04, 0.04, 0.02}},
		// Times 3, 2, 1 is .12 .1 .05; times 3/1, 3/2, 3/3 is .12 .075 .05, and none is above the one behind.
		{"rank counts more than value", []float64{0.05, 0.05, 0.04}, []float64{0.12, 0.12, 0.12}, []float64{0.05, 0.05, 0.05}},
		{"no more than certain", []float64{0.9, 0.6}, []float64{1, 1}, []float64{0.9, 0.9}},
	} {
		t.Run(c.name, func(t *testing.T) {
			close := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
			if got := holm(c.p); !slices.EqualFunc(got, c.holm, close) {
				t.Errorf("Holm: %v, want %v", got, c.holm)
			}
			if got := falseDiscovery(c.p); !slices.EqualFunc(got, c.discovered, close) {
				t.Errorf("false discovery rate: %v, want %v", got, c.discovered)
			}
		})
	}
}

// contrastOf is a contrast with its interval, made as those of measurements are.
func contrastOf(number, below, above float64, seeds ...float64) *Contrast {
	c := &Contrast{Value: metrics.Value{Number: number, Bounded: true}, questions: [2]float64{below, above}, Seeds: len(seeds)}
	if len(seeds) > 0 {
		c.spread = metrics.MeanOf(seeds)
	}
	c.Low, c.High = number-c.reach(0, 0.025), number+c.reach(1, 0.025)
	return c
}

func TestPValuesByHand(t *testing.T) {
	const z = 1.959963985 // of 95%
	level := &Ordering{Is: "level", Margin: 3}
	for _, c := range []struct {
		name string
		of   *Ordering
		on   *Contrast
		p    float64
	}{
		{"two errors above", &Ordering{Is: "above"}, contrastOf(2, z, 9), 0.0455},
		{"two errors below", &Ordering{Is: "above"}, contrastOf(-2, 9, z), 0.0455},
		{"one error", &Ordering{Is: "below"}, contrastOf(1, z, z), 0.3173},
		{"nothing", &Ordering{Is: "below"}, contrastOf(0, z, z), 1},
		{"two errors inside both edges", level, contrastOf(0, 1.5*z, 1.5*z), 0.0455},
		{"the nearer edge counts", level, contrastOf(1, z, z), 0.0455},
		{"two errors outside", level, contrastOf(-5, 9, z), 0.0455},
		{"ten errors are no more than the resamples say", &Ordering{Is: "above"}, contrastOf(10, z, z), 0.001},
		// Of three seeds the mean is 2 and its error 1/sqrt(3): t is 3.464 with two degrees of freedom, p is 0.0742.
		{"three seeds", &Ordering{Is: "above"}, contrastOf(2, 0, 0, 1, 2, 3), 0.0742},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.of.tested(Judged{Verdict: c.of.verdict(*c.on), Delta: c.on})
			if got == nil || math.Abs(got.P-c.p) > 0.00005 {
				t.Errorf("%+v, want p %v", got, c.p)
			}
		})
	}
	// With 80% power an error of 1 tells 1.96 + 0.8416.
	if got := level.tested(Judged{Verdict: Confirmed, Delta: contrastOf(0, z, z)}); math.Abs(got.Detectable-2.8016) > 0.0001 {
		t.Errorf("detectable: %v, want 2.8016", got.Detectable)
	}
	for name, j := range map[string]Judged{
		"assumed":         {Verdict: Assumed, Shows: Confirmed, Delta: contrastOf(2, z, z)},
		"not run":         {Verdict: NotRun},
		"no interval":     {Verdict: Inconclusive, Delta: &Contrast{}},
		"one training":    {Verdict: Inconclusive, Delta: &Contrast{Value: contrastOf(2, z, z).Value, questions: [2]float64{z, z}, Once: true}},
		"decide as one":   {Verdict: Refuted, Delta: contrastOf(0, 0, 0)},
		"seeds all alike": {Verdict: Confirmed, Delta: contrastOf(2, 0, 0, 2, 2)},
	} {
		if got := (&Ordering{Is: "above"}).tested(j); got != nil {
			t.Errorf("%s: %+v, want no test", name, got)
		}
	}
}

// An interval on recorded answers holds the spread over partitions by Student's t, and at other tails it does so too: 3 partitions of
// 5 folds with the differences 9, 10 and 11 have an error of sqrt(7/12), so that 3.29 of the 3.43 on either side are theirs.
func TestPValuesOfPartitionsAreByStudentsT(t *testing.T) {
	row := func(method, values string) string {
		return "BenchmarkRoute/experiment=logs/pool=p/method=" + method + "/benchmark=all" + values + "\n"
	}
	ours, cheap := " 100"+points("accuracy-%", 60, 50, 70)+points("cost-share-%", 40, 30, 50), " 100"+points("accuracy-%", 50, 40, 60)+points("difference-points", -10, -13.43, -6.57)+
		points("cost-share-%", 50, 40, 60)+points("cost-difference-%", 10, 6.57, 13.43)+points("lead-points", -10, -13.43, -6.57)+points("other-lead-points", 10, 6.57, 13.43)
	lines := row("ours", ours) + row("cheap", cheap)
	for k := range 3 {
		lines += row("ours", fmt.Sprintf("/seed=%d 100%s", k, points("accuracy-%", float64(59+k)))) +
			row("cheap", fmt.Sprintf("/seed=%d 100%s%s%s", k, points("accuracy-%", 50), points("lead-points", -10), points("other-lead-points", float64(9+k))))
	}
	const folds = " 5-fold cross-validation, 3 partitions. Intervals: 95%."
	for _, c := range []struct {
		metric, is, comment string
		p                   float64
	}{
		{"accuracy", "above", folds, 0.0059},
		{"equal-cost", "above", folds, 0.0059},
		{"cost", "below", folds, 0.0063},                  // no line tells what partitions add: all of it may be theirs
		{"accuracy", "above", " Something else.", 0.0063}, // nor how many folds share their questions
	} {
		set, err := metrics.Read("m.txt", strings.NewReader("#"+c.comment+"\n"+lines))
		if err != nil {
			t.Fatal(err)
		}
		m := &Measurements{}
		if err := m.Add("m.txt", set); err != nil {
			t.Fatal(err)
		}
		o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: "+c.is+", metric: "+c.metric+", recorded: {a: ours, b: cheap}}")
		rows, err := o.Judge("o.yaml", toyTables(t), m)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(rows[0].Judged, func(j Judged) bool { return j.Scale.Kind == "recorded" })
		j := rows[0].Judged[at]
		if low, high := math.Abs(j.Delta.Low), math.Abs(j.Delta.High); j.Verdict != Confirmed || math.Abs(min(low, high)-6.57) > 1e-9 || math.Abs(max(low, high)-13.43) > 1e-9 {
			t.Errorf("%s: %s, %+v", c.metric, j.Verdict, j.Delta)
		}
		if j.Tested == nil || math.Abs(j.Tested.P-c.p) > 0.00005 {
			t.Errorf("%s, %s: %+v, want p %v", c.metric, c.comment, j.Tested, c.p)
		}
	}
}

// Whatever might have decided is one of those that are adjusted for, whatever came of it.
func TestWhatMightHaveDecidedIsAmongTheTests(t *testing.T) {
	const z = 1.959963985
	lead := func(number, half float64) Contrast { return *contrastOf(number, half, half) }
	trade := &Ordering{Metric: atEqualCost, Is: "above"}
	for _, c := range []struct {
		name       string
		of         *Ordering
		why        string
		delta      Contrast
		equal      *EqualCost
		detectable float64
	}{
		{"neither leads", trade, whyNeither, lead(-1, z), &EqualCost{A: lead(-1, z), B: lead(-2, 2*z)}, 2 * 2.8016},
		{"a lead of nothing", trade, whyNeither, lead(0, 0), &EqualCost{A: lead(0, 0), B: lead(-2, z)}, 2.8016},
		{"both lead", trade, whyBoth, lead(4, z), &EqualCost{A: lead(4, z), B: lead(3, z)}, 2.8016},
		{"accuracy that was bought", &Ordering{Is: "above"}, whyStrongest, lead(4, z), &EqualCost{A: lead(0, 0), B: lead(-2, 3*z)}, 2.8016},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.of.tested(Judged{Verdict: Inconclusive, Why: c.why, Delta: &c.delta, Equal: c.equal})
			if got == nil || got.P != 1 || math.Abs(got.Detectable-c.detectable) > 0.0002 {
				t.Errorf("%+v, want p 1 and detectable %v", got, c.detectable)
			}
		})
	}
}

// Each number of a test has a column, beside the number of questions and what could have been told.
func TestTheTableOfVerdictsHasAColumnForEachNumberOfATest(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: above, recorded: {}}")
	m := measured(t,
		line("paper", "cheap", points("accuracy-%", 62, 61, 63)+points("difference-points", 2, 1, 3)+" 100 questions"+points("cost-share-%", 20, 19, 21)+points("cost-difference-%", 5, 4, 6)+points("lead-points", 1, 0.5, 1.5)+points("other-lead-points", -1, -2, 0)),
		line("paper", "ours", points("accuracy-%", 60, 59, 61)+" 120 questions"+points("cost-share-%", 15, 14, 16)))
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil {
		t.Fatal(err)
	}
	g := o.Sheet(rows, m).Grids[1]
	var got []string
	for _, r := range g.Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, strings.TrimSpace(c.Lead+" "+strings.Join(c.Lines, " ")))
		}
		got = append(got, strings.Join(cells, "|"))
	}
	want := []string{
		"Y. (s)||||||||",
		"The paper|not so in its own table|55.0 vs 80.0 %||||||",
		"Small|confirmed|+2.00 [1.00, 3.00] cost +5.0|+1.00 [0.50, 1.50]|100|1.43|≤0.001|≤0.001|≤0.001", // 1 + 0.8416/1.96
		"Big|not run toy without these rows|||||||",
		"Logs|not run logs|||||||",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Ordering, scale", "Verdict", "Difference", "At equal cost", "n", "Detectable", "p", "Holm", "FDR"}, g.Head); diff != "" {
		t.Error(diff)
	}
}

// A verdict that confirms or refutes is one with p up to 0.05, and the other way round.
func TestPDecidesAsTheIntervalDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := &Ordering{Is: rapid.SampledFrom([]string{"above", "below", "level"}).Draw(t, "is"), Margin: 1}
		number := rapid.Float64Range(-3, 3).Draw(t, "number")
		seeds := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 4).Draw(t, "seeds")
		if rapid.Bool().Draw(t, "untrained") {
			seeds = nil
		}
		c := contrastOf(number, rapid.Float64Range(0.01, 3).Draw(t, "below"), rapid.Float64Range(0.01, 3).Draw(t, "above"), seeds...)
		verdict := o.verdict(*c)
		p := o.tested(Judged{Verdict: verdict, Delta: c}).P
		if math.Abs(p-0.05) > 1e-9 && (p < 0.05) != (verdict != Inconclusive) {
			t.Fatalf("p %v, %s, %v [%v, %v]", p, verdict, c.Number, c.Low, c.High)
		}
	})
}

func TestHolmIsWithinASectionAndScale(t *testing.T) {
	tested := func(p float64) Judged {
		return Judged{Scale: Scale{ID: "s"}, Verdict: Confirmed, Tested: &Tested{P: p}}
	}
	other := tested(0.04)
	other.Scale.ID = "t"
	first, second := &Section{}, &Section{}
	rows := []Row{
		{Section: first, Judged: []Judged{tested(0.02), other}},
		{Section: first, Judged: []Judged{tested(0.03), {}}},
		{Section: second, Judged: []Judged{tested(0.04), {}}},
	}
	adjust(rows)
	got := []float64{rows[0].Judged[0].Tested.Holm, rows[0].Judged[1].Tested.Holm, rows[1].Judged[0].Tested.Holm, rows[2].Judged[0].Tested.Holm}
	if want := []float64{0.04, 0.04, 0.04, 0.04}; !slices.Equal(got, want) { // twice 0.02 and not below it; the others alone
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := survivors(rows[0].Judged), "2 of 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rows[0].Judged[1].Tested.Holm = 0.06
	if got, want := survivors(rows[0].Judged), "Holm 1, FDR 2 of 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := rows[1].Judged[0].Tested.FDR; math.Abs(got-0.04) > 1e-12 {
		t.Errorf("false discovery rate over all: %v, want 0.04", got)
	}
}
