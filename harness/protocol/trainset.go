// What rows are trained on.

package protocol

import (
	"context"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// meanDollars is what a question of Stage II costs each expert on average, [M].
func (e *experiment) meanDollars(ctx context.Context) ([]float64, error) {
	examples, err := e.stageTwo(ctx, (*profile).dollars)
	if err != nil {
		return nil, err
	}
	return meanDollars(e.pool.Experts, examples), nil
}

// meanDollars is what a training question costs each expert, [M].
func meanDollars(experts []routing.Expert, examples []routing.Example) []float64 {
	mean := make([]float64, len(experts))
	for _, x := range examples {
		for m, v := range x.USD {
			mean[m] += v / float64(len(examples))
		}
	}
	return mean
}

// trainSet reads what methods may learn from.
func (e *experiment) trainSet(ctx context.Context) (*routing.TrainSet, error) {
	if e.train != nil {
		return e.train, nil
	}
	set := &routing.TrainSet{Experts: e.pool.Experts, C: routing.Costs(e.pool.Experts, e.Spec.Experiment.CUnit)}
	if e.sftProfile != nil {
		var err error
		if set.SFT, err = e.sftProfile.examples(ctx); err != nil {
			return nil, err
		}
		if set.RL, err = e.stageTwo(ctx, (*profile).examples); err != nil {
			return nil, err
		}
	}
	e.train = set
	return e.train, e.checkLeak(ctx)
}

// stageTwo reads the problems of Stage II: its own and, among them, those that Stage I has seen, in such an order that of the first of
// them, however many, the same share was seen and is among as many of Stage I's. What was measured of those is Stage I's.
func (e *experiment) stageTwo(ctx context.Context, read func(*profile, context.Context) ([]routing.Example, error)) (all []routing.Example, err error) {
	train := &e.Spec.Experiment.Train
	var seen, own []routing.Example
	if e.rlProfile != nil {
		if own, err = read(e.rlProfile, ctx); err != nil {
			return nil, err
		}
	}
	if train.Again(train.RL.Size) == 0 {
		return own, nil
	}
	if seen, err = read(e.sftProfile, ctx); err != nil {
		return nil, err
	}
	for i := range train.RL.Size {
		from := &own
		if train.Again(i+1) > train.Again(i) {
			from = &seen
		}
		if len(*from) > 0 { // less than planned were answered
			all, *from = append(all, (*from)[0]), (*from)[1:]
		}
	}
	return all, nil
}

// checkLeak fails if a training problem has the text of a test problem.
func (e *experiment) checkLeak(ctx context.Context) error {
	examples := e.train.Examples()
	trained := make(map[string]string, len(examples))
	for _, x := range examples {
		trained[x.Problem.Text] = x.Problem.ID
	}
	for _, a := range e.arenas {
		if err := a.loadQueries(ctx); err != nil {
			return err
		}
		for _, q := range a.Queries {
			if id, ok := trained[q.Problem.Text]; ok {
				return fmt.Errorf("%w: training problem %s and test problem %s have the same text; train on another set or, for generated sets, another seed", spec.ErrUsage, id, q.Problem.ID)
			}
		}
	}
	return nil
}
