// The tiny decoder on two backends.

package gpucheck

import (
	"context"
	"fmt"

	"github.com/gomlx/compute/dtypes"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/workload"
)

// What numbers may differ by, as a share. Two sound float32 backends stay below 7e-6 for eight steps. A bfloat16 has 8 bits
// (4e-3) and backends round to it at different places, which shows the least in the loss, a mean of all: XLA on the CPU comes to
// a third of what is allowed here in three steps.
const (
	float32Allowed         = 1e-5
	bfloat16AllowedLoss    = 1e-2
	bfloat16AllowedNorm    = 3e-2
	bfloat16AllowedLogProb = 1e-1
)

// Decoder trains a tiny Qwen3 on both backends from the same weights, for some steps each: all weights and adapters alone, in
// float32 and in bfloat16, where weights that are trained stay float32. It compares loss, norm of the gradients and log-probabilities of every step.
func Decoder(ctx context.Context, a, b policy.Backend, steps int) ([]Agreement, error) {
	config, err := workload.Qwen3("tiny")
	if err != nil {
		return nil, err
	}
	var found []Agreement
	for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.BFloat16} {
		for _, adapters := range []*lm.LoRA{nil, workload.Adapters()} {
			name := fmt.Sprintf("decoder, %s, all weights", dtype)
			config.Stored = safetensors.F32
			if dtype == dtypes.BFloat16 {
				config.Stored = safetensors.BF16
			}
			if adapters != nil {
				name = fmt.Sprintf("decoder, %s, adapters", dtype)
			}
			step := workload.Step{Decoder: lm.Decoder{Config: config, Compute: dtype, LoRA: adapters, Checkpoint: adapters != nil}, B: 4, T: 32}
			x, err := results(ctx, a, step, steps)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", name, a.Name(), err)
			}
			y, err := results(ctx, b, step, steps)
			if err != nil {
				return nil, fmt.Errorf("%s on %s: %w", name, b.Name(), err)
			}
			for _, what := range []struct {
				name     string
				bfloat16 float64
				of       func(workload.Result) []float64
			}{
				{"loss", bfloat16AllowedLoss, func(r workload.Result) []float64 { return []float64{r.Loss} }},
				{"gradient norm", bfloat16AllowedNorm, func(r workload.Result) []float64 { return []float64{r.Norm} }},
				{"log-probability", bfloat16AllowedLogProb, func(r workload.Result) []float64 { return float64s(r.LogProbs) }},
			} {
				allowed := float32Allowed
				if dtype == dtypes.BFloat16 {
					allowed = what.bfloat16
				}
				agreement, err := compare(name, what.name, series(x, what.of), series(y, what.of), allowed)
				if err != nil {
					return nil, err
				}
				found = append(found, agreement)
			}
		}
	}
	return found, nil
}

func results(ctx context.Context, backend policy.Backend, step workload.Step, steps int) ([]workload.Result, error) {
	t, err := workload.New(backend, step, seed.Derive("compare backends"))
	if err != nil {
		return nil, err
	}
	defer t.Close()
	var found []workload.Result
	for range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := t.Run()
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	return found, nil
}

// series puts what is compared of every step into a row.
func series[T any](steps []T, of func(T) []float64) []float64 {
	var all []float64
	for _, s := range steps {
		all = append(all, of(s)...)
	}
	return all
}

func float64s(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
