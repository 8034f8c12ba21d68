package harness

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// A run with one training measures no lines of single seeds, and is held against the reference's line of its seed.
func TestOneTrainingIsHeldAgainstItsOwnInTheReference(t *testing.T) {
	dir := t.TempDir()
	reference := tinyIn(t, dir).Measurements
	reference.Comment = []string{provenance(&toy.Tiny(t).Experiment, nil).String()}
	r := toy.Tiny(t)
	r.Experiment.Evaluate.Seeds = r.Experiment.Evaluate.Seeds[1:]
	one := runIn(t, r, dir)
	golden := func() (n int) {
		for _, c := range compare.Numbers(one.Spec, one.Measurements, reference).Changes {
			if c.Gate == metrics.Golden && strings.HasSuffix(c.Label, "/method=entrorouter/benchmark=avg/seed=2") {
				n++
			}
		}
		return n
	}
	if n := golden(); n != 8 { // accuracy, dollars, cost share and hull gain in two arenas
		t.Errorf("%d numbers of the training are held against its own, want 8", n)
	}
	report := compare.Numbers(one.Spec, one.Measurements, reference)
	if of := report.Regressions(); len(of) > 0 {
		t.Fatalf("nothing changed: %+v", of)
	}
	for i := range one.Measurements.Measurements {
		m := &one.Measurements.Measurements[i]
		if m.Name == "Route" && m.Key("method") == "entrorouter" && m.Key("benchmark") == metrics.Average && m.Key("arena") == metrics.LargeArena {
			m.Values[0].Number += 0.001
		}
	}
	report = compare.Numbers(one.Spec, one.Measurements, reference)
	if of := report.Regressions(); len(of) != 1 || of[0].Gate != metrics.Golden || of[0].Unit != metrics.Accuracy {
		t.Errorf("a digit of the training: %+v", of)
	}
}

// A file of one training has no line of its seed. What trains or draws is not held against another one; what does not, is.
func TestOneTrainingIsNotHeldAgainstAnother(t *testing.T) {
	dir, _ := toy.Folder(t, ", versus: [cheapest]", `
methods:
  - {name: random}
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
outputs: [{kind: table}]
`)
	out := t.TempDir()
	for name, load := range map[string]func(t *testing.T) *spec.Resolved{
		"split":    func(t *testing.T) *spec.Resolved { return toy.Tiny(t) },
		"folds":    func(t *testing.T) *spec.Resolved { return toy.Load(t, filepath.Join(dir, "constants.yaml")) },
		"collapse": smallCollapse,
	} {
		run := func(t *testing.T, seed uint64) *Result {
			r := load(t)
			r.Experiment.Evaluate.Seeds = []uint64{seed}
			result, err := Run(t.Context(), r, Options{Out: out, Data: dir, Env: map[string]string{"arch": runtime.GOARCH}})
			if err != nil {
				t.Fatal(err)
			}
			return result
		}
		t.Run(name, func(t *testing.T) {
			one, seven := run(t, 1), run(t, 7)
			stored, err := book.OpenRun(out, seven.Spec.Experiment.Name)
			if err != nil {
				t.Fatal(err)
			}
			measured, err := stored.Measurements("go" + policy.Numerics)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{provenance(&seven.Spec.Experiment, nil).String()}, measured.Comment); d != "" {
				t.Errorf("how the stored run was made (-want +got):\n%s", d)
			}
			for _, against := range []*Result{one, seven} {
				report := compare.Numbers(against.Spec, against.Measurements, against.Measurements)
				if of := report.Regressions(); len(of) > 0 || !report.SameProblems || !report.SameNumerics {
					t.Fatalf("against itself: %+v", of)
				}
				if !slices.ContainsFunc(report.Changes, func(c metrics.Change) bool { return c.Gate == metrics.Golden }) {
					t.Error("against itself: nothing has to repeat itself")
				}
			}
			for _, pair := range [][2]*Result{{one, seven}, {seven, one}} {
				report := compare.Numbers(pair[0].Spec, pair[0].Measurements, pair[1].Measurements)
				if of := report.Regressions(); len(of) > 0 {
					t.Fatalf("%d regressions, the first: %+v", len(of), of[0])
				}
				exact := 0
				for _, c := range report.Changes {
					switch {
					case strings.Contains(c.Unit, "-low") || strings.Contains(c.Unit, "-high"): // of what trains nothing
					case c.Gate == metrics.Exact:
						exact++
					case c.Gate == metrics.Golden && (name != "split" || strings.Contains(c.Label, "/method=")):
						t.Errorf("%s %s has to repeat itself", c.Label, c.Unit)
					}
				}
				if !report.SameProblems || exact == 0 && name != "collapse" {
					t.Errorf("%d exact; same problems: %v", exact, report.SameProblems)
				}
				everyReason(t, report)
				if len(report.Ungated())+len(report.Noise()) == 0 {
					t.Error("nothing moved")
				}
			}
		})
	}
}

// everyReason wants a reason of every number of a comparison that nothing judges.
func everyReason(t *testing.T, report *compare.NumbersReport) {
	t.Helper()
	for _, c := range report.Changes {
		if judged := c.Gate != metrics.None || c.Missing || c.Lost; judged != (c.Reason == metrics.Reason{}) {
			t.Errorf("%s %s has the gate %s and the reason %q", c.Label, c.Unit, c.Gate, c.Reason)
		}
	}
}
