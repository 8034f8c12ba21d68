package parallel

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// ending is a context that counts how often it is looked at and has ended after so many looks.
type ending struct {
	context.Context
	looks atomic.Int64
	most  int64
}

func (e *ending) Err() error {
	if e.looks.Add(1) > e.most {
		return context.Canceled
	}
	return nil
}

func TestWhatIsDoneInParallelStopsWithItsContext(t *testing.T) {
	ctx := &ending{Context: t.Context(), most: 10}
	var done atomic.Int64
	if _, err := Map(ctx, 1000, func(int) int64 { return done.Add(1) }); !errors.Is(err, context.Canceled) || done.Load() != 10 {
		t.Errorf("%d calls after 10 looks, %v", done.Load(), err)
	}
}
