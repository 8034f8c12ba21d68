// Experts whose servers are there and fail whatever they are asked: who is to blame, and how long to wait.

package experts

import (
	"context"
	"math/rand/v2"
	"time"
)

// An expert that is ill fails many requests, and each several times: a few may have themselves to blame.
const (
	many    = 8
	several = 3
)

// patient is what one request knows of its expert's illness.
type patient struct {
	met    int           // how often the request has met it since the last sign of life
	alone  int           // how often there was a sign of life between two times that it was failed
	signs  int           // of life by then
	gone   int           // how often servers of the expert had gone by then
	wait   time.Duration // until the request looks again
	rested time.Time     // when it first waited for an end; zero: it did not
}

// gone is how often servers of an expert went.
func (e *expert) gone() (n int) {
	for _, s := range e.servers {
		n += s.gone
	}
	return n
}

// ill says that it is the expert that fails and not the request: the expert has shown no sign of life while several requests were
// failed, this one among them and several times. Nor does the request take longer than something on the way waits, was it failed again
// and again while others were answered, or did a server go, for which it could be to blame. Such tries do not count, for as long as
// servers are waited for.
func (h *HTTP) ill(e *expert, p *patient, t *trouble) bool {
	if t.class != Unavailable || t.cause != nil || t.late {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.met == 0 || p.signs != e.signs {
		alone := p.alone
		if p.met > 0 {
			alone++
		}
		*p = patient{alone: alone, signs: e.signs, gone: e.gone(), wait: h.o.Probe, rested: p.rested}
		if e.ill.requests++; e.ill.requests == 1 {
			e.ill.since = time.Now()
		}
	}
	p.met++
	since := e.ill.since
	if !p.rested.IsZero() {
		since = p.rested
	}
	return p.met >= several && p.alone < several-1 && e.ill.requests >= many && p.gone == e.gone() && time.Since(since) < h.o.ServerWait
}

// rest waits before an expert that is ill is asked again, at most as long as a server that is down.
func (h *HTTP) rest(ctx context.Context, e *expert, s *server, p *patient, t *trouble) error {
	if p.rested.IsZero() {
		p.rested = time.Now()
	}
	p.alone = 0
	h.mu.Lock()
	if !e.ill.waited {
		e.ill.waited = true
		h.o.Log.Warn("waiting for an expert that fails whatever it is asked", "expert", e.ID, "server", s.base, "why", line(t.err.Error(), s.key))
	}
	h.mu.Unlock()
	wait := p.wait/2 + time.Duration(rand.Int64N(int64(p.wait)))
	p.wait = min(p.wait*3/2, 15*time.Second)
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// recovered notes a sign of an expert's life.
func (h *HTTP) recovered(e *expert, s *server) {
	if e.signs++; e.ill.waited {
		h.o.Log.Warn("the expert answers again", "expert", e.ID, "server", s.base, "after", time.Since(e.ill.since).Round(time.Second))
	}
	e.ill = illness{}
}
