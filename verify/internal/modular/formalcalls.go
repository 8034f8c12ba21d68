// Functions in a finite field, by their laws.

package modular

// Functions, sums, products and determinants in a field.

import (
	"errors"
	"math/big"
	"slices"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/failing"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// call evaluates a function by its laws, or as a random element.
func (f *field) call(n *formula.Node) uint64 {
	// What is constant and rational, such as 5! or a binomial coefficient, has a value in every field.
	if r, err := (evaluate.Exact{Steps: f.steps}).Value(n); err == nil {
		return f.rational(r)
	} else if errors.Is(err, evaluate.ErrBudget) {
		panic(failing.With(err))
	}
	switch n.Name {
	case "root":
		if k, ok := evaluate.RootDegree(n); ok {
			return f.root(n.Args[0], k)
		}
		panic(failing.With(evaluate.ErrIrrational))
	case "ln":
		v := f.total(f.logarithm(n.Args[0]))
		if f.complex {
			return v
		}
		if w, err := failing.Try(func() uint64 { return f.value(n.Args[0]) }); err == nil {
			f.noted(w, v)
		}
		return v
	case "log":
		v := f.total(f.logarithm(n.Args[0]))
		if len(n.Args) == 1 {
			return v
		}
		return f.over(v, f.total(f.logarithm(n.Args[1])))
	case "sin", "cos", "tan", "cot", "sec", "csc":
		f.spend(3 * costInverse)
		z := f.circle(n.Args[0])
		w := f.inverse(z)
		return evaluate.OfSine(n.Name, f.half(f.multiply(f.add(w, f.negate(z)), f.i)), f.half(f.add(z, w)), 1, f.over)
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		f.spend(3 * costInverse)
		z := f.exponential(f.summands(n.Args[0], one, nil))
		w := f.inverse(z)
		return evaluate.OfSine(n.Name[:3], f.half(f.add(z, f.negate(w))), f.half(f.add(z, w)), 1, f.over)
	case "abs", "sign":
		if f.complex {
			break
		}
		v := f.magnitude(n.Args[0])
		if n.Name == "abs" {
			return v
		}
		return f.over(v, f.value(n.Args[0]))
	case "max", "min":
		return f.extreme(n)
	case "floor", "ceil":
		return f.whole(n.Args[0], n.Name == "ceil")
	case "mod":
		m, err := evaluate.Exact{Steps: f.steps}.Value(n.Args[1])
		if err != nil || m.Sign() <= 0 {
			break
		}
		return f.add(f.value(n.Args[0]), f.negate(f.multiply(f.rational(m), f.whole(formula.Divide(n.Args[0], n.Args[1]), false))))
	case "factorial":
		return f.factorial(n.Args[0])
	case "binom", "arrangements":
		return f.selections(n)
	case "sum", "prod":
		return f.series(n)
	case "det":
		return f.determinant(n.Args[0])
	}
	vs := make([]uint64, len(n.Args))
	for k, a := range n.Args {
		v := f.value(a)
		vs[k] = v
	}
	quarter := func() uint64 { return f.half(f.pi()) }
	switch n.Name {
	case "arcsin", "arctan", "arsinh", "artanh":
		return f.odd(n.Name, vs[0])
	case "arccos":
		return f.add(quarter(), f.negate(f.odd("arcsin", vs[0])))
	case "arccot":
		return f.add(quarter(), f.negate(f.odd("arctan", vs[0])))
	case "gcd", "lcm":
		slices.Sort(vs)
	}
	return f.random(n.Name, vs...)
}

// over divides; what is zero has no inverse.
func (f *field) over(a, b uint64) uint64 {
	if b == 0 {
		panic(failing.With(evaluate.ErrUndefined))
	}
	return f.multiply(a, f.inverse(b))
}

// extreme evaluates a maximum or minimum: (a+b±|a-b|)/2.
func (f *field) extreme(n *formula.Node) uint64 {
	acc := f.value(n.Args[0])
	for _, a := range n.Args[1:] {
		v := f.value(a)
		d := f.absolute(f.add(acc, f.negate(v)))
		if n.Name == "min" {
			d = f.negate(d)
		}
		acc = f.half(f.add(f.add(acc, v), d))
	}
	return acc
}

// apart splits the integer that is added off a sum: the rest and the integer.
func (f *field) apart(n *formula.Node) (rest uint64, whole *big.Int) {
	terms := f.summands(n, one, nil)
	plain := new(big.Rat)
	for _, t := range terms {
		if t.plain {
			plain.Add(plain, t.coefficient)
		}
	}
	whole = new(big.Int).Div(plain.Num(), plain.Denom())
	return f.add(f.total(terms), f.negate(f.reduce(whole))), whole
}

// whole evaluates floor or ceiling; that of u+3 is 3 more than that of u.
func (f *field) whole(n *formula.Node, up bool) uint64 {
	if up {
		n = formula.Negate(n)
	}
	rest, whole := f.apart(n)
	v := f.reduce(whole)
	if rest != 0 {
		v = f.add(v, f.random("floor", rest))
	}
	if up {
		v = f.negate(v)
	}
	return v
}

// factorial evaluates n!; that of n+2 is (n+2)(n+1) n!.
func (f *field) factorial(n *formula.Node) uint64 {
	if r, err := (evaluate.Exact{Steps: f.steps}).Value(formula.Call("factorial", n)); err == nil {
		return f.rational(r)
	}
	rest, whole := f.apart(n)
	if whole.BitLen() > 8 || whole.Sign() < 0 && !f.steps.Spend(costInverse*int(-whole.Int64())) {
		return f.random("factorial", f.add(rest, f.reduce(whole)))
	}
	v, k := f.random("factorial", rest), whole.Int64()
	for j := int64(1); j <= k; j++ {
		v = f.multiply(v, f.add(rest, uint64(j)))
	}
	for j := int64(0); j > k; j-- {
		v = f.over(v, f.add(rest, f.negate(uint64(-j))))
	}
	return v
}

// selections evaluates binomial coefficients and numbers of arrangements: falling factorials, or n!/(k! (n-k)!).
func (f *field) selections(n *formula.Node) uint64 {
	of, k := n.Args[0], n.Args[1]
	if r, err := (evaluate.Exact{Steps: f.steps}).Value(k); err == nil && r.IsInt() && r.Sign() >= 0 && r.Num().BitLen() <= 7 {
		f.free = true // zero for n < k, but undefined below zero
		v := f.value(of)
		acc := uint64(1)
		f.spend(costInverse * int(r.Num().Uint64()))
		for j := uint64(0); j < r.Num().Uint64(); j++ {
			acc = f.multiply(acc, f.add(v, f.negate(j)))
			if n.Name == "binom" {
				acc = f.multiply(acc, f.inverse(j+1))
			}
		}
		return acc
	}
	v := f.factorial(of)
	below := []*formula.Node{formula.Subtract(of, k)}
	if n.Name == "binom" {
		below = append(below, k)
	}
	for _, b := range below {
		v = f.over(v, f.factorial(b))
	}
	return v
}

// series evaluates a sum or product as a function of its bounds and of its term at a random index.
func (f *field) series(n *formula.Node) uint64 {
	if evaluate.Infinity(n.Args[2]) != 0 || evaluate.Infinity(n.Args[3]) != 0 {
		panic(failing.With(evaluate.ErrIrrational))
	}
	inner := *f
	inner.depth++
	inner.at = append([]unknownAt{f.draw(n.Args[1].Name, f.random("index", uint64(inner.depth)))}, f.at...)
	body := inner.value(n.Args[0])
	f.coins, f.free = inner.coins, true
	f.spend(len(f.at) + 16*costPower)
	return f.random(n.Name, body, f.value(n.Args[2]), f.value(n.Args[3]))
}

// determinant eliminates.
func (f *field) determinant(m *formula.Node) uint64 {
	if m.Kind != formula.KindMatrix || m.Cols*m.Cols != len(m.Args) || m.Cols > evaluate.MaxElimination {
		panic(failing.With(evaluate.ErrIrrational))
	}
	n := m.Cols
	f.spend(n * n * n)
	rows := make([][]uint64, n)
	for i := range rows {
		for j := range n {
			rows[i] = append(rows[i], f.value(m.Args[i*n+j]))
		}
	}
	det := uint64(1)
	for c := range n {
		pivot := c
		for pivot < n && rows[pivot][c] == 0 {
			pivot++
		}
		if pivot == n {
			return 0
		}
		if pivot != c {
			rows[pivot], rows[c] = rows[c], rows[pivot]
			det = f.negate(det)
		}
		det = f.multiply(det, rows[c][c])
		f.spend(costInverse)
		inverse := f.inverse(rows[c][c])
		for r := c + 1; r < n; r++ {
			q := f.negate(f.multiply(rows[r][c], inverse))
			for k := c; k < n; k++ {
				rows[r][k] = f.add(rows[r][k], f.multiply(q, rows[c][k]))
			}
		}
	}
	return det
}
