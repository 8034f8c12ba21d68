// Questions with their golds from a file of their own, for logs that lack them.

package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
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
	sorted []beginning    // by text, each text once
	begin  [256]bool      // bytes that a text begins with
}

// beginning is a text that a prompt may go on with.
type beginning struct {
	text    string
	at      int // the first question that has it
	shorter int // the longest other one that it begins with; -1: there is none
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
		x.Problem = strings.TrimSpace(x.Problem)
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
	p.sort()
	return p, nil
}

// sort puts texts in order, for in.
func (p *Problems) sort() {
	for i, x := range p.all {
		if p.byText[seed.Hash(x.Problem)] == i {
			p.sorted = append(p.sorted, beginning{text: x.Problem, at: i})
			p.begin[x.Problem[0]] = true
		}
	}
	slices.SortFunc(p.sorted, func(a, b beginning) int { return strings.Compare(a.text, b.text) })
	for i := range p.sorted {
		p.sorted[i].shorter = p.longest(i-1, p.sorted[i].text)
	}
}

// longest is the position of the longest text that another one begins with, where that has its place behind the position last; -1: there is none.
func (p *Problems) longest(last int, text string) int {
	for last >= 0 && !strings.HasPrefix(text, p.sorted[last].text) {
		last = p.sorted[last].shorter
	}
	return last
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
		at, ok = p.byText[seed.Hash(strings.TrimSpace(r.Problem))]
	}
	if !ok && r.Problem != "" {
		at, ok = p.in(r.Problem)
	}
	if !ok {
		return false
	}
	x := p.all[at]
	shuffled := reordered(x.Options, r.Options) // letters of the answer are those of its own order
	r.Question, r.Problem = x.ID, x.Problem
	if !shuffled {
		r.Options = x.Options
	}
	if x.Benchmark != "" {
		r.Benchmark = x.Benchmark
	}
	if !r.Opaque {
		gold, _ := textOf(x.Answer)
		r.Golds = []string{gold}
		if shuffled {
			r.Golds = spelled(r.Golds, x.Options)
		}
	}
	return true
}

// in finds the longest problem in a prompt, and of several the first.
func (p *Problems) in(prompt string) (int, bool) {
	text := seed.Hash(prompt)
	at, known := p.within[text]
	if !known {
		at = -1
		for from := range len(prompt) {
			if !p.begin[prompt[from]] {
				continue
			}
			rest := prompt[from:]
			after := sort.Search(len(p.sorted), func(i int) bool { return p.sorted[i].text > rest })
			if i := p.longest(after-1, rest); i >= 0 {
				if x := p.sorted[i]; at < 0 || len(x.text) > len(p.all[at].Problem) || len(x.text) == len(p.all[at].Problem) && x.at < at {
					at = x.at
				}
			}
		}
		p.within[text] = at
	}
	return at, at >= 0
}

// reordered says that options are others in another order, as programs shuffle them.
func reordered(a, b []string) bool {
	return !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// spelled are the golds as texts of the options that their letters stand for, in order.
func spelled(golds, options []string) (all []string) {
	for _, g := range golds {
		if g = strings.TrimSpace(g); len(g) == 1 {
			if i := int(g[0]|0x20) - 'a'; i >= 0 && i < len(options) {
				g = options[i]
			}
		}
		all = append(all, g)
	}
	slices.Sort(all)
	return all
}
