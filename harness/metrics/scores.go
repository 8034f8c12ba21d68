// The scores of routers in the literature, each by its formula.

package metrics

import (
	"cmp"
	"math"
	"slices"
)

// PGR is the performance gap recovered, (q-weak)/(strong-weak): 0 at the cheapest expert, 1 at the strongest
// (RouteLLM, Ong et al. 2024, section 3). A coin flip between experts already has a high PGR at half the cost:
// print the hull beside it. It is NaN if both experts are equally good.
func PGR(q, weak, strong float64) float64 {
	if same(strong, weak) {
		return math.NaN()
	}
	return (q - weak) / (strong - weak)
}

// Retention is the share of the strongest expert's quality that is kept, q/strong: 0.983 for the paper's 98.3%, above 1 for
// what is better than that expert. It is +Inf or NaN if strong is 0.
func Retention(q, strong float64) float64 { return q / strong }

// Saving is the share of the strongest expert's cost that is saved, 1 - c/strong: 0.4825 for the paper's 48.25%, negative
// for what costs more. It is -Inf or NaN if strong is 0.
func Saving(c, strong float64) float64 { return 1 - c/strong }

// OracleGap is how many points a router stays below the oracle (Gap@O of LLMRouterBench, absolute form).
func OracleGap(q, oracle float64) float64 { return oracle - q }

// AIQ is the average improvement in quality of a router with a knob (RouterBench, Hu et al. 2024): the mean height of
// the hull of its points over the costs from one to another, the same for all routers that are compared. Here those of
// the cheapest and the strongest expert stand for RouterBench's least and greatest cost of all routers. The hull goes on
// as Hull.At says: flat on the right, to 0 on the left. It is the height at from if the two are equal, and NaN without a
// point.
func AIQ(points []Point, from, to float64) float64 {
	if len(points) == 0 {
		return math.NaN()
	}
	hull := UpperHull(points)
	if from == to {
		return hull.At(from)
	}
	return hull.area(from, to) / (to - from)
}

// AUDC is the area under the deferral curve: the mean quality over the cost fraction (c-weak.Cost)/(strong.Cost-weak.Cost)
// from 0 to 1, by the trapezoid rule over the swept points. With two experts of equal prices for every question that
// fraction is the share of questions deferred to the strong one; with more experts that share says little, so the cost
// fraction takes its place. points need not be sorted; the cheapest is continued flat to 0 and the dearest to 1. NaN if
// weak and strong cost the same or there is no point.
func AUDC(points []Point, weak, strong Point) float64 {
	if same(weak.Cost, strong.Cost) || len(points) == 0 {
		return math.NaN()
	}
	curve := make([]Point, len(points))
	for i, p := range points {
		curve[i] = Point{(p.Cost - weak.Cost) / (strong.Cost - weak.Cost), p.Quality}
	}
	slices.SortFunc(curve, byCost)
	first, last := curve[0], curve[len(curve)-1]
	sum := first.Quality*max(0, min(first.Cost, 1)) + last.Quality*max(0, 1-max(last.Cost, 0))
	for i := 1; i < len(curve); i++ {
		a, b := curve[i-1], curve[i]
		from, to := max(a.Cost, 0), min(b.Cost, 1)
		if from >= to {
			continue
		}
		slope := (b.Quality - a.Quality) / (b.Cost - a.Cost)
		sum += (to - from) * (a.Quality + slope*((from+to)/2-a.Cost))
	}
	return sum
}

// APGR is the mean of PGR over the cost fraction (RouteLLM, Ong et al. 2024, integrates over the share of strong calls):
// the PGR of AUDC. NaN if weak and strong coincide in cost or quality or there is no point.
func APGR(points []Point, weak, strong Point) float64 {
	return PGR(AUDC(points, weak, strong), weak.Quality, strong.Quality)
}

// Peak is the greatest quality of a sweep (peak accuracy of a deferral curve), NaN without a point. Chosen on the
// questions that it is a mean of, it is higher than what the setting has on others.
func Peak(points []Point) float64 {
	best := math.NaN()
	for _, p := range points {
		if !(p.Quality <= best) {
			best = p.Quality
		}
	}
	return best
}

// CPT is the call-performance threshold: the least cost fraction, in [0,1], at which the sweep reaches PGR
// level (RouteLLM prints 0.2, 0.5 and 0.8), interpolating between points; NaN if it never does.
func CPT(points []Point, weak, strong Point, level float64) float64 {
	curve := gapCurve(points, weak, strong)
	slack := rounding * max(math.Abs(weak.Quality), math.Abs(strong.Quality)) / math.Abs(strong.Quality-weak.Quality)
	for i, p := range curve {
		switch {
		case p.Quality < level-slack:
		case i == 0:
			return p.Cost
		default:
			a := curve[i-1]
			return a.Cost + (p.Cost-a.Cost)*min((level-a.Quality)/(p.Quality-a.Quality), 1)
		}
	}
	return math.NaN()
}

// QNC is the quality-neutral cost: the cost, relative to the strongest expert's, of the cheapest point of the sweep that is as
// good as the strongest expert, nothing being interpolated; +Inf if none is.
func QNC(points []Point, strong Point) float64 {
	least := math.Inf(1)
	for _, p := range points {
		if p.Quality >= strong.Quality || same(p.Quality, strong.Quality) {
			least = min(least, p.Cost/strong.Cost)
		}
	}
	return least
}

// gapCurve maps points to (cost fraction, PGR), sorted by cost.
func gapCurve(points []Point, weak, strong Point) []Point {
	if same(weak.Cost, strong.Cost) || same(weak.Quality, strong.Quality) {
		return nil
	}
	curve := make([]Point, len(points))
	for i, p := range points {
		curve[i] = Point{(p.Cost - weak.Cost) / (strong.Cost - weak.Cost), PGR(p.Quality, weak.Quality, strong.Quality)}
	}
	slices.SortFunc(curve, byCost)
	return curve
}

func byCost(a, b Point) int {
	return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Quality, b.Quality))
}

// Regret is how much less a decision on a question is worth than asking the best expert for it, the worth being quality
// less price times cost. Points are expectations over answers to the question: where they are means of one answer, the
// best expert is chosen by luck too.
func Regret(experts []Point, chosen Point, price float64) float64 {
	best := math.Inf(-1)
	for _, p := range experts {
		best = max(best, p.Quality-price*p.Cost)
	}
	return best - (chosen.Quality - price*chosen.Cost)
}

// ExchangeRate is the price of money at which always asking the weak expert and always asking the strong one are worth
// the same: quality per unit of cost. It is 0 if the strong one is no better or no dearer: then money buys nothing.
func ExchangeRate(weak, strong Point) float64 {
	if strong.Quality <= weak.Quality || strong.Cost <= weak.Cost {
		return 0
	}
	return (strong.Quality - weak.Quality) / (strong.Cost - weak.Cost)
}
