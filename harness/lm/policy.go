// The language model as a policy.

package lm

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

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
	for _, t := range p.base.Config.Sizes() {
		layer, in := inLayer(t.Name)
		switch {
		case p.trunk != nil && (in && layer < p.from || t.Name == embedName) || p.head() && t.Name == normName:
			continue // in the trunk
		case t.Name == headName && !p.whole():
			continue // the labels' rows are enough
		case lora != nil:
			weights = append(weights, policy.Weight{Name: t.Name, Dims: t.Dims, Kept: p.base.kept(t), Frozen: func() (*tensors.Tensor, error) { return p.base.stored(t) }})
		default:
			weights = append(weights, policy.Weight{Name: t.Name, Dims: t.Dims, NoDecay: t.norm(), Start: func(_ seed.Seed, values []float32) error {
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
	return p.base.rows(Size{c.headWeight(), []int{c.Vocab, c.Hidden}}, p.labels)
}

// Sizes implements policy.Sized: rows of hidden states or tokens are large.
func (p *Policy) Sizes() []int { return []int{4, 32} }

// Tokens implements policy.Reader: the prompt, what was written, and the label.
func (p *Policy) Tokens(row policy.Row) (in, out int) { return len(row.IDs), len(row.Written) + 1 }

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

// Writes implements policy.Writer.
func (p *Policy) Writes() bool { return p.record.Policy.Reasons() }
