package score

import (
	"math/rand/v2"
	"slices"
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
	f := &fixed{Sample: s, size: s.Sizes(), columns: &columns{strata: s.Strata, count: 3}}
	f.columns.pair(weights, weights)
	for k := range together { // the pair that is asked for is in the second block
		f.columns.add(slices.Repeat([]float64{float64(k)}, len(usd)))
	}
	at := f.columns.pair(accuracy, usd)
	if again := f.columns.pair(accuracy, usd); *again != *at || at.usd != together+2 {
		t.Errorf("equal columns are at %v and %v", *at, *again)
	}
	for _, w := range f.under([][]float64{usd, weights}) {
		quality, cost := s.means(accuracy, w.weights, f.size), s.means(usd, w.weights, f.size)
		for b, p := range w.at(at) {
			if want := (metrics.Point{Quality: quality[b], Cost: cost[b]}); p != want || p.Quality == 0 {
				t.Errorf("benchmark %d: %v, want %v", b, p, want)
			}
		}
	}
}
