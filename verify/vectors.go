package verify

// maxMatrix bounds the elements of a matrix that is computed with.
const maxMatrix = 400

// evaluatedMatrix returns the matrix that an expression of matrices is: multiples, sums, negatives and transposes. It
// returns n itself if it is anything else.
func evaluatedMatrix(n *node) *node {
	switch n.kind {
	case kindNegate:
		if m := evaluatedMatrix(n.args[0]); m.kind == kindMatrix {
			return scaled(m, func(e *node) *node { return negate(e) })
		}
	case kindMultiply, kindDivide:
		var m *node
		var factors []*node
		for i, a := range n.args {
			v := evaluatedMatrix(a)
			switch {
			case v.kind != kindMatrix && v.scalar():
				factors = append(factors, v)
			case v.kind != kindMatrix || m != nil || n.kind == kindDivide && i > 0:
				return n
			default:
				m = v
			}
		}
		if m == nil {
			return n
		}
		if n.kind == kindDivide {
			return scaled(m, func(e *node) *node { return divide(e, factors[0]) })
		}
		return scaled(m, func(e *node) *node { return apply(kindMultiply, append([]*node{e}, factors...)...) })
	case kindAdd:
		first := evaluatedMatrix(n.args[0])
		if first.kind != kindMatrix || len(first.args) > maxMatrix {
			return n
		}
		sum := *first
		for _, t := range n.args[1:] {
			m := evaluatedMatrix(t)
			if m.kind != kindMatrix || m.cols != sum.cols || len(m.args) != len(sum.args) {
				return n
			}
			args := make([]*node, len(m.args))
			for i := range args {
				args[i] = apply(kindAdd, sum.args[i], m.args[i])
			}
			sum.args = args
		}
		return &sum
	case kindPower:
		if e := n.args[1]; e.kind == kindSymbol && e.name == "T" {
			return transposed(n.args[0], n)
		}
	}
	return n
}

func scaled(m *node, f func(*node) *node) *node {
	if len(m.args) > maxMatrix {
		return m
	}
	s := *m
	s.args = make([]*node, len(m.args))
	for i, e := range m.args {
		s.args[i] = f(e)
	}
	return &s
}

// transposed returns the transpose of a matrix, or of a tuple, which is a row; otherwise is returned for anything else.
func transposed(n, otherwise *node) *node {
	switch {
	case n.kind == kindTuple || n.kind == kindBracket:
		return &node{kind: kindMatrix, cols: 1, args: n.args}
	case n.kind != kindMatrix || len(n.args) > maxMatrix:
		return otherwise
	}
	rows := len(n.args) / n.cols
	t := &node{kind: kindMatrix, cols: rows, args: make([]*node, len(n.args))}
	for i := range rows {
		for j := range n.cols {
			t.args[j*rows+i] = n.args[i*n.cols+j]
		}
	}
	return t
}

// components returns the vector of so many components that a combination of unit vectors is, such as 2i-3j+k or
// 2\hat{i}+\hat{j}; nil for anything else.
func (c *comparer) components(n *node, size int) *node {
	if size < 2 || size > 3 || !n.scalar() {
		return nil
	}
	units := func(m *node) int {
		switch {
		case m.kind == kindConstant && m.name == "i":
			return 0
		case m.kind != kindSymbol:
			return -1
		}
		switch m.name {
		case "hat i", "vec i", "i":
			return 0
		case "hat j", "vec j", "j":
			return 1
		case "hat k", "vec k", "k":
			return 2
		}
		return -1
	}
	var with func(m *node, at [3]int64) *node
	with = func(m *node, at [3]int64) *node {
		if u := units(m); u >= 0 {
			return number(at[u])
		}
		if len(m.args) == 0 {
			return m
		}
		c := *m
		c.args = make([]*node, len(m.args))
		for i, a := range m.args {
			c.args[i] = with(a, at)
		}
		return &c
	}
	if !n.has(func(m *node) bool { return units(m) >= 1 }) || size == 2 && n.has(func(m *node) bool { return units(m) == 2 }) {
		return nil
	}
	if c.scalars(with(n, [3]int64{}), number(0)).outcome != OutcomeEqual {
		return nil
	}
	v := &node{kind: kindTuple}
	sum := &node{kind: kindAdd}
	for i := range size {
		var at [3]int64
		at[i] = 1
		v.args = append(v.args, with(n, at))
		sum.args = append(sum.args, v.args[i])
	}
	if c.scalars(with(n, [3]int64{1, 1, 1}), sum).outcome != OutcomeEqual {
		return nil
	}
	return v
}
