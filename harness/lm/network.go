// A decoder with its weights on a backend, outside any training.

package lm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Network is a decoder with the weights of a base. It is used by one goroutine at a time.
type Network struct {
	Decoder
	backend policy.Backend
	store   *model.Store
	scope   *model.Scope // of the weights in the store
}

// NewNetwork puts the weights of a base that want picks on a backend; nil: all. The caller closes the network.
func NewNetwork(backend policy.Backend, d Decoder, base *Base, want func(name string) bool) (*Network, error) {
	n := &Network{Decoder: d, backend: backend, store: model.NewStore()}
	n.scope = n.store.RootScope()
	for _, t := range base.Config.Sizes() {
		if want != nil && !want(t.Name) {
			continue
		}
		value, err := base.stored(t)
		if err == nil {
			_, err = n.store.CreateVariable("/"+t.Name, value)
		}
		if err != nil {
			n.Close()
			return nil, fmt.Errorf("weight %q: %w", t.Name, err)
		}
	}
	return n, nil
}

// weights finds the weights for a graph.
func (n *Network) weights(g *graph.Graph) Weights { return weightsIn(n.scope, g) }

// weightsIn finds weights among the variables of a scope.
func weightsIn(scope *model.Scope, g *graph.Graph) Weights {
	return func(name string) *graph.Node {
		v := scope.GetVariable(name)
		if v == nil {
			panic(fmt.Errorf("the language model has no weight %q", name))
		}
		return v.NodeValue(g)
	}
}

// Close frees the weights.
func (n *Network) Close() { n.store.Finalize() }

// Greedy continues each prompt by up to most tokens, each the likeliest after what is before it, and stops behind one of
// stop. The scores [len(prompts)*V] of every step go to seen, if it is not nil.
func (n *Network) Greedy(ctx context.Context, prompts [][]int32, most int, stop []int32, seen func(scores []float32)) (texts [][]int32, err error) {
	longest := 0
	for _, p := range prompts {
		longest = max(longest, len(p))
	}
	g, err := n.generator(most, stop)
	if err != nil {
		return nil, err
	}
	defer g.close()
	return g.texts(ctx, prompts, longest, seen, func(_ int, scores []float32) int32 { return argmax(scores) })
}

// generator continues prompts.
type generator struct {
	net        *Network
	read, step *model.Exec
	most       int
	stop       []int32
}

// generator compiles what writes texts of up to most tokens that end behind one of stop. The caller closes it.
func (n *Network) generator(most int, stop []int32) (g *generator, err error) {
	g = &generator{net: n, most: most, stop: stop}
	g.read, err = n.exec(func(w Weights, in []*graph.Node) (*graph.Node, []*graph.Node) {
		x, kept := n.run(w, n.Embed(w, in[0]), 0, n.Config.Layers, nil, graph.AddScalar(in[1], -1), nil)
		for i, k := range kept {
			dims := slices.Clone(k.Shape().Dimensions)
			dims[1] = most
			kept[i] = graph.Concatenate([]*graph.Node{k, graph.Zeros(k.Graph(), shapes.Make(k.DType(), dims...))}, 1)
		}
		return x, kept
	})
	if err != nil {
		return nil, err
	}
	g.step, err = n.exec(func(w Weights, in []*graph.Node) (*graph.Node, []*graph.Node) {
		return n.run(w, n.Embed(w, in[0]), 0, n.Config.Layers, in[1], nil, in[2:])
	})
	if err != nil {
		g.read.Finalize()
		return nil, err
	}
	return g, nil
}

func (g *generator) close() {
	g.read.Finalize()
	g.step.Finalize()
}

// texts continues each prompt, padded to a width, by tokens that choose picks by the scores [V] of the text at an index. The prompts
// are read once; then a step reads one token of each and the keys and values kept of those before. The scores [len(prompts)*V] of
// every step go to seen, if it is not nil.
func (g *generator) texts(ctx context.Context, prompts [][]int32, width int, seen func(scores []float32), choose func(text int, scores []float32) int32) (texts [][]int32, err error) {
	lengths := make([]int32, len(prompts))
	for i, p := range prompts {
		if len(p) == 0 {
			return nil, fmt.Errorf("generate: prompt %d is empty", i)
		}
		lengths[i] = int32(len(p))
	}
	texts = make([][]int32, len(prompts))
	open := make([]bool, len(prompts))
	for i := range open {
		open[i] = g.most > 0
	}
	token, exec, inputs := pad(prompts, width), g.read, []any(nil)
	defer func() {
		for _, kept := range inputs {
			err = cmp.Or(err, kept.(*tensors.Tensor).FinalizeAll())
		}
	}()
	for ; slices.Contains(open, true) && ctx.Err() == nil; width = 1 {
		// The position of the token read last; when the prompts are read, that of their last token is one before.
		at := tensors.FromFlatDataAndDimensions(slices.Clone(lengths), len(prompts), 1)
		out, err := exec.Call(append([]any{tensors.FromFlatDataAndDimensions(token, len(prompts), width), at}, inputs...)...)
		if err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		for _, kept := range inputs {
			if err := kept.(*tensors.Tensor).FinalizeAll(); err != nil {
				return nil, fmt.Errorf("generate: %w", err)
			}
		}
		scores, err := tensors.CopyFlatData[float32](out[0])
		if err := cmp.Or(err, out[0].FinalizeAll()); err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		if seen != nil {
			seen(scores)
		}
		vocab := g.net.Config.Vocab
		token = make([]int32, len(prompts))
		for i := range prompts {
			if open[i] {
				token[i] = choose(i, scores[i*vocab:(i+1)*vocab])
				texts[i] = append(texts[i], token[i])
				open[i] = len(texts[i]) < g.most && !slices.Contains(g.stop, token[i])
			}
			if exec == g.step {
				lengths[i]++
			}
		}
		exec, inputs = g.step, inputs[:0]
		for _, kept := range out[1:] {
			inputs = append(inputs, kept)
		}
	}
	return texts, ctx.Err()
}

// exec compiles what turns tokens and further inputs into hidden states [B,1,D] and what is kept; it gives scores [B,1,V].
func (n *Network) exec(body func(w Weights, in []*graph.Node) (*graph.Node, []*graph.Node)) (*model.Exec, error) {
	e, err := model.NewExec(n.backend, n.store, func(_ *model.Scope, in []*graph.Node) []*graph.Node {
		w := n.weights(in[0].Graph())
		x, kept := body(w, in)
		return append([]*graph.Node{n.Logits(w, n.Norm(w, x), nil)}, kept...)
	})
	if err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	return e, nil
}

// pad lays texts side by side, zeros behind those that are shorter than width.
func pad(texts [][]int32, width int) []int32 {
	flat := make([]int32, len(texts)*width)
	for i, t := range texts {
		copy(flat[i*width:(i+1)*width], t)
	}
	return flat
}

func argmax(scores []float32) int32 {
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return int32(best)
}
