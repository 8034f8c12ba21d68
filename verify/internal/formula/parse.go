// The parser: answers, relations and series.

package formula

import (
	"errors"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/verify/internal/failing"
)

var (
	ErrSyntax   = errors.New("not a formula of the documented grammar")
	ErrTooLarge = errors.New("larger than the documented limits")
)

// series reads terms with an ellipsis before the last one as the finite sum or product (name "sum" or "prod") that they
// spell out; nil if they spell none.
type series func(name string, terms []*Node, steps *Budget) *Node

// never is a series that reads none.
func never(string, []*Node, *Budget) *Node { return nil }

// parser is a recursive descent over tokens with counted depth. Its functions panic with what package failing makes of
// ErrSyntax, ErrTooLarge or a Qualification where they cannot go on.
type parser struct {
	tokens []token
	at     int
	depth  int
	bars   int // open |
	noBar  int // inside set-builder heads, where | separates

	steps *Budget // of patterns of sums
	run   series

	head     bool // inside the head of a set-builder, which holds no other
	sentence bool // words are words, never products of variables
	letters  bool // a unit of one letter after a number is a unit
	micro    bool // the sign of a millionth is there, not \mu
	short    bool // a letter after a number may be a power of ten: 1.5k

	flaw Qualification // why what was read is not the bare value that it holds; empty if nothing was met
}

// attempt calls parse and returns its tree, or why there is none. What parse had entered when it failed is left.
func (p *parser) attempt(parse func() *Node) (*Node, error) {
	depth, bars, noBar := p.depth, p.bars, p.noBar
	n, err := failing.Try(parse)
	if err != nil {
		p.depth, p.bars, p.noBar = depth, bars, noBar
	}
	return n, err
}

// formula parses tokens as one answer.
func formula(tokens []token, steps *Budget, run series) (*Node, error) {
	if len(tokens) == 0 {
		return nil, ErrSyntax
	}
	p := parser{tokens: tokens, steps: steps, run: run, sentence: sentencelike(tokens)}
	return p.whole()
}

// whole parses all tokens.
func (p *parser) whole() (*Node, error) {
	n, err := p.attempt(p.chosen)
	switch {
	case p.flaw != "":
		return nil, p.flaw
	case err != nil:
		return nil, err
	case p.at < len(p.tokens):
		return nil, ErrSyntax
	}
	return n, nil
}

// chosen parses a list, or a \choose b and a \over b, which take all of their group.
func (p *parser) chosen() *Node {
	n := p.list()
	t := p.peek()
	if !t.command("choose") && !t.command("over") {
		return n
	}
	p.at++
	m := p.expression()
	if t.text == "over" {
		return Divide(n, m)
	}
	return Call("binom", n, m)
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

// expect takes a mark that has to be at hand.
func (p *parser) expect(c byte) {
	if !p.accept(c) {
		panic(failing.With(ErrSyntax))
	}
}

func (p *parser) acceptCommand(name string) bool {
	if p.peek().command(name) {
		p.at++
		return true
	}
	return false
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		panic(failing.With(ErrTooLarge))
	}
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
	switch {
	case p.says("and"), p.acceptCommand("wedge"), p.acceptCommand("land"):
		return "and"
	case p.says("or"), p.acceptCommand("vee"), p.acceptCommand("lor"):
		return "or"
	}
	return ""
}

// list parses elements separated by commas and conjunctions.
func (p *parser) list() *Node {
	p.enter()
	defer p.leave()
	for p.says("either") || p.says("both") {
	}
	first := p.relation()
	var elements []*Node // with the first one, if there are several
	name := ""
	var alternatives []int // the elements that follow an "or"
	for {
		save := p.at
		if t := p.ahead(1); p.peek().mark(',') && wordy(t) && (strings.EqualFold(t.text, "since") || strings.EqualFold(t.text, "because") || strings.EqualFold(t.text, "where") || strings.EqualFold(t.text, "for")) && !slices.ContainsFunc(p.tokens[p.at:], func(t token) bool { return t.command("implies") }) {
			p.at = len(p.tokens) // a reason or a condition
			break
		}
		if t := p.ahead(1); p.peek().mark(',') && wordy(t) && strings.EqualFold(t.text, "not") && p.ahead(2).kind != tokenEnd {
			p.at = len(p.tokens) // 13, not 12
			break
		}
		if t := p.ahead(1); p.peek().mark(',') && wordy(t) && (Sense(strings.ToLower(t.text)) == "condition" || strings.EqualFold(t.text, "when")) {
			p.flaw, p.at = Conditional, len(p.tokens)
			break
		}
		sep := p.separator()
		if sep == "" {
			break
		}
		if p.at == len(p.tokens) || p.closing(p.peek()) {
			if sep != "," {
				panic(failing.With(ErrSyntax))
			}
			if p.at < len(p.tokens) {
				p.at = save
			}
			break
		}
		if op := comparatives[strings.ToLower(p.peek().text)]; sep == "or" && op != "" && elements == nil && wordy(p.peek()) { // 5 or more
			p.at++
			if !ScalarLike(first) && first.Kind != KindQuantity {
				panic(failing.With(ErrSyntax))
			}
			if t := p.peek(); t.kind == tokenText || p.noun(t) {
				first = p.units(first)
			}
			first = &Node{Kind: KindRelation, Args: []*Node{Symbol(Unnamed), first}, Ops: []string{op + "="}}
			continue
		}
		if name == "" || name == "," {
			name = sep
		} else if sep != "," && sep != name {
			panic(failing.With(ErrSyntax)) // and mixed with or
		}
		next := p.relation()
		if elements == nil {
			elements = append(make([]*Node, 0, 4), first)
		}
		if sep == "or" {
			alternatives = append(alternatives, len(elements))
		}
		if elements = append(elements, next); len(elements) > MaxElements {
			panic(failing.With(ErrTooLarge))
		}
	}
	if elements == nil {
		return first
	}
	if groups := grouped(elements, alternatives); groups != nil {
		return &Node{Kind: KindList, Name: "or", Args: groups}
	}
	spread(elements)
	return &Node{Kind: KindList, Name: name, Args: elements}
}

// grouped reads "x=2, y=3 or x=3, y=2" as a list of solutions: the elements between the alternatives, if these assign
// several names each, and equally many. It returns nil for any other list.
func grouped(elements []*Node, alternatives []int) []*Node {
	if len(alternatives) == 0 || alternatives[0] < 2 {
		return nil
	}
	size := alternatives[0]
	if len(elements)%size != 0 || len(elements)/size != len(alternatives)+1 {
		return nil
	}
	var groups []*Node
	for i := 0; i < len(elements); i += size {
		if i > 0 && alternatives[i/size-1] != i {
			return nil
		}
		group := &Node{Kind: KindList, Name: ",", Args: elements[i : i+size : i+size]}
		if !AllAssignments(group) {
			return nil
		}
		for j, e := range group.Args[1:] {
			if Identical(e.Args[0], group.Args[j].Args[0]) {
				return nil
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// spread reads "x = 1, 2" as "x = 1, x = 2", and "x != 1, 2" likewise.
func spread(elements []*Node) {
	first := elements[0]
	if first.Kind != KindRelation || len(first.Ops) != 1 || first.Ops[0] != "=" && first.Ops[0] != "!=" || first.Args[0].Kind != KindSymbol {
		return
	}
	for _, e := range elements[1:] {
		if !e.Scalar() {
			return
		}
	}
	for i, e := range elements[1:] {
		elements[i+1] = &Node{Kind: KindRelation, Ops: first.Ops, Args: []*Node{first.Args[0], e}}
	}
}

// closing reports whether t ends a bracketed list.
func (p *parser) closing(t token) bool {
	return t.mark(')') || t.mark(']') || t.mark('}') || t.mark('|') && p.bars > 0 || t.command("}") || t.command("rbrace") || t.command("rangle") || t.command("rfloor") || t.command("rceil") || t.command("end")
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
	case tokenText, tokenWord:
		switch strings.ToLower(t.text) {
		case "is", "equals":
			if op, n := p.comparison(1); n > 0 { // x is at least 5
				p.at += 1 + n
				return op
			}
			if named := p.last().kind == tokenWord && len(p.last().text) == 1; t.kind == tokenWord && !wordy(p.ahead(1)) {
				if named && p.ahead(1).kind != tokenEnd { // x is 12
					p.at++
					return "="
				}
				return ""
			}
			if next := p.ahead(1); wordy(next) && Sense(strings.ToLower(next.text)) == "denial" && p.at > 0 {
				p.flaw = Negated
			}
			if t.kind == tokenText {
				p.at++
				return "="
			}
		}
	}
	return ""
}

// Bound reports whether n is an inequality that does not say of what, as "at least 5".
func Bound(n *Node) bool {
	return n.Kind == KindRelation && n.Args[0].Kind == KindSymbol && n.Args[0].Name == Unnamed
}

// comparison reads an inequality in words that starts so many tokens ahead.
func (p *parser) comparison(ahead int) (op string, n int) {
	if !wordy(p.ahead(ahead)) {
		return "", 0
	}
	return comparison(func(i int) string {
		if t := p.ahead(ahead + i); wordy(t) {
			return strings.ToLower(t.text)
		}
		return ""
	})
}

// Unnamed is the variable of a relation that was written without one.
const Unnamed = "?"

// relation parses expressions joined by relation signs: equations, inequalities, chains, definitions.
func (p *parser) relation() *Node {
	if d := p.definition(); d != nil {
		body := p.expression()
		switch op := p.relator(); op {
		case "":
		case "=>", "<=>": // the conclusion counts
			return p.relation()
		default:
			panic(failing.With(ErrSyntax))
		}
		d.Args = []*Node{body}
		p.condition(body)
		return d
	}
	op, n := p.comparison(0)
	if p.at += n; n == 0 {
		op = p.relator()
	}
	if op != "" && op != "=" && op != "~" && op != "=>" { // "< 5" and "at least 5": what is compared goes without saying
		return &Node{Kind: KindRelation, Args: []*Node{Symbol(Unnamed), p.expression()}, Ops: []string{op}}
	}
	if n := p.within(Symbol(Unnamed)); n != nil {
		return n
	}
	first := p.expression()
	if n := p.within(first); n != nil { // x is between 1 and 2
		return n
	}
	op = p.relator()
	if op == "" {
		p.condition(first)
		return first
	}
	args, ops := []*Node{first}, []string(nil)
	for ; op != ""; op = p.relator() {
		next := p.expression()
		if op == "=>" || op == "<=>" { // the conclusion counts
			args, ops = []*Node{next}, nil
			continue
		}
		args, ops = append(args, next), append(ops, op)
	}
	p.condition(args[len(args)-1])
	if len(ops) == 0 {
		return args[0]
	}
	if ops[len(ops)-1] == "==" {
		if n := p.modulus(); n != nil {
			last := len(args) - 1
			args[last] = quantity(args[last], "mod "+n.String())
		} else if f := args[0]; len(ops) == 1 && f.Kind == KindSymbol && strings.Contains("fghFGH", f.Name) {
			ops[0] = "=" // f ≡ 0 is said of a function
		}
	}
	return &Node{Kind: KindRelation, Args: args, Ops: ops}
}

// says consumes a word if it is the next token.
func (p *parser) says(word string) bool {
	if t := p.peek(); !wordy(t) || !strings.EqualFold(t.text, word) {
		return false
	}
	p.at++
	return true
}

// within parses "between 1 and 2" and "strictly between 1 and 2", which leave their ends out, and "between 1 and 2,
// inclusive"; nil if something else is at hand.
func (p *parser) within(value *Node) *Node {
	save := p.at
	p.says("is")
	p.says("lies")
	p.says("strictly")
	if !p.says("between") {
		p.at = save
		return nil
	}
	low := p.sum()
	if !p.says("and") {
		panic(failing.With(ErrSyntax))
	}
	high, op, end := p.sum(), "<", p.at
	p.accept(',')
	switch {
	case p.says("inclusive"):
		op = "<="
	case !p.says("exclusive"):
		p.at = end
	}
	return &Node{Kind: KindRelation, Args: []*Node{low, value, high}, Ops: []string{op, op}}
}

// modulus parses (mod n) after a congruence.
func (p *parser) modulus() *Node {
	save := p.at
	open := p.accept('(')
	t := p.peek()
	if t.command("pmod") || t.command("bmod") || t.command("mod") || t.command("pod") || wordy(t) && strings.EqualFold(t.text, "mod") {
		p.at++
		if n, err := p.attempt(p.expression); err == nil && (!open || p.accept(')')) {
			return n
		}
	}
	p.at = save
	return nil
}

// condition skips a reason, and what a trailing clause says about the names of a value, such as "for all real x" or "where n is an
// integer", up to the end. A clause with "if", or about a value without names, makes the value conditional.
func (p *parser) condition(value *Node) {
	t := p.peek()
	if t.command("forall") || t.mark(',') && p.ahead(1).command("forall") {
		p.at = len(p.tokens)
		return
	}
	if t.kind != tokenText && !(t.kind == tokenWord && len(t.text) > 1) {
		return
	}
	switch w := strings.ToLower(t.text); w {
	case "because", "since":
		p.at = len(p.tokens)
	case "for", "where", "with", "when":
		if w == "with" && slices.ContainsFunc(p.tokens[p.at:], func(t token) bool { return strings.EqualFold(t.text, "remainder") }) {
			p.flaw = Altered
		}
		universal := w == "for" && wordy(p.ahead(1)) && slices.Contains([]string{"all", "any", "every", "each"}, strings.ToLower(p.ahead(1).text))
		if w != "where" && w != "with" && !universal && len(Variables(value)) == 0 {
			p.flaw = Conditional
		}
		p.at = len(p.tokens)
	default:
		if Sense(w) == "condition" {
			p.flaw = Conditional
			p.at = len(p.tokens)
		}
	}
}

// definition recognises f(x)= and f(x,y)= and returns a node without body.
func (p *parser) definition() *Node {
	name := p.peek()
	if name.kind != tokenWord || len(name.text) != 1 || name.text == "e" || name.text == "i" {
		return nil
	}
	primes := 0
	for p.ahead(1 + primes).mark('\'') {
		primes++
	}
	inverse := primes == 0 && p.ahead(1).mark('^') && p.ahead(2).mark('{') && p.ahead(3).mark('-') && p.ahead(4).is(tokenNumber, "1") && p.ahead(5).mark('}')
	if inverse {
		primes = 5
	}
	if !p.ahead(1 + primes).mark('(') {
		return nil
	}
	var params []string
	for i := 2 + primes; ; i += 2 {
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
			if inverse {
				return &Node{Kind: KindDefine, Name: name.text + "^-1", Ops: params}
			}
			return &Node{Kind: KindDefine, Name: name.text + strings.Repeat("'", primes), Ops: params}
		}
		return nil
	}
}

// expression parses sums, set operations and ratios.
func (p *parser) expression() *Node {
	p.enter()
	defer p.leave()
	left := p.sum()
	if p.colon() {
		return p.ratio(left)
	}
	chain := 0
	for {
		t := p.peek()
		var k kind
		switch {
		case t.command("cup") || t.command("bigcup") || t.kind == tokenWord && t.text == "U" && setLike(left):
			k = KindUnion
		case t.command("cap"):
			k = KindMeet
		case t.command("setminus") || t.command("backslash") || t.command("smallsetminus"):
			k = KindMinus
		default:
			return left
		}
		if chain++; chain > maxDepth {
			panic(failing.With(ErrTooLarge))
		}
		p.at++
		right := p.sum()
		if left.Kind == k && k != KindMinus {
			left = Apply(k, append(left.Args[:len(left.Args):len(left.Args)], right)...)
		} else {
			left = Apply(k, left, right)
		}
	}
}

// colon reports whether a sign of ratios is at hand: 1:2, 1 to 2.
func (p *parser) colon() bool {
	t := p.peek()
	return t.mark(':') || t.command("colon") || wordy(t) && t.text == "to" && p.last().kind == tokenNumber && p.ahead(1).kind == tokenNumber
}

func setLike(n *Node) bool { return n.Kind >= KindTuple && n.Kind <= KindBuilder }

func (p *parser) ratio(first *Node) *Node {
	args := []*Node{first}
	for p.colon() && len(args) < 16 {
		p.at++
		args = append(args, p.sum())
	}
	return Apply(KindRatio, args...)
}

// last returns the token before the one at hand.
func (p *parser) last() token {
	if p.at == 0 {
		return token{}
	}
	return p.tokens[p.at-1]
}
