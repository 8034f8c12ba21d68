// What holds for every source file of the module.
package main

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/internal/gofiles"
)

// Every file says what it is for before its package clause, beside constraints of its build and what made it.
func TestEveryFileSaysWhatItIsFor(t *testing.T) {
	n := 0
	err := gofiles.Each(os.DirFS("../.."), func(name string, source []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		n++
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
