// Package explain says which steps of a planned run are to do and why: what of the spec, of other files or of the program
// differs from what is stored, and what that costs. It compares recipes, which are in the names of the files already
// (steps.Params), and writes nothing.
package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

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

// named returns the step of a name, or of a key that begins like this, with the stage's name or without.
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
