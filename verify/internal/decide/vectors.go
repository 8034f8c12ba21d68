// Vectors and matrices, computed.

package decide

import (
	"github.com/entrorouter/entrorouter/verify/internal/formula"
)

// maxMatrix bounds the elements of a matrix that is computed with.
const maxMatrix = 400

// evaluatedMatrix returns the matrix that an expression of matrices is: multiples, sums, negatives and transposes. It
// returns n itself if it is anything else.
func evaluatedMatrix(n *formula.Node) *formula.Node {
	switch n.Kind {
	case formula.KindNegate:
		if m := evaluatedMatrix(n.Args[0]); m.Kind == formula.KindMatrix {
			return scaled(m, func(e *formula.Node) *formula.Node { return formula.Negate(e) })
		}
	case formula.KindMultiply, formula.KindDivide:
		var m *formula.Node
		var factors []*formula.Node
		for i, a := range n.Args {
			v := evaluatedMatrix(a)
			switch {
			case v.Kind != formula.KindMatrix && v.Scalar():
				factors = append(factors, v)
			case v.Kind != formula.KindMatrix || m != nil || n.Kind == formula.KindDivide && i > 0:
				return n
			default:
				m = v
			}
		}
		if m == nil {
			return n
		}
		if n.Kind == formula.KindDivide {
			return scaled(m, func(e *formula.Node) *formula.Node { return formula.Divide(e, factors[0]) })
		}
		return scaled(m, func(e *formula.Node) *formula.Node {
			return formula.Apply(formula.KindMultiply, append([]*formula.Node{e}, factors...)...)
		})
	case formula.KindAdd:
		first := evaluatedMatrix(n.Args[0])
		if first.Kind != formula.KindMatrix || len(first.Args) > maxMatrix {
			return n
		}
		sum := *first
		for _, t := range n.Args[1:] {
			m := evaluatedMatrix(t)
			if m.Kind != formula.KindMatrix || m.Cols != sum.Cols || len(m.Args) != len(sum.Args) {
				return n
			}
			args := make([]*formula.Node, len(m.Args))
			for i := range args {
				args[i] = formula.Apply(formula.KindAdd, sum.Args[i], m.Args[i])
			}
			sum.Args = args
		}
		return &sum
	case formula.KindPower:
		if e := n.Args[1]; e.Kind == formula.KindSymbol && e.Name == "T" {
			return transposed(n.Args[0], n)
		}
	}
	return n
}

func scaled(m *formula.Node, f func(*formula.Node) *formula.Node) *formula.Node {
	if len(m.Args) > maxMatrix {
		return m
	}
	s := *m
	s.Args = make([]*formula.Node, len(m.Args))
	for i, e := range m.Args {
		s.Args[i] = f(e)
	}
	return &s
}

// transposed returns the transpose of a matrix, or of a tuple, which is a row; otherwise is returned for anything else.
func transposed(n, otherwise *formula.Node) *formula.Node {
	switch {
	case n.Kind == formula.KindTuple || n.Kind == formula.KindBracket:
		return &formula.Node{Kind: formula.KindMatrix, Cols: 1, Args: n.Args}
	case n.Kind != formula.KindMatrix || len(n.Args) > maxMatrix:
		return otherwise
	}
	rows := len(n.Args) / n.Cols
	t := &formula.Node{Kind: formula.KindMatrix, Cols: rows, Args: make([]*formula.Node, len(n.Args))}
	for i := range rows {
		for j := range n.Cols {
			t.Args[j*rows+i] = n.Args[i*n.Cols+j]
		}
	}
	return t
}

// components returns the vector of so many components that a combination of unit vectors is, such as 2i-3j+k or
// 2\hat{i}+\hat{j}; nil for anything else.
func (c *Comparer) components(n *formula.Node, size int) *formula.Node {
	if size < 2 || size > 3 || !n.Scalar() {
		return nil
	}
	units := func(m *formula.Node) int {
		switch {
		case m.Kind == formula.KindConstant && m.Name == "i":
			return 0
		case m.Kind != formula.KindSymbol:
			return -1
		}
		switch m.Name {
		case "hat i", "vec i", "i":
			return 0
		case "hat j", "vec j", "j":
			return 1
		case "hat k", "vec k", "k":
			return 2
		}
		return -1
	}
	var with func(m *formula.Node, at [3]int64) *formula.Node
	with = func(m *formula.Node, at [3]int64) *formula.Node {
		if u := units(m); u >= 0 {
			return formula.Number(at[u])
		}
		if len(m.Args) == 0 {
			return m
		}
		c := *m
		c.Args = make([]*formula.Node, len(m.Args))
		for i, a := range m.Args {
			c.Args[i] = with(a, at)
		}
		return &c
	}
	if !n.Has(func(m *formula.Node) bool { return units(m) >= 1 }) || size == 2 && n.Has(func(m *formula.Node) bool { return units(m) == 2 }) {
		return nil
	}
	if c.scalars(with(n, [3]int64{}), formula.Number(0)).Outcome != OutcomeEqual {
		return nil
	}
	v := &formula.Node{Kind: formula.KindTuple}
	sum := &formula.Node{Kind: formula.KindAdd}
	for i := range size {
		var at [3]int64
		at[i] = 1
		v.Args = append(v.Args, with(n, at))
		sum.Args = append(sum.Args, v.Args[i])
	}
	if c.scalars(with(n, [3]int64{1, 1, 1}), sum).Outcome != OutcomeEqual {
		return nil
	}
	return v
}
