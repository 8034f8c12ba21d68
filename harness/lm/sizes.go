// The weights of a decoder by name and shape, for those who have none of them.

package lm

import "slices"

// Projections returns the names of the products of a layer that adapters may change, as Hugging Face has them.
func Projections() []string { return slices.Clone(projections) }

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
		for _, p := range projections {
			if name := projection(l, p); d.LoRA.adapts(name) {
				dims := d.Config.shape(p)
				all = append(all, Size{name + loraA, []int{d.LoRA.Rank, dims[1]}}, Size{name + loraB, []int{dims[0], d.LoRA.Rank}})
			}
		}
	}
	return all
}
