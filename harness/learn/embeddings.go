// A bag of embeddings that is trained on pass rates.

package learn

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Embeddings is a network with a layer that all labels share: every feature has a vector, a row is the tanh of the sum of
// its own, and the logit of each of M pass rates is linear in that. Its parameters are in one slice, as Adam takes them.
type Embeddings struct {
	Width   int       `json:"width"`
	Hidden  int       `json:"hidden"`
	Experts int       `json:"experts"`
	Theta   []float64 `json:"theta"`
}

// Pass returns the pass rates at a row, [M].
func (e *Embeddings) Pass(row policy.Row) []float64 {
	rates := e.logits(e.sums(row))
	for m, z := range rates {
		rates[m] = Sigmoid(z)
	}
	return rates
}

func newEmbeddings(width, hidden, experts int, s seed.Seed) *Embeddings {
	e := &Embeddings{Width: width, Hidden: hidden, Experts: experts}
	e.Theta = make([]float64, (width+1)*hidden+(hidden+1)*experts)
	vectors, _, head, _ := e.parts(e.Theta)
	rng := s.Rand()
	for _, layer := range []struct {
		weight  []float64
		in, out int
	}{{vectors, width, hidden}, {head, hidden, experts}} {
		limit := math.Sqrt(6 / float64(layer.in+layer.out)) // Glorot and Bengio (2010)
		for i := range layer.weight {
			layer.weight[i] = limit * (2*rng.Float64() - 1)
		}
	}
	return e
}

// parts are the vectors [width][hidden] and their bias [hidden], the head [experts][hidden] and its bias [experts].
func (e *Embeddings) parts(theta []float64) (vectors, bias, head, headBias []float64) {
	a := e.Width * e.Hidden
	b := a + e.Hidden
	c := b + e.Experts*e.Hidden
	return theta[:a], theta[a:b], theta[b:c], theta[c:]
}

// sums adds up the vectors of a row and applies tanh, [hidden].
func (e *Embeddings) sums(row policy.Row) []float64 {
	vectors, bias, _, _ := e.parts(e.Theta)
	out := append(make([]float64, 0, e.Hidden), bias...)
	for k, id := range row.IDs {
		floats.AddScaled(out, float64(row.Values[k]), vectors[int(id)*e.Hidden:int(id+1)*e.Hidden])
	}
	for j, z := range out {
		out[j] = math.Tanh(z)
	}
	return out
}

// logits are linear in the sums, [experts].
func (e *Embeddings) logits(sums []float64) []float64 {
	_, _, head, bias := e.parts(e.Theta)
	out := append(make([]float64, 0, e.Experts), bias...)
	for m := range out {
		for j, s := range sums {
			out[m] += s * head[m*e.Hidden+j]
		}
	}
	return out
}

// loss returns the mean over a batch of the cross-entropies with the pass rates y [experts][rows], summed over the
// experts, and adds its gradient to grad. keep is what each sum is multiplied by, drawn anew for every row; nil: 1.
func (e *Embeddings) loss(d Design, batch []int, y [][]float64, keep func() float64, grad []float64) (sum float64) {
	_, _, head, _ := e.parts(e.Theta)
	dVectors, dBias, dHead, dHeadBias := e.parts(grad)
	n := float64(len(batch))
	mask, back := make([]float64, e.Hidden), make([]float64, e.Hidden)
	for _, i := range batch {
		row := d.row(i)
		sums := e.sums(row)
		kept := make([]float64, e.Hidden)
		for j, s := range sums {
			mask[j] = 1
			if keep != nil {
				mask[j] = keep()
			}
			kept[j] = mask[j] * s
		}
		clear(back)
		for m, z := range e.logits(kept) {
			value, slope := logLoss(z, y[m][i])
			sum += value / n
			slope /= n
			dHeadBias[m] += slope
			own := [2]int{m * e.Hidden, (m + 1) * e.Hidden}
			floats.AddScaled(dHead[own[0]:own[1]], slope, kept)
			floats.AddScaled(back, slope, head[own[0]:own[1]])
		}
		for j, s := range sums {
			back[j] *= mask[j] * (1 - s*s)
			dBias[j] += back[j]
		}
		for k, id := range row.IDs {
			floats.AddScaled(dVectors[int(id)*e.Hidden:int(id+1)*e.Hidden], float64(row.Values[k]), back)
		}
	}
	return sum
}

// FitEmbeddings trains a network with hidden numbers an embedding on pass rates y [M][rows], dropping a share of the sums at random.
// weights decides where it starts, batches the order of the rows and what is dropped.
func FitEmbeddings(ctx context.Context, d Design, y [][]float64, hidden int, dropout float64, by Descent, weights, batches seed.Seed) (*Embeddings, error) {
	e := newEmbeddings(d.width, hidden, len(y), weights)
	return e, e.train(ctx, d, y, dropout, by, batches.Rand())
}

// train takes Epochs passes over shuffled batches.
func (e *Embeddings) train(ctx context.Context, d Design, y [][]float64, dropout float64, by Descent, rng *rand.Rand) error {
	opt := newAdam(by, len(e.Theta))
	grad := make([]float64, len(e.Theta))
	keep := func() float64 {
		if rng.Float64() < dropout {
			return 0
		}
		return 1 / (1 - dropout)
	}
	order := make([]int, d.rows())
	for i := range order {
		order[i] = i
	}
	perEpoch := (d.rows() + by.Batch - 1) / by.Batch
	for step := range by.Epochs * perEpoch {
		if err := ctx.Err(); err != nil {
			return err
		}
		if step%perEpoch == 0 {
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		from := step % perEpoch * by.Batch
		opt.lr = by.LR * (1 - float64(step)/float64(by.Epochs*perEpoch))
		clear(grad)
		e.loss(d, order[from:min(from+by.Batch, len(order))], y, keep, grad)
		opt.step(e.Theta, grad)
	}
	return nil
}
