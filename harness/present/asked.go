// What routers that are language models cost, and the paper's rows that stand beside none of ours.

package present

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/units"
)

// paperRows are the rows of the paper's table that stand beside none of ours.
func (r *Run) paperRows() (rows []report.RowLayout) {
	for _, p := range r.Spec.Experiment.PaperRows {
		rows = append(rows, report.RowLayout{Section: "In the paper, not measured here", Label: p.Label, Paper: metrics.Keys(p.Keys()...)})
	}
	return rows
}

// askedTable shows what routers that are language models read, write and cost themselves, and how the answers of those that are
// asked could be read; nil if no row of rows is one.
func (r *Run) askedTable(name string, rows []report.RowLayout, paper published) (*report.Table, error) {
	l := report.Layout{Name: name + "-routers", Paper: recomputed, Head: "Router"}
	columns := []report.Column{{Title: "Tokens/query", Unit: units.RouterTokens, Decimals: 1}, {Title: "Experts $/1,000", Unit: metrics.USDPerQuery, Plain: true, Per1000: true}}
	w := struct {
		words
		Asked, Trained, Timed bool // a router is asked for an answer; one is trained here and gives a distribution; how long it took is known
		Writes                bool // one that is trained writes before it chooses
	}{words: r.words(), Timed: len(r.RouterMS) > 0}
	for i, m := range r.Spec.Experiment.Methods {
		traits := methods.RowTraits(m, &r.Spec.Experiment)
		trained := traits.ChoosesByLM()
		if !trained && !methods.AsksForDecisions(m.Name) {
			continue
		}
		l.Rows = append(l.Rows, rows[i])
		w.Asked, w.Trained, w.Writes = w.Asked || !trained, w.Trained || trained, w.Writes || trained && traits.LM.Reasons()
	}
	if l.Rows == nil {
		return nil, nil
	}
	if w.Asked {
		columns = []report.Column{
			columns[0], {Title: "Router $/1,000", Unit: methods.RouterUSD, Plain: true, Per1000: true}, columns[1],
			{Title: "Not in the form, %", Unit: methods.LooseAnswer, Decimals: 2},
			{Title: "Asked again, %", Unit: methods.AskedAgain, Decimals: 2},
			{Title: "Fell back, %", Unit: methods.ParseFail, Decimals: 2},
		}
	}
	if w.Writes {
		columns = append(columns, report.Column{Title: "Rationale cut, %", Unit: stages.CutRationale, Decimals: 2})
	}
	if w.Timed {
		columns = slices.Insert(columns, 1, report.Column{Title: "ms/query", Unit: units.RouterMS, Decimals: 1, Plain: true})
	}
	l.Groups = []report.GroupLayout{{Title: "All benchmarks", Benchmark: metrics.Average, Paper: metrics.Average, Columns: columns}}
	t, err := build(l, "routers", w, r.timed(), paper.whole)
	if err != nil {
		return nil, fmt.Errorf("routers of %s: %w", name, err)
	}
	return t, nil
}

// timed are the measurements with the milliseconds of routers beside their tokens.
func (r *Run) timed() *metrics.Set {
	set := &metrics.Set{Comment: r.Measurements.Comment, Measurements: slices.Clone(r.Measurements.Measurements)}
	for i, m := range set.Measurements {
		ms, ok := r.RouterMS[m.Key("method")]
		if _, has := m.Value(units.RouterTokens); ok && has && m.Key("arena") == metrics.PaperArena {
			set.Measurements[i].Values = append(slices.Clone(m.Values), metrics.Rounded(ms, units.RouterMS, 1))
		}
	}
	return set
}
