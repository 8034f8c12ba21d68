package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Change is one difference between what is stored and what is wanted.
type Change struct {
	Knob   string `json:"knob"`             // where it is set: "grpo.steps", "pools/sim.yaml: sampling.top_p", "the code"; empty: nothing to compare with
	Field  string `json:"field,omitempty"`  // of recipe.json; empty: none of its own
	Stored Raw    `json:"stored,omitempty"` // empty: not set in what is stored
	Wanted Raw    `json:"wanted,omitempty"` // empty: not set now
	Text   string `json:"change"`           // in words: "2 stored, 3 wanted"
}

// Raw is a value in JSON, and in JSON it is that value.
type Raw string

// MarshalJSON implements json.Marshaler.
func (r Raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// String is the change as a sentence without its full stop.
func (c Change) String() string {
	if c.Knob == "" {
		return c.Text
	}
	return c.Knob + ": " + c.Text
}

// Work is what steps cost that are to do.
type Work struct {
	Fits     int  `json:"fits"`              // routers to fit, one a training seed or fold
	Rollouts int  `json:"rollouts"`          // answers to ask for
	AtMost   bool `json:"at_most,omitempty"` // Rollouts is a bound: problems that are not made yet may have answers already
	Routing  int  `json:"routing,omitempty"` // fits among Fits that ask language models for every decision, which Rollouts leaves out
}

// Cause is a root of what is to do: a knob that differs, and the steps that it moves.
type Cause struct {
	Knob    string   `json:"knob"`
	Changes []Change `json:"changes"`
	Direct  []string `json:"direct"`           // steps that it moves itself
	Follow  []string `json:"follow,omitempty"` // steps that only read what is new
	Work    Work     `json:"work"`             // of both
}

// Explanation says which steps of an experiment are to do and why.
type Explanation struct {
	Experiment string  `json:"experiment"`
	Steps      int     `json:"steps"`
	ToDo       int     `json:"to_do"`
	Work       Work    `json:"work"`
	Causes     []Cause `json:"causes"` // a step that several move is in each

	Damaged []Damaged `json:"damaged,omitempty"` // entries that cannot be trusted and that no step to do reads
}

// Damaged is a stored entry that is not what was written.
type Damaged struct {
	Name  string `json:"name"` // of the step
	Key   string `json:"key"`
	Fault string `json:"fault"`
}

// StepInput is an entry that a step reads.
type StepInput struct {
	As    string `json:"as"`   // its name in the recipe
	Name  string `json:"name"` // of the step
	Key   string `json:"key"`
	State string `json:"state"` // as StepStatus
}

// StepExplanation is everything known of one step.
type StepExplanation struct {
	StepStatus
	Folder  string          `json:"folder,omitempty"`  // of the entry, if it is stored
	Nearest string          `json:"nearest,omitempty"` // key of the stored recipe that it was compared with
	LastRun bool            `json:"last_run"`          // the nearest is this step in the last run of the experiment
	Changes []Change        `json:"changes,omitempty"` // of its own recipe and of stored inputs
	Because []string        `json:"because,omitempty"` // for each root the steps on the way to it and the change, this step first
	Inputs  []StepInput     `json:"inputs"`
	Recipe  json.RawMessage `json:"recipe"` // as recipe.json
	ReadBy  []string        `json:"read_by,omitempty"`
}

// States of a step.
const (
	StateStored    = "stored"
	StateToDo      = "to do"
	StateNotNeeded = "not needed" // not stored, and nothing that is to do reads it
)

// explainer compares the steps of an experiment with what is stored.
type explainer struct {
	e       *engine
	missing map[*step]error // of the steps that are not stored
	todo    map[*step]bool
	stages  map[string][]store.StoredRecipe
	recipes map[store.Key]store.Recipe // planned and stored
	planned map[store.Key]bool
	last    map[string][]store.Key // of the steps of the last run, by name, which draws of one benchmark share
	kinds   map[store.Key][]string // of the steps of the last run of any experiment
	left    map[string][]string    // path of a recipe -> rows as the last run made them that leave it to the spec
	reasons map[*step]*reason
}

// reason is why one step is to do.
type reason struct {
	nearest *store.Recipe
	last    bool     // nearest is of the last run
	own     []Change // of its recipe, and of inputs that are stored but were others
	from    []*step  // inputs that are to do themselves
}

// look opens an experiment of any protocol and plans its steps, without writing anything.
func look(ctx context.Context, r *spec.Resolved, o Options) (*engine, error) {
	o.look = true
	switch r.Experiment.Protocol {
	case "folds":
		return newFolds(ctx, r, o)
	case "collapse":
		return newCollapse(ctx, r, o)
	}
	return newEngine(ctx, r, o)
}

func openExplainer(ctx context.Context, r *spec.Resolved, o Options) (*explainer, error) {
	e, err := look(ctx, r, o)
	if err != nil {
		return nil, err
	}
	x, err := newExplainer(e)
	if err != nil {
		e.close()
	}
	return x, err
}

func newExplainer(e *engine) (*explainer, error) {
	x := &explainer{e: e, missing: map[*step]error{}, todo: map[*step]bool{}, stages: map[string][]store.StoredRecipe{},
		recipes: map[store.Key]store.Recipe{}, planned: map[store.Key]bool{}, last: map[string][]store.Key{}, kinds: map[store.Key][]string{}, left: map[string][]string{}, reasons: map[*step]*reason{}}
	for _, s := range e.steps {
		x.recipes[s.recipe.Key()], x.planned[s.recipe.Key()] = s.recipe, true
		if _, err := e.store.Get(s.recipe); err != nil {
			if !errors.Is(err, store.ErrMissing) && !errors.Is(err, store.ErrCorrupt) {
				return nil, err
			}
			x.missing[s] = err
		}
	}
	for need := e.last(); len(need) > 0; {
		s := need[0]
		need = need[1:]
		if x.missing[s] != nil && !x.todo[s] {
			x.todo[s] = true
			for _, in := range s.inputs {
				need = append(need, in.step)
			}
		}
	}
	experiments, err := e.store.Experiments()
	if err != nil {
		return nil, err
	}
	for _, name := range experiments {
		index, err := e.store.ReadIndex(name)
		if err != nil && name == e.spec.Experiment.Name {
			return nil, err
		}
		for _, s := range index { // nothing, if that of another experiment cannot be read
			x.kinds[s.Key] = append(x.kinds[s.Key], kind(s.Name))
			if name == e.spec.Experiment.Name {
				x.last[s.Name] = append(x.last[s.Name], s.Key)
			}
		}
	}
	return x, nil
}

func (x *explainer) state(s *step) string {
	switch {
	case x.missing[s] == nil:
		return StateStored
	case x.todo[s]:
		return StateToDo
	}
	return StateNotNeeded
}

// stage returns the stored recipes of a stage.
func (x *explainer) stage(name string) ([]store.StoredRecipe, error) {
	if of, ok := x.stages[name]; ok {
		return of, nil
	}
	of, err := x.e.store.Recipes(name)
	if err != nil {
		return nil, err
	}
	x.stages[name] = of
	for _, r := range of {
		x.recipes[r.Key()] = r.Recipe
	}
	return of, nil
}

// recipe returns a recipe by its key; ok is false if it is neither planned nor stored.
func (x *explainer) recipe(k store.Key) (r store.Recipe, ok bool, err error) {
	if _, err := x.stage(k.Stage); err != nil {
		return r, false, err
	}
	r, ok = x.recipes[k]
	return r, ok, nil
}

// reason says why a step is to do.
func (x *explainer) reason(s *step) (*reason, error) {
	if r := x.reasons[s]; r != nil {
		return r, nil
	}
	r := &reason{}
	x.reasons[s] = r
	for _, in := range s.inputs {
		if x.todo[in.step] && !slices.Contains(r.from, in.step) {
			r.from = append(r.from, in.step)
		}
	}
	if err := x.missing[s]; errors.Is(err, store.ErrCorrupt) {
		r.own = []Change{{Knob: "the store", Text: err.Error()}}
		return r, nil
	}
	if slices.Contains(x.last[s.name], s.recipe.Key()) {
		r.own = []Change{{Knob: "the store", Text: "what the last run made is no longer there"}}
		return r, nil
	}
	if c := x.added(s); c != nil {
		if s.row != nil || len(r.from) == 0 { // what is new lies in an input otherwise
			r.own = []Change{*c}
		}
		return r, nil
	}
	var err error
	if r.nearest, r.last, err = x.nearest(s); err != nil {
		return nil, err
	}
	if r.nearest == nil {
		if len(x.last) == 0 || len(r.from) == 0 { // of an experiment that was never finished everything is new
			r.own, r.from = []Change{{Text: "not made yet"}}, nil
		}
		return r, nil
	}
	r.own, err = x.changes(s, *r.nearest)
	if err != nil {
		return nil, err
	}
	if r.own == nil && r.from == nil {
		r.own = otherInputs(s, *r.nearest)
	}
	return r, err
}

// added says what of the spec a step belongs to that the last run did not have: a row, a problem set, a pool, an output;
// nil if it had all, or if there was none.
func (x *explainer) added(s *step) *Change {
	if len(x.last) == 0 {
		return nil
	}
	had := func(start string) bool {
		for name := range x.last {
			if name == start || strings.HasPrefix(name, start+" ") {
				return true
			}
		}
		return false
	}
	isNew := func(knob, what, name string) *Change {
		return &Change{Knob: knob, Text: what + name + " is new", Wanted: quote(name)}
	}
	switch s.stage() {
	case "fit", "match":
		switch row := s.row.RowID(); {
		case had(s.stage() + " " + row):
		case had("fit " + row):
			c := &Change{Knob: s.row.Path + ".match", Wanted: quote(s.row.Match)}
			c.Text = compared(c.Stored, c.Wanted)
			return c
		default:
			return isNew("methods", "row ", row)
		}
	case "crossfit":
		switch row := s.row.RowID(); {
		case had("crossfit " + s.pool + " " + row):
		case had("crossfit " + s.pool):
			return isNew("methods", "row ", row)
		default:
			return isNew("pools", "", s.pool)
		}
	case "measure-folds":
		if !had("measure " + s.pool) {
			return isNew("pools", "", s.pool)
		}
	case "curves", "calibration":
		if !had(s.name) {
			return isNew("outputs", "", s.name)
		}
	case "problems":
		switch {
		case slices.ContainsFunc(x.last[s.name], func(k store.Key) bool { return !x.planned[k] }): // an earlier form of it
		case s.name != "problems "+s.benchmark && had("problems "+s.benchmark):
			return &Change{Knob: "large", Text: "a set scored by probability is new"}
		default:
			return isNew(x.where(s, rootBenchmarks), "", s.benchmark)
		}
	case "profile", "outcomes", "expected":
		if !had("problems " + s.benchmark) {
			return isNew(x.where(s.inputs[0].step, rootBenchmarks), "", s.benchmark)
		}
	}
	return nil
}

// otherInputs says why a step is to do that differs from the stored one in nothing but which stored entries it reads.
func otherInputs(s *step, stored store.Recipe) (out []Change) {
	had, wants := stored.Inputs(), s.recipe.Inputs()
	say := func(name, text string) { out = append(out, Change{Knob: "inputs", Text: name + text}) }
	for _, in := range s.inputs {
		if k, ok := had[in.as]; !ok {
			say(in.as, " is new")
		} else if k != in.recipe.Key() {
			say(in.as, " is another")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(had)) {
		if _, ok := wants[name]; !ok {
			say(name, " is gone")
		}
	}
	return out
}

// roots returns the changes that a step is to do for, its own and those of the inputs that are to do.
func (x *explainer) roots(s *step, seen map[*step]bool) ([]Change, error) {
	if seen[s] {
		return nil, nil
	}
	seen[s] = true
	r, err := x.reason(s)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(r.own)
	for _, in := range r.from {
		of, err := x.roots(in, seen)
		if err != nil {
			return nil, err
		}
		for _, c := range of {
			out = add(out, c)
		}
	}
	return out, nil
}

// work adds what a step costs.
func (x *explainer) work(ctx context.Context, w *Work, s *step) error {
	switch s.stage() {
	case "fit":
		w.Fits++
		for _, row := range x.e.fits {
			if slices.ContainsFunc(row, func(f *fit) bool { return f.step == s && f.asking }) {
				w.Routing++
				break
			}
		}
	case "crossfit":
		w.Fits += x.e.spec.Experiment.Folds.K
	}
	if s.asks == nil {
		return nil
	}
	n, atMost, err := s.asks(ctx)
	w.Rollouts += n
	w.AtMost = w.AtMost || atMost && n > 0
	return err
}

// Explain says which steps of an experiment are to do, grouped by what made them so. It writes nothing.
func Explain(ctx context.Context, r *spec.Resolved, o Options) (*Explanation, error) {
	x, err := openExplainer(ctx, r, o)
	if err != nil {
		return nil, err
	}
	e := x.e
	defer e.close()
	out := &Explanation{Experiment: r.Experiment.Name, Steps: len(e.steps), Causes: []Cause{}}
	for _, s := range e.steps {
		if !x.todo[s] {
			if err := x.missing[s]; errors.Is(err, store.ErrCorrupt) {
				out.Damaged = append(out.Damaged, Damaged{s.name, s.recipe.Key().String(), err.Error()})
			}
			continue
		}
		out.ToDo++
		var cost Work
		if err := x.work(ctx, &cost, s); err != nil {
			return nil, err
		}
		out.Work.add(cost)
		why, err := x.reason(s)
		if err != nil {
			return nil, err
		}
		roots, err := x.roots(s, map[*step]bool{})
		if err != nil {
			return nil, err
		}
		counted := map[int]bool{}
		for _, c := range roots {
			i := slices.IndexFunc(out.Causes, func(k Cause) bool { return k.Knob == c.Knob })
			if i < 0 {
				i, out.Causes = len(out.Causes), append(out.Causes, Cause{Knob: c.Knob})
			}
			k := &out.Causes[i]
			k.Changes = add(k.Changes, c)
			if counted[i] {
				continue
			}
			counted[i] = true
			k.Work.add(cost)
			if slices.ContainsFunc(why.own, func(d Change) bool { return d.Knob == c.Knob }) {
				k.Direct = append(k.Direct, s.name)
			} else {
				k.Follow = append(k.Follow, s.name)
			}
		}
	}
	return out, nil
}

func (w *Work) add(v Work) {
	w.Fits += v.Fits
	w.Rollouts += v.Rollouts
	w.Routing += v.Routing
	w.AtMost = w.AtMost || v.AtMost
}

// ExplainStep says everything of one step: named as Plan prints it, or by the beginning of its key. It writes nothing.
func ExplainStep(ctx context.Context, r *spec.Resolved, o Options, name string) (*StepExplanation, error) {
	x, err := openExplainer(ctx, r, o)
	if err != nil {
		return nil, err
	}
	e := x.e
	defer e.close()
	s, err := e.stepNamed(name)
	if err != nil {
		return nil, err
	}
	status, err := x.status(s)
	if err != nil {
		return nil, err
	}
	out := &StepExplanation{StepStatus: status, Inputs: []StepInput{}, Recipe: s.recipe.JSON()}
	for _, in := range s.inputs {
		out.Inputs = append(out.Inputs, StepInput{in.as, in.name, in.recipe.Key().String(), x.state(in.step)})
	}
	for _, t := range e.steps {
		if t.reads(s) {
			out.ReadBy = append(out.ReadBy, t.name)
		}
	}
	if x.state(s) == StateStored {
		entry, err := e.store.Get(s.recipe)
		out.Folder = entry.Dir
		return out, err
	}
	why, err := x.reason(s)
	if err != nil {
		return nil, err
	}
	if why.nearest != nil {
		out.Nearest, out.LastRun = why.nearest.Key().String(), why.last
	}
	out.Changes = why.own
	out.Because, err = x.chains(s, map[*step]bool{})
	return out, err
}

// chains lists for every root of a step the steps on the way to it. A root that several inputs lead to is followed
// through the first.
func (x *explainer) chains(s *step, seen map[*step]bool) (out []string, err error) {
	if seen[s] {
		return nil, nil
	}
	seen[s] = true
	r, err := x.reason(s)
	if err != nil {
		return nil, err
	}
	for _, c := range r.own {
		out = append(out, s.name+": "+c.String())
	}
	for _, in := range r.from {
		of, err := x.chains(in, seen)
		if err != nil {
			return nil, err
		}
		for _, c := range of {
			out = append(out, s.name+" reads "+c)
		}
	}
	return out, nil
}

// stepNamed returns the step of a name, or of a key that begins like this, with the stage's name or without.
func (e *engine) stepNamed(name string) (*step, error) {
	var byName, byKey []*step
	for _, s := range e.steps {
		if s.name == name {
			byName = append(byName, s)
		}
		digits, ok := strings.CutPrefix(name, s.stage()+"-")
		text, _ := s.recipe.Key().MarshalText() // never fails
		if (ok || digits != "") && strings.HasPrefix(string(text), s.stage()+"-"+digits) {
			byKey = append(byKey, s)
		}
	}
	if len(byName) == 1 {
		return byName[0], nil
	}
	if len(byKey) == 1 {
		return byKey[0], nil
	}
	var names []string
	for _, s := range e.steps {
		names = append(names, s.name)
	}
	names = spec.Near(name, names, 4)
	what, which := "no step", "near are"
	switch {
	case len(byName) > 1:
		what, which, names = fmt.Sprintf("%d steps", len(byName)), "say which by the key:", keysOf(byName)
	case len(byKey) > 1:
		what, which, names = fmt.Sprintf("%d steps with a key that begins like", len(byKey)), "they are", keysOf(byKey)
	}
	for i, n := range names {
		names[i] = fmt.Sprintf("%q", n)
	}
	return nil, fmt.Errorf("%w: experiment %s has %s %q; %s %s; entrorouter plan %s lists all", ErrUsage, e.spec.Experiment.Name, what, name, which, strings.Join(names, ", "), e.spec.Named)
}

func keysOf(steps []*step) (keys []string) {
	for _, s := range steps {
		keys = append(keys, s.recipe.Key().String())
	}
	return keys
}
