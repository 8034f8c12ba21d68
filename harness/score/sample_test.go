package score

import (
	"math/rand/v2"
	"testing"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
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
	c := &columns{Sample: s, size: size}
	for range together { // the pair that is asked for is in the second block
		c.add(usd, usd)
	}
	place := c.add(accuracy, usd)
	quality, cost := s.means(accuracy, weights, size), s.means(usd, weights, size)
	for b, p := range c.under(weights)[place] {
		if want := (metrics.Point{Quality: quality[b], Cost: cost[b]}); p != want || p.Quality == 0 {
			t.Errorf("benchmark %d: %v, want %v", b, p, want)
		}
	}
}
