// What of a plan is stored, which steps will run, and what earlier runs made in their place.

package explain

import (
	"errors"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/store"
)

// States of a step.
const (
	StateStored    = "stored"
	StateToDo      = "to do"
	StateNotNeeded = "not needed" // not stored, and nothing that is to do reads it
)

// explainer compares the steps of an experiment with what is stored.
type explainer struct {
	plan    *Plan
	missing map[*Step]error // of the steps that are not stored
	todo    map[*Step]bool
	stages  map[string][]store.StoredRecipe
	recipes map[store.Key]store.Recipe // planned and stored
	planned map[store.Key]bool
	last    map[string][]store.Key     // of the steps of the last run, by name, which draws of one benchmark share
	kinds   map[store.Key][]string     // of the steps of the last run of any experiment
	left    map[string]map[string]bool // path of a recipe -> rows that leave it to the spec, and whether they are as the last run made them
	reasons map[*Step]*reason
	pace    *pace
	err     error // the first of the store: what was said since then is to be forgotten
}

// reason is why one step is to do.
type reason struct {
	nearest *store.Recipe
	last    bool     // nearest is of the last run
	own     []Change // of its recipe, and of inputs that are stored but were others
	from    []*Step  // inputs that are to do themselves
}

func newExplainer(p *Plan) (*explainer, error) {
	x := &explainer{plan: p, missing: map[*Step]error{}, todo: map[*Step]bool{}, stages: map[string][]store.StoredRecipe{},
		recipes: map[store.Key]store.Recipe{}, planned: map[store.Key]bool{}, last: map[string][]store.Key{}, kinds: map[store.Key][]string{}, left: map[string]map[string]bool{}, reasons: map[*Step]*reason{}}
	for _, s := range p.Steps {
		x.recipes[s.Recipe.Key()], x.planned[s.Recipe.Key()] = s.Recipe, true
	}
	if err := x.look(); err != nil {
		return nil, err
	}
	var err error
	if x.pace, err = p.pace(); err != nil {
		return nil, err
	}
	experiments, err := p.Store.Experiments()
	if err != nil {
		return nil, err
	}
	for _, name := range experiments {
		index, err := p.Store.ReadIndex(name)
		if err != nil && name == p.Spec.Experiment.Name {
			return nil, err
		}
		for _, s := range index { // nothing, if that of another experiment cannot be read
			x.kinds[s.Key] = append(x.kinds[s.Key], kind(s.Name))
			if name == p.Spec.Experiment.Name {
				x.last[s.Name] = append(x.last[s.Name], s.Key)
			}
		}
	}
	return x, nil
}

// look finds which steps are not stored, and which of these are to do.
func (x *explainer) look() error {
	for _, s := range x.plan.Steps {
		if _, err := x.plan.Store.Get(s.Recipe); err != nil {
			if !errors.Is(err, store.ErrMissing) && !errors.Is(err, store.ErrCorrupt) {
				return err
			}
			x.missing[s] = err
		}
	}
	for need := x.plan.Last; len(need) > 0; {
		s := need[0]
		need = need[1:]
		if x.missing[s] != nil && !x.todo[s] {
			x.todo[s] = true
			for _, in := range s.Inputs {
				need = append(need, in.Step)
			}
		}
	}
	return nil
}

// ToDo lists the steps that a run would make.
func (p *Plan) ToDo() (steps []*Step, err error) {
	x := &explainer{plan: p, missing: map[*Step]error{}, todo: map[*Step]bool{}}
	if err := x.look(); err != nil {
		return nil, err
	}
	for _, s := range p.Steps {
		if x.todo[s] {
			steps = append(steps, s)
		}
	}
	return steps, nil
}

func (x *explainer) state(s *Step) string {
	switch {
	case x.missing[s] == nil:
		return StateStored
	case x.todo[s]:
		return StateToDo
	}
	return StateNotNeeded
}

// stage returns the stored recipes of a stage.
func (x *explainer) stage(name string) []store.StoredRecipe {
	if of, ok := x.stages[name]; ok {
		return of
	}
	of, err := x.plan.Store.Recipes(name)
	if x.err == nil {
		x.err = err
	}
	x.stages[name] = of
	for _, r := range of {
		x.recipes[r.Key()] = r.Recipe
	}
	return of
}

// recipe returns a recipe by its key; ok is false if it is neither planned nor stored.
func (x *explainer) recipe(k store.Key) (r store.Recipe, ok bool) {
	x.stage(k.Stage)
	r, ok = x.recipes[k]
	return r, ok
}

// kind is the name of a step without its training seed or partition: steps of one kind are versions of one another.
func kind(name string) string {
	if i := strings.LastIndexByte(name, ' '); i >= 0 && strings.Contains(name[i:], "=") {
		return name[:i]
	}
	return name
}

// nearest returns the stored recipe to compare a step with: that of the same step in the last run of the experiment, or
// else the one of its kind in the last run of any with the fewest differences, the last made among equals; nil if there is
// none.
func (x *explainer) nearest(s *Step) (best *store.Recipe, last bool) {
	stored := x.stage(s.stage())
	fewest := 0
	consider := func(r *store.Recipe) {
		n := len(store.Compare(*r, s.Recipe))
		for _, in := range s.Inputs {
			if !r.Reads(in.Recipe.Key()) {
				n++
			}
		}
		if best == nil || n < fewest {
			best, fewest = r, n
		}
	}
	for _, r := range stored {
		if slices.Contains(x.last[s.Name], r.Key()) && !x.planned[r.Key()] { // what is planned is no earlier form of another
			consider(&r.Recipe)
		}
	}
	if best != nil {
		return best, true
	}
	for _, r := range stored {
		if slices.Contains(x.kinds[r.Key()], kind(s.Name)) && (len(x.last) > 0 || !x.planned[r.Key()]) {
			consider(&r.Recipe)
		}
	}
	return best, false
}
