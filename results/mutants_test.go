// Regressions in the source: the program is built with each of them, and has to notice itself what is wrong with it.
// 'make study' does; the tests of the command plant the same in values.
package results_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutants are the regressions that 'check smoke' must notice, in the source. docs/ci.md names the gate that does.
var mutants = []mutant{
	{"a rule of the verifier is gone", "verify/internal/formula/latex.go", `case "frac", "dfrac", "tfrac", `, `case "frac", `, 3, "method=qwen3-4b/benchmark=sim-"},
	{"two prices are swapped", "experiments/prices/paper-novita.yaml",
		"Qwen3-4B-Thinking-2507: {in: 0.03, out: 0.03}\n  Qwen3-30B-A3B-Thinking-2507: {in: 0.10, out: 0.45}",
		"Qwen3-4B-Thinking-2507: {in: 0.10, out: 0.45}\n  Qwen3-30B-A3B-Thinking-2507: {in: 0.03, out: 0.03}", 3, "method=qwen3-4b/benchmark=sim-"},
	{"one run too few", "harness/spec/load.go", "b.Runs = min(b.Runs, e.Evaluate.MaxRuns)", "b.Runs = max(1, min(b.Runs, e.Evaluate.MaxRuns)-1)", 3, " rollouts: "},
	{"the sign of the anchor", "harness/routing/reward.go", "out[m] += a.Strength * a.T * lp[m]", "out[m] -= a.Strength * a.T * lp[m]", 3, "method=entrorouter/benchmark=avg/seed=1"},
	{"the strongest expert's pass rate is measured", "harness/routing/reward.go", `r.StrongestKappa == "one"`, `r.StrongestKappa != "one"`, 3, "method=entrorouter/benchmark=avg/seed=1"},
	{"advantages are not centred", "harness/train/grpo.go", "a[i] = r - mean", "a[i] = r", 3, "method=entrorouter/benchmark=avg/seed=1"},
	{"answers that were cut off count as right", "harness/asking/rollouts.go", "v.Bucket, v.Reason = routing.Truncated, ", "v.Bucket, v.Reason = routing.Correct, ", 3, "method=qwen3-4b/benchmark=sim-"},
	{"cost is a mean over questions, not a sum", "harness/score/route.go", "return p.Benchmarks[p.bench].Pass * p.by[p.bench].Cost", "return p.by[p.bench].Cost", 3, "method=qwen3-4b/benchmark=sim-"},
	{"the labels of Stage I are in another order", "harness/routing/target.go", "t.Prob[m] = 1 / float64(len(top))", "t.Prob[(m+1)%len(kappa)] = 1 / float64(len(top))", 3, "method=sft/benchmark=avg/seed=1"},
	{"the test problems are training problems", "harness/protocol/split.go", `e.newProblemSet(name, problems.Sized, e.Spec.Benchmarks[name].Size, "")`, `e.newProblemSet(x.Train.SFT.Benchmark, problems.Sized, e.Spec.Benchmarks[name].Size, "")`, 2, "have the same text"},
}

// mutant is a regression that is planted.
type mutant struct {
	name     string // as in docs/ci.md
	file     string // from the root of the module
	old, new string
	code     int    // exit code
	says     string // part of what the gate says
}

// source returns the file of a mutant and its text with the mutant in it.
func (m mutant) source(t *testing.T) (file, text string) {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.old); n != 1 {
		t.Fatalf("%s holds %q %d times, want once: the mutant has to follow the source", m.file, m.old, n)
	}
	return file, strings.Replace(string(source), m.old, m.new, 1)
}

// build builds the program with the mutant laid over its source.
func (m mutant) build(t *testing.T, dir string) string {
	t.Helper()
	file, text := m.source(t)
	mutated := filepath.Join(dir, filepath.Base(m.file))
	write(t, mutated, text)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	program := filepath.Join(dir, "mutant")
	build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags=-s -w", "-o", program, "./cmd/entrorouter")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

func TestEveryMutantFollowsTheSource(t *testing.T) {
	table, err := os.ReadFile("../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			file, text := m.source(t)
			if filepath.Ext(file) == ".go" {
				if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
					t.Error(err)
				}
			}
			if !strings.Contains(string(table), "\n| "+m.name+" |") {
				t.Errorf("the table of docs/ci.md has no row %q", m.name)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
