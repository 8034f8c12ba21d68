// Pass rates that depend on one score.

package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// crossParts is in how many parts the score is cross-fitted.
const crossParts = 5

// expertL2 is the penalty of the regressions on the score: weak, for they have one slope each.
const expertL2 = 0.1

// Bottleneck is one score of a row and what M pass rates are at it.
type Bottleneck struct {
	Score Linear `json:"score"`
	Rates Logits `json:"rates"`
}

// Pass returns the pass rates at a row, [M].
func (b Bottleneck) Pass(row policy.Row) []float64 { return b.Rates.Pass(scoreRow(b.Score.At(row))) }

// FitBottleneck fits the score to the logit of the mean pass rate of a row, by ridge regression with a penalty chosen from
// grid (strongest first) as regressAll says, which is returned, and then each pass rate y [M][rows] to the score. What the
// pass rates are fitted to are scores of rows that the score was not fitted to: cross-fitted, in 5 parts.
func FitBottleneck(ctx context.Context, d Design, y [][]float64, grid []float64) (b Bottleneck, l2 float64, err error) {
	ease := make([]float64, d.rows())
	for i := range ease {
		kappa := make([]float64, len(y))
		for m := range y {
			kappa[m] = y[m][i]
		}
		ease[i] = easiness(kappa)
	}
	fits, l2, err := d.regressAll(ctx, [][]float64{ease}, grid, squaredLoss)
	if err != nil {
		return b, 0, fmt.Errorf("score: %w", err)
	}
	b.Score = fits[0]
	parts := 1 // of one question: there is nothing to fit the score to without it
	if n := d.rows(); n > 0 {
		parts = min(crossParts, d.question(n-1)+1)
	}
	start := append(slices.Clone(b.Score.Weight), b.Score.Bias)
	crossed := make([]policy.Row, d.rows())
	_, err = each(make([]struct{}, parts), func(part int) (none struct{}, err error) {
		var kept []policy.Row
		var labels []float64
		for i := range d.rows() {
			if parts == 1 || d.question(i)%parts != part {
				kept, labels = append(kept, d.row(i)), append(labels, ease[i])
			}
		}
		theta, err := NewDesign(kept, d.width).regress(ctx, start, labels, l2, squaredLoss)
		if err != nil {
			return none, fmt.Errorf("score: %w", err)
		}
		without := linearOf(theta)
		for i := range crossed {
			if d.question(i)%parts == part {
				crossed[i] = scoreRow(without.At(d.row(i)))
			}
		}
		return none, nil
	})
	if err != nil {
		return b, 0, err
	}
	b.Rates, _, err = FitLogits(ctx, NewDesign(crossed, 1), y, []float64{expertL2})
	return b, l2, err
}

// easiness is the logit of the mean of pass rates [M], with half a success and half a failure added so that
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
