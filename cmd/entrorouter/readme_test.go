package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// longestReadme is how many lines a front page has at most.
const longestReadme = 200

// The tables in the README and on the page of findings are the committed ones, byte for byte; UPDATE=1 copies them in.
func TestTheReadmeHoldsTheCommittedTables(t *testing.T) {
	root := filepath.Join("..", "..")
	block := regexp.MustCompile(`(?s)<!-- begin (\S+) -->\n.*?<!-- end (\S+) -->`)
	for name, tables := range map[string]int{"README.md": 1, "docs/findings.md": 5} {
		path := filepath.Join(root, filepath.FromSlash(name))
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		want := block.ReplaceAllFunc(page, func(old []byte) []byte {
			n++
			names := block.FindSubmatch(old)
			if !bytes.Equal(names[1], names[2]) {
				t.Errorf("%s: block %s ends as %s", name, names[1], names[2])
			}
			table, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(string(names[1]))))
			if err != nil {
				t.Error(err)
				return old
			}
			return fmt.Appendf(nil, "<!-- begin %s -->\n%s\n<!-- end %s -->", names[1], bytes.TrimSpace(table), names[1])
		})
		if n != tables {
			t.Errorf("%s has %d tables, want %d", name, n, tables)
		}
		if lines := bytes.Count(want, []byte("\n")); name == "README.md" && lines > longestReadme {
			t.Errorf("the README has %d lines, more than %d", lines, longestReadme)
		}
		if bytes.Equal(page, want) {
			continue
		}
		if os.Getenv("UPDATE") == "" {
			t.Errorf("the tables of %s are not those under figures/; run UPDATE=1 go test ./cmd/entrorouter -run Readme", name)
		} else if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What render and claims make of the committed measurements is what is committed, file by file and byte for byte.
func TestCommittedFiguresAreThoseOfTheirMeasurements(t *testing.T) {
	root := filepath.Join("..", "..")
	if runtime.GOARCH != "amd64" {
		t.Skip("the committed coordinates are those of amd64, which rounds products before it adds them")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("figures", 0o777); err != nil {
		t.Fatal(err)
	}
	copyFiles(t, "figures", filepath.Join(root, "figures", "*-measurements.txt"))
	for _, args := range [][]string{{"entrorouter", "render", "--update"}, {"entrorouter", "claims", "--update"}} {
		var out bytes.Buffer
		if code := run(args, strings.NewReader(""), &out, &out); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", args, code, out.String())
		}
	}
	read := func(dir string) map[string][]byte {
		files := map[string][]byte{}
		paths, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
	committed, made := read(filepath.Join(root, "figures")), read("figures")
	for name, data := range made {
		if !bytes.Equal(data, committed[name]) {
			t.Errorf("figures/%s is not what its measurements give; run entrorouter render --update and entrorouter claims --update", name)
		}
	}
	for name := range committed {
		asked := strings.HasSuffix(name, ".pdf") || strings.HasSuffix(name, ".png") || strings.HasPrefix(name, "ensemble-") // by --formats, and by the command ensemble
		if _, ok := made[name]; !ok && !asked {
			t.Errorf("nothing makes figures/%s", name)
		}
	}
}

// What a document of the project links to is there.
func TestLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	root := filepath.Join("..", "..")
	link := regexp.MustCompile(`\]\(([A-Za-z.][^):#]*)\)`)
	for _, name := range []string{"README.md", "DESIGN.md", "LOG.md", "results/README.md", "docs/verify.md", "docs/findings.md", "docs/distance.md", "docs/own-models.md", "docs/data.md", "docs/ci.md", "docs/performance.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), filepath.FromSlash(string(m[1])))); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			}
		}
	}
}

// LOG.md and the others name the files and tests that show what they say: outside of links, in code spans and brackets.
func TestFilesAndTestsThatTheDocumentsNameAreThere(t *testing.T) {
	root := filepath.Join("..", "..")
	var sources bytes.Buffer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		sources.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := regexp.MustCompile(`\b(?:cmd|experiments|figures|harness|results|verify)/[A-Za-z0-9_./*-]*\.(?:csv|go|md|svg|txt|yaml)\b`)
	test := regexp.MustCompile(`\bTest[A-Z]\w+`)
	files, tests := 0, 0
	for _, name := range []string{"README.md", "DESIGN.md", "LOG.md", "docs/findings.md", "docs/distance.md", "docs/own-models.md", "docs/data.md", "docs/ci.md", "docs/performance.md"} {
		text := documentText(t, name)
		for _, path := range file.FindAllString(text, -1) {
			files++
			if found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path))); err != nil || len(found) == 0 {
				t.Errorf("%s names %s, which is not there", name, path)
			}
		}
		for _, f := range test.FindAllString(text, -1) {
			tests++
			if !bytes.Contains(sources.Bytes(), []byte("func "+f+"(")) {
				t.Errorf("%s names %s, and no such test is there", name, f)
			}
		}
	}
	if files < 50 || tests == 0 {
		t.Errorf("only %d files and %d tests found", files, tests)
	}
}
