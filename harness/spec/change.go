// Makes changes to a spec before it is checked, so that what they lead to is checked as what a file says.

package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// set lays path=value over what files say.
func (l *loader) set(text string) {
	d := l.spec.over("--set " + text)
	path, value, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		d.fault(0, "", "want PATH=VALUE, as in grpo.steps=30")
		return
	}
	if strings.ContainsAny(text, "\r\n") { // measurements say it in a comment
		d.fault(0, "", "want one line; YAML has {key: value} and [1, 2] for more")
		return
	}
	if strings.ContainsAny(path, "[]") {
		d.fault(0, "", "an element of a list has no path of its own; set the whole list, as in evaluate.seeds=[1,2]")
		return
	}
	names := strings.Split(path, ".")
	if slices.Contains([]string{"name", "base"}, names[0]) {
		d.fault(0, "", "%s says what the file is; it cannot be set", names[0])
		return
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(value), &doc); err != nil {
		d.fault(0, path, "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return
	}
	if doc.Content == nil {
		d.fault(0, path, "no value; want PATH=VALUE, as in grpo.steps=30")
		return
	}
	node := doc.Content[0]
	unplaced(node)
	for _, name := range slices.Backward(names) {
		node = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, node}}
	}
	around := maps.Clone(d.at) // where the file sets what is above the knob
	l.assign(d, node)
	for p := parent(path); ; p = parent(p) {
		if m, ok := around[p]; ok {
			d.at[p] = m
		}
		if p == "" {
			return
		}
	}
}

// unplaced takes the lines from a value that is in no file.
func unplaced(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		unplaced(c)
	}
}

// change makes the changes. Rows are kept in the order of the spec. Where some are left out, so are figures, which compare rows.
func (l *loader) change(c Changes) {
	for _, text := range c.Set {
		l.set(text)
	}
	e, d := &l.out.Experiment, l.spec
	if c.Limit < 0 {
		d.over("--limit").fault(0, "", "%d questions; want 1 or more", c.Limit)
	} else if c.Limit > 0 && e.Protocol != "split" {
		d.over("--limit").fault(0, "", "only protocol split scores part of its questions, and this one, %s, scores all: leave it out", e.Protocol)
	} else if c.Limit > 0 {
		if most := e.Evaluate.MaxProblems; most == 0 || most > c.Limit {
			e.Evaluate.MaxProblems = c.Limit
		}
		e.Large = min(e.Large, c.Limit)
	}
	if c.Rows == nil {
		return
	}
	keep, known := map[string]bool{}, []string{}
	for _, m := range e.Methods {
		known = append(known, m.RowID())
	}
	for _, id := range c.Rows {
		i := slices.Index(known, id)
		if i < 0 {
			d.over("--rows").fault(0, "", "%s", unknown("row", id, known))
			return
		}
		keep[id] = true
		if match := e.Methods[i].Match; match != "" {
			keep[match] = true
		}
	}
	only := func(ids []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !keep[id] })
	}
	var methods []Method
	for i, m := range e.Methods {
		if !keep[m.RowID()] {
			continue
		}
		if to := len(methods); to != i {
			d.move(fmt.Sprintf("methods[%d]", i), fmt.Sprintf("methods[%d]", to))
		}
		m.Versus = only(m.Versus)
		methods = append(methods, m)
	}
	all := len(methods) == len(e.Methods)
	e.Methods, e.Folds.Versus = methods, only(e.Folds.Versus)
	if !keep[e.Folds.Predictions] {
		e.Folds.Predictions = ""
	}
	if all {
		return
	}
	e.Outputs = slices.DeleteFunc(slices.Clone(e.Outputs), func(o Output) bool {
		if of, _ := l.known.output(o.Kind); of.AnyRows {
			return false
		}
		l.out.LeftOut = append(l.out.LeftOut, cmp.Or(o.File, o.Kind))
		return true
	})
}
