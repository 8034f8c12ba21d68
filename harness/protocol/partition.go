// How questions are assigned to folds, and which of them a row that learns from fewer is given.

package protocol

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// folds assigns questions to k folds: inside each benchmark they are sorted by Hash("<seed>|<id>") and dealt round. A
// question that is asked again, in whatever benchmark, is in the fold of the one with the least id and not dealt, or a
// router would be tested on what it was trained on.
func folds(problems []routing.Problem, k int, s uint64) []int {
	first := firsts(problems)
	byBenchmark := map[string][]int{}
	for i, p := range problems {
		if first[i] == i {
			byBenchmark[p.Benchmark] = append(byBenchmark[p.Benchmark], i)
		}
	}
	fold := make([]int, len(problems))
	for _, of := range byBenchmark {
		byHash(problems, of, s)
		for rank, i := range of {
			fold[i] = rank % k
		}
	}
	for i, f := range first {
		fold[i] = fold[f]
	}
	return fold
}

// firsts returns of every question that of its text with the least id: itself, if no other has its text.
func firsts(problems []routing.Problem) []int {
	of := map[string]int{}
	for i, p := range problems {
		if f, ok := of[p.Text]; !ok || p.ID < problems[f].ID {
			of[p.Text] = i
		}
	}
	out := make([]int, len(problems))
	for i, p := range problems {
		out[i] = of[p.Text]
	}
	return out
}

// askedAgain is how many questions have the text of another with a lesser id.
func askedAgain(problems []routing.Problem) (n int) {
	for i, f := range firsts(problems) {
		if f != i {
			n++
		}
	}
	return n
}

// fewer returns n of the training questions, those with the smallest Hash("<1000 + seed of the partition>|<id>"): each
// is among those of a larger n. 0 is all of them.
func fewer(problems []routing.Problem, train []int, n int, partition uint64) ([]int, error) {
	if n == 0 {
		return train, nil
	}
	if n > len(train) {
		return nil, fmt.Errorf("train: %d questions are asked for, and a fold leaves %d", n, len(train))
	}
	sorted := slices.Clone(train)
	byHash(problems, sorted, 1000+partition)
	return sorted[:n], nil
}

// byHash sorts some questions by Hash("<s>|<id>").
func byHash(problems []routing.Problem, some []int, s uint64) {
	slices.SortFunc(some, func(a, b int) int {
		key := func(i int) uint64 { return seed.Hash(fmt.Sprintf("%d|%s", s, problems[i].ID)) }
		return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(problems[a].ID, problems[b].ID))
	})
}
