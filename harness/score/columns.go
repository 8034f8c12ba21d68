// What many columns come to on average under one set of weights, in one pass over the questions: the bootstrap does little else.

package score

import "github.com/entrorouter/entrorouter/harness/metrics"

// together is how many pairs of columns are summed side by side: a sum waits for its last term, and a line of memory holds four pairs.
const together = 4

// columns are pairs of columns, what every question gets and what it costs.
type columns struct {
	*Sample
	size   []int                    // [benchmarks] questions
	blocks [][][together][2]float64 // [block][Q]
	n      int                      // pairs
}

// add adds a pair of columns [Q] and returns its place.
func (c *columns) add(accuracy, usd []float64) int {
	at := c.n % together
	if at == 0 {
		c.blocks = append(c.blocks, make([][together][2]float64, len(c.Strata)))
	}
	block := c.blocks[len(c.blocks)-1]
	for q := range block {
		block[q][at] = [2]float64{accuracy[q], usd[q]}
	}
	c.n++
	return c.n - 1
}

// under are the means of every pair on every benchmark [pair][benchmark], under weights [Q]. Each sum has its terms in the order of
// the questions; one of weight 0 adds nothing.
func (c *columns) under(weights []float64) [][]metrics.Point {
	drawn := make([]int, 0, len(weights))
	for q, w := range weights {
		if w != 0 {
			drawn = append(drawn, q)
		}
	}
	out := make([][]metrics.Point, c.n)
	sums := make([][together][2]float64, len(c.Benchmarks))
	for k, block := range c.blocks {
		clear(sums)
		for i := 0; i < len(drawn); {
			b := c.Strata[drawn[i]]
			sum := &sums[b]
			g0, p0, g1, p1, g2, p2, g3, p3 := sum[0][0], sum[0][1], sum[1][0], sum[1][1], sum[2][0], sum[2][1], sum[3][0], sum[3][1] // in registers
			for ; i < len(drawn) && c.Strata[drawn[i]] == b; i++ {
				q := drawn[i]
				w, x := weights[q], &block[q]
				g0 += w * x[0][0]
				p0 += w * x[0][1]
				g1 += w * x[1][0]
				p1 += w * x[1][1]
				g2 += w * x[2][0]
				p2 += w * x[2][1]
				g3 += w * x[3][0]
				p3 += w * x[3][1]
			}
			*sum = [together][2]float64{{g0, p0}, {g1, p1}, {g2, p2}, {g3, p3}}
		}
		for at := range min(together, c.n-k*together) {
			means := make([]metrics.Point, len(sums))
			for b, sum := range sums {
				means[b] = metrics.Point{Quality: sum[at][0] / float64(c.size[b]), Cost: sum[at][1] / float64(c.size[b])}
			}
			out[k*together+at] = means
		}
	}
	return out
}
