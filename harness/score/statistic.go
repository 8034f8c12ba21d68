// Numbers as entries of lists, computed on the sample and on one set of resamples.

package score

import (
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Statistic is a number about subjects, seen through views of type V.
type Statistic[V any] struct {
	Unit     string
	Decimals int
	Of       func(V) float64 // NaN where it is not defined
	For      func(V) bool    // whom it is about; nil: every subject
	Without  string          // what is missing where it is not defined: "the strongest expert solved nothing"
	Whole    bool            // a number of the sample as it is, without an interval
	Range    metrics.Range   // of the values of questions, if it is a mean of them
	Known    func(V) bool    // it is what it is whatever is drawn: the interval has no width; nil: never
}

// subject is what a statistic with an interval is about.
type subject[V any] interface {
	asked() (questions, runs int)       // behind its numbers; the runs of every question
	trainings() []V                     // single trainings of it; nil: there is one
	spread(each []float64) metrics.Mean // over trainings, of a number that each of them has
}

// about narrows statistics down to some subjects.
func about[V any](who func(V) bool, list []Statistic[V]) []Statistic[V] {
	out := make([]Statistic[V], len(list))
	for k, s := range list {
		of := s.For
		s.For = func(v V) bool { return who(v) && (of == nil || of(v)) }
		out[k] = s
	}
	return out
}

// Numbers are the statistics of one subject, in the order of their list.
type Numbers struct {
	Values    []metrics.Value
	Undefined []metrics.Undefined
}

// line makes a measurement of numbers and more values.
func (n Numbers) line(name string, keys []metrics.Key, queries int, more ...metrics.Value) metrics.Measurement {
	return metrics.Measurement{Name: name, Keys: keys, N: queries, Values: append(n.Values, more...), Undefined: n.Undefined}
}

// Resampling says how intervals are made.
type Resampling struct {
	Resamples  int     // 0: no intervals
	Confidence float64 // 0.95 leaves 2.5% on either side
	Seed       seed.Seed

	Stop <-chan struct{} // closed: the numbers are not wanted any more and mean nothing; nil: they are
}

// derive returns the resampling of one kind of lines, whose draws depend on the seed and on what they are named.
func (r Resampling) derive(names ...any) Resampling {
	r.Seed = r.Seed.Derive(append([]any{"bootstrap"}, names...)...)
	return r
}

// estimate computes the statistics of a list for every subject, on the sample and on one set of resamples. strata is [P],
// as metrics.Resample takes it. views is called by all cores at once and gives, for each of several sets of weights [P], the
// views of all subjects, in an order that does not depend on the weights. Whom a statistic is about is asked of the sample alone.
// The spread of single trainings, on the sample, is in the intervals.
func estimate[V subject[V]](list []Statistic[V], strata []int, r Resampling, views func(weights [][]float64) [][]V) []Numbers {
	type number struct{ subject, entry int }
	sample := views([][]float64{slices.Repeat([]float64{1}, len(strata))})[0]
	var resampled []number
	for i, view := range sample {
		for k, s := range list {
			if !s.Whole && (s.For == nil || s.For(view)) {
				resampled = append(resampled, number{i, k})
			}
		}
	}
	point, samples := metrics.BootstrapParallel(r.Stop, strata, r.Resamples, uint64(r.Seed), len(resampled), func(weights, out [][]float64) {
		of := views(weights)
		for at, p := range resampled {
			for i := range out {
				out[i][at] = list[p.entry].Of(of[i][p.subject])
			}
		}
	})
	trainings := make([][]V, len(sample))
	if r.Resamples > 0 {
		for i, view := range sample {
			trainings[i] = view.trainings()
		}
	}
	at := 0
	return collect(list, sample, func(view V, s Statistic[V]) metrics.Value {
		if s.Whole {
			return metrics.Rounded(s.Of(view), s.Unit, s.Decimals)
		}
		x, of := point[at], resampled[at].subject
		e := metrics.Evidence{Samples: samples[at], Range: s.Range}
		at++
		if s.Known != nil && s.Known(view) && len(e.Samples) > 0 {
			return metrics.Rounded(x, s.Unit, s.Decimals).Within(x, x)
		}
		e.Questions, e.Runs = view.asked()
		if trainings[of] != nil {
			each := make([]float64, len(trainings[of]))
			for k, t := range trainings[of] {
				each[k] = s.Of(t)
			}
			e.Trainings = view.spread(each)
		}
		return metrics.Estimated(x, e, r.Confidence, s.Unit, s.Decimals)
	})
}

// oneByOne makes views under several sets of weights of those under one.
func oneByOne[V any](views func(weights []float64) []V) func(weights [][]float64) [][]V {
	return func(weights [][]float64) (all [][]V) {
		for _, w := range weights {
			all = append(all, views(w))
		}
		return all
	}
}

// whole computes statistics of single views as they are, without intervals.
func whole[V any](list []Statistic[V], views ...V) []Numbers {
	return collect(list, views, func(view V, s Statistic[V]) metrics.Value {
		return metrics.Rounded(s.Of(view), s.Unit, s.Decimals)
	})
}

// collect reads off the value of every statistic that is about a subject.
func collect[V any](list []Statistic[V], subjects []V, value func(V, Statistic[V]) metrics.Value) []Numbers {
	out := make([]Numbers, len(subjects))
	for i, view := range subjects {
		for _, s := range list {
			if s.For != nil && !s.For(view) {
				continue
			}
			v := value(view, s)
			if math.IsNaN(v.Number) || math.IsInf(v.Number, 0) {
				out[i].Undefined = append(out[i].Undefined, metrics.Undefined{Unit: s.Unit, Why: s.Without})
				continue
			}
			out[i].Values = append(out[i].Values, v)
		}
	}
	return out
}

// deviation is the sample standard deviation.
func deviation(x []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}
