// What becomes of an answer in the text after it.

package verify

// What a text says about an answer after it gave it. One rule serves boxes, announcements, formulas in prose and choices.

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// fate is what becomes of an answer in the text after it.
type fate uint8

const (
	stands    fate = iota
	withdrawn      // the text says that it is wrong
	revised        // the text starts to take it back, which counts if another answer follows
	rivalled       // the text offers another answer beside it
)

// maxAfterwards is how much of the text after an answer is looked at.
const maxAfterwards = 2000

// afterwards reads the clauses after an answer. from is where the clause starts that decides. within says that the answer
// itself is the start of the text.
func afterwards(text string, within bool) (f fate, from int) {
	text = text[:min(len(text), maxAfterwards)]
	start := 0
	for start < len(text) {
		end := clauseEnd(text, start)
		words := spokenWords(text[start:end])
		first := start == 0
		switch {
		case first && within:
		case judged(words, first):
			return withdrawn, start
		case len(words) > 0 && interjects(words):
			if f == stands {
				f, from = revised, start
			}
		case len(words) > 0 && f == stands && offers(words, text[start:end]):
			return rivalled, start
		}
		start = end + 1
	}
	return f, from
}

// clauseEnd returns where the clause of s that starts at i ends: at punctuation that is followed by a space, or a line.
func clauseEnd(s string, i int) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\n':
			return i
		case '.', ',', ';', '!', '?', ':':
			if i+1 == len(s) || s[i+1] == ' ' || s[i+1] == '\n' {
				return i
			}
		case '-':
			if strings.HasPrefix(s[i:], "-- ") || strings.HasPrefix(s[i:], "- ") && i > 0 && s[i-1] == ' ' {
				return i
			}
		}
		if strings.HasPrefix(s[i:], "—") || strings.HasPrefix(s[i:], "–") {
			return i
		}
	}
	return len(s)
}

// spokenWords returns the words of a clause in lower case, without marks around them.
func spokenWords(clause string) []string {
	fields := strings.Fields(strings.ToLower(strings.ReplaceAll(clause, "’", "'")))
	words := fields[:0]
	for _, w := range fields {
		if w = strings.Trim(w, "*_$()[]{}\\\"`~-—–"); w != "" {
			words = append(words, w)
		}
	}
	return words
}

// judged reports whether a clause says that the answer before it is wrong: "this is incorrect", "that was a mistake". A
// clause that follows the answer directly needs no subject.
func judged(words []string, first bool) bool {
	words = after(words, "but", "however", "and", "so", "although", "unfortunately", "oh", "no", "wait", "actually", "sorry", "clearly")
	subject := words
	switch w := at(words, 0); w {
	case "this", "that", "it", "which", "these", "those", "answer":
		words = after(words[1:], "answer", "result", "value", "solution")
	case "the", "my", "our":
		switch at(words, 1) {
		case "answer", "result", "value", "solution", "above", "box", "previous", "last":
			words = after(words[2:], "answer", "result", "value", "box")
		default:
			return false
		}
	case "that's", "it's":
		words = append([]string{"is"}, words[1:]...)
	case "that'd", "isn't", "wasn't":
	case "wrong", "incorrect":
		return len(words) == 1
	default:
		if !first {
			return false
		}
	}
	if len(subject) == 0 {
		return false
	}
	switch w := at(words, 0); w {
	case "isn't", "wasn't", "can't":
		words = append([]string{"is", "not"}, words[1:]...)
	case "cannot":
		return at(words, 1) == "be" && (at(words, 2) == "right" || at(words, 2) == "correct")
	case "must", "has", "would", "can":
		if words = words[1:]; len(words) == 0 {
			return false
		}
	case "is", "was", "are", "were", "seems", "looks", "be":
	default:
		return false
	}
	words = after(words[1:], "be", "been", "clearly", "obviously", "definitely", "actually", "also", "probably", "just", "still", "completely", "totally", "simply", "plainly")
	switch w := at(words, 0); w {
	case "not":
		switch at(words, 1) {
		case "correct", "right", "valid", "true", "accurate", "it":
			return true
		case "the", "my", "our":
			return at(words, 2) == "answer" || at(words, 2) == "right" || at(words, 2) == "correct" || at(words, 2) == "final"
		}
		return false
	case "a", "an":
		return at(words, 1) == "mistake" || at(words, 1) == "error"
	case "no", "none", "never", "neither", "without", "undefined":
		return false
	default:
		return formula.Sense(w) == "denial"
	}
}

// interjects reports whether a clause starts to take something back.
func interjects(words []string) bool {
	words = after(words, "but", "and", "oh", "or")
	switch w := at(words, 0); w {
	case "no", "nope":
		return len(words) == 1 || words[1] == "wait" || words[1] == "it" || words[1] == "that"
	case "rather":
		return true
	case "it", "that", "this":
		return at(words, 1) == "should" && at(words, 2) == "be"
	case "on":
		return at(words, 1) == "second"
	default:
		return formula.Opening(w) == "interjection"
	}
}

// offers reports whether a clause offers another value: "or maybe 6", "alternatively, 6".
func offers(words []string, clause string) bool {
	if formula.Opening(words[0]) != "alternative" || !strings.ContainsAny(clause, "0123456789\\$") {
		return false
	}
	if words[0] != "or" {
		return true
	}
	return len(words) > 1 && formula.Opening(words[1]) == "alternative"
}

// at returns a word, empty beyond the last.
func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// after returns words without those at their start that are among skipped.
func after(words []string, skipped ...string) []string {
	for len(words) > 0 && slices.Contains(skipped, words[0]) {
		words = words[1:]
	}
	return words
}
