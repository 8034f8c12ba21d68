// What holds for every source file of the module.
package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// hasModule says whether a folder is a module of its own.
func hasModule(of fs.FS, folder string) bool {
	_, err := fs.Stat(of, path.Join(folder, "go.mod"))
	return err == nil
}

// Every file says what it is for before its package clause, beside constraints of its build and what made it.
func TestEveryFileSaysWhatItIsFor(t *testing.T) {
	module := os.DirFS("../..")
	n := 0
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && hasModule(module, name): // a copy that make build-xla changes
			return fs.SkipDir
		case d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		n++
		source, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		if headOf(t, name, source) == "" {
			t.Errorf("%s does not say at its top what it is for", name)
		}
		return nil
	})
	if err != nil || n < 200 {
		t.Errorf("%d files: %v", n, err)
	}
}

// headOf is what stands before the package clause of a file; empty: no sentence does. Directives are no text of a comment.
func headOf(t *testing.T, name string, source []byte) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		if text := strings.TrimSpace(group.Text()); group.Pos() < file.Package && strings.HasSuffix(text, ".") {
			return text
		}
	}
	return ""
}
