package score

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/book"
)

// drawn is an arena of three benchmarks with two columns and weights.
func drawn(questions int) (s *Sample, accuracy, usd, weights []float64) {
	s = &Sample{Arena: &book.Arena{Benchmarks: make([]book.Benchmark, 3)}}
	r := rand.New(rand.NewPCG(1, 2))
	for q := range questions {
		s.Strata = append(s.Strata, 3*q/questions)
		accuracy, usd, weights = append(accuracy, r.Float64()), append(usd, r.ExpFloat64()), append(weights, float64(r.IntN(4)))
	}
	return s, accuracy, usd, weights
}

// To the last bit: tables are compared byte by byte.
func TestWhatWasGotAndPaidAreTheMeansOfBoth(t *testing.T) {
	s, accuracy, usd, weights := drawn(1000)
	s.Strata[0] = 2 // no benchmark has to lie in one piece
	size := s.Sizes()
	quality, cost := s.gotAndPaid(accuracy, usd, weights, size)
	if diff := cmp.Diff([][]float64{s.means(accuracy, weights, size), s.means(usd, weights, size)}, [][]float64{quality, cost}); diff != "" {
		t.Error(diff)
	}
	if slices.Contains(quality, 0) {
		t.Errorf("a benchmark without a mean: %v", quality)
	}
}

func BenchmarkMeans(b *testing.B) {
	s, accuracy, usd, weights := drawn(28000)
	size := s.Sizes()
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			s.means(accuracy, weights, size)
			s.means(usd, weights, size)
		}
	})
	b.Run("both", func(b *testing.B) {
		for b.Loop() {
			s.gotAndPaid(accuracy, usd, weights, size)
		}
	})
}
