// Text divided into formulas and words, and what they say together.

package verify

// The formulas of running text, and which of them is the answer. It is chosen among whole formulas, as package segment
// finds them.

import (
	"math/big"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/decide"
	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
	"github.com/entrorouter/entrorouter/verify/internal/segment"
)

// passage is text that is divided into formulas and words.
type passage struct {
	text       string
	statements []statement
}

// statement is a formula: one segment, or several that are one chain, as in $a=b$ $=c$.
type statement struct {
	text     string // without delimiters
	from, to int    // in the text, with delimiters
	kind     segment.Kind
}

// parted divides a text, of which no more than an answer's length from the end counts. It starts with a paragraph, so that
// no formula is taken for the gap between two.
func parted(s string) passage {
	if len(s) > formula.MaxAnswer {
		s = s[len(s)-formula.MaxAnswer:]
		if i := strings.Index(s, "\n\n"); i >= 0 {
			s = s[i:]
		}
	}
	s = apart(uncalculated(s))
	p := passage{text: s}
	for part := range segment.Split(s, formula.Symbolic) {
		if !part.Formula() && !(part.Kind == segment.Code && len(part.Text) <= formula.MaxBareResponse && readable(part.Text)) {
			continue
		}
		next := statement{part.Text, part.From, part.To, part.Kind}
		if n := len(p.statements); n > 0 {
			before := &p.statements[n-1]
			if gap := s[before.to:part.From]; strings.TrimSpace(gap) == "" && !strings.Contains(gap, "\n\n") && (relates(part.Text) || unfinished(before.text)) {
				before.text += " " + part.Text
				before.to = part.To
				continue
			}
		}
		p.statements = append(p.statements, next)
	}
	return p
}

// relates reports whether a formula starts with a sign that needs something before it.
func relates(s string) bool {
	s = strings.TrimLeft(s, " \n\t&")
	if s == "" {
		return false
	}
	if strings.IndexByte("=<>", s[0]) >= 0 {
		return true
	}
	for _, w := range []string{`\le`, `\ge`, `\ne`, `\approx`, `\equiv`, `\Rightarrow`, `\Longrightarrow`, `\implies`, `\cdot`, `\times`} {
		if rest, ok := strings.CutPrefix(s, w); ok && !(w == `\le` && strings.HasPrefix(rest, "ft")) {
			return true
		}
	}
	return false
}

// unfinished reports whether a formula ends with a sign that needs something after it.
func unfinished(s string) bool {
	s = strings.TrimRight(s, " \n\t&")
	for _, w := range []string{"=", "+", "-", "<", ">", `\cdot`, `\times`, `\le`, `\ge`, `\leq`, `\geq`, `\approx`, `\equiv`, `\Rightarrow`, `\Longrightarrow`, `\implies`} {
		if strings.HasSuffix(s, w) {
			return true
		}
	}
	return false
}

// valued reports whether a formula may be a value: it holds a digit, a command or an operation, and is no bare name.
func valued(s string) bool {
	return strings.ContainsAny(s, "0123456789\\") && !endMarks[strings.Trim(s, " \n.{}")]
}

// endMarks end a proof.
var endMarks = map[string]bool{`\blacksquare`: true, `\square`: true, `\Box`: true, `\qed`: true, `\qedsymbol`: true, `\blacktriangle`: true, `\checkmark`: true}

// answer returns the text of a formula as an answer: the last row of an environment, without what surrounds it.
func (st statement) answer() string {
	t := formula.Trim(st.text)
	if row := displayed(t); row != "" {
		t = row
	}
	for strings.HasPrefix(t, "=") {
		t = strings.TrimLeft(t[1:], "=> ")
	}
	if st.kind == segment.Bare {
		t = strings.TrimRight(t, " -–—")
	}
	return headed(t)
}

// displayedLast reports whether a formula is displayed at the end of a text: e^x and n! are answers there as well.
func (st statement) displayedLast(text string) bool {
	return st.kind == segment.Display && strings.Trim(text[st.to:], " \n.") == "" && !endMarks[strings.Trim(st.text, " \n.{}")]
}

// final returns the formula that a text ends with: the last one that is not denied and stands in no side clause, with the
// values that are listed before it. at is where it stands. Of values of different names the last one is the answer only if
// it follows from the others; else all are.
func (p passage) final() (text string, at statement) {
	for j := len(p.statements) - 1; j >= 0; j-- {
		st := p.statements[j]
		if j == len(p.statements)-1 && strings.TrimSpace(p.text[st.to:]) == "" && dangles(st.text) {
			return "", st
		}
		if !valued(st.text) && !(j == len(p.statements)-1 && (st.kind == segment.Inline && named(p.text[:st.from]) || st.displayedLast(p.text))) { // a name, if it is what the text ends with
			continue
		}
		t := st.answer()
		before, after := p.text[:st.from], p.text[st.to:]
		if t == "" || disowned(before) || p.aside(j) || unclaimed(before, after) {
			continue
		}
		if f, _ := afterwards(after, false); f == withdrawn {
			continue
		}
		if j > 0 && approximates(before) && valued(p.statements[j-1].text) && !sentenceBreak(p.text[p.statements[j-1].to:st.from]) {
			continue // 2\sqrt{3}, which is about 3.46
		}
		if dangles(t) {
			return "", st
		}
		if strings.TrimSpace(after) == "" && st.kind == segment.Bare && dangles(strings.TrimSpace(p.text[st.from:])) {
			return "", st
		}
		if list, from := p.listed(j); list != "" && !p.evaluates(list) {
			return list, statement{list, from, st.to, st.kind}
		}
		return p.whole(j)
	}
	return "", statement{}
}

// introducedBy returns what the words before a value do to it: "probably not", "the square root of", "the wrong answer is".
func introducedBy(before string) formula.Qualification {
	s, verb := before, false
	for range 6 {
		s = strings.TrimRight(s, " \n\t$(*\\[")
		w := lastWord(s)
		if w == "" {
			return ""
		}
		s = s[:len(s)-len(w)]
		previous := lastWord(s)
		switch q := formula.Precedes(w); {
		case q == formula.Negated || q != "" && q != formula.Conditional && !verb: // my best guess is 4
			return q
		case w == "of" && (formula.Sense(previous) == "function" || formula.Sense(previous) == "part"):
			return formula.Altered
		case w == "from" && (previous == "different" || previous == "differs"), w == "but" && (previous == "anything" || previous == "everything" || previous == "all"), w != "out" && formula.Sense(w) == "exclusion":
			return formula.Contrasted
		case w == "above", w == "over", w == "below", w == "under", w == "beyond", w == "to" && previous == "up" && !strings.HasPrefix(lastWord(strings.TrimSuffix(strings.TrimRight(s, " "), "up")), "add"):
			return formula.Bounded
		case w == "be" && (previous == "might" || previous == "could" || previous == "may"):
			return formula.Doubted
		case w == "is", w == "are", w == "be":
			verb = true
		case fillers[w], w == "of", w == "answer", w == "value", w == "result", w == "solution", w == "final":
		default:
			return ""
		}
	}
	return ""
}

// unclaimed reports whether a formula between these texts is a reference, as in "step 5" and "equation (5)", or stands in a
// question or supposition: "let x = 5", "is it 5?".
func unclaimed(before, after string) bool {
	word := lastWord(strings.TrimRight(before, " $(["))
	if w := formula.Opening(word); w == "supposition" && !(word == "if" && strings.HasSuffix(strings.TrimRight(strings.ToLower(before), " $(["), "only if")) || w == "label" && !strings.HasPrefix(strings.TrimLeft(after, " )]"), "=") {
		return true
	}
	clause := before[strings.LastIndexAny(before, ".,;:?!\n")+1:]
	first, rest, _ := strings.Cut(strings.ToLower(strings.TrimLeft(clause, " *")), " ")
	if follows := strings.TrimLeft(after, " $)"); formula.Opening(first) == "supposition" && rest != "" && (first != "if" || strings.HasPrefix(follows, ",") || strings.HasPrefix(follows, "then ")) && !strings.Contains(rest, " then ") {
		return true
	}
	end := strings.IndexAny(after, ".?!\n")
	for end >= 0 && after[end] == '.' && end+1 < len(after) && after[end+1] != ' ' && after[end+1] != '\n' {
		k := strings.IndexAny(after[end+1:], ".?!\n")
		if k < 0 {
			return false
		}
		end += 1 + k
	}
	if end < 0 || after[end] != '?' {
		return false
	}
	start := strings.LastIndexAny(before, ".?!\n") + 1
	opening, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(before[start:], " *#")), " ")
	switch opening {
	case "is", "are", "was", "were", "could", "can", "does", "do", "did", "would", "should", "what", "which", "why", "how", "when", "where", "who", "will":
		return true
	}
	return strings.TrimSpace(after[end+1:]) != ""
}

// flaw returns why a formula of running text is no answer by itself: what stands beside it in its clause.
func (p passage) flaw(at statement) formula.Qualification {
	if q := introducedBy(p.text[:at.from]); q != "" && !(q == formula.Bounded && strings.Contains(at.text, "=")) { // what a bound comes to is a value
		return q
	}
	after := p.text[at.to:]
	if f, _ := afterwards(after, false); f == rivalled {
		return formula.Contrasted
	}
	if remark, ok := strings.CutPrefix(strings.TrimLeft(after, " $"), "("); ok {
		if remark, _, closed := strings.Cut(remark, ")"); closed {
			switch q := formula.Qualifies(spokenWords(remark)); q {
			case formula.Negated, formula.Doubted:
				return q
			}
		}
	}
	words := spokenWords(after[:clauseEnd(after, 0)])
	switch {
	case len(words) > 0 && formula.Sense(words[0]) == "condition":
		return formula.Conditional
	case len(words) > 1 && words[0] == "times" && !(prepositions[words[1]] || words[1] == "per" || words[1] == "before" || words[1] == "to" || words[1] == "at"): // 5 times in a day
		return formula.Altered
	}
	return changed(words)
}

// changed returns what the words after a value make of it: 5 at least, 5 plus tax, 5 squared.
func changed(words []string) formula.Qualification {
	switch first := at(words, 0); {
	case first == "at" && formula.Sense(at(after(words[1:], "the"), 0)) == "bound":
		return formula.Bounded
	case first != "times" && first != "over" && formula.Sense(first) == "operation":
		return formula.Altered
	}
	return ""
}

// gold returns the value that a ground truth in words states: what it names as such, else the final formula if the text
// comes to it by "so" or "thus"; empty if it only describes something.
func (p passage) gold() (string, statement) {
	for j := len(p.statements) - 1; j >= 0; j-- {
		if st := p.statements[j]; valued(st.text) && named(p.text[:st.from]) && !p.aside(j) && !approximates(p.text[:st.from]) {
			return p.from(j)
		}
	}
	text, at := p.final()
	switch lastWord(p.text[:at.from]) {
	case "so", "thus", "hence", "therefore", "then", "get", "have", "gives", "obtain", "find", "that":
		return text, at
	}
	return "", statement{}
}

// from returns the value that starts with formula j: a list, or the formula with what belongs to it.
func (p passage) from(j int) (string, statement) {
	text, st := p.whole(j)
	start := p.statements[j].from
	for k := j + 1; k < len(p.statements); k++ {
		if all, at := p.whole(k); at.from == start { // 7 hours and 32 minutes
			text, st = all, at
			continue
		}
		list, from := p.listed(k)
		if list == "" || from > start {
			break
		}
		if from == start {
			text, st.to = list, p.statements[k].to
		}
	}
	return text, st
}

// first returns the value that a sentence gives that announces its answer: what follows "which is", else the first value:
// "that 5 boxes last for 30 days" gives 5.
func (p passage) first() (string, statement) {
	described := len(p.statements) > 0 && strings.TrimSpace(p.text[:p.statements[0].from]) == "" && strings.HasPrefix(p.text[p.statements[0].to:], ", which is the ") // 7, which is the value where x is 20
	for j := len(p.statements) - 1; j > 0; j-- {
		st := p.statements[j]
		if valued(st.text) && st.answer() != "" && named(p.text[:st.from]) && !approximates(p.text[:st.from]) && !described && !p.aside(j) {
			return p.from(j)
		}
	}
	found := -1
	for j, st := range p.statements {
		if valued(st.text) && st.answer() != "" {
			if found = j; lastWord(p.text[:st.from]) != "the" { // the 5 boys have 12 apples
				break
			}
		}
	}
	if found < 0 {
		return "", statement{}
	}
	return p.from(found)
}

// operations are the words of arithmetic between two values, and their signs.
var operations = map[string]string{"plus": "+", "minus": "-", "times": `\times`, "multiplied by": `\times`, "divided by": "/", "over": "/", "by": `\text{ by }`, "x": `\text{ by }`}

// whole returns formula j with the words that belong to its value: those of arithmetic that join it to the formula before
// it, number words and units after it, and the larger part of a quantity before it: "5 times 6", "2 million", "5 hours and
// 3 minutes".
func (p passage) whole(j int) (string, statement) {
	st := p.statements[j]
	text := st.answer()
	var used int
	limit := len(p.text)
	if j+1 < len(p.statements) {
		limit = p.statements[j+1].from
	}
	text, used = extended(text, p.text[st.to:limit])
	st.to += used
	for k := j - 1; k >= 0 && j-k < 8; k-- {
		before := p.statements[k]
		gap := p.text[before.to:st.from]
		larger, units := extended(before.answer(), gap)
		rest := strings.ToLower(strings.Join(strings.Fields(gap[units:]), " "))
		switch sign := operations[rest]; {
		case sign != "":
			text = larger + " " + sign + " " + text
		case units > 0 && used > 0 && (strings.Trim(rest, " ,") == "" || strings.Trim(rest, ", ") == "and") && compounded(larger+" "+text):
			text = larger + " " + text
		default:
			return signed(p.text[:st.from], text), st
		}
		st.from = before.from
	}
	return signed(p.text[:st.from], text), st
}

// extended returns a value with the number words and units that follow it, and how many bytes of after they are.
func extended(value, after string) (text string, used int) {
	text = value
	line, _, _ := strings.Cut(after, "\n")
	if t := strings.TrimLeft(line, " $"); strings.HasPrefix(t, "%") || strings.HasPrefix(t, `\%`) {
		return value + `\%`, len(line) - len(t) + 1
	}
	if value == "" || !formula.Digit(value[len(value)-1]) && value[len(value)-1] != '}' && value[len(value)-1] != ')' {
		return value, 0
	}
	end := 0
	if formula.Digit(value[len(value)-1]) {
		if end = formula.AndPart(line); end > 0 { // 6 and a half
			value += line[:end]
			text, used = value, end
		}
	}
	var words []string
	for len(words) < 4 {
		i := end
		for i < len(line) && (line[i] == ' ' || line[i] == '$' && end == 0) {
			i++
		}
		k := i
		for k < len(line) && (formula.Letter(line[k]) || line[k] == '/' && k > i) {
			k++
		}
		if k == i || i == 0 && end == 0 && line[0] != ' ' && line[0] != '$' {
			break
		}
		words = append(words, line[i:k])
		end = k
		n := len(words)
		_, counted := formula.Worth(formula.Number(2), words[max(0, n-1):])
		_, measured := formula.MeasureOf(strings.Join(words, " "))
		measured = measured || n == 1 && formula.Radians(words[0])
		if n > 1 && !measured && len(words[n-1]) > 1 {
			_, measured = formula.MeasureOf(strings.Join(words[1:], " "))
		}
		if counted == 1 && n == 1 || measured && words[0] != "in" && words[0] != "per" && (len(words[0]) > 1 || n > 1) {
			text, used = value+" \\text{ "+strings.Join(words, " ")+"}", end
		}
		if k < len(line) && line[k] != ' ' {
			break
		}
	}
	return text, used
}

// compounded reports whether a text is one quantity of two units.
func compounded(s string) bool {
	nodes, err := decide.Read(s, &formula.Budget{Left: formula.MaxSteps})
	return err == nil && nodes[0].Kind == formula.KindQuantity
}

// aside reports whether the formula j stands in a clause that only gives the reason or the circumstances of one before it
// in its sentence: "the value is 5, since x^2 = 25".
func (p passage) aside(j int) bool {
	st := p.statements[j]
	if relates(st.text) {
		return false
	}
	if j > 0 && (p.bracketed(j) || p.counts(j)) {
		return true
	}
	value := j - 1
	for value > 0 && !valued(p.statements[value].text) { // 5 when y is 3
		value--
	}
	if j > 0 && valued(p.statements[value].text) && !opened(p.text[:st.from]) && circumstance(p.text[p.statements[value].to:st.from]) {
		return true
	}
	for k := j - 1; k >= 0; k-- {
		gap := p.text[p.statements[k].to:p.statements[k+1].from]
		if sentenceBreak(gap) || strings.ContainsRune(gap, '\n') {
			return false
		}
		words := strings.Fields(formula.Lowered(gap))
		for i := len(words) - 1; i >= 0; i-- {
			switch strings.Trim(words[i], ",;:()") {
			case "so", "then", "thus", "hence", "therefore", "we", "giving", "gives", "get", "is", "are", "equals", "which", "follows", "implies", "and", "that":
				return false
			case "after":
				if strings.Contains(p.text[p.statements[k+1].to:max(st.from, p.statements[k+1].to)], ",") {
					return false
				}
				fallthrough
			case "since", "because", "where", "given", "though", "although":
				// The clause that opens the sentence, or ends in a comma, comes before what follows from it.
				return !strings.Contains(strings.Join(words[i:], " "), ",") && valued(p.statements[k].text) && !opened(p.text[:st.from]) && !dangles(p.statements[k].answer())
			}
		}
	}
	return false
}

// bracketed reports whether formula j stands in brackets of prose after a value of its sentence: "5 (namely 1, 2, 3)".
func (p passage) bracketed(j int) bool {
	depth := 0
	for k := j - 1; k >= 0; k-- {
		gap := p.text[p.statements[k].to:p.statements[k+1].from]
		if sentenceBreak(gap) {
			return false
		}
		for i := len(gap) - 1; i >= 0; i-- {
			switch gap[i] {
			case ')':
				depth++
			case '(':
				depth--
			}
		}
		if depth < 0 && valued(p.statements[k].text) {
			return true
		}
	}
	return false
}

// circumstance reports whether the words between two formulas make the second the place or the case of the first: "the
// minimum is -4 at x = 2", "5, when n = 3".
func circumstance(gap string) bool {
	words := strings.Fields(strings.ToLower(strings.Trim(gap, " $,")))
	if len(words) == 0 || strings.Contains(gap, "\n\n") {
		return false
	}
	if words[0] == "when" && !strings.ContainsAny(gap, ",;:.") { // 5 when y is 3
		return true
	}
	for _, w := range words[:len(words)-1] {
		switch strings.Trim(w, ",") {
		case "which", "and", "is", "it", "occurs", "attained", "achieved", "reached", "only", "this", "happens", "obtained", "equality", "exactly":
		default:
			return false
		}
	}
	switch words[len(words)-1] {
	case "at", "when", "for", "where", "if":
		return true
	}
	return false
}

// counts reports whether formula j only tells what is counted by one before it in its clause, of which the text says how
// many there are: "there are 12 ways to arrange 4 books", "there are 12 primes between 1 and 40".
func (p passage) counts(j int) bool {
	for k := j - 1; k >= 0; k-- {
		gap := formula.Lowered(p.text[p.statements[k].to:p.statements[k+1].from])
		words := strings.Fields(gap)
		if strings.ContainsAny(gap, ",;:.?!=\n$") || len(words) == 0 || formula.Sense(words[0]) == "operation" {
			return false
		}
		for i, w := range words {
			if participle := strings.HasSuffix(w, "ing") && (i == 0 || !prepositions[words[i-1]]); participle || formula.Sense(w) == "verb" || formula.Sense(w) == "reason" || w == "which" || w == "whom" || (w == "and" || w == "or") && (i > 0 || len(words) > 1 || k == 0 || lastWord(p.text[:p.statements[k].from]) != "between") {
				return false
			}
		}
		if before := p.text[:p.statements[k].from]; valued(p.statements[k].text) && (existential(before) || needed(before) && purposed(words)) {
			return true
		}
	}
	return false
}

// prepositions make a noun of the participle that follows them: 12 ways of arranging 4 books.
var prepositions = map[string]bool{"of": true, "for": true, "by": true, "in": true, "from": true, "without": true}

// beforeFillers takes the fillers off the end of a text, and returns the last word of what is left.
func beforeFillers(text string) (left, last string) {
	w := lastWord(text)
	for fillers[w] && w != "" {
		text = strings.TrimRight(text, " \n\t")
		text = text[:len(text)-len(w)]
		w = lastWord(text)
	}
	return text, w
}

// existential reports whether a text ends in "there are" or the like.
func existential(before string) bool {
	before, w := beforeFillers(before)
	switch w {
	case "are", "is", "exist", "exists", "were", "was":
		before = strings.TrimRight(before, " \n\t")
		return lastWord(before[:len(before)-len(w)]) == "there"
	}
	return false
}

// needed reports whether what follows a text is needed, or stands at its start: "you need 12 boxes to hold 48 eggs".
func needed(before string) bool {
	before, w := beforeFillers(before)
	switch w {
	case "need", "needs", "require", "requires", "take", "takes":
		return true
	}
	return strings.Trim(before, " \n\t$*") == ""
}

// purposed reports whether the words behind a value name what it counts, and then the purpose: boxes to hold.
func purposed(words []string) bool {
	for i, w := range words {
		if w == "to" || w == "for" {
			return i > 0 && i < 4
		}
	}
	return false
}

// opened reports whether the sentence that a text ends in started with a clause.
func opened(before string) bool {
	word := strings.ToLower(strings.TrimLeft(before[sentenceStart(before):], " \n*#"))
	for _, w := range []string{"since", "because", "as", "where", "given", "when", "for", "if", "at"} {
		if strings.HasPrefix(word, w+" ") {
			return true
		}
	}
	return false
}

// sentenceStart returns where the last sentence of a text starts; what ends the text begins none.
func sentenceStart(text string) int {
	for i := len(text) - 1; i >= 0; i-- {
		last, ends := i+1 == len(text), false
		switch text[i] {
		case '.', '!', '?':
			ends = last || text[i+1] == ' ' || text[i+1] == '\n'
		case '\n':
			ends = !last && text[i+1] == '\n'
		}
		if ends {
			if start := min(i+2, len(text)-1); start > 1 {
				return start
			}
			return 0
		}
	}
	return 0
}

// sentenceBreak reports whether a sentence ends within the words between two formulas.
func sentenceBreak(gap string) bool {
	if strings.Contains(gap, "\n\n") {
		return true
	}
	for i := 0; i < len(gap); i++ {
		if (gap[i] == '.' || gap[i] == '!' || gap[i] == '?') && (i+1 == len(gap) || gap[i+1] == ' ' || gap[i+1] == '\n') {
			return true
		}
	}
	return false
}

// listed returns the list that formula j ends, and where it starts: "x = 1 and x = 2", "1, 2, or 3".
func (p passage) listed(j int) (list string, from int) {
	first := j
	var parts []string
	var gaps []string
	for k := j; k > 0 && j-k < formula.MaxBoxes; k-- {
		gap := p.text[p.statements[k-1].to:p.statements[k].from]
		between := strings.Trim(gap, " \n\t,;")
		if between == "to" && k == j && strings.Contains(strings.ToLower(p.text[max(0, p.statements[k-1].from-120):p.statements[k-1].from]), "ratio") {
			return p.statements[k-1].answer() + " to " + p.statements[k].answer(), p.statements[k-1].from
		}
		if between == "to" && k == j {
			switch lastWord(p.text[:p.statements[k-1].from]) {
			case "from", "between", "range":
				return p.statements[k-1].answer() + `, \ldots , ` + p.statements[k].answer(), p.statements[k-1].from // a range
			}
		}
		if before := p.text[:p.statements[k-1].from]; between == "and" && k == j && lastWord(before) == "between" {
			list = "between " + p.statements[k-1].answer() + " and " + p.statements[k].answer()
			if strings.HasPrefix(strings.TrimLeft(p.text[p.statements[k].to:], " $,"), "inclusive") {
				list += " inclusive"
			}
			return list, p.statements[k-1].from
		}
		if between == "" && !strings.ContainsAny(gap, ",;") || between != "" && between != "and" && between != "or" && between != "&" || strings.Contains(gap, "\n\n") {
			break
		}
		if concludes(p.statements[k].text) || between == "" && introduced(p.text[:p.statements[k-1].from]) {
			break
		}
		if p.statements[k].kind != p.statements[k-1].kind && (p.statements[k].kind == segment.Display || p.statements[k-1].kind == segment.Display) {
			break
		}
		parts = append(parts, p.statements[k].answer())
		gaps = append(gaps, between)
		first = k - 1
	}
	if first == j {
		return "", 0
	}
	var b strings.Builder
	b.WriteString(p.statements[first].answer())
	for k := len(parts) - 1; k >= 0; k-- {
		switch gaps[k] {
		case "and", "or":
			b.WriteString(` \text{ ` + gaps[k] + ` } `)
		default:
			b.WriteString(", ")
		}
		b.WriteString(parts[k])
	}
	nodes, err := decide.Read(b.String(), &formula.Budget{Left: formula.MaxSteps})
	if err != nil || nodes[0].Kind != formula.KindList || !alike(nodes[0].Args) {
		return "", 0
	}
	return b.String(), p.statements[first].from
}

// alike reports whether elements can be one list: all relations or none, values of names or equations alike. "3n=12 or n=4"
// is no list: the equation is solved in its last element.
func alike(args []*formula.Node) bool {
	end := args[len(args)-1]
	for _, a := range args[:len(args)-1] {
		if (a.Kind == formula.KindRelation) != (end.Kind == formula.KindRelation) || (a.Kind == formula.KindTuple) != (end.Kind == formula.KindTuple) {
			return false
		}
		if a.Kind == formula.KindRelation && end.Ops[0] == "=" && formula.Assignable(end.Args[0]) && !formula.Assignable(a.Args[0]) {
			return false
		}
		if a.Scalar() && end.Scalar() && len(formula.Variables(a)) > 0 && len(formula.Variables(end)) == 0 && !a.Has(func(n *formula.Node) bool { return n.Kind == formula.KindNumber }) {
			return false // the area of EDCF, or 5
		}
	}
	return true
}

// concludes reports whether a formula starts with the sign for "therefore" or "because".
func concludes(s string) bool {
	s = strings.TrimLeft(s, " \n{")
	return strings.HasPrefix(s, `\therefore`) || strings.HasPrefix(s, `\because`) || relates(s)
}

// introduced reports whether the word before a formula makes it a condition or a reason of what follows.
func introduced(before string) bool {
	switch lastWord(before) {
	case "when", "if", "since", "because", "for", "given", "as", "let", "with", "where", "from", "substituting", "suppose", "assume", "while", "by", "using", "at":
		return true
	}
	return false
}

// lastWord returns the word that a text ends with, in lower case; empty if something else ends it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " \n\t")
	i := len(s)
	for i > 0 && (formula.Letter(s[i-1]) || s[i-1] == '\'') {
		i--
	}
	return strings.ToLower(s[i:])
}

// fillers are words between "is" and a value that say nothing of their own.
var fillers = map[string]bool{"about": true, "approximately": true, "equal": true, "to": true, "only": true, "exactly": true, "just": true, "the": true, "then": true, "now": true, "also": true, "thus": true, "therefore": true, "simply": true, "hence": true, "clearly": true, "roughly": true, "around": true, "precisely": true, "quite": true, "near": true, "indeed": true, "given": true, "by": true}

// named reports whether the words before a formula say what it is the value of: "the area is", "the total equals".
func named(before string) bool {
	s := strings.TrimRight(before, " \n\t*")
	if strings.HasSuffix(s, ":") {
		s = strings.TrimRight(s[:len(s)-1], " *")
		return strings.HasSuffix(lastWord(s), "is") || strings.HasSuffix(lastWord(s), "answer")
	}
	for range 4 {
		switch w := lastWord(s); {
		case w == "is" || w == "are" || w == "equals" || w == "be" || w == "was" || w == "becomes" || w == "meant" || w == "it's" || w == "that's":
			return true
		case fillers[w]:
			s = strings.TrimRight(s, " \n\t")
			s = strings.TrimRight(s[:len(s)-len(w)], " \n\t")
		default:
			return false
		}
	}
	return false
}

// evaluates reports whether the last element of a list of relations is no value of a new name but what the values before
// it come to, or the next of a sequence: "A=4, B=2 and (A+B)/2=3", "a_1=1, a_2=3".
func (p passage) evaluates(list string) bool {
	nodes, err := decide.Read(list, &formula.Budget{Left: formula.MaxSteps})
	if err != nil || nodes[0].Kind != formula.KindList {
		return false
	}
	args := nodes[0].Args
	end := args[len(args)-1]
	if end.Kind != formula.KindRelation || end.Ops[0] != "=" {
		return false
	}
	for _, a := range args {
		if a.Kind != formula.KindRelation || a.Ops[0] != "=" {
			return false
		}
	}
	return end.Args[0].Kind != formula.KindSymbol || strings.Contains(end.Args[0].Name, "_")
}

// approximates reports whether the words before a formula call it an approximation.
func approximates(before string) bool {
	switch lastWord(before) {
	case "about", "approximately", "roughly", "around", "nearly":
		return true
	}
	return false
}

// context is the running text that an answer was taken from.
type context struct {
	before string // what stands before it
	named  bool   // the words before it say what it is the value of
}

func (p passage) context(at statement) *context {
	return &context{before: p.text[:at.from], named: named(p.text[:at.from]) || strings.HasPrefix(strings.TrimLeft(at.text, " \n&"), "=")}
}

// value returns what a formula comes to that ends running text: the right side of E = c, the last one of a chain. An
// equation in unknowns gives no value unless the text says what it is the value of, the question asks for E, or the
// unknowns were found before; nil if it gives none.
func (in *context) value(n *formula.Node, answer, question string, steps *formula.Budget) *formula.Node {
	if n.Kind == formula.KindList && in.sequence(n) {
		n = n.Args[len(n.Args)-1]
		return n.Args[len(n.Args)-1]
	}
	if n.Kind == formula.KindDefine {
		return n.Args[0]
	}
	if n.Kind != formula.KindRelation || contradicts(n, steps) {
		return nil
	}
	for _, op := range n.Ops {
		if op != "=" && op != "~" {
			return nil
		}
	}
	left, right := n.Args[0], n.Args[len(n.Args)-1]
	names := formula.Variables(left)
	curve := true
	for _, v := range names {
		curve = curve && (v == "x" || v == "y" || v == "z")
	}
	switch {
	case len(names) == 0, in.named, len(n.Ops) > 1, len(names) > 1 && !curve:
		return right
	}
	known := true
	for _, v := range names {
		known = known && in.found(v)
	}
	if known {
		return right
	}
	if asked, _, _ := strings.Cut(answer, "="); question != "" {
		if p := formula.Plain(asked); len(p) > 1 && strings.Contains(formula.Plain(question), p) {
			return right
		}
	}
	return nil
}

// chained returns the last member of a chain whose others cannot be read; empty if there is none.
func chained(s string) string {
	depth := 0
	for i := len(s) - 1; i > 0; i-- {
		switch s[i] {
		case '}', ')', ']':
			depth++
		case '{', '(', '[':
			depth--
		case '=':
			if depth == 0 && strings.IndexByte("<>!:", s[i-1]) < 0 {
				return formula.Trim(s[i+1:])
			}
		}
	}
	return ""
}

// sequence reports whether a list gives the terms of one sequence: f(1)=2, f(2)=3.
func (in *context) sequence(n *formula.Node) bool {
	for i, a := range n.Args {
		if a.Kind == formula.KindEllipsis && i+1 < len(n.Args) {
			continue
		}
		if a.Kind == formula.KindDefine || a.Kind == formula.KindRelation && a.Ops[0] == "=" && (a.Args[0].Kind == formula.KindCall || a.Args[0].Kind == formula.KindSymbol && strings.Contains(a.Args[0].Name, "_") || a.Args[0].Kind == formula.KindMultiply) {
			continue
		}
		return false
	}
	return true
}

// found reports whether the text gave a name its value before.
func (in *context) found(name string) bool {
	if len(name) > 1 {
		if !formula.IsGreek(name) {
			return false
		}
		name = `\` + name
	}
	for s := in.before; ; {
		i := strings.Index(s, name)
		if i < 0 {
			return false
		}
		rest := strings.TrimLeft(s[i+len(name):], " ")
		alone := i == 0 || !formula.Letter(s[i-1]) && s[i-1] != '\\' && s[i-1] != '_'
		if value, assigned := strings.CutPrefix(rest, "="); alone && assigned {
			if value = strings.TrimLeft(value, " -("); value != "" && (formula.Digit(value[0]) || value[0] == '\\') {
				return true
			}
		}
		s = s[i+len(name):]
	}
}

// contradicts reports whether two members of a chain are different rational numbers.
func contradicts(n *formula.Node, steps *formula.Budget) bool {
	var before *big.Rat
	for _, a := range n.Args {
		v, err := (evaluate.Exact{Steps: steps}).Value(a)
		switch {
		case err != nil:
			continue
		case before != nil && v.Cmp(before) != 0:
			return true
		}
		before = v
	}
	return false
}
