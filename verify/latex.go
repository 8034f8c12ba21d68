package verify

import "strings"

// command parses an atom that starts with a command.
func (p *parser) command(t token) (*node, error) {
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
		return p.subscripted(symbol(name))
	}
	if accents[t.text] {
		p.at++
		if w := p.ahead(1); p.peek().mark('{') && w.kind == tokenWord && len(w.text) > 1 && w.text == strings.ToUpper(w.text) && p.ahead(2).mark('}') {
			p.at += 3
			return symbol(t.text + " " + w.text), nil // a vector, named by its ends
		}
		n, err := p.argument()
		if err != nil || n.kind != kindSymbol && n.kind != kindConstant {
			return nil, errSyntax
		}
		return p.subscripted(symbol(t.text + " " + n.name))
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
		if num.kind == kindSymbol && num.name == "d" && den.kind == kindMultiply && den.args[0].kind == kindSymbol && den.args[0].name == "d" {
			return nil, errSyntax // d/dx is an operator
		}
		return divide(num, den), nil
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
		return call("binom", n, k), nil
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
		return call(map[string]string{"lfloor": "floor", "lceil": "ceil"}[t.text], n), nil
	case "langle":
		p.at++
		n, err := p.inside("rangle")
		if err != nil {
			return nil, err
		}
		if n.kind == kindList {
			return apply(kindTuple, n.args...), nil
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
			return nil, errSyntax
		}
		p.at++
		if braced && !p.accept('}') {
			return nil, errSyntax
		}
		return p.namedSet(name)
	case "neg", "lnot", "cancel", "bcancel", "xcancel", "sout", "st":
		p.flaw = negated
		return nil, negated
	case "top", "intercal":
		p.at++
		return symbol("T"), nil
	case "dollar", "euro", "pounds", "yen", "rupee":
		p.at++
		if t.text == "dollar" && p.at >= 2 && (p.at == len(p.tokens) || p.closing(p.peek())) {
			return nil, errSyntax
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
		if n.kind == kindSymbol {
			return p.subscripted(symbol("bar " + n.name))
		}
		return call("conj", n), nil
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
		return symbol(b.String()), nil
	case "ldots", "dots", "cdots", "dotsc", "hdots", "dotsb", "vdots", "ddots":
		p.at++
		return &node{kind: kindEllipsis}, nil
	case "partial", "nabla", "Re", "Im":
		p.at++
		return symbol(t.text), nil
	case "prime", "circ", "odot", "mho", "star":
		p.at++
		return symbol(t.text), nil
	}
	return nil, errSyntax
}

// skipOptional skips an argument in square brackets.
func (p *parser) skipOptional() {
	if p.peek().mark('[') && p.ahead(2).mark(']') {
		p.at += 3
	}
}

// inside parses up to a closing command.
func (p *parser) inside(end string) (*node, error) {
	save := p.bars
	p.bars = 0
	defer func() { p.bars = save }()
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	if !p.acceptCommand(end) {
		return nil, errSyntax
	}
	return n, nil
}

// root parses \sqrt with an optional degree; \surd, the folded √, takes a whole number without braces.
func (p *parser) root() (*node, error) {
	surd := p.peek().text == "surd"
	p.at++
	degree := number(2)
	if p.accept('[') {
		save := p.bars
		p.bars = 0
		n, err := p.expression()
		p.bars = save
		if err != nil {
			return nil, err
		}
		if !p.accept(']') {
			return nil, errSyntax
		}
		degree = n
	}
	var n *node
	var err error
	if surd {
		n, err = p.argument()
	} else {
		n, err = p.digitOrArgument()
	}
	if err != nil {
		return nil, err
	}
	return call("root", n, degree), nil
}

// bracket parses ( ) and [ ]: grouping, tuples, intervals.
func (p *parser) bracket() (*node, error) {
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
		return nil, errSyntax
	}
	p.at++
	shut := t.text[0]
	if open == ']' || shut == '[' { // ]a,b[
		open, shut = map[byte]byte{']': '(', '[': '[', '(': '('}[open], map[byte]byte{'[': ')', ']': ']', ')': ')'}[shut]
	}
	if n.kind != kindList || n.name != "," && n.name != "" {
		if open != '(' && shut != ')' && open != '[' || (open == '(') != (shut == ')') {
			return nil, errSyntax
		}
		return n, nil
	}
	switch {
	case open == '(' && shut == ')':
		return apply(kindTuple, n.args...), nil
	case open == '[' && shut == ']':
		return apply(kindBracket, n.args...), nil
	case len(n.args) == 2:
		return &node{kind: kindInterval, name: string([]byte{open, shut}), args: n.args}, nil
	}
	return nil, errSyntax
}

// brace parses a TeX group. A list in plain braces is a set.
func (p *parser) brace() (*node, error) {
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
			return &node{kind: kindNamedSet, name: "empty"}, nil
		}
		if p.peek().mark('_') || p.peek().mark('^') { // {}_5C_2
			return p.selection()
		}
		return nil, errSyntax
	}
	n, err := p.chosen()
	if err != nil {
		return nil, err
	}
	if !p.accept('}') {
		return nil, errSyntax
	}
	if n.kind == kindList {
		return apply(kindSet, n.args...), nil
	}
	return n, nil
}

// set parses \{ ... \}: elements, or an element and a condition.
func (p *parser) set() (*node, error) {
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
		return &node{kind: kindNamedSet, name: "empty"}, nil
	}
	if p.peek().command("begin") {
		n, err := p.environment()
		if err == nil && !p.acceptBrace() && p.at < len(p.tokens) {
			err = errSyntax
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
			return nil, errSyntax
		}
		return apply(kindBuilder, head, condition), nil
	}
	n, err := p.list()
	if err != nil {
		return nil, err
	}
	if !p.acceptBrace() {
		return nil, errSyntax
	}
	if n.kind == kindList {
		return apply(kindSet, n.args...), nil
	}
	return apply(kindSet, n), nil
}

func (p *parser) acceptBrace() bool { return p.acceptCommand("}") || p.acceptCommand("rbrace") }

// builderHead parses "x |", "x \in \mathbb R \mid" or "x :" and returns nil without moving if there is no such head.
func (p *parser) builderHead() (*node, error) {
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
			if t.mark(':') && n.kind == kindNumber {
				return nil, nil
			}
			p.at = end + 1
			return n, nil
		}
	}
	return nil, nil
}

// absolute parses |x|, \lvert x \rvert and norms.
func (p *parser) absolute(open string) (*node, error) {
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
		if n.kind == kindMatrix {
			return call("det", n), nil
		}
		return call("abs", n), nil
	}
	return nil, errSyntax
}

// namedSet returns the set that a blackboard letter names, with the usual superscripts.
func (p *parser) namedSet(name string) (*node, error) {
	if !strings.Contains("RZQNC", name) || len(name) != 1 {
		return p.subscripted(symbol("mathbb " + name))
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
	return &node{kind: kindNamedSet, name: name}, nil
}

// environment parses matrices, cases and arrays.
func (p *parser) environment() (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	if !p.accept('{') {
		return nil, errSyntax
	}
	name := strings.TrimSuffix(p.peek().text, "*")
	p.at++
	p.accept('*')
	if !p.accept('}') {
		return nil, errSyntax
	}
	if name == "array" || name == "tabular" {
		if _, err := p.subscript(); err != nil { // the column specification
			return nil, err
		}
	}
	bars, noBar := p.bars, p.noBar
	p.bars, p.noBar = 0, 0
	defer func() { p.bars, p.noBar = bars, noBar }()
	var cells []*node
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
				return nil, errSyntax
			}
			return p.wrapEnvironment(name, cells, cols)
		case p.acceptCommand("\\"):
			if !endRow() {
				return nil, errSyntax
			}
		case p.accept('&'), p.acceptCommand("hline"):
		case p.accept(','), p.accept('.'):
		default:
			n, err := p.relation()
			if err != nil {
				return nil, err
			}
			cells = append(cells, n)
			if row++; len(cells) > maxElements {
				return nil, errTooLarge
			}
		}
	}
}

func (p *parser) wrapEnvironment(name string, cells []*node, cols int) (*node, error) {
	m := &node{kind: kindMatrix, args: cells, cols: cols}
	switch name {
	case "pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array", "psmallmatrix", "bsmallmatrix":
		return m, nil
	case "vmatrix":
		return call("det", m), nil
	case "cases", "aligned", "align", "gathered", "gather", "split", "equation":
		if cols == 1 {
			if len(cells) == 1 {
				return cells[0], nil
			}
			return &node{kind: kindList, name: "and", args: cells}, nil
		}
	}
	return nil, errSyntax
}

// series parses finite sums and products.
func (p *parser) series(name string) (*node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	p.at++
	var index, low, high *node
	for range 2 {
		switch {
		case p.accept('_'):
			braced := p.accept('{')
			v, err := p.primary()
			if err != nil {
				return nil, err
			}
			if braced && v.kind == kindNumber { // 1 \le k \le 10
				if index, low, high, err = p.between(v); err != nil {
					return nil, err
				}
				continue
			}
			if !braced || v.kind != kindSymbol && !(v.kind == kindConstant && v.name == "i") || !p.accept('=') {
				return nil, errSyntax
			}
			index = v
			if low, err = p.expression(); err != nil {
				return nil, err
			}
			if !p.accept('}') {
				return nil, errSyntax
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
		return nil, errSyntax
	}
	body, err := p.term()
	if err != nil {
		return nil, err
	}
	variable := symbol("#" + index.name)
	body = rename(body, index, variable)
	return call(name, body, variable, low, high), nil
}

// between parses the rest of \sum_{1 \le k \le 10} after its first number.
func (p *parser) between(first *node) (index, low, high *node, err error) {
	bound := func(op string, n *node, step int64) (*node, bool) {
		switch op {
		case "<=":
			return n, true
		case "<":
			return apply(kindAdd, n, number(step)), true
		}
		return nil, false
	}
	low, ok := bound(p.relator(), first, 1)
	if !ok {
		return nil, nil, nil, errSyntax
	}
	if index, err = p.primary(); err != nil {
		return nil, nil, nil, err
	}
	op := p.relator()
	if high, err = p.expression(); err != nil {
		return nil, nil, nil, err
	}
	if high, ok = bound(op, high, -1); !ok || !p.accept('}') || index.kind != kindSymbol && index.kind != kindConstant {
		return nil, nil, nil, errSyntax
	}
	return index, low, high, nil
}

// rename replaces one atom by another.
func rename(n, from, to *node) *node {
	if n.kind == from.kind && n.name == from.name {
		return to
	}
	if len(n.args) == 0 {
		return n
	}
	c := *n
	c.args = make([]*node, len(n.args))
	for i, a := range n.args {
		c.args[i] = rename(a, from, to)
	}
	return &c
}
