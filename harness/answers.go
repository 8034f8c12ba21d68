package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

func answersFile(arena string) string { return path.Join("answers", arena+".jsonl") }

// answerLine is one line of answers: a decision that carries its own answer. Grades are not stored, so that a better
// verifier grades again.
type answerLine struct {
	Query  int            `json:"query"` // line of the decisions, from 0
	Answer string         `json:"answer"`
	Bare   bool           `json:"bare,omitempty"`
	Finish routing.Finish `json:"finish,omitempty"`
	Calls  []cost.Usage   `json:"calls"` // of the calls that the decision lists, in order
}

// writeAnswers writes a line a decision that carries an answer; no file if none does.
func writeAnswers(d *store.Draft, arena string, decisions []routing.Decision) (err error) {
	if !slices.ContainsFunc(decisions, func(x routing.Decision) bool { return x.Answer != nil }) {
		return nil
	}
	f, err := d.Create(answersFile(arena))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for i, x := range decisions {
		if x.Answer == nil {
			continue
		}
		line := answerLine{Query: i, Answer: x.Answer.Text, Bare: x.Answer.Bare, Finish: x.Answer.Finish, Calls: []cost.Usage{}}
		for _, c := range x.Calls {
			line.Calls = append(line.Calls, c.Usage)
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

// readAnswers adds the answers to the decisions that have one, and grades them.
func readAnswers(entry store.Entry, arena string, queries []routing.Query, decisions []routing.Decision) error {
	name := answersFile(arena)
	if !slices.ContainsFunc(entry.Files, func(f store.File) bool { return f.Name == name }) {
		return nil
	}
	f, err := entry.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	for n := 1; ; n++ {
		var line answerLine
		err := dec.Decode(&line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", f.Name(), n, err)
		}
		if line.Query < 0 || line.Query >= len(decisions) || len(line.Calls) != len(decisions[line.Query].Calls) {
			return fmt.Errorf("%s:%d: not the answer of decision %d of arena %s; remove the folder of this step and run again", f.Name(), n, line.Query+1, arena)
		}
		d := &decisions[line.Query]
		d.Answer = &routing.Answer{Text: line.Answer, Bare: line.Bare, Finish: line.Finish}
		d.Answer.Bucket = queries[line.Query].Problem.Grade(*d.Answer)
		for k, u := range line.Calls {
			d.Calls[k].Usage = u
		}
	}
}
