// The tables of claims and verdicts as sheets to print.

package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/report"
)

// ClaimsSheet is the table of claims and of the checks of whole tables.
func ClaimsSheet(findings []Finding) *report.Sheet {
	s := &report.Sheet{
		Name:    "claims",
		Caption: "What the paper says in numbers, recomputed from its own tables.",
		Notes: []string{
			"Tolerance: half a unit of the last printed digit, and what the rounding of the cells behind the number can hide.",
		},
		Records: [][]string{{"id", "source", "says", "printed", "recomputed", "tolerance", "verdict", "recorded", "reason"}},
	}
	claimed := report.Grid{Head: []string{"Claim", "Printed", "Recomputed", "Verdict", "Reason"}, Widths: []float64{0.33, 0.09, 0.14, 0.12, 0.32}}
	ours := report.Grid{Title: "Our measurements", Head: []string{"Experiment", "Fit", "Verdict", "Cells that do not, and what was not tried"}, Widths: []float64{0.22, 0.12, 0.12, 0.54}}
	whole := report.Grid{Title: "Whole tables", Head: []string{"Check", "Fit", "Verdict", "Cells that do not, and why"}, Widths: []float64{0.34, 0.08, 0.12, 0.46}}
	counts := map[string]int{}
	differs := 0
	for _, f := range findings {
		recorded, verdict := cmp.Or(f.Differs, f.Verdict), f.asRecorded()
		if f.Differs != "" {
			differs++
		}
		s.Records = append(s.Records, []string{f.ID, f.Source, f.Says, f.Printed, f.Recomputed, f.Tolerance, f.Verdict, recorded, f.Reason})
		if f.Measured {
			ours.Rows = append(ours.Rows, []report.Text{report.Say(f.ID), report.Say(f.Recomputed), verdict, report.Say(f.Reason)})
			continue
		}
		if f.Table {
			whole.Rows = append(whole.Rows, []report.Text{report.Say(upper(f.ID)), report.Say(f.Recomputed), verdict, report.Say(f.Reason)})
			continue
		}
		counts[f.Verdict]++
		claimed.Rows = append(claimed.Rows, []report.Text{f.sentence(), report.Say(f.Printed), report.Say(f.Recomputed, f.Tolerance), verdict, report.Say(f.Reason)})
	}
	if slices.ContainsFunc(findings, func(f Finding) bool { return f.Ours != nil }) {
		s.Notes[0] += " What the claims come to on our measurements is in claims-measured.md."
	}
	unit := ""
	if n := counts[WrongUnit]; n > 0 {
		unit = fmt.Sprintf(" %d in another unit alone,", n)
	}
	claimed.Title = fmt.Sprintf("Claims: %d hold,%s %d do not, %d cannot be checked", counts[Holds], unit, counts[Mismatch], counts[NotCheckable])
	if differs > 0 {
		s.Notes = append([]string{fmt.Sprintf("Verdicts that are not the recorded ones: %d.", differs)}, s.Notes...)
	}
	if len(ours.Rows) > 0 {
		s.Notes = append(s.Notes, "Our measurements: percentages are those of their counts of answers (whole numbers of right ones over all runs and seeds, but for rows scored by expectation), and averages follow from their rows. "+
			"Rows without counts, of the larger set and of folds, are tried for their averages alone.")
	}
	for _, g := range []report.Grid{claimed, whole, ours} {
		if len(g.Rows) > 0 {
			s.Grids = append(s.Grids, g)
		}
	}
	return s
}

func (f Finding) sentence() report.Text {
	return report.Say(upper(f.Says)+".", "("+f.Source+")")
}

// asRecorded is the verdict, and below it the recorded one where that is another.
func (f Finding) asRecorded() report.Text {
	verdict := report.Text{Lead: f.Verdict}
	if f.Differs != "" {
		verdict.Lines = []string{"not as recorded: " + f.Differs}
	}
	return verdict
}

// MeasuredSheet is the table of claims on our measurements, a column a scale.
func (o *Orderings) MeasuredSheet(findings []Finding) *report.Sheet {
	s := &report.Sheet{
		Name:    "claims-measured",
		Caption: "What the paper says in numbers, on our measurements.",
		Notes: []string{
			"A printed number is confirmed if our whole interval lies within a margin of it, refuted if all of it lies outside, and inconclusive otherwise; margins and their reasons are in claims-measured.csv. A comparison is confirmed if the interval of the difference lies on the side that the claim names; of one with several rows the least favourable part decides and is named. " +
				"In brackets 95% intervals over questions and, where rows were trained, over training seeds; \"trained once\" marks where there is one, which decides nothing.",
			"untestable here: without a language model; assumed: it follows from a stated parameter of the simulation; what our rows show stands below. Simulated experts are calibrated to the paper's fixed-expert rows and to nothing else; recorded answers are of real models, mostly other ones, at other prices.",
		},
		Records: [][]string{{"id", "source", "says", "printed", "recomputed", "on-paper", "scale", "verdict", "shows", "why", "value", "low", "high", "unit", "against", "questions", "seeds", "reason"}},
	}
	scales := o.scalesOfClaims()
	var stated []Finding
	for _, f := range findings {
		if f.Ours == nil {
			continue
		}
		stated = append(stated, f)
		for _, on := range f.Ours {
			if on.Value == nil && on.Verdict == "" {
				continue
			}
			seeds, questions := on.Value.counts()
			record := append([]string{f.ID, f.Source, f.Says, f.Printed, f.Recomputed, f.Verdict, on.Scale.ID, on.Verdict, on.Shows, on.Why}, digits(on.Value)...)
			s.Records = append(s.Records, append(record, strings.TrimSpace(on.Unit), on.Against, questions, seeds, f.OursReason))
		}
	}
	for _, of := range []struct {
		title string
		has   func(Scale) bool
	}{{"On simulated experts", Scale.own}, {"On recorded answers", func(s Scale) bool { return s.Kind == kindRecorded }}, {"With a language model as the router", Scale.model}} {
		var some []int
		for i, scale := range scales {
			if of.has(scale) {
				some = append(some, i)
			}
		}
		for chunk := range slices.Chunk(some, abreast) {
			if g := claimsGrid(of.title, scales, stated, chunk); len(g.Rows) > 0 {
				s.Grids = append(s.Grids, g)
			}
		}
	}
	return s
}

// claimsGrid is the claims that mean something on some scales.
func claimsGrid(title string, scales []Scale, findings []Finding, some []int) report.Grid {
	g := report.Grid{Title: title, Head: []string{"Claim", "Printed", "In its tables"}, Widths: []float64{0.26, 0.08, 0.12}}
	for _, i := range some {
		g.Head = append(g.Head, scales[i].Title)
		g.Widths = append(g.Widths, min(0.24, 0.54/float64(len(some))))
	}
	for _, f := range findings {
		if !slices.ContainsFunc(some, func(i int) bool { return f.Ours[i].Verdict != "" || f.Ours[i].Value != nil }) {
			continue
		}
		row := []report.Text{f.sentence(), report.Say(f.Printed), report.Say(f.Recomputed, f.Verdict)}
		for _, i := range some {
			row = append(row, f.Ours[i].cell())
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func (s OnScale) cell() report.Text {
	t := report.Text{Lead: s.Verdict, Lines: because(s.Shows, s.Why)}
	if s.Value == nil {
		return t
	}
	text := s.text()
	if s.Against != "" {
		text = "beside " + s.Against + ": " + text
	}
	t.Lines = append(t.Lines, text)
	t.Lines = append(t.Lines, s.Value.trainings()...)
	return t
}

// text prints the number with its interval and unit.
func (s OnScale) text() string {
	decimals := 2
	if s.Unit == " $" {
		decimals = 4
	}
	if s.Value.Bounded {
		decimals = s.Value.decimals(decimals)
	}
	text, unit := report.Fixed(s.Value.Number, decimals), s.Unit
	if strings.HasPrefix(unit, "%") {
		text, unit = text+"%", unit[1:]
	}
	if s.Value.Bounded {
		text += " [" + report.Fixed(s.Value.Low, decimals) + ", " + report.Fixed(s.Value.High, decimals) + "]"
	}
	return text + unit
}

// Sheet is the table of orderings, a line a scale.
func (o *Orderings) Sheet(rows []Row, measured *Measurements) *report.Sheet {
	s := &report.Sheet{
		Name:    "verdicts",
		Caption: "Every ordering that the paper states, on our measurements.",
		Records: [][]string{{"id", "section", "source", "says", "metric", "is", "benchmark", "paper", "paper-has-it", "scale", "verdict", "shows", "why",
			"difference", "low", "high", "paired", "seeds", "pools", "confirmed-on", "cost-difference", "cost-low", "cost-high", "equal-cost", "equal-cost-low", "equal-cost-high", "p", "p-holm", "p-fdr", "detectable", "questions", "reason", "missing"}},
		Notes: []string{
			"Differences are of the first row named minus the second, in points of accuracy or of hull gain, or in percent of the strongest expert's cost; in brackets their interval. On simulated scales and recorded answers it holds the spread over questions, at the confidence of the measurements (95% in the built-in specs), and, where rows were trained, that over training seeds, a 95% t interval (on recorded answers that over partitions, or of what trainings go through over folds, widened since they share their questions); \"trained once\" marks where there is one, which decides nothing. " +
				"Of training curves and of the small environment, in nats or percent, it is the 95% t interval of the differences seed by seed, and of fewer than two seeds there is none. " +
				"cost: the difference in cost. equal cost: how far the row that is to be above lies, at its own cost, above the best coin between the other row, at any setting of its knob, and the fixed experts (below 0 the other way round). An accuracy that comes with a cost was bought. Trade-offs are compared by that number alone: the row that leads where it stands has the better one, unless the other leads as well; the greater of both leads is printed, with a minus where it is the second row's.",
			"untestable here: without a language model, since the sentence is about what a part does to one in fine-tuning; what our small policy shows stands below it. assumed: the order follows from a stated parameter of the simulation. one pool: which of two routers that learn is ahead on one simulated pool says nothing of another. Over an ensemble of pools: confirmed where it is so on at least 95% of them, refuted where on at most 5%; the number is the median, in brackets the least and the greatest, of one training a pool. not run: there is no measurement.",
			aboutTests,
			fmt.Sprintf("On simulated scales the experts are simulated, calibrated to the paper's fixed-expert rows and to nothing else. Measurements read: %s.", experiments(measured)),
		},
	}
	s.Notes = append(s.Notes, o.reasons()...)
	s.Grids = append(s.Grids, o.summary(rows))
	for i := range o.Sections {
		section := &o.Sections[i]
		var mine []Row
		for _, r := range rows {
			if r.Section == section {
				mine = append(mine, r)
				s.Records = append(s.Records, records(r)...)
			}
		}
		if mine == nil {
			continue
		}
		s.Grids = append(s.Grids, sectionGrid(section.Title, mine))
	}
	return s
}

// reasons says, section by section, why differences decide nothing.
func (o *Orderings) reasons() []string {
	var notes []string
	for _, s := range o.Sections {
		var why []string
		for _, x := range s.Orderings {
			for _, kind := range kinds {
				if r, ok := x.on(kind, s.Table); ok && r.Needs != "" && !slices.Contains(why, r.Reason) {
					why = append(why, r.Reason)
				}
			}
			if x.Needs != "" && !slices.Contains(why, x.Reason) {
				why = append(why, x.Reason)
			}
		}
		if len(why) > 0 {
			notes = append(notes, s.Title+": "+strings.Join(why, " "))
		}
	}
	return notes
}

func experiments(measured *Measurements) string {
	if found := measured.Experiments(); len(found) > 0 {
		return strings.Join(found, ", ")
	}
	return "none"
}

// Short is the table of orderings in words alone, for a reader in a hurry: of our own scales the one that resolves most,
// the last that has a measurement. The orderings that recorded answers have stand again below, a mark for each pool.
func (o *Orderings) Short(rows []Row) *report.Sheet {
	s := &report.Sheet{
		Name:    "verdicts-short",
		Caption: "Every ordering that the paper states, in words. Numbers, intervals and reasons: verdicts.md.",
		Notes: []string{
			"Simulated: the ensemble of pools, or else the larger set, the sizes of the paper or the small environment. At equal cost: whether the row that should lead is more accurate than the best coin flip that costs as much, between the fixed experts and the other row at any setting of its knob. level: the same to the last digit, as of two routers that decide alike.",
			"untestable here: without a language model; assumed: follows from a stated parameter of the simulation; what our rows show is in brackets.",
			"Left after Holm and FDR: of the row's verdicts on all scales that confirm or refute, how many survive that many verdicts are given at once, adjusted within a section and scale, and over all. How: verdicts.md.",
			"Real outcomes and language models: " + yes + " confirmed, " + no + " refuted, = inconclusive since level, " + open + " inconclusive, in brackets where it is untestable here.",
		},
		Records: [][]string{{"id", "simulated", "equal-cost", "left"}},
	}
	if once := trainedOnce(rows); once != "" {
		s.Notes = append(s.Notes, once)
	}
	own := report.Grid{Head: []string{"Ordering", "Simulated", "At equal cost", "Left after Holm and FDR"}, Widths: []float64{0.5, 0.2, 0.17, 0.13}}
	marked := []*markGrid{o.marks("On real outcomes", Scale.pool)}
	for _, rule := range o.rules() {
		marked = append(marked, o.marks("On real outcomes, "+rule, by(rule)))
	}
	marked = append(marked, o.marks("With a language model as the router", Scale.model))
	for _, m := range marked {
		for _, i := range m.scales {
			s.Records[0] = append(s.Records[0], o.Scales[i].ID)
		}
	}
	sections := map[*report.Grid]*Section{}
	add := func(g *report.Grid, r Row, cells []string) {
		if sections[g] != r.Section {
			sections[g] = r.Section
			heading := make([]report.Text, len(g.Head))
			heading[0].Lead = r.Section.Title
			g.Rows = append(g.Rows, heading)
		}
		says := upper(r.Ordering.Says) + "."
		if !r.PaperHas {
			says += " (Not so in its own table.)"
		}
		row := []report.Text{report.Say(says)}
		for _, c := range cells {
			row = append(row, report.Say(c))
		}
		g.Rows = append(g.Rows, row)
	}
	for _, r := range rows {
		j := resolving(r.Judged)
		cells := []string{j.phrase(), j.atEqualCost(), survivors(r.Judged)}
		add(&own, r, cells)
		for _, m := range marked {
			var marks []string
			for _, i := range m.scales {
				marks = append(marks, r.Judged[i].mark())
				cells = append(cells, r.Judged[i].phrase())
			}
			if slices.ContainsFunc(marks, func(m string) bool { return m != "" }) {
				add(&m.Grid, r, marks)
			}
		}
		s.Records = append(s.Records, append([]string{r.Ordering.ID}, cells...))
	}
	s.Grids = []report.Grid{own}
	for _, m := range marked {
		if len(m.Rows) > 0 {
			s.Grids = append(s.Grids, m.Grid)
		}
	}
	return s
}

// markGrid is a grid with a column of marks for each of some scales.
type markGrid struct {
	report.Grid
	scales []int // their places in the list
}

// marks is an empty grid for the scales of which has is true. Its title numbers them, since their titles would leave no room for the orderings.
func (o *Orderings) marks(title string, has func(Scale) bool) *markGrid {
	m := &markGrid{Grid: report.Grid{Title: title, Head: []string{"Ordering"}, Widths: []float64{0.64}}}
	for i, scale := range o.Scales {
		if has(scale) {
			m.scales = append(m.scales, i)
			n := strconv.Itoa(len(m.scales))
			m.Head = append(m.Head, n)
			m.Title += map[bool]string{true: ": ", false: ", "}[n == "1"] + n + " " + scale.Title
		}
	}
	for range m.scales {
		m.Widths = append(m.Widths, 0.36/float64(len(m.scales)))
	}
	return m
}

// mark is a verdict in one sign, in brackets where it decides nothing; empty: nothing is stated there.
func (j Judged) mark() string {
	if j.Verdict == NotStated {
		return ""
	}
	verdict := cmp.Or(j.Shows, j.Verdict)
	mark, ok := marks[verdict]
	switch {
	case !ok:
		return nothing
	case j.Why == whyLevel:
		mark = "="
	}
	if j.Shows != "" {
		mark = "(" + mark + ")"
	}
	return mark
}

// resolving returns the last of our own scales with a measurement, or else the last with rows.
func resolving(all []Judged) Judged {
	best := Judged{}
	for _, j := range all {
		if j.Scale.own() && j.Verdict != NotStated && (j.Delta != nil || best.Delta == nil) {
			best = j
		}
	}
	return best
}

// trainings says what an interval leaves out of the trainings behind it.
func (c Contrast) trainings() []string {
	if c.Once {
		return []string{"trained once"}
	}
	return nil
}

// phrase is a verdict, and in brackets what the rows show where that decides nothing.
func (j Judged) phrase() string {
	says := slices.DeleteFunc([]string{j.Shows, j.Why}, func(s string) bool { return s == "" })
	if len(says) == 0 {
		return j.Verdict
	}
	return j.Verdict + " (" + strings.Join(says, ", ") + ")"
}

// atEqualCost is the verdict at equal cost, in brackets where it decides nothing.
func (j Judged) atEqualCost() string {
	switch {
	case j.AtEqual == "":
		return ""
	case j.Shows != "" && j.Equal.Told.why(j.AtEqual) != "":
		return "(" + j.AtEqual + ", " + whyLevel + ")"
	case j.Shows != "":
		return "(" + j.AtEqual + ")"
	case j.Equal.Told.why(j.AtEqual) != "":
		return j.AtEqual + " (" + whyLevel + ")"
	}
	return j.AtEqual
}

// verdictWords are the verdicts in the order of the summary; wordWidths is the room that each has at the head of a printed column.
var (
	verdictWords = []string{Confirmed, Refuted, Inconclusive, Untestable, Assumed, NotRun}
	wordWidths   = []float64{0.098, 0.08, 0.12, 0.102, 0.085, 0.06}
)

// tally counts verdicts by scale; those of a scale are in the order of o.Scales.
func (o *Orderings) tally(title string, given func(scale int) []string) report.Grid {
	g := report.Grid{Title: title, Head: []string{"Scale"}, Widths: []float64{0.27}}
	g.Head, g.Widths = append(g.Head, verdictWords...), append(g.Widths, wordWidths...)
	for i, scale := range o.Scales {
		counts := map[string]int{}
		for _, verdict := range given(i) {
			counts[verdict]++
		}
		row := []report.Text{report.Say(scale.Title)}
		for _, w := range verdictWords {
			row = append(row, report.Say(strconv.Itoa(counts[w])))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func (o *Orderings) summary(rows []Row) report.Grid {
	g := o.tally(fmt.Sprintf("Verdicts on %d orderings", len(rows)), func(scale int) (given []string) {
		for _, r := range rows {
			given = append(given, r.Judged[scale].Verdict)
		}
		return given
	})
	g.Head = append(g.Head, "left after Holm and FDR")
	g.Widths = append(g.Widths, 0.16)
	for i := range g.Rows {
		var here []Judged
		for _, r := range rows {
			here = append(here, r.Judged[i])
		}
		g.Rows[i] = append(g.Rows[i], report.Say(survivors(here)))
	}
	return g
}

// summaryOfClaims counts the verdicts on the paper's numbers and comparisons in words; false if there are none.
func (o *Orderings) summaryOfClaims(findings []Finding) (report.Grid, bool) {
	given, claims := map[string][]string{}, 0
	for _, f := range findings {
		judged := false
		for _, on := range f.Ours {
			if on.Verdict != NotStated {
				given[on.Scale.ID], judged = append(given[on.Scale.ID], on.Verdict), true
			}
		}
		if judged {
			claims++
		}
	}
	g := o.tally(fmt.Sprintf("Verdicts on %d claims", claims), func(scale int) []string { return given[o.Scales[scale].ID] })
	for i := len(o.Scales) - 1; i >= 0; i-- {
		if given[o.Scales[i].ID] == nil {
			g.Rows = slices.Delete(g.Rows, i, i+1)
		}
	}
	return g, claims > 0
}

// abreast is how many scales stand side by side in a grid, so that a page can hold it.
const abreast = 4

// sectionGrid is a section: under each ordering the paper's numbers, and a line for each scale that has its rows.
func sectionGrid(title string, rows []Row) report.Grid {
	g := report.Grid{Title: title,
		Head:   []string{"Ordering, scale", "Verdict", "Difference", "At equal cost", "n", "Detectable", "p", "Holm", "FDR"},
		Widths: []float64{0.195, 0.13, 0.16, 0.14, 0.06, 0.104, 0.07, 0.07, 0.07}}
	for _, r := range rows {
		line := func(first report.Text) []report.Text {
			cells := make([]report.Text, len(g.Head))
			cells[0] = first
			g.Rows = append(g.Rows, cells)
			return cells
		}
		line(report.Text{Lead: upper(r.Ordering.Says) + ".", Lines: []string{"(" + r.Ordering.Source + ")"}})
		if r.Paper != "" {
			cells := line(report.Say("The paper"))
			cells[2] = report.Say(r.Paper)
			if !r.PaperHas {
				cells[1] = report.Say("not so in its own table")
			}
		}
		for _, j := range r.Judged {
			if j.Verdict != NotStated {
				r.Ordering.fill(j, line(report.Say(j.Scale.Title)))
			}
		}
	}
	return g
}

// fill fills in the cells of a scale behind its title.
func (o *Ordering) fill(j Judged, cells []report.Text) {
	cells[1] = report.Text{Lead: j.Verdict}
	if j.Verdict == NotRun {
		cells[1].Lines = []string{j.Missing}
		return
	}
	cells[1].Lines = because(j.Shows, j.Why)
	if j.Delta == nil {
		return
	}
	difference := append([]string{o.shown(j)}, j.Delta.trainings()...)
	if j.Cost != nil {
		difference = append(difference, "cost "+signed(j.Cost.Number, 1))
	}
	cells[2] = report.Say(difference...)
	if j.AtEqual != "" {
		cells[3] = report.Say(interval(j.Equal.Told, 2))
	}
	if j.Delta.Questions > 0 {
		cells[4] = report.Say(strconv.Itoa(j.Delta.Questions))
	}
	if t := j.Tested; t != nil {
		cells[5], cells[6], cells[7], cells[8] = report.Say(short(t.Detectable, 3)), report.Say(asP(t.P)), report.Say(asP(t.Holm)), report.Say(asP(t.FDR))
	}
}

// because says what the rows show where that decides nothing, and why a verdict is inconclusive whatever the interval.
func because(shows, why string) (lines []string) {
	if shows != "" {
		lines = append(lines, "here: "+shows)
	}
	if why != "" {
		lines = append(lines, why)
	}
	return lines
}

// Cell is the verdict on the scale at an index as the tables have it: its word, and below it the number with its interval, what
// is left of it among many, its cost and the number at equal cost.
func (r Row) Cell(at int) report.Text { return cell(r.Ordering, r.Judged[at]) }

// Cell is the verdict as the tables have it: its word, and below it the number with its interval.
func (s OnScale) Cell() report.Text { return s.cell() }

func cell(o *Ordering, j Judged) report.Text {
	t := report.Text{Lead: j.Verdict}
	if j.Verdict == NotRun {
		t.Lines = []string{j.Missing}
		return t
	}
	t.Lines = because(j.Shows, j.Why)
	if j.Delta == nil {
		return t
	}
	t.Lines = append(t.Lines, o.shown(j))
	if j.Tested != nil {
		t.Lines = append(t.Lines, j.Tested.line())
	}
	t.Lines = append(t.Lines, j.Delta.trainings()...)
	if j.Cost != nil {
		t.Lines = append(t.Lines, "cost "+signed(j.Cost.Number, 1))
	}
	if j.AtEqual != "" {
		t.Lines = append(t.Lines, "equal cost "+interval(j.Equal.Told, 2))
	}
	return t
}

// shown prints what a verdict is read off: a difference, or both leads where two trade-offs have none.
func (o *Ordering) shown(j Judged) string {
	if j.Why == whyNeither || j.Why == whyBoth {
		return "leads " + interval(j.Equal.A, 2) + " and " + interval(j.Equal.B, 2)
	}
	return o.number(*j.Delta)
}

// number prints a difference with as many digits as its unit bears.
func (o *Ordering) number(c Contrast) string {
	switch o.Metric {
	case "cost", "share-%", "call-rate-%":
		return interval(c, 1)
	case metrics.USDPerQuery:
		return interval(scaled(c, 1000), 2) + " m$"
	}
	return interval(c, 2)
}

func scaled(c Contrast, by float64) Contrast {
	c.Number, c.Low, c.High = c.Number*by, c.Low*by, c.High*by
	return c
}

// mostDecimals is how many an interval is given at most to show what fewer would hide: as many as measurements have.
const mostDecimals = 3

// interval prints a contrast with the given decimals, or with more where they would hide that an end is not 0, which may be
// the verdict, or that there are two ends.
func interval(c Contrast, decimals int) string {
	switch {
	case c.Pools != nil:
		return c.Pools.number(c.Number, decimals)
	case !c.Bounded:
		return signed(c.Number, decimals)
	}
	decimals = c.decimals(decimals)
	return signed(c.Number, decimals) + " [" + report.Fixed(c.Low, decimals) + ", " + report.Fixed(c.High, decimals) + "]"
}

// decimals is how many an interval is printed with, at least so many.
func (c Contrast) decimals(least int) int {
	hides := func(x float64, decimals int) bool {
		return x != 0 && strings.Trim(report.Fixed(x, decimals), "-0.") == ""
	}
	n := least
	for n < mostDecimals && (hides(c.Low, n) || hides(c.High, n) || c.Low != c.High && report.Fixed(c.Low, n) == report.Fixed(c.High, n)) {
		n++
	}
	return n
}

func records(r Row) [][]string {
	var out [][]string
	o := r.Ordering
	for _, j := range r.Judged {
		if j.Verdict == NotStated {
			continue
		}
		record := []string{o.ID, r.Section.Title, o.Source, o.Says, o.Metric, o.Is, o.Benchmark, r.Paper, strconv.FormatBool(r.PaperHas), j.Scale.ID, j.Verdict, j.Shows, j.Why}
		record = append(record, digits(j.Delta)...)
		seeds, questions := j.Delta.counts()
		paired, pools, came := "", "", ""
		if j.Delta != nil {
			paired = strconv.FormatBool(j.Delta.Paired)
			if p := j.Delta.Pools; p != nil {
				pools, came = strconv.Itoa(p.Of), strconv.Itoa(p.Came)
			}
		}
		record = append(record, paired, seeds, pools, came)
		record = append(record, digits(j.Cost)...)
		var equal *Contrast
		if j.Equal != nil {
			equal = &j.Equal.Told
		}
		record = append(record, digits(equal)...)
		record = append(record, j.Tested.fields()...)
		out = append(out, append(record, questions, j.Reason, j.Missing))
	}
	return out
}

// digits prints a contrast for a CSV file.
func digits(c *Contrast) []string {
	if c == nil {
		return []string{"", "", ""}
	}
	decimals := max(3, c.Decimals)
	if !c.Bounded {
		return []string{report.Fixed(c.Number, decimals), "", ""}
	}
	return []string{report.Fixed(c.Number, decimals), report.Fixed(c.Low, decimals), report.Fixed(c.High, decimals)}
}

// counts are the training seeds and the questions behind a contrast for a CSV file.
func (c *Contrast) counts() (seeds, questions string) {
	if c == nil {
		return "", ""
	}
	if c.Questions > 0 {
		questions = strconv.Itoa(c.Questions)
	}
	return strconv.Itoa(c.Seeds), questions
}

// upper starts a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
