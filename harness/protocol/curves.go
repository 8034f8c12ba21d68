// The step that measures what the trainings of some rows went through.

package protocol

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/units"
)

const curvesVersion = 2

// planCurves plans the measurement of what the trainings of some rows went through.
func (e *experiment) planCurves(rows []string) (*steps.Step, error) {
	p := e.Params(e.pool)
	p.PoolName()
	p.Code("points", units.CurvePoints)
	var shown []spec.Method
	var fits [][]*fit // [rows][seeds]
	for _, id := range rows {
		i := slices.IndexFunc(e.Spec.Experiment.Methods, func(m spec.Method) bool { return m.RowID() == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: spec %s: a training figure shows the row %q, which methods does not have", spec.ErrUsage, e.Spec.Experiment.Name, id)
		}
		shown, fits = append(shown, e.Spec.Experiment.Methods[i]), append(fits, e.fits[i])
	}
	p.Rows(shown)
	p.From[explain.RootRows] = explain.Origin{Path: "outputs"}
	inputs := fitInputs(p, fits...)
	return e.Add("training curves", "curves", curvesVersion, p, inputs, func(ctx context.Context, d *store.Draft) error {
		set := &metrics.Set{}
		for i, id := range rows {
			var seeds [][]score.Step
			var ids []uint64
			for _, f := range fits[i] {
				if report, err := f.report(ctx); err != nil {
					return err
				} else if report.Unfit != "" {
					continue
				}
				points, err := f.curve(ctx)
				if err != nil {
					return fmt.Errorf("row %s: %w", id, err)
				}
				seeds, ids = append(seeds, points), append(ids, f.seed)
			}
			if seeds == nil {
				continue
			}
			lines, err := score.Training(metrics.Keys("pool", e.pool.Name, "method", id), e.pool.IDs(), ids, seeds)
			if err != nil {
				return fmt.Errorf("row %s: %w", id, err)
			}
			set.Measurements = append(set.Measurements, lines...)
		}
		return book.WriteMeasurements(d, set)
	})
}

// curve reads what the training of a fit left behind.
func (f *fit) curve(ctx context.Context) ([]score.Step, error) {
	entry, err := f.e.Get(ctx, f.Step)
	if err != nil {
		return nil, err
	}
	if !entry.Has("curve.csv") {
		return nil, fmt.Errorf("%w: method %s writes no training curve", spec.ErrUsage, f.row.Name)
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
	var points []score.Step
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
		p := score.Step{Stage: line[column["stage"]], Step: int(at("step")), Loss: at("loss"), Reward: at("reward"),
			Entropy: at("entropy"), Anchor: at("anchor_kl"), Zero: at("zero_groups")}
		for _, id := range f.e.pool.IDs() {
			if _, ok := column["share:"+id]; ok {
				p.Share = append(p.Share, at("share:"+id))
			}
		}
		if bad != nil {
			return nil, fmt.Errorf("%s:%d: %w", file.Name(), i+2, bad)
		}
		points = append(points, p)
	}
	return points, nil
}
