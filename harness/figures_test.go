package harness

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// drawn prints a result and returns what was printed and its files by name.
func drawn(t *testing.T, r *Result) (string, map[string]string) {
	t.Helper()
	var text strings.Builder
	files, err := present.Draw(&present.Run{Spec: r.Spec, Measurements: r.Measurements}, results.FS, report.Terminal{}, &text)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, f := range files {
		named[f.Name] = string(f.Data)
	}
	return text.String(), named
}

func TestEveryFigureHasNumbersAndACaptionThatNamesTheSimulation(t *testing.T) {
	r := toy.Figures(t)
	_, files := drawn(t, runIn(t, r, t.TempDir()))
	want := []string{"figures/measurements.txt"}
	for _, o := range r.Experiment.Outputs {
		o.File = present.File("figures", o.File)
		want = append(want, o.File+".csv", o.File+".svg", o.File+".txt")
		if caption := files[o.File+".txt"]; !strings.HasPrefix(caption, r.Experiment.Title) || !strings.Contains(caption, "Simulated experts") {
			t.Errorf("%s: caption %q", o.File, caption)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(files))); diff != "" {
		t.Error(diff)
	}
	if caption := files["figures/pareto.txt"]; !strings.Contains(caption, " Shown are 5 of 8 rows.") { // the oracle is not measured
		t.Errorf("caption %q", caption)
	}
	for file, want := range map[string]bool{"figures/learning.txt": true, "figures/alpha.txt": false} {
		if got := strings.Contains(files[file], " Stage II has at most 80 problems."); got != want { // 100 and 120 are on the axis
			t.Errorf("%s: caption %q", file, files[file])
		}
	}
	count := func(file, start string) (n int) {
		for line := range strings.Lines(files[file]) {
			if strings.HasPrefix(line, start) {
				n++
			}
		}
		return n
	}
	for _, c := range []struct {
		file, start string
		want        int
	}{
		{"figures/pareto.csv", "small,fixed expert,", 1},
		{"figures/pareto.csv", "logistic,router,", 1},
		{"figures/pareto.csv", "oracle,", 0}, // the large arena has no answers
		{"figures/pareto.csv", "logistic-40,", 0},
		{"figures/alpha.csv", "accuracy-%,,", 6}, // two rows: the mean and two seeds each
		{"figures/alpha.csv", "accuracy-%,Paper,0.6,,79.9,", 1},
		{"figures/alpha.csv", "cost-share-%,Paper,", 0},
		{"figures/learning.csv", "hull-gain-points,EntroRouter,100,", 3},
		{"figures/learning.csv", "hull-gain-points,EntroRouter,120,", 3},
		{"figures/learning.csv", "hull-gain-points,Logistic,40,", 1},
		{"figures/seeds.csv", "cost-share-%,entrorouter,", 3},
		{"figures/seeds.csv", "cost-share-%,logistic,", 0},     // one fit for all seeds
		{"figures/training.csv", "a,sft,loss,entrorouter,", 4}, // 120 problems in batches of 32
		{"figures/training.csv", "f,grpo,zero-groups-%,entrorouter-100,", 2},
		{"figures/calibration.csv", "c,expected,", 7},
		{"figures/calibration.csv", "c,measured,rollouts,5,wrong-best-%,", 1},
	} {
		if got := count(c.file, c.start); got != c.want {
			t.Errorf("%s has %d lines that start with %q, want %d:\n%s", c.file, got, c.start, c.want, files[c.file])
		}
	}
}

func TestASweepThatCannotBeDrawnIsNotBegun(t *testing.T) {
	for want, o := range map[string]spec.Output{
		`no row has a number "anchor.t2"`:              {Kind: "sweep", File: "f", Param: "anchor.t2", Axis: "x"},
		`row logistic has no number "anchor.strength"`: {Kind: "sweep", File: "f", Param: "anchor.strength", Axis: "x", Series: []spec.Series{{Rows: []string{"logistic"}}}},
		`the noise.share of row entrorouter is 0, which has no place on a logarithmic axis; leave log or the row out`: {Kind: "sweep", File: "f", Param: "noise.share", Axis: "x", Log: true},
	} {
		r, out := toy.Figures(t), t.TempDir()
		r.Experiment.Outputs = []spec.Output{o}
		if _, err := Run(t.Context(), r, Options{Out: out}); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if stored, _ := filepath.Glob(filepath.Join(out, "stages", "*")); len(stored) > 0 {
			t.Errorf("stored: %v", stored)
		}
	}
}

func TestFiguresThatTheSpecCannotHaveAreRefused(t *testing.T) {
	out := t.TempDir() // of all: what agrees is made once
	for want, change := range map[string]func(*spec.Experiment){
		`method logistic writes no training curve`: func(x *spec.Experiment) {
			x.Outputs = []spec.Output{{Kind: "training", File: "f", Rows: []string{"logistic"}}}
		},
		`a figure of trainings shows the row "entrorouter"`: func(x *spec.Experiment) {
			x.Methods, x.Outputs = x.Methods[:1], []spec.Output{{Kind: "training", File: "f"}}
		},
		`the hull needs a row fixed of each of the 3 experts of pool sim; spec figures has none of qwen3-4b`: func(x *spec.Experiment) {
			x.Methods, x.Outputs = x.Methods[1:], []spec.Output{{Kind: "pareto", File: "f"}}
		},
		`experts of pool sim; spec figures has none of qwen3-30b`: func(x *spec.Experiment) { // three rows of two experts
			x.Methods[1] = toy.Row(t, "fixed", "medium", "{expert: cheapest}")
			x.Outputs = []spec.Output{{Kind: "pareto", File: "f"}}
		},
		`expert "meduim" is not in the pool; known: `: func(x *spec.Experiment) { // and not that the hull lacks a row
			x.Methods[1] = toy.Row(t, "fixed", "medium", "{expert: meduim}")
			x.Outputs = []spec.Output{{Kind: "pareto", File: "f"}}
		},
		`two outputs write figures/f-large.csv; give one of them another file`: func(x *spec.Experiment) {
			x.Outputs = []spec.Output{{Kind: "table", File: "f"}, {Kind: "pareto", File: "f-large"}}
		},
		`two outputs write figures/measurements.txt; give one of them another file`: func(x *spec.Experiment) {
			x.Outputs = []spec.Output{{Kind: "pareto", File: "measurements"}}
		},
		`a phase diagram needs protocol collapse`: func(x *spec.Experiment) { x.Outputs = []spec.Output{{Kind: "phase", File: "f"}} },
		`no row of spec figures was trained with more than one seed`: func(x *spec.Experiment) {
			x.Evaluate.Seeds, x.Outputs = []uint64{1}, []spec.Output{{Kind: "seeds", File: "f"}}
		},
	} {
		r := toy.Figures(t)
		change(&r.Experiment)
		result, err := Run(t.Context(), r, Options{Out: out})
		if err == nil {
			_, err = present.Draw(&present.Run{Spec: result.Spec, Measurements: result.Measurements}, results.FS, report.Terminal{}, io.Discard)
		}
		if faults := (spec.Faults{}); !errors.Is(err, ErrUsage) && !errors.As(err, &faults) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
