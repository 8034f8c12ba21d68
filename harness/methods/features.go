// Texts as the rows that linear methods and nearest neighbours read.

package methods

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// features turns texts into the rows that the linear methods and the nearest neighbours read: those of the compact
// policy, rescaled. Ids below surface are surface features, the rest n-gram buckets.
type features struct {
	policy         *compact.Policy
	surface, width int
}

// hashing is how a method reads texts.
type hashing struct {
	buckets, ngrams int            // hashed n-gram buckets; longest word n-gram
	memory          *compact.Texts // of what the texts are made of
}

// newFeatures standardises surface features on the first searchRows texts, which inHashOrder makes a random sample.
// Nothing else is learned: the network behind the rows, of whatever two experts, is never built.
func newFeatures(ctx context.Context, h hashing, texts []string) (features, error) {
	policy, err := compact.New(ctx, spec.Policy{Kind: "compact", Buckets: h.buckets, NGrams: h.ngrams, Hidden: 1}, []string{"a", "b"}, texts[:min(len(texts), searchRows)], h.memory)
	if err != nil {
		return features{}, err
	}
	return featuresOf(policy, h.buckets), nil
}

func featuresOf(policy *compact.Policy, buckets int) features {
	width := policy.Weights()[0].Dims[0] // surface features, then buckets
	return features{policy, width - buckets, width}
}

// MarshalJSON writes what the features are, as a checkpoint of the compact policy has it.
func (f features) MarshalJSON() ([]byte, error) { return json.Marshal(f.policy.Config()) }

// UnmarshalJSON reads what MarshalJSON wrote. Features of another version are an error.
func (f *features) UnmarshalJSON(data []byte) error {
	policy, err := compact.Read(data)
	if err != nil {
		return err
	}
	var of struct{ Buckets int }
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	*f = featuresOf(policy, of.Buckets)
	return nil
}

// corpus is training problems and the rows that a method reads of them.
type corpus struct {
	features
	examples []routing.Example // in hash order
	rows     []policy.Row
}

// newCorpus puts examples in hash order and reads the first most of them by read: features.encode or features.ngrams.
func newCorpus(ctx context.Context, examples []routing.Example, most int, h hashing, read func(features, context.Context, []string) ([]policy.Row, error)) (c corpus, err error) {
	inHashOrder(examples)
	c.examples = examples
	texts := textsOf(examples[:min(len(examples), most)])
	if c.features, err = newFeatures(ctx, h, texts); err != nil {
		return corpus{}, err
	}
	c.rows, err = read(c.features, ctx, texts)
	return c, err
}

func (f features) encode(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := f.policy.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	rescale(rows, f.surface)
	return rows, nil
}

// ngrams is encode without the surface features, ids from 0.
func (f features) ngrams(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := f.encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		first, _ := slices.BinarySearch(r.IDs, int32(f.surface))
		rows[i] = policy.Row{IDs: r.IDs[first:], Values: r.Values[first:]}
		for k := range rows[i].IDs {
			rows[i].IDs[k] -= int32(f.surface)
		}
	}
	return rows, nil
}

// surfaceScale is what standardised surface features are multiplied by: the 40 of them then weigh about as much as
// the n-grams of a row together.
const surfaceScale = 0.15

// rescale prepares rows of the compact policy for a penalty that treats all weights alike: n-grams to norm 1 in each
// row, so that a long text has no more say than a short one, and surface features, the ids below surface, by
// surfaceScale.
func rescale(rows []policy.Row, surface int) {
	for _, r := range rows {
		var square float64
		for k, id := range r.IDs {
			if int(id) >= surface {
				square += float64(r.Values[k]) * float64(r.Values[k])
			}
		}
		norm := float32(math.Sqrt(square))
		for k, id := range r.IDs {
			if int(id) < surface {
				r.Values[k] *= surfaceScale
			} else {
				r.Values[k] /= norm
			}
		}
	}
}

// inHashOrder sorts examples by seed.Hash("99|<id>"): what is fitted does not depend on the caller's order, and any
// first part of them is a random sample.
func inHashOrder(examples []routing.Example) {
	type hashed struct {
		key uint64
		routing.Example
	}
	all := make([]hashed, len(examples))
	for i, e := range examples {
		all[i] = hashed{seed.Hash("99|" + e.Problem.ID), e}
	}
	slices.SortFunc(all, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.Problem.ID, b.Problem.ID))
	})
	for i, e := range all {
		examples[i] = e.Example
	}
}

func textsOf(examples []routing.Example) []string {
	texts := make([]string, len(examples))
	for i, e := range examples {
		texts[i] = e.Problem.Text
	}
	return texts
}

// penaltyGrid is what the penalty of a regression is chosen from unless a row says otherwise.
func penaltyGrid() []float64 { return []float64{100, 30, 10, 3, 1, 0.3, 0.1} }

// penalties returns the penalties of a row once each, strongest first.
func penalties(l2 []float64) []float64 {
	slices.SortFunc(l2, func(a, b float64) int { return cmp.Compare(b, a) })
	return slices.Compact(l2)
}

// inParallel calls f for every i below n on all cores and returns the results in order, or the error of ctx when it ends before.
func inParallel[T any](ctx context.Context, n int, f func(i int) T) ([]T, error) {
	out := make([]T, n)
	workers := min(n, runtime.GOMAXPROCS(0))
	var g sync.WaitGroup
	for w := range workers {
		g.Go(func() {
			defer crash.Exit()
			for i := w; i < n && ctx.Err() == nil; i += workers {
				out[i] = f(i)
			}
		})
	}
	g.Wait()
	return out, ctx.Err()
}
