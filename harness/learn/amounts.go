// Amounts of money or the like, predicted through their logarithms.

package learn

import (
	"context"
	"fmt"
	"math"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Amounts predict M amounts that are not negative, each Scale*exp(Log).
type Amounts []struct {
	Log   Linear  `json:"log"`
	Scale float64 `json:"scale"`
}

// ConstantAmounts predicts mean [M] whatever the row.
func ConstantAmounts(mean []float64, width int) Amounts {
	a := make(Amounts, len(mean))
	for m, x := range mean {
		a[m].Log, a[m].Scale = Linear{Weight: make([]float64, width)}, x
	}
	return a
}

// leastShare bounds the logarithm of next to nothing: it counts as this share of the mean, so that one empty answer does not bend
// the whole regression.
const leastShare = 1e-3

// FitAmounts fits the logarithms of y [M][rows], relative to their means [M], by ridge regressions with a penalty
// chosen from grid (strongest first) as regressAll says, and returns it. exp of a mean of logarithms is less than the mean, so the predictions are
// scaled to give the mean on average over the rows. What has mean 0 is predicted to be 0.
func FitAmounts(ctx context.Context, d Design, y [][]float64, mean, grid []float64) (a Amounts, l2 float64, err error) {
	logs := make([][]float64, len(y))
	for m, amounts := range y {
		logs[m] = make([]float64, len(amounts))
		for i, x := range amounts {
			if mean[m] != 0 {
				logs[m][i] = math.Log(max(x/mean[m], leastShare))
			}
		}
	}
	fits, l2, err := d.regressAll(ctx, logs, grid, squaredLoss)
	if err != nil {
		return nil, 0, fmt.Errorf("dollars: %w", err)
	}
	a = make(Amounts, len(fits))
	for m, f := range fits {
		var sum float64
		for i := range d.rows() {
			sum += math.Exp(f.At(d.row(i)))
		}
		a[m].Log, a[m].Scale = f, mean[m]*float64(d.rows())/sum
	}
	return a, l2, nil
}

// At returns the amounts at a row, [M].
func (a Amounts) At(row policy.Row) []float64 {
	out := make([]float64, len(a))
	for m, f := range a {
		out[m] = f.Scale * math.Exp(f.Log.At(row))
	}
	return out
}
