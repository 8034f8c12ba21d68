// Parts of a file, taken out of it under the paths that they have there.

package spec

import (
	"fmt"
	"reflect"
	"strings"
)

// Tree is part of a file as Canonical writes it: names of YAML, and below them trees, lists and plain values.
type Tree map[string]any

// Pick adds to the tree what a value of a spec type (Experiment, Pool, Benchmark, Prices, Method) has at some paths, as in
// targets.tau. Optional knobs that are not set are left out. A path that the type does not have is an error, as is one
// through a list or a map, whose members have no path of their own.
func (t Tree) Pick(v any, paths ...string) error {
	for _, path := range paths {
		if err := checkPath(reflect.TypeOf(v), path); err != nil {
			return err
		}
		if err := t.pick(reflect.ValueOf(v), strings.Split(path, ".")); err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
	}
	return nil
}

// pick adds what v has at a path of its type.
func (t Tree) pick(v reflect.Value, names []string) error {
	k, _ := knobNamed(v.Type(), names[0])
	f := v.FieldByIndex(k.index)
	if k.optional && (f.IsZero() || isEmpty(f)) {
		return nil
	}
	if len(names) == 1 {
		x, err := plain(f)
		t[k.name] = x
		return err
	}
	below, ok := t[k.name].(Tree)
	if !ok {
		below = Tree{}
	}
	err := below.pick(reflect.Indirect(f), names[1:])
	if len(below) > 0 {
		t[k.name] = below
	}
	return err
}

// HasPath says whether the type of a value has a knob at a path.
func HasPath(v any, path string) bool { return checkPath(reflect.TypeOf(v), path) == nil }

func checkPath(t reflect.Type, path string) error {
	for name := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		k, ok := knobNamed(t, name)
		if !ok {
			return fmt.Errorf("path %q: no knob %q in a %s", path, name, t)
		}
		t = k.typ
	}
	return nil
}

// knobNamed returns a field of a type by its name in YAML; ok is false if the type is no struct or has none such.
func knobNamed(t reflect.Type, name string) (of knob, ok bool) {
	if t.Kind() != reflect.Struct || t == nodeType {
		return knob{}, false
	}
	for _, k := range knobs(t) {
		if k.name == name {
			return k, true
		}
	}
	return knob{}, false
}
