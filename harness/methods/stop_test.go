// A fit that is told to stop does.

package methods

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing/routingtest"
	"github.com/entrorouter/entrorouter/harness/stages"
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

func TestAFitLooksAtItsContextBetweenTwoTextsAndStopsWithIt(t *testing.T) {
	const problems = 80
	for _, name := range []string{"bag", "cluster", "difficulty", "entroplus", "entrorouter", "forc", "knn", "logistic", "routellm", "sft", "swranking"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try := func(most int64) (looks int64, err error) {
				ctx := &ending{Context: t.Context(), most: most}
				r, err := build(t, name, "").Fit(ctx, routingtest.Planted(problems), routingtest.Work(1))
				if c, ok := r.(*stages.Router); ok {
					c.Close()
				}
				return ctx.looks.Load(), err
			}
			all, err := try(math.MaxInt64)
			if err != nil {
				t.Fatal(err)
			}
			if all < problems {
				t.Errorf("a fit to %d texts looks at its context %d times", problems, all)
			}
			for _, most := range []int64{0, 1, problems / 2, all / 2, all - 1} {
				if _, err := try(most); !errors.Is(err, context.Canceled) {
					t.Errorf("a fit that was told to stop after %d of %d looks: %v", most, all, err)
				}
			}
		})
	}
}
