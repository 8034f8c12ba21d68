package tokenizer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Pieces "aaab", "aab", "ab" (with their blanks): a+b occurs 3 times and a+a 3 times (aaa has 2), " "+a twice.
func TestTheMostFrequentPairIsMergedFirst(t *testing.T) {
	got, err := Learn(SmolLM, []string{"aaab aab ab"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	// a a: 2+1 = 3, a b: 3, "Ġ a": 2. Of equals "a a" comes first; then a b is left in "Ġ a b" and, as "aa b", "aa a b" in the others.
	want := [][2]string{{"a", "a"}}
	if diff := cmp.Diff(want, got[:1]); diff != "" {
		t.Error(diff)
	}
	for _, m := range got {
		if m[0] == "" || m[1] == "" {
			t.Errorf("merge %q", m)
		}
	}
}

// What is learned is a tokenizer, and makes texts like those it was learned from shorter.
func TestWhatIsLearnedShortensTexts(t *testing.T) {
	text := strings.Repeat("Find the sum of all primes below $100$. ", 5)
	merges, err := Learn(Qwen2, []string{text}, 40)
	if err != nil {
		t.Fatal(err)
	}
	tok := must(t, Merged(Qwen2, merges, "<|end|>"))
	if n := len(tok.Encode(text)); n > len(text)/3 {
		t.Errorf("%d tokens for %d bytes", n, len(text))
	}
	if back, err := tok.Decode(tok.Encode(text + "<|end|>")); err != nil || back != text+"<|end|>" {
		t.Errorf("%q, %v", back, err)
	}
	if id, ok := tok.ID("<|end|>"); !ok || int(id) != 256+len(merges) {
		t.Errorf("the added token has the number %d", id)
	}
	if again, _ := Learn(Qwen2, []string{text}, 40); !cmp.Equal(merges, again) {
		t.Error("learned otherwise the second time")
	}
	if all, _ := Learn(Qwen2, []string{"ab"}, 40); len(all) != 1 {
		t.Errorf("%d merges of one pair", len(all))
	}
}
