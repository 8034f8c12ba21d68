// The weights of a decoder by name and shape, and a policy of them, for those who have none of them.

package lm

import (
	"errors"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

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
		return readConfig(of.Folder)
	}
	fresh, err := open(of)
	if err != nil {
		return Config{}, err
	}
	return fresh.Config, fresh.Close()
}

// Shares says what a policy does with the weights of its model.
type Shares struct {
	Trained         int64 // weights that are trained, adapters among them
	FrozenBytes     int64 // of all others, as they are kept
	TrainedProducts int64 // of those trained, in products of layers: each token meets each once forward and twice backward
	PassedProducts  int64 // frozen, in layers that gradients go through
	ReadProducts    int64 // frozen, in layers below all that is trained, which a text goes through once
}

// Shares returns them for a policy that chooses among so many by their letters.
func (c Config) Shares(cfg spec.Policy, choices int) (s Shares) {
	first := 0 // the lowest layer that gradients go through
	switch tune := cfg.Tune; {
	case tune.Last > 0:
		first = max(0, c.Layers-tune.Last)
	case tune.Part == "head":
		first = c.Layers
	}
	if first > 0 {
		s.Trained = int64(choices) * int64(c.Hidden)
		if first < c.Layers {
			s.Trained += int64(c.Hidden) // the norm behind them
		}
	}
	width := int64(4)
	if c.Stored == safetensors.BF16 {
		width = 2
	}
	for _, t := range c.Sizes() {
		n := int64(size(t.Dims))
		layer, inside := inLayer(t.Name)
		trained := cfg.Tune.Part == "full" || cfg.Tune.LoRA == nil && inside && layer >= first
		switch {
		case trained:
			s.Trained += n
		default:
			s.FrozenBytes += width * n
		}
		switch product := inside && !t.norm(); {
		case !product:
		case trained:
			s.TrainedProducts += n
		case layer >= first:
			s.PassedProducts += n
		default:
			s.ReadProducts += n
		}
	}
	for _, a := range (Decoder{Config: c, LoRA: decoderOf(c, cfg).LoRA}).AdapterSizes() {
		s.Trained += int64(size(a.Dims))
		s.TrainedProducts += int64(size(a.Dims))
	}
	return s
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
