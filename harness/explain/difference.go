// How the recipe of a step differs from a stored one, in the words of the files that set it. Recipes are in the names of those
// files already: what is left is which file, and what is meant by a list.

package explain

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Where something comes from that no file sets.
const (
	InCode     = "the code"
	InVerifier = "the answer verifier"
	InModel    = "the language model that the policy starts from, or its prompt"
	InBuild    = "the build"
)

// Where returns a function that tells of a field of a step's recipe what sets it, as messages call it.
func (p *Plan) Where() (func(s *Step, path string) string, error) {
	x, err := newExplainer(p)
	if err != nil {
		return nil, err
	}
	return x.where, nil
}

// where returns what sets a field of a step's recipe: the path as a file writes it, after the name of the file if that is
// not the spec, or else one of the names above.
func (x *explainer) where(s *Step, path string) string {
	of := x.plan.Spec.Experiment
	if at, ok := s.From[path]; ok {
		path = at.Path
	}
	root, rest, _ := strings.Cut(path, ".")
	switch root {
	case "version", RootCode:
		return InCode
	case RootBuild:
		return InBuild
	case RootVerifier:
		return InVerifier
	case RootModel:
		return InModel
	case RootPool:
		return "pools/" + s.Pool + ".yaml: " + rest
	case RootPrices:
		return "prices/" + of.Prices + ".yaml: " + rest
	case RootBenchmarks:
		if rest == "" {
			return "test"
		}
		return "benchmarks.yaml: " + rest
	case RootMethod:
		if knob := leaves(s.Row, rest); knob != "" && !x.unmoved(s, path) {
			return knob
		}
		return s.Row.Path + "." + rest
	case RootRows:
		for _, m := range of.Methods {
			if knob, ok := strings.CutPrefix(rest, m.RowID()+"."); ok {
				return m.Path + "." + knob
			}
		}
	}
	return path
}

// leaves returns the knob of the spec that a row, or a row in its params, leaves to it; empty: the row sets it itself, or nothing
// else can. path is below the row.
func leaves(row *spec.Method, path string) string {
	if path == "kappa" && row.Kappa == "" {
		return "folds.kappa"
	}
	below, ok := strings.CutPrefix(path, "params.")
	knob := below // methods write their parameters as the spec does
	if i := strings.LastIndex(path, ".params."); i >= 0 {
		knob = path[i+len(".params."):]
	}
	if !ok || !strings.Contains(knob, ".") || !spec.HasPath(spec.Experiment{}, knob) || sets(&row.Params, strings.Split(below, ".")) {
		return ""
	}
	return knob
}

// sets says whether the params of a row set a path. Members of lists have their id or name in it.
func sets(n *yaml.Node, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if n.Kind == yaml.SequenceNode {
		return slices.ContainsFunc(n.Content, func(m *yaml.Node) bool {
			of := cmp.Or(field(m, "id"), field(m, "name"))
			return of != nil && of.Value == path[0] && sets(m, path[1:])
		})
	}
	at := field(n, path[0])
	return at != nil && sets(at, path[1:])
}

// field returns the value of a key; nil: there is none.
func field(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// unmoved says whether a knob of the spec that the row of a step leaves to it is what it was, so that the row itself set it
// before: of the rows that leave it, as many others are as the last run made them as are not. Some may be while the knob moved,
// since kinds of rows have defaults of their own.
func (x *explainer) unmoved(s *Step, path string) bool {
	rows, ok := x.left[path]
	if !ok {
		rows = map[string]bool{}
		for _, t := range x.plan.Steps {
			if t.Row != nil && leaves(t.Row, strings.TrimPrefix(path, RootMethod+".")) != "" && t.Recipe.Has(strings.Split(path, ".")...) {
				rows[t.Row.RowID()] = slices.Contains(x.last[t.Name], t.Recipe.Key())
			}
		}
		x.left[path] = rows
	}
	stayed, moved := 0, 0
	for id, same := range rows {
		if same && id != s.Row.RowID() {
			stayed++
		} else {
			moved++
		}
	}
	return stayed > 0 && stayed >= moved
}

// changes returns how a step differs from a stored recipe, in its own fields and behind those of its inputs that are
// stored now and were others then.
func (x *explainer) changes(s *Step, stored store.Recipe) (out []Change) {
	fields := store.Compare(stored, s.Recipe)
	plainly := slices.DeleteFunc(slices.Clone(fields), func(f store.Field) bool { return implied(f, fields) })
	if len(plainly) == 0 {
		plainly = fields
	}
	var gone []Change // but what is compared with is still there
	for _, f := range plainly {
		for _, c := range x.words(s, f) {
			if x.planned[stored.Key()] && c.Wanted == "" {
				gone = add(gone, c)
			} else {
				out = add(out, c)
			}
		}
	}
	if out == nil {
		out = gone
	}
	inputs := stored.Inputs()
	for _, in := range s.Inputs {
		k, ok := inputs[in.As]
		named := slices.ContainsFunc(fields, func(f store.Field) bool { return f.Name() == "params."+in.As }) // it is another one
		if !ok || k == in.Recipe.Key() || x.todo[in.Step] || named {
			continue
		}
		before, ok := x.recipe(k)
		if !ok {
			continue
		}
		for _, c := range x.changes(in.Step, before) {
			c.Field = ""
			out = add(out, c)
		}
	}
	return out
}

// implied says whether a field differs because another of all does: parameters with the method, and what stands under a
// name, as prices under a model, with what gives the name.
func implied(f store.Field, all []store.Field) bool {
	path := strings.TrimPrefix(f.Name(), "params.")
	if strings.HasPrefix(path, RootMethod+".params.") {
		return slices.ContainsFunc(all, func(f store.Field) bool { return f.Name() == "params."+RootMethod+".name" })
	}
	if f.Stored != "" && f.Wanted != "" {
		return false
	}
	for _, named := range []string{RootPrices + ".models.", RootPool + ".simulation.cells.", RootPool + ".simulation.topic_difficulty.", RootPool + ".simulation.routers.", RootPool + ".simulation.skills."} {
		if strings.HasPrefix(path, named) {
			return true
		}
	}
	return false
}

// words says in words how one field of a step differs.
func (x *explainer) words(s *Step, f store.Field) []Change {
	if f.Name() == "version" {
		return []Change{{InCode, f.Name(), Raw(f.Stored), Raw(f.Wanted), fmt.Sprintf("%s steps mean something else: version %s stored, %s wanted", s.stage(), f.Stored, f.Wanted)}}
	}
	path := strings.Join(f.Path[1:], ".")
	c := Change{Knob: x.where(s, path), Field: f.Name(), Stored: Raw(f.Stored), Wanted: Raw(f.Wanted)}
	switch c.Knob {
	case InCode, InBuild, InVerifier, InModel:
		c.Text = fmt.Sprintf("%s: %s", f.Path[len(f.Path)-1], compared(c.Stored, c.Wanted))
		return []Change{c}
	}
	if of := membership(c); of != nil {
		return of
	}
	var had, wants int
	if at := s.From[path]; at.Cap != "" && json.Unmarshal([]byte(f.Stored), &had) == nil && json.Unmarshal([]byte(f.Wanted), &wants) == nil && had < wants {
		c.Knob = at.Cap + " or " + f.Path[len(f.Path)-1] + " in benchmarks.yaml" // a cap that is gone may have been the reason
	}
	c.Text = compared(c.Stored, c.Wanted)
	return []Change{c}
}

// add appends a change whose knob does not say the same already.
func add(changes []Change, c Change) []Change {
	if slices.ContainsFunc(changes, func(d Change) bool { return d.Knob == c.Knob && d.Text == c.Text }) {
		return changes
	}
	return append(changes, c)
}

// membership splits the change of a list into one for each member that came or went; nil if it is no list, or one of lists or objects.
// Where the members are what they were, their order is not.
func membership(c Change) (out []Change) {
	var had, wants []any
	if json.Unmarshal([]byte(c.Stored), &had) != nil || json.Unmarshal([]byte(c.Wanted), &wants) != nil || had == nil || wants == nil {
		return nil
	}
	for _, v := range slices.Concat(had, wants) {
		switch v.(type) {
		case []any, map[string]any:
			return nil
		}
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
	if out == nil {
		c.Text = "in another order"
		out = []Change{c}
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
