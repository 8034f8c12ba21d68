// N-grams of characters.

package features

import (
	"strings"
	"unicode"

	"github.com/entrorouter/entrorouter/harness/spec"
)

// characters counts the hashed n-grams of the characters of a text, signed as those of words. Letters are in lower case, a digit is
// "0", whichever it is, and blanks between words are one.
func characters(text string, of spec.Characters) []bucketCount {
	plain := []rune(strings.Map(func(r rune) rune {
		if isDigit(r) {
			return '0'
		}
		return unicode.ToLower(r)
	}, strings.Join(strings.Fields(text), " ")))
	ends := make([]int, 1, len(plain)+1) // where each character ends in the text's bytes
	for _, r := range plain {
		ends = append(ends, ends[len(ends)-1]+len(string(r)))
	}
	bytes := string(plain)
	all := make([]int32, of.Buckets)
	for i := range plain {
		for n := of.Shortest; n <= of.Longest && i+n <= len(plain); n++ {
			count(bytes[ends[i]:ends[i+n]], all)
		}
	}
	return nonZero(all, nil)
}
