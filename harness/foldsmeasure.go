package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

// bothStrata is the stratum of all questions.
const bothStrata = "all"

// benchmarkRow is the row that leads are taken over, if the spec has it.
const benchmarkRow = "benchmark"

// foldsRow is a row in one partition, as scoring needs it.
type foldsRow struct {
	accuracy, usd []float64 // [Q] of its own decisions
	sweep         [][]int   // [knobs][Q] choices at every setting; nil: no knob
}

// measure writes the measurements of a pool: for all questions and for each benchmark, every row's accuracy and
// dollars, its hull gain at its own cost and, of a router with a knob, its gain at three budgets and on average.
// Everything is computed inside each test fold, averaged over the folds by their questions and then over partitions;
// resamples draw the same questions in every partition.
func (c *recorded) measure(ctx context.Context, d *store.Draft) error {
	queries := make([]routing.Query, len(c.problems))
	for q, p := range c.problems {
		queries[q] = routing.Query{Problem: p}
	}
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
			entry, err := c.e.get(ctx, f.step)
			if err != nil {
				return err
			}
			decisions, err := readDecisions(entry, "folds", queries, m)
			if err != nil {
				return err
			}
			r := foldsRow{accuracy: make([]float64, n), usd: make([]float64, n)}
			for q, x := range decisions {
				for j := range m {
					weight := 0.0
					if x.Expert == j {
						weight = 1
					} else if x.Expert == routing.Expected {
						weight = x.Prob[j]
					}
					r.accuracy[q] += weight * accuracy[j][q]
					r.usd[q] += weight * usd[j][q]
				}
			}
			sweep, err := readSweep(entry)
			if err != nil {
				return err
			}
			r.sweep = sweep
			rows[i] = append(rows[i], r)
		}
	}
	set := &metrics.Set{}
	benchmarks := []string{bothStrata}
	for _, p := range c.problems {
		if !slices.Contains(benchmarks, p.Benchmark) {
			benchmarks = append(benchmarks, p.Benchmark)
		}
	}
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

// measureStratum measures the questions of one benchmark, or all of them.
func (c *recorded) measureStratum(benchmark string, accuracy, usd [][]float64, rows [][]foldsRow) []metrics.Measurement {
	x := &c.e.spec.Experiment
	var inside, strata []int
	names := map[string]int{}
	for q, p := range c.problems {
		if benchmark != bothStrata && p.Benchmark != benchmark {
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
	reference := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == benchmarkRow })
	ours := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == referenceRow })

	strong := pick(usd[len(usd)-1], inside)
	const budgets = 5 // where the numbers of the budgets begin
	const differences = budgets + 2*len(foldBudgets)
	const perRow = differences + 3
	nr := len(x.Methods)
	stat := func(w, out []float64) {
		clear(out)
		share := 1 / float64(len(rows))
		for i := range rows {
			paths := folds[i].Under(w)
			var control *metrics.FoldCurves
			if reference >= 0 && sweeps[i][reference] != nil {
				control = paths.Curves(sweeps[i][reference])
			}
			for j := range nr {
				o := out[j*perRow : (j+1)*perRow]
				o[0] += share * metrics.WeightedMean(quality[i][j], w)
				o[1] += share * 100 * metrics.WeightedMean(dollars[i][j], w) / metrics.WeightedMean(strong, w)
				o[2] += share * paths.Gain(quality[i][j], dollars[i][j])
				if control != nil {
					o[4] += share * control.Lead(quality[i][j], dollars[i][j])
				}
				if sweeps[i][j] == nil {
					continue
				}
				curves := paths.Curves(sweeps[i][j])
				o[3] += share * curves.MeanGain()
				for b, percent := range foldBudgets {
					o[budgets+2*b] += share * curves.GainAt(float64(percent)/100)
					o[budgets+2*b+1] += share * curves.QualityAt(float64(percent)/100)
				}
			}
		}
		if ours < 0 {
			return
		}
		for j := range nr {
			for k := range 3 { // accuracy, cost share, hull gain
				out[j*perRow+differences+k] = out[j*perRow+k] - out[ours*perRow+k]
			}
		}
	}
	point, samples := metrics.Bootstrap(strata, x.Evaluate.Bootstrap, uint64(seed.Seed(x.Seed).Derive("bootstrap", c.e.poolSpec.Name, benchmark)), nr*perRow, stat)
	var out []metrics.Measurement
	for j, row := range x.Methods {
		value := func(k int, unit string) metrics.Value {
			v := metrics.Rounded(point[j*perRow+k], unit, 3)
			if x.Evaluate.Bootstrap > 0 {
				low, high := metrics.Interval(samples[j*perRow+k], x.Evaluate.Confidence)
				v = v.Within(low, high)
			}
			return v
		}
		line := metrics.Measurement{Name: "Route", N: len(inside), Keys: []metrics.Key{
			{Name: "pool", Value: c.e.poolSpec.Name}, {Name: "method", Value: row.RowID()}, {Name: "benchmark", Value: benchmark},
		}, Values: []metrics.Value{value(0, metrics.Accuracy), value(1, CostShare), value(2, HullGain), metrics.Rounded(float64(len(inside)), metrics.Questions, 0)}}
		if reference >= 0 && row.RowID() != benchmarkRow {
			line.Values = append(line.Values, value(4, Lead))
		}
		if ours >= 0 && j != ours {
			line.Values = append(line.Values, value(differences, Difference), value(differences+2, HullDifference), value(differences+1, CostDifference))
		}
		if sweeps[0][j] != nil {
			line.Values = append(line.Values, value(3, MeanGain))
			for b, percent := range foldBudgets {
				line.Values = append(line.Values, value(budgets+2*b, fmt.Sprintf(GainAt, percent)), value(budgets+2*b+1, fmt.Sprintf(QualityAt, percent)))
			}
		}
		var over []float64 // partitions
		for i := range rows {
			single := line
			single.Keys = append(slices.Clone(line.Keys), metrics.Key{Name: "seed", Value: fmt.Sprint(c.partition[i].seed)})
			ones := slices.Repeat([]float64{1}, len(inside))
			paths := folds[i].Under(ones)
			single.Values = []metrics.Value{
				metrics.Rounded(metrics.WeightedMean(quality[i][j], ones), metrics.Accuracy, 3),
				metrics.Rounded(100*metrics.WeightedMean(dollars[i][j], ones)/metrics.WeightedMean(strong, ones), CostShare, 3),
				metrics.Rounded(paths.Gain(quality[i][j], dollars[i][j]), HullGain, 3),
			}
			gain := paths.Gain(quality[i][j], dollars[i][j])
			if sweeps[i][j] != nil {
				gain = paths.Curves(sweeps[i][j]).MeanGain()
				single.Values = append(single.Values, metrics.Rounded(gain, MeanGain, 3))
			}
			over = append(over, gain)
			out = append(out, single)
		}
		if len(over) > 1 {
			line.Values = append(line.Values, metrics.Rounded(deviation(over), FoldsSD, 3))
		}
		out = append(out, line)
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
