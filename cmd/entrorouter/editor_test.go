// What the schema of the command knows; package experiments holds files against it.
package main

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestTheSchemaKnowsEveryKindOfRowAndOutput(t *testing.T) {
	for _, kind := range spec.SchemaKinds {
		s, err := schema(kind)
		if err != nil {
			t.Fatal(err)
		}
		if kind != "spec" {
			continue
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		names := methods.Kinds()
		for _, k := range present.Kinds() {
			names = append(names, k.Name)
		}
		for _, name := range names {
			if !strings.Contains(string(text), strconv.Quote(name)) {
				t.Errorf("the schema of specs does not know %s", name)
			}
		}
	}
}
