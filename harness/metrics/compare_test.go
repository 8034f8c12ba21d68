package metrics

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parseSet(t *testing.T, text string) *Set {
	t.Helper()
	set, err := Read("test", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const referenceText = `
BenchmarkRoute/method=fixed/benchmark=avg 100 80.000 accuracy-% 78.040 accuracy-low-% 81.960 accuracy-high-%
BenchmarkRoute/method=fixed/benchmark=one 100 70.000 accuracy-%
BenchmarkRoute/method=learned/benchmark=avg 100 75.000 accuracy-% -5.000 difference-points
BenchmarkRoute/method=seeded/benchmark=avg 100 82.000 accuracy-% 80.040 accuracy-low-% 83.960 accuracy-high-% 1.000 seed-sd-points
BenchmarkRoute/method=seeded/benchmark=avg/seed=1 100 81.000 accuracy-%
BenchmarkRoute/method=seeded/benchmark=avg/seed=2 100 82.000 accuracy-%
BenchmarkRoute/method=seeded/benchmark=avg/seed=3 100 83.000 accuracy-%
BenchmarkRoute/method=seeded/benchmark=one 100 60.000 accuracy-%
`

func TestANumberIsHeldAgainstWhatBothSidesHaveInCommon(t *testing.T) {
	reference := parseSet(t, referenceText)
	same := Comparison{
		SameProblems: true, SameMachine: true, SameNumerics: true, Confidence: 0.95, FalseAlarm: 0.01,
		Untrained:     func(m Measurement) bool { return m.Key("method") == "fixed" },
		OtherTraining: func(Measurement) bool { return false },
		Jumps: func(m Measurement) (why Reason) {
			if m.Key("method") == "stepwise" {
				why = Reason{"steps", "they jump"}
			}
			return why
		},
		Relative: func(unit string) bool { return unit == "difference-points" },
		Sampled:  func(unit string) bool { return unit == "hull-gain-points" },
	}
	// A sweep of other trainings lists other settings, one of the same trainings the same.
	knobs := parseSet(t, strings.Replace(referenceText, "seed=1 100 81.000 accuracy-%", "seed=1 100 81.000 accuracy-%\nBenchmarkSweep/method=learned/knob=001 100 50.000 accuracy-%", 1))
	missing := func(ours string) (n int) {
		for _, x := range Compare(parseSet(t, ours), knobs, same) {
			if x.Missing {
				n++
			}
		}
		return n
	}
	if n := missing(referenceText); n != 1 {
		t.Errorf("the same trainings: %d numbers missing, want the setting", n)
	}
	if n := missing(strings.Replace(referenceText, "BenchmarkRoute/method=seeded/benchmark=avg/seed=2 100 82.000 accuracy-%\n", "", 1)); n != 0 {
		t.Errorf("other trainings: %d numbers missing, want none", n)
	}
	otherMachine, otherProblems, otherTraining := same, same, same
	otherTraining.OtherTraining = func(m Measurement) bool { return m.Key("method") != "" }
	otherMachine.SameMachine, otherMachine.SameNumerics = false, false
	otherProblems.SameProblems = false
	// What a run with seed 7 alone measures.
	otherSeed := strings.NewReplacer(
		"seed=1 100 81", "seed=7 100 84", "BenchmarkRoute/method=seeded/benchmark=avg/seed=2 100 82.000 accuracy-%\n", "",
		"BenchmarkRoute/method=seeded/benchmark=avg/seed=3 100 83.000 accuracy-%\n", "",
		"avg 100 82.000", "avg 100 84.000", " 1.000 seed-sd-points", "", "-5.000 difference", "-7.000 difference").Replace(referenceText)
	for _, c := range []struct {
		name       string
		ours       string
		comparison Comparison
		want       map[string]string // method/benchmark[/seed] unit -> gate, and "regressed" if it closes
	}{
		{"the same bytes are the same", referenceText, same, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one accuracy-%": "exact", "learned/avg accuracy-%": "golden", "learned/avg difference-points": "golden",
			"seeded/avg accuracy-%": "golden", "seeded/avg seed-sd-points": "golden", "seeded/one accuracy-%": "golden",
			"seeded/avg/1 accuracy-%": "golden", "seeded/avg/2 accuracy-%": "golden", "seeded/avg/3 accuracy-%": "golden"}},
		{"another machine repeats untrained rows only", referenceText, otherMachine, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one accuracy-%": "exact", "learned/avg accuracy-%": "none", "learned/avg difference-points": "none",
			"seeded/avg accuracy-%": "seeds", "seeded/avg seed-sd-points": "none", "seeded/one accuracy-%": "none",
			"seeded/avg/1 accuracy-%": "none", "seeded/avg/2 accuracy-%": "none", "seeded/avg/3 accuracy-%": "none"}},
		{"other seeds are held against the spread of the reference's", otherSeed, same, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one accuracy-%": "exact", "learned/avg accuracy-%": "golden", "learned/avg difference-points": "none",
			"seeded/avg accuracy-%": "seeds", "seeded/one accuracy-%": "none"}},
		{"trainings that no line tells apart", referenceText, otherTraining, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one accuracy-%": "exact", "learned/avg accuracy-%": "none", "learned/avg difference-points": "none",
			"seeded/avg accuracy-%": "seeds", "seeded/avg seed-sd-points": "none", "seeded/one accuracy-%": "none",
			"seeded/avg/1 accuracy-%": "none", "seeded/avg/2 accuracy-%": "none", "seeded/avg/3 accuracy-%": "none"}},
		{"steps are not held against a spread", strings.ReplaceAll(referenceText, "method=seeded", "method=stepwise"), otherMachine, nil},
		{"other problems leave averages of untrained rows", referenceText, otherProblems, map[string]string{
			"fixed/avg accuracy-%": "questions", "fixed/one accuracy-%": "none", "learned/avg accuracy-%": "none", "learned/avg difference-points": "none",
			"seeded/avg accuracy-%": "none", "seeded/avg seed-sd-points": "none", "seeded/one accuracy-%": "none",
			"seeded/avg/1 accuracy-%": "none", "seeded/avg/2 accuracy-%": "none", "seeded/avg/3 accuracy-%": "none"}},
		{"a digit of an untrained row", strings.Replace(referenceText, "70.000", "70.001", 1), otherMachine, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one accuracy-%": "exact regressed", "learned/avg accuracy-%": "none", "learned/avg difference-points": "none",
			"seeded/avg accuracy-%": "seeds", "seeded/avg seed-sd-points": "none", "seeded/one accuracy-%": "none",
			"seeded/avg/1 accuracy-%": "none", "seeded/avg/2 accuracy-%": "none", "seeded/avg/3 accuracy-%": "none"}},
		{"a digit of one training", strings.Replace(referenceText, "83.000 accuracy-%\n", "83.001 accuracy-%\n", 1), same, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one accuracy-%": "exact", "learned/avg accuracy-%": "golden", "learned/avg difference-points": "golden",
			"seeded/avg accuracy-%": "golden", "seeded/avg seed-sd-points": "golden", "seeded/one accuracy-%": "golden",
			"seeded/avg/1 accuracy-%": "golden", "seeded/avg/2 accuracy-%": "golden", "seeded/avg/3 accuracy-%": "golden regressed"}},
		{"rows, units and rollouts that are gone", strings.NewReplacer("BenchmarkRoute/method=learned/benchmark=avg 100 75.000 accuracy-% -5.000 difference-points\n", "",
			" 1.000 seed-sd-points", "", "one 100 70", "one 99 70").Replace(referenceText), same, map[string]string{
			"fixed/avg accuracy-%": "exact", "fixed/one rollouts": "exact regressed", "fixed/one accuracy-%": "exact",
			"learned/avg accuracy-%": "none regressed", "learned/avg difference-points": "none regressed",
			"seeded/avg accuracy-%": "golden", "seeded/avg seed-sd-points": "none regressed", "seeded/one accuracy-%": "golden",
			"seeded/avg/1 accuracy-%": "golden", "seeded/avg/2 accuracy-%": "golden", "seeded/avg/3 accuracy-%": "golden"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := map[string]string{}
			reference := reference
			if c.want == nil { // the same text on both sides, nothing of it held against seeds
				reference = parseSet(t, c.ours)
				for _, x := range Compare(reference, reference, c.comparison) {
					if x.Gate == Seeds {
						t.Errorf("%s %s is held against the spread of seeds", x.Label, x.Unit)
					}
				}
				return
			}
			for _, x := range Compare(parseSet(t, c.ours), reference, c.comparison) {
				if isEnd(x.Unit) {
					continue // in the test below
				}
				if unjudged := x.Gate == None && !x.Missing && !x.Lost; unjudged != (x.Reason != Reason{}) {
					t.Errorf("%s %s has the gate %s and the reason %q", x.Label, x.Unit, x.Gate, x.Reason)
				}
				label := strings.NewReplacer("Route/method=", "", "benchmark=", "", "seed=", "").Replace(x.Label) + " " + x.Unit
				got[label] = string(x.Gate)
				if x.Regressed() {
					got[label] += " regressed"
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("gates (-want +got):\n%s", d)
			}
		})
	}
}

// Where a number must repeat itself, so must its interval; elsewhere intervals are not compared.
func TestTheEndsOfAnIntervalRepeatThemselvesWithItsNumber(t *testing.T) {
	c := Comparison{
		SameProblems: true, SameMachine: true, SameNumerics: true, Confidence: 0.95, FalseAlarm: 0.01,
		Untrained:     func(m Measurement) bool { return m.Key("method") == "fixed" },
		OtherTraining: func(Measurement) bool { return false },
		Jumps:         func(Measurement) Reason { return Reason{} },
		Relative:      func(string) bool { return false },
		Sampled:       func(string) bool { return false },
	}
	narrower := strings.NewReplacer("78.040 accuracy-low-%", "78.041 accuracy-low-%", "83.960 accuracy-high-%", "83.959 accuracy-high-%").Replace(referenceText)
	otherMachine, otherProblems := c, c
	otherMachine.SameMachine, otherMachine.SameNumerics, otherProblems.SameProblems = false, false, false
	for _, x := range []struct {
		name       string
		ours       string
		comparison Comparison
		ends       int
		regressed  []string
	}{
		{"the same", referenceText, c, 4, nil},
		{"narrower", narrower, c, 4, []string{"fixed accuracy-low-%", "seeded accuracy-high-%"}},
		{"narrower on another machine", narrower, otherMachine, 0, nil},
		{"narrower on other problems", narrower, otherProblems, 0, nil},
		{"gone", strings.Replace(referenceText, " 78.040 accuracy-low-% 81.960 accuracy-high-%", "", 1), c, 4, []string{"fixed accuracy-low-%", "fixed accuracy-high-%"}},
		{"of other trainings", strings.ReplaceAll(narrower, "seed=3", "seed=4"), c, 2, []string{"fixed accuracy-low-%"}},
	} {
		ends, regressed := 0, []string(nil)
		for _, change := range Compare(parseSet(t, x.ours), parseSet(t, referenceText), x.comparison) {
			if !isEnd(change.Unit) {
				continue
			}
			ends++
			if change.Regressed() {
				method, _, _ := strings.Cut(strings.TrimPrefix(change.Label, "Route/method="), "/")
				regressed = append(regressed, method+" "+change.Unit)
			}
		}
		if d := cmp.Diff(x.regressed, regressed); d != "" || ends != x.ends {
			t.Errorf("%s: %d ends compared, want %d; regressed (-want +got):\n%s", x.name, ends, x.ends, d)
		}
	}
}

// The bands by hand, from tables of the distributions.
func TestBandsAreThePredictionIntervalsOfTheReference(t *testing.T) {
	reference := parseSet(t, referenceText)
	c := Comparison{
		SameProblems: true, Confidence: 0.95, FalseAlarm: 0.05,
		Untrained:     func(m Measurement) bool { return m.Key("method") == "fixed" },
		OtherTraining: func(Measurement) bool { return false },
		Jumps:         func(Measurement) Reason { return Reason{} },
		Relative:      func(string) bool { return false },
		Sampled:       func(string) bool { return false },
	}
	band := func(changes []Change, label, unit string) float64 {
		for _, x := range changes {
			if x.Label == label && x.Unit == unit {
				return x.Band
			}
		}
		t.Fatalf("no %s %s", label, unit)
		return 0
	}
	// One gate: t(2) at 97.5% is 4.3027, the SD of 81, 82, 83 is 1, three seeds on each side.
	got := band(Compare(reference, reference, c), "Route/method=seeded/benchmark=avg", "accuracy-%")
	if want := 4.30265 * math.Sqrt(2./3); math.Abs(got-want) > 1e-4 {
		t.Errorf("seeds: band %v, want %v", got, want)
	}
	// A fourth seed of which the number is not defined changes nothing but the seeds of ours.
	four := parseSet(t, referenceText+"BenchmarkRoute/method=seeded/benchmark=avg/seed=4 100 9.000 calls/query\n")
	got = band(Compare(four, four, c), "Route/method=seeded/benchmark=avg", "accuracy-%")
	if want := 4.30265 * math.Sqrt(1./4+1./3); math.Abs(got-want) > 1e-4 {
		t.Errorf("seeds, one without the number: band %v, want %v", got, want)
	}
	// Of the trainings of a cross-validation every fold is one, also where a single partition has no line of its own.
	folds := parseSet(t, `BenchmarkCurve/method=seeded/stage=sft/step=9 3 2.000 loss
BenchmarkCurve/method=seeded/stage=sft/step=9/fold=0.0 1 1.000 loss
BenchmarkCurve/method=seeded/stage=sft/step=9/fold=0.1 1 2.000 loss
BenchmarkCurve/method=seeded/stage=sft/step=9/fold=0.2 1 3.000 loss
`)
	got = band(Compare(folds, folds, c), "Curve/method=seeded/stage=sft/step=9", "loss")
	if want := 4.30265 * math.Sqrt(2./3); math.Abs(got-want) > 1e-4 {
		t.Errorf("folds: band %v, want %v", got, want)
	}
	// Two seeds say next to nothing.
	two := parseSet(t, strings.Replace(referenceText, "BenchmarkRoute/method=seeded/benchmark=avg/seed=3 100 83.000 accuracy-%\n", "", 1))
	for _, x := range Compare(two, two, c) {
		if x.Gate == Seeds {
			t.Errorf("two seeds: %s %s is held against their spread", x.Label, x.Unit)
		}
	}
	// One gate: intervals of 1.96 standard errors of 1 on both sides, z at 97.5% is 1.96.
	c.SameProblems = false
	got = band(Compare(reference, reference, c), "Route/method=fixed/benchmark=avg", "accuracy-%")
	if want := 1.95996 * math.Sqrt2; math.Abs(got-want) > 1e-4 {
		t.Errorf("questions: band %v, want %v", got, want)
	}
}

// On other problems a row that trains nothing is compared with itself, not with a row that learnt from other problems, and
// a ratio that other problems leave undefined is not missing.
func TestOtherProblemsMoveWhatIsComparedWithATrainedRow(t *testing.T) {
	reference := parseSet(t, `BenchmarkRoute/method=fixed/benchmark=avg 100 80 accuracy-% 79 accuracy-low-% 81 accuracy-high-% 5 difference-points 4 difference-points-low 6 difference-points-high 2 regret-points 1 hull-gain-points 0 hull-gain-points-low 2 hull-gain-points-high
`)
	ours := parseSet(t, `BenchmarkRoute/method=fixed/benchmark=avg 100 80.5 accuracy-% 79 accuracy-low-% 81 accuracy-high-% 9 difference-points 8 difference-points-low 10 difference-points-high 3 hull-gain-points 2 hull-gain-points-low 4 hull-gain-points-high
`)
	c := Comparison{
		Confidence: 0.95, FalseAlarm: 0.01,
		Untrained: func(Measurement) bool { return true }, OtherTraining: func(Measurement) bool { return false },
		Jumps:    func(Measurement) Reason { return Reason{} },
		Relative: func(unit string) bool { return unit == "difference-points" },
		Sampled:  func(unit string) bool { return unit == "hull-gain-points" },
	}
	gates := map[string]Gate{}
	for _, x := range Compare(ours, reference, c) {
		gates[x.Unit] = x.Gate
	}
	if d := cmp.Diff(map[string]Gate{"accuracy-%": Question, "difference-points": None, "hull-gain-points": None}, gates); d != "" {
		t.Errorf("gates (-want +got):\n%s", d)
	}
	c.SameProblems = true
	missing := 0
	for _, x := range Compare(ours, reference, c) {
		if x.Missing {
			missing++
		}
	}
	if missing != 1 {
		t.Errorf("the same problems: %d numbers missing, want regret-points", missing)
	}
}

// A line of the reference that is damaged takes its numbers out of the comparison; what is new takes nothing out of it.
func TestANumberThatTheReferenceHasLostIsNoticed(t *testing.T) {
	c := Comparison{
		SameProblems: true, SameMachine: true, SameNumerics: true, Confidence: 0.95, FalseAlarm: 0.01,
		Untrained: func(Measurement) bool { return true }, OtherTraining: func(Measurement) bool { return false },
		Jumps: func(Measurement) Reason { return Reason{} }, Relative: func(string) bool { return false }, Sampled: func(string) bool { return false },
	}
	const fixedOne = "BenchmarkRoute/method=fixed/benchmark=one 100 70.000 accuracy-%\n"
	sweep := func(lines ...string) (text string) {
		text = referenceText + "BenchmarkSweep/method=seeded/knob=005 100 60.000 accuracy-%\n"
		for _, l := range lines {
			knob, accuracy, _ := strings.Cut(l, " ")
			text += "BenchmarkSweep/method=fixed/knob=" + knob + " 100 " + accuracy + " accuracy-%\n"
		}
		return text
	}
	for _, tc := range []struct {
		name, reference, ours string
		want                  []string
	}{
		{"nothing", referenceText, referenceText, nil},
		{"a line is gone", strings.Replace(referenceText, fixedOne, "", 1), referenceText, []string{"Route/method=fixed/benchmark=one accuracy-%"}},
		{"a line of a seed is gone", strings.Replace(referenceText, "BenchmarkRoute/method=seeded/benchmark=avg/seed=2 100 82.000 accuracy-%\n", "", 1), referenceText, nil}, // a seed that was not asked for
		{"a new row", referenceText, referenceText + "BenchmarkRoute/method=new/benchmark=one 100 1 accuracy-%\n", nil},
		{"a new benchmark", referenceText, referenceText + "BenchmarkRoute/method=fixed/benchmark=two 100 1 accuracy-%\n", nil},
		{"a new seed", referenceText, referenceText + "BenchmarkRoute/method=seeded/benchmark=avg/seed=4 100 1 accuracy-%\n", nil},
		{"a new kind of line", referenceText, referenceText + "BenchmarkChoice/method=fixed/benchmark=one 100 1 auc\n", nil},
		{"a line of a setting is gone", sweep("001 50.000", "009 70.000"), sweep("001 50.000", "005 60.000", "009 70.000"), []string{"Sweep/method=fixed/knob=005 accuracy-%"}},
		{"settings are listed elsewhere, since the knob moved", sweep("001 50.000", "004 58.000", "009 70.000"), sweep("001 50.000", "005 60.000", "009 71.000"), nil},
		{"a new unit", referenceText, strings.Replace(referenceText, "70.000 accuracy-%", "70.000 accuracy-% 1 auc", 1), nil},
	} {
		var lost []string
		for _, x := range Compare(parseSet(t, tc.ours), parseSet(t, tc.reference), c) {
			if x.Lost {
				lost = append(lost, x.Label+" "+x.Unit)
				if !x.Regressed() || !x.Differs() {
					t.Errorf("%s: %+v decides nothing", tc.name, x)
				}
			}
		}
		if diff := cmp.Diff(tc.want, lost); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// What only we have regresses nothing, and is counted: a reference that has little would otherwise agree with everything.
func TestOurNumbersThatTheReferenceDoesNotHaveAreListed(t *testing.T) {
	same := Comparison{SameProblems: true, OtherTraining: func(Measurement) bool { return false }}
	otherTraining, otherProblems := same, same
	otherTraining.OtherTraining = func(Measurement) bool { return true }
	otherProblems.SameProblems = false
	const learned = "BenchmarkRoute/method=learned/benchmark=avg 100 75.000 accuracy-% -5.000 difference-points\n"
	const knob = "BenchmarkSweep/method=learned/knob=001 100 50.000 accuracy-%\n"
	for _, tc := range []struct {
		name, reference, ours string
		comparison            Comparison
		want                  []string
	}{
		{"nothing", referenceText, referenceText, same, nil},
		{"the row is gone", strings.Replace(referenceText, learned, "", 1), referenceText, same, []string{"Route/method=learned/benchmark=avg accuracy-%", "Route/method=learned/benchmark=avg difference-points"}},
		{"a unit is gone", strings.Replace(referenceText, " -5.000 difference-points", "", 1), referenceText, same, []string{"Route/method=learned/benchmark=avg difference-points"}},
		{"a training is gone", strings.Replace(referenceText, "BenchmarkRoute/method=seeded/benchmark=avg/seed=2 100 82.000 accuracy-%\n", "", 1), referenceText, same, []string{"Route/method=seeded/benchmark=avg/seed=2 accuracy-%"}},
		{"a line that counts as lost", strings.Replace(referenceText, "BenchmarkRoute/method=fixed/benchmark=one 100 70.000 accuracy-%\n", "", 1), referenceText, same, nil},
		{"the reference has more", referenceText, strings.Replace(referenceText, learned, "", 1), same, nil},
		{"a setting of a knob", referenceText, referenceText + knob, same, []string{"Sweep/method=learned/knob=001 accuracy-%"}},
		{"a setting of other trainings", referenceText + strings.Replace(knob, "001", "002", 1), referenceText + knob, otherTraining, nil},
		{"all settings, of other trainings", referenceText, referenceText + knob, otherTraining, []string{"Sweep/method=learned/knob=001 accuracy-%"}},
		{"a class of other problems", referenceText, referenceText + "BenchmarkShare/method=fixed/stratum=hard/expert=big 100 50.000 share-%\n", otherProblems, nil},
	} {
		var added []string
		for _, x := range Added(parseSet(t, tc.ours), parseSet(t, tc.reference), tc.comparison) {
			added = append(added, x.Label+" "+x.Unit)
			if x.Regressed() {
				t.Errorf("%s: %+v is a regression", tc.name, x)
			}
		}
		if diff := cmp.Diff(tc.want, added); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}
