// The client of OpenAI-compatible servers: how experts are asked, how often and for how long.

package experts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
)

// ours begins the id of every request of this program, a UUID: llama-cpp-python refuses any other.
const ours = "e47e0000-"

// NewHTTP returns the pool. Nothing is sent before Preflight, Complete or Chat. Keys are read from the environment now.
func NewHTTP(endpoints []Endpoint, o HTTPOptions) (*HTTP, error) {
	o.Concurrency = cmp.Or(o.Concurrency, 64)
	o.KeyName = cmp.Or(o.KeyName, "ENTROROUTER_API_KEY")
	o.ServerWait = cmp.Or(o.ServerWait, 30*time.Minute)
	o.FirstByte = cmp.Or(o.FirstByte, 2*time.Hour)
	o.Idle = cmp.Or(o.Idle, 10*time.Minute)
	o.Tries = cmp.Or(o.Tries, 6)
	o.Wait = cmp.Or(o.Wait, 500*time.Millisecond)
	o.Probe = cmp.Or(o.Probe, 2*time.Second)
	if o.Transport == nil {
		o.Transport = &http.Transport{
			DialContext: (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			// net/http keeps two idle connections a host by default, and opens and closes one for almost every request
			// beyond that. vLLM closes idle connections after five seconds, so we let go of them earlier.
			MaxIdleConnsPerHost: 1 << 20,
			IdleConnTimeout:     4 * time.Second,
			DisableCompression:  true,
			WriteBufferSize:     1 << 10,
			ReadBufferSize:      1 << 10,
		}
	}
	var random [5]byte
	rand.Read(random[:])
	digits := hex.EncodeToString(random[:])
	h := &HTTP{o: o, ids: map[string]*expert{}, name: ours + digits[:4] + "-4" + digits[4:7] + "-8" + digits[7:] + "-"}
	h.ctx, h.stop = context.WithCancel(context.Background())
	now := time.Now()
	for _, e := range endpoints {
		key, from := o.Key, cmp.Or(e.KeyEnv, o.KeyName)
		if e.KeyEnv != "" {
			if key = os.Getenv(e.KeyEnv); key == "" {
				return nil, fmt.Errorf("expert %s: the environment variable %s, which is to hold the key of %s, is not set", e.ID, e.KeyEnv, e.URL)
			}
		}
		if strings.ContainsFunc(key, unicode.IsControl) {
			return nil, fmt.Errorf("expert %s: the environment variable %s holds a line break or another control character: set it to the key alone", e.ID, from)
		}
		x := &expert{Endpoint: e, most: cmp.Or(e.Limits.Concurrency, 1<<30)}
		x.requests, x.tokens = bucket{}, bucket{}
		if e.Limits.Requests > 0 {
			x.requests = perMinute(e.Limits.Requests, 1, now)
		}
		if e.Limits.Tokens > 0 {
			x.tokens = perMinute(e.Limits.Tokens, 10, now)
		}
		for _, base := range append([]string{e.URL}, e.Replicas...) {
			if err := CheckURL(base); err != nil {
				return nil, fmt.Errorf("expert %s: %w", e.ID, err)
			}
			key := key
			if e.KeyEnv == "" && o.Key != "" && e.Handler == nil {
				at := hostOf(base)
				if o.KeyHost != "" && at != o.KeyHost {
					key = ""
				} else if h.keyHost != "" && at != h.keyHost {
					return nil, fmt.Errorf("%s is set, and experts are on several hosts (%s, %s): say with key_env whose key it is", o.KeyName, h.keyHost, at)
				} else {
					h.keyHost = at
				}
			}
			via := o.Transport
			if e.Handler != nil {
				via = here{e.Handler}
			}
			x.servers = append(x.servers, h.server(strings.TrimRight(base, "/"), key, via, cmp.Or(e.Limits.Concurrency, o.Concurrency)))
		}
		x.URL = x.servers[0].base
		h.ids[e.ID] = x
		h.experts = append(h.experts, x)
	}
	return h, nil
}

// KeyHost is the one host that is sent the key of HTTPOptions; empty: none is.
func (h *HTTP) KeyHost() string { return h.keyHost }

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Hostname()
}

// server returns the server at an address with a key.
func (h *HTTP) server(base, key string, via http.RoundTripper, most int) *server {
	for _, s := range h.all {
		if s.base == base && s.key == key {
			s.most = max(s.most, float64(most))
			s.window = s.most
			return s
		}
	}
	s := &server{base: base, key: key, via: via, state: ready, most: float64(most), window: float64(most), again: map[Class]int{}}
	h.all = append(h.all, s)
	return s
}

// CheckURL says what is wrong with the address of a server.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("url %q: want a base URL such as http://localhost:8001/v1", address)
	}
	return nil
}

// Close ends the connections and stops looking after servers. Requests must have ended.
func (h *HTTP) Close() {
	h.stop()
	h.mu.Lock()
	for _, e := range h.experts {
		if e.timer != nil {
			e.timer.Stop()
		}
	}
	h.mu.Unlock()
	h.busy.Wait()
	if t, ok := h.o.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// Experts implements Pool.
func (h *HTTP) Experts() []routing.Expert {
	experts := make([]routing.Expert, len(h.experts))
	for i, e := range h.experts {
		experts[i] = e.Expert
	}
	return experts
}

// Complete implements Pool.
func (h *HTTP) Complete(ctx context.Context, r Request) (Completion, error) {
	e, q, err := h.single(&r)
	if err != nil {
		return Completion{}, err
	}
	return h.ask(ctx, e, q, r.Attempts)
}

// Chat implements Chatter.
func (h *HTTP) Chat(ctx context.Context, r ChatRequest) (Completion, error) {
	e, q, err := h.question(&r)
	if err != nil {
		return Completion{}, err
	}
	return h.ask(ctx, e, q, r.Attempts)
}

func (h *HTTP) single(r *Request) (*expert, question, error) {
	messages := [1]Message{{Role: "user", Content: r.Prompt}}
	return h.question(&ChatRequest{Expert: r.Expert, Messages: messages[:], Seed: r.Seed, Sampling: r.Sampling, MaxTokens: r.MaxTokens})
}

// question writes a request as it is sent, and says whom to ask. Requests wait by the thousand, and their stacks are most of the
// memory that they need: what is done before and after the wait is in functions of its own, which need none of it meanwhile.
func (h *HTTP) question(r *ChatRequest) (*expert, question, error) {
	e, err := h.endpoint(r.Expert)
	if err != nil {
		return nil, question{}, err
	}
	q := question{path: "/chat/completions", limit: cmp.Or(r.MaxTokens, e.MaxTokens), whole: len(r.Tools) > 0 || r.Top > 0}
	for _, m := range r.Messages {
		q.prompt += len(m.Content)
	}
	q.prompt += len(r.Sampling.System)
	q.body, q.off = e.body(*r, q.prompt), len(off(r.Sampling))
	return e, q, nil
}

// endpoint returns the expert of an id.
func (h *HTTP) endpoint(id string) (*expert, error) {
	if e, ok := h.ids[id]; ok {
		return e, nil
	}
	return nil, fmt.Errorf("%w %q; the pool has: %s", ErrUnknownExpert, id, list(routing.IDs(h.Experts())))
}

// question is a request as it is sent.
type question struct {
	path    string // below the base URL
	body    []byte
	prompt  int      // bytes of the messages
	limit   int      // tokens; 0: none
	off     int      // bytes of the fields at the end of the body that say of something that it is off
	whole   bool     // calls of tools and first tokens are short and come in one piece
	vectors *vectors // asked for in place of a completion; nil: a completion is
}

// ask asks until there is an answer, or none to be had.
func (h *HTTP) ask(ctx context.Context, e *expert, q question, hears Attempts) (Completion, error) {
	var waiting time.Time // since the first attempt that counted as none
	stale := false        // an attempt met a connection that was not kept
	do := ""              // what to change for an attempt that took longer than something on the way waits
	var own patient
	for tries := 0; ; {
		place, err := h.admit(ctx, e, q.prompt, q.limit)
		if err != nil {
			return Completion{}, err
		}
		if place.err != nil {
			place.err.do = do
			return Completion{}, h.failure(e, nil, place.err)
		}
		s := place.s
		if hears != nil {
			if err := hears.Begin(ctx, s.base); err != nil {
				h.mu.Lock()
				h.leave(e, place)
				h.mu.Unlock()
				return Completion{}, err
			}
		}
		sent := time.Now()
		a := Attempt{Server: s.base, Class: Answered}
		c, trouble := h.try(ctx, e, s, q, &a)
		if trouble != nil {
			a.Class, a.Error = trouble.class, line(trouble.err.Error(), s.key)
		}
		if hears != nil {
			hears.End(a)
		}
		h.release(e, place, sent, float64(a.Usage.In+a.Usage.Out), trouble)
		switch {
		case trouble == nil:
			h.mu.Lock()
			e.answered, e.streak = true, 0
			h.mu.Unlock()
			return c, nil
		case ctx.Err() != nil:
			return Completion{}, ctx.Err()
		case trouble.anew:
			q.whole = q.whole || trouble.whole
			continue
		case trouble.stale && !stale:
			stale = true
			continue
		case trouble.free():
			if waiting.IsZero() {
				waiting = time.Now()
			}
			if time.Since(waiting) < h.o.ServerWait {
				continue
			}
		default:
			if h.ill(e, &own, trouble) {
				if err := h.rest(ctx, e, s, &own, trouble); err != nil {
					return Completion{}, err
				}
				tries = 0
				continue
			}
			if trouble.late {
				do = trouble.do
			}
			if tries++; tries < trouble.again(h.o.Tries) {
				q.whole = q.whole || trouble.whole && tries > 1
				if err := h.pause(ctx, e, s, trouble, tries); err != nil {
					return Completion{}, err
				}
				continue
			}
			if len(trouble.head) > 0 {
				trouble.err = fmt.Errorf("%w (it begins with %q)", trouble.err, line(string(trouble.head[:min(len(trouble.head), 100)]), s.key))
			}
			trouble.do = cmp.Or(trouble.do, do)
			if tries > 1 {
				trouble.err = fmt.Errorf("%w, and none of %d tries went better", trouble.err, tries)
			}
		}
		return Completion{}, h.failure(e, s, trouble)
	}
}

// pause says that a request is asked again, and waits before it is.
func (h *HTTP) pause(ctx context.Context, e *expert, s *server, t *trouble, tries int) error {
	wait := h.o.Wait
	for range tries - 1 {
		wait = min(wait*3/2, time.Minute)
	}
	wait = wait/2 + time.Duration(mathrand.Int64N(int64(wait)))
	h.mu.Lock()
	s.again[t.class]++
	n := s.again[t.class]
	h.mu.Unlock()
	level := slog.LevelInfo
	if tens(n) {
		level = slog.LevelWarn
	}
	why := line(t.err.Error(), s.key)
	if t.do != "" {
		why += ": " + t.do
	}
	h.o.Log.Log(ctx, level, "asking again", "expert", e.ID, "server", s.base, "why", why, "head", line(string(t.head), s.key),
		"in", wait.Round(time.Millisecond), "try", tries+1, "of", t.again(h.o.Tries), "so far", n)
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failure is the error of a request that has no answer. If every request to the expert fails alike it wraps
// ErrMisconfigured.
func (h *HTTP) failure(e *expert, s *server, t *trouble) error {
	h.mu.Lock()
	if e.failed != t.class {
		e.streak = 0
	}
	e.failed = t.class
	e.streak++
	streak, answered := e.streak, e.answered
	h.mu.Unlock()
	s = cmp.Or(s, e.servers[0])
	text := fmt.Sprintf("expert %s: %s: %s", e.ID, s.base, line(t.err.Error(), s.key))
	advice := h.advice(e, t)
	all := t.class == Local || t.debt || t.keyed
	switch t.class {
	case Key, Model, Moved:
		all = all || !answered || streak >= alike
	case Refused, Protocol, Filtered, Unfinished:
		all = !answered && streak >= alike
	}
	if advice != "" {
		text += ": " + advice
	}
	if all {
		return &told{text, append([]error{ErrMisconfigured}, t.kinds()...)}
	}
	return &Failure{Class: t.class, Again: t.later(), Early: !answered, Err: &told{text, t.kinds()}}
}

// advice says what to change, where a server's words tell.
func (h *HTTP) advice(e *expert, t *trouble) string {
	text := strings.ToLower(t.err.Error())
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case t.do != "":
		return t.do
	case t.debt:
		return "pay the service that is asked, or raise what may be spent there, and the same command goes on"
	case t.class == Protocol && bytes.HasPrefix(bytes.TrimSpace(t.head), []byte("<")):
		return "that is a page for people; does url lead to the API?"
	case t.class == Key && e.KeyEnv != "":
		return fmt.Sprintf("set the environment variable %s, which key_env names, to a key of this server", e.KeyEnv)
	case t.class == Key && h.o.Key != "":
		return fmt.Sprintf("%s holds no key of this server: correct it, or name another variable with key_env", h.o.KeyName)
	case t.class == Key:
		return fmt.Sprintf("set %s to a key of this server, or name a variable that holds one with key_env", h.o.KeyName)
	case (t.class == Unfinished || t.class == Broken) && has("the stream"):
		return "if the server cannot stream, or something on the way cuts streams, set whole: true of the expert in the pool file"
	case t.class == Model && e.listed && has("404 not found: not found"):
		return fmt.Sprintf("it lists %q, and takes no such requests of it: with vLLM, --runner pooling serves vectors and --runner generate answers", e.Model)
	case t.class == Model:
		return fmt.Sprintf("is %q the name that the server knows the model by, and does url end as its address does?", e.Model)
	case t.class == Refused && has("max_completion_tokens") && has("unsupported", "not supported", "instead"):
		return "set limit_field: max_completion_tokens of the expert in the pool file"
	case t.class == Refused && has("maximum context length", "context window", "max_model_len") && e.MaxTokens == 0:
		return "start the server with a larger --max-model-len, or leave out the longest texts"
	case t.class == Refused && has("maximum context length", "context window", "max_model_len"):
		return fmt.Sprintf("start the server with a larger --max-model-len, or lower the expert's max_tokens (%d)", e.MaxTokens)
	case t.class == Refused && has("max_tokens", "max_completion_tokens") && has("too large", "at most", "valid range"):
		return fmt.Sprintf("lower the expert's max_tokens (%d) in the pool file", e.MaxTokens)
	case t.class == Refused && has("unrecognized", "unexpected", "unsupported", "not supported", "unknown", "extra inputs", "not permitted") && has("temperature", "top_p", "top_k", "min_p", "seed"):
		return "name what the server refuses in leave_out of the pool file's sampling, or of the expert's"
	}
	return ""
}

// errLate are the causes that a try's context ends with when we end it.
var (
	errFirst = errors.New("no first byte")
	errIdle  = errors.New("no further byte")
	errSlow  = errors.New("too slow")
)

// watch ends a try that is silent or too long.
type watch struct {
	io.Reader
	idle  time.Duration
	timer *time.Timer
	begun *atomic.Bool
	last  time.Time // that a byte came
}

func (w *watch) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.begun.Store(true)
		w.timer.Reset(w.idle)
		w.last = time.Now()
	}
	return n, err
}

// hush is how long a connection must have been silent when it broke for that to be the cause.
const hush = 10 * time.Second

// try makes one attempt and puts into a what it cost.
func (h *HTTP) try(ctx context.Context, e *expert, s *server, q question, a *Attempt) (Completion, *trouble) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var begun atomic.Bool
	begin := time.Now()
	var timer *time.Timer
	expired := func() {
		left := h.o.FirstByte - time.Since(begin)
		switch {
		case begun.Load():
			cancel(errIdle)
		case left <= 0:
			cancel(errFirst)
		case h.health(ctx, s) == nil:
			if !begun.Load() { // or else what was read has set it
				timer.Reset(min(h.o.Idle, left))
			}
		case !begun.Load():
			cancel(errIdle)
		}
	}
	timer = time.AfterFunc(math.MaxInt64, expired)
	timer.Reset(h.o.FirstByte) // not before it is there to be set again
	defer timer.Stop()
	if h.o.RequestTime > 0 {
		slow := time.AfterFunc(h.o.RequestTime, func() { cancel(errSlow) })
		defer slow.Stop()
	}
	streamed := !(q.whole || e.Whole || e.whole.Load())
	body := q.body
	off := unsaid
	if q.off > 0 {
		off = offs(e.off.Load())
		body = off.say(body, q.off)
	}
	if streamed {
		body = asStream(body, s.vllm.Load())
	}
	id := fmt.Sprintf("%s%012x", h.name, h.asked.Add(1))
	response, kept, err := h.post(ctx, s, q.path, body, id)
	r := newReply()
	r.key = s.key
	defer r.free()
	w := &watch{idle: h.o.Idle, timer: timer, begun: &begun, last: begin}
	var t *trouble
	switch {
	case err != nil:
		t = lost(err)
		t.stale = kept && !t.down
	case response.StatusCode != http.StatusOK:
		begun.Store(true)
		timer.Reset(min(h.o.Idle, time.Minute))
		t = h.turnedDown(e, s, response, streamed, off)
	default:
		// vLLM sends the head at once and nothing while a request waits for its turn: it may wait as long as for the head, if the server is well.
		timer.Reset(min(h.o.Idle, max(0, h.o.FirstByte-time.Since(begin))))
		w.Reader, w.last = response.Body, time.Now()
		switch {
		case q.vectors != nil:
			t = q.vectors.read(w, r, &h.bodies)
		case strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream"):
			t = r.stream(w)
		default:
			t = r.whole(w, &h.bodies)
		}
		response.Body.Close()
		if t != nil && t.whole && t.class == Unfinished {
			h.interrupted(e, s, t)
		}
		if t == nil && q.vectors == nil {
			t = h.finished(e, s, r, q.limit, id)
		}
	}
	if silent := time.Since(w.last).Round(time.Second); t != nil && t.cause != nil && !t.down && t.class != Local && silent >= hush {
		t.err = fmt.Errorf("%w after %s without a byte", t.err, silent)
		t.late, t.do = true, "if something on the way ends what is silent for so long, "+longer
	}
	a.Usage, a.Estimated = cost.Usage{}, false
	sent := err == nil && response.StatusCode == http.StatusOK
	if cause := context.Cause(ctx); t != nil && cause != nil {
		t = h.cut(cause)
		sent = sent || err != nil && !lost(err).down
	}
	switch {
	case t == nil:
		a.Usage, a.Estimated = r.tokens(q.prompt, q.limit)
	case sent && (t.class == Cancelled || t.class == Idle || t.class == Slow || r.bytes > 0):
		// The server worked for us, and bills it as far as it came.
		a.Usage, a.Estimated = r.tokens(q.prompt, q.limit)
		a.Estimated = a.Estimated || r.finish == ""
	}
	if t != nil {
		return Completion{}, t
	}
	c := r.completion()
	c.Usage, c.Estimated, c.Server = a.Usage, a.Estimated, s.base
	return c, nil
}

// turnedDown reads why a server gave no answer to a request that said in this way what is off.
func (h *HTTP) turnedDown(e *expert, s *server, response *http.Response, streamed bool, said offs) *trouble {
	words, _ := io.ReadAll(io.LimitReader(response.Body, maxHead))
	response.Body.Close()
	t := refusal(response, words, s.key)
	text := strings.ToLower(string(words))
	topK := strings.Contains(text, "top_k")
	switch {
	case t.class != Refused:
	case said != unsaid && (topK || strings.Contains(text, "min_p")):
		t.anew = true
		next := unsaid
		if said == negative && topK {
			next = zero
		}
		if e.off.CompareAndSwap(int32(said), int32(next)) && next == unsaid {
			h.o.Log.Info("top_k and min_p are not said to be off: this server does not know them", "expert", e.ID, "server", s.base, "why", line(t.err.Error(), s.key))
		}
	case streamed && aboutStreams.MatchString(text):
		t.anew = true
		if e.whole.Swap(true) {
			return t
		}
		h.o.Log.Warn("this server does not stream: answers are asked for whole", "expert", e.ID, "server", s.base, "why", line(t.err.Error(), s.key))
	}
	return t
}

// aboutStreams is what a server says that does not stream, and no word of a proxy's upstream.
var aboutStreams = regexp.MustCompile(`\bstream`)

// interrupted has a request asked again, for the whole answer, whose stream a server ended before the answer did, and all others once
// that is no chance.
func (h *HTTP) interrupted(e *expert, s *server, t *trouble) {
	t.anew = true
	if e.cut.Add(1) == several && !e.whole.Swap(true) {
		h.o.Log.Warn("this server ends streams before their answers, as llama-cpp-python does when another request comes: answers are asked for whole", "expert", e.ID, "server", s.base, "why", line(t.err.Error(), s.key))
	}
}

// cut says why we ended a try.
func (h *HTTP) cut(cause error) *trouble {
	switch {
	case errors.Is(cause, errFirst):
		return &trouble{class: Idle, err: fmt.Errorf("no byte of an answer came within %s", h.o.FirstByte)}
	case errors.Is(cause, errIdle):
		return &trouble{class: Idle, err: fmt.Errorf("no further byte came within %s", h.o.Idle)}
	case errors.Is(cause, errSlow):
		return &trouble{class: Slow, err: fmt.Errorf("one try took longer than %s", h.o.RequestTime)}
	}
	return &trouble{class: Cancelled, err: errors.New("cancelled")}
}

// finished says whether an answer of at most so many tokens that has come to its end is one.
func (h *HTTP) finished(e *expert, s *server, r *reply, limit int, id string) *trouble {
	if t := r.ended(); t != nil {
		return t
	}
	switch said := len(bytes.TrimSpace(r.text)) > 0 || r.calls != nil; {
	case r.finish != "stop":
	case said:
		e.spoke.Store(true)
	case len(r.reasoning) > 0 && !e.spoke.Load(): // models do that now and then, and a parser that does not fit makes them do it always
		if n := e.unspoken.Add(1); n > 1 && tens(int(n)) {
			h.o.Log.Warn("every answer that was not cut is thinking alone, so nothing is graded: does the server's reasoning parser fit the model?", "expert", e.ID, "so far", n)
		}
	}
	if n := r.early(limit); n > 0 {
		if times := e.early.Add(1); tens(int(times)) {
			h.o.Log.Warn(fmt.Sprintf("an answer was cut after at most %d tokens, before max_tokens (%d): is the server's context window too small for both the prompt and max_tokens? Cut answers are graded wrong", n, limit), "expert", e.ID, "server", s.base, "so far", times)
		}
	}
	switch r.finish {
	case "stop", "length", "tool_calls", "function_call":
	default:
		if _, known := h.strange.LoadOrStore(r.finish, true); !known {
			h.o.Log.Warn("an answer ended for a reason that is not known here; it is kept and graded like any other", "finish_reason", line(r.finish, ""))
		}
	}
	// vLLM makes the id of the answer from that of the request.
	if of, ok := strings.CutPrefix(string(r.id), "chatcmpl-"); ok && strings.HasPrefix(of, ours) && of != id {
		return &trouble{class: Protocol, err: errors.New("this is the answer to another request")}
	}
	return nil
}
