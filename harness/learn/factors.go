// Preferences between experts, factorised.

package learn

import (
	"context"
	"math"
	"slices"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// Preference says which of two experts does better on a row.
type Preference struct{ Row, Winner, Loser int }

// Factors predict which of M experts does better on a row: the one with the larger s(m,x) = sum_d v_d p_md (W x)_d, with
// p_m scaled to length 1.
type Factors struct {
	Experts int       `json:"experts"`
	Dims    int       `json:"dims"`
	Width   int       `json:"width"` // of rows; the last feature is 1 in every row
	Theta   []float64 `json:"theta"` // v [dims], P [experts][dims], W [dims][width]
}

// newFactors draws weights as the layers of the public code do: normal embeddings, uniform matrices.
func newFactors(experts, dims, width int, s seed.Seed) *Factors {
	f := &Factors{Experts: experts, Dims: dims, Width: width, Theta: make([]float64, dims*(1+experts+width))}
	rng := s.Rand()
	v, p, w := f.parts(f.Theta)
	for i := range p {
		p[i] = rng.NormFloat64()
	}
	uniform := func(x []float64, inputs int) {
		for i := range x {
			x[i] = (2*rng.Float64() - 1) / math.Sqrt(float64(inputs))
		}
	}
	uniform(v, dims)
	uniform(w, width)
	return f
}

func (f *Factors) parts(theta []float64) (v, p, w []float64) {
	return theta[:f.Dims], theta[f.Dims : f.Dims*(1+f.Experts)], theta[f.Dims*(1+f.Experts):]
}

// unit returns P_m scaled to length 1, and its length before.
func (f *Factors) unit(m int) (u []float64, length float64) {
	_, p, _ := f.parts(f.Theta)
	u = slices.Clone(p[m*f.Dims : (m+1)*f.Dims])
	length = max(norm(u), 1e-12)
	for d := range u {
		u[d] /= length
	}
	return u, length
}

// Scores returns s(m,x) of every expert, [M].
func (f *Factors) Scores(row policy.Row) []float64 {
	v, _, w := f.parts(f.Theta)
	s := make([]float64, f.Experts)
	units := make([][]float64, f.Experts)
	for m := range units {
		units[m], _ = f.unit(m)
	}
	for d := range f.Dims {
		h := v[d] * dot(w[d*f.Width:(d+1)*f.Width], row)
		for m := range s {
			s[m] += units[m][d] * h
		}
	}
	return s
}

// contrast returns the linear function that s(a,x) - s(b,x) is of e(x), [width].
func (f *Factors) contrast(a, b int) []float64 {
	v, _, w := f.parts(f.Theta)
	ua, _ := f.unit(a)
	ub, _ := f.unit(b)
	g := make([]float64, f.Width)
	for d := range f.Dims {
		q := v[d] * (ua[d] - ub[d])
		for j, x := range w[d*f.Width : (d+1)*f.Width] {
			g[j] += q * x
		}
	}
	return g
}

// loss returns the mean of log(1+exp(-margin)) over preferences and adds its gradient to grad, unless that is nil.
// The margin is s(winner,x) - s(loser,x) plus noise times the length of the contrast, less the constant feature, times
// draw(), a standard normal number: what independent noise on the features does to the margin.
func (f *Factors) loss(rows []policy.Row, batch []Preference, noise float64, draw func() float64, grad []float64) float64 {
	type pull struct {
		weight, slope []float64 // contrast and the gradient in it, [width]
		length, noise float64   // of the contrast; slopes times their noise
	}
	pulls := make([]*pull, f.Experts*f.Experts)
	var sum float64
	n := float64(len(batch))
	for _, x := range batch {
		at := &pulls[x.Winner*f.Experts+x.Loser]
		if *at == nil {
			g := f.contrast(x.Winner, x.Loser)
			*at = &pull{weight: g, slope: make([]float64, f.Width), length: norm(g[:f.Width-1])}
		}
		c := *at
		row := rows[x.Row]
		z := dot(c.weight, row)
		var eps float64
		if noise > 0 {
			eps = noise * draw()
			z += eps * c.length
		}
		value, slope := logLoss(z, 1)
		sum += value / n
		if grad == nil {
			continue
		}
		for k, id := range row.IDs {
			c.slope[id] += slope / n * float64(row.Values[k])
		}
		c.noise += slope / n * eps
	}
	if grad == nil {
		return sum
	}
	for at, c := range pulls {
		if c != nil {
			if c.length > 0 {
				for j, w := range c.weight[:f.Width-1] {
					c.slope[j] += c.noise * w / c.length
				}
			}
			f.back(at/f.Experts, at%f.Experts, c.slope, grad)
		}
	}
	return sum
}

// back adds to grad the gradient that a slope in the contrast of a and b makes.
func (f *Factors) back(a, b int, slope, grad []float64) {
	v, _, w := f.parts(f.Theta)
	dv, dp, dw := f.parts(grad)
	ua, la := f.unit(a)
	ub, lb := f.unit(b)
	du := make([]float64, f.Dims) // in ua; in ub it is the negative
	for d := range f.Dims {
		q := v[d] * (ua[d] - ub[d])
		var along float64
		row, drow := w[d*f.Width:(d+1)*f.Width], dw[d*f.Width:(d+1)*f.Width]
		for j, s := range slope {
			along += s * row[j]
			drow[j] += q * s
		}
		dv[d] += along * (ua[d] - ub[d])
		du[d] = along * v[d]
	}
	for _, side := range []struct {
		m            int
		u            []float64
		length, sign float64
	}{{a, ua, la, 1}, {b, ub, lb, -1}} {
		var radial float64 // a change of length changes nothing
		for d, u := range side.u {
			radial += du[d] * u
		}
		for d, u := range side.u {
			dp[side.m*f.Dims+d] += side.sign * (du[d] - radial*u) / side.length
		}
	}
}

// aTwentieth is how many preferences there are to each that chooses the epoch.
const aTwentieth = 20

// FitFactors trains factors of dims numbers on preferences among experts, on rows of the width given, whose last feature is 1 and
// whose questions are those of Design.Asking. noise is the standard deviation of what is added to each other feature in training. The factors of the pass with the
// best accuracy on a twentieth of the preferences, which HeldOut names, are kept, and that accuracy is returned. weights decides where
// they start, batches the order and the noise.
func FitFactors(ctx context.Context, rows []policy.Row, questions []int, width int, all []Preference, experts, dims int, noise float64, by Descent, weights, batches seed.Seed) (f *Factors, accuracy float64, err error) {
	f = newFactors(experts, dims, width, weights)
	if len(all) == 0 { // nothing tells the experts apart
		v, _, _ := f.parts(f.Theta)
		clear(v)
		return f, 0, ctx.Err()
	}
	rng := batches.Rand()
	opt := newAdam(by, len(f.Theta))
	grad := make([]float64, len(f.Theta))
	first := HeldOut(len(all), aTwentieth, func(i int) int { return questions[all[i].Row] })
	held, fitted := all[:first], slices.Clone(all[first:])
	best := slices.Clone(f.Theta)
	for range by.Epochs {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		rng.Shuffle(len(fitted), func(i, j int) { fitted[i], fitted[j] = fitted[j], fitted[i] })
		for batch := range slices.Chunk(fitted, by.Batch) {
			clear(grad)
			f.loss(rows, batch, noise, rng.NormFloat64, grad)
			opt.step(f.Theta, grad)
		}
		if a := f.accuracy(rows, held); a >= accuracy { // with nothing held out, the last epoch
			accuracy = a
			copy(best, f.Theta)
		}
	}
	f.Theta = best
	return f, accuracy, nil
}

// accuracy is the share of preferences that the model agrees with, 0 of none.
func (f *Factors) accuracy(rows []policy.Row, all []Preference) float64 {
	right := 0.0
	for _, x := range all {
		if s := f.Scores(rows[x.Row]); s[x.Winner] > s[x.Loser] {
			right += 1 / float64(len(all))
		}
	}
	return right
}

// norm is the Euclidean length of x.
func norm(x []float64) float64 {
	var square float64
	for _, v := range x {
		square += v * v
	}
	return math.Sqrt(square)
}
