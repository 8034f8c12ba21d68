// What a policy may start from: what is expected of the experts on a text, weighed by a price.

package stages

import (
	"context"

	"github.com/entrorouter/entrorouter/harness/compact"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// Start has a policy of kind compact start from the utilities of what is expected, at a price of money, over a temperature:
//
//	log pi(m|x, price) = (pass(m,x) - price*cost(m,x)) / T + what the network adds, up to a constant of x
//
// The policy is one at every price, and what the network adds is the same at all. Its router decides at Price, and its curve runs
// over Prices.
type Start struct {
	Expect      func(ctx context.Context, texts []string) ([]Expected, error)
	Price       float64
	Prices      []float64 // ascending
	Temperature float64
}

// Expected is what is expected of the experts on a text, [M].
type Expected struct {
	Pass []float64 // pass rates
	Cost []float64 // dollars, in a unit of the pool
}

// logits are those that the network starts from, at Price.
func (s *Start) logits(ctx context.Context, texts []string) ([][]float64, error) {
	all, err := s.Expect(ctx, texts)
	logits := make([][]float64, len(all))
	for i, x := range all {
		logits[i] = make([]float64, len(x.Pass))
		for m := range x.Pass {
			logits[i][m] = (x.Pass[m] - s.Price*x.Cost[m]) / s.Temperature
		}
	}
	return logits, err
}

// At returns the row of a text, of which this is expected, at another price than Price.
func (s *Start) At(price float64, row policy.Row, x Expected) policy.Row {
	by := make([]float64, len(x.Cost))
	for m, c := range x.Cost {
		by[m] = -s.scale(price) * c
	}
	return compact.Shifted(row, by)
}

// scale is what log pi falls by, a unit of money, from Price to another price.
func (s *Start) scale(price float64) float64 { return (price - s.Price) / s.Temperature }
