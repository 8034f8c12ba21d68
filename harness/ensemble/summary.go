// What an ensemble says of a contrast.

package ensemble

import (
	"maps"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/table"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Share says on how many pools a number of a row is above 0, and between which numbers it lies.
type Share struct {
	Row, Unit           string
	Pools               int // with the number
	Above, Below        int // pools on which it is above 0, and below
	Median, Least, Most float64
}

// contrasted are the numbers of a row that have a sign: against the reference row, and against the coin flips between fixed experts.
var contrasted = []string{units.Difference, units.Lead, units.OtherLead, units.HullGain}

// kept are the numbers of a row that stay of a pool.
var kept = append([]string{metrics.Accuracy, units.CostShare, units.CostDifference}, contrasted...)

// Lines are what was measured on the pools, averages over the larger set's benchmarks, as lines of one experiment. One pool's numbers have no
// interval: what counts is how they differ between pools.
func Lines(experiment string, measured []*metrics.Set) *metrics.Set {
	out := &metrics.Set{}
	for _, set := range measured {
		for _, r := range set.Recipes() {
			r.Step += " of " + set.Measurements[0].Key("pool") // it has one
			out.Comment = append(out.Comment, r.String())
		}
		for _, line := range averages(set) {
			own := metrics.Measurement{Name: line.Name, N: line.N}
			for _, k := range line.Keys {
				if k.Name == "experiment" {
					k.Value = experiment
				}
				own.Keys = append(own.Keys, k)
			}
			for _, unit := range kept {
				if v, ok := line.Value(unit); ok {
					v.Bounded, v.Low, v.High = false, 0, 0
					own.Values = append(own.Values, v)
				}
			}
			out.Measurements = append(out.Measurements, own)
		}
	}
	return out
}

// ByPool divides what Lines made by pools, in the order of their names.
func ByPool(lines *metrics.Set) (measured []*metrics.Set) {
	of := map[string]*metrics.Set{}
	for _, line := range lines.Measurements {
		pool := line.Key("pool")
		if of[pool] == nil {
			of[pool] = &metrics.Set{}
		}
		of[pool].Measurements = append(of[pool].Measurements, line)
	}
	for _, pool := range slices.Sorted(maps.Keys(of)) {
		measured = append(measured, of[pool])
	}
	return measured
}

// averages are the lines of the rows on the larger set, over all benchmarks and trainings.
func averages(set *metrics.Set) (lines []metrics.Measurement) {
	for _, line := range set.Where(metrics.Keys("arena", metrics.LargeArena, "benchmark", metrics.Average, "seed", "")...) {
		if line.Name == "Route" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Shares summarises what was measured on the pools, averages over the larger set's benchmarks, rows in the order of the first pool.
func Shares(measured []*metrics.Set) (shares []Share) {
	type key struct{ row, unit string }
	numbers := map[key][]float64{}
	var order []key
	for _, set := range measured {
		for _, line := range averages(set) {
			for _, unit := range contrasted {
				v, ok := line.Value(unit)
				if !ok {
					continue
				}
				k := key{line.Key("method"), unit}
				if numbers[k] == nil {
					order = append(order, k)
				}
				numbers[k] = append(numbers[k], v.Number)
			}
		}
	}
	for _, k := range order {
		all := slices.Sorted(slices.Values(numbers[k]))
		s := Share{Row: k.row, Unit: k.unit, Pools: len(all), Least: all[0], Most: all[len(all)-1], Median: (all[(len(all)-1)/2] + all[len(all)/2]) / 2}
		for _, v := range all {
			switch {
			case v > 0:
				s.Above++
			case v < 0:
				s.Below++
			}
		}
		shares = append(shares, s)
	}
	return shares
}

var shareColumns = []table.Column[Share]{
	table.Text("row", func(s *Share) *string { return &s.Row }),
	table.Text("number", func(s *Share) *string { return &s.Unit }),
	table.Int("pools", func(s *Share) *int { return &s.Pools }),
	table.Int("above 0", func(s *Share) *int { return &s.Above }),
	table.Int("below 0", func(s *Share) *int { return &s.Below }),
	table.Float("median", 3, func(s *Share) *float64 { return &s.Median }),
	table.Float("from", 3, func(s *Share) *float64 { return &s.Least }),
	table.Float("to", 3, func(s *Share) *float64 { return &s.Most }),
}

// ShareRecords are the lines of a CSV file of them, heads first.
func ShareRecords(shares []Share) [][]string { return table.Records(shareColumns, shares) }

// PoolRecords are the lines of a CSV file, heads first, of which knobs every pool has.
func PoolRecords(e *spec.Ensemble, members []Member) [][]string {
	columns := []table.Column[Member]{table.Text("pool", func(m *Member) *string { return &m.Pool.Name })}
	for _, r := range e.Ranges() {
		columns = append(columns, table.Float(r.Knob, 4, func(m *Member) *float64 { return r.Of(&m.Knobs) }))
	}
	return table.Records(columns, members)
}
