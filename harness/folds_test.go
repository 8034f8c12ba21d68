package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// The order of the keys fmix64(FNV-1a-64("<seed>|<id>")) inside each benchmark, computed by another program.
func TestQuestionsAreDealtToFoldsByTheHashOfSeedAndID(t *testing.T) {
	var problems []routing.Problem
	for _, id := range []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "b1", "b2", "b3"} {
		problems = append(problems, routing.Problem{ID: id, Benchmark: id[:1], Text: id})
	}
	for s, want := range map[uint64][]int{
		0: {1, 2, 0, 1, 3, 4, 0, 0, 1, 2}, // a3 a4 a2 a5 a6 a7 a1; b1 b2 b3
		3: {2, 1, 0, 4, 1, 0, 3, 0, 2, 1}, // a3 a2 a1 a7 a4 a6 a5; b1 b3 b2
	} {
		if diff := cmp.Diff(want, folds(problems, 5, s)); diff != "" {
			t.Errorf("seed %d: %s", s, diff)
		}
	}
}

func TestFoldsAreBalancedInEveryBenchmarkAndKeepAnOrderOfNoQuestion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 7).Draw(t, "k")
		s := rapid.Uint64().Draw(t, "seed")
		var problems []routing.Problem
		for i := range rapid.IntRange(1, 60).Draw(t, "P") {
			problems = append(problems, routing.Problem{ID: fmt.Sprint("q", i), Benchmark: fmt.Sprint(i % 3), Text: fmt.Sprint("Question ", i)})
		}
		of := map[string]int{}
		size := map[string][]int{}
		for i, f := range folds(problems, k, s) {
			of[problems[i].ID] = f
			if size[problems[i].Benchmark] == nil {
				size[problems[i].Benchmark] = make([]int, k)
			}
			size[problems[i].Benchmark][f]++
		}
		for b, n := range size {
			for f := 1; f < k; f++ {
				if d := n[f-1] - n[f]; d != 0 && d != 1 {
					t.Fatalf("benchmark %s: folds of %v", b, n)
				}
			}
		}
		rand.New(rand.NewPCG(s, 1)).Shuffle(len(problems), func(i, j int) { problems[i], problems[j] = problems[j], problems[i] })
		for i, f := range folds(problems, k, s) {
			if of[problems[i].ID] != f {
				t.Fatalf("%s moves with the order of the file", problems[i].ID)
			}
		}
	})
}

// By memory a router would know the answer to the second.
func TestAQuestionThatIsAskedAgainIsInTheSameFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, s := rapid.IntRange(2, 7).Draw(t, "k"), rapid.Uint64().Draw(t, "seed")
		var problems, once []routing.Problem
		for i := range rapid.IntRange(1, 40).Draw(t, "P") {
			p := routing.Problem{ID: fmt.Sprintf("q%02d", i), Benchmark: fmt.Sprint(i % 3), Text: fmt.Sprint("Question ", i)}
			problems, once = append(problems, p), append(once, p)
			if rapid.Bool().Draw(t, "asked again") {
				p.ID, p.Benchmark = fmt.Sprintf("r%02d", i), fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "benchmark"))
				problems = append(problems, p)
			}
		}
		want := map[string]int{}
		for i, f := range folds(once, k, s) {
			want[once[i].Text] = f
		}
		rand.New(rand.NewPCG(s, 2)).Shuffle(len(problems), func(i, j int) { problems[i], problems[j] = problems[j], problems[i] })
		for i, f := range folds(problems, k, s) {
			if p := problems[i]; f != want[p.Text] {
				t.Fatalf("%s is in fold %d, and %q alone in %d", p.ID, f, p.Text, want[p.Text])
			}
		}
	})
}

// toyRecording has eight models on five questions. Models 0 and 2 are the pool, 1 is the probe.
func toyRecording() *recorded {
	rows := []string{ // a question a row, a model a column
		"11011010",
		"11010101",
		"00111011",
		"00010010",
		"10011111", // not a training question
	}
	rec := &experts.Recording{}
	for q, row := range rows {
		var correct, no []bool
		var out []int64
		for m, c := range row {
			correct = append(correct, c == '1')
			no = append(no, q == 3 && m == 0)
			out = append(out, int64(100*(q+1)+m))
		}
		rec.Correct, rec.NoAnswer, rec.Out = append(rec.Correct, correct), append(rec.NoAnswer, no), append(rec.Out, out)
		rec.Queries = append(rec.Queries, experts.Recorded{ID: fmt.Sprint("q", q), Benchmark: "b", Problem: "?", Gold: "1", PromptTokens: 1000})
	}
	for m := range rows[0] {
		rec.Models = append(rec.Models, fmt.Sprint("m", m))
	}
	e := &engine{spec: &spec.Resolved{}, experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}}
	e.experts[0].Price.In, e.experts[0].Price.Out = 1, 2
	e.experts[1].Price.In, e.experts[1].Price.Out = 10, 20
	c := &recorded{e: e, rec: rec, columns: []int{0, 2}, probe: 1}
	for _, q := range rec.Queries {
		c.problems = append(c.problems, routing.Problem{ID: q.ID, Benchmark: q.Benchmark})
	}
	return c
}

func TestPassRatesAreLentByTheNearestModelsOutsideThePool(t *testing.T) {
	c := toyRecording()
	train := []int{0, 1, 2, 3}
	// Over questions 0 to 3 the columns are, top to bottom:
	// m0 1100  m1 1100  m2 0010  m3 1111  m4 1010  m5 0100  m6 1011  m7 0110
	// Hamming distance to m0: m1 0, m3 2, m4 2, m5 1, m6 3, m7 2. To m2: m1 3, m3 3, m4 1, m5 2, m6 2, m7 1.
	if diff := cmp.Diff([]int{1, 5, 3, 4}, c.neighbours(train, 0)); diff != "" {
		t.Error("nearest to m0:", diff)
	}
	if diff := cmp.Diff([]int{4, 7, 5, 6}, c.neighbours(train, 2)); diff != "" {
		t.Error("nearest to m2:", diff)
	}
	got := c.examples(train, "k5")
	// Question 0: m0 1 with m1 1, m5 0, m3 1, m4 1 -> 4/5; m2 0 with m4 1, m7 0, m5 0, m6 1 -> 2/5.
	// Question 3: m0 0 with 0 0 1 0 -> 1/5; m2 0 with 0 0 0 1 -> 1/5.
	for i, want := range map[int][]float64{0: {0.8, 0.4}, 3: {0.2, 0.2}} {
		if diff := cmp.Diff(want, got[i].Kappa); diff != "" {
			t.Errorf("question %d: %s", i, diff)
		}
	}
	if diff := cmp.Diff([]int{5, 5}, got[0].Samples); diff != "" {
		t.Error(diff)
	}
	if got[0].Probe != 1 || got[2].Probe != 0 {
		t.Errorf("probe %v and %v, want 1 and 0", got[0].Probe, got[2].Probe)
	}

	own := c.examples(train, "01")
	if diff := cmp.Diff([]float64{1, 0}, own[0].Kappa); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 1}, own[0].Samples); diff != "" {
		t.Error(diff)
	}
	// Output tokens 100 and 102; input counts only if the spec says so.
	if diff := cmp.Diff([]float64{100 * 2e-6, 102 * 20e-6}, own[0].USD); diff != "" {
		t.Error(diff)
	}
	c.e.spec.Experiment.CountInput = true
	if diff := cmp.Diff([]float64{(1000 + 200) / 1e6, (10000 + 2040) / 1e6}, c.examples(train, "01")[0].USD); diff != "" {
		t.Error(diff)
	}
	if o := c.outcome(3, 0); o.Bucket != routing.NoAnswer || o.Correct != 0 {
		t.Errorf("outcome %+v of a response without an answer", o)
	}
}

func TestFewerTrainingQuestionsAreAmongMore(t *testing.T) {
	c := toyRecording()
	train := []int{0, 1, 2, 3}
	// Of fmix64(FNV-1a-64("1003|q0")) to q3 the order is q1 q2 q3 q0, computed by another program.
	for n, want := range map[int][]int{0: train, 1: {1}, 3: {1, 2, 3}} {
		got, err := c.fewer(train, n, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d of them: %s", n, diff)
		}
	}
	if _, err := c.fewer(train, 5, 3); err == nil || !strings.Contains(err.Error(), "5 questions are asked for, and a fold leaves 4") {
		t.Errorf("more than there are: %v", err)
	}
}

// runFile runs a spec of a folder.
func runFile(t *testing.T, path string, o Options) *Result {
	t.Helper()
	r := loadFile(t, path)
	result, err := Run(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func loadFile(t testing.TB, path string) *spec.Resolved {
	t.Helper()
	fsys, name, err := spec.Find(path, experiments.FS)
	if err != nil {
		t.Fatal(err)
	}
	r, err := spec.Load(fsys, name, spec.Known{Methods: methods.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// constants looks at nothing: always the same expert, or the same mixture.
const constants = `
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: fixed, id: middle, params: {expert: middle}}
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: mixture, kappa: "01"}
  - {name: benchmark, kappa: "01"}
outputs: [{kind: table, file: constants}]
`

func find(t *testing.T, r *Result, pool, method, benchmark, unit string) float64 {
	t.Helper()
	m, ok, err := r.Measurements.Find(metrics.Keys("pool", pool, "method", method, "benchmark", benchmark, "seed", "")...)
	if err != nil || !ok {
		t.Fatalf("%s of %s on %s: %v", method, pool, benchmark, err)
	}
	v, ok := m.Value(unit)
	if !ok {
		t.Fatalf("%s of %s on %s has no %s", method, pool, benchmark, unit)
	}
	return v.Number
}

// toyFolder writes a pool of three experts with 300 questions and the spec constants.yaml, whose rows and knobs below
// folds the caller gives. It returns the folder and the outcomes file.
func toyFolder(t *testing.T, folds, rows string) (dir, outcomesFile string) {
	t.Helper()
	dir = t.TempDir()
	var queries, outcomes strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	const n = toyQuestions
	rate := []float64{0.3, 0.7, 0.85, 0.2, 0.5, 0.6, 0.4, 0.5}
	for q := range n {
		fmt.Fprintf(&queries, `{"query_id": "q%d", "benchmark": "toy", "problem": "Question %d?", "gold": "1", "prompt_tokens": 10}`+"\n", q, q)
		for m, p := range rate {
			correct := 0
			if r.Float64() < p {
				correct = 1
			}
			fmt.Fprintf(&outcomes, `{"query_id": "q%d", "model": "m%d", "correct": %d, "output_tokens": %d}`+"\n", q, m, correct, 50+r.IntN(100))
		}
	}
	put(t, filepath.Join(dir, "queries.jsonl"), queries.String())
	put(t, filepath.Join(dir, "outcomes.jsonl"), outcomes.String())
	put(t, filepath.Join(dir, "pools", "toy.yaml"), fmt.Sprintf(`
name: toy
kind: recorded
experts: [{id: small, model: m0}, {id: mid, model: m1}, {id: big, model: m2}]
recorded:
  queries: {path: queries.jsonl, sha256: %x, source: made up, licence: none}
  outcomes: {path: outcomes.jsonl, sha256: %x, source: made up, licence: none}
  prompt_tokens: 0
`, sha256.Sum256([]byte(queries.String())), sha256.Sum256([]byte(outcomes.String()))))
	put(t, filepath.Join(dir, "prices", "toy.yaml"), "date: 2026-01-01\nbasis: assumed\nsource: made up\nmodels: {m0: {in: 1, out: 1}, m1: {in: 3, out: 3}, m2: {in: 10, out: 10}}\n")
	put(t, filepath.Join(dir, "constants.yaml"), `
name: constants
base: base.yaml
title: Constants
protocol: folds
pools: [toy]
prices: toy
folds: {probe: m3, seeds: [0, 1]`+folds+`}
evaluate: {bootstrap: 20, seeds: [1]}
`+rows)
	return dir, outcomes.String()
}

const toyQuestions = 300

// Pooled over folds instead, a router that looks at nothing would lose a point or more: a fold whose training mean is
// high has a low test mean.
func TestARouterThatLooksAtNothingGainsNothingOnRecordedOutcomes(t *testing.T) {
	dir, outcomes := toyFolder(t, "", constants)
	result := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir})
	for _, b := range []string{"all", "toy"} {
		for _, row := range []string{"cheapest", "middle", "strongest", "mixture", "benchmark"} {
			if g := find(t, result, "toy", row, b, units.HullGain); g != 0 {
				t.Errorf("%s, %s: hull gain %v, want 0", b, row, g)
			}
		}
		for _, row := range []string{"mixture", "benchmark"} {
			if g := find(t, result, "toy", row, b, units.MeanGain); g != 0 {
				t.Errorf("%s, %s: mean gain %v, want 0", b, row, g)
			}
		}
	}
	// By hand: the accuracy of a fixed expert is its share of right answers, whatever the folds.
	right := strings.Count(outcomes, `"model": "m1", "correct": 1`)
	if got, want := find(t, result, "toy", "middle", "all", metrics.Accuracy), 100*float64(right)/toyQuestions; math.Abs(got-want) > 5e-4 {
		t.Errorf("accuracy of the middle expert is %v, want %v", got, want)
	}
	if got := find(t, result, "toy", "strongest", "all", units.CostShare); got != 100 {
		t.Errorf("the strongest expert costs %v %% of itself", got)
	}
}

// The default probe is a model of our own recordings, which those of others lack.
func TestAProbeThatTheRecordingLacksIsNamedAsSuch(t *testing.T) {
	dir, _ := toyFolder(t, "", constants)
	path := filepath.Join(dir, "constants.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, strings.Replace(string(text), "probe: m3, ", "", 1))
	r := loadFile(t, path)
	_, err = Run(t.Context(), r, Options{Out: filepath.Join(dir, "out"), Data: dir})
	want := `folds.probe: ` + filepath.Join(dir, "outcomes.jsonl") + `: no outcome of model "gemma-2-2b-it"; it has: m0, m1, m2, m3, m4, m5, m6, m7; name a weak one of these, or none`
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// The hull gain of a fixed expert is 0 in every resample, so a difference to one is the row's own gain, interval
// included; and a row's lead over itself under another name is nothing.
func TestContrastsArePairedDifferencesOfTwoRows(t *testing.T) {
	dir, outcomes := toyFolder(t, ", versus: [cheapest]", `
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: random}
  - {name: mixture, kappa: "01"}
  - {name: mixture, id: again, kappa: "01", versus: [mixture]}
outputs: [{kind: table, file: constants}]
`)
	result := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir})
	contrast := func(row, versus, unit string) metrics.Value {
		t.Helper()
		m, ok, err := result.Measurements.Find(metrics.Keys("row", row, "versus", versus, "benchmark", "toy")...)
		if err != nil || !ok {
			t.Fatalf("%s versus %s: %v", row, versus, err)
		}
		v, ok := m.Value(unit)
		if !ok {
			t.Fatalf("%s versus %s has no %s", row, versus, unit)
		}
		return v
	}
	m, _, err := result.Measurements.Find(metrics.Keys("method", "random", "benchmark", "toy", "seed", "")...)
	if err != nil {
		t.Fatal(err)
	}
	gain, _ := m.Value(units.HullGain)
	got := contrast("random", "cheapest", units.HullDifference)
	gain.Unit = units.HullDifference
	if diff := cmp.Diff(gain, got); diff != "" || got.Number >= 0 {
		t.Error("hull gain of random and its difference to a fixed expert:", diff)
	}
	cheap := 100 * float64(strings.Count(outcomes, `"model": "m0", "correct": 1`)) / toyQuestions
	if got := contrast("random", "cheapest", units.Difference).Number; math.Abs(got-(find(t, result, "toy", "random", "toy", metrics.Accuracy)-cheap)) > 2e-3 {
		t.Errorf("accuracy of random is %v points above the cheapest expert's %v", got, cheap)
	}
	for _, unit := range []string{units.HullDifference, units.MeanDifference, units.LeadOver, units.CostDifference} {
		if v := contrast("again", "mixture", unit); v.Number != 0 || v.Low != 0 || v.High != 0 {
			t.Errorf("the same row twice differs by %+v", v)
		}
	}
	if found := result.Measurements.Where(metrics.Keys("row", "cheapest")...); len(found) != 0 {
		t.Errorf("a row is compared with itself: %v", found)
	}
}

// Mixtures learn nothing from text, so both curves lie on the dashed line; a row without a knob shows its own point.
func TestALearningCurveOnRecordedOutcomesIsDrawn(t *testing.T) {
	dir, _ := toyFolder(t, "", `
methods:
  - {name: mixture, id: mixture-50, train: 50, kappa: "01"}
  - {name: mixture, id: mixture-100, train: 100, kappa: "01"}
  - {name: fixed, id: cheapest, train: 50, params: {expert: cheapest}}
outputs:
  - {kind: sweep, file: curve, param: train, axis: Questions, series: [{label: Mixture, rows: [mixture-50, mixture-100]}]}
  - {kind: sweep, file: point, param: train, axis: Questions, series: [{label: Cheapest, rows: [cheapest]}]}
`)
	result := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir})
	_, files := drawn(t, result)
	for file, want := range map[string]string{"curve": "quantity,line,Questions,partition,value,low,high\n" + units.MeanGain + ",Mixture,50,,0.000,0.000,0.000", "point": units.HullGain + ",Cheapest,50,,0.000,0.000,0.000"} {
		if got := files[file+"-toy.csv"]; !strings.Contains(got, want) {
			t.Errorf("%s: no line %q in %s", file, want, got)
		}
	}
}

// On the real recordings, where they are: what the study of the protocol found with another program.
func TestBenchmarkIdentityGainsOnRealRecordingsWhatWasFound(t *testing.T) {
	data := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(filepath.Join(data, "outcomes")); err != nil {
		t.Skip("no data folder with recorded outcomes")
	}
	dir := t.TempDir()
	recordedSpec, err := experiments.FS.ReadFile("recorded.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(recordedSpec), "\n# Utility rows")
	put(t, filepath.Join(dir, "constants.yaml"), strings.Replace(strings.Replace(head, "name: recorded", "name: constants", 1), "seeds: [1] ", "bootstrap: 0\n  seeds: [1] ", 1)+constants)
	result := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: data})
	for _, c := range []struct {
		pool                string
		low, high           float64 // mean gain of benchmark identity
		cheap, middle, dear float64 // accuracy
		middleShare         float64 // cost of the middle expert, % of the strongest's
	}{
		{"llama31", 0.15, 0.45, 61.96, 76.23, 79.90, 28.6},
		{"qwen2_o1mini", 2.69, 2.99, 60.05, 79.22, 93.48, 8.1},
	} {
		if g := find(t, result, c.pool, "benchmark", "all", units.MeanGain); g < c.low || g > c.high {
			t.Errorf("%s: benchmark identity has a mean gain of %v, want %v to %v", c.pool, g, c.low, c.high)
		}
		for row, want := range map[string]float64{"cheapest": c.cheap, "middle": c.middle, "strongest": c.dear} {
			if got := find(t, result, c.pool, row, "all", metrics.Accuracy); math.Abs(got-want) > 0.0055 { // printed with two decimals
				t.Errorf("%s: %s is right on %v %%, want %v", c.pool, row, got, want)
			}
			if g := find(t, result, c.pool, row, "all", units.HullGain); g != 0 {
				t.Errorf("%s: hull gain of %s is %v, want 0", c.pool, row, g)
			}
		}
		if got := find(t, result, c.pool, "middle", "all", units.CostShare); math.Abs(got-c.middleShare) > 0.05 {
			t.Errorf("%s: the middle expert costs %v %% of the strongest, want %v", c.pool, got, c.middleShare)
		}
		if g := find(t, result, c.pool, "mixture", "all", units.MeanGain); math.Abs(g) > 0 {
			t.Errorf("%s: mean gain of a mixture is %v, want 0", c.pool, g)
		}
	}
}
