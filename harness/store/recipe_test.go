package store

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func recipe(t testing.TB, stage string, version int, params any, inputs ...Key) Recipe {
	t.Helper()
	named := map[string]Key{}
	for i, k := range inputs {
		named[strconv.Itoa(i)] = k
	}
	r, err := NewRecipe(stage, version, params, named)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEqualRecipesHaveEqualKeys(t *testing.T) {
	type anchor struct {
		Strength float64 `json:"strength"`
		Alpha    float64 `json:"alpha"`
	}
	want := recipe(t, "fit", 1, anchor{1, 0.6}).Key()
	for name, params := range map[string]any{
		"a map":                        map[string]float64{"strength": 1, "alpha": 0.6},
		"another order of fields":      json.RawMessage(`{"alpha":0.6,"strength":1}`),
		"spaces":                       json.RawMessage("{ \"alpha\" : 0.6,\n\"strength\" : 1 }"),
		"another spelling of a number": json.RawMessage(`{"alpha":6.00e-1,"strength":1.0}`),
	} {
		t.Run(name, func(t *testing.T) {
			if got := recipe(t, "fit", 1, params).Key(); got != want {
				t.Errorf("key %v, want %v", got, want)
			}
		})
	}
}

func TestDifferentRecipesHaveDifferentKeys(t *testing.T) {
	a, b := recipe(t, "a", 1, nil).Key(), recipe(t, "b", 1, nil).Key()
	seen := map[Key]string{}
	for name, r := range map[string]Recipe{
		"base":                         recipe(t, "fit", 1, map[string]any{"x": 1}, a, b),
		"another stage":                recipe(t, "fit2", 1, map[string]any{"x": 1}, a, b),
		"another version":              recipe(t, "fit", 2, map[string]any{"x": 1}, a, b),
		"another value":                recipe(t, "fit", 1, map[string]any{"x": 2}, a, b),
		"text instead of a number":     recipe(t, "fit", 1, map[string]any{"x": "1"}, a, b),
		"another field":                recipe(t, "fit", 1, map[string]any{"y": 1}, a, b),
		"inputs under other names":     recipe(t, "fit", 1, map[string]any{"x": 1}, b, a),
		"an input less":                recipe(t, "fit", 1, map[string]any{"x": 1}, a),
		"a seed one apart above 2^53":  recipe(t, "fit", 1, map[string]any{"x": uint64(math.MaxUint64)}, a, b),
		"the seed next to it":          recipe(t, "fit", 1, map[string]any{"x": uint64(math.MaxUint64 - 1)}, a, b),
		"null instead of an empty set": recipe(t, "fit", 1, map[string]any{"x": nil}, a, b),
		"an empty set":                 recipe(t, "fit", 1, map[string]any{"x": []int{}}, a, b),
	} {
		if other, ok := seen[r.Key()]; ok {
			t.Errorf("%q and %q have the same key", name, other)
		}
		seen[r.Key()] = name
	}
}

// A change of this key would throw away every entry of every user: it needs a reason and a line in LOG.md.
func TestTheCanonicalFormStaysAsItIs(t *testing.T) {
	in := recipe(t, "profile", 3, nil).Key()
	r, err := NewRecipe("targets", 1, map[string]any{"tau": 0.8, "k": 2, "label": "a<b"}, map[string]Key{"profile/sft": in, "profile/rl": in})
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "stage": "targets",
  "version": 1,
  "params": {
    "k": 2,
    "label": "a<b",
    "tau": 0.8
  },
  "inputs": {
    "profile/rl": "profile-c20fbea4538af56b7d53f04686942ae3e5ec9e056e5d03a842541e013bdb8274",
    "profile/sft": "profile-c20fbea4538af56b7d53f04686942ae3e5ec9e056e5d03a842541e013bdb8274"
  }
}
`
	if got := string(r.JSON()); got != want {
		t.Errorf("recipe.json is\n%s\nwant\n%s", got, want)
	}
	if got, want := r.Key().String(), "targets-c45f4b99bf56"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
}

func TestRecipeSurvivesItsFile(t *testing.T) {
	r := recipe(t, "fit-large", 7, map[string]any{"lr": 1e-9, "note": "<&>"}, recipe(t, "targets", 1, nil).Key())
	got, err := parseRecipe(r.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if got.Key() != r.Key() {
		t.Errorf("key %v after reading, want %v", got.Key(), r.Key())
	}
}

func TestBadRecipesAreRefused(t *testing.T) {
	if _, err := NewRecipe("fit", 1, nil, map[string]Key{"": {}}); err == nil || !strings.Contains(err.Error(), "an input has no name") {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		name, stage string
		params      any
		want        string
	}{
		{"an empty stage", "", nil, "name is empty"},
		{"a stage with a slash", "a/b", nil, `"a/b"`},
		{"a hidden stage", ".tmp", nil, "starts with a dot"},
		{"parameters without a JSON form", "fit", math.NaN(), "NaN"},
		{"a number out of range", "fit", json.RawMessage("1e999"), "1e999"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := NewRecipe(c.stage, 1, c.params, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that says %q", err, c.want)
			}
		})
	}
}

func TestKeyTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := Key{Stage: rapid.StringMatching(`[a-z][a-z0-9.-]{0,20}`).Draw(t, "stage")}
		copy(k.Sum[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sum"))
		text, err := k.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var got Key
		if err := got.UnmarshalText(text); err != nil || got != k {
			t.Fatalf("%q reads as %v, %v", text, got, err)
		}
	})
	for _, bad := range []string{"", "fit", "fit-12", "fit-" + strings.Repeat("g", 64), "-" + strings.Repeat("0", 64), "../x-" + strings.Repeat("0", 64)} {
		if err := new(Key).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("malformed key %q was accepted", bad)
		}
	}
}

func FuzzCanonicalJSON(f *testing.F) {
	for _, s := range []string{`{"b":[1,2.50,-0,0.0],"a":null}`, `18446744073709551615`, `"<\u00e9>"`, `1e400`, `{} {}`, `[[],{}]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			t.Skip()
		}
		once, err := canonicalJSON(json.RawMessage(text))
		if err != nil {
			t.Skip()
		}
		twice, err := canonicalJSON(once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("canonical form %s becomes %s, %v", once, twice, err)
		}
		var given, kept any
		if json.Unmarshal([]byte(text), &given) != nil {
			t.Skip() // an integer beyond float64
		}
		if err := json.Unmarshal(once, &kept); err != nil || !reflect.DeepEqual(given, kept) {
			t.Errorf("%s means %v and its canonical form %s means %v, %v", text, given, once, kept, err)
		}
	})
}
