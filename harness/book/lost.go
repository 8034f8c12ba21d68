// Questions that are scored for nobody, since some model did not answer them.

package book

import (
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
)

// ErrNothingAnswered says that there is nothing to score.
var ErrNothingAnswered = errors.New("not every model answered any question")

// leaveOut takes out of the arena the questions that some model did not answer in every run, or not at all in its profile,
// and notes them in Lost. A benchmark of which nothing is left is an error.
func (a *Arena) leaveOut(unprofiled map[int][]string) error {
	missing := make([][]string, len(a.Strata)) // [Q] models
	for q, models := range unprofiled {
		missing[q] = models
	}
	miss := func(query int, model string) {
		if of := &missing[a.Question[query]]; !slices.Contains(*of, model) {
			*of = append(*of, model)
		}
	}
	for i, outcomes := range a.Outcomes {
		for m, o := range outcomes {
			if o.Bucket == routing.Unanswered {
				miss(i, a.Experts[m].ID)
			}
		}
		if a.Self != nil && a.Self[i].Bucket == routing.Unanswered {
			miss(i, a.Probe)
		}
	}
	number := make([]int, len(a.Strata)) // [Q] its number among those that are left
	left := make([]int, len(a.Benchmarks))
	n := 0
	for q, models := range missing {
		if number[q] = n; models == nil {
			left[a.Strata[q]]++
			n++
		}
	}
	if n == len(missing) {
		return nil
	}
	if b := slices.Index(left, 0); b >= 0 {
		return fmt.Errorf("%w of benchmark %s", ErrNothingAnswered, a.Benchmarks[b].Name)
	}
	all := *a
	a.asked, a.scored = a.Queries, nil
	a.Queries, a.Question, a.Strata, a.Outcomes, a.Self, a.Latents, a.Best = nil, nil, nil, nil, nil, nil, nil
	for q, models := range missing {
		if models == nil {
			a.Strata = append(a.Strata, all.Strata[q])
			if all.Latents != nil {
				a.Latents = append(a.Latents, all.Latents[q])
			}
			if all.Best != nil {
				a.Best = append(a.Best, all.Best[q])
			}
		}
	}
	lost := map[int]bool{}
	for i, query := range all.Queries {
		q := all.Question[i]
		switch {
		case missing[q] == nil:
			a.scored = append(a.scored, i)
			a.Queries, a.Question, a.Outcomes = append(a.Queries, query), append(a.Question, number[q]), append(a.Outcomes, all.Outcomes[i])
			if all.Self != nil {
				a.Self = append(a.Self, all.Self[i])
			}
		case !lost[q]:
			lost[q] = true
			a.Lost = append(a.Lost, Lost{all.Benchmarks[all.Strata[q]].Name, query.Problem.ID, missing[q]})
		}
	}
	return nil
}

// LostProblem returns a problem that is scored for nobody, how often it was asked and who did not answer; ok is false if it is none.
func (a *Arena) LostProblem(id string) (p routing.Problem, runs int, lost Lost, ok bool) {
	i := slices.IndexFunc(a.Lost, func(l Lost) bool { return l.Problem == id })
	if i < 0 {
		return p, 0, lost, false
	}
	for _, q := range a.asked {
		if q.Problem.ID == id {
			p = q.Problem
			runs++
		}
	}
	return p, runs, a.Lost[i], true
}

// answered picks what belongs to the queries that are scored from what belongs to all that were decided on.
func answered[T any](a *Arena, all []T) []T {
	if a.scored == nil {
		return all
	}
	out := make([]T, len(a.scored))
	for k, i := range a.scored {
		out[k] = all[i]
	}
	return out
}

// decided are the queries that decisions were made on.
func (a *Arena) decided() []routing.Query {
	if a.scored == nil {
		return a.Queries
	}
	return a.asked
}
