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
	synctest.Test(t, func(t *testing.T) {
		b := &Budget{USD: 1}
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
				t.Fatalf("%s: begun is %v", what, !want)
			}
		}
		if err := <-begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.End(Usage{}, 0.3)
		for range 3 { // 0.3 for one that ended, and as much for each of three in flight, is 1.2
			if err := <-begin(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		fifth := begin(t.Context())
		begun(fifth, false, "0.3 dollars and three in flight")
		dropped, drop := context.WithCancel(t.Context())
		given := begin(dropped)
		drop()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Errorf("dropped while it waited: %v", err)
		}
		b.End(Usage{}, 0.3)
		begun(fifth, false, "0.6 dollars and two in flight are 1.2")
		b.End(Usage{}, 0.1)
		begun(fifth, true, "0.7 dollars and one in flight are 0.93")
		if err := <-fifth; err != nil {
			t.Fatal(err)
		}
		last := begin(t.Context())
		begun(last, false, "0.7 dollars and two in flight are 1.17")
		b.End(Usage{}, 0.3)
		if err := <-last; !errors.Is(err, ErrSpent) || err.Error() != "the budget is spent: 1 of 1 dollars; requests in flight: 1" {
			t.Errorf("%v", err)
		}
		late := &Budget{Until: time.Now()}
		if err := late.Begin(t.Context()); !errors.Is(err, ErrSpent) {
			t.Errorf("past the deadline: %v", err)
		}
	})
}
