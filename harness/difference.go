package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/problems"
	"github.com/entrorouter/entrorouter/harness/store"
)

// nearest returns the stored recipe to compare a step with: that of the same step in the last run of the experiment, or
// else the one of its kind with the fewest differences, the last made among equals; nil if there is none.
func (x *explainer) nearest(s *step) (best *store.Recipe, last bool, err error) {
	stored, err := x.stage(s.stage())
	if err != nil {
		return nil, false, err
	}
	kind, err := x.kind(s.recipe)
	if err != nil {
		return nil, false, err
	}
	fewest := 0
	for _, r := range stored {
		if !slices.Contains(x.last[s.name], r.Key()) {
			continue
		}
		if n := distance(r.Recipe, s.recipe); best == nil || n < fewest {
			best, fewest = &r.Recipe, n
		}
	}
	if best != nil {
		return best, true, nil
	}
	for _, r := range stored {
		// Without a last run to compare with, what is a step of this plan itself is no earlier form of another.
		if len(x.last) == 0 && x.planned[r.Key()] {
			continue
		}
		of, err := x.kind(r.Recipe)
		if err != nil {
			return nil, false, err
		}
		if of != kind {
			continue
		}
		if n := distance(r.Recipe, s.recipe); best == nil || n < fewest {
			best, fewest = &r.Recipe, n
		}
	}
	return best, false, nil
}

// distance counts differences of two recipes.
func distance(a, b store.Recipe) int {
	n := len(store.Compare(a, b))
	for _, k := range b.Inputs() {
		if !slices.Contains(a.Inputs(), k) {
			n++
		}
	}
	return n
}

// kind tells steps of a stage apart that nobody would take for versions of one another: of other methods, benchmarks,
// experts or recordings.
func (x *explainer) kind(r store.Recipe) (string, error) {
	var p struct {
		Benchmark, Draw, Pool string
		Method                any // of a fit an object with a name of its own
		Source                any
		Experts               []any
	}
	if r.Key().Stage != "collapse" {
		if err := json.Unmarshal(r.Params(), &p); err != nil {
			return "", fmt.Errorf("recipe %s: %w", r.Key(), err)
		}
	}
	member := func(of any, name string) any {
		m, _ := of.(map[string]any)
		return m[name]
	}
	kind := r.Key().Stage
	switch kind {
	case "problems":
		return fmt.Sprint(kind, p.Benchmark, "|", p.Draw), nil
	case "fit", "crossfit":
		return fmt.Sprint(kind, member(p.Method, "Method"), "|", member(p.Source, "Queries")), nil
	case "measure-folds":
		return fmt.Sprint(kind, p.Pool), nil
	case "profile", "outcomes", "expected":
		for _, m := range p.Experts {
			kind += fmt.Sprint("|", member(m, "ID"))
		}
		fallthrough
	case "match":
		for _, k := range r.Inputs() {
			in, ok, err := x.recipe(k)
			if err != nil {
				return "", err
			}
			if !ok {
				continue
			}
			of, err := x.kind(in)
			if err != nil {
				return "", err
			}
			kind += "|" + of
		}
	}
	return kind, nil
}

// changes returns how a step differs from a stored recipe, in its own fields and behind those of its inputs that are
// stored now and were others then.
func (x *explainer) changes(s *step, stored store.Recipe) ([]Change, error) {
	tests, err := x.tests(s, stored)
	if err != nil {
		return nil, err
	}
	out := tests
	fields := store.Compare(stored, s.recipe)
	if slices.ContainsFunc(fields, func(f store.Field) bool { return f.Name() == "params.Test" }) { // and so of their sizes
		fields = slices.DeleteFunc(fields, func(f store.Field) bool { return f.Name() == "params.Weights" })
	}
	var members []string // paths whose member came or went: nothing else is said of them
	for _, f := range fields {
		if n := len(f.Path); f.Path[n-1] == "ID" && (f.Stored == "" || f.Wanted == "") {
			members = append(members, strings.Join(f.Path[:n-1], "\x00"))
		}
	}
	renamed := slices.ContainsFunc(fields, func(f store.Field) bool { return f.Name() == "params.Method.Method" })
	for _, f := range fields {
		c := Change{Knob: x.e.knobOf(s, f.Path), Field: f.Name(), Stored: f.Stored, Wanted: f.Wanted}
		n := len(f.Path)
		owner := strings.Join(f.Path[:n-1], "\x00")
		switch {
		case renamed && n > 2 && f.Path[1] == "Method" && f.Path[2] != "Method":
			continue // the parameters of another method
		case slices.ContainsFunc(members, func(m string) bool { return owner == m || strings.HasPrefix(owner, m+"\x00") }):
			if f.Path[n-1] != "ID" {
				continue
			}
			c.Knob, c.Field = x.e.knobOf(s, f.Path[:n-2]), strings.Join(f.Path[:n-1], ".")
			if c.Text = f.Path[n-2] + " is new"; f.Wanted == "" {
				c.Text = f.Path[n-2] + " is gone"
			}
			if c.Knob == "methods" {
				c.Text = "row " + c.Text
			}
		case f.Path[n-1] == "order":
			if slices.ContainsFunc(members, func(m string) bool { return strings.HasPrefix(m, owner+"\x00") }) {
				continue
			}
			c.Knob, c.Text = x.e.knobOf(s, f.Path[:n-1]), "in another order"
		case c.Knob == inCode && f.Path[0] == "version":
			c.Text = fmt.Sprintf("%s steps mean something else: version %s stored, %s wanted", s.stage(), f.Stored, f.Wanted)
		case f.Path[n-1] == "Fits":
			c.Text = fmt.Sprintf("%s trainings of a row stored, %s wanted", f.Stored, f.Wanted)
		case s.stage() == "fit" && f.Path[1] == "Runs" && (len(tests) > 0 || f.Stored == "" || f.Wanted == ""):
			if len(tests) > 0 {
				continue
			}
			if c.Text = "a set scored by probability is new"; f.Wanted == "" {
				c.Text = "the set scored by probability is gone"
			}
			c.Stored, c.Wanted = "", ""
		case s.stage() == "fit" && f.Path[1] == "Runs":
			for _, each := range pairwise(c) {
				out = add(out, each)
			}
			continue
		case c.Knob == "evaluate.seeds" && s.row != nil, c.Knob == "folds.seeds":
			c.Text = f.Wanted + " is new"
		case c.Knob == inCode || c.Knob == inBuild || c.Knob == inVerifier:
			c.Text = fmt.Sprintf("%s: %s", f.Path[n-1], compared(f.Stored, f.Wanted))
		default:
			if of := membership(c); of != nil {
				for _, m := range of {
					out = add(out, m)
				}
				continue
			}
			c.Text = compared(f.Stored, f.Wanted)
		}
		out = add(out, c)
	}
	for _, in := range s.inputs {
		if x.todo[in] || slices.Contains(stored.Inputs(), in.recipe.Key()) {
			continue
		}
		partner, err := x.partner(s, in, stored)
		if err != nil {
			return nil, err
		}
		if partner == nil {
			continue
		}
		behind, err := x.changes(in, *partner)
		if err != nil {
			return nil, err
		}
		for _, c := range behind {
			c.Field = ""
			out = add(out, c)
		}
	}
	return out, nil
}

// add appends a change whose knob does not say the same already.
func add(changes []Change, c Change) []Change {
	if slices.ContainsFunc(changes, func(d Change) bool { return d.Knob == c.Knob && d.Text == c.Text }) {
		return changes
	}
	return append(changes, c)
}

// partner returns the entry that a stored recipe read in place of an input of the step, the nearest of its kind.
func (x *explainer) partner(s, in *step, stored store.Recipe) (best *store.Recipe, err error) {
	kind, err := x.kind(in.recipe)
	if err != nil {
		return nil, err
	}
	fewest := 0
	for _, k := range stored.Inputs() {
		r, ok, err := x.recipe(k)
		if err != nil {
			return nil, err
		}
		if !ok || k.Stage != in.stage() || slices.Contains(s.recipe.Inputs(), k) {
			continue
		}
		of, err := x.kind(r)
		if err != nil {
			return nil, err
		}
		if of != kind {
			continue
		}
		if n := distance(r, in.recipe); best == nil || n < fewest {
			best, fewest = &r, n
		}
	}
	return best, nil
}

// tests says which test benchmarks a step reads that the stored recipe did not, and the reverse.
func (x *explainer) tests(s *step, stored store.Recipe) (out []Change, err error) {
	of := func(r store.Recipe) (names []string, err error) {
		for _, k := range r.Inputs() {
			in, ok, err := x.recipe(k)
			if err != nil {
				return nil, err
			}
			if !ok || k.Stage != "problems" {
				continue
			}
			var p struct{ Benchmark, Draw string }
			if err := json.Unmarshal(in.Params(), &p); err != nil {
				return nil, fmt.Errorf("recipe %s: %w", k, err)
			}
			if p.Draw != problems.Large {
				names = append(names, p.Benchmark)
			}
		}
		return names, nil
	}
	if s.stage() != "fit" {
		return nil, nil
	}
	had, err := of(stored)
	if err != nil {
		return nil, err
	}
	wants, err := of(s.recipe)
	if err != nil {
		return nil, err
	}
	for _, b := range wants {
		if !slices.Contains(had, b) {
			out = append(out, Change{Knob: "test", Wanted: quote(b), Text: b + " is new"})
		}
	}
	for _, b := range had {
		if !slices.Contains(wants, b) {
			out = append(out, Change{Knob: "test", Stored: quote(b), Text: b + " is gone"})
		}
	}
	return out, nil
}

// membership splits the change of a list of plain values into one for each that came or went; nil if none did.
func membership(c Change) (out []Change) {
	var had, wants []any
	if json.Unmarshal([]byte(c.Stored), &had) != nil || json.Unmarshal([]byte(c.Wanted), &wants) != nil {
		return nil
	}
	for _, w := range wants {
		if !slices.Contains(had, w) {
			out = append(out, Change{c.Knob, c.Field, "", quote(w), fmt.Sprint(w, " is new")})
		}
	}
	for _, h := range had {
		if !slices.Contains(wants, h) {
			out = append(out, Change{c.Knob, c.Field, quote(h), "", fmt.Sprint(h, " is gone")})
		}
	}
	return out
}

// pairwise splits the change of a list into one for each place that differs.
func pairwise(c Change) (out []Change) {
	var had, wants []any
	if json.Unmarshal([]byte(c.Stored), &had) != nil || json.Unmarshal([]byte(c.Wanted), &wants) != nil || len(had) != len(wants) {
		c.Text = compared(c.Stored, c.Wanted)
		return []Change{c}
	}
	for i, h := range had {
		if w := wants[i]; h != w {
			out = append(out, Change{c.Knob, c.Field, quote(h), quote(w), compared(quote(h), quote(w))})
		}
	}
	return out
}

// compared says in words how two values in JSON differ.
func compared(stored, wanted string) string {
	short := func(v string) string {
		var text string
		if json.Unmarshal([]byte(v), &text) == nil {
			v = text
			if strings.TrimSpace(v) == "" || strings.ContainsAny(v, "\n,;:") {
				v = fmt.Sprintf("%q", v)
			}
		}
		if runes := []rune(v); len(runes) > longest {
			return string(runes[:longest]) + "..."
		}
		return v
	}
	switch {
	case stored == "":
		return "not set in what is stored, " + short(wanted) + " wanted"
	case wanted == "":
		return short(stored) + " stored, not set now"
	}
	return short(stored) + " stored, " + short(wanted) + " wanted"
}

// longest value printed in a sentence, in characters.
const longest = 60

func quote(v any) string {
	data, _ := json.Marshal(v) // a plain value always encodes
	return string(data)
}
