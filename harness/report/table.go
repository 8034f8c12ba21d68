// Package report turns measurements into tables and figures: terminal, Markdown, LaTeX and CSV tables with the
// paper's numbers beside ours, and figures as SVG (or PNG, PDF) with the numbers behind them as CSV and a
// caption as text.
//
// Figures: Distribution (where problems of a difficulty go), Pareto (accuracy against cost, with the hull), Sweep
// (quantities against a number that rows change), Seeds (training seeds beside questions), Training (curves of both
// stages), Calibration (pass rates against the truth), Collapse and Phase (the small multi-round environment).
//
// It computes no statistics: intervals and averages come with the measurements. Everything it writes depends on
// its input alone, byte for byte, apart from PDF, whose writer embeds fonts anew.
package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Table is rows of methods against groups of columns (benchmarks), each cell with our number and the paper's.
type Table struct {
	Name    string // base name of its files; LaTeX label tab:<Name>
	Caption string
	Head    string // head of the label column: Method
	Groups  []Group
	Rows    []Row
	Notes   []string // printed below the table: scale, coverage, seeds, what an interval means

	Differences bool // print ours minus the paper's below every pair
}

// Group is columns under one head.
type Group struct {
	Title   string // AIME25
	Columns []Column
}

// Column is one number a row.
type Column struct {
	Title    string // Acc.
	Unit     string // unit of the measurements behind it, as in package metrics
	Decimals int    // of our numbers; the paper's are printed as it prints them
	Better   Direction
	Plain    bool // no interval beside the number; CSV has it all the same
}

// Direction says which numbers of a column are good.
type Direction int

const (
	Neither Direction = iota // nothing is set in bold
	Higher
	Lower
)

// Row is one method.
type Row struct {
	Section   string // heading printed above the first row of each section; empty: none
	Label     string
	Reference bool   // a yardstick (strongest expert, oracle), or follows from an assumption: set apart, never in bold
	Cells     []Cell // one a column, over all groups
}

// Cell holds what was measured and what the paper prints; nil means no such number.
type Cell struct {
	Ours, Paper *metrics.Value
}

// check says what makes t unprintable.
func (t *Table) check() error {
	columns := 0
	for _, g := range t.Groups {
		if len(g.Columns) == 0 {
			return fmt.Errorf("table %q: group %q has no column", t.Name, g.Title)
		}
		columns += len(g.Columns)
	}
	if columns == 0 {
		return fmt.Errorf("table %q: no column", t.Name)
	}
	for _, r := range t.Rows {
		if len(r.Cells) != columns {
			return fmt.Errorf("table %q: row %q has %d cells for %d columns", t.Name, r.Label, len(r.Cells), columns)
		}
	}
	return nil
}

func (t *Table) columns() []Column {
	var all []Column
	for _, g := range t.Groups {
		all = append(all, g.Columns...)
	}
	return all
}

// role is what a printed line holds.
type role int

const (
	section role = iota
	ours
	paper
	difference
)

// shown is one printed cell.
type shown struct {
	number string // empty: blank
	spread string // half the width of the interval, without sign; empty: none
	best   bool
}

// line is one printed row: every renderer prints the same lines.
type line struct {
	role      role
	label     string
	reference bool
	cells     []shown // nil for a section
}

const (
	paperLabel      = "paper"
	differenceLabel = "difference"
	missing         = "-"
	dagger          = " †"
)

// notes returns what is printed below the table.
func (t *Table) notes() []string {
	notes := slices.Clone(t.Notes)
	if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Reference }) {
		notes = append([]string{"† a yardstick or an assumption, left out of the comparison for the best."}, notes...)
	}
	return notes
}

// lines lays the table out: a heading for each section, then for each row ours, the paper's line if it has any
// number there, and the difference if asked for.
func (t *Table) lines() []line {
	columns := t.columns()
	best := t.best(columns)
	var lines []line
	heading := ""
	for i, row := range t.Rows {
		if row.Section != heading && row.Section != "" {
			lines = append(lines, line{role: section, label: row.Section})
		}
		heading = row.Section
		printed := map[role]line{}
		for _, kind := range []role{ours, paper, difference} {
			l := line{role: kind, reference: row.Reference, cells: make([]shown, len(columns))}
			for c, cell := range row.Cells {
				l.cells[c] = cellText(kind, cell, columns[c])
				l.cells[c].best = kind == ours && best[i][c]
			}
			printed[kind] = l
		}
		first := printed[ours]
		first.label = row.Label
		if row.Reference {
			first.label += dagger
		}
		lines = append(lines, first)
		if l := printed[paper]; !blank(l) {
			l.label = paperLabel
			lines = append(lines, l)
		}
		if l := printed[difference]; t.Differences && !blank(l) {
			l.label = differenceLabel
			lines = append(lines, l)
		}
	}
	return lines
}

func blank(l line) bool {
	return !slices.ContainsFunc(l.cells, func(c shown) bool { return c.number != "" })
}

func cellText(kind role, cell Cell, column Column) shown {
	switch {
	case kind == ours && cell.Ours != nil:
		v := *cell.Ours
		t := shown{number: fixed(v.Number, column.Decimals)}
		if v.Bounded && !column.Plain {
			t.spread = spread((v.High-v.Low)/2, column.Decimals)
		}
		return t
	case kind == ours && cell.Paper != nil:
		return shown{number: missing}
	case kind == paper && cell.Paper != nil:
		return shown{number: fixed(cell.Paper.Number, cell.Paper.Decimals)}
	case kind == difference && cell.Ours != nil && cell.Paper != nil:
		d := cell.Ours.Number - cell.Paper.Number
		return shown{number: strings.Replace("+"+fixed(d, column.Decimals), "+-", "-", 1)}
	}
	return shown{}
}

// spread prints half the width of an interval: from 10 on with one decimal less, which says enough and keeps
// columns narrow.
func spread(half float64, decimals int) string {
	if half >= 10 {
		decimals = max(0, decimals-1)
	}
	return fixed(half, decimals)
}

// fixed prints x with the given number of decimals, and never -0.0.
func fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// best marks our best numbers of every column among rows that are no reference: all that agree with the best
// as printed, since bold must not split what the reader sees as equal. A column in which fewer than two rows
// have a number marks none.
func (t *Table) best(columns []Column) [][]bool {
	marks := make([][]bool, len(t.Rows))
	for i := range marks {
		marks[i] = make([]bool, len(columns))
	}
	for c, column := range columns {
		if column.Better == Neither {
			continue
		}
		sign := 1.0
		if column.Better == Lower {
			sign = -1
		}
		top, rivals := math.Inf(-1), 0
		for _, row := range t.Rows {
			if v := row.Cells[c].Ours; v != nil && !row.Reference {
				top = max(top, sign*v.Number)
				rivals++
			}
		}
		if rivals < 2 {
			continue
		}
		for i, row := range t.Rows {
			v := row.Cells[c].Ours
			marks[i][c] = v != nil && !row.Reference && fixed(v.Number, column.Decimals) == fixed(sign*top, column.Decimals)
		}
	}
	return marks
}
