// Answers as text: what stands around a formula, and words that say one.

package formula

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func EqualFold(s, lower string) bool {
	for i := 0; i < len(lower); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Trim removes white space, dollar signs and punctuation around an answer.
func Trim(s string) string {
	boxes := 0
	for range maxDepth {
		t := strings.TrimSpace(s)
		for _, w := range []string{`\,`, `\;`, `\:`, `\!`} { // their second character is no punctuation
			t = strings.TrimSuffix(t, w)
		}
		if !strings.HasSuffix(t, "..") {
			t = strings.TrimRight(t, ".;,:?。□■∎ \t\n")
		}
		t = strings.TrimFunc(t, func(r rune) bool { return r >= 0x2600 && unicode.In(r, unicode.So, unicode.Variation_Selector) }) // ✅
		switch {
		case strings.HasPrefix(t, "$$") && strings.HasSuffix(t, "$$") && len(t) >= 4:
			t = t[2 : len(t)-2]
		case strings.HasPrefix(t, "$") && strings.HasSuffix(t, "$") && len(t) >= 2 && !strings.HasSuffix(t, `\$`) && strings.Count(t, "$") == 2:
			t = t[1 : len(t)-1]
		case strings.HasPrefix(t, `\(`) && strings.HasSuffix(t, `\)`) && strings.Count(t, `\(`) == 1, strings.HasPrefix(t, `\[`) && strings.HasSuffix(t, `\]`) && strings.Count(t, `\[`) == 1:
			t = t[2 : len(t)-2]
		case len(t) >= 4 && strings.HasPrefix(t, "**") && strings.HasSuffix(t, "**") && strings.Count(t, "**") == 2:
			t = t[2 : len(t)-2]
		case strings.HasPrefix(t, "__") && strings.HasSuffix(t, "__"):
			t = strings.Trim(t, "_")
		case len(t) >= 2 && t[0] == t[len(t)-1] && (t[0] == '"' || t[0] == '`' || t[0] == '_') && strings.Count(t, t[:1]) == 2:
			t = t[1 : len(t)-1]
		case boxes < maxWrappers && IsBox(t):
			boxes++
			if inner, end := BoxAt(t, 0); end == len(t) {
				t = inner
			}
		}
		if t == s {
			return t
		}
		s = t
	}
	return s
}

// Tidy removes what stands around a formula without being part of it.
func Tidy(s string) string {
	s = unescape(s)
	for range maxWrappers {
		t := Trim(s)
		if strings.IndexByte(t, '\\') >= 0 {
			for _, w := range []string{`\displaystyle`, `\textstyle`, `\,`, `\;`, `\!`, `\:`, `\ `, `\quad`, `\qquad`} {
				t = strings.TrimPrefix(t, w)
				t = strings.TrimSuffix(t, w)
			}
		}
		if inner, ok := braced(t); ok && !strings.ContainsAny(inner, ",;") && !describes(inner) {
			t = inner
		}
		t = remark(unannounced(t))
		if t == s {
			break
		}
		s = t
	}
	return s
}

// describes reports whether the content of braces is that of a set-builder: x | x > 2.
func describes(inner string) bool {
	head := strings.TrimLeft(inner[1:], " ")
	return inner[0] >= 'a' && inner[0] <= 'z' && (strings.HasPrefix(head, "|") || strings.HasPrefix(head, ":") || strings.HasPrefix(head, `\in`) || strings.HasPrefix(head, `\mid`)) && strings.ContainsAny(head, `<>=\`)
}

// braced returns the content of s if all of it stands in one pair of braces.
func braced(s string) (string, bool) {
	if len(s) < 3 || s[0] != '{' || s[len(s)-1] != '}' {
		return "", false
	}
	end, _ := Group(s, 0)
	return s[1 : len(s)-1], end == len(s)
}

// unescape undoes what JSON and HTML did to LaTeX on the way here: doubled backslashes outside environments, \u escapes,
// <sub> and <sup>.
func unescape(s string) string {
	if strings.Contains(s, `\\`) && !strings.Contains(s, `\begin`) {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+2 < len(s) && s[i+1] == '\\' && (Letter(s[i+2]) || s[i+2] == '(' || s[i+2] == ')') {
				continue
			}
			b.WriteByte(s[i])
		}
		s = b.String()
	}
	if strings.Contains(s, `\u`) {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+5 < len(s) && s[i+1] == 'u' {
				if r, err := strconv.ParseUint(s[i+2:i+6], 16, 32); err == nil {
					b.WriteString(Fold(string(rune(r))))
					i += 5
					continue
				}
			}
			b.WriteByte(s[i])
		}
		s = b.String()
	}
	s = strings.TrimPrefix(s, "np.")
	if strings.Contains(s, "<su") {
		s = scripts.Replace(s)
	}
	return s
}

// escapes are the letters of commands after what their beginning is as an escape: \times, where \t became a tab. The bell,
// backspace, form feed and vertical tab stand in no text for anything else.
var escapes = map[byte][]string{
	'\t': {"imes", "ext{", "ext ", "extbf", "frac{", "heta", "riangle", "an(", "an ", "an\\", "o "},
	'\r': {"ight", "angle", "floor", "ceil", "ho"},
	'\n': {"eq ", "eq-", "eq\\", "eq{", "abla", "otin"},
	'\a': {""}, '\b': {""}, '\f': {""}, '\v': {""},
}

// Restored puts the backslashes of such commands back.
func Restored(s string) string {
	first := 0
	for first < len(s) && (s[first] > '\r' || !escaped(s, first)) {
		first++
	}
	if first == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:first])
	for i := first; i < len(s); i++ {
		if escaped(s, i) {
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[s[i]-'\a'])
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escaped reports whether the character at i was the first letter of a command.
func escaped(s string, i int) bool {
	tails, ok := escapes[s[i]]
	return ok && i+1 < len(s) && Letter(s[i+1]) && (tails[0] == "" || Prefixed(s[i+1:], tails) > 0)
}

// Marks of other languages and spellings that mean the same.
var (
	scripts   = strings.NewReplacer("<sub>", "_{", "</sub>", "}", "<sup>", "^{", "</sup>", "}")
	spellings = strings.NewReplacer(`\dfrac`, `\frac`, `\tfrac`, `\frac`, `\leq`, `\le`, `\geq`, `\ge`)
)

// Plain reduces an answer to what is left without layout: the last resort for answers that cannot be read.
func Plain(s string) string {
	s = Fold(s)
	for _, w := range []string{`\left`, `\right`, `\displaystyle`, `\!`, `\text`, `\mathrm`, `\textbf`, `\mbox`, `$`} {
		s = strings.ReplaceAll(s, w, "")
	}
	for _, w := range []string{`\,`, `\;`, `\:`, `\ `, `\quad`, `~`} {
		s = strings.ReplaceAll(s, w, " ")
	}
	s = spellings.Replace(s)
	var b strings.Builder
	gap, before := false, ' '
	for _, r := range s {
		if unicode.IsSpace(r) {
			gap = true
			continue
		}
		if gap && unicode.IsDigit(before) && unicode.IsDigit(r) {
			b.WriteByte(' ') // 4 2 is not 42
		}
		gap, before = false, r
		b.WriteRune(unicode.ToLower(r))
	}
	s = strings.TrimRight(b.String(), ".,;")
	for range maxDepth {
		inner, ok := braced(s)
		if !ok {
			break
		}
		s = inner
	}
	return s
}

// Upright takes \text and its relatives off single words, and its spaces out: \text{H}_2\text{O} is H_2O.
func Upright(s string) string {
	if len(s) > MaxBareResponse {
		return s
	}
	for _, w := range []string{`\text{`, `\mathrm{`, `\textrm{`} {
		for {
			i := strings.Index(s, w)
			if i < 0 {
				break
			}
			end := strings.IndexByte(s[i:], '}')
			inner := ""
			if end > 0 {
				inner = s[i+len(w) : i+end]
			}
			if end < 0 || strings.ContainsAny(inner, `{\ `) {
				return s
			}
			s = s[:i] + inner + s[i+end+1:]
		}
	}
	return Squeezed(s)
}

// Squeezed takes out the spaces that do not stand between digits: 1 1/2 is not 11/2.
func Squeezed(s string) string {
	if strings.IndexByte(s, ' ') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' {
			b.WriteByte(s[i])
			continue
		}
		rest := strings.TrimLeft(s[i:], " ")
		if i > 0 && Digit(s[i-1]) && rest != "" && Digit(rest[0]) {
			b.WriteByte(' ')
		}
		i = len(s) - len(rest) - 1
	}
	return b.String()
}

// Words whose meaning is a set, a number or a refusal.
var (
	nothing = map[string]bool{
		"none": true, "no solution": true, "no solutions": true, "no real solution": true, "no real solutions": true, "empty": true, "empty set": true, "no such number": true,
		"no such numbers": true, "there are no solutions": true, "there is no solution": true, "no real roots": true, "null set": true, "no integer solutions": true, "no roots": true, "does not exist": true, "dne": true, "no value": true, "no values": true, "no such values": true,
	}
	sets = map[string]string{
		"all real numbers": "R", "all real x": "R", "all x": "R", "any real number": "R", "every real number": "R", "all reals": "R", "real numbers": "R", "all real": "R", "reals": "R", "all integers": "Z", "integers": "Z",
		"all positive real numbers": "R+", "positive real numbers": "R+", "all positive reals": "R+", "positive reals": "R+", "all negative real numbers": "R-", "negative real numbers": "R-",
		"all nonnegative real numbers": "Rge0", "nonnegative real numbers": "Rge0", "all non negative real numbers": "Rge0", "non negative real numbers": "Rge0",
	}
	refusals = []string{
		"cannot be determined", "can not be determined", "can't be determined", "cannot determine", "can't determine", "not enough information", "insufficient information", "i don't know", "i do not know", "unable to", "cannot be solved",
		"i cannot", "i can't", "i'm not sure", "i am not sure", "impossible to determine", "cannot be calculated", "cannot calculate", "not possible to determine", "unknown", "undetermined", "not determinable",
	}
	numerals = map[string]int64{
		"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15,
		"sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "dozen": 12,
	}
	portions = map[string]int64{"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "fifteenth": 15, "sixteenth": 16, "twentieth": 20, "fiftieth": 50, "hundredth": 100, "thousandth": 1000, "millionth": 1_000_000}
	articles = map[string]bool{"the": true, "a": true, "an": true}
)

// worded reports whether s, whose normal words are w, consists of words: at least one run of three letters or \text, and no
// sign of a formula. single says that it is one short run, which may also be a product of variables.
func worded(s, w string) (yes, single bool) {
	if w == "" {
		return false, false
	}
	explicit := strings.IndexByte(s, '\\') >= 0
	count := 0
	for f := range strings.FieldsSeq(w) {
		if f == "no" && f == w || len(f) >= 3 && functions[f] == "" && names[f] == nil && !greek[f] && f != "and" || len(f) > 1 && explicit && f != "or" && functions[f] == "" {
			yes = true
		}
		count++
	}
	return yes, count == 1 && len(w) <= 4 && !explicit && strings.Contains(s, w)
}

// Lowered is s in lower case, byte for byte as long as s: a place in one is that place in the other. Letters whose lower
// case is of another length (the Kelvin sign) and bytes that are no text stay.
func Lowered(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if l := unicode.ToLower(r); l != r && utf8.RuneLen(l) == n {
			utf8.EncodeRune(b[i:], l)
		}
		i += n
	}
	return string(b)
}

// Refuses reports whether words say that there is no answer to give.
func Refuses(s string) bool {
	s = strings.ToLower(s)
	for _, r := range refusals {
		if strings.Contains(s, r) {
			return true
		}
	}
	return false
}

// phrase reads an answer in normal words that stand for a value; nil if they do not.
func phrase(w string) *Node {
	if w == "" {
		return nil
	}
	switch {
	case nothing[w] || strings.Count(w, " ") < 8 && (strings.HasSuffix(w, " no solution") || strings.HasSuffix(w, " no solutions") || strings.HasSuffix(w, " no real solutions") || strings.HasSuffix(w, " no real solution") || strings.HasPrefix(w, "no such ") && strings.HasSuffix(w, " exist") || strings.HasPrefix(w, "no such ") && strings.HasSuffix(w, " exists")) || strings.HasSuffix(w, " does not exist") && strings.Count(w, " ") < 6:
		return &Node{Kind: KindNamedSet, Name: "empty"}
	case sets[w] != "":
		return &Node{Kind: KindNamedSet, Name: sets[w]}
	case w == "noon":
		return &Node{Kind: KindTime, Rat: big.NewRat(720, 1), Name: "pm"}
	case w == "midnight":
		return &Node{Kind: KindTime, Rat: new(big.Rat), Name: "am"}
	case w == "infinity" || w == "inf" || w == "infinite" || unending(w):
		return Constant("infinity")
	}
	for _, sign := range []string{"negative ", "minus "} {
		if rest, ok := strings.CutPrefix(w, sign); ok {
			if v := numeral(rest); v != nil {
				return Negate(v)
			}
		}
	}
	words := strings.Fields(w)
	op, n := comparison(wordsOf(words))
	value := numeral(strings.Join(words[n:], " "))
	if n == 0 || value == nil {
		return value
	}
	return &Node{Kind: KindRelation, Args: []*Node{Symbol(Unnamed), value}, Ops: []string{op}} // at least five
}

// numeral reads an English number, or one with a unit, as in "six hours"; nil if w is anything else.
func numeral(w string) *Node {
	if v, ok := counted(w); ok {
		return Number(v)
	}
	if n := portion(w); n != nil {
		return n
	}
	i := strings.LastIndexByte(w, ' ')
	if i < 0 {
		return nil
	}
	value := numeral(w[:i])
	if value == nil || value.Kind != KindNumber {
		return nil
	}
	if n, used := Worth(value, []string{w[i+1:]}); used > 0 { // two dozen, forty percent
		return n
	}
	if _, unit := MeasureOf(w[i+1:]); unit && len(w)-i > 3 {
		return quantity(value, w[i+1:])
	}
	return nil
}

// unending reports whether normal words say that there are infinitely many of something.
func unending(w string) bool {
	w = strings.TrimPrefix(w, "there are ")
	return (w == "infinitely many" || strings.HasPrefix(w, "infinitely many ")) && strings.Count(w, " ") < 3
}

// portion reads an English fraction: half, one third, three quarters; nil if w is anything else.
func portion(w string) *Node {
	head, part := "one", w
	if i := strings.LastIndexByte(w, ' '); i >= 0 {
		head, part = w[:i], w[i+1:]
	}
	if whole, mixed := strings.CutSuffix(head, " and"); mixed || strings.Contains(head, " and ") { // one and a half
		count := "one"
		if !mixed {
			i := strings.LastIndex(head, " and ")
			whole, count = head[:i], head[i+len(" and "):]
		}
		if v, ok := counted(whole); ok {
			if f := portion(count + " " + part); f != nil {
				return Rational(new(big.Rat).Add(f.Rat, new(big.Rat).SetInt64(v)))
			}
		}
		return nil
	}
	v, ok := counted(head)
	singular := strings.TrimSuffix(part, "s")
	if part == "halves" {
		singular = "half"
	}
	d, known := portions[singular]
	if !ok || !known || (v == 1) != (part == singular) || !strings.Contains(w, " ") && singular != "half" {
		return nil
	}
	return Rational(big.NewRat(v, d))
}

// andPart reads the fraction of "6 and a half", whose words behind "and" are given, and how many tokens it takes with "and";
// nil if it is none.
func andPart(first, second string) (part *Node, tokens int) {
	if first == "half" {
		return portion(first), 2
	}
	if articles[first] {
		first = "one"
	}
	return portion(first + " " + second), 3
}

// AndPart returns how many bytes at the start of the text after a number make "and a half" of it, 0 for none.
func AndPart(after string) int {
	words := strings.Fields(after[:min(len(after), 40)])
	if len(words) < 3 && !(len(words) == 2 && words[1] == "half") || words[0] != "and" || !strings.HasPrefix(after, " and ") {
		return 0
	}
	words = append(words, "")
	part, n := andPart(words[1], strings.TrimRight(words[2], ".,;:!?)"))
	if part == nil {
		return 0
	}
	last := strings.TrimRight(words[n-1], ".,;:!?)")
	return strings.Index(after, " "+last) + 1 + len(last)
}

// counted reads an English numeral: twenty-five, three hundred and seven, two thousand, one dozen.
func counted(w string) (int64, bool) {
	var total, part int64
	seen := false
	for f := range strings.FieldsSeq(w) {
		v, small := numerals[f]
		switch {
		case f == "and" && seen:
		case f == "hundred" && seen:
			part *= 100
		case f == "thousand" && seen, f == "million" && seen, f == "billion" && seen:
			total, part = total+part*map[string]int64{"thousand": 1e3, "million": 1e6, "billion": 1e9}[f], 0
		case small && (part == 0 || part%100 == 0 || part%10 == 0 && part%100 >= 20 && v < 10):
			part += v
			seen = true
		default:
			return 0, false
		}
		if part > 1e6 || total > 1e15 {
			return 0, false
		}
	}
	return total + part, seen
}

// except reads "all real numbers except 3" and its variants; nil if s is anything else.
func except(s string, steps *Budget, run series) *Node {
	if !strings.Contains(s, "eal") && !strings.Contains(s, "EAL") {
		return nil
	}
	text := Lowered(UnwrapText(s))
	if !strings.HasPrefix(strings.TrimSpace(text), "all real") {
		return nil
	}
	for _, w := range []string{"except for", "except", "other than", "excluding", "not equal to", "but not", "besides"} {
		i := strings.Index(text, w)
		if i < 0 {
			continue
		}
		rest := strings.TrimPrefix(strings.TrimSpace(UnwrapText(s)[i+len(w):]), "x=")
		excluded, err := Parse(strings.TrimPrefix(rest, "x ="), steps, run)
		if err != nil || excluded[0].Kind == KindText {
			return nil
		}
		n := excluded[0]
		switch n.Kind {
		case KindSet, KindInterval:
		case KindList:
			n = Apply(KindSet, n.Args...)
		default:
			n = Apply(KindSet, n)
		}
		return Apply(KindMinus, &Node{Kind: KindNamedSet, Name: "R"}, n)
	}
	return nil
}

// quantified reads "all real numbers greater than 1" and "x is less than y" as inequalities; nil if s is anything else.
func quantified(s string, steps *Budget, run series) *Node {
	if len(s) > 256 || !strings.Contains(s, "all") && !strings.Contains(s, "All") && !strings.Contains(s, " is ") {
		return nil
	}
	inequality := func(n *Node) bool { return n.Kind == KindRelation && strings.ContainsAny(n.Ops[0], "<>") }
	if t := strings.TrimPrefix(s, `\text{`); t != s {
		s = strings.Replace(t, "}", "", 1)
	}
	if len(s) > 4 && Letter(s[0]) && strings.HasPrefix(s[1:], " is ") {
		if tokens, _, err := lex(s, true); err == nil {
			if n, err := formula(tokens, steps, run); err == nil && inequality(n) {
				return n
			}
		}
		return nil
	}
	lower := Lowered(s)
	for _, head := range []string{"all real numbers x such that ", "all real numbers x with ", "all real numbers ", "all real values ", "all real x ", "all values of x ", "all numbers ", "all x such that ", "all x ", "all "} {
		if strings.HasPrefix(lower, head) {
			if n, err := Parse(s[len(head):], steps, run); err == nil && inequality(n[0]) {
				return n[0]
			}
		}
	}
	return nil
}

// NormalWords returns words in lower case without articles and punctuation, if s is nothing but words.
func NormalWords(s string) string {
	if s == "" || len(s) > 4096 || strings.ContainsAny(s, "0123456789=+*/^_()<>|&[]") { // none of which is layout
		return ""
	}
	text := UnwrapText(s)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case Letter(c), c >= utf8.RuneSelf, c == ' ', c == '-', c == '\'', c == '.', c == ',', c == '!', c == '"':
		default:
			return ""
		}
	}
	return Spoken(text)
}

// Spoken brings words to their normal form.
func Spoken(text string) string {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && !unicode.IsMark(r)
	})
	kept := fields[:0]
	for i, f := range fields {
		f = strings.Trim(f, "'")
		if n := strings.TrimLeft(f, "0123456789"); n != "" && n == ordinalOf(f[:len(f)-len(n)]) { // June 20th
			f = f[:len(f)-len(n)]
		}
		if f == "" || articles[f] && len(fields) > 1 && i+1 < len(fields) && fields[i+1] != "and" && fields[i+1] != "or" && !(f == "a" && len(fields) == 2 && len(fields[1]) == 1) {
			continue
		}
		kept = append(kept, f)
	}
	return strings.Join(kept, " ")
}

// UnwrapText removes \text and its relatives and their braces.
func UnwrapText(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			j := i + 1
			for j < len(s) && Letter(s[j]) {
				j++
			}
			if wording[s[i+1:j]] || fonts[s[i+1:j]] && holdsWord(s[j:]) {
				i = j - 1
				continue
			}
			if j == i+1 && j < len(s) && (s[j] == ' ' || s[j] == ',' || s[j] == '!' || s[j] == ';') {
				b.WriteByte(' ')
				i = j
				continue
			}
			b.WriteByte(c)
		case '{', '}', '~':
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// fonts are the commands that words are set in besides \text.
var fonts = map[string]bool{"mathbf": true, "mathit": true, "mathsf": true, "mathtt": true, "boldsymbol": true, "bm": true, "bf": true, "it": true}

// holdsWord reports whether a group of at least three letters follows, as after \mathbf in \mathbf{none}.
func holdsWord(s string) bool {
	s = strings.TrimLeft(s, " ")
	if !strings.HasPrefix(s, "{") {
		return false
	}
	end := strings.IndexByte(s, '}')
	if end < 4 {
		return false
	}
	for i := 1; i < end; i++ {
		if !Letter(s[i]) && s[i] != ' ' {
			return false
		}
	}
	return true
}

// words reads s as a text answer; nil if it holds no word.
func words(s string) *Node {
	text := UnwrapText(s)
	run, longest := 0, 0
	for i := 0; i < len(text); i++ {
		if Letter(text[i]) || text[i] >= utf8.RuneSelf {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	if longest < 2 || strings.ContainsAny(text, `\^=<>`) {
		return nil
	}
	return &Node{Kind: KindText, Name: Spoken(text), Args: listed(text)}
}

// listed returns the members of a list of names, which commas and "and" join: two or more, of one or two words each; nil of
// other text.
func listed(text string) (members []*Node) {
	for part := range strings.SplitSeq(text, ",") {
		for _, name := range strings.Split(" "+part+" ", " and ") {
			name = Spoken(name)
			if name == "" {
				continue // a comma before "and"
			}
			if strings.Count(name, " ") > 1 {
				return nil
			}
			members = append(members, &Node{Kind: KindText, Name: name})
		}
	}
	if len(members) < 2 {
		return nil
	}
	return members
}

// SentenceOfWords reports whether s holds at least two English words outside commands.
func SentenceOfWords(s string) bool {
	text := UnwrapText(Fold(s))
	count := 0
	for i := 0; i < len(text); {
		if text[i] == '\\' {
			for i++; i < len(text) && Letter(text[i]); i++ {
			}
			continue
		}
		j := i
		for j < len(text) && (Letter(text[j]) || text[j] == '\'') {
			j++
		}
		if w := text[i:j]; len(w) > 1 && w[1:] == strings.ToLower(w[1:]) && !vocabulary(w) || strings.EqualFold(w, "is") || strings.EqualFold(w, "for") {
			count++
		}
		i = max(j, i+1)
	}
	return count >= 2
}

// Wavers reports whether a sentence offers another answer besides the one that it gives.
func Wavers(s string) bool {
	s = strings.ToLower(s)
	for _, h := range []string{" or maybe ", " or perhaps ", " or possibly ", "(or possibly ", "(or maybe ", "(or perhaps ", " might be ", " could be ", " may be ", " also possible", "alternatively", "somewhere between"} {
		if strings.Contains(s, h) {
			return true
		}
	}
	return false
}

// Hedges reports whether a remark takes the answer back.
func Hedges(s string) bool {
	s = strings.ToLower(UnwrapText(s))
	if Wavers(s) {
		return true
	}
	for _, h := range []string{"(or ", " or approximately", "either "} {
		if strings.Contains(s, h) {
			return true
		}
	}
	return strings.HasPrefix(strings.TrimSpace(s), "up to ")
}

// UnitReading reads a number with a unit of one letter, as in 48g, 55 m/s, 10 Ω and 2h 30m, or an amount of money in
// thousands, $1.5k; nil if s is anything else. short says that other numbers may be in thousands as well.
func UnitReading(s string, short bool) *Node {
	if n := len(s); n > 40 || n < 2 || !strings.ContainsAny(s, "gmshLNJWVA$ΩΩμµ") && !(short && strings.ContainsAny(s, "kKMB")) {
		return nil
	}
	if t := strings.TrimLeft(s, `-\$`); t == "" || !Digit(t[0]) && AmountEnd(s) == 0 {
		return nil
	}
	tokens, _, err := lex(Tidy(Fold(s)), true)
	if err != nil {
		return nil
	}
	p := parser{tokens: tokens, steps: &Budget{Left: MaxSteps / 64}, run: never, letters: true, micro: strings.ContainsAny(s, "μµ"), short: short || strings.Count(s, "$") == 1}
	n, err := p.whole()
	if err != nil || n.Kind != KindQuantity && n.Kind != KindRelation && n.Kind != KindTuple && !p.short || !p.short && !n.Has(func(m *Node) bool { return m.Kind == KindQuantity }) {
		return nil
	}
	return n
}

// amount is a decimal, a fraction of integers or a mixed number.
var amount = regexp.MustCompile(`^-?(?:\d[\d.,]*(?: ?\d*/\d+)?|(?:\d+ ?)?\\[dt]?frac(?:\d\d|\{\d+\}\{\d+\}))`)

// AmountEnd is where the number ends that s begins with; 0 if it begins with none.
func AmountEnd(s string) int { return len(amount.FindString(s)) }

// remark removes a remark in brackets after a value: "4 (3 onions and 1 potato)".
func remark(s string) string {
	if !strings.HasSuffix(s, ")") {
		return s
	}
	if t := strings.TrimSuffix(s, `\right)`); t != s { // \left(or 5\right)
		if i := strings.LastIndex(t, `\left(`); i >= 0 {
			loose := t[:i] + "(" + t[i+len(`\left(`):] + ")"
			if r := remark(loose); r != loose {
				return r
			}
		}
		return s
	}
	open := strings.LastIndexByte(s, '(')
	if open < 2 || s[open-1] != ' ' || !Digit(s[0]) && s[0] != '$' && s[0] != '-' && s[0] != '\\' {
		return s
	}
	inner := s[open+1 : len(s)-1]
	inner = strings.Replace(inner, "or equivalently ", "or ", 1)
	if rest, ok := strings.CutPrefix(inner, "or "); ok && rest != "" && (Digit(rest[0]) || rest[0] == '\\' || rest[0] == '$') {
		return s[:open] + `\text{ or }` + rest // 1/2 (or 0.5)
	}
	if rest, ok := strings.CutPrefix(inner, "not "); ok && rest != "" && Digit(rest[0]) {
		return strings.TrimSpace(s[:open])
	}
	if Qualifies(strings.Fields(UnwrapText(inner))) != "" {
		return s
	}
	if !SentenceOfWords(inner) && !lone(inner) || strings.HasPrefix(strings.ToLower(inner), "or ") || strings.HasPrefix(strings.ToLower(inner), "mod") {
		return s
	}
	return strings.TrimSpace(s[:open])
}

// lone reports whether a remark is one noun, as in 12 (boxes).
func lone(inner string) bool {
	w := strings.ToLower(inner)
	for i := range len(w) {
		if !Letter(w[i]) {
			return false
		}
	}
	_, used := Worth(Number(2), []string{w})
	return len(w) > 3 && !vocabulary(w) && used == 0 && numeral(w) == nil
}

// unannounced removes "Answer:" and its like from the front.
func unannounced(s string) string {
	if s == "" {
		return s
	}
	if (s[0] == '{' || s[0] == '"' || s[0] == '`') && strings.Count(s, `":`) == 1 { // {"answer": "12"}
		if v := JsonString(s[strings.Index(s, `":`)+2:]); v != "" {
			return strings.Trim(v, "`\"}")
		}
	}
	if i := strings.LastIndex(s, "####"); i >= 0 {
		return strings.TrimSpace(s[i+len("####"):])
	}
	t := strings.TrimPrefix(s, `\text{`)
	for _, a := range []string{"the final answer is", "final answer:", "the answer is", "answer:", "answer is", "answer =", "about ", "approximately ", "approx. ", "roughly ", "around "} {
		if len(t) > len(a) && EqualFold(t[:len(a)], a) {
			t = strings.TrimSpace(t[len(a):])
			if strings.HasPrefix(s, `\text{`) {
				return strings.Replace(t, "}", "", 1)
			}
			return t
		}
	}
	return s
}
