// The table for a reader in a hurry: a line is what several claims and orderings say together.

package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/report"
)

// told is what a claim, an ordering or a line of them says on one scale.
type told struct {
	verdict, shows string
	numbers        []figure // of each claim and ordering that was measured
	held, of       int      // how many of them have the verdict
	equal          string   // the verdict at equal cost; empty: nothing there
	equalNumber    string
}

// figure is a measured number as it is printed, and what it stands beside.
type figure struct {
	number     float64
	text, unit string
	brief      string // without its interval
	printed    string // the paper's, and how near ours has to be; empty: no number of the paper is held against ours
	side       string // whether ours is refuted by being too high or too low
	against    string // the row that ours is beside, behind the row that is meant if that is not the reference
	paper      string // what the paper's own tables have
	verdict    string
}

// telling finds one claim or ordering of a digest on a scale.
type telling func(scale string) (t told, ok bool)

// DigestSheet is the table for a reader in a hurry. Of the simulated scales every claim and ordering has the one that
// resolves most, the last where it was run; of recorded answers a line has on how many pools which verdict fell. A line of
// several claims and orderings has the least favourable verdict among them.
func (o *Orderings) DigestSheet(file string, findings []Finding, rows []Row, measured *Measurements) (*report.Sheet, error) {
	f := &faults{file: file}
	s := &report.Sheet{
		Name:    "digest",
		Caption: "What the paper says, in its own tables and on our measurements.",
		Records: [][]string{{"says", "paper", "recorded", "language-model", "simulated"}},
	}
	g := report.Grid{Head: []string{"The paper says", "Its own tables", "Real outcomes", "Language model", "Simulated"}, Widths: []float64{0.22, 0.1, 0.22, 0.22, 0.24}}
	for _, d := range o.Digest {
		if d.Group != "" {
			heading := make([]report.Text, len(g.Head))
			heading[0].Lead = d.Group
			g.Rows = append(g.Rows, heading)
		}
		of := o.tellings(d, findings, rows, f)
		verdict, part := d.onPaper(findings, f)
		paper := verdict + part
		recorded, models, simulated := append(o.counts(of, Scale.pool), o.byRule(of)...), o.models(of), o.simulated(of)
		g.Rows = append(g.Rows, []report.Text{report.Say(upper(d.Says) + "."), report.Say(paper), verdictFirst(recorded), report.Say(models...), verdictFirst(simulated)})
		s.Records = append(s.Records, []string{d.Says, paper, strings.Join(recorded, "; "), strings.Join(models, "; "), strings.Join(simulated, "; ")})
	}
	s.Grids = []report.Grid{g}
	strongest, err := o.alwaysStrongest(measured)
	if err != nil {
		f.add(0, "digest", "%v", err)
	}
	s.Notes = append([]string{
		"Own tables: whether the paper's numbers follow from its tables. Real outcomes: stored answers of real models, two of the paper's among them; how many pools have which verdict, and the least and the greatest number over pools. " + o.aboutRules() + "Language model: the router is one, and what was trained of it is said; " + aboutModels + " " +
			"Simulated: experts calibrated to the paper's fixed-expert rows. What one such pool shows follows from numbers that we put in, above all how much a text shows, so it is \"assumed\"; what the larger set shows stands in brackets, with 95% intervals over questions and training seeds. Between routers that learn, the verdict is over an ensemble of pools in which those numbers vary: a sentence is confirmed if it is so on at least 95% of them; beside it stand the median, the least and the greatest.",
		"At equal cost: accuracy can be bought, so this says whether the row lies above the best coin between the other, at any setting of its knob, and the fixed experts for the same money.",
		"A printed number is confirmed if our whole interval lies within the margin beside it; the margins are ours, with reasons in claims-measured.csv. Where a line stands for several claims, the least favourable verdict counts, with how many have it if not all do. " +
			"Also inconclusive: rows that are equal to the last digit; what a row that always asks the strongest expert would confirm; and a printed number that a router reaches only by always asking one expert. untestable here: it is about what a part does to a language model in fine-tuning; what our small network shows is in brackets. assumed: it follows from a number that we put in.",
	}, slices.DeleteFunc([]string{strongest, trainedOnce(rows)}, func(note string) bool { return note == "" })...)
	return s, f.err()
}

// tellings are the claims and orderings behind a line.
func (o *Orderings) tellings(d DigestLine, findings []Finding, rows []Row, f *faults) (of []telling) {
	for _, id := range d.Of {
		if t := o.telling(id, findings, rows); t != nil {
			of = append(of, t)
		} else {
			f.add(d.line, "digest", "there is no claim or ordering %q", id)
		}
	}
	return of
}

// verdictFirst is a cell whose first line is found at a glance.
func verdictFirst(lines []string) report.Text {
	if len(lines) == 0 {
		return report.Text{}
	}
	return report.Text{Lead: lines[0], Lines: lines[1:]}
}

// onPaper is the verdict of a line on the paper's own tables, the worst of its claims, and of how many if not of all.
func (d *DigestLine) onPaper(findings []Finding, f *faults) (verdict, part string) {
	verdict = noSuchRow
	counts := map[string]int{}
	for _, id := range d.Paper {
		k := slices.IndexFunc(findings, func(x Finding) bool { return x.ID == id })
		if k < 0 {
			f.add(d.line, "digest", "there is no claim %q", id)
			continue
		}
		counts[findings[k].Verdict]++
	}
	for _, v := range []string{Holds, NotCheckable, WrongUnit, Mismatch} {
		if counts[v] > 0 {
			verdict = v
		}
	}
	if n := counts[verdict]; n > 0 && n < len(d.Paper) {
		part = inParts(n, len(d.Paper))
	}
	return verdict, part
}

// noSuchRow is said of what no table of the paper has.
const noSuchRow = "no such row"

// alwaysStrongest names the pools of recorded answers where the reference row is the strongest expert.
func (o *Orderings) alwaysStrongest(measured *Measurements) (string, error) {
	var pools []string
	for _, scale := range o.Scales {
		if scale.Kind != kindRecorded {
			continue
		}
		for _, table := range sortedKeys(scale.Experiments) {
			experiment := scale.Experiments[table]
			cost, as, err := o.asExpert(measured, experiment, scale, Place{"method": o.row(scale, experiment, o.Reference), "benchmark": scale.average()}, o.row(scale, experiment, o.Strongest))
			if err != nil {
				return "", err
			}
			pool := scale.Title
			if as {
				pool += " (" + report.Fixed(cost, 2) + "% of its cost)"
				if !slices.Contains(pools, pool) {
					pools = append(pools, pool)
				}
			}
		}
	}
	if len(pools) == 0 {
		return "", nil
	}
	return "On " + listed(pools) + " the router asks the strongest expert on (almost) every question: what it keeps and saves there is what that expert does.", nil
}

// telling looks an id up; nil if nothing has it.
func (o *Orderings) telling(id string, findings []Finding, rows []Row) telling {
	if i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == id && f.Ours != nil }); i >= 0 {
		return func(scale string) (told, bool) {
			for _, on := range findings[i].Ours {
				if on.Scale.ID == scale && on.Verdict != "" {
					t := told{verdict: on.Verdict, shows: on.Shows}
					if on.Value != nil {
						t.numbers = []figure{findings[i].figure(on)}
					}
					return t, true
				}
			}
			return told{}, false
		}
	}
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Ordering.ID == id })
	if i < 0 {
		return nil
	}
	return func(scale string) (told, bool) {
		for _, j := range rows[i].Judged {
			if j.Scale.ID != scale || j.Verdict == NotStated {
				continue
			}
			t := told{verdict: j.Verdict, shows: j.Shows, equal: j.AtEqual}
			if j.Delta != nil {
				t.numbers = []figure{rows[i].figure(o.Reference, j)}
			}
			if j.AtEqual != "" {
				t.equalNumber = interval(j.Equal.Told, 2)
			}
			return t, true
		}
		return told{}, false
	}
}

// figure is what a claim comes to on a scale.
func (f *Finding) figure(on OnScale) figure {
	alone := on
	alone.Value = on.Value.alone()
	x := figure{number: on.Value.Number, text: on.text(), brief: alone.text(), unit: on.Unit, verdict: cmp.Or(on.Shows, on.Verdict)}
	if on.Against != "" {
		x.against = "beside " + on.Against
	}
	if f.Printed == "" {
		if number, unit, _ := strings.Cut(strings.TrimPrefix(f.Recomputed, "difference "), " "); unit != "" {
			x.paper = number + " " + unit
		}
		return x
	}
	x.printed = f.Printed + " " + within(f.Margin)
	if printed, _ := asPrinted(strings.TrimRight(f.Printed, "% points$")); x.verdict == Refuted {
		x.side = map[bool]string{true: "too high", false: "too low"}[on.Value.Number > printed]
	}
	return x
}

// figure is what an ordering comes to on a scale.
func (r *Row) figure(reference string, j Judged) figure {
	unit := r.Ordering.unit()
	x := figure{number: j.Delta.Number, text: r.Ordering.shown(j) + unit, brief: r.Ordering.number(*j.Delta.alone()) + unit, unit: unit, verdict: cmp.Or(j.Shows, j.Verdict)}
	if a, b := r.Ordering.A.Row, r.Ordering.B.Row; b != "" {
		x.against = "beside " + strings.TrimPrefix(b, reference+"/")
		if a != reference {
			x.against = strings.TrimPrefix(a, reference+"/") + " " + x.against
		}
	}
	if strings.ContainsAny(r.Paper, "0123456789") {
		x.paper = r.Paper
	}
	return x
}

// within is how near a number has to be.
func within(margin float64) string {
	text := fmt.Sprintf("within %v points", margin)
	if margin == 1 {
		text = strings.TrimSuffix(text, "s")
	}
	return text
}

// alone is a contrast without its interval.
func (c *Contrast) alone() *Contrast {
	bare := *c
	bare.Bounded, bare.Pools = false, nil
	return &bare
}

// unit is what the numbers of an ordering are in, for a reader who does not see its heads.
func (o *Ordering) unit() string {
	switch o.Metric {
	case "accuracy", hullGain, atEqualCost, "share-%", "call-rate-%":
		return " points"
	case "cost":
		return "% of the strongest's cost"
	}
	return ""
}

// unfavourable are verdicts from the least favourable on.
var unfavourable = []string{NotRun, Refuted, Inconclusive, Confirmed}

// decides is the verdict that the numbers give, whatever it rests on.
func (t told) decides() string { return cmp.Or(t.shows, t.verdict) }

// ran says whether something was measured.
func (t told) ran() bool { return t.verdict != NotRun }

// least puts what the claims and orderings of a line say together, in any order: it rests on what any of them rests on,
// and has the least favourable verdict that numbers give.
func least(of []told) (t told) {
	rests := ""
	for _, one := range of {
		switch {
		case one.verdict == Untestable, one.verdict == Assumed && rests == "":
			rests = one.verdict
		}
		t.numbers = append(t.numbers, one.numbers...)
		t.equal = worse(t.equal, one.equal)
		if len(of) == 1 {
			t.equalNumber = one.equalNumber
		}
		if d := one.decides(); slices.Contains(unfavourable, d) {
			t.verdict = worse(t.verdict, d)
		}
	}
	for _, one := range of {
		if one.decides() == t.verdict {
			t.held++
		}
	}
	t.of = len(of)
	if rests != "" && t.verdict != NotRun {
		t.verdict, t.shows = rests, t.verdict
	}
	return t
}

// worse is the less favourable of two verdicts, of which either may be empty.
func worse(a, b string) string {
	if a == "" || b != "" && slices.Index(unfavourable, b) < slices.Index(unfavourable, a) {
		return b
	}
	return a
}

// few is how many numbers stand in a cell at most, but for those that the paper prints.
const few = 3

// resolved is what a line says on simulated experts: each claim and ordering on the last scale of our own where it was run.
func (o *Orderings) resolved(of []telling) (t told, ok bool) {
	var parts []told
	for _, tell := range of {
		var best told
		found := false
		for _, scale := range o.Scales {
			if !scale.own() {
				continue
			}
			if t, ok := tell(scale.ID); ok && (!found || t.verdict != NotRun) {
				best, found = t, true
			}
		}
		if found {
			parts = append(parts, best)
		}
	}
	if len(parts) == 0 {
		return told{}, false
	}
	return least(parts), true
}

// simulated prints a line on simulated experts.
func (o *Orderings) simulated(of []telling) (lines []string) {
	t, ok := o.resolved(of)
	if !ok {
		return nil
	}
	lines = []string{t.words(t.part())}
	for _, n := range t.numbers {
		if t.verdict != NotRun && (len(t.numbers) <= few || n.printed != "") {
			lines = append(lines, n.line(t.of > 1))
		}
	}
	if t.equal != "" {
		lines = append(lines, t.beside("at equal cost "+strings.TrimSpace(t.equal+" "+t.equalNumber)))
	}
	return lines
}

// line prints a number and what it stands beside; that of one of several says its verdict.
func (x figure) line(several bool) string {
	s := x.text
	switch {
	case x.printed != "":
		s = x.printed + ": " + s
	case x.against != "" && several:
		s = x.against + ": " + s
	}
	if several {
		s += ", " + x.verdict
	}
	if x.paper != "" {
		s += " (paper " + x.paper + ")"
	}
	return s
}

// part says how many of the claims and orderings of a line have its verdict, unless all have.
func (t told) part() string {
	if t.held == t.of {
		return ""
	}
	return t.parts()
}

// parts says how many of several claims and orderings of a line have its verdict.
func (t told) parts() string {
	if t.verdict == NotRun {
		return ""
	}
	return inParts(t.held, t.of)
}

// inParts says how many of several have a verdict; of one there is nothing to say.
func inParts(held, of int) string {
	if of < 2 {
		return ""
	}
	return fmt.Sprintf(" in %d of %d", held, of)
}

// words is the verdict, and in brackets what the rows show where that decides nothing.
func (t told) words(part string) string {
	if t.shows == "" {
		return t.verdict + part
	}
	return t.verdict + " (" + t.shows + part + ")"
}

// beside puts what is said at equal cost in brackets where it decides nothing.
func (t told) beside(equal string) string {
	if equal == "" || t.shows == "" {
		return equal
	}
	return "(" + equal + ")"
}

// perPool is what a line says on each of some scales that has it.
func (o *Orderings) perPool(of []telling, has func(Scale) bool) (pools []told) {
	for _, scale := range o.Scales {
		if !has(scale) {
			continue
		}
		var all []told
		for _, tell := range of {
			if t, ok := tell(scale.ID); ok {
				all = append(all, t)
			}
		}
		if len(all) > 0 {
			pools = append(pools, least(all))
		}
	}
	return pools
}

// counts counts the verdicts of a line over some scales.
func (o *Orderings) counts(of []telling, has func(Scale) bool) []string {
	verdicts, equals, sides := map[string]int{}, map[string]int{}, map[string]int{}
	parts := map[string][2]int{} // by verdict: claims and orderings that have it, of how many
	var numbers []figure
	all := o.perPool(of, has)
	pools := len(all)
	for _, t := range all {
		numbers = append(numbers, t.numbers...)
		words := t.words("")
		verdicts[words]++
		parts[words] = [2]int{parts[words][0] + t.held, parts[words][1] + t.of}
		if t.equal != "" {
			equals[t.equal]++
		}
		for _, n := range t.numbers {
			if n.side != "" {
				sides[n.side]++
			}
		}
	}
	if pools == 0 {
		return nil
	}
	lines := []string{counted(verdicts, pools, func(words string) string {
		if p := parts[words]; p[0] < p[1] {
			return fmt.Sprintf(" (%d of %d parts)", p[0], p[1])
		}
		return ""
	})}
	none := func(string) string { return "" }
	if len(numbers) == pools && pools > 1 && !slices.ContainsFunc(numbers, func(x figure) bool { return x.unit != numbers[0].unit || x.against != numbers[0].against }) {
		byNumber := func(a, b figure) int { return cmp.Compare(a.number, b.number) }
		least, most := slices.MinFunc(numbers, byNumber), slices.MaxFunc(numbers, byNumber)
		text := report.Fixed(least.number, 2) + " to " + report.Fixed(most.number, 2) + least.unit
		if least.printed != "" {
			text = least.printed + ": " + text
		}
		if len(sides) > 0 {
			text += "; " + counted(sides, 0, none)
		}
		lines = append(lines, text)
	}
	if len(equals) > 0 {
		lines = append(lines, all[pools-1].beside("at equal cost "+counted(equals, pools, none)))
	}
	return lines
}

// counted lists counts, the most frequent first: confirmed on 4 of 6, inconclusive on 2. more stands behind each.
func counted(counts map[string]int, of int, more func(string) string) string {
	words := sortedKeys(counts)
	slices.SortStableFunc(words, func(a, b string) int { return counts[b] - counts[a] })
	var parts []string
	for i, w := range words {
		part := fmt.Sprintf("%s on %d", w, counts[w])
		if i == 0 && of > 0 {
			part += fmt.Sprintf(" of %d", of)
		}
		parts = append(parts, part+more(w))
	}
	return strings.Join(parts, ", ")
}

// byRule counts the verdicts of a line on recorded answers by each other rule for the strongest expert.
func (o *Orderings) byRule(of []telling) (lines []string) {
	for _, rule := range o.rules() {
		if some := o.counts(of, by(rule)); slices.ContainsFunc(o.perPool(of, by(rule)), told.ran) {
			lines = append(lines, rule+": "+strings.Join(some, "; "))
		}
	}
	return lines
}

// models counts the verdicts of a line on language models, by which of their weights were trained.
func (o *Orderings) models(of []telling) (lines []string) {
	for _, weights := range o.trained() {
		if some := o.counts(of, training(weights)); len(some) > 0 {
			lines = append(lines, weights+": "+strings.Join(some, "; "))
		}
	}
	return lines
}
