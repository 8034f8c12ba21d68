package gpucheck

import (
	"testing"

	"github.com/gomlx/compute/dtypes"

	"github.com/entrorouter/entrorouter/harness/internal/xlatest"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/workload"
)

// A training step of all weights of a small decoder in float32, beside the fastest products of the same backend. With
// GOEXPERIMENT=simd the Go backend computes with vector instructions; XLA is that of 'make xla-cpu'.
func BenchmarkTrainingStep(b *testing.B) {
	step := workload.Step{Decoder: lm.Decoder{Compute: dtypes.Float32, Config: lm.Config{
		Arch: "qwen3", Stored: safetensors.F32, Vocab: 2048, Hidden: 128, Inner: 384, Layers: 4, Heads: 4, KVHeads: 2, HeadDim: 32,
		Epsilon: 1e-6, Theta: 1e6, Tied: true,
	}}, B: 4, T: 128}
	for _, on := range []struct {
		name string
		open func(*testing.B) policy.Backend
	}{
		{"go" + policy.Numerics, func(b *testing.B) policy.Backend {
			backend, err := policy.OpenBackend("go")
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(backend.Finalize)
			return backend
		}},
		{"xla", func(b *testing.B) policy.Backend { return xlatest.Backend(b) }},
	} {
		b.Run(on.name, func(b *testing.B) {
			backend := on.open(b)
			fastest, err := peak(b.Context(), backend, step.Decoder.Compute)
			if err != nil {
				b.Fatal(err)
			}
			trainer, err := workload.NewLarge(backend, step)
			if err != nil {
				b.Fatal(err)
			}
			defer trainer.Close()
			for range 2 { // what is compiled, and the first step on it
				if _, err := trainer.Run(); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if _, err := trainer.Run(); err != nil {
					b.Fatal(err)
				}
			}
			again, err := peak(b.Context(), backend, step.Decoder.Compute) // others may have wanted the machine meanwhile
			if err != nil {
				b.Fatal(err)
			}
			fastest = max(fastest, again)
			seconds := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(float64(step.B*step.T)/seconds, "tokens/s")
			b.ReportMetric(fastest/1e9, "peak-GFLOP/s")
			b.ReportMetric(100*step.Products()/seconds/fastest, "peak-%")
		})
	}
}
