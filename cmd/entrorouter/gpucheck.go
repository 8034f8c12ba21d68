// The command gpu-check: trains on XLA and on the Go backend and compares the losses.

package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/gpucheck"
	"github.com/entrorouter/entrorouter/harness/policy"
)

func gpuCheckCommand() *cli.Command {
	return &cli.Command{
		Name:  "gpu-check",
		Usage: "train the compact policy on XLA and on the Go backend and compare the losses",
		Description: "Needs a program built with 'make build-xla' and a PJRT plugin: a name that can be found, or the absolute path\n" +
			"of the library. TF32 is off. Exit code 1 if a loss differs by more than the tolerance.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "plugin", Usage: "PJRT plugin, e.g. cuda or /path/xla_cuda_plugin.so"},
			&cli.IntFlag{Name: "steps", Value: 20, Usage: "steps of each stage"},
			&cli.Float64Flag{Name: "tolerance", Value: 1e-3, Usage: "largest difference allowed"},
		},
		Action: func(c *cli.Context) (err error) {
			switch {
			case c.Args().Present():
				return usageError{fmt.Errorf("gpu-check takes no arguments, got %q", c.Args().First())}
			case c.Int("steps") < 1:
				return usageError{fmt.Errorf("--steps %d: want at least 1", c.Int("steps"))}
			case !(c.Float64("tolerance") >= 0):
				return usageError{fmt.Errorf("--tolerance %v: want a number that is not negative", c.Float64("tolerance"))}
			case c.String("plugin") == "":
				return usageError{errors.New("gpu-check needs --plugin: a name such as cuda, or the path of a PJRT library")}
			}
			xla, err := policy.OpenBackend("xla:" + c.String("plugin"))
			if err != nil {
				return err
			}
			defer xla.Finalize()
			pure, err := policy.OpenBackend("go")
			if err != nil {
				return err
			}
			defer pure.Finalize()
			pairs, err := gpucheck.Compare(c.Context, xla, pure, c.Int("steps"))
			if err != nil {
				return err
			}
			worst := 0.0
			for _, p := range pairs {
				fmt.Fprintln(c.App.Writer, p)
				worst = max(worst, p.Diff())
			}
			fmt.Fprintf(c.App.Writer, "largest difference between %s and %s: %.2e\n", xla.Name(), pure.Name(), worst)
			if worst > c.Float64("tolerance") {
				return fmt.Errorf("losses differ by %.2e, more than %.2e", worst, c.Float64("tolerance"))
			}
			return nil
		},
	}
}
