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
func (e *experiment) planCurves(rows []string) (*steps.Step, error) {
	var fits [][]*fit // [rows][seeds]
	courses := map[string][]course{}
	for _, id := range rows {
		for i, m := range e.Spec.Experiment.Methods {
			if m.RowID() != id {
				continue
			}
			fits = append(fits, e.fits[i])
			for _, f := range e.fits[i] {
				courses[id] = append(courses[id], course{f.Step, stages.CurveFile, metrics.Key{Name: "seed", Value: strconv.FormatUint(f.seed, 10)}})
			}
		}
	}
	p := e.Params(e.pool)
	return e.fitting.planCurves("training curves", p, rows, units.CurvePoints, courses, fitInputs(p, fits...))
}

// planCurves plans the measurement of what the trainings of some rows of a pool went through, in at most so many points a stage. inputs are
// the steps that have them.
func (c *fitting) planCurves(name string, p *steps.Params, rows []string, most int, courses map[string][]course, inputs []steps.Input) (*steps.Step, error) {
	p.PoolName()
	p.Code("points", most)
	var shown []spec.Method
	for _, id := range rows {
		i := slices.IndexFunc(c.Spec.Experiment.Methods, func(m spec.Method) bool { return m.RowID() == id })
		if i < 0 {
			return nil, fmt.Errorf("%w: spec %s: a figure of trainings shows the row %q, which methods does not have", spec.ErrUsage, c.Spec.Experiment.Name, id)
		}
		m := c.Spec.Experiment.Methods[i]
		if _, several, err := methods.AskerOf(m); err != nil {
			return nil, err
		} else if !several && !methods.Policy(m.Name) {
			return nil, fmt.Errorf("%w: spec %s: a figure of trainings shows the row %q, and method %s writes no training curve", spec.ErrUsage, c.Spec.Experiment.Name, id, m.Name)
		}
		shown = append(shown, m)
	}
	p.Rows(shown)
	p.From[explain.RootRows] = explain.Origin{Path: "outputs"}
	return c.Add(name, "curves", curvesVersion, p, inputs, func(ctx context.Context, d *store.Draft) error {
		set := &metrics.Set{}
		for _, row := range shown {
			var trainings [][]score.Step
			var keys []metrics.Key
			for _, t := range courses[row.RowID()] {
				entry, err := c.Get(ctx, t.step)
				if err != nil {
					return err
				}
				if fit, err := book.ReadFit(entry); err != nil {
					return err
				} else if fit.Unfit != "" {
					continue
				}
				points, err := readCourse(entry, t.file, row, c.pool.IDs())
				if err != nil {
					return fmt.Errorf("row %s: %w", row.RowID(), err)
				}
				trainings, keys = append(trainings, points), append(keys, t.key)
			}
			if trainings != nil {
				set.Measurements = append(set.Measurements, score.Training(metrics.Keys("pool", c.pool.Name, "method", row.RowID()), c.pool.IDs(), keys, trainings, most)...)
			}
		}
		return book.WriteMeasurements(d, set)
	})
}

// readCourse reads what a training of a row left behind.
func readCourse(entry store.Entry, name string, row spec.Method, experts []string) ([]score.Step, error) {
	file, err := entry.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var points []score.Step
	none := math.NaN()
	if _, several, err := methods.AskerOf(row); err != nil || several {
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
