// Named policies: the conventions on which graders differ.

package verify

import (
	"fmt"
	"strings"
)

// PolicySwitch is one named policy and the default that it replaces.
type PolicySwitch struct {
	Name        string // as ParsePolicy takes it
	Effect      string // what it does, one sentence
	DefaultName string // the default's name, which ParsePolicy takes too
	Default     string // what holds by default, one sentence
	set         func(p *Policy, on bool)
}

// Policies lists the named policies in the order of their names.
func Policies() []PolicySwitch {
	return []PolicySwitch{
		{"any-equation", "2x=5 is equal to 5: the right side of an equation counts.", "solved-equation", "An equation is equal to a value only if it assigns it, or if several unknowns show that it was asked for.", func(p *Policy, on bool) { p.AnyEquation = on }},
		{"any-order", "(1,2) and \\{2,1\\} are equal.", "ordered-tuple", "A tuple is no set.", func(p *Policy, on bool) { p.AnyOrder = on }},
		{"any-percent", "20 and 20% are equal.", "percent-as-asked", "20% is 20 only if the question asks for a percentage.", func(p *Policy, on bool) { p.AnyPercent = on }},
		{"any-unit", "5 cm and 5 m are equal.", "compared-units", "Units that conflict are different.", func(p *Policy, on bool) { p.AnyUnit = on }},
		{"ignore-repeats", "1, 1, 2 and 1, 2 are equal.", "count-repeats", "Lists count repetitions, sets in braces do not.", func(p *Policy, on bool) { p.IgnoreRepeats = on }},
		{"keep-bound", "f(x)=3x and f(t)=3t are different.", "rename-bound", "The parameters of a definition are renamed.", func(p *Policy, on bool) { p.KeepBound = on }},
		{"keep-units", "100 cm and 1 m are different.", "convert-units", "Units of one dimension convert into each other.", func(p *Policy, on bool) { p.KeepUnits = on }},
		{"math-verify", "What Math-Verify 0.9 accepts by convention: any-equation, any-order, any-percent, any-unit, ignore-repeats and six-places.", "math-verify-2025", "None of these.", func(p *Policy, on bool) {
			p.AnyEquation, p.AnyOrder, p.AnyPercent, p.AnyUnit, p.IgnoreRepeats, p.SixPlaces = on, on, on, on, on, on
		}},
		{"proved", "Equality that is probable and not proved is unknown.", "probable", "Expressions that agree at every point and precision tried are equal.", func(p *Policy, on bool) { p.Proved = on }},
		{"rounded", "A decimal answer with six significant digits or more is equal to a gold that rounds to it.", "exact", "Decimals are exact: 0.33 is not 1/3; use a tolerance where rounding is asked for.", func(p *Policy, on bool) { p.Rounded = on }},
		{"six-places", "A decimal is equal to what rounds to the same six places after the point.", "all-places", "Every place counts.", func(p *Policy, on bool) { p.SixPlaces = on }},
		{"strict-base", "4343 is different from the gold 4343_6.", "optional-base", "An answer may leave out the base that the gold is written in.", func(p *Policy, on bool) { p.StrictBase = on }},
		{"strict-units", "5 and 5 cm are different, and so are 2 and 2 pm.", "optional-units", "A unit may be missing on one side; conflicting units are different.", func(p *Policy, on bool) { p.StrictUnits = on }},
		{"strict-vector", "A column vector and a tuple are different.", "vector-as-tuple", "A vector and a tuple with the same elements are equal.", func(p *Policy, on bool) { p.StrictVector = on }},
	}
}

// Conventions lists what no policy changes: the name and the rule.
func Conventions() [][2]string {
	return [][2]string{
		{"percent", "20% is 0.2. Against a gold without a sign, 20% counts as 20 only if the question asks for a percentage."},
		{"tuple", "A tuple is no set. (1,2) is a pair against a pair and an interval against an interval or inequality. A comma list equals a set, ignoring order, and a tuple, in order. Parts with labels, (a) 5, (b) 6, are a tuple."},
		{"set", "Sets in braces ignore repetition; lists count it. \"10, 11 or 12\" is a list and not 10."},
		{"plus-minus", "\\pm stands for both values, and so do +/- and a leading +-."},
		{"assignment", "x=5 against 5 compares the values; x=5 and y=5 are different. In a chain the last exact value counts, and a chain that contradicts itself is different. m+n=17 and 17 are equal: several unknowns do not follow from one value, so that it was asked for. xy=5, |x|=5, 5=5, a+3z=0 and x=5 mod 7 are not 5 or 0: they leave the unknowns open or say nothing. A ground truth xy=6 accepts 6. y=1, x=2 is (2,1)."},
		{"equation", "Equations are equal up to a factor, inequalities up to a positive one. A gold interval accepts the inequality solved for one variable, not an unsolved one."},
		{"family", "A constant C of an antiderivative and the integer of angles such as pi/4+2k*pi may have another name, and so may a parameter whose clause (k \\in Z) one side leaves out. x^2+C is x^2+5+C, and with k \\in Z on either side 3k+1 is 3n-2."},
		{"noun", "Nouns are not compared: 5 apples is 5. 90° is 90 and pi/2."},
		{"name", "A point or quantity may carry its name: P(1,2) is (1,2), P(A|B)=1/2 and \\lim a_n=1/2 are 1/2. C(5,2), _5C_2 and C_5^2 are selections, P(5,2) and A_5^2 arrangements. phi is the golden ratio where it is the only name on both sides and no function is applied to it."},
		{"logarithm", "\\log without a base is natural, or decimal if that makes both sides equal."},
		{"decimal-comma", "3,14 and 1.234,5 are decimals in an answer against a gold that is one number; a gold 3,14 is a list, and so are 2,0 and 3, 14."},
		{"ratio", "Ratios are equal up to a factor; 1:2 is 1/2."},
		{"words", "Words are compared without case, articles and punctuation. A sentence gives what it says about its subject (\"the graph is an ellipse\"); one that merely holds the gold is different."},
		{"choice", "Multiple choice: the letter that is declared last, or the text of an option. Letters beyond the options, and the English words \"a\" and \"I\", are none."},
		{"restatement", "An expression copied from the question instead of its value is different, if the question is known."},
	}
}

// ParsePolicy reads policy names separated by commas; of two that exclude each other the later counts. The empty string
// and "math-verify-2025" are the default.
func ParsePolicy(names string) (Policy, error) {
	var p Policy
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		if name == "" {
			continue
		}
		found := false
		known := make([]string, 0, 8)
		for _, s := range Policies() {
			known = append(known, s.Name)
			if name == s.Name || name == s.DefaultName {
				s.set(&p, name == s.Name)
				found = true
			}
		}
		if !found {
			return p, fmt.Errorf("unknown policy %q; known: %s", name, strings.Join(known, ", "))
		}
	}
	return p, nil
}

// asksPercent reports whether a question asks for a percentage.
func asksPercent(question string) bool {
	if question == "" {
		return false
	}
	q := strings.ToLower(question)
	for _, s := range []string{"percentage", "what percent", "which percent", "how many percent", "as a percent", "in percent", "by what percent", "what is the percent", "find the percent", "what \\%", "what %"} {
		if strings.Contains(q, s) {
			return true
		}
	}
	return false
}
