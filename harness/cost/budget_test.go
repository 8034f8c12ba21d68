package cost

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// While what is in flight would spend the rest, at the mean of what ended, the next request waits; one that is dropped while it waits is none.
func TestARequestWaitsForWhatMaySpendTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		budget *Budget
		end    func(b *Budget, percent int64) // a request ends that was billed so much of the budget
		spent  string
	}{
		"dollars": {&Budget{USD: 1}, func(b *Budget, percent int64) { b.End(Usage{In: 7, Out: 9}, float64(percent)/100) }, "1 of 1 dollars"},
		"tokens":  {&Budget{Tokens: 100}, func(b *Budget, percent int64) { b.End(Usage{In: 10, Out: percent - 10}, 3) }, "100 of 100 tokens"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := c.budget
			begin := func(ctx context.Context) <-chan error {
				c := make(chan error, 1)
				go func() { c <- b.Begin(ctx) }()
				synctest.Wait()
				return c
			}
			begun := func(c <-chan error, want bool, what string) {
				t.Helper()
				synctest.Wait()
				if (len(c) == 1) != want {
					t.Fatalf("%s: %s: begun is %v", name, what, !want)
				}
			}
			if err := <-begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.end(b, 30)
			for range 3 { // 30% for one that ended, and as much for each of three in flight, is 120%
				if err := <-begin(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			fifth := begin(t.Context())
			begun(fifth, false, "30% and three in flight")
			dropped, drop := context.WithCancel(t.Context())
			given := begin(dropped)
			drop()
			if err := <-given; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: dropped while it waited: %v", name, err)
			}
			c.end(b, 30)
			begun(fifth, false, "60% and two in flight are 120%")
			c.end(b, 10)
			begun(fifth, true, "70% and one in flight are 93%")
			if err := <-fifth; err != nil {
				t.Fatal(err)
			}
			last := begin(t.Context())
			begun(last, false, "70% and two in flight are 117%")
			c.end(b, 30)
			if err := <-last; !errors.Is(err, ErrSpent) || err.Error() != "the budget is spent: "+c.spent+"; requests in flight: 1" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestNothingIsSentPastTheDeadline(t *testing.T) {
	late := &Budget{Until: time.Now()}
	if err := late.Begin(t.Context()); !errors.Is(err, ErrSpent) {
		t.Errorf("past the deadline: %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		b := &Budget{Until: time.Now().Add(time.Hour)}
		ctx, cancel := b.Limit(t.Context())
		defer cancel()
		if err := b.Begin(ctx); err != nil {
			t.Errorf("before the deadline: %v", err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if err := context.Cause(ctx); !errors.Is(err, ErrSpent) || ctx.Err() == nil {
			t.Errorf("at the deadline a request in flight is told %v", err)
		}
		for name, none := range map[string]*Budget{"no budget": nil, "one without a deadline": {USD: 1}} {
			ctx, cancel := none.Limit(t.Context())
			if _, ok := ctx.Deadline(); ok {
				t.Errorf("%s has a deadline", name)
			}
			cancel()
		}
	})
}
