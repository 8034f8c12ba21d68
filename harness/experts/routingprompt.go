// The prompt that asks a language model which expert should answer, written and read back.

package experts

// The prompt that asks a language model which expert should answer: one function writes it, and one reads it back.

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Candidate is an expert as a language model that routes is shown it: one line of JSON in its prompt.
type Candidate struct {
	ID       string             `json:"id"`
	Billions float64            `json:"billion_parameters,omitempty"`
	In       float64            `json:"usd_per_million_input_tokens"`
	Out      float64            `json:"usd_per_million_output_tokens"`
	Strength string             `json:"strength,omitempty"`
	Accuracy map[string]float64 `json:"accuracy,omitempty"` // share of right answers on profiled problems, by difficulty
}

// What encloses the problem in the prompt of a language model that routes.
const (
	problemOpen  = "<problem>\n"
	problemClose = "\n</problem>"
)

// RoutingPrompt returns the template of a prompt that asks a language model which expert should answer: the task, a line
// a candidate, the problem, and the form that the answer should have. It is an error if a part holds what stands for the
// problem or encloses it.
func RoutingPrompt(task string, candidates []Candidate, form string) (string, error) {
	var b strings.Builder
	b.WriteString(task + "\n\n")
	for _, c := range candidates {
		line, err := json.Marshal(c)
		if err != nil {
			return "", fmt.Errorf("candidate %s: %w", c.ID, err)
		}
		b.WriteString(string(line) + "\n")
	}
	b.WriteString("\n")
	for _, taken := range []string{Placeholder, problemOpen, strings.TrimSpace(problemClose)} {
		if strings.Contains(b.String()+form, taken) {
			return "", fmt.Errorf("the prompt holds %q outside the problem; word it without", strings.TrimSpace(taken))
		}
	}
	return b.String() + problemOpen + Placeholder + problemClose + "\n\n" + form, nil
}

// ReadRoutingPrompt returns the candidates of a prompt made from such a template, cheapest first whatever their order in
// the prompt, and the text of the problem. The error wraps ErrUnknownProblem or ErrUnknownExpert, whichever is missing.
func ReadRoutingPrompt(prompt string) ([]Candidate, string, error) {
	head, rest, opened := strings.Cut(prompt, problemOpen)
	end := strings.LastIndex(rest, problemClose)
	if !opened || end < 0 {
		return nil, "", fmt.Errorf("%w: no problem between %q and %q: simulated routers read no other prompt", ErrUnknownProblem, strings.TrimSpace(problemOpen), strings.TrimSpace(problemClose))
	}
	var candidates []Candidate
	for line := range strings.Lines(head) {
		if !strings.HasPrefix(line, `{"id":`) {
			continue
		}
		var c Candidate
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, "", fmt.Errorf("%w: a candidate of the prompt is not JSON (%w)", ErrUnknownExpert, err)
		}
		candidates = append(candidates, c)
	}
	if len(candidates) == 0 {
		return nil, "", fmt.Errorf("%w: the prompt holds no candidate", ErrUnknownExpert)
	}
	experts := make([]routing.Expert, len(candidates))
	byID := map[string]Candidate{}
	for i, c := range candidates {
		experts[i] = routing.Expert{ID: c.ID, Price: cost.Price{Out: c.Out}}
		byID[c.ID] = c
	}
	routing.SortByPrice(experts)
	for i, e := range experts {
		candidates[i] = byID[e.ID]
	}
	return candidates, rest[:end], nil
}
