// Intervals: what resamples of questions and single trainings say of how far off a number may be.

package metrics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// FewestQuestions is below what an interval over questions means little.
const FewestQuestions = 30

// Range is which values a number can have: no interval reaches beyond them. Of a mean over questions it is which values one question can have, and
// an interval counts with questions that were not drawn: 30 questions that are all right do not say that the 31st is.
type Range int

const (
	Unbounded         Range = iota
	Percent                 // 0 to 100, a mean over questions, as an accuracy
	PercentDifference       // -100 to 100, a mean over questions, as a difference of two accuracies
	NotNegative             // from 0, as a cost
	UpToHundred             // to 100, as what is saved of a cost in percent
	ZeroToOne               // as an AUC
	ZeroToHundred           // as a share of a cost in percent
	CurveAccuracy           // 0 to 100, as an accuracy where a curve comes to a cost: a mean over questions of several settings
)

// limits are the least and the most that a value of each range can be.
var limits = [...]struct{ least, most float64 }{
	Unbounded: {math.Inf(-1), math.Inf(1)}, Percent: {0, 100}, PercentDifference: {-100, 100}, NotNegative: {0, math.Inf(1)},
	UpToHundred: {math.Inf(-1), 100}, ZeroToOne: {0, 1}, ZeroToHundred: {0, 100}, CurveAccuracy: {0, 100},
}

func (r Range) ends() (least, most float64) { return limits[r].least, limits[r].most }

// ofQuestions says whether the number is a mean over questions, each of which has a value of the range.
func (r Range) ofQuestions() bool { return r == Percent || r == PercentDifference }

// atEnd says whether a number and all of its resamples are at one end of the range.
func (e Evidence) atEnd(x float64) bool {
	least, most := e.Range.ends()
	off := func(s float64) bool { return math.Abs(s-x) > 1e-9 }
	return (!off(least) || !off(most)) && !slices.ContainsFunc(e.Samples, off)
}

// Evidence is what an interval is made of.
type Evidence struct {
	Samples   []float64 // the number in resamples of the questions
	Questions int       // behind the number; of fewer than two there is no interval
	Runs      int       // of a question, at least 1
	Range     Range
	Trainings Mean // of single trainings, for the error that they add; DF 0: there is one, and its error is in no interval
}

// unseen is the variance, in squares of the range, that questions add to a sum because few of them may be all that tell
// them apart. With less, intervals of rates near 1 over few questions of many runs cover too seldom: TestIntervalsCover of
// package score is what it was set by.
const unseen = 1. / 8

// Interval returns the interval of the number x at the given confidence (0.95 leaves 2.5% on either side). ok is false if there
// is none: no resample, one in which the number is not defined, a training in which it is not, or fewer than two questions.
//
// It combines two errors, each on its own side of x, by the root of the sum of squares:
//
//   - questions: the percentiles of the resamples, at the tails of Student's t of one degree of freedom less than there are
//     questions (Hesterberg 2015). Of a mean over questions with a range it is Wilson's interval (1927) instead, at the number of
//     independent answers that have the variance of the resamples, which never has the ends of a rate of 0 or 1 coincide. So it is of the
//     accuracy of a curve that is 0 or 100 in all of them.
//   - trainings: Student's t of their mean (Mean.Half).
//
// Where trainings differ question by question both have that part of the spread, so such intervals are rather too wide.
func (e Evidence) Interval(x, confidence float64) (low, high float64, ok bool) {
	if len(e.Samples) == 0 || e.Questions < 2 || !(confidence > 0 && confidence < 1) || !finite(x) || slices.ContainsFunc(e.Samples, func(s float64) bool { return !finite(s) }) {
		return 0, 0, false
	}
	tail := (1 - confidence) / 2
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.Questions - 1)}.Quantile(1 - tail)
	least, most := e.Range.ends()
	if e.Range.ofQuestions() || e.Range == CurveAccuracy && e.atEnd(x) {
		low, high = e.wilson(x, t)
	} else {
		low, high = percentiles(e.Samples, distuv.UnitNormal.CDF(-t))
	}
	if e.Trainings.DF > 0 {
		half := e.Trainings.Half(tail)
		if math.IsNaN(half) {
			return 0, 0, false
		}
		if half > 0 {
			low, high = x-math.Hypot(max(x-low, 0), half), x+math.Hypot(max(high-x, 0), half)
		}
	}
	// A number of odd experts, the cheapest of whom costs more than the strongest, may be beyond what others can be.
	return max(low, min(least, x)), min(high, max(most, x)), true
}

// wilson is the score interval of a mean of values in a range, t standard errors wide on either side.
func (e Evidence) wilson(x, t float64) (low, high float64) {
	least, most := e.Range.ends()
	p, n := min(max((x-least)/(most-least), 0), 1), float64(e.Questions)
	if spread := p * (1 - p); spread > 1e-12 { // otherwise a question is one answer
		variance := 0.0
		if len(e.Samples) > 1 {
			variance = stat.Variance(e.Samples, nil) / square(most-least)
		}
		if e.Range == Percent {
			// No more than of questions whose runs are all right or all wrong.
			variance = max(variance, min(variance+unseen/square(n), spread/n))
		} else {
			// One more question, whose runs are flips of a coin.
			variance += 1 / (4 * float64(max(e.Runs, 1)) * square(n))
		}
		n = spread / variance
	}
	middle := (p + t*t/(2*n)) / (1 + t*t/n)
	half := t / (1 + t*t/n) * math.Sqrt(p*(1-p)/n+square(t/(2*n)))
	// Rounding aside, the number is inside, and the end of a rate of 0 or 1 is that rate.
	return min(least+(most-least)*(middle-half), x), max(least+(most-least)*(middle+half), x)
}

// percentiles leave so much out on either side, interpolated between order statistics (type 7 of Hyndman and Fan 1996).
func percentiles(samples []float64, tail float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(samples))
	return quantile(sorted, tail), quantile(sorted, 1-tail)
}

func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := min(int(at), len(sorted)-1)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// MeanOfPartitions is the mean of a number over partitions of the same questions into so many folds, or over these folds. They share
// all questions and most of what routers learn from, so the variance of their mean is not that of independent
// trainings: Nadeau and Bengio (2003) add the test questions over the training questions of a fold to one over the number
// of partitions, and so do we. It is more than the spread of partitions shows, since all of them have one draw of questions.
func MeanOfPartitions(values []float64, folds int) Mean {
	m := MeanOf(values)
	n := float64(len(values))
	m.Variance *= 1 + n/float64(max(folds-1, 1))
	return m
}

// TwoSamplesOfPartitions is the difference of the means of a number over two samples of partitions of the same questions into so many
// folds: TwoSample with what MeanOfPartitions adds, for both samples.
func TwoSamplesOfPartitions(ours, theirs []float64, folds int) Mean {
	m := TwoSample(ours, theirs)
	shared, own := 2/float64(max(folds-1, 1)), 1/float64(len(ours))+1/float64(len(theirs))
	m.Variance *= 1 + shared/own
	return m
}

// Estimated is a rounded number with its interval, none if the evidence has none.
func Estimated(x float64, e Evidence, confidence float64, unit string, decimals int) Value {
	v := Rounded(x, unit, decimals)
	if low, high, ok := e.Interval(x, confidence); ok {
		return v.Within(low, high)
	}
	return v
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
