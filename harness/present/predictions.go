// The table of how well routers predict which experts are right.

package present

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// predictionsTable shows how well the rows that predict pass rates do so on a recorded pool, expert by expert; nil if that was not
// measured.
func (r *Run) predictionsTable(name string, pool spec.Pool) (*report.Table, error) {
	x := &r.Spec.Experiment
	columns := []report.Column{
		{Title: "Log-loss", Unit: units.LogLoss, Decimals: 3},
		{Title: "AUC", Unit: units.AUC, Decimals: 3},
		{Title: "ECE", Unit: units.ECE, Decimals: 3},
	}
	w := struct {
		inPool
		Versus string // label of the row that losses are compared with
	}{inPool: r.inPool(pool, metrics.BothStrata)}
	if m, ok := x.Row(x.Folds.Predictions); ok {
		w.Versus = "Minus " + inSentence(m.RowLabel())
		columns = slices.Insert(columns, 1, report.Column{Title: w.Versus, Unit: units.LogLossDifference, Decimals: 3})
	}
	l := report.Layout{Name: name + "-" + pool.Name + "-predictions", Head: "Method"}
	for _, e := range r.byPrice(pool) {
		l.Groups = append(l.Groups, report.GroupLayout{Title: e.ID, Line: "Prediction", Keys: metrics.Keys("expert", e.ID), Columns: columns})
	}
	for _, m := range x.Methods {
		row := report.RowLayout{Section: methods.Section(m.Name), Label: r.label(m), Keys: metrics.Keys("pool", pool.Name, "method", m.RowID())}
		if slices.ContainsFunc(r.Measurements.Where(row.Keys...), func(m metrics.Measurement) bool { return m.Name == "Prediction" }) {
			l.Rows = append(l.Rows, row)
		}
	}
	if l.Rows == nil {
		return nil, nil
	}
	t, err := build(l, "predictions", w, r.Measurements, nil)
	if err != nil {
		return nil, fmt.Errorf("predictions of %s: %w", name, err)
	}
	return t, nil
}
