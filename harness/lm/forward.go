// What a language model reads as a policy, and what it computes of it.

package lm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
)

// Encode implements policy.Policy. A prompt of more tokens than the spec allows is an error that shows the problem's beginning.
func (p *Policy) Encode(ctx context.Context, texts []string) ([]policy.Row, error) {
	rows, tokens := make([]policy.Row, len(texts)), make([][]int32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		if tokens[i], err = p.vocabulary.Chat(p.system, text); err != nil {
			return nil, fmt.Errorf("lm policy: problem %q: %w", beginning(text), err)
		}
		if n := len(tokens[i]); n > p.record.Policy.MaxTokens {
			return nil, fmt.Errorf("lm policy: the prompt of problem %q has %d tokens; policy.max_tokens is %d", beginning(text), n, p.record.Policy.MaxTokens)
		}
		if err := p.base.embeds(fmt.Sprintf("the prompt of problem %q", beginning(text)), tokens[i]...); err != nil {
			return nil, fmt.Errorf("lm policy: %w", err)
		}
		rows[i].IDs = tokens[i]
	}
	if p.trunk == nil {
		return rows, nil
	}
	states, err := p.trunk.states(ctx, tokens)
	if err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	for i := range rows {
		rows[i].Values = states[i]
	}
	return rows, nil
}

// beginning is enough of a text to find it by.
func beginning(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:80]) + "..."
	}
	return text
}

// Inputs implements policy.Policy: hidden states [size,D] for tune head; else hidden states [size,T,D] or tokens [size,T], and
// lengths [size]; where the policy writes those of the prompts, and what was written [size,W], too. T is a bucket of lengths. Rows
// behind the last one are texts of one token.
func (p *Policy) Inputs(rows []policy.Row, size int) ([]*tensors.Tensor, error) {
	d, longest := p.base.Config.Hidden, 1
	for i, row := range rows {
		want := 0
		switch {
		case p.head():
			want = d
		case p.trunk != nil:
			want = len(row.IDs) * d
		}
		if len(row.IDs) == 0 || len(row.Values) != want {
			return nil, fmt.Errorf("lm policy: row %d has %d tokens and %d values, not %d; encode texts with this policy", i, len(row.IDs), len(row.Values), want)
		}
		for _, id := range slices.Concat(row.IDs, row.Written) {
			if id < 0 || int(id) >= p.base.Config.Vocab {
				return nil, fmt.Errorf("lm policy: row %d has token %d of %d; encode texts with this policy, and have none but its model write", i, id, p.base.Config.Vocab)
			}
		}
		longest = max(longest, len(row.IDs)+len(row.Written))
	}
	if p.Writes() {
		return p.writtenInputs(rows, size, bucket(longest))
	}
	if p.head() {
		x := make([]float32, size*d)
		for i, row := range rows {
			copy(x[i*d:], row.Values)
		}
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, size, d)}, nil
	}
	width, lengths, texts := bucket(longest), slices.Repeat([]int32{1}, size), make([][]int32, size)
	for i, row := range rows {
		lengths[i], texts[i] = int32(len(row.IDs)), row.IDs
	}
	length := tensors.FromFlatDataAndDimensions(lengths, size)
	if p.trunk == nil {
		return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(pad(texts, width), size, width), length}, nil
	}
	x := make([]float32, size*width*d)
	for i, row := range rows {
		copy(x[i*width*d:], row.Values)
	}
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, size, width, d), length}, nil
}

// Forward implements policy.Policy. dropout acts on the last hidden state.
func (p *Policy) Forward(scope *model.Scope, inputs []*graph.Node, dropout float64) policy.Outputs {
	g, x := inputs[0].Graph(), inputs[0]
	w := weightsIn(scope, g)
	if p.Writes() {
		return p.forwardWritten(scope, w, inputs, dropout)
	}
	if !p.head() {
		if p.trunk == nil {
			x = p.decoder.Embed(w, x)
		}
		x = p.decoder.Last(w, graph.ConvertDType(x, p.decoder.Compute), p.from, inputs[1])
	}
	x = layers.DropoutStatic(scope, x, dropout)
	return policy.Outputs{Choice: p.choice(w, x)}
}
