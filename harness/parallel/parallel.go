// Package parallel computes the same of many things on all cores.
package parallel

import (
	"context"
	"runtime"
	"sync"

	"github.com/entrorouter/entrorouter/harness/crash"
)

// Map calls f for every i below n on all cores and returns the results in order, or the error of ctx when it ends before.
func Map[T any](ctx context.Context, n int, f func(i int) T) ([]T, error) {
	out := make([]T, n)
	workers := min(n, runtime.GOMAXPROCS(0))
	var g sync.WaitGroup
	for w := range workers {
		g.Go(func() {
			defer crash.Exit()
			for i := w; i < n && ctx.Err() == nil; i += workers {
				out[i] = f(i)
			}
		})
	}
	g.Wait()
	return out, ctx.Err()
}
