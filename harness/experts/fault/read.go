// Plans as YAML files: whatever is wrong with one is said with its line.

package fault

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Mistake is one thing wrong with the file of a plan.
type Mistake struct {
	Line  int      // from 1; 0: the file as a whole
	Path  string   // such as "fault 2: pace"; empty: the top of the file
	Text  string   // what is wrong
	Key   string   // that nobody knows, if that is what is wrong
	Known []string // the keys that there are in its place
}

// Mistakes are all that is wrong with a file.
type Mistakes []Mistake

// Error implements error.
func (all Mistakes) Error() string {
	var texts []string
	for _, m := range all {
		text := m.Text
		if m.Known != nil {
			text += "; known: " + strings.Join(m.Known, ", ")
		}
		texts = append(texts, under(m.Path, text))
		if m.Line > 0 {
			texts[len(texts)-1] = fmt.Sprintf("line %d: %s", m.Line, texts[len(texts)-1])
		}
	}
	return strings.Join(texts, "; ")
}

// under is a text with what it is of before it; an empty path is the top of the file.
func under(path, text string) string {
	if path == "" {
		return text
	}
	return path + ": " + text
}

var syntaxError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// Read reads a plan: a YAML file whose list faults has the rules. docs/serve.md has the names of their fields. What is wrong with the
// file is Mistakes.
func Read(r io.Reader) (Plan, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		at := syntaxError.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(at[1]) // none: 0
		return nil, Mistakes{{Line: line, Text: "not YAML: " + strings.TrimPrefix(err.Error(), at[0])}}
	}
	var file struct {
		Faults Plan `yaml:"faults"`
	}
	var wrong Mistakes
	if document.Kind != 0 { // else the file is empty
		wrong.value(document.Content[0], reflect.ValueOf(&file).Elem(), "")
	}
	switch {
	case wrong != nil:
		return nil, wrong
	case file.Faults == nil:
		return nil, Mistakes{{Text: noFaults}}
	}
	return file.Faults, nil
}

func (all *Mistakes) add(n *yaml.Node, path, format string, args ...any) {
	*all = append(*all, Mistake{Line: n.Line, Path: path, Text: fmt.Sprintf(format, args...)})
}

// value reads a node into v, which has a path. What is null is left as it is.
func (all *Mistakes) value(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	_, reads := v.Addr().Interface().(yaml.Unmarshaler)
	switch {
	case n.ShortTag() == "!!null":
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		all.value(n, v.Elem(), path)
	case v.Type() == reflect.TypeFor[Plan]():
		all.rules(n, v.Addr().Interface().(*Plan), path)
	case v.Kind() == reflect.Struct && !reads:
		all.fields(n, v, path)
	default:
		if err := n.Decode(v.Addr().Interface()); err != nil {
			want := wants[v.Type()]
			if reads {
				want = err.Error()
			}
			all.add(n, path, "want %s, got %s", want, describe(n))
		}
	}
}

// wants are what the values of fields are called that are read by the library; other kinds of text cannot be wrong.
var wants = map[reflect.Type]string{
	reflect.TypeFor[int]():               "a whole number",
	reflect.TypeFor[float64]():           "a number",
	reflect.TypeFor[bool]():              "true or false",
	reflect.TypeFor[string]():            "text",
	reflect.TypeFor[End]():               "text",
	reflect.TypeFor[time.Duration]():     "a time such as 30s",
	reflect.TypeFor[[]string]():          "a list of texts",
	reflect.TypeFor[map[string]string](): "names and texts",
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	}
	return strconv.Quote(n.Value)
}

// rules reads the rules of a plan, and says what is wrong with one that could be read.
func (all *Mistakes) rules(n *yaml.Node, plan *Plan, path string) {
	if n.Kind != yaml.SequenceNode {
		all.add(n, path, "want a list, got %s", describe(n))
		return
	}
	*plan = make(Plan, len(n.Content))
	for i, c := range n.Content {
		rule, path, before := &(*plan)[i], fmt.Sprintf("fault %d", i+1), len(*all)
		all.value(c, reflect.ValueOf(rule).Elem(), path)
		if fault := rule.fault(); fault != "" && len(*all) == before {
			all.add(c, path, "%s", fault)
		}
	}
}

// fields reads the fields of a struct by the names of their tags.
func (all *Mistakes) fields(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		all.add(n, path, "want keys and values, got %s", describe(n))
		return
	}
	var known, seen []string
	for i := range v.NumField() {
		known = append(known, v.Type().Field(i).Tag.Get("yaml"))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := slices.Index(known, key.Value)
		switch {
		case at < 0:
			*all = append(*all, Mistake{Line: key.Line, Path: path, Text: fmt.Sprintf("unknown key %q", key.Value), Key: key.Value, Known: known})
			continue
		case slices.Contains(seen, key.Value):
			all.add(key, path, "key %q is set twice", key.Value)
			continue
		}
		seen = append(seen, key.Value)
		before, below := len(*all), under(path, key.Value)
		all.value(value, v.Field(at), below)
		if _, ok := v.Interface().(Rule); ok && (key.Value == "every" || key.Value == "share") && v.Field(at).IsZero() && len(*all) == before {
			all.add(value, below, "want more than 0; leave it out for every request")
		}
	}
}
