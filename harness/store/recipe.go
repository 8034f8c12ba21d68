// Recipes and the keys that follow from them.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/internal/strict"
)

// Key identifies a recipe: the stage it belongs to and the SHA-256 of its canonical form. It is comparable, and
// known before anything has run, so a plan can be drawn up without running it.
type Key struct {
	Stage string
	Sum   [sha256.Size]byte
}

// shortDigits is how much of the sum folder names and messages show. A clash is noticed, since entries hold their
// whole recipe, and at 48 bits it needs millions of recipes in one stage.
const shortDigits = 12

// Short returns the first digits of the sum, as in folder names.
func (k Key) Short() string { return hex.EncodeToString(k.Sum[:])[:shortDigits] }

// String returns stage-short, for people.
func (k Key) String() string { return k.Stage + "-" + k.Short() }

// MarshalText writes stage-sum with all 64 digits.
func (k Key) MarshalText() ([]byte, error) {
	return []byte(k.Stage + "-" + hex.EncodeToString(k.Sum[:])), nil
}

// UnmarshalText reads what MarshalText wrote.
func (k *Key) UnmarshalText(text []byte) error {
	i := bytes.LastIndexByte(text, '-')
	if i < 0 {
		return fmt.Errorf("malformed key %q: want stage-<64 hex digits>", text)
	}
	stage := string(text[:i])
	if err := checkName(stage); err != nil {
		return fmt.Errorf("malformed key %q: %w", text, err)
	}
	sum, err := hex.DecodeString(string(text[i+1:]))
	if err != nil || len(sum) != sha256.Size {
		return fmt.Errorf("malformed key %q: want stage-<64 hex digits>", text)
	}
	*k = Key{Stage: stage, Sum: [sha256.Size]byte(sum)}
	return nil
}

var (
	_ encoding.TextMarshaler   = Key{}
	_ encoding.TextUnmarshaler = (*Key)(nil)
)

// Recipe is everything that decides the output of a stage, and nothing else: how many requests are in flight or
// which experiment asked does not belong in it. Equal recipes are made once and shared.
type Recipe struct {
	stage   string
	version int
	params  json.RawMessage // canonical
	inputs  map[string]Key
	key     Key
}

// NewRecipe describes one run of a stage. stage names its folder: letters, digits, '-', '_' and '.'. version is
// raised when the meaning of the stage's code changes. params is anything that encodes to JSON; the order of
// fields and the spelling of numbers do not matter. inputs are the keys of the entries read, each under a name that says
// what it is to the stage, as in "outcomes/paper/aime24".
func NewRecipe(stage string, version int, params any, inputs map[string]Key) (Recipe, error) {
	if err := checkName(stage); err != nil {
		return Recipe{}, fmt.Errorf("recipe: stage %w", err)
	}
	canonical, err := canonicalJSON(params)
	if err != nil {
		return Recipe{}, fmt.Errorf("recipe of stage %q: params: %w", stage, err)
	}
	if _, nameless := inputs[""]; nameless {
		return Recipe{}, fmt.Errorf("recipe of stage %q: an input has no name; say what it is to the stage", stage)
	}
	r := Recipe{stage: stage, version: version, params: canonical, inputs: maps.Clone(inputs)}
	r.key = Key{Stage: stage, Sum: sha256.Sum256(r.JSON())}
	return r, nil
}

// Key returns the key of the recipe.
func (r Recipe) Key() Key { return r.key }

// Params returns the parameters as canonical JSON.
func (r Recipe) Params() json.RawMessage { return slices.Clone(r.params) }

// Inputs returns the keys of the entries read, by name.
func (r Recipe) Inputs() map[string]Key { return maps.Clone(r.inputs) }

// Reads says whether an entry is among the inputs.
func (r Recipe) Reads(k Key) bool { return slices.Contains(slices.Collect(maps.Values(r.inputs)), k) }

// recipeJSON is the form of a recipe that is hashed and stored in recipe.json.
type recipeJSON struct {
	Stage   string          `json:"stage"`
	Version int             `json:"version"`
	Params  json.RawMessage `json:"params"`
	Inputs  map[string]Key  `json:"inputs"` // by name
}

// JSON returns the recipe as recipe.json has it; the hash of these bytes is the key.
func (r Recipe) JSON() []byte {
	inputs := r.inputs
	if inputs == nil {
		inputs = map[string]Key{}
	}
	data, err := indentJSON(recipeJSON{r.stage, r.version, r.params, inputs})
	if err != nil { // params are canonical JSON and the rest always encodes
		panic("store: internal error: " + err.Error())
	}
	return data
}

// parseRecipe reads recipe.json.
func parseRecipe(data []byte) (Recipe, error) {
	var in recipeJSON
	if err := strict.JSON(data, &in); err != nil {
		return Recipe{}, err
	}
	return NewRecipe(in.Stage, in.Version, in.Params, in.Inputs)
}

func indentJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// canonicalJSON encodes v with sorted keys, no spaces and one spelling a number, so that equal values have equal
// bytes whichever Go type, field order or file they come from.
func canonicalJSON(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	if tree, err = canonicalNumbers(tree); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b) // sorts the keys of maps
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// canonicalNumbers rewrites fractions and exponents in the shortest form of their float64. Integers stay digit
// for digit: a 64-bit seed does not fit a float64.
func canonicalNumbers(tree any) (any, error) {
	var err error
	switch v := tree.(type) {
	case map[string]any:
		for k := range v {
			if v[k], err = canonicalNumbers(v[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = canonicalNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	case json.Number:
		if s := v.String(); strings.ContainsAny(s, ".eE") {
			f, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return nil, fmt.Errorf("number %s does not fit a float64", s)
			}
			if f == 0 {
				return json.Number("0"), nil
			}
			return f, nil
		} else if s == "-0" {
			return json.Number("0"), nil
		}
	}
	return tree, nil
}

// checkName accepts what can be a folder name on every system and part of a key.
func checkName(name string) error {
	if name == "" {
		return fmt.Errorf("name is empty")
	}
	for _, c := range name {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c)
		if !ok {
			return fmt.Errorf("name %q: want letters, digits, '-', '_' and '.'", name)
		}
	}
	if name[0] == '.' {
		return fmt.Errorf("name %q starts with a dot", name)
	}
	return nil
}
