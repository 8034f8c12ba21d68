// Who answered: a model with its settings.

package recording

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Candidate is a model under the settings that it was asked with.
type Candidate struct {
	Model    string
	Settings string // as in "effort=high temperature=0.6", by name; empty: none are recorded
}

// String names a candidate as pools and messages do.
func (c Candidate) String() string { return strings.TrimSuffix(c.Model+" "+c.Settings, " ") }

// CandidateOf returns the candidate that a pool names: a model, and its settings where the recording has several of the model.
func CandidateOf(model string, settings map[string]string) Candidate {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			value = strconv.FormatFloat(n, 'g', -1, 64)
		}
		all = append(all, word(name)+"="+word(value))
	}
	return Candidate{model, strings.Join(all, " ")}
}

// word is a text that ends where the settings of a candidate go on.
func word(text string) string {
	if text == "" || strings.ContainsAny(text, " =\"'`\n") {
		return strconv.Quote(text)
	}
	return text
}

// Named are the settings of a candidate by name, as CandidateOf takes them.
func (c Candidate) Named() map[string]string {
	all, rest := map[string]string{}, c.Settings
	next := func(end string) string {
		text, err := strconv.QuotedPrefix(rest)
		if err != nil {
			text, rest, _ = strings.Cut(rest, end)
			return text
		}
		rest = strings.TrimPrefix(rest[len(text):], end)
		text, _ = strconv.Unquote(text) // it is quoted
		return text
	}
	for rest != "" {
		name := next("=")
		all[name] = next(" ")
	}
	return all
}

// Compare puts candidates in order: of models, then of settings.
func Compare(a, b Candidate) int {
	return cmp.Or(strings.Compare(a.Model, b.Model), strings.Compare(a.Settings, b.Settings))
}
