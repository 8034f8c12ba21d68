// What the last sentences of a response say.

package verify

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// breaksOff reports whether a text ends with a word that no sentence ends with.
func breaksOff(s string) bool {
	s = strings.TrimRight(s, " \t\r\n")
	word := s[strings.LastIndexAny(s, " \t\r\n")+1:]
	if len(word) == len(s) {
		return false
	}
	switch strings.ToLower(word) {
	case "to", "the", "of", "and", "is", "are", "an", "for", "that", "we", "with", "by", "from", "let", "then", "which", "because", "since", "if", "or", "where", "get", "have", "so", "thus", "therefore", "hence":
		return true
	}
	return false
}

var bullets = []string{"- ", "* ", "• "}

// bulleted returns the list that the bullets at the end of a text make, each of which holds one formula.
func bulleted(s string) string {
	var items []string
	s = strings.TrimRight(s[max(0, len(s)-formula.MaxAnswer):], " \t\r\n")
	for len(items) < formula.MaxBoxes {
		start := strings.LastIndexByte(s, '\n') + 1
		line := strings.TrimSpace(s[start:])
		bullet := formula.Prefixed(line, bullets)
		item := formula.Trim(line[bullet:])
		if bullet == 0 || len(item) > 80 || !strings.ContainsAny(item, "0123456789") || !readable(item) {
			break
		}
		items = append(items, item)
		s = strings.TrimRight(s[:max(0, start-1)], " \t\r\n")
	}
	if len(items) < 2 {
		return ""
	}
	slices.Reverse(items)
	return strings.Join(items, ", ")
}

// lastSentence returns the last sentence of the last line.
func lastSentence(s string) string {
	s = strings.TrimRight(s[max(0, len(s)-formula.MaxAnswer):], " \t\r\n")
	s = formula.Trim(s[strings.LastIndexByte(s, '\n')+1:])
	if i := strings.LastIndex(s, ". "); i >= 0 {
		s = s[i+2:]
	}
	return s
}

// refusal returns the last sentence if it says that there is too little to go by, whatever numbers it mentions.
func refusal(s string) string {
	s = lastSentence(s)
	if at, _ := refusals.last(s); at >= 0 {
		return s
	}
	return ""
}

var refusals = newPhrases("cannot be determined", "can not be determined", "can't be determined", "cannot determine", "can't determine", "not enough information", "insufficient information", "impossible to determine", "not possible to determine", "unable to determine", "unable to answer", "unable to solve", "cannot solve", "can't solve", "cannot answer", "can't answer", "cannot provide", "can't provide", "cannot help", "can't help")

// signed puts a minus before a number after the word "negative" or "minus".
func signed(before, number string) string {
	t := strings.TrimRight(before, " $")
	for _, w := range []string{"negative", "minus"} {
		if rest := strings.TrimRight(strings.TrimSuffix(t, w), " "); strings.HasSuffix(t, w) && formula.Digit(number[0]) && strings.Trim(number, "0123456789.,/") == "" && (rest == "" || !formula.Digit(rest[len(rest)-1])) {
			if lastWord(rest) == "or" && lastWord(strings.TrimSuffix(rest, "or")) == "plus" {
				return `\pm ` + number
			}
			return "-" + number
		}
	}
	return number
}

// apart puts spaces between formulas and the letters of scripts that are written without them.
func apart(s string) string {
	wide := func(r rune) bool { return r >= 0x3040 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 || r == 0xff1a }
	if strings.IndexFunc(s, wide) < 0 {
		return s
	}
	var b strings.Builder
	before := ' '
	for _, r := range s {
		if wide(r) != wide(before) {
			b.WriteByte(' ')
		}
		before = r
		b.WriteRune(r)
	}
	return b.String()
}

// headed returns what follows the last equals sign of a chain whose head was lost to the words before it: "17 feet * 2 =
// 34" reaches here as "* 2 = 34".
func headed(s string) string {
	if s == "" {
		return s
	}
	if s[0] == '*' || s[0] == '/' || strings.Count(s, ")") > strings.Count(s, "(") {
		if i := strings.LastIndexByte(s, '='); i >= 0 {
			return formula.Trim(s[i+1:])
		}
	}
	return s
}

// stated returns the value that a single sentence gives: what follows the last "is", "are" or "equals"; else the only
// amount of money; else the last number if the sentence opens with a clause ("After 2 years, she has 600 left"); else the
// first number.
func stated(s string) string {
	lower := formula.Lowered(s)
	for _, w := range []string{" is ", " are ", " equals "} {
		if i := strings.LastIndex(lower, w); i >= 0 {
			if t, at := parted(s[i+len(w):]).first(); t != "" && named(s[:i+len(w)+at.from]) && !dangles(t) {
				return t
			}
		}
	}
	if strings.Count(s, "$") == 1 {
		if t, _ := parted(s[strings.IndexByte(s, '$'):]).first(); t != "" {
			return t
		}
	}
	if opening, _, comma := strings.Cut(lower, ","); comma {
		word, _, _ := strings.Cut(strings.TrimSpace(opening), " ")
		switch word {
		case "in", "after", "if", "when", "for", "at", "with", "on", "by", "since", "before", "during", "therefore", "so", "thus", "hence":
			t, _ := parted(s).final()
			return t
		}
	}
	t, _ := parted(s).first()
	return t
}

// dangles reports whether a formula stops in its middle, as where the response was cut.
func dangles(s string) bool {
	t := strings.TrimRight(s, " $")
	for _, w := range []string{"+", "-", "*", "/", "=", "^", "_", "(", "[", "{", "<", `\`, `\cdot`, `\times`, `\frac`, `\begin`, `\left`, `\equiv`, `\ge`, `\le`} {
		if strings.HasSuffix(t, w) {
			return true
		}
	}
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		}
	}
	return depth > 0
}

// displays are the environments of displayed formulas.
var displays = []string{"equation", "align", "aligned", "gather", "gathered", "multline", "eqnarray", "split", "math", "displaymath"}

// displayed returns the formula of the environment that ends the text: of several rows all as one chain if they are one,
// else the last row.
func displayed(s string) string {
	s = strings.TrimRight(s, " \t\r\n.$")
	s = strings.TrimSuffix(strings.TrimSuffix(s, `\]`), `\)`)
	s = strings.TrimRight(s, " \t\r\n.")
	end := strings.LastIndex(s, `\end{`)
	if end < 0 || !strings.HasSuffix(s, "}") {
		return ""
	}
	body, name := s[:end], s[end+len(`\end`):]
	if !slices.Contains(displays, strings.TrimSuffix(name[1:len(name)-1], "*")) {
		return ""
	}
	if open := strings.LastIndex(body, `\begin`+name); open >= 0 {
		body = body[open+len(`\begin`+name):]
	}
	if t := displayed(body); t != "" {
		return t
	}
	rows := strings.Split(strings.ReplaceAll(body, "&", " "), `\\`)
	for len(rows) > 1 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	chain := formula.Trim(strings.Join(rows, " "))
	if strings.HasPrefix(strings.TrimSpace(rows[len(rows)-1]), "=") && readable(chain) {
		return chain
	}
	return strings.TrimLeft(formula.Trim(rows[len(rows)-1]), "= ")
}

// disowned reports whether the words before a formula say that it is not the answer.
func disowned(before string) bool {
	t := strings.ToLower(strings.TrimRight(before[max(0, len(before)-24):], " $(*"))
	for _, w := range []string{" not", "n't", "n't be", "not be", "cannot be", "cannot equal", "not equal to", " never", "rather than", "instead of"} {
		if strings.HasSuffix(t, w) {
			return true
		}
	}
	return false
}

// spokenAnswer returns what may be an answer in words: a short response, or the last sentence, without its formulas.
func spokenAnswer(s string) string {
	text := formula.Trim(s)
	if len(text) > formula.MaxBareResponse {
		text = lastSentence(s)
	}
	for range formula.MaxBoxes {
		open := strings.IndexByte(text, '$')
		if open < 0 {
			break
		}
		shut := strings.IndexByte(text[open+1:], '$')
		if shut < 0 {
			break
		}
		text = text[:open] + "it" + text[open+shut+2:]
	}
	if len(text) > formula.MaxBareResponse || !holdsAnswer(text) {
		return ""
	}
	return text
}

// unbolded removes the marks of bold Markdown; x**2 keeps its own.
func unbolded(s string) string {
	if !strings.Contains(s, "**") {
		return s
	}
	inside := func(c byte) bool { return formula.Letter(c) || formula.Digit(c) || c == '(' || c == ')' }
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.HasPrefix(s[i:], "**") && !(i > 0 && i+2 < len(s) && inside(s[i-1]) && inside(s[i+2])) {
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// uncalculated removes the calculator's marks <<6*7=42>> of GSM8K solutions.
func uncalculated(s string) string {
	if !strings.Contains(s, "<<") {
		return s
	}
	var b strings.Builder
	for {
		open := strings.Index(s, "<<")
		if open < 0 {
			break
		}
		shut := strings.Index(s[open:], ">>")
		if shut < 0 {
			break
		}
		b.WriteString(s[:open])
		s = s[open+shut+2:]
	}
	b.WriteString(s)
	return b.String()
}
