package harness

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// runFile runs a spec of a folder.
func runFile(t *testing.T, path string, o Options) *Result {
	t.Helper()
	r := toy.Load(t, path)
	result, err := Run(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

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

// Pooled over folds instead, a router that looks at nothing would lose a point or more: a fold whose training mean is
// high has a low test mean.
func TestARouterThatLooksAtNothingGainsNothingOnRecordedOutcomes(t *testing.T) {
	dir, outcomes := toy.Folder(t, "", toy.Constants)
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
	if got, want := find(t, result, "toy", "middle", "all", metrics.Accuracy), 100*float64(right)/toy.Questions; math.Abs(got-want) > 5e-4 {
		t.Errorf("accuracy of the middle expert is %v, want %v", got, want)
	}
	if got := find(t, result, "toy", "strongest", "all", units.CostShare); got != 100 {
		t.Errorf("the strongest expert costs %v %% of itself", got)
	}
}

// The default probe is a model of our own recordings, which those of others lack.
func TestAProbeThatTheRecordingLacksIsNamedAsSuch(t *testing.T) {
	dir, _ := toy.Folder(t, "", toy.Constants)
	path := filepath.Join(dir, "constants.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	toy.Put(t, path, strings.Replace(string(text), "probe: m3, ", "", 1))
	r := toy.Load(t, path)
	_, err = Run(t.Context(), r, Options{Out: filepath.Join(dir, "out"), Data: dir})
	want := `folds.probe: ` + filepath.Join(dir, "outcomes.jsonl") + `: no outcome of model "gemma-2-2b-it"; it has: m0, m1, m2, m3, m4, m5, m6, m7; name a weak one of these, or none`
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// The hull gain of a fixed expert is 0 in every resample, so a difference to one is the row's own gain, interval
// included; and a row's lead over itself under another name is nothing.
func TestContrastsArePairedDifferencesOfTwoRows(t *testing.T) {
	dir, outcomes := toy.Folder(t, ", versus: [cheapest]", `
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: random}
  - {name: mixture, kappa: "01"}
  - {name: mixture, id: again, kappa: "01", versus: [mixture]}
outputs: [{kind: table}]
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
	got := contrast("random", "cheapest", units.Lead)
	// The ends of a gain are those of another piece of the hull where a resample moves the cost there, those of a lead stay.
	if got.Number != gain.Number || math.Abs(got.Low-gain.Low) > 0.2 || math.Abs(got.High-gain.High) > 0.2 || got.Number >= 0 {
		t.Errorf("random has a hull gain of %+v and a lead over a fixed expert, which is on the hull, of %+v", gain, got)
	}
	if v := contrast("random", "cheapest", units.OtherLead); v.Number != 0 || v.Low != 0 || v.High != 0 {
		t.Errorf("a fixed expert on the hull leads by %+v over what is below the hull", v)
	}
	cheap := 100 * float64(strings.Count(outcomes, `"model": "m0", "correct": 1`)) / toy.Questions
	if got := contrast("random", "cheapest", units.Difference).Number; math.Abs(got-(find(t, result, "toy", "random", "toy", metrics.Accuracy)-cheap)) > 2e-3 {
		t.Errorf("accuracy of random is %v points above the cheapest expert's %v", got, cheap)
	}
	for _, unit := range []string{units.MeanDifference, units.CostDifference} {
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
	dir, _ := toy.Folder(t, "", `
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
		if got := files["constants/"+file+"-toy.csv"]; !strings.Contains(got, want) {
			t.Errorf("%s: no line %q in %s", file, want, got)
		}
	}
}

// Ten trainings, five folds of two partitions: the mean line is that of their own lines, and who looks at trainings changes none.
func TestTrainingsOfFoldsAreMeasuredAndDrawn(t *testing.T) {
	rows := `
policy: {kind: compact, buckets: 16}
sft: {epochs: 2, batch: 16}
grpo: {steps: 3}
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: fixed, id: dearest, params: {expert: strongest}}
  - {name: sft, kappa: "01"}
  - {name: entrorouter, kappa: "01"}
outputs:
  - {kind: table}
`
	dir, _ := toy.Folder(t, "", rows)
	plain := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir})
	dir, _ = toy.Folder(t, "", rows+"  - {kind: training, rows: [sft, entrorouter]}\n")
	shown := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir})
	var others []metrics.Measurement
	lines := map[string]int{}
	for _, m := range shown.Measurements.Measurements {
		if m.Key("stage") == "" {
			others = append(others, m)
		} else if m.Key("expert") == "" {
			lines[strings.Join([]string{m.Key("method"), m.Key("stage"), m.Key("fold")}, " ")]++
		}
	}
	if diff := cmp.Diff(plain.Measurements.Measurements, others); diff != "" {
		t.Errorf("numbers move when trainings are shown: %s", diff)
	}
	// 240 training questions are 15 batches, and two epochs 30 steps.
	for of, want := range map[string]int{"sft sft ": 30, "entrorouter sft ": 30, "entrorouter grpo ": 3, "sft grpo ": 0, "sft sft 0.0": 2, "entrorouter grpo 1.4": 2} {
		if lines[of] != want {
			t.Errorf("%q: %d lines, want %d", of, lines[of], want)
		}
	}
	for _, unit := range []string{units.Loss, units.PolicyEntropy} {
		at := metrics.Keys("pool", "toy", "method", "entrorouter", "stage", "sft", "step", "29", "expert", "")
		mean, low, high, n := 0.0, math.Inf(1), math.Inf(-1), 0
		var all metrics.Value
		for _, m := range shown.Measurements.Where(at...) {
			v, ok := m.Value(unit)
			switch {
			case !ok:
				t.Errorf("%s has no %s", m.Label(), unit)
			case m.Key("fold") == "":
				if all = v; m.N != 10 {
					t.Errorf("%s is of %d trainings", m.Label(), m.N)
				}
			default:
				mean, low, high, n = mean+v.Number/10, min(low, v.Number), max(high, v.Number), n+1
			}
		}
		if n != 10 || math.Abs(all.Number-mean) > 1e-4 || all.Low != low || all.High != high || low == high {
			t.Errorf("%s: %+v of %d trainings with mean %v in [%v, %v]", unit, all, n, mean, low, high)
		}
	}
	_, files := drawn(t, shown)
	csv := files["constants/training-toy.csv"]
	if got := strings.Count(csv, "\n"); got != 1+3*2*30+3*3 || !strings.Contains(csv, "\na,sft,loss,entrorouter,29,") {
		t.Errorf("the figure shows %d lines:\n%s", got, csv)
	}
	if caption := files["constants/training-toy.txt"]; !strings.Contains(caption, "Lines are means of the 5 folds of 2 partitions, each a training of its own, and bands their range; a stage is as long as the shortest of them, and a stage of more than 50 steps is averaged") || !strings.Contains(caption, "A group is idle") {
		t.Error(caption)
	}
	exact := strings.Replace(rows, "grpo: {steps: 3}", "grpo: {steps: 3, estimator: exact}", 1) + "  - {kind: training}\n"
	dir, _ = toy.Folder(t, "", exact)
	_, files = drawn(t, runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "out"), Data: dir}))
	if csv, caption := files["constants/training-toy.csv"], files["constants/training-toy.txt"]; !strings.Contains(csv, "\nd,grpo,reward,") || strings.Contains(csv, "\nf,") || strings.Contains(caption, "group") {
		t.Errorf("of the exact gradient: %s\n%s", caption, csv)
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
	toy.Put(t, filepath.Join(dir, "constants.yaml"), strings.Replace(strings.Replace(head, "name: recorded", "name: constants", 1), "seeds: [1] ", "bootstrap: 0\n  seeds: [1] ", 1)+toy.Constants)
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

// Three answers to every question: the first is scored, so no number of a fixed expert moves; the tables say how far they agree.
func TestOfSeveralRecordedAnswersTheFirstIsScored(t *testing.T) {
	rows := strings.Replace(toy.Constants, "  - {name: mixture,", `  - {name: oracle}
  - {name: oracle, id: others, label: Oracle of the others, kappa: runs}
  - {name: mixture,`, 1)
	dir, once := toy.Folder(t, ", kappa: runs", rows)
	first := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "once"), Data: dir})
	if strings.Contains(render(t, first), "disagree") {
		t.Error("a recording of one answer a question says how far answers agree")
	}

	// Every fifth second answer is another than the first; the third is the first again, and cut where it is wrong.
	n := 0
	lines := regexp.MustCompile(`"correct": (\d), "output_tokens": (\d+)`).ReplaceAllStringFunc(once, func(s string) string {
		c, tokens := s[len(`"correct": `)], s[strings.LastIndexByte(s, ' ')+1:]
		second := c
		if n++; n%5 == 0 {
			second = '0' + '1' - c
		}
		finish := map[byte]string{'0': "length", '1': "stop"}[c]
		return fmt.Sprintf(`"correct": [%c, %c, %c], "output_tokens": [%s, 7, 8], "finish": ["stop", "stop", %q]`, c, second, c, tokens, finish)
	})
	pool := filepath.Join(dir, "pools", "toy.yaml")
	text, err := os.ReadFile(pool)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	toy.Put(t, filepath.Join(dir, "outcomes.jsonl"), lines)
	toy.Put(t, pool, strings.Replace(string(text), sum(once), sum(lines), 1))
	result := runFile(t, filepath.Join(dir, "constants.yaml"), Options{Out: filepath.Join(dir, "thrice"), Data: dir})
	for _, row := range []string{"cheapest", "middle", "strongest", "oracle"} {
		for _, unit := range []string{metrics.Accuracy, units.CostShare} {
			if a, b := find(t, first, "toy", row, "all", unit), find(t, result, "toy", row, "all", unit); a != b {
				t.Errorf("%s of %s: %v of one answer, %v of the first of three", unit, row, a, b)
			}
		}
	}
	if own, others := find(t, result, "toy", "oracle", "all", metrics.Accuracy), find(t, result, "toy", "others", "all", metrics.Accuracy); others >= own {
		t.Errorf("knowing the other answers (%v) is no worse than knowing those that are scored (%v)", others, own)
	}
	// One of five second answers differs from both others: two of three pairs.
	m, ok, err := result.Measurements.Find(metrics.Keys("pool", "toy", "expert", "small")...)
	if err != nil || !ok || m.N != toy.Questions {
		t.Fatalf("%+v, %v, %v", m, ok, err)
	}
	if v, ok := m.Value(units.Disagreement); !ok || math.Abs(v.Number-40.0/3) > 0.01 {
		t.Errorf("disagreement %+v, want 13.33", v)
	}
	if v, ok := m.Value(units.Truncated); !ok || v.Number != 0 {
		t.Errorf("of the first answers none was cut: %+v", v)
	}
	for _, want := range []string{
		"Coverage: the first answer of every question and model is scored", "On the 300 questions that were asked more than once two answers of one model disagree in 13.3% (small), 13.3% (mid), 13.3% (big) of pairs",
		"A limit cut 0.0% (small), 0.0% (mid), 0.0% (big) of the answers.", "The oracle picks by the answer that is scored",
	} {
		if got := render(t, result); !strings.Contains(got, want) {
			t.Errorf("the table does not say %q:\n%s", want, got)
		}
	}
}

// Benchmark identity predicts what the experts did on the questions of the other folds, so its losses follow from the recording.
func TestPredictionsOfARecordedPoolAreThoseOfTheOtherFolds(t *testing.T) {
	dir, outcomes := toy.Folder(t, ", predictions: benchmark", toy.Constants)
	path := filepath.Join(dir, "constants.yaml")
	o := Options{Out: filepath.Join(dir, "out"), Data: dir}
	r := runFile(t, path, o)
	right := make([][]float64, toy.Questions)
	for line := range strings.Lines(outcomes) {
		var said struct {
			Query   string  `json:"query_id"`
			Correct float64 `json:"correct"`
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		q, err := strconv.Atoi(said.Query[1:])
		if err != nil {
			t.Fatal(err)
		}
		right[q] = append(right[q], said.Correct)
	}
	run, err := book.OpenRun(o.Out, "constants")
	if err != nil {
		t.Fatal(err)
	}
	arenas, err := run.Arenas()
	if err != nil {
		t.Fatal(err)
	}
	row, ok := arenas[0].Row("benchmark")
	if !ok {
		t.Fatal("nothing is known of the row")
	}
	for m, expert := range []string{"small", "mid", "big"} {
		want := 0.0
		for _, training := range row.Trainings {
			for q, fold := range training.Fold {
				rate, n := 0.0, 0.0
				for other, f := range training.Fold {
					if f != fold {
						rate, n = rate+right[other][m], n+1
					}
				}
				want += metrics.LogLoss(rate/n, right[q][m]) / float64(toy.Questions*len(row.Trainings))
			}
		}
		line, ok, err := r.Measurements.Find(metrics.Keys("pool", "toy", "method", "benchmark", "expert", expert)...)
		if err != nil || !ok {
			t.Fatal(err)
		}
		if got, ok := line.Value(units.LogLoss); !ok || math.Abs(got.Number-want) > 5e-5 {
			t.Errorf("log-loss of %s: %v, want %v", expert, got.Number, want)
		}
	}
}
