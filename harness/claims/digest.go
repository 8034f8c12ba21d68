package claims

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/report"
)

// DigestLine is a line of the table for a reader in a hurry: a sentence and the claims and orderings that it stands for.
type DigestLine struct {
	Group string   `yaml:"group"` // heading of the lines from here on; empty: that of the line before
	Says  string   `yaml:"says"`
	Paper []string `yaml:"paper"` // claims whose verdict on the paper's own tables it has; none: no table has such a row
	Of    []string `yaml:"of"`    // claims and orderings whose verdicts on our measurements it has

	line int
}

// checkDigest looks for lines that say nothing.
func (o *Orderings) checkDigest(lines []int, f *faults) {
	for i := range o.Digest {
		d := &o.Digest[i]
		d.line = lines[i]
		if d.Says == "" || len(d.Of) == 0 {
			f.add(d.line, "digest", "says and of must both be set")
		}
	}
}

// told is what a claim, an ordering or a line of them says on one scale.
type told struct {
	verdict, shows string
	numbers        []told1 // of each claim and ordering that was measured
	held, of       int     // how many of them have the verdict
	equal          string  // at equal cost; empty: nothing there
	equalNumber    string
}

// told1 is a number as it is printed.
type told1 struct {
	number     float64
	text, unit string
}

// telling finds one claim or ordering of a digest on a scale.
type telling func(scale string) (t told, ok bool)

// DigestSheet is the table for a reader in a hurry. Of the simulated scales it has the one that resolves most, the last
// that was run; of recorded answers, on how many pools which verdict fell. A line of several claims and orderings has the
// least favourable verdict among them.
func (o *Orderings) DigestSheet(file string, findings []Finding, rows []Row) (*report.Sheet, error) {
	f := &faults{file: file}
	s := &report.Sheet{
		Name:    "digest",
		Caption: "What the paper says, in its own tables and on our measurements.",
		Notes: []string{
			"Own tables: whether the paper's numbers follow from its tables. Simulated: experts calibrated to the paper's fixed-expert rows, the larger set if it has the rows; in brackets 95% intervals over questions and training seeds. " +
				"At equal cost: points above the best coin flip between fixed experts, since accuracy can be bought; ahead and behind where the interval leaves 0 out. Real outcomes: stored answers of other models, by pool, and the range over pools. " +
				"not testable: it is about what a part does to a language model in fine-tuning; what our small policy shows is in brackets. assumed: it follows from a number that we put in.",
		},
		Records: [][]string{{"says", "paper", "simulated", "equal-cost", "recorded"}},
	}
	g := report.Grid{Head: []string{"The paper says", "Its own tables", "Simulated", "At equal cost", "Real outcomes"}, Widths: []float64{0.28, 0.1, 0.24, 0.14, 0.24}}
	for _, d := range o.Digest {
		if d.Group != "" {
			heading := make([]report.Text, len(g.Head))
			heading[0].Lead = d.Group
			g.Rows = append(g.Rows, heading)
		}
		var of []telling
		for _, id := range d.Of {
			t := o.telling(id, findings, rows)
			if t == nil {
				f.add(d.line, "digest", "there is no claim or ordering %q", id)
				continue
			}
			of = append(of, t)
		}
		paper := "no such row"
		for i, id := range d.Paper {
			k := slices.IndexFunc(findings, func(x Finding) bool { return x.ID == id })
			if k < 0 {
				f.add(d.line, "digest", "there is no claim %q", id)
			} else if i == 0 || findings[k].Verdict != Holds {
				paper = findings[k].Verdict
			}
		}
		simulated, equal := o.simulated(of)
		recorded := o.recorded(of)
		g.Rows = append(g.Rows, []report.Text{report.Say(upper(d.Says) + "."), report.Say(paper), report.Say(simulated...), report.Say(equal), report.Say(recorded...)})
		s.Records = append(s.Records, []string{d.Says, paper, strings.Join(simulated, " "), equal, strings.Join(recorded, "; ")})
	}
	s.Grids = []report.Grid{g}
	return s, f.err()
}

// telling looks an id up; nil if nothing has it.
func (o *Orderings) telling(id string, findings []Finding, rows []Row) telling {
	if i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == id && f.Ours != nil }); i >= 0 {
		return func(scale string) (told, bool) {
			for _, on := range findings[i].Ours {
				if on.Scale.ID == scale && on.Verdict != "" {
					t := told{verdict: on.Verdict, shows: on.Shows}
					if on.Value != nil {
						t.numbers = []told1{{on.Value.Number, on.text(), on.Unit}}
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
			t := told{verdict: j.Verdict, shows: j.Shows, equal: j.atEqualCost()}
			if j.Delta != nil {
				unit := rows[i].Ordering.unit()
				t.numbers = []told1{{j.Delta.Number, rows[i].Ordering.number(*j.Delta) + unit, unit}}
			}
			if j.Equal != nil {
				t.equalNumber = interval(*j.Equal, 2)
			}
			return t, true
		}
		return told{}, false
	}
}

// unit is what the numbers of an ordering are in, for a reader who does not see its heads.
func (o *Ordering) unit() string {
	switch o.Metric {
	case "accuracy", "hull-gain":
		return " points"
	case "cost":
		return "% of the strongest's cost"
	case "share-%", "call-rate-%":
		return "%"
	}
	return ""
}

// unfavourable are verdicts and words at equal cost from the least favourable on.
var unfavourable = []string{NotRun, DidNot, "behind", CannotBeTold, "level", CameOut, "ahead"}

// decides is the verdict that the numbers give, whatever it rests on.
func (t told) decides() string {
	if t.shows != "" {
		return t.shows
	}
	return t.verdict
}

// least puts what the claims and orderings of a line say on a scale together.
func least(of []telling, scale string) (t told, ok bool) {
	worse := func(a, b string) bool { return slices.Index(unfavourable, a) < slices.Index(unfavourable, b) }
	for _, tell := range of {
		one, stated := tell(scale)
		if !stated {
			continue
		}
		one.held, one.of = 1, 1
		if !ok {
			t, ok = one, true
			continue
		}
		t.of++
		t.numbers = append(t.numbers, one.numbers...)
		switch {
		case worse(one.decides(), t.decides()):
			t.verdict, t.shows, t.held = one.verdict, one.shows, 1
		case one.decides() == t.decides():
			t.held++
		}
		if one.equal != "" && (t.equal == "" || worse(one.equal, t.equal)) {
			t.equal = one.equal
		}
		t.equalNumber = ""
	}
	return t, ok
}

// few is how many numbers stand in a cell at most.
const few = 2

// simulated is a line on the last scale of our own that was run.
func (o *Orderings) simulated(of []telling) (lines []string, equal string) {
	var best told
	found := false
	for _, scale := range o.Scales {
		if scale.Kind == "recorded" {
			continue
		}
		if t, ok := least(of, scale.ID); ok && (!found || t.verdict != NotRun) {
			best, found = t, true
		}
	}
	if !found {
		return nil, ""
	}
	lines = []string{best.words()}
	if len(best.numbers) <= few {
		for _, n := range best.numbers {
			lines = append(lines, n.text)
		}
	}
	return lines, strings.TrimSpace(best.equal + " " + best.equalNumber)
}

// words is the verdict and how many of a line have it, and in brackets what the rows show where that decides nothing.
func (t told) words() string {
	in := ""
	if t.held < t.of && t.verdict != NotRun {
		in = fmt.Sprintf(" in %d of %d", t.held, t.of)
	}
	if t.shows == "" {
		return word(t.verdict) + in
	}
	return word(t.verdict) + " (" + t.shows + in + ")"
}

// recorded counts the verdicts of a line over the pools of recorded answers.
func (o *Orderings) recorded(of []telling) []string {
	verdicts, equals := map[string]int{}, map[string]int{}
	var numbers []told1
	pools := 0
	for _, scale := range o.Scales {
		if scale.Kind != "recorded" {
			continue
		}
		t, ok := least(of, scale.ID)
		if !ok {
			continue
		}
		pools++
		numbers = append(numbers, t.numbers...)
		t.held = t.of // the pools are counted, and not what is below them
		verdicts[t.words()]++
		if t.equal != "" {
			equals[t.equal]++
		}
	}
	if pools == 0 {
		return nil
	}
	lines := []string{counted(verdicts, pools)}
	if len(numbers) == pools && pools > 1 {
		byNumber := func(a, b told1) int { return cmp.Compare(a.number, b.number) }
		least, most := slices.MinFunc(numbers, byNumber), slices.MaxFunc(numbers, byNumber)
		lines = append(lines, fixed(least.number, 2)+" to "+fixed(most.number, 2)+least.unit)
	}
	if len(equals) > 0 {
		lines = append(lines, "at equal cost "+counted(equals, pools))
	}
	return lines
}

// counted lists counts, the most frequent first: came out on 4 of 6, cannot be told on 2.
func counted(counts map[string]int, of int) string {
	words := sortedKeys(counts)
	slices.SortStableFunc(words, func(a, b string) int { return counts[b] - counts[a] })
	var parts []string
	for i, w := range words {
		part := fmt.Sprintf("%s on %d", w, counts[w])
		if i == 0 {
			part += fmt.Sprintf(" of %d", of)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
