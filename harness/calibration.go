package harness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/routing"
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
	params := struct {
		Source   string
		Pool     string
		Tau      float64
		Counts   []int
		Prior    float64
		Features int
		Numerics string
	}{e.source, e.poolSpec.Name, x.Targets.Tau, rolloutCounts(), methods.ShrinkagePrior, lm.FeatureVersion, numerics}
	inputs := []*step{e.sftProfile.step, e.rlProfile.step, e.rlProfile.set.step}
	return e.newStep("calibration", "calibration", calibrationVersion, params, inputs, func(ctx context.Context, d *store.Draft) error {
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
		c := calibration{pool: e.poolSpec.Name, experts: e.ids(), tau: x.Targets.Tau, truth: truth}
		out := &metrics.Set{Measurements: slices.Concat(
			c.compare(report.MeasuredRate, measured, x.Profile.Rollouts+1, func(k float64) int { return int(math.Round(k * float64(x.Profile.Rollouts))) }),
			c.compare(report.ShrunkRate, shrunk, 10, func(k float64) int { return min(int(10*k), 9) }),
			c.expected(rolloutCounts()))}
		w, err := d.Create("measurements.txt")
		if err != nil {
			return err
		}
		return errors.Join(out.Write(w), w.Close())
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

// calibration holds the truth that estimates are compared with.
type calibration struct {
	pool    string
	experts []string
	tau     float64
	truth   [][]float64 // [P][M]
}

// compare measures estimates [P][M]: by bins of the estimate, by expert, and by the m_best that they name.
func (c *calibration) compare(estimate string, rates [][]float64, bins int, bin func(float64) int) []metrics.Measurement {
	var out []metrics.Measurement
	at := metrics.Keys("pool", c.pool, "estimate", estimate)
	for m, id := range c.experts {
		in := make([][]float64, bins) // truths
		sum := make([]float64, bins)  // of estimates
		var squares, bias float64
		for i, r := range rates {
			b, t := bin(r[m]), c.truth[i][m]
			in[b], sum[b] = append(in[b], t), sum[b]+r[m]
			squares += (r[m] - t) * (r[m] - t) / float64(len(rates))
			bias += (r[m] - t) / float64(len(rates))
		}
		of := append(slices.Clone(at), metrics.Key{Name: "expert", Value: id})
		out = append(out, metrics.Measurement{Name: report.RateErrors, Keys: of, N: len(rates), Values: []metrics.Value{
			metrics.Rounded(100*math.Sqrt(squares), report.RateError, 2), metrics.Rounded(100*bias, report.RateBias, 2)}})
		for b, truths := range in {
			if len(truths) == 0 {
				continue
			}
			slices.Sort(truths)
			mean := 0.0
			for _, t := range truths {
				mean += t / float64(len(truths))
			}
			n := len(truths)
			out = append(out, metrics.Measurement{Name: report.RateBin, Keys: append(slices.Clone(of), metrics.Key{Name: "bin", Value: fmt.Sprintf("%02d", b)}), N: n, Values: []metrics.Value{
				metrics.Rounded(100*sum[b]/float64(n), report.EstimatedRate, 2),
				metrics.Rounded(100*mean, report.TrueRate, 2).Within(100*truths[n/10], 100*truths[n-1-n/10])}})
		}
	}
	var cheap, dear float64
	for i, r := range rates {
		switch named, best := routing.MBest(r, c.tau), routing.MBest(c.truth[i], c.tau); {
		case named < best:
			cheap += 100 / float64(len(rates))
		case named > best:
			dear += 100 / float64(len(rates))
		}
	}
	return append(out, metrics.Measurement{Name: report.RateBest, Keys: at, N: len(rates), Values: wrongBest(cheap, dear)})
}

func wrongBest(cheap, dear float64) []metrics.Value {
	return []metrics.Value{metrics.Rounded(cheap+dear, report.WrongBest, 2), metrics.Rounded(cheap, report.TooCheapBest, 2), metrics.Rounded(dear, report.TooDearBest, 2)}
}

// expected returns how often the measured m_best would be wrong with other numbers of rollouts: the rollouts of an expert
// on a problem are independent, so its successes are binomial.
func (c *calibration) expected(counts []int) []metrics.Measurement {
	var out []metrics.Measurement
	for _, n := range counts {
		var cheap, dear float64
		for _, truth := range c.truth {
			best := routing.MBest(truth, c.tau)
			left := 100 / float64(len(c.truth)) // of the problem's weight, for experts from here on
			for m, p := range truth {
				named := left
				if m < len(truth)-1 {
					named *= passes(p, n, c.tau)
				}
				left -= named
				switch {
				case m < best:
					cheap += named
				case m > best:
					dear += named
				}
			}
		}
		out = append(out, metrics.Measurement{Name: report.RateBest, Keys: metrics.Keys("pool", c.pool, "samples", fmt.Sprintf("%03d", n)), N: len(c.truth), Values: wrongBest(cheap, dear)})
	}
	return out
}

// passes is the probability that at least a share tau of n rollouts succeeds, each with probability p.
func passes(p float64, n int, tau float64) float64 {
	sum := 0.0
	for k := range n + 1 {
		if routing.MBest([]float64{float64(k) / float64(n), 1}, tau) != 0 {
			continue // not enough
		}
		log := lchoose(n, k)
		if k > 0 {
			log += float64(k) * math.Log(p)
		}
		if k < n {
			log += float64(n-k) * math.Log1p(-p)
		}
		sum += math.Exp(log)
	}
	return sum
}

// lchoose is the logarithm of n over k.
func lchoose(n, k int) float64 {
	of := func(x int) float64 {
		v, _ := math.Lgamma(float64(x) + 1)
		return v
	}
	return of(n) - of(k) - of(n-k)
}
