// The page of the command report: what is read for it, and what it shows.

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/page"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/results"
)

// reportOf is the page that is asked for.
func reportOf(c *cli.Context) (*page.Page, error) {
	dir := c.String("figures")
	p := &page.Page{Version: c.App.Version}
	all, err := measuredRuns(c, dir)
	if err != nil {
		return nil, err
	}
	if c.IsSet("against") {
		p.Against = &page.Against{Name: c.String("against")}
	}
	for _, run := range all {
		r := run.Spec
		if r.Experiment.Ensemble != nil { // its measurements have verdicts
			if c.Args().Present() {
				name, _ := unflagged(r.Named)
				return nil, usageError{fmt.Errorf("spec %s is of many pools, whose tables 'entrorouter render %[1]s' writes; leave it out: its measurements are judged wherever they are", name)}
			}
			continue
		}
		if run.Before, err = measuredBefore(c, r); err != nil {
			return nil, err
		}
		e, err := experimentOf(dir, run)
		if err != nil {
			return nil, err
		}
		switch {
		case run.Before != nil:
			e.Against = compare.Numbers(r, run.Measurements, run.Before)
			if !r.Changes.Any() { // check reads a spec as it stands
				e.Compare = "entrorouter check " + withData(r) + " --against " + shellWord(p.Against.Name) + " --json"
			}
		case p.Against != nil:
			p.Against.None = append(p.Against.None, r.Experiment.Name)
		}
		if e.Questions, e.NoQuestions, err = questionsOf(c, r); err != nil {
			return nil, err
		}
		if recipes := run.Measurements.Recipes(); recipes != nil {
			e.Commands = append(e.Commands, "entrorouter explain "+withData(r)+" "+shellWord(recipes[0].Step))
		}
		p.Experiments = append(p.Experiments, e)
	}
	if p.Against != nil && len(p.Against.None) == len(p.Experiments) {
		return nil, usageError{fmt.Errorf("--against %s has no measurements of %s; name the folder that --figures named in the other run", shellWord(p.Against.Name), some(p.Against.None, 8))}
	}
	sample(p)
	if p.Paper, err = paperOf(dir, c.String("fill")); err != nil {
		return nil, err
	}
	p.Paper.Commands = builtInCommands(c, p.Experiments)
	return p, nil
}

// measuredBefore are the measurements of an experiment that --against has; nil: it has none.
func measuredBefore(c *cli.Context, r *spec.Resolved) (*metrics.Set, error) {
	if !c.IsSet("against") {
		return nil, nil
	}
	file := c.String("against")
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = measurementsFile(file, r.Experiment.Name)
	}
	set, err := readSet(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usageError{err}
	}
	if len(set.Where(metrics.Keys("experiment", r.Experiment.Name)...)) == 0 {
		return nil, nil
	}
	return set, nil
}

// experimentOf is an experiment as its measurements show it.
func experimentOf(dir string, run *present.Run) (e page.Experiment, err error) {
	r := run.Spec
	name, _ := unflagged(r.Named) // render knows nothing of how a run is made
	e = page.Experiment{Run: run, File: measurementsFile(dir, r.Experiment.Name), Commands: append(runs(dir, r), "entrorouter render "+name+" --figures "+shellWord(dir))}
	if !r.Changes.Any() { // show reads a spec as it stands
		e.Commands = append(e.Commands, "entrorouter show "+withData(r))
	}
	e.Outputs, err = present.Outputs(run, results.FS)
	return e, outdated(dir, r, err)
}

// questionsOf are questions of a finished run whose store is at hand, or the reason why there are none. Nobody is asked.
func questionsOf(c *cli.Context, r *spec.Resolved) (sets []page.QuestionSet, why string, err error) {
	if c.Int("questions") == 0 {
		return nil, "", nil
	}
	t, done, err := harness.OpenTrail(c.Context, r, options(c))
	switch {
	case c.Context.Err() != nil:
		return nil, "", c.Context.Err()
	case errors.Is(err, harness.ErrIncomplete):
		return nil, fmt.Sprintf("Its questions are here once 'entrorouter run %s' has been carried out.", r.Named), nil
	case err != nil: // a page without questions is a page all the same
		return nil, fmt.Sprintf("Its questions are not here: %v.", err), nil
	}
	defer done()
	var rows []page.Routed
	for _, m := range r.Experiment.Methods {
		rows = append(rows, page.Routed{ID: m.RowID(), Label: m.RowLabel(), Outlined: m.RowID() == methods.ReferenceRow})
	}
	sets, err = page.Ask(c.Context, t, rows, c.Int("questions"))
	return sets, "", err
}

// wholeQuestions are how many questions of a page have whole responses, at most: a page has to stay small enough to be mailed.
const wholeQuestions = 200

// sample leaves whole responses to some questions of a page, of all its experiments together.
func sample(p *page.Page) {
	var sets []*page.QuestionSet
	for i := range p.Experiments {
		for k := range p.Experiments[i].Questions {
			sets = append(sets, &p.Experiments[i].Questions[k])
		}
	}
	page.Sample(sets, wholeQuestions)
}

// builtInCommands make the measurements of built-in experiments, in the folder where a run writes unless it is told otherwise. Specs
// that are not shown are read when they are first named.
func builtInCommands(c *cli.Context, shown []page.Experiment) func(experiments []string) []string {
	builtIn := spec.Names(experiments.FS)
	specs := map[string]*spec.Resolved{}
	for _, e := range shown {
		specs[e.Run.Spec.Experiment.Name] = e.Run.Spec // with the seeds of its measurements
	}
	return func(names []string) []string {
		var of []*spec.Resolved
		for _, name := range names {
			if !slices.Contains(builtIn, name) {
				continue
			}
			r, known := specs[name]
			if !known {
				r, _ = loadAny(c, name) // a spec that does not take the flags of this command is not named
				specs[name] = r
			}
			if r != nil {
				of = append(of, r)
			}
		}
		return runs("", of...) // a folder in every sentence is much of the page
	}
}

// paperOf judges the built-in paper on all measurements of a folder, and on those of another of what it lacks.
func paperOf(dir, fill string) (*page.Paper, error) {
	measured, filled, err := readAllMeasurements([]string{dir}, false, fill)
	if err != nil {
		return nil, err
	}
	of, err := readPaper("")
	if err != nil {
		return nil, err
	}
	p := &page.Paper{List: of.list, Orderings: of.orderings, Judge: "entrorouter claims --measurements " + shellWord(dir) + " --figures ''"}
	if filled != nil {
		p.Filled, p.From = filled, fill
		p.Judge += " --fill " + shellWord(fill)
	}
	if p.Findings, err = of.list.Check(of.listFile, of.tables, measured, of.orderings); err != nil {
		return nil, usageError{err}
	}
	p.Findings = append(p.Findings, measured.CheckTables()...)
	if p.Rows, err = of.orderings.Judge(of.orderingsFile, of.tables, measured); err != nil {
		return nil, usageError{err}
	}
	if p.Short, err = of.orderings.FrontSheet(of.orderingsFile, p.Findings, p.Rows, measured); err != nil {
		return nil, usageError{err}
	}
	if p.Gains, err = of.orderings.FrontFigure(measured); err != nil {
		return nil, usageError{err}
	}
	return p, nil
}
