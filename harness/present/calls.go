// The table of how often routers ask experts.

package present

import (
	"fmt"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/units"
)

// callsTable shows how often routers that may answer themselves ask experts; nil if no row of rows but the router alone
// is one.
func (r *Run) callsTable(name string, rows []report.RowLayout, paper published) (*report.Table, error) {
	l := report.Layout{
		Name: name + "-calls", Paper: recomputed, Head: "Router",
		Groups: []report.GroupLayout{{Title: "All benchmarks", Benchmark: metrics.Average, Paper: metrics.Average, Columns: []report.Column{
			{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2},
			{Title: "Asks an expert, %", Unit: units.CallRate, Decimals: 1},
			{Title: "Calls a question", Unit: units.Calls, Decimals: 2},
			{Title: "Own answer stands, %", Unit: units.OwnAnswers, Decimals: 1},
			{Title: "Experts $/1,000", Unit: metrics.USDPerQuery, Plain: true, Per1000: true},
			{Title: "Router's tokens/query", Unit: units.RouterTokens, Decimals: 0},
		}}},
	}
	alone := true
	for i, m := range r.Spec.Experiment.Methods {
		if !methods.AnswersItself(m.Name) {
			continue
		}
		l.Rows = append(l.Rows, rows[i])
		alone = alone && methods.Alone(m.Name)
	}
	if alone {
		return nil, nil
	}
	t, err := build(l, "calls", ofTable{words: r.words(), Table: name}, r.Measurements, paper.whole)
	if err != nil {
		return nil, fmt.Errorf("calls of %s: %w", name, err)
	}
	return t, nil
}
