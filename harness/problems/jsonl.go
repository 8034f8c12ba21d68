// Benchmarks from files of a data folder, checked by their checksums.

package problems

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Source gives the problems of benchmarks.
type Source interface {
	// Names lists the benchmarks in a fixed order.
	Names() []string
	// Load returns the problems of one benchmark, in a fixed order.
	Load(ctx context.Context, benchmark string) ([]routing.Problem, error)
}

// JSONL reads benchmarks from files of a data folder, one JSON object per line, plain or (.gz) compressed:
//
//	{"id": "7", "problem": "Find ...", "answer": "42"}
//
// with optional "level" (text or number) and "options" (then "answer" is a letter or the text of an option); further
// keys are ignored. Answers are passed on as they are ("27.0", "$\\frac12$"): reading them is the
// verifier's work.
type JSONL struct {
	Dir        string          // the data folder
	Benchmarks spec.Benchmarks // those with a File are served
}

// Names lists the benchmarks with a file, sorted.
func (s JSONL) Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Benchmarks)), func(name string) bool { return s.Benchmarks[name].File == nil })
}

// Load reads the first Size problems of a benchmark (all of them if Size is 0). The file must have the SHA-256 of its
// spec; it is a fault if the file is missing or has fewer problems, and if a line is no JSON object, lacks an id that prints, a
// problem or an answer, or repeats an id.
func (s JSONL) Load(ctx context.Context, benchmark string) ([]routing.Problem, error) {
	b, ok := s.Benchmarks[benchmark]
	if !ok || b.File == nil {
		return nil, fmt.Errorf("benchmark %q has no file; known: %s", benchmark, strings.Join(s.Names(), ", "))
	}
	if !filepath.IsLocal(b.File.Path) {
		return nil, fmt.Errorf("benchmark %q: path %q leaves the data folder; give a path below it", benchmark, b.File.Path)
	}
	file := *b.File
	if file.Home != nil {
		file.Set = benchmark
	}
	var problems []routing.Problem
	ids := map[string]bool{}
	path, err := lines.Read(ctx, s.Dir, file, func(line []byte) error {
		if b.Size > 0 && len(problems) == b.Size {
			return nil
		}
		p, err := parse(line, benchmark, b)
		if err == nil && ids[p.ID] {
			err = fmt.Errorf("id %q is there twice; ids must be unique", p.ID)
		}
		problems, ids[p.ID] = append(problems, p), true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("benchmark %q: %w", benchmark, err)
	}
	if len(problems) == 0 {
		return nil, fmt.Errorf("%s: holds no problem; expected one JSON object per line", path)
	}
	if len(problems) < b.Size {
		return nil, fmt.Errorf("%s: benchmark %q asks for %d problems, and it has fewer, %d; lower its size", path, benchmark, b.Size, len(problems))
	}
	return problems, nil
}

// row is one line of a file.
type row struct {
	ID      string   `json:"id"`
	Problem string   `json:"problem"`
	Answer  string   `json:"answer"`
	Level   label    `json:"level"`
	Options []string `json:"options"`
}

// label is a JSON text or number.
type label string

func (l *label) UnmarshalJSON(raw []byte) error {
	var text *string
	if json.Unmarshal(raw, &text) == nil {
		if text != nil {
			*l = label(*text)
		}
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("level %s is neither text nor a number", raw)
	}
	*l = label(n)
	return nil
}

// parse reads a line.
func parse(line []byte, benchmark string, b spec.Benchmark) (routing.Problem, error) {
	var r row
	switch err := json.Unmarshal(line, &r); {
	case !utf8.Valid(line):
		return routing.Problem{}, errors.New("not UTF-8; convert the file")
	case err != nil && bytes.ContainsRune(line, '\r'):
		return routing.Problem{}, errors.New("lines end in carriage returns alone; end them in line feeds")
	case err != nil:
		return routing.Problem{}, fmt.Errorf("not a problem in JSON: %w", lines.Worded(err))
	}
	for _, field := range []struct{ name, value string }{{"id", r.ID}, {"problem", r.Problem}, {"answer", r.Answer}} {
		if strings.TrimSpace(field.value) == "" {
			return routing.Problem{}, fmt.Errorf("%q is missing or empty; every problem needs id, problem and answer", field.name)
		}
	}
	if !spec.Printable(r.ID) {
		return routing.Problem{}, fmt.Errorf("id %q holds a character that does not print; take it out", r.ID)
	}
	p := routing.Problem{ID: r.ID, Benchmark: benchmark, Split: routing.Split(b.Split), Text: r.Problem,
		Gold: []string{r.Answer}, Level: string(r.Level)}
	if !strings.HasPrefix(p.ID, benchmark) {
		p.ID = benchmark + "-" + p.ID
	}
	if r.Options == nil {
		return p, nil
	}
	if len(r.Options) > 26 {
		return routing.Problem{}, fmt.Errorf("%d options; there are letters for 26", len(r.Options))
	}
	at := indexOption(r.Answer, r.Options)
	if at == len(r.Options) {
		return routing.Problem{}, fmt.Errorf("answer %q is neither the letter nor the text of one of the %d options", r.Answer, len(r.Options))
	}
	var text strings.Builder
	text.WriteString(r.Problem + "\n")
	writeOptions(&text, r.Options)
	p.Text, p.Options, p.Gold = text.String(), r.Options, []string{letterOf(at)}
	return p, nil
}
