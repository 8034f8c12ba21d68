package verify

// What words do to the value that they stand beside.

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var wordList string

// sense returns the class in words.txt of a word that is no noun; empty for all others.
func sense(word string) string { return senses[word] }

// opening returns the class in words.txt of a word that matters where it opens a clause or stands before a value.
func opening(word string) string { return openings[word] }

var senses, openings = func() (beside, ahead map[string]string) {
	beside, ahead = map[string]string{}, map[string]string{}
	for line := range strings.Lines(wordList) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		for i := 1; i < len(fields); i++ {
			switch fields[0] {
			case "interjection", "alternative", "supposition", "label":
				ahead[fields[i]] = fields[0]
			default:
				beside[fields[i]] = fields[0]
			}
		}
	}
	return beside, ahead
}()

// qualification is the error of an answer that was read and is not the bare value that it holds: its text says why.
type qualification string

func (q qualification) Error() string { return string(q) }

// Qualifications, as rules of verdicts.
const (
	negated     qualification = "a value that is denied"
	doubted     qualification = "a value in doubt"
	conditional qualification = "a value under a condition"
	contrasted  qualification = "a value beside another"
	bounded     qualification = "a bound"
	altered     qualification = "a value that words change"
)

// qualifies returns what a run of words after a value does to it; empty if they are units, nouns and the like.
func qualifies(words []string) qualification {
	for i, w := range words {
		w = strings.ToLower(w)
		switch sense(w) {
		case "denial":
			return negated
		case "doubt":
			return doubted
		case "condition":
			return conditional
		case "contrast", "exclusion":
			if w == "out" {
				break // 5 out of 6
			}
			return contrasted
		case "comparison":
			if i < 2 {
				return altered // 5 less than the total, but not 5 more apples than before
			}
		case "part":
			return altered
		case "operation":
			if i == 0 && (w != "times" || len(words) > 1) {
				return altered
			}
		case "verb":
			return altered
		}
	}
	return ""
}

// precedes returns what a word before a value does to it.
func precedes(word string) qualification {
	switch sense(strings.ToLower(word)) {
	case "denial":
		return negated
	case "doubt":
		return doubted
	case "condition":
		return conditional
	case "comparison", "part":
		return altered
	case "bound":
		return bounded
	}
	return ""
}

// powers of ten and other numbers that stand after a number as its unit.
var multiples = map[string]int64{
	"hundred": 100, "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9, "billions": 1e9, "trillion": 1e12, "trillions": 1e12,
	"dozen": 12, "dozens": 12, "pair": 2, "pairs": 2, "score": 20, "gross": 144,
}

// worth applies the words of arithmetic that directly follow a value: million, squared, thirds. used is how many words
// they are.
func worth(value *node, words []string) (n *node, used int) {
	first := strings.ToLower(words[0])
	if k, ok := multiples[first]; ok {
		return apply(kindMultiply, value, number(k)), 1
	}
	switch first {
	case "squared":
		return power(value, number(2)), 1
	case "cubed":
		return power(value, number(3)), 1
	case "factorial":
		return call("factorial", value), 1
	case "percent":
		return apply(kindPercent, value), 1
	case "per":
		if len(words) > 1 && strings.EqualFold(words[1], "cent") {
			return apply(kindPercent, value), 2
		}
	}
	singular := strings.TrimSuffix(first, "s")
	if first == "halves" {
		singular = "half"
	}
	// Quarters and seconds are nouns as well.
	if d := portions[singular]; d > 0 && first != "quarters" && (first != singular || identical(value, number(1))) {
		return divide(value, number(d)), 1
	}
	return value, 0
}

// isMultiple reports whether a word is a number that stands after a number, as million does.
func isMultiple(word string) bool { return multiples[word] != 0 }

// symbolic reports whether a word of prose is a function or constant, and whether it is a unit.
func symbolic(w string) (symbol, unit bool) {
	_, unit = measureNames[w]
	_, exactly := casedNames[w]
	return functions[w] != "" || names[w] != nil || greek[w], unit || exactly
}

// isGreek reports whether a name is that of a Greek letter.
func isGreek(name string) bool { return greek[name] }
