package spec

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPartsOfASpecKeepTheirPaths(t *testing.T) {
	x := Experiment{Seed: 1<<63 + 1, Targets: Targets{Tau: 0.8, K: 2}, Evaluate: Evaluate{Seeds: []uint64{3}, Confidence: 0.95}, Collapse: &Collapse{}}
	tree := Tree{}
	if err := tree.Pick(x, "targets.tau", "seed", "evaluate.seeds", "evaluate.confidence", "test", "folds.versus", "validate.weight_decay"); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	// What is optional and not set is not there.
	if want := `{"evaluate":{"confidence":0.95,"seeds":[3]},"seed":9223372036854775809,"targets":{"tau":0.8}}`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, c := range []struct{ path, want string }{
		{"targets.tao", `path "targets.tao": no knob "tao" in a spec.Targets`},
		{"Targets", `no knob "Targets"`},
		{"evaluate.seeds.0", `no knob "0" in a []uint64`},
		{"methods.name", `path "methods.name"`},
		{"", `no knob ""`},
		{"validate.steps", `no knob "steps" in a spec.Validate`}, // though nothing is set there
	} {
		y := x
		y.Methods = []Method{{Name: "random"}}
		if err := (Tree{}).Pick(y, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.path, err, c.want)
		}
		if HasPath(x, c.path) {
			t.Errorf("%q is no path of a spec", c.path)
		}
	}
	for _, path := range []string{"seed", "targets.tau", "collapse.setting.horizon", "evaluate.seeds", "validate.weight_decay"} {
		if !HasPath(x, path) {
			t.Errorf("%q is a path of a spec", path)
		}
	}
}
