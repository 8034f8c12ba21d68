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

// curvePoints is how many points of a stage are kept at most: steps are averaged over windows of equal length.
const curvePoints = 50

// curveRows are the rows whose training an output shows.
func curveRows(o spec.Output) []string {
	if o.Rows == nil {
		return []string{referenceRow}
	}
	return o.Rows
}

// planCurves plans the measurement of what the trainings of some rows went through.
func (e *engine) planCurves(rows []string) (*step, error) {
	params := struct {
		Pool   string
		Rows   []string
		Points int
	}{e.poolSpec.Name, rows, curvePoints}
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
			lines, err := measureCurves(keys("pool", e.poolSpec.Name, "method", id), e.ids(), ids, seeds)
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
		window := (n + curvePoints - 1) / curvePoints
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
			here := append(slices.Clone(at), keys("stage", stage, "step", fmt.Sprintf("%0*d", len(strconv.Itoa(n)), points[from].step))...)
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
					out = append(out, metrics.Measurement{Name: "Curve", Keys: append(slices.Clone(here), keys("seed", fmt.Sprint(id))...), N: 1, Values: all(seeds[k : k+1])})
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

// trainingFigure draws training curves.
func (r *Result) trainingFigure(o spec.Output) (*report.Figure, error) {
	l := report.TrainingLayout{Name: o.File, Strongest: r.strongest(r.Spec.Pools[0])}
	for _, m := range r.shown(curveRows(o)) {
		l.Methods = append(l.Methods, report.Term{Value: m.RowID(), Label: m.RowLabel()})
	}
	lines := meansOf(r.seeds(), "training seed")
	if r.seeds() > 1 {
		lines += " and bands their range"
	}
	l.Caption = r.Spec.Experiment.Title + ": what training goes through" + r.scale() + fmt.Sprintf(" Lines are %s; a stage of more than %d steps is averaged over windows, at most %d of them. ", lines, curvePoints, curvePoints) +
		"Values are those before a step. A group is idle, and teaches nothing, if all its rollouts got one reward. The reward of Stage II is the one that the row is trained on: rows with other rewards are not comparable in (d)."
	return report.Training(l, r.Measurements)
}

// seedsFigure draws the training seeds of rows beside the interval over questions.
func (r *Result) seedsFigure(o spec.Output) (*report.Figure, error) {
	x := &r.Spec.Experiment
	l := report.SeedsLayout{Name: o.File, Panels: []report.Quantity{
		{Unit: metrics.Accuracy, Label: "Accuracy (%)"},
		{Unit: CostShare, Label: "Cost (% of the strongest's)"},
		{Unit: HullGain, Label: "Hull gain (points)", Zero: true},
	}}
	for _, m := range r.shown(o.Rows) {
		at := keys("arena", r.arena(), "method", m.RowID(), "benchmark", metrics.Average, "knob", "")
		single := slices.ContainsFunc(r.Measurements.Where(at...), func(m metrics.Measurement) bool { return m.Key("seed") != "" })
		if single || o.Rows != nil {
			l.Rows = append(l.Rows, report.Mark{Label: m.RowLabel(), Keys: at})
		}
	}
	if len(l.Rows) == 0 {
		return nil, fmt.Errorf("%w: output %s: no row of spec %s was trained with more than one seed; name more in evaluate.seeds", ErrUsage, o.File, x.Name)
	}
	bars := fmt.Sprintf("%g%% intervals", 100*x.Evaluate.Confidence)
	of := fmt.Sprintf(" Rings are %d training seeds, which is luck in training; bars are %s of their mean", r.seeds(), bars)
	if r.seeds() == 1 {
		of = " Of luck in training one training seed says nothing. Bars are " + bars
	}
	l.Caption = x.Title + r.scale() + r.scored() + of + " over questions with trained routers held fixed, which is luck in the questions. Rows that spend what another spends vary with it."
	return report.Seeds(l, r.Measurements)
}
