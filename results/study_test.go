// Studies of check: what it notices of the mutants, and how often it is wrong about reruns. 'make study' carries them out.
package results_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
	"github.com/entrorouter/entrorouter/results"
)

// asked skips a study unless CHECK_STUDY asks for it.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("CHECK_STUDY") == "" {
		t.Skip("a study of an hour; 'make study' carries it out")
	}
}

func smoke(t *testing.T) *spec.Resolved {
	t.Helper()
	r, err := spec.Load(experiments.FS, "smoke", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func smokeReference(t *testing.T) *metrics.Set {
	t.Helper()
	f, err := results.FS.Open("reference/smoke/measurements.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	set, err := metrics.Read("measurements.txt", f)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func rerun(t *testing.T, r *spec.Resolved, out string) *harness.Result {
	t.Helper()
	result, err := harness.Run(t.Context(), r, harness.Options{Out: out, Env: map[string]string{"arch": runtime.GOARCH}})
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
	reference, err := fs.ReadFile(results.FS, "reference/smoke/measurements.txt")
	if err != nil {
		t.Fatal(err)
	}
	otherArch := file("arch/measurements.txt", edited(t, string(reference), " by backend go on amd64.", " by backend go on another."))
	rerun(t, smoke(t), filepath.Join(dir, "clean"))
	cases := []struct{ name, spec, against string }{
		{sameSeeds, "smoke", "results/reference"},
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
			if failed, ok := errors.AsType[*exec.ExitError](err); ok && len(said) == 0 {
				said = failed.Stderr
			}
			if c.name == sameSeeds {
				m.isNoticed(t, check.ProcessState.ExitCode(), said)
			}
			table += " " + noticed(t, check.ProcessState.ExitCode(), said) + " |"
		}
		table += "\n"
	}
	t.Logf("noticed by, with how many numbers:\n%s", table)
}

// sameSeeds is the case that nothing but the mutant differs in.
const sameSeeds = "the same seeds"

// isNoticed wants a check with the same seeds to say what is wrong, by as many numbers as docs/ci.md has.
func (m mutant) isNoticed(t *testing.T, code int, said []byte) {
	t.Helper()
	if code != m.code {
		t.Errorf("%s: exit code %d, want %d\n%.2000s", m.name, code, m.code, said)
		return
	}
	if code == 2 {
		if !strings.Contains(string(said), m.says) {
			t.Errorf("%s: says %s, want %q", m.name, said, m.says)
		}
		return
	}
	var report struct {
		Same  bool `json:"same_problems"`
		Moved []struct{ Label, Unit, Verdict string }
	}
	if err := json.Unmarshal(said, &report); err != nil {
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
		t.Errorf("%s: %d regressions, none of them of %q; same problems: %v", m.name, n, m.says, report.Same)
	}
	if said := inTheDocuments(t, m.name); runtime.GOARCH == "amd64" && said != n { // where the reference was trained
		t.Errorf("%s: %d numbers closed a gate, and the table of planted regressions in docs/ci.md says %d", m.name, n, said)
	}
}

// inTheDocuments adds up what the table of docs/ci.md says of a planted regression with the same seeds.
func inTheDocuments(t *testing.T, mutant string) (n int) {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, ok := strings.Cut(string(table), "\n| "+mutant+" |")
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
		Rows  []compare.RowMove
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
			for _, m := range []compare.Move{c.Accuracy, c.USD} {
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
	names := [...]string{"other training seeds", "other training seeds and problems", "a run, other training seeds"}
	var alarms [len(names)]int
	tally := func(n int) {
		for i, name := range names {
			t.Logf("%s: %d of %d reruns alarm; the rate is at most %.1f%% (Clopper-Pearson, 95%%), nominal %.0f%%", name, alarms[i], n, 100*atMost(alarms[i], n), 100*compare.FalseAlarm)
		}
	}
	for k := range n {
		r := smoke(t)
		seeds := func(first uint64) *harness.Result {
			r.Experiment.Evaluate.Seeds = []uint64{first + 2*uint64(k), first + 1 + 2*uint64(k)}
			return rerun(t, r, out)
		}
		report := check(seeds(1000), reference)
		alarms[0] += closed(t, k, report)
		if k == 0 {
			bands(t, report)
		}
		run, err := book.OpenRun(out, "smoke")
		if err != nil {
			t.Fatal(err)
		}
		paired, err := harness.CheckRun(seeds(100_000), harness.Options{Out: out}, run)
		if err != nil {
			t.Fatal(err)
		}
		if paired.Regressed() {
			alarms[2]++
			for _, row := range paired.Rows {
				for _, c := range row.Cells {
					for what, m := range map[string]compare.Move{"accuracy": c.Accuracy, "usd": c.USD} {
						if m.Regressed() {
							t.Logf("rerun %d, paired: %s %s %s %s: %v; noise is up to %v", k, row.Row, row.Arena, c.Benchmark, what, m.Difference, m.Band)
						}
					}
				}
			}
		}
		r.Experiment.Seed = 1000 + uint64(k)
		report = check(seeds(1000), reference)
		alarms[1] += closed(t, k, report)
		if k == 0 {
			bands(t, report)
		}
		if (k+1)%10 == 0 {
			tally(k + 1)
		}
	}
	tally(n)
}

// closed says whether any gate closed.
func closed(t *testing.T, k int, report *compare.NumbersReport) int {
	for _, c := range report.Regressions() {
		t.Logf("rerun %d, same problems: %v: %s %s: %v in the reference, now %v; noise is up to %v", k, report.SameProblems, c.Label, c.Unit, c.Reference, c.Ours, c.Band)
	}
	return min(1, len(report.Regressions()))
}

// bands prints the greatest moves of averages that pass.
func bands(t *testing.T, report *compare.NumbersReport) {
	for _, c := range report.Changes {
		for _, unit := range []string{metrics.Accuracy, metrics.USDPerQuery, units.HullGain} {
			if (c.Gate == metrics.Seeds || c.Gate == metrics.Question) && c.Unit == unit && c.Band > 0 {
				t.Logf("%s: a move of %.4g passes (%.2f%%): %s %s", c.Gate, c.Band, 100*c.Band/math.Abs(c.Reference), c.Label, c.Unit)
			}
		}
	}
}

// atMost is the upper end of the one-sided 95% interval of a rate of which k of n were seen (Clopper and Pearson 1934).
func atMost(k, n int) float64 {
	if k == n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.95)
}
