// The command ensemble: an experiment on many simulated pools that fit the paper's fixed experts alike.

package main

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/ensemble"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/seed"
)

func ensembleCommand() *cli.Command {
	return &cli.Command{
		Name:      "ensemble",
		Usage:     "carry out an experiment on many simulated pools and say on how many of them each contrast is true",
		ArgsUsage: "SPEC",
		Description: "The spec has a block ensemble with the ranges of what no data fix: how much a text shows, how far topics and experts\n" +
			"differ. Pools are a Latin hypercube over them, and each is calibrated to the paper's fixed experts. What is true on\n" +
			"all of them does not rest on a constant of ours; what is true on some says nothing of the paper. What is stored\n" +
			"already is not done again.",
		Flags: append(append(runFlags(), seedsFlag()), figuresFlags("folder for SPEC/pools.csv and SPEC/shares.csv; empty: do not write any")...),
		Action: func(c *cli.Context) error {
			folder, err := figuresFolder(c)
			if err != nil {
				return err
			}
			r, err := load(c)
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
			var measured []*metrics.Set
			for i, m := range members {
				own := *r
				own.Pools = append(own.Pools[:0:0], r.Pools...)
				own.Pools[0], own.Experiment.Name = m.Pool, fmt.Sprintf("%s-%02d", name, i+1)
				result, err := harness.Run(c.Context, &own, options(c))
				if err != nil {
					return fmt.Errorf("pool %s: %w", m.Pool.Name, err)
				}
				measured = append(measured, result.Measurements)
			}
			shares := ensemble.Shares(measured)
			if err := printShares(c.App.Writer, shares); err != nil {
				return err
			}
			if folder == "" {
				return nil
			}
			lines := ensemble.Lines(name, measured)
			var files []report.File
			for _, f := range []struct {
				name  string
				write func(io.Writer) error
			}{
				{present.File(name, "pools.csv"), func(w io.Writer) error { return ensemble.WritePools(w, x.Ensemble, members) }},
				{present.File(name, "shares.csv"), func(w io.Writer) error { return ensemble.WriteShares(w, shares) }},
				{present.Measurements(name), lines.Write},
			} {
				var text bytes.Buffer
				if err := f.write(&text); err != nil {
					return err
				}
				files = append(files, report.File{Name: f.name, Data: text.Bytes()})
			}
			_, err = writeFigures(c, c.App.Writer, folder, &present.Run{Spec: r, Measurements: lines}, files)
			return err
		},
	}
}

// printShares prints a line per row and number.
func printShares(w io.Writer, shares []ensemble.Share) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\tnumber\tpools\tabove 0\tbelow 0\tmedian\tfrom\tto\t")
	for _, s := range shares {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%.2f\t%.2f\t%.2f\t\n", s.Row, s.Unit, s.Pools, s.Above, s.Below, s.Median, s.Least, s.Most)
	}
	return t.Flush()
}
