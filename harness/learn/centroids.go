// Groups of rows.

package learn

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// Centroids are directions in the space of rows.
type Centroids struct {
	K          int       `json:"clusters"`
	Directions []float32 `json:"directions"` // [width][K], each of norm 1 or 0
}

// Nearest returns the direction with the largest cosine, the first of equal ones. The row has norm 1 or 0.
func (c Centroids) Nearest(row policy.Row) (at int, cosine float32) {
	sums := make([]float32, c.K)
	for j, id := range row.IDs {
		v := row.Values[j]
		for g, w := range c.Directions[int(id)*c.K : int(id+1)*c.K] {
			sums[g] += v * w
		}
	}
	cosine = slices.Max(sums)
	return slices.Index(sums, cosine), cosine
}

// Members returns the nearest direction of each row, as Nearest.
func (c Centroids) Members(ctx context.Context, rows []policy.Row) ([]int, error) {
	return parallel.Map(ctx, len(rows), func(i int) int {
		g, _ := c.Nearest(rows[i])
		return g
	})
}

// set makes direction g that of a sum of rows.
func (c Centroids) set(g int, sum []float64) {
	norm := norm(sum)
	for id, v := range sum {
		if norm > 0 {
			v /= norm
		}
		c.Directions[id*c.K+g] = float32(v)
	}
}

// maxRounds ends a k-means that has not settled; it is near its end then.
const maxRounds = 30

// sameRow is a distance that rounding may put between a row and itself.
const sameRow = 1e-5

// KMeans clusters rows of norm 1 by cosine into at most k groups: spherical k-means from k-means++ seeds. A group
// that loses its rows keeps its direction.
func KMeans(ctx context.Context, rows []policy.Row, width, k int, rng *rand.Rand) (Centroids, error) {
	// k-means++: each seed is a row drawn with probability in proportion to its distance from the nearest seed.
	far := make([]float64, len(rows))
	for i := range far {
		far[i] = 1
	}
	var seeds []policy.Row
	for len(seeds) < k {
		if slices.Max(far) < sameRow {
			break // every row is a seed
		}
		var total float64
		for _, d := range far {
			total += d
		}
		at, u := 0, rng.Float64()*total
		for at = range far {
			if u -= far[at]; u < 0 {
				break
			}
		}
		seeds = append(seeds, rows[at])
		one := Centroids{1, make([]float32, width)}
		one.set(0, denseSum(rows[at:at+1], width))
		distances, err := parallel.Map(ctx, len(rows), func(i int) float64 {
			_, cosine := one.Nearest(rows[i])
			return max(0, 1-float64(cosine))
		})
		if err != nil {
			return Centroids{}, err
		}
		for i, d := range distances {
			far[i] = min(far[i], d)
		}
	}
	c := Centroids{len(seeds), make([]float32, width*len(seeds))}
	for g, s := range seeds {
		c.set(g, denseSum([]policy.Row{s}, width))
	}
	var members []int
	for range maxRounds {
		next, err := c.Members(ctx, rows)
		if err != nil {
			return Centroids{}, err
		}
		if slices.Equal(next, members) {
			break
		}
		members = next
		groups := make([][]policy.Row, c.K)
		for i, g := range members {
			groups[g] = append(groups[g], rows[i])
		}
		for g, group := range groups {
			if len(group) > 0 {
				c.set(g, denseSum(group, width))
			}
		}
	}
	return c, nil
}

// denseSum adds up sparse rows, [width].
func denseSum(rows []policy.Row, width int) []float64 {
	sum := make([]float64, width)
	for _, r := range rows {
		for j, id := range r.IDs {
			sum[id] += float64(r.Values[j])
		}
	}
	return sum
}
