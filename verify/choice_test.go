package verify

import (
	"testing"
)

func TestChoicesAreReadAsPeopleReadThem(t *testing.T) {
	ten := []string{"oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "tea", "cork"}
	numbers := []string{"12", `\frac{1}{2}`, "14", "(0, 1)"}
	for _, c := range []struct {
		options        []string
		gold, response string
		want           Outcome
		reason         string
	}{
		{ten, "C", "C", OutcomeEqual, ""},
		{ten, "C", "(C)", OutcomeEqual, ""},
		{ten, "C", "C.", OutcomeEqual, ""},
		{ten, "C", "**C**", OutcomeEqual, ""},
		{ten, "C", "Answer: C", OutcomeEqual, ""},
		{ten, "C", "**Answer: C**", OutcomeEqual, ""},
		{ten, "C", "Answer: C) ash", OutcomeEqual, ""},
		{ten, "C", "The answer is (C).", OutcomeEqual, ""},
		{ten, "C", "The correct answer is option C because elm is wrong.", OutcomeEqual, ""},
		{ten, "C", "Final Answer: **C**", OutcomeEqual, ""},
		{ten, "C", `\boxed{C}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{\text{C}}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{\text{(C)}}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{\textbf{(C)}}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{C: ash}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{C. ash}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{\text{ash}}`, OutcomeEqual, ""},
		{ten, "C", `\boxed{c}`, OutcomeEqual, ""},
		{ten, "C", "The answer is ash.", OutcomeEqual, ""},
		{ten, "ash", "The answer is (C).", OutcomeEqual, ""},
		{ten, "C", "(A) is wrong, (B) is wrong, so it must be (C).", OutcomeEqual, ""},
		{ten, "C", "First I thought the answer is (B). On reflection, the answer is (C).", OutcomeEqual, ""},
		{ten, "C", "<think>The answer is (B).</think>The answer is (C).", OutcomeEqual, ""},
		{ten, "I", "The answer is (I).", OutcomeEqual, ""},
		{ten, "I", "Answer: I", OutcomeEqual, ""},
		{ten, "C", "The answer is, I think, C", OutcomeEqual, ""},
		{ten, "C", "I believe this is a hard one. The answer is C.", OutcomeEqual, ""},
		{ten, "A", "The answer is A because oak is hard.", OutcomeEqual, ""},
		{ten, "A", "The answer is A and not B.", OutcomeEqual, ""},
		{ten, "A", "A tree is a plant.", OutcomeDifferent, ReasonNoAnswer},
		{ten, "I", "I do not know.", OutcomeDifferent, ReasonNoAnswer},
		{ten, "C", "The answer is (B).", OutcomeDifferent, ReasonDifferent},
		{ten, "C", `\boxed{}`, OutcomeDifferent, ReasonNoAnswer},
		{ten, "C", `\boxed{C, D}`, OutcomeDifferent, ReasonDifferent},
		{ten, "C", `\boxed{pine}`, OutcomeDifferent, ReasonDifferent},
		{ten, "C", "<think>The answer is (C).", OutcomeDifferent, ReasonUnfinished},
		{ten[:4], "C", "Answer: E", OutcomeDifferent, ReasonNoAnswer},
		{ten, "pine", "Answer: E", OutcomeUnknown, ReasonGold},
		{numbers, "B", `\boxed{0.5}`, OutcomeEqual, ""},
		{numbers, "B", `\boxed{12}`, OutcomeDifferent, ReasonDifferent},
		{numbers, "D", `\boxed{(0,1)}`, OutcomeEqual, ""},
		{numbers, "D", `\boxed{\left(0, 1\right)}`, OutcomeEqual, ""},
		{numbers, "C", `\textbf{(C) } 14`, OutcomeEqual, ""},
		{numbers, "A", "The answer is 12.", OutcomeEqual, ""},
	} {
		v := Key{Gold: []string{c.gold}, Options: c.options}.Grade(c.response)
		if v.Outcome != c.want || c.reason != "" && v.Reason != c.reason {
			t.Errorf("%q among %d options against %s: %s (%s, %q), want %s %s", c.response, len(c.options), c.gold, v.Outcome, v.Reason, v.Extracted, c.want, c.reason)
		}
	}
}
