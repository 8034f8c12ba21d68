// Claims and verdicts on one screen: what is not as recorded and what does not hold; all else is counted.

package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/report"
)

// Brief is the table of claims that are not as recorded, then of those that do not hold, with the whole tables that do not.
func Brief(findings []Finding) *report.Sheet {
	full := ClaimsSheet(findings)
	s := &report.Sheet{Name: full.Name, Caption: full.Caption}
	g := report.Grid{Head: []string{"Claim", "Printed", "Recomputed", "Verdict"}, Widths: []float64{0.5, 0.12, 0.2, 0.18}}
	type checks struct { // of the paper's tables, or of our measurements
		hold, all        int
		failing, unknown []string
	}
	whole := map[bool]*checks{false: {}, true: {}}
	claims := 0
	failed := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool {
		if of := whole[f.Measured]; f.Table || f.Measured {
			of.all++
			switch f.Verdict {
			case Holds:
				of.hold++
			case NotCheckable:
				of.unknown = append(of.unknown, f.ID)
			default:
				of.failing = append(of.failing, f.ID)
			}
			return true
		}
		claims++
		return f.Differs == "" && (f.Verdict == Holds || f.Verdict == NotCheckable)
	})
	slices.SortStableFunc(failed, func(a, b Finding) int {
		if (a.Differs == "") == (b.Differs == "") {
			return 0
		}
		if a.Differs != "" {
			return -1
		}
		return 1
	})
	for _, f := range failed {
		g.Rows = append(g.Rows, []report.Text{report.Say(upper(f.Says) + "."), report.Say(f.Printed), report.Say(f.Recomputed), f.asRecorded()})
	}
	if claims > 0 {
		g.Title = full.Grids[0].Title
		s.Grids = append(s.Grids, g)
	}
	for _, of := range []struct {
		measured bool
		what     string
	}{{false, "Checks of the paper's whole tables"}, {true, "Checks of our measurements"}} {
		n := whole[of.measured]
		if n.all == 0 {
			continue
		}
		text := fmt.Sprintf("%s: %d of %d hold", of.what, n.hold, n.all)
		if n.failing != nil {
			text += "; these do not: " + strings.Join(n.failing, "; ")
		}
		if n.unknown != nil {
			text += "; these cannot be checked: " + strings.Join(n.unknown, "; ")
		}
		s.Notes = append(s.Notes, text+".")
	}
	return s
}

// Counts is the tables of how many claims and orderings have which verdict, by scale. Scales of which nothing was run are named below.
func (o *Orderings) Counts(findings []Finding, rows []Row, measured *Measurements) *report.Sheet {
	s := &report.Sheet{Name: "verdicts", Caption: "What the paper says, on our measurements.",
		Notes: []string{fmt.Sprintf("Measurements read: %s.", experiments(measured))}}
	if len(measured.Experiments()) == 0 {
		s.Notes[0] += " 'entrorouter run SPEC' makes some, and in a checkout of the project --measurements figures reads those that are committed."
	}
	grids := []report.Grid{o.summary(rows)}
	if g, ok := o.summaryOfClaims(findings); ok {
		grids = slices.Insert(grids, 0, g)
	}
	var notRun []string
	for _, g := range grids {
		g.Rows = slices.DeleteFunc(g.Rows, func(row []report.Text) bool {
			if tells(g.Head, row) {
				return false
			}
			if title := row[0].Lines[0]; !slices.Contains(notRun, title) {
				notRun = append(notRun, title)
			}
			return true
		})
		if len(g.Rows) > 0 {
			s.Grids = append(s.Grids, g)
		}
	}
	if notRun != nil {
		s.Notes = append(s.Notes, "Not run: "+strings.Join(notRun, "; ")+".")
	}
	return s
}

// tells says whether a row of a tally counts a verdict that takes a measurement.
func tells(head []string, row []report.Text) bool {
	for i, of := range head {
		if slices.Contains([]string{Confirmed, Refuted, Inconclusive, Assumed}, of) && row[i].Lines[0] != "0" {
			return true
		}
	}
	return false
}
