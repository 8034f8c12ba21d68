package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "go from a cell of a table to the answers behind it, and back",
		ArgsUsage: "SPEC",
		Description: "SPEC is an experiment that has been run. Asks nobody.\n\n" +
			"   show SPEC                                 every cell: row and benchmark\n" +
			"   show SPEC --row ROW                       the cells of one row\n" +
			"   show SPEC --row ROW --benchmark NAME      the questions behind one cell\n" +
			"   show SPEC --problem ID [--row ROW]        the answers of the experts to one problem, their verdicts, tokens and\n" +
			"                                             dollars, and what every row decided on it: the cells they enter",
		Flags: append(runFlags(), seedsFlag(),
			&cli.StringFlag{Name: "row", Usage: "id of a row"},
			&cli.StringFlag{Name: "benchmark", Usage: "name of a test benchmark"},
			&cli.StringFlag{Name: "problem", Usage: "id of a test problem"},
			&cli.BoolFlag{Name: "responses", Usage: "print the responses in full"},
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"}),
		Action: func(c *cli.Context) error {
			row, benchmark, problem := c.String("row"), c.String("benchmark"), c.String("problem")
			switch {
			case problem != "" && benchmark != "":
				return usageError{errors.New("--problem names one problem of one benchmark: leave --benchmark out")}
			case benchmark != "" && row == "":
				return usageError{errors.New("--benchmark needs --row: a cell is a row and a benchmark")}
			}
			r, err := load(c)
			if err != nil {
				return err
			}
			t, err := harness.OpenTrail(c.Context, r, options(c))
			if err != nil {
				return err
			}
			defer t.Close()
			switch {
			case problem != "":
				p, err := t.Problem(c.Context, problem, row)
				if err != nil {
					return err
				}
				return show(c, p, func(w io.Writer) { writeProblem(w, p, c.Bool("responses")) })
			case benchmark != "":
				questions, err := t.Questions(c.Context, row, benchmark)
				if err != nil {
					return err
				}
				return show(c, questions, func(w io.Writer) { writeQuestions(w, questions) })
			}
			cells, err := t.Cells(c.Context, row)
			if err != nil {
				return err
			}
			return show(c, cells, func(w io.Writer) {
				fmt.Fprintf(w, "row\tbenchmark\tquestions\truns\taccuracy %%\tusd\n")
				for _, x := range cells {
					fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.3f\t%.6f\n", x.Row, x.Benchmark, x.Questions, x.Runs, x.Accuracy, x.USD)
				}
			})
		},
	}
}

// show prints a value as JSON or as aligned text.
func show(c *cli.Context, value any, text func(io.Writer)) error {
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetIndent("", "  ")
		return enc.Encode(value)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	text(w)
	return w.Flush()
}

func writeQuestions(w io.Writer, questions []harness.QuestionResult) {
	fmt.Fprintf(w, "problem\taccuracy %%\tusd\tsent to\n")
	accuracy, usd := 0.0, 0.0
	for _, q := range questions {
		fmt.Fprintf(w, "%s\t%.1f\t%.6f\t%s\n", q.Problem, q.Accuracy, q.USD, shares(q.Chosen, "%.2f"))
		accuracy += q.Accuracy / float64(len(questions))
		usd += q.USD
	}
	fmt.Fprintf(w, "mean, sum\t%.3f\t%.6f\t\n", accuracy, usd)
}

// shares lists what each expert got, the most first.
func shares(of map[string]float64, format string) string {
	ids := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		switch {
		case of[a] > of[b]:
			return -1
		case of[a] < of[b]:
			return 1
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for _, id := range ids {
		parts = append(parts, id+" "+fmt.Sprintf(format, of[id]))
	}
	return strings.Join(parts, ", ")
}

func writeProblem(w io.Writer, p *harness.ProblemResult, responses bool) {
	fmt.Fprintf(w, "%s of %s\n%s\n", p.Problem.ID, p.Problem.Benchmark, p.Problem.Text)
	for k, option := range p.Problem.Options {
		fmt.Fprintf(w, "(%c) %s\n", 'A'+rune(k), option)
	}
	fmt.Fprintf(w, "gold: %s\n\nexpert\trun\tbucket\treason\textracted\tread as\trule\ttokens\tusd\trollout\n", strings.Join(p.Problem.Gold, " or "))
	for _, r := range p.Rollouts {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%.6f\t%d\n", r.Expert, r.Run, r.Bucket, r.Reason, oneLine(r.Extracted), oneLine(r.Answer), r.Rule, r.Usage.Out, r.USD, r.ID)
	}
	fmt.Fprintf(w, "\nrow\ttraining seed\trun\tanswered by\tprobabilities\tcalls\n")
	for _, d := range p.Decisions {
		by := d.Expert
		if d.Bucket != "" { // what was said in a conversation, which no rollout above shows
			by += fmt.Sprintf(" (%s: %.60q)", d.Bucket, d.Answer)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", d.Row, d.Seed, d.Run, by, shares(d.Prob, "%.3f"), strings.Join(d.Calls, ", "))
	}
	if !responses {
		return
	}
	for _, r := range p.Rollouts {
		fmt.Fprintf(w, "\n%s, run %d:\n%s\n", r.Expert, r.Run, r.Response)
	}
}

// oneLine keeps an extracted answer in its column.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
