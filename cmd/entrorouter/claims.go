// The command claims: recomputes what the paper states and gives verdicts on its orderings.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/paper"
	"github.com/entrorouter/entrorouter/harness/report"
	"github.com/entrorouter/entrorouter/harness/store"
)

func claimsCommand() *cli.Command {
	return &cli.Command{
		Name:  "claims",
		Usage: "recompute what the paper claims, and judge its orderings on our measurements",
		Description: "Recomputes from the paper's tables every number that the paper states in words (results/paper/claims.yaml). Gives each of these\n" +
			"numbers, and every ordering of rows that the paper states (results/paper/orderings.yaml), a verdict on the measurements that\n" +
			"run has written. Also tries whole tables of the paper and of measurements: can each percentage be a number of right answers,\n" +
			"does each average follow from its row? And it tries the paper's tables against each other: do rows that several of them\n" +
			"print agree, are costs those of plausible answers, does each row and column add up to its control total? Exit\n" +
			"code 3 if a verdict on the paper is not the recorded one, or a table of measurements contradicts itself. Rules: go doc ./harness/paper.\n\n" +
			"It prints what does not hold, and for each scale how many claims and orderings have which verdict.\n\n" +
			"--update also writes figures/README.md (an index of the folder), figures/claims-map.md (what stands behind each verdict), and\n" +
			"the page of each experiment.\n\n" +
			"--json: claims, claims-measured and verdicts, each the rows of the CSV file of that name as objects; without orderings claims alone.",
		Flags: append(figuresFlags("folder for the tables of claims and verdicts; empty, or left out beside --paper: do not write any"),
			&cli.StringSliceFlag{Name: "measurements", DefaultText: ownFigures + ", or " + committedFigures + " with --update", Usage: "`PATH` of a measurement file, or of a folder with */measurements.txt; repeat it for more"},
			fillFlag("--measurements lacks"),
			fullFlag("print every claim and ordering, with numbers and reasons"),
			&cli.BoolFlag{Name: "short", Usage: "print one line for each claim that our measurements say something about"},
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"},
			&cli.StringFlag{Name: "paper", Usage: "`DIR` with tables (*.txt) and, if wanted, claims.yaml and orderings.yaml instead of the built-in ones"}),
		Action: func(c *cli.Context) error {
			if err := noArguments(c, ""); err != nil {
				return err
			}
			if c.Bool("json") && c.Bool("full") {
				return usageError{errors.New("--json has everything; leave --full out")}
			}
			if c.Bool("short") && (c.Bool("json") || c.Bool("full")) {
				return usageError{errors.New("--short prints the least; leave --json and --full out")}
			}
			folder, err := figuresFolder(c)
			if err != nil {
				return err
			}
			paths := c.StringSlice("measurements")
			if !c.IsSet("measurements") {
				paths = []string{ownFigures}
				if c.Bool("update") {
					paths = []string{committedFigures}
				}
			}
			measured, filled, err := readAllMeasurements(paths, c.IsSet("measurements"), c.String("fill"))
			if err != nil {
				return err
			}
			if c.IsSet("paper") && !c.IsSet("figures") && !c.Bool("update") {
				folder = "" // the default one is that of the built-in paper
			}
			if len(filled) > 0 {
				fmt.Fprintf(c.App.ErrWriter, "Not in %s, so as in %s: %s\n", strings.Join(paths, ", "), c.String("fill"), some(filled, namesAtMost))
			}
			return checkClaims(c, measured, folder)
		},
	}
}

// checkClaims prints the tables of claims and verdicts and writes them to a folder, unless it is empty.
func checkClaims(c *cli.Context, measured *paper.Measurements, folder string) error {
	if c.IsSet("paper") && c.String("paper") == "" {
		return usageError{errors.New("--paper is empty; name a folder, or leave it out for the built-in tables")}
	}
	p, err := readPaper(c.String("paper"))
	if err != nil {
		return usageError{err}
	}
	findings, err := p.list.Check(p.listFile, p.tables, measured, p.orderings)
	if err != nil {
		return usageError{err}
	}
	findings = append(findings, measured.CheckTables()...)
	sheets, shown := []*report.Sheet{paper.ClaimsSheet(findings)}, []*report.Sheet{paper.Brief(findings)}
	var short []*report.Sheet // for the README: Markdown alone
	var gains *report.Figure  // nil: there are none
	var behind []paper.Behind
	if p.orderings != nil {
		rows, err := p.orderings.Judge(p.orderingsFile, p.tables, measured)
		if err != nil {
			return usageError{err}
		}
		sheets = append(sheets, p.orderings.MeasuredSheet(findings), p.orderings.Sheet(rows, measured))
		shown = append(shown, p.orderings.Counts(findings, rows, measured))
		digest, err := p.orderings.DigestSheet(p.orderingsFile, findings, rows, measured)
		if err != nil {
			return usageError{err}
		}
		front, err := p.orderings.FrontSheet(p.orderingsFile, findings, rows, measured)
		if err != nil {
			return usageError{err}
		}
		models, err := p.orderings.ModelSheet(p.orderingsFile, findings, rows)
		if err != nil {
			return usageError{err}
		}
		if gains, err = p.orderings.FrontFigure(measured); err != nil {
			return usageError{err}
		}
		short = []*report.Sheet{front, digest, p.orderings.Short(rows), models}
		behind = p.orderings.Behind(p.orderingsFile, p.list, findings, rows)
	}
	to := terminal(c.App.Writer)
	switch {
	case c.Bool("json"):
		shown = nil
		if err := writeJSON(c.App.Writer, rowsOfSheets(sheets)); err != nil {
			return err
		}
	case c.Bool("full"):
		shown = sheets
	case c.Bool("short"):
		fmt.Fprintln(c.App.Writer, shown[0].Grids[0].Title)
		if len(short) > 0 {
			writeShort(c.App.Writer, short[0])
		}
		shown = nil
	}
	for i, sheet := range shown {
		if i > 0 {
			fmt.Fprintln(c.App.Writer)
		}
		if err := to.WriteSheet(c.App.Writer, sheet); err != nil {
			return err
		}
	}
	var files []report.File
	for _, sheet := range sheets {
		f, err := sheet.Files()
		if err != nil {
			return err
		}
		files = append(files, f...)
	}
	for _, sheet := range short {
		f, err := sheet.Files()
		if err != nil {
			return err
		}
		files = append(files, f[0])
	}
	if gains != nil {
		f, err := gains.Files()
		if err != nil {
			return err
		}
		files = append(files, f...)
	}
	if c.Bool("update") && !c.IsSet("paper") {
		pages, err := indexPages(c, folder, files, behind)
		if err != nil {
			return err
		}
		files = append(files, pages...)
	}
	if folder != "" {
		var names []string
		for _, f := range files {
			names = append(names, f.Name)
		}
		if err := writeTogether(folder, files); err != nil {
			return err
		}
		if !c.Bool("json") && !c.Bool("short") {
			fmt.Fprintf(c.App.Writer, "\nwritten to %s: %s\n", folder, strings.Join(names, " "))
		}
	}
	if shown != nil && !c.Bool("full") {
		if folder == "" {
			fmt.Fprintln(c.App.Writer)
		}
		full := "entrorouter claims --full" + asGiven(c, "paper", "fill")
		for _, path := range c.StringSlice("measurements") {
			full += " --measurements " + shellWord(path)
		}
		fmt.Fprintln(c.App.Writer, "Every claim and ordering with its numbers and reasons: "+full)
	}
	var status error
	for _, f := range findings {
		if f.Differs != "" {
			fmt.Fprintf(c.App.ErrWriter, "entrorouter: %s: %s: %s\n", f.At(), f.ID, f.Differs)
			status = exitStatus(exitMismatch)
		}
	}
	return status
}

// writeShort prints the claims of the front table, each with what our measurements say of it, but for those of which they say nothing.
func writeShort(w io.Writer, front *report.Sheet) {
	for i, row := range front.Grids[0].Rows {
		var says []string
		for k, where := range []string{"on real outcomes ", "with a language model ", "on simulated experts "} {
			text := paper.Unmarked(front.Records[1+i][2+k])
			if text != "" && !strings.HasPrefix(text, paper.NotRun) {
				says = append(says, where+text)
			}
		}
		if says != nil {
			fmt.Fprintf(w, "  %s: %s\n", row[0].Lines[0], strings.Join(says, "; "))
		}
	}
}

// rowsOfSheets are the CSV files of sheets: by name a list of rows, each an object with the heads as names.
func rowsOfSheets(sheets []*report.Sheet) map[string][]map[string]string {
	out := map[string][]map[string]string{}
	for _, s := range sheets {
		out[s.Name] = []map[string]string{}
		for _, r := range s.Records[1:] {
			row := map[string]string{}
			for i, head := range s.Records[0] {
				row[head] = r[i]
			}
			out[s.Name] = append(out[s.Name], row)
		}
	}
	return out
}

// writeTogether replaces files of a folder, all or none: new ones beside old ones would be read as one state.
func writeTogether(folder string, files []report.File) error {
	targets := make([]string, len(files))
	for i, f := range files {
		targets[i] = filepath.Join(folder, f.Name)
		if target, err := filepath.EvalSymlinks(targets[i]); err == nil {
			targets[i] = target // a link stays a link
		}
		if info, err := os.Stat(targets[i]); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder where a file has to be written, so none was; move it away or name another folder with --figures", targets[i])
		}
	}
	staged := filepath.Join(folder, fmt.Sprintf(".claims.%d.tmp", os.Getpid()))
	defer os.RemoveAll(staged)
	for _, f := range files {
		if err := store.WriteFile(filepath.Join(staged, f.Name), f.Data); err != nil {
			return err
		}
	}
	for i, f := range files {
		if err := os.Rename(filepath.Join(staged, f.Name), targets[i]); err != nil {
			return err
		}
	}
	return nil
}
