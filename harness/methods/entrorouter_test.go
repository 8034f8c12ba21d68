package methods

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestARunHasOneBackend(t *testing.T) {
	for _, kind := range []string{"sft", "entrorouter", "entroplus"} {
		build(t, kind, "policy: {backend: go}")
		if _, err := New(setup(t, kind, "policy: {backend: xla}")); err == nil || !strings.Contains(err.Error(), "params.policy.backend: a run has one backend; set policy.backend of the experiment, which is go here") {
			t.Errorf("%s: error is %v", kind, err)
		}
	}
}

func TestParamsChangeWhatTheyNameAndNothingElse(t *testing.T) {
	plain := func(m routing.Method) (out map[string]map[string]any) {
		data, err := spec.Canonical(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, kind := range []string{"sft", "entrorouter"} {
		want, got := plain(build(t, kind, "")), plain(build(t, kind, "targets: {gate: false}"))
		if got["targets"]["gate"] != false || want["targets"]["gate"] != true {
			t.Errorf("%s: gate is %v by default, %v in the ablation", kind, want["targets"]["gate"], got["targets"]["gate"])
		}
		got["targets"]["gate"] = true
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the ablation changes more:\n%s", kind, diff)
		}
	}
	s := setup(t, "entrorouter", "targets: {gate: false}")
	if _, err := New(s); err != nil || !s.Spec.Targets.Gate {
		t.Errorf("the ablation changes the experiment: %+v, %v", s.Spec.Targets, err)
	}
}
