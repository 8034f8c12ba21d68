// The letters of byte-level encoding: each byte is spelled as one printable character.

package tokenizer

import (
	"fmt"
	"strings"
)

// letters spells each byte as GPT-2 does: printable characters of Latin-1 are themselves, the others follow from U+0100 on.
var letters = func() (spelled [256]rune) {
	next := rune(0x100)
	for b := range spelled {
		if b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad {
			spelled[b] = rune(b)
		} else {
			spelled[b] = next
			next++
		}
	}
	return spelled
}()

// lastLetter is the last of them.
const lastLetter = 0x100 + 67

// byteOf has the byte of each letter, or -1.
var byteOf = func() (bytes [lastLetter + 1]int16) {
	for i := range bytes {
		bytes[i] = -1
	}
	for b, r := range letters {
		bytes[r] = int16(b)
	}
	return bytes
}()

// bytesOf returns the bytes that a token spells.
func bytesOf(spelling string) (string, error) {
	var b strings.Builder
	for _, r := range spelling {
		if r > lastLetter || byteOf[r] < 0 {
			return "", fmt.Errorf("%q has the character %q, which stands for no byte: this is no byte-level vocabulary, or an added token that is not listed as one", spelling, r)
		}
		b.WriteByte(byte(byteOf[r]))
	}
	return b.String(), nil
}
