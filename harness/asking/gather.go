// Many requests at a time, to all models at once. What comes is kept as it comes.

package asking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/steps"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// request is one answer to be had.
type request struct {
	scope  store.Scope
	row    store.Row // Text, Run and Seed
	prompt string
	grade  func(experts.Completion) store.Verdict                   // nil: nobody grades it
	kept   func(experts.Completion, store.Verdict, store.RolloutID) // called, by one goroutine at a time, once it is synced
	failed func(f *experts.Failure, again bool)                     // called, by many, once it is sure that there is no answer; again: there may be one another day
	before string                                                   // class of the failure of an earlier command; empty: there was none
}

// queue is what one model is asked.
type queue struct {
	pool     experts.Pool
	answers  *experts.Answers // what the model answered elsewhere; nil: the pool is asked
	expert   routing.Expert
	requests []request

	shortest, longest *routing.Problem // of what experts are asked; nil: of others
}

// gather asks every model for what is in its queue, all at the same time. A request that fails is kept as a failure and
// ends no other. What else goes wrong (a server at which everything fails alike, a disk that takes no more, a budget that
// is spent) stops all, as does the end of ctx: nothing more is sent then, what is in flight may finish for as long as the
// options say, and everything that came is kept.
func (a *Asker) gather(ctx context.Context, what string, queues []queue) error {
	total := 0
	for _, q := range queues {
		total += len(q.requests)
	}
	if total == 0 {
		return nil
	}
	show := a.plan.Options.Progress.Start(what, total)
	defer show.Done()

	limited, done := a.plan.Options.Budget.Limit(ctx)
	defer done()
	starting, stop := context.WithCancelCause(limited)
	defer stop(nil)
	flight := &flight{starting: starting}
	flying, cut := context.WithCancel(context.WithoutCancel(ctx)) // when it ends what is in flight is given up
	defer cut()
	defer context.AfterFunc(starting, func() { a.grant(flying, flight, context.Cause(starting), cut) })()

	var asking sync.WaitGroup
	type end struct {
		q   *queue
		r   *request
		err error
	}
	ends := make(chan end)
	for _, q := range queues {
		var next atomic.Int64
		for range min(len(q.requests), a.plan.Spec.Experiment.Profile.Concurrency) {
			asking.Go(func() {
				defer crash.Exit()
				for starting.Err() == nil {
					i := int(next.Add(1)) - 1
					if i >= len(q.requests) {
						return
					}
					err := a.one(flying, flight, &q, &q.requests[i])
					if failure := (*experts.Failure)(nil); err != nil && !errors.As(err, &failure) {
						stop(err) // before anybody begins another request
					}
					ends <- end{&q, &q.requests[i], err}
				}
			})
		}
	}
	go func() {
		defer crash.Exit()
		asking.Wait()
		close(ends)
	}()
	failed := 0
	answered, early := map[string]bool{}, []end{} // by expert; requests that failed before it had answered
	for e := range ends {
		var failure *experts.Failure
		switch {
		case e.err == nil:
			answered[e.q.expert.ID] = true
			show.Add(1)
		case errors.As(e.err, &failure):
			if failed++; failed == 1 {
				a.plan.Options.Log.Warn("a request failed", "err", e.err)
			}
			if failure.Early && !failure.Again {
				early = append(early, e)
			}
			show.Add(1)
			show.Say(fmt.Sprintf("%d failed", failed))
		}
	}
	for _, e := range early { // the expert was not to blame if it answered others, nor if it says the same another day
		var failure *experts.Failure
		errors.As(e.err, &failure)
		again := !answered[e.q.expert.ID] && e.r.before != string(failure.Class)
		if !again {
			a.fail(e.r, failure, again)
		}
		e.r.failed(failure, again)
	}
	synced := a.rollouts.Sync(context.WithoutCancel(ctx))
	return cmp.Or(a.ended(context.Cause(starting), flight), synced)
}

// ended is why a run ended before all was asked for. It is incomplete where the same command goes on, once a server has a key or money again.
func (a *Asker) ended(why error, f *flight) error {
	switch {
	case errors.Is(why, cost.ErrSpent):
		return a.spent(why)
	case errors.Is(why, experts.ErrMisconfigured) && errors.Is(why, experts.ErrKey) && f.answered.Load():
		return fmt.Errorf("%w: %w", steps.ErrIncomplete, why)
	}
	return why
}

// grant lets what is in flight finish, if that is worth while, and then cuts it off. It says so if that takes a while.
func (a *Asker) grant(flying context.Context, f *flight, why error, cut func()) {
	defer cut()
	o := a.plan.Options
	worth := errors.Is(why, context.Canceled) || errors.Is(why, cost.ErrSpent) || errors.Is(why, experts.ErrMisconfigured) && f.answered.Load()
	if !worth || o.Grace == 0 {
		return
	}
	said, late := time.NewTimer(sayAfter), time.NewTimer(o.Grace)
	defer said.Stop()
	defer late.Stop()
	for {
		select {
		case <-said.C:
			text, more := "requests in flight may finish; Ctrl-C again drops them", []any{"requests", f.n.Load(), "at most", o.Grace}
			if !errors.Is(why, context.Canceled) {
				text, more = "nothing more is sent, and requests in flight may finish; Ctrl-C twice drops them", append(more, "why", why)
			}
			o.Log.Warn(text, more...)
		case <-late.C:
			return
		case <-o.Cut:
			return
		case <-flying.Done():
			return
		}
	}
}

// sayAfter is how long what is in flight may take before it is spoken of.
const sayAfter = 2 * time.Second

// one has one request answered and keeps what became of it. A request that waits to be sent is dropped when nothing more is
// sent.
func (a *Asker) one(ctx context.Context, f *flight, q *queue, r *request) error {
	ctx, drop := context.WithCancel(ctx)
	defer drop()
	attempts := a.ledgerOf(f, q.expert, r.scope, r.row, len(r.prompt))
	defer context.AfterFunc(f.starting, func() {
		if !attempts.sent.Load() {
			drop()
		}
	})()
	var c experts.Completion
	var err error
	if q.answers != nil {
		c, err = q.answers.Find(r.row.Text, r.scope.Split, r.row.Run)
	} else {
		c, err = q.pool.Complete(ctx, experts.Request{
			Expert: q.expert.ID, Prompt: r.prompt, Seed: seed.Seed(r.row.Seed), Sampling: q.expert.Sampling, MaxTokens: q.expert.MaxTokens,
			Attempts: attempts,
		})
	}
	var failure *experts.Failure
	switch {
	case err != nil && attempts.refused != nil:
		return attempts.refused
	case errors.As(err, &failure):
		a.fail(r, failure, failure.Again || failure.Early)
		if failure.Again || !failure.Early {
			r.failed(failure, failure.Again)
		}
		return err
	case err != nil:
		return err
	}
	f.answered.Store(true)
	row := r.row
	row.Response, row.Reasoning, row.Finish, row.In, row.Out = c.Text, c.Reasoning, c.Finish, c.Usage.In, c.Usage.Out
	var v store.Verdict
	if r.grade != nil {
		v = r.grade(c)
	}
	a.rollouts.Keep(r.scope, row, verify.Version, v, func(id store.RolloutID) { r.kept(c, v, id) })
	return nil
}

// fail keeps that a request has no answer.
func (a *Asker) fail(r *request, f *experts.Failure, again bool) {
	a.rollouts.Fail(r.scope, store.RolloutFailure{Text: r.row.Text, Run: r.row.Run, Seed: r.row.Seed, Class: string(f.Class), Error: f.Error(), Again: again})
}
