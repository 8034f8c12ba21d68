// The step that measures what the trainings of some rows went through.

package protocol

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

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

// course is where a training leaves what it went through: a step, its file, and the key of lines of this training alone.
type course struct {
	step *steps.Step
	file string
	key  metrics.Key
}

// planCurves plans the measurement of what the trainings of some rows went through.
func (e *experiment) planCurves(ids []string) (*steps.Step, error) {
	rows, err := e.trained(ids)
	if err != nil {
		return nil, err
	}
	var fits [][]*fit // [rows][seeds]
	courses := make([][]course, len(rows))
	for k, i := range rows {
		fits = append(fits, e.fits[i])
		for _, f := range e.fits[i] {
			courses[k] = append(courses[k], course{f.Step, stages.CurveFile, metrics.Key{Name: "seed", Value: strconv.FormatUint(f.seed, 10)}})
		}
	}
	p := e.Params(e.pool)
	return e.fitting.planCurves("training curves", p, rows, courses, fitInputs(p, fits...))
}

// trained are the indices of rows whose trainings are shown. It fails on one that is not there or leaves no curve.
func (c *fitting) trained(ids []string) (rows []int, err error) {
	x := &c.Spec.Experiment
	for _, id := range ids {
		i := slices.IndexFunc(x.Methods, func(m spec.Method) bool { return m.RowID() == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: spec %s: a figure of trainings shows the row %q, which methods does not have", spec.ErrUsage, x.Name, id)
		}
		if methods.RowTraits(x.Methods[i], x).Asker == nil && !methods.Policy(x.Methods[i].Name) {
			return nil, fmt.Errorf("%w: spec %s: a figure of trainings shows the row %q, and method %s writes no training curve", spec.ErrUsage, x.Name, id, x.Methods[i].Name)
		}
		rows = append(rows, i)
	}
	return rows, nil
}

// planCurves plans the measurement of what the trainings [rows] of some rows of a pool went through.
// inputs are the steps that have them.
func (c *fitting) planCurves(name string, p *steps.Params, rows []int, courses [][]course, inputs []steps.Input) (*steps.Step, error) {
	p.PoolName()
	p.Code("points", units.CurvePoints)
	var shown []spec.Method
	for _, i := range rows {
		shown = append(shown, c.Spec.Experiment.Methods[i])
	}
	p.Rows(shown)
	p.From[explain.RootRows] = explain.Origin{Path: "outputs"}
	return c.Add(name, "curves", curvesVersion, p, inputs, func(ctx context.Context, d *store.Draft) error {
		set := &metrics.Set{}
		for k, row := range shown {
			var trainings [][]score.Step
			var keys []metrics.Key
			several := methods.RowTraits(row, &c.Spec.Experiment).Asker != nil
			for _, t := range courses[k] {
				entry, err := c.Get(ctx, t.step)
				if err != nil {
					return err
				}
				if fit, err := book.ReadFit(entry); err != nil {
					return err
				} else if fit.Unfit != "" {
					continue
				}
				points, err := readCourse(entry, t.file, several, c.pool.IDs())
				if err != nil {
					return fmt.Errorf("row %s: %w", row.RowID(), err)
				}
				trainings, keys = append(trainings, points), append(keys, t.key)
			}
			if trainings != nil {
				set.Measurements = append(set.Measurements, score.Training(metrics.Keys("pool", c.pool.Name, "method", row.RowID()), c.pool.IDs(), keys, trainings)...)
			}
		}
		return book.WriteMeasurements(d, set)
	})
}

// readCourse reads what a training left behind, of a router that may ask several experts or of one that chooses once.
func readCourse(entry store.Entry, name string, several bool, experts []string) ([]score.Step, error) {
	file, err := entry.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var points []score.Step
	none := math.NaN()
	if several {
		course, err := rounds.ReadCourse(file.Name(), file, experts)
		for _, s := range course {
			points = append(points, score.Step{Stage: present.RoundsStage, Step: s.Step, Reward: s.Reward, Entropy: s.Entropy, Calls: s.CallRate, Accuracy: s.Accuracy, Anchor: none, Zero: none})
		}
		return points, err
	}
	curve, err := train.ReadCSV(file.Name(), file, experts)
	if err != nil {
		return nil, err
	}
	for _, p := range curve.Points {
		points = append(points, score.Step{Stage: p.Stage, Step: p.Step, Loss: p.Loss, Reward: p.Reward, Entropy: p.Entropy, Anchor: p.AnchorKL, Zero: p.ZeroGroups, Share: p.Share, Calls: none, Accuracy: none})
	}
	return points, nil
}
