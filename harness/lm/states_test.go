// What is kept of frozen models: it is what was computed, whatever becomes of the file.

package lm

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// states encodes texts by a model that keeps states in a folder, and says how many it knew before.
func states(t *testing.T, b policy.Backend, cfg spec.Policy, dir string, texts []string) (rows []policy.Row, knew int) {
	t.Helper()
	m := NewModels(1<<20, dir)
	p, err := m.New(b, cfg, pool)
	if err != nil {
		t.Fatal(err)
	}
	knew = len(p.trunk.known)
	if rows, err = p.Encode(t.Context(), texts); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return rows, knew
}

// onlyFile is the one file of a folder.
func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, %v", found, err)
	}
	return found[0]
}

func TestStatesOfTextsOutliveARunAndDamage(t *testing.T) {
	b, cfg, dir := openGo(t), configOf(tunings["head"]), filepath.Join(t.TempDir(), "states")
	var texts []string
	for i := range 5 {
		texts = append(texts, fmt.Sprint("What is 1 + ", i, "?"))
	}
	want, knew := states(t, b, cfg, dir, texts)
	if knew != 0 {
		t.Errorf("an empty folder has %d states", knew)
	}
	sound, err := os.ReadFile(onlyFile(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	record := len(sound) / len(texts)
	flipped := slices.Clone(sound)
	flipped[3*record+40] ^= 1 // of a number of the fourth
	for _, c := range []struct {
		what string
		data []byte
		knew int
	}{
		{"as it was left", sound, 5},
		{"cut between records", sound[:2*record], 2},
		{"cut in a record", sound[:2*record+record/2], 2},
		{"of another value", flipped, 3},
		{"empty", nil, 0},
	} {
		if err := os.WriteFile(onlyFile(t, dir), c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		got, knew := states(t, b, cfg, dir, texts)
		if knew != c.knew {
			t.Errorf("%s: %d states are known, want %d", c.what, knew, c.knew)
		}
		for i := range want {
			if !slices.Equal(got[i].Values, want[i].Values) {
				t.Errorf("%s: text %d has other states", c.what, i)
			}
		}
		if after, err := os.ReadFile(onlyFile(t, dir)); err != nil || !slices.Equal(after, sound) {
			t.Errorf("%s: the file ends with %d bytes and others than before, which were %d (%v)", c.what, len(after), len(sound), err)
		}
	}
}

// Where main memory has no room left for states the file has them: no text is read or kept a second time, in a run or by a later one.
func TestStatesBeyondMainMemoryAreInTheFile(t *testing.T) {
	b, cfg, dir, texts := openGo(t), configOf(tunings["head"]), t.TempDir(), []string{"One?", "Two?", "Three?"}
	want, _ := states(t, b, cfg, t.TempDir(), texts)
	var size int64
	for run := range 2 {
		m := NewModels(int64(4*freshModel.Hidden), dir) // one state
		read := 0
		m.Say = func(string) { read++ }
		p, err := m.New(b, cfg, pool)
		if err != nil {
			t.Fatal(err)
		}
		for again := range 2 {
			got, err := p.Encode(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !slices.Equal(got[i].Values, want[i].Values) {
					t.Errorf("run %d, time %d: text %d has other states", run, again, i)
				}
			}
		}
		if first := len(texts) * (1 - run); read != first {
			t.Errorf("run %d: %d texts are read, want %d", run, read, first)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(onlyFile(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		if size = max(size, info.Size()); run == 0 && size != int64(len(texts)*(sha256.Size+4*freshModel.Hidden+4)) || info.Size() != size {
			t.Errorf("run %d: the file has %d bytes", run, info.Size())
		}
	}
}

func TestReadingSaysHowFarItIs(t *testing.T) {
	m := NewModels(1<<20, "")
	defer m.Close()
	var heard []string
	m.Say = func(text string) { heard = append(heard, text) }
	p, err := m.New(openGo(t), configOf(tunings["head"]), pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ texts, want []string }{
		{[]string{"One?", "Two?"}, []string{"read 0 of 2 texts", "read 1 of 2 texts"}},
		{[]string{"Two?", "Three?", "One?"}, []string{"read 0 of 1 texts"}},
		{[]string{"Two?"}, nil},
	} {
		heard = nil
		if _, err := p.Encode(t.Context(), c.texts); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(heard, c.want) {
			t.Errorf("%q: heard %q, want %q", c.texts, heard, c.want)
		}
	}
}

// Other weights or another type of products have states of their own; a model of which layers are trained keeps none, which are large.
func TestStatesAreOfOneModelAlone(t *testing.T) {
	b, dir, texts := openGo(t), t.TempDir(), []string{"What is 1 + 1?"}
	first := configOf(tunings["head"])
	states(t, b, first, dir, texts)
	other, rounded, last := first, first, configOf(tunings["last 1"])
	weights := freshModel
	weights.Seed++
	other.Model, rounded.Compute = &weights, "bfloat16"
	for what, cfg := range map[string]spec.Policy{"other weights": other, "products in bfloat16": rounded, "a trained layer": last} {
		if _, knew := states(t, b, cfg, dir, texts); knew != 0 {
			t.Errorf("%s: %d states are known", what, knew)
		}
	}
	if found, err := os.ReadDir(dir); err != nil || len(found) != 3 {
		t.Errorf("%d files, want 3 (%v)", len(found), err)
	}
	if _, knew := states(t, b, first, dir, texts); knew != 1 {
		t.Errorf("of the first model %d states are known, want 1", knew)
	}
}
