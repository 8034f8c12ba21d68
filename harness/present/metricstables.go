// The tables of what accuracy and cost do not say.

package present

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// metricsSuffixes is that of the second table.
func metricsSuffixes(*spec.Experiment) []string { return []string{"-knobs"} }

// metricsTables are what accuracy and cost do not say, in the arena with the most problems: one table of decisions, for
// every row, and one of what routers with a knob can do over all its settings.
func (r *Run) metricsTables(o spec.Output, paper published) ([]*report.Table, error) {
	x, name := &r.Spec.Experiment, o.File
	// Nothing is set in bold: a yardstick that must not be compared would win most columns, and several have no better end.
	decisions := report.Layout{
		Name: name, Paper: recomputed, Head: "Method",
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
	}
	knobs := report.Layout{
		Name: name + "-knobs", Head: "Method",
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
	}
	p := r.parts(r.arena())[0]
	for _, m := range x.Methods {
		row := r.row(m, p)
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
	w := ofTable{words: r.words(), Table: name, Paper: paper}
	var tables []*report.Table
	for _, of := range []struct {
		layout report.Layout
		words  string
	}{{decisions, "metrics"}, {knobs, "knobs"}} {
		if len(of.layout.Rows) == 0 {
			continue
		}
		t, err := build(of.layout, of.words, w, r.Measurements, paper.whole)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}
