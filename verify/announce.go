// Words that announce a final answer.

package verify

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/decide"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
	"github.com/entrorouter/entrorouter/verify/internal/segment"
)

// phrases are words that announce something, by their first byte. ASCII letters match in either case.
type phrases struct {
	words [256][]string
	pairs [256][4]uint64 // the second bytes after a first byte, as a set; without the bit that tells cases apart
}

func newPhrases(words ...string) *phrases {
	var p phrases
	// The longest phrase that starts at a place counts.
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, w := range words {
		add := func(first byte) {
			p.words[first] = append(p.words[first], w)
			second := w[1] | 0x20
			p.pairs[first][second>>6] |= 1 << (second & 63)
		}
		if add(w[0]); formula.Letter(w[0]) {
			add(w[0] &^ 0x20)
		}
	}
	return &p
}

// last returns where the last phrase in s starts and ends; at is -1 if there is none.
func (p *phrases) last(s string) (at, after int) {
	for i := len(s) - 2; i >= 0; i-- {
		// Most places are ruled out by two bytes.
		if second := s[i+1] | 0x20; p.pairs[s[i]][second>>6]>>(second&63)&1 == 0 {
			continue
		}
		for _, w := range p.words[s[i]] {
			if len(s)-i >= len(w) && formula.EqualFold(s[i:i+len(w)], w) {
				return i, i + len(w)
			}
		}
	}
	return -1, 0
}

// announcements are the words after which the final answer stands. The last one in the text counts.
var announcements = newPhrases(
	"answer is", "answers are", "answer:", "answers:", "answer**:", "answer\":", "answer =", "answer -", "answer –", "answer —", "answer to the question is", "answer to this question is", "answer to the problem is", "<answer>", "####",
	"answer would be", "answer must be", "answer should be", "answer will be", "answer comes out to be", "answer\n", "answer**\n", "correct option is", "correct choice is",
	"答案是", "答案为", "答案應為", "答案应为", "答案選", "答案选", "答え", "答えは", "答えは、", "值是", "值为", "结果是", "结果为", "正解は", "答案:", "答案：", "答：", "正解：", "결과는", "정답:", "정답은", "답은", "답:",
	"réponse est", "réponse finale est", "réponse correcte est", "réponse :", "réponse:", "solution est",
	"respuesta es", "respuesta final es", "respuesta correcta es", "respuesta:", "resposta é", "resposta final é", "resposta correta é", "resposta:", "risposta è", "risposta finale è", "risposta corretta è", "risposta:",
	"antwort ist", "antwort lautet", "antwort:", "lösung ist", "lösung lautet", "lösung:", "antwoord is", "antwoord:",
	"ответ:", "Ответ:", "ответ —", "Ответ —", "ответ -", "ответом является", "відповідь:", "Відповідь:", "odpowiedź:", "odpowiedź to", "odpověď:", "cevap:", "cevabı:", "yanıt:", "svar:", "svaret är", "vastaus:",
	"đáp án:", "Đáp án:", "đáp án là", "Đáp án là", "đáp số:", "Đáp số:", "jawaban:", "jawabannya adalah", "الجواب هو", "الإجابة هي", "الجواب:", "الإجابة:", "پاسخ:", "उत्तर:", "उत्तर है", "উত্তর:", "คำตอบคือ", "คำตอบ:",
)

// announcement returns where the last announcement in s starts and ends; at is -1 if there is none. The word "answer" at
// the end of a line announces if the line is a heading.
func announcement(s string) (at, after int) {
	for end := len(s); ; end = at {
		if at, after = announcements.last(s[:end]); at < 0 {
			return at, after
		}
		if supposed(s[:at]) {
			continue
		}
		if s[after-1] != '\n' {
			return at, after
		}
		line := s[strings.LastIndexByte(s[:at], '\n')+1 : at]
		if strings.HasPrefix(line, "#") || len(strings.Trim(line, "#* ")) <= len("The final") {
			return at, after
		}
	}
}

// firstLine returns what stands before the first line break that is in no formula.
func firstLine(s string) string {
	k := strings.IndexByte(s, '\n')
	if k < 0 {
		return s
	}
	for part := range segment.Split(s[:min(len(s), formula.MaxAnswer)], formula.Symbolic) {
		if part.Kind == segment.Inline || part.Kind == segment.Display {
			continue
		}
		if k := strings.IndexByte(s[part.From:part.To], '\n'); k >= 0 {
			return s[:part.From+k]
		}
	}
	return s
}

// decimal reports whether a text ends in a number with a decimal point.
func decimal(s string) bool {
	t := strings.TrimRight(s, "0123456789")
	return t != s && strings.HasSuffix(t, ".") && len(t) > 1 && formula.Digit(t[len(t)-2])
}

// supposed reports whether the clause that a text ends in only supposes something: "if the answer is 5".
func supposed(before string) bool {
	before = before[strings.LastIndexAny(before, ".,;:?!\n")+1:]
	word, rest, _ := strings.Cut(strings.TrimLeft(before, " *"), " ")
	return rest != "" && formula.Opening(strings.ToLower(word)) == "supposition"
}

// declared returns the answer that the response announces in words, and the text that it starts. An announcement without
// a value, as in "the answer is given above", gives way to the one before it.
func declared(s string) (text, rest string) {
	s = s[max(0, len(s)-formula.MaxAnswer):]
	end := len(s)
	for range 4 {
		at, after := announcement(s[:end])
		if at < 0 {
			break
		}
		if text := announced(s, after); text != "" {
			return text, s[after:]
		}
		end = at
	}
	return "", ""
}

// announced returns the answer that follows an announcement, or nothing if what follows are words without a value.
func announced(s string, end int) string {
	if strings.HasSuffix(s[:end], `":`) {
		if v := formula.JsonString(s[end:]); v != "" {
			return v
		}
	}
	rest := strings.TrimLeft(s[end:], " \t*_:：\r")
	if k := strings.Index(rest, "</answer>"); k >= 0 {
		rest = strings.TrimSpace(rest[:k])
	}
	if strings.HasPrefix(rest, "not ") || strings.HasPrefix(rest, "n't ") || strings.HasPrefix(rest, "n’t ") {
		return "" // what it is stands further on
	}
	if strings.HasPrefix(rest, "\n") {
		if list := bulleted(rest); list != "" {
			return list
		}
		rest = strings.TrimLeft(rest, " \t\n\r*_:")
		rest = rest[formula.Prefixed(rest, bullets):]
	}
	if p := parted(rest); len(p.statements) > 0 && p.statements[0].kind == segment.Display && strings.TrimSpace(p.text[:p.statements[0].from]) == "" {
		text, _ := p.from(0)
		return text
	}
	whole := firstLine(rest)
	lines := rest[len(whole):]
	for range formula.MaxBoxes { // x = 2, and y = 3 in the next line
		line := firstLine(strings.TrimLeft(lines, " \n"))
		list := whole + ", " + line
		if nodes, err := decide.Read(list, &formula.Budget{Left: formula.MaxSteps}); line == "" || err != nil || !formula.AllAssignments(nodes[0]) || formula.Identical(nodes[0].Args[0].Args[0], nodes[0].Args[1].Args[0]) {
			break
		}
		whole, lines = list, lines[strings.Index(lines, line)+len(line):]
	}
	rest = whole
	rest = uncalculated(strings.TrimRight(rest, "*_ \t\r."))
	if strings.HasPrefix(whole, rest+"..") && decimal(rest) { // 0.333...
		rest += "..."
	}
	only := rest
	if k := sentenceEnd(rest); k > 0 {
		only = rest[:k]
	}
	if k := sentenceEnd(rest); k > 0 && rest[k] == '?' {
		return "" // "The answer is 12? No"
	}
	if formula.Hedges(only) {
		return only
	}
	rest = strings.TrimLeft(rest, "：")
	text := sentence(rest)
	if formula.SentenceOfWords(text) && !strings.ContainsAny(text, "0123456789") && strings.Count(text, " ") > 3 && !formula.Refuses(text) && !valuable(text) {
		return ""
	}
	return text
}
