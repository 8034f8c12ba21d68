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

// compiled is what 'entrorouter schema' prints of a kind of file, as an editor reads it.
func compiled(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	s, err := spec.SchemaOf(kind, spec.Known{Methods: methods.Kinds(), Outputs: present.Kinds()})
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(kind+".json", doc); err != nil {
		t.Fatal(err)
	}
	of, err := c.Compile(kind + ".json")
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
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestEveryBuiltInFileFitsItsSchema(t *testing.T) {
	for kind, pattern := range map[string]string{"spec": "*.yaml", "pool": "pools/*.yaml", "prices": "prices/*.yaml"} {
		of := compiled(t, kind)
		files, err := fs.Glob(experiments.FS, pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, file := range files {
			if name := path.Base(file); kind == "spec" && (name == "benchmarks.yaml" || name == "recordings.yaml") {
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
	of := compiled(t, "spec")
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
