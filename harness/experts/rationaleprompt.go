// The prompt that asks a language model for the analysis behind a choice that was made, written and read back.

package experts

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chosenMark stands before the choice.
const chosenMark = "The right choice is "

// RationalePrompt returns the template of a prompt that shows what RoutingPrompt shows and the right choice, and asks for the analysis
// that leads to it. Errors are those of RoutingPrompt.
func RationalePrompt(task string, candidates []Candidate, chosen, form string) (string, error) {
	choice, err := json.Marshal(Choice{chosen})
	if err != nil {
		return "", fmt.Errorf("choice %s: %w", chosen, err)
	}
	return RoutingPrompt(task, candidates, chosenMark+string(choice)+"\n"+form)
}

// ReadChosen returns the id that a prompt made from such a template says is right; ok is false for one that asks for the choice.
func ReadChosen(prompt string) (id string, ok bool) {
	_, line, ok := strings.Cut(prompt[strings.LastIndex(prompt, problemClose)+1:], "\n\n"+chosenMark)
	if !ok {
		return "", false
	}
	line, _, _ = strings.Cut(line, "\n")
	var c Choice
	return c.Model, json.Unmarshal([]byte(line), &c) == nil && c.Model != ""
}
