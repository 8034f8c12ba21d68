// The weights of a decoder by name and shape, for those who have none of them.

package lm

import "github.com/entrorouter/entrorouter/harness/spec"

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
