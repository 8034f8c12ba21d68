// Package features turns texts into sparse rows of numbers: counts of what is in them, as a small policy reads them, and the
// parts that regressions and nearest neighbours read.
package features

import (
	"context"
	"fmt"
	"math"

	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Set turns texts into rows of the parts that it reads, side by side: structure, words, characters, vectors. JSON keeps what it learned,
// but no vectors.
type Set struct {
	Version int           `json:"version"`
	Of      spec.Features `json:"of"`
	Counts  Counts        `json:"counts"` // structure and words
	Size    int           `json:"size"`   // numbers of a vector; 0: none are read

	vectors Source
}

// Reading is what is read of texts, and what with.
type Reading struct {
	Of      spec.Features
	Vectors Source // nil: Of reads none
	Memory  *Texts // of the texts that are read now and later; nil: none
}

// New standardises surface features on texts, of which there must be one. What is read has at least one part.
func New(ctx context.Context, by Reading, texts []string) (s Set, err error) {
	s = Set{Version: Version, Of: by.Of.Only(), vectors: by.Vectors}
	if by.Of.Reads(spec.ReadVectors) && len(texts) > 0 {
		all, err := by.Vectors.Of(ctx, texts)
		if err != nil {
			return s, err
		}
		s.Size = len(all[0])
	}
	s.Counts, err = NewCounts(ctx, max(by.Of.Words.Buckets, 1), max(by.Of.Words.NGrams, 1), texts, by.Memory)
	return s, err
}

// With returns a set that came back from JSON with what it reads texts with. It fails if that is not what it learned from.
func (s Set) With(by Reading) (Set, error) {
	switch {
	case s.Version != Version:
		return s, fmt.Errorf("trained on features of version %d, this program computes version %d; train it again", s.Version, Version)
	case s.Size > 0 && by.Vectors == nil:
		return s, fmt.Errorf("trained on vectors of %d numbers, and none are given", s.Size)
	}
	s.vectors, s.Counts.memory = by.Vectors, by.Memory
	return s, s.Counts.Check()
}

// Width is the number of features; ids are below it.
func (s Set) Width() (n int) {
	for _, part := range s.Of.Read {
		n += s.widthOf(part)
	}
	return n
}

func (s Set) widthOf(part string) int {
	switch part {
	case spec.ReadStructure:
		return len(surfaceNames)
	case spec.ReadWords:
		return s.Counts.Buckets
	case spec.ReadCharacters:
		return s.Of.Characters.Buckets
	default:
		return s.Size
	}
}

// surfaceScale is what standardised surface features are multiplied by: the 38 of them then weigh about as much as
// the n-grams of a row together.
const surfaceScale = 0.15

// Rows reads texts, ready for a penalty that treats all weights alike: every part has length 1, so that a long text has no more say than a
// short one, and structure is scaled to weigh about as much. It fails where ctx ends, and on a text without a vector of the size that was
// learned from.
func (s Set) Rows(ctx context.Context, texts []string) ([]policy.Row, error) {
	var vectors [][]float32
	if s.Of.Reads(spec.ReadVectors) {
		var err error
		if vectors, err = s.vectors.Of(ctx, texts); err != nil {
			return nil, err
		}
		for i, v := range vectors {
			if len(v) != s.Size {
				return nil, fmt.Errorf("trained on vectors of %d numbers, and that of %.60q has %d", s.Size, texts[i], len(v))
			}
		}
	}
	counts := s.Of.Reads(spec.ReadStructure) || s.Of.Reads(spec.ReadWords)
	return parallel.Map(ctx, len(texts), func(i int) (row policy.Row) {
		var surface []float64
		var words []bucketCount
		if counts {
			var room [rowRoom]bucketCount
			surface, words = s.Counts.memory.read(texts[i], s.Counts.Buckets, s.Counts.NGrams, room[:])
		}
		first := 0
		for _, part := range s.Of.Read { // in the order of Only
			start := len(row.IDs)
			switch part {
			case spec.ReadStructure:
				row = s.Counts.appendStructure(row, surface, len(words))
				for k := range row.Values {
					row.Values[k] *= surfaceScale
				}
			case spec.ReadWords:
				row = appendCounts(row, first, words)
			case spec.ReadCharacters:
				row = appendCounts(row, first, characters(texts[i], s.Of.Characters))
			case spec.ReadVectors:
				for k, v := range vectors[i] {
					row.IDs, row.Values = append(row.IDs, int32(first+k)), append(row.Values, v)
				}
			}
			if part != spec.ReadStructure {
				toLength1(row.Values[start:])
			}
			first += s.widthOf(part)
		}
		return row
	})
}

// Directions is Rows scaled to length 1, for cosines.
func (s Set) Directions(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, err := s.Rows(ctx, texts)
	if len(s.Of.Read) > 1 || s.Of.Reads(spec.ReadStructure) {
		for _, r := range rows {
			toLength1(r.Values)
		}
	}
	return rows, err
}

// toLength1 divides numbers by their Euclidean length, unless all are 0.
func toLength1(values []float32) {
	var square float64
	for _, v := range values {
		square += float64(v) * float64(v)
	}
	if square == 0 {
		return
	}
	length := float32(math.Sqrt(square))
	for k := range values {
		values[k] /= length
	}
}
