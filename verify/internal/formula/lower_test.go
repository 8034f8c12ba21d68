package formula

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Places found in the lower case of a text are used in the text.
func TestLowerCaseKeepsEveryPlace(t *testing.T) {
	for s, want := range map[string]string{
		"ANSWER is É": "answer is é",
		"5 \u212a":    "5 \u212a", // the Kelvin sign has three bytes, its lower case one
		"a\xb9SWER":   "a\xb9swer",
	} {
		if got := Lowered(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := Lowered(s)
		if len(got) != len(s) {
			t.Fatalf("%q became %q", s, got)
		}
		if ascii := strings.Map(func(r rune) rune { return r & 0x7f }, s); Lowered(ascii) != strings.ToLower(ascii) {
			t.Fatalf("%q: %q", ascii, Lowered(ascii))
		}
	})
}
