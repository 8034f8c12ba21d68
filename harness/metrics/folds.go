package metrics

import "fmt"

// Folds compares routers with the hull of the fixed experts fold by fold, as routing on recorded outcomes has
// to be: in every test fold the experts' means, the hull and the budgets are the fold's own, and the folds are
// averaged by their number of questions. Pooling the decisions of all folds instead punishes a router that
// looks at nothing, because a fold whose training mean is high has a low test mean.
type Folds struct {
	Fold    []int       // [P] test fold of each question, from 0
	Quality [][]float64 // [M][P] outcome of each expert, cheapest expert first, strongest last
	Cost    [][]float64 // [M][P] cost of each expert
}

// Sweep is a router with a knob: its choices at every setting, from the dearest to the cheapest.
type Sweep struct {
	first []int // [P] choice at the first setting
	turns []turn
	knobs int
}

// turn is a question that goes to another expert from a setting on. Choices change a few times a question
// while settings number a hundred or more, so a resample costs a pass over turns, not over settings.
type turn struct {
	question, knob, from, to int
}

// NewSweep packs choices [J][P], indices of experts. It panics if rows differ in length.
func NewSweep(choices [][]int) *Sweep {
	s := &Sweep{knobs: len(choices)}
	for j, row := range choices {
		if j == 0 {
			s.first = append(s.first, row...)
			continue
		}
		if len(row) != len(s.first) {
			panic(fmt.Sprintf("metrics: setting %d has %d choices, setting 0 has %d", j, len(row), len(s.first)))
		}
		for p, m := range row {
			if before := choices[j-1][p]; before != m {
				s.turns = append(s.turns, turn{p, j, before, m})
			}
		}
	}
	return s
}

// FoldHulls are the hulls of all folds under one set of weights.
type FoldHulls struct {
	folds   *Folds
	weights []float64
	fold    []foldHull
	total   float64
}

type foldHull struct {
	weight       float64
	hull         Hull
	weak, strong float64 // mean costs of the cheapest and of the strongest expert
}

// Under returns the hulls of all folds under weights [P], all 1 for the sample itself. The result reads
// weights until it is dropped.
func (f *Folds) Under(weights []float64) *FoldHulls {
	n := 0
	for _, k := range f.Fold {
		n = max(n, k+1)
	}
	h := &FoldHulls{folds: f, weights: weights, fold: make([]foldHull, n)}
	for p, w := range weights {
		h.fold[f.Fold[p]].weight += w
		h.total += w
	}
	points := make([][]Point, n) // [fold][M]
	for k := range points {
		points[k] = make([]Point, len(f.Quality))
	}
	for m := range f.Quality {
		for p, w := range weights {
			at := &points[f.Fold[p]][m]
			at.Quality += w * f.Quality[m][p]
			at.Cost += w * f.Cost[m][p]
		}
	}
	for k := range h.fold {
		fold := &h.fold[k]
		if fold.weight == 0 {
			continue
		}
		for m := range points[k] {
			points[k][m].Quality /= fold.weight
			points[k][m].Cost /= fold.weight
		}
		fold.weak, fold.strong = points[k][0].Cost, points[k][len(points[k])-1].Cost
		fold.hull = appendHull(nil, points[k])
	}
	return h
}

// average averages a number a fold by the weight of the folds; folds without weight are not asked.
func (h *FoldHulls) average(number func(k int, fold foldHull) float64) float64 {
	sum := 0.0
	for k, fold := range h.fold {
		if fold.weight > 0 {
			sum += fold.weight * number(k, fold)
		}
	}
	return sum / h.total
}

// Gain returns the hull gain of a router without a knob at its own cost in each fold. quality and cost are
// [P]: what the router got and paid on each question.
func (h *FoldHulls) Gain(quality, cost []float64) float64 {
	at := make([]Point, len(h.fold))
	for p, w := range h.weights {
		k := h.folds.Fold[p]
		at[k].Quality += w * quality[p]
		at[k].Cost += w * cost[p]
	}
	return h.average(func(k int, fold foldHull) float64 {
		return fold.hull.Gain(Point{Cost: at[k].Cost / fold.weight, Quality: at[k].Quality / fold.weight})
	})
}

// FoldCurves are the curves of one router in all folds under one set of weights.
type FoldCurves struct {
	hulls *FoldHulls
	curve [][]Point // [fold][J] in the order of the knob
}

// Curves traces a sweep through all folds.
func (h *FoldHulls) Curves(s *Sweep) *FoldCurves {
	f := h.folds
	c := &FoldCurves{hulls: h, curve: make([][]Point, len(h.fold))}
	for k := range c.curve {
		c.curve[k] = make([]Point, s.knobs)
	}
	for p, m := range s.first {
		at := &c.curve[f.Fold[p]][0]
		at.Quality += h.weights[p] * f.Quality[m][p]
		at.Cost += h.weights[p] * f.Cost[m][p]
	}
	for _, t := range s.turns {
		at := &c.curve[f.Fold[t.question]][t.knob]
		w := h.weights[t.question]
		at.Quality += w * (f.Quality[t.to][t.question] - f.Quality[t.from][t.question])
		at.Cost += w * (f.Cost[t.to][t.question] - f.Cost[t.from][t.question])
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

// GainAt returns the hull gain at a budget of share times the strongest expert's cost in each fold: the router
// flips a coin between the two neighbouring settings that meet the budget. If its dearest setting costs less
// than the budget, the rest is not spent.
func (c *FoldCurves) GainAt(share float64) float64 {
	return c.hulls.average(func(k int, fold foldHull) float64 {
		budget := share * fold.strong
		return read(c.curve[k], budget) - fold.hull.At(budget)
	})
}

// QualityAt returns the quality at a budget of share times the strongest expert's cost in each fold.
func (c *FoldCurves) QualityAt(share float64) float64 {
	return c.hulls.average(func(k int, fold foldHull) float64 { return read(c.curve[k], share*fold.strong) })
}

// budgets is the number of budgets that MeanGain averages over.
const budgets = 19

// MeanGain returns the mean hull gain over the 19 budgets weak + t*(strong-weak), t = 0.05, 0.10, ..., 0.95,
// between the costs of the cheapest and the strongest expert: about the difference of two AIQ. Its interval is
// about half as wide as that of a single budget, so it is the headline number of a router with a knob.
func (c *FoldCurves) MeanGain() float64 {
	return c.hulls.average(func(k int, fold foldHull) float64 {
		sum := 0.0
		for i := range budgets {
			budget := fold.weak + float64(i+1)/(budgets+1)*(fold.strong-fold.weak)
			sum += read(c.curve[k], budget) - fold.hull.At(budget)
		}
		return sum / budgets
	})
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
