package verify

import (
	"slices"
	"strings"
	"unicode"
)

// extraction is an answer found in a response, or the reason why there is none.
type extraction struct {
	text   string
	reason string
	rule   string // why there is none, if that needs saying
	words  string // a short response without box, announcement, formula or number: "East"
}

// extract finds the final answer of a response: the last box, else a declared answer, else the last formula or
// number. Only what follows the last </think> counts.
func extract(response string) extraction {
	response, box, open := scan(response)
	if open {
		return extraction{reason: ReasonUnfinished}
	}
	if box >= 0 && cutInside(response, box) {
		return extraction{reason: ReasonNoAnswer, rule: "a box cut at the end of the text"}
	}
	if box >= 0 {
		if text := trim(boxed(response, box)); holdsAnswer(text) && !blank(text) {
			return extraction{text: text}
		}
		return extraction{reason: ReasonNoAnswer}
	}
	response = untagged(response)
	if text := declared(response); text != "" {
		return extraction{text: text}
	}
	if text := refusal(response); text != "" {
		return extraction{text: text}
	}
	if breaksOff(response) {
		return extraction{reason: ReasonNoAnswer}
	}
	if text := bulleted(response); text != "" {
		return extraction{text: text}
	}
	if text := lastLine(response); strings.ContainsAny(text, "0123456789\\") && len(text) <= maxBareResponse && !dangles(text) && lists(text) {
		return extraction{text: text} // "2 and 1"
	}
	if text := last(response); text != "" {
		return extraction{text: text}
	}
	none := extraction{reason: ReasonNoAnswer}
	text := trim(response)
	if len(text) > maxBareResponse {
		text = lastSentence(response)
	}
	if len(text) <= maxBareResponse && holdsAnswer(text) {
		none.words = strings.ReplaceAll(text, "**", "")
	}
	return none
}

// blank reports whether LaTeX prints nothing: gaps, empty groups, phantoms.
func blank(s string) bool {
	if len(s) > 256 || strings.IndexByte(s, '\\') < 0 {
		return false
	}
	tokens, _, err := lex(s, false)
	return err == nil && len(tokens) == 0
}

// bulleted returns the list that the bullets at the end of a text make, each of which holds one formula.
func bulleted(s string) string {
	var items []string
	s = strings.TrimRight(s[max(0, len(s)-maxAnswer):], " \t\r\n")
	for len(items) < maxBoxes {
		start := strings.LastIndexByte(s, '\n') + 1
		line := strings.TrimSpace(s[start:])
		item, bullet := strings.CutPrefix(line, "- ")
		if !bullet {
			if item, bullet = strings.CutPrefix(line, "* "); !bullet {
				item, bullet = strings.CutPrefix(line, "• ")
			}
		}
		item = trim(item)
		if !bullet || len(item) > 80 || !strings.ContainsAny(item, "0123456789") || !readable(item) {
			break
		}
		items = append(items, item)
		s = strings.TrimRight(s[:max(0, start-1)], " \t\r\n")
	}
	if len(items) < 2 {
		return ""
	}
	slices.Reverse(items)
	return strings.Join(items, ", ")
}

// breaksOff reports whether a text ends with a word that no sentence ends with.
func breaksOff(s string) bool {
	s = strings.TrimRight(s, " \t\r\n")
	word := s[strings.LastIndexAny(s, " \t\r\n")+1:]
	if len(word) == len(s) {
		return false
	}
	switch strings.ToLower(word) {
	case "to", "the", "of", "and", "is", "are", "an", "for", "that", "we", "with", "by", "from", "let", "then", "which", "because", "since", "if", "or", "where", "get", "have", "so", "thus", "therefore", "hence":
		return true
	}
	return false
}

// lastSentence returns the last sentence of the last line.
func lastSentence(s string) string {
	s = lastLine(s[max(0, len(s)-maxAnswer):])
	if i := strings.LastIndex(s, ". "); i >= 0 {
		s = s[i+2:]
	}
	return s
}

// refusal returns the last sentence if it says that there is too little to go by, whatever numbers it mentions.
func refusal(s string) string {
	s = lastSentence(s)
	lower := strings.ToLower(s)
	for _, w := range []string{"cannot be determined", "can not be determined", "can't be determined", "cannot determine", "can't determine", "not enough information", "insufficient information", "impossible to determine", "not possible to determine", "unable to determine", "unable to answer", "unable to solve", "cannot solve", "can't solve", "cannot answer", "can't answer", "cannot provide", "can't provide", "cannot help", "can't help"} {
		if strings.Contains(lower, w) {
			return s
		}
	}
	return ""
}

// lastLine returns the last line that is not blank.
func lastLine(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	return trim(s[strings.LastIndexByte(s, '\n')+1:])
}

// holdsAnswer reports whether a text holds more than punctuation.
func holdsAnswer(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; letter(c) || digit(c) || c == '\\' || c >= 0x80 || c == '{' {
			return true
		}
	}
	return false
}

// Marks that models put around their thinking, and after which the answer begins.
var (
	thinking  = []string{"<think>", "<thinking>", "<thought>", "<|begin_of_thought|>", "<|channel|>analysis", "[THINK]", "<seed:think>", "◁think▷"}
	unthought = []string{"</think>", "</thinking>", "</thought>", "<|end_of_thought|>", "<|channel|>final<|message|>", "[/THINK]", "</seed:think>", "◁/think▷"}
)

// prefixed returns the length of the word that s starts with, or 0.
func prefixed(s string, words []string) int {
	for _, w := range words {
		if strings.HasPrefix(s, w) {
			return len(w)
		}
	}
	return 0
}

// scan finds in one pass from the end what follows the last </think> or its like, and where its last box starts, or -1.
// open says that the response thinks and never stops.
func scan(s string) (after string, box int, open bool) {
	box = -1
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '\\':
			if box < 0 && isBox(s[i:]) {
				box = i
			}
		case 'b', '\b': // the backslash was lost, or taken for an escape
			if box < 0 && (strings.HasPrefix(s[i:], "boxed{") && (i == 0 || s[i-1] != '\\' && !letter(s[i-1])) || strings.HasPrefix(s[i:], "\boxed{")) {
				box = i
			}
		case '<', '[', "◁"[0]:
			if width := prefixed(s[i:], unthought); width > 0 {
				return s[i+width:], max(box-i-width, -1), false
			}
			open = open || prefixed(s[i:], thinking) > 0
		}
	}
	return s, box, open
}

// untagged removes the marks with which models end a text.
func untagged(s string) string {
	for {
		t := strings.TrimRight(s, " \t\r\n")
		for _, w := range []string{"<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end_of_text|>", "<|end|>", "<|return|>", "</s>", "<eos>", "<end_of_turn>", "<｜end▁of▁sentence｜>", "[EOS]", "<|end_of_solution|>", "</solution>"} {
			t = strings.TrimSuffix(t, w)
		}
		if strings.TrimRight(s, " \t\r\n") == t {
			return t
		}
		s = t
	}
}

func isBox(s string) bool { return strings.HasPrefix(s, `\boxed`) || strings.HasPrefix(s, `\fbox`) }

// lastBox returns where the last box command of s starts, no further than an answer's length before the end, or -1.
func lastBox(s string) int {
	for i := len(s) - 1; i >= max(0, len(s)-maxAnswer); i-- {
		if s[i] == '\\' && isBox(s[i:]) {
			return i
		}
	}
	return -1
}

// boxAt returns the content of the box that starts at i, and where it ends. A box without its closing brace ends with
// its line; a box without braces holds one token.
func boxAt(s string, i int) (content string, end int) {
	j := i + 1
	for j < len(s) && letter(s[j]) {
		j++
	}
	for j < len(s) && (s[j] == ' ' || s[j] == '\n' || s[j] == '\t') {
		j++
	}
	if j == len(s) {
		return "", j
	}
	if s[j] != '{' {
		k := j
		for k < len(s) && s[k] != ' ' && s[k] != '$' && s[k] != '\n' && s[k] != ',' && s[k] != '}' && !(s[k] == '\\' && k+1 < len(s) && !letter(s[k+1])) {
			k++
		}
		return s[j:k], k
	}
	depth := 0
	for k := j; k < len(s) && k-j <= maxAnswer; k++ {
		switch s[k] {
		case '\\':
			k++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[j+1 : k], k + 1
			}
		}
	}
	rest := s[j+1 : min(len(s), j+1+maxAnswer)]
	end = j + 1 + len(rest)
	if k := strings.IndexAny(rest, "\n$"); k >= 0 { // its brace was forgotten; at the end of the text more may be missing
		end = j + 1 + k
		rest = rest[:k]
		if open := strings.Count(rest, "{") - strings.Count(rest, "}"); open > 0 && open < maxWrappers {
			rest += strings.Repeat("}", open)
		}
	}
	return rest, end
}

// cutInside reports whether the text ends in the middle of what the box at i holds: within a group, or after a sign or a
// command that something has to follow. Whole digits may have been cut as well, but nobody can tell.
func cutInside(s string, i int) bool {
	if len(s)-i > maxAnswer {
		return false
	}
	rest := s[i:]
	open := strings.IndexByte(rest, '{')
	if open < 0 || strings.ContainsAny(rest, "\n$") {
		return false
	}
	depth := 0
	for k := open; k < len(rest); k++ {
		switch rest[k] {
		case '\\':
			k++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return false
			}
		}
	}
	rest = strings.TrimRight(rest[open+1:], " ")
	if depth > 1 || rest != "" && dangles(rest) {
		return true
	}
	command := rest[strings.LastIndexByte(rest, '\\')+1:]
	return command != rest && (command == "" || command == "frac" || command == "dfrac" || command == "tfrac" || command == "sqrt" || command == "binom" || command == "text")
}

// boxed returns the content of the last box, which starts at at. Boxes that follow each other with nothing but
// separators between them are one list; a box inside another is part of it.
func boxed(s string, at int) string {
	content, end := boxAt(s, at)
	before := lastBox(s[:at])
	if before < 0 {
		return content
	}
	parts := []string{content}
	for range maxBoxes {
		if before = lastBox(s[:at]); before < 0 {
			break
		}
		outer, outerEnd := boxAt(s, before)
		if outerEnd >= end && strings.Contains(outer, content) {
			at, end = before, outerEnd
			parts[len(parts)-1], content = outer, outer
			continue
		}
		if outerEnd > at || at-outerEnd > 80 || !separates(s[outerEnd:at]) {
			break
		}
		at, end, content = before, outerEnd, outer
		parts = append(parts, outer)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	var b strings.Builder
	seen := map[string]bool{}
	for i := len(parts) - 1; i >= 0; i-- {
		if p := strings.TrimSpace(parts[i]); !seen[p] {
			seen[p] = true
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			b.WriteString(p)
		}
	}
	return b.String()
}

// separates reports whether the text between two boxes only separates the elements of a list.
func separates(s string) bool {
	s = unwrapText(s)
	for _, w := range []string{"and", "or", `\quad`, `\qquad`, `\\`, `\)`, `\(`, `\]`, `\[`, `\,`, `\;`, "&"} {
		s = strings.ReplaceAll(s, w, " ")
	}
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(" \t\n,;$*-", r) }) {
		if !assigns(f) {
			return false
		}
	}
	return true
}

// assigns reports whether a word between two boxes names what the second one holds, as the x and = of x = \boxed{2}.
func assigns(w string) bool {
	w = strings.TrimSuffix(w, "=")
	name, index, subscripted := strings.Cut(w, "_")
	return w == "" || len(name) == 1 && letter(name[0]) && (!subscripted || strings.Trim(index, "{}0123456789") == "")
}

// uncalculated removes the calculator's marks <<6*7=42>> of GSM8K solutions.
func uncalculated(s string) string {
	if !strings.Contains(s, "<<") {
		return s
	}
	var b strings.Builder
	for {
		open := strings.Index(s, "<<")
		if open < 0 {
			break
		}
		shut := strings.Index(s[open:], ">>")
		if shut < 0 {
			break
		}
		b.WriteString(s[:open])
		s = s[open+shut+2:]
	}
	b.WriteString(s)
	return b.String()
}

// jsonString returns the string or number at the start of a JSON value, unescaped; empty if there is none.
func jsonString(s string) string {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" || s[0] != '"' {
		end := strings.IndexAny(s, ",}\n")
		if end < 0 {
			return ""
		}
		return trim(s[:end])
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return trim(unescape(s[1:i]))
		}
	}
	return ""
}

// sentence returns the answer at the start of a sentence: the sentence itself if it can be read, else its formulas.
func sentence(s string) string {
	s = trim(s)
	if s == "" || len(s) > maxAnswer {
		return s
	}
	if readable(s) {
		return s
	}
	if k := sentenceEnd(s); k > 0 {
		if t := trim(s[:k]); readable(t) {
			return t
		} else if t != "" {
			s = t
		}
	}
	if f := formulas(s); f != "" {
		return f
	}
	if t := first(s); t != "" {
		return t
	}
	return s
}

// first returns the first formula or number of a sentence that announces its answer: "the answer is that 5 boxes last
// for 30 days".
func first(s string) string {
	end := len(s)
	found := ""
	for end > 0 {
		from, to := mathRun(s[:end])
		if to < 0 {
			break
		}
		if t := trim(s[from:to]); strings.ContainsAny(t, "0123456789") || strings.ContainsRune(t, '\\') {
			found = t
		}
		end = from
	}
	return found
}

// sentenceEnd returns where the first sentence of s ends, or 0.
func sentenceEnd(s string) int {
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '.' || s[i] == '!' || s[i] == '?') && s[i+1] == ' ' && i > 0 && !strings.HasSuffix(strings.ToLower(s[:i]), "p.m") && !strings.HasSuffix(strings.ToLower(s[:i]), "a.m") {
			return i
		}
	}
	return 0
}

// readable reports whether s parses as something else than a run of words.
func readable(s string) bool {
	nodes, err := read(s, &budget{left: maxSteps})
	return err == nil && nodes[0].kind != kindText
}

// lists reports whether s parses as a list.
func lists(s string) bool {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '\\' }) {
		if len(w) > 2 && w[0] != '\\' && !vocabulary(w) {
			return false // Thus, $x = 3$
		}
	}
	nodes, err := read(s, &budget{left: maxSteps})
	return err == nil && nodes[0].kind == kindList
}

// formulas joins the inline formulas of a sentence if they are a list, else returns the first.
func formulas(s string) string {
	var parts []string
	var b strings.Builder
	list, at := true, 0
	for at < len(s) {
		open, shut, width := -1, "", 0
		if i := strings.Index(s[at:], `\(`); i >= 0 {
			open, shut, width = at+i, `\)`, 2
		}
		if i := strings.IndexByte(s[at:], '$'); i >= 0 && (open < 0 || at+i < open) && !(at+i > 0 && s[at+i-1] == '\\') {
			open, shut, width = at+i, "$", 1
		}
		if open < 0 {
			break
		}
		end := strings.Index(s[open+width:], shut)
		if end < 0 {
			break
		}
		if len(parts) > 0 && !separates(s[at:open]) {
			list = false
		}
		parts = append(parts, s[open+width:open+width+end])
		at = open + width + end + len(shut)
	}
	if len(parts) == 0 {
		return ""
	}
	if !list {
		if n := len(parts[0]); n == 1 && letter(parts[0][0]) && strings.Contains(s[:at], " is ") { // the value of $x$ is $8$
			return trim(parts[len(parts)-1])
		}
		return trim(parts[0])
	}
	for i, p := range parts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(trim(p))
	}
	return b.String()
}

// last returns the last formula or number of a text: the longest run of mathematical words that ends last.
func last(s string) string {
	s = apart(uncalculated(s[max(0, len(s)-maxAnswer):]))
	if t := displayed(s); t != "" {
		return t
	}
	end := len(s)
	for end > 0 {
		from, to := mathRun(s[:end])
		if to < 0 {
			return ""
		}
		if t := trim(s[from:to]); strings.ContainsAny(t, "0123456789") || strings.ContainsRune(t, '\\') {
			if dangles(t) {
				return ""
			}
			if list := listed(s, from, to); list != "" {
				return list
			}
			return headed(t)
		}
		end = from
	}
	return ""
}

// listed returns the list that the formula at s[from:to] ends: "x = 1 and x = 2", "1, 2, or 3". Values of different names
// are none: the last one was asked for.
func listed(s string, from, to int) string {
	start := from
	for range maxBoxes {
		before, end := mathRun(s[:start])
		if end < 0 || before == start {
			break
		}
		between := strings.TrimSpace(s[end:start])
		if between != "and" && between != "or" || strings.ContainsAny(s[end:start], "\n") {
			break
		}
		start = before
	}
	if start == from {
		return ""
	}
	list := strings.ReplaceAll(s[start:to], "$", " ")
	nodes, err := read(list, &budget{left: maxSteps})
	if err != nil || nodes[0].kind != kindList {
		return ""
	}
	name := ""
	for i, n := range nodes[0].args {
		own := ""
		if n.kind == kindRelation {
			own = n.args[0].String()
		}
		if i > 0 && own != name {
			return ""
		}
		name = own
	}
	return list
}

// apart puts spaces between formulas and the letters of scripts that are written without them.
func apart(s string) string {
	wide := func(r rune) bool { return r >= 0x3040 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 }
	if strings.IndexFunc(s, wide) < 0 {
		return s
	}
	var b strings.Builder
	before := ' '
	for _, r := range s {
		if wide(r) != wide(before) {
			b.WriteByte(' ')
		}
		before = r
		b.WriteRune(r)
	}
	return b.String()
}

// displays are the environments of displayed formulas.
var displays = []string{"equation", "align", "aligned", "gather", "gathered", "multline", "eqnarray", "split", "math", "displaymath"}

// displayed returns the formula of the environment that ends the text: of several rows all as one chain if they are one,
// else the last row.
func displayed(s string) string {
	s = strings.TrimRight(s, " \t\r\n.$")
	s = strings.TrimSuffix(strings.TrimSuffix(s, `\]`), `\)`)
	s = strings.TrimRight(s, " \t\r\n.")
	for _, name := range displays {
		for _, star := range []string{"", "*"} {
			body, ends := strings.CutSuffix(s, `\end{`+name+star+`}`)
			if !ends {
				continue
			}
			if open := strings.LastIndex(body, `\begin{`+name+star+`}`); open >= 0 {
				body = body[open+len(`\begin{`+name+star+`}`):]
			}
			if t := displayed(body); t != "" {
				return t
			}
			rows := strings.Split(strings.ReplaceAll(body, "&", " "), `\\`)
			for len(rows) > 1 && strings.TrimSpace(rows[len(rows)-1]) == "" {
				rows = rows[:len(rows)-1]
			}
			chain := trim(strings.Join(rows, " "))
			if strings.HasPrefix(strings.TrimSpace(rows[len(rows)-1]), "=") && readable(chain) {
				return chain
			}
			return strings.TrimLeft(trim(rows[len(rows)-1]), "= ")
		}
	}
	return ""
}

// dangles reports whether a formula stops in its middle, as where the response was cut.
func dangles(s string) bool {
	t := strings.TrimRight(s, " $")
	for _, w := range []string{"+", "-", "*", "/", "=", "^", "_", "(", "[", "{", "<", `\`, `\cdot`, `\times`, `\frac`, `\begin`, `\left`, `\equiv`, `\ge`, `\le`} {
		if strings.HasSuffix(t, w) {
			return true
		}
	}
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		}
	}
	return depth > 0
}

// headed returns what follows the last equals sign of a chain whose head was lost to the words before it: "17 feet * 2 =
// 34" reaches here as "* 2 = 34".
func headed(s string) string {
	if s[0] == '*' || s[0] == '/' || strings.Count(s, ")") > strings.Count(s, "(") {
		if i := strings.LastIndexByte(s, '='); i >= 0 {
			return trim(s[i+1:])
		}
	}
	return s
}

// stated returns the value that a single sentence gives: what follows the last "is", "are" or "equals"; else the only
// amount of money; else the last number if the sentence opens with a clause ("After 2 years, she has 600 left"); else the
// first number.
func stated(s string) string {
	lower := strings.ToLower(s)
	for _, w := range []string{" is ", " are ", " equals "} {
		if i := strings.LastIndex(lower, w); i >= 0 {
			if from, to := mathRun(s[i+len(w):]); to > 0 && from < 12 {
				if t := first(s[i+len(w):]); t != "" && !dangles(t) {
					return t
				}
			}
		}
	}
	if strings.Count(s, "$") == 1 {
		if t := first(s[strings.IndexByte(s, '$'):]); t != "" {
			return t
		}
	}
	if opening, _, comma := strings.Cut(lower, ","); comma {
		word, _, _ := strings.Cut(strings.TrimSpace(opening), " ")
		switch word {
		case "in", "after", "if", "when", "for", "at", "with", "on", "by", "since", "before", "during", "therefore", "so", "thus", "hence":
			return last(s)
		}
	}
	return first(s)
}

// mathRun returns the bounds of the last maximal run of words that can belong to a formula.
func mathRun(s string) (from, to int) {
	i := len(s)
	to = -1
	for i > 0 {
		for i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
			i--
		}
		if i > 0 && s[i-1] == '\n' {
			if to >= 0 {
				break
			}
			i--
			continue
		}
		j := i
		for j > 0 && s[j-1] != ' ' && s[j-1] != '\n' && s[j-1] != '\t' {
			j--
		}
		word := s[j:i]
		if word == "" {
			break
		}
		if mathWord(word) {
			if to < 0 {
				to = i
			}
			from = j
		} else if to >= 0 {
			break
		}
		if to >= 0 && j > 0 && endsSentence(s[:j]) {
			break
		}
		i = j
	}
	return from, to
}

// endsSentence reports whether s ends with a full stop after a word or number, and a space.
func endsSentence(s string) bool {
	t := strings.TrimRight(s, " ")
	return strings.HasSuffix(t, ".") && !strings.HasSuffix(t, "..") || strings.HasSuffix(t, ":") || strings.HasSuffix(t, "?")
}

// mathWord reports whether a word without spaces can be part of a formula.
func mathWord(w string) bool {
	switch w {
	case "+", "-", "*", "/", "=", "<", ">", "±", "×", "÷", "≈", "≤", "≥", "−", "·", "$", "$$", "(", ")", "...", "…":
		return true
	}
	w = strings.Trim(w, "*_.,;:!?\"'`$")
	if w == "" {
		return false
	}
	if strings.ContainsAny(w, "0123456789\\=^") {
		for i := 0; i < len(w); i++ {
			if w[i] == '\\' {
				for i+1 < len(w) && letter(w[i+1]) {
					i++
				}
				continue
			}
			j := i
			for j < len(w) && letter(w[j]) {
				j++
			}
			if j-i > 2 && !vocabulary(w[i:j]) && !strings.Contains(w, "\\") {
				return false // 7-day
			}
			i = max(i, j-1)
		}
		return true
	}
	return len(w) == 1 && letter(w[0]) && w != "a" && w != "A" && w != "I"
}
