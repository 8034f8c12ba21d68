// The command ensemble: an experiment on many simulated pools that fit the paper's fixed experts alike.

package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/ensemble"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/units"
)

func ensembleCommand() *cli.Command {
	return &cli.Command{
		Name:      "ensemble",
		Usage:     "carry out an experiment on many simulated pools and say on how many of them each contrast is true",
		ArgsUsage: "SPEC",
		Description: "The spec has a block ensemble with the ranges of what no data fix: how much a text shows, how far topics and experts\n" +
			"differ. Pools are a Latin hypercube over them, and each is calibrated to the paper's fixed experts. What is true on\n" +
			"all of them does not rest on a constant of ours; what is true on some says nothing of the paper. What is stored\n" +
			"already is not done again.",
		Flags: append(append(runFlags(), seedsFlag()), figuresFlags("folder for SPEC/shares, SPEC/pools and SPEC/measurements.txt; empty: do not write any")...),
		Action: func(c *cli.Context) error {
			folder, err := figuresFolder(c)
			if err != nil {
				return err
			}
			r, err := load(c)
			if err != nil {
				return err
			}
			x := &r.Experiment
			if x.Ensemble == nil {
				return usageError{fmt.Errorf("spec %s has no block ensemble, which says what pools are drawn from; the built-in one is: ensemble", x.Name)}
			}
			members, err := ensemble.Draw(x.Ensemble, r.Pools[0], r.Prices, seed.Seed(x.Seed))
			if err != nil {
				return usageError{err}
			}
			name := x.Name
			var measured []*metrics.Set
			for i, m := range members {
				own := *r
				own.Pools = append(own.Pools[:0:0], r.Pools...)
				own.Pools[0], own.Experiment.Name = m.Pool, fmt.Sprintf("%s-%02d", name, i+1)
				result, err := harness.Run(c.Context, &own, options(c))
				if err != nil {
					return fmt.Errorf("pool %s: %w", m.Pool.Name, err)
				}
				measured = append(measured, result.Measurements)
			}
			shown := &present.Run{Spec: r, Measurements: ensemble.Lines(name, measured)}
			files, err := drawEnsemble(shown, members, terminal(c.App.Writer), c.App.Writer)
			if err != nil || folder == "" {
				return err
			}
			_, err = writeFigures(c.App.Writer, folder, shown, files)
			return err
		},
	}
}

// drawEnsemble prints on how many pools of an ensemble each contrast is true, and renders that and the measurements; with members, which
// calibration takes half a minute to draw, what each pool was drawn with, too.
func drawEnsemble(run *present.Run, members []ensemble.Member, to report.Terminal, w io.Writer) ([]report.File, error) {
	name := run.Spec.Experiment.Name
	shares := ensemble.Shares(ensemble.ByPool(run.Measurements))
	said := sharesSheet(run, shares)
	sheets := []*report.Sheet{said}
	records := []func(io.Writer) error{func(w io.Writer) error { return ensemble.WriteShares(w, shares) }}
	if members != nil {
		of := run.Spec.Experiment.Ensemble
		sheets = append(sheets, poolsSheet(run, members))
		records = append(records, func(w io.Writer) error { return ensemble.WritePools(w, of, members) })
	}
	var files []report.File
	for i, sheet := range sheets {
		var text bytes.Buffer
		err := records[i](&text)
		if err == nil {
			sheet.Records, err = csv.NewReader(&text).ReadAll()
		}
		if err != nil {
			return nil, err
		}
		drawn, err := sheet.Files()
		if err != nil {
			return nil, err
		}
		for _, f := range drawn {
			files = append(files, report.File{Name: present.File(name, f.Name), Data: f.Data})
		}
	}
	var text bytes.Buffer
	if err := run.Measurements.Write(&text); err != nil {
		return nil, err
	}
	if err := to.WriteSheet(w, said); err != nil {
		return nil, err
	}
	return append(files, report.File{Name: present.Measurements(name), Data: text.Bytes()}), nil
}

// sharesSheet says on how many pools each contrast is true, a grid per number.
func sharesSheet(run *present.Run, shares []ensemble.Share) *report.Sheet {
	of := methods.ReferenceRow
	for _, m := range run.Spec.Experiment.Methods {
		if m.RowID() == methods.ReferenceRow {
			of = m.RowLabel()
		}
	}
	pools := 0
	for _, s := range shares {
		pools = max(pools, s.Pools)
	}
	sheet := &report.Sheet{Name: "shares", Caption: fmt.Sprintf("%s: on how many of %d each contrast is above or below 0, and its numbers over them. Mean of the benchmarks of the larger set. Simulated.", run.Spec.Experiment.Title, pools)}
	for _, number := range []struct{ unit, title string }{
		{units.HullGain, "Accuracy above a coin flip between fixed experts of the same cost (hull gain), in points"},
		{units.Difference, "Accuracy minus that of " + of + ", whatever each costs, in points"},
		{units.Lead, "Accuracy above the best of " + of + " and the fixed experts for the row's own cost, in points"},
		{units.OtherLead, "Accuracy of " + of + " above the best of the row and the fixed experts for its own cost, in points"},
	} {
		g := report.Grid{Title: number.title, Head: []string{"Row", "Above 0", "Below 0", "Median", "Least", "Greatest"}, Widths: []float64{.35, .13, .13, .13, .13, .13}}
		for _, m := range run.Spec.Experiment.Methods {
			i := slices.IndexFunc(shares, func(s ensemble.Share) bool { return s.Row == m.RowID() && s.Unit == number.unit })
			if i < 0 {
				continue
			}
			s := shares[i]
			row := []report.Text{report.Say(m.RowLabel()), report.Say(strconv.Itoa(s.Above)), report.Say(strconv.Itoa(s.Below))}
			for _, v := range []float64{s.Median, s.Least, s.Most} {
				row = append(row, report.Say(fmt.Sprintf("%.2f", v)))
			}
			g.Rows = append(g.Rows, row)
		}
		if g.Rows != nil {
			sheet.Grids = append(sheet.Grids, g)
		}
	}
	return sheet
}

// poolsSheet says what each pool was drawn with.
func poolsSheet(run *present.Run, members []ensemble.Member) *report.Sheet {
	g := report.Grid{Head: []string{"Pool"}, Widths: []float64{.16}}
	var notes []string
	ranges := run.Spec.Experiment.Ensemble.Ranges()
	for _, r := range ranges {
		g.Head = append(g.Head, r.Knob)
		g.Widths = append(g.Widths, .84/float64(len(ranges)))
		notes = append(notes, fmt.Sprintf("%s from %g to %g: %s.", r.Knob, r.From, r.To, r.Why))
	}
	for _, m := range members {
		row := []report.Text{report.Say(m.Pool.Name)}
		for _, v := range m.Knobs {
			row = append(row, report.Say(fmt.Sprintf("%.3g", v)))
		}
		g.Rows = append(g.Rows, row)
	}
	return &report.Sheet{Name: "pools", Caption: run.Spec.Experiment.Title + ": what each pool was drawn with.", Grids: []report.Grid{g}, Notes: notes}
}
