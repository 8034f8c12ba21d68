// A JSON Schema of specs, for editors: made of the same tags and comments that specs are checked against and explained by.

package spec

import (
	"math"
	"reflect"
)

// Schema returns the JSON Schema (draft 2020-12) of a type of spec file: Experiment{}, Pool{} or Prices{}. Kinds of rows and outputs are
// those that are known. A file that fits may still be refused, for what a schema cannot say; one that does not fit is refused. A spec
// may leave to its base what it does not set, so of its own knobs none is required.
func Schema(v any, known Known) (map[string]any, error) {
	docs, err := comments()
	if err != nil {
		return nil, err
	}
	s := schemaOf(reflect.TypeOf(v), docs, known, false)
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	return s, nil
}

func schemaOf(t reflect.Type, docs map[string]string, known Known, whole bool) map[string]any {
	switch {
	case t == nodeType:
		return map[string]any{"type": "object"}
	case t == jsonType:
		return map[string]any{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), docs, known, true)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), docs, known, true)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), docs, known, true)}
	case reflect.Struct:
		return structSchema(t, docs, known, whole)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	}
	return map[string]any{"type": "integer"}
}

func structSchema(t reflect.Type, docs map[string]string, known Known, whole bool) map[string]any {
	properties := map[string]any{}
	var required []string
	var word map[string]any
	for _, k := range knobs(t) {
		s := schemaOf(k.typ, docs, known, whole)
		bounded(s, k)
		switch {
		case t == reflect.TypeFor[Method]() && k.name == "name" && known.Methods != nil:
			s["enum"] = known.Methods
		case t == reflect.TypeFor[Output]() && k.name == "kind" && known.Outputs != nil:
			s["enum"] = known.outputs()
		}
		if k.word {
			word = map[string]any{"type": s["type"]}
			if s["enum"] != nil {
				word["enum"] = s["enum"]
			}
		}
		if doc := docs[k.field]; doc != "" {
			s["description"] = doc
		}
		properties[k.name] = s
		if whole && !k.optional {
			required = append(required, k.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	if word != nil {
		return map[string]any{"anyOf": []any{word, s}}
	}
	return s
}

// bounded adds what tags say of a value, or of those in a list or by name.
func bounded(s map[string]any, k knob) {
	for {
		if items, ok := s["items"].(map[string]any); ok {
			s = items
		} else if values, ok := s["additionalProperties"].(map[string]any); ok {
			s = values
		} else {
			break
		}
	}
	if k.oneof != nil && s["type"] == "string" {
		s["enum"] = k.oneof
	}
	if k.badIn != nil {
		return
	}
	in := k.interval
	ends := func(end float64, open bool, closed, exclusive string) {
		switch {
		case math.IsInf(end, 0):
		case open:
			s[exclusive] = end
		default:
			s[closed] = end
		}
	}
	ends(in.low, in.lowOpen, "minimum", "exclusiveMinimum")
	ends(in.high, in.highOpen, "maximum", "exclusiveMaximum")
}
