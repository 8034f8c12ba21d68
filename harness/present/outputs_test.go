package present

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/internal/gofiles"
)

// What a kind of output needs is in the list of this package: others ask that, and compare no output's kind with a name.
func TestNoOtherPackageComparesTheKindOfAnOutput(t *testing.T) {
	compares := regexp.MustCompile(`\b(o|out|output)\.Kind (==|!=) "[a-z]|switch (o|out|output)\.Kind\b`)
	seen := 0
	err := gofiles.Each(os.DirFS("../.."), func(name string, source []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if at := compares.Find(source); at != nil {
			t.Errorf("%s: %s", name, at)
		}
		seen++
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d files were read: %v", seen, err)
	}
}

// The names that a spec is checked for are those of every file that is written.
func TestSuffixesAreThoseOfTheFiles(t *testing.T) {
	for _, name := range []string{"main", "recorded", "collapse"} {
		x := &builtin(t, name).Experiment
		var names []string
		for _, o := range x.Outputs {
			suffixes := []string{""}
			if of, _ := kindOf(o); of.suffixes != nil {
				suffixes = append(suffixes, of.suffixes(x)...)
			}
			for _, suffix := range suffixes {
				names = append(names, File(name, o.File+suffix))
			}
		}
		for file := range committed(t, name) {
			stem := strings.TrimSuffix(file, filepath.Ext(file))
			if file != Measurements(name) && !slices.ContainsFunc(names, func(known string) bool {
				begins, any := strings.CutSuffix(known, "*")
				return stem == known || any && strings.HasPrefix(stem, begins)
			}) {
				t.Errorf("%s is none of %q", file, names)
			}
		}
	}
}
