// Package recording reads outcomes that were measured elsewhere: what models answered to questions, graded, with what it cost.
//
// Where things are: this file has the table and how its files become one; line.go reads one line; noise.go says how far runs
// of the same question agree.
package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Table is a table of outcomes that were measured elsewhere: one graded completion, or several, of each model to each question.
//
// It is read from two files of one JSON object per line, plain or (with a name ending in .gz) compressed, which anybody
// can write from their own logs:
//
//	queries:   {"query_id": "q1", "benchmark": "gsm8k", "problem": "...", "gold": "18", "prompt_tokens": 65, "options": ["...", "..."]}
//	outcomes:  {"query_id": "q1", "model": "small", "correct": 1, "output_tokens": 228, "no_answer": 0, "finish": "stop",
//	            "prompt_tokens": 91, "settings": {"temperature": 0.6}}
//
// query_id is unique, and no key of a line is there twice. prompt_tokens counts the tokens of the problem, output_tokens every token that was billed,
// thinking included; neither is above ten million. correct and no_answer are 0 or 1. benchmark (Whole), gold, options and all after output_tokens may be left out,
// nothing else may, and no other key is allowed: a misspelt key would otherwise be a silent zero. prompt_tokens of an outcome are those billed for it and
// stand in the place of the question's, which may then lack them. finish is why the completion ended: length says that a limit cut it.
// The settings that a model was asked under make it a candidate of its own; a pool names it with its settings where there are several.
//
// A model that was asked several times has a list in correct (and then in output_tokens, no_answer and finish, or one value for
// all), or a line a completion with the key run, a number that tells them apart, or the mean of its completions:
//
//	{"query_id": "q1", "model": "small", "correct": [1, 0, 1], "output_tokens": [228, 410, 199]}
//	{"query_id": "q1", "model": "small", "run": 2, "correct": 0, "output_tokens": 410}
//	{"query_id": "q1", "model": "small", "pass_rate": 0.67, "runs": 3, "output_tokens": 279}
//
// A pass rate is that of so many completions, to two decimals at least; which of them were right is then drawn from a hash of the
// question and the model. Otherwise a query and a candidate meet once.
//
// Files of other people differ; spec.Format says how: other names of keys, keys that are not read, both kinds of line
// in one file, a line a query with objects of models ({"correct": {"small": 1, "big": 0}}), scores, lengths in characters, or
// no lengths at all.
//
// Letters: Q queries, A candidates, R runs, which may be more of one pair than of another.
type Table struct {
	Queries    []Query      // [Q] in the order of the file, those of the chosen benchmarks
	Candidates []Candidate  // [A] those with an outcome for every query, in order
	Partial    []Candidate  // those left out because some query has no outcome of theirs, in order
	Runs       [][][]Answer // [Q][A][R] in the order of the runs, at least one
}

// Scored are the runs of a query and a candidate that are scored: the first n, or as many as there are.
func (t *Table) Scored(q, a, n int) []Answer { return t.Runs[q][a][:min(n, len(t.Runs[q][a]))] }

// Labels are the runs that pass rates are taken from where n are scored: the others. A pair without others has those that are
// scored; a router that is scored on a query must then be fitted without it.
func (t *Table) Labels(q, a, n int) []Answer {
	if runs := t.Runs[q][a]; len(runs) > n {
		return runs[n:]
	}
	return t.Runs[q][a]
}

// Find returns the index of the one candidate of a name: a model with the settings given, or the model alone if it has no two.
func (t *Table) Find(c Candidate) (int, error) {
	found := find(t.Candidates, c)
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return 0, fmt.Errorf("the recording has no model %q with an outcome for each of its %d queries; it has: %s", c, len(t.Queries), list(t.Candidates))
	}
	return 0, fmt.Errorf("the recording has model %q with several settings; name those of one: %s", c, list(pick(t.Candidates, found)))
}

func find(all []Candidate, c Candidate) (found []int) {
	for i, o := range all {
		if o == c || o.String() == c.Model && c.Settings == "" {
			return []int{i}
		}
		if o.Model == c.Model && c.Settings == "" {
			found = append(found, i)
		}
	}
	return found
}

func pick[T any](all []T, at []int) (out []T) {
	for _, i := range at {
		out = append(out, all[i])
	}
	return out
}

// NoOutcomesError says that a recording lacks a model.
type NoOutcomesError struct {
	File  string
	Model Candidate
	Has   []Candidate // models with outcomes
}

func (e *NoOutcomesError) Error() string {
	return fmt.Sprintf("%s: no outcome of model %q; it has: %s", e.File, e.Model, list(e.Has))
}

// Load reads the files of a recorded pool below a data folder and checks their checksums. needed names
// those that must be complete (the pool's and its probe): queries without an outcome of one of them are an error or,
// with s.Gaps drop, left out. Others with gaps are listed in Partial and left out.
func Load(ctx context.Context, folder string, s spec.Recorded, needed []Candidate) (*Table, error) {
	return (&Reader{Folder: folder}).Load(ctx, s, needed)
}

// Reader reads recordings below a data folder. Pools that are of one recording, as several of an experiment may be, have its
// files read once.
type Reader struct {
	Folder string

	read []content
}

// content is what the files of a recording say, and which these are and how they are read.
type content struct {
	of      spec.Recorded
	path    string // of the outcomes
	queries []Query
	columns map[Candidate]*column
}

// contentOf reads the files of a recording, unless they are read.
func (r *Reader) contentOf(ctx context.Context, s spec.Recorded) (c content, err error) {
	of := spec.Recorded{Queries: s.Queries, Outcomes: s.Outcomes, Format: s.Format, PromptTokens: s.PromptTokens, Benchmarks: s.Benchmarks}
	for _, c := range r.read {
		if reflect.DeepEqual(c.of, of) {
			return c, nil
		}
	}
	c.of = of
	if c.path, c.queries, c.columns, err = read(ctx, r.Folder, of); err == nil {
		r.read = append(r.read, c)
	}
	return c, err
}

// Load is the function Load, below the folder of the reader.
func (r *Reader) Load(ctx context.Context, s spec.Recorded, needed []Candidate) (*Table, error) {
	from, err := r.contentOf(ctx, s)
	if err != nil {
		return nil, err
	}
	path, columns := from.path, from.columns
	t := &Table{Queries: from.queries}
	var complete []*column
	all := slices.SortedFunc(maps.Keys(columns), Compare)
	for _, m := range needed {
		found := find(all, m)
		if len(found) > 1 {
			return nil, fmt.Errorf("%s: model %q has several settings; name those of one: %s", path, m, list(pick(all, found)))
		}
		if len(found) == 0 {
			return nil, &NoOutcomesError{File: path, Model: m, Has: all}
		}
		c := columns[all[found[0]]]
		if c.n < len(t.Queries) && s.Gaps != "drop" {
			first := slices.IndexFunc(c.runs, func(of []numbered) bool { return of == nil })
			return nil, fmt.Errorf("%s: model %q has outcomes for %d of %d queries; %q is the first without one", path, m, c.n, len(t.Queries), t.Queries[first].ID)
		}
		complete = append(complete, c)
	}
	t.fill(columns, complete)
	if len(t.Queries) == 0 {
		return nil, fmt.Errorf("%s: no query has outcomes of all of %s", path, list(needed))
	}
	return t, nil
}

// Coverage is which queries a candidate has outcomes of.
type Coverage struct {
	Candidate
	Answered []bool // [Q] in the order of the file
}

// Coverages are those of the candidates of a recording, in order.
func Coverages(ctx context.Context, folder string, s spec.Recorded) (all []Coverage, err error) {
	_, _, columns, err := read(ctx, folder, s)
	for _, c := range slices.SortedFunc(maps.Keys(columns), Compare) {
		of := Coverage{Candidate: c}
		for _, runs := range columns[c].runs {
			of.Answered = append(of.Answered, runs != nil)
		}
		all = append(all, of)
	}
	return all, err
}

// read reads the queries and what each candidate did on them; path is that of the outcomes.
func read(ctx context.Context, folder string, s spec.Recorded) (path string, chosen []Query, columns map[Candidate]*column, err error) {
	together := s.Queries.Path == s.Outcomes.Path
	queries, err := newLineFormat(s.Format, queryKeys, together)
	if err != nil {
		return "", nil, nil, err
	}
	outcomes, err := newLineFormat(s.Format, outcomeKeys, together)
	if err != nil {
		return "", nil, nil, err
	}
	index := map[string]int{} // query id -> position; -1: of a benchmark that was not chosen
	path, err = lines.Read(ctx, folder, s.Queries, func(line []byte) error {
		q, wanted, err := queries.query(line)
		if err != nil {
			return err
		}
		if q.PromptTokens >= 0 {
			q.PromptTokens += int64(s.PromptTokens)
		}
		if at, twice := index[q.ID]; twice {
			switch {
			case !queries.repeats:
				return fmt.Errorf("query_id %q is there twice", q.ID)
			case at >= 0 && !reflect.DeepEqual(chosen[at], q):
				return fmt.Errorf("query_id %q is there twice and differs", q.ID)
			}
			return nil
		}
		index[q.ID] = -1
		if wanted && (len(s.Benchmarks) == 0 || slices.Contains(s.Benchmarks, q.Benchmark)) {
			index[q.ID] = len(chosen)
			chosen = append(chosen, q)
		}
		return nil
	})
	if err != nil {
		return "", nil, nil, err
	}
	if len(chosen) == 0 {
		if len(s.Benchmarks) == 0 {
			return "", nil, nil, fmt.Errorf("%s: it has no question", path)
		}
		return "", nil, nil, fmt.Errorf("%s: no query of benchmarks %s", path, list(s.Benchmarks))
	}

	columns = map[Candidate]*column{}
	path, err = lines.Read(ctx, folder, s.Outcomes, func(line []byte) error {
		id, given, err := outcomes.outcomes(line)
		if err != nil {
			return err
		}
		q, ok := index[id]
		switch {
		case !ok:
			return fmt.Errorf("query_id %q is not in the queries file", id)
		case q < 0:
			return nil
		}
		for _, o := range given {
			c := columns[o.candidate]
			if c == nil {
				c = &column{runs: make([][]numbered, len(chosen))}
				columns[o.candidate] = c
			}
			if err := c.add(q, o, chosen[q].PromptTokens); err != nil {
				return fmt.Errorf("query_id %q and model %q %w", id, o.candidate, err)
			}
		}
		return nil
	})
	if err != nil {
		return "", nil, nil, err
	}
	return path, chosen, columns, nil
}

// column is what a file says about one candidate.
type column struct {
	n    int          // queries with runs
	runs [][]numbered // [Q]
}

type numbered struct {
	Answer
	run   int
	alone bool // its line was of one completion and said so by its key run
}

// add adds what a line says of a query, whose prompt tokens are given, or says what is wrong with that.
func (c *column) add(q int, o graded, prompt int64) error {
	if c.runs[q] == nil {
		c.n++
	} else if !o.numbered || !c.runs[q][0].alone {
		return errors.New("are there twice")
	}
	for i, a := range o.runs {
		if a.In < 0 {
			a.In = prompt
		}
		if a.In < 0 {
			return errors.New("have no prompt_tokens, neither the query nor its outcome")
		}
		run := numbered{a, i, false}
		if o.numbered {
			run.run, run.alone = o.run, true
		}
		at, twice := slices.BinarySearchFunc(c.runs[q], run.run, func(r numbered, n int) int { return cmp.Compare(r.run, n) })
		if twice {
			return fmt.Errorf("have run %d twice", run.run)
		}
		c.runs[q] = slices.Insert(c.runs[q], at, run)
	}
	return nil
}

// fill builds the tables: queries that all complete columns have, then the columns that have all of these.
func (t *Table) fill(columns map[Candidate]*column, complete []*column) {
	var kept []int
	for q := range t.Queries {
		if !slices.ContainsFunc(complete, func(c *column) bool { return c.runs[q] == nil }) {
			kept = append(kept, q)
		}
	}
	for name, c := range columns {
		if slices.ContainsFunc(kept, func(q int) bool { return c.runs[q] == nil }) {
			t.Partial = append(t.Partial, name)
		} else {
			t.Candidates = append(t.Candidates, name)
		}
	}
	slices.SortFunc(t.Candidates, Compare)
	slices.SortFunc(t.Partial, Compare)
	all := t.Queries
	t.Queries = make([]Query, len(kept))
	for i, q := range kept {
		t.Queries[i] = all[q]
		row := make([][]Answer, len(t.Candidates))
		for a, name := range t.Candidates {
			for _, r := range columns[name].runs[q] {
				row[a] = append(row[a], r.Answer)
			}
		}
		t.Runs = append(t.Runs, row)
	}
}
