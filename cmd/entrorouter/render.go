package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

func renderCommand() *cli.Command {
	return &cli.Command{
		Name:      "render",
		Usage:     "draw tables and figures again from their measurements, computing nothing",
		ArgsUsage: "[SPEC...]",
		Description: "Reads FIGURES/NAME-measurements.txt of every SPEC and writes its tables and figures beside it.\n" +
			"Without SPEC: of every built-in experiment that has measurements there.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "figures", Value: "figures", Usage: "folder of the measurements, tables and figures"}},
		Action: func(c *cli.Context) error {
			dir := c.String("figures")
			if dir == "" {
				return usageError{errors.New("--figures is empty; name the folder of the measurements")}
			}
			names := c.Args().Slice()
			if len(names) == 0 {
				for _, name := range spec.Names(experiments.FS) {
					if _, err := os.Stat(measurementsFile(dir, name)); err == nil {
						names = append(names, name)
					}
				}
				if len(names) == 0 {
					return usageError{fmt.Errorf("no measurements in %s; 'entrorouter run SPEC --figures %s' makes some", dir, dir)}
				}
			}
			var redo []*harness.Result
			for _, name := range names {
				r, err := loadSpec(c, name)
				if err != nil {
					return err
				}
				set, err := readMeasurements(dir, r.Experiment.Name)
				if err != nil {
					return err
				}
				redo = append(redo, &harness.Result{Spec: r, Measurements: set})
			}
			for _, r := range redo {
				if err := harness.Render(r, results.FS, dir, terminal(c.App.Writer), c.App.Writer); err != nil {
					return fmt.Errorf("%s does not fit spec %s as it is now, run it again: %w", measurementsFile(dir, r.Spec.Experiment.Name), r.Spec.Experiment.Name, err)
				}
			}
			return nil
		},
	}
}

func measurementsFile(dir, experiment string) string {
	return filepath.Join(dir, experiment+"-measurements.txt")
}

// readMeasurements reads what a run left beside its tables.
func readMeasurements(dir, experiment string) (*metrics.Set, error) {
	name := measurementsFile(dir, experiment)
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("no measurements %s; make them: entrorouter run %s --figures %s", name, experiment, strings.TrimSuffix(dir, "/"))}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return metrics.Read(name, f)
}
