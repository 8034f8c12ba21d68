// Steps: planned under a recipe, made at most once, named where they fail.

package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Versions of the steps: raised when a change of code changes what a step means, so that stored entries of the old
// meaning are not taken for the new one.
const (
	problemsVersion = 1
	profileVersion  = 2
	outcomesVersion = 1
	expectedVersion = 1
	fitVersion      = 5
	matchVersion    = 2
	measureVersion  = 10

	simulatedVersion       = 1 // of the responses of simulated experts
	simulatedRouterVersion = 1 // of the answers of simulated routers
)

// step is one box of the picture in doc.go. Its key is known before anything has run; its entry is made at most once.
type step struct {
	name   string
	recipe store.Recipe
	inputs []input
	make   func(ctx context.Context, draft *store.Draft) error

	// For people who ask why a step is to do.
	from      map[string]explain.Origin // path of the recipe -> where the value is set, where that is not at its path
	pool      string
	row       *spec.Method                                                 // of a fit: the row of the spec
	benchmark string                                                       // of problems and what is asked about them
	asks      func(context.Context) (rollouts int, atMost bool, err error) // how many are not stored; nil: asks for none

	made  bool
	ran   bool // by this run; otherwise it was stored before
	entry store.Entry
}

// input is a step that another reads, under the name that it has there: a path that says what it is, as in
// "outcomes/paper/aime24"; that of the knob, if one of the spec says which it is.
type input struct {
	as string
	*step
}

// newStep plans a step of the experiment. inputs are the steps whose entries build may read.
func (e *engine) newStep(name, stage string, version int, p *params, inputs []input, build func(context.Context, *store.Draft) error) (*step, error) {
	if p.err != nil {
		return nil, fmt.Errorf("step %s: %w", name, p.err)
	}
	keys := map[string]store.Key{}
	for _, in := range inputs {
		if k, ok := keys[in.as]; ok && k != in.recipe.Key() {
			return nil, fmt.Errorf("step %s: two inputs are called %q", name, in.as)
		}
		keys[in.as] = in.recipe.Key()
	}
	recipe, err := store.NewRecipe(stage, version, p.tree, keys)
	if err != nil {
		return nil, fmt.Errorf("step %s: %w", name, err)
	}
	// Rows and draws that agree in all that counts share their step.
	if i := slices.IndexFunc(e.steps, func(s *step) bool { return s.recipe.Key() == recipe.Key() }); i >= 0 {
		return e.steps[i], nil
	}
	s := &step{name: name, recipe: recipe, inputs: inputs, make: build, from: p.from, pool: e.poolSpec.Name}
	e.steps = append(e.steps, s)
	return s, nil
}

func (s *step) stage() string { return s.recipe.Key().Stage }

// reads says whether another step is among the inputs.
func (s *step) reads(t *step) bool {
	return slices.ContainsFunc(s.inputs, func(in input) bool { return in.step == t })
}

// get returns the entry of a step, making it first if the store does not have it.
func (e *engine) get(ctx context.Context, s *step) (store.Entry, error) {
	if s.made {
		return s.entry, nil
	}
	var failed error
	ran := false
	entry, err := e.store.Make(ctx, s.recipe, func(ctx context.Context, draft *store.Draft) error {
		ran = true
		failed = s.make(ctx, draft)
		return failed
	})
	var inner *stepError
	switch {
	case errors.As(failed, &inner):
		return store.Entry{}, inner
	case failed != nil:
		return store.Entry{}, &stepError{s.name, failed}
	case err != nil && e.opt.look:
		return store.Entry{}, &stepError{s.name, e.lost(s, err)}
	case err != nil:
		return store.Entry{}, &stepError{s.name, err}
	}
	s.made, s.ran, s.entry = true, ran, entry
	return entry, nil
}

// lost says how an entry is made again that is gone or damaged: a run makes what is not there and looks for what that
// reads.
func (e *engine) lost(s *step, err error) error {
	if !errors.Is(err, store.ErrMissing) && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	var remove []string
	last := e.last()
	for all := slices.Concat(last, e.steps); ; {
		if entry, err := e.store.Get(s.recipe); err == nil {
			remove = append(remove, entry.Dir)
		}
		i := slices.IndexFunc(all, func(t *step) bool { return t.reads(s) })
		if i < 0 || slices.Contains(last, s) {
			break
		}
		s = all[i]
	}
	how := ""
	if remove != nil {
		how = "remove " + strings.Join(remove, " and ") + " and "
	}
	return fmt.Errorf("%w: %w; %srun the experiment again: entrorouter run %s", ErrIncomplete, err, how, e.spec.Named)
}

// last are the steps that a run is for: those that measure.
func (e *engine) last() []*step {
	return slices.Concat(e.measured, e.extra)
}

// stepError names the step that failed. Steps that needed it add nothing: a chain of them says less than its end.
type stepError struct {
	step string
	err  error
}

func (e *stepError) Error() string { return e.step + ": " + e.err.Error() }
func (e *stepError) Unwrap() error { return e.err }
