// The tags of knobs: names, ranges and choices.

package spec

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// knob is a field of a spec type as its tags describe it.
type knob struct {
	name     string
	index    int
	typ      reflect.Type
	optional bool     // yaml tag with omitempty
	in       string   // interval of numbers, e.g. (0,1]
	oneof    []string // accepted names
	word     bool     // tag word: the struct may be written as this knob's value alone
}

// knobs returns the exported fields of a struct type that YAML can set, in order.
func knobs(t reflect.Type) []knob {
	var all []knob
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		k := knob{name: name, index: i, typ: f.Type, optional: strings.Contains(options, "omitempty"), in: f.Tag.Get("in")}
		k.word = f.Tag.Get("word") != ""
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

// parseInterval reads the mathematical notation: [a,b] with ends, (a,b) without, inf and -inf.
func parseInterval(s string) (interval, error) {
	bad := fmt.Errorf("the tag in:%q is not an interval such as (0,1] or [1,inf)", s)
	if len(s) < 5 || !strings.ContainsRune("[(", rune(s[0])) || !strings.ContainsRune("])", rune(s[len(s)-1])) {
		return interval{}, bad
	}
	low, high, ok := strings.Cut(s[1:len(s)-1], ",")
	if !ok {
		return interval{}, bad
	}
	i := interval{lowOpen: s[0] == '(', highOpen: s[len(s)-1] == ')'}
	var err1, err2 error
	i.low, err1 = strconv.ParseFloat(low, 64)
	i.high, err2 = strconv.ParseFloat(high, 64)
	if err1 != nil || err2 != nil || !(i.low < i.high) {
		return interval{}, bad
	}
	return i, nil
}

func (i interval) has(x float64) bool {
	return (x > i.low || x == i.low && !i.lowOpen) && (x < i.high || x == i.high && !i.highOpen)
}

// String reads as in "want more than 0 and at most 1".
func (i interval) String() string {
	var ends []string
	if !math.IsInf(i.low, -1) {
		ends = append(ends, map[bool]string{true: "more than ", false: "at least "}[i.lowOpen]+strconv.FormatFloat(i.low, 'g', -1, 64))
	}
	if !math.IsInf(i.high, 1) {
		ends = append(ends, map[bool]string{true: "less than ", false: "at most "}[i.highOpen]+strconv.FormatFloat(i.high, 'g', -1, 64))
	}
	return strings.Join(ends, " and ")
}
