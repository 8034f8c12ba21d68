// Pre-tokenizers: how a text is cut into the pieces within which bytes are merged.

package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The pattern of Qwen2 is, an alternative a line,
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// and that of SmolLM2, between single characters of \p{N} that are cut out before,
//
//	's|'t|'re|'ve|'m|'ll|'d
//	 ?\p{L}+
//	 ?[^\s\p{L}\p{N}]+
//	\s+(?!\S)
//	\s+
//
// They are scanners here and no regular expressions, because Go's have no lookahead and are slow.

// A cutter returns the length of the first piece of a text that is not empty. The pieces of a text are its cuts one after another.
type cutter func(s string) int

// A class is what the patterns tell apart.
type class uint8

const (
	other   class = iota // [^\s\p{L}\p{N}]
	letter               // \p{L}
	number               // \p{N}
	blank                // \s without the next
	newline              // [\r\n]
)

// classOf returns the class of the first character of s, which is not empty, and its length.
func classOf(s string) (class, int) {
	if s[0] < utf8.RuneSelf {
		return ascii[s[0]], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	return classOfRune(r), n
}

func classOfRune(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsLetter(r):
		return letter
	case unicode.IsSpace(r):
		return blank
	case unicode.IsNumber(r):
		return number
	}
	return other
}

var ascii = func() (table [utf8.RuneSelf]class) {
	for i := range table {
		table[i] = classOfRune(rune(i))
	}
	return table
}()

// run returns the length of the characters of a class with which s begins.
func run(s string, c class) int {
	i := 0
	for i < len(s) {
		got, n := classOf(s[i:])
		if got != c {
			break
		}
		i += n
	}
	return i
}

// contraction returns the length of 's, 't, 're, 've, 'm, 'll or 'd at the beginning of s, or 0.
func contraction(s string, anyCase bool) int {
	if s[0] != '\'' {
		return 0
	}
	for _, tail := range [...]string{"s", "t", "re", "ve", "m", "ll", "d"} {
		rest := s[1:]
		switch {
		case strings.HasPrefix(rest, tail):
			return 1 + len(tail)
		case anyCase && len(rest) >= len(tail) && strings.EqualFold(rest[:len(tail)], tail):
			return 1 + len(tail)
		}
	}
	if anyCase && strings.HasPrefix(s[1:], "ſ") { // an s, where case does not matter
		return 1 + len("ſ")
	}
	return 0
}

// blanks returns the length of the piece that white space of n bytes at the beginning of s makes: all of it at the end of a text,
// else without its last character, which belongs to what follows, unless it is the only one.
func blanks(s string, n int, atEnd bool) int {
	if atEnd {
		return n
	}
	if _, last := utf8.DecodeLastRuneInString(s[:n]); last < n {
		return n - last
	}
	return n
}

func cutQwen2(s string) int {
	if n := contraction(s, true); n > 0 {
		return n
	}
	first, n := classOf(s)
	switch first {
	case letter:
		return n + run(s[n:], letter)
	case number:
		return n
	case other, blank:
		if k := run(s[n:], letter); k > 0 {
			return n + k
		}
	}
	if first == other || s[0] == ' ' {
		start := n
		if first == other {
			start = 0
		}
		if k := run(s[start:], other); k > 0 {
			return start + k + run(s[start+k:], newline)
		}
	}
	// White space. If there are newlines in it, the piece ends after the last of them.
	i, lines := 0, 0
	for i < len(s) {
		c, n := classOf(s[i:])
		if c != blank && c != newline {
			break
		}
		i += n
		if c == newline {
			lines = i
		}
	}
	if lines > 0 {
		return lines
	}
	return blanks(s, i, i == len(s))
}

func cutSmolLM(s string) int {
	if n := contraction(s, false); n > 0 {
		return n
	}
	first, n := classOf(s)
	switch first {
	case letter, other:
		return n + run(s[n:], first)
	case number:
		return n
	}
	if s[0] == ' ' && len(s) > 1 {
		if next, _ := classOf(s[1:]); next == letter || next == other {
			return 1 + run(s[1:], next)
		}
	}
	i := 0
	for i < len(s) {
		c, n := classOf(s[i:])
		if c == number {
			return i // cut out before: the text ends here
		}
		if c != blank && c != newline {
			return blanks(s, i, false)
		}
		i += n
	}
	return i
}
