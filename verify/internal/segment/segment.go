// Package segment divides the text of an answer into formulas, code and prose.
//
// A formula is what stands between delimiters: $ $$ \( \[ or \begin and \end. Where prose has no delimiters, a bare formula
// is a run of mathematical tokens: numbers, signs, names of one letter, commands with their arguments, brackets that hold
// nothing else. Blanks never decide what belongs to a formula.
package segment

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a segment is.
type Kind uint8

const (
	Prose   Kind = iota // words, and everything that is nothing else
	Inline              // a formula between $ $ or \( \)
	Display             // a formula between $$ $$ or \[ \], or an environment
	Bare                // a formula without delimiters
	Code                // between backticks
)

// Segment is a part of a text. Segments follow each other without gaps.
type Segment struct {
	Kind     Kind
	From, To int    // bytes of the text, with the delimiters
	Text     string // what stands between the delimiters
}

// Formula reports whether the segment is mathematics.
func (s Segment) Formula() bool { return s.Kind != Prose && s.Kind != Code }

// Words tells what a run of two letters or more can be: the name of a function or constant, and a unit that a number may
// carry without a space.
type Words func(word string) (symbol, unit bool)

// Split divides text.
func Split(text string, words Words) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		p := splitter{text: text, words: words, yield: yield}
		p.run()
	}
}

type splitter struct {
	text  string
	words Words
	yield func(Segment) bool

	noDollar, noDollars, noRound, noSquare, noTick bool // nothing closes what opens from here on

	looked int // bytes that were looked at so far, however often: the work

	unended  map[string]bool // environments that nothing ends from here on
	brackets map[int]int     // what bracket found
}

func (p *splitter) run() {
	plain := 0 // where the prose at hand starts
	for i := 0; i < len(p.text); {
		if c := p.text[i]; c != '$' && c != '\\' && c != '`' {
			i++ // opens nothing
			continue
		}
		kind, from, end, to := p.delimited(i)
		if to == 0 {
			if p.text[i] == '\\' {
				i++ // what follows belongs to the backslash
			}
			i++
			continue
		}
		if !p.prose(plain, i) || !p.yield(Segment{kind, i, to, p.text[from:end]}) {
			return
		}
		plain, i = to, to
	}
	p.prose(plain, len(p.text))
}

// delimited returns the segment with delimiters that starts at i: its content and where it ends; to is 0 if there is none.
func (p *splitter) delimited(i int) (kind Kind, from, end, to int) {
	s := p.text
	closed := func(kind Kind, none *bool, open, shut string) (Kind, int, int, int) {
		if *none {
			return Prose, 0, 0, 0
		}
		k := closing(s, i+len(open), shut)
		if k < 0 {
			p.looked += len(s) - i
			*none = true
			return Prose, 0, 0, 0
		}
		p.looked += k - i
		return kind, i + len(open), k, k + len(shut)
	}
	switch rest := s[i:]; {
	case strings.HasPrefix(rest, "```"):
		kind, from, end, to = closed(Code, &p.noTick, "```", "```")
		return kind, from, end, to
	case rest[0] == '`':
		k := strings.IndexByte(rest[1:], '`')
		p.looked += distance(k, rest)
		if k <= 0 || k > 200 || strings.IndexByte(rest[1:1+k], '\n') >= 0 {
			return Prose, 0, 0, 0
		}
		return Code, i + 1, i + 1 + k, i + k + 2
	case strings.HasPrefix(rest, `\[`):
		return closed(Display, &p.noSquare, `\[`, `\]`)
	case strings.HasPrefix(rest, `\(`):
		return closed(Inline, &p.noRound, `\(`, `\)`)
	case strings.HasPrefix(rest, `\begin{`):
		if k := p.environment(rest); k > 0 {
			return Display, i, i + k, i + k
		}
	case strings.HasPrefix(rest, "$$"):
		return closed(Display, &p.noDollars, "$$", "$$")
	case rest[0] == '$':
		if k := p.dollars(i); k > 0 {
			return Inline, i + 1, k, k + 1
		}
	}
	return Prose, 0, 0, 0
}

// closing returns where shut stands in s from i on, not as the end of a row such as \\[2pt]; -1 if it does not.
func closing(s string, i int, shut string) int {
	for i < len(s) {
		if strings.HasPrefix(s[i:], shut) {
			return i
		}
		if s[i] == '\\' {
			i++
		}
		i++
	}
	return -1
}

// environment returns the length of the environment that s starts with, 0 if it does not end.
func (p *splitter) environment(s string) int {
	shut := strings.IndexByte(s, '}')
	if shut < 0 || shut > 40 || p.unended[s[:shut]] {
		return 0
	}
	open, end := s[:shut+1], `\end`+s[len(`\begin`):shut+1]
	depth := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		p.looked++
		switch {
		case strings.HasPrefix(s[i:], open):
			depth++
		case strings.HasPrefix(s[i:], end):
			if depth--; depth == 0 {
				return i + len(end)
			}
		default:
			i++
		}
	}
	if p.unended == nil {
		p.unended = map[string]bool{}
	}
	p.unended[s[:shut]] = true
	return 0
}

// dollars returns where the formula that the dollar sign at i opens ends, 0 if the sign is money. A formula stays in its
// paragraph and holds no words outside of \text; an amount of money is followed by a space or words before the next sign.
func (p *splitter) dollars(i int) int {
	if p.noDollar {
		return 0
	}
	s := p.text
	end := -1
	for k := i + 1; k < len(s); k++ {
		if s[k] == '\\' {
			k++
		} else if s[k] == '$' {
			end = k
			break
		} else if s[k] == '\n' && k+1 < len(s) && s[k+1] == '\n' {
			p.looked += k - i
			return 0
		}
	}
	if end < 0 {
		p.looked += len(s) - i
		p.noDollar = true
		return 0
	}
	p.looked += 3 * (end - i) // the way there, and two looks for words
	content := s[i+1 : end]
	inner := strings.TrimSpace(content)
	if inner == "" {
		return 0
	}
	money := digit(inner[0]) || inner[0] == '.' && len(inner) > 1
	if !money {
		if wordy(content) && !strings.ContainsAny(content, `\=^_`) {
			return 0
		}
		return end
	}
	uneven := content[0] != ' ' && content[len(content)-1] == ' '
	if uneven || end+1 < len(s) && digit(s[end+1]) || wordy(content) && !strings.Contains(content, `\`) {
		return 0
	}
	return end
}

// wordy reports whether a text holds two words of prose in a row, or one among commas and full stops, outside of commands.
func wordy(s string) bool {
	words, open := 0, false
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\':
			for i++; i < len(s) && letter(s[i]); i++ {
			}
			for i < len(s) && s[i] == ' ' {
				i++
			}
			if i < len(s) && s[i] == '{' && !open {
				if k := group(s, i); k > 0 {
					i = k
				} else {
					open = true
				}
			}
			continue
		case letter(c):
			j := i
			for j < len(s) && letter(s[j]) {
				j++
			}
			if j-i > 2 {
				if words++; words > 1 {
					return true
				}
			}
			i = j
			continue
		}
		i++
	}
	return words > 0 && strings.ContainsAny(s, ",.;:")
}

// prose divides text without delimiters into words and bare formulas; false if no more are wanted.
func (p *splitter) prose(from, to int) bool {
	plain := from
	for i := from; i < to; {
		start, end := p.bare(i, to)
		if end <= start {
			break
		}
		if start > plain && !p.yield(Segment{Prose, plain, start, p.text[plain:start]}) || !p.yield(Segment{Bare, start, end, p.text[start:end]}) {
			return false
		}
		plain, i = end, end
	}
	return to <= plain || p.yield(Segment{Prose, plain, to, p.text[plain:to]})
}

// class is what a token of undelimited text is.
type class uint8

const (
	stop    class = iota // prose
	operand              // a number, a name, a command with its arguments, a bracket
	sign                 // stands between operands, or before one
	after                // stands after an operand: % ! '
	glue                 // joins operands if it stands between two: a comma, a gap
)

// bare returns the first run of mathematical tokens in text[i:to]; end is 0 if there is none.
func (p *splitter) bare(i, to int) (start, end int) {
	for i < to {
		if blank(p.text[i]) || p.text[i] == '\n' {
			i++
			continue
		}
		kind, next := p.token(i, to, false)
		if kind != operand && !(kind == sign && p.leads(i, next, to)) {
			i = next
			continue
		}
		return i, p.runEnd(i, to)
	}
	return 0, 0
}

// leads reports whether the sign at i stands before an operand, as a minus does; a dash between words does not.
func (p *splitter) leads(i, next, to int) bool {
	c := p.text[i]
	switch c {
	case '*', '/':
		if i == 0 {
			return false
		}
	case '|':
		k := strings.IndexByte(p.text[next:to], '|')
		if p.looked += distance(k, p.text[next:to]); k < 0 {
			return false
		}
	}
	if c == '_' || c == '~' || c == '>' && (i == 0 || p.text[i-1] == '\n') && quoted(p.text[next:to]) {
		return false
	}
	for k := next; k < to && (blank(p.text[k]) || p.text[k] == '\n' && c == '='); k++ {
		next = k + 1
	}
	if next >= to {
		return false
	}
	kind, _ := p.token(next, to, true)
	return kind == operand || kind == sign && c != p.text[next]
}

// quoted reports whether a line after > is a sentence, which Markdown quotes.
func quoted(s string) bool {
	line, _, _ := strings.Cut(s, "\n")
	return strings.IndexFunc(line, unicode.IsLetter) >= 0
}

// runEnd returns the end of the run of tokens that starts at i. It ends before a word, before glue that joins nothing, and
// with its line.
func (p *splitter) runEnd(i, to int) int {
	end := i
	inside := false
	joint := false // glue was met since the last operand
	for i < to {
		if blank(p.text[i]) {
			i++
			continue
		}
		if p.text[i] == '\n' {
			// A line that goes on with a sign goes on with the formula.
			k := i
			for k < to && (blank(p.text[k]) || p.text[k] == '\n' && k == i) {
				k++
			}
			if k < to && (p.text[k] == '=' || p.text[k] == '+') && inside {
				i = k
				continue
			}
			break
		}
		kind, next := p.token(i, to, inside)
		switch kind {
		case stop:
			return end
		case operand:
			end, inside, joint = next, true, false
		case after:
			if !inside || joint || i > end {
				return end
			}
			end = next
		case sign:
			if joint && p.text[i] != '-' && p.text[i] != '+' && p.text[i] != '\\' {
				return end
			}
			if p.last(next, to) {
				if dash(p.text[i:next]) && (next >= to || blank(p.text[next]) || p.text[next] == '\n') {
					return end // a dash
				}
				return next // cut, or a word follows: what stands here is no whole formula
			}
			end, joint = next, false
		case glue:
			if !inside {
				return end
			}
			joint = true
		}
		i = next
	}
	return end
}

// last reports whether no operand follows at i.
func (p *splitter) last(i, to int) bool {
	for i < to && blank(p.text[i]) {
		i++
	}
	if i >= to || p.text[i] == '\n' {
		return true
	}
	kind, _ := p.token(i, to, true)
	return kind == stop || kind == glue
}

// token returns the class of the token at i and where it ends. inside says that it follows an operand.
func (p *splitter) token(i, to int, inside bool) (class, int) {
	kind, next := p.classify(i, to, inside)
	p.looked += next - i
	return kind, next
}

func (p *splitter) classify(i, to int, inside bool) (class, int) {
	s := p.text[:to]
	c := s[i]
	switch {
	case digit(c) || c == '.' && i+1 < len(s) && digit(s[i+1]) && !(i > 0 && s[i-1] == '.'):
		return p.number(i, to)
	case letter(c):
		return p.word(i, to, inside)
	case c == '\\':
		return p.command(i, to)
	case c == '(' || c == '[' || c == '{':
		if k := p.bracket(i, to); k > 0 {
			return operand, k
		}
		return stop, i + 1
	case c == '|':
		k := strings.IndexByte(s[i+1:], '|')
		p.looked += distance(k, s[i:])
		if k > 0 && k < 200 && p.whole(i+1, i+1+k) {
			return operand, i + k + 2
		}
		return stop, i + 1
	case c == '$':
		if i+1 < len(s) && (digit(s[i+1]) || s[i+1] == '.') {
			return p.number(i+1, to)
		}
		return stop, i + 1
	case c == '.':
		if strings.HasPrefix(s[i:], "...") && inside {
			return operand, i + 3
		}
		return stop, i + 1
	case c == ',':
		if i+1 < len(s) && s[i+1] == '\n' {
			return stop, i + 1
		}
		return glue, i + 1
	case c == ':':
		if inside && i+1 < len(s) && (blank(s[i+1]) == (i > 0 && blank(s[i-1]))) {
			return sign, i + 1
		}
		return stop, i + 1
	case c == '*':
		if strings.HasPrefix(s[i:], "**") {
			return sign, i + 2
		}
		if !inside {
			return stop, i + 1
		}
		return sign, i + 1
	case strings.IndexByte("+-/=<>^_", c) >= 0:
		if c == '<' && i+1 < len(s) && (letter(s[i+1]) || s[i+1] == '/' || s[i+1] == '|') {
			return stop, i + 1 // a mark such as <answer>
		}
		next := i + 1
		for next < len(s) && strings.IndexByte("=>/-", s[next]) >= 0 && (c == '<' || c == '>' || c == '=' || c == '-' && s[next] == '>' || c == '+' && strings.HasPrefix(s[next:], "/-")) {
			next++
		}
		return sign, next
	case c == '!':
		if i+1 < len(s) && s[i+1] == '=' {
			return sign, i + 2
		}
		return after, i + 1
	case c == '%' || c == '\'':
		return after, i + 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '∴' || r == '∵':
		return stop, i + size
	case r == '°' || r == '′' || r == '″' || unicode.Is(unicode.No, r) && inside:
		return after, i + size
	case r == '−' || r == '–' || unicode.Is(unicode.Sm, r) && r != '√' && r != '∞' && r != '∅' || r == '·' || r == '…' || r == '√' || r == '∛':
		return sign, i + size
	case unicode.Is(unicode.Sm, r) || unicode.Is(unicode.Greek, r) || unicode.Is(unicode.No, r) || unicode.IsDigit(r) || r == 'ℝ' || r == 'ℤ' || r == 'ℚ' || r == 'ℕ' || unicode.Is(unicode.Sc, r):
		return operand, i + size
	case unicode.IsLetter(r):
		for i < len(s) {
			r, size := utf8.DecodeRuneInString(s[i:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) {
				break
			}
			i += size
		}
		return stop, i
	}
	return stop, i + size
}

// number reads digits with separators and decimals. A number that starts a word, as in 7-day and 3rd-place, is prose.
func (p *splitter) number(i, to int) (class, int) {
	s := p.text[:to]
	j := i
	for j < len(s) && (digit(s[j]) || (s[j] == '.' || s[j] == ',' || s[j] == '\'') && j+1 < len(s) && digit(s[j+1])) {
		j++
	}
	k := j
	if k < len(s) && s[k] == '-' {
		k++
	}
	w := k
	for w < len(s) && letter(s[w]) {
		w++
	}
	word := s[k:w]
	_, unit := p.words(word)
	switch {
	case len(word) > 2 && !unit && (k > j || word == strings.ToLower(word)):
		return stop, w
	case word == "st" || word == "nd" || word == "rd":
		return stop, w
	}
	return operand, j
}

// word reads a run of letters: a name of one letter, a function or constant, letters that a digit or sign makes a product.
func (p *splitter) word(i, to int, inside bool) (class, int) {
	s := p.text[:to]
	j := i
	for j < len(s) && letter(s[j]) {
		j++
	}
	w := s[i:j]
	if j < len(s) {
		if r, _ := utf8.DecodeRuneInString(s[j:]); r >= utf8.RuneSelf && unicode.IsLetter(r) || s[j] == '\'' && j+1 < len(s) && letter(s[j+1]) {
			k := j
			for k < len(s) && s[k] != ' ' && s[k] != '\n' {
				k++
			}
			return stop, k
		}
		if s[j] == '-' && j+1 < len(s) && letter(s[j+1]) && (len(w) > 1 || longWord(s[j+1:])) { // two-digit, x-axis
			k := j + 1
			for k < len(s) && (letter(s[k]) || s[k] == '-') {
				k++
			}
			return stop, k
		}
	}
	if inside && meridiem(s[i:]) > 0 {
		return operand, i + meridiem(s[i:])
	}
	k := j
	for k < len(s) && blank(s[k]) {
		k++
	}
	follows := k < len(s) && (strings.IndexByte("=^_<>+", s[k]) >= 0 || k == j && s[k] == '(' || strings.HasPrefix(s[k:], "≤") || strings.HasPrefix(s[k:], "≥") || strings.HasPrefix(s[k:], "≈"))
	attached := i > 0 && (digit(s[i-1]) || strings.IndexByte("=^_)}+*/(", s[i-1]) >= 0)
	symbol, unit := p.words(w)
	switch {
	case len(w) == 1 && w != "a" && w != "A" && w != "I":
		return operand, j
	case len(w) == 1:
		if follows || attached || inside && k < len(s) && (s[k] == ')' || s[k] == '-' || s[k] == '*') {
			return operand, j
		}
	case unit && i > 0 && digit(s[i-1]):
		return operand, j
	case symbol:
		if follows || attached || w == "pi" || k < len(s) && (digit(s[k]) || s[k] == '\\' || s[k] == '(') || inside && i > 0 && !blank(s[i-1]) {
			return operand, j
		}
	case len(w) == 2 && (follows || attached), len(w) == 3 && (follows || attached) && w == strings.ToUpper(w):
		return operand, j
	}
	return stop, j
}

// meridiem returns the length of the am, pm, a.m. or p.m. that s starts with, 0 if there is none.
func meridiem(s string) int {
	if len(s) < 2 || strings.IndexByte("aApP", s[0]) < 0 {
		return 0
	}
	n := 2
	switch {
	case s[1]|0x20 == 'm':
	case len(s) > 2 && s[1] == '.' && s[2]|0x20 == 'm':
		if n = 3; len(s) > 3 && s[3] == '.' {
			n = 4
		}
	default:
		return 0
	}
	if n < len(s) && letter(s[n]) {
		return 0
	}
	return n
}

func longWord(s string) bool { return len(s) > 1 && letter(s[0]) && letter(s[1]) }

// command reads a backslash with what belongs to it: a name, its arguments, a delimiter after \left.
func (p *splitter) command(i, to int) (class, int) {
	s := p.text[:to]
	j := i + 1
	if j >= len(s) {
		return sign, j
	}
	if !letter(s[j]) {
		_, size := utf8.DecodeRuneInString(s[j:])
		switch s[j] {
		case '{', '}', '|':
			return operand, j + 1
		case '%':
			return after, j + 1
		case '$':
			if j+1 < len(s) && digit(s[j+1]) {
				return p.number(j+1, to)
			}
			return after, j + 1
		case '\\', ',', ';', ':', '!', ' ':
			return glue, j + 1
		}
		return stop, j + size
	}
	for j < len(s) && letter(s[j]) {
		j++
	}
	switch name := s[i+1 : j]; name {
	case "therefore", "because", "item", "end", "n":
		return stop, j
	case "quad", "qquad", "newline", "hfill":
		return glue, j
	case "left", "right", "mleft", "mright", "bigl", "bigr", "Bigl", "Bigr", "big", "Big":
		for j < len(s) && blank(s[j]) {
			j++
		}
		if j < len(s) && s[j] == '\\' {
			j++
			for j < len(s) && letter(s[j]) {
				j++
			}
			if j < len(s) && !letter(s[j-1]) {
				j++
			}
			return operand, j
		}
		return operand, min(j+1, len(s))
	case "times", "cdot", "div", "pm", "mp", "le", "leq", "ge", "geq", "ne", "neq", "approx", "equiv", "to", "in", "cup", "cap", "setminus", "lt", "gt":
		return sign, j
	}
	for k := j; k < len(s); {
		for k < len(s) && blank(s[k]) {
			k++
		}
		if k >= len(s) || s[k] != '{' && !(s[k] == '[' && k == j) {
			break
		}
		if s[k] == '[' {
			e := strings.IndexByte(s[k:], ']')
			if e < 0 || e > 40 || s[i+1:j] != "sqrt" {
				break
			}
			k += e + 1
			j = k
			continue
		}
		e := group(s, k)
		if e == 0 {
			return operand, len(s) // cut
		}
		j, k = e, e
	}
	return operand, j
}

// bracket returns the end of the bracket that opens at i if it holds nothing but mathematics, else 0.
func (p *splitter) bracket(i, to int) int {
	end, seen := p.brackets[i]
	if !seen {
		end = p.bracketed(i, to)
		if p.brackets == nil {
			p.brackets = map[int]int{}
		}
		p.brackets[i] = end
	}
	if end > to {
		return 0
	}
	return end
}

func (p *splitter) bracketed(i, to int) int {
	depth := 0
	for k := i; k < to && k-i < 2000; k++ {
		p.looked++
		switch p.text[k] {
		case '\\':
			k++
		case '\n':
			if k+1 < to && p.text[k+1] == '\n' {
				return 0
			}
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				if k == i+1 || !p.whole(i+1, k) {
					return 0
				}
				return k + 1
			}
		}
	}
	return 0
}

// whole reports whether text[i:to] holds nothing but mathematical tokens.
func (p *splitter) whole(i, to int) bool {
	inside := false
	for i < to {
		if blank(p.text[i]) || p.text[i] == '\n' {
			i++
			continue
		}
		kind, next := p.token(i, to, inside)
		if kind == stop {
			// A name of one letter stands for itself within brackets.
			if c := p.text[i]; next == i+1 && (letter(c) || c == ';' || c == ':') {
				kind = operand
			} else {
				return false
			}
		}
		inside = inside || kind == operand
		i = next
	}
	return inside
}

// group returns the end of the braces that open at i, 0 if they do not close.
func group(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// distance is how many bytes of s were looked at to find something at k, negative if it is not there.
func distance(k int, s string) int {
	if k < 0 {
		return len(s)
	}
	return k
}

func dash(s string) bool { return s == "-" || s == "–" || s == "--" || s == "−" }

func blank(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
