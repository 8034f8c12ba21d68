// How long each step takes where several go on beside each other.

package steps

import (
	"context"
	"sync"
	"time"
)

// clock charges time to the steps that are under way: of what passes while n of them go on beside each other each is charged an nth, so
// that all together are charged what passed. A step that waits for another is charged nothing.
type clock struct {
	mu      sync.Mutex
	last    time.Time
	waiting map[*Step]int           // under way -> how many others it waits for
	charged map[*Step]time.Duration // under way
}

// asker is the key of the step in a context that is made with it.
type asker struct{}

// charge charges what passed since it was last done. The clock is locked.
func (c *clock) charge() {
	now := time.Now()
	going := 0
	for _, waits := range c.waiting {
		if waits == 0 {
			going++
		}
	}
	for s, waits := range c.waiting {
		if waits == 0 {
			c.charged[s] += now.Sub(c.last) / time.Duration(going)
		}
	}
	c.last = now
}

// wait notes that the step that a context is of waits for another, until done is called.
func (c *clock) wait(ctx context.Context) (done func()) {
	s, ok := ctx.Value(asker{}).(*Step)
	if !ok {
		return func() {}
	}
	add := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.charge()
		c.waiting[s] += n
	}
	add(1)
	return func() { add(-1) }
}

// begin notes that a step is made, with the context that it returns, until end is called, which says what it is charged.
func (c *clock) begin(ctx context.Context, s *Step) (of context.Context, end func() time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting, c.charged = map[*Step]int{}, map[*Step]time.Duration{}
	}
	c.charge()
	c.waiting[s] = 0
	return context.WithValue(ctx, asker{}, s), func() time.Duration {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.charge()
		took := c.charged[s]
		delete(c.waiting, s)
		delete(c.charged, s)
		return took
	}
}
