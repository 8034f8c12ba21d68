package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

// checkedRun runs tiny, or what has steps in common with it, and holds it against the run in dir. The store that it runs into
// is another than dir, and one for all tests: each finds there what others ran.
func checkedRun(t *testing.T, r *spec.Resolved, dir string) (*Result, *compare.RunReport) {
	t.Helper()
	out := filepath.Join(shared, "checked")
	checkedOnce.Do(func() { tinyStore(t, out) })
	return checkedRunIn(t, r, out, dir)
}

var checkedOnce sync.Once

// checkedRunIn runs a spec into a store and holds it against the run in dir.
func checkedRunIn(t *testing.T, r *spec.Resolved, out, dir string) (*Result, *compare.RunReport) {
	t.Helper()
	other, err := book.OpenRun(dir, r.Experiment.Name)
	if err != nil {
		t.Fatal(err)
	}
	result := runIn(t, r, out)
	report, err := CheckRun(result, Options{Out: out}, other)
	if err != nil {
		t.Fatal(err)
	}
	return result, report
}

func rowOf(t *testing.T, r *compare.RunReport, id, arena string) compare.RowMove {
	t.Helper()
	i := slices.IndexFunc(r.Rows, func(x compare.RowMove) bool { return x.Row == id && x.Arena == arena })
	if i < 0 {
		t.Fatalf("row %s is not compared in arena %s", id, arena)
	}
	return r.Rows[i]
}

func TestARunAgainAndInAnotherStoreIsTheSame(t *testing.T) {
	dir := tiny(t)
	r := toy.Tiny(t)
	before := entries(t, dir)
	_, report := checkedRunIn(t, r, t.TempDir(), dir)
	arenas := map[string]int{}
	for _, row := range report.Rows {
		arenas[row.Arena]++
		if !row.Exact || row.Differs() || row.Regressed() {
			t.Errorf("%s in arena %s: exact: %v, differs: %v", row.Row, row.Arena, row.Exact, row.Differs())
		}
	}
	// The oracle reads answers, which the large set has none of.
	if n := len(r.Experiment.Methods); arenas[metrics.PaperArena] != n || arenas[metrics.LargeArena] != n-1 {
		t.Errorf("compared: %v, want %d rows and one less", arenas, n)
	}
	if report.Regressed() || report.Asked == nil || len(report.Asked)+len(report.Broken)+len(report.Gone) > 0 || report.Numbers != nil {
		t.Errorf("asked for differently: %v, broken: %v, gone: %v", report.Asked, report.Broken, report.Gone)
	}
	if d := cmp.Diff(before, entries(t, dir)); d != "" {
		t.Errorf("the store that was compared with changed: %s", d)
	}
}

// Averages and benchmarks of either side are the numbers that were measured, and differences are theirs.
func TestAnotherKnobIsNamedAndComparedQuestionByQuestion(t *testing.T) {
	dir := t.TempDir()
	before := tinyIn(t, dir)
	r := toy.Tiny(t)
	r.Experiment.GRPO.Steps = 9
	after, report := checkedRun(t, r, dir)
	if len(report.Asked) != 1 || len(report.Asked[0].Fields) != 1 || len(report.Asked[0].Steps) != 4 {
		t.Fatalf("asked for differently: %+v", report.Asked)
	}
	f := report.Asked[0].Fields[0]
	if f.Name != "params.method.params.grpo.steps" || f.Reference != "2" || f.Ours != "9" || report.Asked[0].Steps[3] != "fit entrorouter seed=2" {
		t.Errorf("%+v", report.Asked[0])
	}
	if row := rowOf(t, report, "random", metrics.PaperArena); !row.Exact || row.Differs() {
		t.Errorf("random: %+v", row)
	}
	if row := rowOf(t, report, "entrorouter", metrics.LargeArena); row.Exact || row.Changed == 0 || len(row.Most) == 0 {
		t.Errorf("entrorouter: %+v", row)
	}
	measured := func(of *Result, row compare.RowMove, benchmark, unit string) float64 {
		m, ok, err := of.Measurements.Find(append(metrics.Keys("arena", row.Arena, "method", row.Row, "benchmark", benchmark, "seed", ""), metrics.Key{Name: "level"})...)
		if err != nil || !ok {
			t.Fatalf("%s on %s: %v", row.Row, benchmark, err)
		}
		v, ok := m.Value(unit)
		if !ok {
			t.Fatalf("%s on %s: no %s", row.Row, benchmark, unit)
		}
		return v.Number
	}
	for _, row := range report.Rows {
		for _, c := range row.Cells {
			for i, of := range []*Result{after, before} {
				if got, want := []float64{c.Accuracy.Ours, c.Accuracy.Reference}[i], measured(of, row, c.Benchmark, metrics.Accuracy); math.Abs(got-want) > 0.00051 {
					t.Errorf("%s on %s in arena %s: accuracy %v, measured %v", row.Row, c.Benchmark, row.Arena, got, want)
				}
				if c.Benchmark != metrics.Average {
					continue
				}
				if got, want := []float64{c.USD.Ours, c.USD.Reference}[i], measured(of, row, c.Benchmark, metrics.USDPerQuery); math.Abs(got-want) > 0.51e-8 {
					t.Errorf("%s in arena %s: %v dollars per question, measured %v", row.Row, row.Arena, got, want)
				}
			}
			if d := c.Accuracy; math.Abs(d.Ours-d.Reference-d.Difference) > 1e-9 || d.Bounded && (d.Low > d.Difference || d.High < d.Difference) {
				t.Errorf("%s on %s: %+v", row.Row, c.Benchmark, d)
			}
		}
	}
}

// A cost that goes up by a tenth on every question is no noise, whatever questions cost.
func TestAnotherPriceIsMoreThanNoise(t *testing.T) {
	r := toy.Tiny(t)
	models := map[string]cost.Price{}
	for name, p := range r.Prices.Models {
		p.In, p.Out = 1.1*p.In, 1.1*p.Out
		models[name] = p
	}
	r.Prices.Models = models
	_, report := checkedRun(t, r, tiny(t))
	row := rowOf(t, report, "qwen3-235b", metrics.PaperArena)
	if avg := row.Cells[len(row.Cells)-1]; row.Exact || row.Changed != 0 || !row.Regressed() || !avg.USD.Regressed() || avg.Accuracy.Regressed() || avg.USD.Low <= 0 {
		t.Errorf("%+v", row)
	}
	if !report.Regressed() {
		t.Error("the report does not say so")
	}
}

// mutate changes a file of an entry and its manifest, as a program that decides otherwise would have written them.
func mutate(t *testing.T, dir, experiment, step, name string, change func(string) string) {
	t.Helper()
	run, err := book.OpenRun(dir, experiment)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(run.Steps, func(s store.Step) bool { return s.Name == step })
	f, err := run.Step(run.Steps[i].Key)
	if err != nil {
		t.Fatal(err)
	}
	path := f.Entry.Path(name)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := []byte(change(string(before)))
	if bytes.Equal(before, after) {
		t.Fatalf("%s is as it was", path)
	}
	manifest, err := os.ReadFile(f.Entry.Path("manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(manifest, &m); err != nil {
		t.Fatal(err)
	}
	for _, file := range m["files"].([]any) {
		if file := file.(map[string]any); file["name"] == name {
			sum := sha256.Sum256(after)
			file["size"], file["sha256"] = len(after), hex.EncodeToString(sum[:])
		}
	}
	if manifest, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{path: after, f.Entry.Path("manifest.json"): manifest} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// One decision of one training, at the paper's sizes.
func TestOneDecisionIsFound(t *testing.T) {
	dir := t.TempDir()
	tinyStore(t, dir)
	var problem string
	mutate(t, dir, "tiny", "fit entrorouter seed=1", "decisions/paper.csv", func(text string) string {
		lines := strings.SplitAfter(text, "\n")
		fields := strings.SplitN(lines[1], ",", 4)
		problem = fields[0]
		fields[2] = map[string]string{"0": "2", "1": "2", "2": "0"}[fields[2]]
		lines[1] = strings.Join(fields, ",")
		return strings.Join(lines, "")
	})
	_, report := checkedRun(t, toy.Tiny(t), dir)
	if d := cmp.Diff([]string{"fit entrorouter seed=1"}, report.Broken); d != "" {
		t.Errorf("steps with other content (-want +got):\n%s", d)
	}
	for _, row := range report.Rows {
		if want := row.Row == "entrorouter" && row.Arena == metrics.PaperArena; row.Regressed() != want || row.Differs() != want {
			t.Errorf("%s in arena %s: moved: %v, want %v", row.Row, row.Arena, row.Regressed(), want)
		}
	}
	if row := rowOf(t, report, "entrorouter", metrics.PaperArena); row.Changed != 1 || len(row.Most) != 1 || row.Most[0].Problem != problem || !row.Exact {
		t.Errorf("changed: %d, moved most: %+v, want %s alone", row.Changed, row.Most, problem)
	}
	if !report.Regressed() {
		t.Error("the report does not say so")
	}
}

func TestRunsThatCannotBeComparedByQuestionAreComparedByTheirMeasurements(t *testing.T) {
	r := toy.Tiny(t)
	r.Experiment.Seed++
	_, report := checkedRunIn(t, r, t.TempDir(), tiny(t)) // which have nothing in common
	if len(report.Rows) > 0 || report.Numbers == nil || len(report.Numbers.Changes) == 0 {
		t.Fatalf("%d rows, numbers: %v", len(report.Rows), report.Numbers)
	}
	for _, q := range report.Questions {
		if q.Common != 0 || q.Ours == 0 || q.Theirs == 0 {
			t.Errorf("%+v", q)
		}
	}
	if report.Regressed() {
		t.Errorf("other problems alone: %+v", report.Numbers.Regressions())
	}
}

func TestQuestionsRowsAndBenchmarksOfOneSideAreCounted(t *testing.T) {
	r := toy.Tiny(t)
	b := r.Benchmarks["sim-aime25"]
	b.Size -= 3
	r.Benchmarks["sim-aime25"] = b
	r.Experiment.Methods = slices.DeleteFunc(slices.Clone(r.Experiment.Methods), func(m spec.Method) bool { return m.Name == "sft" })
	_, report := checkedRun(t, r, tiny(t))
	if q := report.Questions[0]; q.Arena != metrics.PaperArena || q.Common != 13 || q.Ours != 0 || q.Theirs != 3 {
		t.Errorf("%+v", q)
	}
	if d := cmp.Diff([]string{"row sft"}, report.Gone); d != "" || !report.Regressed() {
		t.Errorf("gone (-want +got):\n%s", d)
	}
}

func TestARunThatCannotBeReadIsSaidInOneSentence(t *testing.T) {
	dir := t.TempDir()
	r := toy.Tiny(t)
	result := tinyIn(t, dir)
	if _, err := book.OpenRun(dir, "main"); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "holds no finished run of experiment main; it has: tiny") {
		t.Errorf("%v", err)
	}
	if _, err := book.OpenRun(t.TempDir(), "tiny"); err == nil {
		t.Error("an empty folder is no store")
	}
	check := func() (*compare.RunReport, error) {
		other, err := book.OpenRun(dir, "tiny")
		if err != nil {
			t.Fatal(err)
		}
		return CheckRun(result, Options{Out: tiny(t)}, other)
	}
	for _, c := range []struct {
		name, want string
		usage      bool
		spoil      func(entry string) error
	}{
		{"gone", " is not in its store (", true, os.RemoveAll},
		{"damaged", " is damaged: ", false, func(entry string) error { return os.WriteFile(filepath.Join(entry, "fit.json"), nil, 0o666) }},
	} {
		other, err := book.OpenRun(dir, "tiny")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(other.Steps, func(s store.Step) bool { return s.Name == "fit sft seed=2" })
		if err := c.spoil(filepath.Join(dir, "stages", "fit", other.Steps[i].Key.Short())); err != nil {
			t.Fatal(err)
		}
		_, err = check()
		if err == nil || errors.Is(err, ErrUsage) != c.usage || !strings.Contains(err.Error(), `step "fit sft seed=2" of the run in `+dir+c.want) {
			t.Fatalf("%s: %v", c.name, err)
		}
		// What it says to do helps.
		_, advice, _ := strings.Cut(err.Error(), "; remove ")
		remove, ok := strings.CutSuffix(advice, " and run experiment tiny there again")
		if !ok {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, entry := range strings.Split(remove, " and ") {
			if err := os.RemoveAll(entry); err != nil {
				t.Fatal(err)
			}
		}
		runIn(t, r, dir)
		if report, err := check(); err != nil || report.Regressed() {
			t.Errorf("%s: made again: %v", c.name, err)
		}
	}
}

// rerecord gives the last entry of a stage another recipe, and so another key, as another version of the program would.
func rerecord(t *testing.T, dir, stage string, change func(recipe map[string]any)) {
	t.Helper()
	run, err := book.OpenRun(dir, "tiny")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(run.Steps, func(s store.Step) bool { return s.Key.Stage == stage })
	old := run.Steps[i].Key
	entry := filepath.Join(dir, "stages", stage, old.Short())
	read := func(name string) (value map[string]any) {
		data, err := os.ReadFile(filepath.Join(entry, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &value); err != nil {
			t.Fatal(err)
		}
		return value
	}
	recipe := read("recipe.json")
	change(recipe)
	data, err := json.Marshal(recipe)
	if err != nil {
		t.Fatal(err)
	}
	manifest := read("manifest.json")
	key := store.Key{Stage: stage, Sum: sha256.Sum256(data)}
	for _, f := range manifest["files"].([]any) {
		if f := f.(map[string]any); f["name"] == "recipe.json" {
			f["size"], f["sha256"] = len(data), hex.EncodeToString(key.Sum[:])
		}
	}
	manifest["key"] = key
	listed, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"recipe.json": data, "manifest.json": listed} {
		if err := os.WriteFile(filepath.Join(entry, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(entry, filepath.Join(dir, "stages", stage, key.Short())); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "experiments", "tiny.txt")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := old.MarshalText()
	after, _ := key.MarshalText()
	if err := os.WriteFile(index, bytes.Replace(text, before, after, 1), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestARunOfAnotherVersionIsReadAsLongAsItsFilesAre(t *testing.T) {
	dir := t.TempDir()
	result := tinyIn(t, dir)
	check := func() (*compare.RunReport, error) {
		other, err := book.OpenRun(dir, "tiny")
		if err != nil {
			t.Fatal(err)
		}
		return CheckRun(result, Options{Out: tiny(t)}, other)
	}
	var version float64
	rerecord(t, dir, "measure", func(recipe map[string]any) {
		version, recipe["version"] = recipe["version"].(float64), 3.
		recipe["params"].(map[string]any)["Former"] = "knob"
	})
	report, err := check()
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Asked) != 1 || len(report.Asked[0].Fields) != 2 || report.Asked[0].Fields[1] != (compare.AskedField{Name: "version", Ours: fmt.Sprint(version), Reference: "3"}) {
		t.Errorf("asked for differently: %+v", report.Asked)
	}
	if report.Regressed() || len(report.Rows) == 0 {
		t.Errorf("%d rows; regressed: %v", len(report.Rows), report.Regressed())
	}
	rerecord(t, dir, "measure", func(recipe map[string]any) { delete(recipe["params"].(map[string]any), "methods") })
	want := `step "measure" of the run in ` + dir + " is not what this version reads: no list of rows and no pool in the recipe; compare the measurements of both instead: --against FILE"
	if _, err := check(); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	// Inputs had no names once.
	rerecord(t, dir, "measure", func(recipe map[string]any) { recipe["inputs"] = []string{} })
	want = `step "measure" of the run in ` + dir + " has a recipe in another form than this version reads; compare the measurements of both instead: --against FILE"
	if _, err := check(); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A protocol without questions compares bytes, recipes and measured numbers.
func TestRunsOfTheCollapseAreCompared(t *testing.T) {
	run := func(lr float64) (*Result, Options) {
		r := smallCollapse(t)
		r.Experiment.Collapse.Training.LR *= lr
		o := Options{Out: t.TempDir(), Env: map[string]string{"arch": runtime.GOARCH}}
		result, err := Run(t.Context(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		return result, o
	}
	_, before := run(1)
	for _, c := range []struct {
		name, asked string
		lr          float64 // times what the other run has
	}{{"the same", "", 1}, {"another step size", "lr", 1.01}} {
		t.Run(c.name, func(t *testing.T) {
			result, after := run(c.lr)
			report := reportOf(t, result, after, before)
			if report.Numbers == nil || len(report.Numbers.Changes) == 0 || len(report.Rows) > 0 {
				t.Fatal("no number was compared")
			}
			if of := report.Numbers.Regressions(); report.Regressed() {
				t.Errorf("gone: %v, broken: %v, numbers: %+v", report.Gone, report.Broken, of[:min(len(of), 3)])
			}
			if fields := fields(report); !strings.Contains(fields, c.asked) || c.asked == "" && fields != "" {
				t.Errorf("asked for differently: %q, want %q", fields, c.asked)
			}
		})
	}
}

// fields names every field that recipes differ in.
func fields(r *compare.RunReport) (names string) {
	for _, a := range r.Asked {
		for _, f := range a.Fields {
			names += f.Name + " "
		}
	}
	return names
}

// toyRun runs the toy recording of a folder into a new store.
func toyRun(t *testing.T, dir string, change func(r *spec.Resolved)) (*Result, Options) {
	t.Helper()
	r := toy.Load(t, filepath.Join(dir, "constants.yaml"))
	change(r)
	o := Options{Out: t.TempDir(), Data: dir, Env: map[string]string{"arch": runtime.GOARCH}}
	result, err := Run(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return result, o
}

// reportOf holds a finished run against the run in another store.
func reportOf(t *testing.T, result *Result, after, before Options) *compare.RunReport {
	t.Helper()
	other, err := book.OpenRun(before.Out, result.Spec.Experiment.Name)
	if err != nil {
		t.Fatal(err)
	}
	report, err := CheckRun(result, after, other)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRecordedRunsAreComparedQuestionByQuestion(t *testing.T) {
	dir, outcomes := toy.Folder(t, "", toy.Learned)
	unchanged := func(*spec.Resolved) {}
	first, before := toyRun(t, dir, unchanged)

	t.Run("the same", func(t *testing.T) {
		result, after := toyRun(t, dir, unchanged)
		report := reportOf(t, result, after, before)
		if d := cmp.Diff([]compare.Overlap{{Arena: "toy", Common: toy.Questions}}, report.Questions); d != "" || report.Numbers != nil || fields(report) != "" {
			t.Errorf("questions (-want +got):\n%s, numbers: %v, asked: %s", d, report.Numbers, fields(report))
		}
		for _, row := range report.Rows {
			if !row.Exact || row.Differs() {
				t.Errorf("%+v", row)
			}
		}
		if len(report.Rows) != len(result.Spec.Experiment.Methods) {
			t.Errorf("%d rows", len(report.Rows))
		}
	})

	t.Run("another price", func(t *testing.T) {
		result, after := toyRun(t, dir, func(r *spec.Resolved) {
			models := maps.Clone(r.Prices.Models)
			models["m2"] = cost.Price{In: 11, Out: 11}
			r.Prices.Models = models
		})
		report := reportOf(t, result, after, before)
		row := rowOf(t, report, "strongest", "toy")
		avg := row.Cells[len(row.Cells)-1]
		if row.Exact || row.Changed != 0 || !avg.USD.Regressed() || avg.Accuracy.Regressed() || math.Abs(avg.USD.Ours/avg.USD.Reference-1.1) > 1e-9 {
			t.Errorf("%+v", row)
		}
		if row := rowOf(t, report, "cheapest", "toy"); row.Differs() {
			t.Errorf("%+v", row)
		}
		for _, row := range report.Rows {
			c := row.Cells[len(row.Cells)-1]
			for i, of := range []*Result{result, first} {
				if got, want := []float64{c.Accuracy.Ours, c.Accuracy.Reference}[i], find(t, of, "toy", row.Row, "all", metrics.Accuracy); math.Abs(got-want) > 0.00051 {
					t.Errorf("%s: accuracy %v, measured %v", row.Row, got, want)
				}
				share := 100 * []float64{c.USD.Ours / avg.USD.Ours, c.USD.Reference / avg.USD.Reference}[i]
				if want := find(t, of, "toy", row.Row, "all", units.CostShare); math.Abs(share-want) > 0.00051 {
					t.Errorf("%s: %v%% of the strongest's dollars, measured %v%%", row.Row, share, want)
				}
			}
		}
		if !strings.Contains(fields(report), "params.prices.models.m2.out") {
			t.Errorf("asked for differently: %s", fields(report))
		}
	})

	t.Run("other partitions", func(t *testing.T) {
		result, after := toyRun(t, dir, func(r *spec.Resolved) { r.Experiment.Folds.Seeds = []uint64{2, 3, 4} })
		report := reportOf(t, result, after, before)
		row := rowOf(t, report, "routellm", "toy")
		if d := cmp.Diff([2][]uint64{{2, 3, 4}, {0, 1}}, row.Seeds); d != "" || row.Changed == 0 || row.Exact || row.Regressed() {
			t.Errorf("%s\n%+v", d, row)
		}
		if row := rowOf(t, report, "strongest", "toy"); row.Differs() || report.Regressed() {
			t.Errorf("%+v", row)
		}
	})

	t.Run("a field of the method", func(t *testing.T) {
		result, after := toyRun(t, dir, func(r *spec.Resolved) { r.Experiment.Folds.K = 4 })
		report := reportOf(t, result, after, before)
		if row := rowOf(t, report, "routellm", "toy"); row.Exact || !strings.Contains(fields(report), "params.folds.k") {
			t.Errorf("asked for differently: %s; %+v", fields(report), row)
		}
	})

	t.Run("one decision", func(t *testing.T) {
		result, after := toyRun(t, dir, unchanged)
		var problem string
		mutate(t, after.Out, "constants", "crossfit toy strongest partition=1", "decisions/folds.csv", func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			fields := strings.SplitN(lines[7], ",", 4)
			if fields[2] != "2" {
				t.Fatalf("the strongest expert is not that of line %q", lines[7])
			}
			problem, fields[2] = fields[0], "0"
			lines[7] = strings.Join(fields, ",")
			return strings.Join(lines, "")
		})
		report := reportOf(t, result, after, before)
		if d := cmp.Diff([]string{"crossfit toy strongest partition=1"}, report.Broken); d != "" || !report.Regressed() {
			t.Errorf("steps with other content (-want +got):\n%s", d)
		}
		for _, row := range report.Rows {
			if want := row.Row == "strongest"; row.Regressed() != want || row.Differs() != want {
				t.Errorf("%s: moved: %v, want %v", row.Row, row.Differs(), want)
			}
		}
		if row := rowOf(t, report, "strongest", "toy"); row.Changed != 1 || len(row.Most) != 1 || row.Most[0].Problem != problem {
			t.Errorf("moved most: %+v, want %s", row.Most, problem)
		}
	})

	t.Run("another recording", func(t *testing.T) {
		moved, file := strings.Replace(outcomes, `"output_tokens": 7`, `"output_tokens": 8`, 1), filepath.Join(dir, "outcomes.jsonl")
		toy.Put(t, file, moved)
		defer toy.Put(t, file, outcomes)
		result, after := toyRun(t, dir, func(r *spec.Resolved) {
			r.Pools[0].Recorded.Outcomes.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(moved)))
		})
		report := reportOf(t, result, after, before)
		// Its questions are those of the other one: what the experts did is in both stores.
		if len(report.Rows) == 0 || report.Questions[0].Common == 0 || !strings.Contains(fields(report), "pool.recorded.outcomes.sha256") {
			t.Errorf("%d rows, questions: %+v, asked: %s", len(report.Rows), report.Questions, fields(report))
		}
	})
}

// The pools that both runs have are compared question by question; one that only the other has is gone.
func TestAPoolOfOneSideIsNamed(t *testing.T) {
	dir, _ := toy.Folder(t, "", toy.Learned)
	second := func(r *spec.Resolved) {
		more := r.Pools[0]
		more.Name = "more"
		r.Pools = append(r.Pools, more)
	}
	one, after := toyRun(t, dir, func(*spec.Resolved) {})
	two, before := toyRun(t, dir, second)
	report := reportOf(t, one, after, before)
	if d := cmp.Diff([]string{"pool more"}, report.Gone); d != "" || !report.Regressed() {
		t.Errorf("gone (-want +got):\n%s, regressed: %v", d, report.Regressed())
	}
	if row := rowOf(t, report, "routellm", "toy"); row.Differs() || !row.Exact || report.Numbers != nil {
		t.Errorf("%+v, numbers: %v", row, report.Numbers)
	}
	report = reportOf(t, two, before, after)
	if row := rowOf(t, report, "routellm", "toy"); row.Differs() || report.Regressed() {
		t.Errorf("%+v, gone: %v", row, report.Gone)
	}
}

// Where questions with gaps are left out, those without an answer of the probe are too, though no row is scored by it.
func TestGapsOfTheProbeAreGapsOfTheComparison(t *testing.T) {
	dir, outcomes := toy.Folder(t, "", toy.Learned)
	short := regexp.MustCompile(`\{"query_id": "q[37]", "model": "m3".*\n`).ReplaceAllString(outcomes, "")
	toy.Put(t, filepath.Join(dir, "outcomes.jsonl"), short)
	run := func() (*Result, Options) {
		return toyRun(t, dir, func(r *spec.Resolved) {
			r.Pools[0].Recorded.Gaps = "drop"
			r.Pools[0].Recorded.Outcomes.SHA256 = fmt.Sprintf("%x", sha256.Sum256([]byte(short)))
		})
	}
	_, before := run()
	result, after := run()
	report := reportOf(t, result, after, before)
	if d := cmp.Diff([]compare.Overlap{{Arena: "toy", Common: toy.Questions - 2}}, report.Questions); d != "" || report.Regressed() || report.Numbers != nil {
		t.Errorf("questions (-want +got):\n%s, regressed: %v", d, report.Regressed())
	}
}

// Three trainings in all, or two pairs of them, leave one degree of freedom, whose interval nothing is outside of.
func TestTooFewTrainingsJudgeNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(x *spec.Experiment)
		why    string
	}{
		{"one and two", func(x *spec.Experiment) { x.Evaluate.Seeds = []uint64{7} }, "too few trainings"},
		{"two pairs", func(x *spec.Experiment) { x.GRPO.Steps = 9 }, "too few trainings"},
		{"two and two", func(x *spec.Experiment) { x.Evaluate.Seeds = []uint64{7, 8} }, ""},
	} {
		r := toy.Tiny(t)
		c.change(&r.Experiment)
		_, report := checkedRun(t, r, tiny(t))
		row := rowOf(t, report, "entrorouter", metrics.LargeArena)
		avg := row.Cells[len(row.Cells)-1]
		if row.Changed == 0 || avg.USD.Why != c.why || (avg.USD.Gate == metrics.None) != (c.why != "") {
			t.Errorf("%s: %d changed, %+v", c.name, row.Changed, avg.USD)
		}
	}
}

// Other trainings make another recipe of the measurement, not of what rows that train nothing did.
func TestANumberThatMovedIsFoundThoughTrainingsDiffer(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), toy.Tiny(t), Options{Out: dir, Env: map[string]string{"arch": runtime.GOARCH}}); err != nil {
		t.Fatal(err)
	}
	r := toy.Tiny(t)
	r.Experiment.Evaluate.Seeds = []uint64{7, 8}
	if _, report := checkedRun(t, r, dir); report.Regressed() || report.Numbers != nil {
		t.Fatalf("nothing moved: %+v", report.Numbers)
	}
	mutate(t, dir, "tiny", "measure", "measurements.txt", func(text string) string {
		i := strings.Index(text, "BenchmarkRoute/pool=sim/arena=paper/method=qwen3-235b/benchmark=sim-aime25 ")
		line, rest, _ := strings.Cut(text[i:], "\n")
		return text[:i] + regexp.MustCompile(`[0-9.]+ usd `).ReplaceAllString(line, "0.000001 usd ") + "\n" + rest
	})
	_, report := checkedRun(t, r, dir)
	if !report.Regressed() || report.Numbers == nil {
		t.Fatal("not found")
	}
	for _, c := range report.Numbers.Changes {
		if c.Gate != metrics.Exact && c.Gate != metrics.Golden && !c.Missing {
			t.Errorf("%s %s: gate %s", c.Label, c.Unit, c.Gate)
		}
	}
	if of := report.Numbers.Regressions(); len(of) != 1 || of[0].Unit != metrics.USD || of[0].Reference != 0.000001 {
		t.Errorf("%+v", of)
	}
}

// Steps of other seeds have other names, and a row that asks for what another row does has no step of its own name.
func TestWhatARowAsksForIsNamedWhateverItsStepsAreCalled(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(x *spec.Experiment)
	}{
		{"other seeds alone", "", func(x *spec.Experiment) { x.Evaluate.Seeds = []uint64{7, 8} }},
		{"other seeds and a knob", "params.method.params.grpo.steps ", func(x *spec.Experiment) { x.Evaluate.Seeds, x.GRPO.Steps = []uint64{7, 8}, 9 }},
		{"the method of another row", "params.method.name ", func(x *spec.Experiment) {
			x.Methods = slices.Clone(x.Methods)
			i := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.Name == "entrorouter" })
			x.Methods[i] = spec.Method{Name: "random", ID: "entrorouter"}
		}},
	} {
		r := toy.Tiny(t)
		c.change(&r.Experiment)
		_, report := checkedRun(t, r, tiny(t))
		if fields := fields(report); !strings.Contains(fields, c.want) || c.want == "" && fields != "" {
			t.Errorf("%s: asked for differently: %q, want %q", c.name, fields, c.want)
		}
		if report.Numbers != nil {
			t.Errorf("%s: its numbers are compared", c.name)
		}
	}
}
