// Protocol collapse, which is one step: it trains every policy of package collapse and measures it.

package protocol

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/collapse"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

const collapseVersion = 4

// newCollapse opens the store and plans the one step; it trains nothing.
func newCollapse(r *spec.Resolved, o steps.Options) (*Run, error) {
	x := &r.Experiment
	pool, err := steps.OpenPool(r.Pools[0], r.Prices)
	if err != nil {
		return nil, err
	}
	study, err := collapse.New(x, pool.Experts)
	if err != nil {
		return nil, fmt.Errorf("%w: spec %s: %v", spec.ErrUsage, x.Name, err)
	}
	plan, err := steps.Open(r, o)
	if err != nil {
		return nil, err
	}
	p := plan.Params(pool)
	p.Pick("", spec.Experiment{Collapse: undrawn(*x.Collapse)}, "collapse")
	p.Spec("evaluate.seeds", "seed")
	p.Experts(pool.Experts, "model")
	measured, err := plan.Add("collapse", "collapse", collapseVersion, p, nil, func(ctx context.Context, d *store.Draft) error {
		task := plan.Options.Progress.Start("training small policies", study.Policies())
		defer task.Done()
		if err := study.Train(ctx, func() { task.Add(1) }); err != nil {
			return err
		}
		f, err := d.Create("runs.csv")
		if err != nil {
			return err
		}
		if err := errors.Join(study.WriteRuns(f), f.Close()); err != nil {
			return err
		}
		return book.WriteMeasurements(d, study.Measure())
	})
	if err != nil {
		return nil, errors.Join(err, plan.Close())
	}
	t := x.Collapse.Training
	measured.Amount = float64(study.Policies() * t.Steps * t.Batch * t.Group)
	plan.Measured = append(plan.Measured, measured)
	return &Run{Plan: plan, Head: []string{
		" " + x.Title + ".",
		fmt.Sprintf(" Mean of %d seeds; -low- and -high- are the least and the most of them. Values are expectations under the policy, free of sampling noise.", len(x.Evaluate.Seeds)),
		" Probabilities of success are choices; nothing here was measured on a language model.",
	}}, nil
}

// undrawn is a study without what its figure alone reads.
func undrawn(c spec.Collapse) *spec.Collapse {
	c.Buckets, c.Controls = slices.Clone(c.Buckets), slices.Clone(c.Controls)
	for i := range c.Buckets {
		c.Buckets[i].Label = ""
	}
	for i := range c.Controls {
		c.Controls[i].Label, c.Controls[i].LeftOut = "", false
	}
	return &c
}
