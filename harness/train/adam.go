// The optimizer: Adam with decoupled weight decay, of some weights and not of others.

package train

import (
	"errors"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// gradientOptimizer is the part of GoMLX's optimizers that takes gradients: between them and the update is where the
// norm is clipped.
type gradientOptimizer interface {
	UpdateGraphWithGradients(scope *model.Scope, grads []*graph.Node, dtype dtypes.DType)
}

// adamEpsilon is AdamW's usual value; GoMLX's own default is 1e-7.
const adamEpsilon = 1e-8

// adam updates the trained weights of a policy. GoMLX's Adam knows one decay for all, so there are two of them.
type adam struct {
	decaying, still gradientOptimizer
	isStill         map[string]bool // names of the weights that do not decay
}

func newAdam(m *policy.Model, decay float64) (*adam, error) {
	a := &adam{isStill: map[string]bool{}}
	for _, w := range m.Policy().Weights() {
		if w.Frozen == nil && w.NoDecay {
			a.isStill[w.Name] = true
		}
	}
	var ok [2]bool
	a.decaying, ok[0] = optimizer.Adam().Epsilon(adamEpsilon).WeightDecay(decay).Done().(gradientOptimizer)
	a.still, ok[1] = optimizer.Adam().Epsilon(adamEpsilon).Scope("still").Done().(gradientOptimizer)
	if !ok[0] || !ok[1] {
		return nil, errors.New("this version of GoMLX has no Adam that takes gradients")
	}
	return a, nil
}

// update builds the update of every trainable variable in use from its gradient, in the order of the store. GoMLX's Adam
// takes the gradients of all variables that are trainable, so each of the two sees only its own as such.
func (a *adam) update(scope *model.Scope, grads []*graph.Node) {
	var variables []*model.Variable
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(grads[0].Graph()) {
			variables = append(variables, v)
		}
	}
	for _, part := range []struct {
		by    gradientOptimizer
		still bool
	}{{a.decaying, false}, {a.still, true}} {
		var own []*graph.Node
		for i, v := range variables {
			mine := a.isStill[v.Name()] == part.still
			v.SetTrainable(mine)
			if mine {
				own = append(own, grads[i])
			}
		}
		if len(own) > 0 {
			part.by.UpdateGraphWithGradients(scope, own, own[0].DType())
		}
	}
	for _, v := range variables {
		v.SetTrainable(true)
	}
}
