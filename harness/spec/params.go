// The params of rows, decoded strictly.

package spec

import (
	"fmt"
	"reflect"
	"strings"
)

// DecodeParams reads the params of a row strictly into the struct that into points to, over the defaults it holds.
// Fields follow the tags of this package: the yaml key, `in` (which every number has, with two finite ends), `oneof`, and omitempty for what may be empty; a text,
// list or map without omitempty that is neither set nor has a default is a fault. The error is Faults, with the
// file and line of each if Load has read the row; the struct may be half filled then.
func DecodeParams(m Method, into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("method %s: params are decoded into a pointer to a struct, got %T", m.Name, into)
	}
	v = v.Elem()
	if knobs := unbounded(v.Type(), ""); knobs != nil {
		return fmt.Errorf("method %s: no greatest or no least value of %s; its field needs a tag such as in:\"[1,1000]\"", m.Name, strings.Join(knobs, ", "))
	}
	if name := twice(v.Type()); name != "" {
		return fmt.Errorf("method %s: two fields are the knob %s", m.Name, name)
	}
	d := newDecoder(m.File)
	at := child(m.Path, "params")
	if m.Params.Kind != 0 {
		d.value(&m.Params, v, at, false)
	}
	for _, k := range knobs(v.Type()) {
		p := child(at, k.name)
		if _, set := d.at[p]; !set && !k.optional && isEmpty(v.FieldByIndex(k.index)) {
			line := m.Params.Line
			if m.Params.Kind == 0 {
				line = m.Line
			}
			d.fault(line, p, "not set")
		}
	}
	return d.faults.err()
}
