// Which rows have bars.

package present

import (
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// barsFigure draws the accuracy of rows.
func (r *Run) barsFigure(o spec.Output, _ published) ([]*report.Figure, error) {
	l := report.BarsLayout{Name: o.File}
	for _, m := range r.shown(o.Rows) {
		l.Rows = append(l.Rows, report.Mark{Label: m.RowLabel(), Keys: metrics.Keys("arena", metrics.PaperArena, "method", m.RowID(), "benchmark", metrics.Average, "seed", "")})
	}
	var err error
	if l.Caption, err = caption("bars caption", r.words()); err != nil {
		return nil, err
	}
	return one(report.Bars(l, r.Measurements))
}
