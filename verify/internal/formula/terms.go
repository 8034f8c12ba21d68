// Sums, products and powers, parsed.

package formula

import (
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
)

// sum parses terms joined by + - ± ∓.
func (p *parser) sum() *Node {
	var first *Node
	var terms []*Node // with the first one, if there are several
	for {
		t := p.peek()
		sign := ""
		switch {
		case t.mark('+') || t.mark('-'):
			sign = t.text
		case wordy(t) && strings.EqualFold(t.text, "plus") && p.ahead(1).text == "or" && strings.EqualFold(p.ahead(2).text, "minus"):
			p.at += 2
			sign = "pm"
		case wordy(t) && strings.EqualFold(t.text, "plus") && first != nil:
			sign = "+"
		case wordy(t) && strings.EqualFold(t.text, "minus") && first != nil:
			sign = "-"
		case t.command("pm") || t.command("mp"):
			sign = t.text
		case t.mark('/') && first == nil:
			panic(failing.With(ErrSyntax))
		}
		if sign == "" && first != nil {
			break
		}
		if sign != "" {
			p.at++
			if sign == "+" && p.peek().mark('/') && p.ahead(1).mark('-') { // +/-
				p.at += 2
				sign = "pm"
			}
			if sign == "+" && first == nil && p.peek().mark('-') && !p.peek().space { // +-3; 2+-3 is a sum
				p.at++
				sign = "pm"
			}
		}
		// Ellipsis inside a sum is not evaluated.
		term := p.termInParts()
		n := term.left
		switch {
		case sign == "-" && first == nil && n == term.mod: // -7 mod 3 is 2, and -(7 mod 3) is -1
			n = Call("mod", Negate(n.Args[0]), n.Args[1])
		case sign == "-" && n.Kind == KindQuantity:
			n = quantity(Negate(n.Args[0]), n.Name)
		case sign == "-":
			n = Negate(n)
		case sign == "pm" || sign == "mp":
			n = &Node{Kind: KindSign, Name: sign, Args: []*Node{n}}
		}
		switch {
		case first == nil:
			first = n
			continue
		case terms == nil:
			terms = append(make([]*Node, 0, 4), first)
		}
		terms = append(terms, n)
	}
	if terms == nil {
		return first
	}
	if len(terms) == 2 && setLike(terms[0]) && terms[1].Kind == KindNegate && terms[1].Args[0].Kind == KindSet { // R - {0}
		return Apply(KindMinus, terms[0], terms[1].Args[0])
	}
	if n := p.run("sum", terms, p.steps); n != nil {
		return n
	}
	return common(KindAdd, terms)
}

// isEllipsis reports whether three dots are at hand.
func isEllipsis(t token) bool {
	return t.command("cdots") || t.command("ldots") || t.command("dots") || t.command("dotsm") || t.command("dotsb")
}

// cross reports whether the x at hand is a multiplication sign: 3 x 5, 1.5x10^3.
func (p *parser) cross() bool {
	t, next := p.peek(), p.ahead(1)
	return (t.is(tokenWord, "x") || t.is(tokenWord, "X")) && p.last().kind == tokenNumber && next.kind == tokenNumber &&
		(t.space && next.space || next.text == "10" && p.ahead(2).mark('^'))
}

// division consumes the words of a division before a number: 3 over 4, 3 divided by 4.
func (p *parser) division() bool {
	save := p.at
	if (p.says("over") || p.says("divided") && p.says("by")) && p.peek().kind == tokenNumber {
		return true
	}
	p.at = save
	return false
}

// timesWord reports whether the word "times" stands between two values.
func (p *parser) timesWord(t token) bool {
	next := p.ahead(1)
	return wordy(t) && strings.EqualFold(t.text, "times") && (next.kind == tokenNumber || next.kind == tokenCommand || next.mark('('))
}

// common joins operands and moves their unit to the outside: 3 cm + 4 cm. Degrees stay, they are a factor.
func common(k kind, operands []*Node) *Node {
	unit := ""
	for i, n := range operands {
		if n.Kind == KindQuantity && n.Name != "degree" {
			if i == len(operands)-1 || k == KindAdd {
				unit = n.Name
			}
			operands[i] = n.Args[0]
		}
	}
	if len(operands) > 1 {
		for i, n := range operands {
			operands[i] = ungrouped(n)
		}
	}
	if unit == "" {
		return Apply(k, operands...)
	}
	return quantity(Apply(k, operands...), unit)
}

// ungrouped returns what stands in the braces of an operand such as \{1+2\}: a set of one number takes part in no
// arithmetic, so that they are brackets.
func ungrouped(n *Node) *Node {
	if n.Kind == KindSet && len(n.Args) == 1 && n.Args[0].Scalar() {
		return n.Args[0]
	}
	return n
}

// term parses factors joined by multiplication, division and juxtaposition.
func (p *parser) term() *Node { return p.termInParts().left }

// termInParts parses a term and also says how it was put together.
func (p *parser) termInParts() *openTerm {
	x := &openTerm{parser: p, left: p.unary()}
	for !x.ended {
		x.next()
	}
	x.whole()
	return x
}

// An openTerm is a term as far as it is parsed.
type openTerm struct {
	*parser
	left      *Node
	factors   []*Node // left and what it is multiplied with; nil: nothing yet
	mod       *Node   // the last remainder of the term itself, and of no brackets in it
	divisions int
	ended     bool
}

// whole is the term so far, as one node that the next operation takes.
func (x *openTerm) whole() *Node {
	if x.factors != nil {
		if n := x.run("prod", x.factors, x.steps); n != nil {
			x.left = n
		} else {
			x.left = common(KindMultiply, x.factors)
		}
		x.factors = nil
	}
	return x.left
}

func (x *openTerm) times(n *Node) {
	if x.factors == nil {
		x.factors = []*Node{x.left}
	}
	x.factors = append(x.factors, n)
}

// end makes n the term, whatever follows.
func (x *openTerm) end(n *Node) { x.left, x.ended = n, true }

// next parses the next operation and its operand, or ends the term.
func (x *openTerm) next() {
	single := x.factors == nil && x.divisions == 0
	if single && x.left.Kind == KindNumber {
		if n := x.remainder(); n != nil {
			x.end(Apply(KindTuple, x.left, n))
			return
		}
	}
	t := x.peek()
	switch {
	case x.division():
		n := x.unary()
		x.left = common(KindDivide, []*Node{x.whole(), n})
	case t.mark('*') || x.cross() || x.timesWord(t) || t.command("cdot") || t.command("times") || t.command("ast") || t.command("cdotp"):
		x.at++
		x.times(x.unary())
	case isEllipsis(t) && len(x.factors) > 1 && x.last().kind != tokenMark && (x.ahead(1).kind == tokenNumber || x.ahead(1).kind == tokenWord || x.ahead(1).mark('(') || x.ahead(1).command("cdot") || x.ahead(1).command("times")): // 1·2·3⋯n
		x.at++
		if x.peek().kind == tokenCommand {
			x.at++
		}
		x.factors = append(x.factors, &Node{Kind: KindEllipsis}, x.unary())
	case t.mark('/') || t.command("div"):
		x.slash(t)
	case t.command("bmod") || t.command("mod") || t.kind == tokenWord && t.text == "mod" || t.command("pmod"):
		x.at++
		n := x.unary()
		if !t.command("pmod") {
			x.mod = Call("mod", x.whole(), n)
			x.left = x.mod
			return
		}
		if n.Has(isSign) {
			panic(failing.With(ErrSyntax))
		}
		x.end(quantity(x.whole(), "mod "+n.String()))
	case t.mark('(') && wordy(x.ahead(1)) && strings.EqualFold(x.ahead(1).text, "mod"): // 1 (mod 3)
		m := x.modulus()
		if m == nil {
			panic(failing.With(ErrSyntax))
		}
		x.end(quantity(x.whole(), "mod "+m.String()))
	case single && wordy(t) && t.text == "and" && x.left.Kind == KindNumber && wordy(x.ahead(1)): // 6 and a half
		part, n := andPart(strings.ToLower(x.ahead(1).text), strings.ToLower(x.ahead(2).text))
		if part == nil {
			x.ended = true
			return
		}
		x.at += n
		x.left = Apply(KindAdd, x.left, part)
	case sides(t, x.ahead(1)) && x.factors == nil && (x.left.Kind == KindQuantity || t.text == "by" && x.left.Kind == KindNumber): // 6 cm by 7 cm
		x.enter()
		defer x.leave()
		x.at++
		rest := x.term()
		if rest.Kind != KindTuple {
			rest = Apply(KindTuple, rest)
		}
		x.end(Apply(KindTuple, append([]*Node{x.left}, rest.Args...)...))
	case x.left.Kind == KindQuantity && x.factors == nil && wordy(t) && t.text == "and" && x.ahead(1).kind == tokenNumber: // 2 hours and 30 minutes
		save := x.at
		x.at++
		n, err := x.attempt(func() *Node { return x.compound(x.left) })
		if err != nil {
			x.at = save
			x.ended = true
			return
		}
		x.left = n
	case x.startsFactor(t):
		x.beside(t)
	default:
		x.ended = true
	}
}

// slash parses a quotient written in a line, and a unit that is one: a/b, 5 m/s.
func (x *openTerm) slash(t token) {
	if x.divisions++; x.divisions > maxDepth {
		panic(failing.With(ErrTooLarge))
	}
	x.at++
	if t.mark('/') && x.peek().mark('/') { // floor division
		x.at++
		n := x.unary()
		x.left = Call("floor", Divide(x.whole(), n))
		return
	}
	if unit := x.unitAfterSlash(x.whole()); unit != nil {
		x.left = unit
		return
	}
	n := x.unary()
	x.left = common(KindDivide, []*Node{x.whole(), n})
}

// beside parses what stands beside the last factor with nothing between: a further factor, a unit, the fraction of a mixed
// number, or the same number in another form.
func (x *openTerm) beside(t token) {
	if t.kind == tokenText || x.noun(t) || x.fractionOfUnits() {
		if q := x.units(x.whole()); q != nil {
			x.left = q
			return
		}
	}
	if t.kind == tokenNumber && x.factors == nil && x.left.Kind == KindQuantity {
		x.left = x.compound(x.left)
		return
	}
	if t.kind == tokenNumber && x.last().mark('}') && x.left.Kind == KindNumber && x.factors == nil {
		panic(failing.With(ErrSyntax)) // {1}5 prints as 15
	}
	if t.kind == tokenNumber && x.last().kind == tokenNumber && !endsInPower(x.left, x.factors) { // 2 1/2
		if isFraction(x.ahead(1)) && !x.ahead(1).space && t.space && x.factors == nil && x.divisions == 0 { // 3 1\frac12
			x.times(x.besideMixed(x.left))
			return
		}
		x.left = x.mixedNumber(x.whole(), x.divisions)
		return
	}
	n := x.power()
	switch {
	case x.factors != nil:
		x.times(n)
	case t.mark('(') && t.space && (x.peek().kind == tokenEnd || x.closing(x.peek())) && restated(x.left, n): // 0.25 (1/4)
	case mixed(x.left, n, x.last()) && (!isFraction(x.peek()) || x.fractionOfUnits()): // 100 \frac12 \frac45 is a product
		x.left = Apply(KindAdd, x.left, n)
	case (n.Kind == KindPercent || n.Kind == KindQuantity) && mixed(x.left, n.Args[0], token{kind: tokenNumber}): // 12½ %
		x.left = &Node{Kind: n.Kind, Name: n.Name, Args: []*Node{Apply(KindAdd, x.left, n.Args[0])}}
	default:
		x.times(n)
	}
}

// remainder parses what follows the quotient in 5 R 2, "5 remainder 2" and "5 with a remainder of 2"; nil if that is not at
// hand.
func (p *parser) remainder() *Node {
	save := p.at
	p.says("with")
	p.says("a")
	if p.says("remainder") || p.says("R") {
		p.says("of")
		if t, next := p.peek(), p.ahead(1); t.kind == tokenNumber && (next.kind == tokenEnd || p.closing(next)) {
			p.at++
			return p.numeral(t)
		}
	}
	p.at = save
	return nil
}

// sides reports whether t joins the sides of what has several: 6 cm by 7 cm, 6 cm x 7 cm.
func sides(t, next token) bool {
	return wordy(t) && (t.text == "by" || t.text == "x") && next.kind == tokenNumber
}

// restated reports whether a number in brackets is the one before them in another form.
func restated(number, bracketed *Node) bool {
	v, w := plain(number), plain(bracketed)
	return v != nil && w != nil && v.Cmp(w) == 0 && !Identical(number, bracketed)
}

// arithmetic are the operations that a remark may hold: 11 (5 + 6).
var arithmetic = map[kind]func(z, x, y *big.Rat) *big.Rat{KindAdd: (*big.Rat).Add, KindMultiply: (*big.Rat).Mul, KindDivide: (*big.Rat).Quo}

// plain returns the value of a decimal, fraction or percentage, or of arithmetic with them; nil of anything else.
func plain(n *Node) *big.Rat {
	if n.Kind == KindPercent {
		n = Divide(n.Args[0], Number(100))
	}
	op := arithmetic[n.Kind]
	if op == nil {
		return Literal(n)
	}
	v := plain(n.Args[0])
	for _, a := range n.Args[1:] {
		w := plain(a)
		if v == nil || w == nil || n.Kind == KindDivide && w.Sign() == 0 || v.Num().BitLen()+v.Denom().BitLen()+w.Num().BitLen()+w.Denom().BitLen() > MaxBits {
			return nil
		}
		v = op(new(big.Rat), v, w)
	}
	return v
}

func isFraction(t token) bool { return t.command("frac") || t.command("dfrac") || t.command("tfrac") }

func isSign(n *Node) bool { return n.Kind == KindSign }

// endsInPower reports whether a product so far is a factorisation such as 2^3 5 7, in which numbers stand side by side.
func endsInPower(left *Node, factors []*Node) bool {
	return left.Kind == KindPower || len(factors) > 0 && factors[0].Kind == KindPower
}

// mixedNumber parses the fraction of "2 1/2". Other numbers side by side mean nothing.
func (p *parser) mixedNumber(whole *Node, divisions int) *Node {
	t := p.peek()
	if whole.Kind != KindNumber || divisions > 0 || !t.space || !p.ahead(1).mark('/') || p.ahead(2).kind != tokenNumber {
		panic(failing.With(ErrSyntax))
	}
	p.at++
	num := p.numeral(t)
	p.at++
	t = p.peek()
	p.at++
	den := p.numeral(t)
	if !whole.Rat.IsInt() || !num.Rat.IsInt() || !den.Rat.IsInt() || num.Rat.Cmp(den.Rat) >= 0 {
		panic(failing.With(ErrSyntax))
	}
	return p.postfix(Apply(KindAdd, whole, Divide(num, den)))
}

// besideMixed parses the mixed number of "3 1\frac12", which is 3 times 1 1/2, as computer algebra reads it.
func (p *parser) besideMixed(left *Node) *Node {
	t := p.peek()
	p.at++
	whole := p.numeral(t)
	part := p.power()
	if left.Kind != KindNumber || !mixed(whole, part, p.last()) || isFraction(p.peek()) {
		panic(failing.With(ErrSyntax))
	}
	return Apply(KindAdd, whole, part)
}

// mixed reports whether an integer directly followed by a fraction of integers is a mixed number.
func mixed(whole, part *Node, last token) bool {
	if whole.Kind != KindNumber || !whole.Rat.IsInt() || whole.Dec || part.Kind != KindDivide || !last.mark('}') && last.kind != tokenNumber {
		return false
	}
	a, ok := part.Args[0].Integer()
	b, ok2 := part.Args[1].Integer()
	return ok && ok2 && a > 0 && a < b
}

// startsFactor reports whether t can begin a factor that is multiplied by juxtaposition.
func (p *parser) startsFactor(t token) bool {
	switch t.kind {
	case tokenNumber:
		return true
	case tokenWord, tokenText:
		switch strings.ToLower(t.text) {
		case "and", "or", "mod", "is", "equals", "to", "plus", "minus":
			return false
		case "for", "where", "with", "when", "if", "because", "since", "inclusive", "exclusive":
			return false
		case "u":
			return t.text == "u" || t.kind == tokenText
		}
		return true
	case tokenMark:
		switch t.text[0] {
		case '[':
			return !p.frenchEnd()
		case '(', '{':
			return true
		case '|':
			return p.bars == 0 && p.noBar == 0
		}
		return false
	case tokenCommand:
		if relations[t.text] != "" || t.text == "not" {
			return false
		}
		switch t.text {
		case "cup", "cap", "setminus", "backslash", "smallsetminus", "bigcup", "pm", "mp", "\\", "}", "rangle", "rfloor", "rceil", "end", "mid", "wedge", "vee", "land", "lor", "choose", "over", "ldots", "dots", "cdots", "dotsc", "hdots", "vdots", "ddots", "pmod", "colon", "rbrace", "forall":
			return false
		case "|", "Vert", "vert", "lvert", "rvert":
			return p.bars == 0 && t.text != "rvert"
		}
		return true
	}
	return false
}

// frenchEnd reports whether the bracket at hand closes an interval such as ]1,2[: nothing can follow it as its content.
func (p *parser) frenchEnd() bool {
	t := p.ahead(1)
	return t.kind == tokenEnd || t.mark(',') || t.mark(')') || t.command("cup") || t.command("cap") || t.command("setminus")
}

// unary parses signs in front of a factor.
func (p *parser) unary() *Node {
	t := p.peek()
	if wordy(t) && (strings.EqualFold(t.text, "minus") || strings.EqualFold(t.text, "negative")) {
		t = token{kind: tokenMark, text: "-"}
	}
	switch {
	case t.mark('-') || t.mark('+') || t.command("pm") || t.command("mp"):
		p.enter()
		defer p.leave()
		p.at++
		n := p.unary()
		switch {
		case t.mark('+'):
			return n
		case t.mark('-'):
			return Negate(n)
		}
		return &Node{Kind: KindSign, Name: t.text, Args: []*Node{n}}
	}
	return p.power()
}

// power parses a primary with its postfixes: exponents, factorials, percent, degrees, primes.
func (p *parser) power() *Node {
	p.enter()
	defer p.leave()
	return p.postfix(p.primary())
}

func (p *parser) postfix(base *Node) *Node {
	for count := 0; ; count++ {
		if count > maxDepth {
			panic(failing.With(ErrTooLarge))
		}
		t := p.peek()
		switch {
		case t.mark('^'):
			base = p.exponent(base)
		case t.mark('!'):
			p.at++
			name := "factorial"
			if p.peek().mark('!') && !p.peek().space {
				p.at++
				name = "doublefactorial"
			}
			base = Call(name, base)
		case t.mark('%') || t.command("percent"):
			p.at++
			if f := p.peek(); p.startsFactor(f) && (f.kind == tokenNumber || f.mark('(')) { // a \% b
				if t.mark('%') {
					panic(failing.With(ErrSyntax)) // a comment in TeX, a remainder in programs
				}
				base = Call("mod", base, p.primary())
				continue
			}
			base = Apply(KindPercent, base)
		case t.command("permil"):
			p.at++
			base = Divide(base, Number(1000))
		case t.command("degree") || t.command("circ") && base.Kind == KindNumber:
			p.at++
			base = p.degrees(base)
		case t.mark('\'') && base.Kind == KindSymbol:
			p.at++
			base = Symbol(base.Name + "'")
		case t.mark('\'') && base.Kind == KindQuantity && base.Name == "degree":
			p.at++
			panic(failing.With(ErrSyntax))
		case t.mark('\'') && base.Kind == KindNumber: // 5'4"
			p.at++
			base = quantity(base, "foot")
			if p.peek().kind == tokenNumber && p.ahead(1).mark('"') {
				inches := p.numeral(p.peek())
				p.at += 2
				base = quantity(Apply(KindAdd, base.Args[0], Divide(inches, Number(12))), "foot")
			}
		case t.mark('"') && base.Kind == KindNumber:
			p.at++
			base = quantity(base, "inch")
		case t.mark('_') && base.Kind == KindPower && base.Args[0].Kind == KindSymbol: // C^2_5 is C_5^2
			base = Power(p.subscripted(base.Args[0]), base.Args[1])
		case (t.command("euro") || t.command("pounds") || t.command("yen") || t.command("rupee") || t.command("cent")) && base.Kind == KindNumber: // 5 €
			p.at++
			base = quantity(base, currencies[t.text])
		case base.Kind == KindNumber && (t.mark('_') || wordy(t) && t.text == "base" && p.ahead(1).kind == tokenNumber): // 101 base 2
			base = p.based(base)
		case (t.is(tokenWord, "C") || t.is(tokenWord, "P")) && p.last().kind == tokenNumber && base.Kind == KindNumber && !t.space && p.ahead(1).kind == tokenNumber && !p.ahead(1).space: // 10C3
			p.at++
			base = Call(map[string]string{"C": "binom", "P": "arrangements"}[t.text], base, p.primary())
		default:
			return base
		}
	}
}

// exponent parses ^x after base.
func (p *parser) exponent(base *Node) *Node {
	p.at++
	switch {
	case p.acceptCommand("circ"), p.acceptCommand("degree"):
		return p.degrees(base)
	case p.acceptCommand("prime"):
		if base.Kind == KindSymbol {
			return Symbol(base.Name + "'")
		}
		panic(failing.With(ErrSyntax))
	case p.peek().mark('{') && (p.ahead(1).command("circ") || base.Kind == KindNumber && wordy(p.ahead(1)) && p.ahead(1).text == "o") && p.ahead(2).mark('}'):
		p.at += 3
		return p.degrees(base)
	case p.peek().mark('{') && p.ahead(1).command("prime"):
		p.at++
		for p.acceptCommand("prime") {
			if base.Kind != KindSymbol {
				panic(failing.With(ErrSyntax))
			}
			base = Symbol(base.Name + "'")
		}
		p.expect('}')
		return base
	case p.peek().mark('{') && (p.ahead(1).kind == tokenText || p.ahead(1).kind == tokenWord && p.at > 1 && p.ahead(1).text == ordinalOf(p.tokens[p.at-2].text)) && p.ahead(2).mark('}'):
		ordinal := strings.ToLower(p.ahead(1).text)
		if ordinal == "th" || ordinal == "st" || ordinal == "nd" || ordinal == "rd" {
			p.at += 3
			return base
		}
	}
	e := p.argument()
	if p.peek().mark('^') { // right-associative
		p.enter()
		defer p.leave()
		e = p.exponent(e)
	}
	if p.peek().mark('!') && p.last().kind == tokenNumber { // 2^3! is 2^(3!) in plain text as in TeX's eye
		p.at++
		e = Call("factorial", e)
	}
	return Power(base, e)
}

// ordinalOf returns the letters that make a numeral an ordinal: 21st, 12th; empty for what is no whole number.
func ordinalOf(numeral string) string {
	n, ok := Integer(numeral)
	switch {
	case !ok:
		return ""
	case n%100/10 == 1:
		return "th"
	}
	return [10]string{"th", "st", "nd", "rd", "th", "th", "th", "th", "th", "th"}[n%10]
}

func (p *parser) degrees(base *Node) *Node {
	if t := p.peek(); wordy(t) {
		if unit := temperature(t.text); unit != "" {
			p.at++
			return quantity(base, unit)
		}
	}
	angle := base
	for _, part := range []struct {
		mark  string
		parts int64
	}{{"'", 60}, {`"`, 3600}} { // 22° 30' 15"
		if p.peek().kind != tokenNumber || !(p.ahead(1).kind == tokenMark && p.ahead(1).text == part.mark) {
			break
		}
		n, err := p.attempt(func() *Node { return p.numeral(p.peek()) })
		if err != nil {
			break
		}
		p.at += 2
		angle = Apply(KindAdd, angle, Divide(n, Number(part.parts)))
	}
	return quantity(angle, "degree")
}

// based reads a subscript after a numeral as the base it is written in.
func (p *parser) based(base *Node) *Node {
	digits := p.last()
	if digits.mark(')') && p.at > 1 { // (1010)_2
		digits = p.tokens[p.at-2]
	}
	p.at++
	sub := p.wordBase()
	if sub == nil {
		sub = p.argument()
	}
	if sub.Kind == KindSymbol {
		return Call("base", base, sub)
	}
	b, ok := sub.Integer()
	if !ok || b < 2 || b > 36 || digits.kind != tokenNumber || strings.ContainsAny(digits.text, "e") {
		panic(failing.With(ErrSyntax))
	}
	value, ok := inBase(digits.text, b)
	if !ok {
		panic(failing.With(ErrSyntax))
	}
	return &Node{Kind: KindBased, Rat: value, Name: digits.text, Args: []*Node{Number(int64(b))}}
}

func (p *parser) wordBase() *Node {
	save := p.at
	p.accept('{')
	t := p.peek()
	bases := map[string]int64{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16}
	if b := bases[strings.ToLower(t.text)]; wordy(t) && b != 0 {
		p.at++
		p.accept('}')
		return Number(b)
	}
	p.at = save
	return nil
}

// inBase reads digits, possibly with a point, in base b.
func inBase(digits string, b int) (*big.Rat, bool) {
	whole, part, _ := strings.Cut(digits, ".")
	n, ok := new(big.Int).SetString(whole+part, b)
	if !ok {
		return nil, false
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(int64(b)), big.NewInt(int64(len(part))), nil)), true
}

// argument parses what TeX takes as one argument: a group, a command with its own arguments, or one token; a whole
// number counts as one token, as people write 2^10.
func (p *parser) argument() *Node {
	p.enter()
	defer p.leave()
	t := p.peek()
	switch {
	case t.mark('-') || t.mark('+'):
		p.at++
		n := p.argument()
		if t.mark('+') {
			return n
		}
		return Negate(n)
	case t.kind == tokenWord && len(t.text) > 1 && functions[t.text] == "" && names[t.text] == nil:
		return p.letter()
	}
	return p.primary()
}

// digitOrArgument parses the argument of \frac, where a bare number is one digit.
func (p *parser) digitOrArgument() *Node {
	t := p.peek()
	if t.kind == tokenNumber && len(t.text) > 1 && Digit(t.text[0]) {
		p.tokens[p.at].text = t.text[1:]
		return Number(int64(t.text[0] - '0'))
	}
	return p.argument()
}

// letter takes the first letter of the word at hand as a variable and leaves the rest.
func (p *parser) letter() *Node {
	t := p.peek()
	_, size := utf8.DecodeRuneInString(t.text)
	if size == len(t.text) {
		p.at++
	} else {
		p.tokens[p.at] = token{kind: tokenWord, text: t.text[size:]}
	}
	return variable(t.text[:size])
}
