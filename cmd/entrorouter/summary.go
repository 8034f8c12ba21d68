// The end of a run: how long it took, what was written, whether it agrees with a reference, what to look at next.

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// runSummary is what a run comes to. --json prints it.
type runSummary struct {
	Seconds     float64       `json:"seconds"`
	Folder      string        `json:"folder"` // of what was written; empty: nothing was
	Against     string        `json:"against,omitempty"`
	Experiments []*carriedOut `json:"experiments"`

	several bool // or held against a reference: it ends with a summary
}

// carriedOut is an experiment that was carried out.
type carriedOut struct {
	Experiment string     `json:"experiment"`
	Title      string     `json:"title"`
	Seconds    float64    `json:"seconds"`
	Steps      int        `json:"steps"`
	Stored     int        `json:"stored"`     // steps that were not carried out again
	MayBeHad   int        `json:"may_be_had"` // answers that failed and that another run asks for
	Files      []string   `json:"files"`
	Agreement  *agreement `json:"agreement,omitempty"` // with the reference; absent: it has none, or nobody asked

	printed []byte // its tables, words and what was written
}

// agreement says whether measurements agree with a reference.
type agreement struct {
	Verdict     string   `json:"verdict"` // same, noise, not judged or regression
	Compared    int      `json:"compared"`
	Regressions int      `json:"regressions"`
	Rows        []string `json:"rows,omitempty"` // that moved by more than noise, causes first
}

// finish carries out an experiment and writes its figures to a folder; empty: to none. reference is a folder of measurements that
// it is held against; empty: nobody asked. Where the folder cannot be written to, what is printed comes with the error.
func finish(c *cli.Context, r *spec.Resolved, o harness.Options, folder, reference string) (*carriedOut, error) {
	began := time.Now()
	makeRoom(r)
	result, err := harness.Run(c.Context, r, o)
	if err != nil {
		return nil, err
	}
	x := &carriedOut{Experiment: r.Experiment.Name, Title: r.Experiment.Title, Steps: result.Steps, Stored: result.Stored, MayBeHad: result.MayBeHad}
	shown := &present.Run{Spec: result.Spec, Measurements: result.Measurements}
	if !c.Bool("update") { // what is committed is what render makes of the measurements
		shown.RouterMS = result.RouterMS
	}
	var text bytes.Buffer
	files, err := present.Draw(shown, results.FS, terminal(c.App.Writer), &text)
	if err != nil {
		return nil, err
	}
	if reference != "" {
		account, err := x.holdAgainst(result, reference)
		if err != nil {
			return nil, err
		}
		if account != nil && folder != "" {
			files = append(files, *account)
		}
	}
	if folder != "" {
		if err := save(&text, folder, files); err != nil {
			x.printed = text.Bytes()
			return x, err
		}
		for _, f := range files {
			x.Files = append(x.Files, f.Name)
		}
	}
	if err := present.Conclude(shown, &text); err != nil {
		return nil, err
	}
	x.printed, x.Seconds = text.Bytes(), time.Since(began).Seconds()
	return x, nil
}

// holdAgainst compares measurements with those of a folder and returns the account as a file; nil: the folder has none.
func (x *carriedOut) holdAgainst(result *harness.Result, reference string) (*report.File, error) {
	if _, err := os.Stat(measurementsFile(reference, x.Experiment)); os.IsNotExist(err) {
		return nil, nil
	}
	set, _, err := findReference(result.Spec, reference)
	if err != nil {
		return nil, err
	}
	r := compare.Numbers(result.Spec, result.Measurements, set)
	x.Agreement = agreementOf(r, result.Spec)
	var text bytes.Buffer
	writeCheck(&text, r, result.Spec, reference, false, true)
	return &report.File{Name: checkFile(x.Experiment), Data: text.Bytes()}, nil
}

// checkFile is the account of how an experiment agrees with a reference.
func checkFile(experiment string) string { return present.File(experiment, "check.txt") }

// Verdicts of an agreement.
const (
	verdictSame       = "same"
	verdictNoise      = "noise"
	verdictNotJudged  = "not judged"
	verdictRegression = "regression"
)

func agreementOf(r *compare.NumbersReport, of *spec.Resolved) *agreement {
	a := &agreement{Compared: len(r.Changes), Verdict: verdictSame}
	regressions := r.Regressions()
	switch {
	case len(regressions) > 0:
		a.Verdict, a.Regressions = verdictRegression, len(regressions)
		roots, follow := causesFirst(rowsOf(regressions), of)
		a.Rows = slices.Concat(roots, follow)
	case len(r.Noise()) > 0:
		a.Verdict = verdictNoise
	case len(r.Ungated()) > 0:
		a.Verdict = verdictNotJudged
	}
	return a
}

// causesFirst divides rows that moved into those that moved by themselves and those that are set to spend what one of these spends.
func causesFirst(rows []string, of *spec.Resolved) (roots, follow []string) {
	for _, id := range rows {
		i := slices.IndexFunc(of.Experiment.Methods, func(m spec.Method) bool { return m.RowID() == id })
		if i >= 0 && of.Experiment.Methods[i].Match != "" && slices.Contains(rows, of.Experiment.Methods[i].Match) {
			follow = append(follow, id)
		} else {
			roots = append(roots, id)
		}
	}
	return roots, follow
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

// namesAtMost is how many experiments or rows a line of the summary names.
const namesAtMost = 12

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
