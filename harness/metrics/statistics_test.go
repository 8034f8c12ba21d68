package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	. "github.com/entrorouter/entrorouter/harness/metrics"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= tolerance) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestResamplesKeepTheSizeOfEveryStratum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strata := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 30).Draw(t, "strata")
		size := make(map[int]float64)
		for _, s := range strata {
			size[s]++
		}
		Resample(strata, 5, rapid.Uint64().Draw(t, "seed"), func(weights []float64) {
			got := make(map[int]float64)
			for p, w := range weights {
				got[strata[p]] += w
			}
			for s, n := range size {
				if got[s] != n {
					t.Fatalf("stratum %d weighs %v, holds %v questions", s, got[s], n)
				}
			}
		})
	})
}

// Two questions, one right: the mean of a resample is 0, 50 or 100 with chances 1/4, 1/2, 1/4, so its exact
// standard deviation is 100*sqrt(1/8). A second stratum of three equal questions adds nothing.
func TestBootstrapAgreesWithTheExactDistribution(t *testing.T) {
	column := []float64{100, 0, 50, 50, 50}
	const b = 40000
	point, samples := Bootstrap([]int{0, 0, 1, 1, 1}, b, 7, 2, func(weights, out []float64) {
		out[0] = WeightedMean(column[:2], weights[:2])
		out[1] = WeightedMean(column, weights)
	})
	near(t, "mean of the sample", point[0], 50, 0)
	near(t, "mean over both strata", point[1], 50, 0)
	share := map[float64]float64{}
	for _, x := range samples[0] {
		share[x]++
	}
	for x, want := range map[float64]float64{0: 0.25, 50: 0.5, 100: 0.25} {
		near(t, fmt.Sprintf("share of resamples with mean %v", x), share[x]/b, want, 4*math.Sqrt(want*(1-want)/b))
	}
	near(t, "standard error", StandardError(samples[0]), 100*math.Sqrt(1./8), 0.3)
	near(t, "standard error over both strata", StandardError(samples[1]), 100*math.Sqrt(1./8)*2/5, 0.12)
	low, high := Interval(samples[0], 0.95)
	if low != 0 || high != 100 {
		t.Errorf("interval [%v, %v], want [0, 100]", low, high)
	}
}

func TestMethodsShareTheirResamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 200
	a, b := make([]float64, n), make([]float64, n)
	strata := make([]int, n)
	for p := range a {
		a[p] = 100 * float64(rng.IntN(2))
		b[p] = a[p] - 1
		strata[p] = p % 3
	}
	_, samples := Bootstrap(strata, 100, 3, 2, func(w, out []float64) {
		out[0], out[1] = WeightedMean(a, w), WeightedMean(b, w)
	})
	for i := range samples[0] {
		near(t, "difference of two methods that differ by 1 everywhere", samples[0][i]-samples[1][i], 1, 1e-9)
	}
	_, again := Bootstrap(strata, 100, 3, 1, func(w, out []float64) { out[0] = WeightedMean(a, w) })
	if !slices.Equal(again[0], samples[0]) {
		t.Error("the same seed gave other resamples")
	}
	_, other := Bootstrap(strata, 100, 4, 1, func(w, out []float64) { out[0] = WeightedMean(a, w) })
	if slices.Equal(other[0], samples[0]) {
		t.Error("another seed gave the same resamples")
	}
}

func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		name       string
		samples    []float64
		confidence float64
		low, high  float64
	}{
		{"interpolates between order statistics", []float64{4, 1, 3, 2, 0}, 0.9, 0.2, 3.8},
		{"one sample", []float64{7}, 0.95, 7, 7},
		{"no sample", nil, 0.95, math.NaN(), math.NaN()},
		{"an undefined sample spoils it", []float64{1, math.NaN()}, 0.95, math.NaN(), math.NaN()},
		{"confidence in percent", []float64{1, 2}, 95, math.NaN(), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			low, high := Interval(c.samples, c.confidence)
			near(t, "low", low, c.low, 1e-12)
			near(t, "high", high, c.high, 1e-12)
		})
	}
}

func TestAverages(t *testing.T) {
	near(t, "micro average", MicroAverage([]float64{100, 50}, []int{1, 3}), 62.5, 0)
	near(t, "macro average", MacroAverage([]float64{100, 50}), 75, 0)
	near(t, "weighted mean without weight", WeightedMean([]float64{1}, []float64{0}), math.NaN(), 0)
}

func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{
		{0, 0, 1},
		{5, 5, 1},
		{0, 1, 1},
		{0, 5, 2. / 32},
		{1, 8, 2 * (1 + 9) / 512.},
		{8, 1, 2 * (1 + 9) / 512.},
		{400, 500, 9.56e-4}, // normal approximation with continuity correction: 9.7e-4
	} {
		near(t, fmt.Sprintf("McNemar(%d, %d)", c.b, c.c), McNemar(c.b, c.c), c.want, 1e-5)
	}
}

// Weak (1, 60), middle (2, 70) below the line to strong (4, 100), and one dominated point.
func TestHullByHand(t *testing.T) {
	weak, middle, strong, waste := Point{1, 60}, Point{2, 70}, Point{4, 100}, Point{5, 90}
	hull := UpperHull([]Point{strong, waste, middle, weak, weak})
	if want := (Hull{weak, strong}); !slices.Equal(hull, want) {
		t.Fatalf("hull %v, want %v", hull, want)
	}
	for _, c := range []struct{ cost, want float64 }{
		{0, 0}, {0.5, 30}, {1, 60}, {2, 60 + 40./3}, {4, 100}, {9, 100}, {-1, 0},
	} {
		near(t, fmt.Sprintf("hull at %v", c.cost), hull.At(c.cost), c.want, 1e-12)
	}
	near(t, "gain of the middle expert", hull.Gain(middle), 70-60-40./3, 1e-12)
	near(t, "gain of a vertex", hull.Gain(strong), 0, 0)
	near(t, "an empty hull", UpperHull(nil).At(1), 0, 0)
	near(t, "a free expert", UpperHull([]Point{{0, 10}}).At(0), 10, 0)
}

func TestHullLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Point {
			return Point{float64(rapid.IntRange(0, 20).Draw(t, "cost")), float64(rapid.IntRange(0, 20).Draw(t, "quality"))}
		}), 1, 10).Draw(t, "points")
		hull := UpperHull(points)
		for i := 1; i < len(hull); i++ {
			if hull[i].Cost <= hull[i-1].Cost || hull[i].Quality <= hull[i-1].Quality {
				t.Fatalf("vertices do not rise: %v", hull)
			}
		}
		for _, p := range points {
			if hull.Gain(p) > 1e-9 {
				t.Fatalf("%v lies %v above the hull %v of its own points", p, hull.Gain(p), hull)
			}
		}
		a, b := points[0], points[len(points)-1]
		mix := Point{(a.Cost + b.Cost) / 2, (a.Quality + b.Quality) / 2}
		if hull.Gain(mix) > 1e-9 {
			t.Fatalf("a coin flip between %v and %v beats the hull by %v", a, b, hull.Gain(mix))
		}
	})
}

func TestHullGainsTakeMeansUnderTheSameWeights(t *testing.T) {
	quality := [][]float64{{0, 100, 0}, {100, 100, 0}}
	cost := [][]float64{{1, 1, 1}, {3, 3, 3}}
	router := [][]float64{{100, 100, 0}} // the cheap expert on question 1, the dear one on question 0
	paid := [][]float64{{3, 1, 1}}
	gains := make([]float64, 1)
	HullGains([]float64{1, 1, 0}, quality, cost, router, paid, gains)
	near(t, "gain with question 2 left out", gains[0], 100-75, 1e-12) // hull at cost 2 between (1,50) and (3,100)
	HullGains([]float64{1, 1, 2}, quality, cost, router, paid, gains)
	near(t, "gain with question 2 twice", gains[0], 50-(25+0.25*25), 1e-12) // mean cost 1.5, hull (1,25) to (3,50)
}

func TestScoresByHand(t *testing.T) {
	weak, strong := Point{0, 60}, Point{10, 80}
	sweep := []Point{{10, 80}, {5, 75}, {0, 60}}
	near(t, "PGR", PGR(75, 60, 80), 0.75, 1e-12)
	near(t, "PGR of equal experts", PGR(75, 60, 60), math.NaN(), 0)
	near(t, "retention", Retention(75, 80), 0.9375, 0)
	near(t, "saving", Saving(5, 10), 0.5, 0)
	near(t, "oracle gap", OracleGap(75, 90), 15, 0)
	near(t, "AIQ", AIQ(sweep), (5*67.5+5*77.5)/10, 1e-12)
	near(t, "AIQ ignores points below the hull", AIQ(append(slices.Clone(sweep), Point{7, 10})), 72.5, 1e-12)
	near(t, "AIQ of one point", AIQ([]Point{{3, 70}}), 70, 0)
	near(t, "AIQ of none", AIQ(nil), math.NaN(), 0)
	near(t, "AIQ as the code computes it", AIQCompat([]Point{{2, 50}, {4, 70}}, 10), (2*60+6*70)/10., 1e-12)
	near(t, "APGR", APGR(sweep, weak, strong), 0.5*0.375+0.5*0.875, 1e-12)
	near(t, "APGR of one point at half the cost", APGR([]Point{{5, 70}}, weak, strong), 0.5, 1e-12)
	near(t, "APGR of points outside the range", APGR([]Point{{-10, 60}, {20, 80}}, weak, strong), 0.5, 1e-12)
	near(t, "CPT between points", CPT(sweep, weak, strong, 0.375), 0.25, 1e-12)
	near(t, "CPT at the first point", CPT([]Point{{4, 80}}, weak, strong, 0.5), 0.4, 1e-12)
	near(t, "CPT never reached", CPT([]Point{{4, 61}}, weak, strong, 0.5), math.NaN(), 0)
	near(t, "QNC", QNC(append(sweep, Point{8, 81}), strong), 0.8, 1e-12)
	near(t, "QNC never reached", QNC([]Point{{1, 1}}, strong), math.Inf(1), 0)
}

func TestInformationByHand(t *testing.T) {
	near(t, "entropy of a fair coin", Entropy([]float64{5, 5}), math.Ln2, 1e-12)
	near(t, "entropy of certainty", Entropy([]float64{0, 3}), 0, 0)
	near(t, "entropy of nothing", Entropy(nil), 0, 0)
	near(t, "mutual information of a copy", MutualInformation([][]float64{{3, 0}, {0, 3}}), math.Ln2, 1e-12)
	near(t, "mutual information of independence", MutualInformation([][]float64{{1, 2}, {2, 4}}), 0, 1e-12)
	near(t, "ECE", ECE([]float64{0.05, 0.05, 0.95, 1}, []float64{0, 1, 1, 1}, 10), (2*0.45+0.05)/4, 1e-12)
	near(t, "Brier", Brier([]float64{1, 0.5}, []float64{1, 0}), 0.125, 1e-12)
	near(t, "AUC of a perfect score", AUC([]float64{3, 1, 2}, []bool{true, false, true}), 1, 0)
	near(t, "AUC of ties", AUC([]float64{1, 1, 1, 0}, []bool{true, false, true, false}), 0.75, 1e-12)
	near(t, "AUC of one class", AUC([]float64{1, 2}, []bool{true, true}), math.NaN(), 0)
	near(t, "AUC of an undefined score ends", AUC([]float64{math.NaN(), 2}, []bool{true, false}), 0, 0)
}
