// The evaluations of RouteLLM: a file of CSV a subject of MMLU, a question a row and a column a model that says whether it was right.

package publisher

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
)

var mmluFile = regexp.MustCompile(`(?:^|/)routellm/evals/mmlu/responses/mmlu_([^/]+)\.csv$`)

// mmluColumns are the columns of the models, and what they are called here.
var mmluColumns = [...]struct{ column, model string }{
	{"mixtral-8x7b-instruct-v0.1", "mistralai/Mixtral-8x7B-Instruct-v0.1"}, {"gpt-4-1106-preview", "gpt-4-1106-preview"},
}

// RouteLLMMMLU makes routellm_mmlu: a line a question, by subject and row.
func RouteLLMMMLU(files iter.Seq2[File, error]) (map[string][]byte, error) {
	subjects := map[string][][]string{}
	for f, err := range files {
		if err != nil {
			return nil, err
		}
		m := mmluFile.FindStringSubmatch(f.Path)
		if m == nil {
			continue
		}
		raw, err := f.Read()
		if err != nil {
			return nil, err
		}
		rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		subjects[m[1]] = rows
	}
	if len(subjects) == 0 {
		return nil, ErrNoFiles
	}
	w := &writer{comma: ",", colon: ":"}
	for _, subject := range slices.Sorted(maps.Keys(subjects)) {
		rows := subjects[subject]
		at := func(column string) int { return slices.Index(rows[0], column) }
		if len(rows) == 0 || at("prompt") < 0 {
			return nil, fmt.Errorf("mmlu_%s.csv: has no column prompt", subject)
		}
		for i, row := range rows[1:] {
			var right []pair
			for _, c := range mmluColumns {
				k := at(c.column)
				if k < 0 {
					return nil, fmt.Errorf("mmlu_%s.csv: has no column %s", subject, c.column)
				}
				mark, ok := map[string]int{"True": 1, "False": 0}[row[k]]
				if !ok {
					return nil, fmt.Errorf("mmlu_%s.csv: row %d: %q is neither True nor False", subject, i+1, row[k])
				}
				right = append(right, pair{c.model, mark})
			}
			w.line(pair{"query_id", fmt.Sprintf("mmlu-%s-%d", subject, i)}, pair{"benchmark", "mmlu"}, pair{"problem", row[at("prompt")]}, pair{"subject", subject}, pair{"correct", right})
		}
	}
	return map[string][]byte{"routellm_mmlu": w.Bytes()}, nil
}
