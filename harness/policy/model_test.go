package policy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

var experts = []string{"small", "middle", "large"}

var texts = []string{
	"Find the sum of all positive integers $n$ with $n^2 < 50$.",
	"How many ways are there to seat 5 people at a round table?",
	`Evaluate $\int_0^1 x^2 \, dx$ and simplify $\frac{12}{18}$.`,
	"A circle has radius 3. What is its area?",
}

func open(t testing.TB) compute.Backend {
	t.Helper()
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Finalize)
	return b
}

func read(kind string, config []byte) (policy.Policy, error) {
	if kind != "compact" {
		return nil, fmt.Errorf("unknown policy %q; known: compact", kind)
	}
	return compact.Read(config, features.Reading{})
}

func newTestModel(t testing.TB, b compute.Backend, s seed.Seed) *policy.Model {
	t.Helper()
	p, err := compact.New(context.Background(), spec.Policy{Kind: "compact", Buckets: 32, NGrams: 2, Hidden: 5}, experts, texts, features.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := policy.New(b, p, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reference is the compact policy in plain float64 loops.
func reference(values []safetensors.Tensor, row policy.Row) []float64 {
	w1, b1, w2, b2 := values[0], values[1], values[2], values[3]
	hidden, m := len(b1.Data), len(b2.Data)
	logits := make([]float64, m)
	for k := range logits {
		logits[k] = float64(b2.Data[k])
	}
	for h := range hidden {
		x := float64(b1.Data[h])
		for i, id := range row.IDs {
			x += float64(row.Values[i]) * float64(w1.Data[int(id)*hidden+h])
		}
		for k := range logits {
			logits[k] += math.Tanh(x) * float64(w2.Data[h*m+k])
		}
	}
	var sum float64
	for _, l := range logits {
		sum += math.Exp(l)
	}
	for k := range logits {
		logits[k] = math.Exp(logits[k]) / sum
	}
	return logits
}

func TestProbsAreThoseOfTheNetworkComputedByHand(t *testing.T) {
	m := newTestModel(t, open(t), 1)
	values, err := m.Weights()
	if err != nil {
		t.Fatal(err)
	}
	for i := range values { // biases start at zero: make them count
		for k := range values[i].Data {
			values[i].Data[k] += .1 * float32(k%3)
		}
	}
	if m, err = policy.With(m.Backend(), m.Policy(), values); err != nil {
		t.Fatal(err)
	}
	many := make([]string, 1100) // more than one full batch
	for i := range many {
		many[i] = fmt.Sprintf("%s %s", texts[i%len(texts)], strings.Repeat("again ", i%7))
	}
	rows, _ := m.Policy().Encode(context.Background(), many)
	got, err := m.Probs(context.Background(), many)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(many) {
		t.Fatalf("%d distributions for %d texts", len(got), len(many))
	}
	for i := range many {
		var sum float64
		for k, want := range reference(values, rows[i]) {
			sum += got[i][k]
			if math.Abs(got[i][k]-want) > 1e-5 {
				t.Fatalf("text %d: p[%d] = %v, want %v", i, k, got[i][k], want)
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("text %d: probabilities sum to %v", i, sum)
		}
	}
	if none, err := m.Probs(context.Background(), nil); err != nil || len(none) != 0 {
		t.Errorf("no text gave %v, %v", none, err)
	}
}

func TestProbsStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newTestModel(t, open(t), 1).Probs(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestASavedModelLoadsToTheSameProbabilitiesAndBytes(t *testing.T) {
	b, first, second := open(t), t.TempDir(), filepath.Join(t.TempDir(), "made", "as needed")
	m := newTestModel(t, b, 3)
	if err := m.Save(first); err != nil {
		t.Fatal(err)
	}
	loaded, err := policy.Load(b, read, first)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := m.Probs(context.Background(), texts)
	got, err := loaded.Probs(context.Background(), texts)
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("loaded model gives %v (%v), saved one %v", got, err, want)
	}
	if fmt.Sprint(loaded.Policy().Experts()) != fmt.Sprint(experts) {
		t.Errorf("experts are %q", loaded.Policy().Experts())
	}
	if err := loaded.Save(second); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{policy.ConfigFile, policy.WeightsFile} {
		x, _ := os.ReadFile(filepath.Join(first, f))
		y, _ := os.ReadFile(filepath.Join(second, f))
		if len(x) == 0 || !bytes.Equal(x, y) {
			t.Errorf("%s differs after loading and saving", f)
		}
	}
	if files, _ := os.ReadDir(second); len(files) != 2 {
		t.Errorf("checkpoint holds %v", files)
	}
}

func TestADamagedCheckpointIsRefused(t *testing.T) {
	b := open(t)
	edit := func(file, old, new string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			raw, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil || !bytes.Contains(raw, []byte(old)) {
				t.Fatalf("%s has no %q (%v)", file, old, err)
			}
			raw = bytes.Replace(raw, []byte(old), []byte(new), 1)
			if err := os.WriteFile(filepath.Join(dir, file), raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	rewrite := func(change func([]safetensors.Tensor) []safetensors.Tensor) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			raw, _ := os.ReadFile(filepath.Join(dir, policy.WeightsFile))
			values, err := safetensors.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			changed, _ := safetensors.Encode(change(values))
			edit(policy.ConfigFile, policy.Digest(raw), policy.Digest(changed))(t, dir)
			os.WriteFile(filepath.Join(dir, policy.WeightsFile), changed, 0o644)
		}
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   string
	}{
		{"an interrupted save", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, policy.ConfigFile)) }, "no config.json: the folder holds no finished checkpoint"},
		{"weights gone", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, policy.WeightsFile)) }, "no such file"},
		{"weights changed", edit(policy.WeightsFile, "F32", "F16"), "damaged or of two checkpoints"},
		{"a later format", edit(policy.ConfigFile, `"format": 1`, `"format": 2`), "format 2; this program reads format 1"},
		{"another policy", edit(policy.ConfigFile, `"policy": "compact"`, `"policy": "giant"`), `unknown policy "giant"; known: compact`},
		{"other features", edit(policy.ConfigFile, fmt.Sprintf(`"features": %d`, features.Version), `"features": 9`), "features of version 9"},
		{"an unknown key", edit(policy.ConfigFile, `"format"`, `"fromat"`), `unknown field "fromat"`},
		{"a mean too few", edit(policy.ConfigFile, `"mean": [`, `"mean": [0,`), "means and"},
		{"another width", edit(policy.ConfigFile, `"hidden": 5`, `"hidden": 6`), `weight "hidden.weight" has shape`},
		{"a missing tensor", rewrite(func(v []safetensors.Tensor) []safetensors.Tensor { return v[:3] }), `weight "head.bias" is missing`},
		{"a tensor too many", rewrite(func(v []safetensors.Tensor) []safetensors.Tensor {
			return append(v, safetensors.Tensor{Name: "x", Dims: []int{1}, Data: []float32{1}})
		}), "5 tensors for 4 weights"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := newTestModel(t, b, 3).Save(dir); err != nil {
				t.Fatal(err)
			}
			c.damage(t, dir)
			if _, err := policy.Load(b, read, dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error is %v, want %q in it and the folder", err, c.want)
			}
		})
	}
}

func TestSaveIntoAnUnwritableFolderSaysSo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o644)
	if err := newTestModel(t, open(t), 3).Save(filepath.Join(file, "sub")); err == nil || !strings.Contains(err.Error(), "save checkpoint") {
		t.Errorf("error is %v", err)
	}
}

func TestRowsOfAnotherPolicyAreRefused(t *testing.T) {
	m := newTestModel(t, open(t), 1)
	for name, row := range map[string]policy.Row{
		"tokens":            {IDs: []int32{1, 2}},
		"too large":         {IDs: []int32{1 << 20}, Values: []float32{1}},
		"a negative number": {IDs: []int32{-1}, Values: []float32{1}},
	} {
		if _, err := m.ProbsOf(context.Background(), []policy.Row{row}); err == nil || !strings.Contains(err.Error(), "encode texts with this policy") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestBackendsAreNamed(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "nonsense") // never read
	for _, c := range []struct{ name, want string }{
		{"tpu", `unknown backend "tpu"; known: go, xla, xla:<plugin>`},
		{"", `unknown backend ""; known: go`},
		{"go:parallelism=2", `unknown backend "go:parallelism=2"`},
		{"xla:", `unknown backend "xla:"`},
		{"xla:/nowhere/plugin.so", `open backend "xla:/nowhere/plugin.so"`},
	} {
		if _, err := policy.OpenBackend(c.name); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error is %v, want %q in it", c.name, err, c.want)
		}
	}
	open(t)
}

func TestInitialWeightsDependOnTheSeedAlone(t *testing.T) {
	b := open(t)
	weights := func(s seed.Seed) string {
		v, err := newTestModel(t, b, s).Weights()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(v)
	}
	first, again := weights(7), weights(7)
	if first != again {
		t.Error("one seed gives two sets of weights")
	}
	if first == weights(8) {
		t.Error("two seeds give the same weights")
	}
}

// A reader, or a call that ends early, never finds a part of a file.
func TestAFileIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "curve.csv")
	broken := errors.New("broken")
	for _, c := range []struct {
		text string
		err  error
		want string
	}{{"one", nil, "one"}, {"two", nil, "two"}, {"thr", broken, "two"}} {
		err := policy.WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, c.text)
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v", c.text, err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != c.want {
			t.Errorf("after %s: %q, %v", c.text, text, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
