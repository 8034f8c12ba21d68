// The tokens of an answer.

package formula

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind classifies the tokens of an answer.
type tokenKind uint8

const (
	tokenEnd     tokenKind = iota
	tokenNumber            // digits with an optional decimal part and exponent, separators removed
	tokenWord              // a run of letters
	tokenCommand           // \name, or \ and one character
	tokenText              // the content of \text{...} and its relatives
	tokenMark              // one other character, in text
)

type token struct {
	kind    tokenKind
	space   bool // white space before it
	grouped bool // number: read with thousands separators that could also separate a list
	text    string
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

func (t token) mark(c byte) bool { return t.kind == tokenMark && len(t.text) == 1 && t.text[0] == c }

func (t token) command(name string) bool { return t.kind == tokenCommand && t.text == name }

// lexer splits folded LaTeX or plain text into tokens and drops what is layout only.
type lexer struct {
	src      string
	commas   bool // read 1,234 outside brackets as one number
	tokens   []token
	depth    int  // open brackets that separate elements
	nested   int  // \text inside \text
	quotes   int  // quotation marks so far
	open     bool // a brace without its partner was met; no further search is worth its cost
	based    bool // what is nested is followed by a base
	hex      bool // which is 16
	currency bool // the number at hand follows a currency sign
	grouped  bool
	first    bool // the first token is enough
}

// Commands that only change the appearance. They vanish; a group after them stays.
var layout = map[string]bool{
	"left": true, "right": true, "mleft": true, "mright": true, "big": true, "Big": true, "bigg": true, "Bigg": true, "bigl": true, "bigr": true, "Bigl": true, "Bigr": true,
	"biggl": true, "biggr": true, "Biggl": true, "Biggr": true, "middle": true, "displaystyle": true, "textstyle": true, "scriptstyle": true,
	"scriptscriptstyle": true, "limits": true, "nolimits": true, "!": true, ",": true, ";": true, ":": true, ">": true, " ": true, "/": true, "thinspace": true,
	"medspace": true, "thickspace": true, "negthinspace": true, "enspace": true, "quad": true, "qquad": true, "bf": true, "rm": true, "it": true, "sf": true, "tt": true, "cal": true,
	"boldsymbol": true, "mathbf": true, "mathit": true, "mathsf": true, "mathtt": true, "mathcal": true, "mathscr": true, "mathfrak": true, "bm": true, "pmb": true,
	"mathstrut": true, "strut": true, "hfill": true, "hfil": true, "noindent": true, "allowbreak": true, "nobreak": true, "protect": true, "mathord": true, "mathop": true,
	"mathbin": true, "mathrel": true, "mathopen": true, "mathclose": true, "mathinner": true, "ensuremath": true, "normalsize": true, "large": true, "Large": true, "LARGE": true, "small": true,
	"boxed": true, "fbox": true, "framebox": true, "par": true, "newline": true, "cr": true, "nonumber": true, "notag": true, "centering": true, "mathchoice": true, "underline": true,
	"(": true, ")": true, "[": true, "]": true, "unicode": true, "therefore": true,
}

// Commands that are another spelling of a bracket or letter: a mark or word, or the command that the parser knows.
var brackets = map[string]token{
	"lbrack": {kind: tokenMark, text: "["}, "rbrack": {kind: tokenMark, text: "]"}, "lgroup": {kind: tokenMark, text: "("}, "rgroup": {kind: tokenMark, text: ")"},
	"lparen": {kind: tokenMark, text: "("}, "rparen": {kind: tokenMark, text: ")"}, "ulcorner": {kind: tokenCommand, text: "lceil"}, "urcorner": {kind: tokenCommand, text: "rceil"},
	"llcorner": {kind: tokenCommand, text: "lfloor"}, "lrcorner": {kind: tokenCommand, text: "rfloor"},
	"imath": {kind: tokenWord, text: "i"}, "jmath": {kind: tokenWord, text: "j"},
}

// Commands among those that leave a gap.
var spacing = map[string]bool{"thinspace": true, "medspace": true, "thickspace": true, "enspace": true, "quad": true, "qquad": true, "hfill": true, "hfil": true, "par": true, "newline": true, "cr": true}

// Commands whose argument is words.
var wording = map[string]bool{
	"text": true, "textbf": true, "textit": true, "textrm": true, "textsf": true, "texttt": true, "textnormal": true, "textup": true, "textsc": true, "textsl": true, "emph": true,
	"mbox": true, "hbox": true, "mathrm": true, "operatorname": true, "textsuperscript": true, "textmd": true, "unit": true, "intertext": true,
}

// Commands that vanish together with their argument.
var dropped = map[string]bool{"phantom": true, "hphantom": true, "vphantom": true, "hspace": true, "vspace": true, "label": true, "tag": true, "color": true, "textcolor": true, "kern": true}

// lex returns the tokens of an answer, and whether a separator of thousands may have been a comma. commas says that such
// separators are read.
func lex(src string, commas bool) ([]token, bool, error) {
	l := lexer{src: src, commas: commas, tokens: make([]token, 0, 4+len(src)/4)}
	if err := l.run(); err != nil {
		return nil, false, err
	}
	signed(l.tokens)
	return l.tokens, l.grouped, nil
}

// signed turns signs of plain text that have another meaning as words or marks into commands: x in (1,2), n choose k, and
// the brackets of <1,2,3>.
func signed(tokens []token) {
	last := len(tokens) - 1
	comma := false
	for i, t := range tokens {
		comma = comma || t.mark(',')
		switch {
		case i == 0 || i == last:
		case t.is(tokenWord, "in") && tokens[i-1].kind == tokenWord && len(tokens[i-1].text) == 1 && setAhead(tokens[i+1]):
			tokens[i].kind = tokenCommand
		case t.is(tokenWord, "choose") && chooses(tokens[:i], true) && chooses(tokens[i+1:], false):
			tokens[i].kind = tokenCommand
		}
	}
	if comma && tokens[last].mark('>') {
		first := 0
		for first < last && !tokens[first].mark('<') {
			first++
		}
		if first == 0 || first < last && tokens[first-1].mark('=') {
			tokens[first], tokens[last] = token{kind: tokenCommand, text: "langle"}, token{kind: tokenCommand, text: "rangle"}
		}
	}
}

// setAhead reports whether a set can begin with t.
func setAhead(t token) bool {
	return t.mark('(') || t.mark('[') || t.mark(']') || t.mark('{') || t.command("{") || t.command("mathbb")
}

// chooses reports whether tokens end, or begin if they do not end, in a number or name, or a product of two, that fills its group.
func chooses(tokens []token, end bool) bool {
	for i := range min(3, len(tokens)) {
		t := tokens[i]
		if end {
			t = tokens[len(tokens)-1-i]
		}
		if t.kind != tokenNumber && !(t.kind == tokenWord && len(t.text) == 1) {
			return i > 0 && (t.mark('(') || t.mark('{') || t.mark(')') || t.mark('}') || t.mark('='))
		}
	}
	return len(tokens) == 1 || len(tokens) == 2
}

// Blank reports whether LaTeX prints nothing: gaps, empty groups, phantoms.
func Blank(s string) bool {
	l := lexer{src: s, first: true}
	return l.run() == nil && len(l.tokens) == 0
}

func (l *lexer) run() error {
	space := false
	for i := 0; i < len(l.src) && !(l.first && len(l.tokens) > 0); {
		if len(l.tokens) > maxTokens {
			return ErrTooLarge
		}
		c := l.src[i]
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '~':
			space = true
			i++
			continue
		case c == '$' || c == '`':
			i++ // delimiters; a currency sign that is missing on one side is accepted
			space = true
			continue
		case c == '"':
			if n := len(l.tokens); n > 0 && l.tokens[n-1].kind == tokenNumber && l.quotes%2 == 0 {
				l.add(token{kind: tokenMark, text: `"`}, &space) // 67" is inches
			}
			l.quotes++
			i++
			continue
		case l.digitsOfBase(i) > i:
			end := l.digitsOfBase(i)
			l.add(token{kind: tokenNumber, text: l.src[i:end]}, &space)
			i = end
		case l.prefixed(i) > i:
			i = l.prefixedNumber(i, &space)
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(l.src) && Digit(l.src[i+1]) && !l.dots(i) || c == '.' && strings.HasPrefix(l.src[i+1:], `\overline`):
			i = l.number(i, &space)
		case c == '\\':
			i = l.command(i, &space)
		case Letter(c):
			j := i + 1
			for j < len(l.src) && Letter(l.src[j]) {
				j++
			}
			l.add(token{kind: tokenWord, text: l.src[i:j]}, &space)
			i = j
		case c >= utf8.RuneSelf:
			j := i
			for j < len(l.src) && l.src[j] >= utf8.RuneSelf {
				r, size := utf8.DecodeRuneInString(l.src[j:])
				if !unicode.IsLetter(r) && !unicode.IsMark(r) {
					if j == i {
						j += size
					}
					break
				}
				j += size
			}
			l.add(token{kind: tokenWord, text: l.src[i:j]}, &space)
			i = j
		case c == '.' && l.dots(i):
			j := i
			for j < len(l.src) && l.src[j] == '.' {
				j++
			}
			l.add(token{kind: tokenCommand, text: "ldots"}, &space)
			i = j
		case c == '*' && i+1 < len(l.src) && l.src[i+1] == '*':
			n := len(l.tokens)
			if n > 0 && (l.tokens[n-1].kind == tokenNumber || l.tokens[n-1].kind == tokenWord || l.tokens[n-1].mark(')')) && i+2 < len(l.src) && (Digit(l.src[i+2]) || l.src[i+2] == '(' || l.src[i+2] == '-') {
				l.add(token{kind: tokenMark, text: "^"}, &space) // x**2
			} else {
				space = true // Markdown bold
			}
			i += 2
		case (c == '<' || c == '>' || c == '!' && !l.factorial(i) || c == '=' || c == ':') && i+1 < len(l.src) && l.src[i+1] == '=':
			op := map[byte]string{'<': "le", '>': "ge", '!': "ne", '=': "=", ':': "="}[c]
			if op == "=" {
				l.add(token{kind: tokenMark, text: "="}, &space)
			} else {
				l.add(token{kind: tokenCommand, text: op}, &space)
			}
			i += 2
		case (c == '-' || c == '=') && i+1 < len(l.src) && l.src[i+1] == '>':
			l.add(token{kind: tokenCommand, text: "implies"}, &space)
			i += 2
		default:
			switch c {
			case '(', '[':
				l.depth++
			case ')', ']':
				if l.depth > 0 {
					l.depth--
				}
			}
			l.add(token{kind: tokenMark, text: l.src[i : i+1]}, &space)
			i++
		}
	}
	return nil
}

// factorial reports whether the ! at i belongs to the number or bracket before it, as in 5!=120.
func (l *lexer) factorial(i int) bool {
	return i > 0 && (Digit(l.src[i-1]) || l.src[i-1] == ')' || l.src[i-1] == '!')
}

// digitsOfBase returns the end of a numeral with letters for digits, as in A5_{11} and 152A_{11}, or i if none starts there.
func (l *lexer) digitsOfBase(i int) int {
	c := l.src[i]
	if !Digit(c) && (c < 'A' || c > 'Z') || i > 0 && (l.src[i-1] == '_' || l.src[i-1] == '^') {
		return i
	}
	j, letters, digits := i, 0, 0
	for j < len(l.src) && j-i < 64 && (Digit(l.src[j]) || l.src[j] >= 'A' && l.src[j] <= 'Z') {
		if Digit(l.src[j]) {
			digits++
		} else {
			letters++
		}
		j++
	}
	rest := strings.TrimPrefix(l.src[j:], "_")
	hexadecimal := digits == 0 && letters > 1 && (strings.HasPrefix(strings.TrimPrefix(rest, "{"), "16") || l.hex && j == len(l.src)) && strings.Trim(l.src[i:j], "ABCDEF") == ""
	if letters == 0 || digits == 0 && !hexadecimal || len(rest) == len(l.src[j:]) && !(l.nested > 0 && j == len(l.src) && l.based) {
		return i
	}
	rest = strings.TrimPrefix(rest, "{")
	if l.nested == 0 && (rest == "" || !Digit(rest[0])) {
		return i
	}
	return j
}

func Digit(c byte) bool { return c >= '0' && c <= '9' }

func Letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// dots reports whether an ellipsis starts at i.
func (l *lexer) dots(i int) bool { return strings.HasPrefix(l.src[i:], "..") }

func (l *lexer) add(t token, space *bool) {
	t.space = *space
	*space = false
	l.tokens = append(l.tokens, t)
}

// digits returns the end of the run of digits at i.
func (l *lexer) digits(i int) int {
	for i < len(l.src) && Digit(l.src[i]) {
		i++
	}
	return i
}

// separator returns the width of a thousands separator at i, and whether it can also be read as a list's comma.
func (l *lexer) separator(i int) (width int, ambiguous bool) {
	rest := l.src[i:]
	for _, s := range []string{"{,}", `{,}\!`, `,\!`, `\!,`, `~`, `\,`, `\;`, `\ `, `{\,}`, `\:`} {
		if strings.HasPrefix(rest, s) {
			width = len(s)
			if strings.HasPrefix(rest[width:], `\!`) {
				width += 2
			}
			return width, false
		}
	}
	if len(rest) > 3 && rest[0] == '\'' && l.digits(i+1) == i+4 { // 12'345
		return 1, false
	}
	if l.commas && l.depth == 0 && rest != "" && (rest[0] == ',' || rest[0] == ' ') {
		return 1, true
	}
	// Inside brackets a comma separates elements, unless a currency says that it is one number; a decimal part may say so.
	if l.depth > 0 && len(rest) > 4 && rest[0] == ',' && (l.currency || l.commas && rest[4] == '.' && len(rest) > 5 && Digit(rest[5])) {
		return 1, !l.currency
	}
	return 0, false
}

// prefixed returns the end of a numeral such as 0x2A or 0b101 at i, or i.
func (l *lexer) prefixed(i int) int {
	if l.src[i] != '0' || i+2 >= len(l.src) || i > 0 && (Digit(l.src[i-1]) || l.src[i-1] == '.') {
		return i
	}
	j := i + 2
	switch l.src[i+1] {
	case 'x':
		for j < len(l.src) && (Digit(l.src[j]) || l.src[j]|0x20 >= 'a' && l.src[j]|0x20 <= 'f') {
			j++
		}
	case 'b':
		for j < len(l.src) && (l.src[j] == '0' || l.src[j] == '1') {
			j++
		}
	}
	if j == i+2 || j < len(l.src) && (Letter(l.src[j]) || Digit(l.src[j])) {
		return i
	}
	return j
}

func (l *lexer) prefixedNumber(i int, space *bool) int {
	j := l.prefixed(i)
	n, _ := new(big.Int).SetString(l.src[i:min(j, i+MaxBits/8)], 0)
	l.add(token{kind: tokenNumber, text: n.String()}, space)
	return j
}

// number reads a numeral: groups of three digits with separators, a decimal part, an exponent.
func (l *lexer) number(i int, space *bool) int {
	start, j := i, l.digits(i)
	l.currency = i > 0 && l.src[i-1] == '$'
	text, ambiguous := l.src[start:j], false
	if width, _ := l.separator(j); width > 0 && j > start && j-start <= 3 {
		var b strings.Builder
		b.WriteString(text)
		kind, padded := byte(0), false
		for end := j; ; {
			width, unsure := l.separator(end)
			if width == 0 || kind != 0 && l.src[end] != kind {
				break
			}
			k := l.digits(end + width)
			if k-end-width != 3 {
				break
			}
			kind = l.src[end]
			b.WriteString(l.src[end+width : k])
			ambiguous = ambiguous || unsure
			padded = padded || l.src[end+width] == '0'
			end, j = k, k
		}
		text = b.String()
		ambiguous = ambiguous && !l.currency && !padded // no element of a list is written 001
	}
	decimal := func(k int) bool { return k < len(l.src) && l.src[k] == '.' && !l.dots(k) }
	switch {
	case decimal(j) && j+1 < len(l.src) && Digit(l.src[j+1]):
		k := l.digits(j + 1)
		text += l.src[j:k]
		j, ambiguous = k, ambiguous && l.depth > 0
	case start == j && l.src[j] == '.':
		text = "0." // .\overline{3}
		j++
	case decimal(j) && j+1 < len(l.src) && l.src[j+1] == '/':
		j++ // 3./2
	case decimal(j) && (strings.HasPrefix(l.src[j+1:], `\overline`) || strings.HasPrefix(l.src[j+1:], `\bar`) || strings.HasPrefix(l.src[j+1:], `\dot{`) || strings.HasPrefix(l.src[j+1:], "(")):
		text += "." // 0.\overline{3}
		j++
	case strings.HasPrefix(l.src[j:], "{,}") && j+3 < len(l.src) && Digit(l.src[j+3]) && text != "":
		k := l.digits(j + 3) // decimal comma
		text += "." + l.src[j+3:k]
		j, ambiguous = k, ambiguous && l.depth > 0
	}
	if j < len(l.src) && l.src[j]|0x20 == 'e' {
		k := j + 1
		if k < len(l.src) && (l.src[k] == '-' || l.src[k] == '+') {
			k++
		}
		if e := l.digits(k); e > k && (e == len(l.src) || !Letter(l.src[e])) {
			text += "e" + l.src[j+1:e]
			j = e
		}
	}
	l.grouped = l.grouped || ambiguous
	l.add(token{kind: tokenNumber, text: text, grouped: ambiguous}, space)
	return j
}

// command reads a backslash and what follows it.
func (l *lexer) command(i int, space *bool) int {
	j := i + 1
	if j == len(l.src) {
		return j
	}
	if !Letter(l.src[j]) {
		switch c := l.src[j]; c {
		case '{', '}':
			if c == '{' {
				l.depth++
			} else if l.depth > 0 {
				l.depth--
			}
			l.add(token{kind: tokenCommand, text: l.src[j : j+1]}, space)
		case '%':
			l.add(token{kind: tokenCommand, text: "percent"}, space)
		case '#', '&', '_':
			l.add(token{kind: tokenMark, text: l.src[j : j+1]}, space)
		case '$':
			l.add(token{kind: tokenCommand, text: "dollar"}, space)
		case '\\', '|':
			l.add(token{kind: tokenCommand, text: l.src[j : j+1]}, space)
			// \\[2pt] is spacing of rows
			if c == '\\' && j+1 < len(l.src) && l.src[j+1] == '[' {
				if end := strings.IndexByte(l.src[j+1:], ']'); end > 0 && end < 10 && strings.ContainsAny(l.src[j+1:j+1+end], "pe") {
					return j + 2 + end
				}
			}
		default:
			*space = true
		}
		return j + 1
	}
	for j < len(l.src) && Letter(l.src[j]) {
		j++
	}
	name := l.src[i+1 : j]
	if j < len(l.src) && l.src[j] == '*' && (name == "operatorname" || name == "text" || name == "hspace") {
		j++
	}
	switch {
	case wording[name]:
		k := l.skipSpace(j)
		if k < len(l.src) && l.src[k] == '{' {
			if end := l.group(k); end > 0 {
				l.words(name, l.src[k+1:end], l.src[end+1:], space)
				return end + 1
			}
			l.words(name, l.src[k+1:], "", space)
			return len(l.src)
		}
		*space = true
		return j
	case dropped[name]:
		k := l.skipSpace(j)
		if k < len(l.src) && l.src[k] == '{' {
			if end := l.group(k); end > 0 {
				return end + 1
			}
		}
		return j
	case layout[name]:
		if spacing[name] {
			*space = true
		}
		k := l.skipSpace(j)
		// \left. and \right. are empty delimiters.
		if (name == "left" || name == "right" || name == "mleft" || name == "mright") && k < len(l.src) && l.src[k] == '.' && !(k+1 < len(l.src) && Digit(l.src[k+1])) {
			return k + 1
		}
		return j
	}
	if t, ok := brackets[name]; ok {
		switch {
		case t.mark('(') || t.mark('['):
			l.depth++
		case t.kind == tokenMark && l.depth > 0:
			l.depth--
		}
		l.add(t, space)
		return j
	}
	switch {
	case name == "langle":
		l.depth++
	case name == "rangle" && l.depth > 0:
		l.depth--
	}
	l.add(token{kind: tokenCommand, text: name}, space)
	return j
}

func (l *lexer) skipSpace(i int) int {
	for i < len(l.src) && (l.src[i] == ' ' || l.src[i] == '\n' || l.src[i] == '\t') {
		i++
	}
	return i
}

// group returns the index of the brace that closes the one at i, or -1.
func (l *lexer) group(i int) int {
	if l.open {
		return -1
	}
	depth := 0
	for ; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	l.open = true
	return -1
}

// sizeless takes the commands that fit brackets to their content off.
var sizeless = strings.NewReplacer(`\left`, "", `\right`, "")

// aside reports whether words stand in brackets, as in 2 \text{ (double)}, or are a full stop.
func aside(s string) bool {
	s = strings.TrimSpace(sizeless.Replace(s))
	if s == "." {
		return true
	}
	if len(s) < 5 || s[0] != '(' || s[len(s)-1] != ')' {
		return false
	}
	for i := 1; i < len(s)-1; i++ {
		if !Letter(s[i]) && s[i] != ' ' {
			return false
		}
	}
	q := Qualifies(strings.Fields(s[1 : len(s)-1]))
	return !strings.HasPrefix(s, "(mod") && !strings.HasPrefix(s, "(or") && (q == "" || q == Altered)
}

// words adds the argument of \text and its relatives: its letters are words, but for functions in front of their
// argument; the rest is read as usual. after is what follows the argument.
func (l *lexer) words(command, content, after string, space *bool) {
	if l.nested >= 8 || aside(content) {
		return
	}
	sub := lexer{src: content, commas: l.commas, depth: l.depth, nested: l.nested + 1, based: strings.HasPrefix(after, "_"), hex: strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(after, "_"), "{"), "16")}
	if sub.run() != nil {
		return
	}
	math := command == "mathrm" || command == "operatorname"
	for k, t := range sub.tokens {
		if k == 0 {
			t.space = t.space || *space
		}
		if t.kind == tokenWord && !(functions[t.text] != "" && (math && t.text != "min" || len(sub.tokens) == 1 && strings.HasPrefix(after, "(")) || math && (t.text == "e" || t.text == "i" || t.text == "d")) {
			t.kind = tokenText
		}
		l.tokens = append(l.tokens, t)
	}
	*space = false
	l.grouped = l.grouped || sub.grouped
}
