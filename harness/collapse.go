// Protocol collapse, which is one step: it trains every policy of package collapse and measures it.

package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/collapse"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

const collapseVersion = 3

// collapseHead is the head of measurements.txt of protocol collapse.
func (e *engine) collapseHead() []string {
	x := &e.spec.Experiment
	return []string{
		" " + x.Title + ".",
		fmt.Sprintf(" Mean of %d seeds; -low- and -high- are the least and the most of them. Values are expectations under the policy, free of sampling noise.", len(x.Evaluate.Seeds)),
		" Probabilities of success are choices; nothing here was measured on a language model.",
	}
}

// newCollapse opens the store and plans the one step; it trains nothing.
func newCollapse(_ context.Context, r *spec.Resolved, o Options) (_ *engine, err error) {
	e := &engine{spec: r, opt: o.filled(), poolSpec: r.Pools[0]}
	if e.experts, _, err = routing.Members(e.poolSpec, r.Prices); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUsage, err)
	}
	study, err := collapse.New(&r.Experiment, e.experts)
	if err != nil {
		return nil, fmt.Errorf("%w: spec %s: %v", ErrUsage, r.Experiment.Name, err)
	}
	p := e.params()
	p.spec("collapse", "evaluate.seeds", "seed")
	p.experts(e.experts, "model")
	if err := e.openStore(); err != nil {
		return nil, err
	}
	measured, err := e.newStep("collapse", "collapse", collapseVersion, p, nil, func(ctx context.Context, d *store.Draft) error {
		e.opt.Progress.Start("training small policies", study.Policies())
		defer e.opt.Progress.Done()
		if err := study.Train(ctx, func() { e.opt.Progress.Add(1) }); err != nil {
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
	e.measured = append(e.measured, measured)
	return e, err
}
