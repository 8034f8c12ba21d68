// Finds the final answer of a response.

package verify

import (
	"errors"
	"strings"
	"unicode"

	"github.com/entrorouter/entrorouter/verify/internal/decide"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// extraction is an answer found in a response, or the reason why there is none.
type extraction struct {
	text   string
	reason string
	rule   string   // why there is none, if that needs saying
	prose  string   // running text, which may give an answer in words as well
	other  string   // a second reading: 70 for "So it is 70!", or the whole of a short response
	in     *context // where in running text it stands; nil for a box
	rest   string   // the text that it starts, if it was announced and the text does not take it back

	flaw formula.Qualification // why the text that was found is no answer, though it holds one; empty if it is
}

// extract finds the final answer of a response: the last box, else a declared answer, else the last formula or
// number. Only what follows the last </think> counts.
func extract(response string) extraction {
	response, box, open := scan(formula.Restored(response))
	if open {
		return extraction{reason: ReasonUnfinished}
	}
	if box >= 0 && cutInside(response, box) {
		return extraction{reason: ReasonNoAnswer, rule: "a box cut at the end of the text"}
	}
	if box >= 0 {
		text := formula.Trim(boxed(response, box))
		if !holdsAnswer(text) || blank(text) {
			return extraction{reason: ReasonNoAnswer}
		}
		end := boxEnd(response, box)
		found := extraction{text: text, flaw: rivalry(response, box)}
		if found.flaw == "" {
			found.flaw = beside(response, box, end)
		}
		if counted, used := extended(text, formula.UnwrapText(response[end:min(len(response), end+40)])); used > 0 && numbered(counted) {
			found.text = counted
		}
		return found.revisedBy(response[end:], false)
	}
	response = untagged(response)
	if text, rest := declared(response); text != "" {
		found := extraction{text: text, in: &context{before: response, named: true}}.revisedBy(rest, true)
		if t := strings.TrimSuffix(text, "!"); t != text && t != "" && formula.Digit(t[len(t)-1]) {
			found.other = t
		}
		if found.text == text && found.flaw == "" {
			found.flaw = taken(announcedSentence(rest), text)
		}
		if found.text == text {
			found.text = valueGiven(text, rest)
			if found.flaw == "" {
				found.rest = rest
			}
		}
		return found
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
	response = unbolded(response[max(0, len(response)-formula.MaxAnswer):])
	found := extraction{prose: response}
	p := parted(response)
	var at statement
	if found.text, at = p.final(); found.text != "" {
		found.in, found.flaw = p.context(at), p.flaw(at)
	}
	if found.text == "" {
		found.reason = ReasonNoAnswer
	} else if after := p.text[at.to:]; sentenceBreak(after) && strings.Count(lastSentence(after), " ") > 3 && formula.Letter(after[len(after)-1]) {
		return extraction{reason: ReasonNoAnswer} // the last sentence was cut, and the answer stood in none before it
	} else if t := strings.TrimSuffix(found.text, "!"); t != found.text && formula.SentenceOfWords(lastSentence(response)) {
		found.other = t
	}
	return found.alone(formula.Trim(response))
}

// alone reads a short response that is nothing but an answer as a whole: what was found in it may be a part.
func (e extraction) alone(response string) extraction {
	if len(response) > formula.MaxBareResponse || strings.IndexByte(response, '\n') >= 0 || response == e.text {
		return e
	}
	if e.other == "" {
		e.other = response
	}
	behind, starts := strings.CutPrefix(response, e.text)
	compares := formula.Compares(response)
	if e.text != "" && e.flaw == "" && !compares && !(starts && strings.IndexFunc(behind, unicode.IsLetter) >= 0) { // no words before or behind it
		return e
	}
	nodes, err := decide.Read(response, &formula.Budget{Left: formula.MaxSteps})
	var q formula.Qualification
	switch {
	case errors.As(err, &q):
		if e.flaw == "" && e.text != "" && starts {
			e.flaw = q
		}
	case err == nil && nodes[0].Kind != formula.KindText && (e.text == "" || e.flaw != "" || compares || formula.Bound(nodes[0])):
		return extraction{text: response}
	}
	return e
}

// taken returns what the words of a sentence make of the value in it, wherever it stands: "the square root of 5", "a
// multiple of 5", "5 at least"; empty if it stands for itself.
func taken(sentence, value string) (flaw formula.Qualification) {
	part := func(i int) bool {
		return i >= 0 && i < len(sentence) && (formula.Digit(sentence[i]) || formula.Letter(sentence[i]))
	}
	for from := 0; value != ""; {
		at := strings.Index(sentence[from:], value)
		if at < 0 {
			break
		}
		at += from
		from = at + len(value)
		if part(at-1) || part(from) {
			continue
		}
		if flaw = introducedBy(formula.UnwrapText(sentence[:at])); flaw == "" {
			flaw = changed(spokenWords(sentence[from:]))
		}
		if flaw == "" {
			return ""
		}
	}
	return flaw
}

// valueGiven returns the equation in which the text after an announced expression gives it its value: "our answer is
// (A+B)/2. We solve and get (A+B)/2 = 5". It returns the expression if there is none, and a name, which may be a choice.
func valueGiven(expression, rest string) string {
	if strings.IndexByte(rest, '=') < 0 {
		return expression
	}
	n, err := decide.Read(expression, &formula.Budget{Left: formula.MaxSteps})
	if err != nil || !n[0].Scalar() || n[0].Kind == formula.KindSymbol || len(formula.Variables(n[0])) == 0 && !n[0].Has(formula.Applied) {
		return expression
	}
	p, name := parted(rest), formula.Plain(expression)
	for j := len(p.statements) - 1; j > 0; j-- {
		text := p.statements[j].answer()
		if left, right, equation := strings.Cut(text, "="); equation && right != "" && formula.Plain(left) == name {
			return text
		}
	}
	return expression
}

// revisedBy returns the answer that is left after the text behind it: another one if the text takes it back, none if the
// text only says that it is wrong. within says that the answer is the start of that text.
func (e extraction) revisedBy(rest string, within bool) extraction {
	f, from := afterwards(rest, within)
	switch f {
	case rivalled:
		e.flaw = formula.Contrasted
	case withdrawn, revised:
		if text, _ := declared(rest[from:]); text != "" {
			return extract(rest[from:])
		}
		p := parted(strings.TrimLeft(rest[from:], " \n*"))
		if text, at := p.final(); text != "" && (f == withdrawn || named(p.text[:at.from]) || p.sole(at)) {
			return extraction{text: text, in: p.context(at)}
		}
		if f == withdrawn {
			return extraction{reason: ReasonNoAnswer, rule: "an answer that is taken back"}
		}
	}
	return e
}

// sole reports whether a formula alone follows the first clause of a text: "on second thought, 6".
func (p passage) sole(at statement) bool {
	before := strings.TrimRight(p.text[:at.from], " *")
	return clauseEnd(before, 0) == len(before)-1 && strings.Trim(p.text[at.to:], " \n.!*") == ""
}

// beside returns what the words around the box between from and to do to it. A bound is boxed for its own sake.
func beside(s string, from, to int) formula.Qualification {
	start, end := max(0, from-200), min(len(s), to+200)
	q := passage{text: s[start:end]}.flaw(statement{text: s[from:to], from: from - start, to: to - start})
	if q == formula.Bounded {
		return ""
	}
	return q
}

// numbered reports whether a value ends in a number word, as 5 million does.
func numbered(s string) bool {
	_, words, _ := strings.Cut(s, `\text{`)
	return formula.Multiple(strings.Trim(words, " {}")) != 0
}

// rivalry returns contrasted if the box at i is offered as an alternative to the one before it.
func rivalry(s string, i int) formula.Qualification {
	before := lastBox(s[:i])
	if before < 0 {
		return ""
	}
	if end := boxEnd(s, before); end <= i && i-end < 200 {
		if f, _ := afterwards(s[end:i]+"0", false); f == rivalled {
			return formula.Contrasted
		}
	}
	return ""
}

// blank reports whether LaTeX prints nothing: gaps, empty groups, phantoms.
func blank(s string) bool {
	return len(s) <= 256 && strings.IndexByte(s, '\\') >= 0 && formula.Blank(s)
}

// holdsAnswer reports whether a text holds more than punctuation.
func holdsAnswer(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; formula.Letter(c) || formula.Digit(c) || c == '\\' || c >= 0x80 || c == '{' {
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

// scanned holds the bytes that scan looks at.
var scanned = [256]bool{'\\': true, 'b': true, '\b': true, '<': true, '[': true, 0xe2: true} // 0xe2 begins ◁

// scan finds in one pass from the end what follows the last </think> or its like, and where its last box starts, or -1.
// open says that the response thinks and never stops; a mark of thinking within that box is part of an answer.
func scan(s string) (after string, box int, open bool) {
	box = -1
	thinks := 0 // where the last thinking starts
	found := func(at int) {
		box = at
		open = open && boxEnd(s, at) <= thinks
	}
	for i := len(s) - 1; i >= 0; i-- {
		if !scanned[s[i]] {
			continue
		}
		switch s[i] {
		case '\\':
			if box < 0 && formula.IsBox(s[i:]) {
				found(i)
			}
		case 'b', '\b': // the backslash was lost, or taken for an escape
			if box < 0 && (strings.HasPrefix(s[i:], "boxed{") && (i == 0 || s[i-1] != '\\' && !formula.Letter(s[i-1])) || strings.HasPrefix(s[i:], "\boxed{")) {
				found(i)
			}
		case '<', '[', "◁"[0]:
			if width := formula.Prefixed(s[i:], unthought); width > 0 {
				return s[i+width:], max(box-i-width, -1), false
			}
			if !open && formula.Prefixed(s[i:], thinking) > 0 {
				open, thinks = true, i
			}
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

// lastBox returns where the last box command of s starts, no further than an answer's length before the end, or -1.
func lastBox(s string) int {
	limit := max(0, len(s)-formula.MaxAnswer)
	for i := strings.LastIndexByte(s, '\\'); i >= limit; i = strings.LastIndexByte(s[:i], '\\') {
		if formula.IsBox(s[i:]) {
			return i
		}
	}
	return -1
}

func boxEnd(s string, i int) int {
	_, end := formula.BoxAt(s, i)
	return end
}

// cutInside reports whether the text ends in the middle of what the box at i holds: within a group, or after a sign or a
// command that something has to follow. Whole digits may have been cut as well, but nobody can tell.
func cutInside(s string, i int) bool {
	if len(s)-i > formula.MaxAnswer {
		return false
	}
	rest := s[i:]
	open := strings.IndexByte(rest, '{')
	if open < 0 || strings.ContainsAny(rest, "\n$") {
		return false
	}
	end, depth := formula.Group(rest, open)
	if end > 0 {
		return false
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
	content, end := formula.BoxAt(s, at)
	before := lastBox(s[:at])
	if before < 0 {
		return content
	}
	parts := []string{content}
	for range formula.MaxBoxes {
		if before = lastBox(s[:at]); before < 0 {
			break
		}
		outer, outerEnd := formula.BoxAt(s, before)
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
	s = formula.UnwrapText(s)
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
	return w == "" || len(name) == 1 && formula.Letter(name[0]) && (!subscripted || strings.Trim(index, "{}0123456789") == "")
}

// sentence returns the answer at the start of a sentence: the sentence itself if it can be read, else its formulas.
func sentence(s string) string {
	s = unfilled(formula.Trim(s))
	if s == "" || len(s) > formula.MaxAnswer {
		return s
	}
	if valuable(s) {
		return s
	}
	if k := sentenceEnd(s); k > 0 {
		if t := formula.Trim(s[:k]); valuable(t) {
			return t
		} else if t != "" {
			s = t
		}
	}
	if t, _ := parted(s).first(); t != "" {
		return t
	}
	return s
}

// unfilled drops the words in front of a value that say nothing of their own: "just 5", "equal to 5".
func unfilled(s string) string {
	for range 4 {
		word, rest, _ := strings.Cut(s, " ")
		if !fillers[word] || word == "the" && (rest == "" || !formula.Digit(rest[0])) || word == "given" || word == "by" || rest == "" {
			break
		}
		s = strings.TrimLeft(rest, " ")
	}
	return s
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

// valuable reports whether s is readable, or reads as a value that its words deny or change.
func valuable(s string) bool {
	nodes, err := decide.Read(s, &formula.Budget{Left: formula.MaxSteps})
	var q formula.Qualification
	return err == nil && nodes[0].Kind != formula.KindText || errors.As(err, &q)
}

// readable reports whether s parses as something else than a run of words.
func readable(s string) bool {
	nodes, err := decide.Read(s, &formula.Budget{Left: formula.MaxSteps})
	return err == nil && nodes[0].Kind != formula.KindText
}
