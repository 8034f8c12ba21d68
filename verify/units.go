package verify

import (
	"math/big"
	"strings"
)

func quantity(n *node, name string) *node {
	return &node{kind: kindQuantity, name: name, args: []*node{n}}
}

// units attaches the words after a number as its unit or noun; nil if what follows is not that.
func (p *parser) units(value *node) *node {
	t := p.peek()
	if t.kind != tokenText && !(p.noun(t) && len(variables(value)) == 0) && !p.fractionOfUnits() {
		return nil
	}
	if t.kind == tokenWord && len(t.text) == 2 && value.has(func(n *node) bool { return n.kind == kindConstant || n.kind == kindCall }) && !metric[t.text] {
		return nil // 2 pi hr
	}
	words, at := p.unitFraction()
	for ; at < len(p.tokens); at++ {
		t := p.tokens[at]
		switch {
		case t.kind == tokenText || t.kind == tokenWord:
			w := strings.ToLower(t.text)
			if w == "and" || w == "or" || sense(w) == "verb" {
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
	value, used := worth(value, words)
	if p.at = at; used == len(words) {
		return value
	}
	if q := qualifies(words[used:]); q != "" && !value.has(wordlike) {
		p.flaw = q
		return nil
	}
	return quantity(value, strings.Join(words[used:], " "))
}

// wordlike reports whether n is a word of a sentence that was read as a name.
func wordlike(n *node) bool {
	return n.kind == kindSymbol && len(n.name) > 1 && !greek[n.name] && !strings.ContainsAny(n.name, "_' ")
}

// fractionOfUnits reports whether \frac{\text{miles}}{\text{hour}} is at hand.
func (p *parser) fractionOfUnits() bool {
	t := p.peek()
	return (t.command("frac") || t.command("dfrac") || t.command("tfrac")) && p.ahead(1).mark('{') && p.ahead(2).kind == tokenText && p.ahead(3).mark('}') &&
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
	if t.kind != tokenWord || vocabulary(t.text) {
		return false
	}
	lower := strings.ToLower(t.text)
	_, known := measureNames[lower]
	_, exactly := casedNames[t.text]
	switch {
	case len(t.text) == 1:
		return p.letters && unitLetters[t.text]
	case known && !(len(t.text) == 2 && shortProducts[lower]) || exactly || shortNouns[lower]:
		return true
	}
	return len(t.text) > 4 || len(t.text) == 4 && t.space
}

// shortProducts are units of two letters that are more often a product of variables.
var shortProducts = map[string]bool{"cl": true, "nm": true, "ms": true, "ha": true, "rs": true, "um": true, "cc": true, "dm": true}

// currencies are the units that the commands of currency signs stand for.
var currencies = map[string]string{"dollar": "dollar", "euro": "euro", "pounds": "sterling", "yen": "yen", "rupee": "rupee", "cent": "cent"}

// metric units are no products of variables, whatever stands before them.
var metric = map[string]bool{"cm": true, "mm": true, "km": true, "kg": true, "mg": true, "ml": true, "mL": true}

var shortNouns = map[string]bool{"cup": true, "cups": true, "dog": true, "cat": true, "men": true, "cow": true, "egg": true, "pen": true, "car": true, "bag": true, "box": true, "way": true, "th": true, "st": true, "nd": true, "rd": true, "wpm": true, "mb": true, "gb": true, "kb": true, "pts": true, "gal": true, "qt": true, "sq": true, "cu": true}

// unitLetters are the units of one letter that a number may carry without \text.
var unitLetters = map[string]bool{"g": true, "m": true, "s": true, "h": true, "L": true, "N": true, "J": true, "W": true, "V": true}

// compound parses what follows in 3 hours 45 minutes or 5 ft 4 in.
func (p *parser) compound(first *node) (*node, error) {
	t := p.peek()
	p.at++
	n, err := numeral(p, t)
	if err != nil {
		return nil, err
	}
	second := p.units(n)
	if second == nil {
		return nil, errSyntax
	}
	a, okA := measureOf(first.name)
	b, okB := measureOf(second.name)
	if !okA || !okB || a.dimension != b.dimension || a.scale.Cmp(b.scale) <= 0 {
		return nil, errSyntax
	}
	factor := new(big.Rat).Quo(a.scale, b.scale)
	return quantity(apply(kindAdd, apply(kindMultiply, first.args[0], rational(factor)), second.args[0]), second.name), nil
}

// unitAfterSlash reads 5/year after a value; nil if a formula follows.
func (p *parser) unitAfterSlash(value *node) *node {
	t := p.peek()
	if t.kind != tokenText && !p.noun(t) || value.kind == kindQuantity {
		return nil
	}
	return p.units(value)
}

// time reads a time of day that starts with the number token t, already consumed: 1:03 PM, 2 p.m.; nil if it is none.
func (p *parser) time(t token) *node {
	save := p.at
	parts := [3]string{t.text, "0", "0"}
	for i := 1; i < 3 && p.peek().mark(':') && p.ahead(1).kind == tokenNumber && len(p.ahead(1).text) == 2; i++ {
		parts[i] = p.ahead(1).text
		p.at += 2
	}
	half := p.meridiem()
	h, okH := integer(parts[0])
	m, okM := integer(parts[1])
	s, okS := integer(parts[2])
	if half == "" || !okH || !okM || !okS || h < 1 || h > 12 || m > 59 || s > 59 {
		p.at = save
		return nil
	}
	h %= 12
	if half == "pm" {
		h += 12
	}
	return &node{kind: kindTime, rat: big.NewRat(3600*h+60*m+s, 60), name: half}
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

// quantities compares answers of which at least one carries a unit or noun.
func (c *comparer) quantities(a, b *node) result {
	va, ua := split(a)
	vb, ub := split(b)
	if ua == "degree" && b.kind == kindQuantity && ub == "" || ub == "degree" && a.kind == kindQuantity && ua == "" {
		return c.compare(inRadians(va, ua), inRadians(vb, ub))
	}
	if modulus, ok := strings.CutPrefix(ua, "mod "); ok && strings.HasPrefix(ub, "mod ") {
		if ua != ub {
			return different("another modulus")
		}
		return c.congruent(va, vb, modulus)
	}
	if c.policy.AnyUnit {
		return c.compare(va, vb)
	}
	ua, ub = sterling(ua, ub), sterling(ub, ua)
	ma, okA := measureOf(ua)
	mb, okB := measureOf(ub)
	if pa, pb := powerOf(ua), powerOf(ub); !(okA && okB) && pa != "" && pb != "" && pa != pb {
		return different("conflicting units")
	}
	if ua != "" && ub != "" && okA && okB {
		if ma.dimension != mb.dimension {
			return different("conflicting units")
		}
		if ma.scale.Cmp(mb.scale) != 0 {
			if c.policy.KeepUnits {
				return different("conflicting units")
			}
			return c.compare(apply(kindMultiply, va, rational(ma.scale)), apply(kindMultiply, vb, rational(mb.scale)))
		}
		return c.compare(va, vb)
	}
	if c.policy.StrictUnits && (ua == "") != (ub == "") {
		return different("a unit on one side only")
	}
	r := c.compare(va, vb)
	if r.outcome != OutcomeEqual && (ua == "degree") != (ub == "degree") && (ua == "" || ub == "") {
		bare := va
		if ua == "degree" {
			bare = vb
		}
		if bare.has(func(n *node) bool {
			return n.kind == kindConstant && n.name == "pi" || n.kind == kindCall && strings.HasPrefix(n.name, "arc")
		}) {
			if s := c.compare(inRadians(va, ua), inRadians(vb, ub)); s.outcome == OutcomeEqual {
				return equal("degrees and radians")
			}
		}
	}
	return r
}

// sterling reads pounds as money where the other side is.
func sterling(unit, other string) string {
	if w := strings.ToLower(unit); (w == "pounds" || w == "pound") && (other == "sterling" || strings.EqualFold(other, "pence")) {
		return "sterling"
	}
	return unit
}

// inRadians returns an angle of so many degrees, or what has no unit, in radians.
func inRadians(n *node, unit string) *node {
	if unit == "degree" {
		return divide(apply(kindMultiply, n, constant("pi")), number(180))
	}
	return n
}

// powerOf returns the power that a unit is taken to as a whole, 2 for square feet and units^2; empty for no unit and for
// quotients.
func powerOf(unit string) string {
	w := strings.ToLower(unit)
	switch {
	case w == "":
		return ""
	case strings.HasPrefix(w, "square ") || strings.HasPrefix(w, "sq "):
		return "2"
	case strings.HasPrefix(w, "cubic ") || strings.HasPrefix(w, "cu "):
		return "3"
	case strings.Contains(w, "/") || strings.Contains(w, " per "):
		return ""
	}
	if i := strings.LastIndex(w, " ^"); i >= 0 {
		return w[i+2:]
	}
	return "1"
}

// congruent compares residues of one modulus.
func (c *comparer) congruent(a, b *node, modulus string) result {
	m, err := read(modulus, c.steps)
	if err != nil {
		return unknown("congruence")
	}
	if r := c.compare(a, b); r.outcome == OutcomeEqual {
		return r
	}
	gap, err := (exact{steps: c.steps}).value(call("mod", subtract(a, b), m[0]))
	switch {
	case err != nil:
		return unknown("congruence")
	case gap.Sign() == 0:
		return equal("congruence")
	}
	return different("congruence")
}

// split separates a value from its unit. Radians are none.
func split(n *node) (*node, string) {
	if n.kind == kindQuantity {
		if w := strings.ToLower(n.name); w == "rad" || w == "radian" || w == "radians" {
			return n.args[0], ""
		}
		return n.args[0], n.name
	}
	return n, ""
}

// ratios compares ratios up to a common factor, and times of day.
func (c *comparer) ratios(a, b *node) result {
	if a.kind == kindTime && b.kind == kindTime {
		return c.scalars(rational(a.rat), rational(b.rat))
	}
	if a.kind == kindTime || b.kind == kindTime {
		t, o := a, b
		if b.kind == kindTime {
			t, o = b, a
		}
		if !t.rat.IsInt() {
			return different("time of day")
		}
		minutes := t.rat.Num().Int64()
		hour := (minutes/60+11)%12 + 1
		if o.kind == kindRatio && len(o.args) == 2 {
			h, okH := o.args[0].integer()
			m, okM := o.args[1].integer()
			if okH && okM && int64(m) == minutes%60 && (int64(h) == hour || int64(h) == minutes/60) {
				return equal("time of day")
			}
		}
		if v, ok := o.integer(); ok && minutes%60 == 0 && int64(v) == hour && !c.policy.StrictUnits {
			return equal("time of day")
		}
		return different("time of day")
	}
	parts := func(n *node) []*node {
		if n.kind == kindRatio {
			return n.args
		}
		if n.kind == kindDivide {
			return n.args
		}
		return []*node{n, number(1)}
	}
	if !scalarLike(a) && a.kind != kindRatio || !scalarLike(b) && b.kind != kindRatio {
		return different("answers of different kinds")
	}
	x, y := parts(a), parts(b)
	if len(x) != len(y) {
		return different("ratios of different length")
	}
	for i := range x {
		if za, zb := identical(x[i], number(0)), identical(y[i], number(0)); za || zb {
			return c.ordered(x, y) // 5:00 is no ratio
		}
	}
	for i := 1; i < len(x); i++ {
		r := c.scalars(apply(kindMultiply, x[0], y[i]), apply(kindMultiply, x[i], y[0]))
		if r.outcome != OutcomeEqual {
			return r
		}
	}
	return equal("ratio")
}
