package verify

import "testing"

func TestChoicesAreReadAsPeopleReadThem(t *testing.T) {
	ten := []string{"oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "tea", "cork"}
	numbers := []string{"12", `\frac{1}{2}`, "14", "(0, 1)"}
	for _, c := range []struct {
		options        []string
		gold, response string
		want           Outcome
		reason         string
	}{
		{ten, "C", "C", Equal, ""},
		{ten, "C", "(C)", Equal, ""},
		{ten, "C", "C.", Equal, ""},
		{ten, "C", "**C**", Equal, ""},
		{ten, "C", "Answer: C", Equal, ""},
		{ten, "C", "**Answer: C**", Equal, ""},
		{ten, "C", "Answer: C) ash", Equal, ""},
		{ten, "C", "The answer is (C).", Equal, ""},
		{ten, "C", "The correct answer is option C because elm is wrong.", Equal, ""},
		{ten, "C", "Final Answer: **C**", Equal, ""},
		{ten, "C", `\boxed{C}`, Equal, ""},
		{ten, "C", `\boxed{\text{C}}`, Equal, ""},
		{ten, "C", `\boxed{\text{(C)}}`, Equal, ""},
		{ten, "C", `\boxed{\textbf{(C)}}`, Equal, ""},
		{ten, "C", `\boxed{C: ash}`, Equal, ""},
		{ten, "C", `\boxed{C. ash}`, Equal, ""},
		{ten, "C", `\boxed{\text{ash}}`, Equal, ""},
		{ten, "C", `\boxed{c}`, Equal, ""},
		{ten, "C", "The answer is ash.", Equal, ""},
		{ten, "ash", "The answer is (C).", Equal, ""},
		{ten, "C", "(A) is wrong, (B) is wrong, so it must be (C).", Equal, ""},
		{ten, "C", "First I thought the answer is (B). On reflection, the answer is (C).", Equal, ""},
		{ten, "C", "<think>The answer is (B).</think>The answer is (C).", Equal, ""},
		{ten, "I", "The answer is (I).", Equal, ""},
		{ten, "I", "Answer: I", Equal, ""},
		{ten, "C", "The answer is, I think, C", Equal, ""},
		{ten, "C", "I believe this is a hard one. The answer is C.", Equal, ""},
		{ten, "A", "The answer is A because oak is hard.", Equal, ""},
		{ten, "A", "The answer is A and not B.", Equal, ""},
		{ten, "A", "A tree is a plant.", Different, ReasonNoAnswer},
		{ten, "I", "I do not know.", Different, ReasonNoAnswer},
		{ten, "C", "The answer is (B).", Different, ReasonDifferent},
		{ten, "C", `\boxed{}`, Different, ReasonNoAnswer},
		{ten, "C", `\boxed{C, D}`, Different, ReasonDifferent},
		{ten, "C", `\boxed{pine}`, Different, ReasonDifferent},
		{ten, "C", "<think>The answer is (C).", Different, ReasonUnfinished},
		{ten[:4], "C", "Answer: E", Different, ReasonNoAnswer},
		{ten, "pine", "Answer: E", Unknown, ReasonGold},
		{numbers, "B", `\boxed{0.5}`, Equal, ""},
		{numbers, "B", `\boxed{12}`, Different, ReasonDifferent},
		{numbers, "D", `\boxed{(0,1)}`, Equal, ""},
		{numbers, "D", `\boxed{\left(0, 1\right)}`, Equal, ""},
		{numbers, "C", `\textbf{(C) } 14`, Equal, ""},
		{numbers, "A", "The answer is 12.", Equal, ""},
	} {
		v := Key{Gold: []string{c.gold}, Options: c.options}.Grade(c.response)
		if v.Outcome != c.want || c.reason != "" && v.Reason != c.reason {
			t.Errorf("%q among %d options against %s: %s (%s, %q), want %s %s", c.response, len(c.options), c.gold, v.Outcome, v.Reason, v.Extracted, c.want, c.reason)
		}
	}
}
