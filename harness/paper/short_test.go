package paper

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Claims and orderings are counted by scale; a scale that no claim is about has no line, and one of which nothing was run is named.
func TestVerdictsAreCountedByScale(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: first, a: router/knob=2, b: cheap, is: above}")
	small, big := o.Scales[0], o.Scales[1]
	rows, err := o.Judge("o.yaml", toyTables(t), &Measurements{})
	if err != nil {
		t.Fatal(err)
	}
	findings := []Finding{
		{ID: "a", Ours: []OnScale{{Scale: small, Verdict: Confirmed}, {Scale: big}}},
		{ID: "b", Ours: []OnScale{{Scale: small, Verdict: Confirmed}}},
		{ID: "c", Ours: []OnScale{{Scale: small, Verdict: Assumed, Shows: Refuted}}},
		{ID: "d"}, {ID: "e", Ours: []OnScale{{Scale: small}}},
	}
	type grid struct {
		Title string
		Rows  [][]string
	}
	var got []grid
	sheet := o.Counts(findings, rows, &Measurements{})
	for _, g := range sheet.Grids {
		counted := grid{Title: g.Title}
		for _, r := range g.Rows {
			var cells []string
			for _, c := range r {
				cells = append(cells, c.Lines...)
			}
			counted.Rows = append(counted.Rows, cells)
		}
		got = append(got, counted)
	}
	if diff := cmp.Diff(grid{"Verdicts on 3 claims", [][]string{{small.Title, "2", "0", "0", "0", "1", "0"}}}, got[0]); diff != "" {
		t.Error(diff)
	}
	if len(got) != 1 { // no ordering was measured
		t.Errorf("%+v", got[1:])
	}
	var titles []string
	for _, s := range o.Scales {
		titles = append(titles, s.Title)
	}
	if n := len(sheet.Notes); sheet.Notes[n-1] != "Not run: "+strings.Join(titles, "; ")+"." {
		t.Errorf("the notes are %q", sheet.Notes)
	}
	rows[0].Judged[1].Verdict = Confirmed
	grids := o.Counts(nil, rows, &Measurements{}).Grids
	if len(grids) != 1 || grids[0].Title != "Verdicts on 1 orderings" || len(grids[0].Rows) != 1 || grids[0].Rows[0][0].Lines[0] != big.Title {
		t.Errorf("of one ordering without claims: %+v", grids)
	}
}

// What cannot be checked is not counted as failing.
func TestAWholeTableThatCannotBeCheckedDoesNotFail(t *testing.T) {
	sheet := Brief([]Finding{
		{ID: "a", Table: true, Verdict: Holds}, {ID: "b", Table: true, Verdict: NotCheckable},
		{ID: "c", Measured: true, Verdict: Mismatch}, {ID: "d", Measured: true, Verdict: NotCheckable}, {ID: "e", Measured: true, Verdict: Holds},
	})
	want := []string{"Checks of the paper's whole tables: 1 of 2 hold; these cannot be checked: b.", "Checks of our measurements: 1 of 3 hold; these do not: c; these cannot be checked: d."}
	if diff := cmp.Diff(want, sheet.Notes); diff != "" {
		t.Error(diff)
	}
}
