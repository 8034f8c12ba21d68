// Verdicts in words, and rows of files of answers.

package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// meanings of the reason codes, for people.
var meanings = map[string]string{
	ReasonEqual:        "the response gives the ground truth",
	ReasonDifferent:    "the response gives something else",
	ReasonNoAnswer:     "nothing in the response could be an answer",
	ReasonUnfinished:   "the response thinks and never comes to its answer",
	ReasonRefused:      "the response says that there is no answer to give",
	ReasonRestated:     "the answer repeats an expression without its value",
	ReasonContradicted: "the answer is a chain of equations that contradicts itself",
	ReasonUnread:       "the answer cannot be read as mathematics, and its text is not the ground truth's",
	ReasonUndecided:    "both sides were read, but neither equality nor difference could be shown",
	ReasonLimit:        "the answer is beyond the documented sizes or steps",
	ReasonGold:         "the ground truth cannot be read as mathematics, and its text is not the answer's",
	ReasonEmptyGold:    "there is no ground truth",
}

// Reasons lists the reason codes with their meaning, in the order of the constants.
func Reasons() [][2]string {
	var out [][2]string
	for _, code := range []string{ReasonEqual, ReasonDifferent, ReasonNoAnswer, ReasonUnfinished, ReasonRefused, ReasonRestated, ReasonContradicted, ReasonUnread, ReasonUndecided, ReasonLimit, ReasonGold, ReasonEmptyGold} {
		out = append(out, [2]string{code, meanings[code]})
	}
	return out
}

// Explain writes the verdict for people, one line a fact.
func (v Verdict) Explain() string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, value)
		}
	}
	line("verdict", v.Outcome.String())
	line("reason", v.Reason+": "+meanings[v.Reason])
	line("rule", v.Rule)
	if v.Error > 0 {
		line("proof", fmt.Sprintf("%s, wrong by chance with probability at most %.0e", v.Proof, v.Error))
	} else {
		line("proof", v.Proof.String())
	}
	line("extracted", v.Extracted)
	line("gold", v.Gold)
	line("answer", v.Answer)
	return b.String()
}

// Task is one row of a file of answers, as JSON:
//
//	{"id": "a", "gold": "1/2" or ["1/2", "0.5"], "response": "...", "options": ["..."], "question": "...",
//	 "tolerance": {"abs": 0.1} or {"abs": [0.1, 0]} or {"rel": 1e-3}}
//
// gold and response are required.
type Task struct {
	ID        string    `json:"id"`
	Gold      oneOrMore `json:"gold"`
	Response  *string   `json:"response"`
	Options   []string  `json:"options,omitempty"`
	Tolerance *struct {
		Abs numbers `json:"abs,omitempty"`
		Rel numbers `json:"rel,omitempty"`
	} `json:"tolerance,omitempty"`
	Question string `json:"question,omitempty"`
}

// Graded is one row of output: the verdict with the task's id.
type Graded struct {
	ID string `json:"id"`
	Verdict
}

type oneOrMore []string

// UnmarshalJSON reads a string or a list of strings.
func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*o = oneOrMore{s}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(o))
}

type numbers []float64

// UnmarshalJSON reads a number or a list of numbers.
func (n *numbers) UnmarshalJSON(data []byte) error {
	var f float64
	if err := json.Unmarshal(data, &f); err == nil {
		*n = numbers{f}
		return nil
	}
	return json.Unmarshal(data, (*[]float64)(n))
}

// ParseTask reads one row. Unknown fields are allowed: rows usually carry more than is graded. A field of a row that is set
// twice is an error, as is an empty ground truth.
func ParseTask(line []byte) (Task, error) {
	r := rowReader{text: line}
	t, plain := r.task()
	if !plain {
		t = Task{}
		if err := json.Unmarshal(bytes.TrimSpace(line), &t); err != nil {
			return t, inWordsOfTheFormat(err)
		}
		if key := repeated(line); key != "" {
			return t, fmt.Errorf("%q is there twice", key)
		}
	}
	if i := slices.IndexFunc(t.Gold, func(g string) bool { return strings.TrimSpace(g) == "" }); i >= 0 {
		return t, errors.New(`"gold" is empty; give the ground truth`)
	}
	switch {
	case len(t.Gold) == 0:
		return t, errors.New(`no ground truth; give "gold" as a string or a list of strings`)
	case t.Response == nil:
		return t, errors.New(`no response; give "response" as a string`)
	}
	if t.Tolerance != nil {
		if len(t.Tolerance.Abs)+len(t.Tolerance.Rel) == 0 {
			return t, errors.New(`"tolerance" without a value; want {"abs": number} or {"rel": number}`)
		}
		for _, v := range append(append(numbers(nil), t.Tolerance.Abs...), t.Tolerance.Rel...) {
			if !(v >= 0) {
				return t, fmt.Errorf("tolerance %v; it must not be negative", v)
			}
		}
		if a, r := len(t.Tolerance.Abs), len(t.Tolerance.Rel); a > 1 && r > 1 && a != r {
			return t, fmt.Errorf("%d absolute and %d relative tolerances; give as many of both, or one for all", a, r)
		}
	}
	return t, nil
}

// inWordsOfTheFormat says which field has the wrong type, without the names of Go's types.
func inWordsOfTheFormat(err error) error {
	var wrong *json.UnmarshalTypeError
	var broken *json.SyntaxError
	switch {
	case errors.As(err, &broken) && strings.HasPrefix(broken.Error(), "unexpected end"):
		return errors.New("not a JSON object: it ends within its JSON")
	case broken != nil:
		return fmt.Errorf("not a JSON object: it is no JSON from byte %d on", broken.Offset)
	case !errors.As(err, &wrong):
		return fmt.Errorf("not a JSON object: %w", err)
	}
	want := "a string"
	switch wrong.Field {
	case "":
		return fmt.Errorf("not a JSON object but a JSON %s", wrong.Value)
	case "gold":
		want = "a string or a list of strings"
	case "options":
		want = "a list of strings"
	case "tolerance":
		want = `{"abs": number} or {"rel": number}`
	case "tolerance.abs", "tolerance.rel":
		want = "a number or a list of numbers"
	}
	return fmt.Errorf("%q holds a JSON %s; want %s", wrong.Field, wrong.Value, want)
}

// Grade grades the task under a policy.
func (t Task) Grade(p Policy) Graded {
	k := Key{Gold: t.Gold, Options: t.Options, Question: t.Question, Policy: p}
	if t.Tolerance != nil {
		k.Tolerance = make([]Tolerance, max(len(t.Tolerance.Abs), len(t.Tolerance.Rel)))
		at := func(n numbers, i int) float64 {
			if len(n) == 0 {
				return 0
			}
			return n[min(i, len(n)-1)]
		}
		for i := range k.Tolerance {
			k.Tolerance[i] = Tolerance{Abs: at(t.Tolerance.Abs, i), Rel: at(t.Tolerance.Rel, i)}
		}
	}
	response := ""
	if t.Response != nil {
		response = *t.Response
	}
	return Graded{ID: t.ID, Verdict: k.Grade(response)}
}
