// The command calibrate: solves a simulated pool for its targets and says how far off it is.

package main

import (
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"github.com/entrorouter/entrorouter/harness/experts/sim"
	"github.com/entrorouter/entrorouter/harness/routing"
)

func calibrateCommand() *cli.Command {
	return &cli.Command{
		Name:      "calibrate",
		Usage:     "find the offsets and mean tokens with which a simulated pool meets its targets, and say how far off it is",
		ArgsUsage: "SPEC",
		Description: "Targets are the accuracy and the cost that each expert shall have on each benchmark. They are met by numerical integration over the\n" +
			"population of problems, truncation included. The table compares them with what the numbers found give; --yaml prints these\n" +
			"for the pool file.",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "yaml", Usage: "print the solved skills as YAML"}},
		Action: func(c *cli.Context) error {
			r, err := loadOne(c, loadAny)
			if err != nil {
				return err
			}
			pool := r.Pools[0]
			if pool.Simulation == nil {
				return usageError{fmt.Errorf("pool %s is of kind %s; only a simulated pool can be calibrated", pool.Name, pool.Kind)}
			}
			members, probe, err := routing.Members(pool, r.Prices)
			if err != nil {
				return usageError{err}
			}
			if probe != nil {
				members = append(members, *probe)
			}
			solved, fits, err := sim.Calibrate(*pool.Simulation, members)
			if err != nil {
				return err
			}
			if c.Bool("yaml") {
				enc := yaml.NewEncoder(c.App.Writer)
				enc.SetIndent(2)
				if err := enc.Encode(map[string]any{"skills": solved.Experts}); err != nil {
					return err
				}
				return enc.Close()
			}
			w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(w, "cell\texpert\taccuracy %\ttarget\ttokens\ttarget\ttruncated %\toffset\tmean tokens\t")
			worst := 0.0
			for _, f := range fits {
				if d := math.Abs(f.Reached.Accuracy - f.Target.Accuracy); !math.IsNaN(d) {
					worst = max(worst, 100*d)
				}
				fmt.Fprintf(w, "%s\t%s\t%.3f\t%s\t%.1f\t%s\t%.2f\t%.4f\t%.1f\t\n", f.Cell, f.Expert,
					100*f.Reached.Accuracy, number(100*f.Target.Accuracy, 1), f.Reached.Tokens, number(f.Target.Tokens, 1),
					100*f.Reached.Truncated, f.Offset, f.MeanTokens)
			}
			if err := w.Flush(); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.App.Writer, "largest difference in accuracy: %.4f points\n", worst)
			return err
		},
	}
}

// number prints a target; NaN is none.
func number(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.*f", decimals, v)
}
