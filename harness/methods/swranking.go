// Row kind swranking: RouteLLM's ranking by similarity.

package methods

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/features"
	"github.com/entrorouter/entrorouter/harness/learn"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/predict"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// swRanking is RouteLLM's similarity-weighted ranking (Ong et al. 2024). Nothing is trained: for every question the experts are rated
// anew (Bradley and Terry) by how they compare on the training problems, each of which counts 10^(s/max s) times, s being the
// cosine of its text with the question's. So the most similar problem counts ten times as much as one that has nothing in common. On a
// problem every expert is compared with every other by pass rates, and a tie is half a win for each, as in the source. The
// strongest expert is asked where its chance to win against the cheapest is at least the knob, else the cheapest; the others are
// rated and never asked. Who the strongest is, and how Share and Match set the knob, is as in routeLLM.
//
// The source embeds texts with a language model; these are hashed n-grams, as in knn. It has experts of about equal rating
// play under one name, ten names of 64; a pool's few keep their own. Its fit has no penalty and ends where its solver
// gives up on an expert that never loses; here no share of wins is nearer to 0 or 1 than certainShare. A training problem does
// not count on itself, nor does one of the same text.
type swRanking struct {
	Share     float64       `yaml:"share,omitempty" in:"[0,1]"`                 // of training problems that go to the strongest, of a row that is not matched
	Strongest string        `yaml:"strongest,omitempty" oneof:"price accuracy"` // default: targets.strongest of the spec
	Most      int           `yaml:"most" in:"[2,10000000]"`                     // training problems kept, a random sample; more take time in proportion
	Features  spec.Features `yaml:"features"`

	reading features.Reading
	fits    *predict.Fits
}

// certainShare of all comparisons is won at least by every expert.
const certainShare = 1e-6

func newSWRanking(s Setup) (routing.Method, error) {
	r := &swRanking{Share: 0.5, Strongest: s.Spec.Targets.Strongest, Most: 4000, Features: s.textFeatures(spec.ReadWords), fits: s.Fits}
	var err error
	r.reading, err = s.decode(r, &r.Features)
	return r, err
}

func (*swRanking) Name() string { return "swranking" }

func (r *swRanking) traits() Traits {
	return Traits{Allowance: Allowance{Reads: inWords(r.Features)}, Limit: shareLimit}
}

func (r *swRanking) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(r, train)
	if err != nil {
		return nil, err
	}
	c, err := predict.NewCorpus(ctx, examples, r.Most, r.reading, features.Set.Directions)
	if err != nil {
		return nil, err
	}
	of := battles{Features: c.Set, Strongest: dearOfPair(c.Examples, len(train.Experts), r.Strongest)}
	for _, e := range c.Examples[:len(c.Rows)] {
		of.Texts, of.Pass = append(of.Texts, e.Problem.Text), append(of.Pass, e.Kappa)
	}
	key, err := predict.KeyOfFit(fmt.Sprintln("similar", r.Most, of.Strongest), r.reading.Of, nil, c.Examples, func(e routing.Example) []float64 { return e.Kappa })
	if err != nil {
		return nil, err
	}
	known, err := predict.Once(r.fits, key, func() (*predict.Memory, error) { return new(predict.Memory), nil })
	if err != nil {
		return nil, err
	}
	expects := known.Predictor(newArena(of, c.Rows).predictor(of.Features))
	found, err := expects(ctx, of.Texts)
	if err != nil {
		return nil, err
	}
	chances := make([]float64, len(found))
	for i, s := range found {
		chances[i] = s.Pass[0]
	}
	of.Knobs, of.Knob = quantileKnobs(chances), shareKnob(chances, r.Share, never)
	return predict.Keep(train.Experts, work, of, func(of battles) (routing.Router, error) { return of.router(expects), nil })
}

// Load implements Loader.
func (r *swRanking) Load(ctx context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return predict.Restore(experts, from, work, func(of battles) (_ routing.Router, err error) {
		if of.Features, err = of.Features.With(r.reading); err != nil {
			return nil, err
		}
		rows, err := of.Features.Directions(ctx, of.Texts)
		if err != nil {
			return nil, err
		}
		return of.router(newArena(of, rows).predictor(of.Features)), nil
	})
}

// battles is what a fit learns.
type battles struct {
	Features  features.Set `json:"features"`
	Texts     []string     `json:"texts"`     // of the training problems kept
	Pass      [][]float64  `json:"pass"`      // the experts' pass rates on them, [problems][M]
	Strongest int          `json:"strongest"` // who is asked beside the cheapest
	Knobs     []float64    `json:"knobs"`
	Knob      float64      `json:"knob"` // at which the strongest answers its share
}

// never is a threshold on a chance that none reaches.
const never = 2

// quantileKnobs is a sweep of a threshold on a chance, dearest first: 0, the quantiles of the chances on the training problems, which
// lie close together, and never.
func quantileKnobs(chances []float64) []float64 {
	const steps = 160
	sorted := slices.Sorted(slices.Values(chances))
	knobs := []float64{0}
	for i := range steps + 1 {
		knobs = append(knobs, sorted[i*(len(sorted)-1)/steps])
	}
	return append(knobs, never)
}

// arena is the training problems as comparisons of experts.
type arena struct {
	index     learn.Index
	same      map[string][]int // problems by their text
	won       [][]float64      // [problems][pairs] of a pair, in the order of learn.EachPair, what the dearer one wins: 1, 0 or, in a tie, 1/2
	sums      []float64        // [pairs] of won over all problems
	experts   int
	strongest int
}

// newArena compares experts on what a fit learned, of which rows are the features.
func newArena(of battles, rows []policy.Row) *arena {
	experts := len(of.Pass[0])
	a := &arena{index: learn.NewIndex(rows), same: map[string][]int{}, experts: experts, strongest: of.Strongest, sums: make([]float64, experts*(experts-1)/2)}
	for i, pass := range of.Pass {
		a.same[of.Texts[i]] = append(a.same[of.Texts[i]], i)
		var won []float64
		learn.EachPair(experts, func(pair, cheap, dear int) {
			share := 0.5
			if pass[dear] != pass[cheap] {
				share = 0
				if pass[dear] > pass[cheap] {
					share = 1
				}
			}
			won = append(won, share)
			a.sums[pair] += share
		})
		a.won = append(a.won, won)
	}
	return a
}

// shares returns what share of all comparisons with the cheaper one the dearer one of every pair wins, weighted for a question, [pairs].
// A half where nothing is left to compare.
func (a *arena) shares(row policy.Row, text string) []float64 {
	cosine := a.index.Dot(row)
	sums, weight := slices.Clone(a.sums), float64(len(a.won)) // of what has nothing in common with the question: each counts once
	add := func(problem int, times float64) {
		weight += times
		for pair, won := range a.won[problem] {
			sums[pair] += times * won
		}
	}
	for _, i := range a.same[text] {
		add(i, -1)
		cosine[i] = 0
	}
	if nearest := slices.Max(cosine); nearest > 0 {
		for i, s := range cosine {
			if s != 0 { // vectors of a language model may point apart
				add(i, math.Exp(math.Ln10*float64(s/nearest))-1)
			}
		}
	}
	for pair := range sums {
		if weight <= 0 {
			sums[pair] = 0.5
			continue
		}
		sums[pair] = min(max(sums[pair]/weight, certainShare), 1-certainShare)
	}
	return sums
}

// chance is the strongest expert's to win against the cheapest on a text.
func (a *arena) chance(row policy.Row, text string) float64 {
	ratings := learn.Ratings(a.experts, a.shares(row, text))
	return learn.Sigmoid(ratings[a.strongest] - ratings[0])
}

// predictor expects the strongest expert's chance in place of pass rates.
func (a *arena) predictor(of features.Set) predict.Predictor {
	return byDirection(of, func(row policy.Row, text string) predict.Scores {
		return predict.Scores{Pass: []float64{a.chance(row, text)}}
	})
}

func (b battles) router(expects predict.Predictor) routing.Router {
	r := predict.NewRouter(len(b.Pass[0]), b.Knobs, expects, func(s predict.Scores, knob float64) int {
		if s.Pass[0] >= knob {
			return b.Strongest
		}
		return 0
	})
	r.SetKnob(b.Knob)
	return r
}
