// Package booktest has the arena that tests compute by hand.
package booktest

import (
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Arena has two experts and two benchmarks: one question with two runs, two questions with one.
func Arena() *book.Arena {
	a := &book.Arena{Name: metrics.PaperArena, Benchmarks: []book.Benchmark{{Name: "x", Runs: 2}, {Name: "y", Runs: 1}}}
	a.Question = []int{0, 0, 1, 2}
	a.Strata = []int{0, 1, 1}
	a.Queries = make([]routing.Query, 4)
	a.Outcomes = [][]routing.Outcome{
		{{Correct: 1, Bucket: routing.Correct, Out: 10, USD: 1}, {Bucket: routing.Truncated, Out: 90, USD: 9}},
		{{Bucket: routing.Wrong, Out: 20, USD: 2}, {Correct: 1, Bucket: routing.Correct, Out: 40, USD: 4}},
		{{Bucket: routing.NoAnswer, Out: 30, USD: 3}, {Correct: 1, Bucket: routing.Correct, Out: 50, USD: 5}},
		{{Correct: 1, Bucket: routing.Correct, Out: 10, USD: 1}, {Bucket: routing.Ungraded, Out: 70, USD: 7}},
	}
	a.Self = []routing.Outcome{
		{Correct: 1, Bucket: routing.Correct, Out: 5}, {Correct: 1, Bucket: routing.Correct, Out: 8},
		{Correct: 1, Bucket: routing.Correct, Out: 6}, {Bucket: routing.NoAnswer, Out: 7},
	}
	return a
}
