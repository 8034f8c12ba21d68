package metrics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestErrorsOfMeansByHand(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 && !(math.IsNaN(got) && math.IsNaN(want)) && got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// 1, 2, 3, 4: mean 2.5, variance 5/3, of the mean 5/12; 10 and 14: 12, 8, of the mean 4; 7 alone; none.
	by, average := Stratified([]int{0, 0, 1, 0, 1, 0, 2}, []float64{1, 2, 10, 3, 14, 4, 7}, []float64{3, 2, 5, 100})
	for i, want := range []Mean{{2.5, 5. / 12, 3}, {12, 4, 1}, {7, 0, 0}, {math.NaN(), 0, 0}} {
		near("mean", by[i].Value, want.Value)
		near("variance", by[i].Variance, want.Variance)
		near("degrees", by[i].DF, want.DF)
	}
	// Weights .3, .2, .5; variances .09*5/12 = .0375 of 3 degrees and .04*4 = .16 of 1.
	near("average", average.Value, .3*2.5+.2*12+.5*7)
	near("its variance", average.Variance, .1975)
	near("its degrees", average.DF, .1975*.1975/(.0375*.0375/3+.16*.16))
	// t(3) at 97.5% is 3.182446.
	near("95%", by[0].Half(.025), 3.182446305*math.Sqrt(5./12))
	near("one question", by[2].Half(.025), math.NaN())
	near("no spread", MeanOf([]float64{2, 2, 2}).Half(.025), 0)
	// Sums of squares 2 and 8, 4 degrees: variance 2.5 * (1/3 + 1/3).
	two := TwoSample([]float64{1, 2, 3}, []float64{2, 4, 6})
	near("difference", two.Value, -2)
	near("its variance", two.Variance, 2.5*2/3)
	near("its degrees", two.DF, 4)
	if one := TwoSample([]float64{1}, []float64{2}); one.DF != 0 {
		t.Errorf("one training on each side has %v degrees", one.DF)
	}
	if one := TwoSample([]float64{1}, []float64{2, 4}); one.DF != 1 || one.Variance != 2*1.5 {
		t.Errorf("one training against two: %+v", one)
	}
	// t(4) at 97.5% is 2.776445, of 8 degrees 2.306004.
	near("two errors", HalfOf(.025, Mean{5, 1, 4}, Mean{9, 2, 8}), math.Hypot(2.776445105, 2.306004135*math.Sqrt2))
	near("one that is not known", HalfOf(.025, Mean{5, 1, 4}, Mean{}), math.NaN())
}

// The interval of a mean difference covers 0 at least as often as it says, for normal questions and seeds; 3 standard
// errors slack.
func TestIntervalsOfPairedDifferencesCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const reps, questions, seeds = 2000, 12, 4
	covered := 0
	for range reps {
		strata, d := make([]int, questions), make([]float64, questions)
		for q := range d {
			strata[q] = q % 2
			d[q] = rng.NormFloat64() * float64(1+q%2)
		}
		var ours, theirs []float64
		for range seeds {
			ours, theirs = append(ours, .3*rng.NormFloat64()), append(theirs, .3*rng.NormFloat64())
		}
		shift := MeanOf(ours).Value - MeanOf(theirs).Value
		for q := range d {
			d[q] += shift
		}
		_, m := Stratified(strata, d, []float64{1, 1})
		if math.Abs(m.Value) <= HalfOf(.025, m, TwoSample(ours, theirs)) {
			covered++
		}
	}
	if rate := float64(covered) / reps; rate < .95-3*math.Sqrt(.95*.05/reps) {
		t.Errorf("95%% intervals cover %.1f%% of the time", 100*rate)
	}
}

// A coin between two experts has one difference on all questions but for a factor, so its trainings are all that can tell
// noise from a move. Far out in the tail, where many numbers are looked at, two trainings on each side hardly can.
func TestTwoTrainingsThatAreAlikeAreNoProof(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const reps, questions = 4000, 700
	alarms := 0
	contrast, strata := make([]float64, questions), make([]int, questions)
	for q := range contrast {
		contrast[q] = .5 + rng.NormFloat64()
	}
	for range reps {
		ours, theirs := []float64{rng.NormFloat64(), rng.NormFloat64()}, []float64{rng.NormFloat64(), rng.NormFloat64()}
		coin := TwoSample(ours, theirs)
		d := make([]float64, questions)
		for q := range d {
			d[q] = coin.Value * contrast[q]
		}
		_, m := Stratified(strata, d, []float64{1})
		for i := range 2 {
			ours[i], theirs[i] = .5*ours[i], .5*theirs[i]
		}
		if math.Abs(m.Value) > HalfOf(.0005, m, TwoSample(ours, theirs)) {
			alarms++
		}
	}
	if rate := float64(alarms) / reps; rate > .001+3*math.Sqrt(.001/reps) {
		t.Errorf("%.2f%% of reruns alarm, at a nominal 0.1%%", 100*rate)
	}
}
