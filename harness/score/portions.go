// What is concave is averaged over trainings, and not read of their average: a router of which nine trainings in ten ask nobody, and one
// asks much, is no worse than they are.

package score

import (
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
)

// portion is some trainings of a row whose costs lie on one edge of what they are held against. Along an edge the mean of what trainings
// are above it is what their mean is above it.
type portion struct {
	share float64       // of the trainings
	at    metrics.Point // their mean
	place *place        // of their mean among the columns, once it has one; nil: it is that of the row
	of    []int         // trainings
}

// portions divides the trainings of a row, whose mean is at, by the edge that edge returns for the point of each.
func portions[E comparable](w *weighed, r Row, at metrics.Point, edge func(at metrics.Point) E) (out []portion) {
	places := map[E]int{}
	for k := range r.Scores {
		e := edge(at)
		if len(r.Scores) > 1 {
			e = edge(w.of(r.training(k)).all)
		}
		i, ok := places[e]
		if !ok {
			i = len(out)
			places[e] = i
			out = append(out, portion{})
		}
		out[i].of = append(out[i].of, k)
	}
	if len(out) == 1 {
		out[0].share, out[0].at = 1, at
		return out
	}
	for i := range out {
		p := &out[i]
		p.share = float64(len(p.of)) / float64(len(r.Scores))
		p.at = w.overall(w.pair(r.mean(p.of)))
	}
	return out
}

// mean returns what some trainings of a row get and pay on average, [Q].
func (r Row) mean(of []int) (accuracy, usd []float64) {
	scores := make([]book.Scores, len(of))
	for i, k := range of {
		scores[i] = r.Scores[k]
	}
	return book.Mean(scores, accuracyOf), book.Mean(scores, usdOf)
}

// settle gives a portion of a row a place among the columns.
func (p *portion) settle(f *fixed, r Row) {
	if p.share < 1 {
		p.place = f.columns.pair(r.mean(p.of))
	}
}

// under returns the mean of the trainings under weights, where that of the row is mean.
func (p portion) under(w *weighed, mean metrics.Point) metrics.Point {
	if p.place == nil {
		return mean
	}
	return w.overall(w.at(p.place))
}
