// How the YAML files of this package are read, with every fault at its line.

package paper

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// decode reads one YAML document strictly: unknown keys and a second document are errors, and every error starts
// with file:line.
func decode(file string, data []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	err := d.Decode(into)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: empty", file)
	case err != nil:
		return located(file, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one document; want one", file)
	}
	return nil
}

var (
	yamlLine  = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	notAField = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
	otherType = regexp.MustCompile("^cannot unmarshal !!(\\S+)(?: `(.*)`)? into (\\S+)$")
)

// located turns an error of the yaml library into lines that start with file:line.
func located(file string, err error) error {
	texts := []string{err.Error()}
	var many *yaml.TypeError
	if errors.As(err, &many) {
		texts = many.Errors
	}
	for i, text := range texts {
		at := file
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			at, text = file+":"+m[1], text[len(m[0]):]
		}
		text = strings.TrimPrefix(text, "yaml: ")
		if m := notAField.FindStringSubmatch(text); m != nil {
			text = fmt.Sprintf("unknown key %q", m[1])
		}
		if m := otherType.FindStringSubmatch(text); m != nil {
			got := map[string]string{"map": "keys and values", "seq": "a list"}[m[1]]
			if got == "" {
				got = strconv.Quote(m[2])
			}
			text = "want " + typed(m[3]) + ", got " + got
		}
		texts[i] = at + ": " + text
	}
	return errors.New(strings.Join(texts, "\n"))
}

// typed is what a value of a Go type is called in a file.
func typed(name string) string {
	if strings.HasPrefix(name, "[") {
		return "a list"
	}
	plain := map[string]string{"string": "text", "int": "a whole number", "float64": "a number", "bool": "true or false"}
	return cmp.Or(plain[name], "keys and values")
}

// linesOf returns the line of every item of the lists that keys lead to, in order of appearance: sections, orderings are
// the orderings of every section. An alias has the items of what it stands for.
func linesOf(data []byte, keys ...string) []int {
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil {
		return nil
	}
	var lines []int
	var walk func(n *yaml.Node, keys []string)
	walk = func(n *yaml.Node, keys []string) {
		for n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		switch n.Kind {
		case yaml.DocumentNode, yaml.SequenceNode:
			for _, child := range n.Content {
				if len(keys) == 0 {
					lines = append(lines, child.Line)
				} else {
					walk(child, keys)
				}
			}
		case yaml.MappingNode:
			if len(keys) == 0 {
				return
			}
			var merged *yaml.Node
			for i := 0; i < len(n.Content); i += 2 {
				switch n.Content[i].Value {
				case keys[0]:
					walk(n.Content[i+1], keys[1:])
					return
				case "<<":
					merged = n.Content[i+1]
				}
			}
			if merged != nil {
				walk(merged, keys)
			}
		}
	}
	walk(&root, keys)
	return lines
}

// faults collects what is wrong with the items of a file.
type faults struct {
	file string
	text []string
}

// atLine is file:line, or the file alone where the line is 0.
func atLine(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// add takes in a fault of an item; line 0 is that of no line.
func (f *faults) add(line int, id, format string, args ...any) {
	f.text = append(f.text, atLine(f.file, line)+": "+id+": "+fmt.Sprintf(format, args...))
}

func (f *faults) err() error {
	if len(f.text) == 0 {
		return nil
	}
	return errors.New(strings.Join(f.text, "\n"))
}
