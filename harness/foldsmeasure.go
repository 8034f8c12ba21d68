package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

// foldsRow is a row in one partition, as scoring needs it.
type foldsRow struct {
	accuracy, usd []float64 // [Q] of its own decisions
	sweep         [][]int   // [knobs][Q] choices at every setting; nil: no knob
}

// measure writes the measurements of a pool: for all questions and for each benchmark, every row's accuracy and
// dollars, its hull gain at its own cost and, of a router with a knob, its gain at three budgets and on average; and,
// on lines of their own (Contrast), the differences between rows that the spec asks for.
// Everything is computed inside each test fold, averaged over the folds by their questions and then over partitions;
// resamples draw the same questions in every partition.
func (c *recorded) measure(ctx context.Context, d *store.Draft) error {
	n, m := len(c.problems), len(c.e.experts)
	accuracy, usd := make([][]float64, m), make([][]float64, m) // [M][Q]
	for j := range m {
		accuracy[j], usd[j] = make([]float64, n), make([]float64, n)
		for q := range n {
			o := c.outcome(q, j)
			accuracy[j][q], usd[j][q] = 100*o.Correct, o.USD
		}
	}
	rows := make([][]foldsRow, len(c.partition)) // [partitions][rows]
	for i, p := range c.partition {
		for _, f := range p.rows {
			decisions, err := c.decisions(ctx, f)
			if err != nil {
				return err
			}
			r := foldsRow{accuracy: make([]float64, n), usd: make([]float64, n)}
			for q, x := range decisions {
				for j, weight := range stands(x, m) {
					r.accuracy[q] += weight * accuracy[j][q]
					r.usd[q] += weight * usd[j][q]
				}
			}
			entry, err := c.e.get(ctx, f.step)
			if err != nil {
				return err
			}
			if r.sweep, err = readSweep(entry); err != nil {
				return err
			}
			rows[i] = append(rows[i], r)
		}
	}
	set := &metrics.Set{}
	benchmarks := c.strata()
	c.e.opt.Progress.Start("measuring "+c.e.poolSpec.Name, len(benchmarks))
	defer c.e.opt.Progress.Done()
	for _, b := range benchmarks {
		set.Measurements = append(set.Measurements, c.measureStratum(b, accuracy, usd, rows)...)
		c.e.opt.Progress.Add(1)
	}
	w, err := d.Create("measurements.txt")
	if err != nil {
		return err
	}
	return errors.Join(set.Write(w), w.Close())
}

// contrast is a pair of rows whose difference is measured.
type contrast struct {
	row, versus int  // indices of rows
	line        bool // it has a line of its own
}

// contrasts are the pairs that the spec asks for, and every row with the benchmark-identity router.
func contrasts(x *spec.Experiment) []contrast {
	index := func(id string) int {
		return slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == id })
	}
	var out []contrast
	for j, m := range x.Methods {
		asked := slices.Concat(x.Folds.Versus, m.Versus)
		for at, id := range append(slices.Clone(asked), methods.BenchmarkRow) {
			if k := index(id); k >= 0 && k != j && !slices.Contains(asked[:min(at, len(asked))], id) {
				out = append(out, contrast{j, k, at < len(asked)})
			}
		}
	}
	return out
}

// measureStratum measures the questions of one benchmark, or all of them.
func (c *recorded) measureStratum(benchmark string, accuracy, usd [][]float64, rows [][]foldsRow) []metrics.Measurement {
	x := &c.e.spec.Experiment
	var inside, strata []int
	names := map[string]int{}
	for q, p := range c.problems {
		if benchmark != metrics.BothStrata && p.Benchmark != benchmark {
			continue
		}
		if _, ok := names[p.Benchmark]; !ok {
			names[p.Benchmark] = len(names)
		}
		inside = append(inside, q)
		strata = append(strata, names[p.Benchmark])
	}
	var folds []*metrics.Folds
	for _, p := range c.partition {
		fold := make([]int, len(inside))
		for i, q := range inside {
			fold[i] = p.fold[q]
		}
		folds = append(folds, metrics.NewFolds(fold, pickEach(accuracy, inside), pickEach(usd, inside)))
	}
	own := func(column func(foldsRow) []float64) [][][]float64 {
		out := make([][][]float64, len(rows))
		for i := range rows {
			for _, r := range rows[i] {
				out[i] = append(out[i], pick(column(r), inside))
			}
		}
		return out
	}
	quality, dollars := own(func(r foldsRow) []float64 { return r.accuracy }), own(func(r foldsRow) []float64 { return r.usd })
	sweeps := make([][]*metrics.Sweep, len(rows))
	for i := range rows {
		for _, r := range rows[i] {
			var s *metrics.Sweep
			if r.sweep != nil {
				choices := make([][]int, len(r.sweep))
				for k, all := range r.sweep {
					for _, q := range inside {
						choices[k] = append(choices[k], all[q])
					}
				}
				s = metrics.NewSweep(choices)
			}
			sweeps[i] = append(sweeps[i], s)
		}
	}

	strong := pick(usd[len(usd)-1], inside)
	pairs := contrasts(x)
	nr := len(x.Methods)
	// Of each row: accuracy, cost share, hull gain, mean gain, then gain and accuracy at each budget. Of each pair: lead.
	const perRow = 4 + 2*len(foldBudgets)
	stat := func(w, out []float64) {
		clear(out)
		share := 1 / float64(len(rows))
		for i := range rows {
			paths := folds[i].Under(w)
			curves := make([]*metrics.FoldCurves, nr)
			for j := range nr {
				o := out[j*perRow : (j+1)*perRow]
				o[0] += share * metrics.WeightedMean(quality[i][j], w)
				o[1] += share * 100 * metrics.WeightedMean(dollars[i][j], w) / metrics.WeightedMean(strong, w)
				o[2] += share * paths.Gain(quality[i][j], dollars[i][j])
				if sweeps[i][j] == nil {
					continue
				}
				curves[j] = paths.Curves(sweeps[i][j])
				o[3] += share * curves[j].MeanGain()
				for b, percent := range foldBudgets {
					o[4+2*b] += share * curves[j].GainAt(float64(percent)/100)
					o[5+2*b] += share * curves[j].QualityAt(float64(percent)/100)
				}
			}
			for k, p := range pairs {
				if curves[p.versus] != nil {
					out[nr*perRow+k] += share * curves[p.versus].Lead(quality[i][p.row], dollars[i][p.row])
				}
			}
		}
	}
	point, samples := metrics.Bootstrap(strata, x.Evaluate.Bootstrap, uint64(seed.Seed(x.Seed).Derive("bootstrap", c.e.poolSpec.Name, benchmark)), nr*perRow+len(pairs), stat)
	rounded := func(number float64, of []float64, unit string) metrics.Value {
		return metrics.Estimated(number, of, x.Evaluate.Confidence, unit, 3)
	}
	value := func(k int, unit string) metrics.Value { return rounded(point[k], samples[k], unit) }
	// Two statistics of one resample share its weights: their difference is paired.
	difference := func(a, b int, unit string) metrics.Value {
		of := make([]float64, len(samples[a]))
		for i := range of {
			of[i] = samples[a][i] - samples[b][i]
		}
		return rounded(point[a]-point[b], of, unit)
	}
	reference := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == methods.ReferenceRow })
	var out []metrics.Measurement
	for j, row := range x.Methods {
		at := j * perRow
		line := metrics.Measurement{Name: "Route", N: len(inside), Keys: []metrics.Key{
			{Name: "pool", Value: c.e.poolSpec.Name}, {Name: "method", Value: row.RowID()}, {Name: "benchmark", Value: benchmark},
		}, Values: []metrics.Value{value(at, metrics.Accuracy), value(at+1, units.CostShare), value(at+2, units.HullGain), metrics.Rounded(float64(len(inside)), metrics.Questions, 0)}}
		if reference >= 0 && reference != j {
			line.Values = append(line.Values, difference(at, reference*perRow, units.Difference), difference(at+1, reference*perRow+1, units.CostDifference),
				difference(at+2, reference*perRow+2, units.HullDifference))
		}
		for k, p := range pairs {
			if p.row == j && x.Methods[p.versus].RowID() == methods.BenchmarkRow && sweeps[0][p.versus] != nil {
				line.Values = append(line.Values, value(nr*perRow+k, units.Lead))
			}
		}
		if sweeps[0][j] != nil {
			line.Values = append(line.Values, value(at+3, units.MeanGain))
			for b, percent := range foldBudgets {
				line.Values = append(line.Values, value(at+4+2*b, fmt.Sprintf(units.GainAt, percent)), value(at+5+2*b, fmt.Sprintf(units.QualityAt, percent)))
			}
		}
		var over []float64 // partitions
		for i := range rows {
			single := line
			single.Keys = append(slices.Clone(line.Keys), metrics.Key{Name: "seed", Value: fmt.Sprint(c.partition[i].seed)})
			ones := slices.Repeat([]float64{1}, len(inside))
			paths := folds[i].Under(ones)
			gain := paths.Gain(quality[i][j], dollars[i][j])
			single.Values = []metrics.Value{
				metrics.Rounded(metrics.WeightedMean(quality[i][j], ones), metrics.Accuracy, 3),
				metrics.Rounded(gain, units.HullGain, 3),
			}
			if sweeps[i][j] != nil {
				gain = paths.Curves(sweeps[i][j]).MeanGain()
				single.Values = append(single.Values, metrics.Rounded(gain, units.MeanGain, 3))
			}
			over = append(over, gain)
			out = append(out, single)
		}
		if len(over) > 1 {
			line.Values = append(line.Values, metrics.Rounded(deviation(over), units.FoldsSD, 3))
		}
		out = append(out, line)
	}
	for k, p := range pairs {
		if !p.line {
			continue
		}
		a, b := p.row*perRow, p.versus*perRow
		line := metrics.Measurement{Name: "Contrast", N: len(inside), Keys: []metrics.Key{
			{Name: "pool", Value: c.e.poolSpec.Name}, {Name: "row", Value: x.Methods[p.row].RowID()},
			{Name: "versus", Value: x.Methods[p.versus].RowID()}, {Name: "benchmark", Value: benchmark},
		}, Values: []metrics.Value{difference(a, b, units.Difference), difference(a+1, b+1, units.CostDifference), difference(a+2, b+2, units.HullDifference)}}
		if sweeps[0][p.versus] != nil {
			line.Values = append(line.Values, value(nr*perRow+k, units.LeadOver))
		}
		if sweeps[0][p.row] != nil && sweeps[0][p.versus] != nil {
			line.Values = append(line.Values, difference(a+3, b+3, units.MeanDifference))
		}
		out = append(out, line)
	}
	for i := range out {
		out[i].Values = metrics.Defined(out[i].Values)
	}
	return out
}

func pick(column []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for i, q := range at {
		out[i] = column[q]
	}
	return out
}

func pickEach(columns [][]float64, at []int) [][]float64 {
	var out [][]float64
	for _, c := range columns {
		out = append(out, pick(c, at))
	}
	return out
}
