// Package features turns texts into sparse rows of numbers, as regressions and nearest neighbours read them.
package features

import (
	"context"
	"encoding/json"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Set turns texts into rows: those of the compact policy, rescaled. Ids below surface are surface features, the rest n-gram
// buckets. JSON keeps it.
type Set struct {
	policy         *compact.Policy
	surface, width int
}

// Hashing is how texts are read.
type Hashing struct {
	Buckets, NGrams int            // hashed n-gram buckets; longest word n-gram
	Memory          *compact.Texts // of what the texts are made of; nil: none
}

// New standardises surface features on texts. Nothing else is learned: the network behind the rows, of whatever two
// experts, is never built.
func New(ctx context.Context, h Hashing, texts []string) (Set, error) {
	policy, err := compact.New(ctx, spec.Policy{Kind: "compact", Buckets: h.Buckets, NGrams: h.NGrams, Hidden: 1}, []string{"a", "b"}, texts, h.Memory)
	if err != nil {
		return Set{}, err
	}
	return setOf(policy, h.Buckets), nil
}

func setOf(policy *compact.Policy, buckets int) Set {
	width := policy.Weights()[0].Dims[0] // surface features, then buckets
	return Set{policy, width - buckets, width}
}

// Width is the number of features of Encode.
func (s Set) Width() int { return s.width }

// MarshalJSON writes what the features are, as a checkpoint of the compact policy has it.
func (s Set) MarshalJSON() ([]byte, error) { return json.Marshal(s.policy.Config()) }

// UnmarshalJSON reads what MarshalJSON wrote. Features of another version are an error.
func (s *Set) UnmarshalJSON(data []byte) error {
	policy, err := compact.Read(data)
	if err != nil {
		return err
	}
	var of struct{ Buckets int }
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	*s = setOf(policy, of.Buckets)
	return nil
}

// Encode returns the rows of texts. It fails where ctx ends alone.
func (s Set) Encode(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := s.policy.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	rescale(rows, s.surface)
	return rows, nil
}

// NGrams is Encode without the surface features, ids from 0.
func (s Set) NGrams(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := s.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		first, _ := slices.BinarySearch(r.IDs, int32(s.surface))
		rows[i] = policy.Row{IDs: r.IDs[first:], Values: r.Values[first:]}
		for k := range rows[i].IDs {
			rows[i].IDs[k] -= int32(s.surface)
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
