// Results of OmnisBench: what policies got for every question, of which those that always ask one model are that model's answers.

package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// omnisItem is what a policy got for a question.
type omnisItem struct {
	Policy    string          `json:"policy"`
	Dataset   string          `json:"dataset"`
	ID        string          `json:"item_id"`
	Grader    string          `json:"grader"`
	Reference json.RawMessage `json:"reference"`
	Response  *string         `json:"response_text"`
	Model     string          `json:"chosen_model"`
	Passed    *bool           `json:"passed"`
	USD       *float64        `json:"cost_usd"`
	In        *int64          `json:"input_tokens"`
	Out       *int64          `json:"output_tokens"`
}

func omnisRows(files []File, _ Options, add func(Row) error) (left []string, err error) {
	for _, f := range files {
		data, err := f.Data()
		if err != nil {
			return nil, err
		}
		var run struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := unmarshal(data, &run); err != nil {
			return nil, fmt.Errorf("%s: no results of OmnisBench: %w", f.Name, err)
		}
		items := make([]omnisItem, len(run.Items))
		asked := map[string]map[string]bool{} // policy -> models
		for i, raw := range run.Items {
			x := &items[i]
			if err := unmarshal(raw, x); err != nil {
				return nil, fmt.Errorf("%s: item %d: %w", f.Name, i+1, err)
			}
			if asked[x.Policy] == nil {
				asked[x.Policy] = map[string]bool{}
			}
			asked[x.Policy][x.Model] = true
		}
		chose := map[string]int{}
		for i, x := range items {
			if len(asked[x.Policy]) > 1 {
				chose[x.Policy]++
				continue
			}
			row := Row{
				At: fmt.Sprintf("%s: item %d", f.Name, i+1), Question: x.ID, Benchmark: x.Dataset, Model: x.Model,
				Response: x.Response, Correct: x.Passed, Opaque: x.Grader != "numeric_match", In: unsaid, Out: unsaid, USD: math.NaN(),
			}
			if gold, ok := textOf(x.Reference); ok && !row.Opaque {
				row.Golds = []string{gold}
			}
			if x.In != nil && x.Out != nil {
				row.In, row.Out = *x.In, *x.Out
			}
			if x.USD != nil {
				row.USD = *x.USD
			}
			if err := add(row); err != nil {
				return nil, err
			}
		}
		if len(chose) > 0 {
			n := 0
			for _, of := range chose {
				n += of
			}
			left = append(left, fmt.Sprintf("%s of %s: these policies choose a model, and a recording has the answers of every model",
				counted(n, "answer"), strings.Join(slices.Sorted(maps.Keys(chose)), " and ")))
		}
	}
	return left, nil
}
