// What rows and fixed experts get and pay on average, under one set of weights.

package score

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// rowMeans is a row under weights.
type rowMeans struct {
	row Row
	by  []metrics.Point // [benchmarks] of a question
	all metrics.Point
}

// weighed is what all rows of a sample are measured by under weights.
type weighed struct {
	*fixed
	weights   []float64 // [Q]
	sums      sums
	points    []metrics.Point // of always asking each expert, then of the router alone where a row needs it
	hull, own metrics.Hull    // of the experts; of them and the router alone
}

// fixed is what all rows of a sample are measured by, before any weights.
type fixed struct {
	*Sample
	size    []int // [benchmarks] questions of this sample
	columns *columns
	experts []*place // of always asking each expert, then of the router alone where a row needs it
	// Vertices of the hulls are chosen on the sample and their means move in resamples: a hull chosen anew in each would
	// lie above every constant router, which then had a negative gain.
	vertices, verticesOwn []int
}

// fixed computes what all rows are measured by.
func (s *Sample) fixed() *fixed {
	f := &fixed{Sample: s, size: s.Sizes(), columns: &columns{strata: s.Strata, count: len(s.Benchmarks)}}
	accuracy, usd := s.alone()
	for m := range accuracy {
		f.experts = append(f.experts, f.columns.pair(accuracy[m], usd[m]))
	}
	// The router alone is one more point that costs nothing, on the hull of rows that may answer themselves.
	if s.Self != nil {
		own := s.Score(s.Always(routing.Self))
		f.experts = append(f.experts, f.columns.pair(own.Accuracy, own.USD))
	}
	all := f.under([][]float64{slices.Repeat([]float64{1}, len(s.Strata))})[0].points
	f.vertices, f.verticesOwn = metrics.Vertices(all[:len(accuracy)]), metrics.Vertices(all)
	return f
}

// under is everything under each of several sets of weights [Q].
func (f *fixed) under(weights [][]float64) []*weighed {
	out := make([]*weighed, len(weights))
	for r, sums := range f.columns.under(weights) {
		w := &weighed{fixed: f, weights: weights[r], sums: sums}
		for _, at := range f.experts {
			w.points = append(w.points, f.overall(w.at(at)))
		}
		for _, m := range f.vertices {
			w.hull = append(w.hull, w.points[m])
		}
		for _, m := range f.verticesOwn {
			w.own = append(w.own, w.points[m])
		}
		out[r] = w
	}
	return out
}

// at are the means of the columns at a place on every benchmark.
func (w *weighed) at(p *place) []metrics.Point {
	by := make([]metrics.Point, len(w.size))
	for b, n := range w.size {
		sum := w.sums.at(p, b)
		by[b] = metrics.Point{Quality: sum.Quality / float64(n), Cost: sum.Cost / float64(n)}
	}
	return by
}

// of is a row under weights.
func (w *weighed) of(r Row) *rowMeans {
	of := &rowMeans{row: r, by: w.pair(book.Mean(r.Scores, accuracyOf), book.Mean(r.Scores, usdOf))}
	of.all = w.overall(of.by)
	return of
}

// pair are the means of a pair of columns on every benchmark.
func (w *weighed) pair(accuracy, usd []float64) []metrics.Point {
	quality, cost := w.Sample.means(accuracy, w.weights, w.size), w.Sample.means(usd, w.weights, w.size)
	by := make([]metrics.Point, len(quality))
	for b := range by {
		by[b] = metrics.Point{Quality: quality[b], Cost: cost[b]}
	}
	return by
}
