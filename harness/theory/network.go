// Tables and perceptrons with their gradients.

package theory

import (
	"math"
	"math/rand/v2"
	"slices"
)

// network maps a state to numbers: the logits of a policy's actions, or the one value of a critic.
type network interface {
	outputs() int
	// forward returns the numbers; the slice is reused by the next call.
	forward(s state) []float64
	// backward adds to the gradient the derivative of a sum of which slope has the derivatives by each number.
	backward(s state, slope []float64)
	// clear forgets the gradient, update makes a step of Adam up it, cut to a norm (0: not) and with decoupled weight decay.
	clear()
	update(lr, decay, norm float64)
	// at returns a copy with weights of its own, for another environment of the same shape.
	at(e *Environment) network
}

// weights are those of a network with what Adam keeps of them.
type weights struct {
	theta, grad   []float64 // grad is of what is maximised
	first, second []float64 // Adam's moments
	steps         int       // of Adam
}

func newWeights(n int) weights {
	return weights{theta: make([]float64, n), grad: make([]float64, n), first: make([]float64, n), second: make([]float64, n)}
}

func (w *weights) clear() { clear(w.grad) }

func (w *weights) update(lr, decay, norm float64) {
	w.clip(norm)
	w.ascend(lr, decay)
}

// ascend makes one step of Adam (0.9, 0.999, 1e-8) up the gradient, with decoupled weight decay.
func (w *weights) ascend(lr, decay float64) {
	w.steps++
	c1, c2 := 1-math.Pow(0.9, float64(w.steps)), 1-math.Pow(0.999, float64(w.steps))
	for i, g := range w.grad {
		w.first[i] = 0.9*w.first[i] + 0.1*g
		w.second[i] = 0.999*w.second[i] + 0.001*g*g
		w.theta[i] += lr * ((w.first[i]/c1)/(math.Sqrt(w.second[i]/c2)+1e-8) - decay*w.theta[i])
	}
}

// clip scales the gradient down to the given norm; 0 leaves it as it is.
func (w *weights) clip(norm float64) {
	if norm == 0 {
		return
	}
	var square float64
	for _, g := range w.grad {
		square += g * g
	}
	if n := math.Sqrt(square); n > norm {
		for i := range w.grad {
			w.grad[i] *= norm / n
		}
	}
}

// Random streams of first layers, apart from those of steps.
const (
	policyLayer = 6 << 56
	criticLayer = 7 << 56
)

// newNetwork returns a table or, with hidden units, a perceptron whose first layer is of a random stream. Both give start [outputs] in every state.
func newNetwork(e *Environment, t Training, stream uint64, start []float64) network {
	if t.Hidden == 0 {
		n := &table{rows: e.Horizon + 1, width: len(start)}
		n.weights = newWeights(len(e.Buckets) * n.rows * n.width)
		for i := range n.theta {
			n.theta[i] = start[i%n.width]
		}
		return n
	}
	n := newPerceptron(e, t.Hidden, len(start))
	// Weights of the first layer by the rule of Glorot and Bengio; those of the second are 0, so that the start is exact.
	r := rand.New(rand.NewPCG(t.Seed, stream))
	bound := math.Sqrt(6 / float64(n.inputs()+n.hidden))
	for i := range n.inputs() * n.hidden {
		n.theta[i] = bound * (2*r.Float64() - 1)
	}
	copy(n.theta[len(n.theta)-n.width:], start)
	return n
}

// table has one row of numbers a bucket and number of calls so far.
type table struct {
	weights
	rows, width int
}

func (n *table) outputs() int { return n.width }

func (n *table) row(s state) int { return (s.bucket*n.rows + s.calls) * n.width }

func (n *table) forward(s state) []float64 { return n.theta[n.row(s) : n.row(s)+n.width] }

func (n *table) backward(s state, slope []float64) {
	for i, d := range slope {
		n.grad[n.row(s)+i] += d
	}
}

func (n *table) at(*Environment) network {
	c := *n
	c.weights = newWeights(len(n.theta))
	copy(c.theta, n.theta)
	return &c
}

// perceptron has one layer of tanh units between what it sees of a state and its numbers. It sees the features of the
// bucket, the number of calls so far and the expert called last.
type perceptron struct {
	weights
	e             *Environment
	features      int // D
	hidden, width int
	units, out    []float64 // [hidden] after tanh, [width], of the last state
	slope         []float64 // [hidden]
	memory        *memory   // nil: none
}

// memory is what a perceptron has computed since its last step: episodes and lessons come to the same states many times in between.
type memory struct {
	places     []int32   // [bucket, calls, last] where a state's numbers lie, from 1; 0: it was not seen
	seen       []int     // the states that were, as indices into places
	units, out []float64 // of those, one behind the other
}

// remember makes a perceptron compute no state twice between two steps, for as long as its weights change by steps alone.
func remember(n network) {
	if n, ok := n.(*perceptron); ok {
		n.memory = &memory{places: make([]int32, len(n.e.Buckets)*(n.e.Horizon+1)*(len(n.e.Cost)+1))}
	}
}

// known recalls the numbers of a state, or makes room for them.
func (n *perceptron) known(s state) bool {
	m := n.memory
	if m == nil {
		return false
	}
	at := (s.bucket*(n.e.Horizon+1)+s.calls)*(len(n.e.Cost)+1) + s.last
	place, found := int(m.places[at]), m.places[at] > 0
	if !found {
		m.seen = append(m.seen, at)
		place = len(m.seen)
		m.places[at] = int32(place)
		m.units, m.out = append(m.units, n.slope...), append(m.out, n.out...)
	}
	n.units, n.out = m.units[(place-1)*n.hidden:place*n.hidden], m.out[(place-1)*n.width:place*n.width]
	return found
}

func (n *perceptron) update(lr, decay, norm float64) {
	n.weights.update(lr, decay, norm)
	if m := n.memory; m != nil {
		for _, at := range m.seen {
			m.places[at] = 0
		}
		m.seen, m.units, m.out = m.seen[:0], m.units[:0], m.out[:0]
	}
}

func newPerceptron(e *Environment, hidden, width int) *perceptron {
	n := &perceptron{e: e, features: len(e.Buckets[0].Features), hidden: hidden, width: width}
	n.weights = newWeights(hidden*(n.inputs()+1) + width*(hidden+1))
	n.units, n.slope, n.out = make([]float64, hidden), make([]float64, hidden), make([]float64, width)
	return n
}

// inputs are the features, then one that is 1 for each number of calls, then one for each last expert and for none.
func (n *perceptron) inputs() int { return n.features + n.e.Horizon + 1 + len(n.e.Cost) + 1 }

func (n *perceptron) outputs() int { return n.width }

// weights are laid out as inputs by hidden, the biases of the hidden, hidden by outputs, the biases of the outputs.
func (n *perceptron) layers(of []float64) (first, bias, second, start []float64) {
	i := n.inputs() * n.hidden
	j := i + n.hidden
	k := j + n.hidden*n.width
	return of[:i], of[i:j], of[j:k], of[k:]
}

// ones are the two inputs that are 1.
func (n *perceptron) ones(s state) [2]int {
	return [2]int{n.features + s.calls, n.features + n.e.Horizon + 1 + s.last}
}

func (n *perceptron) forward(s state) []float64 {
	if n.known(s) {
		return n.out
	}
	first, bias, second, start := n.layers(n.theta)
	copy(n.units, bias)
	for i, x := range n.e.Buckets[s.bucket].Features {
		for j, w := range first[i*n.hidden : (i+1)*n.hidden] {
			n.units[j] += x * w
		}
	}
	for _, i := range n.ones(s) {
		for j, w := range first[i*n.hidden : (i+1)*n.hidden] {
			n.units[j] += w
		}
	}
	copy(n.out, start)
	for j, u := range n.units {
		n.units[j] = math.Tanh(u)
		for a, w := range second[j*n.width : (j+1)*n.width] {
			n.out[a] += n.units[j] * w
		}
	}
	return n.out
}

func (n *perceptron) backward(s state, slope []float64) {
	n.forward(s)
	_, _, second, _ := n.layers(n.theta)
	first, bias, secondGrad, start := n.layers(n.grad)
	for j, u := range n.units {
		var d float64
		for a, y := range slope {
			secondGrad[j*n.width+a] += y * u
			d += y * second[j*n.width+a]
		}
		n.slope[j] = d * (1 - u*u)
		bias[j] += n.slope[j]
	}
	for a, y := range slope {
		start[a] += y
	}
	for i, x := range n.e.Buckets[s.bucket].Features {
		for j, d := range n.slope {
			first[i*n.hidden+j] += x * d
		}
	}
	for _, i := range n.ones(s) {
		for j, d := range n.slope {
			first[i*n.hidden+j] += d
		}
	}
}

func (n *perceptron) at(e *Environment) network {
	c := newPerceptron(n.e, n.hidden, n.width)
	c.e = e
	c.theta = slices.Clone(n.theta)
	return c
}
