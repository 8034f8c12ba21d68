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
	labels := []string{t.Head, ""}
	for _, l := range lines {
		labels = append(labels, to.label(l))
	}
	for i, block := range blocks(labels, t.compose(lines, to.Bold), to.Width) {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := writeBlock(&b, labels, block, lines); err != nil {
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
	notes := t.notes()
	if !to.Bold && marked(lines) {
		notes = append([]string{"* best of the column."}, notes...)
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range notes {
		for _, l := range wrap(note, to.Width) {
			b.WriteString(l + "\n")
		}
	}
	// tablewriter resets styles once more behind the blanks that fill a cell; ours are closed already.
	for l := range strings.Lines(strings.ReplaceAll(b.String(), " "+reset, " ")) {
		if _, err := io.WriteString(w, strings.TrimRight(l, " \n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func marked(lines []line) bool {
	return slices.ContainsFunc(lines, func(l line) bool {
		return slices.ContainsFunc(l.cells, func(c shown) bool { return c.best })
	})
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

// compose sets the cells of every group in sub-columns of equal width: [group][head, sub-heads, line...].
func (t *Table) compose(lines []line, styled bool) [][]string {
	groups := make([][]string, len(t.Groups))
	from := 0
	for g, group := range t.Groups {
		to := from + len(group.Columns)
		heads := make([]string, len(group.Columns))
		cells := make([][]shown, 0, len(lines))
		for i, c := range group.Columns {
			heads[i] = c.Title
		}
		for _, l := range lines {
			if l.cells == nil {
				cells = append(cells, nil)
				continue
			}
			cells = append(cells, l.cells[from:to])
		}
		parts := make([][]string, len(lines)+1)
		for i := range parts {
			parts[i] = make([]string, len(group.Columns))
		}
		for c := range group.Columns {
			var number, spread int
			for _, row := range cells {
				if row != nil {
					number = max(number, width(row[c].number))
					spread = max(spread, width(plusMinus(row[c])))
				}
			}
			if spread == 0 {
				number = max(number, width(heads[c]))
				heads[c] = strings.Repeat(" ", number-width(heads[c])) + heads[c]
			}
			mark := 0
			if !styled && group.Columns[c].Better != Neither {
				mark = 1
			}
			total := max(number+mark+spread, width(heads[c]))
			parts[0][c] = pad(heads[c], total)
			for i, row := range cells {
				switch {
				case row == nil:
					parts[i+1][c] = strings.Repeat(" ", total)
				default:
					parts[i+1][c] = pad(setCell(row[c], lines[i].role, number, mark, spread, styled), total)
				}
			}
		}
		body := strings.Join(parts[0], " ")
		title := center(group.Title, width(body))
		groups[g] = []string{title, pad(body, width(title))}
		for _, p := range parts[1:] {
			groups[g] = append(groups[g], pad(strings.Join(p, " "), width(title)))
		}
		from = to
	}
	return groups
}

func plusMinus(c shown) string {
	if c.spread == "" {
		return ""
	}
	return "±" + c.spread
}

// setCell aligns numbers on their right end, whatever spread follows them.
func setCell(c shown, kind role, number, mark, spread int, styled bool) string {
	n := strings.Repeat(" ", max(0, number-width(c.number))) + c.number
	star := ""
	switch {
	case c.best && styled:
		n = style(n, bold, true)
	case kind != ours:
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

// writeBlock sets one block: every group is one column of tablewriter, already aligned inside.
func writeBlock(w io.Writer, labels []string, groups [][]string, lines []line) error {
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
	table := tablewriter.NewTable(w,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewBlueprint(off)),
		tablewriter.WithConfig(tablewriter.Config{
			Header:   left,
			Row:      left,
			Behavior: tw.Behavior{TrimSpace: tw.Off, TrimLine: tw.Off, AutoHide: tw.Off},
		}))
	row := func(i int, label string) []string {
		cells := []string{label}
		for _, g := range groups {
			cells = append(cells, g[i])
		}
		return cells
	}
	rule := []string{strings.Repeat("─", widest(labels))}
	for _, g := range groups {
		rule = append(rule, strings.Repeat("─", width(g[0])))
	}
	rows := [][]string{row(0, ""), row(1, labels[0]), rule}
	for i, l := range lines {
		if l.role == section && i > 0 {
			rows = append(rows, row(2+i, "")) // a section has blank cells
		}
		rows = append(rows, row(2+i, labels[2+i]))
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
	var lines []string
	current := ""
	for _, word := range strings.Fields(s) {
		if current != "" && width(current)+1+width(word) > limit {
			lines = append(lines, current)
			current = ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(lines, current)
}
