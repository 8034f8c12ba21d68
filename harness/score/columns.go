// What many columns sum to under several sets of weights, in one pass over the columns: the bootstrap does little else.

package score

import "github.com/entrorouter/entrorouter/harness/metrics"

// together is how many columns are summed side by side: a sum waits for its last term, and a line of memory holds eight numbers.
const together = 8

// reach is how many questions of a block are summed under all sets of weights before the next ones are read: so many stay in the
// fastest memory.
const reach = 256

// columns are numbers of questions, [Q] each.
type columns struct {
	strata []int // [Q] each has sums of its own; it is fast where their questions lie in one piece
	count  int   // of strata
	n      int
	blocks [][][together]float64 // [block][Q]
}

// sums are those of columns under one set of weights, [block][stratum].
type sums [][][together]float64

// of is the sum of a column.
func (s sums) of(column, stratum int) float64 {
	return s[column/together][stratum][column%together]
}

// add adds a column and returns its index, that of an equal one if there is one.
func (c *columns) add(column []float64) int {
	for i := range c.n {
		if c.is(i, column) {
			return i
		}
	}
	if c.n%together == 0 {
		c.blocks = append(c.blocks, make([][together]float64, len(c.strata)))
	}
	for q, x := range column {
		c.blocks[c.n/together][q][c.n%together] = x
	}
	c.n++
	return c.n - 1
}

// place is where the columns are of what questions get and what they cost.
type place struct{ accuracy, usd int }

// pair adds both columns.
func (c *columns) pair(accuracy, usd []float64) *place {
	return &place{c.add(accuracy), c.add(usd)}
}

// at are the sums of both columns of a place.
func (s sums) at(p *place, stratum int) metrics.Point {
	return metrics.Point{Quality: s.of(p.accuracy, stratum), Cost: s.of(p.usd, stratum)}
}

func (c *columns) is(i int, column []float64) bool {
	block := c.blocks[i/together]
	for q, x := range column {
		if block[q][i%together] != x {
			return false
		}
	}
	return true
}

// draw is a question that weighs something.
type draw struct {
	question int
	weight   float64
}

// under are the sums under each of several sets of weights [Q]. Each has its terms in the order of the questions; one of weight 0 adds nothing.
func (c *columns) under(weights [][]float64) []sums {
	out := make([]sums, len(weights))
	for r := range out {
		out[r] = make(sums, len(c.blocks))
		for k := range c.blocks {
			out[r][k] = make([][together]float64, c.count)
		}
	}
	lists := make([][]draw, len(weights))
	for from, to := 0, 0; from < len(c.strata); from = to {
		b := c.strata[from]
		for to < min(from+reach, len(c.strata)) && c.strata[to] == b {
			to++
		}
		for r, w := range weights {
			lists[r] = lists[r][:0]
			for q := from; q < to; q++ {
				if w[q] != 0 {
					lists[r] = append(lists[r], draw{q, w[q]})
				}
			}
		}
		for k, block := range c.blocks {
			for r, list := range lists {
				sum := &out[r][k][b]
				s0, s1, s2, s3, s4, s5, s6, s7 := sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], sum[7] // in registers
				for _, d := range list {
					w, x := d.weight, &block[d.question]
					s0 += w * x[0]
					s1 += w * x[1]
					s2 += w * x[2]
					s3 += w * x[3]
					s4 += w * x[4]
					s5 += w * x[5]
					s6 += w * x[6]
					s7 += w * x[7]
				}
				*sum = [together]float64{s0, s1, s2, s3, s4, s5, s6, s7}
			}
		}
	}
	return out
}
