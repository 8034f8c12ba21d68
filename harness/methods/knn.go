// Row kind knn: what experts did on the training problems most like a question.

package methods

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/parallel"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// knn expects of the experts on a question what they did on the training problems most like it (RouterBench, Hu et
// al. 2024): means of pass rate and dollars over the k nearest by the cosine of hashed n-grams, each weighted by its
// cosine, with the overall means added at weight Prior. It picks argmax_m p(m) - mu*usd(m), and mu is its knob. RouterBench takes plain
// means over a number of neighbours that is given, of embeddings by a language model, and weighs them against prices of tokens.
//
// With Guard it asks the cheapest expert that its neighbours do not prove worse than a dearer one, by that many standard errors of the mean
// difference, and the number of standard errors is its knob: a router that pays more only where it has evidence.
//
// k is chosen by every fit from its training problems alone, by log loss on a held-out fifth of at most learn.SearchRows of
// them. A training problem is not its own neighbour, nor is one of the same text, so that what the router spends on
// training problems is what it would spend on new ones.
type knn struct {
	K        []int         `yaml:"k" in:"[1,1000000]"`     // numbers of neighbours to choose from
	Prior    float64       `yaml:"prior" in:"(0,1000000]"` // weight of the overall means, in neighbours of cosine 1
	Most     int           `yaml:"most" in:"[2,10000000]"` // training problems kept, a random sample; more take time in proportion
	Features spec.Features `yaml:"features"`

	Guard float64 `yaml:"guard,omitempty" in:"[0,100]"` // standard errors by which the nearest must prove a cheaper expert worse; 0: utility decides

	reading features.Reading
	fits    *predict.Fits
}

func newKNN(s Setup) (routing.Method, error) {
	k := &knn{K: []int{10, 20, 40, 80, 160}, Prior: 2, Most: 4000, Features: s.textFeatures(spec.ReadWords), fits: s.Fits}
	var err error
	k.reading, err = s.decode(k, &k.Features)
	slices.Sort(k.K)
	k.K = slices.Compact(k.K)
	return k, err
}

func (*knn) Name() string { return "knn" }

func (k *knn) traits() Traits {
	t := Traits{Allowance: Allowance{inWords(k.Features), oneOf(len(k.K), "numbers of neighbours")}, weighs: k.Guard == 0}
	if !t.weighs {
		t.Limit = fmt.Sprintf("the cheapest expert that neighbours do not prove worse by %g standard errors", k.Guard)
	}
	return t
}

func (k *knn) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(k, train)
	if err != nil {
		return nil, err
	}
	c, err := predict.NewCorpus(ctx, examples, k.Most, k.reading, features.Set.Directions)
	if err != nil {
		return nil, err
	}
	of := neighbourhood{Features: c.Set}
	of.USD, of.Pass = routing.Means(c.Examples, len(train.Experts))
	for _, e := range c.Examples[:len(c.Rows)] {
		of.Known = append(of.Known, profiledText{e.Problem.Text, e.Kappa, e.USD})
	}
	r := k.neighbours(of, c.Rows)
	key, err := predict.KeyOfFit(fmt.Sprintln("nearest", k.K, k.Prior, k.Most), k.reading.Of, nil, c.Examples, func(e routing.Example) []float64 { return slices.Concat(e.Kappa, e.USD) })
	if err != nil {
		return nil, err
	}
	tried, err := predict.Once(k.fits, key, func() (*trial, error) {
		n, err := k.choose(ctx, r, c.Rows)
		work.Log.Debug("fitted to texts", "what", "number of neighbours", "problems", len(r.known), "k", n)
		return &trial{k: n}, err
	})
	if err != nil {
		return nil, err
	}
	of.K, r.scored = tried.k, &tried.scored
	return predict.Keep(train.Experts, work, of, func(of neighbourhood) (routing.Router, error) { return k.router(r, of), nil })
}

// Load implements Loader.
func (k *knn) Load(ctx context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(of neighbourhood) (_ routing.Router, err error) {
		if of.Features, err = of.Features.With(k.reading); err != nil {
			return nil, err
		}
		texts := make([]string, len(of.Known))
		for i, x := range of.Known {
			texts[i] = x.Text
		}
		rows, err := of.Features.Directions(ctx, texts)
		if err != nil {
			return nil, err
		}
		return k.router(k.neighbours(of, rows), of), nil
	})
}

// trial is what rows share that read the same problems: what takes long, and not the index, which is large.
type trial struct {
	k      int
	scored predict.Memory // of k neighbours
}

// neighbourhood is what a fit learns.
type neighbourhood struct {
	Features features.Set   `json:"features"`
	K        int            `json:"k"`
	USD      []float64      `json:"usd"`  // [M] means of all training problems
	Pass     []float64      `json:"pass"` // [M]
	Known    []profiledText `json:"known"`
}

// profiledText is a training problem: what it says, and the experts' pass rates and dollars on it, [M].
type profiledText struct {
	Text string    `json:"text"`
	Pass []float64 `json:"pass"`
	USD  []float64 `json:"usd"`
}

// neighbours indexes what is known, of which rows are the features.
func (k *knn) neighbours(of neighbourhood, rows []policy.Row) neighbours {
	return neighbours{prior: k.Prior, known: of.Known, index: learn.NewIndex(rows), usd: of.USD, pass: of.Pass, scored: new(predict.Memory)}
}

// router decides by the nearest.
func (k *knn) router(r neighbours, of neighbourhood) routing.Router {
	if k.Guard == 0 {
		return r.useful(of)
	}
	guarded := predict.NewRouter(len(r.usd), guardKnobs(), byDirection(of.Features, func(row policy.Row, text string) predict.Scores {
		return predict.Scores{Pass: r.worse(r.nearest(row, text, 0, of.K))}
	}), func(s predict.Scores, z float64) int {
		return slices.IndexFunc(s.Pass, func(worse float64) bool { return worse <= z })
	})
	guarded.SetKnob(k.Guard)
	return guarded
}

// guardKnobs is the sweep of the guard, dearest first: standard errors from "any doubt asks the strongest" to "no proof is enough".
func guardKnobs() []float64 {
	knobs := []float64{-2 * certain}
	for z := -60; z <= 60; z++ {
		knobs = append(knobs, float64(z)/10)
	}
	return append(knobs, 2*certain)
}

// certain is what neighbours prove that all say the same, in standard errors.
const certain = 1e6

// worse returns for every expert [M] by how many standard errors the nearest prove it worse than a dearer one: the largest, over
// those, of the mean difference of pass rates weighted by cosine, over its error at the effective number of neighbours. Of
// the strongest, and of neighbours that prove nothing, it is minus infinity and 0.
func (r neighbours) worse(near []learn.Neighbour) []float64 {
	z := slices.Repeat([]float64{math.Inf(-1)}, len(r.pass))
	var weight, squares float64
	for _, n := range near {
		weight += float64(n.Cosine)
		squares += float64(n.Cosine) * float64(n.Cosine)
	}
	for m := range z[:len(z)-1] {
		for dearer := m + 1; dearer < len(z); dearer++ {
			var sum, square float64
			for _, n := range near {
				d := r.known[n.At].Pass[dearer] - r.known[n.At].Pass[m]
				sum += float64(n.Cosine) * d
				square += float64(n.Cosine) * d * d
			}
			proof := 0.0
			if size := weight * weight / squares; size > 1 && sum != 0 {
				mean := sum / weight
				proof = min(max(mean/math.Sqrt(max(square/weight-mean*mean, 0)/(size-1)), -certain), certain)
			}
			z[m] = max(z[m], proof)
		}
	}
	return z
}

// useful is a utility router by the nearest.
func (r neighbours) useful(of neighbourhood) routing.Router {
	return predict.NewUtility(len(r.usd), predict.DollarUnit(r.usd), r.scored.Predictor(byDirection(of.Features, func(row policy.Row, text string) predict.Scores {
		return r.scores(r.nearest(row, text, 0, of.K), of.K)
	})))
}

// choose returns the k of the grid with the least log loss, summed over the experts, on the first fifth of the rows
// when only the rest may be neighbours. The smallest of equal ones wins.
func (k *knn) choose(ctx context.Context, r neighbours, rows []policy.Row) (int, error) {
	searched := min(len(rows), learn.SearchRows)
	held := searched / 5
	if len(k.K) == 1 || held == 0 {
		return k.K[0], ctx.Err()
	}
	losses, err := parallel.Map(ctx, held, func(i int) []float64 {
		near := r.nearest(rows[i], r.known[i].Text, held, k.K[len(k.K)-1])
		at := make([]float64, len(k.K))
		for j, size := range k.K {
			for m, p := range r.scores(near, size).Pass {
				// A pass rate from few neighbours may be 0 or 1; a loss must stay finite.
				p = min(max(p, 1e-6), 1-1e-6)
				at[j] -= r.known[i].Pass[m]*math.Log(p) + (1-r.known[i].Pass[m])*math.Log(1-p)
			}
		}
		return at
	})
	if err != nil {
		return 0, err
	}
	sums := make([]float64, len(k.K))
	for _, at := range losses {
		for j, v := range at {
			sums[j] += v
		}
	}
	return k.K[slices.Index(sums, slices.Min(sums))], nil
}

// neighbours answers from profiled problems.
type neighbours struct {
	known     []profiledText
	index     learn.Index
	usd, pass []float64 // [M] means of all training problems
	prior     float64
	scored    *predict.Memory
}

// nearest returns up to k of the known problems from the first on, nearest first. A problem of the same text is left out.
func (r neighbours) nearest(row policy.Row, text string, first, k int) []learn.Neighbour {
	return r.index.Nearest(row, first, k, func(at int) bool { return r.known[at].Text == text })
}

// scores averages over the first k of near.
func (r neighbours) scores(near []learn.Neighbour, k int) predict.Scores {
	s := predict.Scores{Pass: make([]float64, len(r.pass)), USD: make([]float64, len(r.usd))}
	near = near[:min(len(near), k)]
	total := r.prior
	for _, n := range near {
		total += float64(n.Cosine)
	}
	for m := range s.Pass {
		s.Pass[m], s.USD[m] = r.prior/total*r.pass[m], r.prior/total*r.usd[m]
		for _, n := range near {
			w := float64(n.Cosine) / total
			s.Pass[m] += w * r.known[n.At].Pass[m]
			s.USD[m] += w * r.known[n.At].USD[m]
		}
	}
	return s
}
