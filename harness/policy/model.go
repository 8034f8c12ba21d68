// A policy with weights, and what it says about texts.

package policy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// weightScope is where the weights live in a Model's store. Whatever else a trainer puts into the store (moments,
// learning rate, step counts) lives outside it and is neither saved nor trained.
const weightScope = "/model"

// Model is a policy with weights. It is used by one goroutine at a time.
type Model struct {
	policy  Policy
	backend compute.Backend
	store   *model.Store
	logits  *model.Exec
	write   Write // nil: the policy itself
}

// Writer is a policy that may write text before it chooses.
type Writer interface {
	Policy
	// Writes says whether it does.
	Writes() bool
	// Compose returns the tokens of a text that somebody else wrote, its end included, as Row.Written has them; none if the policy
	// could not have written it, which may be too long.
	Compose(text string) ([]int32, error)
	// Write returns n copies of every row (row i's are i*n to i*n+n-1) with Written filled: sampled at temperature
	// 1 from the stream of s, or the likeliest text if greedy. ids name the rows in the stream. A text that comes to no end
	// within the policy's bound is Cut.
	Write(ctx context.Context, m *Model, ids []string, rows []Row, n int, greedy bool, s seed.Seed) ([]Row, error)
}

// Write is what writes before a policy of a model chooses: its own Writer.Write, or something elsewhere.
type Write func(ctx context.Context, m *Model, ids []string, rows []Row, n int, greedy bool, s seed.Seed) ([]Row, error)

// WriterOf returns a policy that writes as what it is; ok is false for one that only chooses.
func WriterOf(p Policy) (w Writer, ok bool) {
	w, ok = p.(Writer)
	return w, ok && w.Writes()
}

// New returns a model with initial weights, drawn on the host from the stream of s: the same on every backend.
func New(backend compute.Backend, policy Policy, s seed.Seed) (*Model, error) {
	var values []safetensors.Tensor
	for _, w := range trained(policy) {
		data := make([]float32, w.Size())
		if w.Start != nil {
			if err := w.Start(s.Derive("weights", w.Name), data); err != nil {
				return nil, fmt.Errorf("%s policy: weight %q: %w", policy.Kind(), w.Name, err)
			}
		}
		values = append(values, safetensors.Tensor{Name: w.Name, Dims: w.Dims, Data: data})
	}
	return With(backend, policy, values)
}

// With returns a model with trained weights that Weights returned, of a model of the same policy, and with its frozen ones.
func With(backend compute.Backend, policy Policy, weights []safetensors.Tensor) (*Model, error) {
	return build(backend, policy, func(m *Model) error { return m.fill(weights) })
}

// trained lists the weights that training changes and checkpoints hold.
func trained(policy Policy) []Weight {
	return slices.DeleteFunc(slices.Clone(policy.Weights()), func(w Weight) bool { return w.Frozen != nil })
}

// Outline returns a model whose weights have shapes and types alone: its graphs can be compiled, for which none is read or
// made, and say nothing when they are run.
func Outline(backend compute.Backend, policy Policy) (*Model, error) {
	return build(backend, policy, (*Model).outline)
}

// build returns a model whose variables are made by weights.
func build(backend compute.Backend, policy Policy, weights func(*Model) error) (*Model, error) {
	m := &Model{policy: policy, backend: backend, store: model.NewStore()}
	err := weights(m)
	if err == nil {
		m.logits, err = model.NewExec(backend, m.store, func(_ *model.Scope, in []*graph.Node) *graph.Node {
			return policy.Forward(m.Scope(), in, 0).Choice
		})
	}
	if err != nil {
		m.store.Finalize()
		return nil, fmt.Errorf("%s policy: %w", policy.Kind(), err)
	}
	return m, nil
}

// fill makes the variables of the trained weights, from values, and of the frozen ones.
func (m *Model) fill(values []safetensors.Tensor) error {
	for _, v := range values {
		if _, err := m.store.CreateVariable(weightScope+"/"+v.Name, tensors.FromFlatDataAndDimensions(v.Data, v.Dims...)); err != nil {
			return fmt.Errorf("weight %q: %w", v.Name, err)
		}
	}
	for _, w := range m.policy.Weights() {
		if w.Frozen == nil {
			continue
		}
		value, err := w.Frozen()
		if err != nil {
			return fmt.Errorf("frozen weight %q: %w", w.Name, err)
		}
		v, err := m.store.CreateVariable(weightScope+"/"+w.Name, value)
		if err != nil {
			return fmt.Errorf("frozen weight %q: %w", w.Name, err)
		}
		v.SetTrainable(false)
	}
	return nil
}

// outline makes the variables of all weights without a value.
func (m *Model) outline() error {
	for _, w := range m.policy.Weights() {
		dtype := dtypes.Float32
		if w.Frozen != nil {
			dtype = w.Kept
		}
		v := m.store.VariableWithShape(weightScope+"/"+w.Name, shapes.Make(dtype, w.Dims...), graph.Zeros)
		v.SetTrainable(w.Frozen == nil)
	}
	return nil
}

// Policy returns the network.
func (m *Model) Policy() Policy { return m.policy }

// Backend returns where the model computes.
func (m *Model) Backend() compute.Backend { return m.backend }

// Store returns the variables, for a trainer.
func (m *Model) Store() *model.Store { return m.store }

// Scope returns the part of the store that holds the weights, for a trainer.
func (m *Model) Scope() *model.Scope { return m.store.Scope(weightScope) }

// Clone returns a copy of the model that trains on its own, on the given backend.
func (m *Model) Clone(backend compute.Backend) (*Model, error) {
	values, err := m.Weights()
	if err != nil {
		return nil, err
	}
	return With(backend, m.policy, values)
}

// Close frees what the model holds on the backend. The model cannot be used afterwards.
func (m *Model) Close() {
	m.logits.Finalize()
	m.store.Finalize()
}

// batchSizes returns the compiled row counts of Probs: a few shapes, so that the cache of compiled graphs never fills up.
func batchSizes(p Policy) []int {
	if s, ok := p.(Sized); ok {
		return s.Sizes()
	}
	return []int{16, 128, 1024}
}

// Probs returns the policy's distribution over the experts for each text: [len(texts)][M], each summing to 1. A
// policy that writes before it chooses writes its likeliest text.
func (m *Model) Probs(ctx context.Context, texts []string) ([][]float64, error) {
	rows, err := m.policy.Encode(ctx, texts)
	if err != nil {
		return nil, err
	}
	return m.ProbsOf(ctx, rows)
}

// WrittenBy has something else write what the policy writes before it chooses.
func (m *Model) WrittenBy(w Write) { m.write = w }

// Write is Writer.Write, by whoever writes for the model. ok is false if its policy only chooses: the rows are as they were.
func (m *Model) Write(ctx context.Context, ids []string, rows []Row, n int, greedy bool, s seed.Seed) (written []Row, ok bool, err error) {
	w, ok := WriterOf(m.policy)
	if !ok {
		return rows, false, nil
	}
	write := m.write
	if write == nil {
		write = w.Write
	}
	written, err = write(ctx, m, ids, rows, n, greedy, s)
	return written, true, err
}

// Written returns rows with the likeliest text that a policy writes before it chooses, where they have none; those of a policy that
// only chooses are as they were.
func (m *Model) Written(ctx context.Context, rows []Row) ([]Row, error) {
	if _, ok := WriterOf(m.policy); !ok {
		return rows, nil
	}
	rows = slices.Clone(rows)
	var ids []string
	var blank []Row
	var at []int
	for i, row := range rows {
		if row.Written == nil {
			ids, blank, at = append(ids, strconv.Itoa(i)), append(blank, row), append(at, i)
		}
	}
	if blank == nil {
		return rows, nil
	}
	written, _, err := m.Write(ctx, ids, blank, 1, true, 0)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		rows[i] = written[k]
	}
	return rows, nil
}

// ProbsOf is Probs for texts that are encoded already. What is written in a row is taken as it is.
func (m *Model) ProbsOf(ctx context.Context, rows []Row) ([][]float64, error) {
	rows, err := m.Written(ctx, rows)
	if err != nil {
		return nil, err
	}
	experts := len(m.policy.Experts())
	sizes := batchSizes(m.policy)
	probs := make([][]float64, 0, len(rows))
	for len(rows) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		size := sizes[len(sizes)-1]
		for _, b := range sizes {
			if b >= len(rows) {
				size = b
				break
			}
		}
		n := min(size, len(rows))
		inputs, err := m.policy.Inputs(rows[:n], size)
		if err != nil {
			return nil, err
		}
		logits, err := Call(m.logits, inputs)
		if err != nil {
			return nil, fmt.Errorf("%s policy: forward: %w", m.policy.Kind(), err)
		}
		for i := range n {
			probs = append(probs, softmax(logits[0][i*experts:(i+1)*experts]))
		}
		rows = rows[n:]
	}
	return probs, nil
}

// Weights copies the trained weights out of the store, in the policy's order.
func (m *Model) Weights() ([]safetensors.Tensor, error) {
	var values []safetensors.Tensor
	for _, w := range trained(m.policy) {
		value, err := m.Scope().GetVariable(w.Name).Value()
		if err != nil {
			return nil, fmt.Errorf("weight %q: %w", w.Name, err)
		}
		data, err := tensors.CopyFlatData[float32](value)
		if err != nil {
			return nil, fmt.Errorf("weight %q: %w", w.Name, err)
		}
		values = append(values, safetensors.Tensor{Name: w.Name, Dims: w.Dims, Data: data})
	}
	return values, nil
}

// Call runs a compiled graph of float32 outputs and returns them as flat slices. It frees every tensor, those of
// inputs included, whether it fails or not.
func Call(exec *model.Exec, inputs []*tensors.Tensor) (flat [][]float32, err error) {
	used := slices.Clone(inputs)
	defer func() {
		for _, t := range used {
			err = cmp.Or(err, t.FinalizeAll())
		}
	}()
	args := make([]any, len(inputs))
	for i, t := range inputs {
		args[i] = t
	}
	outputs, err := exec.Call(args...)
	if err != nil {
		return nil, err
	}
	used = append(used, outputs...)
	flat = make([][]float32, len(outputs))
	for i, t := range outputs {
		if flat[i], err = tensors.CopyFlatData[float32](t); err != nil {
			return nil, err
		}
	}
	return flat, nil
}

// softmax returns exp(logits) normalised, in float64.
func softmax(logits []float32) []float64 {
	top := math.Inf(-1)
	for _, l := range logits {
		top = max(top, float64(l))
	}
	p, sum := make([]float64, len(logits)), 0.0
	for i, l := range logits {
		p[i] = math.Exp(float64(l) - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
