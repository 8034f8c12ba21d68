// Formulas over the cells of tables: how they are parsed and evaluated, and what rounding leaves open.

package paper

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/metrics"
)

// Formula is a parsed formula; the package documentation has its syntax.
type Formula struct {
	node node
}

// Cells is where formulas read their numbers.
type Cells interface {
	// Cell returns what a table prints at a row and a benchmark, in the given unit.
	Cell(table, row, benchmark, unit string) (metrics.Value, error)
	// Rows lists the rows of a table, sorted.
	Rows(table string) ([]string, error)
	// Benchmarks lists the benchmarks of a row, without the average, sorted.
	Benchmarks(table, row string) ([]string, error)
	// Questions is how many questions a benchmark of a row has.
	Questions(table, row, benchmark string) (float64, error)
}

// compares says whether the formula is a comparison.
func (f *Formula) compares() bool {
	_, ok := f.node.(comparison)
	return ok
}

// value is a number with what rounding of the cells can add to it and take from it.
type value struct {
	number   float64
	up, down float64 // both at least 0
}

// evaluate computes a formula that is no comparison.
func (f *Formula) evaluate(cells Cells) (value, error) { return around(f.node, cells) }

// compared is the part of a comparison that decides it.
type compared struct {
	holds bool  // of all parts: each can be true
	at    value // the left side minus the right of the first part that cannot, or else of the one nearest to it
	unit  string
}

// compare computes a comparison. How near a part is to being impossible is measured in what rounding can do to it, since
// parts may have different units. Sides that can at most be equal do not satisfy > and <, whatever binary fractions make
// of them.
func (f *Formula) compare(cells Cells) (decides compared, err error) {
	nearest := math.Inf(1)
	for i, c := range f.node.(comparison) {
		at, err := around(binary{'-', c.left, c.right}, cells)
		if err != nil {
			return compared{}, err
		}
		room, rounding := at.number+at.up, at.up
		if c.sign[0] == '<' {
			room, rounding = at.down-at.number, at.down
		}
		some := slack * (math.Abs(at.number) + rounding)
		this := compared{room > some || room >= -some && strings.HasSuffix(c.sign, "="), at, c.unit()}
		if !this.holds {
			return this, nil
		}
		if room /= rounding; rounding == 0 {
			room = math.Inf(1)
		}
		if i == 0 || room < nearest {
			decides, nearest = this, room
		}
	}
	return decides, nil
}

// around evaluates n, and how far its result can be moved by cells that lie anywhere that rounding hides.
func around(n node, cells Cells) (value, error) {
	t := newTrace(cells)
	number := n.eval(t)
	if t.err != nil {
		return value{}, t.err
	}
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return value{}, fmt.Errorf("the result is %v: a division by zero", number)
	}
	return value{number: number, up: t.extreme(n, number, 1) - number, down: number - t.extreme(n, number, -1)}, nil
}

// trace remembers the cells that were read, each once, and moves them. What cannot be read is remembered too, the first of
// it, and is no number: an evaluation looks at the end.
type trace struct {
	*remembered
	read  []place
	at    map[[4]string]int // of a cell in read, by table, row, benchmark and unit
	moved []float64         // [read] what is added to each; shorter: nothing
	err   error
}

func newTrace(cells Cells) *trace {
	return &trace{remembered: &remembered{cells, map[[2]string][]string{}, map[[3]string]float64{}, map[string][]binary{}}, at: map[[4]string]int{}}
}

// remembered are cells of which an evaluation asks the same again and again: extreme evaluates a formula some hundred times, and
// what a table has does not change meanwhile.
type remembered struct {
	Cells
	benchmarks map[[2]string][]string
	questions  map[[3]string]float64
	rivals     map[string][]binary
}

// Benchmarks implements Cells. Callers must not change the list.
func (r *remembered) Benchmarks(table, row string) (all []string, err error) {
	return ask(r.benchmarks, [2]string{table, row}, func() ([]string, error) { return r.Cells.Benchmarks(table, row) })
}

// Questions implements Cells.
func (r *remembered) Questions(table, row, benchmark string) (n float64, err error) {
	return ask(r.questions, [3]string{table, row, benchmark}, func() (float64, error) { return r.Cells.Questions(table, row, benchmark) })
}

// ask returns what is known under a key, or asks and remembers it unless it failed.
func ask[K comparable, V any](known map[K]V, key K, of func() (V, error)) (v V, err error) {
	v, ok := known[key]
	if !ok {
		if v, err = of(); err == nil {
			known[key] = v
		}
	}
	return v, err
}

func (t *trace) fail(err error) float64 {
	if t.err == nil {
		t.err = err
	}
	return math.NaN()
}

// passes bounds how often extreme goes through the cells; two or three are enough for what people write.
const passes = 8

// extreme returns the greatest result (sign 1) or the least (sign -1): each cell in turn goes to the better end of its
// range, given where the others are, until all stay. For what formulas are made of (sums, ratios, least and greatest,
// hulls), which rise or fall with a cell over all of its range, that is the extreme. Which end is better is tried half a
// unit to either side, and not against the middle or an end that is nearer: where two cells tie for the greatest, neither
// lowers it alone.
func (t *trace) extreme(n node, center, sign float64) float64 {
	moved := &trace{remembered: t.remembered, read: slices.Clip(t.read), at: maps.Clone(t.at), moved: make([]float64, len(t.read))}
	best := center
	for range passes {
		stable := true
		for i, c := range t.read {
			at := func(by float64) float64 {
				moved.moved[i] = by
				return sign * n.eval(moved)
			}
			before := moved.moved[i]
			below, above := at(-c.half), at(c.half)
			to := before
			switch {
			case below > above:
				to = -c.down
			case below < above:
				to = c.up
			}
			if x := at(to); x > sign*best {
				best = sign * x
			}
			stable = stable && to == before
		}
		if stable {
			break
		}
	}
	return best
}

// place is a cell and half a unit of its last digit; up and down are how far the number behind it may lie above and below.
type place struct {
	number         float64
	half, up, down float64
}

// placed says what rounding can hide in a cell: no cost is below nothing, and no percentage beyond 0 or 100.
func placed(v metrics.Value) place {
	by := half(v)
	p := place{v.Number, by, by, by}
	if v.Number >= 0 {
		p.down = min(by, v.Number)
	}
	if v.Unit == metrics.Accuracy && v.Number <= 100 {
		p.up = min(by, 100-v.Number)
	}
	return p
}

func (t *trace) cell(table, row, benchmark, unit string) float64 {
	name := [4]string{table, row, benchmark, unit}
	i, ok := t.at[name]
	if !ok {
		v, err := t.Cell(table, row, benchmark, unit)
		if err != nil {
			return t.fail(err)
		}
		i = len(t.read)
		t.read, t.at[name] = append(t.read, placed(v)), i
	}
	if i < len(t.moved) {
		return t.read[i].number + t.moved[i]
	}
	return t.read[i].number
}

// node is a part of a formula.
type node interface {
	eval(*trace) float64
}

type number float64

func (n number) eval(*trace) float64 { return float64(n) }

type binary struct {
	operator    byte
	left, right node
}

func (b binary) eval(t *trace) float64 {
	x, y := b.left.eval(t), b.right.eval(t)
	switch b.operator {
	case '+':
		return x + y
	case '-':
		return x - y
	case '*':
		return x * y
	}
	return x / y
}

// extreme is min or max.
type extreme struct {
	greatest bool
	of       []node
}

func (e extreme) eval(t *trace) float64 {
	var best float64
	for i, n := range e.of {
		if x := n.eval(t); i == 0 || e.greatest == (x > best) {
			best = x
		}
	}
	return best
}

// reference reads tables: its arguments are words.
type reference struct {
	function string
	words    []string
	column   int
}

// arities are how many words the functions that read tables take at least, and at most; 0: any number.
var arities = map[string][2]int{
	"accuracy": {3, 3}, "usd": {3, 3}, "mean": {2, 0}, "total": {2, 0}, "query": {2, 0},
	"retention": {3, 3}, "saving": {3, 3}, "gain": {3, 0}, "lead": {2, 0}, "share": {4, 4}, "cell": {4, 4},
}

func (r reference) eval(t *trace) float64 {
	before := t.err
	x := r.read(t)
	if before == nil && t.err != nil {
		t.err = fmt.Errorf("column %d: %s(%s): %w", r.column, r.function, strings.Join(r.words, ", "), t.err)
	}
	return x
}

func (r reference) read(t *trace) float64 {
	table, row, rest := r.words[0], r.words[1], r.words[2:]
	switch r.function {
	case "accuracy":
		return t.cell(table, row, rest[0], metrics.Accuracy)
	case "usd":
		if rest[0] == metrics.Average {
			return t.cell(table, row, rest[0], metrics.USDPerQuery)
		}
		return t.cell(table, row, rest[0], metrics.USD)
	case "cell":
		return t.cell(table, row, rest[0], rest[1])
	case "gain":
		return t.gain(table, row, rest)
	case "lead":
		return t.lead(table, row, rest)
	case "share":
		return t.fail(errors.New("no table of a paper has shares"))
	case "retention", "saving":
		function, unit := "mean", 100.0
		if r.function == "saving" {
			function, unit = "total", -100
		}
		of := reference{function, []string{table, row}, r.column}.read(t)
		whole := reference{function, []string{table, rest[0]}, r.column}.read(t)
		return max(0, -unit) + unit*of/whole
	case "mean":
		sum, questions := t.sum(table, row, rest, metrics.Accuracy)
		return sum / questions
	}
	dollars, questions := t.sum(table, row, rest, metrics.USD)
	if r.function == "total" {
		return dollars
	}
	return dollars / questions
}

// named splits table:row; what has no table is of the given one.
func named(name, table string) (in, row string) {
	if before, after, ok := strings.Cut(name, ":"); ok {
		return before, after
	}
	return table, name
}

// gain is how far a row lies above the hull of fixed experts, over its own benchmarks. An expert of another table is
// written table:row.
func (t *trace) gain(table, row string, fixed []string) float64 {
	benchmarks, err := t.Benchmarks(table, row)
	if err != nil {
		return t.fail(err)
	}
	var points []metrics.Point
	for _, name := range append([]string{row}, fixed...) {
		in, name := named(name, table)
		quality, _ := t.sum(in, name, benchmarks, metrics.Accuracy)
		dollars, questions := t.sum(in, name, benchmarks, metrics.USD)
		points = append(points, metrics.Point{Quality: quality / questions, Cost: dollars / questions})
	}
	if t.err != nil {
		return math.NaN() // there is no hull of what is no number
	}
	return metrics.UpperHull(points[1:]).Gain(points[0])
}

// lead is the least by which a row is more accurate than any other on any benchmark, the rows named after it left out.
func (t *trace) lead(table, row string, without []string) float64 {
	pairs, err := ask(t.rivals, strings.Join(append([]string{table, row}, without...), "\n"), func() ([]binary, error) { return rivals(t, table, row, without) })
	if err != nil {
		return t.fail(err)
	}
	least := math.Inf(1)
	for _, p := range pairs {
		least = min(least, p.eval(t))
	}
	return least
}

// rivals are the differences in accuracy between a row and every other on every benchmark.
func rivals(cells Cells, table, row string, without []string) ([]binary, error) {
	rows, err := cells.Rows(table)
	if err != nil {
		return nil, err
	}
	benchmarks, err := cells.Benchmarks(table, row)
	if err != nil {
		return nil, err
	}
	for _, name := range without {
		if !slices.Contains(rows, name) {
			return nil, fmt.Errorf("table %s has no row %q to leave out; known: %s", table, name, strings.Join(rows, ", "))
		}
	}
	var pairs []binary
	for _, other := range rows {
		if other == row || slices.Contains(without, other) {
			continue
		}
		for _, b := range benchmarks {
			pairs = append(pairs, binary{'-', reference{"accuracy", []string{table, row, b}, 1}, reference{"accuracy", []string{table, other, b}, 1}})
		}
	}
	if pairs == nil {
		return nil, fmt.Errorf("table %s has no other row than %s", table, row)
	}
	return pairs, nil
}

// sum adds up a row over benchmarks, all of them if none is named: dollars, or accuracy times questions.
func (t *trace) sum(table, row string, benchmarks []string, unit string) (sum, questions float64) {
	if len(benchmarks) == 0 {
		var err error
		if benchmarks, err = t.Benchmarks(table, row); err != nil {
			return t.fail(err), 0
		}
	}
	for _, b := range benchmarks {
		n, err := t.Questions(table, row, b)
		if err != nil {
			return t.fail(err), 0
		}
		x := t.cell(table, row, b, unit)
		if unit == metrics.Accuracy {
			x *= n
		}
		sum += x
		questions += n
	}
	return sum, questions
}

// comparison is one or more comparisons that all have to be true.
type comparison []pair

type pair struct {
	sign        string
	left, right node
}

// unit is what the difference of the two sides is in; empty if it has none, or one of its own.
func (p pair) unit() string { return cmp.Or(unitOf(p.left), unitOf(p.right)) }

func unitOf(n node) string {
	switch n := n.(type) {
	case reference:
		switch {
		case slices.Contains([]string{"usd", "total", "query"}, n.function):
			return " $"
		case n.function == "cell" && !strings.HasSuffix(n.words[3], "%"):
			return ""
		}
		return " points"
	case extreme:
		return unitOf(n.of[0])
	case binary:
		left, right := unitOf(n.left), unitOf(n.right)
		if right != "" && (n.operator == '/' || n.operator == '*' && left != "") {
			return "" // a ratio or a product
		}
		return cmp.Or(left, right)
	}
	return ""
}

func (comparison) eval(t *trace) float64 { return t.fail(errors.New("a comparison is no number")) }

// Parse reads a formula. Errors say at which column, from 1.
func Parse(text string) (*Formula, error) {
	p := &parser{text: text}
	if n := p.formula(); p.err == nil {
		return &Formula{node: n}, nil
	}
	return nil, p.err
}

// parser descends into a formula. The first fault is kept and ends the text, so that everything returns.
type parser struct {
	text  string
	at    int
	depth int
	err   error
}

// deepest bounds recursion: no formula that a person writes is near it.
const deepest = 100

func (p *parser) fail(format string, args ...any) node {
	if p.err == nil {
		p.err = fmt.Errorf("column %d: "+format, append([]any{p.at + 1}, args...)...)
	}
	p.at = len(p.text)
	return nil
}

// peek returns the rest of the text behind blanks.
func (p *parser) peek() string {
	for p.at < len(p.text) && strings.IndexByte(" \t\n", p.text[p.at]) >= 0 {
		p.at++
	}
	return p.text[p.at:]
}

func (p *parser) take(token string) bool {
	if strings.HasPrefix(p.peek(), token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *parser) formula() node {
	left := p.sum()
	var all comparison
	for {
		signs := []string{">=", "<=", ">", "<"}
		i := slices.IndexFunc(signs, p.take)
		if i < 0 {
			break
		}
		all = append(all, pair{signs[i], left, p.sum()})
		if !p.take("and") {
			break
		}
		left = p.sum()
		if s := p.peek(); !strings.HasPrefix(s, ">") && !strings.HasPrefix(s, "<") {
			return p.fail("what follows \"and\" is no comparison: want one of > >= < <=")
		}
	}
	if rest := p.peek(); rest != "" {
		return p.fail("%q is left over: want an operator or the end", rest)
	}
	if all == nil {
		return left
	}
	return all
}

func (p *parser) sum() node { return p.chain("+-", p.product) }

func (p *parser) product() node { return p.chain("*/", p.factor) }

// chain parses operands with operators of one precedence between them.
func (p *parser) chain(operators string, operand func() node) node {
	left := operand()
	for {
		rest := p.peek()
		if rest == "" || strings.IndexByte(operators, rest[0]) < 0 {
			return left
		}
		p.at++
		left = binary{rest[0], left, operand()}
	}
}

func (p *parser) factor() node {
	if p.depth++; p.depth > deepest {
		return p.fail("more than %d levels of nesting", deepest)
	}
	defer func() { p.depth-- }()
	rest := p.peek()
	switch {
	case rest == "":
		return p.fail("the formula ends where a number, a name or '(' should be")
	case p.take("("):
		n := p.sum()
		if !p.take(")") {
			return p.fail("want ')'")
		}
		return n
	case p.take("-"):
		return binary{'*', number(-1), p.factor()}
	case rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.':
		n := 0
		for n < len(rest) && (strings.IndexByte("0123456789.e", rest[n]) >= 0 || n > 0 && rest[n-1] == 'e' && rest[n] == '-') {
			n++
		}
		x, err := strconv.ParseFloat(rest[:n], 64)
		if err != nil {
			return p.fail("%q is no number", rest[:n])
		}
		p.at += n
		return number(x)
	}
	return p.call(rest)
}

func (p *parser) call(rest string) node {
	n := 0
	for n < len(rest) && rest[n] >= 'a' && rest[n] <= 'z' {
		n++
	}
	name, column := rest[:n], p.at+1
	arity, reads := arities[name]
	if !reads && name != "min" && name != "max" {
		known := append(sortedKeys(arities), "max", "min")
		slices.Sort(known)
		if n == 0 {
			return p.fail("%q is no operand; known functions: %s", []rune(rest)[0], strings.Join(known, ", "))
		}
		return p.fail("unknown function %q; known: %s", name, strings.Join(known, ", "))
	}
	p.at += n
	if !p.take("(") {
		return p.fail("%s takes its arguments in parentheses", name)
	}
	if reads {
		end := strings.IndexByte(p.text[p.at:], ')')
		if end < 0 {
			return p.fail("%s( is never closed", name)
		}
		words := strings.Split(p.text[p.at:p.at+end], ",")
		for i, w := range words {
			words[i] = strings.TrimSpace(w)
			if words[i] == "" || strings.ContainsAny(words[i], " \t\n(") {
				return p.fail("%s: %q is no name of a table, row or benchmark", name, words[i])
			}
		}
		if len(words) < arity[0] || arity[1] > 0 && len(words) > arity[1] {
			return p.fail("%s takes a table, a row%s; got %d names", name, map[string]string{
				"accuracy": " and a benchmark", "usd": " and a benchmark", "gain": " and the rows of fixed experts",
				"retention": " and the row of the strongest expert", "saving": " and the row of the strongest expert",
				"share": ", a stratum and an expert", "cell": ", a benchmark and a unit",
			}[name], len(words))
		}
		p.at += end + 1
		return reference{name, words, column}
	}
	e := extreme{greatest: name == "max"}
	for {
		e.of = append(e.of, p.sum())
		if p.take(")") {
			return e
		}
		if !p.take(",") {
			return p.fail("want ',' or ')' in %s", name)
		}
	}
}

// same says whether two nodes read the same.
func same(a, b node) bool {
	switch a := a.(type) {
	case reference:
		b, ok := b.(reference)
		return ok && a.function == b.function && slices.Equal(a.words, b.words)
	case binary:
		b, ok := b.(binary)
		return ok && a.operator == b.operator && same(a.left, b.left) && same(a.right, b.right)
	}
	return false
}

func children(n node) []node {
	switch n := n.(type) {
	case binary:
		return []node{n.left, n.right}
	case extreme:
		return n.of
	}
	return nil
}

// references lists what parts of a formula read, from the left to the right.
func references(parts ...node) (all []reference) {
	for _, n := range parts {
		switch n := n.(type) {
		case reference:
			all = append(all, n)
		case comparison:
			for _, p := range n {
				all = append(all, references(p.left, p.right)...)
			}
		default:
			all = append(all, references(children(n)...)...)
		}
	}
	return all
}

// substituted returns n with numbers for what is measured.
func substituted(n node, measured func(node) (float64, bool)) node {
	if x, ok := measured(n); ok {
		return number(x)
	}
	switch n := n.(type) {
	case binary:
		n.left, n.right = substituted(n.left, measured), substituted(n.right, measured)
		return n
	case extreme:
		of := make([]node, len(n.of))
		for i := range of {
			of[i] = substituted(n.of[i], measured)
		}
		n.of = of
		return n
	}
	return n
}
