// Numbers of whole curves, defined once for both protocols, and which rows a curve is held against.

package score

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

// sameCost is why a curve has no mean.
const sameCost = "the cheapest and the strongest expert cost the same"

// curved is what has a curve, trainings averaged.
type curved interface {
	meanGain() float64
	rivals() []float64 // mean gains of the rows that it is held against
	aboveHull(of metrics.OfCurve) float64
}

// gains are the numbers of whose curve it is, the mean gain first. The lead is over the best of the others in each resample:
// where its interval is above 0, so is that of the difference to every single one.
func gains[V curved](who func(V) bool) []Statistic[V] {
	list := []Statistic[V]{
		{Unit: units.MeanGain, Decimals: 3, For: who, Without: sameCost, Of: V.meanGain},
		{Unit: units.MeanLead, Decimals: 3, For: func(v V) bool { return who(v) && len(v.rivals()) > 0 }, Without: sameCost, Of: func(v V) float64 {
			return v.meanGain() - slices.Max(v.rivals())
		}},
	}
	for _, percent := range units.Budgets() {
		gain, quality := metrics.GainAt(float64(percent)/100), metrics.QualityAt(float64(percent)/100)
		list = append(list,
			Statistic[V]{Unit: fmt.Sprintf(units.GainAt, percent), Decimals: 3, For: who, Without: nothingPaid, Of: func(v V) float64 { return v.aboveHull(gain) }},
			Statistic[V]{Unit: fmt.Sprintf(units.QualityAt, percent), Decimals: 3, Range: metrics.CurveAccuracy, For: who, Without: nothingPaid, Of: func(v V) float64 { return v.aboveHull(quality) }})
	}
	return list
}

// against says which rows the curve of each is held against, by their indices: all others that compete, but for those that are
// the same at every setting. A row that does not compete is held against none.
func against(competes []bool, same func(i, j int) bool) [][]int {
	out := make([][]int, len(competes))
	for i := range competes {
		for j := range competes {
			if i != j && competes[i] && competes[j] && !same(i, j) {
				out[i] = append(out[i], j)
			}
		}
	}
	return out
}
