// Row kind difficulty: one number a question, and a pass rate an expert from it.

package methods

import (
	"context"
	"fmt"
	"math"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// difficulty reads one number off a question, how hard it is, and derives from it the pass rate of every expert: a
// ridge regression of the logit of the experts' mean pass rate on the text, then for each expert a logistic regression
// of its pass rate on that score. The bottleneck learns from few questions, and cannot see what only some experts are
// good at. Dollars are predicted from the text as logistic does. It picks argmax_m p(m) - mu*usd(m), and mu is its knob.
//
// The second regressions read scores of questions that the first was not fitted to: cross-fitted, in 5 parts.
// Penalties are chosen by every fit from its training problems alone, see regressAll; the features are logistic's. That
// one number is read and from which features goes back to the study that bag's defaults come from, where it was among
// the best on the recorded pool qwen2_o1mini.
type difficulty struct {
	L2      []float64 `yaml:"l2" in:"(0,1000000000]"`   // penalties to choose from for the ridge regressions, as in logistic
	Buckets int       `yaml:"buckets" in:"[1,4194304]"` // hashed n-gram buckets
	NGrams  int       `yaml:"ngrams" in:"[1,16]"`       // longest word n-gram hashed

	memory *compact.Texts
}

// difficultyChosen says below tables what the defaults owe to recorded answers.
const difficultyChosen = "Difficulty: form and features, not penalties, chosen in an earlier study where they were among the best on pool qwen2_o1mini."

func newDifficulty(s Setup) (routing.Method, error) {
	d := &difficulty{L2: penaltyGrid(), Buckets: 4096, NGrams: 2, memory: s.Texts}
	if err := spec.DecodeParams(s.Method, d); err != nil {
		return nil, err
	}
	d.L2 = penalties(d.L2)
	return d, nil
}

func (*difficulty) Name() string { return "difficulty" }

// crossParts is in how many parts the score is cross-fitted.
const crossParts = 5

// expertL2 is the penalty of the regressions on the score: weak, for they have one slope each.
const expertL2 = 0.1

func (d *difficulty) Fit(ctx context.Context, train routing.TrainSet, work routing.Work) (routing.Router, error) {
	examples, err := profiled(d, train)
	if err != nil {
		return nil, err
	}
	experts := len(train.Experts)
	c, err := newCorpus(ctx, examples, len(examples), hashing{d.Buckets, d.NGrams, d.memory}, features.encode)
	if err != nil {
		return nil, err
	}
	learned, err := fitTexts(ctx, c, experts, d.L2, false, work.Log, func(all design) (bottleneck, float64, error) {
		score, pass, l2, err := all.bottleneck(ctx, c.rows, c.examples, experts, d.L2)
		return bottleneck{score, pass}, l2, err
	})
	if err != nil {
		return nil, fmt.Errorf("method difficulty: %w", err)
	}
	return keep(train.Experts, work, learned, textual[bottleneck].router)
}

// Load implements Loader.
func (d *difficulty) Load(_ context.Context, experts []routing.Expert, from string, work routing.Work) (routing.Router, error) {
	return restore(experts, from, work, textual[bottleneck].router)
}

// bottleneck is the score of a question and what the experts' pass rates are at it.
type bottleneck struct {
	Score linear `json:"score"`
	Rates logits `json:"rates"`
}

func (b bottleneck) pass(r policy.Row) []float64 {
	return b.Rates.pass(scoreRow(b.Score.at(r.IDs, r.Values)))
}

// bottleneck fits the score to rows of the design, and each expert's pass rate to the score.
func (d design) bottleneck(ctx context.Context, rows []policy.Row, examples []routing.Example, experts int, grid []float64) (score linear, pass []linear, l2 float64, err error) {
	y := make([]float64, len(examples))
	for i, e := range examples {
		y[i] = easiness(e.Kappa)
	}
	fits, l2, err := d.regressAll(ctx, [][]float64{y}, grid, squaredLoss)
	if err != nil {
		return linear{}, nil, 0, fmt.Errorf("score: %w", err)
	}
	score = fits[0]
	parts := min(crossParts, len(rows))
	if parts < 2 {
		parts = 1 // one problem: nothing to fit the score to without it
	}
	start := append(append([]float64(nil), score.Weight...), score.Bias)
	crossed := make([]policy.Row, len(rows))
	_, err = each(make([]struct{}, parts), func(part int) (none struct{}, err error) {
		var kept []policy.Row
		var labels []float64
		for i, r := range rows {
			if parts == 1 || i%parts != part {
				kept, labels = append(kept, r), append(labels, y[i])
			}
		}
		theta, err := newDesign(kept, d.width).regress(ctx, start, labels, l2, squaredLoss)
		if err != nil {
			return none, fmt.Errorf("score: %w", err)
		}
		without := linear{Weight: theta[:d.width], Bias: theta[d.width]}
		for i := part; i < len(rows); i += parts {
			crossed[i] = scoreRow(without.at(rows[i].IDs, rows[i].Values))
		}
		return none, nil
	})
	if err != nil {
		return linear{}, nil, 0, err
	}
	pass, _, err = newDesign(crossed, 1).regressAll(ctx, labels(examples, experts, passRate), []float64{expertL2}, logLoss)
	if err != nil {
		return linear{}, nil, 0, fmt.Errorf("pass rates: %w", err)
	}
	return score, pass, l2, nil
}

// easiness is the logit of the mean pass rate of the experts [M], with half a success and half a failure added so that
// it is finite.
func easiness(kappa []float64) float64 {
	var right float64
	for _, k := range kappa {
		right += k
	}
	return math.Log((right + 0.5) / (float64(len(kappa)) - right + 0.5))
}

// scoreRow is a row whose one feature is a score.
func scoreRow(score float64) policy.Row {
	return policy.Row{IDs: []int32{0}, Values: []float32{float32(score)}}
}
