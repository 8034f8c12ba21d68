// Package workload is a training step of a decoder without a pool, a tokenizer or a data set: what backends are compared
// by, and what is timed. Weights and tokens are made up.
//
// Letters in doc comments: B texts of a step, T tokens of each, M labels.
package workload

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

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// labels is M.
const labels = 3

// rate is Adam's.
const rate = 1e-3

// Step says which step. Its loss is the cross entropy between soft targets and the distribution over M labels at each text's last
// token, its optimizer Adam. With adapters these are trained, in float32, and the network's weights are kept in
// the type that the config says they are stored in, bfloat16 or float32; without them all weights are trained, in float32.
type Step struct {
	Decoder lm.Decoder
	B, T    int
}

// Adapted is the step of a decoder whose adapters are trained, as they would be on a card: weights and products in bfloat16,
// each layer computed again backwards.
func Adapted(c lm.Config, b, t int) Step {
	s := Full(c, b, t)
	s.Decoder.LoRA, s.Decoder.Config.Stored = Adapters(), safetensors.BF16
	return s
}

// Full is Adapted for all weights.
func Full(c lm.Config, b, t int) Step {
	return Step{Decoder: lm.Decoder{Config: c, Compute: dtypes.BFloat16, Checkpoint: true}, B: b, T: t}
}

// kept is the type of the network's weights.
func (s Step) kept() dtypes.DType {
	if s.Decoder.LoRA == nil || s.Decoder.Config.Stored != safetensors.BF16 {
		return dtypes.Float32
	}
	return dtypes.BFloat16
}

// Products counts the floating point operations of the products of a step that training asks for: two an element
// of a weight and token forward, as many again for the gradient of what went in and, where the weight is trained, for its own;
// and those of attention. What Checkpoint computes again does not count. Products with adapters and labels do not count either.
func (s Step) Products() float64 {
	c, weights := s.Decoder.Config, 0
	for _, w := range c.Sizes() {
		if len(w.Dims) == 2 && w.Name != "model.embed_tokens.weight" && w.Name != "lm_head.weight" {
			weights += w.Dims[0] * w.Dims[1]
		}
	}
	tokens, passes := float64(s.B*s.T), 3.0
	if s.Decoder.LoRA != nil {
		passes = 2
	}
	attention := 3 * 4 * tokens * float64(s.T*c.Heads*c.HeadDim*c.Layers)
	return passes*2*float64(weights)*tokens + attention
}

// Result is what one step says of itself. None of it is 0 by construction.
type Result struct {
	Loss     float64   // nats
	Norm     float64   // of all gradients, taken as one vector
	LogProbs []float32 // [B,M] before the update
}

// Trainer carries the step out again and again.
type Trainer struct {
	step  Step
	store *model.Store
	exec  *model.Exec
	data  []*tensors.Tensor // tokens [B,T], lengths [B], targets [B,M]
}

// New returns a trainer whose weights are drawn on the host from the stream of s: the same on every backend, and large enough
// that every one of them matters to the loss. The caller closes it.
func New(backend policy.Backend, step Step, s seed.Seed) (*Trainer, error) {
	return trainer(backend, step, func(store *model.Store, w lm.Size, dtype dtypes.DType) (*model.Variable, error) {
		r := s.Derive("weights", w.Name).Rand()
		values := make([]float32, shapes.Make(dtypes.Float32, w.Dims...).Size())
		for i := range values {
			switch {
			case len(w.Dims) == 1:
				values[i] = float32(1 + .1*r.NormFloat64())
			default:
				values[i] = float32(r.NormFloat64() / math.Sqrt(float64(w.Dims[1])))
			}
		}
		t := tensors.FromFlatDataAndDimensions(values, w.Dims...)
		if dtype != dtypes.Float32 {
			converted, err := graph.CallOnce(backend, func(x *graph.Node) *graph.Node { return graph.ConvertDType(x, dtype) }, t)
			if err != nil {
				return nil, err
			}
			t = converted
		}
		return store.CreateVariable("/"+w.Name, t)
	})
}

// NewLarge returns a trainer whose weights are made on the device when it first runs. They are no random numbers,
// but differ as random numbers do. The caller closes it.
func NewLarge(backend policy.Backend, step Step) (*Trainer, error) {
	return trainer(backend, step, func(store *model.Store, w lm.Size, dtype dtypes.DType) (*model.Variable, error) {
		return store.VariableWithShape("/"+w.Name, shapes.Make(dtype, w.Dims...), func(g *graph.Graph, shape shapes.Shape) *graph.Node {
			if shape.Rank() == 1 {
				return graph.Ones(g, shape)
			}
			f := shape.Clone()
			f.DType = dtypes.Float32
			phase := graph.Add(graph.MulScalar(graph.Iota(g, f, 0), 12.9898), graph.MulScalar(graph.Iota(g, f, 1), 78.233))
			return graph.ConvertDType(graph.MulScalar(graph.Sin(phase), .02*math.Sqrt2), dtype)
		}), nil
	})
}

func trainer(backend policy.Backend, step Step, weight func(*model.Store, lm.Size, dtypes.DType) (*model.Variable, error)) (*Trainer, error) {
	t := &Trainer{step: step, store: model.NewStore()}
	add := func(sizes []lm.Size, dtype dtypes.DType, trained bool) error {
		for _, w := range sizes {
			v, err := weight(t.store, w, dtype)
			if err != nil {
				return fmt.Errorf("weight %q: %w", w.Name, err)
			}
			v.SetTrainable(trained)
		}
		return nil
	}
	err := add(step.Decoder.Config.Sizes(), step.kept(), step.Decoder.LoRA == nil)
	if err == nil {
		err = add(step.Decoder.AdapterSizes(), dtypes.Float32, true)
	}
	if err == nil {
		t.exec, err = model.NewExec(backend, t.store, t.graph)
	}
	if err != nil {
		t.store.Finalize()
		return nil, err
	}
	r := seed.Derive("workload").Rand()
	tokens, lengths, targets := make([]int32, step.B*step.T), make([]int32, step.B), make([]float32, step.B*labels)
	for i := range tokens {
		tokens[i] = int32(r.IntN(step.Decoder.Config.Vocab))
	}
	for i := range lengths {
		lengths[i] = int32(step.T - r.IntN(step.T/4+1)) // the rest is padding
	}
	for i := range step.B {
		targets[i*labels+r.IntN(labels)] = .75
		targets[i*labels+r.IntN(labels)] += .25
	}
	t.data = []*tensors.Tensor{tensors.FromFlatDataAndDimensions(tokens, step.B, step.T),
		tensors.FromFlatDataAndDimensions(lengths, step.B), tensors.FromFlatDataAndDimensions(targets, step.B, labels)}
	return t, nil
}

// graph is the step; it returns loss, norm of the gradients and log-probabilities.
func (t *Trainer) graph(scope *model.Scope, in []*graph.Node) []*graph.Node {
	g, d := in[0].Graph(), t.step.Decoder
	t.store.SetTraining(g, true)
	w := func(name string) *graph.Node { return t.store.GetVariable("/" + name).NodeValue(g) }
	h := d.Last(w, d.Embed(w, in[0]), 0, in[1])
	head := "lm_head.weight"
	if d.Config.Tied {
		head = "model.embed_tokens.weight"
	}
	ids := make([][]int32, labels)
	for i := range ids {
		ids[i] = []int32{int32(i + 1)}
	}
	logProbs := graph.LogSoftmax(d.Logits(w, h, graph.Gather(w(head), graph.Const(g, ids))), -1)
	loss := graph.Neg(graph.ReduceAllMean(graph.ReduceSum(graph.Mul(in[2], logProbs), -1)))
	grads := scope.BuildTrainableVariablesGradientsGraph(loss)
	sum := graph.ScalarZero(g, dtypes.Float32)
	for _, grad := range grads {
		sum = graph.Add(sum, graph.ReduceAllSum(graph.Square(grad)))
	}
	adam := optimizer.Adam().LearningRate(rate).Done().(interface {
		UpdateGraphWithGradients(scope *model.Scope, grads []*graph.Node, dtype dtypes.DType)
	})
	adam.UpdateGraphWithGradients(scope, grads, dtypes.Float32)
	return []*graph.Node{loss, graph.Sqrt(sum), logProbs}
}

// Run carries one step out and waits for it.
func (t *Trainer) Run() (Result, error) {
	out, err := t.exec.Call(t.data[0], t.data[1], t.data[2])
	if err != nil {
		return Result{}, err
	}
	var flat [3][]float32
	for i, o := range out {
		if flat[i], err = tensors.CopyFlatData[float32](o); err != nil {
			return Result{}, err
		}
		if err := o.FinalizeAll(); err != nil {
			return Result{}, err
		}
	}
	return Result{Loss: float64(flat[0][0]), Norm: float64(flat[1][0]), LogProbs: flat[2]}, nil
}

// Close frees the weights.
func (t *Trainer) Close() {
	t.exec.Finalize()
	t.store.Finalize()
}

// Qwen3 returns the shapes of a published Qwen3 model by its size: 0.6b, 1.7b or 4b; or tiny, which is none of them.
func Qwen3(size string) (lm.Config, error) {
	c := lm.Config{Arch: "qwen3", Stored: safetensors.BF16, Vocab: 151936, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 128, Epsilon: 1e-6, Theta: 1e6, Tied: true}
	switch size {
	case "tiny":
		c.Stored = safetensors.F32
		c.Vocab, c.Hidden, c.Inner, c.Layers, c.Heads, c.KVHeads, c.HeadDim = 512, 64, 192, 2, 4, 2, 16
	case "0.6b":
		c.Hidden, c.Inner = 1024, 3072
	case "1.7b":
		c.Hidden, c.Inner = 2048, 6144
	case "4b":
		c.Hidden, c.Inner, c.Layers, c.Heads = 2560, 9728, 36, 32
	default:
		return c, fmt.Errorf("no Qwen3 of size %q; known: tiny, 0.6b, 1.7b, 4b", size)
	}
	return c, nil
}

// Adapters are LoRA of rank 16 on every projection.
func Adapters() *lm.LoRA {
	return &lm.LoRA{Rank: 16, Scale: 2, Targets: slices.Clone(spec.Projections)}
}
