// The results of lineage-bench: a file of CSV a run, with quizzes and answers, and of newer runs every request and response as JSON.

package publisher

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	lineageSheet  = regexp.MustCompile(`(?:^|/)lineage-[\d_]+/[^/]+/[^/]+\.csv$`)
	lineageAnswer = regexp.MustCompile(`((?:^|/)lineage-[\d_]+/[^/]+/([^/]+)_\d+/[0-9a-f]{32})_(request|response)\.json$`)
	lineageChoice = regexp.MustCompile(`<ANSWER>\s*([0-9])\s*</ANSWER>`)
)

// quiz is one of lineage-bench.
type quiz struct {
	id             string
	size           int // statements that it has
	relation, text string
	answer         string // number of the choice that is right
}

// lineageRequest is what a model was asked, and lineageResponse what came.
type (
	lineageRequest struct {
		Temperature json.Number `json:"temperature"`
		MaxTokens   json.Number `json:"max_tokens"`
		Messages    []struct {
			Content string `json:"content"`
		} `json:"messages"` // the quiz is the last
	}
	lineageResponse struct {
		Provider *string `json:"provider"`
		Choices  []struct {
			Finish  *string `json:"finish_reason"`
			Message struct {
				Content *string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
)

// Lineage makes lineage_quizzes and lineage_answers. Quizzes are in the order in which the runs have them, the longest runs first, those
// of one length by size as text and then by path; an id is the first 12 digits of SHA-256 of the text. Answers are by the paths of their
// files; what a model chose is in its last tag, and it chose nothing without one.
func Lineage(files iter.Seq2[File, error]) (map[string][]byte, error) {
	type run struct {
		path, size string
		ids        []string
	}
	type exchange struct {
		folder, model     string // MODEL_SIZE
		request, response []byte
	}
	var runs []run
	quizzes := map[string]quiz{}
	exchanges := map[string]*exchange{}
	for f, err := range matching(files, lineageAnswer, lineageSheet) {
		if err != nil {
			return nil, err
		}
		if m := f.groups; f.of == lineageAnswer {
			of := exchanges[m[1]]
			if of == nil {
				of = &exchange{folder: path.Base(path.Dir(f.path)), model: m[2]}
				exchanges[m[1]] = of
			}
			if m[3] == "request" {
				of.request = f.raw
			} else {
				of.response = f.raw
			}
			continue
		}
		all, err := quizzesOf(f.raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		of := run{path: f.path}
		for _, q := range all {
			quizzes[q.id] = q
			of.ids = append(of.ids, q.id)
			of.size = strconv.Itoa(q.size)
		}
		runs = append(runs, of)
	}
	if len(runs) == 0 || len(exchanges) == 0 {
		return nil, ErrNoFiles
	}
	slices.SortFunc(runs, func(a, b run) int {
		return cmp.Or(-cmp.Compare(len(a.ids), len(b.ids)), strings.Compare(a.size, b.size), strings.Compare(a.path, b.path))
	})
	made, answers := &writer{comma: ", ", colon: ": ", ascii: true}, &writer{comma: ", ", colon: ": ", ascii: true}
	written := map[string]bool{}
	for _, r := range runs {
		for _, id := range r.ids {
			if q := quizzes[id]; !written[id] {
				written[id] = true
				made.line(pair{"id", id}, pair{"size", q.size}, pair{"relation", q.relation}, pair{"problem", q.text}, pair{"answer", q.answer})
			}
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(exchanges), func(a, b string) int {
		return cmp.Or(strings.Compare(exchanges[a].folder, exchanges[b].folder), strings.Compare(a, b))
	}) {
		x := exchanges[at]
		var asked lineageRequest
		var came lineageResponse
		if x.request == nil || x.response == nil {
			return nil, fmt.Errorf("%s: has a request without a response, or a response without a request", at)
		}
		if err := json.Unmarshal(x.request, &asked); err != nil {
			return nil, fmt.Errorf("%s_request.json: %s", at, strings.TrimPrefix(err.Error(), "json: "))
		}
		if err := json.Unmarshal(x.response, &came); err != nil {
			return nil, fmt.Errorf("%s_response.json: %s", at, strings.TrimPrefix(err.Error(), "json: "))
		}
		if len(asked.Messages) == 0 || len(came.Choices) == 0 || came.Usage == nil {
			return nil, fmt.Errorf("%s: lacks messages, choices or usage", at)
		}
		q, ok := quizzes[idOf(asked.Messages[len(asked.Messages)-1].Content)]
		if !ok {
			return nil, fmt.Errorf("%s: its quiz is in no file of CSV", at)
		}
		choice := came.Choices[0]
		var answer any
		correct := 0
		if choice.Message.Content != nil {
			if all := lineageChoice.FindAllStringSubmatch(*choice.Message.Content, -1); all != nil {
				chosen := all[len(all)-1][1]
				if answer = chosen; chosen == q.answer {
					correct = 1
				}
			}
		}
		answers.line(pair{"query_id", q.id}, pair{"size", q.size}, pair{"model", x.model}, pair{"provider", orNull(came.Provider)}, pair{"answer", answer},
			pair{"prompt_tokens", came.Usage.Prompt}, pair{"output_tokens", came.Usage.Completion}, pair{"finish", orNull(choice.Finish)},
			pair{"temperature", orNone(asked.Temperature)}, pair{"max_tokens", orNone(asked.MaxTokens)}, pair{"gold", q.answer}, pair{"correct", correct})
	}
	return map[string][]byte{"lineage_quizzes": made.Bytes(), "lineage_answers": answers.Bytes()}, nil
}

// quizzesOf are those of a run: a row has size, relation, right choice and text, and then what a model made of it.
func quizzesOf(raw []byte) (all []quiz, err error) {
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		if len(row) < 4 {
			return nil, fmt.Errorf("row %d has no size, relation, choice and quiz", i+1)
		}
		size, err := strconv.Atoi(row[0])
		if err != nil {
			return nil, fmt.Errorf("row %d: %q is no size", i+1, row[0])
		}
		all = append(all, quiz{idOf(row[3]), size, row[1], strings.Clone(row[3]), row[2]})
	}
	return all, nil
}

// idOf is what a quiz is called.
func idOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// orNull is a text, or null.
func orNull(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// orNone is a number as its publisher wrote it, or null.
func orNone(n json.Number) any {
	if n == "" {
		return nil
	}
	return number(n)
}
