// LaTeX commands, parsed.

package formula

import (
	"strings"
)

// command parses an atom that starts with a command.
func (p *parser) command(t token) (*Node, error) {
	if f := functions[t.text]; f != "" && t.text != "sqrt" && t.text != "binom" && t.text != "arg" {
		p.at++
		return p.function(f, t.text)
	}
	if n := names[t.text]; n != nil {
		p.at++
		return n, nil
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
			return Symbol(t.text + " " + w.text), nil // a vector, named by its ends
		}
		n, err := p.argument()
		if err != nil || n.Kind != KindSymbol && n.Kind != KindConstant {
			return nil, ErrSyntax
		}
		return p.subscripted(Symbol(t.text + " " + n.Name))
	}
	switch t.text {
	case "frac", "dfrac", "tfrac", "cfrac", "nicefrac", "sfrac", "flatfrac":
		p.at++
		if t.text == "cfrac" {
			p.skipOptional()
		}
		num, err := p.digitOrArgument()
		if err != nil {
			return nil, err
		}
		den, err := p.digitOrArgument()
		if err != nil {
			return nil, err
		}
		if num.Kind == KindSymbol && num.Name == "d" && den.Kind == KindMultiply && den.Args[0].Kind == KindSymbol && den.Args[0].Name == "d" {
			return nil, ErrSyntax // d/dx is an operator
		}
		return Divide(num, den), nil
	case "binom", "dbinom", "tbinom":
		p.at++
		n, err := p.digitOrArgument()
		if err != nil {
			return nil, err
		}
		k, err := p.digitOrArgument()
		if err != nil {
			return nil, err
		}
		return Call("binom", n, k), nil
	case "sqrt", "surd":
		return p.root()
	case "{", "lbrace":
		return p.set()
	case "lfloor", "lceil":
		p.at++
		n, err := p.inside(map[string]string{"lfloor": "rfloor", "lceil": "rceil"}[t.text])
		if err != nil {
			return nil, err
		}
		return Call(map[string]string{"lfloor": "floor", "lceil": "ceil"}[t.text], n), nil
	case "langle":
		p.at++
		n, err := p.inside("rangle")
		if err != nil {
			return nil, err
		}
		if n.Kind == KindList {
			return Apply(KindTuple, n.Args...), nil
		}
		return n, nil
	case "|", "Vert", "vert", "lvert", "lVert":
		return p.absolute(t.text)
	case "begin":
		return p.environment()
	case "sum", "prod":
		return p.series(t.text)
	case "mathbb", "Bbb":
		p.at++
		braced := p.accept('{')
		name := p.peek().text
		if p.peek().kind == tokenEnd {
			return nil, ErrSyntax
		}
		p.at++
		if braced && !p.accept('}') {
			return nil, ErrSyntax
		}
		return p.namedSet(name)
	case "neg", "lnot", "cancel", "bcancel", "xcancel", "sout", "st":
		p.flaw = Negated
		return nil, Negated
	case "top", "intercal":
		p.at++
		return Symbol("T"), nil
	case "dollar", "euro", "pounds", "yen", "rupee":
		p.at++
		if t.text == "dollar" && p.at >= 2 && (p.at == len(p.tokens) || p.closing(p.peek())) {
			return nil, ErrSyntax
		}
		n, err := p.term()
		if err != nil {
			return nil, err
		}
		return quantity(n, currencies[t.text]), nil
	case "overline":
		p.at++
		if w := p.ahead(1); p.peek().mark('{') && w.kind == tokenWord && w.text == strings.ToUpper(w.text) && p.ahead(2).mark('}') {
			return p.argument() // a segment, named by its ends
		}
		n, err := p.argument()
		if err != nil {
			return nil, err
		}
		if n.Kind == KindSymbol {
			return p.subscripted(Symbol("bar " + n.Name))
		}
		return Call("conj", n), nil
	case "angle", "triangle":
		p.at++
		var b strings.Builder
		b.WriteString(t.text + " ")
		for p.peek().kind == tokenWord || p.peek().kind == tokenCommand && greek[p.peek().text] {
			b.WriteString(p.peek().text)
			p.at++
			if p.accept('_') {
				s, err := p.subscript()
				if err != nil {
					return nil, err
				}
				b.WriteString("_" + s)
			}
		}
		return Symbol(b.String()), nil
	case "ldots", "dots", "cdots", "dotsc", "hdots", "dotsb", "vdots", "ddots":
		p.at++
		return &Node{Kind: KindEllipsis}, nil
	case "partial", "nabla", "Re", "Im":
		p.at++
		return Symbol(t.text), nil
	case "prime", "circ", "odot", "mho", "star":
		p.at++
		return Symbol(t.text), nil
	}
	return nil, ErrSyntax
}

// skipOptional skips an argument in square brackets.
func (p *parser) skipOptional() {
	if p.peek().mark('[') && p.ahead(2).mark(']') {
		p.at += 3
	}
}

// inside parses up to a closing command.
func (p *parser) inside(end string) (*Node, error) {
	save := p.bars
	p.bars = 0
	defer func() { p.bars = save }()
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	if !p.acceptCommand(end) {
		return nil, ErrSyntax
	}
	return n, nil
}

// root parses \sqrt with an optional degree; \surd, the folded √, takes a whole number without braces.
func (p *parser) root() (*Node, error) {
	surd := p.peek().text == "surd"
	p.at++
	degree := Number(2)
	if p.accept('[') {
		save := p.bars
		p.bars = 0
		n, err := p.expression()
		p.bars = save
		if err != nil {
			return nil, err
		}
		if !p.accept(']') {
			return nil, ErrSyntax
		}
		degree = n
	}
	var n *Node
	var err error
	if surd {
		n, err = p.argument()
	} else {
		n, err = p.digitOrArgument()
	}
	if err != nil {
		return nil, err
	}
	return Call("root", n, degree), nil
}

// bracket parses ( ) and [ ]: grouping, tuples, intervals.
func (p *parser) bracket() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	open := p.peek().text[0]
	p.at++
	bars, noBar := p.bars, p.noBar
	p.bars, p.noBar = 0, 0
	defer func() { p.bars, p.noBar = bars, noBar }()
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	if !t.mark(')') && !t.mark(']') && !t.mark('[') {
		return nil, ErrSyntax
	}
	p.at++
	shut := t.text[0]
	if open == ']' || shut == '[' { // ]a,b[
		open, shut = map[byte]byte{']': '(', '[': '[', '(': '('}[open], map[byte]byte{'[': ')', ']': ']', ')': ')'}[shut]
	}
	if n.Kind != KindList || n.Name != "," && n.Name != "" {
		if open != '(' && shut != ')' && open != '[' || (open == '(') != (shut == ')') {
			return nil, ErrSyntax
		}
		return n, nil
	}
	switch {
	case open == '(' && shut == ')':
		return Apply(KindTuple, n.Args...), nil
	case open == '[' && shut == ']':
		return Apply(KindBracket, n.Args...), nil
	case len(n.Args) == 2:
		return &Node{Kind: KindInterval, Name: string([]byte{open, shut}), Args: n.Args}, nil
	}
	return nil, ErrSyntax
}

// brace parses a TeX group. A list in plain braces is a set.
func (p *parser) brace() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	bars, noBar := p.bars, p.noBar
	p.bars, p.noBar = 0, 0
	defer func() { p.bars, p.noBar = bars, noBar }()
	if p.accept('}') {
		if p.at == 2 && p.at == len(p.tokens) {
			return &Node{Kind: KindNamedSet, Name: "empty"}, nil
		}
		if p.peek().mark('_') || p.peek().mark('^') { // {}_5C_2
			return p.selection()
		}
		return nil, ErrSyntax
	}
	n, err := p.chosen()
	if err != nil {
		return nil, err
	}
	if !p.accept('}') {
		return nil, ErrSyntax
	}
	if n.Kind == KindList {
		return Apply(KindSet, n.Args...), nil
	}
	return n, nil
}

// set parses \{ ... \}: elements, or an element and a condition.
func (p *parser) set() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	bars := p.bars
	p.bars = 0
	p.noBar++
	defer func() { p.bars = bars; p.noBar-- }()
	if p.acceptBrace() {
		return &Node{Kind: KindNamedSet, Name: "empty"}, nil
	}
	if p.peek().command("begin") {
		n, err := p.environment()
		if err == nil && !p.acceptBrace() && p.at < len(p.tokens) {
			err = ErrSyntax
		}
		return n, err
	}
	// The colon of a set-builder is not a ratio.
	head, err := p.builderHead()
	if err != nil {
		return nil, err
	}
	if head != nil {
		p.noBar--
		condition, err := p.list()
		p.noBar++
		if err != nil {
			return nil, err
		}
		if !p.acceptBrace() {
			return nil, ErrSyntax
		}
		return Apply(KindBuilder, head, condition), nil
	}
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	if !p.acceptBrace() {
		return nil, ErrSyntax
	}
	if n.Kind == KindList {
		return Apply(KindSet, n.Args...), nil
	}
	return Apply(KindSet, n), nil
}

func (p *parser) acceptBrace() bool { return p.acceptCommand("}") || p.acceptCommand("rbrace") }

// builderHead parses "x |", "x \in \mathbb R \mid" or "x :" and returns nil without moving if there is no such head.
func (p *parser) builderHead() (*Node, error) {
	level := 0
	for i := 0; i < 64; i++ {
		t := p.ahead(i)
		switch {
		case t.kind == tokenEnd:
			return nil, nil
		case t.mark('(') || t.mark('[') || t.mark('{') || t.command("{"):
			level++
		case t.command("}") && level == 0:
			return nil, nil
		case t.mark(')') || t.mark(']') || t.mark('}') || t.command("}"):
			level--
		case level == 0 && (t.mark('|') || t.command("mid") || t.mark(':') || t.command("vert")):
			end := p.at + i
			sub := parser{tokens: p.tokens[p.at:end:end], depth: p.depth, noBar: 1, steps: p.steps, run: p.run}
			n, err := sub.list()
			if err != nil || sub.at < len(sub.tokens) {
				return nil, nil // 1:2 or |x| as an element
			}
			if t.mark(':') && n.Kind == KindNumber {
				return nil, nil
			}
			p.at = end + 1
			return n, nil
		}
	}
	return nil, nil
}

// absolute parses |x|, \lvert x \rvert and norms.
func (p *parser) absolute(open string) (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	save, noBar := p.bars, p.noBar
	p.bars, p.noBar = 1, 0
	n, err := p.expression()
	p.bars, p.noBar = save, noBar
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.mark('|') || t.command("|") || t.command("Vert") || t.command("vert") || t.command("rvert") || t.command("rVert") {
		p.at++
		if n.Kind == KindMatrix {
			return Call("det", n), nil
		}
		return Call("abs", n), nil
	}
	return nil, ErrSyntax
}

// namedSet returns the set that a blackboard letter names, with the usual superscripts.
func (p *parser) namedSet(name string) (*Node, error) {
	if !strings.Contains("RZQNC", name) || len(name) != 1 {
		return p.subscripted(Symbol("mathbb " + name))
	}
	if p.peek().mark('^') || p.peek().mark('_') {
		p.at++
		s, err := p.subscript()
		if err != nil {
			if t := p.peek(); t.mark('+') || t.mark('-') || t.mark('*') {
				p.at++
				s = t.text
			} else {
				return nil, err
			}
		}
		name += s
	}
	return &Node{Kind: KindNamedSet, Name: name}, nil
}

// environment parses matrices, cases and arrays.
func (p *parser) environment() (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	if !p.accept('{') {
		return nil, ErrSyntax
	}
	name := strings.TrimSuffix(p.peek().text, "*")
	p.at++
	p.accept('*')
	if !p.accept('}') {
		return nil, ErrSyntax
	}
	if name == "array" || name == "tabular" {
		if _, err := p.subscript(); err != nil { // the column specification
			return nil, err
		}
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
			if _, err := p.subscript(); err != nil {
				return nil, err
			}
			if !endRow() || len(cells) == 0 {
				return nil, ErrSyntax
			}
			return p.wrapEnvironment(name, cells, cols)
		case p.acceptCommand("\\"):
			if !endRow() {
				return nil, ErrSyntax
			}
		case p.accept('&'), p.acceptCommand("hline"):
		case p.accept(','), p.accept('.'):
		default:
			n, err := p.relation()
			if err != nil {
				return nil, err
			}
			cells = append(cells, n)
			if row++; len(cells) > MaxElements {
				return nil, ErrTooLarge
			}
		}
	}
}

func (p *parser) wrapEnvironment(name string, cells []*Node, cols int) (*Node, error) {
	m := &Node{Kind: KindMatrix, Args: cells, Cols: cols}
	switch name {
	case "pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array", "psmallmatrix", "bsmallmatrix":
		return m, nil
	case "vmatrix":
		return Call("det", m), nil
	case "cases", "aligned", "align", "gathered", "gather", "split", "equation":
		if cols == 1 {
			if len(cells) == 1 {
				return cells[0], nil
			}
			return &Node{Kind: KindList, Name: "and", Args: cells}, nil
		}
	}
	return nil, ErrSyntax
}

// series parses finite sums and products.
func (p *parser) series(name string) (*Node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	var index, low, high *Node
	for range 2 {
		switch {
		case p.accept('_'):
			braced := p.accept('{')
			v, err := p.primary()
			if err != nil {
				return nil, err
			}
			if braced && v.Kind == KindNumber { // 1 \le k \le 10
				if index, low, high, err = p.between(v); err != nil {
					return nil, err
				}
				continue
			}
			if !braced || v.Kind != KindSymbol && !(v.Kind == KindConstant && v.Name == "i") || !p.accept('=') {
				return nil, ErrSyntax
			}
			index = v
			if low, err = p.expression(); err != nil {
				return nil, err
			}
			if !p.accept('}') {
				return nil, ErrSyntax
			}
		case p.accept('^'):
			var err error
			if t := p.peek(); t.kind == tokenWord && len(t.text) == 1 { // the subscript that may follow is the sum's
				high = p.letter()
			} else if high, err = p.argument(); err != nil {
				return nil, err
			}
		}
	}
	if index == nil || high == nil {
		return nil, ErrSyntax
	}
	body, err := p.term()
	if err != nil {
		return nil, err
	}
	variable := Symbol("#" + index.Name)
	body = rename(body, index, variable)
	return Call(name, body, variable, low, high), nil
}

// between parses the rest of \sum_{1 \le k \le 10} after its first number.
func (p *parser) between(first *Node) (index, low, high *Node, err error) {
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
		return nil, nil, nil, ErrSyntax
	}
	if index, err = p.primary(); err != nil {
		return nil, nil, nil, err
	}
	op := p.relator()
	if high, err = p.expression(); err != nil {
		return nil, nil, nil, err
	}
	if high, ok = bound(op, high, -1); !ok || !p.accept('}') || index.Kind != KindSymbol && index.Kind != KindConstant {
		return nil, nil, nil, ErrSyntax
	}
	return index, low, high, nil
}

// rename replaces one atom by another.
func rename(n, from, to *Node) *Node {
	if n.Kind == from.Kind && n.Name == from.Name {
		return to
	}
	if len(n.Args) == 0 {
		return n
	}
	c := *n
	c.Args = make([]*Node, len(n.Args))
	for i, a := range n.Args {
		c.Args[i] = rename(a, from, to)
	}
	return &c
}
