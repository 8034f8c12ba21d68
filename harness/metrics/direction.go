// Which numbers of a unit are the better ones.

package metrics

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/units"
)

// Direction says which numbers of a unit are the better ones.
type Direction int

const (
	Neither Direction = iota
	Higher
	Lower
)

// Better returns the direction of a unit. That of a unit which only describes, or is not known here, is Neither.
func Better(unit string) Direction {
	switch unit {
	case Accuracy, units.Retention, units.SavedCost, units.PGR, units.HullGain, units.Lead, units.Difference,
		units.AIQ, units.AUDC, units.APGR, units.Peak, units.MeanGain, units.MeanLead, units.LeadBenchmark, units.MeanDifference, units.Information, units.AUC, units.Reliability:
		return Higher
	case USD, USDPerQuery, units.CostShare, units.CostDifference, units.OtherLead, units.OracleGap, units.Regret, units.CostRegret, units.ECE, units.Brier, units.QNC, units.LogLoss, units.LogLossDifference, units.Disagreement, units.Truncated:
		return Lower
	}
	of := func(format string, levels []int) bool {
		return slices.ContainsFunc(levels, func(level int) bool { return unit == fmt.Sprintf(format, level) })
	}
	switch {
	case of(units.GainAt, units.Budgets()), of(units.QualityAt, units.Budgets()):
		return Higher
	case of(units.CPT, units.Levels()):
		return Lower
	}
	return Neither
}
