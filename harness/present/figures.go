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

// ofPlane is what captions of planes fill in besides.
type ofPlane struct {
	inPool
	Swept, Read         bool   // a shown row has thin lines: of all settings; of shares of the cost
	OtherHull, HasTable bool   // one may answer itself; the experiment has a table
	Dearest             string // expert that shares are of
	Wide, BesidePaper   bool   // the panels stand side by side; the paper's router is there
	Compared            bool   // another run has points too
	Shown, Rows         int    // of the experiment
}

// paretoFigures draw the plane of cost and accuracy; of recordings one a pool, of all questions.
func (r *Run) paretoFigures(o spec.Output, paper published) ([]*report.Figure, error) {
	x := &r.Spec.Experiment
	looks := r.looks()
	shown := ofPlane{
		Swept:     r.swept(r.shown(o.Rows)),
		Read:      x.Recorded() && slices.ContainsFunc(r.shown(o.Rows), r.hasCurve),
		Dearest:   dearest(x),
		OtherHull: slices.ContainsFunc(r.shown(o.Rows), func(m spec.Method) bool { return methods.AnswersItself(m.Name) }),
		HasTable:  slices.ContainsFunc(x.Outputs, func(o spec.Output) bool { return o.Kind == "table" }),
		Wide:      o.Wide,
		Rows:      len(x.Methods),
	}
	plane := func(l report.ParetoLayout, name string, of inPool, at ...metrics.Key) (*report.Figure, error) {
		l.Gain, l.Wide, l.Before = units.HullGain, o.Wide, r.Before
		if i := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == methods.ReferenceRow }); i >= 0 {
			l.Reference = r.label(x.Methods[i])
		}
		for _, m := range r.shown(nil) {
			mark := report.Mark{Label: r.label(m), Look: looks[m.RowID()], Keys: append(slices.Clone(at), metrics.Keys("method", m.RowID())...)}
			if x.Recorded() {
				mark.Lead = append(slices.Clone(at), metrics.Keys("row", m.RowID(), "versus", methods.ReferenceRow, "benchmark", l.Benchmark)...)
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
		said := shown
		said.BesidePaper, said.Compared = l.Paper != nil, l.Before != nil
		said.inPool, said.Shown = of, len(l.Experts)+len(l.Methods)
		var err error
		if l.Caption, err = caption(name, said); err != nil {
			return nil, err
		}
		return report.Pareto(l, r.Measurements)
	}
	if !x.Recorded() {
		f, err := plane(report.ParetoLayout{Name: o.File, Benchmark: metrics.Average, Cost: report.CostOfAThousand()},
			"pareto caption", inPool{words: r.words(), Pool: r.Spec.Pools[0]}, metrics.Keys("arena", r.arena())...)
		return []*report.Figure{f}, err
	}
	var all []*report.Figure
	for _, pool := range r.Spec.Pools {
		f, err := plane(report.ParetoLayout{Name: o.File + "-" + pool.Name, Benchmark: metrics.BothStrata, Cost: report.Quantity{Unit: units.CostShare, Label: "Cost (% of the " + dearest(x) + "'s)"}},
			"pareto caption of a pool", r.inPool(pool, metrics.BothStrata), metrics.Keys("pool", pool.Name)...)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// looks are the markers of the rows that are no fixed experts, whichever of them a figure shows: those of methods.Marked, and for
// others the next ones in the order of the experiment.
func (r *Run) looks() map[string]report.Look {
	known, looks := methods.Marked(), map[string]report.Look{}
	next := len(known)
	for _, m := range r.Spec.Experiment.Methods {
		if methods.Fixed(m.Name) {
			continue
		}
		at := slices.Index(known, m.RowID())
		if at < 0 {
			at, next = next, next+1
		}
		looks[m.RowID()] = report.Look(at)
	}
	return looks
}

// swept says whether the knob of any of the rows was swept.
func (r *Run) swept(rows []spec.Method) bool {
	return slices.ContainsFunc(rows, func(row spec.Method) bool {
		return slices.ContainsFunc(r.Measurements.Where(metrics.Keys("method", row.RowID())...), func(m metrics.Measurement) bool { return m.Name == units.SweepName })
	})
}

// sweepFigures draw rows against a number; of recordings one a pool.
func (r *Run) sweepFigures(o spec.Output, paper published) ([]*report.Figure, error) {
	if r.Spec.Experiment.Recorded() {
		return r.foldSweeps(o)
	}
	return one(r.sweepFigure(o, paper.averages()))
}

// sweepFigure draws accuracy, hull gain and cost against a number that the rows change; nil if none could be fitted.
func (r *Run) sweepFigure(o spec.Output, paper *metrics.Set) (*report.Figure, error) {
	l, err := r.sweepLayout(o, "")
	if err != nil || l.Lines == nil {
		return nil, err
	}
	point := func(has func(report.SweepPoint) bool) bool {
		return slices.ContainsFunc(l.Lines, func(line report.SweepLine) bool { return slices.ContainsFunc(line.Points, has) })
	}
	if l.Caption, err = caption("sweep caption", struct {
		words
		BesidePaper, Fewer bool // the paper has points; one is beyond the problems of Stage II
	}{
		r.words(),
		point(func(p report.SweepPoint) bool { return p.Paper != nil }),
		o.Param == "train" && point(func(p report.SweepPoint) bool { return p.X > float64(r.Spec.Experiment.Train.RL.Size) }),
	}); err != nil {
		return nil, err
	}
	return report.Sweep(l, r.Measurements, paper)
}

// foldSweeps draws a sweep a pool: the mean gain of routers with a knob, or of others hull gain and cost.
func (r *Run) foldSweeps(o spec.Output) ([]*report.Figure, error) {
	var figures []*report.Figure
	for _, pool := range r.Spec.Pools {
		l, err := r.sweepLayout(o, pool.Name)
		if err != nil || l.Lines == nil {
			return nil, err
		}
		l.Name, l.Repeat = l.Name+"-"+pool.Name, "partition"
		l.Panels = []report.Quantity{{Unit: units.MeanGain, Label: "Mean gain (points)", Zero: true}}
		meanGain := true
		for _, line := range l.Lines {
			for _, p := range line.Points {
				m, _, err := r.Measurements.Find(append(slices.Clone(p.Keys), metrics.Key{Name: "seed"})...)
				if err != nil {
					return nil, err
				}
				if _, ok := m.Value(units.MeanGain); !ok {
					l.Panels = []report.Quantity{{Unit: units.HullGain, Label: "Hull gain (points)", Zero: true}, {Unit: units.CostShare, Label: "Relative cost (%)"}}
					meanGain = false
				}
			}
		}
		if l.Caption, err = caption("sweep caption of a pool", struct {
			inPool
			MeanGain bool
		}{r.inPool(pool, metrics.BothStrata), meanGain}); err != nil {
			return nil, err
		}
		f, err := report.Sweep(l, r.Measurements, nil)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// sweepNeeds fails where the rows of a sweep do not have its number.
func (r *Run) sweepNeeds(o spec.Output) error {
	_, err := r.sweepLayout(o, "")
	return err
}

// sweepLayout needs no measurement. pool is that of a recording.
func (r *Run) sweepLayout(o spec.Output, pool string) (l report.SweepLayout, err error) {
	x := &r.Spec.Experiment
	l = report.SweepLayout{Name: o.File, Axis: o.Axis, Log: o.Log, Panels: []report.Quantity{
		{Unit: metrics.Accuracy, Label: "Accuracy (%)"},
		{Unit: units.HullGain, Label: "Hull gain (points)", Zero: true},
		{Unit: units.CostShare, Label: "Relative cost (%)"},
	}}
	lines := o.Series
	if lines == nil {
		lines = []spec.Series{{}}
	}
	if len(lines) > 1 {
		l.Panels = l.Panels[1:] // lines at different costs, whose accuracies say little side by side
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
			point := report.SweepPoint{X: at, Keys: metrics.Keys("arena", r.arena(), "method", m.RowID(), "benchmark", metrics.Average, "knob", "")}
			if x.Recorded() {
				point.Keys = metrics.Keys("pool", pool, "method", m.RowID(), "benchmark", metrics.BothStrata)
			}
			if o.Paper && m.Paper != "" {
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
		if x.Recorded() {
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
