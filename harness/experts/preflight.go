// What is looked at before the first request is paid for: whether servers are there, what they serve, and with how much room.

package experts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/entrorouter/entrorouter/harness/crash"
)

// Preflight asks every server whether it is there, which version it is of, and whether it serves the models that it is to
// be asked for with room for their token limits. A server that is loading or down is waited for, at most for wait, and no longer than
// the first of those that have the same models: it is looked after then, and asked once it is there. Of a server without a list of
// models the first request tells whether it has one. It reports all faults at once; the error wraps ErrUnavailable, ErrUnknownExpert and ErrMisconfigured where they are the cause.
func (h *HTTP) Preflight(ctx context.Context, wait time.Duration) error {
	type served struct {
		models models
		err    error
	}
	found := map[*server]*served{}
	done := make(chan *server)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	for _, s := range h.all { // all wait at the same time
		f := &served{}
		found[s] = f
		go func() {
			defer crash.Exit()
			if f.models, f.err = h.look(waiting, h.whose(s), s, wait); f.err == nil {
				h.version(ctx, s)
				h.windows(ctx, s, f.models)
			}
			done <- s
		}()
	}
	there := map[*server]bool{}
	has := func(e *expert) bool { return slices.ContainsFunc(e.servers, func(s *server) bool { return there[s] }) }
	for range h.all {
		if s := <-done; found[s].err == nil {
			there[s] = true
		}
		if !slices.ContainsFunc(h.experts, func(e *expert) bool { return !has(e) }) {
			defer time.AfterFunc(together, stop).Stop()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var faults []error
	said, absent := map[*server]bool{}, map[*server]string{}
	for _, e := range h.experts {
		for _, s := range e.servers {
			f := found[s]
			if f.err != nil {
				slow := errors.Is(f.err, context.Canceled)
				if has(e) && (slow || errors.Is(f.err, ErrUnavailable)) {
					if absent[s] = f.err.Error(); slow {
						absent[s] = "it was not ready when others were"
					}
					continue
				}
				if !said[s] {
					faults = append(faults, fmt.Errorf("expert %s: %w", e.ID, f.err))
				}
				said[s] = true
				continue
			}
			room, err := f.models.fits(e, s)
			if err == nil && e.Tools {
				err = h.takesTools(ctx, e, s, room)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("expert %s: %w", e.ID, err))
			}
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s, why := range absent {
		h.turns(s, down, why)
		h.probe(s)
	}
	return nil
}

// together is how long servers are waited for once every model has one that is there.
const together = 10 * time.Second

// whose is the first expert that a server has.
func (h *HTTP) whose(s *server) *expert {
	return h.experts[slices.IndexFunc(h.experts, func(e *expert) bool { return slices.Contains(e.servers, s) })]
}

// fits says whether a server can be asked for an expert, and how many tokens it has room for; 0: it does not say.
func (m models) fits(e *expert, s *server) (room int, err error) {
	if m.unlisted {
		return 0, nil
	}
	i := slices.IndexFunc(m.Data, func(d model) bool { return d.ID == e.Model })
	switch {
	case i < 0 && e.Unlisted:
		return 0, nil
	case i < 0:
		return 0, fmt.Errorf("%w: %s does not serve the model %q; it serves: %s (if it answers to that name all the same, set unlisted: true of the expert in the pool file)", ErrUnknownExpert, s.base, e.Model, list(m.names()))
	}
	room = m.Data[i].MaxModelLen
	if over := slices.IndexFunc(m.Data, func(d model) bool { return d.ID == m.Data[i].Parent }); room == 0 && over >= 0 {
		room = m.Data[over].MaxModelLen
	}
	e.note(s, room)
	e.listed = true
	e.forgets = m.Data[i].forgets
	switch {
	case room == 0 || room > e.MaxTokens:
	case e.forgets:
		err = fmt.Errorf("%s serves %q with room for %d tokens in all, and forgets without a word what does not fit, so answers of up to max_tokens %d would be written without the question: %s, or lower max_tokens of the expert in the pool file", s.base, e.Model, room, e.MaxTokens, e.widen())
	default:
		err = fmt.Errorf("%s serves %q with room for %d tokens in all, so every request for max_tokens %d would be refused: start it with a larger --max-model-len", s.base, e.Model, room, e.MaxTokens)
	}
	return room, err
}

// Served returns the names of the models that the server at the base URL of the client's first endpoint has.
func (h *HTTP) Served(ctx context.Context) ([]string, error) {
	m, err := h.look(ctx, h.experts[0], h.all[0], h.o.ServerWait)
	return m.names(), err
}

// Versions are what the servers call themselves, by base URL, as found by Preflight; those that do not say are left out.
func (h *HTTP) Versions() map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := map[string]string{}
	for _, s := range h.all {
		if s.version != "" {
			versions[s.base] = s.version
		}
	}
	return versions
}

// look waits for a server of an expert, at most so long, and returns what it serves.
func (h *HTTP) look(ctx context.Context, e *expert, s *server, most time.Duration) (models, error) {
	var m models
	begun, wait := time.Now(), h.o.Probe
	for {
		t := h.health(ctx, s)
		if t == nil {
			var response *http.Response
			var body []byte
			var err error
			if response, body, err = h.get(ctx, s, s.base+"/models"); err != nil {
				t = lost(err)
			} else if response.StatusCode != http.StatusOK {
				if t = refusal(response, body, s.key); t.class == Model {
					switch taken := h.takes(ctx, e, s); {
					case taken == nil:
						return models{unlisted: true}, nil
					case taken.class != Model:
						t = taken
					}
				}
			} else if json.Unmarshal(body, &m) != nil {
				return m, fmt.Errorf("%s/models is not what an OpenAI-compatible server sends: is the url right?", s.base)
			} else {
				return m, nil
			}
		}
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
		waited, pause := time.Since(begun), max(wait, t.after)
		if t.class != Unavailable && t.class != Limited || waited+pause > most {
			after, late := "", late("")
			if waited > time.Second && !errors.As(t.err, &late) {
				after = fmt.Sprintf(" after %s", waited.Round(time.Second))
			}
			if t.after > 0 {
				after += fmt.Sprintf(", and asks to be left alone for %s", t.after.Round(time.Second))
			}
			text := fmt.Sprintf("%s: %s%s", s.base, line(t.err.Error(), s.key), after)
			switch {
			case late != "":
				text = string(late)
			case t.do != "" || t.class == Key:
				text += ": " + h.advice(e, t)
			case t.class == Model: // neither the list is there, nor what takes requests
				text = fmt.Sprintf("%s/models: %s: does url end as the server's address does?", s.base, line(t.err.Error(), s.key))
			case t.down && t.cause == nil && most == 0:
				text += ": try again when it is ready, or say with asking: {server_wait: SECONDS} of the pool how long to wait for it"
			}
			return m, &told{text, t.kinds()}
		}
		if waited < h.o.Probe {
			h.o.Log.Warn("waiting for a server", "server", s.base, "why", line(t.err.Error(), s.key), "at most", most)
		}
		select {
		case <-time.After(pause):
			wait = min(wait*3/2, 15*time.Second)
		case <-ctx.Done():
		}
	}
}

// takes says why a server without a list of models takes no requests, by one without content, which costs nothing: nil where it does,
// and only refuses that one.
func (h *HTTP) takes(ctx context.Context, e *expert, s *server) *trouble {
	path := "/chat/completions"
	if e.Embeds {
		path = "/embeddings"
	}
	response, body, err := h.fetch(ctx, s, s.key, http.MethodPost, s.base+path, []byte("{}"))
	if err != nil {
		return lost(err)
	}
	if t := refusal(response, body, s.key); response.StatusCode != http.StatusOK && t.class != Refused {
		return t
	}
	return nil
}

// takesTools says why a vLLM with room for so many tokens refuses every request with tools. It is asked for more tokens than that, which it refuses as
// well, so that it generates nothing; it looks at the tools first.
func (h *HTTP) takesTools(ctx context.Context, e *expert, s *server, room int) error {
	if room == 0 || !s.vllm.Load() {
		return nil
	}
	r := ChatRequest{Messages: []Message{{Role: "user"}}, Tools: []Tool{{Name: "none", Parameters: "{}"}}}
	response, body, err := h.fetch(ctx, s, s.key, http.MethodPost, s.base+"/chat/completions", appendChat(nil, e.Model, "max_tokens", room+1, r))
	if err != nil || response.StatusCode != http.StatusBadRequest || !strings.Contains(string(body), "--tool-call-parser") {
		return nil // the first request will tell
	}
	return &told{fmt.Sprintf("%s takes no tools, with which it is to be asked (it says%s): start it with these flags", s.base, said(body, s.key)), []error{ErrMisconfigured}}
}

// version notes what vLLM says of itself.
func (h *HTTP) version(ctx context.Context, s *server) {
	response, body, err := h.get(ctx, s, s.root()+"/version")
	var v struct {
		Version string `json:"version"`
	}
	if err != nil || response.StatusCode != http.StatusOK || json.Unmarshal(body, &v) != nil || v.Version == "" {
		return
	}
	s.vllm.Store(true)
	h.mu.Lock()
	defer h.mu.Unlock()
	s.version = cmp.Or(strings.TrimSpace(line(v.Version, s.key)), s.version)
}
