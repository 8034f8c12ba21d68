package verify

import (
	"strings"
	"unicode"
)

// choose grades multiple choice: the letter, or the text of an option instead of it.
func (k Key) choose(response string) Verdict {
	gold := -1
	for _, g := range k.Gold {
		if gold = k.option(trim(g)); gold >= 0 {
			break
		}
	}
	if gold < 0 {
		return Verdict{Reason: ReasonGold, Gold: anyOf(k.Gold)}
	}
	v := Verdict{Gold: letterOf(gold)}
	found := k.picked(response)
	if found.reason != "" {
		v.Outcome, v.Reason = OutcomeDifferent, found.reason
		return v
	}
	v.Extracted = found.text
	choice := k.option(found.text)
	switch {
	case choice < 0:
		v.Outcome, v.Reason, v.Answer, v.Rule = OutcomeDifferent, ReasonDifferent, found.text, "none of the options"
	case choice == gold:
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
	want := plain(answer)
	for i, o := range k.Options {
		if plain(o) == want {
			return i
		}
	}
	found := -1
	for i, o := range k.Options {
		if (Key{Gold: []string{o}, Policy: k.Policy}).decide(trim(answer)).Outcome == OutcomeEqual {
			if found >= 0 {
				return -1 // two options at once
			}
			found = i
		}
	}
	return found
}

// letter returns the option that an answer starts with as a letter: C, (C), \text{(C)}, C. text, C) text.
func (k Key) letter(answer string) int { return letterAt(answer, len(k.Options)) }

func letterAt(answer string, options int) int {
	s := strings.TrimSpace(unwrapText(fold(answer)))
	s = strings.TrimLeft(s, "$*_ ([{`\"'")
	for _, w := range []string{"Option ", "option ", "Choice ", "choice ", "Answer: ", "answer: "} {
		s = strings.TrimPrefix(s, w)
	}
	s = strings.TrimLeft(s, "$*_ ([{`\"'")
	if s == "" {
		return -1
	}
	i := int(s[0]|0x20) - 'a'
	if !letter(s[0]) || i >= options {
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
		if text := trim(boxed(response, box)); text != "" && !blank(text) {
			return extraction{text: text}
		}
		return extraction{reason: ReasonNoAnswer}
	}
	response = response[max(0, len(response)-maxAnswer):]
	if t := trim(response); len(t) < 200 && k.letter(t) >= 0 {
		if other := k.standing(t, false); other < 0 || other == k.letter(t) { // not "(A) is wrong, it is (C)"
			return extraction{text: t}
		}
	}
	at := -1
	for _, a := range []string{"answer is", "answer:", "answer**:", "answer:**", "answer is:", "answer would be", "answer must be", "it must be", "option is", "choice is", "choose", "select", "answer\":"} {
		if i := lastFold(response, a); i >= 0 && i+len(a) > at {
			at = i + len(a)
		}
	}
	if at >= 0 {
		rest := response[at:]
		if t := strings.TrimLeft(rest, " \t\n*_:$"); t != "" {
			line := t
			if j := strings.IndexByte(line, '\n'); j >= 0 {
				line = line[:j]
			}
			if lower := strings.ToLower(line); strings.HasPrefix(lower, "not ") || strings.HasPrefix(lower, "neither ") {
				if i := k.closing(line); i >= 0 {
					return extraction{text: letterOf(i)}
				}
			} else if i := k.standing(line, true); i >= 0 {
				return extraction{text: letterOf(i)}
			}
			if o := k.option(trim(line)); o >= 0 {
				return extraction{text: trim(line)}
			}
		}
	}
	if i := k.standing(response, false); i >= 0 {
		return extraction{text: letterOf(i)}
	}
	if i := k.closing(response); i >= 0 {
		return extraction{text: letterOf(i)}
	}
	if t := trim(response); t != "" && len(t) <= maxBareResponse && k.option(t) >= 0 {
		return extraction{text: t}
	}
	return extraction{reason: ReasonNoAnswer}
}

// closing finds an option letter that ends the last sentence: "so B." It is none where it stands alone, or where it may
// be one of two. A and I without a full stop may be the beginning of a sentence that was cut.
func (k Key) closing(s string) int {
	t := strings.TrimRight(s, " \t\r\n.!*_)]")
	n := len(t)
	if n < 3 || t[n-2] != ' ' || !letter(t[n-3]) && t[n-3] != ',' || t[n-1] < 'A' || int(t[n-1]-'A') >= len(k.Options) {
		return -1
	}
	if strings.HasSuffix(t[:n-2], " or") || strings.HasSuffix(t[:n-2], " and") || (t[n-1] == 'A' || t[n-1] == 'I') && t == strings.TrimRight(s, " \t\r\n") {
		return -1
	}
	return int(t[n-1] - 'A')
}

// standing finds an option letter that stands alone: the first of a declared line, the last bracketed or bold one of
// a whole response. The English words "a" and "I" are none unless nothing but punctuation follows.
func (k Key) standing(s string, declared bool) int {
	found := -1
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
		if letter(before) || digit(before) || before == '\'' || letter(after) || digit(after) || after == '\'' || before >= 0x80 || after >= 0x80 {
			continue
		}
		enclosed := (before == '(' || before == '[' || before == '*' || before == '{') && (after == ')' || after == ']' || after == '*' || after == '}' || after == '.' || after == ':')
		if !enclosed {
			if !declared {
				continue
			}
			if (c == 'A' || c == 'I') && after == ' ' && english(c, s[i+2:]) {
				continue
			}
		}
		found = int(c - 'A')
		if declared {
			return found
		}
	}
	return found
}

// english reports whether the letter A or I before rest is the English word.
func english(c byte, rest string) bool {
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
