// Stored recipes, and the fields in which two recipes differ.

package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// StoredRecipe is a recipe with an entry, and when it was made.
type StoredRecipe struct {
	Recipe
	Made time.Time
}

// Recipes returns the recipes of a stage that have an entry, the last made first. Those that cannot be read are left
// out. Files of the entries are not verified.
func (s *Store) Recipes(stage string) ([]StoredRecipe, error) {
	dir := filepath.Join(s.root, "stages", stage)
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var out []StoredRecipe
	for _, f := range found {
		path := filepath.Join(dir, f.Name(), recipeFile)
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		r, err := parseRecipe(data)
		if err != nil {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		out = append(out, StoredRecipe{r, info.ModTime()})
	}
	slices.SortStableFunc(out, func(a, b StoredRecipe) int { return b.Made.Compare(a.Made) })
	return out, nil
}

// Field is one difference between two recipes of a stage, inputs apart.
type Field struct {
	// Path is "version", or "params" and the names of what is below. Members of a list stand under their ID where each
	// has one, and under their position otherwise; the order of the former is the member "order".
	Path           []string
	Stored, Wanted string // JSON, of a list of plain values the whole list; empty if only the other recipe has it
}

// Name returns the path with dots between its parts.
func (f Field) Name() string { return strings.Join(f.Path, ".") }

// Compare returns the fields in which a stored recipe differs from one that is wanted, sorted by path.
func Compare(stored, wanted Recipe) []Field {
	have, want := map[string]leaf{}, map[string]leaf{}
	stored.flatten(have)
	wanted.flatten(want)
	var d []Field
	for name, w := range want {
		if s := have[name]; s.value != w.value {
			d = append(d, Field{w.path, s.value, w.value})
		}
	}
	for name, s := range have {
		if _, ok := want[name]; !ok {
			d = append(d, Field{s.path, s.value, ""})
		}
	}
	slices.SortFunc(d, func(a, b Field) int { return slices.Compare(a.Path, b.Path) })
	return d
}

type leaf struct {
	path  []string
	value string // JSON
}

// flatten turns a recipe into one value a leaf, by the leaf's path.
func (r Recipe) flatten(into map[string]leaf) {
	put := func(path []string, value any) {
		data, _ := canonicalJSON(value)
		into[strings.Join(path, "\x00")] = leaf{path, string(data)}
	}
	var walk func(path []string, value any)
	walk = func(path []string, value any) {
		below := func(name string) []string { return append(slices.Clone(path), name) }
		switch v := value.(type) {
		case map[string]any:
			for k, x := range v {
				walk(below(k), x)
			}
			if len(v) > 0 {
				return
			}
		case []any:
			if ids := namesOf(v); ids != nil {
				for i, x := range v {
					walk(below(ids[i]), x)
				}
				put(below("order"), ids)
				return
			}
			if slices.ContainsFunc(v, func(x any) bool { return !plain(x) }) {
				for i, x := range v {
					walk(below(strconv.Itoa(i)), x)
				}
				return
			}
		}
		put(path, value)
	}
	put([]string{"version"}, r.version)
	var tree any
	dec := json.NewDecoder(bytes.NewReader(r.params))
	dec.UseNumber()
	if err := dec.Decode(&tree); err == nil && tree != nil {
		walk([]string{"params"}, tree)
	}
}

// namesOf returns the IDs of a list whose members all have one of their own, and nil for any other list.
func namesOf(list []any) (ids []string) {
	for _, x := range list {
		member, _ := x.(map[string]any)
		id, ok := member["ID"].(string)
		if !ok || slices.Contains(ids, id) {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

func plain(x any) bool {
	switch x.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}
