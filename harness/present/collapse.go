// The figures of collapse.

package present

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// collapseFigure draws what training did to calling.
func (r *Run) collapseFigure(o spec.Output, _ published) ([]*report.Figure, error) {
	c := r.Spec.Experiment.Collapse
	if c == nil {
		return nil, fmt.Errorf("%w: a collapse figure needs protocol collapse; spec %s has protocol %s", spec.ErrUsage, r.Spec.Experiment.Name, r.Spec.Experiment.Protocol)
	}
	l := report.CollapseLayout{Name: o.File, At: metrics.Decimal(c.Setting.Lambda), ControlsAt: metrics.Decimal(c.Setting.Assimilation)}
	for _, a := range decimals(slices.Sorted(slices.Values(c.Curves))) {
		l.Curves = append(l.Curves, report.Term{Value: a, Label: a})
	}
	l.Assimilation, l.Lambda = decimals(c.Sweep.Assimilation), decimals(c.Sweep.Lambda)
	for _, b := range c.Buckets {
		l.Buckets = append(l.Buckets, report.Term{Value: b.ID, Label: b.Label})
	}
	for _, x := range c.Controls {
		if x.LeftOut {
			continue
		}
		l.Controls = append(l.Controls, report.Term{Value: x.ID, Label: x.Label})
	}
	var err error
	if l.Caption, err = caption("collapse caption", struct {
		words
		Lambda string
	}{r.words(), l.At}); err != nil {
		return nil, err
	}
	return one(report.Collapse(l, r.Measurements))
}

// decimals are numbers as the keys of measurements have them.
func decimals(numbers []float64) (keys []string) {
	for _, x := range numbers {
		keys = append(keys, metrics.Decimal(x))
	}
	return keys
}

// phase is in how many cells of a bucket's diagram calls all but end, on either side of the line where plans begin to pay.
type phase struct {
	Bucket string
	Silent float64 // percent of episodes with a call below which calls have all but ended

	BelowSilent, Below, AboveSilent, Above string
}

// phaseFigure draws where training stops calls and where they do not pay.
func (r *Run) phaseFigure(o spec.Output, _ published) ([]*report.Figure, error) {
	c := r.Spec.Experiment.Collapse
	if c == nil {
		return nil, fmt.Errorf("%w: output %s: a phase diagram needs protocol collapse; spec %s has protocol %s", spec.ErrUsage, o.File, r.Spec.Experiment.Name, r.Spec.Experiment.Protocol)
	}
	l := report.PhaseLayout{Name: o.File, Experts: len(r.Spec.Pools[0].Experts)}
	l.Assimilation, l.Lambda = decimals(c.Sweep.Assimilation), decimals(c.Sweep.Lambda)
	var phases []phase
	for _, b := range c.Buckets {
		l.Buckets = append(l.Buckets, report.Term{Value: b.ID, Label: b.Label})
		for _, m := range r.Measurements.Where(metrics.Keys("bucket", b.ID)...) {
			if m.Name != "Phase" {
				continue
			}
			count := func(unit string) string {
				v, _ := m.Value(unit)
				return metrics.Format(v.Number, 0)
			}
			phases = append(phases, phase{b.Label, 100 * units.SilentRate, count(units.CellsBelowSilent), count(units.CellsBelow), count(units.CellsAboveSilent), count(units.CellsAbove)})
		}
	}
	var err error
	if l.Caption, err = caption("phase caption", struct {
		words
		Phases []phase
	}{r.words(), phases}); err != nil {
		return nil, err
	}
	return one(report.Phase(l, r.Measurements))
}
