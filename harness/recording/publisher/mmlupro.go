// The evaluations of MMLU-Pro: a ZIP file a model, in which is what it answered, as JSON.

package publisher

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var mmluProFile = regexp.MustCompile(`(?:^|/)eval_results/(model_outputs_([^/]+)_5shots)\.zip$`)

// mmluProAnswer is what a file has of one question. The text of the answer is under one of two keys; where a model gave none it is null
// or absent.
type mmluProAnswer struct {
	ID       *int     `json:"question_id"`
	Question string   `json:"question"`
	Options  []string `json:"options"`
	Answer   string   `json:"answer"`
	Category string   `json:"category"`
	Pred     *string  `json:"pred"` // the letter that was found in the text; null: none
	Outputs  *string  `json:"model_outputs"`
	Response *string  `json:"response"`
}

// MMLUPro makes mmlu_pro_29models: a line a question, by number, with each model that answered it, in the order of the files' names.
// An answer is right if the letter that its publisher found is that of the question, and as long as its text has characters. A question
// that a model has several times counts as it is there first, and its text is that of the first model.
func MMLUPro(files iter.Seq2[File, error]) (map[string][]byte, error) {
	type answer struct {
		file    string // by which models are in order
		model   string
		correct int
		chars   int
	}
	type question struct {
		mmluProAnswer
		file    string
		answers []answer
	}
	all := map[int]*question{}
	for f, err := range matching(files, mmluProFile) {
		if err != nil {
			return nil, err
		}
		file, model := f.groups[1], strings.ReplaceAll(f.groups[2], "3_1", "3.1") // their one name without its dot
		err = zipped(f.raw, func(name string, text []byte) error {
			var entries []mmluProAnswer
			if err := json.Unmarshal(text, &entries); err != nil {
				return fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "json: "))
			}
			for i, e := range entries {
				switch {
				case e.ID == nil || e.Question == "" || e.Answer == "":
					return fmt.Errorf("%s: entry %d lacks one of question_id, question, answer", name, i+1)
				case e.Outputs != nil && e.Response != nil:
					return fmt.Errorf("%s: entry %d has both model_outputs and response", name, i+1)
				}
				q := all[*e.ID]
				if q == nil {
					q = &question{mmluProAnswer: e, file: file}
					all[*e.ID] = q
				} else if file < q.file {
					q.mmluProAnswer, q.file = e, file
				}
				if slices.ContainsFunc(q.answers, func(a answer) bool { return a.file == file }) {
					continue
				}
				a := answer{file: file, model: model}
				if text := cmp.Or(e.Outputs, e.Response); text != nil {
					a.chars = utf8.RuneCountInString(*text)
				}
				if e.Pred != nil && *e.Pred == e.Answer {
					a.correct = 1
				}
				q.answers = append(q.answers, a)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if len(all) == 0 {
		return nil, ErrNoFiles
	}
	w := &writer{comma: ",", colon: ":"}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		q := all[id]
		slices.SortFunc(q.answers, func(a, b answer) int { return strings.Compare(a.file, b.file) })
		var correct, chars []pair
		for _, a := range q.answers {
			correct, chars = append(correct, pair{a.model, a.correct}), append(chars, pair{a.model, a.chars})
		}
		w.line(pair{"query_id", fmt.Sprintf("mmlu_pro-%d", id)}, pair{"benchmark", "mmlu_pro"}, pair{"problem", q.Question}, pair{"options", q.Options},
			pair{"gold", q.Answer}, pair{"subject", q.Category}, pair{"correct", correct}, pair{"resp_chars", chars})
	}
	return map[string][]byte{"mmlu_pro_29models": w.Bytes()}, nil
}

// longest is the most bytes that a file in a ZIP file may have unpacked.
const longest = 1 << 30

// zipped calls read for each JSON file in a ZIP file, but for those that a Mac writes beside its own.
func zipped(raw []byte, read func(name string, text []byte) error) error {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return fmt.Errorf("is no ZIP file: %w", err)
	}
	n := 0
	for _, f := range z.File {
		if path.Ext(f.Name) != ".json" || strings.HasPrefix(path.Base(f.Name), "._") {
			continue
		}
		n++
		if f.UncompressedSize64 > longest {
			return fmt.Errorf("%s: has %d MB unpacked, more than the %d that are read", f.Name, f.UncompressedSize64>>20, longest>>20)
		}
		r, err := f.Open()
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		text, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("%s: is damaged: %w", f.Name, err)
		}
		if err := read(f.Name, text); err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("has no JSON file in it")
	}
	return nil
}
