package results_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// asked skips a study unless CHECK_STUDY asks for it.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("CHECK_STUDY") == "" {
		t.Skip("a study of some minutes; CHECK_STUDY=100 runs it with a hundred reruns")
	}
}

func smoke(t *testing.T) *spec.Resolved {
	t.Helper()
	r, err := spec.Load(experiments.FS, "smoke", spec.Known{Methods: methods.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func smokeReference(t *testing.T) *metrics.Set {
	t.Helper()
	f, err := results.FS.Open("reference/smoke-measurements.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := metrics.Read("smoke-measurements.txt", f)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func rerun(t *testing.T, r *spec.Resolved, out string) *harness.Result {
	t.Helper()
	result, err := harness.Run(t.Context(), r, harness.Options{Out: out, Env: map[string]string{"arch": "test"}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// edited is a text in which something was replaced that occurs once.
func edited(t *testing.T, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is not there once", old)
	}
	return strings.Replace(text, old, new, 1)
}

// Which gate notices which mutant, by what the run and the reference have in common.
func TestStudyOfCatchingPower(t *testing.T) {
	asked(t)
	dir := t.TempDir()
	text, err := fs.ReadFile(experiments.FS, "smoke.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, path, text)
		return path
	}
	otherSeeds := file("seeds/smoke.yaml", edited(t, string(text), "seeds: [1, 2]", "seeds: [101, 102]"))
	otherProblems := file("problems/smoke.yaml", edited(t, string(text), "name: smoke\n", "name: smoke\nseed: 100\n"))
	reference, err := fs.ReadFile(results.FS, "reference/smoke-measurements.txt")
	if err != nil {
		t.Fatal(err)
	}
	otherArch := file("arch/smoke-measurements.txt", edited(t, string(reference), " by backend go on ", " by backend go on another than "))
	rerun(t, smoke(t), filepath.Join(dir, "clean"))
	cases := []struct{ name, spec, against string }{
		{"the same seeds", "smoke", "results/reference"},
		{"another architecture", "smoke", otherArch},
		{"other training seeds", otherSeeds, "results/reference"},
		{"other problems", otherProblems, "results/reference"},
		{"a run, other training seeds", otherSeeds, filepath.Join(dir, "clean")},
		{"a run, the same seeds", "smoke", filepath.Join(dir, "clean")},
	}
	table := "| planted regression |"
	for _, c := range cases {
		table += " " + c.name + " |"
	}
	table += "\n|---|" + strings.Repeat("---|", len(cases)) + "\n"
	for _, m := range mutants {
		out := t.TempDir()
		program := m.build(t, out)
		table += "| " + m.name + " |"
		for _, c := range cases {
			check := exec.Command(program, "check", c.spec, "--out", filepath.Join(out, "runs"), "--against", c.against, "--json")
			check.Dir, check.Env = out, append(os.Environ(), "CI=")
			said, err := check.Output()
			if check.ProcessState == nil {
				t.Fatal(err)
			}
			table += " " + noticed(t, check.ProcessState.ExitCode(), said) + " |"
		}
		table += "\n"
	}
	t.Logf("noticed by, with how many numbers:\n%s", table)
}

// noticed says which gates closed, and how many numbers at each.
func noticed(t *testing.T, code int, said []byte) string {
	t.Helper()
	switch code {
	case 0:
		return "-"
	case 2:
		return "refused"
	case 3:
	default:
		t.Fatalf("exit code %d\n%.2000s", code, said)
	}
	var report struct {
		Moved []struct{ Gate, Verdict string }
		Rows  []harness.RowMove
	}
	if err := json.Unmarshal(said, &report); err != nil {
		t.Fatal(err)
	}
	gates := map[string]int{}
	for _, m := range report.Moved {
		if m.Verdict == "missing" {
			gates["missing"]++
		} else if strings.HasPrefix(m.Verdict, "regression") {
			gates[m.Gate]++
		}
	}
	for _, r := range report.Rows {
		for _, c := range r.Cells {
			for _, m := range []harness.Move{c.Accuracy, c.USD} {
				if m.Regressed() {
					gates[string(m.Gate)]++
				}
			}
		}
	}
	var parts []string
	for _, g := range slices.Sorted(maps.Keys(gates)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", g, gates[g]))
	}
	if parts == nil {
		return "bytes of steps"
	}
	return strings.Join(parts, ", ")
}

// How often a gate closes although nothing changed but seeds, and the smallest moves that the bands let through.
func TestStudyOfFalseAlarms(t *testing.T) {
	asked(t)
	n, err := strconv.Atoi(os.Getenv("CHECK_STUDY"))
	if err != nil {
		t.Fatalf("CHECK_STUDY=%q: want the number of reruns", os.Getenv("CHECK_STUDY"))
	}
	reference, out := smokeReference(t), t.TempDir()
	var alarms, pairedAlarms [2]int
	bands := map[string][]float64{}
	for k := range n {
		for i, otherProblems := range []bool{false, true} {
			r := smoke(t)
			r.Experiment.Evaluate.Seeds = []uint64{1000 + 2*uint64(k), 1001 + 2*uint64(k)}
			if otherProblems {
				r.Experiment.Seed = 1000 + uint64(k)
			}
			result := rerun(t, r, out)
			report := harness.Check(result, reference)
			if of := report.Regressions(); len(of) > 0 {
				alarms[i]++
				for _, c := range of {
					t.Logf("rerun %d, other problems: %v: %s %s: %v in the reference, now %v; noise is up to %v", k, otherProblems, c.Label, c.Unit, c.Reference, c.Ours, c.Band)
				}
			}
			if k == 0 {
				for _, c := range report.Changes {
					if c.Gate == metrics.Seeds || c.Gate == metrics.Question {
						name := string(c.Gate) + " " + c.Unit
						bands[name] = append(bands[name], c.Band)
						if strings.Contains(c.Label, "method=entrorouter/benchmark=avg") || strings.Contains(c.Label, "method=qwen3-235b/benchmark=avg") {
							t.Logf("%s %s %s: a move of %.4g passes, %.2f%% of it", c.Gate, c.Label, c.Unit, c.Band, 100*c.Band/math.Abs(c.Reference))
						}
					}
				}
			}
			// The next two training seeds against this run.
			run, err := harness.OpenStoredRun(out, "smoke")
			if err != nil {
				t.Fatal(err)
			}
			for s := range r.Experiment.Evaluate.Seeds {
				r.Experiment.Evaluate.Seeds[s] += 100_000
			}
			paired, err := harness.CheckRun(t.Context(), rerun(t, r, out), out, run)
			if err != nil {
				t.Fatal(err)
			}
			if paired.Regressed() {
				pairedAlarms[i]++
				for _, row := range paired.Rows {
					for _, c := range row.Cells {
						for what, m := range map[string]harness.Move{"accuracy": c.Accuracy, "usd": c.USD} {
							if m.Regressed() {
								t.Logf("rerun %d, paired: %s %s %s %s: %v; noise is up to %v", k, row.Row, row.Arena, c.Benchmark, what, m.Difference, m.Band)
							}
						}
					}
				}
			}
		}
	}
	for _, x := range []struct {
		name   string
		alarms int
	}{
		{"against the reference, other training seeds", alarms[0]}, {"against the reference, other training seeds and problems", alarms[1]},
		{"against a run, other training seeds", pairedAlarms[0]}, {"the same on other problems", pairedAlarms[1]},
	} {
		t.Logf("%s: %d of %d reruns alarm; the rate is at most %.1f%% (Clopper-Pearson, 95%%), nominal %.0f%%", x.name, x.alarms, n, 100*atMost(x.alarms, n), 100*harness.FalseAlarm)
	}
	for _, name := range slices.Sorted(maps.Keys(bands)) {
		b := bands[name]
		slices.Sort(b)
		t.Logf("band of %s: %.4g to %.4g over %d numbers", name, b[0], b[len(b)-1], len(b))
	}
}

// atMost is the upper end of the one-sided 95% interval of a rate of which k of n were seen (Clopper and Pearson 1934).
func atMost(k, n int) float64 {
	if k == n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}
