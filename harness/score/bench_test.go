package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// knobs are rows of two trainings on so many questions of three experts, with knobs of a hundred settings: what most of a bootstrap is
// spent on.
func knobs(questions, rows int) (a *book.Arena, decisions [][][]routing.Decision, sweeps [][]*book.Sweep) {
	rng := rand.New(rand.NewPCG(1, 2))
	a = &book.Arena{Name: metrics.LargeArena, Pool: "pool", Experts: make([]routing.Expert, 3)}
	for b := range 7 {
		a.Benchmarks = append(a.Benchmarks, book.Benchmark{Name: fmt.Sprint(b), Runs: 1, Pass: 100})
	}
	for q := range questions {
		a.Queries, a.Question, a.Strata = append(a.Queries, routing.Query{}), append(a.Question, q), append(a.Strata, 7*q/questions)
		p := rng.Float64()
		a.Outcomes = append(a.Outcomes, []routing.Outcome{{Correct: p / 2, USD: 1}, {Correct: p, USD: 4}, {Correct: (1 + p) / 2, USD: 9}})
	}
	for range rows {
		var of [][]routing.Decision
		var knob []*book.Sweep
		for range 2 {
			s := &book.Sweep{Settings: 100}
			d := make([]routing.Decision, questions)
			for q := range d {
				first, second := 1+rng.IntN(99), 1+rng.IntN(99)
				x := book.Swept{First: 2, Turns: []book.Turn{{Setting: min(first, second), Expert: 1}, {Setting: max(first, second), Expert: 0}}}
				s.Queries = append(s.Queries, x)
				d[q].Expert, d[q].Prob = x.At(50), make([]float64, 3)
				d[q].Prob[d[q].Expert] = 1
			}
			of, knob = append(of, d), append(knob, s)
		}
		decisions, sweeps = append(decisions, of), append(sweeps, knob)
	}
	return a, decisions, sweeps
}

func BenchmarkBootstrap(b *testing.B) {
	b.Run("split", func(b *testing.B) {
		a, decisions, sweeps := knobs(14000, 12)
		s := &Sample{Arena: a, Reference: "0", Resampling: Resampling{Resamples: 400, Confidence: 0.95, Seed: 1}}
		for i, of := range decisions {
			s.Add(Row{ID: fmt.Sprint(i), Knob: true, Seeds: []uint64{1, 2}}, of, sweeps[i])
		}
		b.Run("route", func(b *testing.B) {
			for b.Loop() {
				s.Route()
			}
		})
		b.Run("choice", func(b *testing.B) {
			for b.Loop() {
				s.Choice()
			}
		})
	})
	b.Run("folds", func(b *testing.B) {
		a, decisions, sweeps := knobs(2000, 12)
		f := &Folds{Arena: a, Reference: "0", Baseline: "1", Whole: true, Resampling: Resampling{Resamples: 100, Confidence: 0.95, Seed: 1}}
		for j := range 12 {
			f.Contrasts = append(f.Contrasts, Contrast{fmt.Sprint(j), "2"})
		}
		fold := make([]int, 2000)
		for q := range fold {
			fold[q] = q % 5
		}
		for k := range 2 {
			for i, of := range decisions {
				f.Add(fmt.Sprint(i), book.Training{Seed: uint64(k), Fold: slices.Clone(fold)}, of[k], sweeps[i][k])
			}
		}
		for b.Loop() {
			f.Measure(metrics.BothStrata)
		}
	})
}
