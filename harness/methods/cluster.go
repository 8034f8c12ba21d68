// Row kind cluster: the best expert on similar training problems.

package methods

import (
	"context"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// cluster groups the training problems by their text and sends a question to the expert that does best on the group
// nearest to it (Avengers-Pro, Zhang et al. 2025). Within a group the experts' pass rates p and dollars c are scaled to
// [0,1] over the experts, and the score of an expert is alpha*p + (1-alpha)*(1-c); alpha is the knob, 1 ignores money.
//
// The public code embeds texts with a language model; this clusters the directions of hashed n-grams by k-means. The number of groups is
// that code's default, and so is looking at the nearest alone: the paper has 60 groups and adds up the scores of several near ones. Dollars are
// scaled as pass rates are, as in the paper; that code divides them by the largest.
type cluster struct {
	Clusters int           `yaml:"clusters" in:"[1,100000]"`
	Alpha    float64       `yaml:"alpha" in:"[0,1]"` // of a row that is not matched
	Features spec.Features `yaml:"features"`

	reading features.Reading
}

func newCluster(s Setup) (routing.Method, error) {
	c := &cluster{Clusters: 32, Alpha: 1, Features: s.textFeatures(spec.ReadWords)}
	var err error
	c.reading, err = s.decode(c, &c.Features)
	return c, err
}

func (*cluster) Name() string { return "cluster" }

func (c *cluster) traits() Traits { return Traits{Allowance: Allowance{Reads: inWords(c.Features)}} }

func (c *cluster) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(c, train)
	if err != nil {
		return nil, err
	}
	of, err := predict.NewCorpus(ctx, examples, len(examples), c.reading, features.Set.Directions)
	if err != nil {
		return nil, err
	}
	// The groups are found on a random sample; what the experts do on each is learned from all.
	centres, err := learn.KMeans(ctx, of.Rows[:min(len(of.Rows), learn.SearchRows)], of.Width(), c.Clusters, work.Seed.Derive("cluster").Rand())
	if err != nil {
		return nil, err
	}
	experts := len(train.Experts)
	learned := clustered{Features: of.Set, Centroids: centres, Pass: make([][]float64, centres.K), USD: make([][]float64, centres.K)}
	groups := make([][]routing.Example, centres.K)
	members, err := centres.Members(ctx, of.Rows)
	if err != nil {
		return nil, err
	}
	for i, g := range members {
		groups[g] = append(groups[g], of.Examples[i])
	}
	for g, group := range groups {
		if len(group) == 0 {
			group = of.Examples
		}
		learned.USD[g], learned.Pass[g] = routing.Means(group, experts)
		scaleToUnit(learned.USD[g])
		scaleToUnit(learned.Pass[g])
	}
	work.Log.Debug("problems clustered", "problems", len(of.Examples), "clusters", centres.K)
	return predict.Keep(train.Experts, work, learned, c.router)
}

// Load implements Loader.
func (c *cluster) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(of clustered) (_ routing.Router, err error) {
		if of.Features, err = of.Features.With(c.reading); err != nil {
			return nil, err
		}
		return c.router(of)
	})
}

// clustered is what a fit learns.
type clustered struct {
	Features features.Set `json:"features"`
	learn.Centroids
	Pass [][]float64 `json:"pass"` // [clusters][M] pass rates, scaled to [0,1] over the experts
	USD  [][]float64 `json:"usd"`  // [clusters][M] dollars, scaled alike
}

func (c *cluster) router(of clustered) (routing.Router, error) {
	r := predict.NewRouter(len(of.Pass[0]), alphaKnobs(), byDirection(of.Features, func(row policy.Row, _ string) predict.Scores {
		g, _ := of.Nearest(row)
		return predict.Scores{Pass: of.Pass[g], USD: of.USD[g]}
	}), balanced)
	r.SetKnob(c.Alpha)
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
func balanced(s predict.Scores, alpha float64) int {
	best, top := 0, -1.0
	for m := range s.Pass {
		v := alpha*s.Pass[m] + (1-alpha)*(1-s.USD[m])
		if v > top || v == top && s.USD[m] < s.USD[best] {
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
