// Wrong answers that look right, for simulated experts.

package problems

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Distractor returns a plausibly wrong answer to a problem with the given gold: another option, a number that is one
// off or has two digits swapped, a lost sign, exchanged coordinates, the wrong end of a half-open interval. It has the
// form of the gold and never its value, for every gold that Generate makes.
func Distractor(gold string, options []string, r *rand.Rand) string {
	if len(options) > 1 {
		at := r.IntN(len(options) - 1)
		if at >= indexOption(gold, options) {
			at++
		}
		return letterOf(at)
	}
	for range 8 {
		if wrong, ok := slip(gold, r); ok {
			return wrong
		}
	}
	// No slip fits: the gold has no number to get wrong, or only numbers that repeat another member when changed.
	return gold + " + 1"
}

// indexOption finds the gold, a letter or the text of an option; len(options) if it is neither.
func indexOption(gold string, options []string) int {
	if len(gold) == 1 && gold[0] >= 'A' && int(gold[0]-'A') < len(options) {
		return int(gold[0] - 'A')
	}
	if i := slices.Index(options, gold); i >= 0 {
		return i
	}
	return len(options)
}

// slip makes one error in a gold.
func slip(gold string, r *rand.Rand) (string, bool) {
	if parts, ok := members(gold, "(", ")"); ok && len(parts) == 2 && parts[0] != parts[1] && r.IntN(5) == 0 {
		return "(" + parts[1] + ", " + parts[0] + ")", true
	}
	if n := len(gold); n > 2 && (gold[0] == '[') != (gold[n-1] == ']') && (gold[0] == '[' || gold[n-1] == ']') && r.IntN(3) == 0 {
		return flip(gold[:1]) + gold[1:n-1] + flip(gold[n-1:]), true
	}
	if r.IntN(6) == 0 {
		if wrong, ok := lostSign(gold); ok {
			return wrong, true
		}
	}
	wrong, ok := wrongNumber(gold, r)
	if !ok {
		return "", false
	}
	if parts, isSet := members(wrong, `\{`, `\}`); isSet {
		slices.Sort(parts)
		if len(slices.Compact(parts)) != strings.Count(gold, ",")+1 {
			return "", false // a member was changed into another one
		}
	}
	return wrong, true
}

// members splits the comma-separated list between two delimiters.
func members(s, left, right string) ([]string, bool) {
	s, okLeft := strings.CutPrefix(s, left)
	s, okRight := strings.CutSuffix(s, right)
	if !okLeft || !okRight {
		return nil, false
	}
	return strings.Split(s, ", "), true
}

// flip turns an open end of an interval into a closed one and back.
func flip(bracket string) string {
	return map[string]string{"(": "[", "[": "(", ")": "]", "]": ")"}[bracket]
}

// lostSign reverses the last binary sign of an expression, or the sign of a number that is not zero.
func lostSign(gold string) (string, bool) {
	plus, minus := strings.LastIndex(gold, " + "), strings.LastIndex(gold, " - ")
	if plus > minus {
		return gold[:plus] + " - " + gold[plus+3:], true
	}
	if minus >= 0 {
		return gold[:minus] + " + " + gold[minus+3:], true
	}
	if strings.ContainsAny(gold, `,x{`) || strings.Trim(gold, "-0.") == "" {
		return "", false
	}
	if rest, negative := strings.CutPrefix(gold, "-"); negative {
		return rest, true
	}
	return "-" + gold, true
}

// wrongNumber replaces one number of the gold, exponents apart, by another of the same sign. Wherever a number stands
// in a generated gold (a term, a coefficient, a numerator or denominator, under a root), that changes the value.
func wrongNumber(gold string, r *rand.Rand) (string, bool) {
	var spans [][2]int
	for i := 0; i < len(gold); {
		j := i
		for j < len(gold) && gold[j] >= '0' && gold[j] <= '9' {
			j++
		}
		if j == i {
			i++
			continue
		}
		if !strings.HasSuffix(gold[:i], "^{") && !strings.HasSuffix(gold[:i], "^") && !strings.HasSuffix(gold[:i], ".") {
			spans = append(spans, [2]int{i, j})
		}
		i = j
	}
	if len(spans) == 0 {
		return "", false
	}
	at := spans[r.IntN(len(spans))]
	n, err := strconv.ParseInt(gold[at[0]:at[1]], 10, 64)
	if err != nil {
		return "", false
	}
	k := int64(1 + r.IntN(9))
	wrong := [...]int64{n - 1, n + k, n - k, 2 * n, swapDigits(n), n + 1}[r.IntN(6)]
	if wrong < 1 || wrong == n {
		wrong = n + 1
	}
	return gold[:at[0]] + itoa(wrong) + gold[at[1]:], true
}
