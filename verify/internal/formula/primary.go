// Names, numbers, functions and brackets, parsed.

package formula

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
)

// functions maps names, as commands or words, to the function they call.
var functions = map[string]string{
	"sin": "sin", "cos": "cos", "tan": "tan", "cot": "cot", "sec": "sec", "csc": "csc", "cosec": "csc", "tg": "tan", "ctg": "cot",
	"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "coth": "coth", "sech": "sech", "csch": "csch",
	"arcsin": "arcsin", "arccos": "arccos", "arctan": "arctan", "arccot": "arccot", "arcsec": "arcsec", "arccsc": "arccsc",
	"asin": "arcsin", "acos": "arccos", "atan": "arctan", "arctg": "arctan",
	"arsinh": "arsinh", "arcosh": "arcosh", "artanh": "artanh", "arcsinh": "arsinh", "arccosh": "arcosh", "arctanh": "artanh", "asinh": "arsinh", "acosh": "arcosh", "atanh": "artanh",
	"log": "log", "ln": "ln", "lg": "lg", "exp": "exp", "sqrt": "sqrt", "cbrt": "cbrt", "abs": "abs", "floor": "floor", "ceil": "ceil", "ceiling": "ceil",
	"gcd": "gcd", "lcm": "lcm", "max": "max", "min": "min", "binom": "binom", "binomial": "binom", "nCr": "binom", "nPr": "arrangements", "Re": "re", "Im": "im", "arg": "arg", "sgn": "sign", "sign": "sign", "det": "det", "factorial": "factorial", "cis": "cis",
}

// inverses of functions written with an exponent of -1.
var inverses = map[string]string{
	"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec", "csc": "arccsc", "sinh": "arsinh", "cosh": "arcosh", "tanh": "artanh",
}

var greek = func() map[string]bool {
	m := map[string]bool{}
	for g := range strings.FieldsSeq("alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho varrho sigma varsigma tau upsilon phi varphi chi psi omega " +
		"Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar aleph") {
		m[g] = true
	}
	return m
}()

// names maps words and commands to constants and sets.
var names = map[string]*Node{
	"pi": Constant("pi"), "infty": Constant("infinity"), "infinity": Constant("infinity"), "inf": Constant("infinity"), "oo": Constant("infinity"), "Infinity": Constant("infinity"),
	"emptyset": {Kind: KindNamedSet, Name: "empty"}, "varnothing": {Kind: KindNamedSet, Name: "empty"},
}

// marks over or around a symbol that make it another name.
var accents = map[string]bool{"dot": true, "ddot": true, "hat": true, "widehat": true, "bar": true, "vec": true, "tilde": true, "widetilde": true, "overrightarrow": true}

// variable returns the node of a one-letter name.
func variable(name string) *Node {
	if name == "e" || name == "i" {
		return Constant(name)
	}
	return Symbol(name)
}

// primary parses an atom with its own brackets.
func (p *parser) primary() *Node {
	t := p.peek()
	switch t.kind {
	case tokenNumber:
		p.at++
		if n := p.time(t); n != nil {
			return n
		}
		if s := p.exponentOfTen(t); s != "" {
			t.text = s
		}
		return p.numeral(t)
	case tokenText:
		p.at++
		if q := Precedes(t.text); q != "" && p.startsFactor(p.peek()) {
			p.flaw = q
		}
		if len(t.text) > 2 && p.peek().kind == tokenNumber {
			panic(failing.With(ErrSyntax)) // June 20
		}
		if (t.text == "C" || t.text == "P") && p.applied(t.text) {
			return p.unknownFunction(t.text)
		}
		return p.subscripted(Symbol(t.text))
	case tokenWord:
		if (t.text == "P" || t.text == "E") && p.namesValue() {
			return p.operator()
		}
		return p.word(t)
	case tokenCommand:
		if operators[t.text] {
			return p.operator()
		}
		return p.command(t)
	case tokenMark:
		switch t.text[0] {
		case '(', '[', ']':
			return p.bracket()
		case '{':
			return p.brace()
		case '|':
			return p.absolute()
		case '#':
			if p.ahead(1).kind == tokenWord {
				p.at += 2
				return Symbol("card " + p.last().text)
			}
		case '_', '^':
			return p.selection()
		}
	}
	panic(failing.With(ErrSyntax))
}

// operators are commands that make an expression which is not evaluated, but may be the name of a value: lim a_n = 3.
var operators = map[string]bool{"lim": true, "int": true, "iint": true, "iiint": true, "oint": true, "sup": true, "inf": true, "limsup": true, "liminf": true, "Pr": true, "dim": true, "deg": true, "ker": true}

// operator reads all up to the equals sign that gives the value of an operator as the name of that value.
func (p *parser) operator() *Node {
	level := 0
	var b strings.Builder
	for i := 0; ; i++ {
		t := p.ahead(i)
		switch {
		case t.kind == tokenEnd || level < 0 || b.Len() > 512:
			panic(failing.With(ErrSyntax))
		case level == 0 && (t.mark('=') || t.command("approx")):
			p.at += i
			return Symbol(b.String())
		case level == 0 && (t.mark(',') || t.mark(';')):
			panic(failing.With(ErrSyntax))
		case t.mark('(') || t.mark('{') || t.mark('[') || t.command("{"):
			level++
		case t.mark(')') || t.mark('}') || t.mark(']') || t.command("}"):
			level--
		}
		b.WriteString(t.text)
	}
}

// namesValue reports whether a bracket follows that ends before an equals sign: P(A|B) = 1/2.
func (p *parser) namesValue() bool {
	if !p.ahead(1).mark('(') {
		return false
	}
	level := 0
	for i := 1; i < 64; i++ {
		switch t := p.ahead(i); {
		case t.mark('('):
			level++
		case t.mark(')'):
			if level--; level == 0 {
				return p.ahead(i + 1).mark('=')
			}
		}
	}
	return false
}

// selection parses _5C_2 and ^5C_2, the number of selections of 2 from 5, and the same with P for arrangements.
func (p *parser) selection() *Node {
	p.at++
	n := p.argument()
	t := p.peek()
	if !wordy(t) || t.text != "C" && t.text != "P" || !p.ahead(1).mark('_') {
		panic(failing.With(ErrSyntax))
	}
	p.at += 2
	k := p.argument()
	if t.text == "C" {
		return Call("binom", n, k)
	}
	return Call("arrangements", n, k)
}

// exponentOfTen reads 3\text{e}8 and 3 E+8 after the number token t; empty if there is no such exponent.
func (p *parser) exponentOfTen(t token) string {
	e := p.peek()
	if !(e.kind == tokenText && (e.text == "e" || e.text == "E") || e.is(tokenWord, "E")) || strings.Contains(t.text, "e") {
		return ""
	}
	sign, at := "", 1
	if s := p.ahead(1); (s.mark('+') || s.mark('-')) && !s.space {
		sign, at = s.text, 2
	} else if e.kind == tokenWord {
		return ""
	}
	k := p.ahead(at)
	if k.kind != tokenNumber || k.space || strings.ContainsAny(k.text, ".e") {
		return ""
	}
	p.at += at + 1
	return t.text + "e" + sign + k.text
}

// numeral turns a number token into a node; an overlined group that follows is the period.
func (p *parser) numeral(t token) *Node {
	text := t.text
	if n, ok := Integer(text); ok && n >= 0 {
		return Number(n)
	}
	if strings.ContainsAny(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && p.peek().mark('_') {
		return p.based(Number(0))
	}
	if point := strings.IndexByte(text, '.'); point >= 0 {
		if p.says("repeating") || p.says("recurring") { // of several digits some may not repeat
			if point != len(text)-2 {
				panic(failing.With(ErrSyntax))
			}
			return failing.Must(repeatingDecimal(text[:point], text[point+1:]))
		}
		if p.peek().command("overline") || p.peek().command("bar") || p.peek().command("dot") {
			if n, err := p.repeating(text); err == nil {
				return n
			} else if err != ErrSyntax {
				panic(failing.With(err))
			}
		}
		if p.peek().command("ldots") || p.peek().command("dots") || p.peek().command("cdots") {
			if n := spelledPeriod(text); n != nil {
				p.at++
				return n
			}
			if r, ok := new(big.Rat).SetString(text); ok && !strings.Contains(text, "e") {
				p.at++
				_, part, _ := strings.Cut(text, ".")
				ulp, _ := new(big.Rat).SetString("1e-" + strconv.Itoa(len(part)))
				return Call("open", Rational(r), Rational(ulp))
			}
		}
		if p.peek().mark('(') && !p.peek().space && p.ahead(1).kind == tokenNumber && p.ahead(2).mark(')') && !strings.ContainsAny(p.ahead(1).text, ".e") && p.at+3 == len(p.tokens) {
			period := p.ahead(1).text
			p.at += 3
			return failing.Must(repeatingDecimal(text, period))
		}
	}
	if mantissa, exponent, scientific := strings.Cut(text, "e"); scientific && len(strings.TrimLeft(exponent, "+-")) > 3 { // not written out: many of them take memory
		k, ok := Integer(strings.TrimPrefix(exponent, "+"))
		if !ok {
			panic(failing.With(ErrTooLarge))
		}
		return Apply(KindMultiply, p.numeral(token{kind: tokenNumber, text: mantissa}), Power(Number(10), Number(k)))
	}
	if len(text) > MaxBits/4 {
		panic(failing.With(ErrTooLarge))
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(failing.With(ErrSyntax))
	}
	n := &Node{Kind: KindNumber, Rat: r, Dec: strings.ContainsAny(text, ".e")}
	if point := strings.IndexByte(text, '.'); point >= 0 && !strings.Contains(text, "e") {
		n.Places = len(text) - point - 1
	}
	return n
}

// repeating parses \overline{digits} after a decimal.
func (p *parser) repeating(text string) (*Node, error) {
	save := p.at
	period := ""
	dotted := p.peek().command("dot")
	for p.peek().command("overline") || p.peek().command("bar") || p.peek().command("dot") {
		p.at++
		if p.accept('{') {
			if p.peek().kind != tokenNumber || !p.ahead(1).mark('}') {
				p.at = save
				return nil, ErrSyntax
			}
			period += p.peek().text
			p.at += 2
			if dotted && p.peek().kind == tokenNumber && p.ahead(1).command("dot") {
				period += p.peek().text
				p.at++
			}
			continue
		}
		if p.peek().kind != tokenNumber {
			p.at = save
			return nil, ErrSyntax
		}
		period += p.peek().text
		p.at++
	}
	n, err := repeatingDecimal(text, period)
	if err != nil {
		p.at = save
	}
	return n, err
}

// repeatingDecimal returns text followed by period for ever.
func repeatingDecimal(text, period string) (*Node, error) {
	whole, part, _ := strings.Cut(text, ".")
	if strings.ContainsAny(text+period, "e") || strings.Contains(period, ".") || period == "" {
		return nil, ErrSyntax
	}
	if len(text)+len(period) > MaxBits/8 {
		return nil, ErrTooLarge
	}
	head, ok := new(big.Rat).SetString(whole + "." + part)
	if !ok {
		return nil, ErrSyntax
	}
	ten := big.NewInt(10)
	cycle, _ := new(big.Int).SetString(period, 10)
	nines := new(big.Int).Sub(new(big.Int).Exp(ten, big.NewInt(int64(len(period))), nil), big.NewInt(1))
	nines.Mul(nines, new(big.Int).Exp(ten, big.NewInt(int64(len(part))), nil))
	return Rational(head.Add(head, new(big.Rat).SetFrac(cycle, nines))), nil
}

// spelledPeriod reads 0.333... and 0.142857142857...: the shortest tail that was written out at least twice, or
// three times if it is one digit.
func spelledPeriod(text string) *Node {
	whole, part, _ := strings.Cut(text, ".")
	for size := 1; size <= len(part)/2; size++ {
		times := 1
		tail := part[len(part)-size:]
		for (times+1)*size <= len(part) && part[len(part)-(times+1)*size:len(part)-times*size] == tail {
			times++
		}
		if times >= 3 || size > 1 && times >= 2 {
			if n, err := repeatingDecimal(whole+"."+part[:len(part)-times*size], tail); err == nil {
				return n
			}
		}
	}
	return nil
}

// word parses a run of letters: a function, a constant, a Greek name, or variables side by side.
func (p *parser) word(t token) *Node {
	if f := functions[t.text]; f != "" {
		p.at++
		return p.function(f)
	}
	lower := strings.ToLower(t.text)
	if q := Precedes(lower); q != "" {
		p.flaw = q
		panic(failing.With(q))
	}
	if n := names[t.text]; n != nil {
		p.at++
		return n
	}
	if len(t.text) > 1 && greek[t.text] {
		p.at++
		return p.subscripted(Symbol(t.text))
	}
	if len(t.text) == 1 {
		p.at++
		if p.applied(t.text) {
			return p.unknownFunction(t.text)
		}
		if p.peek().mark('_') || p.peek().mark('\'') {
			n := p.subscripted(Symbol(t.text))
			if strings.HasSuffix(n.Name, "'") && p.applied(t.text) {
				return p.unknownFunction(n.Name)
			}
			return n
		}
		return variable(t.text)
	}
	if f := functions[lower]; f != "" && len(lower) > 2 {
		p.at++
		return p.function(f)
	}
	if n := names[lower]; n != nil && len(lower) > 2 {
		p.at++
		return n
	}
	if len(t.text) > 4 || p.sentence {
		panic(failing.With(ErrSyntax)) // a word of a sentence, not a product of variables
	}
	for prefix := min(len(t.text)-1, 6); prefix > 1; prefix-- { // cosx, xsin
		if f := functions[t.text[:prefix]]; f != "" {
			p.tokens[p.at].text = t.text[prefix:]
			return p.function(f)
		}
	}
	return p.letter()
}

// applied reports whether the bracket after a letter holds its argument: after f, g and h; a number after a capital; a
// zero, by which nobody multiplies.
func (p *parser) applied(name string) bool {
	next, arg := p.peek(), p.ahead(1)
	if next.mark('{') && arg.mark('(') && !next.space && strings.Contains("fghFGH", name) { // f{\left(x \right)}
		return true
	}
	if !next.mark('(') || next.space {
		return false
	}
	if strings.Contains("fghFGH", name) {
		return true
	}
	if name == "C" || name == "P" {
		return p.pairOfCounts() || arg.kind == tokenNumber && p.ahead(2).mark(')') && p.ahead(3).mark('=')
	}
	return arg.kind == tokenNumber && p.ahead(2).mark(')') && (arg.text == "0" || name[0] <= 'Z')
}

// pairOfCounts reports whether (5,2) or (n,k) is at hand.
func (p *parser) pairOfCounts() bool {
	count := func(t token) bool {
		return t.kind == tokenNumber && !strings.ContainsAny(t.text, ".e") || t.kind == tokenWord && len(t.text) == 1 && strings.Contains("nkmr", t.text)
	}
	return count(p.ahead(1)) && p.ahead(2).mark(',') && count(p.ahead(3)) && p.ahead(4).mark(')')
}

// unknownFunction parses f(args) for a function that has no definition.
func (p *parser) unknownFunction(name string) *Node {
	braced := p.accept('{')
	p.at++
	args := p.arguments()
	if braced {
		p.expect('}')
	}
	if len(args) == 2 && (name == "C" || name == "P") {
		return Call(map[string]string{"C": "binom", "P": "arrangements"}[name], args...)
	}
	return Call(name, args...)
}

// arguments parses the rest of a bracketed argument list.
func (p *parser) arguments() []*Node {
	save := p.bars
	p.bars = 0
	defer func() { p.bars = save }()
	n := p.list()
	if !p.accept(')') && !p.accept(']') && !p.accept('}') {
		panic(failing.With(ErrSyntax))
	}
	if n.Kind == KindList {
		return n.Args
	}
	return []*Node{n}
}

// subscripted attaches subscripts and primes to a name.
func (p *parser) subscripted(n *Node) *Node {
	for count := 0; ; count++ {
		switch {
		case count > 8:
			panic(failing.With(ErrSyntax))
		case p.peek().mark('_'):
			p.at++
			n = Symbol(n.Name + "_" + p.subscript())
		case p.peek().mark('\''):
			p.at++
			n = Symbol(n.Name + "'")
		default:
			return n
		}
	}
}

// subscript returns the text of a subscript.
func (p *parser) subscript() string {
	if !p.accept('{') {
		t := p.peek()
		if t.kind == tokenEnd || t.kind == tokenMark {
			panic(failing.With(ErrSyntax))
		}
		if t.kind == tokenWord && len(t.text) > 1 && functions[t.text] == "" {
			p.tokens[p.at].text = t.text[1:]
			return t.text[:1]
		}
		p.at++
		return t.text
	}
	var b strings.Builder
	for depth := 1; ; p.at++ {
		t := p.peek()
		switch {
		case t.kind == tokenEnd || b.Len() > 256:
			panic(failing.With(ErrSyntax))
		case t.mark('{'):
			depth++
		case t.mark('}'):
			if depth--; depth == 0 {
				p.at++
				return b.String()
			}
		default:
			b.WriteString(t.text)
		}
	}
}

// function parses the argument of a named function, with an exponent or a base before it.
func (p *parser) function(f string) *Node {
	p.enter()
	defer p.leave()
	var exponent, base *Node
	if b := p.peek(); f == "log" && p.last().is(tokenWord, "log") && b.kind == tokenNumber && !b.space && !strings.ContainsAny(b.text, ".e") && p.ahead(1).mark('(') && !p.ahead(1).space { // log2(3)
		base = p.primary()
	}
	for {
		if p.peek().mark('^') && exponent == nil {
			p.at++
			exponent = p.argument()
			continue
		}
		if (f == "max" || f == "min") && p.peek().mark('_') {
			p.at--
			return p.operator()
		}
		if p.peek().mark('_') && base == nil && (f == "log" || f == "ln") {
			p.at++
			base = p.digitOrArgument()
			continue
		}
		break
	}
	if f == "sqrt" || f == "cbrt" {
		return p.wordRoot(f, exponent)
	}
	var args []*Node
	switch t := p.peek(); {
	case t.mark('('), t.mark('['), t.mark('{'):
		p.at++
		args = p.arguments()
	default:
		args = []*Node{ungrouped(p.functionOperand())}
	}
	n := build(f, args)
	if base != nil {
		if f != "log" && f != "ln" {
			panic(failing.With(ErrSyntax))
		}
		n = Call("log", args[0], base)
	}
	if exponent != nil {
		if k, ok := exponent.Integer(); ok && k == -1 && inverses[f] != "" {
			return Call(inverses[f], args...)
		}
		n = Power(n, exponent)
	}
	return n
}

// build makes the node of a function that has a normal form of its own.
func build(f string, args []*Node) *Node {
	want := 1
	switch f {
	case "gcd", "lcm", "max", "min":
		if len(args) == 1 && args[0].Kind == KindSet {
			args = args[0].Args
		}
		return Call(f, args...)
	case "log":
		if len(args) == 2 { // log(x, base)
			return Call("log", args[0], args[1])
		}
	case "binom", "arrangements":
		want = 2
	}
	if len(args) != want {
		panic(failing.With(ErrSyntax))
	}
	switch f {
	case "exp":
		return Power(Constant("e"), args[0])
	case "cis":
		return Apply(KindAdd, Call("cos", args[0]), Apply(KindMultiply, Constant("i"), Call("sin", args[0])))
	case "lg":
		return Call("log", args[0], Number(10))
	}
	return Call(f, args...)
}

// wordRoot parses sqrt(x) and sqrt{x} written as a word.
func (p *parser) wordRoot(f string, exponent *Node) *Node {
	degree := int64(2)
	if f == "cbrt" {
		degree = 3
	}
	var n *Node
	if p.accept('(') {
		args := p.arguments()
		if len(args) != 1 {
			panic(failing.With(ErrSyntax))
		}
		n = args[0]
	} else {
		n = p.argument()
	}
	n = Call("root", n, Number(degree))
	if exponent != nil {
		n = Power(n, exponent)
	}
	return n
}

// functionOperand parses the argument of a function written without brackets: sin 2x, cos πt, ln x.
func (p *parser) functionOperand() *Node {
	var factors []*Node
	if t := p.peek(); t.mark('-') {
		p.at++
		return Negate(p.functionOperand())
	}
	for {
		if factors = append(factors, p.power()); len(factors) > maxDepth {
			panic(failing.With(ErrTooLarge))
		}
		t := p.peek()
		if p.startsFactor(t) && !t.mark('(') && !t.mark('[') && t.kind != tokenText && !(wordy(t) || t.kind == tokenCommand) || t.kind == tokenWord && functions[t.text] == "" && len(t.text) == 1 || t.kind == tokenCommand && (greek[t.text] || t.text == "pi" || t.text == "frac") {
			continue
		}
		n := factors[0]
		if len(factors) > 1 {
			n = Apply(KindMultiply, factors...)
		}
		if wordy(t) && angular(t.text) { // sin 10 degrees
			p.at++
			n = quantity(n, "degree")
		}
		return n
	}
}
