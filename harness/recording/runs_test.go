// Several completions of a question: how they are written, which are scored, how far they agree.

package recording

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/spec"
)

const oneQuery = `{"query_id":"q1","benchmark":"a","problem":"1+1?","gold":"2","prompt_tokens":5}
`

// loadLines loads outcomes of one question, with no instructions around it.
func loadLines(t *testing.T, outcomes string, f *spec.Format, needed ...Candidate) (*Table, error) {
	t.Helper()
	dir, s := record(t, oneQuery, outcomes)
	s.PromptTokens, s.Format = 0, f
	return Load(t.Context(), dir, s, needed)
}

func TestCompletionsAreWrittenAsListsAsLinesOrAsAPassRate(t *testing.T) {
	want := []Answer{{Correct: true, In: 5, Out: 10}, {In: 5, Out: 20, NoAnswer: true, Finish: "length"}, {Correct: true, In: 5, Out: 30, Finish: "stop"}}
	for name, lines := range map[string]string{
		"a list": `{"query_id":"q1","model":"m","correct":[1,0,true],"output_tokens":[10,20,30],"no_answer":[0,1,0],"finish":["","length","stop"]}`,
		"lines in another order": `{"query_id":"q1","model":"m","run":7,"correct":1,"output_tokens":30,"finish":"stop"}
{"query_id":"q1","model":"m","run":-1,"correct":1,"output_tokens":10}
{"query_id":"q1","model":"m","run":3,"correct":0,"output_tokens":20,"no_answer":1,"finish":"length"}`,
	} {
		got, err := loadLines(t, lines, nil, models("m")...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got.Runs[0][0]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	got, err := loadLines(t, `{"query_id":"q1","model":"m","correct":[0.5,0.99,1],"output_tokens":[3,5,6]}`, &spec.Format{Layout: "long", CorrectFrom: 0.99, CharsPerToken: 2}, models("m")...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Answer{{In: 5, Out: 2}, {Correct: true, In: 5, Out: 3}, {Correct: true, In: 5, Out: 3}}, got.Runs[0][0]); diff != "" {
		t.Error("scores and characters:", diff)
	}
}

// A pass rate of two decimals and its count say how many were right, and a part of the runs has the pass rate of all on average.
func TestAPassRateBecomesItsCompletions(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 99).Draw(r, "runs")
		right := rapid.IntRange(0, n).Draw(r, "right")
		o := graded{candidate: Candidate{Model: "m"}}
		rate := math.Round(100*float64(right)/float64(n)) / 100
		l, err := newLineFormat(nil, outcomeKeys, false)
		if err != nil {
			r.Fatal(err)
		}
		fields, _, err := l.fields([]byte(strings.NewReplacer("RATE", fmt.Sprint(rate), "RUNS", fmt.Sprint(n)).Replace(`{"pass_rate":RATE,"runs":RUNS,"output_tokens":4}`)))
		if err != nil {
			r.Fatal(err)
		}
		if err := l.grade(&o, "q", fields); err != nil {
			r.Fatal(err)
		}
		got := 0
		for _, a := range o.runs {
			if a.Out != 4 {
				r.Fatalf("%+v", a)
			}
			if a.Correct {
				got++
			}
		}
		if got != right || len(o.runs) != n {
			r.Fatalf("%d of %d right, want %d of %d", got, len(o.runs), right, n)
		}
	})
	first := 0
	for q := range 2000 {
		o := graded{candidate: Candidate{Model: "m"}}
		if err := (lineFormat{}).rate(&o, fmt.Sprint(q), map[string]json.RawMessage{"pass_rate": json.RawMessage("0.25"), "runs": json.RawMessage("4")}); err != nil {
			t.Fatal(err)
		}
		if o.runs[0].Correct {
			first++
		}
	}
	if first < 430 || first > 570 { // 500, six standard deviations of 19
		t.Errorf("the first of four is the right one %d times in 2000", first)
	}
}

func TestRunsThatAreScoredAreNeverLearnedFromWhereThereAreOthers(t *testing.T) {
	runs := func(n int) (all []Answer) {
		for i := range n {
			all = append(all, Answer{Out: int64(i)})
		}
		return all
	}
	for _, c := range []struct{ runs, scored, first, learned, from int }{
		{1, 1, 1, 1, 0}, // as every recording of one answer: folds keep it from its own score
		{3, 1, 1, 2, 1},
		{3, 2, 2, 1, 2},
		{2, 2, 2, 2, 0},
		{2, 5, 2, 2, 0},
	} {
		table := &Table{Runs: [][][]Answer{{runs(c.runs)}}}
		scored, learned := table.Scored(0, 0, c.scored), table.Labels(0, 0, c.scored)
		if len(scored) != c.first || scored[0].Out != 0 || len(learned) != c.learned || learned[0].Out != int64(c.from) {
			t.Errorf("%+v: scored %v, learned from %v", c, scored, learned)
		}
	}
}

func TestAModelUnderOtherSettingsIsAnotherCandidate(t *testing.T) {
	lines := `{"query_id":"q1","model":"m","correct":1,"output_tokens":10,"settings":{"temperature":0.60,"effort":"high"}}
{"query_id":"q1","model":"m","correct":0,"output_tokens":1,"settings":{"effort":"low","temperature":0.6}}
{"query_id":"q1","model":"only","correct":0,"output_tokens":2,"prompt_tokens":77,"settings":{"thinking":true}}
`
	high, low := CandidateOf("m", map[string]string{"effort": "high", "temperature": "0.6"}), CandidateOf("m", map[string]string{"temperature": "0.60", "effort": "low"})
	got, err := loadLines(t, lines, nil, high, low, Candidate{Model: "only"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Candidate{high, low, {"only", "thinking=true"}}, got.Candidates); diff != "" {
		t.Error(diff)
	}
	if a, err := got.Find(Candidate{Model: "m effort=low temperature=0.6"}); err != nil || a != 1 {
		t.Errorf("by its whole name: %d, %v", a, err)
	}
	if got.Runs[0][2][0].In != 77 {
		t.Errorf("billed prompt: %+v", got.Runs[0][2][0])
	}
	if _, err := loadLines(t, lines, nil, Candidate{Model: "m"}); err == nil || !strings.Contains(err.Error(), `model "m" has several settings; name those of one: m effort=high temperature=0.6, m effort=low temperature=0.6`) {
		t.Error(err)
	}
	flat := `{"query_id":"q1","model":"m","correct":1,"output_tokens":10,"temperature":32768.0,"top_p":null}
`
	if got, err = loadLines(t, flat, &spec.Format{Layout: "long", Settings: []string{"temperature", "top_p"}}, Candidate{Model: "m"}); err != nil || got.Candidates[0].Settings != "temperature=32768" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBenchmarksAreMadeOfKeysAndQueriesChosenByThem(t *testing.T) {
	dir, s := record(t, `{"id":"q1","set":"gcd","level":1,"kind":"maths","question":"?","answer":"2"}
{"id":"q2","set":"gcd","level":2,"kind":"games","question":"?","answer":"2"}
`, `{"query_id":"q1","model":"m","correct":1,"output_tokens":8}
{"query_id":"q2","model":"m","correct":1,"output_tokens":8}
`)
	s.Format = &spec.Format{Layout: "long", Keys: map[string]string{"query_id": "id", "problem": "question", "gold": "answer"}, CharsPerToken: 1, Benchmark: "{set}-{level}", Where: map[string]string{"kind": "^maths$"}}
	got, err := Load(t.Context(), dir, s, models("m"))
	if err != nil || len(got.Queries) != 1 || got.Queries[0].Benchmark != "gcd-1" {
		t.Fatalf("%+v, %v", got, err)
	}
	s.Format.Benchmark = "{set}-{size}"
	if _, err := Load(t.Context(), dir, s, models("m")); err == nil || !strings.Contains(err.Error(), `unknown key "level"`) {
		t.Error(err)
	}
	s.Format.Ignore = []string{"level"}
	if _, err := Load(t.Context(), dir, s, models("m")); err == nil || !strings.Contains(err.Error(), "{size} of format.benchmark is neither a text nor a number here") {
		t.Error(err)
	}
}

func TestCompletionsThatDoNotFitAreRefused(t *testing.T) {
	for lines, want := range map[string]string{
		`{"query_id":"q1","model":"m","correct":[1,0],"output_tokens":[1]}`:                "output_tokens has 1 values for 2 completions",
		`{"query_id":"q1","model":"m","correct":[],"output_tokens":1}`:                     "correct has 0 completions; want 1 to 10000",
		`{"query_id":"q1","model":"m","correct":[1,0],"run":1,"output_tokens":1}`:          "run is that of one completion, and these are 2",
		`{"query_id":"q1","model":"m","correct":1,"runs":2,"output_tokens":1}`:             "runs is the number of completions behind a pass_rate",
		`{"query_id":"q1","model":"m","pass_rate":0.5,"runs":3,"output_tokens":1}`:         "pass_rate 0.5 is that of no whole number of 3 completions",
		`{"query_id":"q1","model":"m","pass_rate":0.5,"output_tokens":1}`:                  "runs, the number of completions behind pass_rate, is missing",
		`{"query_id":"q1","model":"m","pass_rate":2,"runs":3,"output_tokens":1}`:           "pass_rate 2 is that of no whole number of 3 completions",
		`{"query_id":"q1","model":"m","pass_rate":1,"runs":3,"correct":1}`:                 "correct and pass_rate are both there",
		`{"query_id":"q1","model":"m","correct":1,"output_tokens":1,"settings":{"a":[1]}}`: "settings: a is no text, number or truth value",
		`{"query_id":"q1","model":"m","run":1,"correct":1,"output_tokens":1}
{"query_id":"q1","model":"m","run":1,"correct":1,"output_tokens":1}`: `model "m" have run 1 twice`,
		`{"query_id":"q1","model":"m","run":1,"correct":1,"output_tokens":1}
{"query_id":"q1","model":"m","correct":1,"output_tokens":1}`: `model "m" are there twice`,
		`{"query_id":"q1","model":"m","correct":1,"output_tokens":1}
{"query_id":"q1","model":"m","run":2,"correct":1,"output_tokens":1}`: `model "m" are there twice`,
	} {
		if _, err := loadLines(t, lines, nil, models("m")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", lines, err, want)
		}
	}
}

func TestNoiseByHand(t *testing.T) {
	marks := func(text string) (runs []Answer) {
		for _, c := range text {
			runs = append(runs, Answer{Correct: c == '1'})
		}
		return runs
	}
	table := &Table{Queries: make([]Query, 4), Runs: [][][]Answer{{marks("110"), marks("1")}, {marks("11"), marks("1")}, {marks("0"), marks("0")}, {marks("00"), marks("0")}}}
	// Pairs that differ: 2 of 3, 0 of 1, 0 of 1: 2/9. Pass rates 2/3, 1, 0: mean 5/9, variance of a label 5/9 * 4/9 = 20/81.
	got := table.Noise(0)
	if got.Questions != 3 || got.Runs != 7 || math.Abs(got.Disagree-2.0/9) > 1e-12 || math.Abs(got.Total-20.0/81) > 1e-12 {
		t.Errorf("%+v", got)
	}
	// 1 - (1/9)/(20/81) = 11/20, and of two runs 2*0.55/1.55.
	if one, ok := got.Reliability(1); !ok || math.Abs(one-0.55) > 1e-12 {
		t.Errorf("one run %v, %v", one, ok)
	}
	if two, ok := got.Reliability(2); !ok || math.Abs(two-1.1/1.55) > 1e-12 {
		t.Errorf("two runs %v, %v", two, ok)
	}
	if _, ok := table.Noise(1).Reliability(1); ok {
		t.Error("one run a question says nothing of its reliability")
	}
}
