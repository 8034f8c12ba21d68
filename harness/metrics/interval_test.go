package metrics_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	. "github.com/entrorouter/entrorouter/harness/metrics"
)

func TestIntervalsByHand(t *testing.T) {
	many := math.MaxInt32 // questions, of which Student's t is normal
	for _, c := range []struct {
		name       string
		x          float64
		e          Evidence
		confidence float64
		low, high  float64
	}{
		// At 90% the tails are 5%, between order statistics.
		{"percentiles", 2, Evidence{Samples: []float64{4, 1, 3, 2, 0}, Questions: many}, 0.9, 0.2, 3.8},
		// t(1) at 75% is 1, and so much is left out by the normal: 15.866%.
		{"percentiles of two questions", 2, Evidence{Samples: []float64{4, 1, 3, 2, 0}, Questions: 2}, 0.5, 4 * 0.158655254, 4 * 0.841344746},
		{"one sample", 7, Evidence{Samples: []float64{7}, Questions: many}, 0.95, 7, 7},
		// Half a length of 1.8 and t(2) of 97.5%, 4.302653, times the root of 0.09.
		{"trainings", 2, Evidence{Samples: []float64{4, 1, 3, 2, 0}, Questions: many, Trainings: Mean{Variance: 0.04, DF: 2}}, 0.9,
			2 - math.Hypot(1.8, 2.91998558*0.2), 2 + math.Hypot(1.8, 2.91998558*0.2)},
		{"a training of no spread", 2, Evidence{Samples: []float64{4, 1, 3, 2, 0}, Questions: many, Trainings: Mean{DF: 2}}, 0.9, 0.2, 3.8},
		// Wilson of 30 of 30 with t(29) = 2.045230: 100 * 30/(30+t*t).
		{"all right", 100, Evidence{Samples: []float64{100, 100, 100}, Questions: 30, Range: Percent}, 0.95, 100 * 30 / (30 + 2.045229642*2.045229642), 100},
		{"all wrong", 0, Evidence{Samples: []float64{0, 0, 0}, Questions: 30, Range: Percent}, 0.95, 0, 100 * 2.045229642 * 2.045229642 / (30 + 2.045229642*2.045229642)},
		// The samples have the variance 100 = 10000/100 of 25 independent answers, more than 30 questions can have.
		{"a rate", 50, Evidence{Samples: []float64{40, 50, 60}, Questions: 30, Range: Percent}, 0.95,
			50 - 50*2.045229642/math.Sqrt(25+2.045229642*2.045229642), 50 + 50*2.045229642/math.Sqrt(25+2.045229642*2.045229642)},
		// Nothing was seen to differ: one more question of four runs has 100*100/4 of variance in a sum, 10000/4/900 in the mean.
		{"a difference of nothing", 0, Evidence{Samples: []float64{0, 0}, Questions: 30, Runs: 4, Range: PercentDifference}, 0.95,
			-100 * 2.045229642 / math.Sqrt(4*900+2.045229642*2.045229642), 100 * 2.045229642 / math.Sqrt(4*900+2.045229642*2.045229642)},
		{"no further than a rate can be", 99, Evidence{Samples: []float64{98, 99, 100}, Questions: 100, Range: Percent, Trainings: Mean{Variance: 4, DF: 3}}, 0.95, math.NaN(), 100},
		// Half of what trainings add is 2.91998558 times 0.7, more than 2; on the other side it is joined with 1.8.
		{"a cost is not negative", 2, Evidence{Samples: []float64{4, 1, 3, 2, 0}, Questions: many, Range: NotNegative, Trainings: Mean{Variance: 0.49, DF: 2}}, 0.9, 0, 2 + math.Hypot(1.8, 2.91998558*0.7)},
		{"no more than all of a cost is saved", 98, Evidence{Samples: []float64{96, 99, 97, 98, 100}, Questions: many, Range: UpToHundred, Trainings: Mean{Variance: 0.49, DF: 2}}, 0.9, 98 - math.Hypot(1.8, 2.91998558*0.7), 100},
		{"a number that is beyond its range", -2, Evidence{Samples: []float64{-4, -1, -3, -2, 0}, Questions: many, Range: ZeroToHundred}, 0.9, -2, -0.2},
		{"an AUC", 0.5, Evidence{Samples: []float64{0.4, 0.5, 0.6}, Questions: many, Range: ZeroToOne, Trainings: Mean{Variance: 1, DF: 2}}, 0.9, 0, 1},
		{"an accuracy of a curve", 50, Evidence{Samples: []float64{49, 50, 51}, Questions: many, Range: CurveAccuracy, Trainings: Mean{Variance: 900, DF: 2}}, 0.9, 0, 100},
		{"a curve that is right everywhere", 100, Evidence{Samples: []float64{100, 100, 100}, Questions: 30, Range: CurveAccuracy}, 0.95, 100 * 30 / (30 + 2.045229642*2.045229642), 100},
		{"a curve that is wrong somewhere", 98, Evidence{Samples: []float64{98, 98, 98}, Questions: 30, Range: CurveAccuracy}, 0.95, 98, 98},
	} {
		low, high, ok := c.e.Interval(c.x, c.confidence)
		if !ok {
			t.Errorf("%s: no interval", c.name)
		}
		if !math.IsNaN(c.low) {
			near(t, c.name+", low", low, c.low, 1e-5)
		}
		near(t, c.name+", high", high, c.high, 1e-5)
	}
}

// A statistic that some resamples do not define has no interval: none of them would be the 95% of anything.
func TestUndefinedNumbersHaveNoInterval(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name       string
		number     float64
		samples    []float64
		questions  int
		trainings  Mean
		confidence float64
		bounded    bool
	}{
		{"defined everywhere", 2, []float64{1, 2, 3}, 9, Mean{}, 0.95, true},
		{"no resamples", 2, nil, 9, Mean{}, 0.95, false},
		{"undefined in a resample", 2, []float64{1, nan, 3}, 9, Mean{}, 0.95, false},
		{"infinite in a resample", 2, []float64{1, inf, 3}, 9, Mean{}, 0.95, false},
		{"undefined", nan, []float64{1, 2, 3}, 9, Mean{}, 0.95, false},
		{"infinite", inf, []float64{1, 2, 3}, 9, Mean{}, 0.95, false},
		{"undefined in a training", 2, []float64{1, 2, 3}, 9, MeanOf([]float64{1, nan}), 0.95, false},
		{"of one question", 2, []float64{2, 2, 2}, 1, Mean{}, 0.95, false},
		{"confidence in percent", 2, []float64{1, 2, 3}, 9, Mean{}, 95, false},
	} {
		e := Evidence{Samples: c.samples, Questions: c.questions, Trainings: c.trainings}
		if v := Estimated(c.number, e, c.confidence, "x", 2); v.Bounded != c.bounded {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

// An interval of a mean with a range holds the number, stays inside the range, has a width, is the wider the less is known, and
// turns with the range.
func TestLawsOfIntervalsWithARange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(0, 100).Draw(t, "x")
		off := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 20).Draw(t, "off")
		e := Evidence{Questions: rapid.IntRange(2, 500).Draw(t, "questions"), Runs: rapid.IntRange(1, 16).Draw(t, "runs"), Range: Percent}
		turned := e
		for _, d := range off {
			s := x + d*min(x, 100-x)
			e.Samples, turned.Samples = append(e.Samples, s), append(turned.Samples, 100-s)
		}
		low, high, ok := e.Interval(x, 0.95)
		if !ok || low < 0 || high > 100 || low > x || high < x || high-low < 1e-6 {
			t.Fatalf("%v: [%v, %v], %v", x, low, high, ok)
		}
		if l, h, _ := turned.Interval(100-x, 0.95); math.Abs(l-(100-high)) > 1e-6 || math.Abs(h-(100-low)) > 1e-6 {
			t.Fatalf("[%v, %v] of the wrong ones, [%v, %v] of the right ones", l, h, low, high)
		}
		fewer := e
		fewer.Questions = (e.Questions + 3) / 2
		if l, h, _ := fewer.Interval(x, 0.95); fewer.Questions < e.Questions && h-l < high-low-1e-9 {
			t.Fatalf("of %d questions [%v, %v], of %d [%v, %v]", e.Questions, low, high, fewer.Questions, l, h)
		}
		several := e
		several.Trainings = Mean{Variance: rapid.Float64Range(0, 10).Draw(t, "variance"), DF: 3}
		if l, h, _ := several.Interval(x, 0.95); l > low+1e-9 || h < high-1e-9 {
			t.Fatalf("[%v, %v] without trainings, [%v, %v] with them", low, high, l, h)
		}
		e.Range = PercentDifference
		if low, high, ok := e.Interval(x, 0.95); !ok || low > x || high < x || high > 100 || high-low < 1e-6 {
			t.Fatalf("difference %v: [%v, %v], %v", x, low, high, ok)
		}
	})
}

// Two partitions of 10 and 14 into five folds: variance 8, times 1/2 + 1/4 of a mean over them.
func TestPartitionsAreNoIndependentTrainings(t *testing.T) {
	m := MeanOfPartitions([]float64{10, 14}, 5)
	near(t, "mean", m.Value, 12, 0)
	near(t, "variance", m.Variance, 8*(1./2+1./4), 1e-9)
	near(t, "degrees of freedom", m.DF, 1, 0)
	if one := MeanOfPartitions([]float64{10}, 5); one.DF != 0 {
		t.Errorf("one partition: %+v", one)
	}
}

// Partitions of 10 and 14, and of 1, 2 and 3, into five folds: a pooled variance of (8+2)/3, times 1/2 + 1/3 and 1/4 of each side.
func TestTwoSamplesOfPartitionsShareTheirQuestions(t *testing.T) {
	m := TwoSamplesOfPartitions([]float64{10, 14}, []float64{1, 2, 3}, 5)
	near(t, "mean", m.Value, 10, 1e-12)
	near(t, "variance", m.Variance, 10./3*(1./2+1./3+2./4), 1e-9)
	near(t, "degrees of freedom", m.DF, 3, 0)
	if one := TwoSamplesOfPartitions([]float64{10}, []float64{1}, 5); one.DF != 0 {
		t.Errorf("one partition each: %+v", one)
	}
}
