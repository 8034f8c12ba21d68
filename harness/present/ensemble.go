// What an ensemble of simulated pools says: on how many of them each contrast is true, and what each was drawn with.

package present

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/ensemble"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/units"
)

// DrawEnsemble is Draw of an ensemble, whose measurements ensemble.Lines made: it prints on how many pools each contrast is true and
// returns that and the measurements as files; with members, which calibration takes half a minute to draw, what each pool was drawn
// with, too.
func DrawEnsemble(r *Run, members []ensemble.Member, to report.Terminal, w io.Writer) ([]report.File, error) {
	name := r.Spec.Experiment.Name
	said := r.shares(ensemble.Shares(ensemble.ByPool(r.Measurements)))
	sheets := []*report.Sheet{said}
	if members != nil {
		sheets = append(sheets, r.pools(members))
	}
	var files []report.File
	for _, sheet := range sheets {
		drawn, err := sheet.Files()
		if err != nil {
			return nil, err
		}
		for _, f := range drawn {
			files = append(files, report.File{Name: File(name, f.Name), Data: f.Data})
		}
	}
	measured, err := r.measured()
	if err != nil {
		return nil, err
	}
	return append(files, measured), to.WriteSheet(w, said)
}

// shares says on how many pools each contrast is true, a grid per number.
func (r *Run) shares(shares []ensemble.Share) *report.Sheet {
	of := methods.ReferenceRow
	if m, ok := r.Spec.Experiment.Row(methods.ReferenceRow); ok {
		of = m.RowLabel()
	}
	pools := 0
	for _, s := range shares {
		pools = max(pools, s.Pools)
	}
	sheet := &report.Sheet{Name: "shares", Caption: fmt.Sprintf("%s: on how many of %d each contrast is above or below 0, and its numbers over them. Mean of the benchmarks of the larger set. Simulated.", r.Spec.Experiment.Title, pools), Records: ensemble.ShareRecords(shares)}
	for _, number := range []struct{ unit, title string }{
		{units.HullGain, "Accuracy above a coin flip between fixed experts of the same cost (hull gain), in points"},
		{units.Difference, "Accuracy minus that of " + of + ", whatever each costs, in points"},
		{units.Lead, "Accuracy above the best of " + of + " and the fixed experts for the row's own cost, in points"},
		{units.OtherLead, "Accuracy of " + of + " above the best of the row and the fixed experts for its own cost, in points"},
	} {
		g := report.Grid{Title: number.title, Head: []string{"Row", "Above 0", "Below 0", "Median", "Least", "Greatest"}, Widths: []float64{.35, .13, .13, .13, .13, .13}}
		for _, m := range r.Spec.Experiment.Methods {
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

// pools says what each pool was drawn with.
func (r *Run) pools(members []ensemble.Member) *report.Sheet {
	g := report.Grid{Head: []string{"Pool"}, Widths: []float64{.16}}
	var notes []string
	of := r.Spec.Experiment.Ensemble
	ranges := of.Ranges()
	for _, x := range ranges {
		g.Head = append(g.Head, x.Knob)
		g.Widths = append(g.Widths, .84/float64(len(ranges)))
		notes = append(notes, fmt.Sprintf("%s from %g to %g: %s.", x.Knob, x.From, x.To, x.Why))
	}
	records := ensemble.PoolRecords(of, members)
	for _, record := range records[1:] {
		row := []report.Text{report.Say(record[0])}
		for _, digits := range record[1:] { // the table is that of its CSV file: rounded once, a number may end otherwise
			knob, _ := strconv.ParseFloat(digits, 64)
			row = append(row, report.Say(fmt.Sprintf("%.3g", knob)))
		}
		g.Rows = append(g.Rows, row)
	}
	return &report.Sheet{Name: "pools", Caption: r.Spec.Experiment.Title + ": what each pool was drawn with.", Grids: []report.Grid{g}, Notes: notes, Records: records}
}
