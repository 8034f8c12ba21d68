package workload

import (
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
)

func tiny(t *testing.T, adapters *lm.LoRA) Step {
	t.Helper()
	config, err := Qwen3("tiny")
	if err != nil {
		t.Fatal(err)
	}
	return Step{Decoder: lm.Decoder{Config: config, Compute: dtypes.Float32, LoRA: adapters, Checkpoint: true}, B: 2, T: 8}
}

// A step trains what it says and nothing else, and the loss falls.
func TestAStepTrainsWhatItSays(t *testing.T) {
	backend, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	for _, adapters := range []*lm.LoRA{nil, Adapters()} {
		step := tiny(t, adapters)
		trainer, err := New(backend, step, 1)
		if err != nil {
			t.Fatal(err)
		}
		value := func(name string) []float32 {
			v, err := trainer.store.GetVariable("/" + name).Value()
			if err != nil {
				t.Fatal(err)
			}
			flat, err := tensors.CopyFlatData[float32](v)
			if err != nil {
				t.Fatal(err)
			}
			return flat
		}
		names := func(sizes []lm.Size) (all []string) {
			for _, s := range sizes {
				all = append(all, s.Name)
			}
			return all
		}
		network, added := names(step.Decoder.Config.Sizes()), names(step.Decoder.AdapterSizes())
		before := map[string][]float32{}
		for _, name := range append(network, added...) {
			before[name] = value(name)
		}
		first, err := trainer.Run()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(network, added...) {
			changed, want := !slices.Equal(before[name], value(name)), adapters == nil || slices.Contains(added, name)
			if changed != want {
				t.Errorf("adapters %v: %s changed: %v", adapters != nil, name, changed)
			}
		}
		for range 4 {
			later, err := trainer.Run()
			if err != nil || later.Loss >= first.Loss {
				t.Errorf("loss %v after %v, %v", later.Loss, first.Loss, err)
			}
		}
		trainer.Close()
	}
}

// The sizes of the published models, and their parameters as their cards round them.
func TestQwen3Sizes(t *testing.T) {
	for size, want := range map[string]float64{"0.6b": .596, "1.7b": 1.72, "4b": 4.02} {
		c, err := Qwen3(size)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(c.Parameters()) / 1e9; got < want-.005 || got > want+.005 {
			t.Errorf("%s has %.3f G parameters, want %v", size, got, want)
		}
	}
	if _, err := Qwen3("8b"); err == nil {
		t.Error("8b is known")
	}
}

// The count of a step by hand: two projections a layer of [64,64], two of [32,64], three of [192,64].
func TestProducts(t *testing.T) {
	const tokens, layers = 2 * 8, 2
	const weights = layers * (2*64*64 + 2*32*64 + 3*192*64)
	const attention = layers * 3 * 2 * 2 * tokens * 8 * 64
	if got := tiny(t, nil).Products(); got != 6*weights*tokens+attention {
		t.Errorf("all weights: %v", got)
	}
	if got := tiny(t, Adapters()).Products(); got != 4*weights*tokens+attention {
		t.Errorf("adapters: %v", got)
	}
}
