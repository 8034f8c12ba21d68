// The comments of knobs, which say what each means, its unit and its source in the paper.

package spec

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// sources are the files that hold knobs.
//
//go:embed spec.go features.go collapse.go ensemble.go
var sources embed.FS

// comments returns the line comment of every struct field of this package, by "Type.Field".
func comments() (map[string]string, error) {
	docs := map[string]string{}
	for _, name := range []string{"spec.go", "features.go", "collapse.go", "ensemble.go"} {
		text, err := sources.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("comments of the knobs: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("comments of the knobs: %w", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			t, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := t.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						docs[t.Name.Name+"."+name.Name] = strings.TrimSpace(f.Comment.Text())
					}
				}
			}
			return true
		})
	}
	return docs, nil
}
