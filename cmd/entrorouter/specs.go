// Specs that a command line names.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// load reads the spec that the command line names, as loadSpec.
func load(c *cli.Context) (*spec.Resolved, error) { return loadOne(c, loadSpec) }

// loadOne reads the one spec that the command line names, by loadSpec or loadAny.
func loadOne(c *cli.Context, read func(c *cli.Context, arg string) (*spec.Resolved, error)) (*spec.Resolved, error) {
	if c.NArg() != 1 {
		return nil, usageError{fmt.Errorf("%s takes one SPEC, got %d arguments; built in: %s", c.Command.Name, c.NArg(), strings.Join(spec.Names(experiments.FS), ", "))}
	}
	return read(c, c.Args().First())
}

// loadSpec is loadAny of a spec that is carried out, or was. One that draws many pools is refused: as it stands it would be one of them,
// which says nothing of the others.
func loadSpec(c *cli.Context, arg string) (*spec.Resolved, error) {
	r, err := loadAny(c, arg)
	if err == nil && r.Experiment.Ensemble != nil {
		name, _ := unflagged(r.Named)
		err = usageError{fmt.Errorf("spec %s draws %d pools, and one of them would say nothing of the others; carry out all: entrorouter ensemble %[1]s", name, r.Experiment.Ensemble.Pools)}
	}
	return r, err
}

// loadAny reads a spec by its name or path.
func loadAny(c *cli.Context, arg string) (*spec.Resolved, error) {
	changes, err := changesOf(c)
	if err != nil {
		return nil, err
	}
	fsys, name, err := spec.Find(arg, experiments.FS)
	if err != nil {
		return nil, usageError{err}
	}
	return loadFrom(c, fsys, name, arg, changes)
}

// checkNames refuses two specs of one name, whose tables and figures would be written over each other.
func checkNames(specs []*spec.Resolved) error {
	first := map[string]string{}
	for _, r := range specs {
		path, _ := unflagged(r.Named)
		name := r.Experiment.Name
		if other, twice := first[name]; twice && other != path {
			return usageError{fmt.Errorf("%s and %s are both named %s, and what is written of one would be written over; give one of them another name, and its file with it", other, path, name)}
		}
		first[name] = path
	}
	return nil
}

// changeWords are changes as a command that is proposed has them, with a space before each.
func changeWords(changes spec.Changes) (words string) {
	for _, flag := range changes.Flags() {
		name, value, _ := strings.Cut(flag, " ")
		words += " " + name + " " + shellWord(value)
	}
	return words
}

// isBuiltIn says whether a command line names a spec that is built in.
func isBuiltIn(r *spec.Resolved) bool {
	name, _ := unflagged(r.Named)
	return slices.Contains(spec.Names(experiments.FS), name)
}

// paperTables are the paper's tables that are built in, whose rows and numbers specs name.
var paperTables = sync.OnceValues(func() (*paper.Tables, error) { return paper.ReadTables(results.FS, "paper") })

// loadFrom reads the spec that has a name in fsys; arg is what a command line calls it.
func loadFrom(c *cli.Context, fsys fs.FS, name, arg string, changes spec.Changes) (*spec.Resolved, error) {
	if c.IsSet("out") && c.String("out") == "" {
		return nil, usageError{errors.New("--out is empty; name the folder of the store")}
	}
	if err := checkFolder(c.String("out"), "out"); err != nil {
		return nil, err
	}
	tables, err := paperTables()
	if err != nil {
		return nil, err
	}
	r, err := spec.Load(fsys, name, spec.Known{
		Methods: methods.Kinds(), Outputs: present.Kinds(), Paper: tables.All(),
		Build: func(x *spec.Experiment, m spec.Method) error {
			_, err := methods.New(methods.Setup{Method: m, Spec: x})
			return err
		},
	}, changes)
	if err != nil {
		return nil, err
	}
	r.Named = shellWord(arg) + changeWords(changes) + asGiven(c, "out", "data", "seeds", "partitions")
	if err := setTrainings(c, &r.Experiment); err != nil {
		return nil, err
	}
	return r, nil
}
