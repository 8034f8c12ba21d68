// The tables of the front page: a claim is a line with one number a cell, and what rows gain on real outcomes.

package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
)

// FrontSheet is the front page: the lines of the digest that have few words for it, and below them what rows of recorded
// answers gain. Nothing of it is longer than a line or two of a narrow column; DigestSheet has the rest.
func (o *Orderings) FrontSheet(file string, findings []Finding, rows []Row, measured *Measurements) (*report.Sheet, error) {
	f := &faults{file: file}
	claims := report.Grid{Head: []string{"The paper says", "Its own tables", "Real outcomes", "Language model", "Simulated"}, Widths: []float64{0.26, 0.14, 0.2, 0.2, 0.2}}
	s := &report.Sheet{Name: "front", Caption: "What the paper says, in its own tables and on our measurements.", Records: [][]string{{"says", "paper", "recorded", "language-model", "simulated"}}}
	for _, d := range o.Digest {
		if d.Front == "" {
			continue
		}
		of := o.tellings(d, findings, rows, f)
		cells := [][]string{d.frontPaper(findings, f), o.frontPools(of), o.frontModels(of), o.frontSimulated(of)}
		row, record := []report.Text{report.Say(upper(d.Front))}, []string{d.Front}
		for _, lines := range cells {
			row, record = append(row, report.Say(lines...)), append(record, strings.Join(lines, "; "))
		}
		claims.Rows, s.Records = append(claims.Rows, row), append(s.Records, record)
	}
	gains, err := o.gains(measured)
	if err != nil {
		f.add(0, "front", "%v", err)
	}
	s.Grids = []report.Grid{claims, o.frontGains(gains)}
	s.Notes = []string{
		yes + " holds or confirmed, " + no + " does not hold or refuted, " + open + " inconclusive, " + nothing + " no verdict. A count is of pools, or of the parts of a claim; mixed: no verdict has more than half of the pools. " +
			given + " assumed: it follows from a number that we put in, and what our rows show stands in brackets. untestable here: it takes a language model as the router. " + o.frontMargins(findings, rows) + o.aboutRules() + "Language model: " + aboutModels,
		"Gain: points of accuracy above a coin flip between two fixed experts that costs as much, mean over 19 budgets; " + yes + " or " + no + " where the 95% interval has no 0. Trained rows are taken over the whole curve of their knob, which may lie below where they stand.",
	}
	return s, f.err()
}

// frontMargins says what margins of ours verdicts on printed numbers, and on what stays where it is, rest on.
func (o *Orderings) frontMargins(findings []Finding, rows []Row) string {
	var printed []string
	stays, seen := "", ""
	for _, d := range o.Digest {
		if d.Front == "" {
			continue
		}
		for _, id := range d.Of {
			if i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == id && f.Margin > 0 }); i >= 0 {
				printed = append(printed, findings[i].Printed+" "+within(findings[i].Margin))
				if findings[i].Seen {
					seen = "We chose these margins after seeing a table of verdicts. "
				}
			}
			if i := slices.IndexFunc(rows, func(r Row) bool { return r.Ordering.ID == id && r.Ordering.Margin > 0 }); i >= 0 {
				stays = "What stays where it is does so " + within(rows[i].Ordering.Margin) + ". "
			}
		}
	}
	if printed == nil {
		return ""
	}
	return "A number that the paper prints is confirmed if our whole interval lies within a margin around it: " + strings.Join(printed, ", ") + ". " + stays + seen
}

// frontPaper is a line on the paper's own tables, with the number that they give if it is about one, or else of how many parts it is so.
func (d *DigestLine) frontPaper(findings []Finding, f *faults) []string {
	verdict, part := d.onPaper(findings, f)
	if part == "" {
		part = inParts(len(d.Paper), len(d.Paper))
	}
	text := verdict + part
	if verdict != NotCheckable && len(d.Paper) == 1 {
		for _, x := range findings {
			if number := strings.TrimPrefix(x.Recomputed, "difference "); x.ID == d.Paper[0] && number != "" {
				text += ", " + strings.ReplaceAll(number, " ", space)
			}
		}
	}
	return []string{marked(verdict, text)}
}

// atEqualCosts stands before a verdict at equal cost.
const atEqualCosts = "at equal cost: "

// frontPools is a cell of the front page on recorded answers: of the main rows, and of the router by each other rule.
func (o *Orderings) frontPools(of []telling) []string {
	lines := frontRecorded(o.perPool(of, Scale.pool))
	for _, rule := range o.rules() {
		if some := o.perPool(of, by(rule)); slices.ContainsFunc(some, told.ran) {
			for _, line := range frontRecorded(some) {
				lines = append(lines, led(rule, line))
			}
		}
	}
	return lines
}

// led puts what a line is about behind its mark.
func led(about, line string) string {
	mark, text, _ := strings.Cut(line, space)
	if strings.HasPrefix(text, atEqualCosts) {
		return mark + space + about + ", " + text
	}
	return mark + space + about + ": " + text
}

// frontRecorded is the verdict that more than half of the pools have, and on how many of them; it says so if none has.
func frontRecorded(pools []told) []string {
	if len(pools) == 0 {
		return []string{nothing}
	}
	say := func(of func(told) string, before string) string {
		counts, last := map[string]int{}, told{}
		for _, t := range pools {
			counts[of(t)]++
			last = t
		}
		for verdict, n := range counts {
			if 2*n <= len(pools) {
				continue
			}
			text := fmt.Sprintf("%s on %d of %d", verdict, n, len(pools))
			switch {
			case last.shows == "":
				return marked(verdict, before+text)
			case last.verdict == Untestable: // what a small network shows is no verdict on a language model
				return marked(Untestable, Untestable)
			}
			return marked(last.verdict, before+last.verdict+" ("+text+")")
		}
		if last.verdict == Untestable {
			return marked(Untestable, Untestable)
		}
		some := Confirmed
		if counts[Confirmed] == 0 && counts[Refuted] > 0 {
			some = Refuted
		}
		return marked(Inconclusive, before+fmt.Sprintf("mixed: %s on %d of %d", some, counts[some], len(pools)))
	}
	lines := []string{say(told.decides, "")}
	for _, t := range pools {
		if t.equal == "" || t.verdict == Untestable {
			return lines
		}
	}
	return append(lines, say(func(t told) string { return t.equal }, atEqualCosts))
}

// frontSimulated is a line on simulated experts, with its number if it has one, or else of how many parts it is so.
func (o *Orderings) frontSimulated(of []telling) []string {
	t, ok := o.resolved(of)
	if !ok {
		return nil
	}
	text := t.words(t.parts())
	if len(t.numbers) == 1 && t.verdict != NotRun {
		text += ", " + strings.ReplaceAll(t.numbers[0].brief, " ", space)
	}
	lines := []string{marked(t.verdict, text)}
	if t.equal != "" && t.shows == "" {
		lines = append(lines, marked(t.equal, atEqualCosts+t.equal))
	}
	return lines
}

// gains are what the rows of the front page gain over coin flips on each pool of recorded answers, the mean over budgets with its interval.
func (o *Orderings) gains(measured *Measurements) (rows []report.IntervalsRow, err error) {
	for _, scale := range o.Scales {
		experiment, ok := scale.experiment("main")
		if !ok || !scale.pool() {
			continue
		}
		row := report.IntervalsRow{Label: scale.Title}
		for _, r := range o.Front {
			m, _, err := measured.find(experiment, scale, Place{"method": r.Method, "benchmark": scale.average()})
			if err != nil {
				return nil, err
			}
			var of *metrics.Value
			if v, ok := m.Value(meanGain); ok {
				of = &v
			}
			row.Values = append(row.Values, of)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// frontGains is the table of gains.
func (o *Orderings) frontGains(gains []report.IntervalsRow) report.Grid {
	g := report.Grid{Title: "Mean gain on real outcomes, in points", Head: []string{"Pool"}, Widths: []float64{0.22}}
	for _, r := range o.Front {
		g.Head, g.Widths = append(g.Head, r.Title), append(g.Widths, 0.78/float64(len(o.Front)))
	}
	verdicts := map[int]string{1: Confirmed, 0: Inconclusive, -1: Refuted}
	for _, of := range gains {
		row := []report.Text{report.Say(of.Label)}
		for _, v := range of.Values {
			cell := ""
			if v != nil {
				cell = marked(verdicts[v.Side()], report.Fixed(v.Number, 2))
			}
			row = append(row, report.Say(cell))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// FrontFigure draws the gains of the front page with their intervals, in points of accuracy: a panel a row, a line a pool; nil if no pool of
// recorded answers was measured. Measurements that are there twice are an error.
func (o *Orderings) FrontFigure(measured *Measurements) (*report.Figure, error) {
	l := report.IntervalsLayout{
		Name: "gains", Axis: "Points of accuracy above a coin flip between two fixed experts for the same money",
		Caption: "What routers gain on stored answers of real models: points of accuracy above a coin flip between two fixed experts that costs as much, mean over 19 budgets, with 95% intervals over questions and partitions.",
	}
	for _, r := range o.Front {
		l.Columns = append(l.Columns, r.Title)
	}
	var err error
	if l.Rows, err = o.gains(measured); err != nil {
		return nil, err
	}
	l.Rows = slices.DeleteFunc(l.Rows, func(r report.IntervalsRow) bool {
		return !slices.ContainsFunc(r.Values, func(v *metrics.Value) bool { return v != nil })
	})
	if len(l.Rows) == 0 {
		return nil, nil
	}
	return report.Intervals(l)
}

// frontModels is a cell of the front page on language models, by which of their weights were trained: of each, the verdict that more than
// half of the pools have.
func (o *Orderings) frontModels(of []telling) (lines []string) {
	for _, weights := range o.trained() {
		if some := o.perPool(of, training(weights)); len(some) > 0 {
			for _, line := range frontRecorded(some) {
				if line = led(weights, line); !strings.Contains(line, ": "+NotRun) {
					lines = append(lines, strings.TrimSuffix(line, " on 1 of 1"))
				}
			}
		}
	}
	if lines == nil {
		return []string{nothing}
	}
	return lines
}
