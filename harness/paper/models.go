// Verdicts on language models as routers: which sentences of the paper they confirm, refute or leave open, and what would decide the others.

package paper

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/report"
)

// ModelSheet is the table of what language models say, sentence by sentence: a line for each model that was measured, or that none was, and
// what would decide it.
func (o *Orderings) ModelSheet(file string, findings []Finding, rows []Row) (*report.Sheet, error) {
	f := &faults{file: file}
	s := &report.Sheet{
		Name:    "lm-claims",
		Caption: "What language models as routers say of the paper's sentences.",
		Notes: []string{
			"Routers: " + aboutModels + " Where it says that a head confirms a sentence, it says nothing of fine-tuning.",
			"Differences, verdicts and detectable differences are those of verdicts.md: in points, or percent of the strongest expert's cost; in brackets 95% intervals over questions, with trained routers held fixed, or over three training seeds; of entropies in training over folds, widened since these share what they learn from. " +
				"At equal cost: how far the row that is to be more accurate lies above the best coin between the other row, at any setting of its knob, and the fixed experts for the same money. Detectable: what would have been told with 80% power.",
			"Study: make lm-studies LM_STUDIES=NAME DATA=DIR carries it out, and entrorouter claims gives the verdicts. untestable here: no language model was measured on it.",
		},
		Records: [][]string{{"id", "scale", "verdict", "number", "equal-cost", "detectable", "study", "decide"}},
	}
	g := report.Grid{Head: []string{"The paper says, and on what", "Verdict", "Number", "At equal cost", "Detectable", "Study", "What would decide it"},
		Widths: []float64{0.24, 0.12, 0.14, 0.12, 0.08, 0.1, 0.2}}
	add := func(cells ...report.Text) { g.Rows = append(g.Rows, cells) }
	record := func(id, scale string, cells ...string) {
		s.Records = append(s.Records, append([]string{id, scale}, cells...))
	}
	none := report.Text{}
	for _, m := range o.Models {
		var found []modelSentence
		measured := false
		for _, id := range m.Of {
			x, ok := o.modelLines(id, findings, rows)
			if !ok {
				f.add(m.line, "language-models", "there is no claim or ordering %q", id)
			}
			found, measured = append(found, x), measured || len(x.lines) > 0
		}
		if m.Says != "" && !measured {
			add(report.Text{Lead: upper(m.Says) + "."}, report.Say(Untestable), none, none, none, none, report.Say(m.Decide))
			record(strings.Join(m.Of, " "), "", Untestable, "", "", "", "", m.Decide)
			continue
		}
		for i, x := range found {
			id, says, lines := m.Of[i], x.says, x.lines
			decide := ""
			if i == 0 {
				decide = m.Decide
			}
			heading := []report.Text{{Lead: upper(says) + "."}, none, none, none, none, none, report.Say(decide)}
			if lines == nil {
				heading[1] = report.Say(Untestable)
				record(id, "", Untestable, "", "", "", "", m.Decide)
			}
			add(heading...)
			for _, l := range lines {
				add(report.Say(l.scale.Title), report.Text{Lead: l.verdict, Lines: l.because}, report.Say(l.number), report.Say(l.equal), report.Say(l.detectable), report.Say(l.scale.Study), none)
				record(id, l.scale.ID, l.verdict, l.number, l.equal, l.detectable, l.scale.Study, m.Decide)
			}
		}
	}
	s.Grids = []report.Grid{g}
	return s, f.err()
}

// modelSentence is a claim or an ordering with what each language model says of it.
type modelSentence struct {
	says  string
	lines []modelLine
}

// modelLine is what one language model says of a sentence.
type modelLine struct {
	scale             Scale
	verdict           string
	because           []string
	number            string
	equal, detectable string
}

// modelLines looks a claim or an ordering up, with a line for each language model that it was measured on.
func (o *Orderings) modelLines(id string, findings []Finding, rows []Row) (x modelSentence, ok bool) {
	for _, r := range rows {
		if r.Ordering.ID != id {
			continue
		}
		for _, j := range r.Judged {
			if !j.Scale.model() || j.Delta == nil {
				continue
			}
			l := modelLine{scale: j.Scale, verdict: j.Verdict, because: because(j.Shows, j.Why), number: r.Ordering.shown(j)}
			if j.AtEqual != "" {
				l.equal = interval(j.Equal.Told, 2)
			}
			if j.Tested != nil {
				l.detectable = short(j.Tested.Detectable, 3)
			}
			x.lines = append(x.lines, l)
		}
		x.says = r.Ordering.Says
		return x, true
	}
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.ID == id && f.Ours != nil })
	if i < 0 {
		return x, false
	}
	for _, on := range findings[i].Ours {
		if on.Scale.model() && on.Value != nil && on.Verdict != "" {
			cell := on.cell()
			x.lines = append(x.lines, modelLine{scale: on.Scale, verdict: cell.Lead, number: on.text()})
		}
	}
	x.says = findings[i].Says
	return x, true
}

// trained lists which weights of language models were trained, in the order of the scales.
func (o *Orderings) trained() (weights []string) {
	for _, scale := range o.Scales {
		if scale.model() && !slices.Contains(weights, scale.Trains) {
			weights = append(weights, scale.Trains)
		}
	}
	return weights
}

// training says of a scale whether it has a language model of which such weights were trained.
func training(weights string) func(Scale) bool {
	return func(s Scale) bool { return s.model() && s.Trains == weights }
}
