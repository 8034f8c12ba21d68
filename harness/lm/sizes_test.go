// Tests of what policies do with the weights of their models.

package lm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestSharesByHand(t *testing.T) {
	c := Config{Arch: "llama", Vocab: 100, Hidden: 8, Inner: 16, Layers: 3, Heads: 2, KVHeads: 1, HeadDim: 4, Tied: true, Stored: safetensors.BF16}
	const (
		products = 2*8*8 + 2*4*8 + 3*16*8 // of a layer: q and o, k and v, three of the inner part
		layer    = products + 2*8         // and two norms
		rest     = 100*8 + 8              // embedding and last norm
		choices  = 3
		adapters = 2 * (8 + 8) // of q: A [2,8] and B [8,2]
	)
	for _, k := range []struct {
		tune spec.Tune
		want Shares
	}{
		{spec.Tune{Part: "full"}, Shares{Trained: 3*layer + rest, TrainedProducts: 3 * products}},
		{spec.Tune{Part: "head"}, Shares{Trained: choices * 8, FrozenBytes: 2 * (3*layer + rest), ReadProducts: 3 * products}},
		{spec.Tune{Last: 1}, Shares{Trained: layer + 8 + choices*8, FrozenBytes: 2 * (2*layer + rest), TrainedProducts: products, ReadProducts: 2 * products}},
		{spec.Tune{LoRA: &spec.LoRA{R: 2, Alpha: 4, Targets: []string{"q_proj"}}}, Shares{Trained: 3 * adapters, FrozenBytes: 2 * (3*layer + rest), TrainedProducts: 3 * adapters, PassedProducts: 3 * products}},
	} {
		if diff := cmp.Diff(k.want, c.Shares(spec.Policy{Tune: &k.tune}, choices)); diff != "" {
			t.Errorf("%+v: %s", k.tune, diff)
		}
	}
}
