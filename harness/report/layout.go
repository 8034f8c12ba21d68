// Which measurements a table shows, and how the table is filled from them.

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// Layout says which measurements a table shows, in which order, and under which heads.
type Layout struct {
	Name    string // of the table
	Paper   string // value of the key table in the paper's measurements; default: the name
	Caption string
	Head    string // of the label column
	Groups  []GroupLayout
	Rows    []RowLayout
	Notes   []string
}

// GroupLayout is the columns of one benchmark.
type GroupLayout struct {
	Title     string
	Line      string        // name of our measurements; empty: of any name
	Keys      []metrics.Key // more keys that these have
	Benchmark string        // value of the key benchmark in our measurements; metrics.Average for averages, empty: they have no such key
	Paper     string        // the same in the paper's; empty: the paper has no such column
	Columns   []Column
}

// RowLayout is one method.
type RowLayout struct {
	Section   string
	Label     string
	Keys      []metrics.Key // that name its measurements: method=entrorouter; the keys benchmark and seed are set by Build. nil: a row of the paper alone
	Paper     []metrics.Key // the same in the paper's; nil: the paper has no such row
	Reference bool
}

// rows are the rows with those of a section together, in the order in which sections come first.
func (l Layout) rows() []RowLayout {
	first := map[string]int{}
	for i, r := range l.Rows {
		if _, ok := first[r.Section]; !ok {
			first[r.Section] = i
		}
	}
	rows := slices.Clone(l.Rows)
	slices.SortStableFunc(rows, func(a, b RowLayout) int { return cmp.Compare(first[a.Section], first[b.Section]) })
	return rows
}

// AccuracyAndCost returns the paper's pair of columns for a benchmark: percent correct and total dollars.
func AccuracyAndCost() []Column {
	return []Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 1},
		{Title: "Cost $", Unit: metrics.USD, Decimals: 3, Plain: true},
	}
}

// AverageAccuracyAndCost returns the pair for the average column, where cost is dollars for 1,000 questions.
func AverageAccuracyAndCost() []Column {
	return []Column{
		{Title: "Acc. %", Unit: metrics.Accuracy, Decimals: 1},
		{Title: "$/1,000", Unit: metrics.USDPerQuery, Plain: true, Per1000: true},
	}
}

// Build fills a layout, rows of a section together. ours are measurements already averaged over seeds: lines that carry the key seed are
// left alone. paper may be nil. A cell without a measurement stays empty; two measurements for one cell are an
// error, and so is a row without any.
func Build(l Layout, ours, paper *metrics.Set) (*Table, error) {
	t := &Table{Name: l.Name, Caption: l.Caption, Head: l.Head, Notes: slices.Clone(l.Notes)}
	var lines []*metrics.Set // [groups]
	for _, g := range l.Groups {
		t.Groups = append(t.Groups, Group{Title: g.Title, Benchmark: g.Benchmark, Columns: g.Columns})
		lines = append(lines, named(ours, g.Line))
	}
	for _, r := range l.rows() {
		row := Row{Keys: r.Keys, Section: r.Section, Label: r.Label, Reference: r.Reference}
		found := false
		for i, g := range l.Groups {
			var mine metrics.Measurement
			var err error
			if r.Keys != nil {
				var ok bool
				if mine, ok, err = lines[i].Find(slices.Concat(r.Keys, g.Keys, []metrics.Key{{Name: "benchmark", Value: g.Benchmark}, {Name: "seed"}})...); err != nil {
					return nil, fmt.Errorf("table %q, row %q: %w", l.Name, r.Label, err)
				}
				found = found || ok
			}
			var theirs metrics.Measurement
			if paper != nil && r.Paper != nil && g.Paper != "" {
				keys := append(slices.Clone(r.Paper), metrics.Key{Name: "benchmark", Value: g.Paper}, metrics.Key{Name: "table", Value: cmp.Or(l.Paper, l.Name)})
				var ok bool
				if theirs, ok, err = paper.Find(keys...); err != nil {
					return nil, fmt.Errorf("table %q, row %q of the paper: %w", l.Name, r.Label, err)
				}
				found = found || ok && r.Keys == nil
			}
			for _, c := range g.Columns {
				row.Cells = append(row.Cells, Cell{Ours: in(mine, c.Unit), Why: mine.Why(c.Unit), Paper: in(theirs, c.Unit), Lead: in(mine, c.Lead)})
			}
		}
		if !found {
			return nil, fmt.Errorf("table %q: no measurement for row %q at %s", l.Name, r.Label, metrics.Describe(r.Keys))
		}
		t.Rows = append(t.Rows, row)
	}
	return t, t.check()
}

// named returns the measurements of a name; empty: all.
func named(set *metrics.Set, name string) *metrics.Set {
	if name == "" {
		return set
	}
	some := &metrics.Set{}
	for _, m := range set.Measurements {
		if m.Name == name {
			some.Measurements = append(some.Measurements, m)
		}
	}
	return some
}

func in(m metrics.Measurement, unit string) *metrics.Value {
	if v, ok := m.Value(unit); ok {
		return &v
	}
	return nil
}

// Coverage returns the table of what became of every rollout behind the rows of a layout, under its caption: the shares of the buckets, read from the lines of the given benchmark, whose values have the buckets' names as
// units. No score is printed without it. Rows without buckets (scored by the true success probability) are left out.
func Coverage(l Layout, ours *metrics.Set, benchmark string) (*Table, error) {
	t := &Table{
		Name:    l.Name + "-coverage",
		Caption: l.Caption,
		Head:    l.Head,
	}
	group := Group{Title: "Rollouts", Columns: []Column{{Title: "count"}}}
	for _, b := range routing.Buckets {
		group.Columns = append(group.Columns, Column{Title: string(b), Decimals: 2})
	}
	t.Groups = []Group{group}
	for _, r := range l.rows() {
		m, ok, err := ours.Find(append(slices.Clone(r.Keys), metrics.Key{Name: "benchmark", Value: benchmark}, metrics.Key{Name: "seed"})...)
		if err != nil {
			return nil, fmt.Errorf("coverage of table %q, row %q: %w", l.Name, r.Label, err)
		}
		total := 0.0
		counts := make([]float64, len(routing.Buckets))
		for i, b := range routing.Buckets {
			v, _ := m.Value(string(b))
			counts[i] = v.Number
			total += v.Number
		}
		if !ok || total == 0 {
			continue
		}
		row := Row{Keys: r.Keys, Section: r.Section, Label: r.Label, Reference: r.Reference, Cells: []Cell{{Ours: &metrics.Value{Number: total}}}}
		for _, n := range counts {
			row.Cells = append(row.Cells, Cell{Ours: &metrics.Value{Number: 100 * n / total}})
		}
		t.Rows = append(t.Rows, row)
	}
	return t, t.check()
}
