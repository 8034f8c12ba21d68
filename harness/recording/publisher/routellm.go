// The evaluations of RouteLLM: a file of CSV a subject of MMLU and one of GSM8K, a question a row and a column a model that says whether
// it was right.

package publisher

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
)

var mmluFile = regexp.MustCompile(`(?:^|/)routellm/evals/mmlu/responses/mmlu_([^/]+)\.csv$`)

// models are the columns of the models, and what they are called here.
var models = [...]struct{ column, model string }{
	{"mixtral-8x7b-instruct-v0.1", "mistralai/Mixtral-8x7B-Instruct-v0.1"}, {"gpt-4-1106-preview", "gpt-4-1106-preview"},
}

// RouteLLMMMLU makes routellm_mmlu: a line a question, by subject and row.
func RouteLLMMMLU(files iter.Seq2[File, error]) (map[string][]byte, error) {
	subjects := map[string]*sheet{}
	for f, err := range matching(files, mmluFile) {
		if err != nil {
			return nil, err
		}
		if subjects[f.groups[1]], err = readSheet(f.path, f.raw, "prompt", models[0].column, models[1].column); err != nil {
			return nil, err
		}
	}
	if len(subjects) == 0 {
		return nil, ErrNoFiles
	}
	w := &writer{comma: ",", colon: ":"}
	for _, subject := range slices.Sorted(maps.Keys(subjects)) {
		of := subjects[subject]
		for i := range of.rows {
			var right []pair
			for _, m := range models {
				mark, err := of.mark(i, m.column)
				if err != nil {
					return nil, err
				}
				right = append(right, pair{m.model, mark})
			}
			w.line(pair{"query_id", fmt.Sprintf("mmlu-%s-%d", subject, i)}, pair{"benchmark", "mmlu"}, pair{"problem", of.at(i, "prompt")}, pair{"subject", subject}, pair{"correct", right})
		}
	}
	return map[string][]byte{"routellm_mmlu": w.Bytes()}, nil
}

var (
	gsm8kFile = regexp.MustCompile(`(?:^|/)routellm/evals/gsm8k/gsm8k_responses\.csv$`)
	goldsFile = regexp.MustCompile(`^` + regexp.QuoteMeta(Golds) + `$`)
)

// RouteLLMGSM8K makes routellm_gsm8k: a line a question and model, with the text of the answer. What is right is in Golds, whose problems
// are those of the file in their order; elsewhere they would not be comparable.
func RouteLLMGSM8K(files iter.Seq2[File, error]) (map[string][]byte, error) {
	const response = "_response"
	var of *sheet
	var golds []struct{ ID, Problem, Answer string }
	for f, err := range matching(files, gsm8kFile, goldsFile) {
		if err != nil {
			return nil, err
		}
		if f.of == gsm8kFile {
			if of, err = readSheet(f.path, f.raw, "prompt", models[0].column, models[1].column, models[0].column+response, models[1].column+response); err != nil {
				return nil, err
			}
			continue
		}
		for dec := json.NewDecoder(bytes.NewReader(f.raw)); ; {
			golds = append(golds, struct{ ID, Problem, Answer string }{})
			if err := dec.Decode(&golds[len(golds)-1]); errors.Is(err, io.EOF) {
				golds = golds[:len(golds)-1]
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", Golds, err)
			}
		}
	}
	switch {
	case of == nil:
		return nil, ErrNoFiles
	case len(of.rows) != len(golds):
		return nil, fmt.Errorf("%s: %d questions, and answers to %d", of.path, len(of.rows), len(golds))
	}
	w := &writer{comma: ",", colon: ":"}
	for i, q := range golds {
		if problem := of.at(i, "prompt"); problem != q.Problem {
			return nil, fmt.Errorf("%s: row %d is not the question of %s", of.path, i+1, q.ID)
		}
		for _, m := range models {
			mark, err := of.mark(i, m.column)
			if err != nil {
				return nil, err
			}
			w.line(pair{"query_id", q.ID}, pair{"model", m.model}, pair{"problem", q.Problem}, pair{"gold", q.Answer}, pair{"correct", mark}, pair{"response", of.at(i, m.column+response)})
		}
	}
	return map[string][]byte{"routellm_gsm8k": w.Bytes()}, nil
}

// sheet is a file of CSV whose columns have names.
type sheet struct {
	path    string
	columns []string
	rows    [][]string
}

// readSheet reads a file that must have the given columns.
func readSheet(path string, raw []byte, columns ...string) (*sheet, error) {
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	of := &sheet{path: path}
	if len(rows) > 0 {
		of.columns, of.rows = rows[0], rows[1:]
	}
	for _, c := range columns {
		if !slices.Contains(of.columns, c) {
			return nil, fmt.Errorf("%s: has no column %s", path, c)
		}
	}
	return of, nil
}

// at is a cell; the column must be there.
func (s *sheet) at(row int, column string) string {
	return s.rows[row][slices.Index(s.columns, column)]
}

// mark is a cell that says whether an answer was right, as 1 or 0.
func (s *sheet) mark(row int, column string) (int, error) {
	text := s.at(row, column)
	mark, ok := map[string]int{"True": 1, "False": 0}[text]
	if !ok {
		return 0, fmt.Errorf("%s: row %d: %q is neither True nor False", s.path, row+1, text)
	}
	return mark, nil
}
