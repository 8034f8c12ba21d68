package report

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

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

// Document writes a LaTeX document that shows all tables (files of LaTeX, by name without extension) and figures of a
// folder, one after the other: two columns in the measures of the ACL style, with the packages that it has.
func Document(w io.Writer, title string, tables []string, figures []Illustration) error {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(`\documentclass[11pt,a4paper,twocolumn]{article}`)
	put(`\usepackage[T1]{fontenc}`)
	put(`\usepackage[utf8]{inputenc}`)
	put(`\usepackage{times,latexsym,microtype}`)
	put(`\usepackage[margin=2.5cm,columnsep=0.6cm]{geometry}`)
	put(`\usepackage{booktabs,multirow,graphicx}`)
	put(`\title{%s}`, escapeLaTeX(title))
	put(`\author{}`)
	put(`\date{}`)
	put(`\begin{document}`)
	put(`\maketitle`)
	// LaTeX holds back eighteen floats and no more.
	floats := 0
	placed := func() {
		if floats++; floats%4 == 0 {
			put(`\clearpage`)
		}
	}
	for _, f := range figures {
		environment := "figure"
		if f.Wide {
			environment = "figure*"
		}
		put(`\begin{%s}[tp]`, environment)
		put(`\centering`)
		put(`\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{%s}`, f.Name)
		put(`\caption{%s}`, escapeLaTeX(strings.TrimSpace(f.Caption)))
		put(`\label{fig:%s}`, f.Name)
		put(`\end{%s}`, environment)
		placed()
	}
	for _, t := range tables {
		put(`\input{%s}`, t)
		placed()
	}
	put(`\end{document}`)
	_, err := io.WriteString(w, b.String())
	return err
}
