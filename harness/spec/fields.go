// Knobs described for readers of specs.

package spec

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
)

// sources are the files that hold knobs.
//
//go:embed spec.go features.go collapse.go ensemble.go
var sources embed.FS

// Field describes one knob for readers of specs.
type Field struct {
	Path     string // in YAML: grpo.steps, methods[].label, models.NAME.in
	Type     string // text, whole number, number, true or false, params, or "list of" or "by name:" and these
	Accepts  string // range or names; empty: anything of the type
	Optional bool
	Doc      string // meaning, unit and source in the paper
}

// Fields lists every knob below the type of v (Experiment{}, Pool{}, Benchmark{} or Prices{}), in the order of the
// source. The texts are the comments of this package's own source, so they are where the knobs are.
func Fields(v any) ([]Field, error) {
	docs, err := comments()
	if err != nil {
		return nil, err
	}
	t := reflect.TypeOf(v)
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the knobs of %T: not a struct of knobs", v)
	}
	return fields(t, "", docs), nil
}

func fields(t reflect.Type, path string, docs map[string]string) []Field {
	var all []Field
	for _, k := range knobs(t) {
		f := Field{Path: child(path, k.name), Optional: k.optional, Doc: docs[k.field]}
		elem, many := k.typ, ""
	unwrap:
		for elem != nodeType {
			switch elem.Kind() {
			case reflect.Pointer:
			case reflect.Slice:
				f.Path, many = f.Path+"[]", "list of "
			case reflect.Map:
				f.Path, many = f.Path+".NAME", "by name: "
			default:
				break unwrap
			}
			elem = elem.Elem()
		}
		switch {
		case k.oneof != nil:
			f.Accepts = strings.Join(k.oneof, ", ")
		case k.in != "":
			if in, err := parseInterval(k.in); err == nil {
				f.Accepts = in.String()
			}
		}
		if elem.Kind() == reflect.Struct && elem != nodeType {
			all = append(all, fields(elem, f.Path, docs)...)
			continue
		}
		f.Type = many + kindName(elem, many != "")
		all = append(all, f)
	}
	return all
}

func kindName(t reflect.Type, plural bool) string {
	one, more := "whole number", "whole numbers"
	switch {
	case t == nodeType:
		return "params"
	case t == jsonType:
		return "anything"
	case t.Kind() == reflect.String:
		one, more = "text", "texts"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		one, more = "number", "numbers"
	}
	if plural {
		return more
	}
	return one
}

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
