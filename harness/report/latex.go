// Tables as LaTeX.

package report

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// LaTeX writes tables in the paper's own layout: heads of groups over rules, sections on grey, a row of the paper's numbers
// under one label with ours, the best number in bold. They need the packages booktabs, multirow and graphicx, and xcolor
// with the option table; measures are those of the ACL style.
type LaTeX struct{}

// Measures of the page and of type, in points.
const (
	columnWidth = 219.0
	textBlock   = 455.0
	tableSize   = 10.0 // \small
	scriptSize  = 8.0  // \scriptsize, of intervals and notes

	tableLeading, scriptLeading = 12.0, 9.5
	pageHeight                  = 640.0 // of a page less a heading
	columnSep                   = 2.0   // \tabcolsep
	roomySep                    = 4.0   // the same where there is room
)

// A table that is wider than the page's text is scaled to it, until its numbers have seven points and the intervals beside
// them, set smaller, 5.6; then it is broken into parts of whole groups. One that is higher than the page, by an estimate of
// its lines, is scaled to that. One that is wider than a column is scaled to it down to three quarters before it takes both
// columns of the page.
const (
	leastScale  = 7 / tableSize
	columnScale = 0.75
)

// Write prints t as a float, table* over both columns of the page if it is wide, table otherwise; several if it is
// wider than that.
func (LaTeX) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	parts := t.parts()
	var b strings.Builder
	b.WriteString("% Needs \\usepackage{booktabs,multirow,graphicx} and \\usepackage[table]{xcolor}.\n")
	for i, p := range parts {
		t.writeFloat(&b, p, i, len(parts))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sameNumber stands before the caption of a part that continues a table.
const sameNumber = `\addtocounter{table}{-1}`

// typeset is the slots of some groups as they are set.
type typeset struct {
	groups []string // titles
	slots  [][]typesetSlot
	lines  []line
	label  float64 // width of the labels, in points
	kinds  bool    // a column says whose number a line holds
	width  float64 // of all
}

type typesetSlot struct {
	slot
	index    int // among all slots
	head     []string
	decimals int  // most of any number
	spread   bool // any number has an interval
	width    float64
}

// parts distributes the groups over as few floats as can be read, evenly.
func (t *Table) parts() []typeset {
	lines := t.lines()
	var groups []typeset
	index := 0
	for g, slots := range t.slots() {
		one := typeset{groups: []string{t.Groups[g].Title}, slots: make([][]typesetSlot, 1)}
		for _, s := range slots {
			one.slots[0] = append(one.slots[0], typesetColumn(s, index, lines))
			index++
		}
		groups = append(groups, one)
	}
	for n := 1; ; n++ {
		size := (len(groups) + n - 1) / n
		var parts []typeset
		fits := true
		for some := range slices.Chunk(groups, size) {
			p := t.join(some, lines)
			fits = fits && p.width*leastScale <= textBlock
			parts = append(parts, p)
		}
		if fits || size == 1 {
			return parts
		}
	}
}

// join sets groups beside each other, with the labels before them.
func (t *Table) join(groups []typeset, lines []line) typeset {
	p := typeset{label: textWidth(t.Head, tableSize) * boldness}
	for _, g := range groups {
		p.groups = append(p.groups, g.groups...)
		p.slots = append(p.slots, g.slots...)
	}
	for _, l := range lines {
		beside := l.role == paper || l.role == difference
		if beside && !slices.ContainsFunc(slices.Concat(p.slots...), func(s typesetSlot) bool { return l.cells[s.index].number != "" }) {
			continue // its numbers are in another part
		}
		if l.role == ours {
			p.label = max(p.label, textWidth(l.label, tableSize))
		}
		p.kinds = p.kinds || beside
		p.lines = append(p.lines, l)
	}
	p.width = p.label + 2*columnSep
	if p.kinds {
		p.width += 2*columnSep + textWidth(whose(paper), tableSize)
	}
	for _, g := range groups {
		under := 0.0
		for _, s := range g.slots[0] {
			under += s.width + 2*columnSep
		}
		p.width += max(under, textWidth(g.groups[0], tableSize)*boldness+2*columnSep)
	}
	return p
}

// columns is how many columns stand apart.
func (p typeset) columns() int {
	n := 1
	if p.kinds {
		n++
	}
	for _, slots := range p.slots {
		n += len(slots)
	}
	return n
}

// height is what a part takes before it is scaled, in points.
func (p typeset) height() float64 {
	head := 1
	for _, s := range slices.Concat(p.slots...) {
		head = max(head, len(s.head))
	}
	rules := 3
	for _, l := range p.lines {
		if l.role == section {
			rules++
		}
	}
	const rule = 5.0 // with what is above and below it
	return float64(1+head+len(p.lines))*tableLeading + float64(rules)*rule
}

// whose says whose number a line holds.
func whose(kind role) string {
	switch kind {
	case paper:
		return paperLabel
	case difference:
		return differenceHead
	}
	return oursLabel
}

// typesetColumn measures a slot and breaks its head where its numbers are narrower.
func typesetColumn(s slot, index int, lines []line) typesetSlot {
	c := typesetSlot{slot: s, index: index}
	number, spread := 0.0, 0.0
	for _, l := range lines {
		if l.cells == nil {
			continue
		}
		cell := l.cells[index]
		c.decimals = max(c.decimals, decimalsOf(cell.number))
		number = max(number, textWidth(strings.Replace(cell.number, "-", "−", 1), tableSize))
		if cell.spread != "" {
			c.spread = true
			spread = max(spread, textWidth("±"+cell.spread, scriptSize))
		}
	}
	c.width = number + spread
	for limit := c.width; ; limit += columnSep {
		if c.head = breakText(s.Title, tableSize*boldness, limit); len(c.head) <= headLines {
			break
		}
	}
	for i, h := range c.head {
		if i == len(c.head)-1 && metrics.Better(s.Unit) != metrics.Neither {
			h += " ↑"
		}
		c.width = max(c.width, textWidth(h, tableSize)*boldness)
	}
	return c
}

// headLines is how high a head may stand before its column gets wider.
const headLines = 3

// breakText breaks text at its blanks into lines of at most a width, or of single words.
func breakText(text string, size, limit float64) (lines []string) {
	return broken(text, func(line string) bool { return textWidth(line, size) <= limit })
}

// broken breaks text at its blanks into lines that fit, or of single words.
func broken(text string, fits func(line string) bool) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && fits(lines[last]+" "+word) {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// decimalsOf counts the digits behind the point.
func decimalsOf(number string) int {
	if _, after, ok := strings.Cut(number, "."); ok {
		return len(after)
	}
	return 0
}

// writeFloat prints the i-th of n parts.
func (t *Table) writeFloat(b *strings.Builder, p typeset, i, n int) {
	put := func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
	float, limit := "table", columnWidth
	if p.width*columnScale > columnWidth {
		float, limit = "table*", textBlock
	}
	notes := t.notes("Bold")
	if i < n-1 {
		notes = t.legend("Bold")
		if len(t.Notes) > 0 {
			notes = append(notes, "More notes are below the last part of the table.")
		}
	}
	caption, label := t.Caption, t.Name
	if i > 0 {
		title, _, _ := strings.Cut(caption, ". ")
		caption, label = strings.TrimSuffix(title, ".")+", continued.", fmt.Sprintf("%s-%d", t.Name, i+1)
	}
	put(`\begin{%s}[!tp]`, float)
	put(`\centering\small`)
	to := `\linewidth`
	scaled := p.width > 0.98*limit
	room := pageHeight - float64(len(breakText(strings.Join(notes, " "), scriptSize, limit)))*scriptLeading - float64(len(breakText(caption, tableSize, limit)))*tableLeading
	if tall := p.height() * min(1, limit/p.width); tall > room {
		to, scaled = fmt.Sprintf(`%.3f\linewidth`, min(1, p.width/limit)*room/tall), true
	}
	separation := columnSep
	if roomy := p.width + 2*(roomySep-columnSep)*float64(p.columns()); roomy <= 0.97*limit {
		separation = roomySep
	}
	put(`\setlength{\tabcolsep}{%gpt}`, separation)
	if scaled {
		put(`\resizebox{%s}{!}{%%`, to)
	}
	t.writeTabular(put, p)
	if scaled {
		put(`}`)
	}
	if len(notes) > 0 {
		for k, note := range notes {
			notes[k] = escapeLaTeX(note)
		}
		put(`\par\smallskip\parbox{\linewidth}{\scriptsize %s}`, strings.Join(notes, " "))
	}
	if i > 0 {
		put(sameNumber)
	}
	if caption != "" {
		put(`\caption{%s}`, escapeLaTeX(caption))
	}
	put(`\label{tab:%s}`, label)
	put(`\end{%s}`, float)
}

func (t *Table) writeTabular(put func(string, ...any), p typeset) {
	lines := p.lines
	head := `\textbf{` + escapeLaTeX(t.Head) + `}`
	spec, first, second, rules := "l", `\multirow{2}{*}{`+head+`}`, "", ""
	at := 2 // column of the next group
	if p.kinds {
		spec, first, second, at = spec+"l", first+" &", second+" &", at+1
	}
	for g, slots := range p.slots {
		spec += " "
		span := 0
		for _, s := range slots {
			columns := "r"
			if s.spread {
				columns = "r@{}l"
			}
			spec += columns
			n := strings.Count(columns, "r") + strings.Count(columns, "l")
			second += fmt.Sprintf(` & \multicolumn{%d}{c}{%s}`, n, latexHead(s))
			span += n
		}
		first += fmt.Sprintf(` & \multicolumn{%d}{c}{\textbf{%s}}`, span, escapeLaTeX(p.groups[g]))
		rules += fmt.Sprintf(` \cmidrule(lr){%d-%d}`, at, at+span-1)
		at += span
	}
	put(`\begin{tabular}{%s}`, spec)
	put(`\toprule`)
	put(`%s \\`, first)
	put(`%s`, strings.TrimSpace(rules))
	put(`%s \\`, second)
	sections := 0
	for _, l := range lines {
		if l.role == section {
			sections++
		}
	}
	leads := len(lines) > 0 && lines[0].role == section
	alone := leads && sections == 1 // one section for all rows needs no heading
	if alone || !leads {
		put(`\midrule`)
	}
	for i, l := range lines {
		if l.role == section {
			if !alone {
				put(`\midrule`)
				put(`\rowcolor[gray]{0.95} \multicolumn{%d}{c}{\textit{%s}} \\`, at-1, escapeLaTeX(l.label))
			}
			continue
		}
		height := 1 // lines of the row
		for i+height < len(lines) && l.role == ours && lines[i+height].row == l.row && lines[i+height].role > ours {
			height++
		}
		row := ""
		if l.role == ours {
			row = latexLabel(l, height)
		}
		if p.kinds {
			row += " & " + italic(whose(l.role), l.role != ours)
		}
		for _, slots := range p.slots {
			for _, s := range slots {
				row += " & " + latexCell(l.cells[s.index], s, l.reference)
			}
		}
		put(`%s \\`, row)
	}
	put(`\bottomrule`)
	put(`\end{tabular}`)
}

func latexHead(s typesetSlot) string {
	lines := make([]string, len(s.head))
	for i, h := range s.head {
		lines[i] = escapeLaTeX(h)
	}
	lines[len(lines)-1] += arrow(metrics.Better(s.Unit))
	text := `\textbf{` + strings.Join(lines, `}\\\textbf{`) + `}`
	if len(lines) > 1 {
		text = `\begin{tabular}[b]{@{}c@{}}` + text + `\end{tabular}`
	}
	return text
}

func latexLabel(l line, height int) string {
	label := escapeLaTeX(l.label)
	if height > 1 {
		return fmt.Sprintf(`\multirow{%d}{*}{%s}`, height, grey(label, l.reference))
	}
	return grey(label, l.reference)
}

func italic(s string, on bool) string { return commanded(`\textit`, s, on) }

// grey sets rows that do not compete apart.
func grey(s string, on bool) string { return commanded(`\textcolor{black!60}`, s, on) }

// commanded sets what there is of a text by a command.
func commanded(command, s string, on bool) string {
	if !on || s == "" {
		return s
	}
	return command + `{` + s + `}`
}

func arrow(d metrics.Direction) string {
	switch d {
	case metrics.Higher:
		return ` $\uparrow$`
	case metrics.Lower:
		return ` $\downarrow$`
	}
	return ""
}

// latexCell sets a number, on the right of a column of its own, and its interval. Fewer decimals than others have leave
// room for theirs.
func latexCell(c shown, s typesetSlot, reference bool) string {
	number := italic(minus(c.number), c.role != ours)
	if c.best {
		number = `\textbf{` + number + `}`
	}
	number = grey(number, reference)
	if lacks := s.decimals - decimalsOf(c.number); lacks > 0 && c.number != "" {
		point := ""
		if lacks == s.decimals {
			point = "."
		}
		number += `\phantom{` + point + strings.Repeat("0", lacks) + `}`
	}
	if !s.spread {
		return number
	}
	spread := ""
	if c.spread != "" {
		spread = grey(`\scriptsize$\pm$`+c.spread, reference)
	}
	return number + " & " + spread
}

// minus sets a leading minus sign as one, not as a hyphen.
func minus(number string) string {
	if rest, ok := strings.CutPrefix(number, "-"); ok && rest != "" {
		return "$-$" + rest
	}
	return number
}

var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `%`, `\%`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `_`, `\_\allowbreak{}`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `"`, `''`,
	"\n", " ", "±", `$\pm$`, "†", `$\dagger$`, "–", "--", "—", "---", "×", `$\times$`, "≤", `$\le$`, "≥", `$\ge$`,
	"α", `$\alpha$`, "β", `$\beta$`, "δ", `$\delta$`, "κ", `$\kappa$`, "λ", `$\lambda$`, "→", `$\to$`, "…", `\dots{}`,
)

// opening finds quotation marks before words; the others close.
var opening = regexp.MustCompile(`(^|[\s(\[])"`)

// escapeLaTeX keeps text from being read as commands. Signs that our texts use and OT1 lacks become mathematics.
func escapeLaTeX(s string) string { return latexEscapes.Replace(opening.ReplaceAllString(s, "${1}``")) }
