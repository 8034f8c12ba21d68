// What an answer that names an expert says.

package experts

import (
	"slices"
	"strings"
	"unicode"
)

// Choice is an expert named in JSON, as prompts and answers have it.
type Choice struct {
	Model string `json:"model"`
}

// BehindThinking is what an answer says when it has thought.
func BehindThinking(answer string) string {
	const end = "</think>"
	if i := strings.LastIndex(answer, end); i >= 0 {
		return answer[i+len(end):]
	}
	return answer
}

// Mentioned returns the indexes of the ids that are words of a text, each once.
func Mentioned(text string, ids []string) (found []int) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-_.", c)
	}) {
		m := slices.Index(ids, word)
		if m < 0 {
			m = slices.Index(ids, strings.Trim(word, "-_.")) // the end of a sentence
		}
		if m >= 0 && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	return found
}
