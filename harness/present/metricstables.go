// The tables of what accuracy and cost do not say.

package present

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/units"
)

// metricsTables are what accuracy and cost do not say, in the arena with the most problems: one table of decisions, for
// every row, and one of what routers with a knob can do over all its settings.
func (r *Run) metricsTables(name string, paper published) ([]*report.Table, error) {
	x := &r.Spec.Experiment
	arena := r.arena()
	// Nothing is set in bold: a yardstick that must not be compared would win most columns, and several have no better end.
	decisions := report.Layout{
		Name: name, Paper: recomputed, Head: "Method",
		Caption: x.Title + r.scale() + " What the decisions are worth." + r.scored(),
		Groups: []report.GroupLayout{
			{Title: "Accuracy and cost", Line: "Route", Benchmark: metrics.Average, Paper: metrics.Average, Columns: []report.Column{
				{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2},
				{Title: "Saving %", Unit: units.SavedCost, Decimals: 1},
				{Title: "PGR", Unit: units.PGR, Decimals: 2},
				{Title: "Hull gain", Unit: units.HullGain, Decimals: 2},
			}},
			{Title: "Against the best decision", Line: "Choice", Columns: []report.Column{
				{Title: "Oracle gap", Unit: units.OracleGap, Decimals: 2},
				{Title: "Regret", Unit: units.Regret, Decimals: 2},
				{Title: "Cost regret %", Unit: units.CostRegret, Decimals: 1},
			}},
			{Title: "Decisions and scores", Line: "Choice", Columns: []report.Column{
				{Title: "Entropy", Unit: units.Entropy, Decimals: 3, Plain: true},
				{Title: "Information", Unit: units.Information, Decimals: 3},
				{Title: "AUC", Unit: units.AUC, Decimals: 3},
				{Title: "ECE", Unit: units.ECE, Decimals: 3},
				{Title: "Brier", Unit: units.Brier, Decimals: 3},
			}},
		},
		Notes: []string{
			"Saving: of the strongest expert's cost. PGR: share of the gap in accuracy between the cheapest and the strongest expert that is closed. Hull gain: points above the best coin flip between fixed experts at the same cost.",
			"Oracle gap: points below the best expert for every question" + r.luck(arena) + ". Regret: points of worth below the best expert for every question. Worth is accuracy less the price of the dollars, " + r.exchange(arena) + ". Cost regret: dollars above those of m_best, the cheapest expert that is reliable on the question, where both are right, in percent of the strongest expert's mean.",
			"Entropy of the shares that the experts get, and information about m_best in the decision, in nats. AUC, ECE and Brier: of the score for \"the cheapest expert suffices\", which is the router's probability of that expert or, of a router with a knob, how early in its sweep the question goes there; this is no probability and has no ECE. Rows without a score have none.",
			r.intervals(),
		},
	}
	decisions.Notes = slices.Concat(decisions.Notes, paper.notes(), r.ownHullNote(""))
	knobs := report.Layout{
		Name: name + "-knobs", Head: "Method",
		Caption: x.Title + r.scale() + " Routers with a knob, over all its settings." + r.scored(),
		Groups: []report.GroupLayout{
			{Title: "Whole curve", Line: "Curve", Columns: []report.Column{
				{Title: "AIQ %", Unit: units.AIQ, Decimals: 2},
				{Title: "Mean gain", Unit: units.MeanGain, Decimals: 2},
				{Title: "AUDC %", Unit: units.AUDC, Decimals: 2, Plain: true},
				{Title: "APGR", Unit: units.APGR, Decimals: 3},
			}},
			{Title: "Cost of an accuracy, %", Line: "Curve", Columns: []report.Column{
				{Title: "CPT 50%", Unit: fmt.Sprintf(units.CPT, 50), Decimals: 1},
				{Title: "CPT 80%", Unit: fmt.Sprintf(units.CPT, 80), Decimals: 1},
				{Title: "QNC", Unit: units.QNC, Decimals: 1},
				{Title: "Peak acc. %", Unit: units.Peak, Decimals: 2},
			}},
		},
		Notes: []string{
			"AIQ: mean height of the hull of the settings between the costs of the cheapest and the strongest expert. Mean gain: points above the hull of the fixed experts, mean of 19 budgets between the same costs. AUDC and APGR: mean accuracy and mean PGR along that way, without the hull.",
			"CPT: share of the way from the cheapest to the strongest expert's cost at which PGR reaches 50 or 80%. QNC: least share of the strongest expert's cost at which a setting is as good as it. Blank in either: not reached in every training. Peak: the best setting, chosen on the questions it is measured on.",
			"The knob itself is not set here: what a row is matched to, or its share, plays no part. " + r.intervals(),
		},
	}
	for _, m := range x.Methods {
		row := report.RowLayout{Section: methods.Section(m.Name), Label: m.RowLabel(), Keys: metrics.Keys("arena", arena, "method", m.RowID())}
		var err error
		if row.Reference, err = r.reference(m, r.Spec.Pools[0]); err != nil {
			return nil, err
		}
		if len(r.Measurements.Where(row.Keys...)) == 0 {
			continue // a row of hindsight, which needs answers and not probabilities
		}
		for _, line := range r.Measurements.Where(row.Keys...) {
			if line.Name == "Curve" {
				knobs.Rows = append(knobs.Rows, row)
			}
		}
		if m.Paper != "" {
			row.Paper = metrics.Keys(m.PaperKeys()...)
		}
		decisions.Rows = append(decisions.Rows, row)
	}
	var tables []*report.Table
	for _, l := range []report.Layout{decisions, knobs} {
		if len(l.Rows) == 0 {
			continue
		}
		t, err := report.Build(l, r.Measurements, paper.whole)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// luck says how far the oracle of an arena is one of hindsight.
func (r *Run) luck(arena string) string {
	if arena == metrics.PaperArena {
		return " and run, which is the one whose answer turned out right: luck inflates the gap"
	}
	return ""
}

// exchange says at what price worth counts dollars.
func (r *Run) exchange(arena string) string {
	for _, m := range r.Measurements.Where(metrics.Keys("arena", arena)...) {
		if v, ok := m.Value(units.RegretPrice); ok {
			return fmt.Sprintf("a price at which always asking the strongest expert, for %.2f points a question, is worth as much as always asking the cheapest", v.Number)
		}
	}
	return "which has none here: the strongest expert is no better than the cheapest"
}

func (r *Run) intervals() string {
	return fmt.Sprintf("Small numbers: half the width of the %g%% interval over questions, trained routers held fixed; %s.", 100*r.Spec.Experiment.Evaluate.Confidence, meansOf(r.seeds(), "training seed"))
}
