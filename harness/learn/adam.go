// How networks are trained.

package learn

import "math"

// Descent is how a network is trained: by Adam, on shuffled batches.
type Descent struct {
	Epochs int     // passes
	Batch  int     // rows or preferences
	LR     float64 // rate; of embeddings it falls linearly to 0
	Decay  float64 // penalty Decay/2*|theta|^2 on the mean loss
}

func newAdam(by Descent, parameters int) *adam {
	return &adam{lr: by.LR, decay: by.Decay, m: make([]float64, parameters), v: make([]float64, parameters)}
}

// adam is Adam with the penalty decay/2*|theta|^2 in the gradient.
type adam struct {
	lr, decay float64
	m, v      []float64
	steps     int
}

func (o *adam) step(theta, grad []float64) {
	const b1, b2, eps = 0.9, 0.999, 1e-8
	o.steps++
	c1, c2 := 1-math.Pow(b1, float64(o.steps)), 1-math.Pow(b2, float64(o.steps))
	for i, g := range grad {
		g += o.decay * theta[i]
		o.m[i] = b1*o.m[i] + (1-b1)*g
		o.v[i] = b2*o.v[i] + (1-b2)*g*g
		theta[i] -= o.lr * o.m[i] / c1 / (math.Sqrt(o.v[i]/c2) + eps)
	}
}
