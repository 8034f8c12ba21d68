// The step that draws or reads the problems of a benchmark.

package harness

import (
	"context"
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/store"
)

// problemSet is a draw of one benchmark.
type problemSet struct {
	*step
	e         *engine
	benchmark string
	n         int

	read     bool
	problems []routing.Problem
	latents  []routing.Latent // [len(problems)] of a generated set, else nil
}

// newProblemSet plans the first n problems of a draw of a benchmark. by is what draws it in the spec, as in train.sft;
// empty: test.
func (e *engine) newProblemSet(name, draw string, n int, by string) (*problemSet, error) {
	b := e.spec.Benchmarks[name]
	var population *problems.Population
	if b.Generated != nil {
		if e.poolSpec.Simulation == nil {
			return nil, fmt.Errorf("%w: benchmark %s is generated for a simulated pool, but pool %s is of kind %s; name benchmarks that have a file", ErrUsage, name, e.poolSpec.Name, e.poolSpec.Kind)
		}
		pop, err := problems.NewPopulation(name, b, e.poolSpec.Simulation)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrUsage, err)
		}
		population = &pop
	}
	p := e.params()
	p.problems(name, draw, by, n, population)
	set := &problemSet{e: e, benchmark: name, n: n}
	var err error
	set.step, err = e.newStep(strings.TrimSpace("problems "+name+" "+draw), "problems", problemsVersion, p, nil, func(ctx context.Context, d *store.Draft) error {
		var ps []routing.Problem
		var latents []routing.Latent
		var err error
		switch {
		case population != nil:
			ps, latents, err = problems.Generate(seed.Seed(e.spec.Experiment.Seed), *population, draw, n)
		case e.opt.Data == "":
			err = fmt.Errorf("%w: benchmark %s is read from %s; say in which folder with --data DIR", ErrUsage, name, b.File.Path)
		default:
			ps, err = e.files.Load(ctx, name)
			if err == nil && len(ps) < n {
				err = fmt.Errorf("benchmark %s has %d problems, %d are asked for", name, len(ps), n)
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
	set.step.benchmark = name
	return set, nil
}

// load reads the problems, making them first if need be.
func (s *problemSet) load(ctx context.Context) error {
	if s.read {
		return nil
	}
	entry, err := s.e.get(ctx, s.step)
	if err != nil {
		return err
	}
	if s.problems, s.latents, err = book.ReadProblems(entry); err != nil {
		return err
	}
	s.read = true
	return nil
}
