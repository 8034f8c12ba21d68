package claims

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
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
		texts[i] = at + ": " + text
	}
	return errors.New(strings.Join(texts, "\n"))
}

// linesOf returns the line of every item of the lists below a key, at any depth, in order of appearance.
func linesOf(data []byte, key string) []int {
	var root yaml.Node
	if yaml.Unmarshal(data, &root) != nil {
		return nil
	}
	var lines []int
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == key && child.Kind == yaml.SequenceNode {
				for _, item := range child.Content {
					lines = append(lines, item.Line)
				}
			}
			walk(child)
		}
	}
	walk(&root)
	return lines
}

// faults collects what is wrong with the items of a file.
type faults struct {
	file string
	text []string
}

func (f *faults) add(line int, id, format string, args ...any) {
	f.text = append(f.text, fmt.Sprintf("%s:%d: %s: ", f.file, line, id)+fmt.Sprintf(format, args...))
}

func (f *faults) err() error {
	if len(f.text) == 0 {
		return nil
	}
	return errors.New(strings.Join(f.text, "\n"))
}
