// Within a package, files form no circle that a reader must hold at once.

package harness_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// circles says how many files each circle of a package may have, the largest first; a package that is not here has none.
// Entries only shrink: what a package no longer needs is taken out. Parsers and what evaluates their trees call themselves
// through one another and stay so (verify).
var circles = map[string][]int{
	"verify":                   {7, 2},
	"verify/internal/decide":   {17},
	"verify/internal/evaluate": {5, 2},
	"verify/internal/formula":  {12},
	"verify/internal/modular":  {5},
}

func TestFilesOfAPackageFormNoNewCircles(t *testing.T) {
	ours, exports := listed(t)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }) // each package once
	known := map[string]bool{}
	for _, p := range ours {
		name := strings.TrimPrefix(p.ImportPath, module)
		known[name] = true
		uses, err := p.uses(fset, imports)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		var files strings.Builder
		for _, circle := range uses.circles() {
			sizes = append(sizes, len(circle))
			for _, from := range circle {
				for _, to := range circle {
					if names := uses[from][to]; len(names) > 0 {
						files.WriteString("\n\t" + from + " uses of " + to + ": " + strings.Join(slices.Sorted(maps.Keys(names)), ", "))
					}
				}
			}
		}
		slices.SortFunc(sizes, func(a, b int) int { return b - a })
		if !slices.Equal(sizes, circles[name]) {
			t.Errorf("%s: circles of %v files; the table has %v%s", name, sizes, circles[name], files.String())
		}
	}
	for name := range circles {
		if !known[name] {
			t.Errorf("there is no package %s: take it out of the table", name)
		}
	}
}

// A goPackage is what `go list` says of a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
}

// listed returns the packages of this module, and where the export data of each package lies that they need.
func listed(t *testing.T) (ours []goPackage, exports map[string]string) {
	t.Helper()
	all, err := goList()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports = map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, module) {
			ours = append(ours, p)
		}
	}
	return ours, exports
}

// goList asks once for all tests of the layout.
var goList = sync.OnceValues(func() (all []goPackage, err error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports", module+"...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
})

// uses says which names each file of the package has of which other file: of what is declared at the package's level, and methods.
func (p goPackage) uses(fset *token.FileSet, imports types.Importer) (fileUses, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: imports}
	pkg, err := conf.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	found := fileUses{}
	for _, name := range p.GoFiles {
		found[name] = map[string]map[string]bool{}
	}
	for at, object := range info.Uses {
		method, _ := object.(*types.Func)
		if object.Pkg() != pkg || object.Parent() != pkg.Scope() && (method == nil || method.Signature().Recv() == nil) {
			continue
		}
		from, to := filepath.Base(fset.Position(at.Pos()).Filename), filepath.Base(fset.Position(object.Pos()).Filename)
		if from == to {
			continue
		}
		if found[from][to] == nil {
			found[from][to] = map[string]bool{}
		}
		found[from][to][object.Name()] = true
	}
	return found, nil
}

// fileUses has under a file, under another file, the names that the first uses of the second.
type fileUses map[string]map[string]map[string]bool

// circles returns the files that reach one another, in groups of two and more.
func (u fileUses) circles() [][]string {
	reach := map[string]map[string]bool{}
	for from := range u {
		reach[from] = map[string]bool{}
		for ahead := []string{from}; len(ahead) > 0; {
			file := ahead[0]
			ahead = ahead[1:]
			for to := range u[file] {
				if !reach[from][to] {
					reach[from][to] = true
					ahead = append(ahead, to)
				}
			}
		}
	}
	var all [][]string
	seen := map[string]bool{}
	for _, file := range slices.Sorted(maps.Keys(u)) {
		if !reach[file][file] || seen[file] {
			continue
		}
		var circle []string
		for _, other := range slices.Sorted(maps.Keys(u)) {
			if reach[file][other] && reach[other][file] {
				circle = append(circle, other)
				seen[other] = true
			}
		}
		all = append(all, circle)
	}
	return all
}
