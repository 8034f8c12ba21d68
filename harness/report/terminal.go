// Tables for a terminal.

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Terminal says what the terminal can show.
type Terminal struct {
	Width int  // columns; a wider table is broken into blocks of whole groups. 0: never broken
	Bold  bool // escape sequences for bold and dim; without them the best numbers carry a '*'
}

// Write prints t for a terminal. Each group of columns is kept together under its head; the paper's numbers
// stand below ours.
func (to Terminal) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	var b strings.Builder
	if t.Caption != "" {
		for _, l := range wrap(t.Caption, to.Width) {
			b.WriteString(l + "\n")
		}
		b.WriteString("\n")
	}
	lines := t.lines()
	groups, heads := t.compose(lines, to.Bold)
	labels := make([]string, heads, 1+heads+len(lines))
	labels = append(labels, t.Head)
	for _, l := range lines {
		labels = append(labels, to.label(l))
	}
	for i, block := range blocks(labels, groups, to.Width) {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := writeBlock(&b, labels, block, lines); err != nil {
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
	mark := "*"
	if to.Bold {
		mark = "Bold"
	}
	notes := t.notes(mark)
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range notes {
		for _, l := range wrap(note, to.Width) {
			b.WriteString(l + "\n")
		}
	}
	return trimmed(w, b.String())
}

// trimmed writes text without blanks at the ends of lines. tablewriter resets styles once more behind the blanks that fill
// a cell; ours are closed already.
func trimmed(w io.Writer, text string) error {
	for l := range strings.Lines(strings.ReplaceAll(text, " "+reset, " ")) {
		if _, err := io.WriteString(w, strings.TrimRight(l, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func (to Terminal) label(l line) string {
	label := l.label
	switch l.role {
	case paper, difference:
		label = "  " + label
	case section:
		return style(label, bold, to.Bold)
	}
	if l.role != ours {
		return style(label, dim, to.Bold)
	}
	return label
}

// compose sets every group as one text column: its title, heads lines of heads, then the lines. heads is the same
// for all groups.
func (t *Table) compose(lines []line, styled bool) (groups [][]string, heads int) {
	slots := t.slots()
	var wrapped, columns [][]string
	for c, s := range slices.Concat(slots...) {
		cells, head := composeColumn(c, s.Column, lines, styled)
		columns, wrapped = append(columns, cells), append(wrapped, head)
		heads = max(heads, len(head))
	}
	c := 0
	for g, group := range t.Groups {
		rows := make([]string, heads+len(lines))
		for i := range slots[g] {
			head := append(slices.Repeat([]string{""}, heads-len(wrapped[c])), wrapped[c]...)
			n := widest(slices.Concat(head, columns[c]))
			for j := range rows {
				if i > 0 {
					rows[j] += " "
				}
				if j < heads {
					rows[j] += pad(head[j], n)
				} else {
					rows[j] += columns[c][j-heads]
				}
			}
			c++
		}
		title := center(group.Title, width(rows[0]))
		for j, r := range rows {
			rows[j] = pad(r, width(title))
		}
		groups = append(groups, append([]string{title}, rows...))
	}
	return groups, heads
}

// composeColumn sets the c-th cell of every line to one width, and the column's head in lines that fit it. A head
// breaks at blanks where its numbers are narrower; over numbers without intervals it stands on their right.
func composeColumn(c int, column Column, lines []line, styled bool) (cells, head []string) {
	number, spread, mark := 0, 0, 0
	for _, l := range lines {
		if l.cells != nil {
			number = max(number, width(l.cells[c].number))
			spread = max(spread, width(plusMinus(l.cells[c])))
		}
	}
	if !styled && column.Lead != "" {
		mark = 1
	}
	head = wrap(column.Title, max(1, number+mark+spread))
	if spread == 0 {
		number = max(number, widest(head)-mark)
		for i, h := range head {
			head[i] = strings.Repeat(" ", max(0, number+mark-width(h))) + h
		}
	}
	total := max(number+mark+spread, widest(head), 1)
	for _, l := range lines {
		cell := ""
		if l.cells != nil {
			cell = setCell(l.cells[c], number, mark, spread, styled)
		}
		cells = append(cells, pad(cell, total))
	}
	return cells, head
}

func plusMinus(c shown) string {
	if c.spread == "" {
		return ""
	}
	return "±" + c.spread
}

// setCell aligns numbers on their right end, whatever spread follows them.
func setCell(c shown, number, mark, spread int, styled bool) string {
	n := strings.Repeat(" ", max(0, number-width(c.number))) + c.number
	star := ""
	switch {
	case c.best && styled:
		n = style(n, bold, true)
	case c.role != ours:
		n = style(n, dim, styled)
	}
	if mark > 0 {
		star = " "
		if c.best {
			star = "*"
		}
	}
	s := plusMinus(c)
	return n + star + style(s, dim, styled && s != "") + strings.Repeat(" ", spread-width(s))
}

// blocks distributes groups over as few blocks as fit the limit, evenly.
func blocks(labels []string, groups [][]string, limit int) [][][]string {
	need := func(block [][]string) int {
		used := widest(labels)
		for _, g := range block {
			used += gap + width(g[0])
		}
		return used
	}
	for n := 1; ; n++ {
		size := (len(groups) + n - 1) / n
		split := slices.Collect(slices.Chunk(groups, size))
		if limit <= 0 || size == 1 || !slices.ContainsFunc(split, func(block [][]string) bool { return need(block) > limit }) {
			return split
		}
	}
}

const gap = 2 // blanks between groups

// plainTable is a table of columns that are aligned inside already, without borders.
func plainTable(w io.Writer) *tablewriter.Table {
	off := tw.Rendition{
		Borders: tw.BorderNone,
		Symbols: tw.NewSymbolCustom("plain").WithColumn("").WithRow("").WithCenter(""),
		Settings: tw.Settings{
			Separators: tw.Separators{ShowHeader: tw.Off, BetweenColumns: tw.Off, BetweenRows: tw.Off},
			Lines:      tw.LinesNone,
		},
	}
	left := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{Global: tw.AlignLeft},
		Padding:    tw.CellPadding{Global: tw.Padding{Left: tw.Empty, Right: strings.Repeat(" ", gap), Overwrite: true}},
	}
	return tablewriter.NewTable(w,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(off)),
		tablewriter.WithConfig(tablewriter.Config{
			Header:   left,
			Row:      left,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off, AutoHide: tw.Off},
		}))
}

// writeBlock sets one block: every group is one column of tablewriter. labels and groups have titles and heads first,
// then lines.
func writeBlock(w io.Writer, labels []string, groups [][]string, lines []line) error {
	table := plainTable(w)
	row := func(i int) []string {
		cells := []string{labels[i]}
		for _, g := range groups {
			cells = append(cells, g[i])
		}
		return cells
	}
	rule := []string{strings.Repeat("─", widest(labels))}
	for _, g := range groups {
		rule = append(rule, strings.Repeat("─", width(g[0])))
	}
	var rows [][]string
	heads := len(labels) - len(lines)
	for i := range heads {
		rows = append(rows, row(i))
	}
	rows = append(rows, rule)
	for i, l := range lines {
		if l.role == section && i > 0 {
			rows = append(rows, make([]string, 1+len(groups)))
		}
		rows = append(rows, row(heads+i))
	}
	if err := table.Bulk(rows); err != nil {
		return err
	}
	return table.Render()
}

func widest(labels []string) int {
	n := 0
	for _, l := range labels {
		n = max(n, width(l))
	}
	return n
}

const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	reset = "\x1b[0m"
)

func style(s, code string, on bool) string {
	if !on || strings.TrimSpace(s) == "" {
		return s
	}
	return code + s + reset
}

// width is the number of terminal cells, the same in every locale.
func width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-width(s))) }

func center(s string, n int) string {
	free := max(0, n-width(s))
	return strings.Repeat(" ", free/2) + s + strings.Repeat(" ", free-free/2)
}

// wrap breaks text at spaces into lines of at most limit cells; 0 leaves it whole.
func wrap(s string, limit int) []string {
	if limit <= 0 {
		return []string{s}
	}
	if lines := broken(s, func(line string) bool { return width(line) <= limit }); lines != nil {
		return lines
	}
	return []string{""}
}
