// Boxes and JSON values around an answer.

package formula

// Boxes and other wrappers around an answer.

import (
	"encoding/json"
	"strings"
)

// Prefixed returns the length of the word that s starts with, or 0.
func Prefixed(s string, words []string) int {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}

// Group returns where the braces that open at i end, 0 if they do not close, and how many are open there.
func Group(s string, i int) (end, open int) {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1, 0
			}
		}
	}
	return 0, open
}

func IsBox(s string) bool { return strings.HasPrefix(s, `\boxed`) || strings.HasPrefix(s, `\fbox`) }

// BoxAt returns the content of the box that starts at i, and where it ends. A box without its closing brace ends with
// its line; a box without braces holds one token.
func BoxAt(s string, i int) (content string, end int) {
	j := i + 1
	for j < len(s) && Letter(s[j]) {
		j++
	}
	for j < len(s) && (s[j] == ' ' || s[j] == '\n' || s[j] == '\t') {
		j++
	}
	if j == len(s) {
		return "", j
	}
	if s[j] != '{' {
		k := j
		for k < len(s) && s[k] != ' ' && s[k] != '$' && s[k] != '\n' && s[k] != ',' && s[k] != '}' && !(s[k] == '\\' && k+1 < len(s) && !Letter(s[k+1])) {
			k++
		}
		return s[j:k], k
	}
	if end, _ := Group(s[:min(len(s), j+MaxAnswer+1)], j); end > 0 {
		return s[j+1 : end-1], end
	}
	rest := s[j+1 : min(len(s), j+1+MaxAnswer)]
	end = j + 1 + len(rest)
	if k := strings.IndexAny(rest, "\n$"); k >= 0 { // its brace was forgotten; at the end of the text more may be missing
		end = j + 1 + k
		rest = rest[:k]
		if open := strings.Count(rest, "{") - strings.Count(rest, "}"); open > 0 && open < maxWrappers {
			rest += strings.Repeat("}", open)
		}
	}
	return rest, end
}

// JsonString returns the string or number at the start of a JSON value, unescaped; empty if there is none.
func JsonString(s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ",}\n")
		if end < 0 {
			return ""
		}
		return Trim(s[:end])
	}
	doubled, single := false, false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
			doubled = doubled || i < len(s) && s[i] == '\\'
			single = single || i < len(s) && strings.IndexByte(`bfrt`, s[i]) >= 0 // \frac as in LaTeX
		case '"':
			var text string
			if doubled && !single && json.Unmarshal([]byte(s[:i+1]), &text) == nil {
				return Trim(text)
			}
			return Trim(unescape(s[1:i]))
		}
	}
	return ""
}
