// Questions with their golds from a file of their own, for logs that lack them.

package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/seed"
)

// Problems are questions with their golds, found by id or by text.
type Problems struct {
	file   string
	all    []problem
	byID   map[string]int
	byText map[uint64]int
	within map[uint64]int // hash of a prompt -> the question that was found in it
}

type problem struct {
	ID        string          `json:"id"`
	Benchmark string          `json:"benchmark"`
	Problem   string          `json:"problem"`
	Answer    json.RawMessage `json:"answer"` // a text or a number
	Options   []string        `json:"options"`
}

// ReadProblems reads JSON lines as problems.JSONL describes them, with a benchmark where there are several.
func ReadProblems(f File) (*Problems, error) {
	data, err := f.Data()
	if err != nil {
		return nil, err
	}
	p := &Problems{file: f.Name, byID: map[string]int{}, byText: map[uint64]int{}, within: map[uint64]int{}}
	err = eachLine(f.Name, data, func(_ string, line []byte) error {
		var x problem
		if err := unmarshal(line, &x); err != nil {
			return fmt.Errorf("no problem: %w", err)
		}
		if gold, ok := textOf(x.Answer); x.ID == "" || x.Problem == "" || !ok || gold == "" {
			return errors.New("id, problem or answer is missing or empty")
		}
		if _, twice := p.byID[x.ID]; twice {
			return fmt.Errorf("the id %q is there twice", x.ID)
		}
		p.byID[x.ID] = len(p.all)
		text := seed.Hash(x.Problem)
		if _, twice := p.byText[text]; !twice {
			p.byText[text] = len(p.all)
		}
		p.all = append(p.all, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(p.all) == 0 {
		return nil, fmt.Errorf("%s: no problem", f.Name)
	}
	return p, nil
}

// first shows the first question.
func (p *Problems) first() string { return example(p.all[0].ID, p.all[0].Problem) }

// example shows a question by its id and its beginning, as far as there are any.
func example(id, text string) string {
	if text = strings.Join(strings.Fields(text), " "); len([]rune(text)) > 60 {
		text = string([]rune(text)[:60]) + "..."
	}
	switch {
	case id == "":
		return fmt.Sprintf("%q", text)
	case text == "":
		return fmt.Sprintf("id %q", id)
	}
	return fmt.Sprintf("id %q, %q", id, text)
}

// fill gives a row its question: by its id, by the name of its request, by its text, or as the longest one that its prompt holds.
func (p *Problems) fill(r *Row) bool {
	at, ok := -1, false
	for _, id := range []string{r.Question, r.name} {
		if at, ok = p.byID[id]; ok {
			break
		}
	}
	if !ok {
		at, ok = p.byText[seed.Hash(r.Problem)]
	}
	if !ok && r.Problem != "" {
		at, ok = p.in(r.Problem)
	}
	if !ok {
		return false
	}
	x := p.all[at]
	r.Question, r.Problem, r.Options = x.ID, x.Problem, x.Options
	if x.Benchmark != "" {
		r.Benchmark = x.Benchmark
	}
	if !r.Opaque {
		gold, _ := textOf(x.Answer)
		r.Golds = []string{gold}
	}
	return true
}

func (p *Problems) in(prompt string) (int, bool) {
	text := seed.Hash(prompt)
	at, known := p.within[text]
	if !known {
		at = -1
		for i, x := range p.all {
			if strings.Contains(prompt, x.Problem) && (at < 0 || len(x.Problem) > len(p.all[at].Problem)) {
				at = i
			}
		}
		p.within[text] = at
	}
	return at, at >= 0
}
