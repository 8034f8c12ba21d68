// The nearest of rows.

package learn

import (
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Index holds rows by feature: a product with all rows touches only what they share.
type Index struct {
	rows  int
	full  [][]float32 // [largest id + 1] what every row has of a feature that many have; nil: few do
	start []int       // [largest id + 2] of feature j of few rows, they are at[start[j]:start[j+1]]
	at    []int32
	value []float32
}

// many is the share of the rows from which a feature is kept for every row. A row of a column that is added up takes an eighth of the time
// of one that is found first, by a profile of main.
const many = 0.125

// NewIndex copies rows.
func NewIndex(rows []policy.Row) Index {
	var have []int
	for _, r := range rows {
		for _, id := range r.IDs {
			have = append(have, make([]int, max(0, int(id)+1-len(have)))...)
			have[id]++
		}
	}
	x := Index{rows: len(rows), full: make([][]float32, len(have)), start: make([]int, len(have)+1)}
	for j, n := range have {
		x.start[j+1] = x.start[j]
		if float64(n) >= many*float64(len(rows)) {
			x.full[j] = make([]float32, len(rows))
		} else {
			x.start[j+1] += n
		}
	}
	x.at, x.value = make([]int32, x.start[len(have)]), make([]float32, x.start[len(have)])
	next := slices.Clone(x.start)
	for i, r := range rows {
		for k, id := range r.IDs {
			if full := x.full[id]; full != nil {
				full[i] = r.Values[k]
				continue
			}
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
// have length 1; of equally near ones the first. Rows that skip names are left out, and so are those whose product is not above 0.
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
	sum := blas32.Vector{N: len(out), Data: out, Inc: 1}
	for k, id := range row.IDs {
		if int(id) >= len(x.full) { // no row has it
			continue
		}
		v := row.Values[k]
		if full := x.full[id]; full != nil {
			blas32.Axpy(v, blas32.Vector{N: len(full), Data: full, Inc: 1}, sum)
			continue
		}
		at, value := x.at[x.start[id]:x.start[id+1]], x.value[x.start[id]:x.start[id+1]]
		for j, i := range at {
			out[i] += v * value[j]
		}
	}
	return out
}
