// The table of extreme values in docs/bounds.md, planned line by line.

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/experiments"
)

// set puts a value at a path of keys and indices, below a node that is made if need be.
func set(t *testing.T, n *yaml.Node, path []string, value *yaml.Node) {
	t.Helper()
	if len(path) == 0 {
		*n = *value
		return
	}
	if n.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(n.Content) {
			t.Fatalf("no element %s", path[0])
		}
		set(t, n.Content[i], path[1:], value)
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			set(t, n.Content[i+1], path[1:], value)
			return
		}
	}
	inner := &yaml.Node{Kind: yaml.MappingNode}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: path[0]}, inner)
	set(t, inner, path[1:], value)
}

func TestTheTableOfExtremeValuesIsWhatHappens(t *testing.T) {
	raw, err := os.ReadFile("../../docs/bounds.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (\\S+\\.yaml) \\| `(.+)` \\| `(.+)` \\| (.+) \\|$").FindAllStringSubmatch(string(raw), -1)
	if len(rows) < 46 {
		t.Fatalf("%d lines in the table", len(rows))
	}
	tiny, err := os.ReadFile("testdata/tiny.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		file, knob, value, happens := row[1], row[2], row[3], row[4]
		t.Run(file+" "+knob+" "+value, func(t *testing.T) {
			dir, text := t.TempDir(), tiny
			if file != "tiny.yaml" {
				if text, err = fs.ReadFile(experiments.FS, file); err != nil {
					t.Fatal(err)
				}
			}
			var doc, to yaml.Node
			if err := yaml.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(value), &to); err != nil {
				t.Fatal(err)
			}
			set(t, doc.Content[0], strings.Split(knob, "."), to.Content[0])
			changed, err := yaml.Marshal(&doc)
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{"tiny.yaml": tiny, file: changed} {
				if file == "tiny.yaml" {
					data = changed
				}
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			var out, said bytes.Buffer
			code := run([]string{"entrorouter", "plan", filepath.Join(dir, "tiny.yaml"), "--out", filepath.Join(dir, "out")}, nil, &out, &said)
			first := said.String()
			switch {
			case strings.HasPrefix(happens, "want "):
				if code != exitUsage || strings.Count(first, "\n") != 1 || !strings.Contains(first, filepath.Base(file)+":") || !strings.Contains(first, ": "+happens+", got") {
					t.Errorf("exit code %d: %s", code, first)
				}
			case strings.HasPrefix(happens, "no room"):
				if code != exitOK && (code != exitUsage || !strings.Contains(first, " take about ")) {
					t.Errorf("exit code %d: %s", code, first)
				}
			case code != exitOK || first != "":
				t.Errorf("exit code %d: %s", code, first)
			}
		})
	}
}
