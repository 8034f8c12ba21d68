// The end of a run: how long it took, what was written, whether it agrees with a reference, what to look at next.

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// runSummary is what a run comes to. --json prints it.
type runSummary struct {
	Seconds     float64       `json:"seconds"`
	Folder      string        `json:"folder"` // of what was written; empty: nothing was
	Against     string        `json:"against,omitempty"`
	Experiments []*carriedOut `json:"experiments"`

	several bool // or held against a reference: it ends with a summary
}

// regressed says whether an experiment moved by more than noise.
func (s *runSummary) regressed() bool {
	return slices.ContainsFunc(s.Experiments, func(x *carriedOut) bool { return x.Agreement != nil && x.Agreement.Verdict == verdictRegression })
}

// mayBeHad is how many answers failed that another run asks for.
func (s *runSummary) mayBeHad() (n int) {
	for _, x := range s.Experiments {
		n += x.MayBeHad
	}
	return n
}

// write prints the summary: some ten lines.
func (s *runSummary) write(w io.Writer, named string) error {
	steps, stored, files := 0, 0, map[string]bool{}
	by := map[string][]string{}
	for _, x := range s.Experiments {
		steps, stored = steps+x.Steps, stored+x.Stored
		for _, name := range x.Files {
			files[name] = true
		}
		verdict := ""
		if x.Agreement != nil {
			verdict = x.Agreement.Verdict
		}
		by[verdict] = append(by[verdict], x.Experiment)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s: %s made, %d stored before\n", counted(len(s.Experiments), "1 experiment", "%d experiments"),
		clock(time.Duration(s.Seconds*float64(time.Second))), counted(steps-stored, "1 step", "%d steps"), stored)
	if s.Against != "" {
		for _, line := range []struct{ verdict, says string }{
			{verdictSame, "Every number is that of " + s.Against},
			{verdictNoise, "Agrees with " + s.Against + ": nothing moved by more than noise, and every number that must repeat itself does"},
			{verdictNotJudged, "Moved against " + s.Against + " only in numbers that are not judged"},
			{"", "No measurements in " + s.Against + " to compare with"},
		} {
			if of := by[line.verdict]; of != nil {
				fmt.Fprintf(&b, "%s: %s\n", line.says, some(of, namesAtMost))
			}
		}
		for i, x := range s.Experiments {
			if x.Agreement != nil && x.Agreement.Verdict == verdictRegression {
				fmt.Fprintf(&b, "%s moved against %s by more than noise: %s\n", x.Experiment, s.Against, some(x.Agreement.Rows, 8))
				if i == slices.IndexFunc(s.Experiments, func(y *carriedOut) bool { return y.Agreement != nil && y.Agreement.Verdict == verdictRegression }) && s.Folder != "" {
					fmt.Fprintf(&b, "  its account: %s\n", filepath.Join(s.Folder, checkFile(x.Experiment)))
				}
			}
		}
	}
	if s.Folder != "" {
		fmt.Fprintf(&b, "Tables, figures and measurements: %s (%s)\n", s.Folder, counted(len(files), "1 file", "%d files"))
	}
	if named != "" {
		fmt.Fprintf(&b, "Behind a number: entrorouter show %s; what the paper says of it: entrorouter claims; one page of all: entrorouter report\n", named)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// print prints an experiment that is finished: all its tables, unless the summary is to take their place.
func (s *runSummary) print(c *cli.Context, x *carriedOut) error {
	if c.Bool("json") || s.short(c) {
		return nil
	}
	_, err := c.App.Writer.Write(x.printed)
	return err
}

// conclude prints the end of a run: of one experiment nothing, of several the summary.
func (s *runSummary) conclude(c *cli.Context, named string) error {
	w := c.App.Writer
	switch {
	case c.Bool("json"):
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	case !s.several:
		return nil
	case !s.short(c):
		fmt.Fprintln(w)
	}
	return s.write(w, named)
}

// short says whether the summary takes the place of tables, which are in files.
func (s *runSummary) short(c *cli.Context) bool {
	return s.several && !c.Bool("full") && s.Folder != ""
}
