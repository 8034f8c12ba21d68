// Tables of words, as Markdown, LaTeX and CSV.

package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"
)

// Sheet is tables of words under one caption: verdicts, sources, reasons. Tables of numbers are Tables.
type Sheet struct {
	Name    string // base name of its files; LaTeX labels start with tab:<Name>
	Caption string
	Grids   []Grid
	Notes   []string   // printed below the last grid
	Records [][]string // of the CSV file, heads first: every digit, which the grids do not have
}

// Grid is one table of a sheet.
type Grid struct {
	Title  string
	Head   []string
	Widths []float64 // [columns] share of the width of the page, which LaTeX and terminals keep to
	Rows   [][]Text  // [rows][columns]
}

// Text is what a cell says: a word set apart, and lines below it. Both may be empty.
type Text struct {
	Lead  string
	Lines []string
}

// Say returns a cell of plain lines.
func Say(lines ...string) Text { return Text{Lines: lines} }

func (s *Sheet) check() error {
	for _, g := range s.Grids {
		if len(g.Widths) != len(g.Head) {
			return fmt.Errorf("sheet %q: grid %q has %d heads and %d widths", s.Name, g.Title, len(g.Head), len(g.Widths))
		}
		for i, r := range g.Rows {
			if len(r) != len(g.Head) {
				return fmt.Errorf("sheet %q: row %d of grid %q has %d cells for %d columns", s.Name, i, g.Title, len(r), len(g.Head))
			}
		}
	}
	return nil
}

// Files renders s as Markdown, LaTeX and CSV.
func (s *Sheet) Files() ([]File, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var records bytes.Buffer
	if err := writeRecords(&records, s.Records); err != nil {
		return nil, fmt.Errorf("sheet %q: %w", s.Name, err)
	}
	markdown, err := s.markdown()
	if err != nil {
		return nil, err
	}
	return []File{{s.Name + ".md", markdown}, {s.Name + ".tex", s.latex()}, {s.Name + ".csv", records.Bytes()}}, nil
}

func (s *Sheet) markdown() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(EscapeMarkdown(s.Caption) + "\n")
	for _, g := range s.Grids {
		if g.Title != "" {
			b.WriteString("\n**" + EscapeMarkdown(g.Title) + "**\n")
		}
		b.WriteString("\n")
		heads := make([]string, len(g.Head))
		for i, h := range g.Head {
			heads[i] = EscapeMarkdown(h)
		}
		var rows [][]string
		for _, r := range g.Rows {
			row := make([]string, len(r))
			for i, t := range r {
				row[i] = strings.Join(t.each(EscapeMarkdown, "**", "**"), "<br>")
			}
			rows = append(rows, row)
		}
		if err := markdownTable(&b, heads, slices.Repeat([]tw.Align{tw.AlignLeft}, len(heads)), rows); err != nil {
			return nil, fmt.Errorf("sheet %q: %w", s.Name, err)
		}
	}
	for _, note := range s.Notes {
		b.WriteString("\n" + EscapeMarkdown(note) + "\n")
	}
	return b.Bytes(), nil
}

// each returns the lines of a cell, the lead between two marks.
func (t Text) each(escape func(string) string, open, end string) []string {
	var lines []string
	if t.Lead != "" {
		lines = append(lines, open+escape(t.Lead)+end)
	}
	for _, l := range t.Lines {
		if l != "" {
			lines = append(lines, escape(l))
		}
	}
	return lines
}

// floatsHeld is how many tables of a sheet LaTeX may hold back until there is a page for them; it refuses more than some dozens of a document.
const floatsHeld = 12

// latex sets each grid as a float over both columns of the page, broken where a page would be too short for it.
func (s *Sheet) latex() []byte {
	var b bytes.Buffer
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(`%% Needs \usepackage{booktabs,array}.`)
	var notes []string
	for _, note := range s.Notes {
		notes = append(notes, escapeLaTeX(note))
	}
	below := strings.Join(notes, " ")
	subject, _, _ := strings.Cut(s.Caption, ". ")
	n := 0
	for i, g := range s.Grids {
		last := i == len(s.Grids)-1
		reserve := 0.0
		if last {
			reserve = float64(len(breakText(strings.Join(s.Notes, " "), sheetSize, textBlock))) * sheetLeading
		}
		parts := g.pages(reserve)
		for k, rows := range parts {
			if n > 0 && n%floatsHeld == 0 {
				put(`\clearpage`)
			}
			n++
			put(`\begin{table*}[!tp]`)
			put(`\centering\footnotesize`)
			put(`\setlength{\tabcolsep}{3pt}`)
			spec := ""
			for _, w := range g.Widths {
				spec += fmt.Sprintf(`>{\raggedright\arraybackslash}p{%.3f\textwidth}`, g.inside(w))
			}
			put(`\begin{tabular}{@{}%s@{}}`, spec)
			put(`\toprule`)
			heads := make([]string, len(g.Head))
			for j, h := range g.Head {
				heads[j] = `\textbf{` + escapeLaTeX(h) + `}`
			}
			put(`%s \\`, strings.Join(heads, " & "))
			put(`\midrule`)
			for at, r := range rows {
				cells := make([]string, len(r))
				for j, t := range r {
					cells[j] = strings.Join(t.each(latexLine, `\textbf{`, `}`), `\newline `)
				}
				put(`%s \\`, strings.Join(cells, " & "))
				if at < len(rows)-1 {
					put(`\addlinespace[2pt]`)
				}
			}
			put(`\bottomrule`)
			put(`\end{tabular}`)
			if last && k == len(parts)-1 && below != "" {
				put(`\par\smallskip\parbox{\textwidth}{\footnotesize %s}`, below)
			}
			title := g.Title
			if k > 0 {
				title = strings.TrimPrefix(title+", continued", ", ")
				put(sameNumber)
			}
			caption := s.Caption
			if n > 1 {
				caption = sentence(strings.TrimSuffix(subject, "."))
			}
			put(`\caption{%s}`, escapeLaTeX(strings.TrimSpace(caption+" "+sentence(title))))
			put(`\label{tab:%s-%d}`, s.Name, n)
			put(`\end{table*}`)
		}
	}
	return b.Bytes()
}

// Measures of a sheet, in points: small type, and a page of the ACL style less room for a caption.
const (
	sheetSize    = 9.0 // \footnotesize
	sheetLeading = 11.0
	sheetHeight  = 600.0
	separation   = 0.013 // of the width of the text, between two columns
)

// inside is the width of a column as a share of the text, without what separates it from the others.
func (g Grid) inside(share float64) float64 { return share * (1 - separation*float64(len(g.Widths))) }

// pages cuts the rows into runs that fit a page each, the last with a reserve below it, by an estimate of how their
// cells break.
func (g Grid) pages(reserve float64) [][][]Text {
	height := func(r []Text) float64 {
		most := 0
		for j, t := range r {
			width := g.inside(g.Widths[j]) * textBlock
			lines := len(breakText(t.Lead, sheetSize*boldness, width))
			for _, l := range t.Lines {
				lines += len(breakText(l, sheetSize, width))
			}
			most = max(most, lines)
		}
		return float64(most)*sheetLeading + 2.5
	}
	var head []Text
	for _, h := range g.Head {
		head = append(head, Text{Lead: h})
	}
	needs := make([]float64, len(g.Rows))
	for i, r := range g.Rows {
		needs[i] = height(r)
	}
	cut := func(limit float64) (parts [][][]Text, used float64) {
		for i, r := range g.Rows {
			need := needs[i]
			if len(parts) == 0 || used+need > limit {
				parts, used = append(parts, nil), 0
			}
			parts[len(parts)-1] = append(parts[len(parts)-1], r)
			used += need
		}
		return parts, used
	}
	full := sheetHeight - height(head)
	// As few pages as will do, filled as evenly as leaves room for the reserve.
	parts, _ := cut(full)
	for n := len(parts); n <= len(g.Rows); n++ {
		found := false
		for limit := full; limit > 0; limit -= sheetLeading {
			if even, used := cut(limit); len(even) <= n && used+reserve <= full {
				parts, found = even, true
			}
		}
		if found {
			break
		}
	}
	return parts
}

func sentence(title string) string {
	if title == "" {
		return ""
	}
	return title + "."
}

// latexLine sets minus signs before numbers as such.
func latexLine(s string) string {
	s = escapeLaTeX(s)
	fields := strings.Split(s, " ")
	for i, f := range fields {
		open := ""
		if strings.HasPrefix(f, "[") {
			open, f = "[", f[1:]
		}
		if len(f) > 1 && f[0] == '-' && f[1] >= '0' && f[1] <= '9' {
			f = minus(f)
		}
		fields[i] = open + f
	}
	return strings.Join(fields, " ")
}

// pageWidth is that of a sheet where the terminal does not say.
const pageWidth = 140

// WriteSheet prints s for a terminal.
func (to Terminal) WriteSheet(w io.Writer, s *Sheet) error {
	if err := s.check(); err != nil {
		return err
	}
	limit := cmp.Or(to.Width, pageWidth)
	var b strings.Builder
	say := func(text string) {
		for _, l := range wrap(text, limit) {
			b.WriteString(l + "\n")
		}
	}
	say(s.Caption)
	for _, g := range s.Grids {
		b.WriteString("\n")
		if g.Title != "" {
			b.WriteString(style(g.Title, bold, to.Bold) + "\n")
		}
		if err := to.writeGrid(&b, g, limit); err != nil {
			return fmt.Errorf("sheet %q: %w", s.Name, err)
		}
	}
	if len(s.Notes) > 0 {
		b.WriteString("\n")
	}
	for _, note := range s.Notes {
		say(note)
	}
	return trimmed(w, b.String())
}

// narrowest is the least width of a column in a terminal.
const narrowest = 8

func (to Terminal) writeGrid(w io.Writer, g Grid, limit int) error {
	if len(g.Rows) == 0 {
		return nil
	}
	widths := make([]int, len(g.Widths))
	for i, share := range g.Widths {
		widths[i] = max(narrowest, int(share*float64(limit))-gap)
	}
	table := plainTable(w)
	add := func(cells [][]string) error {
		height := 0
		for _, c := range cells {
			height = max(height, len(c))
		}
		for i := range height {
			row := make([]string, len(cells))
			for j, c := range cells {
				if i < len(c) {
					row[j] = c[i]
				}
				row[j] = pad(row[j], widths[j])
			}
			if err := table.Append(row); err != nil {
				return err
			}
		}
		return nil
	}
	heads, rule := make([][]string, len(g.Head)), make([][]string, len(g.Head))
	for i, h := range g.Head {
		heads[i], rule[i] = wrap(h, widths[i]), []string{strings.Repeat("─", widths[i])}
	}
	if err := add(heads); err != nil {
		return err
	}
	if err := add(rule); err != nil {
		return err
	}
	for _, r := range g.Rows {
		cells := make([][]string, len(r))
		for i, t := range r {
			for _, line := range wrap(t.Lead, widths[i]) {
				if line != "" {
					cells[i] = append(cells[i], style(line, bold, to.Bold))
				}
			}
			for _, line := range t.Lines {
				if line != "" {
					cells[i] = append(cells[i], wrap(line, widths[i])...)
				}
			}
		}
		if err := add(cells); err != nil {
			return err
		}
	}
	return table.Render()
}
