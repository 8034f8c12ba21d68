// Tables as Markdown.

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Markdown writes tables as GitHub-flavoured Markdown.
type Markdown struct{}

// Write prints t. Markdown has one row of heads, so every column repeats its group's title; a single group's is left to
// the caption.
func (Markdown) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(escapeMarkdown(t.Caption) + "\n\n")
	}
	heads, aligned := []string{escapeMarkdown(t.Head)}, []tw.Align{tw.AlignLeft}
	for i, slots := range t.slots() {
		for _, c := range slots {
			head := escapeMarkdown(c.Title)
			if len(t.Groups) > 1 {
				head = escapeMarkdown(t.Groups[i].Title) + "<br>" + head
			}
			heads = append(heads, head)
			aligned = append(aligned, tw.AlignRight)
		}
	}
	var rows [][]string
	for _, l := range t.lines() {
		row := make([]string, len(heads))
		label := escapeMarkdown(l.label)
		switch l.role {
		case section:
			label = "**" + label + "**"
		case paper, difference:
			label = "*" + label + "*"
		}
		row[0] = label
		for c, cell := range l.cells {
			row[1+c] = markdownCell(cell)
		}
		rows = append(rows, row)
	}
	if err := markdownTable(&b, heads, aligned, rows); err != nil {
		return fmt.Errorf("table %q: %w", t.Name, err)
	}
	for _, note := range t.notes("Bold") {
		b.WriteString("\n" + escapeMarkdown(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownTable writes cells that are escaped, columns aligned so.
func markdownTable(w io.Writer, heads []string, aligned []tw.Align, rows [][]string) error {
	cells := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{PerColumn: aligned},
	}
	table := tablewriter.NewTable(w,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithConfig(tablewriter.Config{Header: cells, Row: cells, Behavior: tw.Behavior{AutoHide: tw.Off}}))
	table.Header(heads)
	if err := table.Bulk(rows); err != nil {
		return err
	}
	return table.Render()
}

func markdownCell(c shown) string {
	switch {
	case c.number == "":
		return ""
	case c.role != ours:
		return "*" + c.number + "*"
	}
	s := c.number
	if c.best {
		s = "**" + s + "**"
	}
	if c.spread != "" {
		s += " ± " + c.spread
	}
	return s
}

// escapeMarkdown keeps text from ending a cell or being read as markup.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "[", `\[`, "<", "&lt;", "\n", " ").Replace(s)
}
