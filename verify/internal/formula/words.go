// The classes of words, from words.txt.

package formula

// What words do to the value that they stand beside.

import (
	_ "embed"
	"math/big"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed words.txt
var wordList string

// Sense returns the class in words.txt of a word that is no noun; empty for all others.
func Sense(word string) string { return senses[word] }

// Opening returns the class in words.txt of a word that matters where it opens a clause or stands before a value.
func Opening(word string) string { return openings[word] }

var senses, openings = func() (beside, ahead map[string]string) {
	beside, ahead = map[string]string{}, map[string]string{}
	for line := range strings.Lines(wordList) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			switch fields[0] {
			case "interjection", "alternative", "supposition", "label", "modifier":
				ahead[fields[i]] = fields[0]
			default:
				beside[fields[i]] = fields[0]
			}
		}
	}
	return beside, ahead
}()

// Qualification is the error of an answer that was read and is not the bare value that it holds: its text says why.
type Qualification string

func (q Qualification) Error() string { return string(q) }

// Qualifications, as rules of verdicts.
const (
	Negated     Qualification = "a value that is denied"
	Doubted     Qualification = "a value in doubt"
	Conditional Qualification = "a value under a condition"
	Contrasted  Qualification = "a value beside another"
	Bounded     Qualification = "a bound"
	Altered     Qualification = "a value that words change"
)

// Qualifies returns what a run of words after a value does to it; empty if they are units, nouns and the like.
func Qualifies(words []string) Qualification {
	for i, w := range words {
		w = strings.ToLower(w)
		switch Sense(w) {
		case "denial":
			return Negated
		case "doubt":
			return Doubted
		case "condition":
			return Conditional
		case "contrast", "exclusion":
			if w == "out" {
				break // 5 out of 6
			}
			return Contrasted
		case "comparison":
			if i < 2 {
				return Altered // 5 less than the total, but not 5 more apples than before
			}
		case "part":
			return Altered
		case "operation":
			if i == 0 && (w != "times" || len(words) > 1) {
				return Altered
			}
		case "bound":
			return Bounded
		case "verb":
			return Altered
		}
	}
	return ""
}

// counts reports whether words can name what a value counts or measures: a unit, a word in the plural, or words that go
// with a noun that is not written. Of one thing, or a part of one, the noun is singular.
func counts(value *Node, words []string) bool {
	if v := Literal(value); !v.IsInt() || v.Num().CmpAbs(big.NewInt(1)) <= 0 {
		return true
	}
	for _, w := range words {
		lower := strings.ToLower(w)
		if _, unit := MeasureOf(w); unit || strings.HasSuffix(lower, "s") || plurals[lower] || shortNouns[lower] || Opening(lower) == "modifier" || w == "/" || w[0] == '^' || w[0] >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// plurals are nouns whose plural does not end in s, and words of units that have none.
var plurals = map[string]bool{
	"men": true, "women": true, "people": true, "children": true, "feet": true, "teeth": true, "geese": true, "mice": true, "oxen": true, "fish": true, "sheep": true, "deer": true,
	"dice": true, "data": true, "vertices": true, "indices": true, "radii": true, "matrices": true, "money": true, "water": true, "rad": true, "unit": true, "square": true, "cubic": true,
}

// Precedes returns what a word before a value does to it.
func Precedes(word string) Qualification {
	switch Sense(strings.ToLower(word)) {
	case "denial":
		return Negated
	case "doubt":
		return Doubted
	case "condition":
		return Conditional
	case "comparison", "part":
		return Altered
	case "bound":
		return Bounded
	}
	return ""
}

// comparatives are the words of inequalities before "than", and behind "or": 5 or more.
var comparatives = map[string]string{"more": ">", "greater": ">", "larger": ">", "bigger": ">", "higher": ">", "less": "<", "fewer": "<", "smaller": "<", "lower": "<"}

// comparison reads an inequality in words: at least, no more than, greater than or equal to. word returns the words in
// lower case, empty behind the last one. n is how many words it takes, 0 if there is none.
func comparison(word func(int) string) (op string, n int) {
	first := word(0)
	switch first {
	case "at":
		op = map[string]string{"least": ">=", "most": "<="}[word(1)]
		n = 2
	case "over", "above":
		return ">", 1
	case "under", "below":
		return "<", 1
	default:
		if first == "no" || first == "not" || first == "strictly" {
			n = 1
		}
		if op = comparatives[word(n)]; word(n+1) != "than" {
			op = ""
		}
		n += 2
		switch {
		case first == "no" || first == "not":
			op = map[string]string{">": "<=", "<": ">="}[op]
		case op != "" && word(n) == "or" && word(n+1) == "equal" && word(n+2) == "to":
			op, n = op+"=", n+3
		}
	}
	if op == "" {
		return "", 0
	}
	return op, n
}

// Compares reports whether a text starts with an inequality in words.
func Compares(s string) bool {
	_, n := comparison(wordsOf(strings.Fields(strings.ToLower(s[:min(len(s), 40)]))))
	return n > 0
}

// wordsOf returns the i-th of words, empty behind the last one.
func wordsOf(words []string) func(int) string {
	return func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
}

// powers of ten and other numbers that stand after a number as its unit.
var multiples = map[string]int64{
	"hundred": 100, "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "billions": 1e9, "trillion": 1e12, "trillions": 1e12,
	"dozen": 12, "dozens": 12, "pair": 2, "pairs": 2, "score": 20, "gross": 144,
}

// Worth applies the words of arithmetic that directly follow a value: million, squared, thirds. used is how many words
// they are.
func Worth(value *Node, words []string) (n *Node, used int) {
	first := strings.ToLower(words[0])
	if k, ok := multiples[first]; ok && first != "dozens" && first != "pairs" { // what is counted in dozens may be meant so
		return Apply(KindMultiply, value, Number(k)), 1
	}
	switch first {
	case "squared":
		return Power(value, Number(2)), 1
	case "cubed":
		return Power(value, Number(3)), 1
	case "factorial":
		return Call("factorial", value), 1
	case "percent":
		return Apply(KindPercent, value), 1
	case "per":
		if len(words) > 1 && strings.EqualFold(words[1], "cent") {
			return Apply(KindPercent, value), 2
		}
	}
	singular := strings.TrimSuffix(first, "s")
	if first == "halves" {
		singular = "half"
	}
	// Quarters and seconds are nouns as well.
	if d := portions[singular]; d > 0 && first != "quarters" && (first != singular || Identical(value, Number(1))) {
		return Divide(value, Number(d)), 1
	}
	return value, 0
}

// Multiple returns the number that a word stands for behind a number, as million does; 0 for others.
func Multiple(word string) int64 { return multiples[word] }

// Symbolic reports whether a word of prose is a function or constant, and whether it is a unit.
func Symbolic(w string) (symbol, unit bool) {
	k := vocabularies()[w]
	return k.symbol, k.unit
}

// vocabularies holds the words of formulas and the names of units.
var vocabularies = sync.OnceValue(func() map[string]struct{ symbol, unit bool } {
	m := map[string]struct{ symbol, unit bool }{}
	symbol := func(w string) {
		k := m[w]
		k.symbol = true
		m[w] = k
	}
	for w := range functions {
		symbol(w)
	}
	for w := range names {
		symbol(w)
	}
	for w := range greek {
		symbol(w)
	}
	lower, exact := measuresByName()
	for _, units := range []map[string]measure{lower, exact} {
		for w := range units {
			k := m[w]
			k.unit = true
			m[w] = k
		}
	}
	return m
})

// IsGreek reports whether a name is that of a Greek letter.
func IsGreek(name string) bool { return greek[name] }
