package problems

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// source writes content to a file and returns a source with the one benchmark "b" in it.
func source(t testing.TB, file string, content []byte, size int) JSONL {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return JSONL{Dir: dir, Benchmarks: spec.Benchmarks{
		"b":    {Split: "test", Size: size, File: &spec.File{Path: file, SHA256: hex.EncodeToString(sum[:]), Source: "example.org/b"}},
		"made": {Split: "test", Generated: &spec.Generated{}},
	}}
}

func compress(t testing.TB, text string) []byte {
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

func TestFilesAreReadLineByLine(t *testing.T) {
	const text = `{"id": "b-1", "benchmark": "b", "problem": "What is $6 \\cdot 7$?", "answer": "$42.0$", "level": "Level 2", "extra": [1]}

{"id": "2", "problem": "Which is prime?", "answer": "C", "level": 4.5, "options": ["4", "6", "7"]}
{"id": "3", "problem": "Which is even?", "answer": "8", "level": null, "options": ["7", "8"]}`
	want := []routing.Problem{
		{ID: "b-1", Benchmark: "b", Split: routing.Test, Text: `What is $6 \cdot 7$?`, Gold: []string{"$42.0$"}, Level: "Level 2"},
		{ID: "b-2", Benchmark: "b", Split: routing.Test, Text: "Which is prime?\n\nA) 4\nB) 6\nC) 7", Gold: []string{"C"}, Options: []string{"4", "6", "7"}, Level: "4.5"},
		{ID: "b-3", Benchmark: "b", Split: routing.Test, Text: "Which is even?\n\nA) 7\nB) 8", Gold: []string{"B"}, Options: []string{"7", "8"}},
	}
	for _, c := range []struct {
		name, file string
		content    []byte
		size       int
	}{
		{"plain", "b.jsonl", []byte(text), 0},
		{"compressed", "b.jsonl.gz", compress(t, text), 3},
		{"the first two", "b.jsonl", []byte(text), 2},
		{"Windows line ends", "b.jsonl", []byte(strings.ReplaceAll(text, "\n", "\r\n")), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := source(t, c.file, c.content, c.size).Load(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			w := want
			if c.size > 0 {
				w = want[:c.size]
			}
			if !reflect.DeepEqual(got, w) {
				t.Errorf("got %+v\nwant %+v", got, w)
			}
		})
	}
}

func TestFaultyFilesAreRefusedWithTheLine(t *testing.T) {
	const good = `{"id": "1", "problem": "p", "answer": "2"}` + "\n"
	for _, c := range []struct{ name, file, content, want string }{
		{"no JSON", "b.jsonl", good + "id,problem\n", "b.jsonl:2: not a problem in JSON: "},
		{"cut JSON", "b.jsonl", good + `{"id": "2", "prob`, "b.jsonl:2: not a problem in JSON: "},
		{"answer of a wrong type", "b.jsonl", `{"id": "1", "problem": "p", "answer": 2}`, "b.jsonl:1: not a problem in JSON: answer is of type number; want a text"},
		{"a list", "b.jsonl", `[{"id": "1", "problem": "p", "answer": "2"}]`, "b.jsonl:1: not a problem in JSON: it is of type array"},
		{"Latin-1", "b.jsonl", good + "{\"id\": \"2\", \"problem\": \"caf\xe9\", \"answer\": \"2\"}", "b.jsonl:2: not UTF-8; convert the file"},
		{"UTF-16", "b.jsonl", "\xff\xfe{\x00\"\x00", "b.jsonl:1: not UTF-8; convert the file"},
		{"lines of old Macintoshes", "b.jsonl", strings.ReplaceAll(good+good, "\n", "\r"), "b.jsonl:1: lines end in carriage returns alone; end them in line feeds"},
		{"level of a wrong type", "b.jsonl", `{"id": "1", "problem": "p", "answer": "2", "level": []}`, "b.jsonl:1: not a problem in JSON: level [] is neither text nor a number"},
		{"no answer", "b.jsonl", good + "\n" + `{"id": "2", "problem": "p"}`, `b.jsonl:3: "answer" is missing or empty; every problem needs id, problem and answer`},
		{"blank answer", "b.jsonl", `{"id": "2", "problem": "p", "answer": " "}`, `b.jsonl:1: "answer" is missing or empty`},
		{"no id", "b.jsonl", `{"problem": "p", "answer": "2"}`, `b.jsonl:1: "id" is missing or empty`},
		{"an id of orders", "b.jsonl", `{"id": "2\u001b[2J", "problem": "p", "answer": "2"}`, `b.jsonl:1: id "2\x1b[2J" holds a character that does not print; take it out`},
		{"an id of two lines", "b.jsonl", `{"id": "2\r\n3", "problem": "p", "answer": "2"}`, `b.jsonl:1: id "2\r\n3" holds a character that does not print`},
		{"no problem", "b.jsonl", `{"id": "2", "answer": "2"}`, `b.jsonl:1: "problem" is missing or empty`},
		{"same id twice", "b.jsonl", good + good, `b.jsonl:2: id "b-1" is there twice; ids must be unique`},
		{"same id with and without the name", "b.jsonl", good + `{"id": "b-1", "problem": "p", "answer": "2"}`, `b.jsonl:2: id "b-1" is there twice; ids must be unique`},
		{"answer outside the options", "b.jsonl", `{"id": "1", "problem": "p", "answer": "D", "options": ["1", "2"]}`, `b.jsonl:1: answer "D" is neither the letter nor the text of one of the 2 options`},
		{"nothing", "b.jsonl", "\n", "b.jsonl: holds no problem; expected one JSON object per line"},
		{"not compressed", "b.jsonl.gz", good, "b.jsonl.gz: not compressed, though its name says so"},
		{"compression cut short", "b.jsonl.gz", string(compress(t, good)[:20]), "b.jsonl.gz:1: the compressed data are cut short or damaged here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := source(t, c.file, []byte(c.content), 0).Load(t.Context(), "b")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestWrongFilesAreRefused(t *testing.T) {
	good := []byte(`{"id": "1", "problem": "p", "answer": "2"}`)
	for _, c := range []struct {
		name, benchmark string
		change          func(*JSONL, *spec.File)
		want            string
	}{
		{"unknown benchmark", "c", nil, `benchmark "c" has no file; known: b`},
		{"generated benchmark", "made", nil, `benchmark "made" has no file; known: b`},
		{"missing file", "b", func(s *JSONL, f *spec.File) { f.Path = "gone.jsonl" }, `no such file or directory: point --data at the folder that holds gone.jsonl (source: example.org/b)`},
		{"no checksum", "b", func(s *JSONL, f *spec.File) { f.SHA256 = "" }, `no sha256 is given for it, so nothing would notice a change of the data; write beside its path: sha256: `},
		{"wrong checksum", "b", func(s *JSONL, f *spec.File) { f.SHA256 = "abc" }, ` and was to be "abc": get the file from example.org/b again, or correct its sha256 if the data are meant to differ`},
		{"path out of the folder", "b", func(s *JSONL, f *spec.File) { f.Path = "../b.jsonl" }, `benchmark "b": path "../b.jsonl" leaves the data folder; give a path below it`},
		{"too few problems", "b", func(s *JSONL, f *spec.File) { s.Benchmarks["b"] = spec.Benchmark{Size: 2, File: f} }, `benchmark "b" asks for 2 problems, and it has fewer, 1; lower its size`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := source(t, "b.jsonl", good, 0)
			if c.change != nil {
				c.change(&s, s.Benchmarks["b"].File)
			}
			if _, err := s.Load(t.Context(), c.benchmark); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestLoadingStopsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := source(t, "b.jsonl", []byte(`{"id": "1", "problem": "p", "answer": "2"}`), 0).Load(ctx, "b")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context canceled", err)
	}
}

// TestRealBenchmarks reads the files of a data folder next to the checkout, if there is one.
func TestRealBenchmarks(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "data", "benchmarks")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no data folder at", dir)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := source(t, filepath.Base(path), content, 0).Load(t.Context(), "b"); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"id": "1", "problem": "p", "answer": "2"}`))
	f.Add([]byte(`{"id": "1", "problem": "p", "answer": "B", "options": ["1", "2"], "level": 3}`))
	f.Add([]byte("{}\n[]\nnull\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for line := range bytes.Lines(data) {
			p, err := parse(line, "b", spec.Benchmark{Split: "test"})
			if err == nil && (p.Text == "" || len(p.Gold) != 1 || p.Gold[0] == "" || !strings.HasPrefix(p.ID, "b")) {
				t.Fatalf("%q gives %+v", line, p)
			}
		}
	})
}
