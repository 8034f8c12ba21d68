package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
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
		if !slices.Contains(x.last[s.name], r.Key()) || x.planned[r.Key()] { // what is planned is no earlier form of another
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
	if err := json.Unmarshal(r.Params(), &p); err != nil { // of other code: like nothing that is planned now
		return r.Key().String(), nil
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
	for _, f := range fields {
		for _, c := range x.words(s, f, fields, tests != nil) {
			out = add(out, c)
		}
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

// words says in words how one field of a step differs; nothing if another of all the fields, or the test sets where
// those differ, say it better.
func (x *explainer) words(s *step, f store.Field, all []store.Field, tests bool) []Change {
	name, last := f.Name(), f.Path[len(f.Path)-1]
	owner := f.Path[:len(f.Path)-1]
	c := Change{Knob: x.e.knobOf(s, f.Path), Field: name, Stored: Raw(f.Stored), Wanted: Raw(f.Wanted)}
	differs := func(name string) bool {
		return slices.ContainsFunc(all, func(f store.Field) bool { return f.Name() == name })
	}
	// Of a member of a list that came or went nothing else is said.
	comesOrGoes := func(member []string) bool {
		return slices.ContainsFunc(all, func(f store.Field) bool {
			return (f.Stored == "" || f.Wanted == "") && slices.Equal(f.Path, append(slices.Clone(member), "ID"))
		})
	}
	for n := 1; n < len(owner); n++ {
		if comesOrGoes(owner[:n]) {
			return nil
		}
	}
	switch {
	case comesOrGoes(owner):
		if last != "ID" {
			return nil
		}
		list := owner[:len(owner)-1]
		c.Knob, c.Field = x.e.knobOf(s, list), strings.Join(owner, ".")
		if c.Text = owner[len(owner)-1] + " is new"; f.Wanted == "" {
			c.Text = owner[len(owner)-1] + " is gone"
		}
		if c.Knob == "methods" {
			c.Text = "row " + c.Text
		}
	case last == "order":
		if slices.ContainsFunc(all, func(g store.Field) bool {
			return len(g.Path) == len(f.Path)+1 && slices.Equal(g.Path[:len(owner)], owner) && comesOrGoes(g.Path[:len(f.Path)])
		}) {
			return nil
		}
		c.Knob, c.Text = x.e.knobOf(s, owner), reordered
	case strings.HasPrefix(name, "params.Population.Mix.") && differs("params.Population.Cell"):
		return nil // the numbers of another cell
	case strings.HasPrefix(name, "params.Method.") && name != "params.Method.Method" && differs("params.Method.Method"):
		return nil // the parameters of another method
	case name == "params.Weights":
		if differs("params.Test") {
			return nil // the sizes of other test sets
		}
		return x.pairwise(c, func(benchmark string) string { return "benchmarks.yaml: " + benchmark + ".size" })
	case name == "params.Contrasts":
		return x.contrasts(c, all)
	case name == "version":
		c.Text = fmt.Sprintf("%s steps mean something else: version %s stored, %s wanted", s.stage(), f.Stored, f.Wanted)
	case last == "Fits":
		for _, m := range x.e.spec.Experiment.Methods {
			if m.RowID() == owner[len(owner)-1] && m.Match == "" && !methods.Seeded(m.Name) {
				c.Knob = m.Path + ".name" // the row was of a method that depends on the seed
			}
		}
		c.Text = fmt.Sprintf("%s trainings of a row stored, %s wanted", f.Stored, f.Wanted)
	case s.stage() == "fit" && strings.HasPrefix(name, "params.Runs."):
		switch {
		case tests:
			return nil
		case f.Stored == "":
			return []Change{{Knob: c.Knob, Field: name, Text: largeIsNew}}
		case f.Wanted == "":
			return []Change{{Knob: c.Knob, Field: name, Text: "the set scored by probability is gone"}}
		}
		return x.pairwise(c, x.e.runsKnob)
	case c.Knob == "evaluate.seeds" && s.row != nil, c.Knob == "folds.seeds":
		c.Text = f.Wanted + " is new"
	case c.Knob == inCode || c.Knob == inBuild || c.Knob == inVerifier:
		c.Text = fmt.Sprintf("%s: %s", last, compared(c.Stored, c.Wanted))
	default:
		if of := membership(c); of != nil {
			return of
		}
		if c.Knob == "folds.kappa" && x.kappaOfRow(s) {
			c.Knob = s.row.Path + ".kappa"
		}
		c.Knob, c.Text = eitherKnob(c), compared(c.Stored, c.Wanted)
	}
	return []Change{c}
}

// kappaOfRow says whether folds.kappa is what it was, so that a row that has no kappa of its own had one: other rows
// without one are stored.
func (x *explainer) kappaOfRow(s *step) bool {
	return slices.ContainsFunc(x.e.steps, func(t *step) bool {
		return t.stage() == s.stage() && t.row.Kappa == "" && t.row.RowID() != s.row.RowID() && x.missing[t] == nil
	})
}

// contrasts says which comparisons of rows came or went, but for those of rows that did.
func (x *explainer) contrasts(c Change, all []store.Field) []Change {
	var moved []string
	for _, f := range all {
		if f.Name() == "params.Rows" {
			for _, row := range membership(Change{Stored: Raw(f.Stored), Wanted: Raw(f.Wanted)}) {
				id, _, _ := strings.Cut(row.Text, " ")
				moved = append(moved, id)
			}
		}
	}
	return slices.DeleteFunc(membership(c), func(c Change) bool {
		pair := strings.Fields(c.Text)
		return slices.Contains(moved, pair[0]) || len(pair) > 2 && slices.Contains(moved, pair[2])
	})
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
	had, wants, err := ofBoth(stored, s.recipe, of)
	if err != nil || slices.Equal(had, wants) {
		return nil, err
	}
	return membership(Change{Knob: "test", Stored: quote(had), Wanted: quote(wants)}), nil
}

// ofBoth reads something of what is stored and of what is wanted.
func ofBoth[T any](stored, wanted store.Recipe, of func(store.Recipe) (T, error)) (had, wants T, err error) {
	if had, err = of(stored); err == nil {
		wants, err = of(wanted)
	}
	return had, wants, err
}

const largeIsNew = "a set scored by probability is new"

// reordered says of a list that its members are what they were.
const reordered = "in another order"

// membership splits the change of a list of plain values into one for each that came or went; nil if it is no list.
func membership(c Change) (out []Change) {
	var had, wants []any
	if json.Unmarshal([]byte(c.Stored), &had) != nil || json.Unmarshal([]byte(c.Wanted), &wants) != nil {
		return nil
	}
	row := ""
	if c.Knob == "methods" {
		row = "row "
	}
	for _, w := range wants {
		if !slices.Contains(had, w) {
			out = append(out, Change{c.Knob, c.Field, "", quote(w), fmt.Sprint(row, w, " is new")})
		}
	}
	for _, h := range had {
		if !slices.Contains(wants, h) {
			out = append(out, Change{c.Knob, c.Field, quote(h), "", fmt.Sprint(row, h, " is gone")})
		}
	}
	if out == nil && len(had) == len(wants) && had != nil {
		c.Text = reordered
		out = []Change{c}
	}
	return out
}

// pairwise splits the change of a list with a number for each test benchmark into one for each that differs.
func (x *explainer) pairwise(c Change, knob func(benchmark string) string) (out []Change) {
	var had, wants []int
	test := x.e.spec.Experiment.Test
	if json.Unmarshal([]byte(c.Stored), &had) != nil || json.Unmarshal([]byte(c.Wanted), &wants) != nil || len(had) != len(test) || len(wants) != len(test) {
		c.Text = compared(c.Stored, c.Wanted)
		return []Change{c}
	}
	for i, h := range had {
		if w := wants[i]; h != w {
			one := Change{knob(test[i]), c.Field, quote(h), quote(w), compared(quote(h), quote(w))}
			one.Knob = eitherKnob(one)
			out = append(out, one)
		}
	}
	return out
}

// compared says in words how two values in JSON differ.
func compared(stored, wanted Raw) string {
	plainly := func(r Raw) []rune {
		v := string(r)
		var text string
		if json.Unmarshal([]byte(v), &text) == nil {
			v = text
			if strings.TrimSpace(v) == "" || strings.ContainsAny(v, "\n,;:") {
				v = fmt.Sprintf("%q", v)
			}
		}
		return []rune(v)
	}
	had, wants := plainly(stored), plainly(wanted)
	same := 0 // characters at the beginning
	for same < min(len(had), len(wants)) && had[same] == wants[same] {
		same++
	}
	from := 0
	if same > longest-before {
		from = same - before
	}
	short := func(v []rune) string {
		start, end := "", ""
		if from > 0 {
			start = "..."
		}
		if v = v[from:]; len(v) > longest {
			v, end = v[:longest], "..."
		}
		return start + string(v) + end
	}
	switch {
	case stored == "":
		return "not set in what is stored, " + short(wants) + " wanted"
	case wanted == "":
		return short(had) + " stored, not set now"
	}
	return short(had) + " stored, " + short(wants) + " wanted"
}

const (
	longest = 60 // characters of a value in a sentence
	before  = 20 // characters before the first that differs, where that is far from the beginning
)

func quote(v any) Raw {
	data, _ := json.Marshal(v) // a plain value always encodes
	return Raw(data)
}
