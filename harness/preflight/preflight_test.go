// Tests of what a run is estimated to take, and of specs whose numbers are extreme.

package preflight_test

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/machine"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/preflight"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// smallSpec is a spec of its own file system, with all that it names.
func smallSpec(t testing.TB) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range []string{"base.yaml", "benchmarks.yaml", "pools/sim.yaml", "prices/paper-novita.yaml"} {
		data, err := fs.ReadFile(experiments.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	files["small.yaml"] = &fstest.MapFile{Data: []byte(`name: small
base: base.yaml
title: Small
pools: [sim]
prices: paper-novita
train:
  sft: {benchmark: sim-train-sft, size: 100}
  rl: {benchmark: sim-train-rl, size: 80}
  seen: 0
test: [sim-aime25, sim-math500]
large: 20
sft: {epochs: 3, batch: 32}
grpo: {steps: 2, batch: 16, group: 4, epochs: 2}
evaluate: {seeds: [1, 2], bootstrap: 20, max_problems: 8, max_runs: 2}
methods:
  - {name: random}
  - {name: bag, params: {hidden: 16, l2: [1, 2]}}
  - {name: knn, params: {k: [5, 9], prior: 2}}
  - {name: routerr1, params: {steps: 3}}
  - {name: entrorouter}
outputs:
  - {kind: table}
`)}
	return files
}

func loadSmall(files fstest.MapFS) (*spec.Resolved, error) {
	return spec.Load(files, "small", spec.Known{Methods: methods.Kinds(), Build: func(x *spec.Experiment, m spec.Method) error {
		_, err := methods.New(methods.Setup{Method: m, Spec: x})
		return err
	}}, spec.Changes{})
}

func TestWhatARunTakesByHand(t *testing.T) {
	r, err := loadSmall(smallSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	n := preflight.Estimate(r, nil)
	// bag, routerr1 and entrorouter, two seeds each; of entrorouter 3 epochs of 4 batches, and 2 steps of 2 passes, of routerr1 3 steps of
	// 64 problems, 32 an update.
	if n.Trainings != 6 || n.Steps != 2*(3*4+2*2+3*2) {
		t.Errorf("%d trainings of %d steps", n.Trainings, n.Steps)
	}
	if n.Memory < preflight.RunMemory || n.Memory > 2*preflight.RunMemory || n.Device != 0 {
		t.Errorf("%d bytes of memory, %d where XLA computes", n.Memory, n.Device)
	}
}

// Of recorded pools the training questions of a fold count, of rows their own epochs, steps and weight decays to choose from.
func TestWhatALanguageModelTakesOnARecordingByHand(t *testing.T) {
	files := fstest.MapFS{"mine.yaml": &fstest.MapFile{Data: []byte(`name: mine
base: lm-recorded.yaml
title: Mine
policy: {model: {arch: qwen3, hidden: 32, inner: 64, layers: 1, heads: 4, kv_heads: 2, head_dim: 8}, tune: full, micro_batch: 16}
sft: {batch: 16, dropout: 0}
methods:
  - {name: logistic}
  - {name: sft, id: compact-sft, params: {policy: {kind: compact, buckets: 256}, sft: {batch: 128}}}
  - {name: sft, params: {validate: {weight_decay: []}}}
  - {name: entrorouter, params: {validate: {weight_decay: []}}}
  - {name: entrorouter, id: exact, train: 100, params: {validate: {weight_decay: []}, grpo: {estimator: exact, steps: 160}, reward: {balance: false}}}
folds: {k: 3, versus: []}
outputs:
  - {kind: table}
`)}}
	for _, name := range []string{"base.yaml", "lm-recorded.yaml", "benchmarks.yaml", "pools/rgym_math.yaml", "prices/recorded-2025.yaml"} {
		data, err := fs.ReadFile(experiments.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: data}
	}
	r, err := spec.Load(files, "mine", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	n := preflight.Estimate(r, map[string]int{"rgym_math": 2495})
	// Three folds of 1,663 training questions: 104 batches of 16, 13 of 128, and for each of three weight decays 11 of the 1,331 left when a
	// fifth is held out; 100 are 7 of 16.
	want := int64(3 * ((3*10*11 + 10*13) + 10*104 + (10*104 + 40) + (10*7 + 160)))
	if n.Trainings != 4*3 || n.Steps != want {
		t.Errorf("%d trainings of %d steps, want 12 and %d", n.Trainings, n.Steps, want)
	}
	// One layer of width 32: q and o of 32x32, k and v of 16x32, three of 64x32, two norms of 32 and two of 8, the last norm; 1,794 words.
	weights := int64(2*32*32 + 2*16*32 + 3*64*32 + 2*32 + 2*8 + 32 + 1794*32)
	if n.Device != 4*weights*preflight.WeightCopies || !n.Unpaced || n.Lacks != nil || n.Training != 0 {
		t.Errorf("%+v, want %d bytes where XLA computes", n, 4*weights*preflight.WeightCopies)
	}
	if unread := preflight.Estimate(r, nil); unread.Trainings != 12 || unread.Steps >= want {
		t.Errorf("%+v of a recording that was not read", unread)
	}
}

func TestALanguageModelThatIsNotHereIsInNoNumber(t *testing.T) {
	r, err := spec.Load(experiments.FS, "live-lm", spec.Known{Methods: methods.Kinds()}, spec.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	n := preflight.Estimate(r, nil)
	if diff := cmp.Diff([]string{"models/Qwen3-4B"}, n.Lacks); diff != "" || n.Device != 0 {
		t.Errorf("%+v", n)
	}
	// Stage II's 40 steps of 128 problems with 16 texts each; both rows decide about the problems of the tests and of Stage II; five epochs of
	// Stage I, which each trains by itself.
	const rollouts = 40 * 128 * 16
	tests := 50000
	for _, name := range r.Experiment.Test {
		tests += r.Benchmarks[name].Size
	}
	want := [3]preflight.Tokens{{rollouts, rollouts * 10000}, {int64(2 * tests), int64(2*tests) * 12000}, {2*5*103022 + rollouts, (2*5*103022 + rollouts) * (2048 + 10000)}}
	if diff := cmp.Diff(want, [3]preflight.Tokens{n.Rollouts, n.Routed, n.Learned}); diff != "" {
		t.Error(diff)
	}
	if text := n.String(); !strings.HasSuffix(text, "; models/Qwen3-4B has no config.json, so what its weights take is not in it") {
		t.Error(text)
	}
}

func TestARunThatThereIsNoRoomForIsRefusedByItsKnob(t *testing.T) {
	for _, c := range []struct {
		old, new string
		room     machine.Room
		want     string // empty: it may begin
	}{
		{"large: 20", "large: 1000000", machine.Room{Memory: 8 << 30}, "large: 1000000 problems of each of 2 benchmarks take about 28.7 GB of memory"},
		{"large: 20", "large: 1000000", machine.Room{Disk: 1 << 30}, "large: 1000000 problems of each of 2 benchmarks take about 4.1 GB of disk"},
		{"large: 20", "large: 1000000", machine.Room{}, ""},
		{"large: 20", "large: 20", machine.Room{Memory: 8 << 30, Disk: 1 << 30}, ""},
		{"bootstrap: 20", "bootstrap: 1000000", machine.Room{Memory: 512 << 20}, "evaluate.bootstrap: 1000000 resamples of 5 rows and 2 benchmarks"},
		{"name: entrorouter", "name: entrorouter, params: {policy: {buckets: 4194304, hidden: 65536}}", machine.Room{Memory: 1 << 40}, "row entrorouter: policy.buckets: 4194304 buckets of 65536 units take about 8.8 TB of memory"},
		{"hidden: 16", "hidden: 65536, features: {words: {buckets: 4194304}}", machine.Room{Memory: 1 << 40}, "row bag: features.words.buckets: 4194304 buckets of 65536 units"},
		{"sft: {epochs: 3,", "profile: {rollouts: 1000}\nsft: {epochs: 3,", machine.Room{Disk: 100 << 20}, "train.sft.size: 100 problems, asked 1000 times (profile.rollouts) of 4 models take about 120 MB of disk"},
	} {
		files := smallSpec(t)
		text := string(files["small.yaml"].Data)
		if !strings.Contains(text, c.old) {
			t.Fatalf("no %q", c.old)
		}
		files["small.yaml"].Data = []byte(strings.Replace(text, c.old, c.new, 1))
		r, err := loadSmall(files)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		_, _, err = harness.Plan(t.Context(), r, harness.Options{Out: dir, Room: c.room})
		switch {
		case c.want == "" && err == nil:
		case err == nil || c.want == "" || !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), preflight.Env):
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

func TestATrainingThatWouldNotEndIsRefusedByItsKnob(t *testing.T) {
	plan := func(old, new string, most time.Duration) error {
		files := smallSpec(t)
		text := string(files["small.yaml"].Data)
		files["small.yaml"].Data = []byte(strings.Replace(text, old, new, 1))
		r, err := loadSmall(files)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = harness.Plan(t.Context(), r, harness.Options{Out: t.TempDir(), Room: machine.Room{Time: most}})
		return err
	}
	// 256 * 65536 weights, 6 operations each at 4e9 a second, two seeds: 10,000 epochs of 100 texts, or 20,000,000 steps of 16.
	if r := plan("sft: {epochs: 3,", "policy: {hidden: 65536}\nsft: {epochs: 10000,", 100*24*time.Hour); r != nil {
		t.Errorf("14 hours are refused: %v", r)
	}
	ages := func(most time.Duration) error {
		return plan("sft: {epochs: 3, batch: 32}\ngrpo: {steps: 2, batch: 16, group: 4, epochs: 2}", "policy: {hidden: 65536}\nsft: {epochs: 3, batch: 32}\ngrpo: {steps: 1000000, batch: 16, group: 4, epochs: 20}", most)
	}
	err := ages(100 * 24 * time.Hour)
	const want = "row entrorouter: policy.buckets: 256 buckets of 65536 units, trained in 20000012 steps take about 186 days on two cores"
	if err == nil || !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), preflight.Env) {
		t.Errorf("%v, want %q", err, want)
	}
	if err := ages(0); err != nil {
		t.Errorf("refused where a run may take as long as it likes: %v", err)
	}
}

func TestTimeIsSaidAsAPersonPlans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		3 * time.Minute: "3 minutes", 119 * time.Minute: "119 minutes", 30 * time.Hour: "30 hours", 71 * time.Hour: "2 days", 800 * 24 * time.Hour: "2 years",
	} {
		if got := preflight.Long(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

var extremes = []string{
	"0", "-1", "1", "2", "1e-300", "-1e300", "1e300", "1e18", "9223372036854775807", "-9223372036854775808", "4611686018427387904", "18446744073709551615",
	"1000000000000", "2000000000", "0.5", "1000000", "65536", "4096", "100",
}

// numbersOf lists the numbers below a node.
func numbersOf(n *yaml.Node) (all []*yaml.Node) {
	if tag := n.ShortTag(); n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float") {
		return []*yaml.Node{n}
	}
	for _, c := range n.Content {
		all = append(all, numbersOf(c)...)
	}
	return all
}

var aFault = regexp.MustCompile(`^[a-z0-9/.-]+\.yaml:\d+: \S+`)

// Whatever numbers stand in a spec and in what it names, planning ends: with a plan, with faults that say file, line and knob,
// or with the knob that there is no room for.
func TestExtremeNumbersEndInAPlanOrInAKnob(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := smallSpec(t)
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			name := rapid.SampledFrom([]string{"small.yaml", "small.yaml", "base.yaml", "benchmarks.yaml", "pools/sim.yaml", "prices/paper-novita.yaml"}).Draw(rt, "file")
			var doc yaml.Node
			if err := yaml.Unmarshal(files[name].Data, &doc); err != nil {
				rt.Fatal(err)
			}
			n := rapid.SampledFrom(numbersOf(&doc)).Draw(rt, "number")
			n.Value, n.Tag = rapid.SampledFrom(extremes).Draw(rt, "value"), ""
			data, err := yaml.Marshal(&doc)
			if err != nil {
				rt.Fatal(err)
			}
			files[name] = &fstest.MapFile{Data: data}
		}
		r, err := loadSmall(files)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !aFault.MatchString(line) {
					rt.Errorf("no fault with a file, a line and a knob: %s", line)
				}
			}
			return
		}
		n := preflight.Estimate(r, nil)
		if n.Memory < 0 || n.Disk < 0 || n.Steps < 0 || n.Trainings < 0 {
			rt.Errorf("overflow: %+v", n)
		}
		if _, _, err := harness.Plan(t.Context(), r, harness.Options{Out: t.TempDir(), Room: machine.Room{Memory: 1 << 30, Disk: 1 << 30}}); err != nil && !errors.Is(err, spec.ErrUsage) {
			rt.Errorf("%v", err)
		}
	})
}
