package experts

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// Recording is a table of outcomes that were measured elsewhere: one graded response of each model to each query.
//
// It is read from two files of one JSON object a line, plain or (with a name ending in .gz) compressed, which anybody
// can write from their own logs:
//
//	queries:   {"query_id": "q1", "benchmark": "gsm8k", "problem": "...", "gold": "18", "prompt_tokens": 65, "options": ["...", "..."]}
//	outcomes:  {"query_id": "q1", "model": "small", "correct": 1, "output_tokens": 228, "no_answer": 0}
//
// query_id is unique. prompt_tokens counts the tokens of the problem, output_tokens every token that was billed,
// thinking included. correct and no_answer are 0 or 1. options and no_answer may be left out, nothing else may, and
// no other key is allowed: a misspelt key would otherwise be a silent zero. A pair of query and model occurs once.
//
// Letters: Q queries, A models.
type Recording struct {
	Queries []Recorded // [Q] in the order of the file, those of the chosen benchmarks
	Models  []string   // [A] models with an outcome for every query, by name
	Partial []string   // models left out because some query has no outcome of theirs, by name

	Correct  [][]bool  // [Q][A]
	NoAnswer [][]bool  // [Q][A] nothing that could be an answer was found; such a response is not correct
	Out      [][]int64 // [Q][A] billed output tokens
}

// Recorded is one query of a recording.
type Recorded struct {
	ID           string
	Benchmark    string
	Problem      string
	Gold         string
	Options      []string // multiple choice; nil otherwise
	PromptTokens int64    // of the problem and the instructions around it
}

// Model returns the index of a model in Models.
func (r *Recording) Model(name string) (int, error) {
	if i, ok := slices.BinarySearch(r.Models, name); ok {
		return i, nil
	}
	return 0, fmt.Errorf("the recording has no model %q with an outcome for each of its %d queries; it has: %s", name, len(r.Queries), list(r.Models))
}

// LoadRecording reads the files of a recorded pool below a data folder and checks their checksums. models names
// those that must be complete (the pool's and its probe); other models with gaps are listed in Partial and left out.
func LoadRecording(ctx context.Context, folder string, s spec.Recorded, models []string) (*Recording, error) {
	r := &Recording{}
	index := map[string]int{} // query id -> position; -1: of a benchmark that was not chosen
	path := filepath.Join(folder, filepath.FromSlash(s.Queries.Path))
	err := readLines(ctx, path, s.Queries, func(line []byte) error {
		q, err := readQuery(line)
		if err != nil {
			return err
		}
		if _, twice := index[q.ID]; twice {
			return fmt.Errorf("query_id %q is there twice", q.ID)
		}
		index[q.ID] = -1
		if len(s.Benchmarks) == 0 || slices.Contains(s.Benchmarks, q.Benchmark) {
			index[q.ID] = len(r.Queries)
			q.PromptTokens += int64(s.PromptTokens)
			r.Queries = append(r.Queries, q)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(r.Queries) == 0 {
		return nil, fmt.Errorf("%s: no query of benchmarks %s", path, list(s.Benchmarks))
	}

	columns := map[string]*column{}
	path = filepath.Join(folder, filepath.FromSlash(s.Outcomes.Path))
	err = readLines(ctx, path, s.Outcomes, func(line []byte) error {
		o, err := readOutcome(line)
		if err != nil {
			return err
		}
		q, ok := index[*o.Query]
		switch {
		case !ok:
			return fmt.Errorf("query_id %q is not in the queries file", *o.Query)
		case q < 0:
			return nil
		}
		c := columns[*o.Model]
		if c == nil {
			c = newColumn(len(r.Queries))
			columns[*o.Model] = c
		}
		if c.seen[q] {
			return fmt.Errorf("query_id %q and model %q are there twice", *o.Query, *o.Model)
		}
		c.seen[q], c.correct[q], c.noAnswer[q], c.out[q] = true, bool(*o.Correct), bool(o.NoAnswer), *o.Out
		c.n++
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.fill(columns)
	for _, m := range models {
		if _, err := r.Model(m); err == nil {
			continue
		}
		c, ok := columns[m]
		if !ok {
			return nil, fmt.Errorf("%s: no outcome of model %q; it has: %s", path, m, list(slices.Concat(r.Models, r.Partial)))
		}
		return nil, fmt.Errorf("%s: model %q has outcomes for %d of %d queries; %q is the first without one", path, m, c.n, len(r.Queries), r.Queries[slices.Index(c.seen, false)].ID)
	}
	return r, nil
}

// column is what a file says about one model.
type column struct {
	n                       int
	seen, correct, noAnswer []bool
	out                     []int64
}

func newColumn(n int) *column {
	return &column{seen: make([]bool, n), correct: make([]bool, n), noAnswer: make([]bool, n), out: make([]int64, n)}
}

// fill builds the tables from the complete columns.
func (r *Recording) fill(columns map[string]*column) {
	for name, c := range columns {
		if c.n == len(r.Queries) {
			r.Models = append(r.Models, name)
		} else {
			r.Partial = append(r.Partial, name)
		}
	}
	slices.Sort(r.Models)
	slices.Sort(r.Partial)
	for q := range r.Queries {
		correct, noAnswer, out := make([]bool, len(r.Models)), make([]bool, len(r.Models)), make([]int64, len(r.Models))
		for a, name := range r.Models {
			c := columns[name]
			correct[a], noAnswer[a], out[a] = c.correct[q], c.noAnswer[q], c.out[q]
		}
		r.Correct, r.NoAnswer, r.Out = append(r.Correct, correct), append(r.NoAnswer, noAnswer), append(r.Out, out)
	}
}

// bit is 0 or 1, or false or true.
type bit bool

func (b *bit) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "0", "false":
		*b = false
	case "1", "true":
		*b = true
	default:
		return fmt.Errorf("%s is neither 0 nor 1", data)
	}
	return nil
}

type outcomeLine struct {
	Query    *string `json:"query_id"`
	Model    *string `json:"model"`
	Correct  *bit    `json:"correct"`
	Out      *int64  `json:"output_tokens"`
	NoAnswer bit     `json:"no_answer"`
}

func readOutcome(line []byte) (outcomeLine, error) {
	var o outcomeLine
	if err := strict(line, &o, "query_id, model, correct, output_tokens, no_answer"); err != nil {
		return o, err
	}
	switch {
	case o.Query == nil:
		return o, errors.New("query_id is missing")
	case o.Model == nil:
		return o, errors.New("model is missing")
	case o.Correct == nil:
		return o, errors.New("correct is missing")
	case o.Out == nil:
		return o, errors.New("output_tokens is missing")
	case *o.Out < 0:
		return o, fmt.Errorf("output_tokens is %d: it must not be negative", *o.Out)
	case bool(*o.Correct) && bool(o.NoAnswer):
		return o, errors.New("correct and no_answer are both 1")
	}
	return o, nil
}

func readQuery(line []byte) (Recorded, error) {
	var q struct {
		ID           *string  `json:"query_id"`
		Benchmark    *string  `json:"benchmark"`
		Problem      *string  `json:"problem"`
		Gold         *string  `json:"gold"`
		PromptTokens *int64   `json:"prompt_tokens"`
		Options      []string `json:"options"`
	}
	if err := strict(line, &q, "query_id, benchmark, problem, gold, prompt_tokens, options"); err != nil {
		return Recorded{}, err
	}
	for _, f := range []struct {
		name  string
		value *string
	}{{"query_id", q.ID}, {"benchmark", q.Benchmark}, {"problem", q.Problem}, {"gold", q.Gold}} {
		if f.value == nil || *f.value == "" {
			return Recorded{}, fmt.Errorf("%s is missing or empty", f.name)
		}
	}
	if q.PromptTokens == nil || *q.PromptTokens < 0 {
		return Recorded{}, errors.New("prompt_tokens is missing or negative")
	}
	return Recorded{*q.ID, *q.Benchmark, *q.Problem, *q.Gold, q.Options, *q.PromptTokens}, nil
}

// strict decodes one JSON object and nothing after it.
func strict(line []byte, into any, known string) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		text := strings.TrimPrefix(err.Error(), "json: ")
		if key, ok := strings.CutPrefix(text, "unknown field "); ok {
			return fmt.Errorf("unknown key %s; known: %s", key, known)
		}
		return errors.New(text)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON object on the line")
	}
	return nil
}

// readLines checks the checksum of a file and calls read for each line that is not blank. Its errors name the line.
func readLines(ctx context.Context, path string, file spec.File, read func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w: point --data at the folder that holds %s (source: %s)", err, file.Path, file.Source)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != file.SHA256 {
		return fmt.Errorf("%s: sha256 is %s, the pool file says %q: get the file from %s again, or correct the pool file if the data are meant to differ", path, got, file.SHA256, file.Source)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var text io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bufio.NewReader(f))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer z.Close()
		text = z
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 64<<10), 16<<20)
	n := 0
	for lines.Scan() {
		n++
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := read(line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", path, n+1, err)
	}
	return nil
}
