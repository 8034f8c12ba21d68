// An experiment is carried out, written down and held against a reference.

package main

import (
	"bytes"
	"fmt"
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

	leftOut []string // outputs that --rows leaves out
	named   string   // as a command line names it
	printed string   // its tables and what was written
	verdict string   // whether a router pays, of experiments that say so
	route   string   // command that routes by the router that pays; empty: none does, or nothing says so
}

// holdAgainst compares measurements with those of a folder and returns the account as a file; nil: the folder has none.
func (x *carriedOut) holdAgainst(result *harness.Result, reference string) (*report.File, error) {
	if !hasReference(reference, x.Experiment) {
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

// agreement says whether measurements agree with a reference.
type agreement struct {
	Verdict     string   `json:"verdict"` // same, noise, not judged or regression
	Compared    int      `json:"compared"`
	Regressions int      `json:"regressions"`
	Rows        []string `json:"rows,omitempty"` // that moved by more than noise, causes first
}

// finish carries out an experiment and writes its figures to a folder; empty: to none. reference is a folder of measurements that
// it is held against, and its account one of the files if --against names it; empty: there is none. Where the folder cannot be written to, what is printed comes with the error.
func finish(c *cli.Context, r *spec.Resolved, o harness.Options, folder, reference string) (*carriedOut, error) {
	began := time.Now()
	makeRoom(r)
	result, err := harness.Run(c.Context, r, o)
	if err != nil {
		return nil, err
	}
	x := &carriedOut{Experiment: r.Experiment.Name, Title: r.Experiment.Title, named: r.Named, leftOut: r.LeftOut, Steps: result.Steps, Stored: result.Stored, MayBeHad: result.MayBeHad}
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
		if account != nil && folder != "" && c.IsSet("against") {
			files = append(files, *account)
		}
	}
	if folder != "" {
		if x.Files, err = writeFigures(&text, folder, shown, files); err != nil {
			x.printed = text.String()
			return x, err
		}
	}
	var verdict strings.Builder
	if err := present.Conclude(shown, &verdict); err != nil {
		return nil, err
	}
	if best, ok, err := shown.Recommended(); err != nil {
		return nil, err
	} else if ok && !r.Changes.Any() { // route reads a spec as it stands
		x.route = routeBy(c, r, best)
	}
	x.printed, x.verdict, x.Seconds = text.String(), verdict.String(), time.Since(began).Seconds()
	return x, nil
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

// allHad is an error if answers are missing that may be had.
func allHad(missing int) error {
	if missing > 0 {
		failed := counted(missing, "1 answer failed and may be had: run the same command again, and it asks for this one alone", "%d answers failed and may be had: run the same command again, and it asks for these alone")
		return fmt.Errorf("%w: %s", harness.ErrIncomplete, failed)
	}
	return nil
}
