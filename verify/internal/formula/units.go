// Units behind numbers, parsed.

package formula

import (
	"math/big"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
)

func quantity(n *Node, name string) *Node {
	return &Node{Kind: KindQuantity, Name: name, Args: []*Node{n}}
}

// units attaches the words after a number as its unit or noun; nil if what follows is not that.
func (p *parser) units(value *Node) *Node {
	t := p.peek()
	if t.kind != tokenText && !p.greekUnit(t) && !(p.noun(t) && len(Variables(value)) == 0) && !p.fractionOfUnits() {
		return nil
	}
	if t.kind == tokenWord && len(t.text) == 2 && value.Has(func(n *Node) bool { return n.Kind == KindConstant || n.Kind == KindCall }) && !metric[t.text] {
		return nil // 2 pi hr
	}
	words, at := p.unitFraction()
	for ; at < len(p.tokens); at++ {
		t := p.tokens[at]
		switch {
		case p.greekUnit(t):
			name := unitGreek[t.text]
			if n := len(words); n > 0 && prefixes[words[n-1]] != nil && name == "Ω" { // k\Omega
				words[n-1] += name
				continue
			}
			if next := at + 1; name == "μ" { // \mu\text{m}
				if next == len(p.tokens) || !wordy(p.tokens[next]) || !prefixed[p.tokens[next].text] {
					panic(failing.With(ErrSyntax))
				}
				at, name = next, name+p.tokens[next].text
			}
			words = append(words, name)
		case t.kind == tokenText || t.kind == tokenWord:
			w := strings.ToLower(t.text)
			if w == "and" || w == "or" || w == "inclusive" || w == "exclusive" || Sense(w) == "verb" || at+1 < len(p.tokens) && sides(t, p.tokens[at+1]) {
				goto done
			}
			words = append(words, t.text)
		case t.mark('.') || t.mark('-') && len(words) > 0:
		case t.command("cdot") && len(words) > 0 && at+1 < len(p.tokens) && p.tokens[at+1].kind == tokenText:
		case t.mark('/') && len(words) > 0:
			words = append(words, "/")
		case t.mark('^') && len(words) > 0 && at+1 < len(p.tokens):
			exponent := ""
			for at++; at < len(p.tokens); at++ {
				e := p.tokens[at]
				if e.kind == tokenNumber || e.mark('-') {
					exponent += e.text
				} else if !e.mark('{') {
					if !e.mark('}') {
						at--
					}
					break
				}
				if e.kind == tokenNumber && !(at+1 < len(p.tokens) && p.tokens[at+1].mark('}')) {
					break
				}
			}
			words = append(words, "^"+exponent)
		default:
			goto done
		}
	}
done:
	if len(words) == 0 {
		return nil
	}
	if at < len(p.tokens) && !p.closing(p.tokens[at]) {
		t := p.tokens[at]
		switch {
		case t.mark(',') || t.mark(';') || t.mark('=') || wordy(t) || t.kind == tokenCommand && relations[t.text] != "":
		case t.mark('+') || t.mark('-') || t.mark('*') || t.mark('/') || t.kind == tokenNumber || t.command("times") || t.command("cdot") || t.command("div"):
			if words[len(words)-1] == "/" {
				words = words[:len(words)-1]
				at--
			}
		default:
			return nil
		}
	}
	first := p.peek()
	value, used := Worth(value, words)
	if k := short[words[0]]; k != 0 && used == 0 && p.short && value.Kind == KindNumber && first.kind == tokenWord && !first.space {
		value, used = Apply(KindMultiply, value, Number(k)), 1
	}
	if p.at = at; used == len(words) {
		return value
	}
	if q := Qualifies(words[used:]); q != "" && !value.Has(wordlike) {
		p.flaw = q
		panic(failing.With(q))
	}
	if Literal(value) != nil && !counts(value, words[used:]) {
		panic(failing.With(ErrSyntax)) // 101 base 2
	}
	name := strings.Join(words[used:], " ")
	if angular(words[used]) {
		switch rest := words[used+1:]; {
		case len(rest) == 0:
			name = "degree"
		case len(rest) == 1 && temperature(rest[0]) != "": // degrees Celsius
			name = temperature(rest[0])
		}
	}
	return quantity(value, name)
}

// angular reports whether a word is a unit of angles.
func angular(word string) bool {
	lower, _ := measuresByName()
	return lower[strings.ToLower(word)].Dimension == "angle"
}

// temperature returns the unit that a word behind degrees makes of them; empty if they stay an angle.
func temperature(word string) string {
	switch lower := strings.ToLower(word); {
	case word == "C", lower == "celsius":
		return "celsius"
	case word == "F", lower == "fahrenheit":
		return "fahrenheit"
	}
	return ""
}

// wordlike reports whether n is a word of a sentence that was read as a name.
func wordlike(n *Node) bool {
	return n.Kind == KindSymbol && len(n.Name) > 1 && !greek[n.Name] && !strings.ContainsAny(n.Name, "_' ")
}

// fractionOfUnits reports whether \frac{\text{miles}}{\text{hour}} is at hand.
func (p *parser) fractionOfUnits() bool {
	return isFraction(p.peek()) && p.ahead(1).mark('{') && p.ahead(2).kind == tokenText && p.ahead(3).mark('}') &&
		p.ahead(4).mark('{') && p.ahead(5).kind == tokenText
}

// unitFraction reads the fraction of units at hand, if there is one, and returns where it ends.
func (p *parser) unitFraction() (words []string, at int) {
	if !p.fractionOfUnits() {
		return nil, p.at
	}
	words, at = []string{p.ahead(2).text, "/", p.ahead(5).text}, p.at+6
	exponent := ""
	for ; at < len(p.tokens) && !p.tokens[at].mark('}'); at++ {
		exponent += p.tokens[at].text
	}
	if strings.HasPrefix(exponent, "^") {
		words = append(words, "^"+strings.Trim(exponent, "^{}"))
		if at+1 < len(p.tokens) && p.tokens[at+1].mark('}') {
			at++
		}
	}
	return words, min(at+1, len(p.tokens))
}

// noun reports whether a run of letters outside \text is a unit or noun after a number, and no product of variables: a
// known unit, or a word of at least four letters, five if no space sets it off.
func (p *parser) noun(t token) bool {
	if p.greekUnit(t) {
		return true
	}
	if t.kind != tokenWord || vocabulary(t.text) && !p.applyless() {
		return false
	}
	inAnyCase, asWritten := measuresByName()
	lower := strings.ToLower(t.text)
	_, known := inAnyCase[lower]
	_, exactly := asWritten[t.text]
	switch {
	case len(t.text) == 1:
		return p.letters && (unitLetters[t.text] || p.short && !t.space && short[t.text] != 0 || prefixes[t.text] != nil && p.ahead(1).command("Omega"))
	case known && !(len(t.text) == 2 && shortProducts[lower]) || exactly || shortNouns[lower]:
		return true
	}
	return len(t.text) > 4 || len(t.text) == 4 && t.space
}

// applyless reports whether the word at hand is a function without anything that it could be applied to, as in 5 min and
// 5 min 30 sec, where it can be a unit.
func (p *parser) applyless() bool {
	next := p.ahead(1)
	switch {
	case functions[p.peek().text] == "" || next.mark('^') || next.mark('_'):
		return false
	case next.kind == tokenNumber:
		lower, _ := measuresByName()
		return p.ahead(2).kind == tokenWord && lower[p.ahead(2).text].Dimension != ""
	}
	return !p.startsFactor(next)
}

// shortProducts are units of two letters that are more often a product of variables.
var shortProducts = map[string]bool{"cl": true, "nm": true, "ms": true, "ha": true, "rs": true, "um": true, "cc": true, "dm": true}

// currencies are the units that the commands of currency signs stand for.
var currencies = map[string]string{"dollar": "dollar", "euro": "euro", "pounds": "sterling", "yen": "yen", "rupee": "rupee", "cent": "cent"}

// metric units are no products of variables, whatever stands before them.
var metric = map[string]bool{"cm": true, "mm": true, "km": true, "kg": true, "mg": true, "ml": true, "mL": true}

var shortNouns = map[string]bool{"cup": true, "cups": true, "dog": true, "cat": true, "men": true, "cow": true, "egg": true, "pen": true, "car": true, "bag": true, "box": true, "way": true, "th": true, "st": true, "nd": true, "rd": true, "wpm": true, "mb": true, "gb": true, "kb": true, "pts": true, "gal": true, "qt": true, "sq": true, "cu": true, "rad": true}

// unitLetters are the units of one letter that a number may carry without \text.
var unitLetters = map[string]bool{"g": true, "m": true, "s": true, "h": true, "L": true, "N": true, "J": true, "W": true, "V": true, "A": true}

// unitGreek are the Greek letters of units, which are variables elsewhere.
var unitGreek = map[string]string{"Omega": "Ω", "mu": "μ"}

// greekUnit reports whether t is a Greek letter that a number may carry as its unit.
func (p *parser) greekUnit(t token) bool {
	if !p.letters || t.kind != tokenCommand || unitGreek[t.text] == "" {
		return false
	}
	next := p.ahead(1)
	return p.peek().text != "mu" || next.kind == tokenText || p.micro && next.text != "g" // \mu g is a product
}

// short are the letters of powers of ten that stand behind a number without a gap: $1.5k, 2M. They are variables as well.
var short = map[string]int64{"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9}

// compound parses what follows in 3 hours 45 minutes or 5 ft 4 in.
func (p *parser) compound(first *Node) *Node {
	t := p.peek()
	p.at++
	second := p.units(p.numeral(t))
	if second == nil {
		panic(failing.With(ErrSyntax))
	}
	a, okA := MeasureOf(first.Name)
	if second.Name == "m" && a.Dimension == "time" { // 2h 30m
		second.Name = "min"
	}
	b, okB := MeasureOf(second.Name)
	if !okA || !okB || a.Dimension != b.Dimension || a.Scale.Cmp(b.Scale) <= 0 {
		panic(failing.With(ErrSyntax))
	}
	factor := new(big.Rat).Quo(a.Scale, b.Scale)
	return quantity(Apply(KindAdd, Apply(KindMultiply, first.Args[0], Rational(factor)), second.Args[0]), second.Name)
}

// unitAfterSlash reads 5/year after a value; nil if a formula follows.
func (p *parser) unitAfterSlash(value *Node) *Node {
	t := p.peek()
	if t.kind != tokenText && !p.noun(t) || value.Kind == KindQuantity {
		return nil
	}
	return p.units(value)
}

// time reads a time of day that starts with the number token t, already consumed: 1:03 PM, 2 p.m.; nil if it is none.
func (p *parser) time(t token) *Node {
	save := p.at
	parts := [3]string{t.text, "0", "0"}
	for i := 1; i < 3 && p.peek().mark(':') && p.ahead(1).kind == tokenNumber && len(p.ahead(1).text) == 2; i++ {
		parts[i] = p.ahead(1).text
		p.at += 2
	}
	half := p.meridiem()
	h, okH := Integer(parts[0])
	m, okM := Integer(parts[1])
	s, okS := Integer(parts[2])
	if half == "" || !okH || !okM || !okS || h < 1 || h > 12 || m > 59 || s > 59 {
		p.at = save
		return nil
	}
	h %= 12
	if half == "pm" {
		h += 12
	}
	return &Node{Kind: KindTime, Rat: big.NewRat(3600*h+60*m+s, 60), Name: half}
}

// meridiem consumes am, pm, a.m., p.m.
func (p *parser) meridiem() string {
	t := p.peek()
	if !wordy(t) {
		return ""
	}
	switch w := strings.ToLower(t.text); w {
	case "am", "pm":
		p.at++
		return w
	case "a", "p":
		if p.ahead(1).mark('.') && wordy(p.ahead(2)) && strings.EqualFold(p.ahead(2).text, "m") {
			p.at += 3
			p.accept('.')
			return w + "m"
		}
	}
	return ""
}

// Radians reports whether a word is the unit of angles that is none.
func Radians(word string) bool {
	w := strings.ToLower(word)
	return w == "rad" || w == "radian" || w == "radians"
}

// Split separates a value from its unit. Radians are none.
func Split(n *Node) (*Node, string) {
	if n.Kind == KindQuantity {
		if Radians(n.Name) {
			return n.Args[0], ""
		}
		return n.Args[0], n.Name
	}
	return n, ""
}
