// Loc prints how many lines of Go code each package of a module has, apart from its tests. A line counts if it holds a
// part of a token: blank lines and lines with nothing but comments do not.
package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/entrorouter/entrorouter/internal/gofiles"
)

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := report(os.Stdout, os.DirFS(root)); err != nil {
		fmt.Fprintf(os.Stderr, "loc: %v\n", err)
		os.Exit(1)
	}
}

// lines are those of a package, and of its tests.
type lines struct{ code, tests int }

// report prints a line a package and the total.
func report(w io.Writer, module fs.FS) error {
	packages := map[string]*lines{}
	total := &lines{}
	err := gofiles.Each(module, func(name string, source []byte) error {
		n, err := count(source)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		of := packages[path.Dir(name)]
		if of == nil {
			of = &lines{}
			packages[path.Dir(name)] = of
		}
		for _, l := range []*lines{of, total} {
			if strings.HasSuffix(name, "_test.go") {
				l.tests += n
			} else {
				l.code += n
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "code\ttests\t  package")
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(tab, "%d\t%d\t  %s\n", packages[name].code, packages[name].tests, name)
	}
	fmt.Fprintf(tab, "%d\t%d\t  total\n", total.code, total.tests)
	return tab.Flush()
}

// count returns how many lines of a Go file hold a part of a token. Blank lines inside a string literal do not.
func count(source []byte) (int, error) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var faults scanner.ErrorList
	var s scanner.Scanner
	s.Init(file, source, faults.Add, 0)
	held := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && text == "\n" { // put in by the scanner
			continue
		}
		first := file.Line(pos)
		for i, part := range bytes.Split([]byte(text), []byte("\n")) {
			if i == 0 || len(bytes.TrimSpace(part)) > 0 {
				held[first+i] = true
			}
		}
	}
	return len(held), faults.Err()
}
