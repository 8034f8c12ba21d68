// The figures of training curves and training seeds.

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

// trainingRows are the ids of the rows whose training curves an output shows.
func trainingRows(o spec.Output) []string {
	if o.Rows == nil {
		return []string{methods.ReferenceRow}
	}
	return o.Rows
}

// trainingFigures draw training curves.
func (r *Run) trainingFigures(o spec.Output, _ published) ([]*report.Figure, error) {
	return r.eachPart(func(p part) (*report.Figure, error) {
		return r.trainingFigure(o.File+p.suffix, trainingRows(o), p.pool)
	})
}

// trainingFigure draws the training curves of rows on a pool; nil if none of them could be fitted.
func (r *Run) trainingFigure(name string, rows []string, pool spec.Pool) (*report.Figure, error) {
	l := report.TrainingLayout{
		Name: name, Keys: metrics.Keys("pool", pool.Name), First: methods.ReferenceRow,
		Expert: report.Term{Value: r.strongest(pool), Label: dearest(&r.Spec.Experiment)}, Experts: len(pool.Experts),
	}
	for _, m := range r.shown(rows) {
		l.Methods = append(l.Methods, report.Term{Value: m.RowID(), Label: r.label(m)})
	}
	if l.Methods == nil {
		return nil, nil
	}
	var err error
	if l.Caption, err = caption("training caption", struct {
		inPool
		Points int
		Groups bool // Stage II of a shown row draws groups
		Second bool // a shown row has a Stage II
	}{r.inPool(pool, metrics.BothStrata), units.CurvePoints, slices.ContainsFunc(r.shown(rows), r.drawsGroups), slices.ContainsFunc(r.shown(rows), r.reinforced)}); err != nil {
		return nil, err
	}
	return report.Training(l, r.Measurements)
}

// drawsGroups says whether Stage II of a row was measured to draw groups of rollouts, as the exact gradient does not.
func (r *Run) drawsGroups(m spec.Method) bool {
	return slices.ContainsFunc(r.secondStage(m), func(line metrics.Measurement) bool {
		_, ok := line.Value(units.ZeroGroups)
		return ok
	})
}

// reinforced says whether a row has a Stage II.
func (r *Run) reinforced(m spec.Method) bool { return len(r.secondStage(m)) > 0 }

// secondStage are the steps of a row's Stage II.
func (r *Run) secondStage(m spec.Method) []metrics.Measurement {
	return r.Measurements.Where(metrics.Keys("method", m.RowID(), "stage", "grpo")...)
}

// seedsFigure draws the training seeds of rows beside the interval of their mean.
func (r *Run) seedsFigure(o spec.Output, _ published) ([]*report.Figure, error) {
	x := &r.Spec.Experiment
	l := report.SeedsLayout{Name: o.File, Panels: []report.Quantity{
		{Unit: metrics.Accuracy, Label: "Accuracy (%)"},
		{Unit: units.CostShare, Label: "Cost (% of the strongest's)"},
		{Unit: units.HullGain, Label: "Hull gain (points)", Zero: true},
	}}
	for _, m := range r.shown(o.Rows) {
		at := metrics.Keys("arena", r.arena(), "method", m.RowID(), "benchmark", metrics.Average, "knob", "")
		single := slices.ContainsFunc(r.Measurements.Where(at...), func(m metrics.Measurement) bool { return m.Key("seed") != "" })
		if single || o.Rows != nil {
			l.Rows = append(l.Rows, report.Mark{Label: r.label(m), Keys: at})
		}
	}
	if len(l.Rows) == 0 && slices.ContainsFunc(x.Methods, func(m spec.Method) bool { return r.unfit(m.RowID()) }) {
		return nil, nil
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%w: output %s: no row of spec %s was trained with more than one seed; name more in evaluate.seeds", spec.ErrUsage, o.File, x.Name)
	}
	var err error
	if l.Caption, err = caption("seeds caption", r.words()); err != nil {
		return nil, err
	}
	return one(report.Seeds(l, r.Measurements))
}
