// Spellings that the lexer does not know, rewritten.

package formula

import (
	"regexp"
	"strings"
)

// Spellings that are brought to others before an answer is read.
var (
	textFraction  = regexp.MustCompile(`\^\{?(\d+)\}?\s*/\s*_\{?(\d+)\}?`)
	outOf         = regexp.MustCompile(`^(\d+)\s+(?:out of|in)\s+(\d+)$`)
	choiceName    = regexp.MustCompile(`^(?:\\text\{)?(?:Option|Choice|option|choice) \(?([A-J])\)?\}?$`)
	letterList    = regexp.MustCompile(`^\(?[A-J]\)?(?:\s*(?:,|and|or|&)+\s*\(?[A-J]\)?)+$`)
	alternative   = regexp.MustCompile(`\\text\{\s*\(or ([^{}()]*)\)\s*\}`)
	membership    = regexp.MustCompile(`[\s,;~]*\(\s*([a-z])\s*\\in\s*(\\(?:mathbb|Bbb)\s*\{?[ZN]\}?(?:[\^_]\{?[+*>0-9]+\}?)?)\s*\)$`)
	currencyFirst = regexp.MustCompile(`^(-?)(?:USD|US\s*\\dollar|US\\\$|US\$|Rs\.?|INR|EUR|GBP)\s*(\d.*)$`)
)

// notation rewrites spellings that the lexer does not know.
func notation(s string) string {
	if strings.Contains(s, "^") && strings.Contains(s, "_") && strings.Contains(s, "/") {
		if loc := textFraction.FindStringSubmatchIndex(s); loc != nil && (loc[0] == 0 || Digit(s[loc[0]-1])) { // 2³⁄₄
			s = s[:loc[0]] + `\frac{` + s[loc[2]:loc[3]] + "}{" + s[loc[4]:loc[5]] + "}" + s[loc[1]:]
		}
	}
	if strings.Contains(s, "(or ") {
		s = alternative.ReplaceAllString(s, ` \text{ or } $1`)
	}
	if len(s) < 40 && strings.IndexByte(s, ' ') > 0 {
		if strings.Contains(s, "ption ") || strings.Contains(s, "hoice ") {
			if m := choiceName.FindStringSubmatch(s); m != nil {
				return m[1]
			}
		}
		if t := strings.TrimSpace(UnwrapText(s)); t != s && letterList.MatchString(t) {
			return t
		}
	}
	if len(s) < 40 && s != "" && Digit(s[0]) && Digit(s[len(s)-1]) && (strings.Contains(s, "in") || strings.Contains(s, "out of")) {
		if m := outOf.FindStringSubmatch(s); m != nil {
			return m[1] + "/" + m[2]
		}
	}
	if strings.HasSuffix(s, ")") && strings.Contains(s, `\in`) {
		s = membership.ReplaceAllString(s, `, $1 \in $2`)
	}
	if s != "" && (s[0] >= 'A' && s[0] <= 'Z' || s[0] == '-') && len(s) < 64 {
		if m := currencyFirst.FindStringSubmatch(s); m != nil {
			s = m[1] + m[2]
		}
	}
	if hour, ok := strings.CutSuffix(s, "o'clock"); ok && len(s) < 20 {
		s = strings.TrimSpace(hour)
	}
	return s
}

var label = regexp.MustCompile(`^(?:\\(?:text|textbf|mathrm|mathbf|mathsf|bf)\s*\{\s*\(?[A-J][).:]+\s*\}|\([A-J]\)|[A-J][).:])(?:\s|~|\\[ ,;]|\\quad)*([^\s].*)$`)

// Unlabelled returns what follows the letter of a choice, as in (D) 4 and \textbf{(D)}\ 4; empty if there is no such letter.
func Unlabelled(s string) string {
	if len(s) > MaxBareResponse || len(s) < 3 || s[0] != '\\' && s[0] != '(' && (s[0] < 'A' || s[0] > 'J') {
		return ""
	}
	if m := label.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// partLabel is the label of a part of an answer: (a), \text{(ii)}.
var partLabel = regexp.MustCompile(`(?:^|[\s,;~}\\])(?:\\(?:text|textbf|mathrm)\s*\{\s*)?(?:\\left)?\(([a-e]|i{1,3}|iv|v)(?:\\right)?\)(?:\s*\}|[\s~:]|\\[ ,;])`)

// partSequences are the labels that follow each other.
var partSequences = [][]string{{"a", "b", "c", "d", "e"}, {"i", "ii", "iii", "iv", "v"}}

// labelledParts returns the parts of an answer such as "(a) 5, (b) 6"; nil if it has no such labels in their order.
func labelledParts(s string) (parts []string) {
	if len(s) < 7 || !strings.Contains(s[4:], "(b") && !strings.Contains(s[4:], "(ii") {
		return nil
	}
	found := partLabel.FindAllStringSubmatchIndex(s, 6)
	if len(found) < 2 || strings.TrimSpace(s[:found[0][0]]) != "" {
		return nil
	}
	for _, labels := range partSequences {
		parts = parts[:0]
		for i, at := range found {
			if i == len(labels) || s[at[2]:at[3]] != labels[i] {
				break
			}
			end := len(s)
			if i+1 < len(found) {
				end = found[i+1][0] + 1
			}
			part := strings.TrimSuffix(strings.TrimRight(s[at[1]:end], " ,;~\\"), `\text{ and }`)
			if part = strings.TrimSpace(part); part == "" || strings.ContainsAny(part[len(part)-1:], "+-*/=^_({[<>") {
				break
			}
			parts = append(parts, part)
		}
		if len(parts) == len(found) {
			return parts
		}
	}
	return nil
}

// parsedParts parses the parts of an answer, which have an order.
func parsedParts(parts []string, steps *Budget, run series) ([]*Node, error) {
	n := &Node{Kind: KindTuple}
	for _, part := range parts {
		readings, err := Parse(part, steps, run)
		if err != nil {
			return nil, err
		}
		n.Args = append(n.Args, readings[0])
	}
	return []*Node{n}, nil
}

// European numerals.
var (
	commaDecimal = regexp.MustCompile(`^([-+]?\d+),(\d+)([^,;\d].*)?$`)
	pointGroups  = regexp.MustCompile(`^([-+]?\d{1,3}(?:\.\d{3})+),(\d+)([^,;\d].*)?$`)
	manyGroups   = regexp.MustCompile(`^[-+]?\d{1,3}(?:\.\d{3}){2,}$`)
	spaceGroups  = regexp.MustCompile(`^([-+]?\d{1,3}(?: \d{3})+),(\d+)$`)
	indianGroups = regexp.MustCompile(`^[-+]?\d{1,2}(?:,\d{2})+,\d{3}$`)
)

// DecimalComma returns the English spelling of 3,14 and 1.234,5 and 1 234,5 and 1.234.567 and 12,34,567; empty for anything else. Three digits after
// a single comma are a group of thousands unless a zero stands before it, and 2,0 is a list.
func DecimalComma(s string) string {
	if len(s) > 64 || len(s) < 3 || !strings.ContainsAny(s, ",.") {
		return ""
	}
	s = strings.ReplaceAll(strings.ReplaceAll(Tidy(Fold(s)), `\text`, " "), "{,}", ",")
	if manyGroups.MatchString(s) {
		return strings.ReplaceAll(s, ".", "")
	}
	if indianGroups.MatchString(s) {
		return strings.ReplaceAll(s, ",", "")
	}
	if m := spaceGroups.FindStringSubmatch(s); m != nil {
		return strings.ReplaceAll(m[1], " ", "") + "." + m[2]
	}
	if m := pointGroups.FindStringSubmatch(s); m != nil {
		return strings.ReplaceAll(m[1], ".", "") + "." + m[2] + m[3]
	}
	m := commaDecimal.FindStringSubmatch(s)
	if m == nil || strings.Trim(m[2], "0") == "" || len(m[2]) == 3 && strings.TrimLeft(m[1], "+-") != "0" {
		return ""
	}
	return m[1] + "." + m[2] + m[3]
}
