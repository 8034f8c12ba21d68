// A LaTeX document of tables and figures.

package report

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Chapter is what a document shows under one heading: tables, then figures.
type Chapter struct {
	Title   string
	Tables  []Tabulation
	Figures []Illustration
}

// Tabulation is a table of a document: a file of LaTeX, by its name without extension.
type Tabulation struct {
	Name string
	Printed
}

// Illustration is a figure of a document: a PDF file and its caption.
type Illustration struct {
	Name    string // of the file, without extension
	Caption string
	Wide    bool // over both columns
	Printed
}

// Printed says what a paper has in the place of a table or figure.
type Printed struct {
	Number int    // 0: nothing
	Title  string // for the contents
}

// set gives a table or figure its number and a line of the contents.
func (p Printed) set(put func(string, ...any), counter, kind string) {
	if p.Number > 0 {
		put(`\setcounter{%s}{%d}`, counter, p.Number-1)
		put(`\gdef\listed{\phantomsection\addcontentsline{toc}{subsection}{%s %d: %s}}`, kind, p.Number, escapeLaTeX(p.Title))
	}
}

// mediaBox is the size of a page in a PDF file, in points.
var mediaBox = regexp.MustCompile(`/MediaBox\s*\[\s*0(?:\.0+)?\s+0(?:\.0+)?\s+([0-9.]+)\s`)

// Wide says whether a figure that Write has drawn as PDF is wider than a column.
func Wide(pdf []byte) bool {
	m := mediaBox.FindSubmatch(pdf)
	if m == nil {
		return false
	}
	width, err := strconv.ParseFloat(string(m[1]), 64)
	return err == nil && width > 1.2*figureWidth.Points()
}

// preamble has the packages of the ACL style that tables and figures are set with, and its measures. The tables' floats
// become boxes that stay where they are, and begin with the line that the contents have of them, if any: a document of nothing but floats has no text between which LaTeX could place
// them. A narrow one is as wide as a column, so that two stand side by side.
const preamble = `\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{times,latexsym,microtype}
\usepackage[margin=2.5cm]{geometry}
\usepackage[table]{xcolor}
\usepackage{booktabs,multirow,graphicx,array,caption}
\usepackage[hidelinks,hypertexnames=false]{hyperref}
\captionsetup{font=small}
\setlength{\parindent}{0pt}
\raggedbottom
\setcounter{secnumdepth}{0}
\pdfsuppresswarningpagegroup=1
\newlength{\narrow}
\setlength{\narrow}{0.482\textwidth}
\newcommand{\listed}{}
\newcommand{\placed}[2]{\begin{minipage}[t]{#2}\captionsetup{type=#1}\vspace{0pt}\listed\gdef\listed{}}
\newcommand{\donewith}{\end{minipage}\vspace{18pt plus 6pt}}
\renewenvironment{table}[1][]{\placed{table}{\narrow}}{\donewith\hfill\allowbreak}
\renewenvironment{table*}[1][]{\par\placed{table}{\textwidth}}{\donewith\par}
\renewenvironment{figure}[1][]{\placed{figure}{\narrow}}{\donewith\hfill\allowbreak}
\renewenvironment{figure*}[1][]{\par\placed{figure}{\textwidth}}{\donewith\par}
`

// Document writes a LaTeX document of tables and figures. It begins with those that a paper prints, under its numbers; the others are
// counted by themselves, from S1 on if there are any of the paper's.
func Document(w io.Writer, title string, printed Chapter, others []Chapter) error {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	chapter := func(c Chapter) {
		put(`\section{%s}`, escapeLaTeX(c.Title))
		for _, t := range c.Tables {
			t.set(put, "table", "Table")
			put(`\input{%s}`, t.Name)
		}
		for _, f := range c.Figures {
			environment := "figure"
			if f.Wide {
				environment = "figure*"
			}
			f.set(put, "figure", "Figure")
			put(`\begin{%s}[!tp]`, environment)
			put(`\centering`)
			put(`\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{%s}`, f.Name)
			put(`\caption{%s}`, escapeLaTeX(strings.TrimSpace(f.Caption)))
			put(`\label{fig:%s}`, f.Name)
			put(`\end{%s}`, environment)
		}
	}
	b.WriteString(preamble)
	put(`\hypersetup{pdftitle={%s}}`, escapeLaTeX(title))
	put(`\begin{document}`)
	put(`\tableofcontents`)
	put(`\clearpage`)
	if printed.Tables != nil || printed.Figures != nil {
		chapter(printed)
		for _, counter := range []string{"table", "figure"} {
			put(`\setcounter{%s}{0}`, counter)
			put(`\renewcommand{\the%s}{S\arabic{%s}}`, counter, counter)
		}
	}
	for _, c := range others {
		chapter(c)
	}
	put(`\end{document}`)
	_, err := io.WriteString(w, b.String())
	return err
}
