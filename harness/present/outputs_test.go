package present

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a kind of output needs is in the list of this package: others ask that, and compare no output's kind with a name.
func TestNoOtherPackageComparesTheKindOfAnOutput(t *testing.T) {
	compares := regexp.MustCompile(`\b(o|out|output)\.Kind (==|!=) "[a-z]|switch (o|out|output)\.Kind\b`)
	seen := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if at := compares.Find(text); at != nil {
			t.Errorf("%s: %s", path, at)
		}
		seen++
		return err
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
