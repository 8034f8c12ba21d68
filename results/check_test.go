// What 'check smoke' must let pass, and where it is called.
package results_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // as the command does
	os.Exit(m.Run())
}

// Reruns that change nothing but training seeds: five trainings, two at a time, each beside two others.
func TestCheckStaysQuietOverOtherTrainings(t *testing.T) {
	if testing.Short() {
		t.Skip("trains every router of the smoke experiment five times")
	}
	reference, out := smokeReference(t), t.TempDir()
	for a := uint64(100); a < 105; a++ {
		b := 100 + (a-99)%5
		r := smoke(t)
		r.Experiment.Evaluate.Seeds = []uint64{a, b}
		report := check(rerun(t, r, out), reference)
		if !report.SameProblems {
			t.Error("the problems are others")
		}
		quiet(t, fmt.Sprintf("seeds %d and %d", a, b), report)
	}
}

// Reruns on other problems, where rows that train nothing are gated: once with every row, then without the others.
func TestCheckStaysQuietOverOtherProblems(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the smoke experiment")
	}
	for k := range uint64(5) {
		r, reference := smoke(t), smokeReference(t)
		r.Experiment.Seed = 110 + k
		if k > 0 {
			x := &r.Experiment
			x.Methods = slices.DeleteFunc(x.Methods, func(m spec.Method) bool { return !slices.Contains([]string{"fixed", "self", "oracle"}, m.Name) })
			x.Outputs = slices.DeleteFunc(x.Outputs, func(o spec.Output) bool { return o.Kind != "table" })
			x.Train.SFT.Size, x.Train.RL.Size = 5, 5
			reference.Measurements = slices.DeleteFunc(reference.Measurements, func(m metrics.Measurement) bool {
				return !slices.ContainsFunc(x.Methods, func(row spec.Method) bool { return row.RowID() == m.Key("method") })
			})
		}
		report := check(rerun(t, r, t.TempDir()), reference)
		if report.SameProblems {
			t.Error("the problems are the same")
		}
		quiet(t, fmt.Sprintf("problems of seed %d", r.Experiment.Seed), report)
	}
}

// quiet wants a check to hold numbers against something and to close no gate.
func quiet(t *testing.T, what string, report *compare.NumbersReport) {
	t.Helper()
	gated := len(report.Noise())
	if gated == 0 {
		t.Errorf("%s: nothing was gated", what)
	}
	for _, c := range report.Ungated() {
		if (c.Reason == metrics.Reason{}) {
			t.Errorf("%s: nothing says why %s %s is not judged", what, c.Label, c.Unit)
		}
	}
	for _, c := range report.Regressions() {
		t.Errorf("%s: %s %s: %v in the reference, now %v; noise is up to %v", what, c.Label, c.Unit, c.Reference, c.Ours, c.Band)
	}
	t.Logf("%s: %d numbers moved inside their bands", what, gated)
}

// The workflow runs what the README calls the test command, the check, which writes annotations there, and the tests in a browser, which
// it has to have.
func TestTheWorkflowRunsTheTestsAndTheChecks(t *testing.T) {
	data, err := os.ReadFile("../.github/workflows/ci.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(data, &workflow); err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			runs = append(runs, step.Run)
		}
	}
	for _, want := range []string{".ci/run", "go run ./cmd/entrorouter check smoke", "go run ./cmd/entrorouter check main --against figures", "make test-browser BROWSER=required"} {
		if !slices.Contains(runs, want) {
			t.Errorf("no step runs %q: %q", want, runs)
		}
	}
	if info, err := os.Stat("../.ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf(".ci/run cannot be run: %v", err)
	}
	if _, err := os.Stat("../figures/main/measurements.txt"); err != nil {
		t.Error(err)
	}
}

// check holds a result against a reference.
func check(r *harness.Result, reference *metrics.Set) *compare.NumbersReport {
	return compare.Numbers(r.Spec, r.Measurements, reference)
}
