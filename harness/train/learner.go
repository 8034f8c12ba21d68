// The optimizer step: forward, backward, clipping and update, of a batch at once or part by part.

package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// gradNorm is the global norm to which gradients are cut: the default of VeRL and of the usual SFT trainers. The
// paper does not say.
const gradNorm = 1.0

// sumScope is where the gradients of a batch are summed that is computed part by part.
const sumScope = "/sum"

// learner takes optimizer steps: forward, backward, clipping by the global norm, Adam with decoupled weight decay (of every
// weight that the policy does not except, biases included). Moments start at zero, or where a stopped training
// left them.
type learner struct {
	model *policy.Model
	whole *model.Exec // a batch at once
	add   *model.Exec // adds the gradients of a part to the sums
	apply *model.Exec // updates by the sums and empties them
	rate  *model.Variable
	reads int               // tensors that the policy reads
	used  []*model.Variable // trained weights that the loss depends on, in the order of their gradients; known when add is compiled
}

// part is some rows of a batch as the tensors that the policy and the loss read.
type part struct {
	policy, loss []*tensors.Tensor
	rows         int     // before those that fill it up
	share        float64 // of the batch's loss; shares of a batch sum to 1
}

// logProbsOf are the log-probabilities [rows*M] that every part of a batch reported first.
func logProbsOf(parts []part, reported [][][]float32, m int) (all []float32) {
	for i, p := range parts {
		all = append(all, reported[i][0][:p.rows*m]...)
	}
	return all
}

// newLearner compiles nothing yet. loss builds, from the policy's outputs and the extra inputs of a part, a scalar
// to minimise and further nodes to report.
func newLearner(m *policy.Model, decay, dropout float64, s seed.Seed,
	loss func(out policy.Outputs, extra []*graph.Node) []*graph.Node) (*learner, error) {
	store := m.Store()
	// GoMLX's optimizers read the learning rate from one variable of the store and ignore the value given to any but
	// the first of them, so it is made here and set before every step.
	l := &learner{model: m, rate: optimizer.LearningRateVar(store.RootScope(), dtypes.Float32, 0)}
	if err := store.SetRNGStateFromSeed(int64(s.Derive("dropout"))); err != nil {
		return nil, fmt.Errorf("dropout: %w", err)
	}
	adam, err := newAdam(m, decay)
	if err != nil {
		return nil, err
	}
	backward := func(scope *model.Scope, in []*graph.Node) (nodes, grads []*graph.Node) {
		store.SetTraining(in[0].Graph(), true)
		nodes = loss(m.Policy().Forward(m.Scope(), in[:l.reads], dropout), in[l.reads:])
		return nodes, scope.BuildTrainableVariablesGradientsGraph(nodes[0])
	}
	l.whole, err = model.NewExec(m.Backend(), store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		nodes, grads := backward(scope, in)
		adam.update(scope, clipNorm(grads, gradNorm))
		return nodes
	})
	if err != nil {
		return nil, err
	}
	l.add, err = model.NewExec(m.Backend(), store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		share := in[len(in)-1]
		nodes, grads := backward(scope, in[:len(in)-1])
		l.used = nil
		for v := range scope.IterVariables() {
			if v.Trainable && v.InUseByGraph(share.Graph()) {
				l.used = append(l.used, v)
			}
		}
		for i, v := range l.used {
			sum := l.sum(v)
			sum.SetNodeValue(graph.Add(sum.NodeValue(share), graph.Mul(grads[i], share)))
		}
		return nodes
	})
	if err != nil {
		return nil, err
	}
	l.apply, err = model.NewExec(m.Backend(), store, func(scope *model.Scope, in []*graph.Node) *graph.Node {
		var grads []*graph.Node
		for _, v := range l.used {
			v.NodeValue(in[0]) // so that the optimizer finds it in use
			sum := l.sum(v)
			grads = append(grads, sum.NodeValue(in[0]))
			sum.SetNodeValue(graph.ZerosLike(grads[len(grads)-1]))
		}
		adam.update(scope, clipNorm(grads, gradNorm))
		return in[0]
	})
	return l, err
}

// sum is the variable in which the gradients of a weight are summed.
func (l *learner) sum(v *model.Variable) *model.Variable {
	return l.model.Store().GetVariable(sumScope + "/" + v.Name())
}

// clipNorm scales gradients so that their norm, all taken as one vector, is at most limit.
func clipNorm(grads []*graph.Node, limit float64) []*graph.Node {
	sum := graph.ScalarZero(grads[0].Graph(), grads[0].DType())
	for _, grad := range grads {
		sum = graph.Add(sum, graph.ReduceAllSum(graph.Square(grad)))
	}
	scale := graph.MinScalar(graph.Div(graph.Scalar(sum.Graph(), sum.DType(), limit),
		graph.AddScalar(graph.Sqrt(sum), 1e-6)), 1)
	clipped := make([]*graph.Node, len(grads))
	for i, grad := range grads {
		clipped[i] = graph.Mul(grad, scale)
	}
	return clipped
}

// step takes one step at the given learning rate on the parts of a batch, and returns its loss and, of every part, the other
// reported nodes, flat.
func (l *learner) step(rate float64, parts []part) (loss float64, reported [][][]float32, err error) {
	if err := l.rate.SetValue(tensors.FromScalar(float32(rate))); err != nil {
		return 0, nil, fmt.Errorf("learning rate: %w", err)
	}
	exec := l.whole
	if len(parts) > 1 {
		exec = l.add
		l.makeSums()
	}
	for _, p := range parts {
		l.reads = len(p.policy)
		inputs := slices.Concat(p.policy, p.loss)
		if len(parts) > 1 {
			inputs = append(inputs, tensors.FromScalar(float32(p.share)))
		} else {
			p.share = 1
		}
		out, err := policy.Call(exec, inputs)
		if err != nil {
			return 0, nil, err
		}
		loss += p.share * float64(out[0][0])
		reported = append(reported, out[1:])
	}
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, nil, fmt.Errorf("the loss is %v; lower the learning rate (%g here) or look for extreme rewards", loss, rate)
	}
	if len(parts) > 1 {
		if _, err := policy.Call(l.apply, []*tensors.Tensor{tensors.FromScalar(float32(0))}); err != nil {
			return 0, nil, err
		}
	}
	return loss, reported, nil
}

// makeSums makes a sum of zero for every trained weight that has none.
func (l *learner) makeSums() {
	for _, w := range l.model.Policy().Weights() {
		path := sumScope + "/" + w.Name
		if w.Frozen != nil || l.model.Store().GetVariable(path) != nil {
			continue
		}
		l.model.Store().VariableWithShape(path, shapes.Make(dtypes.Float32, w.Dims...), graph.Zeros).SetTrainable(false)
	}
}

// close drops the moments and whatever else the optimizer keeps beside the weights.
func (l *learner) close() error {
	for _, exec := range []*model.Exec{l.whole, l.add, l.apply} {
		exec.Finalize()
	}
	store := l.model.Store()
	var paths []string
	for v := range store.IterVariables() {
		if v.Scope() != l.model.Scope().Scope() {
			paths = append(paths, v.Path())
		}
	}
	for _, p := range paths {
		if err := store.DeleteVariable(p); err != nil {
			return fmt.Errorf("drop optimizer state: %w", err)
		}
	}
	return nil
}
