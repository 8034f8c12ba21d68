// What the files of a recording must be beside what package recording reads: of texts and numbers as they are, and enough.

package starting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/lines"
	"github.com/entrorouter/entrorouter/harness/recording"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// question and outcome are lines, whose keys recording.Table describes.
type question struct {
	ID        string   `json:"query_id"`
	Benchmark string   `json:"benchmark"`
	Problem   string   `json:"problem"`
	Gold      string   `json:"gold"`
	Options   []string `json:"options"`
	In        int64    `json:"prompt_tokens"`
}

type outcome struct {
	ID       string          `json:"query_id"`
	Model    *string         `json:"model"`
	Run      int             `json:"run"`
	Runs     int             `json:"runs"`
	PassRate float64         `json:"pass_rate"`
	In       several[int64]  `json:"prompt_tokens"`
	Out      several[int64]  `json:"output_tokens"`
	Finish   several[string] `json:"finish"`
}

// several are a value or a list of them.
type several[T any] []T

func (s *several[T]) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]T)(s))
	}
	var one T
	return json.Unmarshal(data, &one)
}

// checkLines says which line of a file is not UTF-8, has a value of another type or a model without a name that prints.
func checkLines[Line question | outcome](ctx context.Context, folder string, f spec.File) error {
	_, err := lines.Read(ctx, folder, f, func(text []byte) error {
		if !utf8.Valid(text) {
			return errors.New("not UTF-8; convert the file")
		}
		var l Line
		var wrong *json.UnmarshalTypeError
		if err := json.Unmarshal(text, &l); errors.As(err, &wrong) { // what is no JSON at all, package recording says
			return lines.Worded(err)
		}
		o, ok := any(l).(outcome)
		switch {
		case !ok || o.Model == nil:
		case strings.TrimSpace(*o.Model) == "":
			return errors.New("model is empty")
		case !spec.Printable(*o.Model):
			return fmt.Errorf("model %q holds a character that does not print; take it out", *o.Model)
		}
		return nil
	})
	return err
}

const (
	folds         = 5 // parts of the questions that the spec has
	fewestLearned = 5 // questions, of which validate holds a fifth out
)

// suffice says whether the spec runs: each part that is scored leaves enough to learn from. Questions of a benchmark are dealt to the
// parts, from the first part on in each; those of one text, whatever their benchmark, are in one part with that of the least id.
func suffice(questions []recording.Query) error {
	first, times := map[string]recording.Query{}, map[string]int{} // by text
	for _, q := range questions {
		if f, ok := first[q.Problem]; !ok || q.ID < f.ID {
			first[q.Problem] = q
		}
		times[q.Problem]++
	}
	dealt := map[string][]int{} // benchmark -> questions of each text
	for text, q := range first {
		dealt[q.Benchmark] = append(dealt[q.Benchmark], times[text])
	}
	learned := len(questions)
	for _, of := range dealt {
		slices.Sort(of)
		for _, n := range of[len(of)-(len(of)+folds-1)/folds:] {
			learned -= n
		}
	}
	if learned < fewestLearned {
		few := strconv.Itoa(len(questions))
		if n := len(first); n < len(questions) {
			few += fmt.Sprintf(" (different texts: %d)", n)
		}
		return fmt.Errorf("too few questions have answers of all models that are compared, %s: routers are scored on a fifth of each benchmark and learn from the others, which are %d at the least and must be %d; %d different questions of one benchmark will do",
			few, learned, fewestLearned, (fewestLearned*folds+folds-2)/(folds-1))
	}
	return nil
}
