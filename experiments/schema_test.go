// What is built in fits the schemas that editors read, and what the checks of a spec refuse does not.
package experiments_test

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// compiled is what 'entrorouter schema' prints of a type of file, as an editor reads it.
func compiled(t *testing.T, file any) *jsonschema.Schema {
	t.Helper()
	s, err := spec.Schema(file, spec.Known{Methods: methods.Kinds(), Outputs: present.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, plain(t, s)); err != nil {
		t.Fatal(err)
	}
	of, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// decoded is a YAML file as plain values.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return plain(t, v)
}

// plain is a value as JSON has it.
func plain(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestEveryBuiltInFileFitsItsSchema(t *testing.T) {
	for pattern, file := range map[string]any{"*.yaml": spec.Experiment{}, "pools/*.yaml": spec.Pool{}, "prices/*.yaml": spec.Prices{}} {
		of := compiled(t, file)
		files, err := fs.Glob(experiments.FS, pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if name := path.Base(file); pattern == "*.yaml" && (name == "benchmarks.yaml" || name == "recordings.yaml") {
				continue
			}
			text, err := fs.ReadFile(experiments.FS, file)
			if err != nil {
				t.Fatal(err)
			}
			if err := of.Validate(decoded(t, text)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// What the checks of a spec refuse for its type, its range or its name, the schema refuses.
func TestSchemaRefusesWhatChecksRefuse(t *testing.T) {
	of := compiled(t, spec.Experiment{})
	for text, sound := range map[string]bool{
		"grpo: {steps: 30}":                                  true,
		"grpo: {steps: 0}":                                   false,
		"grpo: {steps: many}":                                false,
		"grpo: {stps: 30}":                                   false,
		"reward: {kind: sparse}":                             true,
		"reward: {kind: spars}":                              false,
		"methods: [{name: knn}]":                             true,
		"methods: [{name: knnn}]":                            false,
		"methods: [{id: knn}]":                               false,
		"outputs: [{kind: table, file: a}]":                  true,
		"outputs: [{kind: table}]":                           true,
		"outputs: [{file: a}]":                               false,
		"test: sim-aime25":                                   false,
		"policy: {model: folder}":                            true,
		"policy: {model: {folder: folder}}":                  true,
		"policy: {model: {floder: folder}}":                  false,
		"evaluate: {confidence: 1}":                          false,
		"methods: [{name: logistic, params: {anything: 1}}]": true,
	} {
		if err := of.Validate(decoded(t, []byte(text))); (err == nil) != sound {
			t.Errorf("%s: %v, want sound %v", text, err, sound)
		}
	}
}
