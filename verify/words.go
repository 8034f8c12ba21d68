// Words of prose that a grader has to know.

package verify

// Answers in words: yes and no, and what is only copied from the question.

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/decide"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// clauses puts a comma where a clause of its own begins.
var clauses = strings.NewReplacer("/", ",", " or ", ",", " and ", ",", " but ", ",", "(", ",", ")", ",", "—", ",", ":", ",")

// polar returns the word for yes or no that a text says: a clause that is nothing else, as in "Yes, since 3 > 2". Several
// different ones, and one in doubt, are conflicting.
func polar(text string) (word string, conflicting bool) {
	text = clauses.Replace(strings.ToLower(formula.UnwrapText(text)))
	for i := 0; i < len(text); {
		end := len(text)
		if k := strings.IndexAny(text[i:], ",.;!?\n"); k >= 0 {
			end = i + k
		}
		words := spokenWords(text[i:end])
		words = after(words, "so", "thus", "therefore", "hence", "the", "my", "final", "answer", "it", "this", "that", "is", "it's", "that's", "or", "and", "but", "also", "either", "actually")
		sure := after(words, "maybe", "perhaps", "possibly", "probably")
		doubtful := len(sure) < len(words)
		words = sure
		if k := slices.IndexFunc(words, func(w string) bool {
			return w == "because" || w == "since" || w == "as" || w == "for" || w == "if" || w == "when"
		}); k >= 0 {
			words = words[:k]
		}
		if slices.ContainsFunc(words, func(w string) bool { return strings.Trim(w, "0123456789+*/^=<>") == "" }) {
			return "", false // a formula
		}
		if len(words) == 1 && decide.Polarity[words[0]] {
			conflicting = conflicting || doubtful || word != "" && word != words[0]
			word = words[0]
		}
		i = end + 1
	}
	return word, conflicting
}

// restated reports whether the answer is an expression copied from the question instead of its value.
func (k Key) restated(gold, answer string, parsed *formula.Node) bool {
	if k.Question == "" {
		return false
	}
	n, _ := formula.Split(parsed)
	evaluated := !n.Has(func(m *formula.Node) bool {
		switch m.Kind {
		case formula.KindAdd, formula.KindMultiply, formula.KindPower, formula.KindCall:
			return true
		}
		return false
	})
	p := formula.Plain(answer)
	return !evaluated && len(p) >= 3 && p != formula.Plain(gold) && strings.Contains(formula.Plain(k.Question), p)
}
