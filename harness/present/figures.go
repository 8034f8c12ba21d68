// Figures of an experiment, and what their captions say.

package present

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// paretoFigures draw the plane of cost and accuracy.
func (r *Run) paretoFigures(o spec.Output, paper published) ([]*report.Figure, error) {
	return r.eachPart(func(p part) (*report.Figure, error) { return r.paretoFigure(o, paper, p) })
}

func (r *Run) paretoFigure(o spec.Output, paper published, p part) (*report.Figure, error) {
	x := &r.Spec.Experiment
	looks := r.looks()
	l := report.ParetoLayout{Name: o.File + p.suffix, Benchmark: p.all, Cost: p.cost, Gain: units.HullGain, Wide: o.Wide, Before: r.Before}
	if m, ok := x.Row(methods.ReferenceRow); ok {
		l.Reference = r.label(m)
	}
	for _, m := range r.shown(nil) {
		mark := report.Mark{Label: r.label(m), Look: looks[m.RowID()], Keys: slices.Concat(p.at, metrics.Keys("method", m.RowID()))}
		if x.ReadsAnswers() {
			mark.Lead = slices.Concat(p.at, metrics.Keys("row", m.RowID(), "versus", methods.ReferenceRow, "benchmark", p.all))
		}
		switch {
		case len(r.Measurements.Where(mark.Keys...)) == 0: // a row of hindsight, which needs answers and not probabilities
		case methods.Fixed(m.Name):
			l.Experts = append(l.Experts, mark)
		case o.Rows == nil || slices.Contains(o.Rows, m.RowID()):
			l.Methods = append(l.Methods, mark)
		}
	}
	if point, ok := paper.reference(); ok && o.Paper {
		point.Look = looks[methods.ReferenceRow]
		l.Paper = &point
	}
	var err error
	if l.Caption, err = caption("pareto caption", struct {
		inPool
		Swept, Read         bool   // a shown row has thin lines: of all settings; of shares of the cost
		OtherHull, HasTable bool   // one may answer itself; the experiment has a table
		Dearest             string // expert that shares are of
		Wide, BesidePaper   bool   // the panels stand side by side; the paper's router is there
		Compared            bool   // another run has points too
		Shown, Rows         int    // of the experiment
	}{
		inPool:      r.inPool(p.pool, metrics.BothStrata),
		Swept:       r.swept(r.shown(o.Rows)),
		Read:        slices.ContainsFunc(r.shown(o.Rows), r.hasCurve),
		OtherHull:   slices.ContainsFunc(r.shown(o.Rows), func(m spec.Method) bool { return methods.AnswersItself(m.Name) }),
		HasTable:    slices.ContainsFunc(x.Outputs, func(o spec.Output) bool { return o.Kind == kindTable }),
		Dearest:     dearest(x),
		Wide:        o.Wide,
		BesidePaper: l.Paper != nil,
		Compared:    l.Before != nil,
		Shown:       len(l.Experts) + len(l.Methods),
		Rows:        len(x.Methods),
	}); err != nil {
		return nil, err
	}
	return report.Pareto(l, r.Measurements)
}

// looks are the markers of the rows that are no fixed experts, whichever of them a figure shows: those of methods.Marked, and for
// others the next ones in the order of the experiment that none of its rows has.
func (r *Run) looks() map[string]report.Look {
	return looksOf(methods.Marked(), r.Spec.Experiment.Methods)
}

// looksOf are the markers of rows, of which known have their own.
func looksOf(known []string, rows []spec.Method) map[string]report.Look {
	looks, taken := map[string]report.Look{}, map[report.Look]bool{}
	var others []string
	for _, m := range rows {
		if methods.Fixed(m.Name) {
			continue
		}
		at := slices.Index(known, m.RowID())
		if at < 0 {
			others = append(others, m.RowID())
			continue
		}
		looks[m.RowID()] = report.Look(at)
		taken[report.Look(at).Drawn()] = true
	}
	next := report.Look(len(known))
	for _, row := range others {
		for n := 0; n < report.Looks && taken[next.Drawn()]; n++ { // they begin anew
			next++
		}
		looks[row] = next
		taken[next.Drawn()] = true
		next++
	}
	return looks
}

// swept says whether the knob of any of the rows was swept.
func (r *Run) swept(rows []spec.Method) bool {
	return slices.ContainsFunc(rows, func(row spec.Method) bool {
		return slices.ContainsFunc(r.Measurements.Where(metrics.Keys("method", row.RowID())...), func(m metrics.Measurement) bool { return m.Name == units.SweepName })
	})
}

// sweepFigures draw rows against a number.
func (r *Run) sweepFigures(o spec.Output, paper published) ([]*report.Figure, error) {
	return r.eachPart(func(p part) (*report.Figure, error) { return r.sweepFigure(o, paper.averages(), p) })
}

// sweepFigure draws accuracy, hull gain and cost against a number that the rows change, of recorded answers the mean gain where all of
// them have one; nil if none could be fitted.
func (r *Run) sweepFigure(o spec.Output, paper *metrics.Set, p part) (*report.Figure, error) {
	x := &r.Spec.Experiment
	l, err := r.sweepLayout(o, p)
	if err != nil || l.Lines == nil {
		return nil, err
	}
	point := func(has func(report.SweepPoint) bool) bool {
		return slices.ContainsFunc(l.Lines, func(line report.SweepLine) bool { return slices.ContainsFunc(line.Points, has) })
	}
	meanGain := !point(func(at report.SweepPoint) bool {
		return !slices.ContainsFunc(r.Measurements.Where(slices.Concat(at.Keys, metrics.Keys("seed", ""))...), hasMeanGain)
	})
	if meanGain {
		l.Panels = []report.Quantity{{Unit: units.MeanGain, Label: "Mean gain (points)", Zero: true}}
	}
	if l.Caption, err = caption("sweep caption", struct {
		inPool
		MeanGain           bool // is all that is shown
		BesidePaper, Fewer bool // the paper has points; one is beyond the problems of Stage II
	}{
		r.inPool(p.pool, metrics.BothStrata),
		meanGain,
		point(func(p report.SweepPoint) bool { return p.Paper != nil }),
		o.Param == "train" && x.AsksExperts() && point(func(p report.SweepPoint) bool { return p.X > float64(x.Train.RL.Size) }),
	}); err != nil {
		return nil, err
	}
	return report.Sweep(l, r.Measurements, paper)
}

// sweepNeeds fails where the rows of a sweep do not have its number.
func (r *Run) sweepNeeds(o spec.Output) error {
	_, err := r.sweepLayout(o, part{})
	return err
}

// sweepLayout needs no measurement.
func (r *Run) sweepLayout(o spec.Output, p part) (l report.SweepLayout, err error) {
	x := &r.Spec.Experiment
	l = report.SweepLayout{Name: o.File + p.suffix, Axis: o.Axis, Log: o.Log, Repeat: strings.TrimSuffix(x.Trainings().Flag, "s"), Panels: []report.Quantity{
		{Unit: metrics.Accuracy, Label: "Accuracy (%)"},
		{Unit: units.HullGain, Label: "Hull gain (points)", Zero: true},
		{Unit: units.CostShare, Label: "Relative cost (%)"},
	}}
	lines := o.Series
	if lines == nil {
		lines = []spec.Series{{}}
	}
	if len(lines) > 1 || x.ReadsAnswers() {
		l.Panels = l.Panels[1:] // rows at different costs, whose accuracies say little side by side
	}
	for _, s := range lines {
		line := report.SweepLine{Label: s.Label}
		for _, m := range r.shown(s.Rows) {
			at, ok, err := r.param(m, o.Param)
			if err != nil {
				return l, err
			}
			if !ok {
				if s.Rows != nil {
					return l, fmt.Errorf("%w: output %s: row %s has no number %q", spec.ErrUsage, o.File, m.RowID(), o.Param)
				}
				continue
			}
			if o.Log && at <= 0 {
				return l, fmt.Errorf("%w: output %s: the %s of row %s is %g, which has no place on a logarithmic axis; leave log or the row out", spec.ErrUsage, o.File, o.Param, m.RowID(), at)
			}
			point := report.SweepPoint{X: at, Keys: slices.Concat(p.at, metrics.Keys("method", m.RowID(), "benchmark", p.all, "knob", ""))}
			if o.Paper && m.Paper != "" && !x.ReadsAnswers() {
				point.Paper = append(metrics.Keys(m.PaperKeys()...), metrics.Keys("benchmark", metrics.Average)...)
			}
			line.Points, line.Look = append(line.Points, point), report.Look(slices.Index(methods.Marked(), m.Name))
			if line.Look < 0 { // a kind without a marker of its own
				line.Look = report.Looks - 1
			}
		}
		if len(line.Points) == 0 && r.Measurements != nil {
			continue // of rows that could not be fitted: that there are rows was checked before they were
		}
		if len(line.Points) == 0 {
			return l, fmt.Errorf("%w: output %s: no row has a number %q", spec.ErrUsage, o.File, o.Param)
		}
		l.Lines = append(l.Lines, line)
	}
	return l, nil
}

// param returns the number that a row has for a parameter: its own or the default it is laid over. ok is false if its
// method has none of that name.
func (r *Run) param(m spec.Method, path string) (number float64, ok bool, err error) {
	x := &r.Spec.Experiment
	if path == "train" {
		if m.Train > 0 {
			return float64(m.Train), true, nil
		}
		if x.Trainings().Folds > 0 {
			return 0, false, nil // as many as its fold leaves
		}
		return float64(x.Train.SFT.Size), true, nil
	}
	method, err := methods.New(methods.Setup{Method: m, Spec: x})
	if err != nil {
		return 0, false, err
	}
	text, err := spec.Canonical(method)
	if err != nil {
		return 0, false, fmt.Errorf("row %s: %w", m.RowID(), err)
	}
	var at any
	if err := json.Unmarshal(text, &at); err != nil {
		return 0, false, fmt.Errorf("row %s: %w", m.RowID(), err)
	}
	for name := range strings.SplitSeq(path, ".") {
		params, _ := at.(map[string]any)
		at = params[name]
	}
	number, ok = at.(float64)
	return number, ok, nil
}

// distributionFigure draws where EntroRouter sends easy, medium and hard problems.
func (r *Run) distributionFigure(o spec.Output, paper published) ([]*report.Figure, error) {
	if r.unfit(methods.ReferenceRow) {
		return nil, nil
	}
	l := report.DistributionLayout{Name: o.File, Keys: metrics.Keys("arena", metrics.PaperArena, "method", methods.ReferenceRow)}
	var err error
	if l.Caption, err = caption("distribution caption", struct {
		words
		BesidePaper bool
	}{r.words(), o.Paper}); err != nil {
		return nil, err
	}
	for _, s := range []report.Term{{Value: "easy", Label: "Easy"}, {Value: "medium", Label: "Medium"}, {Value: "hard", Label: "Hard"}} {
		if len(r.Measurements.Where(append(slices.Clone(l.Keys), metrics.Keys("stratum", s.Value)...)...)) > 0 {
			l.Strata = append(l.Strata, s)
		}
	}
	l.Experts = r.expertTerms()
	if o.Paper {
		l.Paper = paper.all
	}
	return one(report.Distribution(l, r.Measurements))
}
