package protocol

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// knobsOf visits the plain knobs of a spec with their paths, rows and outputs apart.
func knobsOf(v reflect.Value, path string, visit func(path, oneof string, v reflect.Value)) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		if f.Type.Kind() == reflect.Struct {
			knobsOf(v.Field(i), at, visit)
		} else if k := f.Type.Kind(); k != reflect.Slice && k != reflect.Pointer {
			visit(at, f.Tag.Get("oneof"), v.Field(i))
		}
	}
}

// twist sets a knob to another value that it accepts; false if it has no other.
func twist(v reflect.Value, oneof string) bool {
	switch {
	case v.CanInt():
		v.SetInt(v.Int() + 1)
	case v.CanUint():
		v.SetUint(v.Uint() + 1)
	case v.CanFloat():
		v.SetFloat(v.Float()*0.9 + 0.001)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		i := slices.IndexFunc(strings.Fields(oneof), func(name string) bool { return name != v.String() })
		if i < 0 {
			return false
		}
		v.SetString(strings.Fields(oneof)[i])
	}
	return true
}

// keysOfPlan are the keys of an experiment's steps; nil if it is refused.
func keysOfPlan(t *testing.T, r *spec.Resolved, o steps.Options) map[store.Key]bool {
	t.Helper()
	o.Look = true
	e, err := Open(t.Context(), r, o)
	if err != nil {
		return nil
	}
	defer e.Close()
	keys := map[store.Key]bool{}
	for _, s := range e.Steps {
		keys[s.Recipe.Key()] = true
	}
	return keys
}

// What is left out of every recipe would be changed and nothing made again.
func TestEveryKnobIsInARecipeButThoseThatMoveNoNumber(t *testing.T) {
	dir, _ := toy.Folder(t, "", toy.Learned)
	every := []string{spec.ReadStructure, spec.ReadWords, spec.ReadCharacters} // a part that is not read is in no recipe
	for _, c := range []struct {
		name    string
		load    func() *spec.Resolved
		without []string // read by no step of the protocol, or by the loader alone, which caps sizes and runs; profile.test adds steps that an output has here
	}{
		{"split", func() *spec.Resolved {
			r := toy.TinyWith(t, "large: 10", "large: 0", "rl: {benchmark: sim-train-sft", "rl: {benchmark: sim-train-rl", "seen: 0 ", "seen: 0.5 ")
			r.Experiment.Features.Read = every
			return r
		},
			[]string{"profile.concurrency", "profile.test", "folds.k", "folds.kappa", "folds.whole", "evaluate.max_problems", "evaluate.max_runs"}},
		{"folds", func() *spec.Resolved {
			r := toy.Load(t, filepath.Join(dir, "constants.yaml"))
			r.Experiment.Methods = append(r.Experiment.Methods, spec.Method{Name: "entrorouter"})
			r.Experiment.Features.Read = every
			return r
		}, []string{"train.sft.size", "train.rl.size", "train.seen", "large", "profile.rollouts", "profile.concurrency", "profile.test"}},
	} {
		o := steps.Options{Out: filepath.Join(dir, "none"), Data: dir}
		before := keysOfPlan(t, c.load(), o)
		if before == nil {
			t.Fatalf("protocol %s: the experiment is refused", c.name)
		}
		var without, paths []string
		knobsOf(reflect.ValueOf(&c.load().Experiment).Elem(), "", func(path, _ string, _ reflect.Value) { paths = append(paths, path) })
		for _, path := range paths {
			r := c.load()
			turned := false
			knobsOf(reflect.ValueOf(&r.Experiment).Elem(), "", func(p, oneof string, v reflect.Value) {
				if p == path && p != "protocol" {
					turned = twist(v, oneof)
				}
			})
			if turned && cmp.Equal(before, keysOfPlan(t, r, o)) {
				without = append(without, path)
			}
		}
		if d := cmp.Diff(c.without, without); d != "" {
			t.Errorf("protocol %s: knobs in no recipe (-want +got):\n%s", c.name, d)
		}
	}
}

// The study of collapse trains for minutes; what its figure calls things, and leaves out, moves no number of it.
func TestNamesInTheFigureOfCollapseAreInNoRecipe(t *testing.T) {
	keys := func(change func(*spec.Collapse)) map[store.Key]bool {
		r, err := spec.Load(experiments.FS, "collapse", spec.Known{}, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		change(r.Experiment.Collapse)
		return keysOfPlan(t, r, steps.Options{Out: filepath.Join(t.TempDir(), "none")})
	}
	before := keys(func(*spec.Collapse) {})
	if len(before) != 1 {
		t.Fatalf("%d steps", len(before))
	}
	if after := keys(func(c *spec.Collapse) {
		c.Buckets[0].Label, c.Controls[1].Label, c.Controls[2].LeftOut = "Another", "name", true
	}); !cmp.Equal(before, after) {
		t.Errorf("%v, and under other names %v", before, after)
	}
	if after := keys(func(c *spec.Collapse) { c.Controls[1].ID = "another" }); cmp.Equal(before, after) {
		t.Error("the id of a control, which its measurements bear, is in no recipe")
	}
}

// Another weight, tokenizer or config of the model that a policy starts from makes another fit, and moves no measurement of experts.
func TestTheFilesOfALanguageModelAreInTheRecipesOfItsFits(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "lm", "testdata", "qwen3"))); err != nil {
		t.Fatal(err)
	}
	keys := func() map[store.Key]bool {
		r := toy.TinyWith(t, "large: 10", "large: 0")
		p := &r.Experiment.Policy
		p.Kind, p.Model, p.Tune = "lm", &spec.LanguageModel{Folder: dir}, &spec.Tune{Part: "head"}
		p.Rationale, p.MaxTokens, p.Compute = "none", 64, "float32"
		found := keysOfPlan(t, r, steps.Options{Out: filepath.Join(dir, "none"), Priced: true}) // which wants no tokenizer
		if found == nil {
			t.Fatal("the experiment is refused")
		}
		return found
	}
	before := keys()
	if !cmp.Equal(before, keys()) {
		t.Error("the same folder gives other keys")
	}
	for _, name := range []string{"model.safetensors", "tokenizer.json", "config.json"} {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if name == "model.safetensors" {
			data[len(data)-1] ^= 1
		} else {
			data = append(data, '\n')
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		after := keys()
		moved := map[string]bool{}
		for k := range after {
			if !before[k] {
				moved[k.Stage] = true
			}
		}
		if !moved["fit"] || moved["profile"] || moved["problems"] {
			t.Errorf("%s changed: new keys of stages %v", name, moved)
		}
		before = after
	}
}

// A row that looks at no training problem decides by the experts' order all the same, which prices give.
func TestRowsThatLearnNothingFollowThePool(t *testing.T) {
	load := func() *spec.Resolved {
		path := filepath.Join(t.TempDir(), "blind.yaml")
		toy.Put(t, path, `
name: blind
base: base.yaml
title: Rows that learn nothing
pools: [sim]
prices: paper-novita
test: [sim-aime25]
large: 0
evaluate: {seeds: [1], bootstrap: 20, max_problems: 5, max_runs: 1}
methods: [{name: fixed, params: {expert: qwen3-4b}}]
outputs: [{kind: table}]
`)
		return toy.Load(t, path)
	}
	dear := load()
	price := dear.Prices.Models["Qwen3-4B-Thinking-2507"]
	price.In, price.Out = 9, 9 // the dearest of all
	dear.Prices.Models["Qwen3-4B-Thinking-2507"] = price

	out := t.TempDir()
	carriedOut(t, load(), out)
	got, want := carriedOut(t, dear, out), carriedOut(t, dear, t.TempDir())
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("at other prices (-in a store of its own +beside those):\n%s", d)
	}
}

// Rows of recorded pools that ask models, to decide or to learn, follow from the experiment's seed, and those with a teacher from who that is.
func TestWhoIsAskedIsInTheRecipesOfRecordedRows(t *testing.T) {
	dir, _ := toy.Folder(t, ", k: 2", `
policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: full, rationale: cot, writes: {tokens: 24}, max_tokens: 1024, compute: float32}
teacher: {model: brain, url: "http://nobody.example/v1", temperature: 1, top_p: 1, max_tokens: 100, attempts: 2}
methods:
  - {name: llmrouter, params: {model: brain, url: "http://nobody.example/v1"}}
  - {name: sft}
  - {name: logistic}
outputs: [{kind: table}]
`)
	path, o := filepath.Join(dir, "constants.yaml"), steps.Options{Out: filepath.Join(dir, "none"), Data: dir, Look: true}
	rows := func(change func(*spec.Experiment)) map[string]store.Key {
		r := toy.Load(t, path)
		change(&r.Experiment)
		keys := map[string]store.Key{}
		for _, s := range open(t, r, o).Steps {
			if s.Row != nil {
				keys[s.Row.RowID()] = s.Recipe.Key()
			}
		}
		return keys
	}
	before := rows(func(*spec.Experiment) {})
	for name, c := range map[string]struct {
		change func(*spec.Experiment)
		moved  []string
	}{
		"the seed":              {func(x *spec.Experiment) { x.Seed++ }, []string{"llmrouter", "sft"}},
		"the teacher":           {func(x *spec.Experiment) { x.Teacher.Model = "other" }, []string{"sft"}},
		"how often it is asked": {func(x *spec.Experiment) { x.Teacher.Attempts++ }, []string{"sft"}},
		"where it is":           {func(x *spec.Experiment) { x.Teacher.URL = "http://elsewhere.example/v1" }, nil},
	} {
		var moved []string
		for row, key := range rows(c.change) {
			if key != before[row] {
				moved = append(moved, row)
			}
		}
		slices.Sort(moved)
		if d := cmp.Diff(c.moved, moved); d != "" {
			t.Errorf("%s: rows with another recipe (-want +got):\n%s", name, d)
		}
	}
}
