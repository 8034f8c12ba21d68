// Added tokens found in a text: the leftmost first, of those that begin at one place the longest.

package tokenizer

import (
	"cmp"
	"slices"
	"strings"
)

// A matcher finds added tokens.
type matcher struct {
	begins [256]bool // the bytes with which one begins
	tokens []Added   // longest first
}

// newMatcher returns what finds the tokens that are, or are not, searched for in normalised text.
func newMatcher(added []Added, normalised bool) *matcher {
	m := &matcher{}
	for _, a := range added {
		if a.Normalised == normalised {
			m.begins[a.Content[0]] = true
			m.tokens = append(m.tokens, a)
		}
	}
	slices.SortStableFunc(m.tokens, func(a, b Added) int { return cmp.Compare(len(b.Content), len(a.Content)) })
	return m
}

// divide hands a text on, what lies between added tokens to text and each of those to token, from left to right.
func (m *matcher) divide(s string, text func(string), token func(int32)) {
	from := 0
	for i := 0; i < len(s) && len(m.tokens) > 0; {
		if !m.begins[s[i]] {
			i++
			continue
		}
		k := slices.IndexFunc(m.tokens, func(a Added) bool { return strings.HasPrefix(s[i:], a.Content) })
		if k < 0 {
			i++
			continue
		}
		if from < i {
			text(s[from:i])
		}
		token(m.tokens[k].ID)
		i += len(m.tokens[k].Content)
		from = i
	}
	if from < len(s) {
		text(s[from:])
	}
}
