// Tables as Markdown.

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Markdown writes tables as GitHub-flavoured Markdown.
type Markdown struct{}

// widestPage is how many columns of numbers a table of a page has at most; what has more is cut between groups.
const widestPage = 9

// Write prints t. Markdown has one row of heads, so every column repeats its group's title; a single group's is left to
// the caption, or stands above the table where t is cut. Averages come first then, since they are what a reader looks for.
func (Markdown) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(EscapeMarkdown(t.Caption) + "\n\n")
	}
	slots, lines := t.slots(), t.lines()
	starts := make([]int, len(slots)) // where the cells of a group are
	for i := 1; i < len(slots); i++ {
		starts[i] = starts[i-1] + len(slots[i-1])
	}
	parts := t.pageParts(slots)
	for k, groups := range parts {
		if k > 0 {
			b.WriteString("\n")
		}
		if len(parts) > 1 && len(groups) == 1 {
			b.WriteString("**" + EscapeMarkdown(t.Groups[groups[0]].Title) + "**\n\n")
		}
		heads, aligned := []string{EscapeMarkdown(t.Head)}, []tw.Align{tw.AlignLeft}
		for _, i := range groups {
			for _, c := range slots[i] {
				head := EscapeMarkdown(c.Title)
				if len(groups) > 1 {
					head = EscapeMarkdown(t.Groups[i].Title) + "<br>" + head
				}
				heads, aligned = append(heads, head), append(aligned, tw.AlignRight)
			}
		}
		var rows [][]string
		for _, l := range lines {
			row := []string{EscapeMarkdown(l.label)}
			switch l.role {
			case section:
				row[0] = "**" + row[0] + "**"
				row = append(row, make([]string, len(heads)-1)...)
			case paper, difference:
				row[0] = "*" + row[0] + "*"
			}
			empty := true
			for _, i := range groups {
				for c := range slots[i] {
					if l.role != section {
						row = append(row, markdownCell(l.cells[starts[i]+c]))
						empty = empty && row[len(row)-1] == ""
					}
				}
			}
			if empty && (l.role == paper || l.role == difference) {
				continue
			}
			rows = append(rows, row)
		}
		if err := markdownTable(&b, heads, aligned, rows); err != nil {
			return fmt.Errorf("table %q: %w", t.Name, err)
		}
	}
	for _, note := range t.notes("Bold") {
		b.WriteString("\n" + EscapeMarkdown(note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// pageParts are the groups of each table that a page has in the place of one that would be too wide: averages first, and as many
// groups beside each other as fit.
func (t *Table) pageParts(slots [][]slot) (parts [][]int) {
	var averages, others, all []int
	columns := 0
	for i, g := range t.Groups {
		columns += len(slots[i])
		all = append(all, i)
		if g.Benchmark == metrics.Average {
			averages = append(averages, i)
		} else {
			others = append(others, i)
		}
	}
	if columns <= widestPage {
		return [][]int{all}
	}
	for _, groups := range [][]int{averages, others} {
		used := widestPage + 1
		for _, i := range groups {
			if used += len(slots[i]); used > widestPage {
				parts, used = append(parts, nil), len(slots[i])
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], i)
		}
	}
	return parts
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
		s += "\u00a0±\u00a0" + c.spread // no line ends here
	}
	return s
}

// EscapeMarkdown keeps text from ending a cell or being read as markup.
func EscapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "[", `\[`, "<", "&lt;", "\n", " ").Replace(s)
}
