// The command run: carries experiments out and prints their tables.

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "carry out experiments and print their tables",
		ArgsUsage: "SPEC...",
		Description: "SPEC is the name of a built-in experiment ('entrorouter list' shows them) or the path of a YAML file. A file in the\n" +
			"same folder as that YAML file replaces the built-in file of its name. What is stored already is not done again. Servers that want\n" +
			"a key get the one in the environment variable ENTROROUTER_API_KEY.\n\n" +
			"Beside tables and figures it writes README.md, a page that shows them and says what they were made of.\n" +
			"A run ends with a summary: time, steps, whether it agrees with a reference, what to look at next. With several experiments, or\n" +
			"with --against, it prints the summary and no tables, which are in the folder. Without --against, built-in experiments are compared\n" +
			"with the committed tables, if these are here, or with the built-in reference, if it has them; the exit code stays 0.\n" +
			"--rows, --limit and --set change the spec as it is read. Titles then say so, and by default what is written goes to\n" +
			ownFigures + "/" + changedFigures + ".\n\n" +
			"--json: seconds, folder, against and experiments: experiment, title, seconds, steps, stored, may_be_had, files,\n" +
			"agreement (verdict same, noise, not judged or regression; compared, regressions, rows).",
		Flags: slices.Concat(runFlags(), changeFlags(), trainingFlags(), []cli.Flag{
			&cli.StringFlag{Name: "against", Usage: "compare the measurements with those of the folder `DIR`, as check does; exit code 3 on a regression"},
			fullFlag("print every table of several experiments, not only the first of the first"),
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"},
		}, figuresFlags("folder for tables and figures; empty: do not write any")),
		Action: func(c *cli.Context) error {
			if !c.Args().Present() {
				return usageError{fmt.Errorf("run takes one SPEC or more; built in: %s", strings.Join(spec.Names(experiments.FS), ", "))}
			}
			folder, err := figuresFolder(c)
			if err != nil {
				return err
			}
			switch {
			case c.IsSet("against") && c.String("against") == "":
				return usageError{errors.New("--against is empty; name a folder of measurements, or leave it out")}
			case c.IsSet("against") && c.Bool("update"):
				return usageError{errors.New("--update writes over what --against compares with; leave one of them out")}
			case c.Bool("json") && c.Bool("full"):
				return usageError{errors.New("--json prints no tables; leave --full out")}
			}
			changes, err := changesOf(c)
			switch {
			case err != nil:
				return err
			case changes.Any() && c.Bool("update"):
				return usageError{fmt.Errorf("--update writes the committed tables, which are those of the spec as it stands; leave %s out", strings.Join(changes.Flags(), " "))}
			case changes.Any() && c.IsSet("against"):
				return usageError{fmt.Errorf("--against compares the spec as it stands; leave %s out", strings.Join(changes.Flags(), " "))}
			case c.IsSet("against") && !isThere(c.String("against")):
				return usageError{fmt.Errorf("--against %s: there is no such folder; name one that --figures named in another run", shellWord(c.String("against")))}
			case changes.Any() && !c.IsSet("figures"):
				folder = filepath.Join(folder, changedFigures) // claims reads what is in the folder itself
			}
			// A fault in the last spec should not wait for the first to be carried out.
			var specs []*spec.Resolved
			for _, arg := range c.Args().Slice() {
				r, err := loadSpec(c, arg)
				if err != nil {
					return err
				}
				specs = append(specs, r)
			}
			if err := checkNames(specs); err != nil {
				return err
			}
			for _, r := range specs {
				if err := checkFolder(filepath.Join(folder, r.Experiment.Name), "figures"); folder != "" && err != nil {
					return err
				}
			}
			began, end := time.Now(), &runSummary{Folder: folder, Against: c.String("against"), several: len(specs) > 1 || c.IsSet("against")}
			end.next = nextOf(specs, folder)
			if !changes.Any() && !c.IsSet("against") { // references are of specs as they stand
				end.Against = referenceOf(specs, folder)
			}
			show := newProgress(c.App.ErrWriter, c.Bool("quiet"))
			o := optionsShown(c, show)
			if len(specs) > 1 {
				looking := show.Start(fmt.Sprintf("%d experiments", len(specs)), 0) // a second or two
				todo, err := harness.ToDo(c.Context, specs, o)
				looking.Done()
				if err != nil {
					return err
				}
				show.expect(todo)
			}
			for _, r := range specs {
				against := end.Against
				if !c.IsSet("against") && !isBuiltIn(r) {
					against = "" // what is committed or built in is not of a spec of one's own that has such a name
				}
				x, err := finish(c, r, o, folder, against)
				if err != nil {
					if x != nil { // computed, and not written
						err = errors.Join(end.print(c, x), err)
					}
					return err
				}
				end.Experiments = append(end.Experiments, x)
				if err := end.print(c, x); err != nil {
					return err
				}
			}
			end.Seconds = time.Since(began).Seconds()
			if err := end.conclude(c); err != nil {
				return err
			}
			if err := allHad(end.mayBeHad()); err != nil {
				return err
			}
			if c.IsSet("against") && end.regressed() {
				return exitStatus(exitMismatch)
			}
			return nil
		},
	}
}
