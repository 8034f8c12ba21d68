package protocol

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
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
	rec := &recording.Table{}
	for q, row := range rows {
		var runs [][]recording.Answer
		for m, c := range row {
			runs = append(runs, []recording.Answer{{Correct: c == '1', NoAnswer: q == 3 && m == 0, In: 1000, Out: int64(100*(q+1) + m)}})
		}
		rec.Runs = append(rec.Runs, runs)
		rec.Queries = append(rec.Queries, recording.Query{ID: fmt.Sprint("q", q), Benchmark: "b", Problem: "?", Gold: "1", PromptTokens: 1000})
	}
	for m := range rows[0] {
		rec.Candidates = append(rec.Candidates, recording.Candidate{Model: fmt.Sprint("m", m)})
	}
	pool := &steps.Pool{Experts: []routing.Expert{{ID: "cheap"}, {ID: "dear"}}}
	pool.Experts[0].Price.In, pool.Experts[0].Price.Out = 1, 2
	pool.Experts[1].Price.In, pool.Experts[1].Price.Out = 10, 20
	c := &recorded{fitting: fitting{Plan: &steps.Plan{Spec: &spec.Resolved{}}, pool: pool}, outcomes: &outcomes{rec: rec, experts: pool.Experts, right: rightOf(rec, 1), scored: 1, columns: []int{0, 2}, probe: 1}}
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
	c.input = true
	if diff := cmp.Diff([]float64{(1000 + 200) / 1e6, (10000 + 2040) / 1e6}, c.examples(train, "01")[0].USD); diff != "" {
		t.Error(diff)
	}
	if o := c.outcome(3, 0); o.Bucket != routing.NoAnswer || o.Correct != 0 {
		t.Errorf("outcome %+v of a response without an answer", o)
	}
}

// A recording with too few models outside the pool would give other pass rates under the same name.
func TestPassRatesThatNobodyLendsAreRefused(t *testing.T) {
	c := toyRecording()
	c.pool.Name = "toys"
	x := &c.Spec.Experiment
	x.Name, x.Folds.Kappa, x.Methods = "few", "k5", []spec.Method{{Name: "logistic"}}
	if err := c.lent(); err != nil {
		t.Errorf("6 models lend: %v", err)
	}
	c.rec.Candidates = c.rec.Candidates[:5]
	if err := c.lent(); !errors.Is(err, spec.ErrUsage) || !strings.Contains(err.Error(), "experiment few, row logistic, pool toys: kappa k5 takes answers of 4 models outside the pool, and its recording has 3; use kappa runs or 01") {
		t.Errorf("3 models lend: %v", err)
	}
	x.Methods[0].Kappa = "runs"
	if err := c.lent(); err != nil {
		t.Errorf("no row takes them: %v", err)
	}
}

func TestRunsThatAreScoredGiveNoPassRates(t *testing.T) {
	c := toyRecording()
	// Question 0 has three runs of both experts and of the models that lend; the others one.
	for a := range c.rec.Runs[0] {
		first := c.rec.Runs[0][a][0]
		c.rec.Runs[0][a] = []recording.Answer{first, {Correct: !first.Correct, In: 1000, Out: 10}, {Correct: true, In: 1000, Out: 31, Finish: "stop"}}
	}
	c.rec.Runs[1][0][0] = recording.Answer{In: 1000, Out: 7, Finish: "length"}
	if o := c.outcome(0, 0); o.Correct != 1 || o.Out != 100 {
		t.Errorf("scored %+v, want the first run alone", o)
	}
	if o := c.outcome(1, 0); o.Bucket != routing.Truncated {
		t.Errorf("a run that a limit cut is %s", o.Bucket)
	}
	// m0 is right, then wrong, then right: of the runs left one of two. m2 is wrong, right, right.
	for kind, want := range map[string]struct {
		kappa   []float64
		samples []int
		tokens  []float64
		usd     []float64
	}{
		"runs": {[]float64{0.5, 1}, []int{2, 2}, []float64{20.5, 20.5}, []float64{20.5 * 2e-6, 20.5 * 20e-6}},
		"01":   {[]float64{0, 1}, []int{1, 1}, []float64{10, 10}, []float64{10 * 2e-6, 10 * 20e-6}},
	} {
		got := c.examples([]int{0, 1, 2, 3}, kind)
		if diff := cmp.Diff(want.kappa, got[0].Kappa); diff != "" {
			t.Error(kind, diff)
		}
		if diff := cmp.Diff(want.samples, got[0].Samples); diff != "" {
			t.Error(kind, diff)
		}
		if diff := cmp.Diff(want.tokens, got[0].Tokens); diff != "" {
			t.Error(kind, diff)
		}
		if diff := cmp.Diff(want.usd, got[0].USD, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Error(kind, diff)
		}
		if probe := map[string]float64{"runs": 0.5, "01": 0}[kind]; got[0].Probe != probe { // right, wrong, right
			t.Errorf("%s: probe %v, want %v", kind, got[0].Probe, probe)
		}
	}
	c.scored = 2
	if o := c.outcome(0, 0); o.Correct != 0.5 || o.Out != 55 || o.Bucket != routing.Wrong {
		t.Errorf("two runs scored: %+v", o)
	}
	if got := c.examples([]int{0}, "runs")[0]; got.Kappa[0] != 1 || got.Samples[0] != 1 {
		t.Errorf("one run left: %+v", got)
	}
	c.scored = 3
	if o := c.outcome(0, 1); math.Abs(o.Correct-2.0/3) > 1e-15 {
		t.Errorf("three runs scored: %+v", o)
	}
}

func TestFewerTrainingQuestionsAreAmongMore(t *testing.T) {
	c := toyRecording()
	train := []int{0, 1, 2, 3}
	// Of fmix64(FNV-1a-64("1003|q0")) to q3 the order is q1 q2 q3 q0, computed by another program.
	for n, want := range map[int][]int{0: train, 1: {1}, 3: {1, 2, 3}} {
		got, err := fewer(c.problems, train, n, 3)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d of them: %s", n, diff)
		}
	}
	if _, err := fewer(c.problems, train, 5, 3); err == nil || !strings.Contains(err.Error(), "5 questions are asked for, and a fold leaves 4") {
		t.Errorf("more than there are: %v", err)
	}
}
