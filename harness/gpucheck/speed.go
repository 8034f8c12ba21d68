// How fast a backend trains, beside how fast it multiplies.

package gpucheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/workload"
)

// Speed is what a training step takes.
type Speed struct {
	First  time.Duration // the first step, compilation and making of the weights included
	Step   time.Duration // median of the steps after the second
	Tokens float64       // a second, padding included
	Rate   float64       // floating point operations a second, those of workload.Step.Products
}

// Measure carries a step out twice and then n times more.
func Measure(ctx context.Context, backend policy.Backend, step workload.Step, n int) (Speed, error) {
	t, err := workload.NewLarge(backend, step)
	if err != nil {
		return Speed{}, err
	}
	defer t.Close()
	var s Speed
	var times []time.Duration
	for i := range n + 2 {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		start := time.Now()
		if _, err := t.Run(); err != nil {
			return s, err
		}
		switch took := time.Since(start); {
		case i == 0:
			s.First = took
		case i > 1:
			times = append(times, took)
		}
	}
	slices.Sort(times)
	s.Step = times[len(times)/2]
	s.Tokens = float64(step.B*step.T) / s.Step.Seconds()
	s.Rate = step.Products() / s.Step.Seconds()
	return s, nil
}

// Peak is the highest rate at which a backend multiplies square matrices.
type Peak struct {
	Type string  // of the elements, as lm.Decoder.Compute prints it
	Rate float64 // floating point operations a second
}

// Peaks measures float32 and bfloat16.
func Peaks(ctx context.Context, backend policy.Backend) ([]Peak, error) {
	var found []Peak
	for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.BFloat16} {
		rate, err := peak(ctx, backend, dtype)
		if err != nil {
			return nil, err
		}
		found = append(found, Peak{dtype.String(), rate})
	}
	return found, nil
}

// chain is how many products peak puts into one program, so that starting it does not count.
const chain = 8

// peak doubles matrices from 512 rows up to 8192 while a program stays below a quarter of a second, five tries each.
func peak(ctx context.Context, backend policy.Backend, dtype dtypes.DType) (float64, error) {
	best := 0.0
	for rows := 512; rows <= 8192; rows *= 2 {
		took, err := multiply(ctx, backend, dtype, rows)
		if err != nil {
			return 0, fmt.Errorf("products of %d rows in %s: %w", rows, dtype, err)
		}
		best = max(best, chain*2*float64(rows)*float64(rows)*float64(rows)/took.Seconds())
		if took > 250*time.Millisecond {
			break
		}
	}
	return best, nil
}

// multiply returns the shortest time of a chain of products.
func multiply(ctx context.Context, backend policy.Backend, dtype dtypes.DType, rows int) (time.Duration, error) {
	of := func(g *graph.Graph, scale float64) *graph.Node {
		f := shapes.Make(dtypes.Float32, rows, rows)
		phase := graph.Add(graph.MulScalar(graph.Iota(g, f, 0), 12.9898), graph.MulScalar(graph.Iota(g, f, 1), 78.233))
		return graph.ConvertDType(graph.MulScalar(graph.Sin(phase), scale), dtype)
	}
	made, err := graph.NewExec(backend, func(g *graph.Graph) *graph.Node { return of(g, 1/float64(rows)) })
	if err != nil {
		return 0, err
	}
	defer made.Finalize()
	product, err := graph.NewExec(backend, func(x *graph.Node) *graph.Node {
		y := x
		for range chain {
			y = graph.DotGeneral(y, []int{1}, nil, x, []int{0}, nil)
		}
		return graph.ReduceAllMax(graph.ConvertDType(y, dtypes.Float32))
	})
	if err != nil {
		return 0, err
	}
	defer product.Finalize()
	x, err := made.Call1()
	if err != nil {
		return 0, err
	}
	defer x.FinalizeAll()
	best := time.Duration(0)
	for i := range 6 { // the first one compiles
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		start := time.Now()
		out, err := product.Call1(x)
		if err != nil {
			return 0, err
		}
		if _, err := tensors.CopyFlatData[float32](out); err != nil {
			return 0, err
		}
		if took := time.Since(start); i == 1 || i > 1 && took < best {
			best = took
		}
		if err := out.FinalizeAll(); err != nil {
			return 0, err
		}
	}
	return best, nil
}
