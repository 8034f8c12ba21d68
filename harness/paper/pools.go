// Verdicts over an ensemble of simulated pools: on how many of them a sentence is true.

package paper

import (
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
)

// Pools says on how many pools a sentence is true, and where its number lies.
type Pools struct {
	Came, Of    int
	Least, Most float64
}

// nearly is the share of pools on which a sentence has to be true, or not, for a verdict: 23 of 24.
const nearly = 0.95

func (p Pools) verdict() string {
	switch share := float64(p.Came) / float64(p.Of); {
	case share >= nearly:
		return Confirmed
	case share <= 1-nearly:
		return Refuted
	}
	return Inconclusive
}

// number says on how many pools the sentence is true, and prints the median with its range.
func (p Pools) number(median float64, decimals int) string {
	return fmt.Sprintf("on %d of %d pools, %s (%s to %s)", p.Came, p.Of, signed(median, decimals), report.Fixed(p.Least, decimals), report.Fixed(p.Most, decimals))
}

// over summarises a number of a sentence, one a pool; holds says of which numbers the sentence is true.
func over(numbers []float64, unit string, came func(float64) bool) *Contrast {
	slices.Sort(numbers)
	n := len(numbers)
	p := &Pools{Of: n, Least: numbers[0], Most: numbers[n-1]}
	for _, x := range numbers {
		if came(x) {
			p.Came++
		}
	}
	return &Contrast{Value: metrics.Value{Number: (numbers[(n-1)/2] + numbers[n/2]) / 2, Unit: unit}, Paired: true, Pools: p}
}

// judgePools gives an ordering its verdict over the pools of an ensemble. Rows of which a calibration fixes what they get are not
// in the list of the scale's rows, and a sentence about one is not stated there.
func (o *Orderings) judgePools(x *Ordering, rows Rows, scale Scale, measured *Measurements) (Judged, error) {
	j := Judged{Scale: scale}
	experiment := rows.Experiment
	a, b := o.sides(x, rows, scale)
	if !scale.named(a) || !scale.named(b) {
		return j, nil
	}
	var deltas, costs, ours, theirs []float64
	for _, pool := range measured.pools(experiment, scale) {
		one := scale.of(pool)
		line := func(at Place) (metrics.Measurement, error) {
			m, ok, err := measured.find(experiment, one, at)
			if err == nil && !ok {
				err = errNotRun
			}
			return m, err
		}
		ma, err := line(a)
		if err != nil {
			return o.notRun(j, experiment, measured, err)
		}
		mb, err := line(b)
		if err != nil {
			return o.notRun(j, experiment, measured, err)
		}
		for _, of := range []struct {
			unit string
			into *[]float64
		}{{unitsOf(x.Metric).own, &deltas}, {metricUnits["cost"].own, &costs}} {
			va, okA := ma.Value(of.unit)
			vb, okB := mb.Value(of.unit)
			if okA && okB {
				*of.into = append(*of.into, va.Number-vb.Number)
			}
		}
		equal, err := o.equalCost(measured, experiment, one, a, b)
		if err != nil {
			return j, err
		}
		if equal != nil {
			ours, theirs = append(ours, equal.A.Number), append(theirs, equal.B.Number)
		}
	}
	if len(deltas) == 0 {
		return o.notRun(j, experiment, measured, errNotRun)
	}
	j.Delta = over(deltas, unitsOf(x.Metric).own, x.has)
	j.Verdict = j.Delta.Pools.verdict()
	if x.Metric == "accuracy" {
		if len(costs) == len(deltas) {
			j.Cost = over(costs, metricUnits["cost"].own, x.has)
		}
		if len(ours) == len(deltas) && x.Is != "level" {
			lead := ours
			if x.Is == "below" {
				lead = theirs
				for i := range lead {
					lead[i] = -lead[i]
				}
			}
			j.Equal = &EqualCost{Told: *over(lead, leadUnit, x.has)}
			j.AtEqual = j.Equal.Told.Pools.verdict()
		}
	}
	if rest := overruled(rows.Needs); rest != "" {
		j.Verdict, j.Shows, j.Reason = rest, j.Verdict, rows.Reason
	}
	return j, nil
}

func (o *Orderings) notRun(j Judged, experiment string, measured *Measurements, err error) (Judged, error) {
	if err != errNotRun {
		return j, err
	}
	j.Verdict, j.Missing = NotRun, experiment
	if measured.of[experiment] != nil {
		j.Missing += " without these rows"
	}
	return j, nil
}

// has says whether a difference A - B has what the sentence says.
func (o *Ordering) has(d float64) bool {
	switch o.Is {
	case "above":
		return d > 0
	case "below":
		return d < 0
	}
	return d >= -o.Margin && d <= o.Margin
}

// named says whether a place is of a row that a scale names.
func (s Scale) named(at Place) bool {
	for _, name := range s.Rows {
		if name == at["method"] {
			return true
		}
	}
	return false
}

// of is a scale of one pool.
func (s Scale) of(pool string) Scale {
	keys := map[string]string{"pool": pool}
	for k, v := range s.Keys {
		keys[k] = v
	}
	s.Keys = keys
	return s
}

// pools lists the pools of an experiment on a scale, sorted.
func (s *Measurements) pools(experiment string, scale Scale) []string {
	var all []string
	for _, m := range s.of[experiment] {
		if pool := m.Key("pool"); scale.has(m) && !slices.Contains(all, pool) {
			all = append(all, pool)
		}
	}
	slices.Sort(all)
	return all
}
