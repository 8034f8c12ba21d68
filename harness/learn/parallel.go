// What is computed at the same time.

package learn

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/entrorouter/entrorouter/harness/crash"
)

// each calls f for every index of in at the same time and returns the results in order.
func each[T any](in []T, f func(i int) (T, error)) ([]T, error) {
	out := make([]T, len(in))
	var g errgroup.Group
	for i := range in {
		g.Go(func() (err error) {
			defer crash.Exit()
			out[i], err = f(i)
			return err
		})
	}
	return out, g.Wait()
}

// InParallel calls f for every i below n on all cores and returns the results in order, or the error of ctx when it ends before.
func InParallel[T any](ctx context.Context, n int, f func(i int) T) ([]T, error) {
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
