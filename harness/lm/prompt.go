// What the language model reads: the pool and a problem as a conversation.

package lm

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/entrorouter/entrorouter/harness/cost"
)

//go:embed prompt.tmpl
var promptText string

//go:embed rationale.tmpl
var rationaleText string

// promptDigest tells apart versions of the prompt.
func promptDigest(writes bool) string {
	text := promptText
	if writes {
		text = rationaleText
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}

// Expert is a member of the pool as the prompt shows it.
type Expert struct {
	ID     string     `json:"id"`
	Params float64    `json:"params,omitempty"` // billions of parameters; 0: not known
	Price  cost.Price `json:"price"`            // USD per million tokens
}

// mostExperts is how many single letters there are to name experts by.
const mostExperts = 26

// label names the expert at an index.
func label(i int) string { return string(rune('A' + i)) }

// Labelled is an expert and the letter that names it.
type Labelled struct {
	Label string
	Expert
}

func labelled(experts []Expert) []Labelled {
	all := make([]Labelled, len(experts))
	for i, x := range experts {
		all[i] = Labelled{label(i), x}
	}
	return all
}

// labels returns the token of each expert's label. A label of several tokens is an error.
func labels(v Vocabulary, experts int) ([]int32, error) {
	if experts > mostExperts {
		return nil, fmt.Errorf("%d experts; there are letters for %d", experts, mostExperts)
	}
	ids := make([]int32, experts)
	for i := range ids {
		tokens, err := v.Encode(label(i))
		if err != nil {
			return nil, fmt.Errorf("label %s: %w", label(i), err)
		}
		if len(tokens) != 1 {
			return nil, fmt.Errorf("the label %s is %d tokens of the vocabulary; an expert is chosen by one token, so take a model whose vocabulary has it", label(i), len(tokens))
		}
		ids[i] = tokens[0]
	}
	return ids, nil
}

// Prompt returns the system message that shows a pool, cheapest expert first, and the letters that name its members. A problem is the user's
// message; the letter is the first token of the answer.
func Prompt(pool []Expert) (system string, letters []string, err error) {
	if len(pool) > mostExperts {
		return "", nil, fmt.Errorf("%d experts; there are letters for %d", len(pool), mostExperts)
	}
	for i := range pool {
		letters = append(letters, label(i))
	}
	system, err = instructions(pool, false)
	return system, letters, err
}

// instructions returns the system message that shows the pool, to a policy that writes before it chooses or one that does not.
func instructions(experts []Expert, writes bool) (string, error) {
	name, t := "system", template.New("prompt")
	_, err := t.Parse(promptText)
	if writes && err == nil {
		name = "rationale"
		_, err = t.Parse(rationaleText)
	}
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	var text strings.Builder
	if err := t.ExecuteTemplate(&text, name, labelled(experts)); err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	return text.String(), nil
}
