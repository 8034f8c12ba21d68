// The step that compares measured pass rates with the truth of a simulated pool.

package protocol

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
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

const calibrationVersion = 1

// rolloutCounts are the numbers of rollouts for which the share of wrong m_best is expected.
func rolloutCounts() []int { return []int{1, 2, 5, 10, 20, 50, 100} }

// planCalibration plans the comparison of the profile's pass rates with the true success probabilities, on the problems of
// Stage II that Stage I has not seen: there EntroRouter+ shrinks rates to a regression that has not seen them.
func (e *experiment) planCalibration() (*steps.Step, error) {
	if e.asker.Sim == nil || e.pool.Mixed() {
		return nil, fmt.Errorf("%w: spec %s: calibration compares pass rates with the truth, which only a simulated pool knows; leave the output out", spec.ErrUsage, e.Spec.Experiment.Name)
	}
	x := &e.Spec.Experiment
	if e.rlProfile == nil {
		return nil, fmt.Errorf("%w: spec %s: calibration compares pass rates on problems of Stage II that Stage I has not seen, and train.seen leaves none; lower it or leave the output out", spec.ErrUsage, x.Name)
	}
	p := e.Params(e.pool)
	p.Source()
	p.Spec("seed", "targets.tau")
	p.Code("counts", rolloutCounts())
	p.Code("prior", methods.ShrinkagePrior)
	p.Features()
	inputs := []steps.Input{e.sftProfile.As("profile/sft"), e.rlProfile.As("profile/rl"), e.rlProfile.set.As("problems/rl")}
	measured, err := e.Add("calibration", "calibration", calibrationVersion, p, inputs, func(ctx context.Context, d *store.Draft) error {
		all, err := e.trainSet(ctx)
		if err != nil {
			return err
		}
		set := *all
		if set.RL, err = e.rlProfile.examples(ctx); err != nil {
			return err
		}
		truth, err := e.truth(e.rlProfile.set, set.RL)
		if err != nil {
			return err
		}
		shrunk, err := methods.Shrink(ctx, set, methods.ShrinkagePrior, e.remembers.Texts, routing.Work{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		measured := make([][]float64, len(set.RL))
		for i, x := range set.RL {
			measured[i] = x.Kappa
		}
		c := score.Calibration{Pool: e.pool.Name, Experts: e.pool.IDs(), Tau: x.Targets.Tau, Truth: truth}
		out := &metrics.Set{Measurements: slices.Concat(c.Measured(measured, x.Profile.Rollouts), c.Shrunk(shrunk), c.Expected(rolloutCounts()))}
		return book.WriteMeasurements(d, out)
	})
	if err == nil {
		measured.Amount = float64(x.Train.SFT.Size + x.Train.RL.Size)
	}
	return measured, err
}

// truth returns the true success probabilities of the experts on examples of a set that was read, [P][M].
func (e *experiment) truth(set *problemSet, examples []routing.Example) ([][]float64, error) {
	var out [][]float64
	for i, p := range set.problems {
		if len(out) == len(examples) || examples[len(out)].Problem.ID != p.ID {
			continue // not answered by all
		}
		of, err := e.asker.Sim.True(routing.TextHash(p.Text), set.latents[i])
		if err != nil {
			return nil, fmt.Errorf("problem %s: %w", p.ID, err)
		}
		var rates []float64
		for m := range e.pool.Experts { // the probe comes after them
			rates = append(rates, of[m].Correct)
		}
		out = append(out, rates)
	}
	return out, nil
}
