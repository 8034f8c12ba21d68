// Row kind cluster: the best expert on similar training problems.

package methods

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// cluster groups the training problems by their text and sends a question to the expert that does best on the group
// nearest to it (Avengers-Pro, Zhang et al. 2025). Within a group the experts' pass rates p and dollars c are scaled to
// [0,1] over the experts, and the score of an expert is alpha*p + (1-alpha)*(1-c); alpha is the knob, 1 ignores money.
//
// The public code embeds texts with a language model; this clusters the directions of hashed n-grams by k-means.
type cluster struct {
	Clusters int     `yaml:"clusters" in:"[1,100000]"`
	Alpha    float64 `yaml:"alpha" in:"[0,1]"`         // of a row that is not matched
	Buckets  int     `yaml:"buckets" in:"[1,4194304]"` // hashed n-gram buckets
	NGrams   int     `yaml:"ngrams" in:"[1,16]"`       // longest word n-gram hashed

	memory *compact.Texts
}

func newCluster(s Setup) (routing.Method, error) {
	c := &cluster{Clusters: 32, Alpha: 1, Buckets: 4096, NGrams: 2, memory: s.Texts}
	return c, spec.DecodeParams(s.Method, c)
}

func (*cluster) Name() string { return "cluster" }

func (c *cluster) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(c, train)
	if err != nil {
		return nil, err
	}
	of, err := newCorpus(ctx, examples, len(examples), hashing{c.Buckets, c.NGrams, c.memory}, features.ngrams)
	if err != nil {
		return nil, err
	}
	// The groups are found on a random sample; what the experts do on each is learned from all.
	centres, err := kMeans(ctx, of.rows[:min(len(of.rows), searchRows)], c.Buckets, c.Clusters, work.Seed.Derive("cluster").Rand())
	if err != nil {
		return nil, err
	}
	experts := len(train.Experts)
	learned := clustered{Features: of.features, Clusters: centres.k, Directions: centres.weight, Pass: make([][]float64, centres.k), USD: make([][]float64, centres.k)}
	groups := make([][]routing.Example, centres.k)
	members, err := centres.members(ctx, of.rows)
	if err != nil {
		return nil, err
	}
	for i, g := range members {
		groups[g] = append(groups[g], of.examples[i])
	}
	for g, group := range groups {
		if len(group) == 0 {
			group = of.examples
		}
		learned.USD[g], learned.Pass[g] = means(group, experts)
		scaleToUnit(learned.USD[g])
		scaleToUnit(learned.Pass[g])
	}
	work.Log.Debug("problems clustered", "problems", len(of.examples), "clusters", centres.k)
	return keep(train.Experts, work, learned, c.router)
}

// Load implements Loader.
func (c *cluster) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return restore(experts, from, work, c.router)
}

// clustered is what a fit learns.
type clustered struct {
	Features   features    `json:"features"`
	Clusters   int         `json:"clusters"`
	Directions []float32   `json:"directions"` // [width][clusters], see centroids
	Pass       [][]float64 `json:"pass"`       // [clusters][M] pass rates, scaled to [0,1] over the experts
	USD        [][]float64 `json:"usd"`        // [clusters][M] dollars, scaled alike
}

func (c *cluster) router(of clustered) (routing.Router, error) {
	centres := centroids{of.Clusters, of.Directions}
	r := newScoreRouter(len(of.Pass[0]), alphaKnobs(), func(ctx context.Context, texts []string) ([]scores, error) {
		rows, err := of.Features.ngrams(ctx, texts)
		if err != nil {
			return nil, err
		}
		return inParallel(ctx, len(rows), func(i int) scores {
			g, _ := centres.nearest(rows[i])
			return scores{pass: of.Pass[g], usd: of.USD[g]}
		})
	}, balanced)
	r.knob = c.Alpha
	return r, nil
}

// alphaKnobs is the sweep of a weight from 1 to 0.
func alphaKnobs() []float64 {
	const steps = 200
	knobs := make([]float64, steps+1)
	for i := range knobs {
		knobs[i] = 1 - float64(i)/steps
	}
	return knobs
}

// balanced returns the expert with the largest alpha*pass + (1-alpha)*(1-usd); ties go to the cheaper one.
func balanced(s scores, alpha float64) int {
	best, top := 0, -1.0
	for m := range s.pass {
		v := alpha*s.pass[m] + (1-alpha)*(1-s.usd[m])
		if v > top || v == top && s.usd[m] < s.usd[best] {
			best, top = m, v
		}
	}
	return best
}

// scaleToUnit maps x onto [0,1], least to 0 and largest to 1; equal numbers become 0.
func scaleToUnit(x []float64) {
	low, high := slices.Min(x), slices.Max(x)
	for i := range x {
		if high > low {
			x[i] = (x[i] - low) / (high - low)
		} else {
			x[i] = 0
		}
	}
}

// centroids are directions in the space of rows.
type centroids struct {
	k      int
	weight []float32 // [width][k], each direction of norm 1 or 0
}

// nearest returns the direction with the largest cosine, the first of equal ones. The row has norm 1 or 0.
func (c centroids) nearest(row policy.Row) (at int, cosine float32) {
	sums := make([]float32, c.k)
	for j, id := range row.IDs {
		v := row.Values[j]
		for g, w := range c.weight[int(id)*c.k : int(id+1)*c.k] {
			sums[g] += v * w
		}
	}
	cosine = slices.Max(sums)
	return slices.Index(sums, cosine), cosine
}

// members returns the nearest direction of each row.
func (c centroids) members(ctx context.Context, rows []policy.Row) ([]int, error) {
	return inParallel(ctx, len(rows), func(i int) int {
		g, _ := c.nearest(rows[i])
		return g
	})
}

// set makes direction g that of a sum of rows.
func (c centroids) set(g int, sum []float64) {
	norm := norm(sum)
	for id, v := range sum {
		if norm > 0 {
			v /= norm
		}
		c.weight[id*c.k+g] = float32(v)
	}
}

// maxRounds ends a k-means that has not settled; it is near its end then.
const maxRounds = 30

// kMeans clusters rows of norm 1 by cosine into at most k groups: spherical k-means from k-means++ seeds. A group
// that loses its rows keeps its direction.
func kMeans(ctx context.Context, rows []policy.Row, width, k int, rng *rand.Rand) (centroids, error) {
	// k-means++: each seed is a row drawn with probability in proportion to its distance from the nearest seed.
	far := make([]float64, len(rows))
	for i := range far {
		far[i] = 1
	}
	var seeds []policy.Row
	for len(seeds) < k {
		var total float64
		for _, d := range far {
			total += d
		}
		if total <= 1e-9*float64(len(rows)) {
			break // every row is a seed
		}
		at, u := 0, rng.Float64()*total
		for at = range far {
			if u -= far[at]; u < 0 {
				break
			}
		}
		seeds = append(seeds, rows[at])
		one := centroids{1, make([]float32, width)}
		one.set(0, denseSum(rows[at:at+1], width))
		distances, err := inParallel(ctx, len(rows), func(i int) float64 {
			_, cosine := one.nearest(rows[i])
			return max(0, 1-float64(cosine))
		})
		if err != nil {
			return centroids{}, err
		}
		for i, d := range distances {
			far[i] = min(far[i], d)
		}
	}
	c := centroids{len(seeds), make([]float32, width*len(seeds))}
	for g, s := range seeds {
		c.set(g, denseSum([]policy.Row{s}, width))
	}
	var members []int
	for range maxRounds {
		next, err := c.members(ctx, rows)
		if err != nil {
			return centroids{}, err
		}
		if slices.Equal(next, members) {
			break
		}
		members = next
		groups := make([][]policy.Row, c.k)
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

// norm is the Euclidean length of x.
func norm(x []float64) float64 {
	var square float64
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}
