package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	. "github.com/entrorouter/entrorouter/harness/metrics"
)

// recording is what NewFolds takes.
type recording struct {
	Fold          []int
	Quality, Cost [][]float64
}

func (r recording) folds() *Folds { return NewFolds(r.Fold, r.Quality, r.Cost) }

// knob makes a knob of the experts [J][P] that are chosen at every setting.
func (r recording) knob(choices [][]int) *KnobCurve {
	at := func(j, p int) Point {
		return Point{Cost: r.Cost[choices[j][p]][p], Quality: r.Quality[choices[j][p]][p]}
	}
	first := make([]Point, len(r.Fold))
	for p := range first {
		first[p] = at(0, p)
	}
	c := NewKnobCurve(len(choices), first)
	for p := range first {
		for j := 1; j < len(choices); j++ {
			if before, now := at(j-1, p), at(j, p); choices[j-1][p] != choices[j][p] {
				c.Change(p, j, Point{Cost: now.Cost - before.Cost, Quality: now.Quality - before.Quality})
			}
		}
	}
	return c
}

// pool makes n questions in k folds with three experts whose strength follows difficulty.
func pool(n, k int, seed uint64) recording {
	rng := rand.New(rand.NewPCG(seed, 0))
	f := recording{Fold: make([]int, n), Quality: make([][]float64, 3), Cost: make([][]float64, 3)}
	for m := range f.Quality {
		f.Quality[m], f.Cost[m] = make([]float64, n), make([]float64, n)
	}
	for p := range n {
		f.Fold[p] = p % k
		hard := rng.Float64()
		for m, skill := range []float64{0.5, 0.75, 0.85} {
			if rng.Float64() < math.Pow(skill, 3*hard) {
				f.Quality[m][p] = 100
			}
			f.Cost[m][p] = []float64{1, 4, 12}[m] * (0.5 + hard)
		}
	}
	return f
}

func ones(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

// A router that looks at nothing chooses by training means, so per fold all its questions go to one expert.
func TestAConstantRouterHasNoHullGain(t *testing.T) {
	const n, k = 500, 5
	f := pool(n, k, 1)
	var choices [][]int
	for _, price := range []float64{0, 1, 3, 9, 1e6} {
		row := make([]int, n)
		for fold := range k {
			best, value := 0, math.Inf(-1)
			for m := range f.Quality {
				q, c, count := 0., 0., 0.
				for p := range n {
					if f.Fold[p] != fold { // training questions
						q, c, count = q+f.Quality[m][p], c+f.Cost[m][p], count+1
					}
				}
				if v := q/count - price*c/count; v > value {
					best, value = m, v
				}
			}
			for p := range n {
				if f.Fold[p] == fold {
					row[p] = best
				}
			}
		}
		choices = append(choices, row)
	}
	knob := f.knob(choices)
	weights := ones(n)
	check := func() {
		paths := f.folds().Under(weights)
		curves := paths.Curves(knob)
		near(t, "mean gain", curves.Average(MeanGain), 0, 1e-9)
		for _, share := range []float64{0.25, 0.5, 0.75} {
			near(t, "gain at a budget", curves.Average(GainAt(share)), 0, 1e-9)
		}
	}
	check()
	strata := make([]int, n)
	for m := range f.Quality {
		near(t, "gain of a fixed expert", gainOf(f.folds().Under(weights), f.Quality[m], f.Cost[m]), 0, 1e-9)
	}
	Resample(strata, 50, 1, nil, func(w []float64) { weights = w; check() })
}

// Fold 0: experts at (1, 50) and (3, 100); the router pays 2 and gets 100: gain 25.
// Fold 1 has twice the weight: experts at (1, 0) and (3, 100); the router pays 1 and gets 0: gain 0.
func TestGainsAreAveragedByTheWeightOfTheFold(t *testing.T) {
	r := recording{
		Fold:    []int{0, 0, 1, 1},
		Quality: [][]float64{{100, 0, 0, 0}, {100, 100, 100, 100}},
		Cost:    [][]float64{{1, 1, 1, 1}, {3, 3, 3, 3}},
	}
	f, weights := r.folds(), []float64{1, 1, 2, 2}
	near(t, "gain", gainOf(f.Under(weights), []float64{100, 100, 0, 0}, []float64{1, 3, 1, 1}), 25./3, 1e-12)
	near(t, "a fold without weight is not asked", gainOf(f.Under([]float64{1, 1, 0, 0}), []float64{100, 100, 0, 0}, []float64{1, 3, 1, 1}), 25, 1e-12)
	// Sweep: both questions of a fold to the dear expert, then the oracle's choice, then all to the cheap one.
	curves := f.Under(weights).Curves(r.knob([][]int{{1, 1, 1, 1}, {0, 1, 1, 1}, {0, 0, 0, 0}}))
	// Budget 0.5*3 = 1.5. Fold 0: points (3,100), (2,100), (1,50): quality 75, hull 62.5. Fold 1: hull itself, 25.
	near(t, "quality at half the cost", curves.Average(QualityAt(0.5)), (75+2*25)/3., 1e-12)
	near(t, "gain at half the cost", curves.Average(GainAt(0.5)), 12.5/3, 1e-12)
	// Fold 0 over budgets 1.1..2.9: gain 25*(b-1) up to 2, then 25*(3-b): 25 times the mean of t' = 0.1..1..0.1.
	want := 0.0
	for i := 1; i <= 19; i++ {
		want += 25 * min(float64(i)/10, 2-float64(i)/10)
	}
	near(t, "mean gain", curves.Average(MeanGain), want/19/3, 1e-12)
}

func gainOf(h *FoldPaths, quality, cost []float64) float64 { return h.Gain(h.Points(quality, cost)) }

// By hand: experts at (1, 0.2) and (10, 0.8), so a coin between them is at (7, 0.6), and a curve whose one setting is at (7, 0.7).
func TestALeadIsOverTheBestCoinWithTheFixedExperts(t *testing.T) {
	f := recording{[]int{0, 0}, [][]float64{{0.2, 0.2}, {0.4, 1.2}}, [][]float64{{1, 1}, {7, 13}}}
	h := f.folds().Under([]float64{1, 1})
	lead := func(at Point, curve *KnobCurve, other Point) float64 {
		r := Rival{Other: []Point{other}}
		if curve != nil {
			r.Knob = h.Curves(curve)
		}
		own := []Point{at}
		return h.Lead(own, r, h.Coins(own, r))
	}
	weak := Point{1, 0.2}
	above, below := f.knob([][]int{{0, 1}, {0, 0}}), f.knob([][]int{{1, 0}, {0, 0}}) // (7, 0.7) and (4, 0.3)
	for _, c := range []struct {
		name  string
		at    Point
		knob  *KnobCurve
		other Point
		want  float64
	}{
		{"the strongest leads over no curve that ends before it", Point{10, 0.8}, above, weak, 0},
		{"more for the same money", Point{10, 0.9}, above, weak, 0.1},
		{"between the curve's end and the strongest", Point{8.5, 0.75}, above, weak, 0},
		{"on the curve", Point{7, 0.7}, above, weak, 0},
		{"the same over a curve below the coins: over the experts", Point{7, 0.7}, below, weak, 0.1},
		{"over the other's operating point", Point{7, 0.7}, nil, Point{7, 0.75}, -0.05},
		{"dearer than everything", Point{12, 0.8}, nil, weak, 0},
		{"cheaper than everything", Point{0.5, 0.2}, nil, weak, 0.1},
	} {
		near(t, c.name, lead(c.at, c.knob, c.other), c.want, 1e-12)
	}
}

// A coin is chosen on the sample: under other weights its ends move, and its share and what more money is worth there stay.
func TestACoinKeepsItsShare(t *testing.T) {
	points := []Point{{1, 0.2}, {10, 0.8}, {4, 0.1}}
	c := BestCoin(points, 4)
	if c.Edge != (Edge{0, 1}) {
		t.Fatalf("%+v", c)
	}
	near(t, "share", c.Share, 1./3, 1e-12)
	near(t, "slope", c.Slope, 0.6/9, 1e-12)
	near(t, "on the sample", c.At(4, func(i int) Point { return points[i] }), 0.4, 1e-12)
	moved := []Point{{2, 0.3}, {8, 0.9}, {4, 5}}
	near(t, "at the cost of the mixture", c.At(4, func(i int) Point { return moved[i] }), 0.5, 1e-12)
	near(t, "dearer than it", c.At(5.5, func(i int) Point { return moved[i] }), 0.6, 1e-12)
	// Left of the cheapest there is no answer to mix it with, right of the dearest more money is worth nothing.
	c = BestCoin(points, 0.5)
	if c.Edge != (Edge{-1, 0}) {
		t.Errorf("left of the cheapest: %+v", c)
	}
	near(t, "left of the cheapest", c.At(1.2, func(i int) Point { return moved[i] }), 0.3/2+0.2*0.2, 1e-12)
	c = BestCoin(points, 10)
	if c.Edge != (Edge{1, 1}) {
		t.Errorf("at the dearest: %+v", c)
	}
	near(t, "past the dearest", c.At(11, func(i int) Point { return moved[i] }), 0.9, 1e-12)
}

// Two settings of a knob cost nearly the same, and a resample moves them past each other: the line through them has any slope then, and a
// router that has moved with them stays about where it was.
func TestACoinBetweenEndsThatCostTheSameStays(t *testing.T) {
	sample := []Point{{1, 0.5}, {2, 0.7}, {2.01, 0.7005}, {4, 0.75}}
	c := BestCoin(sample, 2.005)
	if c.Edge != (Edge{1, 2}) {
		t.Fatalf("%+v", c)
	}
	near(t, "slope", c.Slope, 0.05, 1e-9)
	for _, gap := range []float64{0.01, 1e-9, 0, -0.02} {
		moved := []Point{{1, 0.5}, {2.1, 0.71}, {2.1 + gap, 0.709}, {4, 0.75}}
		near(t, "moved", c.At(2.2, func(i int) Point { return moved[i] }), 0.7145, 1e-3)
	}
}

// What a coin gets is, to the first order, the line through both ends at the cost asked for: they differ by the square of how far all has moved.
// Intervals of both are then the same where ends stand apart.
func TestACoinIsTheLineToTheFirstOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := func(name string, from, to float64) float64 { return rapid.Float64Range(from, to).Draw(t, name) }
		ends := []Point{{in("cost a", 1, 2), in("quality a", 0.1, 0.4)}, {in("cost b", 4, 6), in("quality b", 0.5, 0.9)}}
		share := in("share", 0, 0.99)
		cost := ends[0].Cost + share*(ends[1].Cost-ends[0].Cost)
		c := BestCoin(ends, cost)
		var by [2]Point
		for i := range by {
			by[i] = Point{in("moves cost", -0.5, 0.5), in("moves quality", -0.1, 0.1)}
		}
		more := in("moves the router", -0.5, 0.5)
		off := func(h float64) float64 {
			var m [2]Point
			for i := range m {
				m[i] = Point{ends[i].Cost + h*by[i].Cost, ends[i].Quality + h*by[i].Quality}
			}
			at := cost + h*more
			line := m[0].Quality + (m[1].Quality-m[0].Quality)*(at-m[0].Cost)/(m[1].Cost-m[0].Cost)
			return math.Abs(c.At(at, func(i int) Point { return m[i] }) - line)
		}
		// By (slope there - slope) x (cost - cost of the mixture there): at most (0.2 + 0.4 x 1) h / 1.9 of a slope, by h.
		for _, h := range []float64{0.001, 0.01, 0.1} {
			if d := off(h); d > h*h/3+1e-12 {
				t.Errorf("moved by %g they differ by %g", h, d)
			}
		}
	})
}

// A row that is on the hull of itself and the experts leads over itself by nothing, whatever is drawn, and nothing chosen from the other side
// gets more than the hull of all.
func TestLeadsObeyTheHull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		point := rapid.Custom(func(t *rapid.T) Point {
			return Point{rapid.Float64Range(0.1, 10).Draw(t, "cost"), rapid.Float64Range(0, 1).Draw(t, "quality")}
		})
		points := rapid.SliceOfN(point, 1, 8).Draw(t, "points")
		at := point.Draw(t, "at")
		got := BestCoin(points, at.Cost).At(at.Cost, func(i int) Point { return points[i] })
		if want := UpperHull(points).At(at.Cost); math.Abs(got-want) > 1e-9 {
			t.Fatalf("the coin gets %v, the hull %v", got, want)
		}
	})
}

func TestReadingACurveAtABudget(t *testing.T) {
	f := recording{
		Fold:    []int{0},
		Quality: [][]float64{{10}, {30}, {90}},
		Cost:    [][]float64{{1}, {2}, {4}},
	}
	paths := f.folds().Under([]float64{1})
	near(t, "what the dearest setting leaves over is not spent", paths.Curves(f.knob([][]int{{1}, {0}})).Average(QualityAt(0.75)), 30, 1e-12)
	near(t, "a coin flip between neighbours", paths.Curves(f.knob([][]int{{2}, {0}})).Average(QualityAt(0.625)), 50, 1e-12)
	near(t, "of several crossings the dearest counts", paths.Curves(f.knob([][]int{{2}, {1}, {2}, {0}})).Average(QualityAt(0.75)), 60, 1e-12)
	near(t, "below the cheapest setting quality is rationed", paths.Curves(f.knob([][]int{{2}})).Average(QualityAt(0.5)), 45, 1e-12)
}

// The packed sweep must agree with the means taken setting by setting, whatever the choices.
func TestSweepsAgreeWithTheirChoices(t *testing.T) {
	const n, folds, share = 60, 3, 0.4
	f := pool(n, folds, 4)
	rng := rand.New(rand.NewPCG(9, 9))
	choices := make([][]int, 7)
	for j := range choices {
		choices[j] = make([]int, n)
		for p := range choices[j] {
			choices[j][p] = rng.IntN(3)
		}
	}
	weights := make([]float64, n)
	for p := range weights {
		weights[p] = float64(rng.IntN(3))
	}
	want, total := 0., 0.
	for fold := range folds {
		mean := func(column func(p int) float64) (x, weight float64) {
			for p, w := range weights {
				if f.Fold[p] == fold {
					x, weight = x+w*column(p), weight+w
				}
			}
			return x / weight, weight
		}
		strong, weight := mean(func(p int) float64 { return f.Cost[2][p] })
		budget, quality, last := share*strong, math.NaN(), Point{}
		for j, row := range choices {
			q, _ := mean(func(p int) float64 { return f.Quality[row[p]][p] })
			c, _ := mean(func(p int) float64 { return f.Cost[row[p]][p] })
			switch {
			case c > budget:
				quality = q * budget / c
			case j == 0:
				quality = q
			default:
				quality = q + (last.Quality-q)*(budget-c)/(last.Cost-c)
			}
			if c <= budget {
				break
			}
			last = Point{Cost: c, Quality: q}
		}
		want, total = want+weight*quality, total+weight
	}
	near(t, "quality at a budget", f.folds().Under(weights).Curves(f.knob(choices)).Average(QualityAt(share)), want/total, 1e-9)
}

func BenchmarkBootstrapOfTwelveMethods(b *testing.B) {
	const n, methods = 1401, 12
	rng := rand.New(rand.NewPCG(1, 1))
	strata := make([]int, n)
	quality, cost := make([][]float64, methods), make([][]float64, methods)
	for m := range quality {
		quality[m], cost[m] = make([]float64, n), make([]float64, n)
		for p := range n {
			strata[p] = p % 7
			quality[m][p] = 100 * float64(rng.IntN(2))
			cost[m][p] = rng.Float64() * float64(m+1)
		}
	}
	for b.Loop() {
		onOneCore(strata, 2000, 1, 3*methods, func(w, out []float64) {
			experts := make([]Point, 3)
			for m := range quality {
				out[m], out[methods+m] = WeightedMean(quality[m], w), WeightedMean(cost[m], w)
				if m < len(experts) {
					experts[m] = Point{Cost: out[methods+m], Quality: out[m]}
				}
			}
			hull := UpperHull(experts)
			for m := range quality {
				out[2*methods+m] = hull.Gain(Point{Cost: out[methods+m], Quality: out[m]})
			}
		})
	}
}

func BenchmarkMeanGainPerFoldBootstrap(b *testing.B) {
	const n = 2040
	r := pool(n, 5, 1)
	f := r.folds()
	rng := rand.New(rand.NewPCG(2, 2))
	choices := make([][]int, 142)
	first, second := make([]int, n), make([]int, n)
	for p := range n {
		first[p], second[p] = rng.IntN(142), rng.IntN(142)
	}
	for j := range choices {
		choices[j] = make([]int, n)
		for p := range n {
			if j < first[p] {
				choices[j][p]++
			}
			if j < second[p] {
				choices[j][p]++
			}
		}
	}
	knob := r.knob(choices)
	strata := make([]int, n)
	for b.Loop() {
		onOneCore(strata, 2000, 1, 1, func(w, out []float64) { out[0] = f.Under(w).Curves(knob).Average(MeanGain) })
	}
}
