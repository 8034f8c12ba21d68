// The figure of routers that ask several experts while they are trained.

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

// RoundsStage is the key stage of the curves of multi-round routers.
const RoundsStage = "rounds"

// roundsRows are the ids of the rows that the panels of an output show.
func roundsRows(o spec.Output) []string {
	rows := []string{}
	for _, s := range o.Series {
		rows = append(rows, s.Rows...)
	}
	return rows
}

// roundsNeed fails where a figure of rounds has no columns, or has rows that are not trained so.
func (r *Run) roundsNeed(o spec.Output) error {
	l, _, err := r.roundsLayout(o)
	if err == nil && l.Columns == nil && !slices.ContainsFunc(r.Spec.Experiment.Methods, func(m spec.Method) bool { return r.unfit(m.RowID()) }) {
		err = fmt.Errorf("%w: output %s: a figure of rounds has a column of panels for each of its series; name one, with its rows", spec.ErrUsage, o.File)
	}
	return err
}

// roundsLayout needs no measurement; anchored says whether a row is.
func (r *Run) roundsLayout(o spec.Output) (l report.RoundsLayout, anchored bool, err error) {
	l = report.RoundsLayout{Name: o.File, Stage: RoundsStage}
	for _, s := range o.Series {
		c := report.RoundsColumn{Title: s.Label}
		for _, m := range r.shown(s.Rows) {
			a := methods.RowTraits(m, &r.Spec.Experiment).Asker
			if a == nil {
				return l, false, fmt.Errorf("%w: output %s: row %s is no multi-round router that is trained here; a figure of rounds shows routerr1 and xrouter", spec.ErrUsage, o.File, m.RowID())
			}
			label := fmt.Sprintf("%s, a = %s", a.Reward, metrics.Decimal(a.Assimilation))
			if a.Anchored {
				label += ", anchored"
				anchored = true
			}
			c.Lines = append(c.Lines, report.Term{Value: m.RowID(), Label: label})
		}
		if c.Lines != nil {
			l.Columns = append(l.Columns, c)
		}
	}
	return l, anchored, nil
}

// roundsFigure draws what training did to calling: a column of panels of each series of the output; nil if no row could be fitted.
func (r *Run) roundsFigure(o spec.Output, _ published) ([]*report.Figure, error) {
	l, anchored, err := r.roundsLayout(o)
	if err != nil || l.Columns == nil {
		return nil, err
	}
	if l.Caption, err = caption("rounds caption", struct {
		words
		Points   int
		Anchored bool
	}{r.words(), units.CurvePoints, anchored}); err != nil {
		return nil, err
	}
	return one(report.Rounds(l, r.Measurements))
}
