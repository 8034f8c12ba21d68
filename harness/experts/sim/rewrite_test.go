package sim

// Solved numbers written back into a pool file, for the test that keeps the committed pools solved.

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// rewrite returns a pool file with the offsets and mean tokens of a solved simulation in it; comments and everything
// else stay as they are. The file must hold, for each expert that has any, offset and mean_tokens as flow mappings on
// one line each: that is what is replaced, with cells in the order of the file's own cells section.
func rewrite(file []byte, solved spec.Simulation) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(file, &root); err != nil {
		return nil, err
	}
	if len(root.Content) == 0 {
		return nil, errors.New("the file is empty")
	}
	simulation := child(root.Content[0], "simulation")
	cells, skills := child(simulation, "cells"), child(simulation, "skills")
	if cells == nil || skills == nil {
		return nil, errors.New("the file has no simulation.cells or no simulation.skills: it is not a simulated pool")
	}
	order := keys(cells)
	lines := bytes.SplitAfter(file, []byte("\n"))
	for _, id := range keys(skills) {
		skill := solved.Experts[id]
		for _, part := range []struct {
			name   string
			values map[string]float64
		}{{"offset", skill.Offset}, {"mean_tokens", skill.Tokens}} {
			if len(part.values) == 0 {
				continue
			}
			old := child(child(skills, id), part.name)
			at := "simulation.skills." + id + "." + part.name
			if old == nil || old.Kind != yaml.MappingNode || old.Style&yaml.FlowStyle == 0 {
				return nil, fmt.Errorf("%s: want a mapping written {cell: number, ...} to replace; write %s: {}", at, part.name)
			}
			line := lines[old.Line-1]
			end := bytes.IndexByte(line, '}')
			if end < 0 {
				return nil, fmt.Errorf("line %d: %s: want the mapping on one line", old.Line, at)
			}
			lines[old.Line-1] = slices.Concat(line[:old.Column-1], flow(part.values, order), line[end+1:])
		}
	}
	return bytes.Join(lines, nil), nil
}

func flow(values map[string]float64, order []string) []byte {
	var parts []string
	for _, k := range order {
		if v, ok := values[k]; ok {
			parts = append(parts, k+": "+strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	return []byte("{" + strings.Join(parts, ", ") + "}")
}

// child returns the value of a key of a mapping, nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func keys(n *yaml.Node) []string {
	var names []string
	for i := 0; i < len(n.Content); i += 2 {
		names = append(names, n.Content[i].Value)
	}
	return names
}
