// Finds generated problems by their text.

package problems

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// Index finds generated problems by their text: a server is sent a text and nothing else. Fill it before use; Lookup
// is then safe for concurrent use. The zero value is an empty index.
type Index struct {
	at       map[uint64]int
	problems []routing.Problem
	latents  []routing.Latent
}

// Add adds problems with their latents, which are parallel. It fails, and adds nothing from there on, if two problems
// share a text.
func (x *Index) Add(problems []routing.Problem, latents []routing.Latent) error {
	if len(problems) != len(latents) {
		return fmt.Errorf("index of problems: %d problems with %d latents; they must be parallel", len(problems), len(latents))
	}
	if x.at == nil {
		x.at = make(map[uint64]int, len(problems))
	}
	for i, p := range problems {
		h := routing.TextHash(p.Text)
		if first, ok := x.at[h]; ok {
			return fmt.Errorf("index of problems: %q and %q share a text; use another seed in the spec", x.problems[first].ID, p.ID)
		}
		x.at[h] = len(x.problems)
		x.problems = append(x.problems, p)
		x.latents = append(x.latents, latents[i])
	}
	return nil
}

// AddNew adds the problems whose text is not in the index yet. The latents are parallel.
func (x *Index) AddNew(problems []routing.Problem, latents []routing.Latent) {
	if x.at == nil {
		x.at = make(map[uint64]int, len(problems))
	}
	for i, p := range problems {
		h := routing.TextHash(p.Text)
		if _, ok := x.at[h]; ok {
			continue
		}
		x.at[h] = len(x.problems)
		x.problems, x.latents = append(x.problems, p), append(x.latents, latents[i])
	}
}

// Lookup returns the problem whose text has the given routing.TextHash.
func (x *Index) Lookup(textHash uint64) (routing.Problem, routing.Latent, bool) {
	i, ok := x.at[textHash]
	if !ok {
		return routing.Problem{}, routing.Latent{}, false
	}
	return x.problems[i], x.latents[i], true
}

// Len returns the number of problems.
func (x *Index) Len() int { return len(x.problems) }
