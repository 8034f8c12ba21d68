// Files of measurements: where they lie in a folder of tables and figures, and how they are read.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
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
	command := "entrorouter run "
	if r.Experiment.Ensemble != nil {
		command = "entrorouter ensemble "
	}
	command += withData(r) + " --figures " + strings.TrimSuffix(dir, "/")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("no measurements %s; make them: %s", name, command)}
	}
	if err == nil && len(set.Measurements) == 0 {
		err = usageError{fmt.Errorf("%s has no measurements; make them again: %s", name, command)}
	}
	return set, err
}

// outdated says that measurements of a folder cannot be drawn, unless the spec is at fault, or err is nil.
func outdated(dir string, r *spec.Resolved, err error) error {
	if err == nil || errors.Is(err, spec.ErrUsage) {
		return err
	}
	return fmt.Errorf("%s does not fit spec %s as it is now, run it again: %w", measurementsFile(dir, r.Experiment.Name), r.Experiment.Name, err)
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
	files, err := fs.Glob(os.DirFS(filepath.Clean(folder)), present.Measurements("*")) // whatever signs the name of the folder has
	if err != nil {
		return nil, usageError{err}
	}
	for i := range files {
		files[i] = filepath.Join(folder, filepath.FromSlash(files[i]))
	}
	return files, nil
}

// measuredExperiments are the experiments that a folder has measurements of: built-in ones, in the order of their specs' names, and others.
func measuredExperiments(dir string) (builtIn, others []string, err error) {
	files, err := measuredIn(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		others = append(others, filepath.Base(filepath.Dir(file)))
	}
	for _, name := range spec.Names(experiments.FS) {
		if i := slices.Index(others, name); i >= 0 {
			builtIn, others = append(builtIn, name), slices.Delete(others, i, i+1)
		}
	}
	return builtIn, others, nil
}

// sayLeftOut names the experiments of a folder that a command passes over that is given no spec.
func sayLeftOut(c *cli.Context, dir string) error {
	if c.Args().Present() {
		return nil
	}
	_, others, err := measuredExperiments(dir)
	if err == nil && len(others) > 0 {
		fmt.Fprintf(c.App.ErrWriter, "entrorouter: measurements in %s that no built-in spec makes are left out: %s; give the paths of their specs to have them\n", dir, some(others, namesAtMost))
	}
	return err
}

// measuredRuns are the runs that left measurements in a folder, of the specs that are asked for or of every built-in one.
func measuredRuns(c *cli.Context, dir string) (all []*present.Run, err error) {
	names := c.Args().Slice()
	if len(names) == 0 {
		var others []string
		if names, others, err = measuredExperiments(dir); err != nil {
			return nil, err
		}
		switch {
		case len(names) == 0 && len(others) > 0:
			return nil, usageError{fmt.Errorf("%s has measurements of %s, which no built-in spec makes; give the path of the spec: entrorouter %s SPEC --figures %s", dir, some(others, namesAtMost), c.Command.Name, shellWord(dir))}
		case len(names) == 0:
			return nil, usageError{fmt.Errorf("no measurements in %s; 'entrorouter run SPEC --figures %s' makes some", dir, shellWord(dir))}
		}
	}
	var specs []*spec.Resolved
	for _, arg := range names {
		fsys, name, err := spec.Find(arg, experiments.FS)
		if err != nil {
			return nil, usageError{err}
		}
		run, err := measuredRun(c, dir, fsys, name, arg)
		if err != nil {
			return nil, err
		}
		all, specs = append(all, run), append(specs, run.Spec)
	}
	return all, checkNames(specs)
}

// measuredRun is the run of a spec in fsys that left measurements in a folder: with the changes that it was run with, and the training
// seeds that it has, unless the command line says which.
func measuredRun(c *cli.Context, dir string, fsys fs.FS, name, arg string) (*present.Run, error) {
	r, err := loadFrom(c, fsys, name, arg, spec.Changes{})
	if err != nil {
		return nil, err
	}
	set, err := readMeasurements(dir, r)
	if err != nil {
		return nil, err
	}
	changes, err := spec.ParseChanges(set.Changes())
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: what changed the spec: %w", measurementsFile(dir, r.Experiment.Name), err)}
	}
	if changes.Any() {
		if r, err = loadFrom(c, fsys, name, arg, changes); err != nil {
			return nil, fmt.Errorf("%s does not fit spec %s as it is now, run it again: %w", measurementsFile(dir, name), arg, err)
		}
	}
	t, seeds := r.Experiment.Trainings(), set.Seeds()
	if n := len(seeds); !c.IsSet(t.Flag) && r.Experiment.Ensemble == nil && n > 0 && slices.Equal(seeds, t.UpTo(n)) && !slices.Equal(seeds, *t.Of) {
		*t.Of = seeds
		r.Named += fmt.Sprintf(" --%s %d", t.Flag, n)
	}
	return &present.Run{Spec: r, Measurements: set}, nil
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
	return &cli.StringFlag{Name: "fill", Usage: "take the measurements of experiments that " + of + " from another `FOLDER`, as in --fill " + committedFigures + ", and say which these are"}
}

// isThere says whether a file or a folder is there, or may be: who cannot be asked finds out when it is read.
func isThere(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
