// Package book holds what a finished run is: test problems, what every expert did on them, and what was decided. Its
// values are read and never changed, and know neither the steps that made them nor who is asked for answers: scoring,
// comparing and showing a run start here.
//
// Letters: M experts, cheapest first; Q questions, which are the test problems of all benchmarks; queries are questions
// times runs.
package book

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Recorded is the name of the arena of every recording; its pool tells it from others.
const Recorded = "folds"

// Arena is a collection of test benchmarks with the outcome of every expert on every query, and the rows that decide in
// it. A set of simulated problems scored by probability and a recording are arenas like the paper's sizes: they differ in
// what is in the outcomes.
type Arena struct {
	Pool       string
	Name       string           // of the files of its decisions; metrics.PaperArena, metrics.LargeArena or Recorded
	Experts    []routing.Expert // [M]
	CountInput bool             // prompts are paid for too
	Benchmarks []Benchmark

	Queries  []routing.Query
	Question []int               // [len(Queries)] index of the query's question
	Strata   []int               // [Q] index into Benchmarks
	Outcomes [][]routing.Outcome // [len(Queries)][M]
	Self     []routing.Outcome   // [len(Queries)] of the model that plays the router; nil: no row needs them
	Probe    string              // id of that model
	Latents  []routing.Latent    // [Q] what simulated experts know of a question; nil: they are not simulated
	Best     []int               // [Q] m_best of each question; nil: not known

	Lost   []Lost          // questions that are scored for nobody, in no other field
	asked  []routing.Query // all that were decided on; nil: Queries
	scored []int           // [len(Queries)] their places in asked; nil: no question is lost

	Rows    []Row
	Unfit   []Unfit     // rows that could not be fitted
	Sources []store.Key // of the outcomes
}

// Unfit is a row that could not be fitted with one of its seeds and decides nothing.
type Unfit struct {
	ID  string
	Why string
}

// Benchmark is a column of the tables.
type Benchmark struct {
	Name string
	Runs int     // of each problem; 1 where outcomes are expectations
	Pass float64 // questions of one pass over it: averages weigh benchmarks by it, and dollars are of one pass
}

// IDs names the experts, [M].
func (a *Arena) IDs() []string { return routing.IDs(a.Experts) }

// Add appends the problems of a benchmark, each asked runs times. Outcomes are appended apart, in the order of the queries.
func (a *Arena) Add(b Benchmark, problems []routing.Problem) {
	for _, p := range problems {
		for run := range b.Runs {
			a.Queries = append(a.Queries, routing.Query{Problem: p, Run: run})
			a.Question = append(a.Question, len(a.Strata))
		}
		a.Strata = append(a.Strata, len(a.Benchmarks))
	}
	a.Benchmarks = append(a.Benchmarks, b)
}

// Sizes counts the questions of every benchmark.
func (a *Arena) Sizes() []int {
	n := make([]int, len(a.Benchmarks))
	for _, b := range a.Strata {
		n[b]++
	}
	return n
}

// Always returns the decisions of a row that asks one expert whatever the question, or of the router alone: routing.Self.
func (a *Arena) Always(expert int) []routing.Decision {
	d := make([]routing.Decision, len(a.Queries))
	for i := range d {
		d[i].Expert = expert
	}
	return d
}

// At is the arena of one query alone, so that a single decision is scored with the arithmetic of all of them.
func (a *Arena) At(query int) *Arena {
	one := &Arena{Name: a.Name, Experts: a.Experts, CountInput: a.CountInput, Benchmarks: []Benchmark{{Runs: 1}},
		Queries: a.Queries[query : query+1], Question: []int{0}, Strata: []int{0}, Outcomes: a.Outcomes[query : query+1]}
	if a.Self != nil {
		one.Self = a.Self[query : query+1]
	}
	return one
}

// Scores are what the decisions of one training got and paid, question by question, runs averaged.
type Scores struct {
	Accuracy []float64 // [Q] percent
	USD      []float64
	Tokens   []float64   // output tokens of the experts that were asked
	Overhead []float64   // tokens of the router itself
	Asked    []float64   // share of the runs in which any expert was asked
	Calls    []float64   // calls of experts
	Chosen   [][]float64 // [Q][M] share of the runs in which each expert's answer stood
	Buckets  [][]float64 // [len(Benchmarks)][len(routing.Buckets)] number of queries; nil where outcomes are expectations
}

// Own is the share of a question's runs in which no expert's answer stood, [Q].
func (s Scores) Own() []float64 {
	own := make([]float64, len(s.Chosen))
	for q, share := range s.Chosen {
		own[q] = 1
		for _, x := range share {
			own[q] -= x
		}
	}
	return own
}

// Score reads off what decisions, one a query in their order, got and paid.
func (a *Arena) Score(decisions []routing.Decision) Scores {
	n, experts := len(a.Strata), len(a.Outcomes[0])
	s := Scores{Accuracy: make([]float64, n), USD: make([]float64, n), Tokens: make([]float64, n), Overhead: make([]float64, n), Asked: make([]float64, n), Calls: make([]float64, n), Chosen: make([][]float64, n)}
	for q := range s.Chosen {
		s.Chosen[q] = make([]float64, experts)
	}
	for range a.Benchmarks {
		s.Buckets = append(s.Buckets, make([]float64, len(routing.Buckets)))
	}
	graded := true
	for i, d := range decisions {
		q := a.Question[i]
		bench := a.Strata[q]
		runs := float64(a.Benchmarks[bench].Runs)
		s.Overhead[q] += float64(d.Usage.In+d.Usage.Out) / runs
		count := func(o routing.Outcome, weight float64) {
			s.Accuracy[q] += 100 * weight * o.Correct / runs
			if o.Bucket == "" {
				graded = false
				return
			}
			s.Buckets[bench][slices.Index(routing.Buckets[:], o.Bucket)] += weight
		}
		if d.Answer != nil {
			own := a.Said(d)
			count(own, 1)
			s.USD[q] += own.USD / runs
			s.Tokens[q] += own.Out / runs
			s.Calls[q] += float64(len(d.Calls)) / runs
			if len(d.Calls) > 0 {
				s.Asked[q] += 1 / runs
			}
			if d.Expert >= 0 {
				s.Chosen[q][d.Expert] += 1 / runs
			}
			continue
		}
		any := false
		for m, times := range d.Asked(experts) {
			o := a.Outcomes[i][m]
			s.USD[q] += times * o.USD / runs
			s.Tokens[q] += times * o.Out / runs
			s.Calls[q] += times / runs
			any = any || times > 0
			weight := 0.0
			switch {
			case d.Expert == m:
				weight = 1
			case d.Expert == routing.Expected:
				weight = d.Prob[m]
			}
			if weight > 0 {
				count(o, weight)
				s.Chosen[q][m] += weight / runs
			}
		}
		if any {
			s.Asked[q] += 1 / runs
		}
		if d.Expert == routing.Self {
			own := a.Self[i]
			s.Overhead[q] += own.Out / runs
			spoiled := 0.0
			if own.Correct > 0 {
				spoiled = d.Spoiled
			}
			count(own, 1-spoiled)
			if spoiled > 0 {
				count(routing.Outcome{Bucket: wrongLike(own)}, spoiled)
			}
		}
	}
	if !graded {
		s.Buckets = nil
	}
	return s
}

// wrongLike is the bucket of a wrong answer where right ones are counted as o is.
func wrongLike(o routing.Outcome) routing.Bucket {
	if o.Bucket == "" {
		return ""
	}
	return routing.Wrong
}

// Said returns the outcome of a decision that carries its answer: its grade, and what its own calls used and cost.
func (a *Arena) Said(d routing.Decision) routing.Outcome {
	o := routing.Outcome{Bucket: d.Answer.Bucket, USD: d.Paid(a.Experts, a.CountInput)}
	if o.Bucket == routing.Correct {
		o.Correct = 1
	}
	for _, c := range d.Calls {
		o.Out += float64(c.Usage.Out)
	}
	return o
}

// Mean averages a column of scores over trainings, [Q].
func Mean(trainings []Scores, column func(Scores) []float64) []float64 {
	out := make([]float64, len(column(trainings[0])))
	for _, s := range trainings {
		for q, v := range column(s) {
			out[q] += v / float64(len(trainings))
		}
	}
	return out
}

// Lost is a question that some model did not answer in every run: its requests were refused or failed. It is scored for
// nobody, so that all rows are compared on the same questions.
type Lost struct {
	Benchmark, Problem string
	Models             []string // who did not answer
}
