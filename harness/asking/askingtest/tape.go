// A recording, and models behind a server that say what was recorded.

package askingtest

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Tape is what some models said to some questions, once each.
type Tape struct {
	Models    []string
	Questions []Taped
}

// Taped is a question and what the models said.
type Taped struct {
	ID, Benchmark, Text string
	Gold                int
	In                  int64           // tokens of the prompt
	Said                map[string]Said // by model
}

// Said is what a model said: right, wrong, or nothing that could be an answer.
type Said struct {
	Correct, NoAnswer bool
	Out               int64 // tokens
}

// NewTape records models, the later ones better and longer, on n questions of each benchmark, each to be drawn.
func NewTape(models, benchmarks []string, n int) *Tape {
	t := &Tape{Models: models}
	for _, b := range benchmarks {
		for i := range n {
			q := Taped{ID: fmt.Sprintf("%s-%d", b, i), Benchmark: b, Gold: i, Said: map[string]Said{}}
			q.Text = fmt.Sprintf("How much is %d, %s?", i, strings.Repeat("in other words ", i%7)+"as "+b+" asks")
			q.In = int64(10 + len(q.Text)/4)
			for m, name := range models {
				u := seed.Derive("tape", q.ID, name).Uniform()
				right := float64(m+1) / float64(len(models)+1)
				q.Said[name] = Said{Correct: u < right, NoAnswer: u > 0.9 && u >= right, Out: int64(20*(m+1) + i%11)}
			}
			t.Questions = append(t.Questions, q)
		}
	}
	return t
}

// Response is a text that is graded as was recorded.
func (q Taped) Response(model string) string {
	switch said := q.Said[model]; {
	case said.Correct:
		return fmt.Sprintf(`So it is \boxed{%d}.`, q.Gold)
	case said.NoAnswer:
		return "I would rather not say."
	}
	return fmt.Sprintf(`So it is \boxed{%d}.`, q.Gold+1)
}

// Serve returns a server of the models. It says what is on the tape, whatever the seed.
func (t *Tape) Serve() *vllm.Server {
	var models []vllm.Model
	for _, name := range t.Models {
		models = append(models, vllm.Model{Name: name, Window: 32768})
	}
	byText := map[string]Taped{}
	for _, q := range t.Questions {
		byText[q.Text] = q
	}
	return vllm.New(models, func(_ context.Context, r vllm.Request) (vllm.Answer, error) {
		q, ok := byText[r.Prompt]
		if !ok {
			return vllm.Answer{}, fmt.Errorf("%q is not on the tape", r.Prompt)
		}
		return vllm.Answer{Text: q.Response(r.Model), Finish: "stop", In: q.In, Out: q.Said[r.Model].Out}, nil
	}, vllm.Options{Log: slog.New(slog.DiscardHandler)})
}
