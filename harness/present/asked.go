// What routers that are language models cost, and the paper's rows that stand beside none of ours.

package present

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/units"
)

// paperRows are the rows of the paper's table that stand beside none of ours.
func (r *Run) paperRows() (rows []report.RowLayout) {
	for _, p := range r.Spec.Experiment.PaperRows {
		rows = append(rows, report.RowLayout{Section: "In the paper, not measured here", Label: p.Label, Paper: metrics.Keys(p.Keys()...)})
	}
	return rows
}

// calibrationNote says how far predicted pass rates are off, for the rows that measure it.
func (r *Run) calibrationNote() []string {
	var fitted, imported []string
	for _, m := range r.Spec.Experiment.Methods {
		for _, line := range r.Measurements.Where(metrics.Keys("arena", metrics.PaperArena, "method", m.RowID(), "benchmark", metrics.Average, "seed", "")...) {
			if v, ok := line.Value(methods.CalibrationError); ok {
				part := fmt.Sprintf("%s %.1f points", m.RowLabel(), v.Number)
				if methods.ImportsPassRates(m) {
					imported = append(imported, part)
				} else {
					fitted = append(fitted, part)
				}
			}
		}
	}
	var notes []string
	if fitted != nil {
		notes = append(notes, "Expected calibration error of predicted pass rates, on held-out training problems: "+report.Listed(fitted)+".")
	}
	if imported != nil {
		notes = append(notes, "Expected calibration error of imported pass rates, on all training problems, which their maker may have learnt from: "+report.Listed(imported)+".")
	}
	return notes
}

// askedTable shows what routers that are language models read, write and cost themselves, and how their answers could
// be read; nil if no row of rows is one.
func (r *Run) askedTable(name string, rows []report.RowLayout, paper published) (*report.Table, error) {
	l := report.Layout{
		Name: name + "-routers", Paper: recomputed, Head: "Router",
		Caption: r.Spec.Experiment.Title + ": the routers' own tokens and how their answers were read" + r.scale(),
		Groups: []report.GroupLayout{{Title: "All benchmarks", Benchmark: metrics.Average, Paper: metrics.Average, Columns: []report.Column{
			{Title: "Tokens/query", Unit: units.RouterTokens, Decimals: 1},
			{Title: "Router $/query", Unit: methods.RouterUSD, Decimals: 6},
			{Title: "Experts $/query", Unit: metrics.USDPerQuery, Decimals: 4, Plain: true},
			{Title: "Not in the form, %", Unit: methods.LooseAnswer, Decimals: 2},
			{Title: "Asked again, %", Unit: methods.AskedAgain, Decimals: 2},
			{Title: "Fell back, %", Unit: methods.ParseFail, Decimals: 2},
		}}},
		Notes: []string{
			"Router $: prompt and answer at the price of the router's model, in no other table's cost. An answer in another form counts if it names exactly one expert; one that does not is asked for again, once, and then the row's on_parse_fail decides.",
		},
	}
	for i, m := range r.Spec.Experiment.Methods {
		if !methods.AsksForDecisions(m.Name) {
			continue
		}
		l.Rows = append(l.Rows, rows[i])
	}
	if l.Rows == nil {
		return nil, nil
	}
	if r.Spec.Pools[0].Kind == "simulated" {
		l.Notes = append(l.Notes, "Simulated routers: tokens are a quarter of the bytes, and they write no reasoning, so their dollars are a lower bound; skill and share of malformed answers are assumed.")
	}
	l.Notes = append(l.Notes, r.intervals())
	t, err := report.Build(l, r.Measurements, paper.whole)
	if err != nil {
		return nil, fmt.Errorf("routers of %s: %w", name, err)
	}
	return t, nil
}
