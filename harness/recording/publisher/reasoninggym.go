// The evaluations of Reasoning Gym: a file of JSON a level, model and dataset, each question with its completions and their scores.

package publisher

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// gymFile is the path of a file: level, model with the time of its run, category, dataset.
var gymFile = regexp.MustCompile(`(?:^|/)reasoninggym-paper-experiments/zero-shot/(easy|hard)/([^/]+?)(?:_\d{8}_\d{6})?/([^/]+)/([^/]+)\.json$`)

// gymSet is what a file has: what a model answered to the questions of a data set.
type gymSet struct {
	Name    string      `json:"name"`
	Results []GymResult `json:"results"`
}

// GymResult is a question with its completions.
type GymResult struct {
	Question    string  `json:"question"`
	Expected    gymText `json:"expected_answer"`
	Completions []struct {
		Score    json.RawMessage `json:"score"` // a number, or nothing
		Response *string         `json:"full_model_response"`
	} `json:"completions"`
}

// gymText is a text, or a number as its text; what is neither is empty.
type gymText string

func (t *gymText) UnmarshalJSON(data []byte) error {
	var text string
	var n json.Number
	if json.Unmarshal(data, &text) != nil && json.Unmarshal(data, &n) == nil {
		text = n.String()
	}
	*t = gymText(text)
	return nil
}

// ReasoningGym makes reasoning_gym_questions and reasoning_gym_outcomes: questions in the order in which they were first put, by
// level, model, category and dataset; of an answer the scores of its completions and the lengths of their texts in characters.
// A question that a dataset holds several times is one, with the completions of the first; dups says how many there were.
func ReasoningGym(files iter.Seq2[File, error]) (map[string][]byte, error) {
	type evaluation struct {
		level, model, category, dataset string
		results                         []GymResult
	}
	var all []evaluation
	for f, err := range matching(files, gymFile) {
		if err != nil {
			return nil, err
		}
		var of gymSet
		if err := json.Unmarshal(f.raw, &of); err != nil {
			return nil, fmt.Errorf("%s: %s", f.path, strings.TrimPrefix(err.Error(), "json: "))
		}
		m := f.groups
		all = append(all, evaluation{m[1], m[2], m[3], m[4], of.Results})
	}
	if len(all) == 0 {
		return nil, ErrNoFiles
	}
	slices.SortFunc(all, func(a, b evaluation) int {
		return cmp.Or(strings.Compare(a.level, b.level), strings.Compare(a.model, b.model), strings.Compare(a.category, b.category), strings.Compare(a.dataset, b.dataset))
	})
	questions, outcomes := &writer{comma: ", ", colon: ": ", ascii: true}, &writer{comma: ", ", colon: ": ", ascii: true}
	written := map[string]bool{}
	for _, e := range all {
		times := map[string]int{}
		for _, q := range e.results {
			times[q.Question]++
		}
		for _, q := range e.results {
			n := times[q.Question]
			if n == 0 {
				continue // came before
			}
			times[q.Question] = 0
			sum := sha256.Sum256([]byte(strings.Join([]string{e.level, e.category, e.dataset, q.Question}, "|")))
			id := hex.EncodeToString(sum[:6])
			if !written[id] {
				written[id] = true
				questions.line(pair{"id", id}, pair{"level", e.level}, pair{"category", e.category}, pair{"dataset", e.dataset}, pair{"question", q.Question}, pair{"answer", string(q.Expected)})
			}
			var scores []number
			var chars []int
			for _, c := range q.Completions {
				length := 0
				if c.Response != nil {
					length = utf8.RuneCountInString(*c.Response)
				}
				scores, chars = append(scores, number(cmp.Or(string(c.Score), "null"))), append(chars, length)
			}
			if scores == nil {
				return nil, fmt.Errorf("%s/%s/%s/%s: a question has no completion", e.level, e.model, e.category, e.dataset)
			}
			outcomes.line(pair{"query_id", id}, pair{"model", e.model}, pair{"scores", scores}, pair{"chars", chars}, pair{"dups", n})
		}
	}
	return map[string][]byte{"reasoning_gym_questions": questions.Bytes(), "reasoning_gym_outcomes": outcomes.Bytes()}, nil
}
