// The file of what experts did on test problems.

package book

import (
	"fmt"
	"io"
	"slices"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/harness/table"
)

const outcomesFile = "outcomes.csv"

// outcomeLine is a line of outcomes.csv. Problems and experts are numbered from 0, in the order of problems.jsonl and of the
// pool.
type outcomeLine struct {
	problem, run, expert int
	routing.Outcome
}

// Decimals of the dollars in outcomes.csv. What was simulated or asked is rounded to nanodollars; what was recorded is kept
// as it is.
const (
	Nanodollars = 9
	Exact       = -1
)

func outcomeColumns(dollars int) []table.Column[outcomeLine] {
	return []table.Column[outcomeLine]{
		table.Int("problem", func(l *outcomeLine) *int { return &l.problem }),
		table.Int("run", func(l *outcomeLine) *int { return &l.run }),
		table.Int("expert", func(l *outcomeLine) *int { return &l.expert }),
		table.Float("correct", 6, func(l *outcomeLine) *float64 { return &l.Correct }),
		table.Text("bucket", func(l *outcomeLine) *routing.Bucket { return &l.Bucket }),
		table.Float("tokens", 1, func(l *outcomeLine) *float64 { return &l.Out }),
		table.Float("usd", dollars, func(l *outcomeLine) *float64 { return &l.USD }),
	}
}

// WriteOutcomes writes outcomes.csv, dollars to so many decimals: fill calls line for every problem, run and expert.
func WriteOutcomes(d *store.Draft, dollars int, fill func(line func(problem, run, expert int, o routing.Outcome)) error) error {
	return create(d, outcomesFile, func(w io.Writer) error {
		t := table.NewWriter(w, outcomeColumns(dollars))
		if err := fill(func(problem, run, expert int, o routing.Outcome) { t.Write(outcomeLine{problem, run, expert, o}) }); err != nil {
			return err
		}
		return t.Flush()
	})
}

// ReadOutcomes reads outcomes.csv, [problems*runs][experts].
func ReadOutcomes(entry store.Entry, problems, runs, experts int) ([][]routing.Outcome, error) {
	outcomes := make([][]routing.Outcome, problems*runs)
	for i := range outcomes {
		outcomes[i] = make([]routing.Outcome, experts)
	}
	lines := 0
	file, err := readTable(entry, outcomesFile, outcomeColumns(Exact), func(l outcomeLine) error {
		switch {
		case l.problem < 0 || l.problem >= problems || l.run < 0 || l.run >= runs || l.expert < 0 || l.expert >= experts:
			return fmt.Errorf("problem %d, run %d, expert %d of %d problems, %d runs, %d experts", l.problem, l.run, l.expert, problems, runs, experts)
		case l.Bucket != "" && l.Bucket != routing.Unanswered && !slices.Contains(routing.Buckets[:], l.Bucket):
			return fmt.Errorf("unknown bucket %q; known: %v", l.Bucket, routing.Buckets)
		}
		outcomes[l.problem*runs+l.run][l.expert] = l.Outcome
		lines++
		return nil
	})
	if want := problems * runs * experts; err == nil && lines != want {
		err = fmt.Errorf("%s: %d outcomes, want %d; remove the folder of this step and run again", file, lines, want)
	}
	return outcomes, err
}
