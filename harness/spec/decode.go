// Strict YAML: files laid over one another, every fault with its line.

package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// decoder assigns YAML nodes to Go values and collects everything that does not fit. One decoder reads one file;
// files laid over each other share faults and at.
type decoder struct {
	file   string
	faults *Faults
	at     map[string]mark // where each knob was last set
}

// mark is the place where a knob is set.
type mark struct {
	file   string
	line   int
	broken bool // its value did not have the right shape, so nothing below it was read
}

func newDecoder(file string) *decoder {
	return &decoder{file: file, faults: &Faults{}, at: map[string]mark{}}
}

// over returns a decoder of a file that is laid over what d has read.
func (d *decoder) over(file string) *decoder { return &decoder{file: file, faults: d.faults, at: d.at} }

func (d *decoder) fault(line int, path, format string, args ...any) {
	*d.faults = append(*d.faults, Fault{File: d.file, Line: line, Path: path, Text: fmt.Sprintf(format, args...)})
}

// faultAt reports a fault where the knob at path is set, or where the nearest knob around it is.
func (d *decoder) faultAt(path, format string, args ...any) {
	m := d.find(path)
	*d.faults = append(*d.faults, Fault{File: m.file, Line: m.line, Path: path, Text: fmt.Sprintf(format, args...)})
}

// move makes what is known of the knobs at and below one path that of another.
func (d *decoder) move(from, to string) {
	below := func(path, of string) (rest string, ok bool) {
		rest, ok = strings.CutPrefix(path, of)
		return rest, ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	maps.DeleteFunc(d.at, func(path string, _ mark) bool { _, ok := below(path, to); return ok })
	for path, m := range maps.Clone(d.at) {
		if rest, ok := below(path, from); ok {
			delete(d.at, path)
			d.at[to+rest] = m
		}
	}
}

func (d *decoder) find(path string) mark {
	for p := path; p != ""; p = parent(p) {
		if m, ok := d.at[p]; ok {
			return m
		}
	}
	return mark{file: d.file, line: 1}
}

// document assigns the one YAML document of a file to the value that into points to.
func (d *decoder) document(data []byte, into any) {
	if root := d.parse(data); root != nil {
		d.value(root, reflect.ValueOf(into).Elem(), "", true)
	}
}

// parse returns the root of the one document of a file, or nil with the fault reported.
func (d *decoder) parse(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.fault(1, "", "the file is empty")
		return nil
	case err != nil:
		d.syntax(data, err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		d.fault(second.Line, "", "a second document starts here; a file holds one")
	case !errors.Is(err, io.EOF):
		d.syntax(data, err)
	}
	return doc.Content[0]
}

var syntaxError = regexp.MustCompile(`^yaml: line (\d+): `)

// syntax reports what the library says of a file. Of what is no text it says no line, nor of what is wrong in the first.
func (d *decoder) syntax(data []byte, err error) {
	text, line := err.Error(), notText(data)
	if m := syntaxError.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // the pattern admits digits only
		text = text[len(m[0]):]
	}
	d.fault(line, "", "not YAML: %s", strings.TrimPrefix(text, "yaml: "))
}

// notText is the line of the first byte that is no character of a text, or 1.
func notText(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\u0085", r) {
			return 1 + bytes.Count(data[:i], []byte("\n"))
		}
		i += size
	}
	return 1
}

// value assigns n to v and reports whether it fitted. whole demands every knob below that is not optional.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string, whole bool) bool {
	d.at[path] = mark{file: d.file, line: n.Line}
	if n.Kind == yaml.AliasNode {
		return d.misfit(n, path, "aliases are not supported; write the value out")
	}
	if v.Type() == nodeType {
		if n.Kind != yaml.MappingNode {
			return d.misfit(n, path, "want keys and values, got %s", describe(n))
		}
		v.Set(reflect.ValueOf(*n))
		return true
	}
	if v.Type() == jsonType {
		var j JSON
		if err := j.UnmarshalYAML(n); err != nil {
			return d.misfit(n, path, "%v", err)
		}
		v.SetString(string(j))
		return true
	}
	switch v.Kind() {
	case reflect.Struct:
		return d.structure(n, v, path, whole)
	case reflect.Map:
		return d.mapping(n, v, path)
	case reflect.Slice:
		return d.list(n, v, path)
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if v.IsNil() {
			whole = true
		} else {
			p.Elem().Set(v.Elem())
		}
		v.Set(p)
		return d.value(n, p.Elem(), path, whole)
	}
	return d.scalar(n, v, path)
}

func (d *decoder) misfit(n *yaml.Node, path, format string, args ...any) bool {
	d.at[path] = mark{file: d.file, line: n.Line, broken: true}
	d.fault(n.Line, path, format, args...)
	return false
}

// pairs calls f for every key of a mapping that is text and not a repetition.
func (d *decoder) pairs(n *yaml.Node, path string, f func(key, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			d.fault(key.Line, path, "a key is one word, got %s", describe(key))
			continue
		}
		if line, twice := seen[key.Value]; twice {
			d.fault(key.Line, path, "key %q is already set on line %d", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		f(key, value)
	}
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, path string, whole bool) bool {
	all := knobs(v.Type())
	if word := slices.IndexFunc(all, func(k knob) bool { return k.word }); word >= 0 {
		v.SetZero() // one of several ways to say it replaces another
		if k := all[word]; n.Kind == yaml.ScalarNode {
			if ok := d.value(n, v.FieldByIndex(k.index), path, whole); !ok {
				return false
			}
			d.accept(k, v.FieldByIndex(k.index), n, path)
			return true
		}
	}
	if n.Kind != yaml.MappingNode {
		return d.misfit(n, path, "want keys and values, got %s", describe(n))
	}
	var names []string
	for _, k := range all {
		names = append(names, k.name)
	}
	seen := map[string]bool{}
	d.pairs(n, path, func(key, value *yaml.Node) {
		i := slices.Index(names, key.Value)
		switch {
		case i >= 0:
			seen[key.Value] = true
			p := child(path, key.Value)
			if all[i].none && value.ShortTag() == "!!null" {
				value = &yaml.Node{Kind: yaml.MappingNode, Line: value.Line}
			}
			if d.value(value, v.FieldByIndex(all[i].index), p, whole) {
				d.at[p] = mark{file: d.file, line: key.Line}
				d.accept(all[i], v.FieldByIndex(all[i].index), value, p)
			}
		case len(names) == 0:
			d.fault(key.Line, path, "unknown key %q; no key is known here", key.Value)
		default:
			d.fault(key.Line, path, "%s", unknown("key", key.Value, names))
		}
	})
	for _, k := range all {
		if whole && !k.optional && !seen[k.name] {
			d.fault(n.Line, path, "%q is not set", k.name)
		}
	}
	return true
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) bool {
	if n.Kind != yaml.MappingNode {
		return d.misfit(n, path, "want names and values, got %s", describe(n))
	}
	if v.Type().Key().Kind() != reflect.String {
		return d.misfit(n, path, "cannot be read from YAML: the keys of %s are not text", v.Type())
	}
	m := reflect.MakeMap(v.Type())
	d.pairs(n, path, func(key, value *yaml.Node) {
		e := reflect.New(v.Type().Elem()).Elem()
		if p := child(path, key.Value); d.value(value, e, p, true) {
			d.at[p] = mark{file: d.file, line: key.Line}
			m.SetMapIndex(reflect.ValueOf(key.Value).Convert(v.Type().Key()), e)
		}
	})
	v.Set(m)
	return true
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) bool {
	if n.Kind != yaml.SequenceNode {
		return d.misfit(n, path, "want a list, got %s", describe(n))
	}
	s := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, c := range n.Content {
		p := fmt.Sprintf("%s[%d]", path, i)
		if d.value(c, s.Index(i), p, true) && isEmpty(s.Index(i)) {
			d.fault(c.Line, p, "must not be empty")
		}
	}
	v.Set(s)
	return true
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) bool {
	tag, digits := n.ShortTag(), strings.ReplaceAll(n.Value, "_", "")
	number := n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float")
	switch v.Kind() {
	case reflect.String:
		switch {
		case n.Kind == yaml.ScalarNode && strings.ContainsFunc(n.Value, unprintable):
			return d.misfit(n, path, "%+q holds a character that does not print, which a terminal or a file may take for an order; take it out", n.Value)
		case n.Kind == yaml.ScalarNode && (tag == "!!str" || tag == "!!timestamp"):
			v.SetString(n.Value)
			return true
		case number || tag == "!!bool":
			return d.misfit(n, path, "want text, got %s; put it in quotes", describe(n))
		}
		return d.misfit(n, path, "want text, got %s", describe(n))
	case reflect.Bool:
		if n.Kind == yaml.ScalarNode && tag == "!!bool" && (strings.EqualFold(n.Value, "true") || strings.EqualFold(n.Value, "false")) {
			v.SetBool(strings.EqualFold(n.Value, "true"))
			return true
		}
		return d.misfit(n, path, "want true or false, got %s", describe(n))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if !number || !wholeNumber.MatchString(n.Value) {
			return d.misfit(n, path, "want a whole number, got %s", describe(n))
		}
		x, err := strconv.ParseInt(digits, 10, v.Type().Bits())
		if err != nil {
			return d.misfit(n, path, "%s is too large", describe(n))
		}
		v.SetInt(x)
		return true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if !number || !wholeNumber.MatchString(n.Value) || n.Value[0] == '-' {
			return d.misfit(n, path, "want a whole number from 0 up, got %s", describe(n))
		}
		x, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 10, v.Type().Bits())
		if err != nil {
			return d.misfit(n, path, "%s is too large", describe(n))
		}
		v.SetUint(x)
		return true
	case reflect.Float32, reflect.Float64:
		if !number || !realNumber.MatchString(n.Value) {
			return d.misfit(n, path, "want a finite decimal number, got %s", describe(n))
		}
		x, err := strconv.ParseFloat(digits, v.Type().Bits())
		if err != nil {
			return d.misfit(n, path, "%s is too large", describe(n))
		}
		v.SetFloat(x)
		return true
	}
	return d.misfit(n, path, "cannot be read from YAML: %s is not a kind of knob", v.Type())
}

// unprintable says of a character that no text of a spec holds it: control characters but line feed and tab, marks that turn
// the direction of writing round, and what XML, and so SVG, cannot hold.
func unprintable(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r >= 0xfffe && r <= 0xffff
}

// Printable says whether a text is a line that a spec may hold, as the name of a model has to be.
func Printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r == '\n' || r == '\t' || unprintable(r) })
}

// accept checks an assigned value against the tags of its knob.
func (d *decoder) accept(k knob, v reflect.Value, n *yaml.Node, path string) {
	switch {
	case !k.optional && !k.none && isEmpty(v):
		d.fault(n.Line, path, "must not be empty")
	case k.oneof != nil && v.Kind() == reflect.String && !slices.Contains(k.oneof, v.String()):
		d.fault(n.Line, path, "%s", unknown("value", v.String(), k.oneof))
	case k.line && v.Kind() == reflect.String && strings.ContainsAny(v.String(), "\n\t"):
		d.fault(n.Line, path, "want a text of one line, got %q", v.String())
	case k.line && v.Kind() == reflect.Map:
		for _, name := range v.MapKeys() {
			if text := v.MapIndex(name).String(); strings.ContainsAny(text, "\n\t") {
				d.faultAt(child(path, name.String()), "want a text of one line, got %q", text)
			}
		}
	case k.in != "":
		if k.badIn != nil {
			d.fault(n.Line, path, "%v", k.badIn)
			return
		}
		d.within(k.interval, v, n, path)
	}
}

// within reports the numbers of a value that are outside an interval: itself, or those of a list or of names.
func (d *decoder) within(in interval, v reflect.Value, n *yaml.Node, path string) {
	switch {
	case v.Kind() == reflect.Pointer:
		d.within(in, v.Elem(), n, path)
	case v.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			if p := fmt.Sprintf("%s[%d]", path, i); !d.at[p].broken {
				d.within(in, v.Index(i), c, p)
			}
		}
	case v.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := reflect.ValueOf(n.Content[i].Value).Convert(v.Type().Key())
			if of := v.MapIndex(name); of.IsValid() {
				d.within(in, of, n.Content[i+1], child(path, n.Content[i].Value))
			}
		}
	case !in.has(number(v)):
		d.fault(n.Line, path, "want %s, got %q", in, n.Value)
	}
}

// unset reports the knobs of t that no file has set. t is the type of the struct at path.
func (d *decoder) unset(t reflect.Type, path string) {
	for _, k := range knobs(t) {
		p := child(path, k.name)
		m, set := d.at[p]
		switch {
		case k.optional || m.broken:
		case !set:
			d.faultAt(p, "not set")
		case k.typ.Kind() == reflect.Struct && k.typ != nodeType:
			d.unset(k.typ, p)
		}
	}
}

// number returns a numeric value as a float; anything else is not a number.
func number(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return math.NaN()
}
