// Package steps carries out a plan: steps under recipes, each made at most once and named where it fails.
//
// A Plan is the steps of one experiment over one store. Package protocol lays them out; here they are made, found again
// and explained. Params puts together what a recipe depends on.
package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Add plans a step. inputs are the steps whose entries build may read. Steps that agree in all that counts are one.
func (p *Plan) Add(name, stage string, version int, params *Params, inputs []Input, build func(context.Context, *store.Draft) error) (*Step, error) {
	if params.err != nil {
		return nil, fmt.Errorf("step %s: %w", name, params.err)
	}
	keys := map[string]store.Key{}
	for _, in := range inputs {
		if k, ok := keys[in.As]; ok && k != in.Recipe.Key() {
			return nil, fmt.Errorf("step %s: two inputs are called %q", name, in.As)
		}
		keys[in.As] = in.Recipe.Key()
	}
	recipe, err := store.NewRecipe(stage, version, params.tree, keys)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", name, err)
	}
	if i := slices.IndexFunc(p.Steps, func(s *Step) bool { return s.Recipe.Key() == recipe.Key() }); i >= 0 {
		return p.Steps[i], nil
	}
	s := &Step{Step: explain.Step{Name: name, Recipe: recipe, From: params.From, Pool: params.pool.Name}, make: build}
	for _, in := range inputs {
		s.inputs = append(s.inputs, in.Step)
		s.Inputs = append(s.Inputs, explain.Input{As: in.As, Step: &in.Step.Step})
	}
	p.Steps = append(p.Steps, s)
	return s, nil
}

// Get returns the entry of a step, making it first if the store does not have it. Who wants what is being made waits for it.
func (p *Plan) Get(ctx context.Context, s *Step) (store.Entry, error) {
	defer p.clock.wait(ctx)()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.made {
		return s.entry, nil
	}
	var failed error
	ran := false
	entry, err := p.Store.Make(ctx, s.Recipe, func(ctx context.Context, draft *store.Draft) error {
		ran = true
		s.task = p.Options.Progress.Start(s.Name, 0)
		defer s.task.Done()
		ctx, end := p.clock.begin(ctx)
		failed = s.make(ctx, draft)
		if took := end(); failed == nil {
			failed = explain.NoteTook(draft, &s.Step, took)
		}
		return failed
	})
	var inner *Error
	switch {
	case errors.As(failed, &inner):
		return store.Entry{}, inner
	case failed != nil:
		return store.Entry{}, &Error{s.Name, failed}
	case err != nil && p.Options.Look:
		return store.Entry{}, &Error{s.Name, p.Lost(s, err)}
	case err != nil:
		return store.Entry{}, &Error{s.Name, err}
	}
	s.made, s.ran, s.entry = true, ran, entry
	return entry, nil
}

// Lost says how an entry is made again that is gone or damaged: a run makes what is not there and looks for what that
// reads.
func (p *Plan) Lost(s *Step, err error) error {
	if !errors.Is(err, store.ErrMissing) && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	var remove []string
	for all := slices.Concat(p.Measured, p.Steps); ; {
		if entry, err := p.Store.Get(s.Recipe); err == nil {
			remove = append(remove, entry.Dir)
		}
		i := slices.IndexFunc(all, func(t *Step) bool { return slices.Contains(t.inputs, s) })
		if i < 0 || slices.Contains(p.Measured, s) {
			break
		}
		s = all[i]
	}
	how := ""
	if remove != nil {
		how = "remove " + strings.Join(remove, " and ") + " and "
	}
	return fmt.Errorf("%w: %w; %srun the experiment again: entrorouter run %s", ErrIncomplete, err, how, p.Spec.Named)
}

// Error names the step that failed. Steps that needed it add nothing: a chain of them says less than its end.
type Error struct {
	Step string
	Err  error
}

func (e *Error) Error() string { return e.Step + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Measurements reads what the measuring steps made, and carries them out before if need be. The name of the experiment
// is not in the stored ones, which experiments that agree in everything else share: it is added here.
func (p *Plan) Measurements(ctx context.Context) (*metrics.Set, error) {
	set := &metrics.Set{}
	for _, s := range p.Measured {
		entry, err := p.Get(ctx, s)
		if err != nil {
			return nil, err
		}
		of, err := book.ReadMeasurements(entry)
		if err != nil {
			return nil, err
		}
		set.Measurements = append(set.Measurements, of.Measurements...)
	}
	for i := range set.Measurements {
		m := &set.Measurements[i]
		m.Keys = append([]metrics.Key{{Name: "experiment", Value: p.Spec.Experiment.Name}}, m.Keys...)
	}
	return set, nil
}

// WriteIndex notes in the store what the experiment consists of.
func (p *Plan) WriteIndex() error {
	var steps []store.Step
	for _, s := range p.Steps {
		steps = append(steps, store.Step{Name: s.Name, Key: s.Recipe.Key()})
	}
	return p.Store.WriteIndex(p.Spec.Experiment.Name, steps)
}

// Explain is the plan as package explain reads it.
func (p *Plan) Explain() *explain.Plan {
	plan := &explain.Plan{Spec: p.Spec, Store: p.Store}
	for _, s := range p.Steps {
		plan.Steps = append(plan.Steps, &s.Step)
	}
	for _, s := range p.Measured {
		plan.Last = append(plan.Last, &s.Step)
	}
	return plan
}

// Entries finds the entries of a run by their keys, making first what is not there.
func (p *Plan) Entries(ctx context.Context) book.Entries { return entries{ctx, p} }

type entries struct {
	ctx  context.Context
	plan *Plan
}

// Find implements book.Entries.
func (x entries) Find(k store.Key) (store.Entry, store.Recipe, error) {
	i := slices.IndexFunc(x.plan.Steps, func(s *Step) bool { return s.Recipe.Key() == k })
	if i < 0 {
		return store.Entry{}, store.Recipe{}, fmt.Errorf("no step of the run makes %s", k)
	}
	s := x.plan.Steps[i]
	entry, err := x.plan.Get(x.ctx, s)
	return entry, s.Recipe, err
}
