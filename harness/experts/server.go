// Who may be asked when: servers that are loading, limited or down, and what an expert is asked at most. All of it is
// decided here, under one lock.

package experts

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/entrorouter/entrorouter/harness/crash"
)

// admit waits for a request's turn. Waiting costs no tries: it ends with a server, with ctx, or with a trouble once nobody
// who has the expert has been ready for as long as may be waited.
func (h *HTTP) admit(ctx context.Context, e *expert, prompt, limit int) (turn, error) {
	w := &waiter{turn: make(chan turn, 1), prompt: prompt, limit: limit}
	h.mu.Lock()
	e.waiting = append(e.waiting, w)
	h.dispatch(e)
	h.mu.Unlock()
	select {
	case t := <-w.turn:
		return t, nil
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case t := <-w.turn: // it came meanwhile
		h.leave(e, t)
	default:
		w.gone = true
	}
	return turn{}, ctx.Err()
}

// leave gives a place back that was not used.
func (h *HTTP) leave(e *expert, t turn) {
	if t.s == nil {
		return
	}
	t.s.inflight--
	e.inflight--
	e.tokens.take(-t.tokens)
	e.requests.take(-1)
	h.dispatchAll()
}

// dispatch gives their turn to all who can have it, in the order in which they came.
func (h *HTTP) dispatch(e *expert) {
	for len(e.waiting) > 0 {
		w := e.waiting[0]
		if !w.gone {
			t, at := h.pick(e, w, time.Now())
			if t.s == nil && t.err == nil {
				if !at.IsZero() {
					h.wake(e, at)
				}
				return
			}
			if t.s != nil {
				t.s.inflight++
				e.inflight++
				e.requests.take(1)
				e.tokens.take(t.tokens)
			}
			w.turn <- t
		}
		e.waiting[0] = nil
		e.waiting = e.waiting[1:]
	}
	e.waiting = nil
}

func (h *HTTP) dispatchAll() {
	for _, e := range h.experts {
		h.dispatch(e)
	}
}

func (h *HTTP) wake(e *expert, at time.Time) {
	d := max(time.Until(at), time.Millisecond)
	if e.timer != nil {
		e.timer.Stop()
	}
	e.timer = time.AfterFunc(d, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.dispatch(e)
	})
}

// pick finds the server with the fewest requests for one who waits. Without one it says when to look again, if time
// brings anything, or what is in the way for good.
func (h *HTTP) pick(e *expert, w *waiter, now time.Time) (t turn, again time.Time) {
	if e.inflight >= e.most {
		return turn{}, time.Time{}
	}
	need := cmp.Or(e.mean, float64(w.prompt)/4+float64(w.limit))
	if at := later(e.requests.when(1, now), e.tokens.when(need, now)); at.After(now) {
		return turn{}, at
	}
	var best, hopeless *server
	full := false
	for _, s := range e.servers {
		if s.state == limited && !now.Before(s.until) {
			s.state = ready
		}
		if s.state == ready && !now.Before(s.until) {
			if s.inflight >= int(s.window) {
				full = true
			} else if best == nil || float64(s.inflight)*best.window < float64(best.inflight)*s.window {
				best = s
			}
			continue
		}
		end := now
		if !s.since.IsZero() { // else it has answered since, and is left alone all the same
			end = s.since
		}
		if h.o.ServerWait > 0 {
			end = end.Add(h.o.ServerWait)
		}
		if s.until.After(end) || !now.Before(end) {
			hopeless = s
			continue
		}
		at := end
		if s.state != loading && s.state != down && s.until.Before(end) {
			at = s.until
		}
		if again.IsZero() || at.Before(again) {
			again = at
		}
	}
	switch {
	case best != nil:
		return turn{s: best, tokens: need}, time.Time{}
	case !full && again.IsZero() && hopeless != nil:
		return turn{err: hopeless.gaveUp(now)}, time.Time{}
	}
	return turn{}, again
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// gaveUp says that a server was waited for in vain.
func (s *server) gaveUp(now time.Time) *trouble {
	if wait := s.until.Sub(now); wait > 0 {
		return &trouble{class: Limited, err: fmt.Errorf("%s, and asks to be left alone for %s: try again then", s.why, wait.Round(time.Second))}
	}
	waited := ""
	if d := now.Sub(s.since).Round(time.Second); d > 0 {
		waited = fmt.Sprintf(" for %s", d)
	}
	return &trouble{class: Unavailable, err: fmt.Errorf("%s%s: %s", s.state, waited, s.why)}
}

// release ends an attempt: t is nil if it was answered with so many tokens.
func (h *HTTP) release(e *expert, place turn, sent time.Time, used float64, t *trouble) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	s := place.s
	s.inflight--
	e.inflight--
	e.tokens.take(used - place.tokens)
	switch {
	case t == nil || t.class == Refused || t.class == Filtered || t.class == Unfinished || t.class == Protocol:
		h.recovered(e, s)
		// What was sent before may be answered while what is new is turned down: only a server that limits is known to have room again.
		if s.state == loading && s.refusals > 0 {
			h.turns(s, ready, "")
		}
		s.refusals = 0
		if s.state == ready {
			s.since = time.Time{}
		}
		if t == nil {
			s.window = min(s.most, s.window+1/s.window)
			if e.mean == 0 {
				e.mean = used
			}
			e.mean += (used - e.mean) / 10
		}
	case t.class == Limited:
		s.limit(sent, now, t.after)
		if s.state == ready {
			h.turns(s, limited, t.err.Error())
		}
		s.why = t.err.Error()
	case t.down:
		if t.after == 0 && t.class == Unavailable && t.cause == nil { // it answers that it takes none now, and is looked at to learn whether it is loading
			s.limit(sent, now, 0)
			if s.state == ready {
				h.turns(s, limited, t.err.Error())
			}
		} else {
			h.turns(s, down, t.err.Error())
		}
		h.probe(s)
	case !t.stale && (t.class == Unavailable || t.class == Broken || t.class == Idle):
		h.probe(s)
	}
	h.dispatchAll()
}

// limit leaves a server alone for as long as it asks, or for a second and twice as long each further time, and lets it
// have fewer requests at a time: once for all that were sent before it first complained.
func (s *server) limit(sent, now time.Time, after time.Duration) {
	if sent.After(s.cut) || s.cut.IsZero() {
		s.window = max(1, s.window*0.8)
		s.cut = now
		s.refusals++
	}
	if after <= 0 {
		// No refusal is counted if the server has answered since, and this one is of before the cut.
		after = min(time.Second<<min(max(s.refusals-1, 0), 6), time.Minute)
		after += time.Duration(rand.Int64N(int64(after)/4 + 1)) // so that many clients do not come back at once
	}
	if at := now.Add(after); at.After(s.until) {
		s.until = at
	}
	if s.since.IsZero() {
		s.since = now
	}
}

// turns changes the state of a server and says so.
func (h *HTTP) turns(s *server, to state, why string) {
	now := time.Now()
	if s.since.IsZero() {
		s.since = now
	}
	switch {
	case s.state == to:
	case to == ready:
		h.o.Log.Log(h.ctx, s.level, "the server is ready again", "server", s.base, "after", now.Sub(s.since).Round(time.Second))
	case s.state == ready || s.state == limited:
		often := &s.gone
		if to == limited {
			often = &s.limits
		}
		*often++
		s.level = slog.LevelWarn
		if (to == limited || s.refusals > 0) && !tens(*often) { // some services limit all the time
			s.level = slog.LevelInfo
		}
		h.o.Log.Log(h.ctx, s.level, "waiting for a server that is "+string(to), "server", s.base, "why", line(why, s.key))
	}
	s.state = to
	if why != "" {
		s.why = why
	}
}

// probe looks after a server that may be down, until it is ready or the client is closed. One at a time does.
func (h *HTTP) probe(s *server) {
	if s.probing || h.ctx.Err() != nil {
		return
	}
	s.probing = true
	h.busy.Go(func() {
		defer crash.Exit()
		wait := h.o.Probe
		for {
			why := h.health(h.ctx, s)
			h.mu.Lock()
			if left := time.Until(s.until); why == nil && s.state == loading && left > 0 { // it says that it is well, and is not: its requests say when
				h.mu.Unlock()
				select {
				case <-h.ctx.Done():
				case <-time.After(left):
				}
				continue
			}
			if why == nil || h.ctx.Err() != nil {
				if why == nil && (s.state == loading || s.state == down) {
					h.turns(s, ready, "")
				}
				if s.refusals == 0 && s.state == ready {
					s.since = time.Time{}
				}
				s.probing = false
				h.dispatchAll()
				h.mu.Unlock()
				return
			}
			to := down
			if why.cause == nil {
				to = loading
			}
			h.turns(s, to, why.err.Error())
			h.mu.Unlock()
			select {
			case <-h.ctx.Done():
			case <-time.After(wait):
				wait = min(wait*3/2, 15*time.Second)
			}
		}
	})
}

// health asks a server whether it is there: by /health, without the key, since LiteLLM's proxy asks every model something for whoever
// has one; and where that says nothing, by the list of models. Whoever has no such list but answers is there.
func (h *HTTP) health(ctx context.Context, s *server) *trouble {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	response, body, err := h.fetch(ctx, s, "", http.MethodGet, s.root()+"/health", nil)
	if err != nil {
		return lost(err)
	}
	switch response.StatusCode {
	case http.StatusOK, http.StatusNoContent:
		return nil
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return refusal(response, body, s.key)
	}
	if response, body, err = h.get(ctx, s, s.base+"/models"); err != nil {
		return lost(err)
	}
	if response.StatusCode >= 500 && response.StatusCode != http.StatusNotImplemented {
		return refusal(response, body, s.key)
	}
	return nil
}
