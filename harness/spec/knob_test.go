package spec

import (
	"math"
	"reflect"
	"testing"
)

func TestIntervalsByHand(t *testing.T) {
	for _, tc := range []struct {
		tag     string
		in, out []float64
		text    string
	}{
		{"[0,1]", []float64{0, 0.5, 1}, []float64{-1e-9, 1.1, math.NaN()}, "at least 0 and at most 1"},
		{"(0,1]", []float64{1e-9, 1}, []float64{0}, "more than 0 and at most 1"},
		{"[0,1)", []float64{0}, []float64{1}, "at least 0 and less than 1"},
		{"[1,inf)", []float64{1, 1e300}, []float64{0.999}, "at least 1"},
		{"(-inf,0]", []float64{-1e300, 0}, []float64{1e-9}, "at most 0"},
	} {
		i, err := parseInterval(tc.tag)
		if err != nil || i.String() != tc.text {
			t.Errorf("%s: %q, %v", tc.tag, i, err)
		}
		for _, x := range tc.in {
			if !i.has(x) {
				t.Errorf("%v is in %s", x, tc.tag)
			}
		}
		for _, x := range tc.out {
			if i.has(x) {
				t.Errorf("%v is not in %s", x, tc.tag)
			}
		}
	}
	for _, tag := range []string{"", "1", "[]", "[1]", "[1,0]", "0,1", "[a,b]", "{0,1}"} {
		if i, err := parseInterval(tag); err == nil {
			t.Errorf("%q: got %v", tag, i)
		}
	}
}

// Every tag of the spec types can be read: a misspelt one would show only when its knob is set.
func TestTagsOfTheKnobsAreSound(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(t2 reflect.Type) {
		switch t2.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t2.Elem())
			return
		}
		if t2.Kind() != reflect.Struct || t2 == nodeType || seen[t2] {
			return
		}
		seen[t2] = true
		for _, k := range knobs(t2) {
			if k.in != "" {
				if _, err := parseInterval(k.in); err != nil {
					t.Errorf("%s.%s: %v", t2, k.name, err)
				}
			}
			if k.oneof != nil && k.typ.Kind() != reflect.String {
				t.Errorf("%s.%s: oneof is for text", t2, k.name)
			}
			walk(k.typ)
		}
	}
	for _, v := range []any{Experiment{}, Pool{}, Benchmarks{}, Prices{}} {
		for _, path := range unbounded(reflect.TypeOf(v), "") {
			t.Errorf("%T: %s has no greatest or no least value", v, path)
		}
	}
	walk(reflect.TypeFor[Experiment]())
	walk(reflect.TypeFor[Pool]())
	walk(reflect.TypeFor[Benchmarks]())
	walk(reflect.TypeFor[Prices]())
}

func TestTheNearestNameByHand(t *testing.T) {
	known := []string{"entrorouter", "logistic", "k", "tau", "T"}
	for got, want := range map[string]string{
		"logistc": "logistic", "lgoistic": "logistic", "EntroRouter": "entrorouter", "kk": "k", "tua": "tau",
		"x": "", "": "", "random": "", "tree": "",
	} {
		if near := Nearest(got, known); near != want {
			t.Errorf("%q: got %q, want %q", got, near, want)
		}
	}
	for _, tc := range []struct {
		a, b string
		d    int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abcd", "acbd", 1}, {"same", "same", 0}} {
		if d := distance(tc.a, tc.b); d != tc.d {
			t.Errorf("%s, %s: got %d, want %d", tc.a, tc.b, d, tc.d)
		}
	}
}
