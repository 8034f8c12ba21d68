package paper

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// claim1 is a claim with the given rest of its entry.
func claim1(t *testing.T, rest string) *Claim {
	t.Helper()
	return &list1(t, "claims:\n  - {id: x, source: s, says: y, verdict: not checkable, reason: r, "+rest+"}\n").Claims[0]
}

func onScale(t *testing.T, c *Claim, o *Orderings, scale Scale, m *Measurements) OnScale {
	t.Helper()
	on, err := c.onScale(ours{m, o, scale, toyTables(t)})
	if err != nil {
		t.Fatal(err)
	}
	return on
}

func close(t *testing.T, what string, c *Contrast, number, low, high float64) {
	t.Helper()
	if c == nil || math.Abs(c.Number-number) > 5e-4 || math.Abs(c.Low-low) > 5e-4 || math.Abs(c.High-high) > 5e-4 {
		t.Errorf("%s: %+v, want %v [%v, %v]", what, c, number, low, high)
	}
}

func TestAPrintedNumberIsHeldAgainstOurInterval(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	for _, c := range []struct {
		name      string
		low, high float64
		margin    float64
		want      string
	}{
		{"all of it within the margin", 59.1, 60.9, 1, Confirmed},
		{"within the margin, and the number outside it: near enough", 60.2, 60.9, 1, Confirmed},
		{"across the edge of the margin", 60.2, 63, 1, Inconclusive},
		{"the number inside, too wide for the margin", 58, 61.5, 1, Inconclusive},
		{"above the margin", 61.1, 63, 1, Refuted},
		{"below it", 57, 58.9, 1, Refuted},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := measured(t, line("paper", "ours", points("accuracy-%", (c.low+c.high)/2, c.low, c.high)))
			claim := claim1(t, fmt.Sprintf(`printed: "60.0", formula: "mean(toy, router/knob=2)", ours: {margin: %v, reason: m}`, c.margin))
			on := onScale(t, claim, o, o.Scales[0], m)
			if on.Verdict != c.want {
				t.Errorf("%+v, want %s", on, c.want)
			}
			if other := onScale(t, claim, o, o.Scales[1], m); other.Verdict != NotRun || other.Value != nil {
				t.Errorf("the other scale: %+v", other)
			}
		})
	}
	m := measured(t, line("paper", "ours", "60 accuracy-%"))
	claim := claim1(t, `printed: "60.0", formula: "mean(toy, router/knob=2)", ours: {margin: 1, reason: m}`)
	if on := onScale(t, claim, o, o.Scales[0], m); on.Verdict != Inconclusive || on.Value == nil {
		t.Errorf("without an interval: %+v", on)
	}
	claim = claim1(t, `printed: "60.0", formula: "mean(toy, router/knob=2)", ours: {margin: 1, reason: m, scales: [big]}`)
	if on := onScale(t, claim, o, o.Scales[0], m); on.Verdict != "" || on.Value != nil {
		t.Errorf("on a scale that it means nothing on: %+v", on)
	}
	claim = claim1(t, `printed: "60.0", formula: "mean(toy, router/knob=2)", ours: {margin: 1, needs: assumption, reason: m}`)
	if on := onScale(t, claim, o, o.Scales[0], m); on.Verdict != Assumed || on.Shows != Inconclusive {
		t.Errorf("%+v", on)
	}
}

// Of two measured numbers that are taken as independent, by hand: 80 [78, 82] and 50 [47, 52].
func TestIntervalsOfFormulas(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	m := measured(t,
		line("paper", "ours", points("accuracy-%", 80, 78, 82)+" 2 usd/query 1.8 usd-low/query 2.2 usd-high/query"+points("cost-share-%", 40, 38, 41)+points("hull-gain-points", 1, 0.5, 1.5)),
		line("paper", "cheap", points("accuracy-%", 50, 47, 52)+" 1 usd/query 0.9 usd-low/query 1.1 usd-high/query"),
		"toy/arena=paper/method=ours/benchmark=sim-b 10"+points("accuracy-%", 40, 30, 50)+points("usd", 3, 2, 4),
		line("paper", "dear", points("accuracy-%", 100, 98, 102)+" 5 usd/query 4 usd-low/query 6 usd-high/query"))
	for _, c := range []struct {
		formula           string
		number, low, high float64
	}{
		{"mean(toy, router/knob=2)", 80, 78, 82},
		{"accuracy(toy, router/knob=2, b)", 40, 30, 50},
		{"usd(toy, router/knob=2, b)", 3, 2, 4},
		{"query(toy, router/knob=2)", 2, 1.8, 2.2},
		{"total(toy, router/knob=2)", 8, 7.2, 8.8}, // four questions in the paper's table
		{"gain(toy, router/knob=2, cheap)", 1, 0.5, 1.5},
		{"100 - mean(toy, router/knob=2)", 20, 18, 22},
		{"mean(toy, router/knob=2) - mean(toy, cheap)", 30, 30 - math.Sqrt(4+4), 30 + math.Sqrt(4+9)},
		{"mean(toy, router/knob=2) + mean(toy, cheap)", 130, 130 - math.Sqrt(4+9), 130 + math.Sqrt(4+4)},
		{"2 * mean(toy, router/knob=2) - mean(toy, router/knob=2)", 80, 78, 82}, // the same number moves with itself
		{"query(toy, router/knob=2) / query(toy, cheap)", 2, 2 - math.Hypot(0.2, 2-2/1.1), 2 + math.Hypot(0.2, 2/0.9-2)},
		{"max(mean(toy, router/knob=2), mean(toy, cheap))", 80, 78, 82},
		{"saving(toy, router/knob=2, dear)", 60, 59, 62}, // 100 - cost share
		// 100 * (1 + d/100), with d = -20 by MOVER.
		{"retention(toy, router/knob=2, dear)", 80, 80 - math.Hypot(math.Hypot(2, 2), 20.0/98*100-20), 80 + math.Hypot(math.Hypot(2, 2), 20-20.0/102*100)},
	} {
		t.Run(c.formula, func(t *testing.T) {
			on := onScale(t, claim1(t, `formula: "`+c.formula+`", ours: {}`), o, o.Scales[0], m)
			close(t, c.formula, on.Value, c.number, c.low, c.high)
			if on.Verdict != "" {
				t.Errorf("a verdict without a printed number: %+v", on)
			}
		})
	}
}

// What was measured question by question is used, and not made again of its parts.
func TestPairedIntervalsComeFirst(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	m := measured(t,
		line("paper", "ours", points("accuracy-%", 80, 70, 90)+points("retention-%", 80, 79.5, 80.5)+points("saving-%", 60, 59.9, 60.2)+points("cost-share-%", 40, 30, 50)),
		line("paper", "cheap", points("accuracy-%", 50, 40, 60)+points("difference-points", -30, -31, -29)),
		line("paper", "dear", points("accuracy-%", 100, 90, 110)))
	for formula, want := range map[string][3]float64{
		"retention(toy, router/knob=2, dear)":         {80, 79.5, 80.5},
		"saving(toy, router/knob=2, dear)":            {60, 59.9, 60.2},
		"mean(toy, router/knob=2) - mean(toy, cheap)": {30, 29, 31},
	} {
		on := onScale(t, claim1(t, `formula: "`+formula+`", ours: {}`), o, o.Scales[0], m)
		close(t, formula, on.Value, want[0], want[1], want[2])
	}
}

// Seeds 78, 80 and 82 have a standard error of 2/sqrt(3), and the t quantile of two degrees of freedom is 4.3027.
func TestTheSpreadOverTrainingSeedsIsInTheInterval(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	// What is measured holds both spreads: 1 point over questions, and that over seeds.
	accuracy, retention := math.Hypot(1, 4.302652730*2/math.Sqrt(3)), math.Hypot(1, 4.302652730*4/math.Sqrt(3)) // of an expert with 50%
	lines := []string{line("paper", "ours", points("accuracy-%", 80, 80-accuracy, 80+accuracy)+points("retention-%", 80, 80-retention, 80+retention)), line("paper", "dear", points("accuracy-%", 50, 50, 50))}
	for seed, x := range []float64{78, 80, 82} {
		lines = append(lines, fmt.Sprintf("toy/arena=paper/method=ours/benchmark=avg/seed=%d 10 %v accuracy-%%", seed+1, x))
	}
	m := measured(t, lines...)
	for formula, half := range map[string]float64{
		"mean(toy, router/knob=2)":            accuracy,
		"retention(toy, router/knob=2, dear)": retention,
		// Questions are counted twice, as if they were others, and seeds once, since they are the same.
		"mean(toy, router/knob=2) + retention(toy, router/knob=2, dear) - 80": math.Hypot(math.Sqrt2, 4.302652730*6/math.Sqrt(3)),
	} {
		on := onScale(t, claim1(t, `formula: "`+formula+`", ours: {}`), o, o.Scales[0], m)
		close(t, formula, on.Value, 80, 80-half, 80+half)
		if on.Value.Seeds != 3 {
			t.Errorf("%+v", on.Value)
		}
	}
	m = measured(t, append(lines, "toy/arena=paper/method=ours/benchmark=sim-b 10"+points("accuracy-%", 40, 30, 50))...)
	if on := onScale(t, claim1(t, `formula: "accuracy(toy, router/knob=2, b)", ours: {}`), o, o.Scales[0], m); on.Value.Seeds != 0 || on.Value.Low != 30 || on.Value.High != 50 {
		t.Errorf("no line has single seeds of b, whose interval is as it was measured: %+v", on.Value)
	}
}

// Whatever a formula reads, one training decides nothing.
func TestAClaimAboutARowThatWasTrainedOnceCannotBeTold(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	lines := []string{
		line("paper", "ours", points("accuracy-%", 80, 79, 81)+points("cost-share-%", 60, 59, 61)+points("hull-gain-points", 2, 1, 3)),
		line("paper", "dear", points("accuracy-%", 100, 99, 101)),
	}
	once := []string{"toy/arena=paper/method=ours/benchmark=avg/seed=0 10 80 accuracy-%"}
	for formula, printed := range map[string]string{
		"mean(toy, router/knob=2)":                                 "80",
		"retention(toy, router/knob=2, dear)":                      "80",
		"saving(toy, router/knob=2, dear)":                         "40",
		"2 * (mean(toy, router/knob=2) - mean(toy, dear))":         "-40",
		"gain(toy, router/knob=2, cheap, dear) > 0":                "",
		"mean(toy, router/knob=2) < min(mean(toy, dear), 100 + 5)": "",
	} {
		rest := fmt.Sprintf(`formula: "%s", ours: {}`, formula)
		if printed != "" {
			rest = fmt.Sprintf(`printed: "%s", formula: "%s", ours: {margin: 9, reason: m}`, printed, formula)
		}
		claim := claim1(t, rest)
		if on := onScale(t, claim, o, o.Scales[0], measured(t, lines...)); on.Verdict != Confirmed || on.Value.Once {
			t.Errorf("%s: %s, %+v", formula, on.Verdict, on.Value)
		}
		if on := onScale(t, claim, o, o.Scales[0], measured(t, append(lines[:2:2], once...)...)); on.Verdict != Inconclusive || !on.Value.Once {
			t.Errorf("%s, trained once: %s, %+v", formula, on.Verdict, on.Value)
		}
	}
}

func TestAComparisonIsAsGoodAsItsWorstPart(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	row := func(method string, low, high float64) string {
		return line("paper", method, points("accuracy-%", 50, 50, 50)+points("difference-points", (low+high)/2, low, high)+" 1 usd/query 1 usd-low/query 1 usd-high/query")
	}
	ref := line("paper", "ours", points("accuracy-%", 60, 60, 60)+" 2 usd/query 1.5 usd-low/query 2.5 usd-high/query")
	for _, c := range []struct {
		name, formula string
		lines         []string
		want, against string
	}{
		{"above both", "mean(toy, router/knob=2) > max(mean(toy, cheap), mean(toy, dear))", []string{row("cheap", -9, -8), row("dear", -3, -1)}, Confirmed, "dear"},
		{"above one, and not told from the other", "mean(toy, router/knob=2) > max(mean(toy, dear), mean(toy, cheap))", []string{row("cheap", -9, -8), row("dear", -3, 1)}, Inconclusive, "dear"},
		{"below one", "mean(toy, router/knob=2) > max(mean(toy, dear), mean(toy, cheap))", []string{row("cheap", 8, 9), row("dear", -3, 1)}, Refuted, "cheap"},
		{"two comparisons", "mean(toy, router/knob=2) > mean(toy, cheap) and mean(toy, dear) < mean(toy, router/knob=2)", []string{row("cheap", -9, -8), row("dear", -3, -1)}, Confirmed, "router/knob=2"},
		{"a greatest on the other side is one number", "max(mean(toy, router/knob=2), mean(toy, cheap)) > 59", []string{row("cheap", -9, -8)}, Confirmed, ""},
		{"costs", "query(toy, router/knob=2) > query(toy, cheap)", []string{row("cheap", 0, 0)}, NotRun, ""}, // no share of the strongest's cost
		{"a row that was not run", "mean(toy, router/knob=2) > max(mean(toy, cheap), mean(toy, dear))", []string{row("cheap", -9, -8)}, NotRun, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := onScale(t, claim1(t, `formula: "`+c.formula+`", ours: {}`), o, o.Scales[0], measured(t, append(c.lines, ref)...))
			if on.Verdict != c.want || on.Against != c.against {
				t.Errorf("%s beside %q, want %s beside %q", on.Verdict, on.Against, c.want, c.against)
			}
		})
	}
}

func TestALeadIsOverEveryRowOfThePapersTableOnEveryBenchmark(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	at := func(method, benchmark string, low, high float64) string {
		return fmt.Sprintf("toy/arena=paper/method=%s/benchmark=%s 10 50 accuracy-%%", method, benchmark) + points("difference-points", (low+high)/2, low, high)
	}
	m := measured(t, at("ours", "a", 0, 0), at("ours", "sim-b", 0, 0), at("cheap", "a", -9, -8), at("cheap", "sim-b", -2, 1), at("dear", "a", -9, -8), at("dear", "sim-b", 3, 4))
	on := onScale(t, claim1(t, `formula: "lead(toy, router/knob=2) > 0", ours: {}`), o, o.Scales[0], m)
	if on.Verdict != Refuted || on.Against != "dear on b" || on.Value.Number != -3.5 {
		t.Errorf("%+v", on)
	}
	on = onScale(t, claim1(t, `formula: "lead(toy, router/knob=2, dear) > 0", ours: {}`), o, o.Scales[0], m)
	if on.Verdict != Inconclusive || on.Against != "cheap on b" {
		t.Errorf("%+v", on)
	}
	_, err := claim1(t, `formula: "lead(toy, router/knob=2) - 1 > 0", ours: {}`).onScale(ours{m, o, o.Scales[0], toyTables(t)})
	if err == nil || !strings.Contains(err.Error(), "a lead stands alone") {
		t.Errorf("%v", err)
	}
}

// Recorded answers have some of the tables and rows under other names, one average, and costs in percent of the strongest
// expert's.
func TestClaimsOnRecordedAnswers(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	logs := o.Scales[2]
	logs.Rows = map[string]string{"router/knob=2": "ours", "dear": "strongest"}
	m := measured(t,
		"logs/pool=p/method=ours/benchmark=all 100"+points("accuracy-%", 60, 55, 65)+points("cost-share-%", 40, 38, 42)+points("hull-gain-points", -2, -3, -1),
		"logs/pool=p/method=ours/benchmark=gsm8k 50 10 accuracy-%",
		"logs/pool=p/method=strongest/benchmark=all 100"+points("accuracy-%", 80, 80, 80)+points("difference-points", 20, 18, 22),
		"logs/pool=q/method=ours/benchmark=all 100 1 accuracy-%")
	for _, c := range []struct {
		formula, verdict, against string
		number                    float64
	}{
		{"retention(toy, router/knob=2, dear)", "", "", 75},
		{"saving(toy, router/knob=2, dear)", "", "", 60},
		{"accuracy(toy, router/knob=2, avg)", "", "", 60},
		{"gain(toy, router/knob=2, dear) > 0", Refuted, "", -2},
		{"mean(toy, router/knob=2) < max(mean(toy, dear), mean(toy, cheap))", NotRun, "", 0}, // a greatest on the wrong side needs every row
		{"mean(toy, router/knob=2) < min(mean(toy, dear), mean(toy, cheap))", Confirmed, "strongest", -20},
	} {
		on := onScale(t, claim1(t, `formula: "`+c.formula+`", ours: {}`), o, logs, m)
		if on.Value == nil && c.verdict == NotRun {
			continue
		}
		if on.Verdict != c.verdict || on.Against != c.against || on.Value == nil || math.Abs(on.Value.Number-c.number) > 1e-9 {
			t.Errorf("%s: %+v %+v, want %s", c.formula, on, on.Value, c.verdict)
		}
	}
	on := onScale(t, claim1(t, `formula: "retention(toy, router/knob=2, dear)", ours: {}`), o, logs, m)
	close(t, "retention of a paired difference", on.Value, 75, 72.5, 77.5)
	for _, formula := range []string{"mean(toy, cheap)", "mean(ood, dear)", "accuracy(toy, router/knob=2, b)", "share(toy, router/knob=2, easy, dear)"} {
		if on := onScale(t, claim1(t, `ours: {formula: "`+formula+`"}`), o, logs, m); on.Verdict != "" || on.Value != nil {
			t.Errorf("%s means nothing there: %+v", formula, on)
		}
	}
}

// Shares of cost are of the dearest expert's; the strongest may be another, and what is saved is saved of its cost.
func TestWhatIsSavedIsOfTheStrongestExpertsCost(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	logs := o.Scales[2]
	logs.Rows = map[string]string{"router/knob=2": "ours", "dear": "strongest"}
	router := "logs/pool=p/method=ours/benchmark=all 100" + points("accuracy-%", 60, 59, 61) + points("cost-share-%", 4, 3.8, 4.2)
	claim := claim1(t, `formula: "saving(toy, router/knob=2, dear)", ours: {}`)
	for share, want := range map[string][3]float64{
		// 1 - 4/8, as a ratio of numbers taken as independent (MOVER of logarithms has it otherwise by less than a digit of these).
		points("cost-share-%", 8, 8, 8):       {50, 47.5, 52.5},
		points("cost-share-%", 100, 100, 100): {96, 95.8, 96.2},
		points("cost-share-%", 0, 0, 0):       {96, 95.8, 96.2}, // nothing can be saved of nothing
	} {
		m := measured(t, router, "logs/pool=p/method=strongest/benchmark=all 100"+points("accuracy-%", 80, 80, 80)+share)
		close(t, share, onScale(t, claim, o, logs, m).Value, want[0], want[1], want[2])
	}
}

// A number that a router has because it asks one expert is that expert's, and confirms nothing said of a router.
func TestWhatOneExpertHasIsNotConfirmedOfARouter(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	o.Experts = []string{"cheapest", "strongest"}
	logs := o.Scales[2]
	logs.Rows = map[string]string{"router/knob=2": "ours", "cheap": "cheapest", "dear": "strongest"}
	claim := claim1(t, `printed: "60", formula: "saving(toy, router/knob=2, dear)", ours: {margin: 5, reason: r}`)
	judged := func(accuracy float64) OnScale {
		return onScale(t, claim, o, logs, measured(t,
			"logs/pool=p/method=ours/benchmark=all 100"+points("accuracy-%", accuracy, 59, 64)+points("cost-share-%", 40, 39, 41),
			"logs/pool=p/method=cheapest/benchmark=all 100"+points("accuracy-%", 60, 59, 61)+points("cost-share-%", 40, 39, 41),
			"logs/pool=p/method=strongest/benchmark=all 100"+points("accuracy-%", 80, 79, 81)+points("cost-share-%", 100, 100, 100)))
	}
	if on := judged(60); on.Verdict != Inconclusive || on.Why != "always asks one expert" || on.Value.Number != 60 {
		t.Errorf("always the cheapest: %+v", on)
	}
	if on := judged(63); on.Verdict != Confirmed || on.Why != "" {
		t.Errorf("as dear, and three points better: %+v", on)
	}
}

func TestSharesAreReadOnMeasurementsAlone(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	m := measured(t, "toy/arena=paper/method=ours/stratum=easy/expert=cheap 10"+points("share-%", 60, 58, 62))
	c := claim1(t, `printed: "76.0", ours: {formula: "share(toy, router/knob=2, easy, cheap)", margin: 5, reason: m}`)
	on := onScale(t, c, o, o.Scales[0], m)
	if on.Verdict != Refuted {
		t.Errorf("%+v", on)
	}
}

// A column that no function names is the paper's alone: ours has other names for what it measures.
func TestCellsAreOfAPapersTablesAlone(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	m := measured(t, "toy/arena=paper/method=cheap/benchmark=avg 10"+points("accuracy-%", 60, 58, 62))
	_, err := claim1(t, `printed: "60", ours: {formula: "cell(toy, cheap, avg, accuracy-%)", margin: 5, reason: m}`).onScale(ours{m, o, o.Scales[0], toyTables(t)})
	if err == nil || !strings.Contains(err.Error(), "a cell is one of a paper's tables") {
		t.Error(err)
	}
}

// The interval of a sum is never narrower than that of either term, nor wider than both together, and it holds the number.
func TestIntervalsOfSumsAddInQuadrature(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) reading {
			x := rapid.Float64Range(-5, 5).Draw(t, name)
			return reading{Value: metrics.Value{Number: x, Low: x - rapid.Float64Range(0, 3).Draw(t, name+" down"), High: x + rapid.Float64Range(0, 3).Draw(t, name+" up"), Bounded: true}}
		}
		a, b := draw("a"), draw("b")
		c, err := propagate([]reading{a, b}, func(x []float64) float64 { return x[0] + x[1] })
		if err != nil {
			t.Fatal(err)
		}
		up := c.High - c.Number
		if widest := max(a.High-a.Number, b.High-b.Number); up < widest-1e-9 || up > a.High-a.Number+b.High-b.Number+1e-9 {
			t.Fatalf("%v up, of %v and %v", up, a, b)
		}
	})
	x := reading{Value: metrics.Value{Bounded: true}, seeds: map[string]float64{"1": 1, "2": 2}}
	y := reading{Value: metrics.Value{Bounded: true}, seeds: map[string]float64{"1": 1, "3": 2}}
	if _, err := propagate([]reading{x, y}, func(x []float64) float64 { return x[0] }); err == nil || !strings.Contains(err.Error(), "they have to be the same") {
		t.Errorf("%v", err)
	}
	if _, err := propagate([]reading{x}, func(x []float64) float64 { return 1 / x[0] }); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Errorf("%v", err)
	}
}

// committed are the measurements under figures/.
func committed(t *testing.T) *Measurements {
	t.Helper()
	files, err := filepath.Glob("../../figures/*/measurements.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	m := &Measurements{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set, err := metrics.Read(name, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(name, set); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// A row that is missing in the list would be taken for trained once, and one too many would be judged by one training.
func TestRowsWithoutSeedsAreThoseThatHaveNoneInTheCommittedMeasurements(t *testing.T) {
	m := committed(t)
	_, _, o := builtIn(t)
	seeded := map[Named]bool{}
	for experiment, lines := range m.of {
		for _, line := range lines {
			if line.Key("arena") == "" {
				continue // of recorded answers: every partition has a line
			}
			row := Named{experiment, line.Key("method")}
			seeded[row] = seeded[row] || line.Key("seed") != ""
		}
	}
	for _, row := range o.Rows() {
		if has, measured := seeded[row]; measured && m.seeded[row.Experiment] && has == slices.Contains(o.Seedless, row.Row) {
			t.Errorf("%+v: single seeds %v", row, has)
		}
	}
}

// A claim that misspells a row of ours would be "not run" for ever.
func TestEveryClaimIsJudgedOnTheCommittedMeasurements(t *testing.T) {
	m := committed(t)
	tables, l, o := builtIn(t)
	findings, err := l.Check("claims.yaml", tables, m, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(findings, m.CheckTables()...) {
		if f.Differs != "" {
			t.Errorf("%s: %s", f.ID, f.Differs)
		}
		told := 0
		for _, on := range f.Ours {
			if on.Verdict == NotRun {
				t.Errorf("%s on %s: not run", f.ID, on.Scale.ID)
			}
			if on.Value != nil {
				told++
				if !on.Value.Bounded {
					t.Errorf("%s on %s has no interval", f.ID, on.Scale.ID)
				}
			}
		}
		if f.Ours != nil && told == 0 {
			t.Errorf("%s means something on our measurements, and nothing was measured", f.ID)
		}
	}
}
