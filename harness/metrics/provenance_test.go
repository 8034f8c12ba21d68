package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestProvenanceIsReadBack(t *testing.T) {
	for line, want := range map[string]Provenance{
		" Made with seed 1 by backend go on amd64.":                                                           {1, []uint64{1}, "go", "amd64", ""},
		" Made with seed 5, trained with seed 7, by backend go on arm64.":                                     {5, []uint64{7}, "go", "arm64", ""},
		" Made with seed 1 by backend xla:cpu on amd64, AMD EPYC (family 25, model 17, x86-64-v4, cores: 2).": {1, []uint64{1}, "xla:cpu", "amd64", "AMD EPYC (family 25, model 17, x86-64-v4, cores: 2)"},
	} {
		got, ok := (&Set{Comment: []string{" Tiny.", line}}).Provenance()
		if d := cmp.Diff(want, got); d != "" || !ok {
			t.Errorf("%s: (-want +got)\n%s", line, d)
		}
		if got.String() != line {
			t.Errorf("%q is written as %q", line, got.String())
		}
	}
	// Lines of single seeds tell of several.
	if got, want := (Provenance{1, []uint64{7, 8}, "go", "amd64", ""}).String(), " Made with seed 1 by backend go on amd64."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, ok := (&Set{Comment: []string{" Tiny."}}).Provenance(); ok {
		t.Error("a file without the line is made by something known")
	}
}

func TestFoldsAreReadBack(t *testing.T) {
	for want, comment := range map[int][]string{0: {" Tiny."}, 5: {" Tiny.", InFolds(5) + ", 3 partitions."}, 10: {InFolds(10) + ", 1 partition."}} {
		if got := (&Set{Comment: comment}).Folds(); got != want {
			t.Errorf("%q is of %d folds, want %d", comment, got, want)
		}
	}
}

func TestRecipesAreReadBack(t *testing.T) {
	want := []Recipe{
		{"measure", "measure-3e94a44cd371", "entrorouter v1.2.0, go 1.26.8, github.com/gomlx/gomlx v0.28.2"},
		{"measure large", "measure-1111a44cd371", "entrorouter v1.2.0, go 1.26.8, github.com/gomlx/gomlx v0.28.2"},
		{"measure qwen2_o1mini", "measure-folds-b29da76b2e1d", ""},
	}
	set := &Set{Comment: []string{" Tiny.", MadeOf("a.jsonl", "12ab"), " Made with seed 1 by backend go on amd64."}}
	if got := set.Recipes(); got != nil {
		t.Errorf("a file without recipes has %v", got)
	}
	if got := set.Versions(); got != nil {
		t.Errorf("a file without recipes has %v", got)
	}
	said := []string{set.Comment[0], set.Comment[2]}
	for _, r := range want {
		set.Comment = append(set.Comment, r.String())
	}
	if d := cmp.Diff(want, set.Recipes()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff([]string{want[0].By}, set.Versions()); d != "" {
		t.Errorf("versions (-want +got)\n%s", d)
	}
	if d := cmp.Diff(said, set.Said(MadeOf("a.jsonl", "12ab"))); d != "" {
		t.Errorf("what else it says (-want +got)\n%s", d)
	}
	if got := set.Said(); len(got) != 3 {
		t.Errorf("data that nobody shows are not said: %q", got)
	}
}

func TestChangesOfARunAreReadBack(t *testing.T) {
	set := &Set{Comment: []string{" Tiny (changed: --limit 5 --set a.b=1, 2)."}}
	if got := set.Changes(); got != nil {
		t.Errorf("a run of the spec as it stands was changed by %q", got)
	}
	want := []string{"--limit 5", "--set a.b=1, 2"}
	for _, flag := range want {
		set.Comment = append(set.Comment, ChangedBy(flag))
	}
	if d := cmp.Diff(want, set.Changes()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(set.Comment[:1], set.Said()); d != "" {
		t.Errorf("what else it says (-want +got)\n%s", d)
	}
}
