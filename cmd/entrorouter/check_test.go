package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// A reader's knob moved the numbers, and check says which.
func TestAKnobThatDiffersFromTheBuiltInSpecIsNamed(t *testing.T) {
	load := func(set ...string) *spec.Resolved {
		r, err := spec.Load(experiments.FS, "smoke.yaml", spec.Known{Methods: methods.Kinds()}, spec.Changes{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		set, want []string
	}{
		{nil, nil},
		{[]string{"reward.fail=-1"}, []string{"reward.fail: -3 -> -1"}},
		{[]string{"reward.fail=-1", "grpo.steps=7"}, []string{"grpo.steps: 40 -> 7", "reward.fail: -3 -> -1"}},
	} {
		got, err := otherKnobs(load(), load(c.set...))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%v (-want +got):\n%s", c.set, d)
		}
	}
}
