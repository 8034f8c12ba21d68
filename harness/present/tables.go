// The tables of accuracy and cost.

package present

import (
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// kindTable is the output of these tables.
const kindTable = "table"

// tableSuffixes are those of the tables: of recorded answers one a pool and benchmark, which only the recording names.
func tableSuffixes(x *spec.Experiment) []string {
	if !x.ReadsAnswers() {
		return []string{"-coverage", "-routers", "-calls", "-large"}
	}
	suffixes := poolSuffixes(x)
	for i := range suffixes {
		suffixes[i] += "-*"
	}
	return suffixes
}

// tables are the tables of an experiment: the paper's layout, then what the paper's sizes cannot resolve.
func (r *Run) tables(o spec.Output, paper published) ([]*report.Table, error) {
	x, name := &r.Spec.Experiment, o.File
	if x.ReadsAnswers() {
		return r.foldTables(name)
	}
	main := report.Layout{Name: name, Paper: x.Paper, Head: "Method"}
	for _, b := range x.Test {
		main.Groups = append(main.Groups, report.GroupLayout{Title: r.Spec.Benchmarks[b].Title, Benchmark: b, Paper: r.Spec.Benchmarks[b].Paper, Columns: report.AccuracyAndCost()})
	}
	average := report.GroupLayout{Title: "Avg.", Benchmark: metrics.Average, Columns: report.AverageAccuracyAndCost()}
	printed, w := paper.table, ofTable{words: r.words(), Table: name, Paper: paper}
	if paper.whole.Measurements != nil {
		average.Paper = metrics.Average
	}
	if average.Paper != "" && len(printed.Where(metrics.Keys("benchmark", metrics.Average)...)) == 0 {
		printed = paper.withAverages(x.Paper)
		w.Averaged = paper.shown
	}
	main.Groups = append(main.Groups, average)
	p := r.parts(metrics.PaperArena)[0]
	for _, m := range x.Methods {
		row := r.row(m, p)
		if m.Paper != "" {
			row.Paper = metrics.Keys(m.PaperKeys()...)
		}
		main.Rows = append(main.Rows, row)
	}
	all := main
	all.Rows = append(slices.Clone(main.Rows), r.paperRows()...)
	t, err := build(all, "table", w, r.Measurements, printed)
	if err != nil {
		return nil, err
	}
	graded := main
	if graded.Caption, err = caption("coverage caption", w); err != nil {
		return nil, err
	}
	coverage, err := report.Coverage(graded, r.Measurements, metrics.Average)
	if err != nil {
		return nil, err
	}
	if coverage.Notes, err = notes("coverage notes", w); err != nil {
		return nil, err
	}
	tables := []*report.Table{t, coverage}
	for _, table := range []func(string, []report.RowLayout, published) (*report.Table, error){r.askedTable, r.callsTable} {
		t, err := table(name, main.Rows, paper)
		if err != nil {
			return nil, err
		}
		if t != nil {
			tables = append(tables, t)
		}
	}
	if x.Large == 0 {
		return tables, nil
	}
	columns := []report.Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2},
		{Title: "Cost, % of strongest", Unit: units.CostShare, Decimals: 1},
		{Title: "Acc. kept, %", Unit: units.Retention, Decimals: 2},
		{Title: "Hull gain, points", Unit: units.HullGain, Decimals: 2},
		{Title: "Lead over EntroRouter", Unit: units.Lead, Decimals: 2},
	}
	if r.seeds() > 1 {
		columns = append(columns, report.Column{Title: "Seed SD of acc.", Unit: units.SeedSD, Decimals: 2})
	}
	large := report.Layout{
		Name: name + "-large", Paper: recomputed, Head: "Method",
		Groups: []report.GroupLayout{{Title: "All benchmarks", Benchmark: metrics.Average, Paper: metrics.Average, Columns: columns}},
	}
	if slices.ContainsFunc(r.Measurements.Where(metrics.Keys("arena", metrics.LargeArena)...), func(m metrics.Measurement) bool { return m.Name == "Curve" }) {
		large.Groups = append(large.Groups, report.GroupLayout{Title: "Whole curve", Line: "Curve", Columns: []report.Column{meanGain()}})
	}
	for i, row := range main.Rows {
		row.Keys = metrics.Keys("arena", metrics.LargeArena, "method", x.Methods[i].RowID())
		if len(r.Measurements.Where(row.Keys...)) == 0 {
			continue // a row of hindsight, which needs answers and not probabilities
		}
		large.Rows = append(large.Rows, row)
	}
	if paper.whole.Measurements != nil {
		large.Rows = append(large.Rows, r.paperRows()...)
	}
	if t, err = build(large, "large", w, r.Measurements, paper.whole); err != nil {
		return nil, err
	}
	return append(tables, t), nil
}

// foldTables has one table a pool and stratum, and one of predictions a pool. A pool of one benchmark has the table of all questions alone.
func (r *Run) foldTables(name string) ([]*report.Table, error) {
	x := &r.Spec.Experiment
	own := []report.Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 2},
		{Title: "Cost, % of " + dearest(x), Unit: units.CostShare, Decimals: 1},
		{Title: "Hull gain", Unit: units.HullGain, Decimals: 2},
	}
	if slices.ContainsFunc(r.Measurements.Measurements, func(m metrics.Measurement) bool { _, ok := m.Value(metrics.USDPerQuery); return ok }) {
		own = slices.Insert(own, 1, report.Column{Title: "$/1,000", Unit: metrics.USDPerQuery, Plain: true, Per1000: true})
	}
	lead := ""
	if m, ok := x.Row(methods.BenchmarkRow); ok {
		lead = "Lead over " + inSentence(m.RowLabel())
		own = append(own, report.Column{Title: lead, Unit: units.LeadBenchmark, Decimals: 2})
	}
	if r.seeds() > 1 {
		own = append(own, report.Column{Title: "Partition SD", Unit: units.FoldsSD, Decimals: 2})
	}
	if slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return methods.RowTraits(m, x).ChoosesByLM() }) {
		own = append(own, report.Column{Title: "Router's tokens/query", Unit: units.RouterTokens, Decimals: 1})
	}
	curve := []report.Column{meanGain()}
	for i, percent := range units.Budgets() {
		title := fmt.Sprintf("@%d%%", percent)
		if i == 0 {
			title = "Gain " + title
		}
		curve = append(curve, report.Column{Title: title, Unit: fmt.Sprintf(units.GainAt, percent), Decimals: 2})
	}
	var tables []*report.Table
	for _, p := range r.parts(r.arena()) {
		pool := p.pool
		var benchmarks []string
		for _, m := range r.Measurements.Where(metrics.Keys("pool", pool.Name, "method", x.Methods[0].RowID(), "seed", "")...) {
			if m.Name == "Route" {
				benchmarks = append(benchmarks, m.Key("benchmark"))
			}
		}
		slices.SortFunc(benchmarks, func(a, b string) int { return strings.Compare(order(a), order(b)) })
		for _, b := range benchmarks {
			if b != metrics.BothStrata && r.stratumSize(pool.Name, b) == r.stratumSize(pool.Name, metrics.BothStrata) {
				continue // the pool has no other questions
			}
			l := report.Layout{
				Name: name + p.suffix + "-" + b, Head: "Method",
				Groups: []report.GroupLayout{
					{Title: "Own operating point", Benchmark: b, Columns: own},
					{Title: "Whole curve", Benchmark: b, Columns: curve},
				},
			}
			w := r.inPool(pool, b)
			w.Lead = lead
			for _, m := range x.Methods {
				l.Rows = append(l.Rows, r.row(m, p))
			}
			t, err := build(l, "folds", w, r.Measurements, nil)
			if err != nil {
				return nil, err
			}
			tables = append(tables, t)
		}
		predictions, err := r.predictionsTable(name, pool)
		if err != nil {
			return nil, err
		}
		if predictions != nil {
			tables = append(tables, predictions)
		}
	}
	return tables, nil
}

// meanGain is the column that says which row is above all others at equal cost.
func meanGain() report.Column {
	return report.Column{Title: "Mean gain", Unit: units.MeanGain, Decimals: 2, Lead: units.MeanLead}
}

// order puts the stratum of all questions first.
func order(benchmark string) string {
	if benchmark == metrics.BothStrata {
		return ""
	}
	return benchmark
}
