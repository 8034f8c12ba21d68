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

const head = `hull: coin
reference: ours
scales:
  - {id: small, title: Small, kind: simulated, keys: {arena: paper}}
  - {id: big, title: Big, kind: simulated, keys: {arena: large}}
  - {id: logs, title: Logs, kind: recorded, keys: {pool: p}, average: all, experiments: {toy: logs}}
names: {benchmarks: {b: sim-b}, rows: {toy: {router/knob=2: ours}}}
sections:
  - title: Toy
    table: toy
    orderings:
`

func orderings(t *testing.T, items ...string) *Orderings {
	t.Helper()
	o, err := ReadOrderings("o.yaml", []byte(head+"      - "+strings.Join(items, "\n      - ")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func measured(t *testing.T, lines ...string) *Measurements {
	t.Helper()
	var text strings.Builder
	for _, l := range lines {
		text.WriteString("BenchmarkRoute/experiment=" + l + "\n")
	}
	set, err := metrics.Read("m.txt", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	m := &Measurements{}
	if err := m.Add("m.txt", set); err != nil {
		t.Fatal(err)
	}
	return m
}

// line is a measurement of a row on average, with the given pairs of number and unit behind it.
func line(arena, method, values string) string {
	return fmt.Sprintf("toy/arena=%s/method=%s/benchmark=avg 100 %s", arena, method, values)
}

func points(unit string, x ...float64) string {
	stem, tail := unit, ""
	if s, ok := strings.CutSuffix(unit, "-%"); ok {
		stem, tail = s, "-%"
	}
	if len(x) == 1 {
		return fmt.Sprintf(" %v %s", x[0], unit)
	}
	return fmt.Sprintf(" %v %s %v %s-low%s %v %s-high%s", x[0], unit, x[1], stem, tail, x[2], stem, tail)
}

func judged(t *testing.T, o *Orderings, m *Measurements) Judged {
	t.Helper()
	rows, err := o.Judge("o.yaml", toyTables(t), m)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v, %v", rows, err)
	}
	return rows[0].Judged[0]
}

func TestVerdictsByTheInterval(t *testing.T) {
	for _, c := range []struct {
		name, is    string
		d, low, hig float64
		want        string
	}{
		{"above, and the interval too", "is: above", 1, 0.001, 2, Confirmed},
		{"above, the interval touches 0", "is: above", 1, 0, 2, Inconclusive},
		{"above, the interval covers 0", "is: above", 1, -1, 3, Inconclusive},
		{"below, the interval touches 0 from below", "is: above", -1, -2, 0, Inconclusive},
		{"below, and the interval too", "is: above", -1, -2, -0.001, Refuted},
		{"wanted above and level to the last digit", "is: above", 0, 0, 0, Inconclusive},
		{"wanted below and level to the last digit", "is: below", 0, 0, 0, Inconclusive},
		{"wanted below and is", "is: below", -1, -2, -0.001, Confirmed},
		{"wanted below and touches", "is: below", -1, -2, 0, Inconclusive},
		{"wanted below and is above", "is: below", 1, 0.001, 2, Refuted},
		{"wanted level and inside the margin", "is: level, margin: 1", 0.2, -0.9, 1, Confirmed},
		{"wanted level and half outside", "is: level, margin: 1", 0.8, 0.5, 1.1, Inconclusive},
		{"wanted level and outside above", "is: level, margin: 1", 2, 1.001, 3, Refuted},
		{"wanted level and outside below", "is: level, margin: 1", -2, -3, -1.001, Refuted},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := orderings(t, "{id: x, source: s, says: y, a: cheap, b: router/knob=2, "+c.is+"}")
			m := measured(t,
				line("paper", "cheap", points("accuracy-%", 50, 40, 60)+points("difference-points", c.d, c.low, c.hig)),
				line("paper", "ours", points("accuracy-%", 60, 50, 70)))
			j := judged(t, o, m)
			if j.Verdict != c.want || !j.Delta.Paired || j.Delta.Number != c.d {
				t.Errorf("%s, %+v; want %s", j.Verdict, j.Delta, c.want)
			}
		})
	}
}

// Accuracy can be bought: a router that all but always asks the strongest expert is more accurate than others by that expert alone, unless it
// gets more for the same money. A sentence about the expert itself is judged as any other.
func TestARowThatAlwaysAsksTheStrongestConfirmsNothing(t *testing.T) {
	const above, below = "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}", "{id: x, source: s, says: y, a: cheap, b: router/knob=2, is: below}"
	for _, c := range []struct {
		name, item         string
		difference, lead   []float64 // of cheap to ours; of ours over cheap
		cost, margin       float64   // share of the strongest's; the other row's
		experts            []string
		verdict, why, says string
	}{
		{"all of its cost, no lead", above, []float64{-2, -3, -1}, []float64{0, 0, 0}, 100, 5, nil, Inconclusive, "always asks the strongest", "inconclusive (always asks the strongest)"},
		{"the sentence the other way round", below, []float64{-2, -3, -1}, []float64{0, -1, 1}, 99, 5, nil, Inconclusive, "always asks the strongest", "inconclusive (always asks the strongest)"},
		{"a lead", above, []float64{-2, -3, -1}, []float64{0.5, 0.1, 1}, 99.9, 5, nil, Confirmed, "", "confirmed"},
		{"less of its cost", above, []float64{-2, -3, -1}, []float64{0, -1, 1}, 98.9, 5, nil, Confirmed, "", "confirmed"},
		{"the other row asks it always", above, []float64{-2, -3, -1}, []float64{0, -1, 1}, 50, 100, nil, Confirmed, "", "confirmed"},
		{"refuted all the same", above, []float64{2, 1, 3}, []float64{0, -1, 1}, 100, 5, nil, Refuted, "", "refuted"},
		{"it is that expert", above, []float64{-2, -3, -1}, []float64{0, 0, 0}, 100, 5, []string{"ours"}, Confirmed, "", "confirmed"},
		{"the strongest is not the dearest", above, []float64{-2, -3, -1}, []float64{0, -1, 1}, 40, 5, nil, Inconclusive, "always asks the strongest", "inconclusive (always asks the strongest)"},
		{"as dear and far less accurate: it asks others", above, []float64{-2, -3, -1}, []float64{0, -1, 1}, 100, 5, nil, Confirmed, "", "confirmed"},
		{"dearer than the strongest", above, []float64{-2, -3, -1}, []float64{0, -1, 1}, 41, 5, nil, Confirmed, "", "confirmed"},
		{"level", above, []float64{0, 0, 0}, []float64{0, 0, 0}, 100, 5, nil, Inconclusive, "level", "inconclusive (level)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := orderings(t, c.item)
			o.Experts, o.Strongest = c.experts, "dear"
			strongest, best := 100.0, points("accuracy-%", 53, 52, 54)
			if strings.HasSuffix(c.name, "it asks others") {
				best = points("accuracy-%", 54, 53, 55)
			}
			if c.cost < 50 {
				strongest = 40
			}
			m := measured(t,
				line("paper", "dear", best+points("cost-share-%", strongest)),
				line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", c.difference...)+points("cost-share-%", c.margin)+points("lead-points", -1, -2, 1)+points("other-lead-points", c.lead...)),
				line("paper", "ours", points("accuracy-%", 52, 51, 53)+points("cost-share-%", c.cost)))
			j := judged(t, o, m)
			if j.Verdict != c.verdict || j.Why != c.why || j.phrase() != c.says {
				t.Errorf("%s, %q, printed as %q; want %s, %q, %q", j.Verdict, j.Why, j.phrase(), c.verdict, c.why, c.says)
			}
			if c.item != above {
				return
			}
			l := list1(t, `claims:
  - {id: z, source: s, says: y, verdict: holds, formula: "mean(toy, router/knob=2) > max(mean(toy, cheap), 1)", ours: {}}
`)
			found, err := l.Check("c.yaml", toyTables(t), m, o)
			if err != nil || found[0].Ours[0].Verdict != c.verdict || found[0].Ours[0].Why != c.why {
				t.Errorf("as a claim: %+v (%v)", found[0].Ours[0], err)
			}
		})
	}
}

func TestADifferenceFromTheReferenceIsTurnedRound(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	m := measured(t,
		line("paper", "cheap", points("accuracy-%", 50, 40, 60)+points("difference-points", -10, -12, -9)+points("cost-share-%", 5, 4, 6)+points("cost-difference-%", -20, -21, -18)+points("lead-points", 0, -1, 1)+points("other-lead-points", 3, 2, 4)),
		line("paper", "ours", points("accuracy-%", 60, 50, 70)+points("cost-share-%", 25, 24, 26)))
	j := judged(t, o, m)
	want := [][]float64{{10, 9, 12}, {20, 18, 21}, {3, 2, 4}, {0, -1, 1}, {3, 2, 4}}
	for i, c := range []*Contrast{j.Delta, j.Cost, &j.Equal.A, &j.Equal.B, &j.Equal.Told} {
		if diff := cmp.Diff(want[i], []float64{c.Number, c.Low, c.High}); diff != "" || !c.Paired {
			t.Errorf("%d: %s", i, diff)
		}
	}
	if j.Verdict != Confirmed {
		t.Errorf("%s", j.Verdict)
	}
}

func TestRowsThatAreNotTheReferenceAreComparedByTheirOwnIntervals(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: dear, b: cheap, is: above}")
	dear, cheap := line("paper", "dear", points("accuracy-%", 60, 57, 64)), line("paper", "cheap", points("accuracy-%", 50, 47, 54))
	j := judged(t, o, measured(t, dear, cheap))
	// Down: 3 below dear and 4 above cheap make 5; up: 4 and 3.
	if diff := cmp.Diff([]float64{10, 5, 15}, []float64{j.Delta.Number, j.Delta.Low, j.Delta.High}); diff != "" || j.Delta.Paired {
		t.Errorf("%s, %+v", diff, j.Delta)
	}
	// Unless a line holds the pair.
	contrast := "toy/arena=paper/row=cheap/versus=dear/benchmark=avg 100" + points("difference-points", -10, -10.5, -9)
	j = judged(t, o, measured(t, dear, cheap, contrast))
	if diff := cmp.Diff([]float64{10, 9, 10.5}, []float64{j.Delta.Number, j.Delta.Low, j.Delta.High}); diff != "" || !j.Delta.Paired {
		t.Errorf("%s, %+v", diff, j.Delta)
	}
	if j = judged(t, o, measured(t, line("paper", "dear", points("accuracy-%", 60)), cheap)); j.Verdict != Inconclusive {
		t.Errorf("without an interval: %s", j.Verdict)
	}
}

func TestTrainingSeedsWidenTheInterval(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	seed := func(method string, k int, x float64) string {
		return fmt.Sprintf("toy/arena=paper/method=%s/benchmark=avg/seed=%d 100%s", method, k, points("accuracy-%", x))
	}
	// The mean of 8, 10 and 12 has the t interval 10 +- 4.303 * 2/sqrt(3); questions add 3 points to it.
	half := math.Hypot(3, 4.302652729911275*2/math.Sqrt(3))
	lines := []string{
		line("paper", "cheap", points("accuracy-%", 50, 40, 60)+points("difference-points", -10, -10-half, -10+half)),
		line("paper", "ours", points("accuracy-%", 60, 50, 70)),
		seed("ours", 1, 58), seed("ours", 2, 60), seed("ours", 3, 62),
	}
	j := judged(t, o, measured(t, lines...))
	if math.Abs(j.Delta.Low-(10-half)) > 1e-9 || math.Abs(j.Delta.High-(10+half)) > 1e-9 || j.Delta.Seeds != 3 {
		t.Errorf("%+v, want 10 +- %v", j.Delta, half)
	}
	if math.Abs(j.Delta.questions[0]-3) > 1e-9 || math.Abs(j.Delta.questions[1]-3) > 1e-9 {
		t.Errorf("%v of questions, want 3", j.Delta.questions)
	}
	// A row that moves with the other seed by seed leaves no spread; the interval is as it was measured.
	j = judged(t, o, measured(t, append(lines, seed("cheap", 1, 48), seed("cheap", 2, 50), seed("cheap", 3, 52))...))
	if j.Delta.Low != 10-half || j.Delta.High != 10+half || j.Delta.Seeds != 3 {
		t.Errorf("%+v, want 10 +- %v", j.Delta, half)
	}
	// Of rows without a paired difference each loses its own spread, and that of the differences takes its place.
	own := math.Hypot(4, 4.302652729911275*2/math.Sqrt(3))
	unpaired := append([]string{line("paper", "cheap", points("accuracy-%", 50, 47, 53)), line("paper", "ours", points("accuracy-%", 60, 60-own, 60+own))}, lines[2:]...)
	j = judged(t, o, measured(t, unpaired...))
	if want := math.Hypot(5, 4.302652729911275*2/math.Sqrt(3)); math.Abs(j.Delta.Low-(10-want)) > 1e-9 || math.Abs(j.Delta.High-(10+want)) > 1e-9 {
		t.Errorf("%+v, want 10 +- %v", j.Delta, want)
	}
	_, err := o.Judge("o.yaml", toyTables(t), measured(t, append(lines, seed("cheap", 1, 48), seed("cheap", 2, 50))...))
	if err == nil || !strings.Contains(err.Error(), "o.yaml:12: x: experiment toy on scale small: benchmark=avg/method=ours has the seeds 1, 2, 3, benchmark=avg/method=cheap has 1, 2") {
		t.Errorf("%v", err)
	}
}

// What one training gives says nothing about another: a row with one single seed is judged only where other measurements
// show that its seeds are all the same.
func TestARowThatWasTrainedOnceCannotBeToldFromAnother(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, recorded: {}}")
	lines := []string{
		line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9)),
		line("paper", "ours", points("accuracy-%", 60, 59, 61)),
	}
	seeds := func(experiment, method string, x ...float64) (more []string) {
		for i, v := range x {
			more = append(more, fmt.Sprintf("%s/arena=paper/method=%s/benchmark=avg/seed=%d 100%s", experiment, method, i, points("accuracy-%", v)))
		}
		return more
	}
	lines = slices.Concat(lines, seeds("toy", "cheap", 50), seeds("toy", "ours", 60))
	same := func(method string) []string { return seeds("other", method, 50, 50) }
	differ := func(method string) []string { return seeds("other", method, 50, 51) }
	for _, c := range []struct {
		name string
		more []string
		once bool
	}{
		{"nothing else is known", nil, true},
		{"one of the two is trained", slices.Concat(same("cheap"), differ("ours")), true},
		{"the other of the two is trained", slices.Concat(differ("cheap"), same("ours")), true},
		{"neither is trained", slices.Concat(same("cheap"), same("ours")), false},
		{"both have another seed here", slices.Concat(seeds("toy", "cheap", 50, 50)[1:], seeds("toy", "ours", 60, 60)[1:]), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := judged(t, o, measured(t, slices.Concat(lines, c.more)...))
			want := map[bool]string{true: Inconclusive, false: Confirmed}[c.once]
			if j.Verdict != want || j.Delta.Once != c.once || slices.Equal(j.Delta.trainings(), []string{"trained once"}) != c.once {
				t.Errorf("%s, %+v; want %s", j.Verdict, j.Delta, want)
			}
		})
	}
}

// 'run --seeds 1' writes no line of a single seed: its file says that a program made it, and that is all there is to know.
func TestAFileOfOneTrainingTellsOnlyOfRowsWithoutSeeds(t *testing.T) {
	const over = "{id: x, source: s, says: y, a: %s, b: cheap, is: above}"
	lines := "BenchmarkRoute/experiment=" + strings.Join([]string{
		line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", -10, -11, -9)),
		line("paper", "dear", points("accuracy-%", 55, 54, 56)+points("difference-points", -5, -6, -4)),
		line("paper", "ours", points("accuracy-%", 60, 59, 61)),
	}, "\nBenchmarkRoute/experiment=") + "\n"
	single := "BenchmarkRoute/experiment=toy/arena=paper/method=ours/benchmark=avg/seed=%d 100 6%d accuracy-%%\n"
	for _, c := range []struct {
		name, comment, more, row, want string
	}{
		{"a trained row", "# Made with seed 1 by backend go on amd64.\n", "", "router/knob=2", Inconclusive},
		{"a row without seeds", "# Made with seed 1 by backend go on amd64.\n", "", "dear", Confirmed},
		{"two trainings", "# Made with seed 1 by backend go on amd64.\n", fmt.Sprintf(single+single, 1, 0, 2, 0), "router/knob=2", Confirmed},
		{"a file of somebody else", "# Copied.\n", "", "router/knob=2", Confirmed},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := orderings(t, fmt.Sprintf(over, c.row))
			o.Seedless = []string{"cheap", "dear"}
			set, err := metrics.Read("m.txt", strings.NewReader(c.comment+lines+c.more))
			if err != nil {
				t.Fatal(err)
			}
			m := &Measurements{}
			if err := m.Add("m.txt", set); err != nil {
				t.Fatal(err)
			}
			if j := judged(t, o, m); j.Verdict != c.want || j.Delta.Once != (c.want == Inconclusive) {
				t.Errorf("%s, %+v; want %s", j.Verdict, j.Delta, c.want)
			}
			l := list1(t, "claims:\n  - {id: z, source: s, says: y, verdict: holds, formula: \"mean(toy, "+c.row+") > mean(toy, cheap)\", ours: {}}\n")
			found, err := l.Check("c.yaml", toyTables(t), m, o)
			if err != nil || found[0].Ours[0].Verdict != c.want {
				t.Errorf("as a claim: %+v (%v)", found[0].Ours[0], err)
			}
		})
	}
}

// The contrast at equal cost is judged by what the sentence says, and decides nothing where the sentence cannot.
func TestAtEqualCostTheSentenceIsTheSame(t *testing.T) {
	for _, c := range []struct {
		is          string
		lead, other []float64 // number, low, high: of cheap over ours, of ours over cheap
		want        string
	}{
		{"is: above", []float64{1.5, 1, 2}, []float64{-1, -2, 0}, "confirmed"},
		{"is: above", []float64{1.5, 1, 2}, []float64{1.5, 1, 2}, "confirmed"}, // each is best where it stands
		{"is: above", []float64{0.5, -1, 2}, []float64{1.5, 1, 2}, "inconclusive"},
		{"is: above", []float64{-2, -3, -1}, []float64{-2, -3, -1}, "refuted"}, // both lie below the fixed experts
		{"is: below", []float64{-1, -2, 0}, []float64{1.5, 1, 2}, "confirmed"},
		{"is: below", []float64{1, 0, 2}, []float64{-1.5, -2, -1}, "refuted"},
		{"is: below", []float64{0, 0, 0}, []float64{0, 0, 0}, "inconclusive (level)"},
		{"is: level, margin: 3", []float64{1, 0, 2}, []float64{-9, -10, -8}, "confirmed"}, // neither gets more for its money
		{"is: level, margin: 0.5", []float64{1.5, 1, 2}, []float64{-9, -10, -8}, "refuted"},
		{"is: level, margin: 1.5", []float64{1.5, 1, 2}, []float64{0, 0, 0}, "inconclusive"},
		{"is: below, needs: assumption, reason: r", []float64{-1, -2, 0}, []float64{1.5, 1, 2}, "(confirmed)"},
		{"is: below, needs: assumption, reason: r", []float64{0, 0, 0}, []float64{0, 0, 0}, "(inconclusive, level)"},
	} {
		j := judged(t, orderings(t, "{id: x, source: s, says: y, a: cheap, b: router/knob=2, "+c.is+"}"), measured(t,
			line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", 1, 0.5, 1.5)+points("lead-points", c.lead...)+points("other-lead-points", c.other...)),
			line("paper", "ours", points("accuracy-%", 49, 48, 50))))
		if got := j.atEqualCost(); got != c.want {
			t.Errorf("%s, %v and %v: %q, want %q", c.is, c.lead, c.other, got, c.want)
		}
	}
}

// What a training went through has low and high that are the least and the most over seeds, and no interval: only
// differences seed by seed make one.
func TestTrainingsAreComparedSeedBySeed(t *testing.T) {
	const kinds = "  - {id: small, title: Small, kind: %s}\nsections:\n  - title: Toy\n    orderings:\n"
	end := func(step, seed string, x ...float64) string {
		if seed != "" {
			step += "/seed=" + seed
		}
		return "toy/pool=p/method=ours/stage=grpo/step=" + step + " 3" + points("entropy-nats", x...)
	}
	ranges := []string{end("00", "", 1, 0.5, 1.5), end("39", "", 0.75, 0.25, 1.25)}
	for _, c := range []struct {
		name          string
		lines         []string
		want          string
		seeds         int
		low, high     float64
		bounded, pair bool
	}{
		{"ranges that overlap, and every seed falls by a quarter", []string{end("00", "1", 0.5), end("39", "1", 0.25), end("00", "2", 1.5), end("39", "2", 1.25)},
			Confirmed, 2, -0.25, -0.25, true, true},
		// Differences of -0.5 and 0: -0.25 +- 12.706 * 0.25.
		{"seeds that disagree", []string{end("00", "1", 1), end("39", "1", 0.5), end("00", "2", 1), end("39", "2", 1)},
			Inconclusive, 2, -0.25 - 12.706204736432095*0.25, -0.25 + 12.706204736432095*0.25, true, true},
		{"no single seeds", nil, Inconclusive, 0, 0, 0, false, false},
		{"one seed", []string{end("00", "1", 1), end("39", "1", 0.5)}, Inconclusive, 0, 0, 0, false, false},
		{"seeds of one side", []string{end("00", "1", 1), end("00", "2", 1.5)}, Inconclusive, 0, 0, 0, false, false},
	} {
		for _, kind := range []string{"training", "environment"} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				text := "scales:\n" + fmt.Sprintf(kinds, kind) + "      - {id: x, source: s, says: y, a: {method: ours, stage: grpo, step: '39'}, b: {method: ours, stage: grpo, step: '00'}, paper: none, metric: entropy-nats, is: below, " + kind + ": {experiment: toy}}\n"
				o, err := ReadOrderings("o.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				j := judged(t, o, measured(t, append(ranges[:2:2], c.lines...)...))
				d := j.Delta
				if j.Verdict != c.want || d.Number != -0.25 || d.Seeds != c.seeds || d.Bounded != c.bounded || d.Paired != c.pair ||
					math.Abs(d.Low-c.low) > 1e-9 || math.Abs(d.High-c.high) > 1e-9 {
					t.Errorf("%s, %+v; want %+v", j.Verdict, d, c)
				}
			})
		}
	}
}

// By hand, of differences -0.5, 0 and -0.25 in three folds, whose trainings share half of what they learn from with each other: the variance
// of their mean is 0.0625 * (1/3 + 1/2), and t(2) at 97.5% is 4.30265. What is said of no table, a language model has in its study.
func TestFoldsOfALanguageModelAreTrainings(t *testing.T) {
	const text = `
scales:
  - {id: head, title: Head, kind: language-model, trains: head, study: toy, keys: {pool: p}, average: all, experiments: {toy: elsewhere}, rows: {ours: ours}}
sections:
  - title: Toy
    orderings:
      - {id: x, source: s, says: y, a: {method: ours, stage: grpo, step: '39'}, b: {method: ours, stage: grpo, step: '00'}, paper: none, metric: entropy-nats, is: below, language-model: {scales: [head]}}
`
	o, err := ReadOrderings("o.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	end := func(step string, x ...float64) string {
		return "toy/pool=p/method=ours/stage=grpo/step=" + step + " 3" + points("entropy-nats", x...)
	}
	lines := []string{end("00", 1, 0.5, 1.5), end("39", 0.75, 0.25, 1.25)}
	for fold, at := range [][2]float64{{1, 0.5}, {1, 1}, {1, 0.75}} {
		lines = append(lines, end(fmt.Sprintf("00/fold=0.%d", fold), at[0]), end(fmt.Sprintf("39/fold=0.%d", fold), at[1]))
	}
	j := judged(t, o, measured(t, lines...))
	half := 4.30265 * math.Sqrt(0.0625*(1./3+1./2))
	if d := j.Delta; j.Verdict != Inconclusive || d == nil || d.Number != -0.25 || d.Seeds != 3 || !d.Bounded || math.Abs(d.Low+0.25+half) > 1e-4 || math.Abs(d.High+0.25-half) > 1e-4 {
		t.Errorf("%s, %+v, want -0.25 within %v", j.Verdict, d, half)
	}
}

// Each gain is above the hull at the row's own cost, so only the hull itself, whose gain is 0, is beside a row at that cost.
func TestHullGainsOfTwoRowsAreNotCompared(t *testing.T) {
	gain := func(x, half float64) string {
		return points("accuracy-%", 60, 59, 61) + points("hull-gain-points", x, x-half, x+half)
	}
	const against = "{id: x, source: s, says: y, metric: hull-gain, a: {method: ours, benchmark: avg}, b: {method: %s, benchmark: avg}, paper: none, is: above}"
	judge := func(coin float64) (Judged, error) {
		m := measured(t, line("paper", "ours", gain(2, 1)), line("paper", "coin", gain(coin, 0)))
		rows, err := orderings(t, fmt.Sprintf(against, "coin")).Judge("o.yaml", toyTables(t), m)
		return rows[0].Judged[0], err
	}
	if j, err := judge(0); err != nil || j.Verdict != Confirmed || j.Delta.Number != 2 || j.Delta.Low != 1 {
		t.Errorf("%+v (%v)", j, err)
	}
	// A coin that was chosen on training questions may lie off the hull of the others.
	if j, err := judge(-0.5); err != nil || j.Verdict != Inconclusive || j.Why != "hull gains at two costs" || j.Delta != nil {
		t.Errorf("%+v (%v)", j, err)
	}
	if _, err := ReadOrderings("o.yaml", []byte(head+"      - "+fmt.Sprintf(against, "other")+"\n")); err == nil || !strings.Contains(err.Error(), `o.yaml:12: x: simulated: b is row "other", and the hull is row "coin": the hull gains of two rows are at two costs; compare them with metric: equal-cost`) {
		t.Errorf("%v", err)
	}
	l := func(formula string) error {
		_, err := ReadList("c.yaml", []byte("claims:\n  - {id: z, source: s, says: y, verdict: holds, formula: \""+formula+"\", ours: {}}\n"))
		return err
	}
	if err := l("gain(toy, cheap, dear) > 0 and gain(toy, dear, cheap) > 0"); err != nil {
		t.Error(err)
	}
	for _, formula := range []string{"gain(toy, cheap, dear) > gain(toy, dear, cheap)", "gain(toy, cheap, dear) - gain(toy, dear, cheap) > 0"} {
		if err := l(formula); err == nil || !strings.Contains(err.Error(), "c.yaml:2: z: ours: the hull gains of two rows are at two costs; an ordering with metric: equal-cost compares them") {
			t.Errorf("%v", err)
		}
	}
}

// Of two rows one has the better trade-off if it leads over the other where it stands; two that lead are each best at their own cost, and
// of two that do not, below the fixed experts, neither is.
func TestATradeOffIsComparedByLeads(t *testing.T) {
	for _, c := range []struct {
		is          string
		lead, other []float64 // of cheap over ours, of ours over cheap
		verdict     string
		why         string
		want        []float64 // cheap minus ours
		p           bool
	}{
		{"above", []float64{1.5, 1, 2}, []float64{-1, -2, 0}, Confirmed, "", []float64{1.5, 1, 2}, true},
		{"above", []float64{-1, -2, 0}, []float64{1.5, 1, 2}, Refuted, "", []float64{-1.5, -2, -1}, true},
		{"below", []float64{-1, -2, 0}, []float64{1.5, 1, 2}, Confirmed, "", []float64{-1.5, -2, -1}, true},
		{"below", []float64{1.5, 1, 2}, []float64{-1, -2, 0}, Refuted, "", []float64{1.5, 1, 2}, true},
		{"above", []float64{0.5, -1, 2}, []float64{-1, -2, 0}, Inconclusive, "", []float64{0.5, -1, 2}, true},
		{"above", []float64{1.5, 1, 2}, []float64{1.2, 0.2, 2}, Inconclusive, "each leads at its own cost", []float64{1.5, 1, 2}, true},
		{"above", []float64{-2, -3, -1}, []float64{-1, -3, -0.5}, Inconclusive, "neither leads", []float64{1, 0.5, 3}, true},
		{"above", []float64{0, 0, 0}, []float64{0, 0, 0}, Inconclusive, "level", []float64{0, 0, 0}, false},
	} {
		j := judged(t, orderings(t, "{id: x, source: s, says: y, a: cheap, b: router/knob=2, paper: none, metric: equal-cost, is: "+c.is+"}"), measured(t,
			line("paper", "cheap", points("accuracy-%", 50, 49, 51)+points("difference-points", 1, 0.5, 1.5)+points("lead-points", c.lead...)+points("other-lead-points", c.other...)),
			line("paper", "ours", points("accuracy-%", 49, 48, 50))))
		if j.Verdict != c.verdict || j.Why != c.why || (j.Tested != nil) != c.p || j.Cost != nil || j.AtEqual != "" {
			t.Errorf("%s, %v and %v: %+v, want %s, %q", c.is, c.lead, c.other, j, c.verdict, c.why)
		}
		if diff := cmp.Diff(c.want, []float64{j.Delta.Number, j.Delta.Low, j.Delta.High}); diff != "" {
			t.Errorf("%s, %v and %v: %s", c.is, c.lead, c.other, diff)
		}
		if got := (&Ordering{Metric: atEqualCost}).shown(j); c.why == "neither leads" && got != "leads -2.00 [-3.00, -1.00] and -1.00 [-3.00, -0.50]" || c.why == "" && strings.Contains(got, "and") {
			t.Errorf("%v and %v are shown as %s", c.lead, c.other, got)
		}
	}
	j := judged(t, orderings(t, "{id: x, source: s, says: y, a: cheap, b: router/knob=2, paper: none, metric: equal-cost, is: above}"),
		measured(t, line("paper", "cheap", points("accuracy-%", 50, 49, 51)), line("paper", "ours", points("accuracy-%", 49, 48, 50))))
	if j.Verdict != NotRun || j.Missing != "toy without these rows" {
		t.Errorf("without leads: %+v", j)
	}
}

func TestWhatADifferenceDoesNotDecide(t *testing.T) {
	m := measured(t,
		line("paper", "cheap", points("accuracy-%", 50, 40, 60)+points("difference-points", -10, -13, -7)),
		line("paper", "ours", points("accuracy-%", 60, 50, 70)),
		"logs/pool=p/method=cheap/benchmark=all 100"+points("accuracy-%", 50, 40, 60)+points("difference-points", 10, 7, 13),
		"logs/pool=p/method=ours/benchmark=all 100"+points("accuracy-%", 60, 50, 70))
	verdicts := func(item string) (out []string) {
		rows, err := orderings(t, item).Judge("o.yaml", toyTables(t), m)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range rows[0].Judged {
			out = append(out, j.Verdict+"/"+j.Shows)
		}
		return out
	}
	for _, c := range []struct {
		name, item string
		want       []string
	}{
		{"nothing in the way", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}",
			[]string{"confirmed/", "not run/", "/"}},
		{"recorded rows as well", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, recorded: {a: ours}}",
			[]string{"confirmed/", "not run/", "refuted/"}},
		{"a language model", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, needs: language-model, reason: r, recorded: {a: ours}}",
			[]string{Untestable + "/confirmed", "not run/", Untestable + "/refuted"}},
		{"an assumption of the simulation", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: below, simulated: {needs: assumption, reason: r}, recorded: {a: ours}}",
			[]string{"assumed/refuted", "not run/", "confirmed/"}},
		{"one scale of a kind", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, simulated: {scales: [big]}}",
			[]string{"/", "not run/", "/"}},
		{"no rows of ours", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, simulated: {none: true}, recorded: {a: ours}}",
			[]string{"/", "/", "refuted/"}},
		{"a row that is not there", "{id: x, source: s, says: y, a: router/knob=2, b: dear, is: above}",
			[]string{"not run/", "not run/", "/"}},
		{"an experiment that is not there", "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, simulated: {experiment: later}}",
			[]string{"not run/", "not run/", "/"}},
		{"any measurement by its keys", "{id: x, source: s, says: y, a: {method: ours, benchmark: avg}, b: {method: cheap, benchmark: avg}, metric: accuracy-%, is: above}",
			[]string{"inconclusive/", "not run/", "/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, verdicts(c.item)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestThePapersOwnNumbersStandBesideTheVerdict(t *testing.T) {
	for _, c := range []struct {
		item, want string
		has        bool
	}{
		{"a: router/knob=2, b: cheap, is: above", "80.0 vs 55.0 %", true},
		{"a: router/knob=2, b: cheap, is: below", "80.0 vs 55.0 %", false},
		{"a: router/knob=2, b: cheap, is: level, margin: 25", "80.0 vs 55.0 %", true},
		{"a: router/knob=2, b: cheap, is: level, margin: 24", "80.0 vs 55.0 %", false},
		{"a: router/knob=2, b: cheap, is: above, benchmark: b", "80.0 vs 70.0 %", true},
		{"a: router/knob=2, b: dear, is: below, metric: cost", "1500.00 vs 2500.00 m$", true},
		{"a: router/knob=2, b: dear, is: below, metric: cost, benchmark: b", "2 vs 3 $", true},
		{"a: router/knob=2, b: dear, is: below, metric: equal-cost", "", true},
		{`a: router/knob=2, b: nobody, is: below, paper: "7 vs 3", contradicted: true`, "7 vs 3", false},
	} {
		rows, err := orderings(t, "{id: x, source: s, says: y, "+c.item+"}").Judge("o.yaml", toyTables(t), &Measurements{})
		if err != nil || rows[0].Paper != c.want || rows[0].PaperHas != c.has {
			t.Errorf("%s: %q, %v (%v)", c.item, rows[0].Paper, rows[0].PaperHas, err)
		}
	}
	_, err := orderings(t, "{id: x, source: s, says: y, a: nobody, b: dear, is: above}").Judge("o.yaml", toyTables(t), &Measurements{})
	if err == nil || !strings.Contains(err.Error(), `o.yaml:12: x: column 1: mean(toy, nobody): table toy has no row "nobody"`) {
		t.Errorf("%v", err)
	}
}

func TestFaultsOfOrderingsNameTheLine(t *testing.T) {
	for _, c := range []struct{ item, want string }{
		{"{source: s}", "o.yaml:12: ordering: no id"},
		{"{id: x, says: y}", "o.yaml:12: x: source and says must both be set"},
		{"{id: x, source: s, says: y, a: c, b: d, is: over}", `o.yaml:12: x: is "over"; want above, below or level`},
		{"{id: x, source: s, says: y, a: c, b: d, is: level}", "x: a margin above 0 goes with is: level"},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, margin: 1}", "x: a margin above 0 goes with is: level, and only with it"},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, needs: luck}", `x: unknown needs "luck"; known: language-model, assumption`},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, needs: assumption}", "x: needs: assumption wants a reason"},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, recorded: {experiment: l, needs: assumption}}", "x: recorded: needs: assumption wants a reason"},
		{"{id: x, source: s, says: y, a: c, is: above}", "x: simulated: a and b must both be set"},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, simulated: {none: true}}", "x: no rows on any scale"},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, simulated: {scales: [bog]}}", `x: simulated: unknown scale "bog"; known: small, big, logs`},
		{"{id: x, source: s, says: y, a: c, b: d, is: above, mertic: cost}", `o.yaml:12: unknown key "mertic"`},
	} {
		_, err := ReadOrderings("o.yaml", []byte(head+"      - "+c.item+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.item, err, c.want)
		}
	}
	_, err := ReadOrderings("o.yaml", []byte("scales:\n  - {id: a, title: b, kind: c}\n"))
	if err == nil || !strings.Contains(err.Error(), `o.yaml:2: a: unknown kind "c"; known: simulated, ensemble, training, environment, recorded`) {
		t.Errorf("%v", err)
	}
	named := strings.Replace(head, "experiments: {toy: logs}}", "experiments: {toy: logs}, rows: {cheap: small}}", 1)
	o, err := ReadOrderings("o.yaml", []byte(named+"      - {id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, recorded: {}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Judge("o.yaml", toyTables(t), measured(t))
	if err == nil || !strings.Contains(err.Error(), "o.yaml:12: x: recorded: no scale of this kind has both rows") {
		t.Errorf("%v", err)
	}
	_, err = ReadOrderings("o.yaml", []byte("scales:\n  - {id: a, title: b, kind: simulated, rule: by another}\n"))
	if err == nil || !strings.Contains(err.Error(), "o.yaml:2: a: a rule goes with kind recorded alone") {
		t.Errorf("%v", err)
	}
}

// What a scale calls the paper's rows holds for orderings as it does for claims; a name of its own is left as it is.
func TestAScaleHasItsOwnNamesForRows(t *testing.T) {
	named := strings.Replace(head, "experiments: {toy: logs}}", "experiments: {toy: logs}, rows: {cheap: small, router/knob=2: mine}}", 1)
	m := measured(t, "logs/pool=p/method=mine/benchmark=all 10"+points("accuracy-%", 60, 59, 61), "logs/pool=p/method=small/benchmark=all 10"+points("accuracy-%", 50, 49, 51))
	for _, rows := range []string{"{}", "{b: small}"} {
		o, err := ReadOrderings("o.yaml", []byte(named+"      - {id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, recorded: "+rows+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		found, err := o.Judge("o.yaml", toyTables(t), m)
		if err != nil || found[0].Judged[2].Verdict != Confirmed {
			t.Errorf("%s: %+v (%v)", rows, found[0].Judged[2], err)
		}
		if diff := cmp.Diff([]Named{{"toy", "ours"}, {"toy", "cheap"}, {"logs", "mine"}, {"logs", "small"}}, o.Rows()); diff != "" {
			t.Error(diff)
		}
	}
}

// YAML has more than one way to write a list: faults still name its line.
func TestLinesOfItemsWhereverTheyAreWritten(t *testing.T) {
	const item = "{id: %s, source: s, says: y, a: cheap, b: dear, is: over}"
	for _, c := range []struct{ name, text, want string }{
		{"another order", "sections:\n  - table: toy\n    orderings:\n      - {id: x, source: s, says: y, a: cheap, b: dear, is: above, simulated: {scales: [a]}}\nscales:\n  - {id: a, title: A, kind: b}\n", `o.yaml:6: a: unknown kind "b"`},
		{"two of a name", "scales:\n  - {id: a, title: A, kind: simulated}\n  - {id: a, title: B, kind: recorded}\n", "o.yaml:3: a: the id is taken by line 2"},
		{"an alias of a list", "sections:\n  - {table: toy, orderings: &all [" + fmt.Sprintf(item, "x") + "]}\n  - {table: toy, orderings: *all}\n", "o.yaml:2: x: the id is taken by line 2"},
		{"an alias of an item", "sections:\n  - &one {table: toy, orderings: [" + fmt.Sprintf(item, "x") + "]}\n  - *one\n", "o.yaml:2: x: the id is taken by line 2"},
		{"merged", "sections:\n  - &one {table: toy, orderings: [" + fmt.Sprintf(item, "x") + "]}\n  - {<<: *one, title: T}\n", "o.yaml:2: x: the id is taken by line 2"},
		{"merged and replaced", "sections:\n  - &one {table: toy, orderings: [" + fmt.Sprintf(item, "x") + "]}\n  - {<<: *one, orderings: [" + fmt.Sprintf(item, "z") + "]}\n", `o.yaml:3: z: is "over"`},
	} {
		if _, err := ReadOrderings("o.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A section may be empty while it is written.
func TestASectionWithoutOrderingsHasNoTable(t *testing.T) {
	o, err := ReadOrderings("o.yaml", []byte(strings.Replace(head, "    orderings:\n", "    orderings: []\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if s := o.Sheet(nil, &Measurements{}); len(s.Grids) != 1 || len(o.Short(nil).Grids) != 1 {
		t.Errorf("%+v", s.Grids)
	}
}

func TestALineHasExactlyTheKeysThatAreAskedFor(t *testing.T) {
	m := measured(t, "toy/arena=paper/method=ours/stratum=easy 10 3 usd/query", "toy/arena=paper/method=ours/stratum=easy/expert=dear 10 40 share-%")
	small := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}").Scales[0]
	for _, c := range []struct {
		at   Place
		want string
	}{
		{Place{"method": "ours", "stratum": "easy"}, "Route/experiment=toy/arena=paper/method=ours/stratum=easy"},
		{Place{"method": "ours", "stratum": "easy", "expert": "dear"}, "Route/experiment=toy/arena=paper/method=ours/stratum=easy/expert=dear"},
		{Place{"method": "ours", "stratum": "easy", "expert": "cheap"}, ""},
		{Place{"method": "ours", "stratum": "easy", "expert": "dear", "seed": "1"}, ""},
		{Place{"method": "ours"}, ""},
		{Place{"line": "Route", "method": "ours", "stratum": "easy"}, "Route/experiment=toy/arena=paper/method=ours/stratum=easy"},
		{Place{"line": "Choice", "method": "ours", "stratum": "easy"}, ""},
	} {
		got, ok, err := m.find("toy", small, c.at)
		if err != nil || ok != (c.want != "") || ok && got.Label() != c.want {
			t.Errorf("%v: %v, %v (%v)", c.at, got.Label(), ok, err)
		}
	}
}

func TestMeasurementsThatCannotBeToldApart(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above}")
	m := measured(t, "toy/arena=paper/pool=p/method=ours/benchmark=avg 1 3 accuracy-%", "toy/arena=paper/pool=q/method=ours/benchmark=avg 1 3 accuracy-%")
	if _, err := o.Judge("o.yaml", toyTables(t), m); err == nil || !strings.Contains(err.Error(), "the keys of the scale have to tell them apart") {
		t.Errorf("%v", err)
	}
	set, err := metrics.Read("b.txt", strings.NewReader("BenchmarkRoute/experiment=toy/arena=paper/pool=p/method=ours/benchmark=avg 1 3 accuracy-%\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add("b.txt", set); err == nil || !strings.Contains(err.Error(), "b.txt: Route/experiment=toy/arena=paper/pool=p/method=ours/benchmark=avg is in m.txt as well") {
		t.Errorf("%v", err)
	}
	set.Measurements[0].Keys = set.Measurements[0].Keys[1:]
	if err := m.Add("c.txt", set); err == nil || !strings.Contains(err.Error(), "has no key experiment") {
		t.Errorf("%v", err)
	}
}

// Partitions of the same questions are no training seeds: what they add is in the interval as it was measured.
func TestPartitionsAreNoSeeds(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: y, a: router/knob=2, b: cheap, is: above, recorded: {a: ours, b: cheap}}")
	row := func(method, values string) string { return "logs/pool=p/method=" + method + "/benchmark=all" + values }
	lines := []string{row("cheap", " 100"+points("accuracy-%", 50, 40, 60)+points("difference-points", -10, -13, -7)), row("ours", " 100"+points("accuracy-%", 60, 50, 70))}
	for k, x := range []float64{55, 60, 65} {
		lines = append(lines, row("ours", fmt.Sprintf("/seed=%d 100%s", k, points("accuracy-%", x))))
	}
	rows, err := o.Judge("o.yaml", toyTables(t), measured(t, lines...))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(rows[0].Judged, func(j Judged) bool { return j.Scale.Kind == "recorded" })
	if j := rows[0].Judged[at]; j.Delta == nil || j.Delta.Low != 7 || j.Delta.High != 13 || j.Delta.Seeds != 0 || j.Verdict != Confirmed {
		t.Errorf("%s, %+v", j.Verdict, j.Delta)
	}
}

func TestTheTableOfVerdictsLeavesOutWhatIsNotStated(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: first, a: router/knob=2, b: cheap, is: above, simulated: {scales: [small]}}",
		"{id: y, source: s, says: second, a: router/knob=2, b: dear, is: above, simulated: {none: true}, recorded: {a: ours}}")
	rows, err := o.Judge("o.yaml", toyTables(t), &Measurements{})
	if err != nil {
		t.Fatal(err)
	}
	s := o.Sheet(rows, &Measurements{})
	var got []string
	for _, g := range s.Grids[1:] { // behind the summary
		for _, r := range g.Rows {
			got = append(got, strings.TrimSpace(r[0].Lead+" "+strings.Join(r[0].Lines, " ")+" "+r[1].Lead))
		}
	}
	want := []string{"First. (s)", "The paper", "Small not run", "Second. (s)", "The paper", "Logs not run"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(s.Records) != 3 {
		t.Errorf("%d lines of CSV, want 2 below the heads", len(s.Records))
	}
}

// Turning an ordering round turns its verdict round, and a wider interval never decides what a narrower one left open.
func TestVerdictsAreConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Float64Range(-3, 3).Draw(t, "d")
		low, high := d-rapid.Float64Range(0, 3).Draw(t, "down"), d+rapid.Float64Range(0, 3).Draw(t, "up")
		more := rapid.Float64Range(0, 2).Draw(t, "more")
		c := func(d, low, high float64) Contrast {
			return Contrast{Value: metrics.Value{Number: d, Low: low, High: high, Bounded: true}}
		}
		above, below := &Ordering{Is: "above"}, &Ordering{Is: "below"}
		opposite := map[string]string{Confirmed: Refuted, Refuted: Confirmed, Inconclusive: Inconclusive}
		v := above.verdict(c(d, low, high))
		if got := below.verdict(c(d, low, high)); got != opposite[v] {
			t.Fatalf("above: %s, below: %s", v, got)
		}
		if got := below.verdict(c(-d, -high, -low)); got != v {
			t.Fatalf("above: %s, turned round: %s", v, got)
		}
		if wider := above.verdict(c(d, low-more, high+more)); wider != v && wider != Inconclusive {
			t.Fatalf("%s, with a wider interval %s", v, wider)
		}
		level := &Ordering{Is: "level", Margin: 1}
		v = level.verdict(c(d, low, high))
		if wider := level.verdict(c(d, low-more, high+more)); wider != v && wider != Inconclusive {
			t.Fatalf("%s, with a wider interval %s", v, wider)
		}
		if got := level.verdict(c(-d, -high, -low)); got != v {
			t.Fatalf("level: %s, turned round: %s", v, got)
		}
	})
}
