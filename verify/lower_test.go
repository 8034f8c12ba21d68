package verify

import (
	"testing"
)

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
