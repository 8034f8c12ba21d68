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
// counted at the mean of what came before, so a run ends near its budget. It is safe for concurrent use.
type Budget struct {
	USD    float64   // dollars; 0: no limit
	Tokens int64     // in and out; 0: no limit
	Until  time.Time // when the last request is sent; zero: no limit

	mu       sync.Mutex
	inFlight int
	ended    int
	usd      float64
	tokens   int64
}

// Begin is called before a request is sent. An error, which wraps ErrSpent, says that it may not be. A nil Budget has no limit.
func (b *Budget) Begin() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	pending := float64(b.inFlight) / float64(max(1, b.ended)) // of what was spent, so much is under way
	switch {
	case !b.Until.IsZero() && !time.Now().Before(b.Until):
		return b.past()
	case b.USD > 0 && b.usd*(1+pending) >= b.USD:
		return fmt.Errorf("%w: %.4g of %.4g dollars, and %d requests were in flight", ErrSpent, b.usd, b.USD, b.inFlight)
	case b.Tokens > 0 && float64(b.tokens)*(1+pending) >= float64(b.Tokens):
		return fmt.Errorf("%w: %d of %d tokens, and %d requests were in flight", ErrSpent, b.tokens, b.Tokens, b.inFlight)
	}
	b.inFlight++
	return nil
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
}

// Spent is what requests that have ended were billed.
func (b *Budget) Spent() (usd float64, tokens int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usd, b.tokens
}
