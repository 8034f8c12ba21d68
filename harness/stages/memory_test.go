package stages

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/internal/remember"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Rows that share Stage I train it once and leave the bytes of rows that train it each; other targets, another seed and other problems
// are another Stage I, and without room nothing is remembered.
func TestStageOneIsTrainedOnce(t *testing.T) {
	set, fewer := routingtest.Planted(100), routingtest.Planted(80)
	fit := func(kind, params string, memory *Memory, set routing.TrainSet, s seed.Seed) map[string]string {
		t.Helper()
		m := build(t, kind, params)
		m.With.Memory = memory
		work := routingtest.Work(s)
		work.Dir = t.TempDir()
		router, err := m.Fit(t.Context(), set, work)
		if err != nil {
			t.Fatal(err)
		}
		router.(*Router).Close()
		left := map[string]string{}
		files, err := filepath.Glob(filepath.Join(work.Dir, checkpointDir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range append(files, filepath.Join(work.Dir, CurveFile)) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			left[filepath.Base(file)] = string(data)
		}
		return left
	}
	memory := NewMemory(1 << 30)
	seen := map[string]bool{}
	for _, c := range []struct {
		kind, params string
		set          routing.TrainSet
		seed         seed.Seed
		stages       int // remembered after it
	}{
		{"sft", "", set, 1, 1},
		{"entrorouter", "", set, 1, 1},
		{"entrorouter", "anchor: {strength: 0}", set, 1, 1},
		{"other", "", set, 1, 1},
		{"entrorouter", "targets: {gate: false}", set, 1, 2},
		{"entrorouter", "", set, 2, 3},
		{"entrorouter", "sft: {dropout: 0.1}", set, 1, 4},
		{"entrorouter", "", fewer, 1, 5},
		{"entrorouter", "validate: {weight_decay: [10, 1]}", set, 1, 8}, // two to choose from, and one of them on all problems
		{"other", "validate: {weight_decay: [10, 1]}", set, 1, 0},
	} {
		want := fit(c.kind, c.params, nil, c.set, c.seed)
		got := fit(c.kind, c.params, memory, c.set, c.seed)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %q: %s", c.kind, c.params, diff)
		}
		if c.stages > 0 && len(memory.known) != c.stages {
			t.Errorf("%s %q: %d stages are remembered, want %d", c.kind, c.params, len(memory.known), c.stages)
		}
		seen[got[CurveFile]] = true
	}
	if len(seen) < 8 {
		t.Errorf("only %d different trainings", len(seen))
	}
	before := maps.Clone(memory.known)
	memory.room = remember.RoomOf(0)
	fit("sft", "", memory, set, 99)
	if len(memory.known) != len(before) {
		t.Error("a memory without room learned")
	}
}

// What another backend computes differs in the last digits, and a process may carry out experiments on both.
func TestStageOneOnAnotherBackendIsAnother(t *testing.T) {
	m := build(t, "sft", "")
	reader, err := m.newPolicy(t.Context(), routingtest.Planted(20).Experts, routing.Texts(routingtest.Planted(20).SFT))
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := keyOfStageOne("go", reader, m.SFT, 1, nil)
	other, err2 := keyOfStageOne("xla", reader, m.SFT, 1, nil)
	if one == other || err1 != nil || err2 != nil {
		t.Errorf("%x, %v, %v", one, err1, err2)
	}
}

func BenchmarkKeyOfStageOne(b *testing.B) {
	e := build(b, "entrorouter", "")
	set := routingtest.Planted(1000)
	reader, err := e.newPolicy(b.Context(), set.Experts, routing.Texts(set.SFT))
	if err != nil {
		b.Fatal(err)
	}
	examples, err := e.examples(b.Context(), reader, set.SFT, len(set.Experts)-1, 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := keyOfStageOne("go", reader, e.SFT, 1, examples); err != nil {
			b.Fatal(err)
		}
	}
}
