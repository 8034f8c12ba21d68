// Signs of verdicts, and what several tables of them say in their notes.

package paper

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/report"
)

// Marks of verdicts, so that a column is read at a glance.
const (
	yes     = "✔"
	no      = "✘"
	open    = "?"
	given   = "≈"
	nothing = "–"
)

// marks are those of verdicts, on the paper's tables and on our measurements.
var marks = map[string]string{Holds: yes, Mismatch: no, WrongUnit: no, Confirmed: yes, Refuted: no, Inconclusive: open, Assumed: given}

// Sign is the mark of a verdict.
func Sign(verdict string) string {
	if mark, ok := marks[verdict]; ok {
		return mark
	}
	return nothing
}

func marked(verdict, text string) string { return Sign(verdict) + space + text }

// Unmarked takes the marks from a text, for who reads words alone.
func Unmarked(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(yes, "", no, "", open, "", given, "", nothing, "").Replace(text)), " ") // no-break spaces, too
}

// space is one at which no line ends: a mark or a unit is not left alone.
const space = "\u00a0"

// aboutModels says what a verdict on a language model is about.
const aboutModels = "SmolLM2-135M with a trained head of three rows or its last layer trained, or a tiny decoder of which every weight is trained; a verdict is about these routers as they were trained, once a fold (three times where a decoder may answer itself), and not about fine-tuning at the paper's size."

// aboutRules says what another rule for the strongest expert is; empty where no scale has one.
func (o *Orderings) aboutRules() string {
	if o.rules() == nil {
		return ""
	}
	return "By the paper's rule the dearest expert is the strongest and counts as always right; elsewhere it is the most accurate on the training questions, and counts as right as often as it was. "
}

// trainedOnce names the pools and sets where routers have one training.
func trainedOnce(rows []Row) string {
	var titles []string
	for _, r := range rows {
		for _, j := range r.Judged {
			if j.Delta != nil && j.Delta.Once && !j.Delta.These && !slices.Contains(titles, j.Scale.Title) {
				titles = append(titles, j.Scale.Title)
			}
		}
	}
	if len(titles) == 0 {
		return ""
	}
	return "Trained once on " + listed(titles) + ": their intervals leave out what another training would give, so what concerns a trained row is inconclusive there."
}

// listed puts words into a sentence, as report.Listed divides them.
func listed(words []string) string {
	all, last := report.Listed(words), words[len(words)-1]
	if len(words) == 1 {
		return all
	}
	return strings.TrimRight(strings.TrimSuffix(all, last), ",; ") + " and " + last
}
