// Results of reasoning-gym-eval: a file a data set and model, which its folder names.

package imports

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/recording/publisher"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// gymFolder is the folder of a model: anthropic_claude-3.5-sonnet_20250227_230002.
var gymFolder = regexp.MustCompile(`^(.+)_\d{8}_\d{6}$`)

func gymRows(f File, data []byte, o Options, add func(Row) error) error {
	var set struct {
		Name    string            `json:"name"`
		Results []json.RawMessage `json:"results"`
	}
	if err := unmarshal(data, &set); err != nil {
		return fmt.Errorf("%s: no result of reasoning-gym-eval: %w", f.Name, err)
	}
	if set.Name == "" || len(set.Results) == 0 {
		return fmt.Errorf("%s: no result of reasoning-gym-eval: name or results are missing; a summary.json has none", f.Name)
	}
	model := o.Model
	if m := gymFolder.FindStringSubmatch(filepath.Base(filepath.Dir(filepath.Dir(f.Name)))); m != nil && model == "" {
		model = m[1]
	}
	times := map[uint64]int{} // a generator may draw a question twice
	for i, raw := range set.Results {
		at := fmt.Sprintf("%s: result %d", f.Name, i+1)
		var q publisher.GymResult
		if err := unmarshal(raw, &q); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		text := seed.Hash(q.Question)
		times[text]++
		row := Row{
			At: at, Question: fmt.Sprintf("%s-%016x", set.Name, text),
			Benchmark: set.Name, Problem: q.Question, Model: model, In: unsaid, Out: unsaid, USD: math.NaN(),
		}
		if times[text] > 1 {
			row.Question += fmt.Sprintf("-%d", times[text])
		}
		if q.Expected != "" {
			row.Golds = []string{string(q.Expected)}
		}
		for _, c := range q.Completions {
			row.Response, row.Correct = c.Response, nil
			if text, ok := textOf(c.Score); ok {
				score, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return fmt.Errorf("%s: score is %.60q; want a number", at, text)
				}
				right := score >= min(o.CorrectFrom, 0.99) // lower scores are for parts of an answer and for its form
				row.Correct = &right
			}
			if err := add(row); err != nil {
				return err
			}
		}
	}
	return nil
}
