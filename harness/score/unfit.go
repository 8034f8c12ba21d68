// Lines of rows that could not be fitted: every number of theirs is undefined, for one reason.

package score

import (
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Unfit are the lines Route of the rows that could not be fitted, on every benchmark and on average.
func (s *Sample) Unfit() (out []metrics.Measurement) {
	queries := make([]int, len(s.Benchmarks))
	for _, q := range s.Question {
		queries[s.Strata[q]]++
	}
	sizes := s.Sizes()
	for _, u := range s.Arena.Unfit {
		r := Row{ID: u.ID}
		for b, bench := range s.Benchmarks {
			out = append(out, unfit(u, sizes[b], metrics.Accuracy, metrics.USD).line("Route", s.keys(r, "benchmark", bench.Name), queries[b]))
		}
		out = append(out, unfit(u, len(s.Strata), metrics.Accuracy, metrics.USDPerQuery, units.Retention, units.CostShare, units.HullGain, units.SavedCost).
			line("Route", s.keys(r, "benchmark", metrics.Average), len(s.Queries)))
	}
	return out
}

// Unfit are the lines of the rows that could not be fitted, on every stratum.
func (f *Folds) Unfit() (out []metrics.Measurement) {
	for _, u := range f.Arena.Unfit {
		for _, stratum := range f.Strata() {
			inside, _ := f.inside(stratum)
			out = append(out, unfit(u, len(inside), metrics.Accuracy, units.CostShare, units.HullGain, units.MeanGain).
				line("Route", metrics.Keys("pool", f.Pool, "method", u.ID, "benchmark", stratum), len(inside)))
		}
	}
	return out
}

// unfit says of a row how many questions there were, and why it has no other numbers.
func unfit(u book.Unfit, questions int, names ...string) Numbers {
	n := Numbers{Values: []metrics.Value{metrics.Rounded(float64(questions), metrics.Questions, 0)}}
	for _, unit := range names {
		n.Undefined = append(n.Undefined, metrics.Undefined{Unit: unit, Why: "the row could not be fitted: " + u.Why})
	}
	return n
}
