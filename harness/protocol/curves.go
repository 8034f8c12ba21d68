// The step that measures what the trainings of some rows went through.

package protocol

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/explain"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/rounds"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/train"
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
			return nil, fmt.Errorf("%w: spec %s: a figure of trainings shows the row %q, which methods does not have", spec.ErrUsage, e.Spec.Experiment.Name, id)
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
	if !entry.Has(stages.CurveFile) {
		return nil, fmt.Errorf("%w: method %s writes no training curve", spec.ErrUsage, f.row.Name)
	}
	file, err := entry.Open(stages.CurveFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var points []score.Step
	none := math.NaN()
	if _, several, err := methods.AskerOf(f.row); err != nil || several {
		course, err := rounds.ReadCourse(file.Name(), file, f.e.pool.IDs())
		for _, s := range course {
			points = append(points, score.Step{Stage: present.RoundsStage, Step: s.Step, Reward: s.Reward, Entropy: s.Entropy, Calls: s.CallRate, Accuracy: s.Accuracy, Anchor: none, Zero: none})
		}
		return points, err
	}
	curve, err := train.ReadCSV(file.Name(), file, f.e.pool.IDs())
	if err != nil {
		return nil, err
	}
	for _, p := range curve.Points {
		points = append(points, score.Step{Stage: p.Stage, Step: p.Step, Loss: p.Loss, Reward: p.Reward, Entropy: p.Entropy, Anchor: p.AnchorKL, Zero: p.ZeroGroups, Share: p.Share, Calls: none, Accuracy: none})
	}
	return points, nil
}
