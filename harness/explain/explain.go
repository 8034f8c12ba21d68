// Package explain says which steps of a planned run are to do and why: what of the spec, of other files or of the program
// differs from what is stored, and what that costs. It compares recipes, which are in the names of the files already
// (harness/recipe.go), and writes nothing.
package explain

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

// Plan is what a run would carry out.
type Plan struct {
	Spec  *spec.Resolved
	Store *store.Store // only looked at
	Steps []*Step
	Last  []*Step // what the run is for: those that measure
}

// Step is a step of a run and what a reader may ask about it.
type Step struct {
	Name      string
	Recipe    store.Recipe
	Inputs    []Input
	From      map[string]Origin // path of the recipe -> where the value is set, where that is not at its path
	Pool      string
	Row       *spec.Method // of a fit: the row of the spec
	Benchmark string       // of problems and what is asked about them
	Fits      int          // routers that it fits
	Asking    bool         // they ask language models for every decision

	// Asks says which answers are not stored, but for those that the counted steps ask for too; nil: asks for none.
	Asks func(ctx context.Context, counted []*Step) (Asked, error)
}

// Input is a step that another reads, under the name that it has there: a path that says what it is, as in
// "outcomes/paper/aime24"; that of the knob, if one of the spec says which it is.
type Input struct {
	As string
	*Step
}

// Origin says where a value of a recipe is set, where that is not at its path.
type Origin struct {
	Path string
	Cap  string // a knob that, where it is set, lowers the value; empty: none
}

// Roots of a recipe's parameters, below which stands what lies in other files than the spec.
const (
	RootPool       = "pool"       // pools/NAME.yaml
	RootBenchmarks = "benchmarks" // benchmarks.yaml; a list, each with its name as id
	RootPrices     = "prices"     // prices/NAME.yaml
	RootMethod     = "method"     // a row of methods with every knob resolved
	RootRows       = "methods"    // the rows that are measured, each with its id
	RootCode       = "code"       // versions and constants of the program
	RootBuild      = "build"      // how it was built
	RootVerifier   = "verifier"   // version of the answer verifier
	RootModel      = "model"      // files of the language model that a policy starts from, and the prompt it reads
)

func (s *Step) stage() string { return s.Recipe.Key().Stage }

// reads says whether another step is among the inputs.
func (s *Step) reads(t *Step) bool {
	return slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Step == t })
}

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
	Fits int `json:"fits"` // routers to fit, one a training seed or fold
	Asked
	Routing int `json:"routing,omitempty"` // fits among Fits that ask language models for every decision, which Rollouts leaves out
}

// Asked is answers to ask for, with what they are expected to cost: by the mean of what the same model answered before, or, where
// Bound says so, by its token limit.
type Asked struct {
	Rollouts int     `json:"rollouts"`
	AtMost   bool    `json:"at_most,omitempty"` // Rollouts is a bound: problems that are not made yet may have answers already
	Tokens   float64 `json:"tokens,omitempty"`  // in and out
	USD      float64 `json:"usd,omitempty"`     // prompts included
	Bound    bool    `json:"bound,omitempty"`   // some model has answered nothing so far: tokens and dollars are the most it can take

	Hours   map[string]float64 `json:"hours,omitempty"`          // by model, as fast as it answered before. All are asked at the same time
	Unpaced map[string]float64 `json:"unpaced_tokens,omitempty"` // Tokens by model that has answered nothing, so that nobody knows how fast it is
}

// Longest is how many hours the slowest model takes; 0 if that of some model is not known.
func (a Asked) Longest() float64 {
	longest := 0.0
	if len(a.Unpaced) == 0 {
		for _, h := range a.Hours {
			longest = max(longest, h)
		}
	}
	return longest
}

// At is the same where servers of the models named take in and give so many tokens a second, all requests together: hours of models that
// have answered nothing.
func (a Asked) At(tokensPerSecond map[string]float64) Asked {
	hours, unpaced := maps.Clone(a.Hours), map[string]float64{}
	for model, tokens := range a.Unpaced {
		rate, ok := tokensPerSecond[model]
		if !ok {
			unpaced[model] = tokens
			continue
		}
		if hours == nil {
			hours = map[string]float64{}
		}
		hours[model] += tokens / rate / 3600
	}
	a.Hours, a.Unpaced = hours, unpaced
	return a
}

// Add returns the sum of two.
func (a Asked) Add(b Asked) Asked {
	return Asked{a.Rollouts + b.Rollouts, a.AtMost || b.AtMost, a.Tokens + b.Tokens, a.USD + b.USD, a.Bound || b.Bound, sums(a.Hours, b.Hours), sums(a.Unpaced, b.Unpaced)}
}

// sums adds numbers of the same name; nil where neither has one.
func sums(a, b map[string]float64) map[string]float64 {
	all := maps.Clone(a)
	for name, x := range b {
		if all == nil {
			all = map[string]float64{}
		}
		all[name] += x
	}
	return all
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
	plan    *Plan
	missing map[*Step]error // of the steps that are not stored
	todo    map[*Step]bool
	stages  map[string][]store.StoredRecipe
	recipes map[store.Key]store.Recipe // planned and stored
	planned map[store.Key]bool
	last    map[string][]store.Key // of the steps of the last run, by name, which draws of one benchmark share
	kinds   map[store.Key][]string // of the steps of the last run of any experiment
	left    map[string][]string    // path of a recipe -> rows as the last run made them that leave it to the spec
	reasons map[*Step]*reason
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
		recipes: map[store.Key]store.Recipe{}, planned: map[store.Key]bool{}, last: map[string][]store.Key{}, kinds: map[store.Key][]string{}, left: map[string][]string{}, reasons: map[*Step]*reason{}}
	for _, s := range p.Steps {
		x.recipes[s.Recipe.Key()], x.planned[s.Recipe.Key()] = s.Recipe, true
	}
	if err := x.look(); err != nil {
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

// reason says why a step is to do.
func (x *explainer) reason(s *Step) *reason {
	if r := x.reasons[s]; r != nil {
		return r
	}
	r := &reason{}
	x.reasons[s] = r
	for _, in := range s.Inputs {
		if x.todo[in.Step] && !slices.Contains(r.from, in.Step) {
			r.from = append(r.from, in.Step)
		}
	}
	if err := x.missing[s]; errors.Is(err, store.ErrCorrupt) {
		r.own = []Change{{Knob: "the store", Text: err.Error()}}
		return r
	}
	if slices.Contains(x.last[s.Name], s.Recipe.Key()) {
		r.own = []Change{{Knob: "the store", Text: "what the last run made is no longer there"}}
		return r
	}
	if c := x.added(s); c != nil {
		if s.Row != nil || len(r.from) == 0 { // what is new lies in an input otherwise
			r.own = []Change{*c}
		}
		return r
	}
	r.nearest, r.last = x.nearest(s)
	if r.nearest == nil {
		if len(x.last) == 0 || len(r.from) == 0 { // of an experiment that was never finished everything is new
			r.own, r.from = []Change{{Text: "not made yet"}}, nil
		}
		return r
	}
	r.own = x.changes(s, *r.nearest)
	if r.own == nil && r.from == nil {
		r.own = otherInputs(s, *r.nearest)
	}
	return r
}

// added says what of the spec a step belongs to that the last run did not have: a row, a problem set, a pool, an output;
// nil if it had all, or if there was none.
func (x *explainer) added(s *Step) *Change {
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
		switch row := s.Row.RowID(); {
		case had(s.stage() + " " + row):
		case had("fit " + row):
			c := &Change{Knob: s.Row.Path + ".match", Wanted: quote(s.Row.Match)}
			c.Text = compared(c.Stored, c.Wanted)
			return c
		default:
			return isNew("methods", "row ", row)
		}
	case "crossfit":
		switch row := s.Row.RowID(); {
		case had("crossfit " + s.Pool + " " + row):
		case had("crossfit " + s.Pool):
			return isNew("methods", "row ", row)
		default:
			return isNew("pools", "", s.Pool)
		}
	case "measure-folds":
		if !had("measure " + s.Pool) {
			return isNew("pools", "", s.Pool)
		}
	case "curves", "calibration":
		if !had(s.Name) {
			return isNew("outputs", "", s.Name)
		}
	case "problems":
		switch {
		case slices.ContainsFunc(x.last[s.Name], func(k store.Key) bool { return !x.planned[k] }): // an earlier form of it
		case s.Name != "problems "+s.Benchmark && had("problems "+s.Benchmark):
			return &Change{Knob: "large", Text: "a set scored by probability is new"}
		default:
			return isNew(x.where(s, RootBenchmarks), "", s.Benchmark)
		}
	case "profile", "outcomes", "expected":
		if !had("problems " + s.Benchmark) {
			return isNew(x.where(s.Inputs[0].Step, RootBenchmarks), "", s.Benchmark)
		}
	}
	return nil
}

// otherInputs says why a step is to do that differs from the stored one in nothing but which stored entries it reads.
func otherInputs(s *Step, stored store.Recipe) (out []Change) {
	had, wants := stored.Inputs(), s.Recipe.Inputs()
	say := func(name, text string) { out = append(out, Change{Knob: "inputs", Text: name + text}) }
	for _, in := range s.Inputs {
		if k, ok := had[in.As]; !ok {
			say(in.As, " is new")
		} else if k != in.Recipe.Key() {
			say(in.As, " is another")
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
func (x *explainer) roots(s *Step, seen map[*Step]bool) []Change {
	if seen[s] {
		return nil
	}
	seen[s] = true
	r := x.reason(s)
	out := slices.Clone(r.own)
	for _, in := range r.from {
		for _, c := range x.roots(in, seen) {
			out = add(out, c)
		}
	}
	return out
}

// work adds what a step costs. An answer that a counted step asks for too costs nothing again.
func (x *explainer) work(ctx context.Context, w *Work, s *Step, counted []*Step) error {
	w.Fits += s.Fits
	if s.Asking {
		w.Routing++
	}
	if s.Asks == nil {
		return nil
	}
	asked, err := s.Asks(ctx, counted)
	w.Asked = w.Asked.Add(asked)
	return err
}

// All says which steps of an experiment are to do, grouped by what made them so. It writes nothing.
func (p *Plan) All(ctx context.Context) (*Explanation, error) {
	x, err := newExplainer(p)
	if err != nil {
		return nil, err
	}
	out := &Explanation{Experiment: p.Spec.Experiment.Name, Steps: len(p.Steps), Causes: []Cause{}}
	var counted []*Step
	for _, s := range p.Steps {
		if !x.todo[s] {
			if err := x.missing[s]; errors.Is(err, store.ErrCorrupt) {
				out.Damaged = append(out.Damaged, Damaged{s.Name, s.Recipe.Key().String(), err.Error()})
			}
			continue
		}
		out.ToDo++
		var cost Work
		if err := x.work(ctx, &cost, s, counted); err != nil {
			return nil, err
		}
		counted = append(counted, s)
		out.Work.add(cost)
		why := x.reason(s)
		caused := map[int]bool{}
		for _, c := range x.roots(s, map[*Step]bool{}) {
			i := slices.IndexFunc(out.Causes, func(k Cause) bool { return k.Knob == c.Knob })
			if i < 0 {
				i, out.Causes = len(out.Causes), append(out.Causes, Cause{Knob: c.Knob})
			}
			k := &out.Causes[i]
			k.Changes = add(k.Changes, c)
			if caused[i] {
				continue
			}
			caused[i] = true
			k.Work.add(cost)
			if slices.ContainsFunc(why.own, func(d Change) bool { return d.Knob == c.Knob }) {
				k.Direct = append(k.Direct, s.Name)
			} else {
				k.Follow = append(k.Follow, s.Name)
			}
		}
	}
	return out, x.err
}

func (w *Work) add(v Work) {
	w.Fits += v.Fits
	w.Routing += v.Routing
	w.Asked = w.Asked.Add(v.Asked)
}

// One says everything of one step: named as Status prints it, or by the beginning of its key. It writes nothing.
func (p *Plan) One(name string) (*StepExplanation, error) {
	x, err := newExplainer(p)
	if err != nil {
		return nil, err
	}
	s, err := p.named(name)
	if err != nil {
		return nil, err
	}
	out := &StepExplanation{StepStatus: x.status(s), Inputs: []StepInput{}, Recipe: s.Recipe.JSON()}
	for _, in := range s.Inputs {
		out.Inputs = append(out.Inputs, StepInput{in.As, in.Name, in.Recipe.Key().String(), x.state(in.Step)})
	}
	for _, t := range p.Steps {
		if t.reads(s) {
			out.ReadBy = append(out.ReadBy, t.Name)
		}
	}
	if x.state(s) == StateStored {
		entry, err := p.Store.Get(s.Recipe)
		out.Folder = entry.Dir
		return out, err
	}
	why := x.reason(s)
	if why.nearest != nil {
		out.Nearest, out.LastRun = why.nearest.Key().String(), why.last
	}
	out.Changes = why.own
	out.Because = x.chains(s, map[*Step]bool{})
	return out, x.err
}

// chains lists for every root of a step the steps on the way to it. A root that several inputs lead to is followed
// through the first.
func (x *explainer) chains(s *Step, seen map[*Step]bool) (out []string) {
	if seen[s] {
		return nil
	}
	seen[s] = true
	r := x.reason(s)
	for _, c := range r.own {
		out = append(out, s.Name+": "+c.String())
	}
	for _, in := range r.from {
		for _, c := range x.chains(in, seen) {
			out = append(out, s.Name+" reads "+c)
		}
	}
	return out
}

// stepNamed returns the step of a name, or of a key that begins like this, with the stage's name or without.
func (p *Plan) named(name string) (*Step, error) {
	var byName, byKey []*Step
	for _, s := range p.Steps {
		if s.Name == name {
			byName = append(byName, s)
		}
		digits, ok := strings.CutPrefix(name, s.stage()+"-")
		text, _ := s.Recipe.Key().MarshalText() // never fails
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
	for _, s := range p.Steps {
		names = append(names, s.Name)
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
	return nil, fmt.Errorf("%w: experiment %s has %s %q; %s %s; entrorouter plan %s lists all", spec.ErrUsage, p.Spec.Experiment.Name, what, name, which, strings.Join(names, ", "), p.Spec.Named)
}

func keysOf(steps []*Step) (keys []string) {
	for _, s := range steps {
		keys = append(keys, s.Recipe.Key().String())
	}
	return keys
}
