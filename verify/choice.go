// Multiple choice: which option a response names.

package verify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// choose grades multiple choice: the letter, or the text of an option instead of it.
func (k Key) choose(response string) Verdict {
	var golds []int
	for _, g := range k.Gold {
		if gold := k.option(formula.Trim(g)); gold >= 0 {
			golds = append(golds, gold)
		}
	}
	if golds == nil {
		return Verdict{Reason: ReasonGold, Gold: anyOf(k.Gold)}
	}
	v := Verdict{Gold: letterOf(golds[0])}
	found := k.picked(response)
	if found.reason != "" {
		v.Outcome, v.Reason = OutcomeDifferent, found.reason
		return v
	}
	v.Extracted = found.text
	if found.flaw != "" {
		v.Outcome, v.Reason, v.Rule = OutcomeDifferent, ReasonDifferent, found.flaw.Error()
		return v
	}
	choice := k.option(found.text)
	switch {
	case choice < 0:
		v.Outcome, v.Reason, v.Answer, v.Rule = OutcomeDifferent, ReasonDifferent, found.text, "none of the options"
	case slices.Contains(golds, choice):
		v.Gold = letterOf(choice)
		v.Outcome, v.Reason, v.Answer, v.Rule = OutcomeEqual, ReasonEqual, letterOf(choice), "option"
	default:
		v.Outcome, v.Reason, v.Answer, v.Rule = OutcomeDifferent, ReasonDifferent, letterOf(choice), "option"
	}
	return v
}

func letterOf(i int) string { return string(rune('A' + i)) }

// option returns the index of the option that an answer names by its letter or its text, or -1.
func (k Key) option(answer string) int {
	if i := k.letter(answer); i >= 0 {
		return i
	}
	want := formula.Plain(answer)
	for i, o := range k.Options {
		if formula.Plain(o) == want {
			return i
		}
	}
	found := -1
	for i, o := range k.Options {
		if (Key{Gold: []string{o}, Policy: k.Policy}).decide(formula.Trim(answer), nil).Outcome == OutcomeEqual {
			if found >= 0 {
				return -1 // two options at once
			}
			found = i
		}
	}
	return found
}

// letter returns the option that an answer starts with as a letter: C, (C), \text{(C)}, C. text, C) text.
func (k Key) letter(answer string) int {
	if i := letterAt(answer, len(k.Options)); i >= 0 {
		return i
	}
	head, rest, _ := strings.Cut(strings.TrimSpace(formula.UnwrapText(formula.Fold(answer))), " ") // B green
	if len(head) == 1 && formula.Letter(head[0]) && rest != "" {
		if i := int(head[0]|0x20) - 'a'; i < len(k.Options) && formula.Plain(rest) == formula.Plain(k.Options[i]) {
			return i
		}
	}
	return -1
}

// unstyled takes the fonts off a letter.
var unstyled = strings.NewReplacer(`\mathbf`, "", `\boldsymbol`, "", `\bf `, "", `\bm`, "", `\mathsf`, "", `\mathit`, "")

func letterAt(answer string, options int) int {
	s := strings.TrimSpace(formula.UnwrapText(unstyled.Replace(formula.Fold(answer))))
	s = strings.TrimLeft(s, "$*_ ([{`\"'")
	for _, w := range []string{"Option ", "option ", "Choice ", "choice ", "Answer: ", "answer: "} {
		s = strings.TrimPrefix(s, w)
	}
	s = strings.TrimLeft(s, "$*_ ([{`\"'")
	if s == "" {
		return -1
	}
	i := int(s[0]|0x20) - 'a'
	if !formula.Letter(s[0]) || i >= options {
		return -1
	}
	rest := s[1:]
	trimmed := strings.TrimLeft(rest, "*_$ `\"'")
	switch {
	case strings.Trim(rest, ")]}.*_$: `\"',") == "":
		return i
	case trimmed[0] == ')' || trimmed[0] == ']' || trimmed[0] == ':' || trimmed[0] == '.':
		if rest := strings.TrimLeft(trimmed[1:], " }*_$"); rest != "" && !strings.ContainsRune("+-*/^=<>_!,;", rune(rest[0])) && !strings.HasPrefix(rest, "or ") && !strings.HasPrefix(rest, "and ") {
			return i
		}
	}
	return -1
}

// picked finds the choice that a response declares last.
func (k Key) picked(response string) extraction {
	response, box, open := scan(response)
	if open {
		return extraction{reason: ReasonUnfinished}
	}
	if box >= 0 {
		text, rest := formula.Trim(boxed(response, box)), response[boxEnd(response, box):]
		if text == "" || blank(text) {
			return extraction{reason: ReasonNoAnswer}
		}
		return k.revised(extraction{text: text, flaw: rivalry(response, box)}, rest, false)
	}
	response = strings.TrimRight(untagged(response[max(0, len(response)-formula.MaxAnswer):]), " \t\r\n")
	if t := formula.Trim(response); len(t) < 200 && k.letter(t) >= 0 && !rejected(t) {
		if found := k.standing(t, false); len(found) < 2 && (len(found) == 0 || found[0] == k.letter(t)) { // not "(A) is wrong, it is (C)"
			return extraction{text: t}
		}
	}
	if text, rest := k.announced(response); text != "" {
		return k.revised(extraction{text: text}, rest, true)
	}
	if i := k.confirmed(response); i >= 0 {
		return extraction{text: letterOf(i)}
	}
	if found := k.standing(response, false); len(found) > 0 {
		return extraction{text: k.letters(found)}
	}
	if i := k.closing(response); i >= 0 {
		return extraction{text: letterOf(i)}
	}
	if t := formula.Trim(response); t != "" && len(t) <= formula.MaxBareResponse && k.option(t) >= 0 && !rejected(t) {
		return extraction{text: t}
	}
	return extraction{reason: ReasonNoAnswer}
}

// revised returns the choice that is left after the text behind it, as revisedBy does for other answers.
func (k Key) revised(e extraction, rest string, within bool) extraction {
	f, from := afterwards(rest, within)
	switch f {
	case withdrawn, revised:
		if found := k.picked(rest[from:]); found.text != "" {
			return found
		}
		if f == withdrawn {
			return extraction{reason: ReasonNoAnswer, rule: "an answer that is taken back"}
		}
	}
	return e
}

// rejected reports whether a text that starts with an option's letter says that it is not the answer.
func rejected(t string) bool {
	i := strings.IndexFunc(t, unicode.IsLetter)
	return i >= 0 && denied(t[:i], t[i+1:])
}

// letters writes option letters as an answer: one, or several as a list that no option equals.
func (k Key) letters(found []int) string {
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = letterOf(f)
	}
	return strings.Join(names, ", ")
}

// choosing are words that declare a choice, besides the announcements of any answer.
var choosing = newPhrases("option is", "choice is", "option:", "choice:", "it must be", "i choose", "would choose", "i select", "i pick", "go with", "would be option", "answer choice", "故选", "应选", "选择", "选")

// announced returns the choice that the words after an announcement name, and the text that they start: a letter, several
// letters, or the text of an option. An announcement without a choice, as in "the answer is given above", gives way to the one before it.
func (k Key) announced(s string) (text, rest string) {
	end := len(s)
	for range 4 {
		at, after := announcement(s[:end])
		if other, past := choosing.last(s[:end]); past > after {
			at, after = other, past
		}
		if at < 0 {
			break
		}
		end, rest = at, s[after:]
		line := strings.TrimLeft(s[after:], " \t\r\n*_:：$-–—#=")
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		line, _, _ = strings.Cut(line, "</answer>")
		lower := formula.Lowered(line)
		switch {
		case strings.HasPrefix(lower, "not ") || strings.HasPrefix(lower, "neither "):
			if i := k.closing(line); i >= 0 {
				return letterOf(i), rest
			}
			continue
		case line == "a" || line == "i":
			if !strings.HasSuffix(s[:after], ":") && !strings.HasSuffix(s[:after], ">") {
				continue // cut at an English word
			}
		}
		if found := k.standing(line, true); len(found) > 0 {
			return k.letters(found), rest
		}
		if text := formula.Trim(line); k.option(text) >= 0 {
			return text, rest
		}
	}
	return "", ""
}

// confirmed finds the letter before the last "is correct" or "is the answer".
func (k Key) confirmed(s string) int {
	for end := len(s); end > 0; {
		at, _ := confirming.last(s[:end])
		if at < 0 {
			break
		}
		end = at
		t := strings.TrimRight(s[:at], " )]*_.\"'$}")
		n := len(t)
		if n == 0 || t[n-1] < 'A' || int(t[n-1]-'A') >= len(k.Options) || n > 1 && (formula.Letter(t[n-2]) || formula.Digit(t[n-2]) || t[n-2] >= 0x80) {
			continue
		}
		before := strings.TrimRight(t[:n-1], " ([*_\"'${")
		if strings.HasSuffix(before, " or") || strings.HasSuffix(before, " and") || strings.HasSuffix(before, ",") {
			continue
		}
		return int(t[n-1] - 'A')
	}
	return -1
}

var confirming = newPhrases("is correct", "is the correct", "is right", "is the right", "is the best", "is the answer", "is the final answer", "is my answer", "is my final answer", "is true", "must be correct", "seems correct", "would be correct")

// closing finds an option letter that ends the last sentence: "so B." It is none where it stands alone, after "not", or
// where it may be one of several. A and I without a full stop may be the beginning of a sentence that was cut.
func (k Key) closing(s string) int {
	t := strings.TrimRight(s, " \t\r\n.!*_)]")
	n := len(t)
	if n < 3 || t[n-2] != ' ' && t[n-2] != '*' && t[n-2] != '(' || t[n-1] < 'A' || int(t[n-1]-'A') >= len(k.Options) {
		return -1
	}
	before := strings.TrimRight(t[:n-1], " *(_")
	m := len(before)
	if m == 0 || !formula.Letter(before[m-1]) && before[m-1] != ',' && before[m-1] < 0x80 {
		return -1
	}
	if strings.HasSuffix(before, " or") || strings.HasSuffix(before, " and") || denied(before, "") || (t[n-1] == 'A' || t[n-1] == 'I') && t == strings.TrimRight(s, " \t\r\n") {
		return -1
	}
	if named := strings.TrimSuffix(before, ","); named != before && len(named) > 0 && (len(named) == 1 || named[len(named)-2] == ' ') {
		return -1 // A, B, C, D
	}
	return int(t[n-1] - 'A')
}

// standing finds the option letters that stand alone: those of a declared line up to the first word that ends the list,
// or the last bracketed or bold one of a whole response with those that are listed with it. The English words "a" and
// "I" are none unless nothing but punctuation follows, and neither is a letter that the text denies.
func (k Key) standing(s string, declared bool) []int {
	var found []int
	past := 0 // the end of the last letter found
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < 'A' || c > 'Z' || int(c-'A') >= len(k.Options) {
			continue
		}
		before, after := byte(' '), byte(' ')
		if i > 0 {
			before = s[i-1]
		}
		if i+1 < len(s) {
			after = s[i+1]
		}
		if formula.Letter(before) || formula.Digit(before) || before == '\'' || formula.Letter(after) || formula.Digit(after) || after == '\'' || declared && after == '-' {
			continue
		}
		if !declared && (before >= 0x80 || after >= 0x80) {
			continue
		}
		enclosed := (before == '(' || before == '[' || before == '*' || before == '{') && (after == ')' || after == ']' || after == '*' || after == '}' || after == '.' || after == ':')
		if !enclosed {
			if !declared {
				continue
			}
			if (c == 'A' || c == 'I') && after == ' ' && i+2 <= len(s) && english(s[i+2:]) {
				continue
			}
		}
		if denied(s[:i], s[i+1:]) {
			continue
		}
		if len(found) > 0 && declared && !joined(s[past:i]) {
			return found
		}
		if len(found) > 0 && !declared && (!joined(s[past:i])) {
			found = found[:0]
		}
		if len(found) == 0 || found[len(found)-1] != int(c-'A') {
			found = append(found, int(c-'A'))
		}
		past = i + 1
	}
	return found
}

// joined reports whether two letters with this text between them are one list: "A or B", "(A), (B)".
func joined(s string) bool {
	t := strings.Trim(strings.ToLower(s), " )(]*[_.,/&{}\\\"$")
	switch t {
	case "", "or", "and", "and/or", "or option", "and option", "or possibly", "or maybe":
		return len(s) < 24
	}
	return false
}

// denied reports whether a letter between these texts is named as one that is not the answer.
func denied(before, after string) bool {
	for s := strings.TrimRight(before, " (*[_{$\"'"); ; {
		w := lastWord(s)
		s = strings.TrimRight(strings.TrimRight(s, " \n\t"), "'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
		switch class := formula.Sense(w); {
		case w == "option" || w == "choice" || w == "answer" || w == "letter" || w == "the" || w == "be" || w == "of" || w == "options" || w == "choices":
			continue
		case w == "but":
			switch lastWord(s) {
			case "anything", "all", "everything", "any":
				return true
			}
			return false
		case class == "denial" || class == "exclusion" || class == "comparison" || w == "instead":
			return true
		}
		break
	}
	after = strings.TrimLeft(after, " )*]_}$\"")
	return judged(spokenWords(after[:clauseEnd(after, 0)]), true)
}

// english reports whether A or I before rest is the English word.
func english(rest string) bool {
	word := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }); i >= 0 {
		word = rest[:i]
	}
	word = strings.ToLower(word)
	if word == "" {
		return false
	}
	for _, w := range []string{"because", "and", "since", "as", "which", "is", "for", "or", "with", "but", "not", "rather", "due", "based"} {
		if word == w {
			return false
		}
	}
	return true
}
