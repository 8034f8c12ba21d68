// The step that draws or reads the problems of a benchmark.

package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// newProblemSet plans the first n problems of a draw of a benchmark. by is what draws it in the spec, as in train.sft;
// empty: test.
func (e *experiment) newProblemSet(name, draw string, n int, by string) (*problemSet, error) {
	b := e.Spec.Benchmarks[name]
	var population *problems.Population
	if b.Generated != nil {
		if e.pool.Simulation == nil {
			return nil, fmt.Errorf("%w: benchmark %s is generated for a simulated pool, but pool %s is of kind %s; name benchmarks that have a file", spec.ErrUsage, name, e.pool.Name, e.pool.Kind)
		}
		pop, err := problems.NewPopulation(name, b, e.pool.Simulation)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", spec.ErrUsage, err)
		}
		population = &pop
	}
	p := e.Params(e.pool)
	p.Problems(name, draw, by, n, population)
	set := &problemSet{e: e, benchmark: name, n: n}
	var err error
	set.Step, err = e.Add(strings.TrimSpace("problems "+name+" "+draw), "problems", problemsVersion, p, nil, func(ctx context.Context, d *store.Draft) error {
		var ps []routing.Problem
		var latents []routing.Latent
		var err error
		switch {
		case population != nil:
			ps, latents, err = problems.Generate(ctx, seed.Seed(e.Spec.Experiment.Seed), *population, draw, n)
		case e.Options.Data == "":
			err = fmt.Errorf("%w: benchmark %s is read from %s; say in which folder with --data DIR", spec.ErrUsage, name, b.File.Path)
		default:
			ps, err = e.files.Load(ctx, name)
			if err == nil && len(ps) < n {
				err = fmt.Errorf("benchmark %s: %d problems are asked for, and it has fewer, %d", name, n, len(ps))
			}
			if err == nil {
				ps = ps[:n]
			}
		}
		if err != nil {
			return err
		}
		return book.WriteProblems(d, ps, latents)
	})
	if err != nil {
		return nil, err
	}
	set.Benchmark, set.Amount = name, float64(n)
	return set, nil
}

// load reads the problems, making them first if need be.
func (s *problemSet) load(ctx context.Context) error {
	if s.read {
		return nil
	}
	entry, err := s.e.Get(ctx, s.Step)
	if err != nil {
		return err
	}
	if s.problems, s.latents, err = book.ReadProblems(entry); err != nil {
		return err
	}
	s.read = true
	return nil
}

// known are the problems if they are made, or a larger draw is that they begin; else nil. It makes nothing.
func (s *problemSet) known(ctx context.Context) ([]routing.Problem, error) {
	for _, t := range append([]*problemSet{s}, s.e.sets...) {
		if t.benchmark != s.benchmark || t.n < s.n {
			continue
		}
		if _, err := s.e.Store.Get(t.Recipe); err != nil {
			continue
		}
		if err := t.load(ctx); err != nil {
			return nil, err
		}
		return t.problems[:s.n], nil
	}
	return nil, nil
}

// known are the problems that simulated experts may be asked.
func (e *experiment) known(ctx context.Context, add func([]routing.Problem, []routing.Latent) error) error {
	for i, s := range e.sets {
		// Both stages may draw from one benchmark: the larger draw begins with the smaller.
		within := func(t *problemSet) bool { return t.benchmark == s.benchmark && t.n >= s.n }
		if slices.ContainsFunc(e.sets[:i], within) || slices.ContainsFunc(e.sets[i+1:], func(t *problemSet) bool { return within(t) && t.n > s.n }) {
			continue
		}
		if err := s.load(ctx); err != nil {
			return err
		}
		if err := add(s.problems, s.latents); err != nil {
			return err
		}
	}
	return nil
}

// asked are the problems of every arena, which simulated routers may be asked about.
func (e *experiment) asked(ctx context.Context, add func([]routing.Problem, []routing.Latent) error) error {
	for _, a := range e.arenas {
		for _, b := range a.benches {
			if err := b.set.load(ctx); err != nil {
				return err
			}
			if err := add(b.set.problems, b.set.latents); err != nil {
				return err
			}
		}
	}
	return nil
}

// ids are those of all problems by text. Of problems that share a text the first counts.
func (e *experiment) ids(ctx context.Context) (map[string]string, error) {
	ids := map[string]string{}
	add := func(problems []routing.Problem, _ []routing.Latent) error {
		addIDs(ids, problems)
		return nil
	}
	return ids, errors.Join(e.known(ctx, add), e.asked(ctx, add))
}

func addIDs(ids map[string]string, problems []routing.Problem) {
	for _, p := range problems {
		if _, ok := ids[p.Text]; !ok {
			ids[p.Text] = p.ID
		}
	}
}
