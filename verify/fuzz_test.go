package verify

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/verify/internal/decide"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// answers seeds the fuzz targets with the golds and responses of the cases file, whose laws so hold in every test run.
func answers(f *testing.F) (out []string) {
	for _, c := range loadCases(f) {
		out = append(append(out, c.key.Gold...), c.response)
	}
	return out
}

// FuzzAnswerEqualsItself: what is read equals itself, bare, boxed and after thinking.
func FuzzAnswerEqualsItself(f *testing.F) {
	for _, a := range append(answers(f), "<thinking>", "a [THINK] b", "||x||y||", `3 1\frac12`) {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, a string) {
		v := Equal(a, a)
		if !holdsAnswer(formula.Trim(a)) {
			if v.Outcome != OutcomeDifferent || v.Reason != ReasonNoAnswer {
				t.Fatalf("an empty answer: %+v", v)
			}
			return
		}
		if v.Outcome != OutcomeEqual && v.Reason != ReasonContradicted && v.Reason != ReasonRefused && v.Reason != ReasonNoAnswer && v.Reason != ReasonLimit {
			t.Fatalf("%q against itself: %+v", a, v)
		}
		if v.Outcome != OutcomeEqual || strings.ContainsAny(a, "{}\\$\a\b\f\v") || slices.ContainsFunc(unthought, func(mark string) bool { return strings.Contains(a, mark) }) || strings.Contains(a, "box") {
			return
		}
		if w := Grade(a, `Hence \boxed{`+a+`}.`); w.Outcome != OutcomeEqual {
			t.Fatalf("%q boxed: %+v", a, w)
		}
	})
}

// FuzzComparisonIsSymmetric: which side is the ground truth does not matter, but for the policies that say so.
func FuzzComparisonIsSymmetric(f *testing.F) {
	all := answers(f)
	for i, a := range all {
		f.Add(a, all[(i+1)%len(all)])
		f.Add(a, a+"+1")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !holdsAnswer(formula.Trim(a)) || !holdsAnswer(formula.Trim(b)) {
			return
		}
		v, w := Equal(a, b), Equal(b, a)
		if v.Outcome == w.Outcome || v.Outcome == OutcomeUnknown || w.Outcome == OutcomeUnknown {
			return
		}
		// A base or unit letter that only the ground truth may lack, decimal commas and sentences are read on one side only,
		// and a ground truth xy=6 names what was asked for.
		if namesProduct(a) || namesProduct(b) || strings.Contains(a+b, "_") || formula.DecimalComma(a) != "" || formula.DecimalComma(b) != "" || formula.UnitReading(formula.Trim(a), true) != nil || formula.UnitReading(formula.Trim(b), true) != nil || formula.SentenceOfWords(a) || formula.SentenceOfWords(b) || letterAt(formula.Tidy(a), 10) >= 0 || letterAt(formula.Tidy(b), 10) >= 0 {
			return
		}
		t.Fatalf("%q and %q: %+v, the other way round %+v", a, b, v, w)
	})
}

// namesProduct reports whether an answer is a relation such as xy=6 or |x|=5.
func namesProduct(s string) bool {
	nodes, err := decide.Read(formula.Trim(s), &formula.Budget{Left: formula.MaxSteps})
	return err == nil && nodes[0].Kind == formula.KindRelation && decide.Unsolved(nodes[0].Args[0])
}

// FuzzLayoutDoesNotMatter: white space, \left and \right, display style and fonts change nothing.
func FuzzLayoutDoesNotMatter(f *testing.F) {
	for _, a := range answers(f) {
		f.Add(a)
	}
	f.Fuzz(func(t *testing.T, a string) {
		if v := Equal(a, a); v.Outcome != OutcomeEqual || v.Rule != decide.RuleIdentical || formula.SentenceOfWords(a) {
			return // words, remarks and what cannot be read keep their layout
		}
		for _, b := range []string{" " + a + " ", "$" + a + "$", `\displaystyle ` + a, strings.ReplaceAll(a, "(", `\left(`), strings.ReplaceAll(a, `\frac{`, `\dfrac{`), `{` + a + `}`, loosened(a), `\mathbf{` + a + `}`, `\boldsymbol{` + a + `}`} {
			if strings.Contains(b, `\left(`) && !strings.Contains(a, `\left`) {
				b = strings.ReplaceAll(b, ")", `\right)`)
			}
			if strings.HasPrefix(b, `\mathbf`) || strings.HasPrefix(b, `\boldsymbol`) {
				n, err := decide.Read(formula.Trim(a), &formula.Budget{Left: formula.MaxSteps})
				if err != nil || n[0].Kind == formula.KindList || formula.NormalWords(formula.Tidy(formula.Fold(a))) != "" || !readable(a) || strings.Contains(a, ".(") || strings.Contains(a, " (") || strings.ContainsAny(a, ",;&{}\\\"$=<>_#\n") {
					continue // these fonts are for formulas, not for words or lists
				}
			}
			if strings.HasPrefix(b, "{") && strings.ContainsAny(a, ",;&{}\\\"$=<>") {
				continue // braces around a list make a set
			}
			if strings.HasPrefix(b, "$") && strings.Contains(a, "$") || strings.Contains(b, `\left(`) && strings.Contains(a, `\text`) {
				continue
			}
			if v := Equal(a, b); v.Outcome == OutcomeDifferent {
				t.Fatalf("%q and %q: %+v", a, b, v)
			}
		}
	})
}

// loosened puts spaces around the operators of a formula, where they mean nothing in TeX.
func loosened(s string) string {
	if strings.ContainsAny(s, `"<>-/*!:`) || strings.Contains(strings.ToLower(s), "e+") || strings.Contains(s, `\text`) || strings.Contains(s, `\m`) {
		return s // "->", "<=", "!=", ":=", "**", 1e+3 and words
	}
	return strings.NewReplacer(`\+`, `\+`, `\^`, `\^`, `\=`, `\=`, "+", " + ", "^", " ^ ", "=", " = ").Replace(s)
}

// FuzzRowsAreReadAsJSON: what the quick reader of rows reads is what package json reads.
func FuzzRowsAreReadAsJSON(f *testing.F) {
	for _, row := range []string{
		`{"id":"a","gold":"1/2","response":"so \\boxed{0.5}"}`, ` { "gold" : [ "1" , "2" ] , "response" : "\u00e9\n\"x\" \/" , "options":[]} `, `{"id":"é","gold":[],"response":"\ud83d\ude00","question":"q"}`,
		`{"Gold":"1","response":"1"}`, `{"gold":"1","gold":["2"],"response":"1","response":"2","source":"s"}`, `{"gold":"1","response":"1","n":1}`, `{"gold":"1","response":"1"}}`, `{}`, `{"a":"\u12"}`, "{\"a\":\"\xff\"}", "{\"a\":\"\t\"}", `{"a":"\x"}`, `{"gold":"1",}`, `{"gold":["1",]}`, `{"options":null}`, `{"reſponse":"1"}`, `{"a":"\`, `{"a":"\u+123"}`,
	} {
		f.Add([]byte(row))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		r := rowReader{text: row}
		got, ok := r.task()
		if !ok {
			return
		}
		var want Task
		if err := json.Unmarshal(row, &want); err != nil {
			t.Fatalf("%q is read as %+v; package json: %v", row, got, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is read as %+v, by package json as %+v", row, got, want)
		}
	})
}

// FuzzGradeIsBounded: no input panics, loops or spends more than its budget; the same input gives the same verdict.
func FuzzGradeIsBounded(f *testing.F) {
	for _, h := range hostile() {
		if len(h.response) < 4096 && len(h.gold) < 4096 {
			f.Add(h.gold, h.response)
		}
	}
	for _, a := range answers(f) {
		f.Add("42", a)
	}
	f.Add("141.5, 3", "$141.5$, $3$")
	f.Add("x=5 widgets", "x=5 widgets")
	f.Fuzz(func(t *testing.T, gold, response string) {
		v := Grade(gold, response)
		if w := Grade(gold, response); v != w {
			t.Fatalf("%q against %q: %+v and then %+v", gold, response, v, w)
		}
		if (v.Outcome == OutcomeEqual) != (v.Reason == ReasonEqual) {
			t.Fatalf("%q against %q: the reason is another verdict's: %+v", gold, response, v)
		}
		k := Key{Gold: []string{"A"}, Options: []string{gold, response, "neither"}, Tolerance: []Tolerance{{Abs: 0.1}}, Question: gold}
		k.Grade(response)
		k.Options = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}
		k.Grade(response)
		k.Options = nil
		k.Gold = []string{gold}
		k.Grade(response)
	})
}
