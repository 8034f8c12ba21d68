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
	for i, p := range problems {
		if first, there := x.add(p, latents[i]); there {
			return fmt.Errorf("index of problems: %q and %q share a text; use another seed in the spec", x.problems[first].ID, p.ID)
		}
	}
	return nil
}

// AddNew adds the problems whose text is not in the index yet. The latents are parallel.
func (x *Index) AddNew(problems []routing.Problem, latents []routing.Latent) {
	for i, p := range problems {
		x.add(p, latents[i])
	}
}

// add adds a problem, unless there is one with its text, and says where that is.
func (x *Index) add(p routing.Problem, latent routing.Latent) (first int, there bool) {
	h := routing.TextHash(p.Text)
	if first, there = x.at[h]; there {
		return first, true
	}
	if x.at == nil {
		x.at = map[uint64]int{}
	}
	x.at[h] = len(x.problems)
	x.problems, x.latents = append(x.problems, p), append(x.latents, latent)
	return 0, false
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
