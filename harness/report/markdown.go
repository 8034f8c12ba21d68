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
	heads := []string{escapeMarkdown(t.Head)}
	aligned := tw.CellConfig{
		Formatting: tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone},
		Alignment:  tw.CellAlignment{PerColumn: []tw.Align{tw.AlignLeft}},
	}
	for i, slots := range t.slots() {
		for _, c := range slots {
			head := escapeMarkdown(c.Title)
			if len(t.Groups) > 1 {
				head = escapeMarkdown(t.Groups[i].Title) + "<br>" + head
			}
			heads = append(heads, head)
			aligned.Alignment.PerColumn = append(aligned.Alignment.PerColumn, tw.AlignRight)
		}
	}
	table := tablewriter.NewTable(&b,
		tablewriter.WithEastAsian(tw.Off),
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithConfig(tablewriter.Config{Header: aligned, Row: aligned, Behavior: tw.Behavior{AutoHide: tw.Off}}))
	table.Header(heads)
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
		if err := table.Append(row); err != nil {
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("table %q: %w", t.Name, err)
	}
	for _, note := range t.notes("Bold") {
		b.WriteString("\n" + escapeMarkdown(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
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
		s += " <sub>±" + c.spread + "</sub>"
	}
	return s
}

// escapeMarkdown keeps text from ending a cell or being read as markup.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "[", `\[`, "<", "&lt;", "\n", " ").Replace(s)
}
