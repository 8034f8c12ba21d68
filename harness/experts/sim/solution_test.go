package sim

// The text of simulated responses: graded as it is meant, in every form of answer.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/verify"
)

// written are golds in every form that generated problems have, with a wrong answer of the same form.
var written = []struct {
	gold, wrong string
	options     []string
}{
	{"0", "1", nil}, {"7", "8", nil}, {"-12", "12", nil}, {"100", "1000", nil}, {"12345678", "12345687", nil}, {"-54321", "-54322", nil},
	{`\frac{1}{2}`, `\frac{1}{3}`, nil}, {`-\frac{7}{8}`, `\frac{7}{8}`, nil}, {`\frac{355}{113}`, `\frac{22}{7}`, nil}, {"3/4", "4/3", nil},
	{`\sqrt{2}`, `\sqrt{3}`, nil}, {`5\sqrt{7}`, `7\sqrt{5}`, nil}, {`12\sqrt{101}`, `12\sqrt{102}`, nil}, {`3\sqrt{2} + 1`, `3\sqrt{2} - 1`, nil},
	{"2.75", "2.57", nil}, {"(3, -4)", "(-4, 3)", nil}, {`\{1, 2, 5\}`, `\{1, 2, 6\}`, nil}, {`[1, 5)`, `[1, 5]`, nil}, {`(-\infty, 3]`, `(-\infty, 3)`, nil},
	{`2x^{2} - 3x + 1`, `2x^{2} + 3x + 1`, nil}, {`\frac{x + 1}{2}`, `\frac{x - 1}{2}`, nil},
	{"B", "D", []string{"12 m/s", "15 m/s", "3 m/s", "1.5 m/s"}},
	{"I", "A", []string{"$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13"}},
	{"A", "C", []string{"knight", "knave", "cannot be told", "both"}},
}

func problemOf(i int) (routing.Problem, Distractor) {
	w := written[i]
	p := routing.Problem{ID: fmt.Sprint("w", i), Text: "A sequence starts at 7, gains 5 and doubles 12 times; 3/4 of it is 1 less than 100. What is left?", Gold: []string{w.gold}, Options: w.options}
	return p, func(string, []string, *rand.Rand) string { return w.wrong }
}

func TestSolutionsAreGradedAsTheyAreMeant(t *testing.T) {
	const each = 400
	missing, wrongs, respelt := 0, 0, 0
	for i := range written {
		p, wrong := problemOf(i)
		for n := range each {
			right := solve(p, true, wrong, seed.Derive("right", i, n).Rand())
			if v := p.Key().Grade(right); v.Outcome != verify.OutcomeEqual {
				t.Errorf("gold %s: a right answer is graded %s (%s): %q", p.Gold[0], v.Outcome, v.Reason, tail(right))
			} else if v.Extracted != p.Gold[0] {
				respelt++
			}
			bad := solve(p, false, wrong, seed.Derive("wrong", i, n).Rand())
			v := p.Key().Grade(bad)
			if v.Outcome != verify.OutcomeDifferent {
				t.Errorf("gold %s: a wrong answer is graded %s (%s): %q", p.Gold[0], v.Outcome, v.Reason, tail(bad))
			}
			wrongs++
			if v.Extracted == "" {
				missing++
			}
			cut := interrupt(p, seed.Derive("cut", i, n).Rand())
			if v := p.Key().Grade(cut); v.Outcome == verify.OutcomeEqual {
				t.Errorf("gold %s: a cut response is graded equal: %q", p.Gold[0], tail(cut))
			}
			for _, text := range []string{right, bad, cut} {
				if len(text) > 1024 || len(text) < 100 {
					t.Errorf("a response of %d bytes", len(text))
				}
			}
		}
	}
	if share := float64(missing) / float64(wrongs); share < 0.03 || share > 0.05 {
		t.Errorf("%.3f of the wrong responses have no answer, want about %.2f", share, noAnswerShare)
	}
	if share := float64(respelt) / float64(wrongs); share < 0.25 {
		t.Errorf("%.2f of the right answers are spelt unlike the gold: too few to exercise a verifier", share)
	}
}

func tail(s string) string { return s[max(0, len(s)-120):] }

func TestRespellingKeepsTheValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num, den := rapid.Int64Range(1, 1_000_000).Draw(t, "num"), rapid.Int64Range(1, 5_000).Draw(t, "den")
		gold := rapid.SampledFrom([]string{
			fmt.Sprint(num), fmt.Sprint(-num * den), fmt.Sprintf(`\frac{%d}{%d}`, num, den), fmt.Sprintf(`-\frac{%d}{%d}`, num, den), fmt.Sprintf("%d/%d", num, den),
			fmt.Sprintf(`%d\sqrt{%d}`, den, num), fmt.Sprintf(`\sqrt{%d}`, num), fmt.Sprintf(`\{%d, %d\}`, num, -den), fmt.Sprintf("(%d, %d)", num, den),
		}).Draw(t, "gold")
		spelt := respell(gold, seed.Seed(rapid.Uint64().Draw(t, "seed")).Rand())
		if v := (verify.Key{Gold: []string{gold}}.Grade(`\boxed{` + spelt + `}`)); v.Outcome != verify.OutcomeEqual {
			t.Fatalf("%q became %q: %s (%s)", gold, spelt, v.Outcome, v.Reason)
		}
	})
}

func TestADistractorThatFailsLeavesNoAnswer(t *testing.T) {
	p, _ := problemOf(1)
	for _, wrong := range []string{"", p.Gold[0]} {
		none := func(string, []string, *rand.Rand) string { return wrong }
		for n := range 50 {
			if v := p.Key().Grade(solve(p, false, none, seed.Derive(n).Rand())); v.Outcome != verify.OutcomeDifferent {
				t.Errorf("distractor %q: graded %s", wrong, v.Outcome)
			}
		}
	}
}

// A page of responses for human eyes; UPDATE=1 writes it again.
func TestSolutionsReadLikeSolutions(t *testing.T) {
	var b strings.Builder
	for i := 1; i < len(written); i += 3 {
		p, wrong := problemOf(i)
		for kind, text := range []string{solve(p, true, wrong, seed.Derive("golden", i).Rand()), solve(p, false, wrong, seed.Derive("golden", i).Rand()), interrupt(p, seed.Derive("golden", i).Rand())} {
			fmt.Fprintf(&b, "=== gold %s, %s\n%s\n\n", p.Gold[0], []string{"right", "wrong", "cut"}[kind], text)
		}
	}
	const file = "testdata/solutions.txt"
	if os.Getenv("UPDATE") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("responses differ from %s: look at them, then run UPDATE=1 go test", file)
	}
}
