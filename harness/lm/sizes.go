// The weights of a decoder by name and shape, and a policy of them, for those who have none of them.

package lm

import (
	"errors"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Size is the name and the shape of a weight.
type Size struct {
	Name string
	Dims []int // [out,in] of a product, [V,D] of embedding and head, one axis of a norm
}

// Sizes lists the weights of the network, in the order in which a folder has them.
func (c Config) Sizes() []Size {
	var all []Size
	for _, t := range c.tensors() {
		all = append(all, Size{t.name, t.dims})
	}
	return all
}

// AdapterSizes lists the weights of the adapters; none without LoRA.
func (d Decoder) AdapterSizes() []Size {
	var all []Size
	for l := range d.Config.Layers {
		for _, p := range spec.Projections {
			if name := projection(l, p); d.LoRA.adapts(name) {
				dims := d.Config.shape(p)
				all = append(all, Size{name + loraA, []int{d.LoRA.Rank, dims[1]}}, Size{name + loraB, []int{dims[0], d.LoRA.Rank}})
			}
		}
	}
	return all
}

// ConfigOf returns the sizes of what a policy starts from. Of a folder it reads config.json alone.
func ConfigOf(of spec.LanguageModel) (Config, error) {
	if of.Folder != "" {
		return ReadConfig(of.Folder)
	}
	fresh, err := open(of)
	if err != nil {
		return Config{}, err
	}
	return fresh.Config, fresh.Close()
}

// Outline returns the policy that a spec describes, for a number of experts, of a model of some sizes without weights and without
// a vocabulary: it reads no text, and is for policy.Outline. The labels are the first tokens. Frozen layers are run once a
// text and are no part of a training step, so tune must be lora or full.
func Outline(c Config, cfg spec.Policy, experts int) (*Policy, error) {
	if cfg.Kind != kind {
		return nil, errors.New("a policy of kind " + cfg.Kind + " is no language model")
	}
	if cfg.Tune.LoRA == nil && cfg.Tune.Part != "full" {
		return nil, errors.New("its frozen layers are run once a text and are no part of a step; want tune lora or full")
	}
	p := &Policy{record: record{Policy: cfg}, base: &Base{Config: c}, decoder: decoderOf(c, cfg)}
	for i := range experts {
		p.record.Experts = append(p.record.Experts, Expert{ID: strconv.Itoa(i)})
		p.labels = append(p.labels, int32(i))
	}
	return p, nil
}

// Longest is a row of the longest prompt that the policy takes, of no text.
func (p *Policy) Longest() policy.Row {
	return policy.Row{IDs: make([]int32, p.record.Policy.MaxTokens)}
}
