package verify

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// term is a random exact expression. It can be written in many ways that all mean the same.
type term struct {
	op    byte // n number, v variable, + * / r (square root) ^ (small power), p pi
	value *big.Rat
	name  string
	args  []*term
	k     int
}

// randomTerm draws an expression; depth bounds it. No denominator and no radicand of it is zero or negative, since
// only positive numbers and variables occur below them.
func randomTerm(r *rand.Rand, depth int, symbolic bool) *term {
	if depth == 0 || r.IntN(5) == 0 {
		switch {
		case symbolic && r.IntN(2) == 0:
			return &term{op: 'v', name: string("xyab"[r.IntN(4)])}
		case !symbolic && r.IntN(9) == 0:
			return &term{op: 'p'}
		}
		den := int64(1)
		if r.IntN(3) == 0 {
			den = int64([]int{2, 3, 4, 5, 7, 8, 10}[r.IntN(7)])
		}
		return &term{op: 'n', value: big.NewRat(1+r.Int64N(40), den)}
	}
	sub := func() *term { return randomTerm(r, depth-1, symbolic) }
	switch r.IntN(6) {
	case 0, 1:
		return &term{op: '+', args: []*term{sub(), sub()}}
	case 2:
		return &term{op: '*', args: []*term{sub(), sub()}}
	case 3:
		return &term{op: '/', args: []*term{sub(), sub()}}
	case 4:
		return &term{op: '^', args: []*term{sub()}, k: 2 + r.IntN(2)}
	}
	return &term{op: 'r', args: []*term{sub()}}
}

// symbolic reports whether t holds a variable.
func (t *term) symbolic() bool {
	return t.op == 'v' || slices.ContainsFunc(t.args, (*term).symbolic)
}

// style writes terms, choosing a spelling by chance at every node.
type style struct {
	r *rand.Rand
}

func (s style) pick(options ...string) string { return options[s.r.IntN(len(options))] }

func (s style) group(x string) string {
	return s.pick("("+x+")", `\left(`+x+`\right)`, "( "+x+" )", `\bigl(`+x+`\bigr)`, "{("+x+")}", "（"+x+"）")
}

// write returns t; level is the binding strength that the context asks for: 0 sum, 1 product, 2 power base.
func (s style) write(t *term, level int) string {
	out, binds := s.spell(t)
	if binds < level {
		return s.group(out)
	}
	return out
}

func (s style) spell(t *term) (string, int) {
	switch t.op {
	case 'v':
		return t.name, 3
	case 'p':
		return s.pick(`\pi`, "π", `{\pi}`), 3
	case 'n':
		return s.number(t.value)
	case '+':
		a, b := t.args[0], t.args[1]
		if s.r.IntN(2) == 0 {
			a, b = b, a
		}
		switch s.r.IntN(6) {
		case 0: // a - (-b)
			return s.write(a, 0) + s.pick("-", " - ", "−") + s.group("-"+s.write(b, 1)), 0
		case 1: // -(-a-b)
			return "-" + s.group("-"+s.write(a, 1)+"-"+s.write(b, 1)), 0
		}
		return s.write(a, 0) + s.pick("+", " + ", "\n+ ") + s.write(b, 0), 0
	case '*':
		a, b := t.args[0], t.args[1]
		if s.r.IntN(2) == 0 {
			a, b = b, a
		}
		if s.r.IntN(8) == 0 { // distribute over a sum
			if a.op == '+' {
				return s.write(&term{op: '*', args: []*term{a.args[0], b}}, 0) + "+" + s.write(&term{op: '*', args: []*term{a.args[1], b}}, 0), 0
			}
		}
		return s.write(a, 1) + s.pick(`\cdot `, `\times `, "*", " · ", "×") + s.write(b, 2), 1
	case '/':
		switch s.r.IntN(4) {
		case 0:
			return s.write(t.args[0], 1) + s.pick("/", " / ", "÷", `\div `) + s.write(t.args[1], 2), 1
		case 1:
			return s.write(t.args[0], 1) + `\cdot ` + s.write(t.args[1], 3) + "^{-1}", 1
		}
		return s.pick(`\frac`, `\dfrac`, `\tfrac`, `\cfrac`) + s.pick("{", " {") + s.write(t.args[0], 0) + "}{" + s.write(t.args[1], 0) + "}", 1
	case '^':
		base := s.write(t.args[0], 3)
		switch s.r.IntN(4) {
		case 0:
			return strings.Join([]string{s.write(t.args[0], 2), s.power(t.args[0], t.k-1)}, `\cdot `), 1
		case 1:
			return base + map[int]string{1: "", 2: "²", 3: "³"}[t.k], 2
		}
		return base + s.pick("^{"+strconv.Itoa(t.k)+"}", "^"+strconv.Itoa(t.k)+" "), 2
	case 'r':
		inner := s.write(t.args[0], 0)
		if !t.symbolic() && s.r.IntN(8) == 0 { // the domain of the fourth root of x^2 is larger than that of the root of x
			return `\sqrt[4]{(` + inner + ")^2}", 2
		}
		return s.pick(`\sqrt{`+inner+"}", `\sqrt {`+inner+"}", "sqrt("+inner+")", "√("+inner+")", "("+inner+")^{1/2}", "("+inner+`)^{\frac12}`, `\sqrt[2]{`+inner+"}"), 2
	}
	panic("unknown term")
}

func (s style) power(t *term, k int) string {
	if k == 1 {
		return s.write(t, 2)
	}
	return s.write(t, 3) + "^{" + strconv.Itoa(k) + "}"
}

// number writes a positive rational.
func (s style) number(v *big.Rat) (string, int) {
	n, d := v.Num(), v.Denom()
	if v.IsInt() {
		return s.pick(n.String(), n.String(), n.String()+".0", "0"+n.String(), "{"+n.String()+"}"), 3
	}
	options := []string{`\frac{` + n.String() + "}{" + d.String() + "}", n.String() + "/" + d.String(), `\dfrac{` + n.String() + "}{" + d.String() + "}", `\frac{` + new(big.Int).Lsh(n, 1).String() + "}{" + new(big.Int).Lsh(d, 1).String() + "}"}
	if n.IsInt64() && n.Int64() < 10 && d.Int64() < 10 {
		options = append(options, `\frac`+n.String()+d.String())
	}
	if dd := d.Int64(); dd == 2 || dd == 4 || dd == 5 || dd == 8 || dd == 10 {
		options = append(options, v.FloatString(3))
	}
	i := s.r.IntN(len(options))
	binds := 1
	if strings.HasPrefix(options[i], `\`) {
		binds = 2
	}
	if !strings.ContainsAny(options[i], `/\`) {
		binds = 3
	}
	return options[i], binds
}

// wrap puts an answer into one of the places where answers stand.
func (s style) wrap(x string) string {
	return s.pick(`\boxed{`+x+"}", `Thus \boxed{ `+x+" }.", `So $\boxed{`+x+`}$`, `\[\boxed{`+x+`}\]`, `\boxed{$`+x+`$}`, `\boxed{\displaystyle `+x+"}", `\fbox{`+x+"}", `\boxed {`+x+"}")
}

// pairs is the number of generated pairs; VERIFY_PAIRS=1000000 runs the long version.
func pairs() int {
	if n, err := strconv.Atoi(os.Getenv("VERIFY_PAIRS")); err == nil {
		return n
	}
	return 4000
}

func TestGeneratedExpressionsEqualTheirOtherSpellingsAndNothingElse(t *testing.T) {
	count := map[string]int{}
	bad := 0
	for i := range pairs() {
		r := rand.New(rand.NewPCG(7, uint64(i)))
		s := style{r}
		e := randomTerm(r, 1+r.IntN(4), r.IntN(2) == 0)
		gold, same := s.write(e, 0), s.write(e, 0)
		if v := Grade(gold, s.wrap(same)); v.Outcome != OutcomeEqual {
			t.Errorf("pair %d: %q and %q are the same: %s (%s, %s)", i, gold, same, v.Outcome, v.Reason, v.Rule)
			bad++
		} else {
			count[v.Rule]++
		}
		other := s.write(&term{op: '+', args: []*term{e, {op: 'n', value: big.NewRat(1, 1+r.Int64N(1000))}}}, 0)
		if v := Grade(gold, s.wrap(other)); v.Outcome != OutcomeDifferent {
			t.Errorf("pair %d: %q and %q are different: %s (%s, %s)", i, gold, other, v.Outcome, v.Reason, v.Rule)
			bad++
		}
		if bad > 20 {
			t.Fatal("too many failures")
		}
	}
	t.Log(fmt.Sprint(count))
}
