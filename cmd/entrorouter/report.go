// The command report: verdicts, tables and figures as one HTML file.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/store"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "make one HTML file of verdicts, tables and figures",
		ArgsUsage: "[SPEC...]",
		Description: "Reads FIGURES/NAME/measurements.txt of every SPEC; without SPEC, of every built-in experiment that has measurements there.\n" +
			"An ensemble of pools has verdicts and no tables. Verdicts are on all measurements in the folder. The file loads nothing\n" +
			"from anywhere.\n" +
			"With --against every experiment is compared with another run of it: how many numbers moved, by more than noise or not, and which.\n" +
			"With --serve the page is made whenever it is asked for, so that it follows a run.",
		Flags: append(slices.Concat(storeFlags(), trainingFlags()),
			&cli.StringFlag{Name: "figures", Value: ownFigures, Usage: "folder of the measurements; " + committedFigures + " has the committed ones"},
			fillFlag("--figures lacks"),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "report.html", Usage: "`FILE` to write"},
			&cli.StringFlag{Name: "against", Usage: "another run to compare with: the `FOLDER` of its measurements, or one file of them"},
			&cli.StringFlag{Name: "serve", Usage: "write no file: serve the page, whole answers and the status of a run at `ADDRESS`, as in 127.0.0.1:8080"},
			&cli.IntFlag{Name: "questions", Value: 200, Usage: "show at most `N` questions of each experiment whose run is in --out; 0: none"}),
		Action: func(c *cli.Context) error {
			dir, file := c.String("figures"), c.String("output")
			switch {
			case dir == "":
				return usageError{errors.New("--figures is empty; name the folder of the measurements")}
			case c.Int("questions") < 0:
				return usageError{fmt.Errorf("--questions is %d; it must be at least 0", c.Int("questions"))}
			case file == "":
				return usageError{errors.New("--output is empty; name the file to write")}
			}
			if err := checkAgainst(c); err != nil {
				return err
			}
			if c.IsSet("serve") {
				return serveReport(c)
			}
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				return usageError{fmt.Errorf("%s is a folder; name a file with --output, as in --output %s", file, filepath.Join(file, "report.html"))}
			}
			p, err := reportOf(c)
			if err != nil {
				return err
			}
			if err := sayLeftOut(c, dir); err != nil {
				return err
			}
			var text bytes.Buffer
			if err := p.Write(&text); err != nil {
				return err
			}
			if err := store.WriteFile(file, text.Bytes()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.App.Writer, "written to %s: experiments %d, %d kB\nOpen %s\n", file, len(p.Experiments), (text.Len()+999)/1000, file)
			return err
		},
	}
}

// checkAgainst says what cannot be compared with, before anything is read.
func checkAgainst(c *cli.Context) error {
	against := c.String("against")
	switch _, err := os.Stat(against); {
	case !c.IsSet("against"):
		return nil
	case against == "":
		return usageError{errors.New("--against is empty; name the folder of another run's measurements")}
	case filepath.ToSlash(filepath.Clean(against)) == paperDir:
		return usageError{fmt.Errorf("--against %s: the tables have the paper's numbers beside ours anyway; name the folder of another run's measurements", against)}
	case err != nil:
		return usageError{fmt.Errorf("--against %s: there is no such folder or file; name the folder that --figures named in the other run", shellWord(against))}
	case book.IsStore(against):
		return usageError{fmt.Errorf("--against %s is a store; name the folder that --figures named in that run, or compare question by question: entrorouter check SPEC --against %[1]s", shellWord(against))}
	}
	return nil
}
