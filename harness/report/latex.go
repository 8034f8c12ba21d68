package report

import (
	"fmt"
	"io"
	"strings"
)

// LaTeX writes tables in the paper's own layout; they need the packages booktabs and multirow and nothing else
// but graphicx, whose resizebox fits them to the text width.
type LaTeX struct{}

// A column of a two-column page holds natural characters of a table at their own size; a wider table is scaled down
// to it, which still reads well up to readable (the paper's ablation table has about 90).
const (
	natural  = 40
	readable = 100
)

// Write prints t as a float: table* over both columns of the page if it is wide, table otherwise.
func (LaTeX) Write(w io.Writer, t *Table) error {
	if err := t.check(); err != nil {
		return err
	}
	lines := t.lines()
	float := "table"
	open, end := `\resizebox{\linewidth}{!}{%`, `}`
	switch n := t.characters(lines); {
	case n > readable:
		float = "table*"
	case n <= natural:
		open, end = "", ""
	}
	columns := len(t.columns())
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(`%% Needs \usepackage{booktabs,multirow,graphicx}.`)
	put(`\begin{%s}[t]`, float)
	put(`\centering`)
	put(`\setlength{\tabcolsep}{3pt}`)
	if open != "" {
		put("%s", open)
	}
	spec := "l"
	for _, g := range t.Groups {
		spec += " " + strings.Repeat("c", len(g.Columns))
	}
	put(`\begin{tabular}{%s}`, spec)
	put(`\toprule`)
	first, rules, second := `\multirow{2}{*}{\textbf{`+escapeLaTeX(t.Head)+`}}`, "", ""
	at := 2
	for _, g := range t.Groups {
		first += fmt.Sprintf(` & \multicolumn{%d}{c}{\textbf{%s}}`, len(g.Columns), escapeLaTeX(g.Title))
		rules += fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at, at+len(g.Columns)-1)
		for _, c := range g.Columns {
			second += ` & \textbf{` + escapeLaTeX(c.Title) + arrow(c.Better) + `}`
		}
		at += len(g.Columns)
	}
	put(`%s \\`, first)
	put(`%s`, rules)
	put(`%s \\`, second)
	put(`\midrule`)
	for i, l := range lines {
		switch l.role {
		case section:
			if i > 0 {
				put(`\midrule`)
			}
			put(`\multicolumn{%d}{c}{\textit{%s}} \\`, columns+1, escapeLaTeX(l.label))
			continue
		case ours:
			b.WriteString(escapeLaTeX(l.label))
		default:
			b.WriteString(`\quad{\footnotesize\textit{` + escapeLaTeX(l.label) + `}}`)
		}
		for _, c := range l.cells {
			b.WriteString(" & " + latexCell(c, l.role))
		}
		put(` \\`)
	}
	put(`\bottomrule`)
	put(`\end{tabular}%s`, end)
	notes := t.notes()
	for i, note := range notes {
		notes[i] = escapeLaTeX(note)
	}
	if len(notes) > 0 {
		put(`\par\smallskip\parbox{\linewidth}{\footnotesize %s}`, strings.Join(notes, " "))
	}
	if t.Caption != "" {
		put(`\caption{%s}`, escapeLaTeX(t.Caption))
	}
	put(`\label{tab:%s}`, t.Name)
	put(`\end{%s}`, float)
	_, err := io.WriteString(w, b.String())
	return err
}

// characters estimates how wide t is printed.
func (t *Table) characters(lines []line) int {
	label := width(t.Head)
	for _, l := range lines {
		if l.role != section {
			label = max(label, width(l.label))
		}
	}
	total := label
	for c, column := range t.columns() {
		cell := width(column.Title)
		for _, l := range lines {
			if l.cells != nil {
				cell = max(cell, width(l.cells[c].number+plusMinus(l.cells[c])))
			}
		}
		total += cell + 1
	}
	return total
}

func arrow(d Direction) string {
	switch d {
	case Higher:
		return ` ($\uparrow$)`
	case Lower:
		return ` ($\downarrow$)`
	}
	return ""
}

func latexCell(c shown, kind role) string {
	switch {
	case c.number == "":
		return ""
	case kind != ours:
		return `{\footnotesize\textit{` + minus(c.number) + `}}`
	}
	s := minus(c.number)
	if c.best {
		s = `\textbf{` + s + `}`
	}
	if c.spread != "" {
		s += `{\scriptsize$\pm$` + c.spread + `}`
	}
	return s
}

// minus sets a leading minus sign as one, not as a hyphen.
func minus(number string) string {
	if rest, ok := strings.CutPrefix(number, "-"); ok && rest != "" {
		return "$-$" + rest
	}
	return number
}

var latexEscapes = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `%`, `\%`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `_`, `\_`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `"`, `''`,
	"\n", " ", "±", `$\pm$`, "†", `$\dagger$`, "–", "--", "—", "---", "×", `$\times$`, "≤", `$\le$`, "≥", `$\ge$`,
	"α", `$\alpha$`, "β", `$\beta$`, "δ", `$\delta$`, "κ", `$\kappa$`, "λ", `$\lambda$`, "→", `$\to$`, "…", `\dots{}`,
)

// escapeLaTeX keeps text from being read as commands. Signs that our texts use and OT1 lacks become mathematics.
func escapeLaTeX(s string) string { return latexEscapes.Replace(s) }
