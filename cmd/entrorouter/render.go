// The command render: tables, figures and a LaTeX document from measurements alone.

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/results"
)

func renderCommand() *cli.Command {
	return &cli.Command{
		Name:      "render",
		Usage:     "draw tables and figures again from their measurements, computing nothing",
		ArgsUsage: "[SPEC...]",
		Description: "Reads FIGURES/NAME/measurements.txt of every SPEC; without SPEC, of every built-in experiment that has measurements there.\n" +
			"Writes tables and figures beside it, and README.md, a page that shows them and says what they were made of.",
		Flags: append(figuresFlags("folder of the measurements, tables and figures"),
			&cli.StringFlag{Name: "formats", Value: "svg", Usage: "formats of figures, of svg, pdf and png, with commas between them"},
			&cli.StringFlag{Name: "paper", Value: "below", Usage: "where tables print the paper's numbers: below ours, beside them, or none"},
			&cli.BoolFlag{Name: "difference", Usage: "also print ours minus the paper's in tables"},
			&cli.BoolFlag{Name: "document", Usage: "also write all.tex, a LaTeX document with these tables and figures, the paper's first, and those of claims; needs pdf among the formats"}),
		Action: func(c *cli.Context) error {
			dir, err := figuresFolder(c)
			if err != nil {
				return err
			}
			if dir == "" {
				return usageError{errors.New("--figures is empty; name the folder of the measurements")}
			}
			formats, err := figureFormats(c.String("formats"))
			if err != nil {
				return err
			}
			if c.Bool("document") && !slices.Contains(formats, report.PDF) {
				return usageError{errors.New("--document shows figures as PDF; add pdf to --formats")}
			}
			style := report.Style{Differences: c.Bool("difference")}
			if style.Paper, err = report.ParsePlacement(c.String("paper")); err != nil {
				return usageError{fmt.Errorf("--paper: %w", err)}
			}
			redo, err := measuredRuns(c, dir)
			if err != nil {
				return err
			}
			if err := sayLeftOut(c, dir); err != nil {
				return err
			}
			for _, r := range redo {
				r.Style = style
			}
			// Of several specs all are drawn, or nothing is printed or written.
			printed, files := make([]bytes.Buffer, len(redo)), make([][]report.File, len(redo))
			for i, r := range redo {
				if r.Spec.Experiment.Ensemble != nil {
					files[i], err = present.DrawEnsemble(r, nil, terminal(c.App.Writer), &printed[i])
				} else {
					files[i], err = present.Draw(r, results.FS, terminal(c.App.Writer), &printed[i], formats...)
				}
				if err != nil {
					return outdated(dir, r.Spec, err)
				}
			}
			for i := range redo {
				if _, err := printed[i].WriteTo(c.App.Writer); err != nil {
					return err
				}
				if _, err := writeFigures(c.App.Writer, dir, redo[i], files[i]); err != nil {
					return err
				}
				if err := present.Conclude(redo[i], c.App.Writer); err != nil {
					return err
				}
			}
			if c.Bool("document") {
				return writeDocument(dir, redo, files)
			}
			return nil
		},
	}
}

// figureFormats reads a list of formats.
func figureFormats(list string) ([]report.Format, error) {
	known := []report.Format{report.SVG, report.PDF, report.PNG}
	var out []report.Format
	for _, name := range strings.Split(list, ",") {
		f := report.Format(strings.TrimSpace(name))
		if !slices.Contains(known, f) {
			return nil, usageError{fmt.Errorf("--formats: unknown format %q; known: svg, pdf, png", name)}
		}
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out, nil
}

// document is the name of the LaTeX document of a folder, without extension.
const document = "all"

// claimTables are the tables that the command claims writes.
var claimTables = []string{"claims.tex", "claims-measured.tex", "verdicts.tex"}

// writeDocument writes the LaTeX document of a folder: tables and figures of the paper, under its numbers, what the command claims wrote
// there, then the others of the experiments that were rendered, files [experiment] in the order of their outputs.
func writeDocument(dir string, experiments []*present.Run, files [][]report.File) error {
	verdicts := report.Chapter{Title: "Claims and verdicts"}
	for _, name := range claimTables {
		_, err := os.Stat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := addTo(&verdicts, dir, name, report.Printed{}); err != nil {
			return err
		}
	}
	printed, others := report.Chapter{Title: "Tables and figures of the paper"}, []report.Chapter{verdicts}
	for i, r := range experiments {
		numbers := map[string]report.Printed{}
		for _, o := range r.Spec.Experiment.Outputs {
			if _, n, ok := strings.Cut(o.Number, " "); ok {
				number, err := strconv.Atoi(n)
				if err != nil {
					return err
				}
				numbers[present.File(r.Spec.Experiment.Name, o.File)] = report.Printed{Number: number, Title: r.Spec.Experiment.Title}
			}
		}
		c := report.Chapter{Title: r.Spec.Experiment.Title}
		for _, f := range files[i] {
			to, number := &c, numbers[strings.TrimSuffix(f.Name, filepath.Ext(f.Name))]
			if number.Number > 0 {
				to = &printed
			}
			if err := addTo(to, dir, f.Name, number); err != nil {
				return err
			}
		}
		others = append(others, c)
	}
	slices.SortStableFunc(printed.Tables, func(a, b report.Tabulation) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortStableFunc(printed.Figures, func(a, b report.Illustration) int { return cmp.Compare(a.Number, b.Number) })
	others = slices.DeleteFunc(others, func(c report.Chapter) bool { return c.Tables == nil && c.Figures == nil })
	var text bytes.Buffer
	if err := report.Document(&text, "Tables and figures", printed, others); err != nil {
		return err
	}
	return store.WriteFile(filepath.Join(dir, document+".tex"), text.Bytes())
}

// addTo adds a file to a chapter if it is a table or a figure: a PDF file with its caption beside it.
func addTo(c *report.Chapter, dir, file string, in report.Printed) error {
	name := strings.TrimSuffix(file, filepath.Ext(file))
	switch filepath.Ext(file) {
	case ".tex":
		c.Tables = append(c.Tables, report.Tabulation{Name: name, Printed: in})
	case ".pdf":
		caption, err := os.ReadFile(filepath.Join(dir, name+".txt"))
		if err != nil {
			return err
		}
		pdf, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		c.Figures = append(c.Figures, report.Illustration{Name: name, Caption: string(caption), Wide: report.Wide(pdf), Printed: in})
	}
	return nil
}
