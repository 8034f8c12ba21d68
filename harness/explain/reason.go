// Why a step is to do: its own changes, or those of what it reads.

package explain

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/store"
)

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
