// Verdicts over an ensemble of simulated pools: on how many of them a sentence is true.

package paper

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// over summarises a number of a sentence, one a pool; sign is above 0 where the sentence is true, and below where its contrary is.
func over(numbers []float64, unit string, sign func(float64) int) *Contrast {
	slices.Sort(numbers)
	n := len(numbers)
	p := &Pools{Of: n, Least: numbers[0], Most: numbers[n-1]}
	for _, x := range numbers {
		switch s := sign(x); {
		case s > 0:
			p.Came++
		case s < 0:
			p.Not++
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
	var deltas, costs, ours, theirs []float64
	pools := measured.pools(experiment, scale)
	for _, pool := range pools {
		one := scale.of(pool)
		ma, err := measured.line(experiment, one, a)
		if err != nil {
			return o.notRun(j, experiment, measured, err)
		}
		mb, err := measured.line(experiment, one, b)
		if err != nil {
			return o.notRun(j, experiment, measured, err)
		}
		for _, of := range []struct {
			unit string
			into *[]float64
		}{{unitsOf(x.Metric).own, &deltas}, {metricUnits["cost"].own, &costs}} {
			va, okA := ma.Value(of.unit)
			vb, okB := mb.Value(of.unit)
			if okA && okB && x.Metric != atEqualCost {
				*of.into = append(*of.into, va.Number-vb.Number)
			}
		}
		equal, err := o.equalCost(measured, experiment, one, a, b)
		if err != nil {
			return j, err
		}
		switch {
		case equal != nil && x.Metric == atEqualCost:
			deltas = append(deltas, equal.better().Number)
			if ours, theirs := equal.A.Number, equal.B.Number; ours > 0 == (theirs > 0) {
				deltas[len(deltas)-1] = 0 // neither leads, or each does at its own cost
			}
		case equal != nil:
			ours, theirs = append(ours, equal.A.Number), append(theirs, equal.B.Number)
		}
	}
	if len(deltas) == 0 {
		return o.notRun(j, experiment, measured, errNotRun)
	}
	if len(pools) == 1 { // it is no ensemble, and says nothing of other pools
		j.Verdict, j.Missing = NotRun, experiment+" on more than one pool"
		return j, nil
	}
	j.Delta = over(deltas, unitsOf(x.Metric).own, x.sign)
	j.Verdict = j.Delta.Pools.verdict()
	if x.Metric == "accuracy" {
		if len(costs) == len(deltas) {
			j.Cost = over(costs, metricUnits["cost"].own, x.sign)
		}
		if len(ours) == len(deltas) && x.Is != "level" {
			lead := ours
			if x.Is == "below" {
				lead = theirs
				for i := range lead {
					lead[i] = -lead[i]
				}
			}
			j.Equal = &EqualCost{Told: *over(lead, leadUnit, x.sign)}
			j.AtEqual = j.Equal.Told.Pools.verdict()
		}
	}
	if rest := overruled(rows.Needs); rest != "" {
		j.Verdict, j.Shows, j.Reason = rest, j.Verdict, rows.Reason
	}
	return j, nil
}

func (o *Orderings) notRun(j Judged, experiment string, measured *Measurements, err error) (Judged, error) {
	if !errors.Is(err, errNotRun) {
		return j, err
	}
	j.Verdict, j.Missing = NotRun, experiment
	if measured.of[experiment] != nil {
		j.Missing += " without these rows"
	}
	return j, nil
}

// sign is above 0 if a difference A - B has what the sentence says, and below if it has the contrary.
func (o *Ordering) sign(d float64) int {
	switch {
	case o.Is == "below":
		return cmp.Compare(0, d)
	case o.Is == "above":
		return cmp.Compare(d, 0)
	case d >= -o.Margin && d <= o.Margin:
		return 1
	}
	return -1
}

// of is a scale of one pool.
func (s Scale) of(pool string) Scale {
	keys := map[string]string{"pool": pool}
	maps.Copy(keys, s.Keys)
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
