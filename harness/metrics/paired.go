// Means with known errors, and Student's intervals of their sums and differences.

package metrics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Mean is an estimate of a mean with what is known of its error.
type Mean struct {
	Value    float64
	Variance float64 // of Value
	DF       float64 // degrees of freedom of Variance; 0: the error is not known, +Inf: it is exactly Variance
}

// MeanOf is the mean of a sample and the variance that its spread gives it. Of one value the error is not known.
func MeanOf(values []float64) Mean {
	n := float64(len(values))
	m := Mean{DF: max(n-1, 0)}
	for _, v := range values {
		m.Value += v / n
	}
	if n > 1 {
		for _, v := range values {
			m.Variance += square(v-m.Value) / (n - 1) / n
		}
	}
	return m
}

// Stratified returns the mean of the questions of every stratum and the average over strata, in which a stratum counts
// with its share. strata is [P], values is [P], one a question: the runs of a question are averaged before, so that the
// question is the unit (cluster) of the error. Differences between two sides on the same questions make it a paired
// comparison. shares is [strata] and need not sum to 1. A stratum of one question has no error of its own and adds none
// to the average, as in Resample; one without questions is NaN and is left out of the average.
func Stratified(strata []int, values, shares []float64) (by []Mean, average Mean) {
	of := make([][]float64, len(shares))
	for p, v := range values {
		of[strata[p]] = append(of[strata[p]], v)
	}
	total := 0.0
	for b, values := range of {
		by = append(by, MeanOf(values))
		if len(values) > 0 {
			total += shares[b]
		} else {
			by[b].Value = math.NaN()
		}
	}
	errors := []Mean{}
	for b, m := range by {
		if len(of[b]) == 0 {
			continue
		}
		w := shares[b] / total
		average.Value += w * m.Value
		errors = append(errors, Mean{Variance: w * w * m.Variance, DF: m.DF})
	}
	average.Variance, average.DF = sumOfErrors(errors)
	return by, average
}

// sumOfErrors adds variances; the degrees of freedom of the sum are Satterthwaite's (1946). Parts without variance take
// none away.
func sumOfErrors(parts []Mean) (variance, df float64) {
	below, known := 0.0, false
	for _, p := range parts {
		if p.DF == 0 {
			continue
		}
		known = true
		variance += p.Variance
		below += square(p.Variance) / p.DF
	}
	switch {
	case !known:
		return 0, 0
	case below == 0:
		return variance, math.Inf(1)
	}
	return variance, square(variance) / below
}

// Half is half the width of the two-sided interval with the given tail on either side, by Student's t: 0.025 for 95%. It
// is NaN if the error is not known.
func (m Mean) Half(tail float64) float64 {
	switch {
	case m.DF == 0:
		return math.NaN()
	case m.Variance == 0:
		return 0
	case math.IsInf(m.DF, 1):
		return distuv.UnitNormal.Quantile(1-tail) * math.Sqrt(m.Variance)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m.DF}.Quantile(1-tail) * math.Sqrt(m.Variance)
}

// HalfOf is half the width of the two-sided interval of a number with independent errors, each known on its own: the root
// of the sum of the squares of their halves. Degrees of freedom are not pooled: two trainings that happen to be alike would
// make the spread of trainings vanish beside that of questions, degrees of freedom and all.
func HalfOf(tail float64, errors ...Mean) float64 {
	half := 0.0
	for _, e := range errors {
		half = math.Hypot(half, e.Half(tail))
	}
	return half
}

// TwoSample is the difference of the means of two independent samples with one spread, ours minus theirs: the pooled
// variance, of as many degrees of freedom as there are values less two.
func TwoSample(ours, theirs []float64) Mean {
	a, b := MeanOf(ours), MeanOf(theirs)
	n, m := float64(len(ours)), float64(len(theirs))
	out := Mean{Value: a.Value - b.Value, DF: max(n+m-2, 0)}
	if out.DF > 0 {
		within := a.Variance*n*max(n-1, 0) + b.Variance*m*max(m-1, 0) // sums of squares
		out.Variance = within / out.DF * (1/n + 1/m)
	}
	return out
}

func square(x float64) float64 { return x * x }
