// Functions in a finite field, by their laws.

package modular

// Functions, sums, products and determinants in a field.

import (
	"errors"
	"math/big"
	"slices"

	"github.com/entrorouter/entrorouter/verify/internal/evaluate"
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// call evaluates a function by its laws, or as a random element.
func (f *field) call(n *formula.Node) (uint64, error) {
	// What is constant and rational, such as 5! or a binomial coefficient, has a value in every field.
	if r, err := (evaluate.Exact{Steps: f.steps}).Value(n); err == nil {
		return f.rational(r)
	} else if errors.Is(err, evaluate.ErrBudget) {
		return 0, err
	}
	switch n.Name {
	case "root":
		if k, ok := evaluate.RootDegree(n); ok {
			return f.root(n.Args[0], k)
		}
		return 0, evaluate.ErrIrrational
	case "ln":
		l, err := f.logarithm(n.Args[0])
		if err != nil {
			return 0, err
		}
		v, err := f.total(l)
		if err == nil && f.complex {
			return v, nil
		}
		if w, e := f.value(n.Args[0]); err == nil && e == nil {
			f.noted(w, v)
		}
		return v, err
	case "log":
		l, err := f.logarithm(n.Args[0])
		if err != nil {
			return 0, err
		}
		v, err := f.total(l)
		if err != nil || len(n.Args) == 1 {
			return v, err
		}
		if l, err = f.logarithm(n.Args[1]); err != nil {
			return 0, err
		}
		b, err := f.total(l)
		if err == nil && b == 0 {
			err = evaluate.ErrUndefined
		}
		return f.multiply(v, f.inverse(b)), err
	case "sin", "cos", "tan", "cot", "sec", "csc":
		if !f.steps.Spend(3 * costInverse) {
			return 0, evaluate.ErrBudget
		}
		z, err := f.circle(n.Args[0])
		if err != nil {
			return 0, err
		}
		w := f.inverse(z)
		return f.ratio(n.Name[:3], f.half(f.multiply(f.add(w, f.negate(z)), f.i)), f.half(f.add(z, w)))
	case "sinh", "cosh", "tanh", "coth", "sech", "csch":
		if !f.steps.Spend(3 * costInverse) {
			return 0, evaluate.ErrBudget
		}
		terms, err := f.summands(n.Args[0], one, nil)
		if err != nil {
			return 0, err
		}
		z, err := f.exponential(terms)
		if err != nil {
			return 0, err
		}
		w := f.inverse(z)
		return f.ratio(n.Name[:3], f.half(f.add(z, f.negate(w))), f.half(f.add(z, w)))
	case "abs", "sign":
		if f.complex {
			break
		}
		v, err := f.magnitude(n.Args[0])
		if err != nil || n.Name == "abs" {
			return v, err
		}
		u, err := f.value(n.Args[0])
		if err == nil && u == 0 {
			err = evaluate.ErrUndefined
		}
		return f.multiply(v, f.inverse(u)), err
	case "max", "min":
		return f.extreme(n)
	case "floor", "ceil":
		return f.whole(n.Args[0], n.Name == "ceil")
	case "mod":
		m, err := evaluate.Exact{Steps: f.steps}.Value(n.Args[1])
		if err != nil || m.Sign() <= 0 {
			break
		}
		a, err := f.value(n.Args[0])
		if err != nil {
			return 0, err
		}
		q, err := f.whole(formula.Divide(n.Args[0], n.Args[1]), false)
		if err != nil {
			return 0, err
		}
		b, err := f.rational(m)
		return f.add(a, f.negate(f.multiply(b, q))), err
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
		v, err := f.value(a)
		if err != nil {
			return 0, err
		}
		vs[k] = v
	}
	quarter := func() uint64 { return f.half(f.pi()) }
	switch n.Name {
	case "arcsin", "arctan", "arsinh", "artanh":
		return f.odd(n.Name, vs[0]), nil
	case "arccos":
		return f.add(quarter(), f.negate(f.odd("arcsin", vs[0]))), nil
	case "arccot":
		return f.add(quarter(), f.negate(f.odd("arctan", vs[0]))), nil
	case "gcd", "lcm":
		slices.Sort(vs)
	}
	return f.random(n.Name, vs...), nil
}

// ratio returns the function of the given name from sine and cosine, circular or hyperbolic.
func (f *field) ratio(name string, s, c uint64) (uint64, error) {
	over := func(a, b uint64) (uint64, error) {
		if b == 0 {
			return 0, evaluate.ErrUndefined
		}
		return f.multiply(a, f.inverse(b)), nil
	}
	switch name {
	case "sin":
		return s, nil
	case "cos":
		return c, nil
	case "tan":
		return over(s, c)
	case "cot":
		return over(c, s)
	case "sec":
		return over(1, c)
	}
	return over(1, s)
}

// extreme evaluates a maximum or minimum: (a+b±|a-b|)/2.
func (f *field) extreme(n *formula.Node) (uint64, error) {
	acc, err := f.value(n.Args[0])
	if err != nil {
		return 0, err
	}
	for _, a := range n.Args[1:] {
		v, err := f.value(a)
		if err != nil {
			return 0, err
		}
		d, err := f.absolute(f.add(acc, f.negate(v)))
		if err != nil {
			return 0, err
		}
		if n.Name == "min" {
			d = f.negate(d)
		}
		acc = f.half(f.add(f.add(acc, v), d))
	}
	return acc, nil
}

// apart splits the integer that is added off a sum: the rest and the integer.
func (f *field) apart(n *formula.Node) (rest uint64, whole *big.Int, err error) {
	terms, err := f.summands(n, one, nil)
	if err != nil {
		return 0, nil, err
	}
	plain := new(big.Rat)
	for _, t := range terms {
		if t.plain {
			plain.Add(plain, t.coefficient)
		}
	}
	whole = new(big.Int).Div(plain.Num(), plain.Denom())
	v, err := f.total(terms)
	return f.add(v, f.negate(f.reduce(whole))), whole, err
}

// whole evaluates floor or ceiling; that of u+3 is 3 more than that of u.
func (f *field) whole(n *formula.Node, up bool) (uint64, error) {
	if up {
		n = formula.Negate(n)
	}
	rest, whole, err := f.apart(n)
	if err != nil {
		return 0, err
	}
	v := f.reduce(whole)
	if rest != 0 {
		v = f.add(v, f.random("floor", rest))
	}
	if up {
		v = f.negate(v)
	}
	return v, nil
}

// factorial evaluates n!; that of n+2 is (n+2)(n+1) n!.
func (f *field) factorial(n *formula.Node) (uint64, error) {
	if r, err := (evaluate.Exact{Steps: f.steps}).Value(formula.Call("factorial", n)); err == nil {
		return f.rational(r)
	}
	rest, whole, err := f.apart(n)
	if err != nil {
		return 0, err
	}
	if whole.BitLen() > 8 || whole.Sign() < 0 && !f.steps.Spend(costInverse*int(-whole.Int64())) {
		return f.random("factorial", f.add(rest, f.reduce(whole))), nil
	}
	v, k := f.random("factorial", rest), whole.Int64()
	for j := int64(1); j <= k; j++ {
		v = f.multiply(v, f.add(rest, uint64(j)))
	}
	for j := int64(0); j > k; j-- {
		d := f.add(rest, f.negate(uint64(-j)))
		if d == 0 {
			return 0, evaluate.ErrUndefined
		}
		v = f.multiply(v, f.inverse(d))
	}
	return v, nil
}

// selections evaluates binomial coefficients and numbers of arrangements: falling factorials, or n!/(k! (n-k)!).
func (f *field) selections(n *formula.Node) (uint64, error) {
	of, k := n.Args[0], n.Args[1]
	if r, err := (evaluate.Exact{Steps: f.steps}).Value(k); err == nil && r.IsInt() && r.Sign() >= 0 && r.Num().BitLen() <= 7 {
		f.free = true // zero for n < k, but undefined below zero
		v, err := f.value(of)
		if err != nil {
			return 0, err
		}
		acc := uint64(1)
		if !f.steps.Spend(costInverse * int(r.Num().Uint64())) {
			return 0, evaluate.ErrBudget
		}
		for j := uint64(0); j < r.Num().Uint64(); j++ {
			acc = f.multiply(acc, f.add(v, f.negate(j)))
			if n.Name == "binom" {
				acc = f.multiply(acc, f.inverse(j+1))
			}
		}
		return acc, nil
	}
	v, err := f.factorial(of)
	if err != nil {
		return 0, err
	}
	below := []*formula.Node{formula.Subtract(of, k)}
	if n.Name == "binom" {
		below = append(below, k)
	}
	for _, b := range below {
		w, err := f.factorial(b)
		switch {
		case err != nil:
			return 0, err
		case w == 0:
			return 0, evaluate.ErrUndefined
		}
		v = f.multiply(v, f.inverse(w))
	}
	return v, nil
}

// series evaluates a sum or product as a function of its bounds and of its term at a random index.
func (f *field) series(n *formula.Node) (uint64, error) {
	if evaluate.Infinity(n.Args[2]) != 0 || evaluate.Infinity(n.Args[3]) != 0 {
		return 0, evaluate.ErrIrrational
	}
	inner := *f
	inner.depth++
	inner.at = append([]unknownAt{f.draw(n.Args[1].Name, f.random("index", uint64(inner.depth)))}, f.at...)
	body, err := inner.value(n.Args[0])
	f.coins, f.free = inner.coins, true
	if !f.steps.Spend(len(f.at) + 16*costPower) {
		return 0, evaluate.ErrBudget
	}
	if err != nil {
		return 0, err
	}
	lo, err := f.value(n.Args[2])
	if err != nil {
		return 0, err
	}
	hi, err := f.value(n.Args[3])
	if err != nil {
		return 0, err
	}
	return f.random(n.Name, body, lo, hi), nil
}

// determinant eliminates.
func (f *field) determinant(m *formula.Node) (uint64, error) {
	if m.Kind != formula.KindMatrix || m.Cols*m.Cols != len(m.Args) || m.Cols > evaluate.MaxElimination {
		return 0, evaluate.ErrIrrational
	}
	n := m.Cols
	if !f.steps.Spend(n * n * n) {
		return 0, evaluate.ErrBudget
	}
	rows := make([][]uint64, n)
	for i := range rows {
		for j := range n {
			v, err := f.value(m.Args[i*n+j])
			if err != nil {
				return 0, err
			}
			rows[i] = append(rows[i], v)
		}
	}
	det := uint64(1)
	for c := range n {
		pivot := c
		for pivot < n && rows[pivot][c] == 0 {
			pivot++
		}
		if pivot == n {
			return 0, nil
		}
		if pivot != c {
			rows[pivot], rows[c] = rows[c], rows[pivot]
			det = f.negate(det)
		}
		det = f.multiply(det, rows[c][c])
		if !f.steps.Spend(costInverse) {
			return 0, evaluate.ErrBudget
		}
		inverse := f.inverse(rows[c][c])
		for r := c + 1; r < n; r++ {
			q := f.negate(f.multiply(rows[r][c], inverse))
			for k := c; k < n; k++ {
				rows[r][k] = f.add(rows[r][k], f.multiply(q, rows[c][k]))
			}
		}
	}
	return det, nil
}
