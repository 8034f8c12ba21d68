// What a response of ZeroEval gives as its answer, and the number in it. Models were asked for JSON with an answer in it; many wrote it badly.

package publisher

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

var (
	innermost = regexp.MustCompile(`\{[^{}]*\}`)
	badly     = regexp.MustCompile(`"?answer"?\s*:\s*(?:"((?:[^"\\]|\\.|\\\n)*)"|(-?[\d.,/]*\d))`)
	boxed     = regexp.MustCompile(`\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}`)
)

// stated is the answer that a response gives: that of the JSON object that it is or has in it, of several the last; where none can be read what
// follows the last "answer"; else what is in the last box. A blank to be filled in is none.
func stated(response string) (answer string, ok bool) {
	answer, ok = anywhere(response)
	return answer, ok && strings.Trim(answer, " _") != ""
}

func anywhere(response string) (answer string, ok bool) {
	if from, to := strings.Index(response, "{"), strings.LastIndex(response, "}"); from >= 0 && from < to {
		if answer, ok = inObject(response[from : to+1]); ok {
			return answer, true
		}
	}
	for _, object := range slices.Backward(innermost.FindAllString(response, -1)) {
		if answer, ok = inObject(object); ok {
			return answer, true
		}
	}
	for _, from := range []*regexp.Regexp{badly, boxed} {
		if all := from.FindAllStringSubmatch(response, -1); all != nil {
			return strings.Join(all[len(all)-1][1:], ""), true
		}
	}
	return "", false
}

// inObject is the answer of a JSON object, in whose texts lines may end.
func inObject(text string) (answer string, ok bool) {
	text = strings.Map(func(r rune) rune { return max(r, ' ') }, text)
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil || keys["answer"] == nil {
		return "", false
	}
	if json.Unmarshal(keys["answer"], &answer) != nil {
		answer = string(keys["answer"])
	}
	return answer, true
}

var (
	currency = regexp.MustCompile(`[$€£]`)
	base     = regexp.MustCompile(`(\d)(?:_\w+|[₀-₉]+)$`)
	fraction = regexp.MustCompile(`\\[dt]?frac\{(\d+)\}\{(\d+)\}`)
	goesOn   = regexp.MustCompile(`,\s*\.\.\.$`)
	phrase   = regexp.MustCompile("^(?:[^\\d,.;:`{}_=+*/]*\\s)?(-?)([$€£]?)(-?\\d+(?:\\.\\d+)?(?:/\\d+)?)(\\$?)((?:\\s*[A-Za-z%°\"]|/[A-Za-z])[^\\d,()`{}_\\\\=+]*|\\.)?$")
)

// numberIn is the number that an answer states; nil: none or several. It is the last member of a chain of equations, the last of a list that goes
// on, the value of arithmetic, or the one number among words without a comma, with a currency sign, a per cent sign or a unit; the base that a
// number is written in is left out.
func numberIn(answer string) *big.Rat {
	text := answer[strings.LastIndex(answer, "=")+1:]
	text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), `"`))
	text = joined(strings.ReplaceAll(text, "−", "-"))
	if at := goesOn.FindStringIndex(text); at != nil {
		text = text[:at[0]]
		text = strings.TrimSpace(text[strings.LastIndex(text, ",")+1:])
	}
	text = base.ReplaceAllString(text, "$1")
	formula := fraction.ReplaceAllString(currency.ReplaceAllString(text, ""), "(${1})/(${2})")
	if n := value(strings.NewReplacer("{", "(", "}", ")").Replace(formula)); n != nil {
		return n
	}
	m := phrase.FindStringSubmatchIndex(text)
	if m == nil {
		return nil
	}
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	unit := part(5)
	switch {
	case strings.HasSuffix(strings.TrimSpace(text[:m[2]]), "-"), // "p - 2"
		unit == "i",
		part(2) != "" && strings.HasPrefix(unit, "/"): // a price for something
		return nil
	}
	n, ok := new(big.Rat).SetString(part(1) + part(3))
	if !ok {
		return nil
	}
	return n
}

// joined is a text without the commas between thousands.
func joined(text string) string {
	digit := func(i int) bool { return i >= 0 && i < len(text) && '0' <= text[i] && text[i] <= '9' }
	var b strings.Builder
	for i := range len(text) {
		if text[i] == ',' && digit(i-1) && digit(i+1) && digit(i+2) && digit(i+3) && !digit(i+4) {
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// near says whether two numbers are the same but for rounding.
func near(a, b *big.Rat) bool {
	scale := new(big.Rat).Abs(b)
	if one := big.NewRat(1, 1); scale.Cmp(one) < 0 {
		scale = one
	}
	off := new(big.Rat).Sub(a, b)
	return off.Abs(off).Cmp(scale.Mul(scale, big.NewRat(1, 1e6))) <= 0
}
