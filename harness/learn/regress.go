// Regressions with a penalty that is chosen on rows held out.

package learn

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/optimize"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/policy"
)

// loss is a convex loss of a prediction z for a label y, and its derivative in z.
type loss func(z, y float64) (value, slope float64)

// logLoss is the cross-entropy of Sigmoid(z) with a pass rate y in [0,1].
func logLoss(z, y float64) (value, slope float64) {
	// One exponential serves value and slope; its argument is never positive, so nothing overflows.
	e := math.Exp(-math.Abs(z))
	p := 1 / (1 + e)
	if z < 0 {
		p *= e
	}
	return math.Max(z, 0) - z*y + math.Log1p(e), p - y
}

func squaredLoss(z, y float64) (value, slope float64) { return (z - y) * (z - y) / 2, z - y }

// Sigmoid is the probability of a logit.
func Sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// total adds up the loss over the rows for theta [width+1], the weights with the bias last. It adds the gradient of
// the sum to grad, unless that is nil.
func (d Design) total(theta, y []float64, of loss, grad []float64) (sum float64) {
	weight, bias := theta[:d.width], theta[d.width]
	for i := range d.rows() {
		row := d.row(i)
		v, slope := of(dot(weight, row)+bias, y[i])
		sum += v
		if grad == nil {
			continue
		}
		grad[d.width] += slope
		for k, id := range row.IDs {
			grad[id] += slope * float64(row.Values[k])
		}
	}
	return sum
}

// objective returns (sum of the loss + l2/2*|w|^2) / rows and fills grad with its gradient. The bias is free.
func (d Design) objective(theta, y []float64, l2 float64, of loss, grad []float64) float64 {
	clear(grad)
	value := d.total(theta, y, of, grad)
	for i, w := range theta[:d.width] {
		value += l2 / 2 * w * w
		grad[i] += l2 * w
	}
	n := float64(d.rows())
	for i := range grad {
		grad[i] /= n
	}
	return value / n
}

const (
	// gradientTolerance is the largest component of the gradient of the mean loss at which a regression stops. A
	// tenth of it moves the held-out loss by less than 0.0001.
	gradientTolerance = 1e-4
	maxSteps          = 1000
)

// flat ends a minimisation where no part of the gradient is as large. The minimiser's own threshold is the same, and it looks twice a step
// at every part, which is up to a seventh of the time of all; here the first that is as large is enough.
type flat float64

func (flat) Init(int) {}

func (f flat) Converged(at *optimize.Location) optimize.Status {
	for _, v := range at.Gradient {
		if !(math.Abs(v) < float64(f)) {
			return optimize.NotTerminated
		}
	}
	return optimize.GradientThreshold
}

// regress minimises objective with L-BFGS, starting from theta, which it leaves as it is.
func (d Design) regress(ctx context.Context, theta, y []float64, l2 float64, of loss) ([]float64, error) {
	// The minimiser asks for value and gradient one after the other at the same point; they are computed together.
	var value float64
	at, grad := make([]float64, len(theta)), make([]float64, len(theta))
	at[0] = math.NaN()
	eval := func(x []float64) {
		for i, v := range x {
			if v != at[i] {
				copy(at, x)
				value = d.objective(at, y, l2, of, grad)
				return
			}
		}
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func:   func(x []float64) float64 { eval(x); return value },
		Grad:   func(g, x []float64) { eval(x); copy(g, grad) },
		Status: func() (optimize.Status, error) { return optimize.NotTerminated, ctx.Err() },
	}, theta, &optimize.Settings{
		GradientThreshold: math.NaN(), // none: that is flat's to say
		MajorIterations:   maxSteps,
		Converger:         flat(gradientTolerance),
	}, &optimize.LBFGS{})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("l2 %g: %w", l2, err)
	case result.Status == optimize.IterationLimit:
		return nil, fmt.Errorf("l2 %g: not at the minimum after %d steps; leave so weak a penalty out", l2, maxSteps)
	}
	return result.X, nil
}

// regressAll fits a linear function to each of the labels y [M][rows], all with the same penalty, chosen from grid
// (strongest first): the one that leaves the least loss, summed over the labels, on those of the first SearchRows rows that HeldOut
// names when it is fitted to the rest of them. Weaker penalties start where stronger ones ended, and the
// search ends when the loss rises. Then all rows are fitted. A grid of one is not searched; with fewer than 5 rows
// the strongest penalty is taken.
func (d Design) regressAll(ctx context.Context, y [][]float64, grid []float64, of loss) (fits []Linear, l2 float64, err error) {
	theta := make([][]float64, len(y))
	for m := range theta {
		theta[m] = make([]float64, d.width+1)
	}
	l2 = grid[0]
	searched := min(d.rows(), SearchRows)
	held := HeldOut(searched, AFifth, d.question)
	least := math.Inf(1)
	for _, next := range grid {
		if len(grid) == 1 || held == 0 {
			break
		}
		var sum float64
		fitted, err := each(theta, func(m int) ([]float64, error) {
			return d.slice(held, searched).regress(ctx, theta[m], y[m][held:], next, of)
		})
		if err != nil {
			return nil, 0, err
		}
		for m := range y {
			sum += d.slice(0, held).total(fitted[m], y[m], of, nil)
		}
		if sum >= least {
			break
		}
		theta, l2, least = fitted, next, sum
	}
	theta, err = each(theta, func(m int) ([]float64, error) { return d.regress(ctx, theta[m], y[m], l2, of) })
	if err != nil {
		return nil, 0, err
	}
	for _, t := range theta {
		fits = append(fits, linearOf(t))
	}
	return fits, l2, nil
}

// Logits are linear functions whose sigmoids are pass rates, [M].
type Logits []Linear

// FitLogits fits pass rates y [M][rows] in [0,1] by L2-penalised logistic regressions, 1/2*l2*|w|^2 on the summed loss, and
// returns the penalty that they share, chosen from grid (strongest first) as regressAll says.
func FitLogits(ctx context.Context, d Design, y [][]float64, grid []float64) (Logits, float64, error) {
	fits, l2, err := d.regressAll(ctx, y, grid, logLoss)
	if err != nil {
		return nil, 0, fmt.Errorf("pass rates: %w", err)
	}
	return fits, l2, nil
}

// Pass returns the pass rates at a row, [M].
func (l Logits) Pass(row policy.Row) []float64 {
	out := make([]float64, len(l))
	for m, f := range l {
		out[m] = Sigmoid(f.At(row))
	}
	return out
}

// each calls f for every index of in at the same time and returns the results in order.
func each[T any](in []T, f func(i int) (T, error)) ([]T, error) {
	out := make([]T, len(in))
	var g errgroup.Group
	for i := range in {
		g.Go(func() (err error) {
			defer crash.Exit()
			out[i], err = f(i)
			return err
		})
	}
	return out, g.Wait()
}
