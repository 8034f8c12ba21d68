// Package lm is a decoder of the Qwen3 and Llama families as a policy: it reads the pool and a problem as a conversation
// and chooses an expert by the token it would answer with.
//
// Letters in doc comments: B texts, T positions, D the width of hidden states, S positions of a cache, V tokens of the
// vocabulary, M experts.
package lm

import (
	"math"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Decoder is the network, without its weights. Texts are padded on the right: what follows a position never changes
// what is computed at it.
type Decoder struct {
	Config     Config
	Compute    dtypes.DType // of products: Float32 or BFloat16. Norms, rotations, softmax and logits are float32
	Checkpoint bool         // the backward pass computes layers again instead of keeping what is in them
	LoRA       *LoRA        // low-rank adapters on some projections; nil: none
}

// LoRA adds Scale * x A' B' to the projections named.
type LoRA struct {
	Rank    int
	Scale   float64  // alpha / rank
	Targets []string // names of projections, e.g. q_proj
}

// What is added to the name of a projection for its adapter's two weights.
const (
	loraA = ".lora_A.weight" // [Rank,in]
	loraB = ".lora_B.weight" // [out,Rank]
)

// adapts says whether a projection has an adapter.
func (l *LoRA) adapts(name string) bool {
	return l != nil && slices.Contains(l.Targets, name[strings.LastIndexByte(name, '.')+1:])
}

// Weights returns the node of a weight by its name in a Hugging Face folder. It panics on an unknown one.
type Weights func(name string) *graph.Node

// Embed returns the vectors [B,T,D] of tokens [B,T] int32.
func (d Decoder) Embed(w Weights, tokens *graph.Node) *graph.Node {
	return graph.ConvertDType(graph.Gather(w(embedName), graph.ExpandAxes(tokens, -1)), d.Compute)
}

// layers runs the layers from one up to, not including, another on x [B,T,D].
func (d Decoder) layers(w Weights, x *graph.Node, from, to int) *graph.Node {
	x, _ = d.run(w, x, from, to, nil, nil, nil)
	return x
}

// Last runs the layers from one to the end and the last norm on x [B,T,D], and returns what is at position length-1 of each
// text [B,D]. length is [B] int32, 1 to T. The last layer is computed at that position alone.
func (d Decoder) Last(w Weights, x *graph.Node, from int, length *graph.Node) *graph.Node {
	b := x.Shape().Dim(0)
	last := graph.Reshape(graph.AddScalar(length, -1), b, 1)
	if from == d.Config.Layers {
		x = pick(x, last)
	} else {
		x, _ = d.run(w, x, from, d.Config.Layers, nil, last, nil)
	}
	return graph.Reshape(d.norm(x, w(normName)), b, d.Config.Hidden)
}

// Logits returns the scores [..,V] in float32 of the next token, from hidden states [..,D] after Norm. rows [K,D] are those
// of the head that are wanted; nil: all.
func (d Decoder) Logits(w Weights, h, rows *graph.Node) *graph.Node {
	if rows == nil {
		rows = w(d.Config.headWeight())
	}
	return graph.ConvertDType(d.product(h, rows), dtypes.Float32)
}

// Norm is the norm after the last layer.
func (d Decoder) Norm(w Weights, x *graph.Node) *graph.Node { return d.norm(x, w(normName)) }

// run computes layers. Position t of x [B,T,D] is t, or at [B,1] of a single position that reads the cache. With last [B,K],
// the last layer is computed at these positions alone, and what comes back is [B,K,D]. The keys and values of each layer come back too, two a layer
// [B,T or S,KVHeads,HeadDim]; those of a cache with the position written.
func (d Decoder) run(w Weights, x *graph.Node, from, to int, at, last *graph.Node, cache []*graph.Node) (*graph.Node, []*graph.Node) {
	g, t := x.Graph(), x.Shape().Dim(1)
	if at == nil {
		at = graph.Iota(g, shapes.Make(dtypes.Int32, 1, t), 1)
	}
	var written []*graph.Node
	for l := from; l < to; l++ {
		if d.Checkpoint {
			x = x.Checkpoint()
		}
		queries := at
		weight := func(name string) *graph.Node { return w(layerName(l, name)) }
		y := d.norm(x, weight("input_layernorm.weight"))
		k := d.rotate(d.headNorm(d.heads(w, y, l, "k_proj"), weight, "self_attn.k_norm.weight"), at)
		v := d.heads(w, y, l, "v_proj")
		if cache != nil {
			k, v = put(cache[2*(l-from)], k, at), put(cache[2*(l-from)+1], v, at)
		}
		if last != nil && l == to-1 {
			x, y, queries = pick(x, last), pick(y, last), last
		}
		q := d.rotate(d.headNorm(d.heads(w, y, l, "q_proj"), weight, "self_attn.q_norm.weight"), queries)
		x = graph.Add(x, d.linear(w, d.attend(q, k, v, queries), projection(l, "o_proj")))
		y = d.norm(x, weight("post_attention_layernorm.weight"))
		gate := graph.ConvertDType(d.linear(w, y, projection(l, "gate_proj")), dtypes.Float32)
		gate = graph.ConvertDType(graph.Mul(gate, graph.Logistic(gate)), d.Compute)
		x = graph.Add(x, d.linear(w, graph.Mul(gate, d.linear(w, y, projection(l, "up_proj"))), projection(l, "down_proj")))
		written = append(written, k, v)
	}
	if d.Checkpoint && to > from {
		x = x.StopCheckpoint()
	}
	return x, written
}

// norm divides the last axis by its root mean square and scales it.
func (d Decoder) norm(x, scale *graph.Node) *graph.Node {
	f := graph.ConvertDType(x, dtypes.Float32)
	// graph.Reciprocal(Sqrt) instead of Rsqrt, which has no gradient.
	f = graph.Mul(f, graph.Reciprocal(graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(f), graph.ReduceMean, -1), d.Config.Epsilon))))
	return graph.ConvertDType(graph.Mul(f, graph.ExpandLeftToRank(graph.ConvertDType(scale, dtypes.Float32), x.Rank())), d.Compute)
}

// headNorm is the norm of Qwen3 on each head of queries and keys.
func (d Decoder) headNorm(x *graph.Node, weight Weights, name string) *graph.Node {
	if d.Config.Arch != "qwen3" {
		return x
	}
	return d.norm(x, weight(name))
}

// product is x [..,in] times w [out,in].
func (d Decoder) product(x, w *graph.Node) *graph.Node {
	return graph.DotGeneral(graph.ConvertDType(x, d.Compute), []int{x.Rank() - 1}, nil, graph.ConvertDType(w, d.Compute), []int{1}, nil)
}

// linear is a projection with its adapter.
func (d Decoder) linear(w Weights, x *graph.Node, name string) *graph.Node {
	y := d.product(x, w(name+".weight"))
	if d.LoRA.adapts(name) {
		low := d.product(d.product(x, w(name+loraA)), w(name+loraB))
		y = graph.Add(y, graph.MulScalar(low, d.LoRA.Scale))
	}
	return y
}

// heads projects x [B,T,D] to [B,T,heads,HeadDim].
func (d Decoder) heads(w Weights, x *graph.Node, layer int, name string) *graph.Node {
	y := d.linear(w, x, projection(layer, name))
	return graph.Reshape(y, y.Shape().Dim(0), y.Shape().Dim(1), y.Shape().Dim(2)/d.Config.HeadDim, d.Config.HeadDim)
}

// rotate turns the pairs (i, i+HeadDim/2) of x [B,T,heads,HeadDim] by at [1 or B,T] times Theta^(-2i/HeadDim).
func (d Decoder) rotate(x, at *graph.Node) *graph.Node {
	half := d.Config.HeadDim / 2
	speed := make([]float32, half)
	for i := range speed {
		speed[i] = float32(1 / math.Pow(d.Config.Theta, float64(2*i)/float64(d.Config.HeadDim)))
	}
	angle := graph.Mul(graph.ExpandAxes(graph.ConvertDType(at, dtypes.Float32), 2, 3), graph.Reshape(graph.Const(x.Graph(), speed), 1, 1, 1, half))
	sin, cos := graph.Sin(angle), graph.Cos(angle)
	f := graph.ConvertDType(x, dtypes.Float32)
	all := graph.AxisRange()
	a, b := graph.Slice(f, all, all, all, graph.AxisRange(0, half)), graph.Slice(f, all, all, all, graph.AxisRange(half))
	return graph.ConvertDType(graph.Concatenate([]*graph.Node{graph.Sub(graph.Mul(a, cos), graph.Mul(b, sin)), graph.Add(graph.Mul(b, cos), graph.Mul(a, sin))}, -1), d.Compute)
}

// attend mixes values v [B,S,KVHeads,HeadDim] by the softmax of queries q [B,T,Heads,HeadDim] with keys k, each query at its position
// seeing the keys up to it. It returns [B,T,Heads*HeadDim].
func (d Decoder) attend(q, k, v, at *graph.Node) *graph.Node {
	b, t, s := q.Shape().Dim(0), q.Shape().Dim(1), k.Shape().Dim(1)
	kv, hd := d.Config.KVHeads, d.Config.HeadDim
	q = graph.Reshape(q, b, t, kv, d.Config.Heads/kv, hd)
	scores := graph.Transpose(graph.DotGeneral(q, []int{4}, []int{0, 2}, k, []int{3}, []int{0, 2}), 2, 3) // [B,KV,group,T,S]
	scores = graph.MulScalar(graph.ConvertDType(scores, dtypes.Float32), 1/math.Sqrt(float64(hd)))
	seen := graph.LessOrEqual(graph.Iota(q.Graph(), shapes.Make(dtypes.Int32, 1, 1, 1, 1, s), 4), graph.ExpandAxes(at, 1, 2, 4))
	seen = graph.BroadcastToShape(seen, shapes.Make(dtypes.Bool, scores.Shape().Dimensions...))
	share := graph.ConvertDType(graph.Softmax(graph.Where(seen, scores, graph.Scalar(q.Graph(), dtypes.Float32, -1e30)), -1), d.Compute)
	mixed := graph.DotGeneral(share, []int{4}, []int{0, 1}, v, []int{1}, []int{0, 2}) // [B,KV,group,T,HeadDim]
	return graph.Reshape(graph.TransposeAllAxes(mixed, 0, 3, 1, 2, 4), b, t, d.Config.Heads*hd)
}

// slot is 1 at position at [B,1] of n, else 0: [B,n].
func slot(at *graph.Node, n int, dtype dtypes.DType) *graph.Node {
	b := at.Shape().Dim(0)
	return graph.ConvertDType(graph.Equal(graph.Iota(at.Graph(), shapes.Make(dtypes.Int32, b, n), 1), graph.BroadcastToDims(at, b, n)), dtype)
}

// pick returns positions at [B,K] of x [B,T,D]: [B,K,D].
func pick(x, at *graph.Node) *graph.Node {
	places := graph.Iota(at.Graph(), shapes.Make(dtypes.Int32, 1, 1, x.Shape().Dim(1)), 2)
	there := graph.Equal(graph.BroadcastToDims(places, at.Shape().Dim(0), at.Shape().Dim(1), x.Shape().Dim(1)), graph.BroadcastToDims(graph.ExpandAxes(at, -1), at.Shape().Dim(0), at.Shape().Dim(1), x.Shape().Dim(1)))
	return graph.DotGeneral(graph.ConvertDType(there, x.DType()), []int{2}, []int{0}, x, []int{1}, []int{0})
}

// put puts a row [B,1,heads,HeadDim] at position at [B,1] of a cache [B,S,heads,HeadDim]. The Go backend has no update in place.
func put(cache, row, at *graph.Node) *graph.Node {
	here := graph.ExpandAxes(slot(at, cache.Shape().Dim(1), dtypes.Bool), 2, 3)
	return graph.Where(graph.BroadcastToShape(here, shapes.Make(dtypes.Bool, cache.Shape().Dimensions...)), graph.BroadcastToShape(row, cache.Shape()), cache)
}
