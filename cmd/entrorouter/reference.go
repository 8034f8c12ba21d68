// Measurements that others are held against: those of a folder or a file, the built-in ones, or the paper's.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

const (
	referenceDir = "results/reference"
	paperDir     = "results/paper"
)

// findReference reads the reference measurements of an experiment, and says whether they are the paper's.
func findReference(r *spec.Resolved, against string) (set *metrics.Set, paper bool, err error) {
	x := &r.Experiment
	var name string
	var f fs.File
	if filepath.ToSlash(filepath.Clean(against)) == paperDir {
		if x.Paper == "" {
			return nil, false, usageError{fmt.Errorf("spec %s reproduces no table of the paper; --against %s has nothing for it", x.Name, paperDir)}
		}
		if x.Evaluate.MaxProblems > 0 || x.Evaluate.MaxRuns > 0 {
			return nil, false, usageError{fmt.Errorf("spec %s cuts the benchmarks down (evaluate.max_problems, evaluate.max_runs); the numbers of %s are of whole benchmarks", x.Name, paperDir)}
		}
		paper, name = true, paperDir+"/"+x.Paper+".txt"
		f, err = results.FS.Open("paper/" + x.Paper + ".txt")
	} else {
		name, f, err = openReference(r, against)
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if set, err = metrics.Read(name, f); err != nil {
		return nil, false, usageError{err}
	}
	if paper {
		return set, true, nil
	}
	var others []string
	for _, m := range set.Measurements {
		switch of := m.Key("experiment"); of {
		case x.Name:
			return set, false, nil
		case "":
		default:
			others = appendNew(others, of)
		}
	}
	// Compared with nothing, nothing would have moved.
	has := "it has no measurements"
	if others != nil {
		has = "it has those of " + some(others, 8)
	}
	return nil, false, usageError{fmt.Errorf("%s holds no measurements of experiment %s; %s", name, x.Name, has)}
}

// referenceOf is the folder that experiments are held against where nobody names one: the committed tables, if they are here, or the
// built-in reference, if they have one of the built-in experiments; empty: neither has. What is written to written is held against nothing there.
func referenceOf(specs []*spec.Resolved, written string) string {
	for _, dir := range []string{committedFigures, referenceDir} {
		if filepath.Clean(written) != dir && slices.ContainsFunc(specs, func(r *spec.Resolved) bool { return isBuiltIn(r) && hasReference(dir, r.Experiment.Name) }) {
			return dir
		}
	}
	return ""
}

// hasReference says whether a folder has measurements of an experiment, which may be those that are built in.
func hasReference(dir, experiment string) bool {
	_, err := os.Stat(measurementsFile(dir, experiment))
	if errors.Is(err, fs.ErrNotExist) && filepath.ToSlash(filepath.Clean(dir)) == referenceDir {
		_, err = fs.Stat(results.FS, path.Join("reference", present.Measurements(experiment)))
	}
	return !errors.Is(err, fs.ErrNotExist)
}

// openReference opens a file of measurements: the one named, that of the experiment in the folder named, or the built-in one.
func openReference(r *spec.Resolved, against string) (name string, f fs.File, err error) {
	if info, err := os.Stat(against); err == nil && !info.IsDir() {
		f, err := os.Open(against)
		return against, f, err
	}
	file := present.Measurements(r.Experiment.Name)
	name = measurementsFile(against, r.Experiment.Name)
	f, err = os.Open(name)
	if errors.Is(err, fs.ErrNotExist) && filepath.ToSlash(filepath.Clean(against)) == referenceDir {
		f, err = results.FS.Open(path.Join("reference", file)) // a file that --update wrote here goes first
	}
	if _, none := os.Stat(against); errors.Is(err, fs.ErrNotExist) && errors.Is(none, fs.ErrNotExist) && filepath.ToSlash(filepath.Clean(against)) != referenceDir {
		return name, nil, usageError{fmt.Errorf("--against %s: there is no such folder or file; name one, or make the reference with 'entrorouter check %s --against %[1]s --update'", shellWord(against), r.Named)}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = usageError{fmt.Errorf("no %s in %s; make it: entrorouter check %s --against %s --update", file, against, r.Named, against)}
	}
	return name, f, err
}
