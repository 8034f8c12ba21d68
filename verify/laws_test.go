package verify

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// draw lists distinct small fractions as LaTeX.
func draw(t *rapid.T, label string, low, high int) []string {
	values := rapid.SliceOfNDistinct(rapid.IntRange(-60, 60), low, high, rapid.ID).Draw(t, label)
	out := make([]string, len(values))
	for i, v := range values {
		switch {
		case v%3 == 0:
			out[i] = fmt.Sprint(v / 3)
		case v < 0:
			out[i] = fmt.Sprintf(`-\frac{%d}{3}`, -v)
		default:
			out[i] = fmt.Sprintf(`\frac{%d}{3}`, v)
		}
	}
	return out
}

func shuffled(t *rapid.T, s []string) []string {
	out := append([]string(nil), s...)
	r := rand.New(rand.NewPCG(1, rapid.Uint64().Draw(t, "order")))
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func expect(t *rapid.T, gold, answer string, want Outcome) {
	t.Helper()
	for _, v := range []Verdict{Equal(gold, answer), Equal(answer, gold), Grade(gold, `\boxed{`+answer+`}`)} {
		if v.Outcome != want {
			t.Fatalf("%q and %q: %s (%s, %s), want %s", gold, answer, v.Outcome, v.Reason, v.Rule, want)
		}
	}
}

func TestSetsAndListsIgnoreOrderAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := draw(t, "elements", 2, 7)
		mixed := shuffled(t, elements)
		expect(t, `\{`+strings.Join(elements, ",")+`\}`, `\left\{ `+strings.Join(mixed, ", ")+` \right\}`, OutcomeEqual)
		expect(t, strings.Join(elements, ", "), strings.Join(mixed, ", "), OutcomeEqual)
		expect(t, strings.Join(elements, ", "), strings.Join(mixed[1:], " , ")+`\text{ and }`+mixed[0], OutcomeEqual)
		expect(t, `\{`+strings.Join(elements, ",")+`\}`, `\{`+strings.Join(append(mixed, mixed[0]), ",")+`\}`, OutcomeEqual)
		expect(t, strings.Join(elements, ", "), strings.Join(append(mixed, mixed[0]), ", "), OutcomeDifferent)
		expect(t, strings.Join(elements, ", "), strings.Join(append(mixed[1:], "61"), ", "), OutcomeDifferent)
	})
}

func TestTuplesKeepOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := draw(t, "elements", 3, 6)
		gold := "(" + strings.Join(elements, ",") + ")"
		expect(t, gold, `\left(`+strings.Join(elements, ` ,\, `)+`\right)`, OutcomeEqual)
		elements[0], elements[2] = elements[2], elements[0]
		expect(t, gold, "("+strings.Join(elements, ",")+")", OutcomeDifferent)
	})
}

func TestIntervalsEqualTheirInequalities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(-50, 50).Draw(t, "a")
		b := a + rapid.IntRange(1, 50).Draw(t, "width")
		openLow, openHigh := rapid.Bool().Draw(t, "open low"), rapid.Bool().Draw(t, "open high")
		left, right, less, lessEqual := "[", "]", `\le`, `\le`
		if openLow {
			left, less = "(", "<"
		}
		if openHigh {
			right, lessEqual = ")", "<"
		}
		interval := fmt.Sprintf("%s%d,%d%s", left, a, b, right)
		expect(t, interval, fmt.Sprintf("%d %s x %s %d", a, less, lessEqual, b), OutcomeEqual)
		turned := map[string]string{"<": ">", `\le`: `\ge`}
		expect(t, interval, fmt.Sprintf("%d %s x %s %d", b, turned[lessEqual], turned[less], a), OutcomeEqual)
		expect(t, interval, fmt.Sprintf(`x %s %d \text{ and } x %s %d`, turned[less], a, lessEqual, b), OutcomeEqual)
		expect(t, interval, fmt.Sprintf(`\{x \mid %d %s x %s %d\}`, a, less, lessEqual, b), OutcomeEqual)
		middle := fmt.Sprintf("%d.5", a)
		if a < 0 {
			middle = fmt.Sprintf("%d.5", a+1)
			if a == -1 {
				middle = "-0.5"
			}
		}
		expect(t, interval, fmt.Sprintf(`%s%d,%s]\cup(%s,%d%s`, left, a, middle, middle, b, right), OutcomeEqual)
		expect(t, interval, fmt.Sprintf(`%s%d,%s)\cup(%s,%d%s`, left, a, middle, middle, b, right), OutcomeDifferent)
		expect(t, interval, fmt.Sprintf("%d %s x %s %d", a, less, lessEqual, b+1), OutcomeDifferent)
		flip := map[string]string{"<": `\le`, `\le`: "<"}
		expect(t, interval, fmt.Sprintf("%d %s x %s %d", a, flip[less], lessEqual, b), OutcomeDifferent)
	})
}

func TestLinesEqualTheirOtherForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(1, 20).Draw(t, name) }
		a, b, c, k := n("a"), n("b"), n("c"), n("k")
		gold := fmt.Sprintf("%dx+%dy=%d", a, b, c)
		expect(t, gold, fmt.Sprintf("y=\\frac{%d-%dx}{%d}", c, a, b), OutcomeEqual)
		expect(t, gold, fmt.Sprintf("%dx+%dy-%d=0", k*a, k*b, k*c), OutcomeEqual)
		expect(t, gold, fmt.Sprintf("%d-%dx=%dy", c, a, b), OutcomeEqual)
		expect(t, gold, fmt.Sprintf("%dx+%dy=%d", a, b, c+1), OutcomeDifferent)
		expect(t, gold, fmt.Sprintf("%dx-%dy=%d", a, b, c), OutcomeDifferent)
		less := fmt.Sprintf("%dx+%dy<%d", a, b, c)
		expect(t, less, fmt.Sprintf("%d > %dx+%dy", k*c, k*a, k*b), OutcomeEqual)
		expect(t, less, fmt.Sprintf("-%dx-%dy > -%d", a, b, c), OutcomeEqual)
		expect(t, less, fmt.Sprintf("%dx+%dy>%d", a, b, c), OutcomeDifferent)
	})
}

func TestDecimalsFractionsAndPercentAreTheSameNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 99999).Draw(t, "n")
		gold := fmt.Sprintf(`\frac{%d}{1000}`, n)
		expect(t, gold, fmt.Sprintf("%d.%03d", n/1000, n%1000), OutcomeEqual)
		expect(t, gold, fmt.Sprintf(`%d \times 10^{-3}`, n), OutcomeEqual)
		expect(t, gold, fmt.Sprintf("%de-3", n), OutcomeEqual)
		expect(t, gold, fmt.Sprintf(`%d.%d\%%`, n/10, n%10), OutcomeEqual)
		expect(t, gold, fmt.Sprintf("%d.%03d1", n/1000, n%1000), OutcomeDifferent)
		period := fmt.Sprintf("%03d", n%1000)
		if n%1000 != 0 && n%1000 != 999 {
			expect(t, fmt.Sprintf(`\frac{%d}{999}`, n%1000), `0.\overline{`+period+`}`, OutcomeEqual)
			expect(t, fmt.Sprintf(`\frac{%d}{999}`, n%1000), "0."+period, OutcomeDifferent)
		}
	})
}

// TestNumbersInWordsAreNotTheirDigitsSideBySide: the 1st, 2 of a list are not the 12th.
func TestNumbersInWordsAreNotTheirDigitsSideBySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.IntRange(1, 99).Draw(t, "a"), rapid.IntRange(1, 99).Draw(t, "b")
		for _, text := range []string{"rooms %d %d and the hall", "version %d %d of the plan", "%d %d miles of road and then none"} {
			glued := strings.Replace(text, "%d %d", "%d%d", 1)
			v := Equal(fmt.Sprintf(text, a, b), fmt.Sprintf(glued, a, b))
			if v.Outcome == OutcomeEqual {
				t.Fatalf("%s with %d and %d side by side: %s (%s)", text, a, b, v.Outcome, v.Rule)
			}
		}
	})
}

// TestBlanksBetweenDigitsCountWhereNothingIsRead: texts that are no formulas are compared as they print.
func TestBlanksBetweenDigitsCountWhereNothingIsRead(t *testing.T) {
	for _, blank := range []string{" ", "~", `\,`, `\ `, `\quad `, "\u00a0", `\;`} {
		for _, unread := range []string{`\unknown{x} %s`, `\int %s \unknown`} {
			apart, glued := fmt.Sprintf(unread, "1"+blank+"1"), fmt.Sprintf(unread, "11")
			if v := Equal(apart, glued); v.Outcome == OutcomeEqual {
				t.Errorf("%s and %s: equal (%s)", apart, glued, v.Rule)
			}
			if v := Equal(apart, fmt.Sprintf(unread, "1 1")); v.Outcome != OutcomeEqual {
				t.Errorf("%s and the same with a space: %s (%s)", apart, v.Outcome, v.Reason)
			}
		}
	}
}

// TestFractionsSideBySideAreAProduct: 100 \frac12 \frac45 is 40, as Euler's function is written out; a mixed number stands by
// no other fraction.
func TestFractionsSideBySideAreAProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.IntRange(1, 200).Draw(t, "whole")
		product, text := big.NewRat(int64(whole), 1), fmt.Sprint(whole)
		for range rapid.IntRange(2, 4).Draw(t, "fractions") {
			d := rapid.IntRange(2, 12).Draw(t, "denominator")
			n := rapid.IntRange(1, d-1).Draw(t, "numerator")
			product.Mul(product, big.NewRat(int64(n), int64(d)))
			text += rapid.SampledFrom([]string{"", " "}).Draw(t, "gap") + fmt.Sprintf(`\frac{%d}{%d}`, n, d)
		}
		expect(t, product.RatString(), text, OutcomeEqual)
		expect(t, new(big.Rat).Add(product, big.NewRat(1, 1)).RatString(), text, OutcomeDifferent)
	})
}

// TestMixedNumbersAreNotTheirDigitsSideBySide: 3 1/2 is 7/2 and not 31/2, and 3 1\frac12 is the product 9/2, neither a sum
// nor digits side by side.
func TestMixedNumbersAreNotTheirDigitsSideBySide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, part := rapid.IntRange(1, 99).Draw(t, "whole"), rapid.IntRange(2, 40).Draw(t, "denominator")
		over := rapid.IntRange(1, part-1).Draw(t, "numerator")
		fraction, value := fmt.Sprintf(`\frac{%d}{%d}`, over, part), fmt.Sprintf(`\frac{%d}{%d}`, whole*part+over, part)
		for _, mixed := range []string{fmt.Sprintf("%d %d/%d", whole, over, part), fmt.Sprint(whole, fraction), fmt.Sprint(whole, " ", fraction), fmt.Sprint(whole, `\,`, fraction)} {
			expect(t, value, mixed, OutcomeEqual)
			glued := fmt.Sprintf("%d%d/%d", whole, over, part)
			if want, _ := new(big.Rat).SetString(glued); want.Cmp(big.NewRat(int64(whole*part+over), int64(part))) != 0 {
				expect(t, glued, mixed, OutcomeDifferent)
			}
		}
		beside := rapid.IntRange(1, 99).Draw(t, "number before it")
		product := new(big.Rat).Mul(big.NewRat(int64(beside), 1), big.NewRat(int64(whole*part+over), int64(part)))
		expect(t, product.RatString(), fmt.Sprint(beside, " ", whole, fraction), OutcomeEqual)
		for _, other := range []string{fmt.Sprint(beside), value, fmt.Sprint(beside, "+", value), fmt.Sprint(beside, whole, fraction), fmt.Sprintf("%d%d%s", beside, whole, fraction)} {
			for _, v := range []Verdict{Equal(fmt.Sprint(beside, " ", whole, fraction), other), Equal(other, fmt.Sprint(beside, " ", whole, fraction))} {
				if v.Outcome == OutcomeEqual && Equal(product.RatString(), other).Outcome != OutcomeEqual {
					t.Fatalf("%d %d%s and %s: %s (%s)", beside, whole, fraction, other, v.Outcome, v.Rule)
				}
			}
		}
	})
}

func TestVerdictsDoNotDependOnWhoElseIsGrading(t *testing.T) {
	cases := loadCases(t)
	want := make([]Verdict, len(cases))
	for i, c := range cases {
		want[i] = c.key.Grade(c.response)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i, c := range cases {
				if v := c.key.Grade(c.response); v != want[i] {
					t.Errorf("cases.txt:%d: %s alone, %s in company", c.line, want[i].Outcome, v.Outcome)
				}
			}
		})
	}
	wait.Wait()
}

func TestResponseOfTenMegabytesIsScannedOnce(t *testing.T) {
	long := strings.Repeat("some reasoning without an answer, and then more of it\n", 200_000)
	for response, want := range map[string]Outcome{
		long + `\boxed{42}`:                            OutcomeEqual,
		`\boxed{42}` + long:                            OutcomeEqual,
		long + "The answer is 42.":                     OutcomeEqual,
		"<think>" + long:                               OutcomeDifferent,
		"<think>" + long + "</think>The answer is 42.": OutcomeEqual,
	} {
		if v := Grade("42", response); v.Outcome != want {
			t.Errorf("%.20q...%.30q: %s (%s), want %s", response, response[len(response)-30:], v.Outcome, v.Reason, want)
		}
	}
}

func TestTolerancesThatMakeNoSenseAreExact(t *testing.T) {
	for _, tolerance := range []Tolerance{{Abs: math.NaN()}, {Abs: -1}, {Abs: math.Inf(1)}, {Rel: math.NaN()}, {Rel: -1}} {
		k := Key{Gold: []string{"1.5"}, Tolerance: []Tolerance{tolerance}}
		if k.Equal("1.5").Outcome != OutcomeEqual || k.Equal("1.6").Outcome != OutcomeDifferent {
			t.Errorf("%+v is not exact", tolerance)
		}
	}
}

func TestTasksAreReadStrictly(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a","gold":"1","response":"1"}`:                                         "",
		`{"id":"a","gold":["1","2"],"response":"1","tolerance":{"abs":[0.1,0]}}`:       "",
		`{"id":"a","gold":"1"}`:                                                        `no response; give "response" as a string`,
		`{"id":"a","response":"1"}`:                                                    `no ground truth; give "gold" as a string or a list of strings`,
		`{"id":"a","gold":"1","response":"1","tolerance":{"rel":-1}}`:                  "tolerance -1; it must not be negative",
		`{"id":"a","gold":"1","response":"1","tolerance":{"abs":[1,2],"rel":[1,2,3]}}`: "2 absolute and 3 relative tolerances; give as many of both, or one for all",
		`{"id":"a","gold":"1","response":"1","tolerance":{"absolute":1}}`:              `"tolerance" without a value; want {"abs": number} or {"rel": number}`,
		`{"id":"a","gold":"1","response":"1","tolerance":1}`:                           `"tolerance" holds a JSON number; want {"abs": number} or {"rel": number}`,
		`{"id":"a","gold":"1","response":"1","tolerance":{"abs":"1"}}`:                 `"tolerance.abs" holds a JSON string; want a number or a list of numbers`,
		`{"id":7,"gold":"1","response":"1"}`:                                           `"id" holds a JSON number; want a string`,
		`{"id":"a","gold":1,"response":"1"}`:                                           `"gold" holds a JSON number; want a string or a list of strings`,
		`{"id":"a","gold":[1],"response":"1"}`:                                         `"gold" holds a JSON number; want a string or a list of strings`,
		`{"id":"a","gold":"1","response":"1","options":"red"}`:                         `"options" holds a JSON string; want a list of strings`,
		`{"id":"a","gold":"1","gold":"2","response":"1"}`:                              `"gold" is there twice`,
		`{"id":"a","gold":"2","Gold":"1","response":"1"}`:                              `"gold" is there twice`,
		`{"id":"a","gold":"1","response":"1","note":1,"note":2}`:                       "",
		`{"id":"a","gold":"","response":"1"}`:                                          `"gold" is empty; give the ground truth`,
		`{"id":"a","gold":["1"," "],"response":"1"}`:                                   `"gold" is empty; give the ground truth`,
		`[1]`:    "not a JSON object but a JSON array",
		`{"id":`: "not a JSON object: it ends within its JSON",
	} {
		task, err := ParseTask([]byte(line))
		switch {
		case err == nil && want == "":
			if g := task.Grade(Policy{}); g.Outcome != OutcomeEqual || g.ID != "a" {
				t.Errorf("%s: %+v", line, g)
			}
		case err == nil || err.Error() != want:
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestThePackageCommentHoldsTheConventions(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "\n//", "\n")), " ")
	for _, c := range Conventions() {
		if !strings.Contains(doc, "- "+c[0]+": "+c[1]) {
			t.Errorf("doc.go does not hold %q: %s", c[0], c[1])
		}
	}
}

func TestPoliciesHaveTwoNamesEach(t *testing.T) {
	for _, s := range Policies() {
		on, err := ParsePolicy(s.Name)
		if err != nil || on == (Policy{}) {
			t.Errorf("%s: %+v, %v", s.Name, on, err)
		}
		if off, err := ParsePolicy(s.Name + ", " + s.DefaultName); err != nil || off != (Policy{}) {
			t.Errorf("%s after %s: %+v, %v", s.DefaultName, s.Name, off, err)
		}
	}
}
