package experiments_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

func known(t *testing.T) spec.Known {
	t.Helper()
	tables, err := paper.ReadTables(results.FS, "paper")
	if err != nil {
		t.Fatal(err)
	}
	return spec.Known{Methods: methods.Kinds(), Paper: tables.All(), Build: func(e *spec.Experiment, m spec.Method) error {
		_, err := methods.New(methods.Setup{Method: m, Spec: e})
		return err
	}}
}

func load(t *testing.T, name string) *spec.Resolved {
	t.Helper()
	r, err := spec.Load(experiments.FS, name, known(t), spec.Changes{})
	if err != nil {
		t.Fatalf("%s:\n%v", name, err)
	}
	return r
}

func TestEverySpecLoads(t *testing.T) {
	names := spec.Names(experiments.FS)
	for _, want := range []string{"ablation", "alpha", "anchor", "collapse", "hetero", "large", "learning", "live", "live-llm-as-router", "live-multiround", "llm-as-router", "llm-as-router-ood", "main", "multiround", "noise", "ood", "recorded", "recorded-ablation", "recorded-learning", "recorded-mmlu", "recorded-routellm", "smoke"} {
		if !strings.Contains(" "+strings.Join(names, " ")+" ", " "+want+" ") {
			t.Errorf("no %s in %v", want, names)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { load(t, name) })
	}
}

// Every pool loads, whether or not a spec names it.
func TestEveryPoolLoads(t *testing.T) {
	entries, err := experiments.FS.ReadDir("pools")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pool := strings.TrimSuffix(e.Name(), ".yaml")
		t.Run(pool, func(t *testing.T) {
			base := "main"
			data, err := experiments.FS.ReadFile("pools/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case bytes.Contains(data, []byte("kind: recorded")): // its models have prices in the list of who uses it
				in := regexp.MustCompile(`(?m)^pools: .*\b` + pool + `\b`)
				base = "recorded"
				for _, name := range spec.Names(experiments.FS) {
					if text, err := experiments.FS.ReadFile(name + ".yaml"); err == nil && in.Match(text) {
						base = name
					}
				}
			case bytes.Contains(data, []byte("kind: http")):
				base = "live"
			}
			dir := t.TempDir()
			text, err := experiments.FS.ReadFile(base + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			var named struct{ Name, Pools, Test yaml.Node }
			if err := yaml.Unmarshal(text, &named); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			lines[named.Name.Line-1], lines[named.Pools.Line-1] = "name: other", "pools: ["+pool+"]"
			if base == "main" { // the cells that every simulated pool has
				lines[named.Test.Line-1] = "test: [sim-hmmt-nov25, sim-aime25, sim-smt25]"
			}
			if err := os.WriteFile(filepath.Join(dir, "other.yaml"), []byte(strings.Join(lines, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			fsys, name, err := spec.Find(filepath.Join(dir, "other.yaml"), experiments.FS)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := spec.Load(fsys, name, known(t), spec.Changes{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// smoke, large and live say that they are main in another setting: the rows must not drift apart.
func TestSpecsOfTheMainTableHaveItsRows(t *testing.T) {
	// live leaves out what stands on an assumption about the simulation, and says so.
	assumed := []string{"routerr1", "xrouter"}
	rows := func(r *spec.Resolved, served bool) []string {
		var out []string
		for _, m := range r.Experiment.Methods {
			if served && slices.Contains(assumed, m.Name) {
				continue
			}
			row, err := spec.Canonical(m)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, string(row))
		}
		return out
	}
	main := load(t, "main")
	for _, name := range []string{"smoke", "large", "live"} {
		r := load(t, name)
		if diff := cmp.Diff(rows(main, name == "live"), rows(r, false)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if diff := cmp.Diff(main.Experiment.Test, r.Experiment.Test); diff != "" && name != "live" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A row of the paper that a spec misspells would be left out of its table in silence.
func TestRowsOfThePaperExistInItsTables(t *testing.T) {
	for _, name := range spec.Names(experiments.FS) {
		r := load(t, name)
		if r.Experiment.Paper == "" {
			continue
		}
		file := "paper/" + r.Experiment.Paper + ".txt"
		text, err := results.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		paper, err := metrics.Read(file, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		rows := slices.Clone(r.Experiment.PaperRows)
		for _, m := range r.Experiment.Methods {
			if m.Paper != "" {
				rows = append(rows, spec.PaperRow{Paper: m.Paper, Label: m.RowLabel()})
			}
		}
		for _, row := range rows {
			keys := []metrics.Key{{Name: "table", Value: r.Experiment.Paper}}
			for pairs := row.Keys(); len(pairs) > 0; pairs = pairs[2:] {
				keys = append(keys, metrics.Key{Name: pairs[0], Value: pairs[1]})
			}
			for _, b := range r.Experiment.Test {
				column := r.Benchmarks[b].Paper
				if column == "" {
					continue
				}
				at := append(slices.Clone(keys), metrics.Key{Name: "benchmark", Value: column})
				if found := paper.Where(at...); len(found) != 1 {
					t.Errorf("%s: row %q names %q: %d rows of %s at %v", name, row.Label, row.Paper, len(found), file, at)
				}
			}
		}
	}
}

// A row that the orderings misspell would be "not run" for ever.
func TestRowsThatOrderingsNameExist(t *testing.T) {
	text, err := results.FS.ReadFile("paper/orderings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	orderings, err := paper.ReadOrderings("orderings.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	names := spec.Names(experiments.FS)
	for _, n := range orderings.Rows() {
		if !slices.Contains(names, n.Experiment) {
			continue
		}
		if !slices.ContainsFunc(load(t, n.Experiment).Experiment.Methods, func(m spec.Method) bool { return m.RowID() == n.Row }) {
			t.Errorf("%s has no row %s", n.Experiment, n.Row)
		}
	}
}

// What the paper compares must be fitted on the same problems: an experiment on the pool of main shares its profiles.
func TestExperimentsOnThePoolOfMainShareItsTraining(t *testing.T) {
	main := load(t, "main")
	for _, name := range []string{"ablation", "alpha", "alpha-curve", "anchor", "learning", "llm-as-router", "llm-as-router-ood", "multiround", "multiround-curve", "noise", "ood"} {
		e := load(t, name).Experiment
		if diff := cmp.Diff(main.Experiment.Train, e.Train); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if e.Profile.Rollouts != main.Experiment.Profile.Rollouts || e.Seed != main.Experiment.Seed {
			t.Errorf("%s: seed %d, %d rollouts", name, e.Seed, e.Profile.Rollouts)
		}
	}
}

// The sizes and runs behind the paper's main table (appendix E): 1,401 questions here, 1,400 or 1,401 there.
func TestTheMainTableHasThePapersSizesAndRuns(t *testing.T) {
	r := load(t, "main")
	want := map[string][2]int{
		"hmmt25": {30, 16}, "aime25": {30, 16}, "olympiadbench": {675, 1}, "aime24": {30, 16},
		"amc": {83, 8}, "math500": {500, 1}, "smt25": {53, 8},
	}
	got := map[string][2]int{}
	for _, name := range r.Experiment.Test {
		b := r.Benchmarks[name]
		got[b.Paper] = [2]int{b.Size, b.Runs}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The knobs that the paper gives, as it gives them.
func TestDefaultsAreThePapers(t *testing.T) {
	e := load(t, "main").Experiment
	if e.Profile.Rollouts != 5 || e.Targets.Tau != 0.8 || e.Targets.K != 2 || !e.Targets.Gate || !e.Targets.Soft || e.Targets.HardWeight != 2 {
		t.Errorf("profile %+v, targets %+v", e.Profile, e.Targets)
	}
	if e.Anchor.Alpha != 0.6 || e.Reward != (spec.Reward{Kind: "performance", Fail: -3, Gamma: 0.2, Clamp: 0.6, StrongestKappa: "one", Balance: true}) {
		t.Errorf("anchor %+v, reward %+v", e.Anchor, e.Reward)
	}
	if e.SFT.Epochs != 5 || e.SFT.WarmUp != 0.1 || e.GRPO.Steps != 40 || e.GRPO.Batch != 128 || e.GRPO.Group != 16 || e.GRPO.Estimator != "sampled" || e.CountInput {
		t.Errorf("sft %+v, grpo %+v", e.SFT, e.GRPO)
	}
}

// What is fetched is what pools read.
func TestPublishedRecordingsAreThoseOfPools(t *testing.T) {
	recordings, err := spec.LoadRecordings(experiments.FS)
	if err != nil || len(recordings) == 0 {
		t.Fatal(recordings, err)
	}
	read := map[string]spec.File{} // by path
	entries, err := experiments.FS.ReadDir("pools")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := experiments.FS.ReadFile("pools/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		var pool spec.Pool
		if err := yaml.Unmarshal(text, &pool); err != nil {
			t.Fatal(err)
		}
		if pool.Recorded != nil {
			for _, f := range []spec.File{pool.Recorded.Queries, pool.Recorded.Outcomes} {
				read[f.Path] = f
			}
		}
	}
	for name, p := range recordings {
		for _, f := range p.Files {
			if of, ok := read[f.Path]; !ok || of.SHA256 != f.SHA256 || !slices.Equal(of.Models, f.Models) {
				t.Errorf("%s: %s has sha256 %s of %q, pools read %q of %q", name, f.Path, f.SHA256, f.Models, of.SHA256, of.Models)
			}
		}
	}
}

func TestDataFilesHaveTheStatedChecksumsAndSizes(t *testing.T) {
	const data = "../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no data folder whose lines could be counted: %v", err)
	}
	var all spec.Benchmarks
	text, err := experiments.FS.ReadFile("benchmarks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for name, b := range all {
		if b.File == nil || b.File.SHA256 == spec.Unpinned {
			continue
		}
		n := 0
		if _, err := lines.Read(t.Context(), data, *b.File, func([]byte) error { n++; return nil }); err != nil || n != b.Size {
			t.Errorf("%s: %d lines, size says %d: %v", name, n, b.Size, err)
		}
	}
	recordings, err := spec.LoadRecordings(experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range recordings {
		for _, f := range p.Files {
			n := 0
			if _, err := lines.Read(t.Context(), data, spec.File{Path: f.Path, SHA256: f.SHA256, Models: f.Models}, func([]byte) error { n++; return nil }); err != nil || n != f.Rows {
				t.Errorf("%s: %s has %d lines, rows says %d: %v", name, f.Path, n, f.Rows, err)
			}
		}
	}
}
