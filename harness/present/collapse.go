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
func (r *Run) collapseFigure(name string) (*report.Figure, error) {
	c := r.Spec.Experiment.Collapse
	if c == nil {
		return nil, fmt.Errorf("%w: a collapse figure needs protocol collapse; spec %s has protocol %s", spec.ErrUsage, r.Spec.Experiment.Name, r.Spec.Experiment.Protocol)
	}
	l := report.CollapseLayout{Name: name, At: metrics.Decimal(c.Setting.Lambda), ControlsAt: metrics.Decimal(c.Setting.Assimilation)}
	for _, a := range slices.Sorted(slices.Values(c.Curves)) {
		l.Curves = append(l.Curves, report.Term{Value: metrics.Decimal(a), Label: metrics.Decimal(a)})
	}
	for _, a := range c.Sweep.Assimilation {
		l.Assimilation = append(l.Assimilation, metrics.Decimal(a))
	}
	for _, lambda := range c.Sweep.Lambda {
		l.Lambda = append(l.Lambda, metrics.Decimal(lambda))
	}
	for _, b := range c.Buckets {
		l.Buckets = append(l.Buckets, report.Term{Value: b.ID, Label: b.Label})
	}
	for _, x := range c.Controls {
		if x.LeftOut {
			continue
		}
		l.Controls = append(l.Controls, report.Term{Value: x.ID, Label: x.Label})
	}
	lines := meansOf(r.seeds(), "seed")
	if r.seeds() > 1 {
		lines += ", bands and bars their range"
	}
	l.Caption = fmt.Sprintf("%s. One number, the assimilation a, says how often the router uses what an expert tells it; the paper assumes a = 0. "+
		"Lines are %s, at λ = %s where nothing else is said. Vertical lines in (b), and the lines in (c), are the assimilation below which no plan of up to %d calls pays, "+
		"which is exact. In (e), mean only: advantages are not divided by the standard deviation of their group; replay: every problem is right or wrong for good, as recorded outcomes are, and the policy is a network; PPO: Router-R1's algorithm, with a critic, for a network. %s"+
		"The figure shows that, and when, training stops a router from asking. It does not show that a language model has a small a: that is the paper's empirical claim, and it takes language models to test it.",
		r.Spec.Experiment.Title, lines, l.At, c.Setting.Horizon, r.theoremSentence())
	return report.Collapse(l, r.Measurements)
}

// phaseFigure draws where training stops calls and where they do not pay.
func (r *Run) phaseFigure(o spec.Output) (*report.Figure, error) {
	c := r.Spec.Experiment.Collapse
	if c == nil {
		return nil, fmt.Errorf("%w: output %s: a phase diagram needs protocol collapse; spec %s has protocol %s", spec.ErrUsage, o.File, r.Spec.Experiment.Name, r.Spec.Experiment.Protocol)
	}
	l := report.PhaseLayout{Name: o.File, Experts: len(r.Spec.Pools[0].Experts)}
	for _, a := range c.Sweep.Assimilation {
		l.Assimilation = append(l.Assimilation, metrics.Decimal(a))
	}
	for _, lambda := range c.Sweep.Lambda {
		l.Lambda = append(l.Lambda, metrics.Decimal(lambda))
	}
	l.Caption = fmt.Sprintf("Where training stops calls, and where calls do not pay, in a small simulated environment without a language model. Shades are shares of episodes with a call after training, %s. "+
		"Left of the dashed line one call does not pay, a* = (λc + δ)/(q - q_self + δ) for the expert with the least a*; left of the solid line no plan of up to %d calls pays. ", meansOf(r.seeds(), "seed"), c.Setting.Horizon)
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
			l.Caption += fmt.Sprintf("%s: calls all but end (under %g%%) in %s of %s cells left of the solid line and in %s of %s right of it. ", b.Label, 100*units.SilentRate,
				count(units.CellsBelowSilent), count(units.CellsBelow), count(units.CellsAboveSilent), count(units.CellsAbove))
		}
	}
	l.Caption += r.theoremSentence() + "Dots are cells in which a search on a grid finds the effective trust region of appendix A empty for every expert."
	return report.Phase(l, r.Measurements)
}

// theoremSentence says what came of comparing the effective trust region with the closed form.
func (r *Run) theoremSentence() string {
	for _, m := range r.Measurements.Measurements {
		if v, ok := m.Value(report.Disagreements); ok {
			s := fmt.Sprintf("The effective trust region of appendix A, searched on a grid for %d combinations of setting, policy and width, is empty exactly where the closed form says", m.N)
			if v.Number > 0 {
				s += fmt.Sprintf(", but for %s of them", metrics.Format(v.Number, 0))
			}
			return s + ". "
		}
	}
	return ""
}
