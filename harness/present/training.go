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

// CurveRows are the ids of the rows whose training an output shows.
func CurveRows(o spec.Output) []string {
	if o.Rows == nil {
		return []string{methods.ReferenceRow}
	}
	return o.Rows
}

// trainingFigure draws training curves.
func (r *Run) trainingFigure(o spec.Output) (*report.Figure, error) {
	l := report.TrainingLayout{Name: o.File, Strongest: r.strongest(r.Spec.Pools[0])}
	for _, m := range r.shown(CurveRows(o)) {
		l.Methods = append(l.Methods, report.Term{Value: m.RowID(), Label: m.RowLabel()})
	}
	lines := meansOf(r.seeds(), "training seed")
	if r.seeds() > 1 {
		lines += " and bands their range"
	}
	l.Caption = r.Spec.Experiment.Title + ": what training goes through" + r.scale() + fmt.Sprintf(" Lines are %s; a stage of more than %d steps is averaged over windows, at most %d of them. ", lines, report.CurvePoints, report.CurvePoints) +
		"Values are those before a step. A group is idle, and teaches nothing, if all its rollouts got one reward. The reward of Stage II is the one that the row is trained on: rows with other rewards are not comparable in (d)."
	return report.Training(l, r.Measurements)
}

// seedsFigure draws the training seeds of rows beside the interval over questions.
func (r *Run) seedsFigure(o spec.Output) (*report.Figure, error) {
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
			l.Rows = append(l.Rows, report.Mark{Label: m.RowLabel(), Keys: at})
		}
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%w: output %s: no row of spec %s was trained with more than one seed; name more in evaluate.seeds", spec.ErrUsage, o.File, x.Name)
	}
	bars := fmt.Sprintf("%g%% intervals", 100*x.Evaluate.Confidence)
	of := fmt.Sprintf(" Rings are %d training seeds, which is luck in training; bars are %s of their mean", r.seeds(), bars)
	if r.seeds() == 1 {
		of = " Of luck in training one training seed says nothing. Bars are " + bars
	}
	l.Caption = x.Title + r.scale() + r.scored() + of + " over questions with trained routers held fixed, which is luck in the questions. Rows that spend what another spends vary with it."
	return report.Seeds(l, r.Measurements)
}
