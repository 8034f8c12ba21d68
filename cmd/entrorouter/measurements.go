// Files of measurements: where they lie in a folder of tables and figures, and how they are read.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// measurementsFile is the file of an experiment's measurements in a folder of tables and figures; of experiment "*" a pattern.
func measurementsFile(dir, experiment string) string {
	return filepath.Join(dir, filepath.FromSlash(present.Measurements(experiment)))
}

// readMeasurements reads what a run left beside its tables.
func readMeasurements(dir string, r *spec.Resolved) (*metrics.Set, error) {
	name := measurementsFile(dir, r.Experiment.Name)
	set, err := readSet(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("no measurements %s; make them: entrorouter run %s --figures %s", name, r.Named, strings.TrimSuffix(dir, "/"))}
	}
	if err == nil && len(set.Measurements) == 0 {
		err = usageError{fmt.Errorf("%s has no measurements; make them again: entrorouter run %s --figures %s", name, r.Named, strings.TrimSuffix(dir, "/"))}
	}
	return set, err
}

func readSet(file string) (*metrics.Set, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	set, err := metrics.Read(file, f)
	if err != nil {
		return nil, usageError{err}
	}
	return set, nil
}

// measuredIn are the measurement files of a folder.
func measuredIn(folder string) ([]string, error) {
	files, err := filepath.Glob(measurementsFile(folder, "*"))
	if err != nil {
		return nil, usageError{err}
	}
	return files, nil
}

// asTrained is a spec with the training seeds that measurements of it have, unless the command line says which.
func asTrained(c *cli.Context, r *spec.Resolved, set *metrics.Set) *spec.Resolved {
	x, seeds := &r.Experiment, seedsOf(set)
	n := len(seeds)
	if c.IsSet("seeds") || x.Recorded() || x.Ensemble != nil || n == 0 || seeds[0] != 1 || seeds[n-1] != uint64(n) || slices.Equal(seeds, x.Evaluate.Seeds) {
		return r
	}
	as := *r
	as.Experiment.Evaluate.Seeds = seeds
	as.Named += fmt.Sprintf(" --seeds %d", n)
	return &as
}

// seedsOf are the training seeds that have lines of their own.
func seedsOf(set *metrics.Set) (seeds []uint64) {
	for _, m := range set.Measurements {
		if seed, err := strconv.ParseUint(m.Key("seed"), 10, 64); err == nil && !slices.Contains(seeds, seed) {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	return seeds
}

// readAllMeasurements reads files and folders of measurements. A default folder that is not there is no error: then
// nothing has been run. Of experiments that none of them has it reads those of the folder fill, unless that is empty, and names them.
func readAllMeasurements(paths []string, asked bool, fill string) (measured *paper.Measurements, filled []string, err error) {
	measured = &paper.Measurements{}
	has := map[string]bool{}
	add := func(name string) error {
		set, err := readSet(name)
		if err == nil && len(set.Measurements) == 0 {
			err = fmt.Errorf("%s: no line is a measurement; 'entrorouter run SPEC' writes some", name)
		}
		if err == nil {
			err = measured.Add(name, set)
		}
		if err != nil {
			return usageError{err}
		}
		for _, m := range set.Measurements {
			has[m.Key("experiment")] = true
		}
		return nil
	}
	for _, name := range paths {
		files := []string{name}
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !asked:
			continue
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, usageError{fmt.Errorf("there is no file or folder of measurements %s", name)}
		case err != nil:
			return nil, nil, usageError{err}
		case info.IsDir():
			if files, err = measuredIn(name); err != nil {
				return nil, nil, err
			}
			if len(files) == 0 && asked {
				return nil, nil, usageError{fmt.Errorf("%s has no */measurements.txt; name a folder that \"run\" or \"render\" wrote to, or a file", name)}
			}
		}
		for _, name := range files {
			if err := add(name); err != nil {
				return nil, nil, err
			}
		}
	}
	if fill == "" {
		return measured, nil, nil
	}
	files, err := measuredIn(fill)
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 0 {
		return nil, nil, usageError{fmt.Errorf("--fill %s: there are no measurements in such a folder; name one that has */measurements.txt", shellWord(fill))}
	}
	for _, name := range files {
		experiment := filepath.Base(filepath.Dir(name))
		if has[experiment] {
			continue
		}
		if err := add(name); err != nil {
			return nil, nil, err
		}
		filled = append(filled, experiment)
	}
	return measured, filled, nil
}

func fillFlag(of string) cli.Flag {
	return &cli.StringFlag{Name: "fill", Usage: "take the measurements of experiments that " + of + " from another `FOLDER`, as in --fill " + committedFigures + "; which they are is said"}
}

// isThere says whether a file or a folder is there, or may be: who cannot be asked finds out when it is read.
func isThere(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
