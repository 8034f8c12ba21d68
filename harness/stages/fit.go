// A fit: both stages, the checkpoint they leave, and how it comes back.

package stages

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Fit implements routing.Method. It leaves the trained policy and the curve of the training in work.Dir.
func (t *Training) Fit(ctx context.Context, set routing.TrainSet, work routing.Work) (_ routing.Router, err error) {
	if t, err = t.validated(ctx, set, work); err != nil {
		return nil, err
	}
	model, curve, err := t.train(ctx, set, work)
	if err != nil {
		return nil, err
	}
	if work.Dir != "" {
		err = model.Save(filepath.Join(work.Dir, checkpointDir))
		if err == nil {
			err = write(filepath.Join(work.Dir, CurveFile), curve.WriteCSV)
		}
		if err != nil {
			model.Close()
			return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
		}
	}
	return t.router(network{model}, set.Experts, work), nil
}

// CurveFile is where a fit leaves how training went, as train.Curve writes it.
const CurveFile = "curve.csv"

// checkpointDir is where a fit leaves the trained policy.
const checkpointDir = "checkpoint"

// Load returns the router that Fit returned from the folder that Fit wrote to, without training, and leaves in work.Dir what Fit
// leaves there. It fails on anything missing, damaged or of another pool.
func (t *Training) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	model, err := policy.Load(t.With.Backend, t.readPolicy, filepath.Join(from, checkpointDir))
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	model.WrittenBy(t.writer(work))
	if got, want := model.Policy().Experts(), routing.IDs(experts); !slices.Equal(got, want) {
		err = fmt.Errorf("the checkpoint in %s chooses among %s, the pool is %s", from, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	if err == nil && work.Dir != "" {
		if err = model.Save(filepath.Join(work.Dir, checkpointDir)); err == nil {
			err = copyFile(filepath.Join(work.Dir, CurveFile), filepath.Join(from, CurveFile))
		}
		if err == nil && t.Policy.Reasons() {
			err = copyFile(filepath.Join(work.Dir, rationalesFile), filepath.Join(from, rationalesFile))
		}
	}
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("method %s: %w", t.With.Name, err)
	}
	return t.router(network{model}, experts, work), nil
}

// copyFile makes a file with the bytes of another.
func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}
