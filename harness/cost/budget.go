// What a run may spend.

package cost

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrSpent says that a budget is used up; the error around it is a sentence that says which.
var ErrSpent = errors.New("the budget is spent")

// Budget is what the requests of a run may spend. It stops them from being sent, not those that are in flight: these are
// counted at the mean of what came before, and while that is all that is left the next waits for one of them to end, so a run ends near its budget. It is
// safe for concurrent use.
type Budget struct {
	USD    float64   // dollars; 0: no limit
	Tokens int64     // in and out; 0: no limit
	Until  time.Time // when the last request is sent; zero: no limit

	mu       sync.Mutex
	inFlight int
	ended    int
	usd      float64
	tokens   int64
	freed    chan struct{} // closed when a request ends; nil: nobody waits
}

// Begin is called before a request is sent, and waits while what is in flight may spend the rest. An error, which wraps ErrSpent unless ctx ended, says that
// it may not be sent. A nil Budget has no limit.
func (b *Budget) Begin(ctx context.Context) error {
	if b == nil {
		return nil
	}
	for {
		freed, err := b.begin()
		if freed == nil {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin returns what is closed when it is worth while to try again; nil: there is nothing to wait for.
func (b *Budget) begin() (freed <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pending := float64(b.inFlight) / float64(max(1, b.ended)) // of what was spent, so much is under way
	over := func(spent, limit float64) bool { return limit > 0 && spent >= limit }
	switch {
	case !b.Until.IsZero() && !time.Now().Before(b.Until):
		return nil, b.past()
	case over(b.usd, b.USD):
		return nil, fmt.Errorf("%w: %.4g of %.4g dollars; requests in flight: %d", ErrSpent, b.usd, b.USD, b.inFlight)
	case over(float64(b.tokens), float64(b.Tokens)):
		return nil, fmt.Errorf("%w: %d of %d tokens; requests in flight: %d", ErrSpent, b.tokens, b.Tokens, b.inFlight)
	case over(b.usd*(1+pending), b.USD), over(float64(b.tokens)*(1+pending), float64(b.Tokens)):
		if b.freed == nil {
			b.freed = make(chan struct{})
		}
		return b.freed, nil
	}
	b.inFlight++
	return nil, nil
}

// Limit returns a context that ends when the last request may be sent, with a cause that says so.
func (b *Budget) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if b == nil || b.Until.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, b.Until, b.past())
}

func (b *Budget) past() error {
	return fmt.Errorf("%w: the deadline %s is past", ErrSpent, b.Until.Format(time.DateTime))
}

// End is called once after each Begin that returned nil, with what was billed.
func (b *Budget) End(u Usage, usd float64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight--
	b.ended++
	b.usd += usd
	b.tokens += u.In + u.Out
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// Spent is what requests that have ended were billed.
func (b *Budget) Spent() (usd float64, tokens int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usd, b.tokens
}
