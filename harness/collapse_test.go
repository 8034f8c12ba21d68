package harness

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// smallCollapse is the built-in experiment cut down to half a second.
func smallCollapse(t *testing.T) *spec.Resolved {
	t.Helper()
	r, err := spec.Load(experiments.FS, "collapse", spec.Known{}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	x := &r.Experiment
	c := *x.Collapse
	c.Training.Steps, c.Training.LogEvery, c.Training.Batch, c.Training.Group, c.Training.Hidden = 20, 10, 8, 8, 8
	c.Curves = []float64{0, 1}
	c.Sweep.Assimilation, c.Sweep.Lambda = []float64{0, 1}, []float64{0, 0.3}
	x.Collapse, x.Evaluate.Seeds = &c, []uint64{1, 2}
	return r
}

// collapseIn is a finished run of smallCollapse in a folder, as tinyIn is of tiny.
func collapseIn(t *testing.T, out string) *Result {
	t.Helper()
	dir := filepath.Join(shared, "collapse")
	collapseOnce.Do(func() { runIn(t, smallCollapse(t), dir) })
	if err := os.CopyFS(out, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return runIn(t, smallCollapse(t), out)
}

var collapseOnce sync.Once

func TestCollapseIsTheSameByteForByteAndDoneOnce(t *testing.T) {
	outs := []string{t.TempDir(), t.TempDir()}
	a, b := collapseIn(t, outs[0]), runIn(t, smallCollapse(t), outs[1])
	if x, y := entries(t, outs[0]), entries(t, outs[1]); !maps.EqualFunc(x, y, slices.Equal) {
		t.Errorf("two runs differ: %s", cmp.Diff(x, y))
	}
	if cmp.Diff(a.Measurements, b.Measurements) != "" {
		t.Error("measurements differ")
	}
	plan, _, err := Plan(t.Context(), smallCollapse(t), Options{Out: outs[0]})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan) != 1 || !plan[0].Stored {
		t.Errorf("plan after a run: %+v", plan)
	}
}

// Measurements can be drawn by a spec that asks for other seeds than they were made with.
func TestCaptionsOfCollapseCountTheSeedsOfTheMeasurements(t *testing.T) {
	r := collapseIn(t, t.TempDir())
	r.Spec.Experiment.Evaluate.Seeds = []uint64{1, 2, 3, 4, 5}
	_, files := drawn(t, r)
	for name, want := range map[string]string{"collapse/collapse.txt": "Lines are means of 2 seeds", "collapse/phase.txt": "means of 2 seeds"} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s does not say %q: %s", name, want, files[name])
		}
	}
}

func TestCollapseMeasuresWhatTrainingDoes(t *testing.T) {
	r := collapseIn(t, t.TempDir())
	start, _, err := r.Measurements.Find(metrics.Keys("assimilation", "0", "step", "00", "seed", "")...)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := start.Value(units.CallRate); v.Number != 90 || start.N != 2 {
		t.Errorf("cold start: %+v", start)
	}
	end, _, err := r.Measurements.Find(metrics.Keys("assimilation", "0", "step", "20", "seed", "")...)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := end.Value(units.CallRate); v.Number >= 90 || v.Low > v.Number || v.High < v.Number {
		t.Errorf("calls do not fall where nothing is assimilated: %+v", v)
	}
	single, over := r.Measurements.Where(metrics.Keys("assimilation", "0", "step", "20")...), 0.0
	for _, m := range single {
		if v, _ := m.Value(units.CallRate); m.Key("seed") != "" && !v.Bounded {
			over += v.Number / float64(end.N)
		}
	}
	if v, _ := end.Value(units.CallRate); len(single) != 1+end.N || math.Abs(over-v.Number) > 0.01 {
		t.Errorf("%d lines at the end of a curve; the mean of single seeds is %v, of all %v", len(single), over, v.Number)
	}
	// Hard problems at lambda 0.3, by hand: (0.3*0.0375+0.05)/(0.45-0.25+0.05) = 0.245 for the cheapest expert, and
	// the dearer ones need more.
	hard, _, err := r.Measurements.Find(metrics.Keys("lambda", "0.3", "bucket", "hard", "assimilation", "")...)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := hard.Value(units.ThresholdOnce); v.Number != 0.245 {
		t.Errorf("threshold of one call: %+v", v)
	}
	checked := false
	for _, m := range r.Measurements.Measurements {
		if v, ok := m.Value(units.Disagreements); ok {
			checked = true
			if v.Number != 0 || m.N == 0 {
				t.Errorf("the grid and the closed form disagree: %+v", m)
			}
		}
	}
	if !checked {
		t.Error("no comparison of the grid with the closed form")
	}
}

func TestTheCollapseCaptionSaysWhatItDoesNotShow(t *testing.T) {
	r := collapseIn(t, t.TempDir())
	_, files := drawn(t, r)
	if caption := files["collapse/collapse.txt"]; !strings.Contains(caption, "It does not show that a language model has a small a") {
		t.Errorf("caption: %s", caption)
	}
}

func TestATableCannotReplay(t *testing.T) {
	r := smallCollapse(t)
	r.Experiment.Collapse.Controls = []spec.CollapseControl{{ID: "odd", Label: "Odd", Outcomes: "replay"}}
	_, err := Run(t.Context(), r, Options{Out: t.TempDir()})
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "collapse.controls[0]: outcomes replay needs policy network") {
		t.Errorf("error %v", err)
	}
}

// Curves and sweep stand beside thresholds of the setting's buckets, and beside nothing that these leave out. Buckets of a replay are single
// problems: what is measured by bucket would be that of the first three.
func TestWhatThresholdsLeaveOutIsForControls(t *testing.T) {
	for knob, set := range map[string]func(*spec.CollapseSetting){
		"outcomes":    func(s *spec.CollapseSetting) { s.Outcomes, s.Policy = "replay", "network" },
		"reward":      func(s *spec.CollapseSetting) { s.Reward = "xrouter" },
		"select":      func(s *spec.CollapseSetting) { s.Select = true },
		"format_fail": func(s *spec.CollapseSetting) { s.FormatFail = 0.1 },
		"call_bonus":  func(s *spec.CollapseSetting) { s.CallBonus = 0.1 },
	} {
		r := smallCollapse(t)
		set(&r.Experiment.Collapse.Setting)
		_, err := Run(t.Context(), r, Options{Out: t.TempDir()})
		if want := "collapse.setting." + knob + ": thresholds"; !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestAControlOutOfRangeIsNamed(t *testing.T) {
	r := smallCollapse(t)
	two := 2.0
	r.Experiment.Collapse.Controls = []spec.CollapseControl{{ID: "odd", Label: "Odd", Assimilation: &two}}
	_, err := Run(t.Context(), r, Options{Out: t.TempDir()})
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "collapse.controls[0]: environment: assimilation is 2") {
		t.Errorf("error %v", err)
	}
}

func TestAnInterruptedCollapseStoresNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := t.TempDir()
	if _, err := Run(ctx, smallCollapse(t), Options{Out: out}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if plan, _, err := Plan(t.Context(), smallCollapse(t), Options{Out: out}); err != nil || plan[0].Stored {
		t.Errorf("plan %+v, error %v", plan, err)
	}
}

func TestThePhaseDiagramCountsCellsOnBothSidesOfTheThreshold(t *testing.T) {
	cut := smallCollapse(t)
	c := cut.Experiment.Collapse
	c.Sweep.Assimilation, c.Training.InitialCall, c.Training.Steps = []float64{0, 0.02, 1}, 0.04, 40
	r := runIn(t, cut, t.TempDir())
	phase := map[string][]float64{}
	for _, m := range r.Measurements.Measurements {
		if m.Name == "Phase" {
			for _, v := range m.Values {
				phase[m.Key("bucket")] = append(phase[m.Key("bucket")], v.Number)
			}
		}
	}
	// Three assimilations and two prices: asking pays at a = 1 alone, whatever the price. The policies begin silent and
	// stay so where calls do not pay, and where easy problems leave them 0.04 - 0.3*0.0375 = 0.03 to gain.
	for b, want := range map[string][]float64{"easy": {4, 4, 2, 1}, "medium": {4, 4, 2, 0}, "hard": {4, 4, 2, 0}} {
		if diff := cmp.Diff(want, phase[b]); diff != "" {
			t.Errorf("%s: %s", b, diff)
		}
	}
	for _, c := range []struct {
		at   []string
		want float64 // of three experts
	}{
		{[]string{"lambda", "0", "assimilation", "0", "bucket", "hard"}, 3},
		{[]string{"lambda", "0", "assimilation", "1", "bucket", "hard"}, 0},
		// Easy problems at a = 1 and lambda 0.3: 0.04 - 0.3*0.0375 > 0 for the cheapest, 0.05 - 0.3*0.5625 and
		// 0.06 - 0.3 below 0 for the others.
		{[]string{"lambda", "0.3", "assimilation", "1", "bucket", "easy"}, 2},
	} {
		m, _, err := r.Measurements.Find(metrics.Keys(c.at...)...)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := m.Value(units.NoRegion); !ok || v.Number != c.want {
			t.Errorf("%v: %v experts without a trust region, want %v", c.at, v.Number, c.want)
		}
	}
	_, files := drawn(t, r)
	if caption := files["collapse/phase.txt"]; !strings.Contains(caption, "Easy: calls all but end (under 5%) in 4 of 4 cells left of the solid line and in 1 of 2 right of it.") {
		t.Errorf("caption: %s", caption)
	}
	r.Measurements.Measurements = slices.DeleteFunc(r.Measurements.Measurements, func(m metrics.Measurement) bool { return m.Name == "Theorem" })
	_, files = drawn(t, r)
	if caption := strings.TrimSpace(files["collapse/phase.txt"]); !strings.HasSuffix(caption, "right of it. Dots are cells in which a search on a grid finds the effective trust region of appendix A empty for every expert.") {
		t.Errorf("caption without the comparison: %s", caption)
	}
}
