package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// snapshot lists the files and folders below a root with what they hold and when they were changed.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			data, err = os.ReadFile(path)
		}
		out[path] = info.ModTime().String() + " " + string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhyIsItComputedAgain(t *testing.T) {
	out := t.TempDir()
	tinyIn(t, out)
	untouched := snapshot(t, out)
	for name, test := range map[string]func(*testing.T, string){
		"what is to do is grouped by the knob that moved it":                          groupsByKnob,
		"a step is followed to its root":                                              followsToTheRoot,
		"a knob of another file is named with it":                                     namesTheFile,
		"what a benchmark is and how its sizes are capped are told apart":             benchmarkKnobs,
		"of a run that never finished what is missing is not a change of what is not": firstRun,
	} {
		t.Run(name, func(t *testing.T) { test(t, out) })
	}
	if diff := cmp.Diff(untouched, snapshot(t, out)); diff != "" {
		t.Error("explaining changed the store:", diff)
	}
}

func firstRun(t *testing.T, out string) {
	part := t.TempDir()
	if err := os.CopyFS(part, os.DirFS(out)); err != nil {
		t.Fatal(err)
	}
	e, err := look(t.Context(), toy.Tiny(t), Options{Out: part})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	gone := []string{"measure", "fit random seed=2", "fit entrorouter seed=1"}
	for _, s := range e.Steps {
		if !slices.Contains(gone, s.Name) {
			continue
		}
		entry, err := e.Store.Get(s.Recipe)
		if err := errors.Join(err, os.RemoveAll(entry.Dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(part, "experiments")); err != nil {
		t.Fatal(err)
	}
	x, err := Explain(t.Context(), toy.Tiny(t), Options{Out: part})
	if err != nil || x.ToDo != len(gone) || len(x.Causes) != 1 || sentence(x.Causes[0]) != ": not made yet" {
		t.Errorf("%+v, %v", x, err)
	}
}

func groupsByKnob(t *testing.T, out string) {
	trained := []string{"fit sft seed=1", "fit sft seed=2", "fit entrorouter seed=1", "fit entrorouter seed=2"}
	fits := []string{"fit random seed=1", "fit random seed=2", "fit qwen3-235b seed=1", "fit self seed=1", "fit oracle seed=1", trained[0], trained[1], trained[2], trained[3],
		"fit llmrouter seed=1", "fit mixture seed=1", "fit benchmark seed=1", "fit logistic seed=1"}
	matched := []string{"match mixture seed=1", "match mixture seed=2", "match benchmark seed=1", "match benchmark seed=2", "match logistic seed=1", "match logistic seed=2"}
	for _, c := range []struct {
		name   string
		edit   []string
		cause  string   // the first
		direct []string // its steps
		follow []string
		more   []string     // the other causes
		work   explain.Work // of the first
	}{
		{name: "a knob of training", edit: []string{"grpo: {steps: 2", "grpo: {steps: 3"},
			cause: "grpo.steps: 2 stored, 3 wanted", direct: trained, follow: append(slices.Clone(matched), "measure"), work: explain.Work{Fits: 4}},
		{name: "a knob that tiny.yaml leaves to base.yaml", edit: []string{"grpo:", "anchor: {strength: 2}\ngrpo:"},
			cause: "anchor.strength: 1 stored, 2 wanted", direct: trained, follow: append(slices.Clone(matched), "measure"), work: explain.Work{Fits: 4}},
		{name: "the same in one row", edit: []string{"{name: entrorouter}", "{name: entrorouter, params: {anchor: {strength: 2}}}"},
			cause: "methods[8].params.anchor.strength: 1 stored, 2 wanted", direct: trained[2:], follow: append(slices.Clone(matched), "measure"), work: explain.Work{Fits: 2}},
		{name: "another model that a row asks", edit: []string{"{name: llmrouter, params: {model: router-0.6}}", "{name: llmrouter, params: {model: router-0.4}}"},
			cause: "methods[9].params.model: router-0.6 stored, router-0.4 wanted", direct: []string{"fit llmrouter seed=1"}, follow: []string{"measure"}, work: explain.Work{Fits: 1, Routing: 1}},
		{name: "the backend", edit: []string{"grpo:", "policy: {backend: xla}\ngrpo:"},
			cause: "policy.backend: go stored, xla wanted", direct: fits, follow: append(slices.Clone(matched), "measure"), work: explain.Work{Fits: 13, Routing: 1}},
		{name: "two knobs", edit: []string{"grpo: {steps: 2", "grpo: {steps: 3", "bootstrap: 20", "bootstrap: 30"},
			cause: "grpo.steps: 2 stored, 3 wanted", direct: trained, follow: append(slices.Clone(matched), "measure"), work: explain.Work{Fits: 4},
			more: []string{"evaluate.bootstrap: 20 stored, 30 wanted"}},
		{name: "intervals", edit: []string{"bootstrap: 20", "bootstrap: 30"},
			cause: "evaluate.bootstrap: 20 stored, 30 wanted", direct: []string{"measure"}},
		{name: "a training set", edit: []string{"size: 30", "size: 35"}, cause: "train.rl.size: 30 stored, 35 wanted",
			direct: []string{"problems sim-train-sft"}, work: explain.Work{Fits: 13, Routing: 1}}, // they begin the 40 of the first stage, which are answered
		{name: "a larger one than both", edit: []string{"size: 30", "size: 50"}, cause: "train.rl.size: 30 stored, 50 wanted",
			direct: []string{"problems sim-train-sft"}, work: explain.Work{Fits: 13, Asked: explain.Asked{Rollouts: 50 * 4 * 5, AtMost: true}, Routing: 1}},
		{name: "rollouts a problem, of which five are stored", edit: []string{"profile: {", "profile: {rollouts: 6, "}, cause: "profile.rollouts: 5 stored, 6 wanted",
			direct: []string{"profile sim-train-sft", "profile sim-train-sft", "profile sim-aime25", "profile sim-math500"}, work: explain.Work{Fits: 13, Asked: explain.Asked{Rollouts: 40*4 + 2*8*3}, Routing: 1}},
		{name: "one more seed", edit: []string{"seeds: [1, 2]", "seeds: [1, 2, 3]"}, cause: "evaluate.seeds: 3 is new",
			direct: []string{"fit random seed=3", "fit sft seed=3", "fit entrorouter seed=3", "measure"}, follow: []string{"match mixture seed=3", "match benchmark seed=3", "match logistic seed=3"}, work: explain.Work{Fits: 3}},
		{name: "another row", edit: []string{"{name: self}", "{name: knn}"}, cause: "methods: row knn is new; row self is gone",
			direct: []string{"fit knn seed=1", "measure"}, work: explain.Work{Fits: 1}},
		{name: "the same row of another method", edit: []string{"{name: self}", "{name: fixed, id: self, params: {expert: cheapest}}"}, cause: "methods[2].name: self stored, fixed wanted",
			direct: []string{"fit self seed=1"}, follow: []string{"measure"}, work: explain.Work{Fits: 1}},
		{name: "the same of one that needs no seeds", edit: []string{"{name: random}", "{name: fixed, id: random, params: {expert: cheapest}}"},
			cause: "methods[0].name: random stored, fixed wanted", direct: []string{"fit random seed=1"}, follow: []string{"measure"}, work: explain.Work{Fits: 1}},
		{name: "rows in another order", edit: []string{"  - {name: self}\n  - {name: oracle}", "  - {name: oracle}\n  - {name: self}"},
			cause: "methods: in another order", direct: []string{"measure"}},
		{name: "another test set", edit: []string{"[sim-aime25,", "[sim-amc,"}, cause: "test: sim-amc is new; sim-aime25 is gone",
			direct: slices.Concat([]string{"problems sim-amc", "problems sim-amc large"}, fits, []string{"measure"}), work: explain.Work{Fits: 13, Asked: explain.Asked{Rollouts: 8*3*5 + 8*4*2, AtMost: true}, Routing: 1}},
		{name: "fewer runs", edit: []string{"max_runs: 2", "max_runs: 1"}, cause: "evaluate.max_runs: 2 stored, 1 wanted",
			direct: append([]string{"outcomes sim-aime25", "outcomes of the router alone sim-aime25"}, fits...), work: explain.Work{Fits: 13, Routing: 1}},
		{name: "no large set", edit: []string{"large: 10", "large: 0"}, cause: "large: 10 stored, 0 wanted",
			direct: append(slices.Clone(fits), "measure"), follow: matched, work: explain.Work{Fits: 13, Routing: 1}},
		{name: "test sets in another order", edit: []string{"[sim-aime25, sim-math500]", "[sim-math500, sim-aime25]"}, cause: "test: in another order",
			direct: append(slices.Clone(fits), "measure"), follow: matched, work: explain.Work{Fits: 13, Routing: 1}},
		{name: "one seed less", edit: []string{"seeds: [1, 2]", "seeds: [1]"}, cause: "evaluate.seeds: 2 is gone", direct: []string{"measure"}},
		{name: "matched to another row", edit: []string{"{name: logistic, match: entrorouter}", "{name: logistic, match: sft}"}, cause: "methods[6].match: entrorouter stored, sft wanted",
			direct: []string{"match logistic seed=1", "match logistic seed=2"}, follow: []string{"measure"}},
		{name: "a second row of a method", edit: []string{"  - {name: sft}", "  - {name: entrorouter, id: twin, params: {targets: {gate: false}}}\n  - {name: sft}"}, cause: "methods: row twin is new",
			direct: []string{"fit twin seed=1", "fit twin seed=2", "measure"}, work: explain.Work{Fits: 2}},
		{name: "another training benchmark", edit: []string{"rl: {benchmark: sim-train-sft", "rl: {benchmark: sim-train-rl"}, cause: "train.rl.benchmark: sim-train-rl is new",
			direct: []string{"problems sim-train-rl"}, work: explain.Work{Fits: 13, Asked: explain.Asked{Rollouts: 30 * 4 * 5, AtMost: true}, Routing: 1}},
		{name: "as many runs as there are", edit: []string{", max_runs: 2", ""}, cause: "evaluate.max_runs or runs in benchmarks.yaml: 2 stored, 16 wanted",
			direct: append([]string{"outcomes sim-aime25", "outcomes of the router alone sim-aime25"}, fits...), work: explain.Work{Fits: 13, Asked: explain.Asked{Rollouts: 8*14*3 + 8*14}, Routing: 1}},
		{name: "another experiment that shares steps", edit: []string{"name: tiny\nbase", "name: other\nbase", "grpo: {steps: 2", "grpo: {steps: 3"},
			cause: "grpo.steps: 2 stored, 3 wanted", direct: trained, follow: append(slices.Clone(matched), "measure"), work: explain.Work{Fits: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := tinyWithName(t, c.edit)
			x, err := Explain(t.Context(), r, Options{Out: out})
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Causes) != 1+len(c.more) {
				t.Fatalf("%d causes: %+v", len(x.Causes), x.Causes)
			}
			for i, want := range append([]string{c.cause}, c.more...) {
				if got := sentence(x.Causes[i]); got != want {
					t.Errorf("cause %q, want %q", got, want)
				}
			}
			first := x.Causes[0]
			if diff := cmp.Diff(c.direct, first.Direct); diff != "" {
				t.Error("moved:", diff)
			}
			if c.follow != nil && !sameSet(c.follow, first.Follow) {
				t.Errorf("%q follow, want %q", first.Follow, c.follow)
			}
			if first.Work.Seconds <= 0 {
				t.Errorf("takes %g s", first.Work.Seconds)
			}
			if diff := cmp.Diff(c.work, first.Work, cmpopts.IgnoreFields(explain.Work{}, "Seconds")); diff != "" {
				t.Error("costs:", diff)
			}
			// Every step to do has a cause, and no other step.
			plan, _, err := Plan(t.Context(), r, Options{Out: out})
			if err != nil {
				t.Fatal(err)
			}
			var toDo, caused []string
			for _, s := range plan {
				if s.State == explain.StateToDo {
					toDo = append(toDo, s.Name)
				}
			}
			for _, k := range x.Causes {
				for _, name := range slices.Concat(k.Direct, k.Follow) {
					if len(x.Causes) == 1 || !slices.Contains(caused, name) {
						caused = append(caused, name)
					}
				}
			}
			if !sameSet(toDo, caused) || x.ToDo != len(toDo) {
				t.Errorf("plan has to do %q, the explanation %q (%d)", toDo, caused, x.ToDo)
			}
		})
	}
}

// Rows that agree in all that counts share a step, and what is said of it is said of the row that it is named after: another was new
// whenever a knob moved.
func TestASharedStepIsOfTheRowItIsNamedAfter(t *testing.T) {
	dir, _ := toy.Folder(t, "", strings.Replace(toy.Constants, "  - {name: mixture", "  - {name: benchmark, id: twin, kappa: \"01\"}\n  - {name: mixture", 1))
	for _, r := range []*spec.Resolved{
		toy.TinyWith(t, "  - {name: self}", "  - {name: logistic, id: twin}\n  - {name: logistic, id: twin-matched, match: entrorouter}\n  - {name: self}"),
		toy.Load(t, filepath.Join(dir, "constants.yaml")),
	} {
		e, err := look(t.Context(), r, Options{Out: t.TempDir(), Data: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for _, s := range e.Steps {
			if s.Row != nil && !strings.Contains(s.Name+" ", " "+s.Row.RowID()+" ") {
				t.Errorf("step %s is of row %s", s.Name, s.Row.RowID())
			}
		}
	}
}

// tinyWithName is tinyWith under the name that the edited spec has.
func tinyWithName(t *testing.T, edit []string) *spec.Resolved {
	t.Helper()
	if !strings.Contains(edit[0], "name: tiny\n") {
		return toy.TinyWith(t, edit...)
	}
	r := toy.TinyWith(t, edit[2:]...)
	r.Experiment.Name = "other"
	return r
}

func sentence(k explain.Cause) string {
	var texts []string
	for _, c := range k.Changes {
		texts = append(texts, c.Text)
	}
	return k.Knob + ": " + strings.Join(texts, "; ")
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func TestAFinishedExperimentHasNothingToExplain(t *testing.T) {
	out := t.TempDir()
	tinyIn(t, out)
	x, err := Explain(t.Context(), toy.Tiny(t), Options{Out: out})
	if err != nil || x.ToDo != 0 || len(x.Causes) != 0 {
		t.Errorf("%+v, %v", x, err)
	}
	// What nobody reads any more is not made again: the measurement is there.
	if err := os.RemoveAll(filepath.Join(out, "stages", "fit")); err != nil {
		t.Fatal(err)
	}
	if x, err = Explain(t.Context(), toy.Tiny(t), Options{Out: out}); err != nil || x.ToDo != 0 {
		t.Errorf("%+v, %v", x, err)
	}
	plan, _, err := Plan(t.Context(), toy.Tiny(t), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan {
		want := explain.StateStored
		if strings.HasPrefix(s.Name, "fit ") {
			want = explain.StateNotNeeded
		}
		if s.State != want {
			t.Errorf("%s is %s, want %s", s.Name, s.State, want)
		}
	}
	// Without it all of them are, and why is not a knob.
	if err := os.RemoveAll(filepath.Join(out, "stages", "measure")); err != nil {
		t.Fatal(err)
	}
	if x, err = Explain(t.Context(), toy.Tiny(t), Options{Out: out}); err != nil || x.ToDo != 14 || len(x.Causes) != 1 || sentence(x.Causes[0]) != "the store: what the last run made is no longer there" {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestAStoreThatIsOnlyLookedAtIsNotMade(t *testing.T) {
	out := filepath.Join(t.TempDir(), "none")
	x, err := Explain(t.Context(), toy.Tiny(t), Options{Out: out})
	if err != nil || x.ToDo != x.Steps || len(x.Causes) != 1 || sentence(x.Causes[0]) != ": not made yet" {
		t.Errorf("%+v, %v", x, err)
	}
	if _, _, err := Plan(t.Context(), toy.Tiny(t), Options{Out: out}); err != nil {
		t.Error(err)
	}
	if _, err := ExplainStep(t.Context(), toy.Tiny(t), Options{Out: out}, "measure"); err != nil {
		t.Error(err)
	}
	if _, _, err := OpenTrail(t.Context(), toy.Tiny(t), Options{Out: out}); !errors.Is(err, ErrIncomplete) {
		t.Errorf("%v, want ErrIncomplete", err)
	}
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}

func followsToTheRoot(t *testing.T, out string) {
	r := toy.TinyWith(t, "size: 30", "size: 35")
	x, err := ExplainStep(t.Context(), r, Options{Out: out}, "match logistic seed=2")
	if err != nil {
		t.Fatal(err)
	}
	want := "match logistic seed=2 reads fit logistic seed=1 reads profile sim-train-sft reads problems sim-train-sft: train.rl.size: 30 stored, 35 wanted"
	if diff := cmp.Diff([]string{want}, x.Because); diff != "" || !x.LastRun || x.State != explain.StateToDo || len(x.Inputs) != 2 {
		t.Errorf("%+v %s", x, diff)
	}
	for name, want := range map[string]string{x.Key: x.Name, strings.TrimPrefix(x.Key, "match-")[:7]: x.Name, "measure": "measure"} {
		if x, err := ExplainStep(t.Context(), r, Options{Out: out}, name); err != nil || x.Name != want {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
	for name, want := range map[string]string{
		"fit logstic seed=1":    `has no step "fit logstic seed=1"; near are "fit logistic seed=1", `,
		"fit-":                  `has 13 steps with a key that begins like "fit-"; they are "fit-`,
		"profile sim-train-sft": `has 2 steps "profile sim-train-sft"; say which by the key: "profile-`,
	} {
		if _, err := ExplainStep(t.Context(), r, Options{Out: out}, name); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// What the recipes call their fields is what files call them: a reader changes what a file says.
func TestEveryFieldOfEveryRecipeIsNamedAsAFileWritesIt(t *testing.T) {
	code := map[string]bool{"features": true, "points": true, "counts": true, "prior": true, "sweep": true, "split": true, "simulation": true, "simulated_router": true, "ppo": true, "asked_again": true}
	dir, _ := toy.Folder(t, "", toy.Constants)
	cases := map[string]*spec.Resolved{"folds": toy.Load(t, filepath.Join(dir, "constants.yaml")), "tiny": toy.Tiny(t)}
	for _, name := range spec.Names(experiments.FS) {
		r, err := spec.Load(experiments.FS, name, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		model := r.Experiment.Policy.Model
		if r.Experiment.Protocol != "folds" && (model == nil || model.Folder == "") { // which need their data
			cases[name] = r
		}
	}
	ofExperiment, ofPool, ofBenchmark, ofMethod := schemaOf(t, spec.Experiment{}), schemaOf(t, spec.Pool{}), schemaOf(t, spec.Benchmark{}), schemaOf(t, spec.Method{})
	for name, r := range cases {
		e, err := look(t.Context(), r, Options{Out: filepath.Join(dir, "none"), Data: dir})
		if err != nil {
			t.Fatal(err)
		}
		plan := e.Explain()
		sets, err := plan.Where()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, s := range plan.Steps {
			var all any
			if err := json.Unmarshal(s.Recipe.Params(), &all); err != nil {
				t.Fatal(err)
			}
			for _, path := range leafPaths(nil, all) {
				for i, name := range path {
					if path[0] == explain.RootPool {
						path[i] = strings.ReplaceAll(name, ".", "-") // of a model
					}
				}
				if at := s.Recipe.Key().Stage + strings.Join(path, "."); seen[at] {
					continue
				} else {
					seen[at] = true
				}
				where := sets(s, strings.Join(path, "."))
				file, at, beside := strings.Cut(where, ".yaml: ")
				var known bool
				switch {
				case where == explain.InCode:
					known = code[path[1]]
				case where == explain.InBuild, where == explain.InVerifier, where == explain.InModel:
					known = true
				case beside && strings.HasPrefix(file, "prices/"):
					known = strings.HasPrefix(at, "models.")
				case beside && strings.HasPrefix(file, "pools/"):
					known = hasPath(ofPool, at)
				case beside:
					_, at, _ := strings.Cut(at, ".")
					known = hasPath(ofBenchmark, at)
				case strings.HasPrefix(where, "methods["):
					_, at, _ := strings.Cut(where, ".")
					known = strings.HasPrefix(at, "params.") || hasPath(ofMethod, at)
				default:
					known = hasPath(ofExperiment, where)
				}
				if !known {
					t.Errorf("%s: step %s: %s is called %q, which no file writes", name, s.Name, strings.Join(path, "."), where)
				}
			}
		}
		e.Close()
	}
}

// leafPaths lists the paths of a tree as Compare forms them: a list is one value, and so is each field of its members
// that have an id.
func leafPaths(path []string, v any) (out [][]string) {
	below := func(name string) []string { return append(slices.Clone(path), name) }
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if name != "id" {
				out = append(out, leafPaths(below(name), x)...)
			}
		}
		return out
	case []any:
		for _, m := range v {
			if m, ok := m.(map[string]any); ok {
				if id, ok := m["id"].(string); ok {
					out = append(out, leafPaths(below(id), m)...)
				}
			}
		}
	}
	return append(out, path)
}

// schemaOf is the schema of a type of spec file, or of a part of one.
func schemaOf(t *testing.T, v any) map[string]any {
	t.Helper()
	s, err := spec.Schema(v, spec.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hasPath says whether a schema has a path, with names of entries of maps and of members of lists on the way.
func hasPath(s map[string]any, path string) bool {
	for _, name := range strings.Split(path, ".") {
		if forms, ok := s["anyOf"].([]any); ok {
			s = forms[1].(map[string]any)
		}
		inner, ok := s["items"].(map[string]any)
		if !ok {
			inner, ok = s["additionalProperties"].(map[string]any)
		}
		if !ok {
			properties, _ := s["properties"].(map[string]any)
			inner, ok = properties[name].(map[string]any)
		}
		if !ok {
			return false
		}
		s = inner
	}
	return true
}

func TestAnEntryOfOlderCodeOrADamagedOneIsAReason(t *testing.T) {
	out := t.TempDir()
	tinyIn(t, out)
	e, err := look(t.Context(), toy.Tiny(t), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := os.RemoveAll(filepath.Join(out, "stages", "measure")); err != nil {
		t.Fatal(err)
	}
	recipe := e.Measured[0].Recipe
	var now struct{ Version int }
	if err := json.Unmarshal(recipe.JSON(), &now); err != nil {
		t.Fatal(err)
	}
	version := now.Version
	older, err := store.NewRecipe("measure", version-1, recipe.Params(), recipe.Inputs())
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(out, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Make(t.Context(), older, func(context.Context, *store.Draft) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteIndex("tiny", []store.Step{{Name: "measure", Key: older.Key()}}); err != nil {
		t.Fatal(err)
	}
	x, err := Explain(t.Context(), toy.Tiny(t), Options{Out: out})
	if want := fmt.Sprintf("the code: measure steps mean something else: version %d stored, %d wanted", version-1, version); err != nil || len(x.Causes) != 1 || sentence(x.Causes[0]) != want {
		t.Errorf("%+v, %v; want %s", x, err, want)
	}
	damaged, err := s.Get(e.Measured[0].Inputs[0].Recipe)
	if err != nil {
		t.Fatal(err)
	}
	toy.Put(t, damaged.Path("fit.json"), "{}")
	if x, err = Explain(t.Context(), toy.Tiny(t), Options{Out: out}); err != nil || len(x.Causes) != 2 || !strings.Contains(sentence(x.Causes[0]), "the store: "+damaged.Key.String()+": corrupt entry in ") {
		t.Errorf("%+v, %v", x, err)
	}
}

// besideTiny explains tiny.yaml with built-in files beside it in which some text is replaced: file, old, new...
func besideTiny(t *testing.T, out string, edits ...string) (causes []string) {
	t.Helper()
	dir := t.TempDir()
	toy.Put(t, filepath.Join(dir, "tiny.yaml"), toy.Text(t, "tiny.yaml"))
	for ; len(edits) > 0; edits = edits[3:] {
		text, err := fs.ReadFile(experiments.FS, edits[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), edits[1]) {
			t.Fatalf("%s does not hold %q", edits[0], edits[1])
		}
		toy.Put(t, filepath.Join(dir, filepath.FromSlash(edits[0])), strings.Replace(string(text), edits[1], edits[2], 1))
	}
	x, err := Explain(t.Context(), toy.Load(t, filepath.Join(dir, "tiny.yaml")), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range x.Causes {
		causes = append(causes, sentence(k))
	}
	return causes
}

func namesTheFile(t *testing.T, out string) {
	got := besideTiny(t, out, "prices/paper-novita.yaml", "out: 0.45", "out: 0.5", "pools/sim.yaml", "temperature: 0.6", "temperature: 0.7")
	want := []string{"pools/sim.yaml: sampling.temperature: 0.6 stored, 0.7 wanted", "prices/paper-novita.yaml: models.Qwen3-30B-A3B-Thinking-2507.out: 0.45 stored, 0.5 wanted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Of a long text the place where it differs is shown.
	got = besideTiny(t, out, "pools/sim.yaml", "final answer within", "final answer inside")
	want = []string{`pools/sim.yaml: sampling.prompt: ...t your final answer within \\boxed{}." stored, ...t your final answer inside \\boxed{}." wanted`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func benchmarkKnobs(t *testing.T, out string) {
	for _, c := range []struct {
		old, new string
		want     []string
	}{
		// max_problems is 8 and max_runs 2, whatever the file says above that.
		{"size: 30, paper: aime25", "size: 25, paper: aime25", []string{"benchmarks.yaml: sim-aime25.size: 30 stored, 25 wanted"}},
		{"runs: 16, size: 30, paper: aime25", "runs: 1, size: 30, paper: aime25", []string{"benchmarks.yaml: sim-aime25.runs: 2 stored, 1 wanted"}},
		{"generated: {cell: AIME25", "generated: {cell: AIME24", []string{"benchmarks.yaml: sim-aime25.generated.cell: AIME25 stored, AIME24 wanted"}},
	} {
		if diff := cmp.Diff(c.want, besideTiny(t, out, "benchmarks.yaml", c.old, c.new)); diff != "" {
			t.Errorf("%s: %s", c.new, diff)
		}
	}
}

func TestWhyIsARecordedPoolMeasuredAgain(t *testing.T) {
	dir, _ := toy.Folder(t, "", toy.Constants)
	path := filepath.Join(dir, "constants.yaml")
	o := Options{Out: filepath.Join(dir, "out"), Data: dir}
	runFile(t, path, o)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"seeds: [0, 1]", "seeds: [0]", "folds.seeds: 1 is gone"},
		{"seeds: [0, 1]", "seeds: [1, 0]", "folds.seeds: in another order"},
		{"seeds: [0, 1]", "seeds: [0, 1, 2]", "folds.seeds: 2 is new"},
		{`{name: benchmark, kappa: "01"}`, "{name: benchmark}", "methods[4].kappa: 01 stored, k5 wanted"},
		{"probe: m3,", `probe: m3, kappa: "01",`, "folds.kappa: k5 stored, 01 wanted"},
		{"  - {name: mixture", "  - {name: benchmark, id: again}\n  - {name: mixture", "methods: row again is new"},
		{"probe: m3,", "probe: m3, versus: [mixture],", `folds.versus: not set in what is stored, ["mixture"] wanted`},
	} {
		toy.Put(t, path, strings.Replace(string(text), c.old, c.new, 1))
		x, err := Explain(t.Context(), toy.Load(t, path), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Causes) != 1 || sentence(x.Causes[0]) != c.want {
			t.Errorf("%s: %+v, want %s", c.new, x.Causes, c.want)
		}
	}
}
