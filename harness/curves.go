package harness

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
)

const curvesVersion = 2

// planCurves plans the measurement of what the trainings of some rows went through.
func (e *engine) planCurves(rows []string) (*step, error) {
	params := struct {
		Pool   string
		Rows   []string
		Points int
	}{e.poolSpec.Name, rows, report.CurvePoints}
	var inputs []*step
	var fits [][]*fit // [rows][seeds]
	for _, id := range rows {
		i := slices.IndexFunc(e.spec.Experiment.Methods, func(m spec.Method) bool { return m.RowID() == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: spec %s: a training figure shows the row %q, which methods does not have", ErrUsage, e.spec.Experiment.Name, id)
		}
		fits = append(fits, e.fits[i])
		for _, f := range e.fits[i] {
			inputs = append(inputs, f.step)
		}
	}
	return e.newStep("training curves", "curves", curvesVersion, params, inputs, func(ctx context.Context, d *store.Draft) error {
		set := &metrics.Set{}
		for i, id := range rows {
			var seeds [][]curvePoint
			var ids []uint64
			for _, f := range fits[i] {
				points, err := f.curve(ctx)
				if err != nil {
					return fmt.Errorf("row %s: %w", id, err)
				}
				seeds, ids = append(seeds, points), append(ids, f.seed)
			}
			lines, err := measureCurves(metrics.Keys("pool", e.poolSpec.Name, "method", id), e.ids(), ids, seeds)
			if err != nil {
				return fmt.Errorf("row %s: %w", id, err)
			}
			set.Measurements = append(set.Measurements, lines...)
		}
		w, err := d.Create("measurements.txt")
		if err != nil {
			return err
		}
		return errors.Join(set.Write(w), w.Close())
	})
}

// curvePoint is a line of curve.csv. What was not measured is NaN.
type curvePoint struct {
	stage                               string
	step                                int
	loss, reward, entropy, anchor, zero float64
	share                               []float64 // [M]
}

// curve reads what the training of a fit left behind.
func (f *fit) curve(ctx context.Context) ([]curvePoint, error) {
	entry, err := f.e.get(ctx, f.step)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(entry.Files, func(f store.File) bool { return f.Name == "curve.csv" }) {
		return nil, fmt.Errorf("%w: method %s writes no training curve", ErrUsage, f.row.Name)
	}
	file, err := entry.Open("curve.csv")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), err)
	}
	column := map[string]int{}
	for i, name := range lines[0] {
		column[name] = i
	}
	for _, name := range []string{"stage", "step", "loss", "reward", "entropy", "anchor_kl", "zero_groups"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("%s has no column %q", file.Name(), name)
		}
	}
	var points []curvePoint
	for i, line := range lines[1:] {
		var bad error
		at := func(name string) float64 {
			text := line[column[name]]
			if text == "" {
				return math.NaN()
			}
			v, err := strconv.ParseFloat(text, 64)
			bad = errors.Join(bad, err)
			return v
		}
		p := curvePoint{stage: line[column["stage"]], step: int(at("step")), loss: at("loss"), reward: at("reward"),
			entropy: at("entropy"), anchor: at("anchor_kl"), zero: at("zero_groups")}
		for _, id := range f.e.ids() {
			if _, ok := column["share:"+id]; ok {
				p.share = append(p.share, at("share:"+id))
			}
		}
		if bad != nil {
			return nil, fmt.Errorf("%s:%d: %w", file.Name(), i+2, bad)
		}
		points = append(points, p)
	}
	return points, nil
}

// measureCurves averages the curves of the seeds, and each over windows of steps. Low and high of a value are the least
// and the most over seeds, and one seed has none; the key step is the first step of a window. The first and the last
// window of a stage have lines of single seeds as well, so that what a stage changed can be told seed by seed. ids [seeds]
// are the training seeds.
func measureCurves(at []metrics.Key, experts []string, ids []uint64, seeds [][]curvePoint) ([]metrics.Measurement, error) {
	for _, s := range seeds {
		if len(s) != len(seeds[0]) {
			return nil, fmt.Errorf("curves of %d and %d steps", len(seeds[0]), len(s))
		}
	}
	var out []metrics.Measurement
	points := seeds[0]
	for first := 0; first < len(points); {
		stage := points[first].stage
		n := 0
		for first+n < len(points) && points[first+n].stage == stage {
			n++
		}
		window := (n + report.CurvePoints - 1) / report.CurvePoints
		for from := first; from < first+n; from += window {
			to := min(from+window, first+n)
			over := func(some [][]curvePoint, unit string, decimals int, scale float64, of func(curvePoint) float64) []metrics.Value {
				return ranged(some, unit, decimals, func(s []curvePoint) float64 {
					var x float64
					for _, p := range s[from:to] {
						x += scale * of(p) / float64(to-from)
					}
					return x
				})
			}
			here := append(slices.Clone(at), metrics.Keys("stage", stage, "step", fmt.Sprintf("%0*d", len(strconv.Itoa(n)), points[from].step))...)
			all := func(some [][]curvePoint) (values []metrics.Value) {
				if stage == "sft" {
					values = over(some, report.Loss, 4, 1, func(p curvePoint) float64 { return p.loss })
				}
				return slices.Concat(values,
					over(some, report.RewardUnit, 4, 1, func(p curvePoint) float64 { return p.reward }),
					over(some, report.PolicyEntropy, 4, 1, func(p curvePoint) float64 { return p.entropy }),
					over(some, report.AnchorKL, 4, 1, func(p curvePoint) float64 { return p.anchor }),
					over(some, report.ZeroGroups, 2, 100, func(p curvePoint) float64 { return p.zero }))
			}
			out = append(out, metrics.Measurement{Name: "Curve", Keys: here, N: len(seeds), Values: all(seeds)})
			if len(seeds) > 1 && (from == first || to == first+n) {
				for k, id := range ids {
					out = append(out, metrics.Measurement{Name: "Curve", Keys: append(slices.Clone(here), metrics.Keys("seed", fmt.Sprint(id))...), N: 1, Values: all(seeds[k : k+1])})
				}
			}
			for e, id := range experts[:len(points[from].share)] {
				out = append(out, metrics.Measurement{Name: "Curve", Keys: append(slices.Clone(here), metrics.Key{Name: "expert", Value: id}), N: len(seeds),
					Values: over(seeds, report.Share, 2, 100, func(p curvePoint) float64 { return p.share[e] })})
			}
		}
		first += n
	}
	return out, nil
}

// ranged is the mean over seeds of a number with the least and the most of them; nothing if it was not measured. One
// seed has no range.
func ranged[T any](seeds []T, unit string, decimals int, of func(T) float64) []metrics.Value {
	var mean float64
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range seeds {
		x := of(s)
		mean += x / float64(len(seeds))
		low, high = min(low, x), max(high, x)
	}
	if math.IsNaN(mean) {
		return nil
	}
	v := metrics.Rounded(mean, unit, decimals)
	if len(seeds) > 1 {
		v = v.Within(low, high)
	}
	return []metrics.Value{v}
}
