package learn

import (
	"math"
	"testing"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// toyBag has five features, three numbers an embedding and two experts.
func toyBag() (*Embeddings, Design, [][]float64) {
	net := newEmbeddings(5, 3, 2, seed.Derive("toy"))
	d := NewDesign([]policy.Row{
		{IDs: []int32{0, 3}, Values: []float32{1, -0.5}},
		{IDs: []int32{1, 3, 4}, Values: []float32{0.25, 2, 1}},
		{IDs: []int32{}, Values: []float32{}},
	}, 5)
	return net, d, [][]float64{{1, 0, 0.5}, {0.2, 0.8, 1}}
}

// A difference quotient of every parameter, on a batch with a row twice and one without features.
func TestTheGradientOfTheBagIsThatOfItsLoss(t *testing.T) {
	net, d, y := toyBag()
	batch := []int{1, 0, 1, 2}
	for name, factors := range map[string][]float64{"all": nil, "some dropped": {1.25, 0, 1.25, 1.25, 1.25, 0}} {
		loss := func(grad []float64) float64 {
			at := 0
			keep := func() float64 { at++; return factors[(at-1)%len(factors)] }
			if factors == nil {
				keep = nil
			}
			return net.loss(d, batch, y, keep, grad)
		}
		grad, none := make([]float64, len(net.Theta)), make([]float64, len(net.Theta))
		loss(grad)
		const h = 1e-5
		for i := range net.Theta {
			before := net.Theta[i]
			net.Theta[i] = before + h
			up := loss(none)
			net.Theta[i] = before - h
			down := loss(none)
			net.Theta[i] = before
			if want := (up - down) / (2 * h); math.Abs(grad[i]-want) > 1e-8 {
				t.Errorf("%s: gradient of parameter %d is %v, the difference quotient %v", name, i, grad[i], want)
			}
		}
	}
}

// By hand: without features the sums are tanh of the bias, 0 at first, so the logits are the biases of the head, 0 too.
func TestABagWithoutWordsExpectsOneHalf(t *testing.T) {
	net, _, _ := toyBag()
	for m, z := range net.logits(net.sums(policy.Row{})) {
		if z != 0 {
			t.Errorf("expert %d has logit %v", m, z)
		}
	}
	net.Theta[5*3] = 1 // bias of the first number
	want := math.Tanh(1) * net.Theta[6*3]
	if got := net.logits(net.sums(policy.Row{}))[0]; got != want {
		t.Errorf("logit %v, want %v", got, want)
	}
}
