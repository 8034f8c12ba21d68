package methods

// No other package names a kind of method: what they need to know of one is in the list.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/internal/gofiles"
)

// otherMeanings are words that name a kind of method and something else: word -> files that mean the other thing, or
// what their paths begin with.
var otherMeanings = map[string][]string{
	"benchmark":   {"harness/", "cmd/", "harness/paper/tables.go"},                                                                                                              // the key of measurements, and of what is printed
	"sft":         {"harness/train/", "harness/stages/", "harness/rounds/", "harness/report/", "harness/score/training.go"},                                                     // Stage I
	"self":        {"harness/"},                                                                                                                                                 // who answers, and whose answers they are
	"difficulty":  {"harness/score/"},                                                                                                                                           // a stream of random numbers
	"mixture":     {"harness/problems/"},                                                                                                                                        // of liquids
	"mean":        {"harness/paper/"},                                                                                                                                           // of cells
	"bag":         {"verify/"},                                                                                                                                                  // a thing that is counted
	"xrouter":     {"harness/theory/"},                                                                                                                                          // a reward, of protocol collapse
	"entrorouter": {"harness/experts/sim/", "harness/fetch/home.go", "cmd/entrorouter/exit.go", "cmd/entrorouter/main.go", "cmd/entrorouter/version.go", "tools/peers/main.go"}, // this program
}

func TestNoOtherPackageNamesAKindOfMethod(t *testing.T) {
	seen := 0
	err := gofiles.Each(os.DirFS("../.."), func(name string, source []byte) error {
		if strings.HasPrefix(name, "harness/methods/") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		seen++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range namings(file, name) {
			t.Errorf("%s:%d names the method %s; say it in the list of package methods, and ask that", name, fset.Position(at.Pos()).Line, at.Value)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("only %d files were read", seen)
	}
}

// namings are the texts of a file that name a kind of method. A word with another meaning in the folder of the file
// names one where it is compared with a name, a method or a kind.
func namings(file *ast.File, name string) (found []*ast.BasicLit) {
	compared := map[ast.Node]bool{}
	side := func(with ast.Expr, literals ...ast.Expr) {
		var word string
		switch x := with.(type) {
		case *ast.Ident:
			word = x.Name
		case *ast.SelectorExpr:
			word = x.Sel.Name
		}
		if slices.Contains([]string{"name", "method", "kind"}, strings.ToLower(word)) {
			for _, l := range literals {
				compared[l] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BinaryExpr:
			side(x.X, x.Y)
			side(x.Y, x.X)
		case *ast.SwitchStmt:
			for _, c := range x.Body.List {
				side(x.Tag, c.(*ast.CaseClause).List...)
			}
		case *ast.BasicLit:
			word, err := strconv.Unquote(x.Value)
			means := slices.ContainsFunc(otherMeanings[word], func(of string) bool { return strings.HasPrefix(name, of) })
			if err == nil && slices.Contains(Kinds(), word) && (compared[x] || !means) && !slices.Contains(otherMeanings[word], name) {
				found = append(found, x)
			}
		}
		return true
	})
	return found
}

func TestNamesOfMethodsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`package p; var a = m.Name == "bag"`:                                        1,
		`package p; var a = "bag" != kind`:                                          1,
		`package p; func f(method string) { switch method { case "knn", "bag": } }`: 2,
		`package p; var a = has("forc")`:                                            1,
		`package p; var a = has("bag")`:                                             0, // of verify, a word that is counted
		`package p; var a = stage == "bag"`:                                         0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := namings(file, "verify/p.go"); len(got) != want {
			t.Errorf("%s: found %d, want %d", text, len(got), want)
		}
	}
}

// A file of the folder is a kind of row and says so at its top, or is in the package's list of what rows share.
func TestTheFolderReadsAsItsDocumentationSays(t *testing.T) {
	set := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	list, err := parser.ParseFile(set, "methods.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for line := range strings.Lines(list.Doc.Text()) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.HasSuffix(name, ".go") {
			listed[name] = true
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if row := strings.HasPrefix(file.Comments[0].Text(), "Row kind"); row == listed[name] {
			t.Errorf("%s: says that it is a row: %v; is in the list of what rows share: %v", name, row, listed[name])
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("there is no %s", name)
	}
}
