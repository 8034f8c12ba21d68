// LaTeX commands, parsed.

package formula

import (
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
)

// command parses an atom that starts with a command.
func (p *parser) command(t token) *Node {
	if f := functions[t.text]; f != "" && t.text != "sqrt" && t.text != "binom" && t.text != "arg" {
		p.at++
		return p.function(f)
	}
	if n := names[t.text]; n != nil {
		p.at++
		return n
	}
	if greek[t.text] {
		p.at++
		name := strings.TrimPrefix(t.text, "var")
		if n := p.peek(); strings.Contains("phi tau sigma mu", name) && n.mark('(') && !n.space && p.ahead(1).kind == tokenNumber && p.ahead(2).mark(')') {
			return p.unknownFunction(name) // of number theory
		}
		return p.subscripted(Symbol(name))
	}
	if accents[t.text] {
		p.at++
		if w := p.ahead(1); p.peek().mark('{') && w.kind == tokenWord && len(w.text) > 1 && w.text == strings.ToUpper(w.text) && p.ahead(2).mark('}') {
			p.at += 3
			return Symbol(t.text + " " + w.text) // a vector, named by its ends
		}
		n := p.argument()
		if n.Kind != KindSymbol && n.Kind != KindConstant {
			panic(failing.With(ErrSyntax))
		}
		return p.subscripted(Symbol(t.text + " " + n.Name))
	}
	switch t.text {
	case "frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac", "flatfrac":
		p.at++
		if t.text == "cfrac" {
			p.skipOptional()
		}
		num := p.digitOrArgument()
		den := p.digitOrArgument()
		if num.Kind == KindSymbol && num.Name == "d" && den.Kind == KindMultiply && den.Args[0].Kind == KindSymbol && den.Args[0].Name == "d" {
			panic(failing.With(ErrSyntax)) // d/dx is an operator
		}
		return Divide(num, den)
	case "binom", "dbinom", "tbinom":
		p.at++
		return Call("binom", p.digitOrArgument(), p.digitOrArgument())
	case "sqrt", "surd":
		return p.root()
	case "{", "lbrace":
		return p.set()
	case "lfloor", "lceil":
		p.at++
		name := map[string]string{"lfloor": "floor", "lceil": "ceil"}[t.text]
		return Call(name, p.inside("r"+name))
	case "langle":
		p.at++
		n := p.inside("rangle")
		if n.Kind == KindList {
			return Apply(KindTuple, n.Args...)
		}
		return n
	case "|", "Vert", "vert", "lvert", "lVert":
		return p.absolute()
	case "begin":
		return p.environment()
	case "sum", "prod":
		return p.series(t.text)
	case "mathbb", "Bbb":
		p.at++
		braced := p.accept('{')
		name := p.peek().text
		if p.peek().kind == tokenEnd {
			panic(failing.With(ErrSyntax))
		}
		p.at++
		if braced {
			p.expect('}')
		}
		return p.namedSet(name)
	case "neg", "lnot", "cancel", "bcancel", "xcancel", "sout", "st":
		p.flaw = Negated
		panic(failing.With(Negated))
	case "top", "intercal":
		p.at++
		return Symbol("T")
	case "dollar", "euro", "pounds", "yen", "rupee":
		p.at++
		if t.text == "dollar" && p.at >= 2 && (p.at == len(p.tokens) || p.closing(p.peek())) {
			panic(failing.With(ErrSyntax))
		}
		return quantity(p.term(), currencies[t.text])
	case "overline":
		p.at++
		if w := p.ahead(1); p.peek().mark('{') && w.kind == tokenWord && w.text == strings.ToUpper(w.text) && p.ahead(2).mark('}') {
			return p.argument() // a segment, named by its ends
		}
		n := p.argument()
		if n.Kind == KindSymbol {
			return p.subscripted(Symbol("bar " + n.Name))
		}
		return Call("conj", n)
	case "angle", "triangle":
		p.at++
		var b strings.Builder
		b.WriteString(t.text + " ")
		for p.peek().kind == tokenWord || p.peek().kind == tokenCommand && greek[p.peek().text] {
			b.WriteString(p.peek().text)
			p.at++
			if p.accept('_') {
				b.WriteString("_" + p.subscript())
			}
		}
		return Symbol(b.String())
	case "ldots", "dots", "cdots", "dotsc", "hdots", "dotsb", "vdots", "ddots":
		p.at++
		return &Node{Kind: KindEllipsis}
	case "partial", "nabla", "Re", "Im":
		p.at++
		return Symbol(t.text)
	case "prime", "circ", "odot", "mho", "star":
		p.at++
		return Symbol(t.text)
	}
	panic(failing.With(ErrSyntax))
}

// skipOptional skips an argument in square brackets.
func (p *parser) skipOptional() {
	if p.peek().mark('[') && p.ahead(2).mark(']') {
		p.at += 3
	}
}

// inside parses up to a closing command.
func (p *parser) inside(end string) *Node {
	save := p.bars
	p.bars = 0
	defer func() { p.bars = save }()
	n := p.list()
	if !p.acceptCommand(end) {
		panic(failing.With(ErrSyntax))
	}
	return n
}

// root parses \sqrt with an optional degree, and √. Without braces it takes a whole number, as people write \sqrt 12.
func (p *parser) root() *Node {
	p.at++
	degree := Number(2)
	if p.accept('[') {
		save := p.bars
		p.bars = 0
		degree = p.expression()
		p.bars = save
		p.expect(']')
	}
	return Call("root", p.argument(), degree)
}

// bracket parses ( ) and [ ]: grouping, tuples, intervals.
func (p *parser) bracket() *Node {
	p.enter()
	defer p.leave()
	open := p.peek().text[0]
	p.at++
	bars, noBar := p.bars, p.noBar
	p.bars, p.noBar = 0, 0
	defer func() { p.bars, p.noBar = bars, noBar }()
	n := p.chosen()
	t := p.peek()
	if !t.mark(')') && !t.mark(']') && !t.mark('[') {
		panic(failing.With(ErrSyntax))
	}
	p.at++
	shut := t.text[0]
	if open == ']' || shut == '[' { // ]a,b[
		open, shut = map[byte]byte{']': '(', '[': '[', '(': '('}[open], map[byte]byte{'[': ')', ']': ']', ')': ')'}[shut]
	}
	if n.Kind != KindList || n.Name != "," && n.Name != "" {
		if open != '(' && shut != ')' && open != '[' || (open == '(') != (shut == ')') {
			panic(failing.With(ErrSyntax))
		}
		return n
	}
	switch {
	case open == '(' && shut == ')':
		return Apply(KindTuple, n.Args...)
	case open == '[' && shut == ']':
		return Apply(KindBracket, n.Args...)
	case len(n.Args) == 2:
		return &Node{Kind: KindInterval, Name: string([]byte{open, shut}), Args: n.Args}
	}
	panic(failing.With(ErrSyntax))
}

// brace parses a TeX group. A list in plain braces is a set.
func (p *parser) brace() *Node {
	p.enter()
	defer p.leave()
	p.at++
	bars, noBar := p.bars, p.noBar
	p.bars, p.noBar = 0, 0
	defer func() { p.bars, p.noBar = bars, noBar }()
	if p.accept('}') {
		if p.at == 2 && p.at == len(p.tokens) {
			return &Node{Kind: KindNamedSet, Name: "empty"}
		}
		if p.peek().mark('_') || p.peek().mark('^') { // {}_5C_2
			return p.selection()
		}
		panic(failing.With(ErrSyntax))
	}
	if p.at == 1 { // {x | x > 2}, the braces of which TeX does not print
		if head := p.builderHead(); head != nil {
			condition := p.list()
			p.expect('}')
			if condition.Kind != KindRelation && condition.Kind != KindList {
				panic(failing.With(ErrSyntax))
			}
			return Apply(KindBuilder, head, condition)
		}
	}
	n := p.chosen()
	p.expect('}')
	if n.Kind == KindList {
		return Apply(KindSet, n.Args...)
	}
	return n
}

// set parses \{ ... \}: elements, or an element and a condition.
func (p *parser) set() *Node {
	p.enter()
	defer p.leave()
	p.at++
	bars := p.bars
	p.bars = 0
	p.noBar++
	defer func() { p.bars = bars; p.noBar-- }()
	if p.acceptBrace() {
		return &Node{Kind: KindNamedSet, Name: "empty"}
	}
	if p.peek().command("begin") {
		n := p.environment()
		if !p.acceptBrace() && p.at < len(p.tokens) {
			panic(failing.With(ErrSyntax))
		}
		return n
	}
	// The colon of a set-builder is not a ratio.
	if head := p.builderHead(); head != nil {
		p.noBar--
		condition := p.list()
		p.noBar++
		p.expectBrace()
		return Apply(KindBuilder, head, condition)
	}
	n := p.list()
	p.expectBrace()
	if n.Kind == KindList {
		return Apply(KindSet, n.Args...)
	}
	return Apply(KindSet, n)
}

func (p *parser) acceptBrace() bool { return p.acceptCommand("}") || p.acceptCommand("rbrace") }

func (p *parser) expectBrace() {
	if !p.acceptBrace() {
		panic(failing.With(ErrSyntax))
	}
}

// builderHead parses "x |", "x \in \mathbb R \mid" or "x :" and returns nil without moving if there is no such head.
func (p *parser) builderHead() *Node {
	level := 0
	for i := 0; i < 64 && !p.head; i++ {
		t := p.ahead(i)
		switch {
		case t.kind == tokenEnd:
			return nil
		case t.mark('(') || t.mark('[') || t.mark('{') || t.command("{"):
			level++
		case t.command("}") && level == 0:
			return nil
		case t.mark(')') || t.mark(']') || t.mark('}') || t.command("}"):
			level--
		case level == 0 && (t.mark('|') || t.command("mid") || t.mark(':') || t.command("vert")):
			end := p.at + i
			sub := parser{tokens: slices.Clone(p.tokens[p.at:end]), head: true, depth: p.depth, noBar: 1, steps: p.steps, run: p.run}
			n, err := sub.attempt(sub.list)
			if err != nil || sub.at < len(sub.tokens) {
				return nil // 1:2 or |x| as an element
			}
			if t.mark(':') && n.Kind == KindNumber {
				return nil
			}
			p.at = end + 1
			return n
		}
	}
	return nil
}

// absolute parses |x|, \lvert x \rvert and norms.
func (p *parser) absolute() *Node {
	p.enter()
	defer p.leave()
	p.at++
	save, noBar := p.bars, p.noBar
	p.bars, p.noBar = 1, 0
	n := p.expression()
	p.bars, p.noBar = save, noBar
	if t := p.peek(); t.mark('|') || t.command("|") || t.command("Vert") || t.command("vert") || t.command("rvert") || t.command("rVert") {
		p.at++
		if n.Kind == KindMatrix {
			return Call("det", n)
		}
		return Call("abs", n)
	}
	panic(failing.With(ErrSyntax))
}

// namedSet returns the set that a blackboard letter names, with the usual superscripts.
func (p *parser) namedSet(name string) *Node {
	if !strings.Contains("RZQNC", name) || len(name) != 1 {
		return p.subscripted(Symbol("mathbb " + name))
	}
	if p.peek().mark('^') || p.peek().mark('_') {
		p.at++
		if t := p.peek(); t.mark('+') || t.mark('-') || t.mark('*') {
			p.at++
			name += t.text
		} else {
			name += p.subscript()
		}
	}
	return &Node{Kind: KindNamedSet, Name: name}
}

// environment parses matrices, cases and arrays.
func (p *parser) environment() *Node {
	p.enter()
	defer p.leave()
	p.at++
	p.expect('{')
	name := strings.TrimSuffix(p.peek().text, "*")
	p.at++
	p.accept('*')
	p.expect('}')
	if name == "array" || name == "tabular" {
		p.subscript() // the column specification
	}
	bars, noBar := p.bars, p.noBar
	p.bars, p.noBar = 0, 0
	defer func() { p.bars, p.noBar = bars, noBar }()
	var cells []*Node
	cols, row := 0, 0
	endRow := func() bool {
		if row == 0 {
			return true
		}
		if cols == 0 {
			cols = row
		}
		ok := row == cols
		row = 0
		return ok
	}
	for {
		switch {
		case p.acceptCommand("end"):
			p.subscript()
			if !endRow() || len(cells) == 0 {
				panic(failing.With(ErrSyntax))
			}
			return p.wrapEnvironment(name, cells, cols)
		case p.acceptCommand("\\"):
			if !endRow() {
				panic(failing.With(ErrSyntax))
			}
		case p.accept('&'), p.acceptCommand("hline"):
		case p.accept(','), p.accept('.'):
		default:
			cells = append(cells, p.relation())
			if row++; len(cells) > MaxElements {
				panic(failing.With(ErrTooLarge))
			}
		}
	}
}

func (p *parser) wrapEnvironment(name string, cells []*Node, cols int) *Node {
	m := &Node{Kind: KindMatrix, Args: cells, Cols: cols}
	switch name {
	case "pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array", "psmallmatrix", "bsmallmatrix":
		return m
	case "vmatrix":
		return Call("det", m)
	case "cases", "aligned", "align", "gathered", "gather", "split", "equation":
		if cols == 1 {
			if len(cells) == 1 {
				return cells[0]
			}
			return &Node{Kind: KindList, Name: "and", Args: cells}
		}
	}
	panic(failing.With(ErrSyntax))
}

// series parses finite sums and products.
func (p *parser) series(name string) *Node {
	p.enter()
	defer p.leave()
	p.at++
	var index, low, high *Node
	for range 2 {
		switch {
		case p.accept('_'):
			braced := p.accept('{')
			v := p.primary()
			if braced && v.Kind == KindNumber { // 1 \le k \le 10
				index, low, high = p.between(v)
				continue
			}
			if !braced || v.Kind != KindSymbol && !(v.Kind == KindConstant && v.Name == "i") || !p.accept('=') {
				panic(failing.With(ErrSyntax))
			}
			index = v
			low = p.expression()
			p.expect('}')
		case p.accept('^'):
			if t := p.peek(); t.kind == tokenWord && len(t.text) == 1 { // the subscript that may follow is the sum's
				high = p.letter()
			} else {
				high = p.argument()
			}
		}
	}
	if index == nil || high == nil {
		panic(failing.With(ErrSyntax))
	}
	variable := Symbol("#" + index.Name)
	return Call(name, rename(p.term(), index, variable), variable, low, high)
}

// between parses the rest of \sum_{1 \le k \le 10} after its first number.
func (p *parser) between(first *Node) (index, low, high *Node) {
	bound := func(op string, n *Node, step int64) (*Node, bool) {
		switch op {
		case "<=":
			return n, true
		case "<":
			return Apply(KindAdd, n, Number(step)), true
		}
		return nil, false
	}
	low, ok := bound(p.relator(), first, 1)
	if !ok {
		panic(failing.With(ErrSyntax))
	}
	index = p.primary()
	op := p.relator()
	high = p.expression()
	if high, ok = bound(op, high, -1); !ok || !p.accept('}') || index.Kind != KindSymbol && index.Kind != KindConstant {
		panic(failing.With(ErrSyntax))
	}
	return index, low, high
}

// rename replaces one atom by another.
func rename(n, from, to *Node) *Node {
	if n.Kind == from.Kind && n.Name == from.Name {
		return to
	}
	return n.Map(func(a *Node) *Node { return rename(a, from, to) })
}
