// What a Handler is, the server's answer before it is spoilt, and the count of both.

package fault

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/entrorouter/entrorouter/harness/experts/vllm"
)

// Clock is the time that rules go by.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

type wall struct{}

func (wall) Now() time.Time                         { return time.Now() }
func (wall) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Served is the server's own count of one request for a chat completion.
type Served struct {
	Model   string
	Prompt  string // the text of the last message
	Seed    int64
	Attempt int // of this request, from 1
	Fault   int // number of the rule that was applied, from 1; 0: none
	Status  int // 0: nothing was sent
	In, Out int64
	Sent    int64 // tokens of Out that were sent: all, or those up to the last event of a stream that broke off
	Whole   bool  // everything was sent that an answer has, and the client had not gone
}

// Options say what a Handler works with.
type Options struct {
	Clock    Clock        // nil: the real one
	Listener *Listener    // what rules with Down take down; nil: there are none
	Served   func(Served) // called after each request for a chat completion, from many goroutines; nil: nobody counts
}

// Handler applies a plan to the answers of another handler. It reads an answer whole before it sends it on.
type Handler struct {
	next  http.Handler
	plan  Plan
	o     Options
	start time.Time
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	busy  sync.WaitGroup // connections that were taken over, and what waits

	mu       sync.Mutex
	attempts map[uint64]int
	came     []int // requests to the path of a rule
	met      []int // requests that met all conditions of a rule but Every
}

const completions = "/v1/chat/completions"

// asked is a request as rules see it.
type asked struct {
	path          string
	body          []byte
	model, prompt string
	seed          int64
	key           uint64
	bearer        string
}

func read(r *http.Request) (asked, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, vllm.MaxRequest+1)) // what is longer is refused by the server
	q := asked{path: r.URL.Path, body: body, bearer: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	got := gjson.GetManyBytes(body, "model", "messages", "seed")
	q.model, q.seed = got[0].String(), got[2].Int()
	if messages := got[1].Array(); len(messages) > 0 {
		q.prompt = messages[len(messages)-1].Get("content").String()
	}
	sum := fnv.New64a()
	io.WriteString(sum, q.path)
	for _, part := range got {
		io.WriteString(sum, "\x00"+part.Raw)
	}
	q.key = sum.Sum64()
	return q, err
}

// answer is what a handler answered.
type answer struct {
	status  int
	header  http.Header
	stream  bool
	parts   [][]byte // the events of a stream, each with the empty line that ends it; else the body
	told    []int64  // tokens that there are so far by each part; 0: it does not say
	in, out int64    // tokens
}

// WriteHeader and those below implement http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.status = cmp.Or(a.status, status)
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.parts = append(a.parts, bytes.Clone(b))
	return len(b), nil
}

func (a *answer) Flush() {}

// ask has the request answered, with some values changed. A stream is asked to say its tokens in every event, and what the
// client did not ask for is taken out again.
func (h *Handler) ask(r *http.Request, q asked, edits map[string]string) *answer {
	body := q.body
	edit := func(path, value string) {
		if edited, err := sjson.SetRawBytes(body, path, []byte(value)); err == nil {
			body = edited
		}
	}
	for _, path := range sorted(edits) {
		edit(path, edits[path])
	}
	of := gjson.GetManyBytes(body, "stream", "stream_options.include_usage", "stream_options.continuous_usage_stats")
	if of[0].Bool() && json.Valid(body) { // else the server refuses it
		edit("stream_options", `{"include_usage":true,"continuous_usage_stats":true}`)
	}
	inner := r.Clone(r.Context())
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	a := &answer{header: http.Header{}}
	h.next.ServeHTTP(a, inner)
	a.WriteHeader(http.StatusOK)
	a.count(of[1].Bool(), of[2].Bool())
	return a
}

// count divides the body into parts and reads the tokens in them. usage says whether a stream has an event of its usage,
// and continuous whether the others say theirs.
func (a *answer) count(usage, continuous bool) {
	parts := [][]byte{bytes.Join(a.parts, nil)}
	if a.stream = strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream"); a.stream {
		parts = slices.DeleteFunc(bytes.SplitAfter(parts[0], []byte("\n\n")), func(p []byte) bool { return len(p) == 0 })
	}
	a.parts = nil
	for _, p := range parts {
		var told int64
		if u := gjson.GetBytes(data(p), "usage"); u.IsObject() {
			a.in, a.out = u.Get("prompt_tokens").Int(), u.Get("completion_tokens").Int()
			told = a.out
			last := len(gjson.GetBytes(data(p), "choices").Array()) == 0
			if a.stream && last && !usage {
				continue
			}
			if a.stream && !last && !continuous {
				if without, err := sjson.DeleteBytes(data(p), "usage"); err == nil {
					p = event(without)
				}
			}
		}
		a.parts, a.told = append(a.parts, p), append(a.told, told)
	}
}

// event is JSON as an event of a stream.
func event(body []byte) []byte { return slices.Concat([]byte("data: "), body, []byte("\n\n")) }

// data is the JSON of an event, or of a body that is no stream.
func data(part []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(part, []byte("data:")))
}

// wait waits for a time of the clock, and says whether nothing came between.
func (h *Handler) wait(ctx context.Context, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-h.o.Clock.After(d):
		return true
	case <-ctx.Done():
	}
	return false
}
