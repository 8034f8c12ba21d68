package verify

import (
	"math/big"
	"strconv"
	"strings"
)

// kind is what a node of a parsed answer is.
type kind uint8

const (
	kindNumber   kind = iota // rational literal: rat
	kindSymbol               // variable: name
	kindConstant             // name: pi, e, i, phi, infinity
	kindAdd                  // sum of args
	kindNegate               // -args[0]
	kindMultiply             // product of args
	kindDivide               // args[0]/args[1]
	kindPower                // args[0]^args[1]
	kindCall                 // name(args): known functions and unknown ones such as f
	kindSign                 // ±args[0] (name "pm") or ∓args[0] (name "mp")

	kindPercent  // args[0] percent
	kindQuantity // args[0] with the unit or noun in name
	kindBased    // numeral with a base subscript: rat is the value, name the digits, args[0] the base
	kindRatio    // args[0] : args[1] [: ...]
	kindTime     // time of day: rat in minutes after midnight, name am or pm
	kindText     // words: name in normal form
	kindEllipsis // ... in a list

	kindList     // comma, and, or: unordered, with multiplicity; name "and", "or" or ","
	kindTuple    // ( ) with two or more elements
	kindBracket  // [ ] with elements: a tuple, or a closed interval if there are two
	kindSet      // { }
	kindInterval // args lo, hi; name holds both brackets, e.g. "[)"
	kindUnion    // of args
	kindMeet     // intersection of args
	kindMinus    // args[0] without args[1]
	kindNamedSet // name: R, Z, Q, N, C, empty
	kindBuilder  // set-builder: args[0] the element, args[1] the condition
	kindMatrix   // args row by row; cols columns
	kindRelation // args joined by ops
	kindDefine   // name(params) = args[0]; params in ops
)

// node is a parsed answer. Nodes are immutable once parsed and form trees.
type node struct {
	kind kind
	cols int      // matrix: columns
	rat  *big.Rat // number, based, time
	name string
	args []*node
	ops  []string // relation: operators between args; define: parameter names
	dec  bool     // number: written with a decimal point or an exponent

	places int // number: digits written after the point, if there is no exponent
}

func number(n int64) *node            { return &node{kind: kindNumber, rat: new(big.Rat).SetInt64(n)} }
func rational(r *big.Rat) *node       { return &node{kind: kindNumber, rat: r} }
func constant(name string) *node      { return &node{kind: kindConstant, name: name} }
func symbol(name string) *node        { return &node{kind: kindSymbol, name: name} }
func call(f string, a ...*node) *node { return &node{kind: kindCall, name: f, args: a} }
func apply(k kind, a ...*node) *node  { return &node{kind: k, args: a} }
func negate(a *node) *node            { return apply(kindNegate, a) }
func power(a, b *node) *node          { return apply(kindPower, a, b) }
func divide(a, b *node) *node         { return apply(kindDivide, a, b) }
func subtract(a, b *node) *node       { return apply(kindAdd, a, negate(b)) }

// scalar reports whether n denotes a number or an expression, as opposed to a collection, a relation or words.
func (n *node) scalar() bool { return n.kind <= kindSign || n.kind == kindBased }

// integer returns the value of a small integer literal.
func (n *node) integer() (int, bool) {
	if n.kind == kindNegate {
		v, ok := n.args[0].integer()
		return -v, ok
	}
	if n.kind != kindNumber || !n.rat.IsInt() || !n.rat.Num().IsInt64() {
		return 0, false
	}
	v := n.rat.Num().Int64()
	return int(v), v >= -1<<31 && v <= 1<<31
}

// walk calls f on n and everything below it until f returns false.
func (n *node) walk(f func(*node) bool) bool {
	if !f(n) {
		return false
	}
	for _, a := range n.args {
		if !a.walk(f) {
			return false
		}
	}
	return true
}

// has reports whether f holds anywhere in n.
func (n *node) has(f func(*node) bool) bool { return !n.walk(func(m *node) bool { return !f(m) }) }

// identical reports whether two trees are the same.
func identical(a, b *node) bool {
	if a.kind != b.kind || a.name != b.name || a.cols != b.cols || len(a.args) != len(b.args) || len(a.ops) != len(b.ops) {
		return false
	}
	if (a.rat == nil) != (b.rat == nil) || a.rat != nil && a.rat.Cmp(b.rat) != 0 {
		return false
	}
	for i := range a.ops {
		if a.ops[i] != b.ops[i] {
			return false
		}
	}
	for i := range a.args {
		if !identical(a.args[i], b.args[i]) {
			return false
		}
	}
	return true
}

// substitute replaces symbols by nodes and shares what does not change.
func (n *node) substitute(with map[string]*node) *node {
	if n.kind == kindSymbol {
		if r, ok := with[n.name]; ok {
			return r
		}
		return n
	}
	var args []*node
	for i, a := range n.args {
		if b := a.substitute(with); b != a {
			if args == nil {
				args = append([]*node(nil), n.args...)
			}
			args[i] = b
		}
	}
	if args == nil {
		return n
	}
	c := *n
	c.args = args
	return &c
}

// weight counts the nodes of a tree.
func (n *node) weight() int {
	w := 1
	for _, a := range n.args {
		w += a.weight()
	}
	return w
}

// String writes the normal form that verdicts show.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// digits writes a number: in decimal, or in hexadecimal where that would take long.
func digits(r *big.Rat) string {
	if size(r) < 4096 {
		return r.RatString()
	}
	s := "0x" + r.Num().Text(16)
	if !r.IsInt() {
		s += "/0x" + r.Denom().Text(16)
	}
	return s
}

const (
	bindAdd = iota + 1
	bindMultiply
	bindUnary
	bindPower
)

func (n *node) write(b *strings.Builder, outer int) {
	open := func(level int) func() {
		if outer > level {
			b.WriteByte('(')
			return func() { b.WriteByte(')') }
		}
		return func() {}
	}
	list := func(sep string) {
		for i, a := range n.args {
			if i > 0 {
				b.WriteString(sep)
			}
			a.write(b, 0)
		}
	}
	switch n.kind {
	case kindNumber:
		s := digits(n.rat)
		if strings.ContainsAny(s, "/-") {
			defer open(bindMultiply)()
		}
		b.WriteString(s)
	case kindSymbol, kindConstant:
		b.WriteString(n.name)
	case kindText:
		b.WriteString(strconv.Quote(n.name))
	case kindAdd:
		defer open(bindAdd)()
		for i, a := range n.args {
			if a.kind == kindNegate {
				b.WriteByte('-')
				a.args[0].write(b, bindMultiply)
				continue
			}
			if i > 0 && a.kind != kindSign {
				b.WriteByte('+')
			}
			a.write(b, bindAdd)
		}
	case kindNegate:
		defer open(bindUnary)()
		b.WriteByte('-')
		n.args[0].write(b, bindUnary)
	case kindMultiply:
		defer open(bindMultiply)()
		for i, a := range n.args {
			if i > 0 {
				b.WriteByte('*')
			}
			a.write(b, bindUnary)
		}
	case kindDivide:
		defer open(bindMultiply)()
		n.args[0].write(b, bindMultiply)
		b.WriteByte('/')
		n.args[1].write(b, bindPower)
	case kindPower:
		defer open(bindPower)()
		n.args[0].write(b, bindPower+1)
		b.WriteByte('^')
		n.args[1].write(b, bindPower)
	case kindSign:
		if n.name == "pm" {
			b.WriteString("±")
		} else {
			b.WriteString("∓")
		}
		n.args[0].write(b, bindUnary)
	case kindCall:
		b.WriteString(n.name)
		b.WriteByte('(')
		list(", ")
		b.WriteByte(')')
	case kindPercent:
		n.args[0].write(b, bindUnary)
		b.WriteByte('%')
	case kindQuantity:
		n.args[0].write(b, bindUnary)
		b.WriteByte(' ')
		b.WriteString(n.name)
	case kindBased:
		b.WriteString(n.name)
		b.WriteByte('_')
		n.args[0].write(b, bindPower)
	case kindRatio:
		list(":")
	case kindTime:
		minutes := new(big.Int).Quo(n.rat.Num(), n.rat.Denom()).Int64()
		b.WriteString(strconv.FormatInt(minutes/60, 10))
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(100+minutes%60, 10)[1:])
		if seconds := new(big.Rat).Sub(n.rat, big.NewRat(minutes, 1)); seconds.Sign() != 0 {
			b.WriteString("+" + seconds.RatString())
		}
		b.WriteString(n.name)
	case kindEllipsis:
		b.WriteString("...")
	case kindList:
		list(", ")
	case kindTuple:
		b.WriteByte('(')
		list(", ")
		b.WriteByte(')')
	case kindBracket:
		b.WriteByte('[')
		list(", ")
		b.WriteByte(']')
	case kindSet:
		b.WriteByte('{')
		list(", ")
		b.WriteByte('}')
	case kindInterval:
		b.WriteByte(n.name[0])
		list(", ")
		b.WriteByte(n.name[1])
	case kindUnion:
		list(" ∪ ")
	case kindMeet:
		list(" ∩ ")
	case kindMinus:
		list(" \\ ")
	case kindNamedSet:
		b.WriteString(n.name)
	case kindBuilder:
		b.WriteByte('{')
		list(" : ")
		b.WriteByte('}')
	case kindMatrix:
		b.WriteByte('[')
		for i, a := range n.args {
			switch {
			case i == 0:
			case i%n.cols == 0:
				b.WriteString("; ")
			default:
				b.WriteString(", ")
			}
			a.write(b, 0)
		}
		b.WriteByte(']')
	case kindRelation:
		for i, a := range n.args {
			if i > 0 {
				b.WriteByte(' ')
				b.WriteString(n.ops[i-1])
				b.WriteByte(' ')
			}
			a.write(b, 0)
		}
	case kindDefine:
		b.WriteString(n.name)
		b.WriteByte('(')
		b.WriteString(strings.Join(n.ops, ", "))
		b.WriteString(") = ")
		n.args[0].write(b, 0)
	}
}
