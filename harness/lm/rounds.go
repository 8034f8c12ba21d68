// The language model as a policy of several rounds: it answers itself or asks an expert, and then chooses again.

package lm

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

//go:embed rounds.tmpl
var roundsText string

// RoundsDigest tells apart versions of the prompt of NewRounds.
func RoundsDigest() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(roundsText+Rounds("", []int{0, 1}))))
}

// NewRounds builds the policy that a spec describes whose choices are moves: answering, asking each expert of a pool and, with handOver,
// handing over the answer of each. It reads what Rounds returns, and writes nothing before it chooses. Its checkpoints would come back
// as those of a policy of one choice: none is written.
func (m *Models) NewRounds(backend policy.Backend, cfg spec.Policy, pool []Expert, handOver bool) (*Policy, error) {
	moves := []Expert{{ID: "answer"}}
	for _, x := range pool {
		moves = append(moves, Expert{ID: "ask " + x.ID, Params: x.Params, Price: x.Price})
	}
	if handOver {
		for _, x := range pool {
			moves = append(moves, Expert{ID: "hand over the answer of " + x.ID})
		}
	}
	if cfg.Rationale != "none" {
		return nil, fmt.Errorf("lm policy: rationale is %q; a policy of several rounds names its moves and writes nothing, so set none", cfg.Rationale)
	}
	p, err := m.New(backend, cfg, moves)
	if err != nil {
		return nil, err
	}
	p.system, err = rounds(moves)
	return p, err
}

// rounds returns the system message that shows the moves and their letters.
func rounds(moves []Expert) (string, error) {
	t, err := template.New("rounds").Funcs(template.FuncMap{"label": label}).Parse(roundsText)
	var text strings.Builder
	if err == nil {
		err = t.ExecuteTemplate(&text, "system", moves)
	}
	if err != nil {
		return "", fmt.Errorf("prompt: %w", err)
	}
	return text.String(), nil
}

// Rounds is the text of a problem about which experts of the pool have been asked so far, by index and in order. All have answered; what
// they said is not in it.
func Rounds(problem string, experts []int) string {
	if len(experts) == 0 {
		return problem
	}
	var text strings.Builder
	text.WriteString(problem + "\n\nAsked so far:")
	for _, x := range experts {
		text.WriteString("\n" + label(1+x) + " answered.")
	}
	return text.String()
}
