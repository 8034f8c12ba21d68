// Outcomes of the experts on test benchmarks, and the arenas that they make up: steps of protocol split.

package protocol

import (
	"context"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// newOutcomes plans the evaluation rollouts of experts on a test benchmark.
func (e *experiment) newOutcomes(ctx context.Context, set *problemSet, runs int, of []routing.Expert) (*bench, error) {
	b := &bench{e: e, set: set, name: set.benchmark, runs: runs, experts: of}
	p := e.Params(e.pool)
	p.Runs(set.benchmark)
	w, err := e.newWant(ctx, p, set, of, routing.Test, runs)
	if err != nil {
		return nil, err
	}
	b.Step, err = e.Add(b.title("outcomes"), "outcomes", outcomesVersion, p, []steps.Input{set.As(book.OfArena("problems", "", b.name))}, func(ctx context.Context, d *store.Draft) error {
		return book.WriteOutcomes(d, book.Nanodollars, func(line func(problem, run, expert int, o routing.Outcome)) error {
			for m, x := range of {
				rollouts, err := w.answers(ctx, x)
				if err != nil {
					return err
				}
				for p, of := range rollouts {
					for run, r := range of {
						o := routing.Outcome{Bucket: r.Bucket, Out: float64(r.Usage.Out), USD: x.Price.USD(r.Usage, e.Spec.Experiment.CountInput)}
						if r.Bucket == routing.Correct {
							o.Correct = 1
						}
						line(p, run, m, o)
					}
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	w.step, b.Benchmark, b.Asks, b.Amount = b.Step, b.name, w.asked, w.amount()
	return b, nil
}

// newExpected plans the closed-form outcomes of simulated experts, members of the pool, on a large draw.
func (e *experiment) newExpected(set *problemSet, of []routing.Expert) (*bench, error) {
	b := &bench{e: e, set: set, name: set.benchmark, runs: 1, experts: of}
	var err error
	p := e.Params(e.pool)
	p.Source()
	p.Experts(of)
	p.Spec("seed")
	b.Step, err = e.Add(b.title("expected"), "expected", expectedVersion, p, []steps.Input{set.As(book.OfArena("problems", "", b.name))}, func(ctx context.Context, d *store.Draft) error {
		if err := set.load(ctx); err != nil {
			return err
		}
		members := e.asker.Sim.Experts()
		return book.WriteOutcomes(d, book.Nanodollars, func(line func(problem, run, expert int, o routing.Outcome)) error {
			for p, q := range set.problems {
				truths, err := e.asker.Sim.True(routing.TextHash(q.Text), set.latents[p])
				if err != nil {
					return fmt.Errorf("problem %s: %w", q.ID, err)
				}
				for m, x := range of {
					t := truths[slices.IndexFunc(members, func(y routing.Expert) bool { return y.ID == x.ID })]
					// Dollars are linear in tokens, so the expectation passes through.
					usd := t.Out * x.Price.USD(cost.Usage{Out: 1_000_000}, false) / 1e6
					line(p, 0, m, routing.Outcome{Correct: t.Correct, Out: t.Out, USD: usd})
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	b.Benchmark, b.Amount = b.name, float64(set.n*len(of))
	return b, nil
}

// title names the step of a bench.
func (b *bench) title(what string) string {
	if len(b.experts) == 1 && b.e.pool.IsProbe(b.experts[0]) {
		what += " of the router alone"
	}
	return what + " " + b.name
}

// addSelf plans the outcomes of the probe, which plays the router, beside those of the experts.
func (a *arena) addSelf(ctx context.Context, e *experiment) (err error) {
	of := []routing.Expert{*e.pool.Probe}
	for _, b := range a.benches {
		if a.Name == metrics.LargeArena {
			b.self, err = e.newExpected(b.set, of)
		} else {
			b.self, err = e.newOutcomes(ctx, b.set, b.runs, of)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// problemInputs are the inputs of whatever reads the arena's problems.
func (a *arena) problemInputs() (in []steps.Input) {
	for _, b := range a.benches {
		in = append(in, b.set.As(book.OfArena("problems", a.Name, b.name)))
	}
	return in
}

// outcomeInputs are the inputs of whatever reads what the experts did.
func (a *arena) outcomeInputs() (in []steps.Input) {
	for _, b := range a.benches {
		in = append(in, b.As(book.OfArena("outcomes", a.Name, b.name)))
	}
	return in
}

// selfInputs have the outcomes of the model that plays the router, where a row needs them.
func (a *arena) selfInputs() (in []steps.Input) {
	for _, b := range a.benches {
		if b.self != nil {
			in = append(in, b.self.As(book.OfArena("self", a.Name, b.name)))
		}
	}
	return in
}

// questions are those of the arenas, each as often as it is decided about.
func (e *experiment) questions() (n int) {
	for _, a := range e.arenas {
		for _, b := range a.benches {
			n += b.set.n * b.runs
		}
	}
	return n
}

// loadQueries reads the problems of every benchmark and lists the queries.
func (a *arena) loadQueries(ctx context.Context) error {
	if a.Queries != nil {
		return nil
	}
	for _, b := range a.benches {
		if err := b.set.load(ctx); err != nil {
			return err
		}
		a.Experts, a.CountInput = b.experts, b.e.Spec.Experiment.CountInput
		a.Add(book.Benchmark{Name: b.name, Runs: b.runs}, b.set.problems)
	}
	return nil
}

// loadOutcomes reads what every expert did, asking them first if need be.
func (a *arena) loadOutcomes(ctx context.Context) error {
	if a.Outcomes != nil {
		return nil
	}
	if err := a.loadQueries(ctx); err != nil {
		return err
	}
	outcomes := make([][]routing.Outcome, 0, len(a.Queries))
	for _, b := range a.benches {
		of, err := b.read(ctx)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, of...)
		if b.self == nil {
			continue
		}
		own, err := b.self.read(ctx)
		if err != nil {
			return err
		}
		for _, o := range own {
			a.Self = append(a.Self, o[0])
		}
	}
	a.Outcomes = outcomes
	return nil
}

// read returns the outcomes of the bench's experts, [problems*runs][experts], asking them first if need be.
func (b *bench) read(ctx context.Context) ([][]routing.Outcome, error) {
	entry, err := b.e.Get(ctx, b.Step)
	if err != nil {
		return nil, err
	}
	return book.ReadOutcomes(entry, len(b.set.problems), b.runs, len(b.experts))
}
