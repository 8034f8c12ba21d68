// Verdicts on orderings: contrasts between rows of our measurements with their intervals.

package paper

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Judge gives every ordering its verdict on every scale. t has the paper's tables.
func (o *Orderings) Judge(file string, t *Tables, measured *Measurements) ([]Row, error) {
	f := &faults{file: file}
	var rows []Row
	for i := range o.Sections {
		s := &o.Sections[i]
		for j := range s.Orderings {
			x := &s.Orderings[j]
			row := Row{Section: s, Ordering: x, Paper: x.Paper, PaperHas: !x.Contradicted}
			var err error
			faults := len(f.text)
			if x.Paper == "" && s.Table != "" && x.A.Row != "" {
				if row.Paper, row.PaperHas, err = x.paper(s.Table, t); err != nil {
					f.add(x.line, x.ID, "%v", err)
				}
			}
			for _, scale := range o.Scales {
				judged, err := o.judge(x, s.Table, scale, measured)
				if err != nil {
					f.add(x.line, x.ID, "%v", err)
				}
				judged.Tested = x.tested(judged)
				row.Judged = append(row.Judged, judged)
			}
			if len(f.text) == faults {
				o.checkStated(x, s.Table, f)
			}
			rows = append(rows, row)
		}
	}
	adjust(rows)
	return rows, f.err()
}

// paper returns the paper's own numbers and whether they have the order. A table without printed averages is averaged.
func (o *Ordering) paper(table string, t *Tables) (text string, has bool, err error) {
	benchmark := o.Benchmark
	var a, b value
	for _, side := range []struct {
		row  string
		into *value
	}{{o.A.Row, &a}, {o.B.Row, &b}} {
		var ref reference
		printed, _ := t.Cell(table, side.row, metrics.Average, metrics.Accuracy)
		switch {
		case o.Metric == "accuracy" && benchmark == "" && printed.Unit != "":
			ref = reference{"accuracy", []string{table, side.row, metrics.Average}, 1}
		case o.Metric == "accuracy" && benchmark != "":
			ref = reference{"accuracy", []string{table, side.row, benchmark}, 1}
		case o.Metric == "accuracy":
			ref = reference{"mean", []string{table, side.row}, 1}
		case o.Metric == "cost" && benchmark != "":
			ref = reference{"usd", []string{table, side.row, benchmark}, 1}
		case o.Metric == "cost":
			ref = reference{"query", []string{table, side.row}, 1}
		default:
			return "", true, nil // no table prints it
		}
		if *side.into, err = around(ref, t); err != nil {
			return "", false, err
		}
	}
	diff := a.number - b.number
	switch o.Is {
	case "above":
		has = diff > 0
	case "below":
		has = diff < 0
	default: // a margin of costs is in percent of the strongest expert's, whose row most tables lack
		has = o.Metric == "cost" || math.Abs(diff) <= o.Margin
	}
	switch {
	case o.Metric == "accuracy":
		return fmt.Sprintf("%.1f vs %.1f %%", a.number, b.number), has, nil
	case benchmark != "":
		return fmt.Sprintf("%s vs %s $", short(a.number, 3), short(b.number, 3)), has, nil
	}
	return fmt.Sprintf("%.2f vs %.2f m$", 1000*a.number, 1000*b.number), has, nil
}

// judge gives an ordering its verdict on one scale.
func (o *Orderings) judge(x *Ordering, table string, scale Scale, measured *Measurements) (Judged, error) {
	j := Judged{Scale: scale}
	rows, ok := x.on(scale.Kind, table)
	if !ok || !rows.have(scale) {
		if x.Needs == languageModel && scale.Kind == kindSimulated && !x.stated(table) {
			j.Verdict, j.Reason = Untestable, x.Reason // no row could stand for it
		}
		return j, nil
	}
	if rows.Experiment == "" {
		if rows.Experiment, ok = scale.experiment(table); !ok {
			return j, nil
		}
	}
	a, b := o.sides(x, rows, scale)
	if !o.states(scale, a, b) {
		return j, nil
	}
	if scale.Kind == kindEnsemble {
		return o.judgePools(x, rows, scale, measured)
	}
	offHull := false // the second row is not on the hull itself
	if x.Metric == hullGain {
		m, _, err := measured.find(rows.Experiment, scale, b)
		if err != nil {
			return j, err
		}
		gain, ok := m.Value(unitsOf(hullGain).own)
		offHull = ok && gain.Number != 0
	}
	measure := func(metric string) (*Contrast, error) {
		return o.contrast(measured, rows.Experiment, scale, a, b, unitsOf(metric))
	}
	switch {
	case offHull:
		j.Verdict, j.Why = Inconclusive, whyTwoCosts
	case x.Metric == atEqualCost:
		e, err := o.equalCost(measured, rows.Experiment, scale, a, b)
		if err != nil {
			return j, err
		}
		if e == nil {
			return o.notRun(j, rows.Experiment, measured, errNotRun)
		}
		better := e.better()
		e.Told = e.told(x.Is)
		j.Delta, j.Equal = &better, e
		j.Verdict, j.Why = x.tradeOff(*e)
	default:
		delta, err := measure(x.Metric)
		if err != nil {
			return o.notRun(j, rows.Experiment, measured, err)
		}
		j.Delta = delta
		j.Verdict = x.verdict(*delta)
		j.Why = delta.why(j.Verdict)
	}
	if x.Metric == "accuracy" {
		var err error
		if j.Cost, err = measure("cost"); err != nil && !errors.Is(err, errNotRun) {
			return j, err
		}
		if j.Equal, err = o.equalCost(measured, rows.Experiment, scale, a, b); err != nil {
			return j, err
		}
		if j.Equal != nil {
			j.Equal.Told = j.Equal.told(x.Is)
			j.AtEqual = x.atEqualCost(*j.Equal)
		}
		bought, err := o.bought(measured, rows.Experiment, scale, x.Is, a, b, j.Equal)
		if err != nil {
			return j, err
		}
		if bought && j.Verdict == Confirmed {
			j.Verdict, j.Why = Inconclusive, whyStrongest
		}
	}
	if scale.Kind == kindSimulated && rows.Needs == "" && o.OnePool != "" {
		if o.learners(a["method"], b["method"]) {
			j.Verdict, j.Why = Inconclusive, whyOnePool
			if j.Equal != nil {
				j.AtEqual = Inconclusive
			}
		} else {
			rows.Needs, rows.Reason = assumption, o.OnePool
		}
	}
	if over := overruled(rows.Needs); over != "" {
		j.Verdict, j.Shows, j.Reason = over, j.Verdict, rows.Reason
	}
	return j, nil
}

// learners says whether rows learn, all of them, and differ.
func (o *Orderings) learners(rows ...string) bool {
	for i, row := range rows {
		if !slices.Contains(o.Learners, row) || slices.Contains(rows[:i], row) {
			return false
		}
	}
	return len(rows) > 1
}

// nearlyAll is the share of the strongest expert's cost, in percent, from which a router is that expert, as far above 100 as below: who takes no
// more than a hundredth of the money elsewhere moves accuracy by about a point at most, which is what sentences of the paper call level.
const nearlyAll = 99

// bought says whether the row that is to be more accurate is the strongest expert but for its name: it asks that expert always, or all but
// always, and leads over the other row for no money.
func (o *Orderings) bought(measured *Measurements, experiment string, scale Scale, is string, a, b Place, equal *EqualCost) (bool, error) {
	var better Place
	var lead Contrast
	switch is {
	case "above":
		better = a
		if equal != nil {
			lead = equal.A
		}
	case "below":
		better = b
		if equal != nil {
			lead = equal.B
		}
	default:
		return false, nil // they are to be level
	}
	if lead.Side() > 0 || slices.Contains(o.Experts, better["method"]) {
		return false, nil
	}
	_, as, err := o.asExpert(measured, experiment, scale, better, o.row(scale, experiment, o.Strongest))
	return as, err
}

// asExpert says whether a row is an expert, as measurements call it, but for its name: it costs as much, and its accuracy is
// no more than the points away that nearlyAll leaves. cost is in percent of that expert's.
func (o *Orderings) asExpert(measured *Measurements, experiment string, scale Scale, at Place, expert string) (cost float64, as bool, err error) {
	alone := maps.Clone(at)
	alone["method"] = expert
	shares := [2]float64{0, 100}
	var accuracies []float64
	for i, at := range []Place{at, alone} {
		m, _, err := measured.find(experiment, scale, at)
		if err != nil {
			return 0, false, err
		}
		if v, ok := m.Value(costShare); ok {
			shares[i] = v.Number
		} else if i == 0 {
			return 0, false, nil
		}
		if v, ok := m.Value(metrics.Accuracy); ok {
			accuracies = append(accuracies, v.Number)
		}
	}
	cost = 100 * shares[0] / shares[1]
	near := len(accuracies) < 2 || math.Abs(accuracies[0]-accuracies[1]) <= 100-nearlyAll
	return cost, near && cost >= nearlyAll && cost <= 200-nearlyAll, nil
}

// verdict reads the verdict off an interval. What is level to the last digit is neither above nor below.
func (o *Ordering) verdict(d Contrast) string {
	if !d.decides() {
		return Inconclusive
	}
	low, high := d.Low, d.High
	switch o.Is {
	case "below":
		low, high = -d.High, -d.Low
	case "level":
		switch {
		case low >= -o.Margin && high <= o.Margin:
			return Confirmed
		case low > o.Margin || high < -o.Margin:
			return Refuted
		}
		return Inconclusive
	}
	switch {
	case low > 0:
		return Confirmed
	case high < 0:
		return Refuted
	}
	return Inconclusive
}

// atEqualCost reads the verdict off two rows at equal cost: one that is to be above the other has to lead, as in verdict, and of rows that
// are level neither leads by more than the margin.
func (o *Ordering) atEqualCost(e EqualCost) string {
	if o.Is != "level" {
		return o.verdict(e.Told)
	}
	switch {
	case !e.A.decides() || !e.B.decides():
		return Inconclusive
	case e.A.High <= o.Margin && e.B.High <= o.Margin:
		return Confirmed
	case e.A.Low > o.Margin || e.B.Low > o.Margin:
		return Refuted
	}
	return Inconclusive
}

// tradeOff reads off two rows at equal cost which has the better trade-off: the one that leads over the other where it stands. Of two that
// lead each is best at its own cost, and of two that do not, since they lie below the fixed experts, nothing is said.
func (o *Ordering) tradeOff(e EqualCost) (verdict, why string) {
	is, beside := e.A, e.B
	if o.Is == "below" {
		is, beside = beside, is
	}
	above := Ordering{Is: "above"}
	confirms, refutes := above.verdict(is) == Confirmed, above.verdict(beside) == Confirmed
	switch {
	case is.level() && beside.level():
		return Inconclusive, whyLevel
	case confirms && refutes:
		return Inconclusive, whyBoth
	case confirms:
		return Confirmed, ""
	case refutes:
		return Refuted, ""
	case is.Number <= 0 && beside.Number <= 0:
		return Inconclusive, whyNeither
	}
	return Inconclusive, ""
}
