// The command ensemble: an experiment on many simulated pools that fit the paper's fixed experts alike.

package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/ensemble"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/seed"
)

func ensembleCommand() *cli.Command {
	return &cli.Command{
		Name:      "ensemble",
		Usage:     "carry out an experiment on many simulated pools, and say on how many of them one row is above another",
		ArgsUsage: "SPEC",
		Description: "The spec has a block ensemble with the ranges of what no data fix: how much a text shows, how far topics and experts\n" +
			"differ. Pools are a Latin hypercube over these ranges, and each is calibrated to the paper's fixed experts. What is true on\n" +
			"all pools does not rest on a constant of ours; what is true on some says nothing about the paper. What is stored\n" +
			"already is not done again.",
		Flags: append(append(runFlags(), seedsFlag()), figuresFlags("folder for SPEC/shares, SPEC/pools and SPEC/measurements.txt; empty: do not write any")...),
		Action: func(c *cli.Context) error {
			folder, err := figuresFolder(c)
			if err != nil {
				return err
			}
			r, err := loadOne(c, loadAny)
			if err != nil {
				return err
			}
			x := &r.Experiment
			if x.Ensemble == nil {
				return usageError{fmt.Errorf("spec %s has no block ensemble, which says what pools are drawn from; the built-in one is: ensemble", x.Name)}
			}
			members, err := ensemble.Draw(x.Ensemble, r.Pools[0], r.Prices, seed.Seed(x.Seed))
			if err != nil {
				return usageError{err}
			}
			name := x.Name
			o := options(c)
			var measured []*metrics.Set
			for i, m := range members {
				own := *r
				own.Pools = append(own.Pools[:0:0], r.Pools...)
				own.Pools[0], own.Experiment.Name = m.Pool, fmt.Sprintf("%s-%02d", name, i+1)
				result, err := harness.Run(c.Context, &own, o)
				if err != nil {
					return fmt.Errorf("pool %s: %w", m.Pool.Name, err)
				}
				measured = append(measured, result.Measurements)
			}
			shown := &present.Run{Spec: r, Measurements: ensemble.Lines(name, measured)}
			files, err := present.DrawEnsemble(shown, members, terminal(c.App.Writer), c.App.Writer)
			if err != nil || folder == "" {
				return err
			}
			_, err = writeFigures(c.App.Writer, folder, shown, files)
			return err
		},
	}
}
