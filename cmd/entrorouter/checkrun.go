// The command check against another run: says row by row and question by question what moved.

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/book"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// checkRun carries out an experiment and compares it with another run, whose list of steps is read first: the run may be
// the last one in the same store, unless that is this one.
func checkRun(c *cli.Context, r *spec.Resolved, against string) error {
	other, err := book.OpenRun(against, r.Experiment.Name)
	if err != nil {
		return err
	}
	makeRoom(r)
	result, err := harness.Run(c.Context, r, options(c))
	if err != nil {
		return err
	}
	if itself, err := isItself(other, against, options(c).Out, r.Experiment.Name); err != nil {
		return err
	} else if itself {
		return usageError{fmt.Errorf("--against %s is the folder of --out, whose last run of %s is this one, and a run does not differ from itself; name another store, or an empty --out", shellWord(against), r.Experiment.Name)}
	}
	report, err := harness.CheckRun(result, options(c), other)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		err = writeJSON(c.App.Writer, runJSON(report, result, against))
	} else if err = writeRun(c.App.Writer, report, r, against, c.Bool("full")); err == nil {
		err = writeStored(c.App.Writer, result, options(c).Out)
	}
	if err != nil {
		return err
	}
	if os.Getenv("CI") == "true" {
		annotate(c.App.ErrWriter, runAlarms(report))
	}
	if report.Regressed() {
		return exitStatus(exitMismatch)
	}
	return nil
}

// isItself says whether a run that was read in one store before an experiment was carried out in another is the run that came of it: the
// two folders are one, and the steps are the same.
func isItself(other *book.Run, against, out, experiment string) (bool, error) {
	there, err := os.Stat(against)
	if err != nil {
		return false, err
	}
	here, err := os.Stat(out)
	if err != nil || !os.SameFile(there, here) {
		return false, err
	}
	ours, err := book.OpenRun(out, experiment)
	return err == nil && slices.Equal(ours.Steps, other.Steps), err
}

func runJSON(r *compare.RunReport, result *harness.Result, against string) any {
	out := struct {
		*compare.RunReport
		Against   string  `json:"against"`
		Steps     int     `json:"steps"`
		Stored    int     `json:"stored"` // steps that were not carried out again
		Regressed bool    `json:"regressed"`
		Moved     []moved `json:"moved,omitempty"` // measured numbers, where they were compared
		Added     []added `json:"not_in_reference,omitempty"`
	}{RunReport: r, Against: against, Steps: result.Steps, Stored: result.Stored, Regressed: r.Regressed()}
	if r.Numbers != nil {
		out.Moved, out.Added = movedNumbers(r.Numbers), addedNumbers(r.Numbers)
	}
	return out
}

// runVerdict says in words what the numbers of a row are.
func runVerdict(r compare.RowMove) string {
	switch {
	case !r.Differs():
		return "same"
	case r.Exact && r.Follows:
		return "follows from the steps above"
	case r.Exact:
		return "the same spec always gives the same"
	case r.Regressed():
		return "more than noise"
	}
	if why := unjudged(r); why != "" {
		return "not judged: " + why
	}
	return "noise"
}

// unjudged says why nothing judges the averages of a row; empty if something does.
func unjudged(r compare.RowMove) string {
	avg := r.Cells[len(r.Cells)-1]
	if (avg.Accuracy.Gate == metrics.None || avg.Accuracy.Moved == 0) && avg.USD.Gate == metrics.None {
		return cmp.Or(avg.Accuracy.Why, avg.USD.Why)
	}
	return ""
}

// quietly is the conclusion on rows that moved where nothing moved by more than noise.
func quietly(moved []compare.RowMove) string {
	var noise, not, why []string
	for _, row := range moved {
		if reason := unjudged(row); reason != "" {
			not, why = appendNew(not, row.Row), appendNew(why, reason)
		}
	}
	for _, row := range moved {
		if !slices.Contains(not, row.Row) {
			noise = appendNew(noise, row.Row)
		}
	}
	var out string
	if len(noise) > 0 {
		out = ", by no more than noise: " + some(noise, 8)
	}
	if len(not) > 0 {
		rows := counted(len(not), "1 row", "%d rows")
		out += fmt.Sprintf("; %s cannot be judged (%s): %s", rows, strings.Join(why, "; "), some(not, 8))
	}
	return out
}

func setName(arena string) string {
	switch arena {
	case metrics.LargeArena:
		return "the large set"
	case metrics.PaperArena:
		return "the paper's sizes"
	}
	return "pool " + arena
}

// writeRun prints an account of what moved between two runs: the conclusion, why it may have moved, by how much, and
// which questions did it. In full it lists rows that moved inside the noise too.
func writeRun(w io.Writer, r *compare.RunReport, of *spec.Resolved, against string, full bool) error {
	look := "entrorouter show " + of.Named
	var same, moved, alarming []compare.RowMove
	for _, row := range r.Rows {
		switch {
		case !row.Differs():
			same = append(same, row)
		case row.Regressed():
			alarming = append(alarming, row)
			fallthrough
		default:
			moved = append(moved, row)
		}
	}
	rows := func(of []compare.RowMove) (ids []string) {
		for _, row := range of {
			ids = appendNew(ids, row.Row)
		}
		return ids
	}
	// Rows that only follow from others need no account of their own.
	causes := slices.DeleteFunc(slices.Clone(alarming), func(x compare.RowMove) bool { return x.Follows })
	if len(causes) == 0 {
		causes = alarming
	}
	switch {
	case len(alarming) > 0:
		fmt.Fprintf(w, "%s moved against the run in %s by more than noise: %s", r.Experiment, against, some(rows(causes), 8))
		if n := len(rows(alarming)) - len(rows(causes)); n > 0 {
			fmt.Fprint(w, counted(n, ", and 1 row that follows", ", and %d rows that follow"))
		}
		fmt.Fprintln(w, ".")
	case len(r.Broken)+len(r.Gone) > 0, len(r.Rows) > 0 && r.Numbers != nil:
		fmt.Fprintf(w, "%s is not what it was in the run in %s.\n", r.Experiment, against)
	case len(r.Rows) == 0:
		fmt.Fprintf(w, "%s and the run in %s have no decisions on common questions; their measurements are compared.\n", r.Experiment, against)
	case len(moved) > 0:
		fmt.Fprintf(w, "%s moved against the run in %s%s.\n", r.Experiment, against, quietly(moved))
	default:
		fmt.Fprintf(w, "%s is the same as the run in %s, question by question.\n", r.Experiment, against)
	}
	if len(r.Asked) > 0 {
		fmt.Fprintf(w, "\nAsked for differently (there -> here):\n")
		for _, a := range r.Asked {
			var fields []string
			for _, f := range a.Fields {
				fields = append(fields, fmt.Sprintf("%s: %s -> %s", f.Name, cmp.Or(f.Reference, "nothing"), cmp.Or(f.Ours, "nothing")))
			}
			fmt.Fprintf(w, "  %s (%s)\n", strings.Join(fields, "; "), some(a.Steps, 3))
		}
	}
	if i := slices.IndexFunc(r.Rows, func(x compare.RowMove) bool { return !slices.Equal(x.Seeds[0], x.Seeds[1]) }); i >= 0 {
		seeds := r.Rows[i].Seeds
		fmt.Fprintf(w, "\n%ss: %s there, %s here.\n", upperFirst(of.Experiment.Trainings().One), seedList(seeds[1]), seedList(seeds[0]))
	}
	if len(r.Broken) > 0 {
		fmt.Fprintf(w, "\nThe same recipe and inputs, other content: %s.", some(r.Broken, 4))
		if n := len(r.Followed); n > 0 {
			fmt.Fprint(w, counted(n, " 1 more step differs because these do.", " %d more steps differ because these do."))
		}
		fmt.Fprintln(w)
	}
	if len(r.Gone) > 0 {
		fmt.Fprintf(w, "\nOnly in the run in %s: %s.\n", against, strings.Join(r.Gone, ", "))
	}
	if len(r.Rows) > 0 {
		var sets []string
		for _, q := range r.Questions {
			s := fmt.Sprintf("%d questions of %s", q.Common, setName(q.Arena))
			if q.Ours+q.Theirs > 0 {
				s += fmt.Sprintf(" (%d only here, %d only there)", q.Ours, q.Theirs)
			}
			sets = append(sets, s)
		}
		fmt.Fprintf(w, "\nCompared question by question on what both runs have: %s.\n", strings.Join(sets, ", "))
	}
	alike := slices.DeleteFunc(rows(same), func(id string) bool { return slices.Contains(rows(moved), id) })
	if len(alike) > 0 && len(moved) > 0 {
		fmt.Fprintf(w, "The same: %s.\n", strings.Join(alike, ", "))
	}
	if len(moved) > 0 {
		listed := moved
		if !full && len(alarming) > 0 {
			follow := slices.DeleteFunc(slices.Clone(alarming), func(x compare.RowMove) bool { return !x.Follows || len(causes) == len(alarming) })
			listed = slices.Concat(causes, follow)
		}
		if err := writeMoved(w, listed); err != nil {
			return err
		}
		if n := len(moved) - len(listed); n > 0 {
			fmt.Fprintln(w, counted(n, "1 more moved by no more than noise; --full lists it.", "%d more moved by no more than noise; --full lists them."))
		}
		averages := func(is func(compare.Move) bool) bool {
			return slices.ContainsFunc(moved, func(row compare.RowMove) bool {
				avg := row.Cells[len(row.Cells)-1]
				return is(avg.Accuracy) || is(avg.USD)
			})
		}
		if averages(func(m compare.Move) bool { return m.Bounded }) {
			fmt.Fprintf(w, "\nIn brackets the %g%% interval of that difference alone.", 100*r.Confidence)
			if averages(func(m compare.Move) bool { return m.Gate == metrics.Paired && m.Moved > 0 }) {
				fmt.Fprintf(w, " %d were looked at, so a verdict takes more: all of them stay\n"+
					"inside their noise in %g%% of checks where nothing changed.", r.Gates, 100*(1-compare.FalseAlarm))
			}
			fmt.Fprintln(w)
		}
	}
	for _, row := range causes[:min(len(causes), explained)] {
		writeAlarm(w, row, look)
	}
	if n := len(causes) - explained; n > 0 {
		fmt.Fprintf(w, "\nMoved by more than noise too, in --json: %s.\n", some(rows(causes[explained:]), 12))
	}
	if r.Numbers != nil {
		fmt.Fprintln(w)
		if len(alarming) > 0 {
			fmt.Fprintf(w, "Of %d measured numbers %d are not the same; --json lists them.\n", len(r.Numbers.Changes), len(r.Numbers.Regressions()))
		} else {
			writeCheck(w, r.Numbers, of, "the measurements of that run", false, full)
		}
	}
	return nil
}

const (
	explained      = 4 // rows and sets of which the account says which numbers and questions moved
	explainedCells = 3 // benchmarks of such a row, beside the average
	explainedMost  = 3 // questions
)

func seedList(seeds []uint64) string { return strings.Trim(fmt.Sprint(seeds), "[]") }

// writeMoved is a line per row and set: its averages.
func writeMoved(w io.Writer, rows []compare.RowMove) error {
	fmt.Fprintln(w)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "row\tset\tsent elsewhere\taccuracy %\tdifference\tnoise\t$/question\tdifference\tnoise\tverdict")
	for _, row := range rows {
		avg := row.Cells[len(row.Cells)-1]
		fmt.Fprintf(tab, "%s\t%s\t%d of %d\t%.2f -> %.2f\t%s\t%s\t%.3g -> %.3g\t%s\t%s\t%s\n", row.Row, row.Arena, row.Changed, row.Questions,
			avg.Accuracy.Reference, avg.Accuracy.Ours, difference(avg.Accuracy, 1, "%+.2f"), noiseOf(avg.Accuracy, 1, "%.2f"),
			avg.USD.Reference, avg.USD.Ours, percent(avg.USD), noiseOfUSD(avg.USD), runVerdict(row))
	}
	return tab.Flush()
}

// difference prints a difference with its interval.
func difference(m compare.Move, scale float64, format string) string {
	s := fmt.Sprintf(format, scale*m.Difference)
	if m.Bounded {
		s += fmt.Sprintf(" ["+format+", "+format+"]", scale*m.Low, scale*m.High)
	}
	return s
}

// noiseOf prints the greatest difference that is noise.
func noiseOf(m compare.Move, scale float64, format string) string {
	switch {
	case m.Gate == metrics.Exact:
		return "none"
	case m.Moved == 0:
		return "none moved"
	case m.Gate == metrics.None:
		return m.Why
	case m.Few:
		return fmt.Sprintf("%d moved, too few", m.Moved)
	}
	return fmt.Sprintf(format, scale*m.Band)
}

// percent prints a difference in dollars in percent of what it was, or in dollars if that was nothing.
func percent(m compare.Move) string {
	if m.Reference == 0 {
		return "$" + difference(m, 1, "%+.3g")
	}
	return difference(m, 100/m.Reference, "%+.2f%%")
}

// noiseOfUSD prints what percent is held against.
func noiseOfUSD(m compare.Move) string {
	if m.Reference == 0 {
		return noiseOf(m, 1, "$%.3g")
	}
	return noiseOf(m, 100/m.Reference, "%.2f%%")
}

// writeAlarm says which numbers of a row moved by more than noise, those of the average and of the benchmarks that moved
// most, and which questions did it.
func writeAlarm(w io.Writer, row compare.RowMove, look string) {
	fmt.Fprintf(w, "\n%s\n", alarm(row))
	cells := slices.DeleteFunc(slices.Clone(row.Cells[:len(row.Cells)-1]), func(c compare.CellMove) bool { return !c.Accuracy.Regressed() && !c.USD.Regressed() })
	slices.SortStableFunc(cells, func(a, b compare.CellMove) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Accuracy.Difference), math.Abs(a.Accuracy.Difference)), cmp.Compare(math.Abs(b.USD.Difference), math.Abs(a.USD.Difference)))
	})
	more := max(0, len(cells)-explainedCells)
	for _, c := range append(row.Cells[len(row.Cells)-1:], cells[:len(cells)-more]...) {
		for _, x := range []struct {
			what string
			compare.Move
			difference, band string
		}{
			{"accuracy %", c.Accuracy, difference(c.Accuracy, 1, "%+.2f"), noiseOf(c.Accuracy, 1, "%.2f")},
			{"$/question", c.USD, percent(c.USD), noiseOfUSD(c.USD)},
		} {
			if !x.Regressed() {
				continue
			}
			fmt.Fprintf(w, "  %s %s: %.4g -> %.4g, %s; noise: %s\n", c.Benchmark, x.what, x.Reference, x.Ours, x.difference, x.band)
		}
	}
	if more > 0 {
		fmt.Fprint(w, counted(more, "  and 1 more benchmark\n", "  and %d more benchmarks\n"))
	}
	var most []string
	for _, q := range row.Most[:min(len(row.Most), explainedMost)] {
		var how []string
		if q.Accuracy[0] != q.Accuracy[1] {
			how = append(how, fmt.Sprintf("%.3g%% -> %.3g%%", q.Accuracy[1], q.Accuracy[0]))
		}
		if q.USD[0] != q.USD[1] {
			how = append(how, fmt.Sprintf("$%.3g -> %.3g", q.USD[1], q.USD[0]))
		}
		if q.Chosen[0] != q.Chosen[1] {
			how = append(how, q.Chosen[1]+" -> "+q.Chosen[0])
		}
		if how == nil {
			how = []string{"other shares of its trainings"}
		}
		most = append(most, q.Problem+" ("+strings.Join(how, ", ")+")")
	}
	fmt.Fprintf(w, "  moved most: %s\n", strings.Join(most, ", "))
	set := ""
	if row.Arena != metrics.PaperArena {
		set = " --set " + row.Arena
	}
	fmt.Fprintf(w, "  see: %s%s --problem %s --row %s\n", look, set, row.Most[0].Problem, row.Row)
}

// alarm says in one line that a row moved.
func alarm(row compare.RowMove) string {
	avg := row.Cells[len(row.Cells)-1]
	return fmt.Sprintf("%s, %s: %s; %d of %d questions sent elsewhere, accuracy %s points, cost %s", row.Row, setName(row.Arena), runVerdict(row),
		row.Changed, row.Questions, difference(avg.Accuracy, 1, "%+.2f"), percent(avg.USD))
}

// runAlarms are the lines of annotations.
func runAlarms(r *compare.RunReport) []string {
	var out []string
	for _, s := range r.Gone {
		out = append(out, s+" is only in the other run")
	}
	for _, row := range r.Rows {
		if row.Regressed() {
			out = append(out, alarm(row))
		}
	}
	if len(r.Broken) > 0 {
		out = append(out, "the same recipe and inputs, other content: "+some(r.Broken, 4))
	}
	if r.Numbers != nil {
		out = append(out, accounts(r.Numbers.Regressions())...)
	}
	return out
}
