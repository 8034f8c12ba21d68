// Answers in words, compared.

package decide

// Words against words, and against formulas.

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// texts compares answers of which at least one is words.
func (c *Comparer) texts(a, b *formula.Node) Result {
	if a.Kind == formula.KindText && b.Kind == formula.KindText {
		if formula.Squeezed(a.Name) == formula.Squeezed(b.Name) {
			return equal("same words")
		}
		if x, y := names(a), names(b); x != nil && slices.Equal(x, y) {
			return equal("the same words in a list")
		}
		return c.said(a.Name, b.Name)
	}
	text, other := a, b
	if b.Kind == formula.KindText {
		text, other = b, a
	}
	if product := other.String(); !strings.ContainsAny(product, "-+/^=<>") && formula.Squeezed(formula.Spoken(product)) == formula.Squeezed(text.Name) {
		return equal("same words")
	}
	if initial := other.String(); len(initial) == 1 && (text.Name == "true" || text.Name == "false" || text.Name == "yes" || text.Name == "no") && strings.EqualFold(initial, text.Name[:1]) {
		return equal("the initial of a word")
	}
	if text == b && formula.Refuses(b.Name) {
		r := different("words")
		r.Reason = ReasonRefused
		return r
	}
	if strings.Count(text.Name, " ") >= 3 {
		return Unknown("words")
	}
	return different("words against a formula")
}

// names are the members of a list of names, however it joins them; nil of other text. A pair has no order, since "A and B" has
// none; three or more may be a ranking and are taken in their order, which keeps equality transitive.
func names(n *formula.Node) (members []string) {
	for _, m := range n.Args {
		members = append(members, m.Name)
	}
	if len(members) == 2 {
		slices.Sort(members)
	}
	return members
}

// said compares a gold with an answer of other words, which may be a sentence that says the gold.
func (c *Comparer) said(gold, answer string) Result {
	if dated(gold) && len(answer) > 2 && strings.HasPrefix(gold, answer) || dated(answer) && len(gold) > 2 && strings.HasPrefix(answer, gold) {
		return equal("an abbreviation")
	}
	x, y := strings.Fields(gold), strings.Fields(answer)
	slices.Sort(x)
	slices.Sort(y)
	if len(x) <= 3 && slices.Equal(x, y) && slices.ContainsFunc(x, dated) { // 20 June for June 20
		return equal("a date")
	}
	for f := range strings.FieldsSeq(answer) {
		switch formula.Sense(f) {
		case "doubt", "contrast", "condition":
			if !strings.Contains(" "+gold+" ", " "+f+" ") {
				return different("words in doubt")
			}
		}
	}
	if formula.Squeezed(predicate(answer)) == formula.Squeezed(gold) {
		return equal("the predicate of a sentence")
	}
	if Polarity[gold] {
		return different("words")
	}
	if strings.Count(gold, " ") >= 3 {
		return Unknown("words") // a description can be put in many ways
	}
	padded := " " + answer + " "
	if !strings.Contains(padded, " "+gold+" ") {
		return different("words")
	}
	for _, w := range []string{" not ", " or ", " neither ", " nor ", " no ", " non ", " never ", " and "} {
		if strings.Contains(padded, w) {
			return different("words")
		}
	}
	if strings.Count(answer, " ")-strings.Count(gold, " ") > 2 {
		return different("words in a sentence")
	}
	return Unknown("words")
}

// Polarity holds the answers of questions that have two.
var Polarity = map[string]bool{"yes": true, "no": true, "true": true, "false": true}

// dated reports whether a word is the name of a day or month.
func dated(word string) bool {
	switch word {
	case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december":
		return true
	}
	return false
}

// predicate returns what a sentence says about its subject: what follows its last "is", "are", "was", "were" or "be"; of
// a sentence without one of these, what follows "so" or "thus".
func predicate(s string) string {
	at := 0
	for _, w := range []string{" is ", " are ", " was ", " were ", " be "} {
		if i := strings.LastIndex(s, w); i >= 0 {
			at = max(at, i+len(w))
		}
	}
	if at > 0 {
		return s[at:]
	}
	for _, w := range []string{"so ", "thus ", "hence ", "therefore ", "it's ", "that's "} {
		if strings.HasPrefix(s, w) {
			return s[len(w):]
		}
	}
	return s
}
