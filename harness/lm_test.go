package harness

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// languageModel is tiny.yaml with a fresh decoder as the policy of every trained row.
func languageModel(t *testing.T, tune spec.Tune) *spec.Resolved {
	t.Helper()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Policy = spec.Policy{Kind: "lm", Backend: "go", Rationale: "none", MaxTokens: 1024, Compute: "float32", MicroBatch: 8, Tune: &tune,
		Model: &spec.LanguageModel{Arch: "qwen3", Hidden: 16, Inner: 32, Layers: 1, Heads: 2, KVHeads: 1, HeadDim: 8}}
	x.Train.SFT.Size, x.Train.RL.Size, x.Large = 48, 32, 0
	x.GRPO.Steps, x.GRPO.Batch = 3, 16
	x.Evaluate.Seeds, x.Evaluate.MaxProblems, x.Evaluate.MaxRuns = []uint64{1}, 4, 1
	x.Methods = slices.DeleteFunc(x.Methods, func(m spec.Method) bool { return m.Name != "entrorouter" && m.Name != "sft" && m.Name != "mixture" })
	x.Outputs = x.Outputs[:1]
	return r
}

// From the spec to decisions and back: a language model is trained by both stages, stopped in the middle of either, and
// goes on to the same bytes; route loads it.
func TestALanguageModelThatIsStoppedGoesOnToTheSameBytes(t *testing.T) {
	r := languageModel(t, spec.Tune{Part: "full"})
	calm := t.TempDir()
	want := runIn(t, r, calm)
	out := t.TempDir()
	for _, at := range []string{"sft step 1 ", "grpo step 2 "} {
		ctx, cancel := context.WithCancel(t.Context())
		says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: cancel, text: at}
		if _, err := Run(ctx, r, Options{Out: out, Every: 1, Progress: says}); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %q: %v", at, err)
		}
	}
	says := &cancelWhen{Progress: Options{}.Filled().Progress, cancel: func() {}}
	got, err := Run(t.Context(), r, Options{Out: out, Every: 1, Progress: says})
	if err != nil {
		t.Fatal(err)
	}
	if says.first != "grpo step 3 of 3" {
		t.Errorf("the third run begins training with %q", says.first)
	}
	if diff := cmp.Diff(want.Measurements, got.Measurements); diff != "" {
		t.Error(diff)
	}
	a, b := entries(t, calm), entries(t, out)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))); diff != "" {
		t.Fatal(diff)
	}
	for name := range a {
		if string(a[name]) != string(b[name]) {
			t.Errorf("%s differs", name)
		}
	}
	for _, dir := range []string{calm, out} {
		if left := unfinished(t, dir); len(left) > 0 {
			t.Errorf("what is left of unfinished trainings in %s: %v", dir, left)
		}
	}
	routed, err := protocol.Route(t.Context(), r, Options{Out: out}, "entrorouter", []routing.Query{{Problem: routing.Problem{ID: "easy", Text: "What is 1 + 1?"}}}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range routed {
		sum := 0.0
		for _, p := range x.Prob {
			sum += p
		}
		if sum < 1-1e-9 || sum > 1+1e-9 {
			t.Errorf("probabilities %v", x.Prob)
		}
	}
}

// cancelWhen interrupts when progress says something, and remembers what it said first of a training.
type cancelWhen struct {
	Progress
	cancel      func()
	text, first string
}

func (c *cancelWhen) Say(text string) {
	if c.first == "" {
		c.first, _, _ = strings.Cut(text, ",")
	}
	if c.text != "" && strings.HasPrefix(text, c.text) {
		c.cancel()
	}
}

// unfinished lists what lies in the folder of unfinished entries.
func unfinished(t *testing.T, out string) (names []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Join(out, "unfinished"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}
