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
