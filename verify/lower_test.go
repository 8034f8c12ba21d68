package verify

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
		if got := lowered(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		got := lowered(s)
		if len(got) != len(s) {
			t.Fatalf("%q became %q", s, got)
		}
		if ascii := strings.Map(func(r rune) rune { return r & 0x7f }, s); lowered(ascii) != strings.ToLower(ascii) {
			t.Fatalf("%q: %q", ascii, lowered(ascii))
		}
	})
}

// A byte that is no text, or a letter that shrinks in lower case, before the words that lead to an answer.
func TestNoByteBeforeAnAnswerIsTooMuch(t *testing.T) {
	for _, response := range []string{"e a\xb9swer is $", "r\x8ae ratio is 3:", "\u212a\u212a, the answer is 3", "all real numbers\xb9 except 3", "\u212a all real numbers greater than 1"} {
		Equal("3", response)
		Equal(response, "3")
	}
	if v := Equal("3", "\u212a\u212a\u212a, so the answer is 3"); v.Outcome != OutcomeEqual {
		t.Errorf("%+v", v)
	}
}
