// The command show: from a cell of a table to its questions, answers and decisions.

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/trail"
)

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "go from a cell of a table to the answers behind it, and back",
		ArgsUsage: "SPEC",
		Description: "SPEC is an experiment that has been run. Asks nobody and writes nothing.\n\n" +
			"   show SPEC                                 every cell: row and benchmark, on every set of questions\n" +
			"   show SPEC --row ROW                       the cells of one row\n" +
			"   show SPEC --benchmark NAME                the cells of one benchmark\n" +
			"   show SPEC --row ROW --benchmark NAME      the questions behind one cell, each with its weight\n" +
			"   show SPEC --problem ID [--row ROW]        what the experts did on one problem, what every row decided on it, and the\n" +
			"                                             cells that it enters\n" +
			"   show SPEC --rollout N [--row ROW]         the same for the problem that answer N of rollouts.db belongs to\n\n" +
			"NAME is a benchmark; avg, or with recordings all, for the average; or a stratum: easy, medium, hard. --set is a set of\n" +
			"questions: paper (default), large, or a recorded pool. On the set paper answers have verdicts and reasons. The set large has\n" +
			"the true success probability of the simulated experts, and a recorded pool has what was recorded.\n\n" +
			"--json: a cell has set, row, benchmark, questions, runs, accuracy (percent), usd (one pass), usd_per_query,\n" +
			"cost_share (percent of the dearest expert's), gain (of averages: points, accuracy of the coin flip of the same\n" +
			"cost, coin (expert: share)), fold_gain (of recordings: points, accuracy of the coin flips inside the test folds),\n" +
			"verdicts (of answers: number), trainings (seed, accuracy, usd_per_query). A question has problem, weight (in the\n" +
			"cell), accuracy, usd, tokens, chosen (expert: share), verdicts (share), folds. A problem has set, problem (id,\n" +
			"benchmark, text, gold, options, tolerance, level), latent (cell, topic, difficulty), rollouts (expert, run, bucket,\n" +
			"reason, rule, extracted, gold_form, response_form, usage (in, out: tokens), usd, rollout, prompt, response, reasoning,\n" +
			"failure (class, error, again)), unscored (models), outcomes (expert, correct, bucket, tokens, usd), decisions (row,\n" +
			"seed, fold, run, expert, calls, spoiled, prob, answer, bucket, accuracy, usd, router_tokens), enters (set, row,\n" +
			"benchmark, weight, accuracy, usd).",
		Flags: append(slices.Concat(storeFlags(), trainingFlags()),
			&cli.StringFlag{Name: "row", Usage: "id of a row"},
			&cli.StringFlag{Name: "benchmark", Usage: "name of a test benchmark, avg, all or a stratum"},
			&cli.StringFlag{Name: "problem", Usage: "id of a test problem"},
			&cli.Int64Flag{Name: "rollout", DefaultText: "none", Usage: "number of an answer, as a problem lists it"},
			&cli.StringFlag{Name: "set", Usage: "paper, large, or the name of a recorded pool"},
			&cli.StringFlag{Name: "sort", DefaultText: "the order of the run", Usage: "order cells by the `COLUMN` " + orList(cellColumns()) + ": what is good comes first"},
			&cli.BoolFlag{Name: "responses", Usage: "print prompts, thinking and responses in full"},
			&cli.BoolFlag{Name: "json", Usage: "JSON instead of text"}),
		Action: func(c *cli.Context) error {
			set, row, benchmark, problem := c.String("set"), c.String("row"), c.String("benchmark"), c.String("problem")
			switch {
			case c.IsSet("rollout") && (problem != "" || benchmark != "" || set != ""):
				return usageError{errors.New("--rollout names the answer to one problem: leave --problem, --benchmark and --set out")}
			case problem != "" && benchmark != "":
				return usageError{errors.New("--problem names one problem of one benchmark: leave --benchmark out")}
			case c.Bool("responses") && problem == "" && !c.IsSet("rollout"):
				return usageError{errors.New("--responses needs --problem or --rollout, whose answers it prints in full")}
			case c.IsSet("sort") && (problem != "" || c.IsSet("rollout") || benchmark != "" && row != ""):
				return usageError{errors.New("--sort orders cells: leave it out, or --problem, --rollout and --row with --benchmark")}
			case c.IsSet("sort") && !slices.Contains(cellColumns(), c.String("sort")):
				return usageError{fmt.Errorf("--sort %q: want %s", c.String("sort"), orList(cellColumns()))}
			}
			r, err := load(c)
			if err != nil {
				return err
			}
			var asked []string // the trainings of other rows need not be there
			if row != "" {
				asked = []string{row}
			}
			t, done, err := harness.OpenTrail(c.Context, r, options(c), asked...)
			if err != nil {
				return err
			}
			defer done()
			if c.IsSet("rollout") {
				if problem, err = t.Answered(c.Context, c.Int64("rollout")); err != nil {
					return err
				}
			}
			switch {
			case problem != "":
				p, err := t.Problem(c.Context, set, problem, row)
				if err != nil {
					return err
				}
				return show(c, p, func(w io.Writer) { writeProblem(w, p, c.Bool("responses")) })
			case benchmark != "" && row != "":
				questions, err := t.Questions(set, row, benchmark)
				if err != nil {
					return err
				}
				return show(c, questions, func(w io.Writer) { writeQuestions(w, questions) })
			}
			cells, err := t.Cells(set, row)
			if err != nil {
				return err
			}
			if cells, err = ofBenchmark(cells, benchmark); err != nil {
				return err
			}
			switch by := c.String("sort"); {
			case by == "gain" && !slices.ContainsFunc(cells, func(x trail.Cell) bool { return points(x) != nil }):
				return usageError{errors.New("--sort gain: none of these cells has a hull gain, which averages and recordings have; name another column")}
			case by != "":
				slices.SortStableFunc(cells, cellOrders[by])
			}
			return show(c, cells, func(w io.Writer) {
				fmt.Fprintf(w, "set\trow\tbenchmark\tquestions\truns\taccuracy %%\tdollars per pass\tdollars per question\tcost, %% of dearest\taccuracy by %s\thull gain = accuracy - that of a coin flip of the same cost\n", r.Experiment.Trainings().One)
				for _, x := range cells {
					runs := ""
					if x.Runs > 0 {
						runs = fmt.Sprint(x.Runs)
					}
					share := "-"
					if x.CostShare != nil {
						share = fmt.Sprintf("%.1f", *x.CostShare)
					}
					var by []string
					for _, t := range x.Trainings {
						by = append(by, fmt.Sprintf("%.2f", t.Accuracy))
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%.2f\t%s\t%s\t%s\t%s\t%s\n", x.Set, x.Row, x.Benchmark, x.Questions, runs, x.Accuracy, dollars(x.USD), dollars(x.PerQuery), share, strings.Join(by, " "), gain(x))
				}
			})
		},
	}
}

// cellOrders are the columns that cells can be ordered by: names from the first letter on, what should be large from the largest on,
// what should be small from the smallest on; of the same accuracy the cheapest first.
var cellOrders = map[string]func(a, b trail.Cell) int{
	"set":       func(a, b trail.Cell) int { return cmp.Compare(a.Set, b.Set) },
	"row":       func(a, b trail.Cell) int { return cmp.Compare(a.Row, b.Row) },
	"benchmark": func(a, b trail.Cell) int { return cmp.Compare(a.Benchmark, b.Benchmark) },
	"questions": func(a, b trail.Cell) int { return cmp.Compare(b.Questions, a.Questions) },
	"runs":      func(a, b trail.Cell) int { return cmp.Compare(b.Runs, a.Runs) },
	"accuracy": func(a, b trail.Cell) int {
		return cmp.Or(cmp.Compare(b.Accuracy, a.Accuracy), cmp.Compare(a.PerQuery, b.PerQuery))
	},
	"usd":           func(a, b trail.Cell) int { return cmp.Compare(a.USD, b.USD) },
	"usd_per_query": func(a, b trail.Cell) int { return cmp.Compare(a.PerQuery, b.PerQuery) },
	"cost_share":    func(a, b trail.Cell) int { return lastNone(a.CostShare, b.CostShare, 1) },
	"gain":          func(a, b trail.Cell) int { return lastNone(points(a), points(b), -1) },
}

func cellColumns() []string { return slices.Sorted(maps.Keys(cellOrders)) }

func points(c trail.Cell) *float64 {
	switch {
	case c.Gain != nil:
		return &c.Gain.Points
	case c.FoldGain != nil:
		return &c.FoldGain.Points
	}
	return nil
}

// lastNone compares numbers upwards (1) or downwards (-1); those that there are not come last.
func lastNone(a, b *float64, direction int) int {
	switch {
	case a != nil && b != nil:
		return direction * cmp.Compare(*a, *b)
	case a != nil:
		return -1
	case b != nil:
		return 1
	}
	return 0
}

// ofBenchmark keeps the cells of one benchmark, all if it is empty.
func ofBenchmark(cells []trail.Cell, benchmark string) ([]trail.Cell, error) {
	if benchmark == "" {
		return cells, nil
	}
	var of []trail.Cell
	var known []string
	for _, x := range cells {
		if x.Benchmark == benchmark {
			of = append(of, x)
		}
		known = appendNew(known, x.Benchmark)
	}
	if of == nil {
		return nil, usageError{fmt.Errorf("there is no benchmark %q%s", benchmark, spec.Options(benchmark, known))}
	}
	return of, nil
}

// dollars prints an amount with three digits that say something.
func dollars(usd float64) string {
	if usd == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(usd))))
	return strconv.FormatFloat(usd, 'f', max(2, decimals), 64)
}

// gain says how the hull gain of a cell comes about.
func gain(c trail.Cell) string {
	if f := c.FoldGain; f != nil {
		return fmt.Sprintf("%.2f = %.2f - %.2f (a coin flip inside each test fold)", f.Points, c.Accuracy, f.Accuracy)
	}
	if c.Gain == nil {
		return ""
	}
	var coin []string
	for _, id := range slices.Sorted(maps.Keys(c.Gain.Coin)) {
		coin = append(coin, fmt.Sprintf("%s %.1f%%", id, 100*c.Gain.Coin[id]))
	}
	return fmt.Sprintf("%.2f = %.2f - %.2f (%s)", c.Gain.Points, c.Accuracy, c.Gain.Accuracy, strings.Join(coin, ", "))
}

func writeQuestions(w io.Writer, questions []trail.QuestionResult) {
	folds := ""
	if questions[0].Folds != nil {
		folds = "\tfold in each partition"
	}
	fmt.Fprintf(w, "problem\tweight %%\taccuracy %%\tdollars\ttokens\tsent to\tverdicts%s\n", folds)
	var accuracy, usd, tokens float64
	for _, q := range questions {
		if folds != "" {
			folds = "\t" + strings.Trim(fmt.Sprint(q.Folds), "[]")
		}
		fmt.Fprintf(w, "%s\t%.2f\t%.1f\t%s\t%.0f\t%s\t%s%s\n", q.Problem, 100*q.Weight, q.Accuracy, dollars(q.USD), q.Tokens, shares(q.Chosen, "%.2f"), shares(q.Verdicts, "%.2f"), folds)
		accuracy += q.Weight * q.Accuracy
		usd += q.Weight * q.USD
		tokens += q.Weight * q.Tokens
	}
	fmt.Fprintf(w, "weighted mean\t\t%.2f\t%s\t%.0f\t\n", accuracy, dollars(usd), tokens)
}

// shares lists what each expert got, the most first, down to what would print as nothing.
func shares[K ~string](of map[K]float64, format string) string {
	ids := slices.SortedFunc(maps.Keys(of), func(a, b K) int { return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, id := range ids {
		if of[id] < 0.0005 {
			break
		}
		parts = append(parts, string(id)+" "+fmt.Sprintf(format, of[id]))
	}
	return strings.Join(parts, ", ")
}

func writeProblem(w io.Writer, p *trail.ProblemResult, responses bool) {
	fmt.Fprintf(w, "%s of %s, set %s\n%s\n", p.Problem.ID, p.Problem.Benchmark, p.Set, p.Problem.Text)
	for k, option := range p.Problem.Options {
		fmt.Fprintf(w, "(%c) %s\n", 'A'+rune(k), option)
	}
	fmt.Fprintf(w, "gold: %s\n", strings.Join(p.Problem.Gold, " or "))
	if l := p.Latent; l != nil {
		fmt.Fprintf(w, "simulated: topic %s of cell %s, difficulty %.2f logits\n", l.Topic, l.Cell, l.Difficulty)
	}
	if p.Rollouts != nil {
		fmt.Fprintf(w, "\nexpert\trun\tbucket\treason\textracted\tread as\trule\tprompt\ttokens\tdollars\trollout\n")
	}
	for _, r := range p.Rollouts {
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%d\n", r.Expert, r.Run, r.Bucket, r.Reason, oneLine(r.Extracted), oneLine(r.Answer), r.Rule, r.Usage.In, r.Usage.Out, dollars(r.USD), r.ID)
	}
	for _, r := range p.Rollouts {
		if r.Failure != nil {
			again := "is not asked again"
			if r.Failure.Again {
				again = "a run asks again"
			}
			fmt.Fprintf(w, "%s, run %d, has no answer (%s; %s): %s\n", r.Expert, r.Run, r.Failure.Class, again, oneLine(r.Failure.Error))
		}
	}
	if p.Unscored != nil {
		fmt.Fprintf(w, "scored for nobody: %s did not answer in every run\n", strings.Join(p.Unscored, ", "))
	}
	if p.Outcomes != nil {
		what := "recorded"
		if p.Outcomes[0].Bucket == "" {
			what = "chance of being right"
		}
		fmt.Fprintf(w, "\nexpert\t%s\ttokens\tdollars\n", what)
	}
	for _, o := range p.Outcomes {
		did := string(o.Bucket)
		if did == "" {
			did = fmt.Sprintf("%.4f", o.Correct)
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%s\n", o.Expert, did, o.Tokens, dollars(o.USD))
	}
	if p.Unscored == nil {
		writeDecisions(w, p)
	}
	if !responses {
		return
	}
	prompt := ""
	for _, r := range p.Rollouts {
		if r.Prompt != prompt {
			prompt = r.Prompt
			fmt.Fprintf(w, "\nprompt of %s:\n%s\n", r.Expert, prompt)
		}
		if r.Failure != nil {
			continue
		}
		if r.Reasoning != "" {
			fmt.Fprintf(w, "\n%s, run %d, thinking sent apart:\n%s\n", r.Expert, r.Run, r.Reasoning)
		}
		fmt.Fprintf(w, "\n%s, run %d:\n%s\n", r.Expert, r.Run, r.Response)
	}
}

// writeDecisions says what rows decided on a problem and which cells it enters.
func writeDecisions(w io.Writer, p *trail.ProblemResult) {
	seed := "training seed\trun"
	recorded := p.Outcomes != nil && p.Outcomes[0].Bucket != ""
	if recorded {
		seed = "partition\tfold"
	}
	fmt.Fprintf(w, "\nrow\t%s\tanswered by\tprobabilities\tcalls\taccuracy %%\tdollars\n", seed)
	for d := p.Decisions; len(d) > 0; {
		n := 1 // runs decided alike are one line
		for n < len(d) && d[n].Row == d[0].Row && d[n].Seed == d[0].Seed && by(d[n]) == by(d[0]) {
			n++
		}
		var accuracy, usd float64
		for _, x := range d[:n] {
			accuracy, usd = accuracy+x.Accuracy/float64(n), usd+x.USD/float64(n)
		}
		at := fmt.Sprint(d[0].Run)
		switch {
		case recorded:
			at = fmt.Sprint(d[0].Fold)
		case n > 1:
			at = fmt.Sprintf("%d-%d", d[0].Run, d[n-1].Run)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%.1f\t%s\n", d[0].Row, d[0].Seed, at, by(d[0]), accuracy, dollars(usd))
		d = d[n:]
	}
	fmt.Fprintf(w, "\nenters row\tbenchmark\tweight %%\taccuracy %%\tpoints\tdollars\n")
	for _, x := range p.Enters {
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.1f\t%.2f\t%s\n", x.Row, x.Benchmark, 100*x.Weight, x.Accuracy, x.Weight*x.Accuracy, dollars(x.USD))
	}
}

// by says who answered a decision, with what probabilities and after which calls.
func by(d trail.DecisionResult) string {
	who := d.Expert
	if d.Bucket != "" { // what was said in a conversation, which no rollout above shows
		who += fmt.Sprintf(" (%s: %.60q)", d.Bucket, d.Answer)
	}
	if d.Spoiled > 0 {
		who += fmt.Sprintf(" (talked out of a right answer: %.3f)", d.Spoiled)
	}
	return who + "\t" + shares(d.Prob, "%.3f") + "\t" + strings.Join(d.Calls, ", ")
}

// oneLine keeps an extracted answer in its column.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
