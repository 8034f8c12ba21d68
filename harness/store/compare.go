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
	Path []string // "version", or "params" and the names of what is below; members of a list stand under their id or name

	// JSON; empty if only the other recipe has the field. A list is one field: of members that each have an id or a
	// name it is the list of these, and what differs in a member of both lists is a field of its own.
	Stored, Wanted string
}

// Name returns the path with dots between its parts.
func (f Field) Name() string { return strings.Join(f.Path, ".") }

// Compare returns the fields in which a stored recipe differs from one that is wanted, sorted by path.
func Compare(stored, wanted Recipe) []Field {
	d := differences([]string{"params"}, stored.tree(), wanted.tree())
	return sorted(append(d, differences([]string{"version"}, stored.version, wanted.version)...))
}

// Differences returns the fields in which two values of JSON differ, as encoding/json decodes them, sorted by path.
func Differences(stored, wanted any) []Field { return sorted(differences(nil, stored, wanted)) }

func sorted(d []Field) []Field {
	slices.SortFunc(d, func(a, b Field) int { return slices.Compare(a.Path, b.Path) })
	return d
}

// tree returns the parameters as maps, lists and plain values.
func (r Recipe) tree() (tree any) {
	dec := json.NewDecoder(bytes.NewReader(r.params))
	dec.UseNumber()
	if dec.Decode(&tree) != nil || tree == nil { // params are canonical JSON, so there are none
		return absent{}
	}
	return tree
}

// Has says whether the parameters have something at a path through objects.
func (r Recipe) Has(path ...string) bool {
	at := r.tree()
	for _, name := range path {
		fields, _ := object(at)
		at = under(fields, name)
	}
	return at != any(absent{})
}

// absent is the value of what only the other recipe has.
type absent struct{}

func differences(path []string, stored, wanted any) (d []Field) {
	below := func(name string) []string { return append(slices.Clone(path), name) }
	had, ok1 := object(stored)
	wants, ok2 := object(wanted)
	if ok1 && ok2 && len(had)+len(wants) > 0 {
		for name := range wants {
			d = append(d, differences(below(name), under(had, name), wants[name])...)
		}
		for name := range had {
			if _, both := wants[name]; !both {
				d = append(d, differences(below(name), had[name], absent{})...)
			}
		}
		return d
	}
	mine, ok1 := byID(stored)
	theirs, ok2 := byID(wanted)
	if ok1 {
		stored = mine.ids
	}
	if ok2 {
		wanted = theirs.ids
	}
	for i, id := range theirs.ids {
		if k := slices.Index(mine.ids, id); k >= 0 {
			d = append(d, differences(below(id), mine.members[k], theirs.members[i])...)
		}
	}
	if f := (Field{path, encoded(stored), encoded(wanted)}); f.Stored != f.Wanted {
		d = append(d, f)
	}
	return d
}

// object returns the fields of an object; what is absent has none.
func object(v any) (fields map[string]any, ok bool) {
	if _, ok := v.(absent); ok {
		return nil, true
	}
	fields, ok = v.(map[string]any)
	return fields, ok
}

func under(fields map[string]any, name string) any {
	if v, ok := fields[name]; ok {
		return v
	}
	return absent{}
}

// named is a list whose members each have an id of their own or, without one, a name.
type named struct {
	ids     []string
	members []any
}

func byID(v any) (named, bool) {
	list, _ := v.([]any)
	n := named{members: list}
	for _, x := range list {
		member, _ := x.(map[string]any)
		id, ok := member["id"].(string)
		if !ok {
			id, ok = member["name"].(string)
		}
		if !ok || slices.Contains(n.ids, id) {
			return named{}, false
		}
		n.ids = append(n.ids, id)
	}
	return n, n.ids != nil
}

// encoded is a value as JSON; empty if it is absent.
func encoded(v any) string {
	if _, ok := v.(absent); ok {
		return ""
	}
	data, _ := canonicalJSON(v) // it came from JSON
	return string(data)
}
