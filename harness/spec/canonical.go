// Knobs as canonical JSON for recipes.

package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Canonical returns the JSON of knobs for recipes: one line, keys as in YAML and sorted, no knob that is optional
// and empty, numbers in their shortest form. Equal knobs give equal bytes, however the YAML was written. It takes
// any value made of structs, maps with text keys, lists, texts, numbers and booleans; a NaN or infinity is an error.
func Canonical(v any) ([]byte, error) {
	p, err := plain(reflect.ValueOf(v))
	if err != nil {
		return nil, fmt.Errorf("canonical form of %T: %w", v, err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		return nil, fmt.Errorf("canonical form of %T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// plain turns a value into nil, bool, json.Number, string, []any and map[string]any.
func plain(v reflect.Value) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	if v.Type() == nodeType {
		n := v.Interface().(yaml.Node)
		return plainNode(&n)
	}
	if v.Type() == jsonType {
		return json.RawMessage(v.String()), nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		return plain(v.Elem())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Struct:
		out := map[string]any{}
		for _, k := range knobs(v.Type()) {
			f := v.FieldByIndex(k.index)
			if k.optional && (f.IsZero() || isEmpty(f)) {
				continue
			}
			x, err := plain(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k.name, err)
			}
			out[k.name] = x
		}
		return out, nil
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return nil, fmt.Errorf("the keys of %s are not text", v.Type())
		}
		out := map[string]any{}
		for i := v.MapRange(); i.Next(); {
			x, err := plain(i.Value())
			if err != nil {
				return nil, fmt.Errorf("%s: %w", i.Key(), err)
			}
			out[i.Key().String()] = x
		}
		return out, nil
	case reflect.Slice, reflect.Array:
		out := make([]any, v.Len())
		for i := range out {
			x, err := plain(v.Index(i))
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			out[i] = x
		}
		return out, nil
	}
	switch {
	case v.CanInt():
		return json.Number(strconv.FormatInt(v.Int(), 10)), nil
	case v.CanUint():
		return json.Number(strconv.FormatUint(v.Uint(), 10)), nil
	case v.CanFloat():
		return decimal(v.Float())
	}
	return nil, fmt.Errorf("%s is not a kind of knob", v.Type())
}

// decimal writes whole numbers as integers, so that 1 and 1.0 are the same knob.
func decimal(x float64) (any, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("%v is not a number that JSON has", x)
	}
	if x == 0 {
		x = 0 // no negative zero
	}
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return json.Number(strconv.FormatInt(int64(x), 10)), nil
	}
	return json.Number(strconv.FormatFloat(x, 'g', -1, 64)), nil
}

// plainNode resolves YAML that no struct has been decoded from.
func plainNode(n *yaml.Node) (any, error) {
	switch n.Kind {
	case 0:
		return map[string]any{}, nil
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := out[key]; twice {
				return nil, fmt.Errorf("key %q is set twice", key)
			}
			x, err := plainNode(n.Content[i+1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
			out[key] = x
		}
		return out, nil
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			x, err := plainNode(c)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			out[i] = x
		}
		return out, nil
	case yaml.ScalarNode:
		digits := strings.ReplaceAll(n.Value, "_", "")
		switch tag := n.ShortTag(); {
		case tag == "!!null":
			return nil, nil
		case tag == "!!bool":
			return strings.EqualFold(n.Value, "true"), nil
		case tag == "!!int" && wholeNumber.MatchString(n.Value) && digits != "-0":
			return json.Number(strings.TrimPrefix(digits, "+")), nil
		case (tag == "!!int" || tag == "!!float") && realNumber.MatchString(n.Value):
			x, err := strconv.ParseFloat(digits, 64)
			if err != nil {
				return nil, fmt.Errorf("%q is too large", n.Value)
			}
			return decimal(x)
		}
		return n.Value, nil
	}
	return nil, fmt.Errorf("%s cannot be resolved", describe(n))
}

// JSON is a knob of any shape that a server reads and this program does not: one line of JSON with sorted keys, so that
// equal values are equal texts however the YAML was written. Empty: not set.
type JSON string

var jsonType = reflect.TypeFor[JSON]()

// UnmarshalYAML reads a value of any shape.
func (j *JSON) UnmarshalYAML(n *yaml.Node) error {
	v, err := plainNode(n)
	if err != nil {
		return err
	}
	text, err := json.Marshal(v)
	*j = JSON(text)
	return err
}

// texts returns the texts of a list, or the one text that stands for a list; nil if it is neither.
func (j JSON) texts() []string {
	var one string
	var all []string
	if json.Unmarshal([]byte(j), &one) == nil {
		return []string{one}
	}
	if json.Unmarshal([]byte(j), &all) != nil {
		return nil
	}
	return all
}
