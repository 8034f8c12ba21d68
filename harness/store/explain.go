package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Miss says why a recipe is not in the store.
type Miss struct {
	Key     Key
	Nearest *Key    // the stored recipe of the same stage with the fewest differences; nil if the stage never ran
	Fields  []Field // where they differ, sorted by name
}

// Field is one difference between a stored recipe and the one wanted.
type Field struct {
	Name           string // version, params.<path> or inputs.<n>
	Stored, Wanted string // "(absent)" if only the other has it
}

const (
	absent    = "(absent)"
	maxFields = 6 // printed by Miss.String
)

// String returns the miss as one line, e.g.
//
//	targets: differs from targets-3fa9b2c41d07 in params.tau: 0.8 stored, 0.7 wanted
func (m Miss) String() string {
	if m.Nearest == nil {
		return m.Key.Stage + ": nothing stored yet"
	}
	if len(m.Fields) == 0 {
		return fmt.Sprintf("%s: %s is stored", m.Key.Stage, m.Nearest)
	}
	var parts []string
	for _, f := range m.Fields[:min(len(m.Fields), maxFields)] {
		parts = append(parts, fmt.Sprintf("%s: %s stored, %s wanted", f.Name, f.Stored, f.Wanted))
	}
	if more := len(m.Fields) - maxFields; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s: differs from %s in %s", m.Key.Stage, m.Nearest, strings.Join(parts, "; "))
}

// Explain compares a recipe with the stored ones of its stage. Entries whose recipe cannot be read are passed over.
func (s *Store) Explain(r Recipe) (Miss, error) {
	miss := Miss{Key: r.Key()}
	stage := filepath.Join(s.root, "stages", r.stage)
	found, err := os.ReadDir(stage)
	if errors.Is(err, fs.ErrNotExist) {
		return miss, nil
	} else if err != nil {
		return miss, err
	}
	wanted := r.fields()
	var newest int64 // among equally near recipes the last one made is the most telling
	for _, f := range found {
		path := filepath.Join(stage, f.Name(), recipeFile)
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		stored, err := parseRecipe(data)
		if err != nil {
			continue
		}
		var made int64
		if info, err := os.Stat(path); err == nil {
			made = info.ModTime().UnixNano()
		}
		d := differences(stored.fields(), wanted)
		if miss.Nearest == nil || len(d) < len(miss.Fields) || len(d) == len(miss.Fields) && made > newest {
			key := stored.Key()
			miss.Nearest, miss.Fields, newest = &key, d, made
		}
	}
	return miss, nil
}

// fields flattens a recipe to one value a leaf.
func (r Recipe) fields() map[string]string {
	fields := map[string]string{"version": strconv.Itoa(r.version)}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(r.params))
	dec.UseNumber()
	if err := dec.Decode(&tree); err == nil {
		flatten("params", tree, fields)
	}
	for i, k := range r.inputs {
		fields[fmt.Sprintf("inputs.%d", i)] = k.String()
	}
	return fields
}

func flatten(name string, tree any, fields map[string]string) {
	switch v := tree.(type) {
	case map[string]any:
		for k, below := range v {
			flatten(name+"."+k, below, fields)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, below := range v {
			flatten(fmt.Sprintf("%s.%d", name, i), below, fields)
		}
		if len(v) > 0 {
			return
		}
	}
	data, _ := canonicalJSON(tree)
	fields[name] = string(data)
}

func differences(stored, wanted map[string]string) []Field {
	var d []Field
	for name, w := range wanted {
		if s, ok := stored[name]; !ok {
			d = append(d, Field{name, absent, w})
		} else if s != w {
			d = append(d, Field{name, s, w})
		}
	}
	for name, s := range stored {
		if _, ok := wanted[name]; !ok {
			d = append(d, Field{name, s, absent})
		}
	}
	slices.SortFunc(d, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return d
}
