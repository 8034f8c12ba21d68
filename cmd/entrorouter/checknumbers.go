// How measured numbers moved against a reference: in words, as JSON and as annotations.

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness"
	"github.com/entrorouter/entrorouter/harness/compare"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// writeCheck prints a readable account, row by row: what moved by more than noise, causes first, in full what moved inside it too;
// --json has every number.
func writeCheck(w io.Writer, r *compare.NumbersReport, of *spec.Resolved, against string, paper, full bool) {
	how := r.How()
	if paper {
		how = "where rows that always ask one expert are held against the question variance and the others are reported"
	}
	regressions, noise, ungated := r.Regressions(), r.Noise(), r.Ungated()
	same := r.Same()
	repeats := ""
	if slices.ContainsFunc(r.Changes, func(c metrics.Change) bool { return c.Gate == metrics.Exact || c.Gate == metrics.Golden }) {
		repeats = "; every number that must repeat itself does"
	}
	where, lacks := "", ""
	if n := len(r.Added); n > 0 {
		where = " in the numbers that it has"
		lacks = counted(n, "1 of our numbers is not in the reference; ", "%d of our numbers are not in the reference; ")
	}
	switch {
	case len(regressions) > 0:
		roots, follow := causesFirst(rowsOf(regressions), of)
		fmt.Fprintf(w, "%s moved against %s by more than noise: %s.\n", r.Experiment, against, some(slices.Concat(roots, follow), 8))
		if len(follow) > 0 && len(roots) > 0 {
			fmt.Fprintf(w, "Look first at: %s. Set to spend what these do, and so likely to follow: %s.\n", some(roots, 8), some(follow, 8))
		}
		slices.SortStableFunc(regressions, func(a, b metrics.Change) int {
			one, _ := a.Place()
			two, _ := b.Place()
			return cmp.Compare(slices.Index(follow, one), slices.Index(follow, two)) // -1: a root
		})
	case len(noise) > 0:
		fmt.Fprintf(w, "%s has not moved by more than noise against %s%s%s.\n", r.Experiment, against, where, repeats)
	case len(ungated) > 0:
		fmt.Fprintf(w, "%s moved against %s in %d numbers, none of which can be judged%s.\n", r.Experiment, against, len(ungated), repeats)
	default:
		fmt.Fprintf(w, "%s has not moved against %s%s.\n", r.Experiment, against, where)
	}
	fmt.Fprintf(w, "%d numbers compared %s: %d the same, %d moved inside the noise, %d moved and are not judged; %sregressions: %d.\n",
		len(r.Changes), how, same, len(noise), len(ungated), lacks, len(regressions))
	if rows := countedRows(r.Added); len(rows) > 0 {
		if !full {
			rows = firsts(rows, 8)
		}
		fmt.Fprintf(w, "Not in the reference, and so held against nothing: %s; --json lists them.\n", strings.Join(rows, ", "))
	}
	if len(r.OtherData) > 0 {
		fmt.Fprintf(w, "Other data than the reference's, by SHA-256: %s.\n", strings.Join(r.OtherData, ", "))
	}
	reasons, count := r.Unjudged()
	if len(reasons) > 0 && !paper && !full {
		var of []string
		for _, why := range reasons {
			of = append(of, fmt.Sprintf("%s %d", why.What, count[why]))
		}
		fmt.Fprintf(w, "Not judged: %s; --full says why.\n", strings.Join(of, ", "))
	}
	if full {
		byRow(w, "More than noise:", regressions, 5, 4)
	} else {
		byRow(w, "More than noise:", regressions, 3, 2)
	}
	if n := len(slices.DeleteFunc(slices.Clone(regressions), func(c metrics.Change) bool { return !c.Lost })); n > 0 {
		fmt.Fprintf(w, "\n%s lost in the reference: a line of it is damaged or gone. Get it again, or write it anew with --update.\n", counted(n, "1 number is", "%d numbers are"))
	}
	if full {
		byRow(w, "Inside the noise, of each row the nearest to its edge:", noise, 10, 1)
		if len(reasons) > 0 {
			fmt.Fprintf(w, "\nNot judged, and why; --json lists each number with its reason:\n")
		}
		for _, why := range reasons {
			fmt.Fprintf(w, "  %d %s: %s\n", count[why], why.What, why.Why)
		}
	}
	if paper {
		byRow(w, "Rows of routers, which decide nothing:", ungated, len(ungated), len(ungated))
	}
}

// rowsOf lists the rows that changes belong to.
func rowsOf(changes []metrics.Change) (rows []string) {
	for _, c := range changes {
		if row, _ := c.Place(); !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// countedRows lists the rows that changes belong to, each with how many they are.
func countedRows(changes []metrics.Change) (rows []string) {
	count := map[string]int{}
	for _, c := range changes {
		row, _ := c.Place()
		count[row]++
	}
	for _, row := range rowsOf(changes) {
		rows = append(rows, fmt.Sprintf("%s %d", row, count[row]))
	}
	return rows
}

// causesFirst divides rows that moved into those that moved by themselves and those that are set to spend what one of these spends.
func causesFirst(rows []string, of *spec.Resolved) (roots, follow []string) {
	for _, id := range rows {
		if m, ok := of.Experiment.Row(id); ok && m.Match != "" && slices.Contains(rows, m.Match) {
			follow = append(follow, id)
		} else {
			roots = append(roots, id)
		}
	}
	return roots, follow
}

// byRow lists changes by row: some rows, of each some changes.
func byRow(w io.Writer, head string, of []metrics.Change, rows, each int) {
	if len(of) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", head)
	if each > 1 {
		of = tellingFirst(of)
	}
	all := rowsOf(of)
	shown := 0
	for _, row := range all[:min(rows, len(all))] {
		n := 0
		for _, c := range of {
			if at, place := c.Place(); at == row {
				if n++; n == 1 {
					fmt.Fprintf(w, "  %s\n", row)
				}
				if n <= each {
					shown++
					fmt.Fprintf(w, "    %s %s\n", strings.Join(place, " "), moveOf(c))
				}
			}
		}
		if n > each {
			fmt.Fprintf(w, "    and %d more\n", n-each)
		}
	}
	if len(all) > rows {
		fmt.Fprintf(w, "  and %d more: %s\n", len(all)-rows, some(all[rows:], 12))
	}
	if shown < len(of) {
		fmt.Fprintln(w, "  --json lists every number")
	}
}

// tellingFirst orders changes: averages, then benchmarks, then what has no accuracy.
func tellingFirst(of []metrics.Change) []metrics.Change {
	rank := func(c metrics.Change) int {
		switch {
		case !strings.HasPrefix(c.Label, "Route/"):
			return 2
		case !strings.Contains(c.Label, "/benchmark="+metrics.Average) && !strings.Contains(c.Label, "/benchmark="+metrics.BothStrata):
			return 1
		}
		return 0
	}
	return slices.SortedStableFunc(slices.Values(of), func(a, b metrics.Change) int { return cmp.Compare(rank(a), rank(b)) })
}

// account says in one line what moved, by how much and whether that is noise.
func account(c metrics.Change) string {
	row, place := c.Place()
	return row + " " + strings.Join(place, " ") + " " + moveOf(c)
}

// accounts are the accounts of changes, of each row one, then of each another: those who read a few see as many rows.
func accounts(of []metrics.Change) (lines []string) {
	byRow := map[string][]metrics.Change{}
	of = tellingFirst(of)
	rows := rowsOf(of)
	for _, c := range of {
		row, _ := c.Place()
		byRow[row] = append(byRow[row], c)
	}
	for n := 0; len(lines) < len(of); n++ {
		for _, row := range rows {
			if n < len(byRow[row]) {
				lines = append(lines, account(byRow[row][n]))
			}
		}
	}
	return lines
}

// moveOf says by how much a number moved and whether that is noise.
func moveOf(c metrics.Change) string {
	if c.Missing && c.Why != "" {
		return fmt.Sprintf("%s: %g in the reference, not defined now: %s", c.Unit, c.Reference, c.Why)
	}
	if c.Missing {
		return fmt.Sprintf("%s: %g in the reference, not measured now", c.Unit, c.Reference)
	}
	if c.Lost {
		return fmt.Sprintf("%s: %g now, not in the reference, which has the like", c.Unit, c.Ours)
	}
	says := strings.TrimPrefix(c.Verdict(), "regression: ") // which the heading says
	s := fmt.Sprintf("%s: %g -> %g (%+.4g", c.Unit, c.Reference, c.Ours, c.Ours-c.Reference)
	if b, ok := c.Allowed(); ok {
		s += fmt.Sprintf("; noise is up to %.4g", b)
	}
	return s + "; " + says + ")"
}

func writeCheckJSON(w io.Writer, r *compare.NumbersReport, result *harness.Result, against string) error {
	return writeJSON(w, struct {
		*compare.NumbersReport
		Against  string  `json:"against"`
		Steps    int     `json:"steps"`
		Stored   int     `json:"stored"` // steps that were not carried out again
		Compared int     `json:"compared"`
		Moved    []moved `json:"moved"`            // everything that is not the same
		Added    []added `json:"not_in_reference"` // and so held against nothing
	}{r, against, result.Steps, result.Stored, len(r.Changes), movedNumbers(r), addedNumbers(r)})
}

// added is a number of ours that the reference does not have, as a line of JSON.
type added struct {
	Label string  `json:"label"`
	Unit  string  `json:"unit"`
	Ours  float64 `json:"ours"`
}

func addedNumbers(r *compare.NumbersReport) []added {
	out := []added{}
	for _, c := range r.Added {
		out = append(out, added{c.Label, c.Unit, c.Ours})
	}
	return out
}

// moved is a change as a line of JSON.
type moved struct {
	Label     string   `json:"label"`
	Unit      string   `json:"unit"`
	Ours      *float64 `json:"ours"`      // null: not measured
	Reference *float64 `json:"reference"` // null: lost
	Gate      string   `json:"gate"`
	Band      *float64 `json:"band"` // null: nothing says what is noise
	Verdict   string   `json:"verdict"`
	Reason    string   `json:"reason,omitempty"` // why it is not judged
}

func movedNumbers(r *compare.NumbersReport) []moved {
	out := []moved{}
	for _, c := range r.Changes {
		if !c.Differs() {
			continue
		}
		m := moved{Label: c.Label, Unit: c.Unit, Gate: string(c.Gate), Verdict: c.Verdict()}
		if !c.Missing {
			m.Ours = &c.Ours
		}
		if !c.Lost {
			m.Reference = &c.Reference
		}
		if b, ok := c.Allowed(); ok {
			m.Band = &b
		}
		if c.Reason != (metrics.Reason{}) {
			m.Reason = c.Reason.String()
		}
		out = append(out, m)
	}
	return out
}

// annotate writes GitHub workflow commands, of which ten a step are shown.
func annotate(w io.Writer, alarms []string) {
	escape := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for i, a := range alarms {
		if i == 9 && len(alarms) > 10 {
			fmt.Fprintf(w, "::error title=entrorouter check::and %d more\n", len(alarms)-9)
			return
		}
		fmt.Fprintf(w, "::error title=entrorouter check::%s\n", escape.Replace(a))
	}
}

// writeStored says how much of an experiment was not carried out, which no change of the program can have moved.
func writeStored(w io.Writer, r *harness.Result, out string) error {
	if r.Stored == 0 {
		return nil
	}
	steps := fmt.Sprintf("%d of %d steps were", r.Stored, r.Steps)
	if r.Stored == r.Steps {
		steps = counted(r.Steps, "The one step was", "All %d steps were")
	}
	_, err := fmt.Fprintf(w, "\n%s in %s already and were not carried out again; to see what a change of the program does, use an empty --out.\n", steps, out)
	return err
}
