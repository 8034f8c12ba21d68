package harness

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Strata of the routing distribution (section 5.2 of the paper): by m_best of a test problem, from profile rollouts
// of their own, so that the rollouts that are scored do not decide the stratum.
var strata = [...]string{"easy", "medium", "hard"}

func stratum(best, experts int) int {
	switch best {
	case 0:
		return 0
	case experts - 1:
		return 2
	}
	return 1
}

// strataOf returns the stratum of each question, given its m_best.
func strataOf(best []int, experts int) []int {
	of := make([]int, len(best))
	for q, m := range best {
		of[q] = stratum(m, experts)
	}
	return of
}

// measureStrata computes the lines of the routing distribution; of is the stratum of each question. Resamples draw the
// questions of each stratum apart.
func (e *engine) measureStrata(a *book.Arena, rows []scored, of []int) []metrics.Measurement {
	per := 2 + len(e.experts) // dollars, then the share of each expert and of the router's own answers
	tracks := make([][]float64, 0, len(rows)*per)
	for _, r := range rows {
		tracks = append(tracks, r.mean(usdOf))
		for m := range e.experts {
			tracks = append(tracks, r.mean(func(c book.Scores) []float64 {
				share := make([]float64, len(c.Chosen))
				for q := range share {
					share[q] = 100 * c.Chosen[q][m]
				}
				return share
			}))
		}
		tracks = append(tracks, r.mean(func(c book.Scores) []float64 {
			own := c.Own()
			for q := range own {
				own[q] *= 100
			}
			return own
		}))
	}
	size := make([]float64, len(strata))
	for _, k := range of {
		size[k]++
	}
	x := &e.spec.Experiment
	point, samples := metrics.Bootstrap(of, x.Evaluate.Bootstrap, uint64(seed.Seed(x.Seed).Derive("bootstrap", a.Name, "difficulty")), len(tracks)*len(strata), func(w, out []float64) {
		clear(out)
		for i, track := range tracks {
			for q, v := range track {
				out[i*len(strata)+of[q]] += w[q] * v / size[of[q]]
			}
		}
	})
	value := func(i, k int, unit string, decimals int) metrics.Value {
		at := i*len(strata) + k
		v := metrics.Rounded(point[at], unit, decimals)
		if x.Evaluate.Bootstrap > 0 {
			low, high := metrics.Interval(samples[at], x.Evaluate.Confidence)
			v = v.Within(low, high)
		}
		return v
	}
	var out []metrics.Measurement
	for i, r := range rows {
		for k, name := range strata {
			n := int(size[k])
			if n == 0 {
				continue
			}
			keys := []metrics.Key{
				{Name: "pool", Value: e.poolSpec.Name}, {Name: "arena", Value: a.Name},
				{Name: "method", Value: r.method.RowID()}, {Name: "stratum", Value: name},
			}
			out = append(out, metrics.Measurement{Name: "Difficulty", Keys: keys, N: n, Values: []metrics.Value{
				value(i*per, k, metrics.USDPerQuery, 8), metrics.Rounded(size[k], metrics.Questions, 0)}})
			for m := range e.experts {
				out = append(out, metrics.Measurement{Name: "Share", Keys: append(slices.Clone(keys), metrics.Key{Name: "expert", Value: e.experts[m].ID}), N: n,
					Values: []metrics.Value{value(i*per+1+m, k, report.Share, 2)}})
			}
			if methods.AnswersItself(r.method.Name) {
				out = append(out, metrics.Measurement{Name: "Share", Keys: append(slices.Clone(keys), metrics.Key{Name: "expert", Value: selfID}), N: n,
					Values: []metrics.Value{value(i*per+1+len(e.experts), k, report.Share, 2)}})
			}
		}
	}
	return out
}
