// The end of a run: how long it took, what was written, whether it agrees with a reference, what to look at next.

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// runSummary is what a run comes to. --json prints it.
type runSummary struct {
	Seconds     float64       `json:"seconds"`
	Folder      string        `json:"folder"`            // of what was written; empty: nothing was
	Against     string        `json:"against,omitempty"` // what measurements are held against; empty: nothing has any
	Experiments []*carriedOut `json:"experiments"`

	several bool   // or held against what the command line names: the summary takes the place of tables, which are in the folder
	next    string // what a reader may go on with
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

// write prints the summary: ten lines at most, but for regressions. printed says that tables, with the names of their files, stand above it.
func (s *runSummary) write(w io.Writer, printed bool) error {
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
	fmt.Fprintf(&b, "%s in %s: %s made, %d found in the store\n", counted(len(s.Experiments), "1 experiment", "%d experiments"),
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
				if i != slices.IndexFunc(s.Experiments, func(y *carriedOut) bool { return y.Agreement != nil && y.Agreement.Verdict == verdictRegression }) {
					continue
				}
				if file := checkFile(x.Experiment); slices.Contains(x.Files, file) {
					fmt.Fprintf(&b, "  its account: %s\n", filepath.Join(s.Folder, file))
				} else {
					fmt.Fprintf(&b, "  its account: entrorouter check %s --against %s\n", x.named, shellWord(s.Against))
				}
			}
		}
	}
	for _, x := range s.Experiments {
		if x.leftOut != nil {
			fmt.Fprintf(&b, "Not in %s, since --rows leaves out rows that they compare: %s\n", x.Experiment, strings.Join(x.leftOut, ", "))
		}
	}
	if s.Folder != "" && !printed {
		fmt.Fprintf(&b, "Tables, figures and measurements: %s (%s)\n", s.Folder, counted(len(files), "1 file", "%d files"))
	}
	b.WriteString(s.next)
	for _, x := range s.Experiments {
		if x.route != "" {
			fmt.Fprintf(&b, "Route questions of your own as the last line says: %s\n", x.route)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// print prints an experiment that is finished: all its tables, unless the summary is to take their place.
func (s *runSummary) print(c *cli.Context, x *carriedOut) error {
	if c.Bool("json") || s.short(c) {
		return nil
	}
	text := x.printed
	if c.NArg() > 1 { // that of a single one comes last
		text += x.verdict
	}
	_, err := io.WriteString(c.App.Writer, text)
	return err
}

// conclude prints the end of a run: the summary, and last of a single experiment whether a router pays.
func (s *runSummary) conclude(c *cli.Context) error {
	w := c.App.Writer
	if c.Bool("json") {
		return writeJSON(w, s)
	}
	printed := !s.short(c)
	if printed {
		fmt.Fprintln(w)
	}
	if err := s.write(w, printed); err != nil || c.NArg() > 1 {
		return err
	}
	_, err := io.WriteString(w, s.Experiments[0].verdict)
	return err
}

// nextOf are commands that a reader of a finished run may go on with, as a line; folder is where its measurements are, empty: nowhere.
func nextOf(specs []*spec.Resolved, folder string) string {
	var lead []string
	changed := slices.ContainsFunc(specs, func(r *spec.Resolved) bool { return r.Changes.Any() }) // show and claims read a spec as it stands
	if i := slices.IndexFunc(specs, func(r *spec.Resolved) bool { return protocol.CheckTrail(&r.Experiment) == nil }); i >= 0 && !changed {
		lead = append(lead, "behind a number: entrorouter show "+specs[i].Named)
	}
	if folder != "" {
		in, measured := "", ""
		if folder != ownFigures {
			in = " --figures " + shellWord(folder)
			measured = " --measurements " + shellWord(folder) + in
		}
		names, flags := "", ""
		for _, r := range specs {
			var name string
			name, flags = unflagged(r.Named)
			names, flags = names+" "+name, strings.TrimPrefix(flags, changeWords(r.Changes)) // report finds them in the measurements
		}
		all, page := !slices.ContainsFunc(specs, func(r *spec.Resolved) bool { return !isBuiltIn(r) }), "it"
		if all && !changed {
			lead = append(lead, "what the paper says of it: entrorouter claims"+measured)
		}
		if len(specs) > 1 {
			page = "all"
			if all { // report finds them
				names = ""
			}
		}
		lead = append(lead, "one page of "+page+": entrorouter report"+names+flags+in)
	}
	if lead == nil {
		return ""
	}
	return upperFirst(strings.Join(lead, "; ")) + "\n"
}

// short says whether the summary takes the place of tables, which are in files.
func (s *runSummary) short(c *cli.Context) bool {
	return s.several && !c.Bool("full") && s.Folder != ""
}
