// What holds for every source file of the module.
package main

import (
	"go/ast"
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
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, source, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		if !saysItsUse(file) {
			t.Errorf("%s does not say at its top what it is for", name)
		}
		return nil
	})
	if err != nil || n < 200 {
		t.Errorf("%d files: %v", n, err)
	}
}

// saysItsUse reports whether a sentence stands before the package clause. Directives are no text of a comment.
func saysItsUse(file *ast.File) bool {
	for _, group := range file.Comments {
		if group.Pos() < file.Package && strings.HasSuffix(strings.TrimSpace(group.Text()), ".") {
			return true
		}
	}
	return false
}
