package paper

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Claims and orderings are counted by scale; a scale that no claim is about has no line.
func TestVerdictsAreCountedByScale(t *testing.T) {
	o := orderings(t, "{id: x, source: s, says: first, a: router/knob=2, b: cheap, is: above}")
	small, big := o.Scales[0], o.Scales[1]
	rows, err := o.Judge("o.yaml", toyTables(t), &Measurements{})
	if err != nil {
		t.Fatal(err)
	}
	findings := []Finding{
		{ID: "a", Ours: []OnScale{{Scale: small, Verdict: CameOut}, {Scale: big}}},
		{ID: "b", Ours: []OnScale{{Scale: small, Verdict: CameOut}}},
		{ID: "c", Ours: []OnScale{{Scale: small, Verdict: Assumed, Shows: DidNot}}},
		{ID: "d"}, {ID: "e", Ours: []OnScale{{Scale: small}}},
	}
	type grid struct {
		Title string
		Rows  [][]string
	}
	var got []grid
	for _, g := range o.Counts(findings, rows, &Measurements{}).Grids {
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
	if got[1].Title != "Verdicts on 1 orderings" || len(got[1].Rows) != len(o.Scales) {
		t.Errorf("%+v", got[1])
	}
	if n := len(o.Counts(nil, rows, &Measurements{}).Grids); n != 1 {
		t.Errorf("%d tables without claims, want that of orderings alone", n)
	}
}
