// Tables as Markdown.

package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"golang.org/x/image/font"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Markdown writes tables as GitHub-flavoured Markdown.
type Markdown struct{}

// siteWidth is the room that a page has for a table, in pixels: GitHub's column, with its type and what stands around a cell.
const (
	siteWidth   = 830
	siteType    = 16
	cellPadding = 27
)

// markdownColumn is a column as it is written: a cell for each line of the table.
type markdownColumn struct {
	head  string
	cells []string
}

// width is the least that a column takes on a page under a head, where lines end between words and after hyphens.
func (c markdownColumn) width(head string) float64 {
	w := widestWord("**" + head)
	for _, cell := range c.cells {
		w = max(w, widestWord(cell))
	}
	return w + cellPadding
}

var unmarked = strings.NewReplacer("<br>", " ", "*", "", `\`, "")

var afterHyphen = regexp.MustCompile(`([^\s-]-)(\pL)`)

// widestWord is how wide the widest word of a cell is, which is bold or not.
func widestWord(cell string) (w float64) {
	style := textStyle(siteType)
	if strings.HasPrefix(cell, "**") {
		style.Font.Weight = font.WeightBold
	}
	for word := range strings.SplitSeq(afterHyphen.ReplaceAllString(unmarked.Replace(cell), "$1 $2"), " ") {
		w = max(w, style.Width(word).Points())
	}
	return w
}

// Write prints t. Markdown has one row of heads, so every column repeats its group's title; a single group's is left to
// the caption, or stands above the table where t is cut. Averages come first then, since they are what a reader looks for,
// and rows that have no number in a part are not in it.
func (Markdown) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(EscapeMarkdown(t.Caption) + "\n\n")
	}
	lines := t.lines()
	labels := markdownColumn{head: EscapeMarkdown(t.Head)}
	for _, l := range lines {
		label := EscapeMarkdown(l.label)
		switch l.role {
		case section:
			label = "**" + label + "**"
		case paper, difference:
			label = "*" + label + "*"
		}
		labels.cells = append(labels.cells, label)
	}
	groups, at := make([][]markdownColumn, len(t.Groups)), 0
	for i, slots := range t.slots() {
		for _, s := range slots {
			c := markdownColumn{head: EscapeMarkdown(s.Title)}
			for _, l := range lines {
				cell := ""
				if l.role != section {
					cell = markdownCell(l.cells[at])
				}
				c.cells = append(c.cells, cell)
			}
			groups[i], at = append(groups[i], c), at+1
		}
	}
	// over is the head of a column of a group, which has the group's title where others stand beside it.
	over := func(c markdownColumn, i int, beside []int) string {
		if len(beside) > 1 {
			return EscapeMarkdown(t.Groups[i].Title) + "<br>" + c.head
		}
		return c.head
	}
	parts := t.pageParts(func(of []int) float64 {
		total := labels.width(labels.head)
		for _, i := range of {
			for _, c := range groups[i] {
				total += c.width(over(c, i, of))
			}
		}
		return total
	})
	for k, of := range parts {
		if k > 0 {
			b.WriteString("\n")
		}
		if len(parts) > 1 && len(of) == 1 {
			b.WriteString("**" + EscapeMarkdown(t.Groups[of[0]].Title) + "**\n\n")
		}
		heads, aligned := []string{labels.head}, []tw.Align{tw.AlignLeft}
		for _, i := range of {
			for _, c := range groups[i] {
				heads, aligned = append(heads, over(c, i, of)), append(aligned, tw.AlignRight)
			}
		}
		var rows [][]string
		var heading []string // of a section that has no row yet
		for n, l := range lines {
			row := []string{labels.cells[n]}
			for _, i := range of {
				for _, c := range groups[i] {
					row = append(row, c.cells[n])
				}
			}
			empty := strings.Join(row[1:], "") == ""
			switch {
			case l.role == section:
				heading = row
				continue
			case empty && (len(parts) > 1 || l.role != ours):
				continue
			case heading != nil:
				rows, heading = append(rows, heading), nil
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
func (t *Table) pageParts(width func(groups []int) float64) [][]int {
	var averages, others, all []int
	for i, g := range t.Groups {
		all = append(all, i)
		if g.Benchmark == metrics.Average {
			averages = append(averages, i)
		} else {
			others = append(others, i)
		}
	}
	if width(all) <= siteWidth {
		return [][]int{all}
	}
	return append(pack(averages, width), pack(others, width)...)
}

// pack sets groups beside each other where there is room, in as few parts as that takes, none much wider than the others.
func pack(groups []int, width func(groups []int) float64) (best [][]int) {
	for room := float64(siteWidth); ; {
		var parts [][]int
		for _, i := range groups {
			last := len(parts) - 1
			if last >= 0 && width(append(slices.Clone(parts[last]), i)) <= room {
				parts[last] = append(parts[last], i)
			} else {
				parts = append(parts, []int{i})
			}
		}
		if best != nil && len(parts) > len(best) {
			return best
		}
		best, room = parts, 0
		for _, p := range parts {
			if len(p) > 1 {
				room = max(room, width(p)-1)
			}
		}
		if room == 0 {
			return best
		}
	}
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
func EscapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "[", `\[`, "<", "&lt;", "~", `\~`, "\n", " ")
