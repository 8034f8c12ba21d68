// The language model as a policy.

package lm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// kind is what specs and checkpoints call the policy.
const kind = "lm"

// Policy reads the pool and a problem as a conversation and chooses an expert by the score of its label as the first token
// of the answer: the last hidden state times the rows of the head that belong to the labels. With rationale cot the answer begins
// with a paragraph that the policy writes, and the label is the first token of the next line.
//
// Layers below the first trained one are run once a text (tune head and last); rows then hold hidden states in Values,
// and tokens in IDs for all tunings.
type Policy struct {
	record     record
	base       *Base
	decoder    Decoder
	vocabulary Vocabulary
	system     string
	labels     []int32
	from       int    // the first layer that is computed with the policy's weights; one more than there are: none
	trunk      *trunk // what is below; nil: nothing
	end        int32  // the token that ends what it writes: a line break
}

// record is what a checkpoint holds beside the trained weights.
type record struct {
	Policy  spec.Policy `json:"policy"`
	Experts []Expert    `json:"experts"`
	Digest  string      `json:"sha256"` // of the model it starts from, and of the prompt
}

// New builds the policy that a spec describes for a pool, cheapest first.
func (m *Models) New(backend policy.Backend, cfg spec.Policy, experts []Expert) (*Policy, error) {
	p, err := m.build(backend, record{Policy: cfg, Experts: slices.Clone(experts)})
	if err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	return p, nil
}

// Read returns the policy of what Config returns, as JSON. Another model in the folder it names is an error.
func (m *Models) Read(backend policy.Backend, raw []byte) (*Policy, error) {
	var s record
	err := policy.ReadConfig(raw, &s)
	var p *Policy
	if err == nil {
		p, err = m.build(backend, s)
	}
	if err == nil && p.record.Digest != s.Digest {
		err = fmt.Errorf("it was trained from a model or a prompt with sha256 %s, the one that is here has %s; bring back the former or train again", s.Digest, p.record.Digest)
	}
	if err != nil {
		return nil, fmt.Errorf("lm policy: %w", err)
	}
	return p, nil
}

func (m *Models) build(backend policy.Backend, s record) (*Policy, error) {
	if s.Policy.Kind != kind {
		return nil, fmt.Errorf("policy.kind is %q; this is a policy of kind %s", s.Policy.Kind, kind)
	}
	if knob, fault := s.Policy.Check(); fault != "" {
		return nil, fmt.Errorf("policy%s: %s", knob, fault)
	}
	if len(s.Experts) < 2 {
		return nil, fmt.Errorf("%d experts; a router needs at least 2", len(s.Experts))
	}
	base, err := m.base(*s.Policy.Model)
	if err != nil {
		return nil, err
	}
	if s.Digest, err = m.Digest(s.Policy); err != nil {
		return nil, err
	}
	if limit := base.Config.Position; limit > 0 && s.Policy.MaxTokens > limit {
		return nil, fmt.Errorf("max_tokens is %d; the model was made for texts of up to %d tokens", s.Policy.MaxTokens, limit)
	}
	p := &Policy{record: s, base: base, decoder: decoderOf(base.Config, s.Policy)}
	if p.vocabulary, err = base.vocabulary(); err != nil {
		return nil, err
	}
	if p.labels, err = labels(p.vocabulary, len(s.Experts)); err != nil {
		return nil, err
	}
	if p.system, err = instructions(s.Experts, p.Writes()); err != nil {
		return nil, err
	}
	if p.Writes() {
		if p.end, err = lineBreak(p.vocabulary); err != nil {
			return nil, err
		}
		if most := s.Policy.MaxTokens + s.Policy.Writes.AtTest(); base.Config.Position > 0 && most > base.Config.Position {
			return nil, fmt.Errorf("max_tokens and writes come to %d tokens; the model was made for texts of up to %d", most, base.Config.Position)
		}
	}
	switch tune := s.Policy.Tune; {
	case tune.Part == "full" || tune.LoRA != nil:
		return p, nil
	case tune.Last > base.Config.Layers:
		return nil, fmt.Errorf("policy.tune.last is %d; the model has %d layers", tune.Last, base.Config.Layers)
	case tune.Last > 0:
		p.from = base.Config.Layers - tune.Last
	default:
		p.from = base.Config.Layers + 1
	}
	p.trunk, err = m.trunk(backend, p.decoder, base, p.from)
	return p, err
}

// decoderOf is how a policy computes with a model of some sizes.
func decoderOf(c Config, p spec.Policy) Decoder {
	d := Decoder{Config: c, Compute: dtypes.Float32, Checkpoint: p.Checkpoint}
	if p.Compute == "bfloat16" {
		d.Compute = dtypes.BFloat16
	}
	if l := p.Tune.LoRA; l != nil {
		d.LoRA = &LoRA{Rank: l.R, Scale: l.Alpha / float64(l.R), Targets: l.Targets}
	}
	return d
}

// Kind implements policy.Policy.
func (p *Policy) Kind() string { return kind }

// Experts implements policy.Policy.
func (p *Policy) Experts() []string {
	ids := make([]string, len(p.record.Experts))
	for i, x := range p.record.Experts {
		ids[i] = x.ID
	}
	return ids
}

// Labels are the tokens that name the experts, in their order.
func (p *Policy) Labels() []int32 { return slices.Clone(p.labels) }

// Config implements policy.Policy.
func (p *Policy) Config() any { return p.record }

// labelHead is the name of the rows of the head that belong to the labels [M,D].
const labelHead = "label_head.weight"

// whole says whether the policy has every row of the head: all weights are trained, or it writes.
func (p *Policy) whole() bool { return p.record.Policy.Tune.Part == "full" || p.Writes() }

// head says whether nothing but a linear head is trained.
func (p *Policy) head() bool { return p.from > p.base.Config.Layers }

// Weights implements policy.Policy. They are called as in a Hugging Face folder, adapters as PEFT calls them; beside them are
// the labels' rows of the head, unless all weights are trained.
func (p *Policy) Weights() []policy.Weight {
	var weights []policy.Weight
	lora := p.decoder.LoRA
	for _, t := range p.base.Config.tensors() {
		layer, in := inLayer(t.name)
		switch {
		case p.trunk != nil && (in && layer < p.from || t.name == embedName) || p.head() && t.name == normName:
			continue // in the trunk
		case t.name == headName && !p.whole():
			continue // the labels' rows are enough
		case lora != nil:
			weights = append(weights, policy.Weight{Name: t.name, Dims: t.dims, Kept: p.base.kept(t), Frozen: func() (*tensors.Tensor, error) { return p.base.stored(t) }})
		default:
			weights = append(weights, policy.Weight{Name: t.name, Dims: t.dims, NoDecay: t.norm(), Start: func(_ seed.Seed, values []float32) error {
				from, err := p.base.values(t)
				copy(values, from)
				return err
			}})
		}
	}
	if lora != nil {
		for l := range p.base.Config.Layers {
			for _, target := range lora.Targets {
				name, dims := projection(l, target), p.base.Config.shape(target)
				weights = append(weights,
					// As PEFT draws them with init_lora_weights "gaussian".
					policy.Weight{Name: name + loraA, Dims: []int{lora.Rank, dims[1]}, Start: policy.Normal(1 / float64(lora.Rank))},
					policy.Weight{Name: name + loraB, Dims: []int{dims[0], lora.Rank}})
			}
		}
	}
	if p.whole() {
		return weights
	}
	rows := policy.Weight{Name: labelHead, Dims: []int{len(p.labels), p.base.Config.Hidden}}
	if p.head() {
		rows.Start = func(_ seed.Seed, values []float32) error {
			from, err := p.labelRows()
			copy(values, from)
			return err
		}
	} else {
		rows.Kept = dtypes.Float32
		rows.Frozen = func() (*tensors.Tensor, error) {
			values, err := p.labelRows()
			if err != nil {
				return nil, err
			}
			return tensors.FromFlatDataAndDimensions(values, rows.Dims...), nil
		}
	}
	return append(weights, rows)
}

// labelRows are the labels' rows of the model's head.
func (p *Policy) labelRows() ([]float32, error) {
	c := p.base.Config
	return p.base.rows(tensor{c.headWeight(), []int{c.Vocab, c.Hidden}}, p.labels)
}

// Sizes implements policy.Sized: rows of hidden states or tokens are large.
func (p *Policy) Sizes() []int { return []int{4, 32} }

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

// Tokens implements policy.Reader: the prompt, what was written, and the label.
func (p *Policy) Tokens(row policy.Row) (in, out int) { return len(row.IDs), len(row.Written) + 1 }

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
		for _, id := range row.IDs {
			if id < 0 || int(id) >= p.base.Config.Vocab {
				return nil, fmt.Errorf("lm policy: row %d has token %d of %d; encode texts with this policy", i, id, p.base.Config.Vocab)
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

// choice is the scores [B,M] of the labels after hidden states [B,D].
func (p *Policy) choice(w Weights, x *graph.Node) *graph.Node {
	var rows *graph.Node
	if p.whole() {
		rows = graph.Gather(w(p.base.Config.headWeight()), graph.ExpandAxes(graph.Const(x.Graph(), p.labels), -1))
	} else {
		rows = w(labelHead)
	}
	logits := p.decoder.Logits(w, x, rows)
	logits.AssertDims(-1, len(p.labels))
	return logits
}

var _ interface {
	policy.Policy
	policy.Sized
	policy.Reader
	policy.Writer
} = (*Policy)(nil)
