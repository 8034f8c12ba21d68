package lines

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/spec"
)

const text = "{\"a\":1}\n\n{\"b\":2}\n"

func packed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// However a file is compressed its checksum is that of its lines; where the path itself ends in .gz it is that of what is stored.
func TestTheChecksumIsThatOfTheLinesUnlessThePathIsCompressed(t *testing.T) {
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	z := packed(t)
	for name, c := range map[string]struct {
		stored  string // name of the file that is there
		content []byte
		path    string // that the pool file has
		sha256  string
		want    string // in the error; empty: read
	}{
		"plain":                          {"a.jsonl", []byte(text), "a.jsonl", sum([]byte(text)), ""},
		"compressed beside a plain path": {"a.jsonl.gz", z, "a.jsonl", sum([]byte(text)), ""},
		"its stored bytes":               {"a.jsonl.gz", z, "a.jsonl", sum(z), "a.jsonl.gz: sha256 is " + sum([]byte(text))},
		"a compressed path":              {"a.jsonl.gz", z, "a.jsonl.gz", sum(z), ""},
		"a compressed path by its lines": {"a.jsonl.gz", z, "a.jsonl.gz", sum([]byte(text)), "a.jsonl.gz: sha256 is " + sum(z)},
		"damaged beside a plain path":    {"a.jsonl.gz", z[:len(z)/2], "a.jsonl", sum([]byte(text)), "a.jsonl.gz: cannot be read: unexpected EOF; get the file from a test again"},
		"not there":                      {"b.jsonl", nil, "a.jsonl", sum(nil), "point --data at the folder that holds a.jsonl (source: a test); 'entrorouter fetch --list' has what it can get"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.stored), c.content, 0o666); err != nil {
				t.Fatal(err)
			}
			var got []string
			path, err := Read(t.Context(), dir, spec.File{Path: c.path, SHA256: c.sha256, Source: "a test"}, func(line []byte) error {
				got = append(got, string(line))
				return nil
			})
			switch {
			case c.want == "" && (err != nil || !slices.Equal(got, []string{`{"a":1}`, `{"b":2}`}) || path != filepath.Join(dir, c.stored)):
				t.Errorf("%q from %s, %v", got, path, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || got != nil):
				t.Errorf("%q, error %v does not say %q", got, err, c.want)
			}
		})
	}
}

// A file may hold lines of other models than those that are read: they count in nothing.
func TestOnlyLinesOfTheModelsCount(t *testing.T) {
	lines := []string{`{"query_id":"1","model":"a","correct":1}`, `{"query_id":"1","model":"b","correct":0}`, `{"query_id":"2","correct":1,"model":"a"}`}
	of := func(text ...string) string { return strings.Join(text, "\n") + "\n" }
	only := fmt.Sprintf("%x", sha256.Sum256([]byte(of(lines[0], lines[2]))))
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(of(lines...))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ stored, path, text string }{
		"all":        {"x.jsonl", "x.jsonl", of(lines...)},
		"only those": {"x.jsonl", "x.jsonl", of(lines[0], lines[2])},
		"compressed": {"x.jsonl.gz", "x.jsonl", z.String()},
		"stored so":  {"x.jsonl.gz", "x.jsonl.gz", z.String()},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.stored), []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var got []string
			file := spec.File{Path: c.path, SHA256: only, Models: []string{"a", "c"}}
			if _, err := Read(t.Context(), dir, file, func(line []byte) error { got = append(got, string(line)); return nil }); err != nil || !slices.Equal(got, []string{lines[0], lines[2]}) {
				t.Errorf("%q, %v", got, err)
			}
			if _, sum, err := Sum(dir, c.path, "a", "c"); err != nil || sum != only {
				t.Errorf("%s, %v; want %s", sum, err, only)
			}
		})
	}
}
