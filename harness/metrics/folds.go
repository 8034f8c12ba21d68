// Gains over mixtures of fixed experts, fold by fold, as recorded outcomes have to be compared.

package metrics

import (
	"cmp"
	"fmt"
	"slices"
)

// Folds compares routers with mixtures of the fixed experts fold by fold, as routing on recorded outcomes has
// to be: in every test fold the experts' means, their path and the budgets are the fold's own, and the folds
// are averaged by their number of questions. Pooling the decisions of all folds instead punishes a router that
// looks at nothing, because a fold whose training mean is high has a low test mean.
//
// The path joins, in order of cost, the experts that are vertices of the fold's hull. They are chosen once, on
// the fold as it is; a resample moves their means but not the choice. A hull drawn anew in every resample would
// lie above the path by chance and give the router that looks at nothing an interval below 0.
type Folds struct {
	fold          []int       // [P]
	quality, cost [][]float64 // [M][P]
	vertices      [][]int     // [fold] experts on the path
}

// NewFolds takes the test fold of each question [P], from 0, and what each expert got and paid on it [M][P],
// cheapest expert first, dearest last. It panics if the shapes differ.
func NewFolds(fold []int, quality, cost [][]float64) *Folds {
	f := &Folds{fold: fold, quality: quality, cost: cost}
	n := 0
	weights := make([]float64, len(fold))
	for p, k := range fold {
		n = max(n, k+1)
		weights[p] = 1
	}
	means, _ := f.means(weights, n)
	for _, experts := range means {
		hull := UpperHull(experts)
		var vertices []int
		for m, at := range experts {
			if slices.Contains(hull, at) && !slices.Contains(experts[:m], at) {
				vertices = append(vertices, m)
			}
		}
		f.vertices = append(f.vertices, vertices)
	}
	return f
}

// means returns the experts' points [fold][M] and the weight of each of n folds. A fold without weight has
// points at the origin.
func (f *Folds) means(weights []float64, n int) (points [][]Point, total []float64) {
	total = make([]float64, n)
	for p, w := range weights {
		total[f.fold[p]] += w
	}
	points = make([][]Point, n)
	for k := range points {
		points[k] = make([]Point, len(f.quality))
	}
	for m, quality := range f.quality {
		cost := f.cost[m]
		if len(quality) != len(weights) || len(cost) != len(weights) {
			panic(fmt.Sprintf("metrics: expert %d has %d outcomes and %d costs for %d questions", m, len(quality), len(cost), len(weights)))
		}
		for p, w := range weights {
			at := &points[f.fold[p]][m]
			at.Quality += w * quality[p]
			at.Cost += w * cost[p]
		}
		for k, w := range total {
			if w > 0 {
				points[k][m].Quality /= w
				points[k][m].Cost /= w
			}
		}
	}
	return points, total
}

// FoldPaths are the paths of all folds under one set of weights.
type FoldPaths struct {
	folds   *Folds
	weights []float64
	fold    []foldPath
	total   float64
}

type foldPath struct {
	weight       float64
	experts      []Point // [M]
	path         Hull
	weak, strong float64 // mean costs of the cheapest and of the dearest expert
}

// Under returns the paths of all folds under weights [P], all 1 for the sample itself. The result reads
// weights until it is dropped.
func (f *Folds) Under(weights []float64) *FoldPaths {
	h := &FoldPaths{folds: f, weights: weights, fold: make([]foldPath, len(f.vertices))}
	points, total := f.means(weights, len(f.vertices))
	for k, experts := range points {
		fold := &h.fold[k]
		fold.weight, fold.experts = total[k], experts
		h.total += total[k]
		fold.weak, fold.strong = experts[0].Cost, experts[len(experts)-1].Cost
		for _, m := range f.vertices[k] {
			fold.path = append(fold.path, experts[m])
		}
		slices.SortFunc(fold.path, func(a, b Point) int { return cmp.Compare(a.Cost, b.Cost) })
	}
	return h
}

// average averages a number a fold by the weight of the folds; folds without weight are not asked.
func (h *FoldPaths) average(number func(k int, fold foldPath) float64) float64 {
	sum := 0.0
	for k, fold := range h.fold {
		if fold.weight > 0 {
			sum += fold.weight * number(k, fold)
		}
	}
	return sum / h.total
}

// Points returns what a router gets and pays in each fold, [fold]. quality and cost are [P]: on each question. A fold without
// weight has its point at the origin.
func (h *FoldPaths) Points(quality, cost []float64) []Point {
	at := make([]Point, len(h.fold))
	for p, w := range h.weights {
		k := h.folds.fold[p]
		at[k].Quality += w * quality[p]
		at[k].Cost += w * cost[p]
	}
	for k, fold := range h.fold {
		if fold.weight > 0 {
			at[k] = Point{Cost: at[k].Cost / fold.weight, Quality: at[k].Quality / fold.weight}
		}
	}
	return at
}

// Gain returns the hull gain of a router at one operating point: how far it lies above the path at its own cost in each fold. at is
// what Points returns.
func (h *FoldPaths) Gain(at []Point) float64 {
	return h.average(func(k int, fold foldPath) float64 { return fold.path.Gain(at[k]) })
}

// Rival is what there is besides a router, in each fold: the fixed experts [M], then another router at its operating point, which
// Points returns, then the same at every setting of its knob.
type Rival struct {
	Other []Point     // [fold]
	Knob  *FoldCurves // nil: it has none
}

// at returns the points of a rival in a fold, in its order.
func (h *FoldPaths) at(k int, r Rival) func(i int) Point {
	experts := h.fold[k].experts
	return func(i int) Point {
		switch {
		case i < len(experts):
			return experts[i]
		case i == len(experts):
			return r.Other[k]
		}
		return r.Knob.curve[k][i-len(experts)-1]
	}
}

// Coins returns, for each fold, the coin that gets most for what a router pays there. own is what Points returns.
func (h *FoldPaths) Coins(own []Point, r Rival) []Coin {
	coins := make([]Coin, len(own))
	for k, p := range own {
		all := append(slices.Clone(h.fold[k].experts), r.Other[k])
		if r.Knob != nil {
			all = append(all, r.Knob.curve[k]...)
		}
		coins[k] = BestCoin(all, p.Cost)
	}
	return coins
}

// Lead returns how far a router lies above the coin of each fold at its own cost. own is what Points returns; the coins were
// chosen for this router and rival on the folds as they are.
func (h *FoldPaths) Lead(own []Point, r Rival, coins []Coin) float64 {
	return h.average(func(k int, _ foldPath) float64 { return own[k].Quality - coins[k].At(own[k].Cost, h.at(k, r)) })
}

// FoldCurves are the curves of one router in all folds under one set of weights.
type FoldCurves struct {
	paths *FoldPaths
	curve [][]Point // [fold][J] in the order of the knob
}

// Curves traces a knob through all folds.
func (h *FoldPaths) Curves(knob *KnobCurve) *FoldCurves {
	c := &FoldCurves{paths: h, curve: make([][]Point, len(h.fold))}
	all := make([]Point, len(h.fold)*knob.settings)
	for k := range c.curve {
		c.curve[k] = all[k*knob.settings : (k+1)*knob.settings]
	}
	for p, w := range h.weights {
		at := &all[h.folds.fold[p]*knob.settings]
		at.Quality += w * knob.quality[p]
		at.Cost += w * knob.cost[p]
	}
	for _, x := range knob.changes {
		w := h.weights[x.question]
		if w == 0 { // a resample leaves out a third of the questions
			continue
		}
		at := &all[h.folds.fold[x.question]*knob.settings+int(x.setting)]
		at.Quality += w * x.by.Quality
		at.Cost += w * x.by.Cost
	}
	for k, curve := range c.curve {
		sum := Point{}
		for j, step := range curve {
			sum.Quality += step.Quality
			sum.Cost += step.Cost
			curve[j] = Point{Cost: sum.Cost / h.fold[k].weight, Quality: sum.Quality / h.fold[k].weight}
		}
	}
	return c
}

// OfCurve is a number of a curve, dearest setting first, beside the hull of the fixed experts, of whom the cheapest costs weak
// and the dearest strong: MeanGain, or what GainAt and QualityAt return.
type OfCurve func(curve []Point, hull Hull, weak, strong float64) float64

// Average averages a number over the folds, each with its own experts.
func (c *FoldCurves) Average(of OfCurve) float64 {
	return c.paths.average(func(k int, fold foldPath) float64 { return of(c.curve[k], fold.path, fold.weak, fold.strong) })
}

// GainAt returns the hull gain at a budget of share times the dearest expert's cost: the router flips a coin between the
// two neighbouring settings that meet the budget, of several such pairs the dearest. If its dearest setting costs less than the budget,
// the rest is not spent, though the hull has all of it; below the cheapest setting quality falls linearly to 0 at cost 0, as in Hull.At.
func GainAt(share float64) OfCurve {
	return func(curve []Point, hull Hull, _, strong float64) float64 {
		budget := share * strong
		return read(curve, budget) - hull.At(budget)
	}
}

// QualityAt returns the quality at the same budget.
func QualityAt(share float64) OfCurve {
	return func(curve []Point, _ Hull, _, strong float64) float64 { return read(curve, share*strong) }
}

// budgets is the number of budgets that MeanGain averages over.
const budgets = 19

// MeanGain is the mean hull gain of a curve, dearest setting first, over the 19 budgets weak + t*(strong-weak), t = 0.05,
// 0.10, ..., 0.95, each read as GainAt reads it: about the difference of two AIQ. Its interval is about half as wide as that of a single budget, so it is
// the headline number of a router with a knob.
func MeanGain(curve []Point, hull Hull, weak, strong float64) float64 {
	sum := 0.0
	for i := range budgets {
		budget := weak + float64(i+1)/(budgets+1)*(strong-weak)
		sum += read(curve, budget) - hull.At(budget)
	}
	return sum / budgets
}

// read returns the quality that a curve, dearest setting first, reaches at a budget. Real costs need not fall
// with the knob; of several crossings the dearest counts. Below the cheapest setting quality falls linearly to
// 0 at cost 0, as in Hull.At.
func read(curve []Point, budget float64) float64 {
	for j, b := range curve {
		if b.Cost > budget {
			continue
		}
		if j == 0 {
			return b.Quality
		}
		a := curve[j-1]
		return b.Quality + (a.Quality-b.Quality)*(budget-b.Cost)/(a.Cost-b.Cost)
	}
	if len(curve) == 0 {
		return 0
	}
	last := curve[len(curve)-1]
	return last.Quality * max(budget, 0) / last.Cost
}
