// The command check against measurements: finds the reference, carries the experiment out and says what moved.

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/results"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "carry out an experiment and say which of its numbers differ from a reference's; exit code 3 on a regression",
		ArgsUsage: "SPEC",
		Description: "A reference is recognised by its content:\n\n" +
			"   a store of runs (an --out folder)         its last run of SPEC, whichever version of the program made it\n" +
			"   a folder with SPEC/measurements.txt       e.g. figures, or what --update wrote\n" +
			"   a file of measurements\n" +
			"   results/reference, results/paper          built in; against the paper only rows that always ask one expert\n" +
			"                                             are gated\n\n" +
			"Against measurements, every number must be the same if seeds and architecture are. With other training seeds numbers must lie\n" +
			"inside the spread of the reference's; with other problems, inside the variance between questions, too.\n" +
			"Against a run, steps of one recipe must hold the same bytes; where recipes differ, rows are compared question by\n" +
			"question. With CI=true it also writes GitHub annotations.\n\n" +
			"Numbers that moved and are not judged are counted by kind; --full says why, and --json has a reason for each.\n\n" +
			"Steps that the --out folder holds are not carried out again: check a change of the program with an empty one.",
		Flags: append(slices.Concat(runFlags(), trainingFlags()),
			&cli.StringFlag{Name: "against", Value: referenceDir, Usage: "the reference: a store, a folder or a file"},
			&cli.BoolFlag{Name: "update", Usage: "do not compare, but write the measurements to the folder named by --against, over those that it has"},
			fullFlag("also what moved inside the noise, and more of each row"),
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"}),
		Action: func(c *cli.Context) error {
			r, err := load(c)
			if err != nil {
				return err
			}
			against := c.String("against")
			if against == "" {
				return usageError{errors.New("--against is empty; name a folder or a file of measurements")}
			}
			if c.Bool("update") {
				if c.Bool("json") {
					return usageError{errors.New("--update writes measurements and prints no JSON; leave --json out")}
				}
				info, err := os.Stat(against)
				if isFile := err == nil && !info.IsDir(); isFile || filepath.Clean(against) == paperDir || strings.HasSuffix(against, ".txt") || book.IsStore(against) {
					return usageError{fmt.Errorf("--update writes to a folder of our own measurements, not to %s", against)}
				}
				makeRoom(r)
				result, err := harness.Run(c.Context, r, options(c))
				if err != nil {
					return err
				}
				if err := update(c.App.Writer, result, against); err != nil {
					return err
				}
				return writeStored(c.App.Writer, result, options(c).Out)
			}
			if book.IsStore(against) {
				return checkRun(c, r, against)
			}
			reference, paper, err := findReference(r, against)
			if err != nil {
				return err
			}
			if !paper {
				if err := refuseBuiltIn(c, r, against); err != nil {
					return err
				}
			}
			makeRoom(r)
			result, err := harness.Run(c.Context, r, options(c))
			if err != nil {
				return err
			}
			report := compare.Numbers(result.Spec, result.Measurements, reference)
			if paper {
				report = compare.Paper(result.Spec, result.Measurements, reference)
			}
			if c.Bool("json") {
				err = writeCheckJSON(c.App.Writer, report, result, against)
			} else {
				if len(report.Regressions()) > 0 && !paper {
					knobs, err := fromBuiltIn(c, r)
					if err != nil {
						return err
					}
					if len(knobs) > 0 {
						fmt.Fprintf(c.App.Writer, "The spec is not the built-in %s (built in -> here): %s.\n\n", r.Experiment.Name, some(knobs, 8))
					}
				}
				writeCheck(c.App.Writer, report, r, against, paper, c.Bool("full"))
				if len(report.Regressions()) > 0 && !paper {
					if steps := report.OtherRecipes; len(steps) > 0 {
						fmt.Fprintf(c.App.Writer, "\nA knob, a price, the data or what a step does is not what it was for the reference; what it is here: entrorouter explain %s %s\n", r.Named, shellWord(steps[0]))
					}
					fmt.Fprintf(c.App.Writer, "\nTo see which questions moved, check against a run of the version before: entrorouter check %s --against its --out folder.\n", r.Named)
				}
				err = writeStored(c.App.Writer, result, options(c).Out)
			}
			if err != nil {
				return err
			}
			regressions := report.Regressions()
			if os.Getenv("CI") == "true" {
				annotate(c.App.ErrWriter, accounts(regressions))
			}
			if len(regressions) > 0 {
				return exitStatus(exitMismatch)
			}
			return nil
		},
	}
}

func update(w io.Writer, result *harness.Result, dir string) error {
	var text strings.Builder
	if err := result.Measurements.Write(&text); err != nil {
		return err
	}
	name := measurementsFile(dir, result.Spec.Experiment.Name)
	if err := store.WriteFile(name, []byte(text.String())); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: %d lines of measurements\n", name, len(result.Measurements.Measurements))
	return err
}

// fromBuiltIn lists the knobs in which a spec of a file differs from the built-in one of its name, whose numbers a reference may have: what
// follows from a knob is no fault of the program. A flag that the built-in one does not take is said in place of them.
func fromBuiltIn(c *cli.Context, r *spec.Resolved) (knobs []string, err error) {
	name := r.Experiment.Name
	if isBuiltIn(r) || !slices.Contains(spec.Names(experiments.FS), name) {
		return nil, nil
	}
	builtIn, err := loadFrom(c, experiments.FS, name+".yaml", name, spec.Changes{})
	if errors.As(err, new(usageError)) {
		return []string{err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	return otherKnobs(builtIn, r)
}

// refuseBuiltIn is an error if --against leads to the built-in reference, or to a copy of it, of an experiment that has the name of the
// spec and is another.
func refuseBuiltIn(c *cli.Context, r *spec.Resolved, against string) error {
	builtIn, err := results.FS.ReadFile(path.Join("reference", present.Measurements(r.Experiment.Name)))
	if isBuiltIn(r) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, f, err := openReference(r, against)
	if err != nil {
		return err
	}
	defer f.Close()
	reference, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(reference, builtIn) {
		return err
	}
	knobs, err := fromBuiltIn(c, r)
	if err != nil || len(knobs) == 0 {
		return err
	}
	name, _ := unflagged(r.Named)
	return usageError{fmt.Errorf("%s is of the built-in %s, and %s is another (built in -> here: %s); make one of its own: entrorouter check %s --against DIR --update", shellWord(against), r.Experiment.Name, name, some(knobs, 3), r.Named)}
}

// otherKnobs lists what differs between two specs: in knobs of the experiment, which stand by their own names, its pools, prices and benchmarks.
func otherKnobs(before, after *spec.Resolved) (knobs []string, err error) {
	var says [2]store.Recipe
	for i, x := range []*spec.Resolved{before, after} {
		text, err := x.Canonical()
		if err != nil {
			return nil, err
		}
		if says[i], err = store.NewRecipe("spec", 1, json.RawMessage(text), nil); err != nil {
			return nil, err
		}
	}
	for _, f := range store.Compare(says[0], says[1]) {
		knob := strings.TrimPrefix(strings.TrimPrefix(f.Name(), "params."), "experiment.")
		if knob == "title" { // moves no number
			continue
		}
		knobs = append(knobs, fmt.Sprintf("%s: %s -> %s", knob, cmp.Or(f.Stored, "nothing"), cmp.Or(f.Wanted, "nothing")))
	}
	return knobs, nil
}
