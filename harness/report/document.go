// A LaTeX document of tables and figures.

package report

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Chapter is what a document shows under one heading: tables (files of LaTeX, by name without extension), then figures.
type Chapter struct {
	Title   string
	Tables  []string
	Figures []Illustration
}

// Illustration is a figure of a document: a PDF file and its caption.
type Illustration struct {
	Name    string // of the file, without extension
	Caption string
	Wide    bool // over both columns
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
// become boxes that stay where they are: a document of nothing but floats has no text between which LaTeX could place
// them. A narrow one is as wide as a column, so that two stand side by side.
const preamble = `\documentclass[11pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{times,latexsym,microtype}
\usepackage[margin=2.5cm]{geometry}
\usepackage[table]{xcolor}
\usepackage{booktabs,multirow,graphicx,array,caption}
\usepackage[hidelinks]{hyperref}
\captionsetup{font=small}
\setlength{\parindent}{0pt}
\raggedbottom
\pdfsuppresswarningpagegroup=1
\newlength{\narrow}
\setlength{\narrow}{0.482\textwidth}
\newcommand{\placed}[2]{\begin{minipage}[t]{#2}\captionsetup{type=#1}\vspace{0pt}}
\newcommand{\donewith}{\end{minipage}\vspace{18pt plus 6pt}}
\renewenvironment{table}[1][]{\placed{table}{\narrow}}{\donewith\hfill\allowbreak}
\renewenvironment{table*}[1][]{\par\placed{table}{\textwidth}}{\donewith\par}
\renewenvironment{figure}[1][]{\placed{figure}{\narrow}}{\donewith\hfill\allowbreak}
\renewenvironment{figure*}[1][]{\par\placed{figure}{\textwidth}}{\donewith\par}
`

// Document writes a LaTeX document of tables and figures.
func Document(w io.Writer, title string, chapters []Chapter) error {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	b.WriteString(preamble)
	put(`\hypersetup{pdftitle={%s}}`, escapeLaTeX(title))
	put(`\begin{document}`)
	for i, c := range chapters {
		put(`\section*{%s}`, escapeLaTeX(c.Title))
		put(`\pdfbookmark[1]{%s}{chapter-%d}`, escapeLaTeX(c.Title), i+1)
		for _, t := range c.Tables {
			put(`\input{%s}`, t)
		}
		for _, f := range c.Figures {
			environment := "figure"
			if f.Wide {
				environment = "figure*"
			}
			put(`\begin{%s}[!tp]`, environment)
			put(`\centering`)
			put(`\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{%s}`, f.Name)
			put(`\caption{%s}`, escapeLaTeX(strings.TrimSpace(f.Caption)))
			put(`\label{fig:%s}`, f.Name)
			put(`\end{%s}`, environment)
		}
	}
	put(`\end{document}`)
	_, err := io.WriteString(w, b.String())
	return err
}
