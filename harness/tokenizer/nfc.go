// Normalisation to NFC, of texts with any number of marks on a letter.

package tokenizer

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// nfc returns a text in NFC. The library norm says whether a text is, but does not make it so: it puts a U+034F behind every 30 marks
// in a row, as streams need them, lets marks pass by some vowel signs that join others, and joins U+10041 and U+0301 into U+00C1.
func nfc(s string) string {
	if norm.NFC.IsNormalString(s) {
		return s
	}
	return compose(s)
}

// compose is NFC as Unicode Standard Annex 15 describes it: characters are taken apart, the marks behind a letter are ordered by
// their class, and each joins the letter unless a mark that stays between them has its class or a higher one.
func compose(s string) string {
	var apart []rune
	for _, r := range s {
		if r < utf8.RuneSelf {
			apart = append(apart, r)
			continue
		}
		apart = append(apart, []rune(norm.NFD.String(string(r)))...)
	}
	for i := 0; i < len(apart); i++ {
		marks := i
		for i < len(apart) && markClass(apart[i]) > 0 {
			i++
		}
		slices.SortStableFunc(apart[marks:i], func(a, b rune) int { return markClass(a) - markClass(b) })
	}
	out := make([]rune, 0, len(apart))
	letter, last := -1, 0 // the place of the last letter, -1 for none, and the class of what came last
	for _, r := range apart {
		class := markClass(r)
		if letter >= 0 && (letter == len(out)-1 || last < class) {
			if joined, ok := join(out[letter], r); ok {
				out[letter] = joined
				continue
			}
		}
		if out = append(out, r); class == 0 {
			letter = len(out) - 1
		}
		last = class
	}
	return string(out)
}

// join returns the character that two make. norm takes letters beyond U+FFFF for others, which what it makes of them shows.
func join(letter, mark rune) (joined rune, ok bool) {
	if mark < firstMark {
		return 0, false
	}
	pair := string([]rune{letter, mark})
	text := norm.NFC.String(pair)
	joined, n := utf8.DecodeRuneInString(text)
	return joined, n == len(text) && norm.NFD.String(text) == norm.NFD.String(pair)
}

// markClass is the canonical combining class of a character: 0 unless it is a mark.
func markClass(r rune) int {
	if r < firstMark {
		return 0
	}
	return int(norm.NFD.PropertiesString(string(r)).CCC())
}

// firstMark is the first mark. No character before it joins another.
const firstMark = 0x300
