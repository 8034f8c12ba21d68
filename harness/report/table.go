// Package report turns measurements into tables and figures: terminal, Markdown, LaTeX and CSV tables with the
// paper's numbers beside ours, and figures as SVG (or PNG, PDF) with the numbers behind them as CSV and a
// caption as text.
//
// A table's Style says where the paper's numbers stand. LaTeX sets every table in one column or over both, by the width of
// its text, and breaks between groups what would be too small to read; Sheets, tables of words, are cut into pages.
//
// Figures: Distribution (where problems of a difficulty go), Pareto (accuracy against cost and above the hull), Sweep
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
	Style   Style
}

// Style says what a table prints beside our numbers.
type Style struct {
	Paper       Placement
	Differences bool // ours minus the paper's too; in rows of their own unless the paper's numbers stand in columns
}

// Placement is where the paper's numbers stand.
type Placement int

const (
	Below  Placement = iota // in a row below ours
	Beside                  // in a column on the right of ours
	None                    // nowhere
)

// placements are the names of placements, in their order.
var placements = []string{"below", "beside", "none"}

// ParsePlacement reads the name of a placement.
func ParsePlacement(name string) (Placement, error) {
	if i := slices.Index(placements, name); i >= 0 {
		return Placement(i), nil
	}
	return 0, fmt.Errorf("unknown place %q for the paper's numbers; known: %s", name, strings.Join(placements, ", "))
}

// Group is columns under one head.
type Group struct {
	Title     string // AIME25
	Benchmark string // name in measurements; metrics.Average: all; empty: the columns are of no benchmark
	Columns   []Column
}

// Column is one number a row.
type Column struct {
	Title    string // Acc.
	Unit     string // unit of the measurements behind it, as in package metrics
	Decimals int    // of our numbers; the paper's are printed as it prints them
	Lead     string // unit of how far a row is above every other at equal cost: whose is above 0, by its interval, is set in bold; empty: nothing is
	Plain    bool   // no interval beside the number; CSV has it all the same
	Per1000  bool   // dollars of a question, shown for 1,000 of them; ours with three significant digits, but in CSV as measured
}

// per1000 is the unit of the CSV files for dollars of 1,000 questions.
const per1000 = "usd/1000-queries"

// value is what a column shows of a measured or printed number.
func (c Column) value(v *metrics.Value) *metrics.Value {
	if v == nil || !c.Per1000 {
		return v
	}
	shown := *v
	shown.Unit, shown.Decimals = per1000, max(0, v.Decimals-3)
	for _, x := range []*float64{&shown.Number, &shown.Low, &shown.High} {
		*x, _ = strconv.ParseFloat(strconv.FormatFloat(1000**x, 'g', 12, 64), 64) // 4.656, not 4.656000000000001
	}
	return &shown
}

// text is a number of ours, as value has it, with the column's digits.
func (c Column) text(x float64) string {
	if c.Per1000 {
		return Significant(x)
	}
	return Fixed(x, c.Decimals)
}

// differenceDecimals is how many decimals a difference is known to: as many as the paper's number.
func (c Column) differenceDecimals(paper metrics.Value) int {
	if c.Per1000 {
		return paper.Decimals
	}
	return min(c.Decimals, paper.Decimals)
}

// Row is one method.
type Row struct {
	Keys      []metrics.Key // that name its measurements; nil: it is of the paper alone
	Section   string        // heading printed above the first row of each section; empty: none
	Label     string
	Reference bool   // a yardstick (strongest expert, oracle), or follows from an assumption: set apart, never in bold
	Cells     []Cell // one a column, over all groups
}

// Cell holds what was measured and what the paper prints; nil means no such number.
type Cell struct {
	Ours, Paper *metrics.Value
	Why         string         // why ours is not defined; empty: it is, or was not measured
	Lead        *metrics.Value // over every other row, where the column has leads
}

// compared says whether a cell has a difference.
func (c Cell) compared() bool { return c.Ours != nil && c.Paper != nil }

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

// role is what a printed line or column holds.
type role int

const (
	section role = iota
	ours
	paper
	difference
)

// slot is one printed column: a column of the table, or the paper's numbers or the differences of one.
type slot struct {
	Column
	at   int  // index of the column
	role role // ours in the place of the line's, unless the paper's numbers stand in columns
}

// shown is one printed cell.
type shown struct {
	number string // empty: blank
	spread string // half the width of the interval, without sign; empty: none
	best   bool
	role   role
}

// line is one printed row: every renderer prints the same lines.
type line struct {
	role      role
	row       int // index of the row it is of
	label     string
	reference bool
	cells     []shown // one a slot; nil for a section
}

const (
	oursLabel       = "ours"
	paperLabel      = "paper"
	differenceLabel = "difference"
	differenceHead  = "diff."
	missing         = "-"
	dagger          = " †"
)

// notes returns what is printed below the table, where mark is how the best numbers are marked.
func (t *Table) notes(mark string) []string { return append(t.legend(mark), t.Notes...) }

// legend returns the notes on what marks mean.
func (t *Table) legend(mark string) (notes []string) {
	led := func(r Row) bool { return slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Lead != nil }) }
	switch {
	case slices.ContainsFunc(t.best(), func(row []bool) bool { return slices.Contains(row, true) }):
		notes = append(notes, mark+": above every other row at equal cost, by the whole interval of its lead over the best of them.")
	case slices.ContainsFunc(t.Rows, led):
		notes = append(notes, "No row leads every other at equal cost with its whole interval above 0, so none is marked.")
	}
	if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Reference }) {
		notes = append(notes, "† a yardstick or an assumption, left out of the comparison with others.")
	}
	if t.Style.Differences && slices.ContainsFunc(t.Rows, func(r Row) bool { return slices.ContainsFunc(r.Cells, Cell.compared) }) {
		notes = append(notes, "Differences are ours minus the paper's, to no more digits than it prints.")
	}
	return append(notes, t.undefined()...)
}

// undefined says which numbers are not defined, and why: a note for the columns in which the same rows have none for the
// same reason.
func (t *Table) undefined() (notes []string) {
	type gap struct{ rows, why string }
	titles := map[gap][]string{}
	var gaps []gap
	for k, c := range t.columns() {
		rows := map[string][]string{} // by reason
		var reasons []string
		for _, r := range t.Rows {
			why := r.Cells[k].Why
			if why == "" {
				continue
			}
			if rows[why] == nil {
				reasons = append(reasons, why)
			}
			rows[why] = append(rows[why], r.Label)
		}
		for _, why := range reasons {
			g := gap{strings.Join(rows[why], ", "), why}
			if titles[g] == nil {
				gaps = append(gaps, g)
			}
			if !slices.Contains(titles[g], c.Title) {
				titles[g] = append(titles[g], c.Title)
			}
		}
	}
	for _, g := range gaps {
		verb := "is"
		if len(titles[g]) > 1 {
			verb = "are"
		}
		notes = append(notes, fmt.Sprintf("%s %s not defined for %s: %s.", strings.Join(titles[g], ", "), verb, g.rows, g.why))
	}
	return notes
}

// slots returns the printed columns of every group.
func (t *Table) slots() [][]slot {
	var groups [][]slot
	at := 0
	for _, g := range t.Groups {
		var slots []slot
		for _, c := range g.Columns {
			slots = append(slots, slot{c, at, ours})
			if t.Style.Paper == Beside && slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[at].Paper != nil }) {
				slots = append(slots, slot{Column{Title: paperLabel, Decimals: c.Decimals}, at, paper})
				if t.Style.Differences {
					slots = append(slots, slot{Column{Title: differenceHead, Decimals: c.Decimals}, at, difference})
				}
			}
			at++
		}
		groups = append(groups, slots)
	}
	return groups
}

// lines lays the table out: a heading for each section, then for each row ours and, as the style asks, the paper's line
// and the difference where they have any number.
func (t *Table) lines() []line {
	slots := slices.Concat(t.slots()...)
	best := t.best()
	kinds := []role{ours}
	if t.Style.Paper == Below {
		kinds = append(kinds, paper)
	}
	if t.Style.Differences && t.Style.Paper != Beside {
		kinds = append(kinds, difference)
	}
	var lines []line
	heading := ""
	for i, row := range t.Rows {
		if t.Style.Paper == None && !slices.ContainsFunc(row.Cells, func(c Cell) bool { return c.Ours != nil }) {
			continue
		}
		if row.Section != heading && row.Section != "" {
			lines = append(lines, line{role: section, row: i, label: row.Section})
		}
		heading = row.Section
		for _, kind := range kinds {
			l := line{role: kind, row: i, reference: row.Reference, cells: make([]shown, len(slots))}
			for k, s := range slots {
				of := kind
				if s.role != ours {
					of = s.role
				}
				l.cells[k] = t.cellText(of, row.Cells[s.at], s.Column)
				l.cells[k].best = of == ours && best[i][s.at]
			}
			switch {
			case kind == ours:
				l.label = row.Label
				if row.Reference {
					l.label += dagger
				}
			case blank(l):
				continue
			case kind == paper:
				l.label = paperLabel
			case kind == difference:
				l.label = differenceLabel
			}
			lines = append(lines, l)
		}
	}
	return lines
}

func blank(l line) bool {
	return !slices.ContainsFunc(l.cells, func(c shown) bool { return c.number != "" })
}

func (t *Table) cellText(kind role, cell Cell, column Column) shown {
	cell.Ours, cell.Paper = column.value(cell.Ours), column.value(cell.Paper)
	switch {
	case kind == ours && cell.Ours != nil:
		v := *cell.Ours
		c := shown{number: column.text(v.Number), role: ours}
		if v.Bounded && !column.Plain {
			c.spread = spread((v.High-v.Low)/2, column.Decimals)
		}
		return c
	case kind == ours && (cell.Why != "" || cell.Paper != nil && t.Style.Paper != None):
		return shown{number: missing, role: ours}
	case kind == paper && cell.Paper != nil:
		return shown{number: Fixed(cell.Paper.Number, cell.Paper.Decimals), role: paper}
	case kind == difference && cell.compared():
		return shown{number: signed(cell.Ours.Number-cell.Paper.Number, column.differenceDecimals(*cell.Paper)), role: difference}
	}
	return shown{role: kind}
}

// Listed sets words beside each other; semicolons divide them where one of them has a comma inside.
func Listed(words []string) string {
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, ",") }) {
		return strings.Join(words, "; ")
	}
	return strings.Join(words, ", ")
}

// signed prints x with its sign; zero has a plus.
func signed(x float64, decimals int) string {
	return strings.Replace("+"+Fixed(x, decimals), "+-", "-", 1)
}

// spread prints half the width of an interval: from 10 on with one decimal less, which says enough and keeps
// columns narrow.
func spread(half float64, decimals int) string {
	if half >= 10 {
		decimals = max(0, decimals-1)
	}
	return Fixed(half, decimals)
}

// Fixed prints x with the given number of decimals, and never -0.0.
func Fixed(x float64, decimals int) string {
	s := strconv.FormatFloat(x, 'f', decimals, 64)
	if strings.Trim(s, "-0.") == "" {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// Significant writes a number with three significant digits, without an exponent: 0.00123, 4.50, 1230.
func Significant(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64) // what FormatFloat writes can be read
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(rounded))))
	return strconv.FormatFloat(rounded, 'f', max(decimals, 0), 64)
}

// best marks the numbers of rows that are no reference and lead over all others: the whole interval of the lead is above 0.
func (t *Table) best() [][]bool {
	marks := make([][]bool, len(t.Rows))
	for i, row := range t.Rows {
		for _, c := range row.Cells {
			marks[i] = append(marks[i], !row.Reference && c.Ours != nil && c.Lead != nil && c.Lead.Side() > 0)
		}
	}
	return marks
}
