// The step that compares measured pass rates with the truth of a simulated pool.

package harness

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/score"
	"github.com/entrorouter/entrorouter/harness/store"
)

const calibrationVersion = 1

// rolloutCounts are the numbers of rollouts for which the share of wrong m_best is expected.
func rolloutCounts() []int { return []int{1, 2, 5, 10, 20, 50, 100} }

// planCalibration plans the comparison of the profile's pass rates with the true success probabilities, on the Stage II
// problems: there EntroRouter+ shrinks rates to a regression that has not seen them.
func (e *engine) planCalibration() (*step, error) {
	if e.sim == nil {
		return nil, fmt.Errorf("%w: spec %s: calibration compares pass rates with the truth, which only a simulated pool knows; leave the output out", ErrUsage, e.spec.Experiment.Name)
	}
	x := &e.spec.Experiment
	p := e.params()
	p.source()
	p.spec("seed", "targets.tau")
	p.code("counts", rolloutCounts())
	p.code("prior", methods.ShrinkagePrior)
	p.features()
	inputs := []input{{"profile/sft", e.sftProfile.step}, {"profile/rl", e.rlProfile.step}, {"problems/rl", e.rlProfile.set.step}}
	return e.newStep("calibration", "calibration", calibrationVersion, p, inputs, func(ctx context.Context, d *store.Draft) error {
		set, err := e.trainSet(ctx)
		if err != nil {
			return err
		}
		e.opt.Progress.Start("calibration of pass rates", 1)
		defer e.opt.Progress.Done()
		truth, err := e.truth(e.rlProfile.set)
		if err != nil {
			return err
		}
		shrunk, err := methods.Shrink(ctx, *set, methods.ShrinkagePrior, e.texts, routing.Work{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		measured := make([][]float64, len(set.RL))
		for i, x := range set.RL {
			measured[i] = x.Kappa
		}
		c := score.Calibration{Pool: e.poolSpec.Name, Experts: e.ids(), Tau: x.Targets.Tau, Truth: truth}
		out := &metrics.Set{Measurements: slices.Concat(c.Measured(measured, x.Profile.Rollouts), c.Shrunk(shrunk), c.Expected(rolloutCounts()))}
		return book.WriteMeasurements(d, out)
	})
}

// truth returns the true success probabilities of the experts on problems that were read, [P][M].
func (e *engine) truth(set *problemSet) ([][]float64, error) {
	out := make([][]float64, len(set.problems))
	for i, p := range set.problems {
		of, err := e.sim.True(routing.TextHash(p.Text), set.latents[i])
		if err != nil {
			return nil, fmt.Errorf("problem %s: %w", p.ID, err)
		}
		for m := range e.experts { // the probe comes after them
			out[i] = append(out[i], of[m].Correct)
		}
	}
	return out, nil
}
