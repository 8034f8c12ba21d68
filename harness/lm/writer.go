// The language model as a policy that writes a paragraph before it chooses.

package lm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// lineBreak returns the token of a line break, which ends a paragraph.
func lineBreak(v Vocabulary) (int32, error) {
	tokens, err := v.Encode("\n")
	if err == nil && len(tokens) != 1 {
		err = fmt.Errorf("a line break is %d tokens of the vocabulary; a rationale ends with one token, so take a model whose vocabulary has it", len(tokens))
	}
	if err != nil {
		return 0, err
	}
	return tokens[0], nil
}

// Compose implements policy.Writer. The policy could have written no text that has the token of a line break in it, behind which it chooses.
func (p *Policy) Compose(text string) (tokens []int32, err error) {
	if tokens, err = p.vocabulary.Encode(text); err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	tokens = append(tokens, p.end)
	if most := p.record.Policy.Writes.Tokens; len(tokens) > most || slices.Contains(tokens[:len(tokens)-1], p.end) {
		return nil, nil
	}
	return tokens, nil
}

// Bound returns the token that ends a text, and how many tokens a text has at most: in training, or when it routes, which is greedy.
func (p *Policy) Bound(greedy bool) (end int32, most int) {
	if greedy {
		return p.end, p.record.Policy.Writes.AtTest()
	}
	return p.end, p.record.Policy.Writes.Tokens
}

// Write implements policy.Writer. It writes until a line break, or until the bound.
func (p *Policy) Write(ctx context.Context, m *policy.Model, ids []string, rows []policy.Row, n int, greedy bool, s seed.Seed) ([]policy.Row, error) {
	_, most := p.Bound(greedy)
	net := &Network{Decoder: p.decoder, backend: m.Backend(), store: m.Store(), scope: m.Scope()}
	net.Checkpoint = false
	g, err := net.generator(most, []int32{p.end})
	if err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	defer g.close()
	var written []policy.Row
	for _, row := range rows {
		written = append(written, slices.Repeat([]policy.Row{{IDs: row.IDs}}, n)...)
	}
	sizes := p.Sizes()
	for from := 0; from < len(written); {
		size := sizes[len(sizes)-1]
		for _, x := range sizes {
			if x >= len(written)-from {
				size = x
				break
			}
		}
		part := written[from:min(from+size, len(written))]
		prompts, longest := make([][]int32, size), 1
		for k := range prompts {
			prompts[k] = []int32{p.end} // behind the last row
			if k < len(part) {
				prompts[k] = part[k].IDs
			}
			longest = max(longest, len(prompts[k]))
		}
		choose := func(_ int, scores []float32) int32 { return argmax(scores) }
		if !greedy {
			streams := make([]interface{ Float64() float64 }, size)
			for k := range streams {
				at := from + k
				streams[k] = s.Derive("write", ids[min(at/n, len(ids)-1)], at%n, at/n).Rand()
			}
			choose = func(text int, scores []float32) int32 { return sampled(scores, streams[text].Float64()) }
		}
		texts, err := g.texts(ctx, prompts, bucket(longest), nil, func(text int, scores []float32) int32 {
			if text >= len(part) {
				return p.end
			}
			return choose(text, scores)
		})
		if err != nil {
			return nil, fmt.Errorf("lm policy: %w", err)
		}
		for k := range part {
			part[k].Written = texts[k]
			part[k].Cut = texts[k][len(texts[k])-1] != p.end
		}
		from += len(part)
	}
	return written, nil
}

// sampled is the token at which the cumulative softmax of scores passes u in [0,1).
func sampled(scores []float32, u float64) int32 {
	top := math.Inf(-1)
	for _, s := range scores {
		top = max(top, float64(s))
	}
	var all float64
	for _, s := range scores {
		all += math.Exp(float64(s) - top)
	}
	var sum float64
	for i, s := range scores {
		if sum += math.Exp(float64(s)-top) / all; u < sum {
			return int32(i)
		}
	}
	return argmax(scores) // rounding left the sum a little below 1
}

// writtenInputs are the tokens [size,T] of prompts and what was written behind them, the lengths [size] of both together and of the
// prompts, and what was written [size,W]. W is the bound of training, or of the test where a row is longer, and T at most: so that
// short texts cost little and a width has few.
func (p *Policy) writtenInputs(rows []policy.Row, size, width int) ([]*tensors.Tensor, error) {
	most := p.record.Policy.Writes.Tokens
	lengths, prompts := slices.Repeat([]int32{1}, size), slices.Repeat([]int32{1}, size)
	texts, written := make([][]int32, size), make([][]int32, size)
	for i, row := range rows {
		texts[i], written[i] = slices.Concat(row.IDs, row.Written), row.Written
		lengths[i], prompts[i] = int32(len(texts[i])), int32(len(row.IDs))
		if len(row.Written) > most {
			most = p.record.Policy.Writes.AtTest()
		}
		if len(row.Written) > most {
			return nil, fmt.Errorf("lm policy: row %d has %d written tokens; policy.writes allows %d", i, len(row.Written), most)
		}
	}
	most = min(most, width)
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(pad(texts, width), size, width),
		tensors.FromFlatDataAndDimensions(lengths, size),
		tensors.FromFlatDataAndDimensions(prompts, size),
		tensors.FromFlatDataAndDimensions(pad(written, most), size, most),
	}, nil
}

// forwardWritten is Forward on the inputs of writtenInputs. A written token's log-probability is that among the whole vocabulary,
// given the prompt and what was written before it.
func (p *Policy) forwardWritten(scope *model.Scope, w Weights, inputs []*graph.Node, dropout float64) policy.Outputs {
	tokens, lengths, prompts, written := inputs[0], inputs[1], inputs[2], inputs[3]
	g, b, t, most := tokens.Graph(), tokens.Shape().Dim(0), tokens.Shape().Dim(1), written.Shape().Dim(1)
	d := p.decoder
	// The last layer is computed at the positions before each written token, and at that of the last token of all.
	place := graph.Iota(g, shapes.Make(dtypes.Int32, b, most), 1)
	at := graph.MinScalar(graph.Concatenate([]*graph.Node{
		graph.Add(place, graph.AddScalar(graph.Reshape(prompts, b, 1), -1)),
		graph.AddScalar(graph.Reshape(lengths, b, 1), -1),
	}, 1), float64(t-1))
	x, _ := d.run(w, d.Embed(w, tokens), 0, d.Config.Layers, nil, at, nil) // [B,W+1,D]
	x = layers.DropoutStatic(scope, d.Norm(w, x), dropout)
	all := graph.AxisRange()
	before := graph.Slice(x, all, graph.AxisRange(0, most))
	last := graph.Reshape(graph.Slice(x, all, graph.AxisRange(most)), b, d.Config.Hidden)
	scores := d.Logits(w, before, nil) // [B,W,V]
	head := graph.Gather(w(d.Config.headWeight()), graph.ExpandAxes(written, -1))
	own := graph.ReduceSum(graph.Mul(graph.ConvertDType(before, dtypes.Float32), graph.ConvertDType(head, dtypes.Float32)), -1)
	top := graph.StopGradient(graph.ReduceAndKeep(scores, graph.ReduceMax, -1))
	sum := graph.Log(graph.ReduceSum(graph.Exp(graph.Sub(scores, top)), -1))
	mask := graph.LessThan(place, graph.Reshape(graph.Sub(lengths, prompts), b, 1))
	return policy.Outputs{
		Choice:  p.choice(w, last),
		Written: graph.Sub(own, graph.Add(sum, graph.Squeeze(top, -1))),
		Mask:    graph.ConvertDType(mask, dtypes.Float32),
	}
}
