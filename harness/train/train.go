// Package train fits the weights of a policy: SFT with soft targets (Stage I of the paper) and GRPO with the soft
// anchor (Stage II).
//
// Nothing here knows what a policy reads or whether it writes before it chooses: both stages go through policy.Policy.
// Every random number is drawn on the host from a stream named by its coordinates (stage, epoch or step, id), except
// dropout's, so the order in which examples are passed does not matter, and neither does the backend.
//
// Letters in doc comments: B rows of a batch, M experts, G rollouts of a prompt, A choices sampled for a row.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

const (
	// gradNorm is the global norm to which gradients are cut: the default of VeRL and of the usual SFT trainers. The
	// paper does not say.
	gradNorm = 1.0
	// adamEpsilon is AdamW's usual value; GoMLX's own default is 1e-7.
	adamEpsilon = 1e-8
)

// learner runs one compiled optimizer step again and again: forward, backward, clipping by the global norm, Adam
// with decoupled weight decay (of every weight that the policy does not except, biases included). Moments start at zero with every learner.
type learner struct {
	model *policy.Model
	exec  *model.Exec
	rate  *model.Variable
}

// newLearner compiles nothing yet. loss builds, from the policy's outputs and the extra inputs of step, a scalar
// to minimise and further nodes to report.
func newLearner(m *policy.Model, decay, dropout float64, s seed.Seed, inputs int,
	loss func(out policy.Outputs, extra []*graph.Node) []*graph.Node) (*learner, error) {
	store := m.Store()
	// GoMLX's optimizers read the learning rate from one variable of the store and ignore the value given to any but
	// the first of them, so it is made here and set before every step.
	rate := optimizer.LearningRateVar(store.RootScope(), dtypes.Float32, 0)
	if err := store.SetRNGStateFromSeed(int64(s.Derive("dropout"))); err != nil {
		return nil, fmt.Errorf("dropout: %w", err)
	}
	adam, err := newAdam(m, decay)
	if err != nil {
		return nil, err
	}
	exec, err := model.NewExec(m.Backend(), store, func(scope *model.Scope, in []*graph.Node) []*graph.Node {
		g := in[0].Graph()
		store.SetTraining(g, true)
		nodes := loss(m.Policy().Forward(m.Scope(), in[:inputs], dropout), in[inputs:])
		grads := scope.BuildTrainableVariablesGradientsGraph(nodes[0])
		adam.update(scope, clipNorm(grads, gradNorm))
		return nodes
	})
	if err != nil {
		return nil, err
	}
	return &learner{model: m, exec: exec, rate: rate}, nil
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

// step takes one step at the given learning rate and returns the loss and the other reported nodes, flat.
func (l *learner) step(rate float64, inputs []*tensors.Tensor) (loss float64, reported [][]float32, err error) {
	if err := l.rate.SetValue(tensors.FromScalar(float32(rate))); err != nil {
		return 0, nil, fmt.Errorf("learning rate: %w", err)
	}
	out, err := policy.Call(l.exec, inputs)
	if err != nil {
		return 0, nil, err
	}
	loss = float64(out[0][0])
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return 0, nil, fmt.Errorf("the loss is %v; lower the learning rate (%g here) or look for extreme rewards", loss, rate)
	}
	return loss, out[1:], nil
}

// close drops the moments and whatever else the optimizer keeps beside the weights.
func (l *learner) close() error {
	l.exec.Finalize()
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

// order returns 0 to n-1 in the order of keys drawn for (epoch, id): a permutation that does not depend on the order
// in which examples are passed.
func order(s seed.Seed, epoch int, ids []string) []int {
	type entry struct {
		key   seed.Seed
		index int
	}
	entries := make([]entry, len(ids))
	for i, id := range ids {
		entries[i] = entry{s.Derive("order", epoch, id), i}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(ids[a.index], ids[b.index]))
	})
	indices := make([]int, len(ids))
	for i, e := range entries {
		indices[i] = e.index
	}
	return indices
}

// checkIDs fails on an empty or repeated id: ids name random streams.
func checkIDs(ids []string) error {
	seen := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		if id == "" {
			return errors.New("an id is empty")
		}
		if _, found := seen[id]; found {
			return fmt.Errorf("id %q occurs twice", id)
		}
		seen[id] = struct{}{}
	}
	return nil
}

// checkDistribution fails unless p is a distribution over m experts.
func checkDistribution(name string, p []float64, m int) error {
	if len(p) != m {
		return fmt.Errorf("%s has %d values for %d experts", name, len(p), m)
	}
	var sum float64
	for _, v := range p {
		if !(v >= 0) {
			return fmt.Errorf("%s %v is not a distribution", name, p)
		}
		sum += v
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("%s %v sums to %v, not 1", name, p, sum)
	}
	return nil
}

// distribution adds to a point what is told from the policy's log-probabilities [n*M] of a batch.
func (p *Point) distribution(logProbs []float32, m int) {
	n := len(logProbs) / m
	p.Share = make([]float64, m)
	for i, l := range logProbs {
		prob := math.Exp(float64(l))
		p.Share[i%m] += prob / float64(n)
		p.Entropy -= prob * float64(l) / float64(n)
	}
}

// wrap names the stage and step in an error, and leaves the context's own errors recognisable.
func wrap(ctx context.Context, stage string, step int, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: stopped before step %d: %w", stage, step, ctx.Err())
	}
	return fmt.Errorf("%s: step %d: %w", stage, step, err)
}
