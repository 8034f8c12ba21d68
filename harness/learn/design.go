// Package learn is what rows of the tables learn with, from sparse rows of numbers: regressions whose penalties are chosen on rows held
// out, a bag of embeddings, one score a question, preferences, nearest neighbours and groups. It knows neither texts nor
// experts: labels come as [M][rows], M numbers for each row, and what is learned is plain data that JSON keeps to the last bit.
//
// What depends on a part of the rows, a choice or a random sample, takes the first of them: who passes rows sorts them by a hash.
package learn

import "github.com/entrorouter/entrorouter/harness/policy"

// SearchRows is how many rows a choice looks at, of a penalty or a number of neighbours. A penalty on the summed loss is the width of a prior
// and does not grow with the rows, so more of them cost time and change nothing.
const SearchRows = 5000

// Linear is a linear function of a sparse row.
type Linear struct {
	Weight []float64 `json:"weight"` // [width]
	Bias   float64   `json:"bias"`
}

// At returns the value of the function.
func (l Linear) At(row policy.Row) float64 { return dot(l.Weight, row) + l.Bias }

// linearOf splits weights with the bias last.
func linearOf(theta []float64) Linear {
	width := len(theta) - 1
	return Linear{Weight: theta[:width], Bias: theta[width]}
}

// dot keeps four sums, so that an addition need not wait for the one before it.
func dot(weight []float64, row policy.Row) float64 {
	var a, b, c, d float64
	ids, values := row.IDs, row.Values[:len(row.IDs)]
	for len(ids) >= 4 && len(values) >= 4 {
		a += weight[ids[0]] * float64(values[0])
		b += weight[ids[1]] * float64(values[1])
		c += weight[ids[2]] * float64(values[2])
		d += weight[ids[3]] * float64(values[3])
		ids, values = ids[4:], values[4:]
	}
	for k, id := range ids {
		a += weight[id] * float64(values[k])
	}
	return (a + b) + (c + d)
}

// Design holds the rows of a fit in one block, so that a pass over them reads memory in order.
type Design struct {
	width  int     // number of features
	start  []int   // [rows+1] row i is ids[start[i]:start[i+1]]
	ids    []int32 // below width
	values []float32

	questions []int // [rows] see Asking; nil: every row is a question of its own
}

// NewDesign copies rows of ids below width.
func NewDesign(rows []policy.Row, width int) Design {
	d := Design{width: width, start: make([]int, 1, len(rows)+1)}
	for _, r := range rows {
		d.ids = append(d.ids, r.IDs...)
		d.values = append(d.values, r.Values...)
		d.start = append(d.start, len(d.ids))
	}
	return d
}

// Asking returns the design whose row i is of question questions[i], [rows], numbered from 0 in the order of rows. Rows of one question are held out together.
func (d Design) Asking(questions []int) Design {
	d.questions = questions
	return d
}

// question returns that of row i.
func (d Design) question(i int) int {
	if d.questions == nil {
		return i
	}
	return d.questions[i]
}

// AFifth is how many rows there are to each that a choice of a setting holds out.
const AFifth = 5

// HeldOut returns how many of n rows are held out where a setting is chosen by what the others say of them: the first, one in share, and
// those behind these that are of the same question as the last. It is 0 if that leaves none to learn from.
func HeldOut(n, share int, question func(row int) int) int {
	held := n / share
	for held > 0 && held < n && question(held) == question(held-1) {
		held++
	}
	if held == n {
		return 0
	}
	return held
}

// rows returns the number of rows.
func (d Design) rows() int { return len(d.start) - 1 }

func (d Design) row(i int) policy.Row {
	return policy.Row{IDs: d.ids[d.start[i]:d.start[i+1]], Values: d.values[d.start[i]:d.start[i+1]]}
}

// slice returns rows i to j-1 without copying them.
func (d Design) slice(i, j int) Design {
	d.start = d.start[i : j+1]
	if d.questions != nil {
		d.questions = d.questions[i:j]
	}
	return d
}
