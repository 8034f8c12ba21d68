package results_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/metrics"
)

// mutants are the regressions that 'check smoke' must notice. docs/ci.md names the gate that does.
var mutants = []mutant{
	{"a rule of the verifier is gone", "verify/internal/formula/latex.go", `case "frac", "dfrac", "tfrac", `, `case "frac", `, 3, "method=qwen3-4b/benchmark=sim-"},
	{"two prices are swapped", "experiments/prices/paper-novita.yaml",
		"Qwen3-4B-Thinking-2507: {in: 0.03, out: 0.03}\n  Qwen3-30B-A3B-Thinking-2507: {in: 0.10, out: 0.45}",
		"Qwen3-4B-Thinking-2507: {in: 0.10, out: 0.45}\n  Qwen3-30B-A3B-Thinking-2507: {in: 0.03, out: 0.03}", 3, "method=qwen3-4b/benchmark=sim-"},
	{"one run too few", "harness/plan.go", "e.newOutcomes(set, e.spec.Benchmarks[name].Runs, ", "e.newOutcomes(set, max(1, e.spec.Benchmarks[name].Runs-1), ", 3, " rollouts: "},
	{"the sign of the anchor", "harness/routing/reward.go", "out[m] += a.Strength * a.T * lp[m]", "out[m] -= a.Strength * a.T * lp[m]", 3, "method=entrorouter/benchmark=avg/seed=1"},
	{"the strongest expert's pass rate is measured", "harness/routing/reward.go", `r.StrongestKappa == "one"`, `r.StrongestKappa != "one"`, 3, "method=entrorouter/benchmark=avg/seed=1"},
	{"advantages are not centred", "harness/train/grpo.go", "a[i] = r - mean", "a[i] = r", 3, "method=entrorouter/benchmark=avg/seed=1"},
	{"answers that were cut off count as right", "harness/ask.go", "v.Bucket, v.Reason = routing.Truncated, ", "v.Bucket, v.Reason = routing.Correct, ", 3, "method=qwen3-4b/benchmark=sim-"},
	{"cost is a mean over questions, not a sum", "harness/measure.go", "value(i, nb+b, pass[b], metrics.USD, 6)", "value(i, nb+b, 1, metrics.USD, 6)", 3, "method=qwen3-4b/benchmark=sim-"},
	{"the labels of Stage I are in another order", "harness/routing/target.go", "t.Prob[m] = 1 / float64(len(top))", "t.Prob[(m+1)%len(kappa)] = 1 / float64(len(top))", 3, "method=sft/benchmark=avg/seed=1"},
	{"the test problems are training problems", "harness/plan.go", `e.newProblemSet(name, problems.Sized, e.spec.Benchmarks[name].Size, "")`, `e.newProblemSet(x.Train.SFT.Benchmark, problems.Sized, e.spec.Benchmarks[name].Size, "")`, 2, "have the same text"},
}

// mutant is a regression that is planted.
type mutant struct {
	name     string
	file     string // from the root of the module
	old, new string
	code     int    // exit code
	says     string // part of what the gate says
}

// build builds the program with the mutant laid over its source.
func (m mutant) build(t *testing.T, dir string) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s holds %q %d times, want once: the mutant has to follow the source", m.file, m.old, n)
	}
	mutated := filepath.Join(dir, filepath.Base(m.file))
	write(t, mutated, strings.Replace(string(source), m.old, m.new, 1))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, "mutant")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags=-s -w", "-o", program, "./cmd/entrorouter")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// Each mutant is built from the source with one change laid over it, and checked against the committed reference.
func TestCheckNoticesEveryPlantedRegression(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ten programs")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			program := m.build(t, dir)
			check := exec.Command(program, "check", "smoke", "--out", filepath.Join(dir, "out"), "--json")
			check.Env = append(os.Environ(), "CI=")
			out, err := check.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != m.code {
				t.Fatalf("exit: %v, want code %d\n%.2000s", err, m.code, out)
			}
			if m.code == 2 {
				if !strings.Contains(string(out), m.says) {
					t.Errorf("says %s, want %q", out, m.says)
				}
				return
			}
			var report struct {
				Same  bool `json:"same_problems"`
				Moved []struct{ Label, Unit, Verdict string }
			}
			if err := json.Unmarshal(out, &report); err != nil {
				t.Fatal(err)
			}
			n, found := 0, false
			for _, x := range report.Moved {
				if strings.HasPrefix(x.Verdict, "regression") || x.Verdict == "missing" {
					n++
					found = found || strings.Contains(x.Label+" "+x.Unit+": ", m.says)
				}
			}
			if !report.Same || !found {
				t.Errorf("%d regressions, none of them of %q; same problems: %v", n, m.says, report.Same)
			}
			t.Logf("%d regressions", n)
			if said := inTheDocuments(t, m.name); runtime.GOARCH == "amd64" && said != n { // where the reference was trained
				t.Errorf("%d numbers closed a gate, and the table of planted regressions in docs/ci.md says %d", n, said)
			}
		})
	}
}

// inTheDocuments adds up what the table of docs/ci.md says of a planted regression with the same seeds.
func inTheDocuments(t *testing.T, mutant string) (n int) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, ok := strings.Cut(string(readme), "\n| "+mutant+" |")
	if !ok {
		t.Fatalf("the table of docs/ci.md has no row %q", mutant)
	}
	cell, _, _ := strings.Cut(row, "|")
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(cell, -1) {
		k, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	return n
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Reruns that change nothing but seeds: ten with other training seeds, ten with other problems as well.
func TestCheckStaysQuietOverOtherSeeds(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the smoke experiment twenty times")
	}
	reference := smokeReference(t)
	out := t.TempDir()
	closed := 0
	for k := range 20 {
		r := smoke(t)
		r.Experiment.Evaluate.Seeds = []uint64{100 + 2*uint64(k), 101 + 2*uint64(k)}
		if k >= 10 {
			r.Experiment.Seed = 100 + uint64(k)
		}
		report := check(rerun(t, r, out), reference)
		if want := k < 10; report.SameProblems != want {
			t.Errorf("rerun %d: same problems: %v, want %v", k, report.SameProblems, want)
		}
		gated := len(report.Noise())
		if gated == 0 {
			t.Errorf("rerun %d: nothing was gated", k)
		}
		for _, c := range report.Regressions() {
			closed++
			t.Errorf("rerun %d: %s %s: %v in the reference, now %v; noise is up to %v", k, c.Label, c.Unit, c.Reference, c.Ours, c.Band)
		}
	}
	t.Logf("%d false alarms in 20 reruns", closed)
}

// The workflow runs what the README calls the test command, and the check, which writes annotations there.
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
	for _, want := range []string{".ci/run", "go run ./cmd/entrorouter check smoke", "go run ./cmd/entrorouter check main --against figures"} {
		if !slices.Contains(runs, want) {
			t.Errorf("no step runs %q: %q", want, runs)
		}
	}
	if info, err := os.Stat("../.ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf(".ci/run cannot be run: %v", err)
	}
	if _, err := os.Stat("../figures/main-measurements.txt"); err != nil {
		t.Error(err)
	}
}

// check holds a result against a reference.
func check(r *harness.Result, reference *metrics.Set) *compare.NumbersReport {
	return compare.Numbers(r.Spec, r.Measurements, reference)
}
