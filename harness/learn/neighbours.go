// The nearest of rows.

package learn

import (
	"slices"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Index holds sparse rows by feature: a product with all rows touches only what they share.
type Index struct {
	rows  int
	start []int // [largest id + 2] feature j is in at[start[j]:start[j+1]]
	at    []int32
	value []float32
}

// NewIndex copies rows.
func NewIndex(rows []policy.Row) Index {
	width := 0
	for _, r := range rows {
		for _, id := range r.IDs {
			width = max(width, int(id)+1)
		}
	}
	x := Index{rows: len(rows), start: make([]int, width+1)}
	for _, r := range rows {
		for _, id := range r.IDs {
			x.start[id+1]++
		}
	}
	for j := range width {
		x.start[j+1] += x.start[j]
	}
	x.at, x.value = make([]int32, x.start[width]), make([]float32, x.start[width])
	next := slices.Clone(x.start)
	for i, r := range rows {
		for k, id := range r.IDs {
			x.at[next[id]], x.value[next[id]] = int32(i), r.Values[k]
			next[id]++
		}
	}
	return x
}

// Neighbour is a row of an index.
type Neighbour struct {
	Cosine float32
	At     int
}

// Nearest returns up to k rows of the index from the first on, nearest first by the product, which is the cosine where rows
// have length 1; of equally near ones the first. Rows that skip names are left out, and so are those that share nothing.
func (x Index) Nearest(row policy.Row, first, k int, skip func(at int) bool) []Neighbour {
	cosine := x.Dot(row)
	near := make([]Neighbour, 0, k+1)
	for at, c := range cosine[first:] {
		at += first
		if c <= 0 || len(near) == k && c <= near[k-1].Cosine || skip(at) {
			continue
		}
		i, _ := slices.BinarySearchFunc(near, c, func(n Neighbour, c float32) int {
			if n.Cosine >= c {
				return -1
			}
			return 1
		})
		near = slices.Insert(near, i, Neighbour{c, at})
		near = near[:min(len(near), k)]
	}
	return near
}

// Dot returns the product of a row with each of the rows.
func (x Index) Dot(row policy.Row) []float32 {
	out := make([]float32, x.rows)
	for k, id := range row.IDs {
		if int(id)+1 >= len(x.start) { // no row has it
			continue
		}
		v := row.Values[k]
		at, value := x.at[x.start[id]:x.start[id+1]], x.value[x.start[id]:x.start[id+1]]
		for j, i := range at {
			out[i] += v * value[j]
		}
	}
	return out
}
