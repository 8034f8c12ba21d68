// verify --regrade: which stored verdicts the present verifier would give differently.

package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/regrade"
)

func regradeAction(c *cli.Context) error {
	for _, name := range []string{"gold", "response", "option", "tolerance", "question", "policy", "policies", "explain", "out", "compare", "jobs"} {
		if c.IsSet(name) {
			return fmt.Errorf("--%s does not go with --regrade, which grades what a run stored as the run did", name)
		}
	}
	if c.NArg() > 0 {
		return errors.New("verify takes a FILE or --regrade DIR, not both")
	}
	r, err := regrade.Folder(c.Context, c.String("regrade"))
	if err != nil {
		return err
	}
	if c.Bool("summary") {
		r.Moved = nil
	}
	if c.Bool("json") {
		enc := jsonLines(c.App.Writer)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	_, err = io.WriteString(c.App.Writer, harmless(regradeReport(r)))
	return err
}

// regradeReport says which verdicts moved, for people.
func regradeReport(r *regrade.Report) string {
	var b strings.Builder
	for _, m := range r.Moved {
		fmt.Fprintf(&b, "answer %d to %s by %s: %s (%s) by version %s, %s (%s) now\n  gold %q, read %q before and %q now\n",
			m.Rollout, m.Problem, m.Model, m.Before.Bucket, m.Before.Reason, m.Verifier, m.Now.Bucket, m.Now.Reason, strings.Join(m.Gold, " | "), m.Before.Extracted, m.Now.Extracted)
	}
	moved := 0
	for _, g := range r.Groups {
		moved += g.Moved
	}
	if moved > 0 {
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "benchmark\tsplit\tmodel\tanswers\tmoved\tcorrect before\tcorrect now")
		for _, g := range r.Groups {
			if g.Moved > 0 {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\n", g.Benchmark, g.Split, g.Model, g.Answers, g.Moved, g.Correct[0], g.Correct[1])
			}
		}
		w.Flush()
	}
	fmt.Fprintf(&b, "version %s of the verifier moves %d of %d verdicts", r.Verifier, moved, r.Answers)
	for i, version := range slices.Sorted(maps.Keys(r.Before)) {
		b.WriteString([]string{", which are ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%d of version %s", r.Before[version], version)
	}
	b.WriteString("\n")
	if r.Ungraded+r.Unplaced > 0 {
		fmt.Fprintf(&b, "left out: %d answers that nothing graded, %d that were graded against a ground truth of no finished run\n", r.Ungraded, r.Unplaced)
	}
	if moved > 0 {
		b.WriteString("nothing is written; run --offline files the new verdicts and draws the tables with them, and asks nobody\n")
	}
	return b.String()
}
