// What a row gets more than what else there is would get for the same money.

package score

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// rival is what one has without a row, at the row's cost: the best coin between the fixed experts, another row at its own operating point and
// that row at every setting of its knob. Where either row may answer itself, the router alone is one more. The coin is chosen
// on the sample, see metrics.BestCoin.
type rival struct {
	coin metrics.Coin
	ends []end // that the coin names
}

// end is a point that moves with the weights: a fixed expert, a setting of the other row's knob, or else the other row's operating
// point.
type end struct {
	expert, setting int       // -1: none
	accuracy, usd   []float64 // [Q] of the setting
	place           *place    // of the setting among the columns, once it is settled
}

// offer is all that a row can be held against: the fixed experts and another row, at its operating point and at every setting of its knob.
type offer struct {
	points  []metrics.Point // on the sample as it is: experts, the operating point, settings
	experts int
	other   Row
}

// offer lists it. own says whether either row may answer itself.
func (w *weighed) offer(other *rowMeans, own bool) offer {
	experts := w.points
	if !own && w.Self != nil {
		experts = experts[:len(experts)-1]
	}
	o := offer{append(slices.Clone(experts), other.all), len(experts), other.row}
	if len(other.row.curves) > 0 {
		o.points = append(o.points, meanCurve(other.row.curves, w.share())...)
	}
	return o
}

// rival is the best coin of an offer at a cost.
func (w *weighed) rival(o offer, cost float64) rival {
	coin := metrics.BestCoin(o.points, cost)
	var r rival
	name := func(i int) int {
		switch {
		case i < 0:
			return i
		case i < o.experts:
			r.ends = append(r.ends, end{expert: i, setting: -1})
		case i == o.experts:
			r.ends = append(r.ends, end{expert: -1, setting: -1})
		default:
			of := end{expert: -1, setting: i - o.experts - 1, accuracy: make([]float64, len(w.Strata)), usd: make([]float64, len(w.Strata))}
			for _, c := range o.other.curves {
				for q, at := range c.At(of.setting) {
					of.accuracy[q] += at.Quality / float64(len(o.other.curves))
					of.usd[q] += at.Cost / float64(len(o.other.curves))
				}
			}
			r.ends = append(r.ends, of)
		}
		return len(r.ends) - 1
	}
	r.coin = coin
	r.coin.Cheaper = name(coin.Cheaper)
	r.coin.Dearer = r.coin.Cheaper
	if coin.Cheaper != coin.Dearer {
		r.coin.Dearer = name(coin.Dearer)
	}
	return r
}

// settle gives the settings of the other row places among the columns.
func (r *rival) settle(f *fixed) {
	for i := range r.ends {
		if e := &r.ends[i]; e.setting >= 0 {
			e.place, e.accuracy, e.usd = f.columns.pair(e.accuracy, e.usd), nil, nil
		}
	}
}

// lead is how far a row lies above its rival. other is the operating point of the other row under the same weights.
func (r rival) lead(w *weighed, at, other metrics.Point) float64 {
	points := make([]metrics.Point, len(r.ends))
	for i, e := range r.ends {
		switch {
		case e.expert >= 0:
			points[i] = w.points[e.expert]
		case e.place != nil:
			points[i] = w.overall(w.at(e.place))
		case e.setting >= 0:
			points[i] = w.overall(w.pair(e.accuracy, e.usd))
		default:
			points[i] = other
		}
	}
	return at.Quality - r.coin.At(at.Cost, func(i int) metrics.Point { return points[i] })
}

// share is the weight of every question in averages over benchmarks [Q]; it sums to 1.
func (s *Sample) share() []float64 {
	size, total := s.Sizes(), s.Total()
	share := make([]float64, len(s.Strata))
	for q, b := range s.Strata {
		share[q] = s.Benchmarks[b].Pass / float64(size[b]) / total
	}
	return share
}

// meanCurve is a knob at every setting, trainings averaged, under weights that sum to 1.
func meanCurve(curves []*metrics.KnobCurve, weights []float64) []metrics.Point {
	mean := make([]metrics.Point, curves[0].Settings())
	at := make([]metrics.Point, len(mean))
	for _, c := range curves {
		quality, cost := c.First()
		c.Under(metrics.Point{Quality: dot(weights, quality), Cost: dot(weights, cost)}, weights, at)
		for j, p := range at {
			mean[j].Cost += p.Cost / float64(len(curves))
			mean[j].Quality += p.Quality / float64(len(curves))
		}
	}
	return mean
}

func dot(weights, column []float64) float64 {
	sum := 0.0
	for q, w := range weights {
		sum += w * column[q]
	}
	return sum
}

// duel is a row beside the reference, each held against the other at its own cost.
type duel struct {
	ours, theirs []bout
	reference    *rowMeans
}

// bout is some trainings of a row, and what they are held against.
type bout struct {
	portion
	rival rival
}

func (w *weighed) duel(row, reference *rowMeans) *duel {
	own := row.row.Own || reference.row.Own
	return &duel{w.bouts(row, reference, own), w.bouts(reference, row, own), reference}
}

// bouts divides the trainings of a row by the edge that each is held against; the other row is the mean of its trainings.
func (w *weighed) bouts(row, other *rowMeans, own bool) (out []bout) {
	o := w.offer(other, own)
	for _, p := range portions(w, row.row, row.all, func(at metrics.Point) metrics.Edge { return metrics.BestCoin(o.points, at.Cost).Edge }) {
		out = append(out, bout{p, w.rival(o, p.at.Cost)})
	}
	return out
}

// lead is how far a row lies above its rivals, averaged over its trainings. other is the operating point of the other row under the same weights.
func lead(bouts []bout, w *weighed, mean, other metrics.Point) float64 {
	sum := 0.0
	for _, b := range bouts {
		sum += b.share * b.rival.lead(w, b.under(w, mean), other)
	}
	return sum
}
