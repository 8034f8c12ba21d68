package verify

import (
	"errors"
	"math/big"
	"strings"
	"unicode/utf8"
)

var (
	errSyntax   = errors.New("not a formula of the documented grammar")
	errTooLarge = errors.New("larger than the documented limits")
)

// parser is a recursive descent over tokens with counted depth.
type parser struct {
	tokens []token
	at     int
	depth  int
	bars   int // open |
	noBar  int // inside set-builder heads, where | separates

	sentence bool // words are words, never products of variables
	letters  bool // a unit of one letter after a number is a unit
}

// formula parses tokens as one answer.
func formula(tokens []token) (*node, error) {
	if len(tokens) == 0 {
		return nil, errSyntax
	}
	p := parser{tokens: tokens, sentence: sentencelike(tokens)}
	return p.whole()
}

// chosen parses a list, or a \choose b and a \over b, which take all of their group.
func (p *parser) chosen() (*node, error) {
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	if !t.command("choose") && !t.command("over") {
		return n, nil
	}
	p.at++
	m, err := p.expression()
	if err != nil {
		return nil, err
	}
	if t.text == "over" {
		return divide(n, m), nil
	}
	return call("binom", n, m), nil
}

// sentencelike reports whether two words follow each other or a word precedes a number: prose, not a product.
func sentencelike(tokens []token) bool {
	for i, t := range tokens {
		if i == 0 || t.kind != tokenWord && t.kind != tokenNumber || tokens[i-1].kind != tokenWord || !t.space {
			continue
		}
		w := tokens[i-1].text
		if len(w) > 1 && w[0] < 'a' && w[1] >= 'a' && w[1:] == strings.ToLower(w[1:]) && !vocabulary(w) && t.kind == tokenWord {
			return true // So x
		}
		if len(w) < 2 || vocabulary(w) || t.kind == tokenNumber && len(w) < 3 {
			continue
		}
		if t.kind == tokenNumber || len(t.text) > 1 && !vocabulary(t.text) {
			return true
		}
	}
	return false
}

// vocabulary reports whether a word belongs to formulas.
func vocabulary(w string) bool {
	lower := strings.ToLower(w)
	switch lower {
	case "and", "or", "mod", "for", "where", "if", "with", "when", "either", "both", "is", "equals", "am", "pm":
		return true
	}
	return functions[w] != "" || functions[lower] != "" || names[w] != nil || names[lower] != nil || greek[w]
}

// whole parses all tokens.
func (p *parser) whole() (*node, error) {
	n, err := p.chosen()
	if err != nil {
		return nil, err
	}
	if p.at < len(p.tokens) {
		return nil, errSyntax
	}
	return n, nil
}

func (p *parser) peek() token {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return token{}
}

func (p *parser) ahead(n int) token {
	if p.at+n < len(p.tokens) {
		return p.tokens[p.at+n]
	}
	return token{}
}

func (p *parser) accept(c byte) bool {
	if p.peek().mark(c) {
		p.at++
		return true
	}
	return false
}

func (p *parser) acceptCommand(name string) bool {
	if p.peek().command(name) {
		p.at++
		return true
	}
	return false
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return errTooLarge
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

func wordy(t token) bool { return t.kind == tokenText || t.kind == tokenWord }

// separator consumes what separates the elements of a list and returns its name.
func (p *parser) separator() string {
	t := p.peek()
	switch {
	case t.mark(',') || t.mark(';') || t.command("\\"):
		p.at++
		for p.peek().mark(',') || p.peek().mark(';') || p.peek().command("\\") {
			p.at++
		}
		if s := p.conjunction(); s != "" {
			return s
		}
		return ","
	case t.mark('&'):
		p.at++
		return ","
	}
	return p.conjunction()
}

func (p *parser) conjunction() string {
	t := p.peek()
	switch {
	case wordy(t) && strings.EqualFold(t.text, "and"), t.command("wedge"), t.command("land"):
		p.at++
		return "and"
	case wordy(t) && strings.EqualFold(t.text, "or"), t.command("vee"), t.command("lor"):
		p.at++
		return "or"
	}
	return ""
}

// list parses elements separated by commas and conjunctions.
func (p *parser) list() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	for wordy(p.peek()) && (strings.EqualFold(p.peek().text, "either") || strings.EqualFold(p.peek().text, "both")) {
		p.at++
	}
	first, err := p.relation()
	if err != nil {
		return nil, err
	}
	elements, name := []*node{first}, ""
	for {
		save := p.at
		sep := p.separator()
		if sep == "" {
			break
		}
		if p.at == len(p.tokens) || p.closing(p.peek()) {
			if sep != "," {
				return nil, errSyntax
			}
			if p.at < len(p.tokens) {
				p.at = save
			}
			break
		}
		if name == "" || name == "," {
			name = sep
		} else if sep != "," && sep != name {
			return nil, errSyntax // and mixed with or
		}
		next, err := p.relation()
		if err != nil {
			return nil, err
		}
		if elements = append(elements, next); len(elements) > maxElements {
			return nil, errTooLarge
		}
	}
	if len(elements) == 1 {
		return first, nil
	}
	spread(elements)
	return &node{kind: kindList, name: name, args: elements}, nil
}

// spread reads "x = 1, 2" as "x = 1, x = 2", and "x != 1, 2" likewise.
func spread(elements []*node) {
	first := elements[0]
	if first.kind != kindRelation || len(first.ops) != 1 || first.ops[0] != "=" && first.ops[0] != "!=" || first.args[0].kind != kindSymbol {
		return
	}
	for _, e := range elements[1:] {
		if !e.scalar() {
			return
		}
	}
	for i, e := range elements[1:] {
		elements[i+1] = &node{kind: kindRelation, ops: first.ops, args: []*node{first.args[0], e}}
	}
}

// closing reports whether t ends a bracketed list.
func (p *parser) closing(t token) bool {
	return t.mark(')') || t.mark(']') || t.mark('}') || t.mark('|') && p.bars > 0 || t.command("}") || t.command("rangle") || t.command("rfloor") || t.command("rceil") || t.command("end")
}

var relations = map[string]string{
	"le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=", "geqq": ">=", "lt": "<", "gt": ">",
	"ne": "!=", "neq": "!=", "approx": "~", "simeq": "~", "thickapprox": "~", "doteq": "~", "sim": "~", "cong": "~", "equiv": "==", "in": "in", "notin": "notin", "subset": "subset", "subseteq": "subset",
	"to": "->", "rightarrow": "->", "implies": "=>", "Rightarrow": "=>", "Longrightarrow": "=>", "mapsto": "->", "iff": "<=>", "Leftrightarrow": "<=>", "propto": "propto", "perp": "perp", "parallel": "parallel",
}

// relator consumes a relation sign and returns its normal name.
func (p *parser) relator() string {
	t := p.peek()
	switch t.kind {
	case tokenMark:
		if t.text == "=" || t.text == "<" || t.text == ">" {
			p.at++
			return t.text
		}
	case tokenCommand:
		if op, ok := relations[t.text]; ok {
			p.at++
			return op
		}
		if t.text == "not" {
			save := p.at
			p.at++
			switch p.relator() {
			case "=":
				return "!="
			case "in":
				return "notin"
			}
			p.at = save
		}
	case tokenText:
		switch strings.ToLower(t.text) {
		case "is", "equals", "is equal to":
			p.at++
			return "="
		}
	}
	return ""
}

// unnamed is the variable of a relation that was written without one.
const unnamed = "?"

// relation parses expressions joined by relation signs: equations, inequalities, chains, definitions.
func (p *parser) relation() (*node, error) {
	if d := p.definition(); d != nil {
		body, err := p.expression()
		if err != nil {
			return nil, err
		}
		if p.relator() != "" {
			return nil, errSyntax
		}
		d.args = []*node{body}
		p.condition()
		return d, nil
	}
	if op := p.relator(); op != "" && op != "=" && op != "~" { // "< 5": what is compared goes without saying
		n, err := p.expression()
		if err != nil {
			return nil, err
		}
		return &node{kind: kindRelation, args: []*node{symbol(unnamed), n}, ops: []string{op}}, nil
	}
	first, err := p.expression()
	if err != nil {
		return nil, err
	}
	args, ops := []*node{first}, []string(nil)
	for {
		op := p.relator()
		if op == "" {
			break
		}
		next, err := p.expression()
		if err != nil {
			return nil, err
		}
		if op == "=>" || op == "<=>" { // the conclusion counts
			args, ops = []*node{next}, nil
			continue
		}
		args, ops = append(args, next), append(ops, op)
	}
	p.condition()
	if len(ops) == 0 {
		return first, nil
	}
	if ops[len(ops)-1] == "==" {
		if n := p.modulus(); n != nil {
			last := len(args) - 1
			args[last] = quantity(args[last], "mod "+n.String())
		}
	}
	return &node{kind: kindRelation, args: args, ops: ops}, nil
}

// modulus parses (mod n) after a congruence.
func (p *parser) modulus() *node {
	save := p.at
	open := p.accept('(')
	t := p.peek()
	if t.command("pmod") || t.command("bmod") || t.command("mod") || t.command("pod") || wordy(t) && strings.EqualFold(t.text, "mod") {
		p.at++
		if n, err := p.expression(); err == nil && (!open || p.accept(')')) {
			return n
		}
	}
	p.at = save
	return nil
}

// condition skips a trailing condition such as "for all real x" or "where n is an integer" up to the end.
func (p *parser) condition() {
	t := p.peek()
	if t.kind != tokenText && !(t.kind == tokenWord && len(t.text) > 2) {
		return
	}
	switch strings.ToLower(t.text) {
	case "for", "where", "with", "when", "if":
		for p.at < len(p.tokens) {
			p.at++
		}
	}
}

// definition recognises f(x)= and f(x,y)= and returns a node without body.
func (p *parser) definition() *node {
	name := p.peek()
	if name.kind != tokenWord || len(name.text) != 1 || name.text == "e" || name.text == "i" || !p.ahead(1).mark('(') {
		return nil
	}
	var params []string
	for i := 2; ; i += 2 {
		v, next := p.ahead(i), p.ahead(i+1)
		if v.kind != tokenWord && v.kind != tokenCommand || v.kind == tokenWord && len(v.text) != 1 || v.kind == tokenCommand && !greek[v.text] {
			return nil
		}
		params = append(params, v.text)
		if next.mark(',') {
			continue
		}
		if next.mark(')') && p.ahead(i+2).mark('=') {
			p.at += i + 3
			return &node{kind: kindDefine, name: name.text, ops: params}
		}
		return nil
	}
}

// expression parses sums, set operations and ratios.
func (p *parser) expression() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.peek().mark(':') {
		return p.ratio(left)
	}
	chain := 0
	for {
		t := p.peek()
		var k kind
		switch {
		case t.command("cup") || t.command("bigcup") || t.kind == tokenWord && t.text == "U" && setLike(left):
			k = kindUnion
		case t.command("cap"):
			k = kindMeet
		case t.command("setminus") || t.command("backslash") || t.command("smallsetminus"):
			k = kindMinus
		default:
			return left, nil
		}
		if chain++; chain > maxDepth {
			return nil, errTooLarge
		}
		p.at++
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		if left.kind == k && k != kindMinus {
			left = apply(k, append(left.args[:len(left.args):len(left.args)], right)...)
		} else {
			left = apply(k, left, right)
		}
	}
}

func setLike(n *node) bool { return n.kind >= kindTuple && n.kind <= kindBuilder }

func (p *parser) ratio(first *node) (*node, error) {
	args := []*node{first}
	for p.peek().mark(':') && len(args) < 16 {
		p.at++
		next, err := p.sum()
		if err != nil {
			return nil, err
		}
		args = append(args, next)
	}
	return apply(kindRatio, args...), nil
}

// sum parses terms joined by + - ± ∓.
func (p *parser) sum() (*node, error) {
	var terms []*node
	for {
		t := p.peek()
		sign := ""
		switch {
		case t.mark('+') || t.mark('-'):
			sign = t.text
		case t.command("pm") || t.command("mp"):
			sign = t.text
		case t.mark('/') && len(terms) == 0:
			return nil, errSyntax
		}
		if sign == "" && len(terms) > 0 {
			break
		}
		if sign != "" {
			p.at++
			if sign == "+" && p.peek().mark('/') && p.ahead(1).mark('-') { // +/-
				p.at += 2
				sign = "pm"
			}
		}
		// Ellipsis inside a sum is not evaluated.
		n, err := p.term()
		if err != nil {
			return nil, err
		}
		switch {
		case sign == "-" && n.kind == kindQuantity:
			n = quantity(negate(n.args[0]), n.name)
		case sign == "-":
			n = negate(n)
		case sign == "pm" || sign == "mp":
			n = &node{kind: kindSign, name: sign, args: []*node{n}}
		}
		terms = append(terms, n)
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	return common(kindAdd, terms), nil
}

// common joins operands and moves their unit to the outside: 3 cm + 4 cm. Degrees stay, they are a factor.
func common(k kind, operands []*node) *node {
	unit := ""
	for i, n := range operands {
		if n.kind == kindQuantity && n.name != "degree" {
			if i == len(operands)-1 || k == kindAdd {
				unit = n.name
			}
			operands[i] = n.args[0]
		}
	}
	if unit == "" {
		return apply(k, operands...)
	}
	return quantity(apply(k, operands...), unit)
}

// term parses factors joined by multiplication, division and juxtaposition.
func (p *parser) term() (*node, error) {
	left, err := p.unary()
	if err != nil {
		return nil, err
	}
	var factors []*node
	flush := func() *node {
		if factors != nil {
			left, factors = common(kindMultiply, factors), nil
		}
		return left
	}
	times := func(n *node) {
		if factors == nil {
			factors = []*node{left}
		}
		factors = append(factors, n)
	}
	divisions := 0
	for {
		t := p.peek()
		switch {
		case t.mark('*') || t.is(tokenWord, "x") && t.space && p.last().kind == tokenNumber && p.ahead(1).kind == tokenNumber && p.ahead(1).space || t.command("cdot") || t.command("times") || t.command("ast") || t.command("cdotp"):
			p.at++
			n, err := p.unary()
			if err != nil {
				return nil, err
			}
			times(n)
		case t.mark('/') || t.command("div"):
			if divisions++; divisions > maxDepth {
				return nil, errTooLarge
			}
			p.at++
			if t.mark('/') && p.peek().mark('/') { // floor division
				p.at++
				n, err := p.unary()
				if err != nil {
					return nil, err
				}
				left = call("floor", divide(flush(), n))
				continue
			}
			if unit := p.unitAfterSlash(flush()); unit != nil {
				left = unit
				continue
			}
			n, err := p.unary()
			if err != nil {
				return nil, err
			}
			left = common(kindDivide, []*node{flush(), n})
		case t.command("bmod") || t.command("mod") || t.kind == tokenWord && t.text == "mod" || t.command("pmod"):
			p.at++
			n, err := p.unary()
			if err != nil {
				return nil, err
			}
			if t.command("pmod") {
				if n.has(isSign) {
					return nil, errSyntax
				}
				return quantity(flush(), "mod "+n.String()), nil
			}
			left = call("mod", flush(), n)
		case p.startsFactor(t):
			if q := p.units(flush()); q != nil {
				left = q
				continue
			}
			if t.kind == tokenNumber && flush().kind == kindQuantity {
				n, err := p.compound(left)
				if err != nil {
					return nil, err
				}
				left = n
				continue
			}
			if t.kind == tokenNumber && p.last().kind == tokenNumber && !endsInPower(left, factors) { // 2 1/2
				n, err := p.mixedNumber(flush(), divisions)
				if err != nil {
					return nil, err
				}
				left = n
				continue
			}
			n, err := p.power()
			if err != nil {
				return nil, err
			}
			if factors == nil && mixed(left, n, p.last()) {
				left = apply(kindAdd, left, n)
				continue
			}
			times(n)
		default:
			return flush(), nil
		}
	}
}

func isSign(n *node) bool { return n.kind == kindSign }

// endsInPower reports whether a product so far is a factorisation such as 2^3 5 7, in which numbers stand side by side.
func endsInPower(left *node, factors []*node) bool {
	return left.kind == kindPower || len(factors) > 0 && factors[0].kind == kindPower
}

// mixedNumber parses the fraction of "2 1/2". Other numbers side by side mean nothing.
func (p *parser) mixedNumber(whole *node, divisions int) (*node, error) {
	t := p.peek()
	if whole.kind != kindNumber || divisions > 0 || !t.space || !p.ahead(1).mark('/') || p.ahead(2).kind != tokenNumber {
		return nil, errSyntax
	}
	p.at++
	num, err := numeral(p, t)
	if err != nil {
		return nil, err
	}
	p.at++
	t = p.peek()
	p.at++
	den, err := numeral(p, t)
	if err != nil {
		return nil, err
	}
	if !whole.rat.IsInt() || !num.rat.IsInt() || !den.rat.IsInt() || num.rat.Cmp(den.rat) >= 0 {
		return nil, errSyntax
	}
	return apply(kindAdd, whole, divide(num, den)), nil
}

// mixed reports whether an integer directly followed by a fraction of integers is a mixed number.
func mixed(whole, part *node, last token) bool {
	if whole.kind != kindNumber || !whole.rat.IsInt() || whole.dec || part.kind != kindDivide || !last.mark('}') && last.kind != tokenNumber {
		return false
	}
	a, ok := part.args[0].integer()
	b, ok2 := part.args[1].integer()
	return ok && ok2 && a > 0 && a < b
}

// startsFactor reports whether t can begin a factor that is multiplied by juxtaposition.
func (p *parser) startsFactor(t token) bool {
	switch t.kind {
	case tokenNumber:
		return true
	case tokenWord, tokenText:
		switch strings.ToLower(t.text) {
		case "and", "or", "mod", "is", "equals":
			return false
		case "for", "where", "with", "when", "if":
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
		case "cup", "cap", "setminus", "backslash", "smallsetminus", "bigcup", "pm", "mp", "\\", "}", "rangle", "rfloor", "rceil", "end", "mid", "wedge", "vee", "land", "lor", "choose", "over", "ldots", "dots", "cdots", "dotsc", "hdots", "vdots", "ddots", "pmod":
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
func (p *parser) unary() (*node, error) {
	t := p.peek()
	switch {
	case t.mark('-') || t.mark('+') || t.command("pm") || t.command("mp"):
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		p.at++
		n, err := p.unary()
		switch {
		case err != nil || t.mark('+'):
			return n, err
		case t.mark('-'):
			return negate(n), nil
		}
		return &node{kind: kindSign, name: t.text, args: []*node{n}}, nil
	}
	return p.power()
}

// power parses a primary with its postfixes: exponents, factorials, percent, degrees, primes.
func (p *parser) power() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	base, err := p.primary()
	if err != nil {
		return nil, err
	}
	return p.postfix(base)
}

func (p *parser) postfix(base *node) (*node, error) {
	for count := 0; ; count++ {
		if count > maxDepth {
			return nil, errTooLarge
		}
		t := p.peek()
		switch {
		case t.mark('^'):
			n, done, err := p.exponent(base)
			if err != nil || done {
				return n, err
			}
			base = n
		case t.mark('!'):
			p.at++
			name := "factorial"
			if p.peek().mark('!') && !p.peek().space {
				p.at++
				name = "doublefactorial"
			}
			base = call(name, base)
		case t.mark('%') || t.command("percent"):
			p.at++
			if f := p.peek(); p.startsFactor(f) && (f.kind == tokenNumber || f.mark('(')) { // a % b
				n, err := p.primary()
				if err != nil {
					return nil, err
				}
				base = call("mod", base, n)
				continue
			}
			base = apply(kindPercent, base)
		case t.command("permil"):
			p.at++
			base = divide(base, number(1000))
		case t.command("degree") || t.command("circ") && base.kind == kindNumber:
			p.at++
			base = p.degrees(base)
		case t.mark('\'') && base.kind == kindSymbol:
			p.at++
			base = symbol(base.name + "'")
		case t.mark('\'') && base.kind == kindQuantity && base.name == "degree":
			p.at++
			return nil, errSyntax
		case t.mark('\'') && base.kind == kindNumber: // 5'4"
			p.at++
			base = quantity(base, "foot")
			if p.peek().kind == tokenNumber && p.ahead(1).mark('"') {
				inches, err := numeral(p, p.peek())
				if err != nil {
					return nil, err
				}
				p.at += 2
				base = quantity(apply(kindAdd, base.args[0], divide(inches, number(12))), "foot")
			}
		case t.mark('"') && base.kind == kindNumber:
			p.at++
			base = quantity(base, "inch")
		case t.mark('_') && base.kind == kindNumber:
			n, err := p.based(base)
			if err != nil {
				return nil, err
			}
			base = n
		default:
			return base, nil
		}
	}
}

// exponent parses ^x after base; done means that nothing may follow.
func (p *parser) exponent(base *node) (n *node, done bool, err error) {
	p.at++
	switch {
	case p.acceptCommand("circ"), p.acceptCommand("degree"):
		return p.degrees(base), false, nil
	case p.acceptCommand("prime"):
		if base.kind == kindSymbol {
			return symbol(base.name + "'"), false, nil
		}
		return nil, false, errSyntax
	case p.peek().mark('{') && p.ahead(1).command("circ") && p.ahead(2).mark('}'):
		p.at += 3
		return p.degrees(base), false, nil
	case p.peek().mark('{') && p.ahead(1).command("prime"):
		p.at++
		for p.acceptCommand("prime") {
			if base.kind != kindSymbol {
				return nil, false, errSyntax
			}
			base = symbol(base.name + "'")
		}
		if !p.accept('}') {
			return nil, false, errSyntax
		}
		return base, false, nil
	case p.peek().mark('{') && p.ahead(1).kind == tokenText && p.ahead(2).mark('}'):
		ordinal := strings.ToLower(p.ahead(1).text)
		if ordinal == "th" || ordinal == "st" || ordinal == "nd" || ordinal == "rd" {
			p.at += 3
			return base, false, nil
		}
	}
	e, err := p.argument()
	if err != nil {
		return nil, false, err
	}
	if p.peek().mark('^') { // right-associative
		if err := p.enter(); err != nil {
			return nil, false, err
		}
		defer p.leave()
		if e, _, err = p.exponent(e); err != nil {
			return nil, false, err
		}
	}
	if p.peek().mark('!') && p.last().kind == tokenNumber { // 2^3! is 2^(3!) in plain text as in TeX's eye
		p.at++
		e = call("factorial", e)
	}
	return power(base, e), false, nil
}

func (p *parser) degrees(base *node) *node {
	t := p.peek()
	if t.kind == tokenText || t.kind == tokenWord {
		switch t.text {
		case "C", "F":
			p.at++
			return quantity(base, map[string]string{"C": "celsius", "F": "fahrenheit"}[t.text])
		}
	}
	if t.command("dollar") {
		return nil
	}
	return quantity(base, "degree")
}

// based reads a subscript after a numeral as the base it is written in.
func (p *parser) based(base *node) (*node, error) {
	digits := p.last()
	if digits.mark(')') && p.at > 1 { // (1010)_2
		digits = p.tokens[p.at-2]
	}
	p.at++
	sub := p.wordBase()
	if sub == nil {
		var err error
		if sub, err = p.argument(); err != nil {
			return nil, err
		}
	}
	if sub.kind == kindSymbol {
		return call("base", base, sub), nil
	}
	b, ok := sub.integer()
	if !ok || b < 2 || b > 36 || digits.kind != tokenNumber || strings.ContainsAny(digits.text, "e") {
		return nil, errSyntax
	}
	value, ok := inBase(digits.text, b)
	if !ok {
		return nil, errSyntax
	}
	return &node{kind: kindBased, rat: value, name: digits.text, args: []*node{number(int64(b))}}, nil
}

func (p *parser) wordBase() *node {
	save := p.at
	p.accept('{')
	t := p.peek()
	bases := map[string]int64{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16}
	if b := bases[strings.ToLower(t.text)]; wordy(t) && b != 0 {
		p.at++
		p.accept('}')
		return number(b)
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
	scale := new(big.Int).Exp(big.NewInt(int64(b)), big.NewInt(int64(len(part))), nil)
	return new(big.Rat).SetFrac(n, scale), true
}

// argument parses what TeX takes as one argument: a group, a command with its own arguments, or one token; a whole
// number counts as one token, as people write 2^10.
func (p *parser) argument() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.peek()
	switch {
	case t.mark('-') || t.mark('+'):
		p.at++
		n, err := p.argument()
		if err != nil || t.mark('+') {
			return n, err
		}
		return negate(n), nil
	case t.kind == tokenWord && len(t.text) > 1 && functions[t.text] == "" && names[t.text] == nil:
		return p.letter(), nil
	}
	return p.primary()
}

// digitOrArgument parses the argument of \frac and \sqrt, where a bare number is one digit.
func (p *parser) digitOrArgument() (*node, error) {
	t := p.peek()
	if t.kind == tokenNumber && len(t.text) > 1 && digit(t.text[0]) {
		p.tokens[p.at].text = t.text[1:]
		return number(int64(t.text[0] - '0')), nil
	}
	return p.argument()
}

// letter takes the first letter of the word at hand as a variable and leaves the rest.
func (p *parser) letter() *node {
	t := p.peek()
	_, size := utf8.DecodeRuneInString(t.text)
	if size == len(t.text) {
		p.at++
	} else {
		p.tokens[p.at] = token{kind: tokenWord, text: t.text[size:]}
	}
	return variable(t.text[:size])
}

// last returns the token before the one at hand.
func (p *parser) last() token {
	if p.at == 0 {
		return token{}
	}
	return p.tokens[p.at-1]
}
