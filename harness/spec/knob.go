// The tags of knobs: names, ranges and choices.

package spec

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// knob is a field of a spec type as its tags describe it.
type knob struct {
	name     string
	index    []int  // path to the field, for reflect
	field    string // type and name of the field in Go
	typ      reflect.Type
	optional bool     // yaml tag with omitempty
	in       string   // interval of numbers, e.g. (0,1]
	interval interval // what in says
	badIn    error    // in says no interval
	oneof    []string // accepted names
	line     bool     // tag line: a text of one line
	word     bool     // tag word: the struct may be written as this knob's value alone
	none     bool     // tag nothing: a map that may be empty, and written as nothing
}

// knobsOf keeps what knobs said of a type, which always says the same: files are full of the same few types.
var knobsOf sync.Map // reflect.Type -> []knob

// knobs returns the exported fields of a struct type that YAML can set, in order. Those of a struct with the option inline are its own.
// Callers must not change the list.
func knobs(t reflect.Type) []knob {
	if known, ok := knobsOf.Load(t); ok {
		return known.([]knob)
	}
	all := readKnobs(t)
	knobsOf.Store(t, all)
	return all
}

// readKnobs is knobs of a type that was not asked of before.
func readKnobs(t reflect.Type) []knob {
	var all []knob
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		inline := options == "inline" && f.Type.Kind() == reflect.Struct
		switch {
		case inline && (f.IsExported() || f.Anonymous): // the fields of an embedded struct can be set, whatever its name
			for _, k := range knobs(f.Type) {
				k.index = slices.Concat([]int{i}, k.index)
				all = append(all, k)
			}
			continue
		case !f.IsExported() || name == "-":
			continue
		}
		name = cmp.Or(name, strings.ToLower(f.Name))
		k := knob{name: name, index: []int{i}, field: t.Name() + "." + f.Name, typ: f.Type, optional: strings.Contains(options, "omitempty"), in: f.Tag.Get("in")}
		k.interval, k.badIn = parseInterval(k.in)
		k.word, k.line, k.none = f.Tag.Get("word") != "", f.Tag.Get("line") != "", f.Tag.Get("nothing") != ""
		if names := f.Tag.Get("oneof"); names != "" {
			k.oneof = strings.Fields(names)
		}
		all = append(all, k)
	}
	return all
}

// interval is a set of numbers between two ends that may belong to it or not.
type interval struct {
	low, high         float64
	lowOpen, highOpen bool
}

var intervalTag = regexp.MustCompile(`^([\[(])(.+),(.+)([\])])$`)

// parseInterval reads the mathematical notation: [a,b] with ends, (a,b) without, inf and -inf.
func parseInterval(s string) (interval, error) {
	if m := intervalTag.FindStringSubmatch(s); m != nil {
		low, err1 := strconv.ParseFloat(m[2], 64)
		high, err2 := strconv.ParseFloat(m[3], 64)
		if err1 == nil && err2 == nil && low < high {
			return interval{low: low, high: high, lowOpen: m[1] == "(", highOpen: m[4] == ")"}, nil
		}
	}
	return interval{}, fmt.Errorf("the tag in:%q is not an interval such as (0,1] or [1,inf)", s)
}

func (i interval) has(x float64) bool {
	return (x > i.low || x == i.low && !i.lowOpen) && (x < i.high || x == i.high && !i.highOpen)
}

// String reads as in "want more than 0 and at most 1".
func (i interval) String() string {
	var ends []string
	if !math.IsInf(i.low, -1) {
		ends = append(ends, map[bool]string{true: "more than ", false: "at least "}[i.lowOpen]+plainly(i.low))
	}
	if !math.IsInf(i.high, 1) {
		ends = append(ends, map[bool]string{true: "less than ", false: "at most "}[i.highOpen]+plainly(i.high))
	}
	return strings.Join(ends, " and ")
}

// plainly writes an end of an interval as a person does, without an exponent.
func plainly(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// twice returns a name that two knobs of a struct type have, its own or those of a struct that is inline; empty: none.
func twice(t reflect.Type) string {
	seen := map[string]bool{}
	for _, k := range knobs(t) {
		if seen[k.name] {
			return k.name
		}
		seen[k.name] = true
	}
	return ""
}

// unbounded lists the numeric knobs below a type that have no greatest or no least value, by path. Seeds (uint64) are names:
// every one is as good as another.
func unbounded(t reflect.Type, path string) (faults []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == nodeType {
		return nil
	}
	for _, k := range knobs(t) {
		elem := k.typ
		for elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Slice || elem.Kind() == reflect.Map {
			elem = elem.Elem()
		}
		switch elem.Kind() {
		case reflect.Struct:
			faults = append(faults, unbounded(elem, child(path, k.name))...)
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float32, reflect.Float64:
			if k.badIn != nil || math.IsInf(k.interval.low, 0) || math.IsInf(k.interval.high, 0) {
				faults = append(faults, child(path, k.name))
			}
		}
	}
	return faults
}
