// The way of a request: the rule that it meets, and what is left of the answer.

package fault

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
)

// Wrap returns a handler that applies a plan, which Check finds nothing wrong with. Time begins now.
func Wrap(next http.Handler, plan Plan, o Options) *Handler {
	if o.Clock == nil {
		o.Clock = wall{}
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Handler{
		next: next, plan: slices.Clone(plan), o: o, start: o.Clock.Now(), ctx: ctx, stop: stop,
		attempts: map[uint64]int{}, came: make([]int, len(plan)), met: make([]int, len(plan)),
	}
}

// Close ends every response that meets a fault, and waits until it has ended.
func (h *Handler) Close() {
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	h.busy.Wait()
}

// begin says that a response is under way, unless none is to begin any more.
func (h *Handler) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return false
	}
	h.busy.Add(1)
	return true
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := read(r)
	if err != nil {
		return // the client has gone
	}
	i, attempt := h.choose(q)
	served := Served{Model: q.model, Prompt: q.prompt, Seed: q.seed, Attempt: attempt, Fault: i + 1}
	if i < 0 {
		h.pass(w, r, q, &served)
	} else {
		if !h.begin() {
			return
		}
		defer h.busy.Done()
		h.spoil(w, r, q, h.plan[i], &served)
	}
	if h.o.Served != nil && q.path == completions {
		h.o.Served(served)
	}
}

// choose returns the rule that a request meets, -1 if it meets none, and which attempt of the request this is.
func (h *Handler) choose(q asked) (rule, attempt int) {
	since := h.o.Clock.Now().Sub(h.start)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attempts[q.key]++
	attempt, rule = h.attempts[q.key], -1
	for i, r := range h.plan {
		path := cmp.Or(r.Path, completions)
		if !strings.HasPrefix(q.path, path) {
			continue
		}
		h.came[i]++
		switch {
		case r.Model != "" && r.Model != q.model,
			!strings.Contains(q.prompt, r.Contains),
			r.Share > 0 && share(q.key, i) >= r.Share,
			!r.Attempts.holds(attempt),
			!r.Requests.holds(h.came[i]),
			since < r.Since,
			r.Until > 0 && since >= r.Until:
			continue
		}
		h.met[i]++
		if rule < 0 && (r.Every == 0 || h.met[i]%r.Every == 0) {
			rule = i
		}
	}
	return rule, attempt
}

// share is where a request lies from 0 to 1, other for each rule.
func share(key uint64, rule int) float64 {
	x := key + 0x9e3779b97f4a7c15*uint64(rule+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

// pass hands on the answer as it is.
func (h *Handler) pass(w http.ResponseWriter, r *http.Request, q asked, served *Served) {
	a := h.ask(r, q, nil)
	served.Status, served.In, served.Out = a.status, a.in, a.out
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	gone := r.Context().Err() != nil
	var err error
	for _, p := range a.parts {
		if err == nil {
			_, err = w.Write(p)
		}
	}
	if served.Whole = !gone && err == nil; served.Whole {
		served.Sent = a.out
	}
	if a.stream {
		http.NewResponseController(w).Flush()
	}
}
