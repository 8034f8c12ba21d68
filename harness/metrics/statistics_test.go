package metrics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
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
		Resample(strata, 5, rapid.Uint64().Draw(t, "seed"), nil, func(weights []float64) {
			got := make(map[int]float64)
			for p, w := range weights {
				got[strata[p]] += w
			}
			for s, n := range size {
				if math.Abs(got[s]-n) > 1e-9 {
					t.Fatalf("stratum %d weighs %v, holds %v questions", s, got[s], n)
				}
			}
		})
	})
}

// Of three questions two are drawn, so the mean of a resample of 100, 0 and 50 is one of 0, 25, 50, 75 and 100 with chances
// 1/9, 2/9, 3/9, 2/9 and 1/9. Its variance is 833.3, the unbiased one of a mean of three (2500/3). A second stratum of equal
// questions adds nothing, nor does one of a single question.
func TestBootstrapAgreesWithTheExactDistribution(t *testing.T) {
	column := []float64{100, 0, 50, 50, 50, 20}
	const b = 40000
	point, samples := onOneCore([]int{0, 0, 0, 1, 1, 2}, b, 7, 2, func(weights, out []float64) {
		out[0] = WeightedMean(column[:3], weights[:3])
		out[1] = WeightedMean(column, weights)
	})
	near(t, "mean of the sample", point[0], 50, 1e-9)
	near(t, "mean over the strata", point[1], 45, 1e-9)
	share := map[float64]float64{}
	variance := 0.0
	for i, x := range samples[0] {
		share[math.Round(x)]++
		variance += (x - 50) * (x - 50) / b
		near(t, "a resample of all", samples[1][i], (3*x+120)/6, 1e-9)
	}
	for x, want := range map[float64]float64{0: 1. / 9, 25: 2. / 9, 50: 3. / 9, 75: 2. / 9, 100: 1. / 9} {
		near(t, fmt.Sprintf("share of resamples with mean %v", x), share[x]/b, want, 4*math.Sqrt(want*(1-want)/b))
	}
	near(t, "variance", variance, 2500./3, 20)
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
	_, samples := onOneCore(strata, 100, 3, 2, func(w, out []float64) {
		out[0], out[1] = WeightedMean(a, w), WeightedMean(b, w)
	})
	for i := range samples[0] {
		near(t, "difference of two methods that differ by 1 everywhere", samples[0][i]-samples[1][i], 1, 1e-9)
	}
	_, again := onOneCore(strata, 100, 3, 1, func(w, out []float64) { out[0] = WeightedMean(a, w) })
	if !slices.Equal(again[0], samples[0]) {
		t.Error("the same seed gave other resamples")
	}
	_, other := onOneCore(strata, 100, 4, 1, func(w, out []float64) { out[0] = WeightedMean(a, w) })
	if slices.Equal(other[0], samples[0]) {
		t.Error("another seed gave the same resamples")
	}
}

func TestAMeanWithoutWeightIsNoNumber(t *testing.T) {
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
	for _, c := range []struct {
		cost float64
		want []float64
	}{{0.5, []float64{0.5, 0}}, {1, []float64{1, 0}}, {2, []float64{2. / 3, 1. / 3}}, {4, []float64{0, 1}}, {9, []float64{0, 1}}} {
		for i, share := range hull.Shares(c.cost) {
			near(t, fmt.Sprintf("share of vertex %d at %v", i, c.cost), share, c.want[i], 1e-12)
		}
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
		budget := rapid.Float64Range(0, 25).Draw(t, "budget")
		var asked Point
		sum := 0.0
		for i, share := range hull.Shares(budget) {
			if share < 0 {
				t.Fatalf("shares %v", hull.Shares(budget))
			}
			asked.Cost, asked.Quality, sum = asked.Cost+share*hull[i].Cost, asked.Quality+share*hull[i].Quality, sum+share
		}
		last := hull[len(hull)-1].Cost
		if math.Abs(asked.Quality-hull.At(budget)) > 1e-9 || math.Abs(asked.Cost-min(budget, last)) > 1e-9 && hull[0].Cost <= budget || sum > 1+1e-9 || budget >= hull[0].Cost && sum < 1-1e-9 {
			t.Fatalf("%v buys %v by shares that sum to %v, the hull %v is at %v", budget, asked, sum, hull, hull.At(budget))
		}
	})
}

func TestScoresByHand(t *testing.T) {
	weak, strong := Point{0, 60}, Point{10, 80}
	sweep := []Point{{10, 80}, {5, 75}, {0, 60}}
	near(t, "PGR", PGR(75, 60, 80), 0.75, 1e-12)
	near(t, "PGR of equal experts", PGR(75, 60, 60), math.NaN(), 0)
	near(t, "retention", Retention(75, 80), 0.9375, 0)
	near(t, "saving", Saving(5, 10), 0.5, 0)
	near(t, "oracle gap", OracleGap(75, 90), 15, 0)
	near(t, "AIQ", AIQ(sweep, 0, 10), (5*67.5+5*77.5)/10, 1e-12)
	near(t, "AIQ ignores points below the hull", AIQ(append(slices.Clone(sweep), Point{7, 10}), 0, 10), 72.5, 1e-12)
	near(t, "AIQ beyond the sweep is flat", AIQ(sweep, 0, 20), (5*67.5+5*77.5+10*80)/20, 1e-12)
	near(t, "AIQ before the sweep falls to 0 at cost 0", AIQ([]Point{{4, 70}}, 0, 8), (4*35+4*70)/8., 1e-12)
	near(t, "AIQ at one cost", AIQ(sweep, 5, 5), 75, 0)
	near(t, "AIQ of no point", AIQ(nil, 0, 1), math.NaN(), 0)
	near(t, "APGR", APGR(sweep, weak, strong), 0.5*0.375+0.5*0.875, 1e-12)
	near(t, "APGR of one point at half the cost", APGR([]Point{{5, 70}}, weak, strong), 0.5, 1e-12)
	near(t, "AUDC", AUDC(sweep, weak, strong), 0.5*67.5+0.5*77.5, 1e-12)
	near(t, "AUDC of experts as good as each other", AUDC([]Point{{0, 60}, {10, 70}}, weak, Point{10, 60}), 65, 1e-12)
	near(t, "APGR of experts as good as each other", APGR(sweep, weak, Point{10, 60}), math.NaN(), 0)
	near(t, "AUDC of experts at one price", AUDC(sweep, weak, Point{0, 80}), math.NaN(), 0)
	near(t, "AUDC of no point", AUDC(nil, weak, strong), math.NaN(), 0)
	near(t, "peak", Peak([]Point{{10, 80}, {7, 82}, {0, 60}}), 82, 0)
	near(t, "peak of no point", Peak(nil), math.NaN(), 0)
	near(t, "exchange rate", ExchangeRate(weak, strong), 2, 0)
	near(t, "exchange rate of a strong expert that is no better", ExchangeRate(strong, Point{20, 80}), 0, 0)
	near(t, "exchange rate of a strong expert that is no dearer", ExchangeRate(Point{10, 60}, strong), 0, 0)
	near(t, "regret of the strong expert, where the weak one is right too", Regret([]Point{{1, 100}, {4, 100}}, Point{4, 100}, 5), 15, 0)
	near(t, "regret of the best choice", Regret([]Point{{1, 0}, {4, 100}}, Point{4, 100}, 5), 0, 0)
	near(t, "regret of a coin between both", Regret([]Point{{1, 0}, {4, 100}}, Point{2.5, 50}, 5), 42.5, 0)
	near(t, "APGR of points outside the range", APGR([]Point{{-10, 60}, {20, 80}}, weak, strong), 0.5, 1e-12)
	near(t, "CPT between points", CPT(sweep, weak, strong, 0.375), 0.25, 1e-12)
	near(t, "CPT at the first point", CPT([]Point{{4, 80}}, weak, strong, 0.5), 0.4, 1e-12)
	near(t, "CPT never reached", CPT([]Point{{4, 61}}, weak, strong, 0.5), math.NaN(), 0)
	near(t, "QNC", QNC(append(sweep, Point{8, 81}), strong), 0.8, 1e-12)
	near(t, "QNC never reached", QNC([]Point{{1, 1}}, strong), math.Inf(1), 0)
	near(t, "PGR of experts that are as good as each other but for rounding", PGR(70, 60, math.Nextafter(60, 61)), math.NaN(), 0)
	// What a setting gets is a sum over questions, and which way its last digit is rounded depends on their order.
	short := func(quality float64) float64 { return math.Nextafter(quality, 0) }
	dips := []Point{{2, short(70)}, {4, 65}, {10, 80}}
	near(t, "CPT at a setting that is short of the level by rounding", CPT(dips, weak, strong, 0.5), CPT([]Point{{2, 70}, {4, 65}, {10, 80}}, weak, strong, 0.5), 1e-12)
	near(t, "QNC at a setting that is short of the strongest by rounding", QNC([]Point{{8, short(80)}, {9, 81}}, strong), 0.8, 1e-12)
}

func TestInformationByHand(t *testing.T) {
	near(t, "entropy of a fair coin", Entropy([]float64{5, 5}), math.Ln2, 1e-12)
	near(t, "entropy of certainty", Entropy([]float64{0, 3}), 0, 0)
	near(t, "entropy of nothing", Entropy(nil), 0, 0)
	near(t, "mutual information of a copy", MutualInformation([][]float64{{3, 0}, {0, 3}}), math.Ln2, 1e-12)
	near(t, "mutual information of independence", MutualInformation([][]float64{{1, 2}, {2, 4}}), 0, 1e-12)
	near(t, "ECE", ECE([]float64{0.05, 0.05, 0.95, 1}, []float64{0, 1, 1, 1}, nil, 10), (2*0.45+0.05)/4, 1e-12)
	near(t, "ECE of a probability counted twice", ECE([]float64{0.25, 0.75}, []float64{0, 1}, []float64{2, 1}, 10), 0.25, 1e-12)
	near(t, "ECE of chances", ECE([]float64{0.25, 0.75}, []float64{0.5, 0.75}, nil, 10), 0.125, 1e-12)
	near(t, "ECE of nothing", ECE(nil, nil, nil, 10), math.NaN(), 0)
	near(t, "log-loss", LogLoss(0.8, 1), math.Log(1/0.8), 1e-12)
	near(t, "log-loss of the other class", LogLoss(0.8, 0), math.Log(5), 1e-12)
	near(t, "log-loss of a share", LogLoss(0.8, 0.25), 0.25*math.Log(1/0.8)+0.75*math.Log(5), 1e-12)
	near(t, "log-loss of certainty", LogLoss(1, 1)+LogLoss(0, 0), 0, 0)
	near(t, "log-loss of a mistaken certainty", LogLoss(1, 0.999), math.Inf(1), 0)
	near(t, "Brier", Brier([]float64{1, 0.5}, []float64{1, 0}, nil), 0.125, 1e-12)
	near(t, "Brier of a chance that is known exactly", Brier([]float64{0.25}, []float64{0.25}, nil), 0.25*0.75, 1e-12)
	near(t, "Brier with weights", Brier([]float64{1, 0.5}, []float64{1, 0}, []float64{1, 3}), 0.1875, 1e-12)
	auc := func(score, outcome, weights []float64) float64 { return NewRanking(score).AUC(outcome, weights) }
	near(t, "AUC of a perfect score", auc([]float64{3, 1, 2}, []float64{1, 0, 1}, nil), 1, 0)
	near(t, "AUC of ties", auc([]float64{1, 1, 1, 0}, []float64{1, 0, 1, 0}, nil), 0.75, 1e-12)
	near(t, "AUC of one class", auc([]float64{1, 2}, []float64{1, 1}, nil), math.NaN(), 0)
	near(t, "AUC of no score", auc(nil, nil, nil), math.NaN(), 0)
	near(t, "AUC of an undefined score ends", auc([]float64{math.NaN(), 2}, []float64{1, 0}, nil), 0, 0)
	near(t, "AUC with weights", auc([]float64{1, 2, 2}, []float64{0, 0, 1}, []float64{1, 3, 2}), (2*1+2*3/2.)/(2*4), 1e-12)
	near(t, "AUC of chances", auc([]float64{1, 2}, []float64{0.5, 0.5}, nil), (0.5*0.5+2*0.5*0.5/2)/1, 1e-12)
}

// A question that weighs k counts as k questions.
func TestWeightsAreCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "P")
		var p, o, w, pp, oo []float64
		for range n {
			p = append(p, float64(rapid.IntRange(0, 4).Draw(t, "probability"))/4)
			o = append(o, float64(rapid.IntRange(0, 2).Draw(t, "outcome"))/2)
			w = append(w, float64(rapid.IntRange(0, 3).Draw(t, "weight")))
			for range int(w[len(w)-1]) {
				pp, oo = append(pp, p[len(p)-1]), append(oo, o[len(o)-1])
			}
		}
		for name, pair := range map[string][2]float64{
			"ECE":   {ECE(p, o, w, 10), ECE(pp, oo, nil, 10)},
			"Brier": {Brier(p, o, w), Brier(pp, oo, nil)},
			"AUC":   {NewRanking(p).AUC(o, w), NewRanking(pp).AUC(oo, nil)},
		} {
			if a, b := pair[0], pair[1]; math.Abs(a-b) > 1e-9 || math.IsNaN(a) != math.IsNaN(b) {
				t.Fatalf("%s is %v with weights, %v of copies", name, a, b)
			}
		}
	})
}

func TestACurveIsWhatEverySettingGetsAndPays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, settings := rapid.IntRange(1, 5).Draw(t, "P"), rapid.IntRange(1, 6).Draw(t, "J")
		at := make([][]Point, settings) // [J][P]
		for j := range at {
			for range n {
				at[j] = append(at[j], Point{float64(rapid.IntRange(0, 3).Draw(t, "cost")), float64(rapid.IntRange(0, 3).Draw(t, "quality"))})
			}
		}
		c := NewKnobCurve(settings, at[0])
		for j := 1; j < settings; j++ {
			for p := range n {
				if a, b := at[j-1][p], at[j][p]; a != b {
					c.Change(p, j, Point{b.Cost - a.Cost, b.Quality - a.Quality})
				}
			}
		}
		weights := make([]float64, n)
		for p := range weights {
			weights[p] = float64(rapid.IntRange(0, 4).Draw(t, "weight"))
		}
		curve, first := make([]Point, c.Settings()), Point{}
		for p, w := range weights {
			first.Cost += w * at[0][p].Cost
			first.Quality += w * at[0][p].Quality
		}
		c.Under(first, weights, curve)
		for j := range at {
			want := Point{}
			for p, w := range weights {
				want.Cost += w * at[j][p].Cost
				want.Quality += w * at[j][p].Quality
			}
			if math.Abs(curve[j].Cost-want.Cost) > 1e-9 || math.Abs(curve[j].Quality-want.Quality) > 1e-9 {
				t.Fatalf("setting %d is at %v, want %v", j, curve[j], want)
			}
		}
	})
}

func TestCoresDecideNoNumberOfABootstrap(t *testing.T) {
	column := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	strata := []int{0, 1, 0, 1, 0, 1, 0, 1}
	mean := func(w, out []float64) { out[0], out[1] = WeightedMean(column, w), w[0] }
	point, samples := onOneCore(strata, 100, 5, 2, mean)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, workers := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(workers)
		p, s := BootstrapParallel(nil, strata, 100, 5, 2, onEach(mean))
		if !slices.Equal(p, point) || !slices.Equal(s[0], samples[0]) || !slices.Equal(s[1], samples[1]) {
			t.Errorf("%d workers: other numbers", workers)
		}
	}
	if _, s := BootstrapParallel(nil, strata, 0, 5, 2, onEach(mean)); len(s) != 2 || len(s[0]) != 0 {
		t.Errorf("no resample gave %v", s)
	}
}

// What the comment on Resample says of runs: the spread of the means of questions has the noise of their runs in it
// already; drawing runs again inside the drawn questions would add that noise once more.
func TestTheQuestionBootstrapCoversTheNoiseOfRuns(t *testing.T) {
	const questions, runs, rounds = 40, 4, 4000
	rng := rand.New(rand.NewPCG(7, 7))
	var spread, one, two float64
	for range rounds {
		sum, squares, inner := 0.0, 0.0, 0.0
		for range questions {
			p := rng.Float64() // pass rates vary evenly: variance 1/12 between questions, mean p(1-p) = 1/6 within one
			right := 0.0
			for range runs {
				if rng.Float64() < p {
					right++
				}
			}
			m := right / runs
			sum += m
			squares += m * m
			inner += m * (1 - m) / runs
		}
		mean := sum / questions
		spread += (mean - 0.5) * (mean - 0.5) / rounds
		level := (squares/questions - mean*mean) / (questions - 1) // the variance that resampling questions gives, in closed form
		one += level / rounds
		two += (level + inner/(questions*questions)) / rounds // and the one that resampling runs within them gives
	}
	want := (1./12 + 1./6/runs) / questions
	near(t, "variance of the mean", spread, want, 0.05*want)
	near(t, "variance by resampling questions", one, want, 0.02*want)
	if two < 1.2*want {
		t.Errorf("two levels give %v, no more than the true %v", two, want)
	}
}

// onOneCore is BootstrapParallel of one statistic.
func onOneCore(strata []int, b int, seed uint64, k int, stat func(weights, out []float64)) (point []float64, samples [][]float64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	return BootstrapParallel(nil, strata, b, seed, k, onEach(stat))
}

// onEach evaluates a statistic on one resample after the other.
func onEach(stat func(weights, out []float64)) func(weights, out [][]float64) {
	return func(weights, out [][]float64) {
		for r := range weights {
			stat(weights[r], out[r])
		}
	}
}

// A number of bins that nobody can mean is named, as a negative count is.
func TestECEOfNoBins(t *testing.T) {
	defer func() {
		if got := fmt.Sprint(recover()); got != "metrics: ECE in 0 bins" {
			t.Errorf("panic %q", got)
		}
	}()
	ECE([]float64{0.5}, []float64{1}, nil, 0)
}
