package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/present"
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

// needTeX skips a test where there is no TeX, or fails it where TEX is required.
func needTeX(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("pdflatex"); err == nil {
		return
	}
	if os.Getenv("TEX") == "required" {
		t.Fatal("pdflatex is not installed, and TEX=required: install texlive-latex-extra")
	}
	t.Skip("pdflatex is not installed")
}

// Tables of every experiment that has measurements are set without one warning, wherever the paper's numbers stand, and
// no number but those of intervals in type below seven points, or six where the paper's stand beside ours; also where every interval is ten times as wide.
func TestTablesCompileUnderThePackagesOfTheACLStyle(t *testing.T) {
	needTeX(t)
	styles := [][]string{{"--paper", "below"}, {"--paper", "beside", "--difference"}, {"--paper", "below", "--difference"}}
	if testing.Short() {
		styles = styles[:1]
	}
	for _, style := range styles {
		t.Run(strings.Join(style, " "), func(t *testing.T) { compileTables(t, style, 1) })
	}
	t.Run("wide intervals", func(t *testing.T) { compileTables(t, nil, 10) })
}

// compileTables sets the tables of the committed measurements with intervals so many times as wide.
func compileTables(t *testing.T, style []string, wider float64) {
	dir := t.TempDir()
	committed := filepath.Join("..", "..", "figures")
	copyFiles(t, dir, committed, present.Measurements("*"))
	if wider != 1 {
		widen(t, dir, wider)
	}
	copyFiles(t, dir, committed, "claims*.tex")
	copyFiles(t, dir, committed, "verdicts*.tex")
	var out bytes.Buffer
	args := append([]string{"entrorouter", "render", "--figures", dir}, style...)
	if code := run(args, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("%q: exit code %d\n%s", args, code, out.String())
	}
	tables := tablesOf(t, dir)
	var document strings.Builder
	document.WriteString(aclPreamble)
	for i, table := range tables {
		fmt.Fprintf(&document, "\\input{%s}\n", strings.TrimSuffix(table, ".tex"))
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
	least := 6.95
	if slices.Contains(style, "beside") {
		least = 5.9 // three columns a number: a benchmark alone may be too wide, and is not broken
	}
	for _, s := range scales {
		natural, _ := strconv.ParseFloat(string(s[1]), 64)
		width, _ := strconv.ParseFloat(string(s[2]), 64)
		if numbers := 10 * width / natural; numbers < least || numbers > 10.5 {
			t.Errorf("a table of %.0f points is scaled to %.0f: its numbers have %.1f points", natural, width, numbers)
		}
	}
}

// widen rewrites the measurements of a folder with intervals so many times as wide.
func widen(t *testing.T, dir string, by float64) {
	t.Helper()
	paths, err := filepath.Glob(measurementsFile(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set, err := metrics.Read(path, bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range set.Measurements {
			for i := range m.Values {
				v := &m.Values[i]
				v.Low, v.High = v.Number+by*(v.Low-v.Number), v.Number+by*(v.High-v.Number)
			}
		}
		var out bytes.Buffer
		if err := set.Write(&out); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A committed table compiles in a document that loads what its first line names, and nothing else.
func TestTablesNeedThePackagesThatTheyName(t *testing.T) {
	needTeX(t)
	root := filepath.Join("..", "..", "figures")
	dir := t.TempDir()
	copyFiles(t, dir, root, "*.tex")
	copyFiles(t, dir, root, present.File("*", "*.tex"))
	tables := tablesOf(t, dir)
	packages := regexp.MustCompile(`\\usepackage(?:\[\w+\])?\{[\w,]+\}`)
	documents := map[string]*strings.Builder{} // by the packages
	for _, table := range tables {
		data, err := os.ReadFile(filepath.Join(dir, table))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), "\n")
		needs := strings.Join(packages.FindAllString(first, -1), "")
		if documents[needs] == nil {
			documents[needs] = &strings.Builder{}
		}
		fmt.Fprintf(documents[needs], "\\input{%s}\\clearpage\n", strings.TrimSuffix(table, ".tex"))
	}
	for needs, inputs := range documents {
		text := "\\documentclass[twocolumn]{article}" + needs + "\\nofiles\\begin{document}\n" + inputs.String() + "\\end{document}\n"
		if err := os.WriteFile(filepath.Join(dir, "alone-document.tex"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		latex := exec.Command("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "alone-document.tex")
		latex.Dir = dir
		if log, err := latex.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", needs, err, tail(log))
		}
	}
}

// A document of the committed measurements begins with the paper's tables and figures, in their order and under their numbers, and has
// those of every experiment, recorded answers and language models too; whatever a page shows stands in it once.
func TestADocumentBeginsWithThePapersTables(t *testing.T) {
	dir := t.TempDir()
	copyFiles(t, dir, filepath.Join("..", "..", "figures"), present.Measurements("*"))
	copyFiles(t, dir, filepath.Join("..", "..", "figures"), "*.tex")
	var out bytes.Buffer
	if code := run([]string{"entrorouter", "render", "--figures", dir, "--formats", "pdf", "--document"}, strings.NewReader(""), &out, &out); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, document+".tex"))
	if err != nil {
		t.Fatal(err)
	}
	body, counted, ok := strings.Cut(string(text), `\renewcommand{\thetable}{S\arabic{table}}`)
	_, printed, begun := strings.Cut(body, "\\tableofcontents\n\\clearpage\n")
	if !ok || !begun {
		t.Fatal("no tables of the paper's")
	}
	shown := regexp.MustCompile(`(?s)\\setcounter\{(\w+)\}\{(\d+)\}\n\\gdef\\listed\{[^\n]*(Table|Figure) (\d+): .*?\\(?:input|includegraphics\[[^]]*\])\{([^}]+)\}`)
	var got []string
	for _, m := range shown.FindAllStringSubmatch(printed, -1) {
		if before, _ := strconv.Atoi(m[2]); strconv.Itoa(before+1) != m[4] || strings.ToLower(m[3]) != m[1] {
			t.Errorf("%s %s is set as number %s+1 of %s", m[3], m[4], m[2], m[1])
		}
		got = append(got, m[3]+" "+m[4]+" "+m[5])
	}
	want := []string{"Table 1 main/table", "Table 2 ablation/table", "Table 3 llm-as-router/table", "Table 4 llm-as-router-ood/table", "Table 5 ood/table",
		"Table 6 alpha/table", "Table 7 hetero/table", "Table 8 noise/table", "Figure 1 collapse/collapse", "Figure 3 main/routing-distribution"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, name := range append(want, "x y claims", "x y main/table-large", "x y recorded/table-llama31-all", "x y recorded-lineage/table-qwen3_lineage-all", "x y lm-recorded/table-rgym_math-all") {
		name = strings.Fields(name)[2]
		if n := strings.Count(string(text), "{"+name+"}\n"); n != 1 {
			t.Errorf("%s is in the document %d times", name, n)
		}
	}
	if strings.Contains(counted, "setcounter{table}{1") {
		t.Error("tables of ours have numbers of the paper's")
	}
}

// The parts of a table that is broken have its number.
func TestPartsOfATableHaveOneNumber(t *testing.T) {
	parts := 0
	for _, name := range tablesOf(t, filepath.Join("..", "..", "figures")) {
		text, err := os.ReadFile(filepath.Join("..", "..", "figures", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, float := range strings.Split(string(text), `\begin{table`)[1:] {
			continued := strings.Contains(float, `, continued.}`)
			if strings.Contains(float, `\addtocounter{table}{-1}`+"\n"+`\caption{`) != continued {
				t.Errorf("%s: continued %v, and its number is counted on: %v", name, continued, continued)
			}
			if continued {
				parts++
			}
		}
	}
	if parts == 0 {
		t.Error("no table is broken")
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

// tablesOf are the tables of LaTeX of a folder, which has the committed ones.
func tablesOf(t *testing.T, dir string) []string {
	t.Helper()
	verdicts, err := fs.Glob(os.DirFS(dir), "*.tex")
	if err != nil || len(verdicts) < 3 {
		t.Fatal(verdicts, err)
	}
	tables, err := fs.Glob(os.DirFS(dir), present.File("*", "*.tex"))
	if err != nil || len(tables) < 40 {
		t.Fatal(tables, err)
	}
	return append(verdicts, tables...)
}

// copyFiles copies the files of a folder that match a pattern below another one.
func copyFiles(t *testing.T, to, from, pattern string) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(from), pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(to, file), data)
	}
}

func tail(log []byte) []byte { return log[max(0, len(log)-3000):] }

// Without TeX tests are skipped, with a sentence, and fail where it is required.
func TestTeXIsMissed(t *testing.T) {
	for required, want := range map[string]string{"": "--- SKIP", "required": "--- FAIL"} {
		tables := exec.Command(os.Args[0], "-test.v", "-test.run", "^TestTablesNeedThePackagesThatTheyName$")
		tables.Env = append(os.Environ(), "PATH=", "TEX="+required)
		said, err := tables.CombinedOutput()
		if (err != nil) != (required != "") || !bytes.Contains(said, []byte(want)) || !bytes.Contains(said, []byte("pdflatex is not installed")) {
			t.Errorf("TEX=%s: %v\n%s", required, err, said)
		}
	}
}
