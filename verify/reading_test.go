package verify

// Laws of reading: where an answer is found does not depend on layout, and what a text adds to a wrong answer never makes it
// right.

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// spaced puts blanks between the tokens of a formula, where they mean nothing.
func spaced(r *rand.Rand, s string, blank string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			j := i + 1
			for j < len(s) && formula.Letter(s[j]) {
				j++
			}
			b.WriteString(s[i:max(j, i+1)])
			i = max(j, i+1) - 1
			continue
		}
		loose := strings.IndexByte("{}+=^(),", c) >= 0 && !(i > 0 && s[i-1] == '\\')
		if loose && r.IntN(2) == 0 {
			b.WriteString(blank)
		}
		b.WriteByte(c)
		if loose && r.IntN(2) == 0 {
			b.WriteString(blank)
		}
	}
	return b.String()
}

// latexOf writes a random expression as LaTeX with ASCII signs only.
func latexOf(r *rand.Rand, depth int) string {
	if depth == 0 {
		return fmt.Sprint(1 + r.IntN(90))
	}
	sub := func() string { return latexOf(r, depth-1) }
	switch r.IntN(5) {
	case 0:
		return `\frac{` + sub() + `}{` + sub() + `}`
	case 1:
		return `\sqrt{` + sub() + `}`
	case 2:
		return `{` + sub() + `}^{2}`
	case 3:
		return `\left(` + sub() + `+` + sub() + `\right)`
	}
	return fmt.Sprint(1+r.IntN(90)) + ` \cdot ` + sub()
}

// TestExtractionDoesNotDependOnLayout: blanks and line breaks inside formulas, the style of delimiters and the text before
// an answer change nothing.
func TestExtractionDoesNotDependOnLayout(t *testing.T) {
	delimiters := [][2]string{{"$", "$"}, {"$ ", " $"}, {"$$", "$$"}, {"$$\n", "\n$$"}, {`\(`, `\)`}, {`\( `, ` \)`}, {`\[`, `\]`}, {"\\[\n", "\n\\]"}, {"\n\\begin{equation}\n", "\n\\end{equation}\n"}, {"\\begin{align*}", "\\end{align*}"}}
	heads := []string{"", "Let $a_1 = 7$ and \\(b = 9\\).\n\nWe count $3 \\cdot 4 = 12$ cases. ", "First, 17 of the 20 cases are out.\n\n", "By symmetry $$\\frac{x}{2} = 5 + y.$$ ", "It costs $5 and $6 at first. "}
	says := []string{"Therefore, the value is ", "So we get ", "Thus ", "Hence the total equals ", "The answer is ", "We conclude that x = "}
	for i := range pairs() / 4 {
		r := rand.New(rand.NewPCG(11, uint64(i)))
		gold := latexOf(r, 1+r.IntN(3))
		if r.IntN(4) == 0 {
			gold = "-" + gold
		}
		d := delimiters[r.IntN(len(delimiters))]
		inner := spaced(r, gold, []string{" ", "  ", " \n"}[r.IntN(3)])
		if d[0] == "$" || r.IntN(2) == 0 {
			inner = strings.ReplaceAll(inner, "\n", "")
		}
		for k, shown := range []string{inner, latexOf(r, 3)} {
			response := heads[r.IntN(len(heads))] + says[r.IntN(len(says))] + d[0] + shown + d[1] + []string{"", ".", " ."}[r.IntN(3)]
			v, bare := Grade(gold, response), Equal(gold, shown)
			if v.Outcome != bare.Outcome {
				t.Fatalf("pair %d.%d: %q in %q: %s (%s), bare %s; extracted %q", i, k, gold, response, v.Outcome, v.Rule, bare.Outcome, v.Extracted)
			}
		}
	}
}

// TestWhatIsAddedToAWrongAnswerDoesNotMakeItRight: conditions, negations, doubts, retractions of the right answer and second
// candidates.
func TestWhatIsAddedToAWrongAnswerDoesNotMakeItRight(t *testing.T) {
	places := []string{`\boxed{%s}`, `Thus $\boxed{%s}$.`, `The answer is %s.`, `The answer is $%s$.`, `So we get $%s$.`, `Hence x = %s.`, `%s`}
	ways := []string{
		`%[1]s \text{ or } %[2]s`, `%[2]s \text{ or } %[1]s`, `%[1]s \text{ and } %[2]s`, `%[1]s, %[2]s`, `%[2]s, %[1]s`, `%[1]s \text{ or maybe } %[2]s`, `%[2]s \text{ or maybe } %[1]s`, `%[1]s / %[2]s`,
		`\text{not } %[2]s`, `%[1]s \text{ if } x > 0`, `%[2]s \text{ if } x > 0`, `%[2]s \text{ unless } n = 1`, `%[2]s \text{ is wrong}`, `%[2]s \text{ (wrong)}`, `\text{maybe } %[2]s`, `\text{at least } %[2]s`, `\text{less than } %[2]s`, `> %[2]s`, `\ne %[2]s`,
		`%[1]s = %[2]s`, `%[2]s = %[1]s`, `%[2]s \text{ times } 3`, `%[2]s \text{ plus } 1`, `%[2]s \text{ million}`, `%[2]s \text{ squared}`, `\text{twice } %[2]s`, `\cancel{%[2]s}`, `[%[1]s, %[2]s]`, `%[1]s \text{ to } %[2]s`, `%[1]s : %[2]s`, `\text{between } %[1]s \text{ and } %[2]s`, `%[2]s + \epsilon`, `f(%[2]s)`, `x_{%[2]s}`, `%[2]s^{%[1]s}`,
	}
	sentences := []string{
		`The answer is %[1]s or %[2]s.`, `It is either %[2]s or %[1]s.`, `It is not %[2]s.`, `The answer is not %[2]s but %[1]s.`, `It is %[1]s, or maybe %[2]s.`, `I first got \boxed{%[2]s}. Wait, the answer is %[1]s.`, `\boxed{%[2]s}, no, this is wrong: it should be %[1]s.`, `\boxed{%[2]s} or maybe \boxed{%[1]s}.`, `\boxed{%[1]s} or maybe \boxed{%[2]s}.`,
		`\boxed{%[1]s} and \boxed{%[2]s}`, `The answer is %[2]s if n is odd and %[1]s if n is even.`, `Is it %[2]s? It is %[1]s.`, `If the answer were %[2]s, then 1 = 0. It is %[1]s.`, `So x = %[2]s. But this is wrong.`, `The answer is %[2]s. Actually, no, it is %[1]s.`, `The answer is %[2]s times the area.`, `The answer is %[2]s less than the total.`, `The answer is probably not %[2]s.`, `The answer is at most %[2]s.`, `From %[1]s to %[2]s.`, `So x = %[1]s and y = %[2]s.`, `It is %[2]s million.`, `The time is %[1]s hours and %[2]s minutes.`,
	}
	for i := range pairs() / 4 {
		r := rand.New(rand.NewPCG(13, uint64(i)))
		right, wrong := 2+r.IntN(40), 50+r.IntN(40)
		gold := fmt.Sprint(right)
		var response string
		if r.IntN(2) == 0 {
			response = fmt.Sprintf(places[r.IntN(len(places))], fmt.Sprintf(ways[r.IntN(len(ways))], fmt.Sprint(wrong), gold))
		} else {
			response = fmt.Sprintf(sentences[r.IntN(len(sentences))], fmt.Sprint(wrong), gold)
		}
		response, _, _ = strings.Cut(response, "%!(EXTRA")
		if v := Grade(gold, response); v.Outcome == OutcomeEqual {
			t.Errorf("pair %d: %q is accepted for %s: %s, extracted %q", i, response, gold, v.Rule, v.Extracted)
		}
	}
}

// TestNumberWordsHaveTheirValue: equality of values with number words is that of numbers, so it is transitive.
func TestNumberWordsHaveTheirValue(t *testing.T) {
	words := map[string]*big.Rat{"": big.NewRat(1, 1), ` \text{ million}`: big.NewRat(1e6, 1), ` \text{ thousand}`: big.NewRat(1e3, 1), ` \text{ dozen}`: big.NewRat(12, 1), ` \text{ percent}`: big.NewRat(1, 100), ` \text{ halves}`: big.NewRat(1, 2), ` \text{ thirds}`: big.NewRat(1, 3)}
	for i := range 400 {
		r := rand.New(rand.NewPCG(17, uint64(i)))
		n := []int64{2 + r.Int64N(9), 2 + r.Int64N(9)}
		var texts [2]string
		var values [2]*big.Rat
		for k := range texts {
			for w, v := range words {
				if r.IntN(3) == 0 || texts[k] == "" {
					texts[k], values[k] = fmt.Sprint(n[k])+w, new(big.Rat).Mul(big.NewRat(n[k], 1), v)
				}
			}
		}
		want := OutcomeDifferent
		if values[0].Cmp(values[1]) == 0 {
			want = OutcomeEqual
		}
		if v := Equal(texts[0], texts[1]); v.Outcome != want {
			t.Fatalf("%q and %q: %s (%s), want %s", texts[0], texts[1], v.Outcome, v.Rule, want)
		}
	}
}

// TestAnAnnouncedExpressionHasTheValueThatTheTextGivesIt: "our answer is (A+B)/2. ... and (A+B)/2 = 5" answers 5, and
// nothing that another expression comes to.
func TestAnAnnouncedExpressionHasTheValueThatTheTextGivesIt(t *testing.T) {
	for _, of := range []string{`\frac{A+B}{2}`, `m+n`, `2x+1`, `f(3)`, `x_1x_2`} {
		text := "So our answer is $" + of + "$. We solve for the unknowns and get $A=4$ and $" + of + "=7$."
		for gold, want := range map[string]Outcome{"7": OutcomeEqual, "4": OutcomeDifferent} {
			if v := Grade(gold, text); v.Outcome != want {
				t.Errorf("%s against %s: %s (%s), extracted %q", text, gold, v.Outcome, v.Rule, v.Extracted)
			}
		}
		other := "So our answer is $" + of + "$. We know that $" + of + "+1=7$."
		if v := Grade("7", other); v.Outcome == OutcomeEqual {
			t.Errorf("%s against 7: equal (%s), extracted %q", other, v.Rule, v.Extracted)
		}
	}
}

// FuzzExtractionTakesWholeFormulas: the answer that is found in running text starts and ends where formulas do.
func FuzzExtractionTakesWholeFormulas(f *testing.F) {
	for _, a := range answers(f) {
		f.Add(a)
		f.Add("So we get $" + a + "$ and then 5 apples.")
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := parted(s)
		text, at := p.final()
		if text == "" {
			return
		}
		starts, inside := false, 0
		for _, st := range p.statements {
			switch {
			case st.from >= at.from && st.to <= at.to:
				inside++
				starts = starts || st.from == at.from
			case st.to > at.from && st.from < at.to:
				t.Fatalf("%q: %q at %d to %d cuts the formula %q at %d to %d", s, text, at.from, at.to, st.text, st.from, st.to)
			}
		}
		if inside == 0 || !starts {
			t.Fatalf("%q: %q at %d to %d is no formula", s, text, at.from, at.to)
		}
	})
}

// TestBoxesOfBoldLettersAreNoNumbers: an unclosed box around a letter in bold is no number, whatever control characters
// stand between the digits of the number and whichever of the two is the ground truth. A letter that is a unit, after a
// number, may be missing in the ground truth alone, in such a box as without it.
func TestBoxesOfBoldLettersAreNoNumbers(t *testing.T) {
	for _, answer := range []string{"1s", `\fbox{**1s**`, `\boxed{1s`} {
		if v, w := Equal("1,\x1f", answer), Equal(answer, "1,\x1f"); v.Outcome != OutcomeEqual || w.Outcome != OutcomeDifferent {
			t.Errorf("%q: %s (%s), as the ground truth %s (%s); want equal and different", answer, v.Outcome, v.Rule, w.Outcome, w.Rule)
		}
	}
	for _, letter := range []string{"A", "K", "x", "e"} {
		for _, bold := range []string{`\mathbf{%s}`, `\mathbf %s`, `\bf %s`, `\textbf{(%s)`, `\boldsymbol{%s}`, "**%s**", `{\bf %s}`, `\mathbf{%s`} {
			for _, box := range []string{`\boxed{%s`, `\boxed %s`, `\fbox{%s`, "\boxed{%s\n", "boxed{%s"} {
				a := fmt.Sprintf(box, fmt.Sprintf(bold, letter))
				for _, control := range []string{"\x00", "\x01", "\b", "\v", "\x1f", "\x7f", "\u200b"} {
					for _, b := range []string{"1" + control + "2", "1" + control + " 2", "1," + control + "2"} {
						v, w := Equal(a, b), Equal(b, a)
						flips := v.Outcome != w.Outcome && v.Outcome != OutcomeUnknown && w.Outcome != OutcomeUnknown
						if flips || v.Outcome == OutcomeEqual || Grade(b, a).Outcome == OutcomeEqual {
							t.Fatalf("%q and %q: %+v, the other way round %+v", a, b, v, w)
						}
					}
				}
			}
		}
	}
}

// TestThePageOfConventionsHolds: the examples of docs/verify.md are decided as it says, and the policy that it names
// changes the verdict.
func TestThePageOfConventionsHolds(t *testing.T) {
	page, err := os.ReadFile("../docs/verify.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || !strings.Contains(cells[2], "`") {
			continue
		}
		cell := func(i int) string { return strings.Trim(cells[i], " `\n") }
		n++
		v := Equal(cell(2), cell(3))
		if v.Outcome.String() != cell(4) {
			t.Errorf("%s: %s (%s), the page says %s", cell(1), v.Outcome, v.Rule, cell(4))
		}
		name, _, _ := strings.Cut(cell(6), "`")
		policy, err := ParsePolicy(name)
		if err != nil || !strings.Contains(cells[6], "`") {
			continue
		}
		if w := Equal(cell(2), cell(3), WithPolicy(policy)); w.Outcome == v.Outcome {
			t.Errorf("%s: %s with %s as well", cell(1), w.Outcome, name)
		}
	}
	if n < 30 {
		t.Errorf("%d examples were found", n)
	}
}

// TestPolicyMathVerifyAcceptsItsConventions: each line is different by default and equal under the policy, as Math-Verify
// 0.9.0 has it.
func TestPolicyMathVerifyAcceptsItsConventions(t *testing.T) {
	policy, err := ParsePolicy("math-verify")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"5", "2x=5"}, {"5", "|x|=5"}, {`5 \text{ cm}`, `5 \text{ m}`}, {`\frac13`, "0.333333"}, {`\pi`, "3.141593"}, {"(1,2)", `\{1,2\}`}, {`\{1,2\}`, "(1,2)"}, {"20", `20\%`}, {"5", "5, 5"}, {"1, 2", "1, 1, 2"}} {
		if v := Equal(c[0], c[1]); v.Outcome != OutcomeDifferent {
			t.Errorf("%s and %s: %s (%s) by default", c[0], c[1], v.Outcome, v.Rule)
		}
		if v := Equal(c[0], c[1], WithPolicy(policy)); v.Outcome != OutcomeEqual {
			t.Errorf("%s and %s: %s (%s) under the policy", c[0], c[1], v.Outcome, v.Rule)
		}
	}
}
