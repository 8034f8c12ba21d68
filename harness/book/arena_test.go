package book_test

import (
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/book/booktest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
)

var near = cmpopts.EquateApprox(0, 1e-9)

func TestScoresByHand(t *testing.T) {
	bucket := func(counts map[routing.Bucket]float64) []float64 {
		out := make([]float64, len(routing.Buckets))
		for i, b := range routing.Buckets {
			out[i] = counts[b]
		}
		return out
	}
	coin := func(p ...float64) routing.Decision { return routing.Decision{Expert: routing.Expected, Prob: p} }
	for _, c := range []struct {
		name      string
		decisions []routing.Decision
		want      book.Scores
	}{
		{"runs of a question are averaged, and each run has its own expert",
			[]routing.Decision{{Expert: 0, Usage: cost.Usage{In: 30, Out: 10}}, {Expert: 1}, {Expert: 0}, {Expert: 1, Usage: cost.Usage{In: 7}}},
			book.Scores{
				Accuracy: []float64{100, 0, 0}, USD: []float64{2.5, 3, 7}, Tokens: []float64{25, 30, 70}, Overhead: []float64{20, 0, 7},
				Asked: []float64{1, 1, 1}, Calls: []float64{1, 1, 1},
				Chosen: [][]float64{{0.5, 0.5}, {1, 0}, {0, 1}},
				Buckets: [][]float64{
					bucket(map[routing.Bucket]float64{routing.Correct: 2}),
					bucket(map[routing.Bucket]float64{routing.NoAnswer: 1, routing.Ungraded: 1}),
				},
			}},
		{"a coin is scored by its expectation, whatever its most likely side",
			[]routing.Decision{coin(0.75, 0.25), coin(0.75, 0.25), coin(0, 1), coin(0.5, 0.5)},
			book.Scores{
				Accuracy: []float64{50, 100, 50}, USD: []float64{2.75, 5, 4}, Tokens: []float64{27.5, 50, 40}, Overhead: []float64{0, 0, 0},
				Asked: []float64{1, 1, 1}, Calls: []float64{1, 1, 1},
				Chosen: [][]float64{{0.75, 0.25}, {0, 1}, {0.5, 0.5}},
				Buckets: [][]float64{
					bucket(map[routing.Bucket]float64{routing.Correct: 1, routing.Wrong: 0.75, routing.Truncated: 0.25}),
					bucket(map[routing.Bucket]float64{routing.Correct: 1.5, routing.Ungraded: 0.5}),
				},
			}},
		{"every call is paid, also of an expert whose answer does not stand, and the router's own answer costs tokens but no dollars",
			[]routing.Decision{
				{Expert: routing.Self, Usage: cost.Usage{Out: 4}},
				{Expert: 0, Calls: []routing.Call{{Expert: 0}, {Expert: 1}}},
				{Expert: routing.Self, Calls: []routing.Call{{Expert: 1}, {Expert: 1}}, Spoiled: 0.25},
				{Expert: routing.Self, Calls: []routing.Call{{Expert: 0}}, Spoiled: 0.25},
			},
			book.Scores{
				Accuracy: []float64{50, 75, 0}, USD: []float64{3, 10, 1}, Tokens: []float64{30, 100, 10}, Overhead: []float64{4.5, 6, 7},
				Asked: []float64{0.5, 1, 1}, Calls: []float64{1, 2, 1},
				Chosen: [][]float64{{0.5, 0}, {0, 0}, {0, 0}},
				Buckets: [][]float64{
					bucket(map[routing.Bucket]float64{routing.Correct: 1, routing.Wrong: 1}),
					bucket(map[routing.Bucket]float64{routing.Correct: 0.75, routing.Wrong: 0.25, routing.NoAnswer: 1}),
				},
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, booktest.Arena().Score(c.decisions), near); diff != "" {
				t.Error(diff)
			}
		})
	}
	a := booktest.Arena()
	for i := range a.Outcomes {
		for m := range a.Outcomes[i] {
			a.Outcomes[i][m].Bucket = ""
		}
	}
	if c := a.Score([]routing.Decision{{}, {}, {}, {}}); c.Buckets != nil {
		t.Errorf("expectations have buckets %v", c.Buckets)
	}
}

func TestADecisionWithAnAnswerPaysForItsOwnCalls(t *testing.T) {
	a := &book.Arena{
		Experts:    []routing.Expert{{Price: cost.Price{In: 1, Out: 2}}, {Price: cost.Price{In: 3, Out: 10}}},
		Benchmarks: []book.Benchmark{{Runs: 2}}, Question: []int{0, 0}, Strata: []int{0},
		Outcomes: [][]routing.Outcome{{{USD: 7, Out: 7}, {USD: 7, Out: 7}}, {{USD: 7, Out: 7}, {USD: 7, Out: 7}}},
	}
	calls := []routing.Call{{Expert: 0, Usage: cost.Usage{In: 1e6, Out: 1e6}}, {Expert: 1, Usage: cost.Usage{In: 2e6, Out: 3e6}}}
	decisions := []routing.Decision{
		{Prob: []float64{1, 0}, Expert: 1, Calls: calls, Answer: &routing.Answer{Bucket: routing.Correct}},
		{Prob: []float64{0, 0}, Expert: routing.Self, Calls: []routing.Call{}, Answer: &routing.Answer{Bucket: routing.Ungraded}, Usage: cost.Usage{In: 4, Out: 6}},
	}
	for _, c := range []struct {
		countInput bool
		usd        float64
	}{{false, 32}, {true, 39}} { // 2 + 30 dollars, and 1 + 6 for what was read, in one of two runs
		a.CountInput = c.countInput
		got := a.Score(decisions)
		want := book.Scores{
			Accuracy: []float64{50}, USD: []float64{c.usd / 2}, Tokens: []float64{2e6}, Overhead: []float64{5}, Asked: []float64{0.5}, Calls: []float64{1},
			Chosen: [][]float64{{0, 0.5}}, Buckets: [][]float64{{1, 0, 0, 0, 1}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
