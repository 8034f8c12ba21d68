package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/results"
)

const (
	referenceDir = "results/reference"
	paperDir     = "results/paper"
)

func checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "carry out an experiment and say what moved against a reference; exit code 3 on a regression",
		ArgsUsage: "SPEC",
		Description: "The reference is a folder with SPEC-measurements.txt or such a file. results/reference and results/paper are\n" +
			"built in; against the paper only the rows that always ask one expert are gated. With the same seeds on the same\n" +
			"architecture every number must be the same; with other training seeds, inside the spread of the reference's; with\n" +
			"other problems, inside the question variance too. With CI=true it also writes GitHub annotations.",
		Flags: append(runFlags(), seedsFlag(),
			&cli.StringFlag{Name: "against", Value: referenceDir, Usage: "reference measurements: a folder or a file"},
			&cli.BoolFlag{Name: "update", Usage: "write the measurements to the folder named by --against instead of comparing"},
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
				if filepath.Clean(against) == paperDir || strings.HasSuffix(against, ".txt") {
					return usageError{fmt.Errorf("--update writes to a folder of ours, not to %s", against)}
				}
				result, err := harness.Run(c.Context, r, options(c))
				if err != nil {
					return err
				}
				return update(c.App.Writer, result, against)
			}
			reference, paper, err := findReference(r, against)
			if err != nil {
				return err
			}
			result, err := harness.Run(c.Context, r, options(c))
			if err != nil {
				return err
			}
			report := harness.Check(result, reference)
			if paper {
				report = harness.CheckPaper(result, reference)
			}
			if c.Bool("json") {
				err = writeCheckJSON(c.App.Writer, report, against)
			} else {
				writeCheck(c.App.Writer, report, against, paper)
			}
			if err != nil {
				return err
			}
			regressions := report.Regressions()
			if os.Getenv("CI") == "true" {
				annotate(c.App.ErrWriter, regressions)
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

// findReference reads the reference measurements of an experiment and says whether they are the paper's.
func findReference(r *spec.Resolved, against string) (set *metrics.Set, paper bool, err error) {
	x := &r.Experiment
	read := func(name string, f fs.File, err error) (*metrics.Set, error) {
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return metrics.Read(name, f)
	}
	ours, theirs := x.Name+"-measurements.txt", x.Paper+".txt"
	fsys, dir, builtIn := fs.FS(os.DirFS(against)), against, false
	switch filepath.ToSlash(filepath.Clean(against)) {
	case paperDir:
		if x.Paper == "" {
			return nil, false, usageError{fmt.Errorf("spec %s reproduces no table of the paper; --against %s has nothing for it", x.Name, paperDir)}
		}
		if x.Evaluate.MaxProblems > 0 || x.Evaluate.MaxRuns > 0 {
			return nil, false, usageError{fmt.Errorf("spec %s cuts the benchmarks down (evaluate.max_problems, evaluate.max_runs); the numbers of %s are of whole benchmarks", x.Name, paperDir)}
		}
		f, err := results.FS.Open("paper/" + theirs)
		set, err = read(paperDir+"/"+theirs, f, err)
		return set, true, err
	case referenceDir:
		// A folder of that name here goes first: it is what --update writes.
		if _, err := os.Stat(against); err != nil {
			sub, err := fs.Sub(results.FS, "reference")
			if err != nil {
				return nil, false, err
			}
			fsys, builtIn = sub, true
		}
	}
	if info, err := os.Stat(against); !builtIn && err == nil && !info.IsDir() {
		f, err := os.Open(against)
		set, err = read(against, f, err)
		return set, false, err
	}
	f, err := fsys.Open(ours)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, usageError{fmt.Errorf("no %s in %s; make it: entrorouter check %s --against %s --update", ours, dir, x.Name, dir)}
	}
	set, err = read(dir+"/"+ours, f, err)
	return set, false, err
}

// moved is a change as a line of JSON.
type moved struct {
	Label     string   `json:"label"`
	Unit      string   `json:"unit"`
	Ours      *float64 `json:"ours"` // null: not measured
	Reference float64  `json:"reference"`
	Gate      string   `json:"gate"`
	Band      *float64 `json:"band"` // null: nothing says what is noise
	Verdict   string   `json:"verdict"`
}

// verdict says in words what a change is.
func verdict(c metrics.Change) string {
	switch {
	case c.Missing:
		return "missing"
	case !c.Differs():
		return "same"
	case c.Gate == metrics.None:
		return "not gated"
	case c.Gate == metrics.Golden && math.Abs(c.Ours-c.Reference) <= c.Noise:
		return "regression: no longer the same number, though other seeds move it as much"
	case c.Regressed():
		return "regression"
	}
	return "noise"
}

// band is the greatest difference that is noise.
func band(c metrics.Change) (float64, bool) {
	switch {
	case c.Gate == metrics.Golden:
		return c.Noise, !math.IsNaN(c.Noise)
	case c.Gate == metrics.None:
		return 0, false
	}
	return c.Band, true
}

func writeCheckJSON(w io.Writer, r *harness.CheckReport, against string) error {
	out := struct {
		*harness.CheckReport
		Against  string  `json:"against"`
		Compared int     `json:"compared"`
		Moved    []moved `json:"moved"` // everything that is not the same
	}{r, against, len(r.Changes), []moved{}}
	for _, c := range r.Changes {
		if !c.Differs() {
			continue
		}
		m := moved{Label: c.Label, Unit: c.Unit, Reference: c.Reference, Gate: string(c.Gate), Verdict: verdict(c)}
		if !c.Missing {
			m.Ours = &c.Ours
		}
		if b, ok := band(c); ok {
			m.Band = &b
		}
		out.Moved = append(out.Moved, m)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// writeCheck prints a readable account; --json has every number.
func writeCheck(w io.Writer, r *harness.CheckReport, against string, paper bool) {
	how := "other problems: averages of rows that train nothing are held against the question variance"
	switch {
	case paper:
		how = "rows that always ask one expert are held against the question variance, the others are reported"
	case r.SameProblems && r.SameNumerics:
		how = "same problems, backend and architecture: what is trained with the same seeds must be the same number"
	case r.SameProblems:
		how = "same problems: trained rows are held against the spread of the reference's training seeds"
	}
	regressions, noise, ungated := r.Regressions(), r.Noise(), r.Ungated()
	same := len(r.Changes) - len(regressions) - len(noise) - len(ungated)
	fmt.Fprintf(w, "%s against %s, %s.\n", r.Experiment, against, how)
	fmt.Fprintf(w, "%d numbers compared: %d the same, %d moved inside the noise, %d moved with nothing to judge them by; regressions: %d.\n",
		len(r.Changes), same, len(noise), len(ungated), len(regressions))
	list := func(head string, of []metrics.Change, most int) {
		if len(of) == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s\n", head)
		for i, c := range of {
			if i == most {
				fmt.Fprintf(w, "  and %d more; --json lists them\n", len(of)-most)
				return
			}
			fmt.Fprintf(w, "  %s\n", account(c))
		}
	}
	list("Regressions:", regressions, 20)
	list("Inside the noise, the nearest to its edge first:", noise, 10)
	if paper {
		list("Rows of routers, which decide nothing:", ungated, len(ungated))
	}
}

// account says in one line what moved, by how much and whether that is noise.
func account(c metrics.Change) string {
	if c.Missing {
		return fmt.Sprintf("%s %s: %g in the reference, not measured now", c.Label, c.Unit, c.Reference)
	}
	s := fmt.Sprintf("%s %s: %g -> %g (%+.4g", c.Label, c.Unit, c.Reference, c.Ours, c.Ours-c.Reference)
	if b, ok := band(c); ok {
		s += fmt.Sprintf("; noise is up to %.4g", b)
	}
	return s + "; " + verdict(c) + ")"
}

// annotate writes GitHub workflow commands, of which ten a step are shown.
func annotate(w io.Writer, regressions []metrics.Change) {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for i, c := range regressions {
		if i == 9 && len(regressions) > 10 {
			fmt.Fprintf(w, "::error title=entrorouter check::and %d more regressions\n", len(regressions)-9)
			return
		}
		fmt.Fprintf(w, "::error title=entrorouter check::%s\n", escape.Replace(account(c)))
	}
}
