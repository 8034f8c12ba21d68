package steps

import (
	"testing"
	"testing/synctest"
	"time"
)

// By hand: measuring waits while it has two fits made. The first goes on alone for 2 s and beside the second for 4, of which the second
// waits for problems for 3: the first is charged 2 + 3/2 + 1/2, the problems 3/2, the second 1/2 and then 5 alone. Measuring takes 1.
func TestStepsBesideEachOtherShareTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		ends := func(name string, end func() time.Duration, want time.Duration) {
			t.Helper()
			if got := end(); got != want {
				t.Errorf("%s took %v, want %v", name, got, want)
			}
		}
		ctx, endMeasuring := c.begin(t.Context())
		forFirst, forSecond := c.wait(ctx), c.wait(ctx)
		_, endFirst := c.begin(ctx)
		time.Sleep(2 * time.Second)
		inSecond, endSecond := c.begin(ctx)
		forProblems := c.wait(inSecond)
		_, endProblems := c.begin(inSecond)
		time.Sleep(3 * time.Second)
		ends("problems", endProblems, 1500*time.Millisecond)
		forProblems()
		time.Sleep(time.Second)
		ends("the first", endFirst, 4*time.Second)
		forFirst()
		time.Sleep(5 * time.Second)
		ends("the second", endSecond, 5500*time.Millisecond)
		forSecond()
		time.Sleep(time.Second)
		ends("measuring", endMeasuring, time.Second)
		c.wait(t.Context())() // who is no step waits for nothing
	})
}
