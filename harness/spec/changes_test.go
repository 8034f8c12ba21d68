package spec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// What a run was changed by is read back from what its measurements say.
func TestChangesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := spec.Changes{
			Rows:  rapid.SliceOfN(rapid.StringMatching("[a-z][a-z0-9.-]*"), 1, 4).Draw(t, "rows"),
			Limit: rapid.IntRange(0, 1000).Draw(t, "limit"),
			Set:   rapid.SliceOf(rapid.StringMatching("[a-z]+[.][a-z]+=[^\n\r]+")).Draw(t, "set"),
		}
		if rapid.Bool().Draw(t, "all rows") {
			want.Rows = nil
		}
		got, err := spec.ParseChanges(want.Flags())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)); d != "" { // no knob is as none
			t.Errorf("(-want +got)\n%s", d)
		}
	})
	// Measurements name each in a line.
	for _, set := range []string{"grpo.steps=\n  3", "title=a\rb"} {
		if _, err := spec.Load(sound(), "spec", known, spec.Changes{Set: []string{set}}); err == nil || !strings.Contains(err.Error(), "want one line") {
			t.Errorf("--set %q: %v", set, err)
		}
	}
	for flag, want := range map[string]string{
		"--limits 5": `"--limits 5": unknown change "--limits"; did you mean "--limit"?`,
		"--limit":    `"--limit": want a flag and its value`,
		"--limit 5x": `"--limit 5x": want a whole number`,
	} {
		if _, err := spec.ParseChanges([]string{flag}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flag, err, want)
		}
	}
}
