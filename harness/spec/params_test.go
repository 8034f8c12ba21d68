package spec_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/spec"
)

func node(t testing.TB, text string) yaml.Node {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return *n.Content[0]
}

type knn struct {
	K       int          `yaml:"k" in:"[1,1000]"`
	Metric  string       `yaml:"metric" oneof:"cosine dot"`
	Shrink  float64      `yaml:"shrink" in:"[0,1]"`
	Expert  string       `yaml:"expert"`
	Note    string       `yaml:"note,omitempty"`
	Grid    []float64    `yaml:"grid" in:"[-10,10]"`
	Targets spec.Targets `yaml:"targets"`
	Cap     *int         `yaml:"cap,omitempty" in:"[0,9]"`
	Plain   bool

	state int
}

func defaults() knn {
	return knn{K: 10, Metric: "cosine", Grid: []float64{1, 2}, Expert: "small", Targets: spec.Targets{Tau: 0.8, K: 2, Gate: true}, state: 7}
}

func TestParamsAreLaidOverTheirDefaults(t *testing.T) {
	got := defaults()
	m := spec.Method{Name: "knn", Params: node(t, "k: 1_000\nshrink: .5\ngrid: [0.1]\ntargets: {gate: false}\ncap: 3\nplain: true\n")}
	if err := spec.DecodeParams(m, &got); err != nil {
		t.Fatal(err)
	}
	want, three := defaults(), 3
	want.K, want.Shrink, want.Grid, want.Targets.Gate, want.Cap, want.Plain = 1000, 0.5, []float64{0.1}, false, &three, true
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(knn{})); diff != "" {
		t.Error(diff)
	}
	got = defaults()
	if err := spec.DecodeParams(spec.Method{Name: "knn"}, &got); err != nil {
		t.Errorf("no params: %v", err)
	}
	if diff := cmp.Diff(defaults(), got, cmp.AllowUnexported(knn{})); diff != "" {
		t.Error(diff)
	}
}

func TestParamsAreStrict(t *testing.T) {
	for _, tc := range []struct{ name, params, want string }{
		{"an unknown key", "k: 3\nkk: 3", `a.yaml:2: methods[3].params: unknown key "kk"; did you mean "k"? known: k, metric, shrink, expert, note, grid, targets, cap, plain`},
		{"a key twice", "k: 3\nk: 4", `a.yaml:2: methods[3].params: key "k" is already set on line 1`},
		{"a fraction", "k: 1.5", `a.yaml:1: methods[3].params.k: want a whole number, got "1.5"`},
		{"out of range", "k: 0", `a.yaml:1: methods[3].params.k: want at least 1 and at most 1000, got "0"`},
		{"out of range in a list", "grid:\n- 1\n- 11", `a.yaml:3: methods[3].params.grid[1]: want at least -10 and at most 10, got "11"`},
		{"out of range behind a pointer", "cap: 10", `a.yaml:1: methods[3].params.cap: want at least 0 and at most 9, got "10"`},
		{"an unknown name", "metric: cosin", `a.yaml:1: methods[3].params.metric: unknown value "cosin"; did you mean "cosine"? known: cosine, dot`},
		{"a fault inside a section", "targets:\n  tau: 2", `a.yaml:2: methods[3].params.targets.tau: want more than 0 and at most 1, got "2"`},
		{"an unexported field", "state: 1", `a.yaml:1: methods[3].params: unknown key "state"; known: k, metric, shrink, expert, note, grid, targets, cap, plain`},
		{"an empty list", "grid: []", `a.yaml:1: methods[3].params.grid: must not be empty`},
		{"a wrong pointer", "cap: many", `a.yaml:1: methods[3].params.cap: want a whole number, got the text "many"`},
		{"a faulty number in a list", "grid:\n- 1\n- x", `a.yaml:3: methods[3].params.grid[1]: want a finite decimal number, got the text "x"`},
		{"all of it", "k: x\nshrink: 3\nnote: 5", `a.yaml:1: methods[3].params.k: want a whole number, got the text "x"
a.yaml:2: methods[3].params.shrink: want at least 0 and at most 1, got "3"
a.yaml:3: methods[3].params.note: want text, got "5"; put it in quotes`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := defaults()
			err := spec.DecodeParams(spec.Method{Name: "knn", Params: node(t, tc.params), File: "a.yaml", Line: 1, Path: "methods[3]"}, &got)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got\n%v\nwant\n%s", err, tc.want)
			}
		})
	}
}

func TestParamsWithoutDefaultMustBeSet(t *testing.T) {
	var got struct {
		Expert string `yaml:"expert"`
		K      int    `yaml:"k" in:"[0,9]"`
	}
	err := spec.DecodeParams(spec.Method{Name: "fixed", File: "a.yaml", Line: 9, Path: "methods[1]"}, &got)
	if want := "a.yaml:9: methods[1].params.expert: not set"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := spec.DecodeParams(spec.Method{Name: "fixed", Params: node(t, "expert: big")}, &got); err != nil || got.Expert != "big" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAMethodWithoutParamsTakesNone(t *testing.T) {
	var none struct{}
	if err := spec.DecodeParams(spec.Method{Name: "oracle"}, &none); err != nil {
		t.Error(err)
	}
	err := spec.DecodeParams(spec.Method{Name: "oracle", Params: node(t, "k: 1")}, &none)
	if want := `params: unknown key "k"; no key is known here`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParamsGoIntoAPointerToAStruct(t *testing.T) {
	for _, into := range []any{nil, knn{}, new(int), (*knn)(nil)} {
		if err := spec.DecodeParams(spec.Method{Name: "knn"}, into); err == nil {
			t.Errorf("%T: want an error", into)
		}
	}
	var odd struct {
		C chan int `yaml:"c"`
	}
	err := spec.DecodeParams(spec.Method{Name: "odd", Params: node(t, "c: 1")}, &odd)
	if err == nil || !strings.Contains(err.Error(), "chan int is not a kind of knob") {
		t.Errorf("got %v", err)
	}
}

// A number that may be anything ends a run in a crash, so a row cannot have one.
func TestEveryNumberOfARowHasTwoFiniteEnds(t *testing.T) {
	var open struct {
		Steps int                  `yaml:"steps" in:"[1,inf)"`
		LR    map[string]float64   `yaml:"lr"`
		Below []struct{ N *int32 } `yaml:"below"`
		Wrong int                  `yaml:"wrong" in:"0..1"`
		Good  float64              `yaml:"good" in:"(0,1)"`
		Seed  uint64               `yaml:"seed"`
	}
	err := spec.DecodeParams(spec.Method{Name: "odd"}, &open)
	if want := `method odd: no greatest or no least value of steps, lr, below.n, wrong; its field needs a tag such as in:"[1,1000]"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCanonicalFormByHand(t *testing.T) {
	three := 3
	v := defaults()
	v.Cap = &three
	got, err := spec.Canonical(v)
	want := `{"cap":3,"expert":"small","grid":[1,2],"k":10,"metric":"cosine","plain":false,"shrink":0,"targets":{"gate":true,"hard_weight":0,"k":2,"soft":false,"tau":0.8}}`
	if err != nil || string(got) != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", got, want, err)
	}
	big := map[string]any{"b": uint64(math.MaxUint64), "a": []any{1e-7, math.Copysign(0, -1), 1e300, nil, "<x>"}}
	got, err = spec.Canonical(big)
	if want := `{"a":[1e-07,0,1e+300,null,"<x>"],"b":18446744073709551615}`; err != nil || string(got) != want {
		t.Errorf("got\n%s\nwant\n%s\n%v", got, want, err)
	}
}

func TestCanonicalFormDoesNotSeeHowTheYAMLIsWritten(t *testing.T) {
	a := spec.Method{Name: "knn", Params: node(t, "k: 1000\nw: 1000000.0\nnames: [a, 'b']\ndeep: {y: true, x: ~}\n"), File: "a.yaml", Line: 4}
	b := spec.Method{Name: "knn", Params: node(t, "# same\ndeep:\n  x: null\n  y: True\nnames:\n- \"a\"\n- b\nw: 1_000_000\nk: 1e3\n"), File: "b.yaml", Line: 9}
	x, err1 := spec.Canonical(a)
	y, err2 := spec.Canonical(b)
	if err1 != nil || err2 != nil || string(x) != string(y) {
		t.Errorf("%s, %v\n%s, %v", x, err1, y, err2)
	}
	if want := `{"name":"knn","params":{"deep":{"x":null,"y":true},"k":1000,"names":["a","b"],"w":1000000}}`; string(x) != want {
		t.Errorf("got %s", x)
	}
	c := a
	c.Params = node(t, "k: '1000'\nw: 1000000\nnames: [a, b]\ndeep: {y: true, x: ~}\n")
	if z, _ := spec.Canonical(c); string(z) == string(x) {
		t.Error("the text 1000 and the number 1000 are different knobs")
	}
}

func TestWhatHasNoCanonicalForm(t *testing.T) {
	for name, v := range map[string]any{
		"NaN":      struct{ X float64 }{math.NaN()},
		"infinity": []float64{math.Inf(1)},
		"a chan":   map[string]any{"c": make(chan int)},
		"int keys": map[int]int{1: 2},
		"an alias": node(t, "a: &x 1\nb: *x"),
		"a twice":  node(t, "b: {a: 1, a: 2}"),
	} {
		if got, err := spec.Canonical(v); err == nil {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestDifferentKnobsHaveDifferentCanonicalForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() spec.Evaluate {
			return spec.Evaluate{
				Seeds:      rapid.SliceOfN(rapid.Uint64(), 0, 3).Draw(t, "seeds"),
				Decoding:   rapid.String().Draw(t, "decoding"),
				Confidence: rapid.Float64().Draw(t, "confidence") + 0, // no negative zero
				MaxRuns:    rapid.Int().Draw(t, "runs"),
			}
		}
		a, b := draw(), draw()
		if rapid.Bool().Draw(t, "same") {
			b = a
		}
		x, err := spec.Canonical(a)
		y, err2 := spec.Canonical(b)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		validText := strings.ToValidUTF8(a.Decoding, "\ufffd") == a.Decoding && strings.ToValidUTF8(b.Decoding, "\ufffd") == b.Decoding
		if validText && cmp.Equal(a, b) != (string(x) == string(y)) {
			t.Fatalf("%+v\n%+v\n%s\n%s", a, b, x, y)
		}
	})
}

// described has what the schema of a type says of every knob that is no group of others, by its path.
func described(t *testing.T, v any) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		in := func(path string, inner map[string]any) {
			if _, ok := inner["description"]; !ok && s["description"] != nil {
				inner["description"] = s["description"]
			}
			walk(path, inner)
		}
		if forms, ok := s["anyOf"].([]any); ok {
			in(path, forms[1].(map[string]any))
		} else if items, ok := s["items"].(map[string]any); ok {
			in(path+"[]", items)
		} else if values, ok := s["additionalProperties"].(map[string]any); ok {
			in(path+".NAME", values)
		} else if properties, ok := s["properties"].(map[string]any); ok {
			for name, p := range properties {
				walk(strings.TrimPrefix(path+"."+name, "."), p.(map[string]any))
			}
		} else {
			all[path] = s
		}
	}
	s, err := spec.Schema(v, spec.Known{})
	if err != nil {
		t.Fatal(err)
	}
	walk("", s)
	return all
}

func TestEveryKnobOfAnExperimentIsDescribed(t *testing.T) {
	for _, v := range []any{spec.Pool{}, spec.Benchmark{}, spec.Prices{}} {
		if n := len(described(t, v)); n < 3 {
			t.Errorf("%T: %d knobs", v, n)
		}
	}
	at := described(t, spec.Experiment{})
	for path, s := range at {
		if s["description"] == nil {
			t.Errorf("%s has no comment", path)
		}
	}
	for path, want := range map[string]map[string]any{
		"targets.tau":      {"type": "number", "exclusiveMinimum": 0.0, "maximum": 1.0, "description": "reliability threshold; paper: 0.8"},
		"evaluate.seeds[]": {"type": "integer", "minimum": 0, "description": "training seeds, one fit each"},
		"methods[].params": {"type": "object", "description": "read by DecodeParams"},
	} {
		if diff := cmp.Diff(want, at[path]); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

// Shared are knobs that several rows have.
type Shared struct {
	Steps int    `yaml:"steps" in:"[1,10]"`
	Note  string `yaml:"note,omitempty"`
}

type inlined struct {
	Shared `yaml:",inline"`
	Rate   float64 `yaml:"rate" in:"[0,1]"`
}

// The knobs of a struct with the option inline are read, checked and written as the row's own.
func TestInlinedKnobsAreTheRowsOwn(t *testing.T) {
	got := inlined{Shared{Steps: 2}, 0.5}
	if err := spec.DecodeParams(spec.Method{Name: "x", Params: node(t, "{steps: 7, note: a, rate: 0.25}")}, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inlined{Shared{7, "a"}, 0.25}, got); diff != "" {
		t.Error(diff)
	}
	if text, err := spec.Canonical(got); err != nil || string(text) != `{"note":"a","rate":0.25,"steps":7}` {
		t.Errorf("%s, %v", text, err)
	}
	for params, want := range map[string]string{
		"steps: 11":            `params.steps: want at least 1 and at most 10, got "11"`,
		"stepz: 1":             `unknown key "stepz"; did you mean "steps"?`,
		"shared: {steps: 1}":   `unknown key "shared"`,
		"{steps: 1, steps: 2}": `key "steps" is already set`,
	} {
		got := inlined{}
		if err := spec.DecodeParams(spec.Method{Name: "x", Params: node(t, params)}, &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", params, err, want)
		}
	}
	type again struct {
		Shared `yaml:",inline"`
		Notes  string `yaml:"note,omitempty"`
	}
	if err := spec.DecodeParams(spec.Method{Name: "x"}, &again{}); err == nil || !strings.Contains(err.Error(), "two fields are the knob note") {
		t.Errorf("a knob twice: %v", err)
	}
	type unbounded struct {
		Shared struct{ N int } `yaml:",inline"`
	}
	if err := spec.DecodeParams(spec.Method{Name: "x"}, &unbounded{}); err == nil || !strings.Contains(err.Error(), "no least value of n") {
		t.Errorf("a knob without bounds: %v", err)
	}
}
