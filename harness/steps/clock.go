// How long each step takes where several go on beside each other.

package steps

import (
	"context"
	"sync"
	"time"
)

// clock charges time to the steps that are under way: of what passes while n of them go on beside each other each is charged an nth, so
// that all together are charged what passed. A step that waits for others is charged nothing.
type clock struct {
	mu    sync.Mutex
	last  time.Time
	under map[*timed]bool // under way
}

// timed is a step that is under way.
type timed struct {
	waits   int // for so many others
	charged time.Duration
}

// asker is the key of the step in a context that is made with it.
type asker struct{}

// charge charges what passed since it was last done. The clock is locked.
func (c *clock) charge() {
	now := time.Now()
	var going []*timed
	for s := range c.under {
		if s.waits == 0 {
			going = append(going, s)
		}
	}
	for _, s := range going {
		s.charged += now.Sub(c.last) / time.Duration(len(going))
	}
	c.last = now
}

// wait notes that the step that a context is of waits for another, until done is called.
func (c *clock) wait(ctx context.Context) (done func()) {
	s, ok := ctx.Value(asker{}).(*timed)
	if !ok {
		return func() {}
	}
	add := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.charge()
		s.waits += n
	}
	add(1)
	return func() { add(-1) }
}

// begin notes that a step is made, with the context that it returns, until end is called, which says what it is charged.
func (c *clock) begin(ctx context.Context) (of context.Context, end func() time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charge()
	s := &timed{}
	if c.under == nil {
		c.under = map[*timed]bool{}
	}
	c.under[s] = true
	return context.WithValue(ctx, asker{}, s), func() time.Duration {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.charge()
		delete(c.under, s)
		return s.charged
	}
}
