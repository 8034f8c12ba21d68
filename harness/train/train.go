// Package train fits the weights of a policy: SFT with soft targets (Stage I of the paper) and GRPO with the soft
// anchor (Stage II).
//
// Nothing here knows what a policy reads or whether it writes before it chooses: both stages go through policy.Policy.
// Every random number is drawn on the host from a stream named by its coordinates (stage, epoch or step, id), except
// dropout's, so the order in which examples are passed does not matter, and neither does the backend.
//
// Letters in doc comments: B rows of a batch, M experts, G rollouts of a prompt, A choices sampled for a row.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/seed"
)

// order returns 0 to n-1 in the order of keys drawn for (epoch, id): a permutation that does not depend on the order
// in which examples are passed.
func order(s seed.Seed, epoch int, ids []string) []int {
	type entry struct {
		key   seed.Seed
		index int
	}
	entries := make([]entry, len(ids))
	for i, id := range ids {
		entries[i] = entry{s.Derive("order", epoch, id), i}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(ids[a.index], ids[b.index]))
	})
	indices := make([]int, len(ids))
	for i, e := range entries {
		indices[i] = e.index
	}
	return indices
}

// checkIDs fails on an empty or repeated id: ids name random streams.
func checkIDs(ids []string) error {
	seen := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		if id == "" {
			return errors.New("an id is empty")
		}
		if _, found := seen[id]; found {
			return fmt.Errorf("id %q occurs twice", id)
		}
		seen[id] = struct{}{}
	}
	return nil
}

// checkDistribution fails unless p is a distribution over m experts.
func checkDistribution(name string, p []float64, m int) error {
	if len(p) != m {
		return fmt.Errorf("%s has %d values for %d experts", name, len(p), m)
	}
	var sum float64
	for _, v := range p {
		if !(v >= 0) {
			return fmt.Errorf("%s %v is not a distribution", name, p)
		}
		sum += v
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("%s %v sums to %v, not 1", name, p, sum)
	}
	return nil
}

// exps are probabilities of their logarithms.
func exps(logs []float64) []float64 {
	p := make([]float64, len(logs))
	for i, l := range logs {
		p[i] = math.Exp(l)
	}
	return p
}

// distribution adds to a point what is told from the policy's log-probabilities [n*M] of a batch.
func (p *Point) distribution(logProbs []float32, m int) {
	n := len(logProbs) / m
	p.Share = make([]float64, m)
	for i, l := range logProbs {
		prob := math.Exp(float64(l))
		p.Share[i%m] += prob / float64(n)
		p.Entropy -= prob * float64(l) / float64(n)
	}
}

// wrap names the stage and step in an error, and leaves the context's own errors recognisable.
func wrap(ctx context.Context, stage string, step int, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: stopped before step %d: %w", stage, step, ctx.Err())
	}
	return fmt.Errorf("%s: step %d: %w", stage, step, err)
}
