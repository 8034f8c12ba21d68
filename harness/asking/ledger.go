// What attempts cost: each is noted before it is sent, and again when it ended.

package asking

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
)

// What a request can cost at most where nothing else bounds it.
const (
	frame   = 256     // tokens that a server puts around a prompt
	longest = 1 << 17 // tokens that a model writes
)

// ledger keeps the attempts of one request. It implements experts.Attempts; they come one after another.
type ledger struct {
	rollouts *store.Rollouts
	budget   *cost.Budget
	attempt  store.Attempt
	price    cost.Price
	flight   *flight
	show     steps.Progress // hears of attempts; nil: they are paid nothing
	begun    bool           // there was an attempt before
	id       store.AttemptID
	sent     atomic.Bool // an attempt is under way
	refused  error       // why an attempt may not be sent
}

// flight is what is under way.
type flight struct {
	starting context.Context // when it ends nothing more is sent
	n        atomic.Int64    // attempts under way
	answered atomic.Bool     // some request was: what is under way may be, too
}

// ledgerOf returns the ledger of a request to a model. A token is at least one byte of its prompt.
func (a *Asker) ledgerOf(f *flight, x routing.Expert, scope store.Scope, row store.Row, prompt int) *ledger {
	l := &ledger{
		flight: f, rollouts: a.rollouts, budget: a.plan.Options.Budget, price: x.Price, attempt: attemptOf(x, scope, row, prompt),
	}
	if a.Sim == nil || scope.Source == served {
		l.show = a.plan.Options.Progress
	}
	return l
}

// attemptOf is an attempt of a request that has not been sent.
func attemptOf(x routing.Expert, scope store.Scope, row store.Row, prompt int) store.Attempt {
	most := cost.Usage{In: int64(prompt + frame), Out: int64(cmp.Or(x.MaxTokens, longest))}
	return store.Attempt{Scope: scope, Text: row.Text, Run: row.Run, Seed: row.Seed, Most: spent(x.Price, most)}
}

// spent is what usage costs. Prompts are paid for, whatever a table counts.
func spent(p cost.Price, u cost.Usage) store.Spent {
	return store.Spent{In: u.In, Out: u.Out, USD: p.USD(u, true)}
}

// Begin implements experts.Attempts.
func (l *ledger) Begin(ctx context.Context, server string) error {
	l.refused = l.begin(ctx, server)
	return l.refused
}

func (l *ledger) begin(ctx context.Context, server string) (err error) {
	if err := l.flight.starting.Err(); err != nil {
		return err
	}
	if err := l.budget.Begin(ctx); err != nil {
		return err
	}
	l.attempt.Server = server
	if l.id, err = l.rollouts.Begin(ctx, l.attempt); err != nil {
		l.budget.End(cost.Usage{}, 0)
		return err
	}
	l.sent.Store(true)
	l.flight.n.Add(1)
	if err := l.flight.starting.Err(); err != nil { // it ended while the attempt was noted, which costs nothing then
		l.End(experts.Attempt{Class: experts.Cancelled, Error: "not sent"})
		return err
	}
	if l.show != nil {
		l.show.Sent(l.begun)
	}
	l.begun = true
	return nil
}

// End implements experts.Attempts.
func (l *ledger) End(a experts.Attempt) {
	l.sent.Store(false)
	l.flight.n.Add(-1)
	s := spent(l.price, a.Usage)
	l.budget.End(a.Usage, s.USD)
	if l.show != nil {
		l.show.Spent(s.USD)
	}
	l.rollouts.End(store.Ended{ID: l.id, Class: string(a.Class), Error: a.Error, Spent: s, Estimated: a.Estimated})
}
