// Verdicts on orderings: contrasts between rows of our measurements with their intervals.

package paper

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Verdicts on orderings.
const (
	Confirmed    = "confirmed"
	Refuted      = "refuted"
	Inconclusive = "inconclusive"
	Untestable   = "untestable here"
	Assumed      = "assumed"
	NotRun       = "not run" // no verdict: there is no measurement
	NotStated    = ""        // no verdict: the scale has no such rows
)

// Why a verdict is inconclusive whatever the interval.
const (
	whyLevel     = "level"                     // both rows are the same to the last digit, as two routers that decide alike
	whyStrongest = "always asks the strongest" // accuracy that was bought
	whyOnePool   = "one pool"                  // of two learners, where one simulated pool is measured
	whyNeither   = "neither leads"             // of two trade-offs
	whyBoth      = "each leads at its own cost"
	whyTwoCosts  = "hull gains at two costs" // metric equal-cost compares such rows
)

// Contrast is a difference A - B with its interval.
type Contrast struct {
	metrics.Value
	Paired bool // from differences question by question or seed by seed; otherwise the intervals of both rows were combined
	Seeds  int  // training seeds whose spread was made into the interval here; 0: none, it is in the interval as it was measured
	Once   bool // a row was trained once here: nothing says what another training would give
	These  bool // what is said is said of the routers that were trained, and of no other training

	Questions int    // that both rows were scored on; 0: none was drawn, or their number was not measured
	Pools     *Pools // of an ensemble, whose median the number is; nil: it is of one pool

	questions [2]float64   // of the interval, what it reaches below and above the number but for spread
	spread    metrics.Mean // the error of training seeds, where lines of single seeds tell it
}

// Judged is an ordering on one scale.
type Judged struct {
	Scale   Scale
	Verdict string
	Shows   string     // of Untestable and Assumed: what the difference would say; otherwise empty
	Why     string     // why Verdict, or Shows, is inconclusive whatever the interval: one of the constants below; otherwise empty
	Delta   *Contrast  // in the metric's unit; nil: not measured
	Cost    *Contrast  // of accuracies: in percent of the strongest expert's cost
	Equal   *EqualCost // of accuracies
	AtEqual string     // the verdict by Equal, as the sentence has it; empty without
	Reason  string     // of Untestable and Assumed
	Tested  *Tested    // the test behind the verdict, adjusted for the others; nil: there is none
	Missing string     // of NotRun: what there is no measurement of
}

// EqualCost is two rows at equal cost, and the only thing that a sentence about it reads: how far each lies, at its own cost, above
// the best coin between the other, at every setting of its knob, and the fixed experts. Both leads may be above 0: each row is then best
// where it stands.
type EqualCost struct {
	A, B Contrast
	Told Contrast // as a number of A - B: of the two, the lead that the sentence is about
}

// Row is an ordering with its verdicts.
type Row struct {
	Section  *Section
	Ordering *Ordering
	Paper    string // the paper's numbers: A vs B
	PaperHas bool   // the paper's own table has the order
	Judged   []Judged
}

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

// units of a metric: of a row's own line, and of its paired difference to the reference.
type units struct{ own, paired string }

const (
	hullGain      = "hull-gain"
	atEqualCost   = "equal-cost"
	leadUnit      = "lead-points"
	otherLeadUnit = "other-lead-points"
)

var metricUnits = map[string]units{
	"accuracy":  {metrics.Accuracy, "difference-points"},
	"cost":      {"cost-share-%", "cost-difference-%"},
	hullGain:    {"hull-gain-points", ""},
	atEqualCost: {leadUnit, ""},
}

func unitsOf(metric string) units {
	if u, ok := metricUnits[metric]; ok {
		return u
	}
	return units{own: metric}
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

// sides are where the lines of both rows of an ordering stand.
func (o *Orderings) sides(x *Ordering, rows Rows, scale Scale) (a, b Place) {
	at := func(side Operand) Place {
		if side.Keys != nil {
			return side.Keys
		}
		benchmark := scale.average()
		if x.Benchmark != "" {
			benchmark = o.Names.benchmark(x.Benchmark)
		}
		return Place{"method": o.row(scale, rows.Experiment, side.Row), "benchmark": benchmark}
	}
	return at(rows.A), at(rows.B)
}

// overruled is the verdict on what rests on something that no difference can decide.
func overruled(needs string) string {
	return map[string]string{languageModel: Untestable, assumption: Assumed}[needs]
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
	if lead.Bounded && lead.Low > 0 || slices.Contains(o.Experts, better["method"]) {
		return false, nil
	}
	cost, ok, err := o.ofStrongest(measured, experiment, scale, better)
	return ok && cost >= nearlyAll && cost <= 200-nearlyAll, err
}

// ofStrongest is the cost of a row in percent of the strongest expert's, which need not be the dearest; false if it was not measured.
func (o *Orderings) ofStrongest(measured *Measurements, experiment string, scale Scale, at Place) (share float64, ok bool, err error) {
	strongest := maps.Clone(at)
	strongest["method"] = o.row(scale, experiment, o.Strongest)
	shares := [2]float64{0, 100}
	for i, at := range []Place{at, strongest} {
		m, _, err := measured.find(experiment, scale, at)
		if err != nil {
			return 0, false, err
		}
		if v, ok := m.Value(costShare); ok {
			shares[i] = v.Number
		} else if i == 0 {
			return 0, false, nil
		}
	}
	return 100 * shares[0] / shares[1], true, nil
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

// better is the greater of both leads, as a number of A - B.
func (e EqualCost) better() Contrast {
	if e.A.Number >= e.B.Number {
		return e.A
	}
	return e.turned()
}

// turned is the lead of B as a number of A - B.
func (e EqualCost) turned() Contrast {
	b := e.B
	b.Value, b.questions = negative(b.Value), [2]float64{b.questions[1], b.questions[0]}
	return b
}

// told is the lead that a sentence is about, as a number of A - B: that of A, and below 0 that of B where A is to be below; where they are
// to be level, the greater of the two.
func (e EqualCost) told(is string) Contrast {
	if is == "above" || is == "level" && e.A.Number >= e.B.Number {
		return e.A
	}
	return e.turned()
}

// why says why a verdict is inconclusive whatever the interval; empty: it is not, or by the interval alone.
func (c Contrast) why(verdict string) string {
	if verdict == Inconclusive && c.level() {
		return whyLevel
	}
	return ""
}

// decides says whether there is an interval that a verdict can be read off.
func (c Contrast) decides() bool { return c.Bounded && (!c.Once || c.These) }

// level says whether two rows are the same whatever is drawn: two routers that decide alike.
func (c Contrast) level() bool { return c.Bounded && c.Low == 0 && c.High == 0 }

// contrast measures A - B.
func (o *Orderings) contrast(measured *Measurements, experiment string, scale Scale, a, b Place, u units) (*Contrast, error) {
	find := func(at Place) (m metrics.Measurement, err error) {
		m, ok, err := measured.find(experiment, scale, at)
		if err == nil && !ok {
			err = errNotRun
		}
		return m, err
	}
	ma, err := find(a)
	if err != nil {
		return nil, err
	}
	mb, err := find(b)
	if err != nil {
		return nil, err
	}
	va, okA := ma.Value(u.own)
	vb, okB := mb.Value(u.own)
	if !okA || !okB {
		return nil, errNotRun
	}
	if scale.bySeeds() {
		return seedBySeed(measured, experiment, scale, a, b, va, vb, u.own)
	}
	spread, n, err := seedSpread(measured, experiment, scale, &a, &b, u.own)
	if err != nil {
		return nil, err
	}
	p, ok, err := o.paired(measured, experiment, scale, a, b, ma, mb, u)
	if err != nil {
		return nil, err
	}
	c := &Contrast{Paired: ok}
	if ok {
		c.Value = withoutSeeds(p, spread)
	} else {
		spreadA, _, err := seedSpread(measured, experiment, scale, &a, nil, u.own)
		if err != nil {
			return nil, err
		}
		spreadB, _, err := seedSpread(measured, experiment, scale, nil, &b, u.own)
		if err != nil {
			return nil, err
		}
		c.Value = unpaired(withoutSeeds(va, spreadA), withoutSeeds(vb, spreadB))
	}
	o.widen(c, measured, experiment, scale, a, b, spread, n)
	c.Questions = questionsOf(ma, mb)
	return c, nil
}

// questionsOf is how many questions are behind both of two lines; 0: a line does not say.
func questionsOf(a, b metrics.Measurement) int {
	na, okA := a.Value(metrics.Questions)
	nb, okB := b.Value(metrics.Questions)
	if !okA || !okB {
		return 0
	}
	return int(min(na.Number, nb.Number))
}

// widen adds the spread of n training seeds to an interval without it, and notes what is not known of it.
func (o *Orderings) widen(c *Contrast, measured *Measurements, experiment string, scale Scale, a, b Place, spread metrics.Mean, n int) {
	if c.Bounded {
		c.questions = [2]float64{c.Number - c.Low, c.High - c.Number}
	}
	c.Once = measured.once(experiment, scale, a["method"], o.Seedless) || measured.once(experiment, scale, b["method"], o.Seedless)
	c.These = scale.model()
	if n > 0 && c.Bounded {
		c.Seeds, c.spread = n, spread
		c.Low = c.Number - c.reach(0, 0.025)
		c.High = c.Number + c.reach(1, 0.025)
	}
}

// equalCost reads the leads of two rows over each other off the line that has both: that of the row that is not the reference, or the line of
// a contrast. nil: there is none, or no question was drawn.
func (o *Orderings) equalCost(measured *Measurements, experiment string, scale Scale, a, b Place) (*EqualCost, error) {
	if scale.bySeeds() || a["method"] == "" || b["method"] == "" || a["method"] == b["method"] {
		return nil, nil
	}
	beside := func(row, versus string) Place {
		at := Place{"row": row, "versus": versus}
		for k, v := range a {
			if k != "method" {
				at[k] = v
			}
		}
		return at
	}
	for _, line := range []struct {
		at     Place
		turned bool // it is of B held against A
		ok     bool
	}{
		{a, false, b["method"] == o.Reference}, {b, true, a["method"] == o.Reference},
		{beside(a["method"], b["method"]), false, true}, {beside(b["method"], a["method"]), true, true},
	} {
		if !line.ok {
			continue
		}
		m, found, err := measured.find(experiment, scale, line.at)
		if err != nil {
			return nil, err
		}
		lead, ok1 := m.Value(leadUnit)
		other, ok2 := m.Value(otherLeadUnit)
		if !found || !ok1 || !ok2 {
			continue
		}
		e := &EqualCost{A: Contrast{Value: lead, Paired: true}, B: Contrast{Value: other, Paired: true}}
		for unit, c := range map[string]*Contrast{leadUnit: &e.A, otherLeadUnit: &e.B} {
			spread, n := metrics.Mean{}, 0
			if !scale.folded() { // where partitions are in the interval as it was measured
				spread, n = spreadOf(measured.seeds(experiment, scale, line.at), unit)
			}
			c.Value = withoutSeeds(c.Value, spread)
			o.widen(c, measured, experiment, scale, a, b, spread, n)
		}
		if line.turned {
			e.A, e.B = e.B, e.A
		}
		return e, nil
	}
	return nil, nil
}

// spreadOf returns the mean of a number over the lines of single seeds with its error, and their number; 0: there are no two.
func spreadOf(lines map[string]metrics.Measurement, unit string) (spread metrics.Mean, n int) {
	var each []float64
	for _, seed := range sortedKeys(lines) {
		if v, ok := lines[seed].Value(unit); ok {
			each = append(each, v.Number)
		}
	}
	if len(each) < 2 || len(each) < len(lines) {
		return metrics.Mean{}, 0
	}
	return metrics.MeanOf(each), len(each)
}

// withoutSeeds takes the spread over training seeds out of an interval that was measured, where it was added by the root of the
// sum of squares: what is left can be paired, and made into intervals at other tails.
func withoutSeeds(v metrics.Value, spread metrics.Mean) metrics.Value {
	half := spread.Half(0.025)
	if !v.Bounded || !(half > 0) {
		return v
	}
	left := func(reach float64) float64 { return math.Sqrt(max(reach*reach-half*half, 0)) }
	v.Low, v.High = v.Number-left(v.Number-v.Low), v.Number+left(v.High-v.Number)
	return v
}

// seedBySeed is the difference where no question was drawn, with the t interval of the differences of single seeds; of
// fewer than two seeds on either side it has none.
func seedBySeed(measured *Measurements, experiment string, scale Scale, a, b Place, va, vb metrics.Value, unit string) (*Contrast, error) {
	va.Bounded, vb.Bounded = false, false
	c := &Contrast{Value: unpaired(va, vb)}
	if len(measured.seeds(experiment, scale, a)) < 2 || len(measured.seeds(experiment, scale, b)) < 2 {
		return c, nil
	}
	spread, n, err := seedSpread(measured, experiment, scale, &a, &b, unit)
	if err != nil || n == 0 {
		return c, err
	}
	c.Bounded, c.Paired, c.Seeds, c.spread = true, true, n, spread
	c.Low, c.High = c.Number-c.reach(0, 0.025), c.Number+c.reach(1, 0.025)
	return c, nil
}

// paired returns the difference question by question, which measurements hold if one of the rows is the reference, or
// on a line of its own (keys row and versus); everything but the method has to be the same.
func (o *Orderings) paired(measured *Measurements, experiment string, scale Scale, a, b Place, ma, mb metrics.Measurement, u units) (metrics.Value, bool, error) {
	if u.paired == "" || len(a) != len(b) || a["method"] == "" {
		return metrics.Value{}, false, nil
	}
	for k, v := range a {
		if k != "method" && b[k] != v {
			return metrics.Value{}, false, nil
		}
	}
	if b["method"] == o.Reference {
		if v, ok := ma.Value(u.paired); ok {
			return v, true, nil
		}
	}
	if a["method"] == o.Reference {
		if v, ok := mb.Value(u.paired); ok {
			return negative(v), true, nil
		}
	}
	for _, turned := range []bool{false, true} {
		row, versus := a["method"], b["method"]
		if turned {
			row, versus = versus, row
		}
		at := Place{"row": row, "versus": versus}
		for k, v := range a {
			if k != "method" {
				at[k] = v
			}
		}
		m, _, err := measured.find(experiment, scale, at)
		if err != nil {
			return metrics.Value{}, false, err
		}
		v, ok := m.Value(u.paired)
		if ok && turned {
			v = negative(v)
		}
		if ok {
			return v, true, nil
		}
	}
	return metrics.Value{}, false, nil
}

func negative(v metrics.Value) metrics.Value {
	v.Number, v.Low, v.High = -v.Number, -v.High, -v.Low
	return v
}

// unpaired combines two intervals as those of independent numbers (MOVER, Zou and Donner 2008).
func unpaired(a, b metrics.Value) metrics.Value {
	d := metrics.Value{Number: a.Number - b.Number, Unit: a.Unit, Decimals: a.Decimals, Bounded: a.Bounded && b.Bounded}
	if d.Bounded {
		d.Low = d.Number - math.Hypot(a.Number-a.Low, b.High-b.Number)
		d.High = d.Number + math.Hypot(a.High-a.Number, b.Number-b.Low)
	}
	return d
}

// seedSpread returns the mean of A - B over training seeds with its error, and the number of seeds; 0 seeds
// if neither row was trained more than once, or what tells their lines apart is partitions of the same questions, which are no
// independent trainings: their bound is in the intervals as they were measured. A row without lines of single seeds is the same
// under all of them; one side may be nil.
func seedSpread(measured *Measurements, experiment string, scale Scale, a, b *Place, unit string) (spread metrics.Mean, n int, err error) {
	if scale.folded() {
		return metrics.Mean{}, 0, nil
	}
	var sa, sb map[string]metrics.Measurement
	if a != nil {
		sa = measured.seeds(experiment, scale, *a)
	}
	if b != nil {
		sb = measured.seeds(experiment, scale, *b)
	}
	if len(sa) > 0 && len(sb) > 0 && !slices.Equal(sortedKeys(sa), sortedKeys(sb)) {
		return metrics.Mean{}, 0, fmt.Errorf("experiment %s on scale %s: %v has the seeds %s, %v has %s; they have to be the same",
			experiment, scale.ID, *a, strings.Join(sortedKeys(sa), ", "), *b, strings.Join(sortedKeys(sb), ", "))
	}
	all := sa
	if len(all) == 0 {
		all = sb
	}
	var d []float64
	for _, seed := range sortedKeys(all) {
		x := 0.0
		for _, side := range []struct {
			of   map[string]metrics.Measurement
			sign float64
		}{{sa, 1}, {sb, -1}} {
			m, trained := side.of[seed]
			if !trained {
				continue // a constant, which no spread sees
			}
			v, ok := m.Value(unit)
			if !ok {
				return metrics.Mean{}, 0, nil
			}
			x += side.sign * v.Number
		}
		d = append(d, x)
	}
	if len(d) < 2 {
		return metrics.Mean{}, 0, nil
	}
	return metrics.MeanOf(d), len(d), nil
}
