package harness

import (
	"context"
	"errors"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// measure writes the measurements of a pool: for all questions and for each benchmark, every row's accuracy and
// dollars, its hull gain at its own cost and, of a router with a knob, its gain at three budgets and on average; and,
// on lines of their own (Contrast), the differences between rows that the spec asks for.
func (c *recorded) measure(ctx context.Context, d *store.Draft) error {
	x := &c.e.spec.Experiment
	f := &score.Folds{Arena: c.arena(), Reference: methods.ReferenceRow, Baseline: methods.BenchmarkRow, Whole: x.Folds.Whole, Resampling: resampling(x)}
	for _, row := range x.Methods {
		f.Rows = append(f.Rows, row.RowID())
	}
	f.Contrasts = contrasts(x)
	for _, p := range c.partition {
		of := score.Partition{Seed: p.seed, Fold: p.fold}
		for _, row := range p.rows {
			decisions, err := c.decisions(ctx, row)
			if err != nil {
				return err
			}
			entry, err := c.e.get(ctx, row.step)
			if err != nil {
				return err
			}
			sweep, err := readSweep(entry)
			if err != nil {
				return err
			}
			of.Rows = append(of.Rows, score.PartitionedRow{Scores: f.Score(decisions), Sweep: sweep})
		}
		f.Partitions = append(f.Partitions, of)
	}
	set := &metrics.Set{}
	strata := f.Strata()
	c.e.opt.Progress.Start("measuring "+c.e.poolSpec.Name, len(strata))
	defer c.e.opt.Progress.Done()
	for _, b := range strata {
		set.Measurements = append(set.Measurements, f.Measure(b)...)
		c.e.opt.Progress.Add(1)
	}
	w, err := d.Create("measurements.txt")
	if err != nil {
		return err
	}
	return errors.Join(set.Write(w), w.Close())
}

// contrasts are the pairs of rows that the spec asks to compare.
func contrasts(x *spec.Experiment) (out []score.Contrast) {
	index := func(id string) int {
		return slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == id })
	}
	for j, m := range x.Methods {
		asked := slices.Concat(x.Folds.Versus, m.Versus)
		for at, id := range asked {
			if k := index(id); k >= 0 && k != j && !slices.Contains(asked[:at], id) {
				out = append(out, score.Contrast{Row: j, Versus: k})
			}
		}
	}
	return out
}

// arena is the recording as an arena: its questions, asked once, and what the experts did on them.
func (c *recorded) arena() *book.Arena {
	a := &book.Arena{Name: c.e.poolSpec.Name, Experts: c.e.experts, CountInput: c.e.spec.Experiment.CountInput}
	for q, p := range c.problems {
		b := slices.IndexFunc(a.Benchmarks, named(p.Benchmark))
		if b < 0 {
			b = len(a.Benchmarks)
			a.Benchmarks = append(a.Benchmarks, book.Benchmark{Name: p.Benchmark, Runs: 1})
		}
		a.Queries, a.Question, a.Strata = append(a.Queries, routing.Query{Problem: p}), append(a.Question, q), append(a.Strata, b)
		outcomes := make([]routing.Outcome, len(c.e.experts))
		for m := range outcomes {
			outcomes[m] = c.outcome(q, m)
		}
		a.Outcomes = append(a.Outcomes, outcomes)
	}
	return a
}
