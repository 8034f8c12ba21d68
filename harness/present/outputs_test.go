package present

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
