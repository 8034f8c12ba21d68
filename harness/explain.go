// Opening an experiment to look at what a run of it would do.

package harness

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// look opens an experiment of any protocol and plans its steps, without writing anything.
func look(ctx context.Context, r *spec.Resolved, o Options) (*engine, error) {
	o.look = true
	return protocolOf(&r.Experiment).open(ctx, r, o)
}

// Plan says what Run would do, and does nothing but look at the store.
func Plan(ctx context.Context, r *spec.Resolved, o Options) ([]explain.StepStatus, error) {
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	return e.explainable().Status()
}

// Explain says which steps of an experiment are to do, grouped by what made them so. It writes nothing.
func Explain(ctx context.Context, r *spec.Resolved, o Options) (*explain.Explanation, error) {
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	return e.explainable().All(ctx)
}

// ExplainStep says everything of one step: named as Plan prints it, or by the beginning of its key. It writes nothing.
func ExplainStep(ctx context.Context, r *spec.Resolved, o Options, name string) (*explain.StepExplanation, error) {
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	defer e.close()
	return e.explainable().One(name)
}

// explainable is the plan of an experiment as package explain reads it.
func (e *engine) explainable() *explain.Plan {
	p := &explain.Plan{Spec: e.spec, Store: e.store}
	of := map[*step]*explain.Step{}
	for _, s := range e.steps { // inputs come before what reads them
		t := &explain.Step{Name: s.name, Recipe: s.recipe, From: s.from, Pool: s.pool, Row: s.row, Benchmark: s.benchmark, Asks: s.asks}
		for _, in := range s.inputs {
			t.Inputs = append(t.Inputs, explain.Input{As: in.as, Step: of[in.step]})
		}
		switch s.stage() {
		case "fit":
			t.Fits = 1
			t.Asking = slices.ContainsFunc(e.fits, func(row []*fit) bool {
				return slices.ContainsFunc(row, func(f *fit) bool { return f.step == s && f.asking })
			})
		case "crossfit":
			t.Fits = e.spec.Experiment.Folds.K
		}
		of[s], p.Steps = t, append(p.Steps, t)
	}
	for _, s := range e.last() {
		p.Last = append(p.Last, of[s])
	}
	return p
}
