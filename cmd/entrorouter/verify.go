// The command verify: grades one response, or the rows of a file, with reasons.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/verify"
)

// Exit codes of verify on one pair, as grep has them; anything wrong is exitUsage.
const (
	exitDifferent = 1
	exitUndecided = 3
)

func verifyCommand() *cli.Command {
	var golds, choices texts
	return &cli.Command{
		Name:      "verify",
		Usage:     "decide whether responses give the same answer as the ground truth",
		ArgsUsage: "[FILE]",
		Description: "One pair: give --gold and --response. The exit code is 0 equal, 1 different, 3 unknown, 2 anything wrong.\n\n" +
			"A file: give FILE, of JSON lines, plain or packed by gzip, or - for standard input. Each row has one verdict, in the order of the rows.\n" +
			`   {"id": "a", "gold": "1/2" or ["1/2", "0.5"], "response": "so \\boxed{0.5}"}   and, if wanted,` + "\n" +
			`   "options": ["red", "green"], "tolerance": {"abs": 0.1} or {"rel": 0.001}, "question": "..."` + "\n" +
			"Verdicts go to --out, or else to standard output. The summary goes to standard output, or, if the verdicts\n" +
			"go there, to standard error. Bad rows, such as one whose id an earlier row has, get no verdict, and the first " + strconv.Itoa(maxFaults) + " of\n" +
			"them are named by their lines; the other rows are graded. Fields of other names are not read.\n" +
			"The exit code is 0, or 2 if there was a bad row or anything else is wrong; it says nothing about the answers.\n\n" +
			"--compare OTHER prints no verdicts, but lists where another grader's differ from ours, with our reason. Its rows are\n" +
			`   {"id": "a", "verdict": "equal" | "different" | "unknown" | true | false}` + "\n\n" +
			"--json: answers, equal, different, unknown, bad_rows, accuracy (null without answers), reasons (by name), verifier (its version)\n" +
			"and, with --compare, ours_theirs (rows by both verdicts).\n\n" +
			"--regrade DIR grades the answers that runs stored in DIR again and says which verdicts differ from those of the\n" +
			"previous version. It asks nobody and writes nothing; run --offline then stores the new ones.",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "gold", Value: &golds, Usage: "ground truth `ANSWER`; repeat it if several answers are right"},
			&cli.StringFlag{Name: "response", Usage: "`TEXT` to be graded, a whole response or a bare answer; -: standard input"},
			&cli.GenericFlag{Name: "option", Value: &choices, Usage: "`TEXT` of an option of a multiple choice question; repeat it for each, A first"},
			&cli.StringFlag{Name: "tolerance", Usage: "accept `T` = 0.1 (absolute) or rel=0.001; of several answers, one for each, with commas between them"},
			&cli.StringFlag{Name: "question", Usage: "`TEXT` of the problem, which decides about percent signs and restatements"},
			&cli.StringFlag{Name: "policy", Usage: "`NAMES` of policies, with commas between them"},
			&cli.BoolFlag{Name: "policies", Usage: "print the policies and end"},
			&cli.BoolFlag{Name: "explain", Usage: "one pair: say what was read and which rule decided"},
			&cli.BoolFlag{Name: "json", Usage: "one pair: the verdict as JSON; a file: the summary as JSON"},
			&cli.StringFlag{Name: "out", Usage: "write the verdicts to `FILE`, which appears only when it is whole; it is packed if its name ends in .gz"},
			&cli.BoolFlag{Name: "summary", Usage: "print no verdicts, the summary only"},
			&cli.StringFlag{Name: "compare", Usage: "list where the verdicts of another grader in `OTHER`.jsonl differ"},
			&cli.StringFlag{Name: "regrade", Usage: "say which verdicts change on the answers that runs stored in `DIR`"},
			&cli.IntFlag{Name: "jobs", Value: runtime.GOMAXPROCS(0), Usage: "grade with `N` threads; verdicts do not depend on it"},
		},
		Action: func(c *cli.Context) error {
			err := verifyAction(c, golds, choices)
			var status exitStatus
			switch {
			case err == nil || errors.As(err, &status):
				return err
			case c.Context.Err() != nil && errors.Is(err, context.Canceled):
				fmt.Fprintln(c.App.ErrWriter, "entrorouter: interrupted; the same command starts from the first row")
				return exitStatus(exitInterrupted)
			}
			return usageError{err}
		},
	}
}

func verifyAction(c *cli.Context, golds, choices []string) error {
	if c.IsSet("regrade") {
		return regradeAction(c)
	}
	policy, err := verify.ParsePolicy(c.String("policy"))
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	pair := c.IsSet("gold") || c.IsSet("response")
	switch {
	case c.Bool("policies"):
		return printPolicies(c.App.Writer)
	case c.NArg() > 1:
		return fmt.Errorf("verify takes one FILE, got %d arguments", c.NArg())
	case pair && c.NArg() == 1:
		return fmt.Errorf("verify takes FILE %q or --gold and --response, not both", c.Args().First())
	case pair:
		return verifyPair(c, golds, choices, policy)
	case c.NArg() == 0:
		return errors.New("nothing to verify; give FILE.jsonl, - for standard input, or --gold and --response")
	}
	for _, name := range []string{"option", "tolerance", "question", "explain"} {
		if c.IsSet(name) {
			return fmt.Errorf("--%s goes with --gold and --response; rows of a file have their own", name)
		}
	}
	if n := c.Int("jobs"); n < 1 || n > maxJobs {
		return fmt.Errorf("--jobs %d; it must be 1 to %d", n, maxJobs)
	}
	return verifyFile(c, policy)
}

// verifyPair grades one response.
func verifyPair(c *cli.Context, golds, choices []string, policy verify.Policy) error {
	for _, name := range []string{"out", "summary", "jobs", "compare"} {
		if c.IsSet(name) {
			return fmt.Errorf("--%s goes with a FILE", name)
		}
	}
	switch {
	case !c.IsSet("gold"):
		return errors.New("--gold is missing; give the ground truth")
	case !c.IsSet("response"):
		return errors.New("--response is missing; give the text to be graded, or - for standard input")
	}
	for _, g := range golds {
		if strings.TrimSpace(g) == "" {
			return errors.New("--gold is empty; give the ground truth")
		}
	}
	tolerance, err := parseTolerance(c.String("tolerance"))
	if err != nil {
		return err
	}
	response := c.String("response")
	if response == "-" {
		text, err := io.ReadAll(c.App.Reader)
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		response = string(text)
	}
	k := verify.Key{Gold: golds, Options: choices, Tolerance: tolerance, Question: c.String("question"), Policy: policy}
	v := k.Grade(response)
	switch {
	case c.Bool("json"):
		err = jsonLines(c.App.Writer).Encode(v)
	case c.Bool("explain"):
		_, err = io.WriteString(c.App.Writer, harmless(v.Explain()))
	case v.Reason == v.Outcome.String():
		_, err = fmt.Fprintln(c.App.Writer, v.Outcome)
	default:
		_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", v.Outcome, v.Reason)
	}
	switch {
	case err != nil:
		return err
	case v.Outcome == verify.OutcomeEqual:
		return nil
	case v.Outcome == verify.OutcomeDifferent:
		return exitStatus(exitDifferent)
	}
	return exitStatus(exitUndecided)
}

// parseTolerance reads 0.1, abs=0.1 or rel=0.001, and several of them with commas.
func parseTolerance(s string) ([]verify.Tolerance, error) {
	if s == "" {
		return nil, nil
	}
	var out []verify.Tolerance
	for part := range strings.SplitSeq(s, ",") {
		kind, number, named := strings.Cut(strings.TrimSpace(part), "=")
		if !named {
			kind, number = "abs", kind
		}
		value, err := strconv.ParseFloat(number, 64)
		if err != nil || !(value >= 0) || value > 1e300 || kind != "abs" && kind != "rel" {
			return nil, fmt.Errorf("--tolerance %q; want a number that is not negative, such as 0.1, or rel=0.001", part)
		}
		t := verify.Tolerance{Abs: value}
		if kind == "rel" {
			t = verify.Tolerance{Rel: value}
		}
		out = append(out, t)
	}
	return out, nil
}

func printPolicies(out io.Writer) error {
	var b strings.Builder
	b.WriteString("The default policy is math-verify-2025: the second name of each pair. --policy takes names with commas between them.\n\n")
	for _, p := range verify.Policies() {
		fmt.Fprintf(&b, "%-17s%s\n%-17s%s\n\n", p.Name, p.Effect, p.DefaultName, p.Default)
	}
	b.WriteString("What no policy changes:\n\n")
	for _, c := range verify.Conventions() {
		fmt.Fprintf(&b, "%-17s%s\n", c[0], c[1])
	}
	_, err := io.WriteString(out, b.String())
	return err
}
