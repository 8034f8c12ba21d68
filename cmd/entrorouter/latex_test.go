package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The preamble of a paper in the ACL style: its packages, and its measures where acl.sty is not installed. Tables are
// real floats here. How far \resizebox scales is written to the log.
const aclPreamble = `\documentclass[11pt,twocolumn,a4paper]{article}
\IfFileExists{acl.sty}{\usepackage[final]{acl}}{
  \usepackage[margin=2.5cm,columnsep=0.6cm]{geometry}
  \usepackage{natbib}
  \usepackage{caption}
  \captionsetup{font=small}
}
\usepackage{times}
\usepackage{latexsym}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{microtype}
\IfFileExists{inconsolata.sty}{\usepackage{inconsolata}}{}
\usepackage{graphicx}
\usepackage[table]{xcolor}
\usepackage{booktabs,subcaption,multirow,verbatim,comment,hyperref,titlesec}
\usepackage{amsmath,amssymb,mathtools,amsthm,makecell,array,xspace}
\newsavebox{\naturalbox}
\let\scaledbox\resizebox
\renewcommand{\resizebox}[3]{\sbox\naturalbox{#3}\typeout{SCALED \the\wd\naturalbox\space to \the\dimexpr #1\relax}\scaledbox{#1}{#2}{\usebox\naturalbox}}
\nofiles
\begin{document}
`

// Tables of every experiment that has measurements are set without one warning, wherever the paper's numbers stand, and
// no number but those of intervals in type below six points.
func TestTablesCompileUnderThePackagesOfTheACLStyle(t *testing.T) {
	if _, err := exec.LookPath("pdflatex"); err != nil {
		t.Skip("pdflatex is not installed")
	}
	styles := [][]string{{"--paper", "below"}, {"--paper", "beside", "--difference"}, {"--paper", "below", "--difference"}}
	if testing.Short() {
		styles = styles[:1]
	}
	for _, style := range styles {
		t.Run(strings.Join(style, " "), func(t *testing.T) { compileTables(t, style) })
	}
}

func compileTables(t *testing.T, style []string) {
	dir := t.TempDir()
	committed := filepath.Join("..", "..", "figures")
	copyFiles(t, dir, filepath.Join(committed, "*-measurements.txt"))
	copyFiles(t, dir, filepath.Join(committed, "claims*.tex"))
	copyFiles(t, dir, filepath.Join(committed, "verdicts*.tex"))
	var out bytes.Buffer
	args := append([]string{"entrorouter", "render", "--figures", dir}, style...)
	if code := run(args, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("%q: exit code %d\n%s", args, code, out.String())
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.tex"))
	if err != nil || len(tables) < 40 {
		t.Fatalf("%d tables: %v", len(tables), err)
	}
	var document strings.Builder
	document.WriteString(aclPreamble)
	for i, table := range tables {
		fmt.Fprintf(&document, "\\input{%s}\n", strings.TrimSuffix(filepath.Base(table), ".tex"))
		if i%4 == 3 {
			document.WriteString("\\clearpage\n")
		}
	}
	document.WriteString("\\end{document}\n")
	if err := os.WriteFile(filepath.Join(dir, "paper.tex"), []byte(document.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	latex := exec.Command("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex")
	latex.Dir = dir
	latex.Env = append(os.Environ(), "max_print_line=1000")
	log, err := latex.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(log))
	}
	for _, warning := range regexp.MustCompile(`(?m)^.*(Warning:|Overfull|Underfull).*$`).FindAll(log, -1) {
		t.Errorf("%s", warning)
	}
	scales := regexp.MustCompile(`SCALED ([0-9.]+)pt to ([0-9.]+)pt`).FindAllSubmatch(log, -1)
	if len(scales) < 10 {
		t.Errorf("%d tables are scaled", len(scales))
	}
	for _, s := range scales {
		natural, _ := strconv.ParseFloat(string(s[1]), 64)
		width, _ := strconv.ParseFloat(string(s[2]), 64)
		if numbers := 10 * width / natural; numbers < 5.9 || numbers > 10.5 {
			t.Errorf("a table of %.0f points is scaled to %.0f: its numbers have %.1f points", natural, width, numbers)
		}
	}
}

func TestADocumentHasEveryTableOfClaims(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	args := []string{"entrorouter", "claims", "--measurements", filepath.Join("..", "..", "figures"), "--figures", dir}
	if code := run(args, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	written, err := filepath.Glob(filepath.Join(dir, "*.tex"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range written {
		written[i] = filepath.Base(written[i])
	}
	want := slices.Sorted(slices.Values(claimTables))
	if !slices.Equal(written, want) {
		t.Errorf("claims writes %v, a document shows %v", written, want)
	}
}

func copyFiles(t *testing.T, dir, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func tail(log []byte) []byte { return log[max(0, len(log)-3000):] }
