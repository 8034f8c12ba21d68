// What is counted in a text: tokens, n-grams and surface features.

package features

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/harness/seed"
)

// Version changes whenever the same text would give other features, so that an old checkpoint is refused
// rather than fed inputs that it was not trained on.
const Version = 2

// tokenize cuts a text into lower-case words, LaTeX commands, symbols and numbers. A number becomes "#" and how many
// digits it has: its size matters to a router, its value does not. Where no blanks are between words, a letter is a token.
func tokenize(text string) []string {
	tokens := make([]string, 0, len(text)/4)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		start := i
		i += n
		switch {
		case unicode.IsSpace(r):
			continue
		case isDigit(r):
			for i < len(text) && isDigit(rune(text[i])) {
				i++
			}
			tokens = append(tokens, "#"+strconv.Itoa(i-start))
			continue
		case unicode.IsLetter(r) && !unspaced(r), r == '\\':
			for i < len(text) {
				l, n := utf8.DecodeRuneInString(text[i:])
				if !unicode.IsLetter(l) || unspaced(l) {
					break
				}
				i += n
			}
		}
		tokens = append(tokens, strings.ToLower(text[start:i]))
	}
	return tokens
}

// unspaced says whether a letter is of a script that has no blanks between words: a text of it would be one word.
func unspaced(r rune) bool {
	return r >= '\u0e00' && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// hashNGrams adds the n-grams of tokens up to length n to counts [buckets].
func hashNGrams(tokens []string, n int, counts []int32) {
	var gram []byte
	for i := range tokens {
		gram = gram[:0]
		for k := 0; k < n && i+k < len(tokens); k++ {
			gram = append(append(gram, tokens[i+k]...), ' ')
			count(string(gram), counts)
		}
	}
}

// surfaceSymbols are counted one by one.
const surfaceSymbols = "+-*/^_=<>([{,;:!?|&%'\""

// surfaceNames names the surface features in order. Counts and lengths enter as log(1+x).
var surfaceNames = func() []string {
	names := []string{
		"characters", "tokens", "sentences", "lines", "unique token ratio", "mean word length", "capitals ratio",
		"numbers", "longest number", "mean number length", "latex commands", "\\frac", "\\sqrt", "dollar signs",
		"bracket depth", "[asy]",
	}
	for _, s := range surfaceSymbols {
		names = append(names, string(s))
	}
	return names
}()

// surface returns the surface features of a text, in the order of surfaceNames, not yet standardised.
func surface(text string, tokens []string) []float64 {
	var letters, capitals, ends, lines, dollars, depth, deepest int
	symbols := make([]int, len(surfaceSymbols))
	for _, r := range text {
		if i := strings.IndexRune(surfaceSymbols, r); i >= 0 {
			symbols[i]++
		}
		switch {
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				capitals++
			}
		case r == '.', r == '?', r == '!':
			ends++
		case r == '\n':
			lines++
		case r == '$':
			dollars++
		case r == '(', r == '[', r == '{':
			depth++
			deepest = max(deepest, depth)
		case r == ')', r == ']', r == '}':
			depth--
		}
	}
	var words, wordLength, numbers, digits, longest, commands, fracs, sqrts int
	unique := make(map[string]struct{}, len(tokens))
	for _, t := range tokens {
		unique[t] = struct{}{}
		switch {
		case t[0] == '#' && len(t) > 1:
			n, _ := strconv.Atoi(t[1:]) // tokenize wrote it
			numbers++
			digits += n
			longest = max(longest, n)
		case t[0] == '\\':
			commands++
			switch t {
			case `\frac`, `\dfrac`, `\tfrac`:
				fracs++
			case `\sqrt`:
				sqrts++
			}
		default:
			if r, _ := utf8.DecodeRuneInString(t); unicode.IsLetter(r) {
				words++
				wordLength += utf8.RuneCountInString(t)
			}
		}
	}
	asy := 0
	if strings.Contains(text, "[asy]") {
		asy = 1
	}
	x := []float64{
		log1p(utf8.RuneCountInString(text)), log1p(len(tokens)), log1p(ends), log1p(lines),
		ratio(len(unique), len(tokens)), ratio(wordLength, words), ratio(capitals, letters),
		log1p(numbers), log1p(longest), ratio(digits, numbers), log1p(commands), log1p(fracs), log1p(sqrts),
		log1p(dollars), log1p(deepest), float64(asy),
	}
	for _, n := range symbols {
		x = append(x, log1p(n))
	}
	return x
}

func log1p(n int) float64 { return math.Log1p(float64(n)) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// count adds +1 or -1 to the bucket of a gram, by one bit of its hash, so that grams that share a bucket cancel on average instead
// of adding up.
func count(gram string, counts []int32) {
	h := seed.Hash(gram)
	if h>>63 == 0 {
		counts[h%uint64(len(counts))]++
	} else {
		counts[h%uint64(len(counts))]--
	}
}
