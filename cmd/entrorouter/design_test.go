// The symbols that DESIGN.md and the glossary name are there.
package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var symbol = regexp.MustCompile("`([a-z]+(?:\\.[A-Z]\\w*)+(?:\\.[A-Z]\\w*)?)`")

func TestEverySymbolOfTheDesignExists(t *testing.T) {
	_, table, ok := strings.Cut(documentText(t, "DESIGN.md"), "\n## Where is ...\n")
	if !ok {
		t.Fatal("DESIGN.md has no table of where what is")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	declared := map[string]map[string]bool{} // by package
	for name, text := range map[string]string{"DESIGN.md": table, "docs/glossary.md": documentText(t, "docs/glossary.md")} {
		found := symbol.FindAllStringSubmatch(text, -1)
		for _, m := range found {
			in, rest, _ := strings.Cut(m[1], ".")
			if declared[in] == nil {
				declared[in] = declarations(t, in)
			}
			if !declared[in][rest] {
				t.Errorf("%s names %s, which is not declared", name, m[1])
			}
		}
		if len(found) < 20 {
			t.Errorf("%s names only %d symbols", name, len(found))
		}
	}
	if rows := strings.Count(table, "\n| ") - 1; len(symbol.FindAllString(table, -1)) < rows {
		t.Errorf("fewer symbols than the %d rows of DESIGN.md", rows)
	}
}

// declarations are the functions, types and methods (Type.Method) of a package of this module.
func declarations(t *testing.T, name string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, dir := range []string{"../../harness/" + name, "../../" + name} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					out[receiver(d)+d.Name.Name] = true
				case *ast.GenDecl:
					for _, s := range d.Specs {
						if of, ok := s.(*ast.TypeSpec); ok {
							out[of.Name.Name] = true
						}
					}
				}
			}
		}
	}
	return out
}

// receiver is the type of a method and a dot; nothing of a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}
