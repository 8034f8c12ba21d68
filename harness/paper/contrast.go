// Contrasts between rows of our measurements, with their intervals.

package paper

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// units of a metric: of a row's own line, and of its paired difference to the reference.
type units struct{ own, paired string }

const (
	costShare     = "cost-share-%"
	leadUnit      = "lead-points"
	otherLeadUnit = "other-lead-points"
)

var metricUnits = map[string]units{
	"accuracy":  {metrics.Accuracy, "difference-points"},
	"cost":      {costShare, "cost-difference-%"},
	hullGain:    {"hull-gain-points", ""},
	atEqualCost: {leadUnit, ""},
}

func unitsOf(metric string) units {
	if u, ok := metricUnits[metric]; ok {
		return u
	}
	return units{own: metric}
}

// contrast measures A - B.
func (o *Orderings) contrast(measured *Measurements, experiment string, scale Scale, a, b Place, u units) (*Contrast, error) {
	ma, err := measured.line(experiment, scale, a)
	if err != nil {
		return nil, err
	}
	mb, err := measured.line(experiment, scale, b)
	if err != nil {
		return nil, err
	}
	va, okA := ma.Value(u.own)
	vb, okB := mb.Value(u.own)
	if !okA || !okB {
		return nil, errNotRun
	}
	if scale.bySeeds() || a.ofTraining() {
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
	if scale.folded() {
		partitions, each := differences(measured.seeds(experiment, scale, a), measured.seeds(experiment, scale, b), u.own)
		c.inPartitions(each, len(partitions), measured.folds[experiment])
	}
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
	for _, line := range []struct {
		at     Place
		turned bool // it is of B held against A
		ok     bool
	}{
		{a, false, b["method"] == o.Reference}, {b, true, a["method"] == o.Reference},
		{a.versus(a["method"], b["method"]), false, true}, {a.versus(b["method"], a["method"]), true, true},
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
			if scale.folded() {
				partitions, _ := differences(measured.seeds(experiment, scale, a), measured.seeds(experiment, scale, b), unit)
				_, each := differences(measured.seeds(experiment, scale, line.at), nil, unit) // of a contrast no line of a partition is written
				c.inPartitions(each, len(partitions), measured.folds[experiment])
			}
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

// seedBySeed is the difference where no question was drawn, with the t interval of the differences of single seeds, or folds; of
// fewer than two on either side it has none.
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
		at := a.versus(row, versus)
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
// independent trainings: their bound is in the intervals as they were measured. Of what trainings go through, the folds of a
// cross-validation are trainings that share what they learn from, as metrics.MeanOfPartitions takes them. A row without lines of single
// seeds is the same under all of them; one side may be nil.
func seedSpread(measured *Measurements, experiment string, scale Scale, a, b *Place, unit string) (spread metrics.Mean, n int, err error) {
	inFolds := scale.folded()
	if inFolds && !(a != nil && a.ofTraining()) {
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
	all, d := differences(sa, sb, unit)
	if len(d) < 2 {
		return metrics.Mean{}, 0, nil
	}
	if inFolds {
		folds := map[string]bool{}
		for _, id := range all {
			_, fold, _ := strings.Cut(id, ".")
			folds[fold] = true
		}
		return metrics.MeanOfPartitions(d, len(folds)), len(d), nil
	}
	return metrics.MeanOf(d), len(d), nil
}

// differences are those of a unit between two rows over the lines of single trainings, which ids name; nil: a line lacks it. A row without such
// lines is the same in all.
func differences(sa, sb map[string]metrics.Measurement, unit string) (ids []string, d []float64) {
	if ids = sortedKeys(sa); len(ids) == 0 {
		ids = sortedKeys(sb)
	}
	for _, id := range ids {
		x := 0.0
		for _, side := range []struct {
			of   map[string]metrics.Measurement
			sign float64
		}{{sa, 1}, {sb, -1}} {
			m, trained := side.of[id]
			if !trained {
				continue // a constant, which no spread sees
			}
			v, ok := m.Value(unit)
			if !ok {
				return ids, nil
			}
			x += side.sign * v.Number
		}
		d = append(d, x)
	}
	return ids, d
}

// inPartitions tells the error of partitions from that of questions in an interval on recorded answers, which has both as it was measured: at
// other tails partitions go by Student's t. each is the number in every one of them, of so many folds. Where no line tells it, or nothing says
// how many folds share their questions, all of the interval may be theirs, and goes by t.
func (c *Contrast) inPartitions(each []float64, partitions, folds int) {
	switch {
	case !c.Bounded || partitions < 2:
	case len(each) < partitions || folds < 2:
		c.freedom = float64(partitions - 1)
	default:
		c.spread = metrics.MeanOfPartitions(each, folds)
		half := c.spread.Half(0.025)
		for side, reach := range c.questions {
			c.questions[side] = math.Sqrt(max(reach*reach-half*half, 0))
		}
	}
}
