// The numbers that a row has however it is measured: on benchmarks, on average, or fold by fold.

package score

import (
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/units"
)

const nothingPaid = "the strongest expert cost nothing"

// standing is where a row, or a pair of rows, stands under weights, beside another row if there is one.
type standing[V any] interface {
	subject[V]
	ofRow() bool    // it is of one row, and not of a pair
	overall() bool  // it is of all questions that the hull of the experts is of
	compared() bool // it has another row
	other() V       // of the other row, in the same resample: differences are paired
	alike() bool    // both decide the same on every question
	reads() bool    // it is told what the router itself reads

	accuracy() float64  // percent
	dollars() float64   // of a question
	costShare() float64 // dollars in percent of the strongest expert's
	gain() float64      // points above the hull
	itsTokens() float64 // of a question, that the router itself read and wrote
	lead() float64      // points above the other row and the fixed experts, at its own cost
	otherLead() float64 // the same of the other row at its cost, above this one
}

// entries are the numbers of a standing.
type entries[V any] struct {
	accuracy, dollars, costShare, hullGain, routerTokens, questions Statistic[V] // of a row
	difference, costDifference, lead, otherLead                     Statistic[V] // beside another
}

func entriesOf[V standing[V]]() entries[V] {
	inAll := func(v V) bool { return v.ofRow() && v.overall() }
	comparedInAll := func(v V) bool { return v.compared() && v.overall() }
	return entries[V]{
		accuracy:     Statistic[V]{Unit: metrics.Accuracy, Decimals: 3, Range: metrics.Percent, For: V.ofRow, Of: V.accuracy},
		dollars:      Statistic[V]{Unit: metrics.USDPerQuery, Decimals: 8, Range: metrics.NotNegative, For: inAll, Of: V.dollars},
		costShare:    Statistic[V]{Unit: units.CostShare, Decimals: 3, Range: metrics.NotNegative, For: inAll, Without: nothingPaid, Of: V.costShare},
		hullGain:     Statistic[V]{Unit: units.HullGain, Decimals: 3, For: inAll, Without: nothingPaid, Of: V.gain},
		routerTokens: Statistic[V]{Unit: units.RouterTokens, Decimals: 1, Whole: true, For: V.reads, Of: V.itsTokens},
		questions:    Statistic[V]{Unit: metrics.Questions, Whole: true, For: V.ofRow, Of: func(v V) float64 { n, _ := v.asked(); return float64(n) }},

		difference:     Statistic[V]{Unit: units.Difference, Decimals: 3, Range: metrics.PercentDifference, Known: V.alike, For: V.compared, Of: func(v V) float64 { return v.accuracy() - v.other().accuracy() }},
		costDifference: Statistic[V]{Unit: units.CostDifference, Decimals: 3, For: comparedInAll, Without: nothingPaid, Of: func(v V) float64 { return v.costShare() - v.other().costShare() }},
		lead:           Statistic[V]{Unit: units.Lead, Decimals: 3, For: comparedInAll, Of: V.lead},
		otherLead:      Statistic[V]{Unit: units.OtherLead, Decimals: 3, For: comparedInAll, Of: V.otherLead},
	}
}
