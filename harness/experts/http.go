// What a client has: its options, its experts and their servers, and one message to a server.

package experts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// HTTPOptions says how servers are asked. Zero fields take the default in parentheses.
type HTTPOptions struct {
	Concurrency int           // requests in flight at a server; one that is overloaded gets fewer (64)
	Key         string        // sent as bearer token to endpoints without KeyEnv, which must be on one host or have KeyHost; empty: none
	KeyHost     string        // the one host that is sent Key; empty: that of the endpoints
	KeyName     string        // the variable that Key is from, for messages (ENTROROUTER_API_KEY)
	ServerWait  time.Duration // that an expert's servers may be loading, limited or down until its requests fail; negative: none (30m)
	FirstByte   time.Duration // until a stream begins, or a whole answer is there: servers say nothing while requests queue (2h)
	Idle        time.Duration // without a byte within an answer (10m)
	RequestTime time.Duration // of one attempt in all (no limit)
	Tries       int           // of one request, the first included; of answers that are no answer of this protocol 3 at most (6)
	Wait        time.Duration // before the second try; grows by half each time, with jitter (500ms)
	Probe       time.Duration // between looks at a server that is down; grows to 15s (2s)
	Log         *slog.Logger  // hears of retries and of the state of servers; must be set

	Transport http.RoundTripper // carries requests; redirects are refused whatever it is (one of net/http)
}

// Timing is what a pool file says of waiting and trying.
func (o HTTPOptions) Timing(a spec.Asking) HTTPOptions {
	seconds := func(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }
	o.ServerWait, o.FirstByte, o.Idle = seconds(a.ServerWait), seconds(a.FirstByte), seconds(a.IdleTimeout)
	o.RequestTime, o.Tries = seconds(a.RequestTime), a.Tries
	return o
}

// HTTP is a pool of experts behind OpenAI-compatible servers such as vLLM. It sends one request a response (n = 1), as a
// stream where the server can: bytes show that a server is alive, and an answer of an hour needs no timeout of an hour.
//
// A request that met a broken connection, a failing server or an answer that was not finished is tried again with the same
// seed. A server that is loading, limited or down is waited for, which takes no tries. An answer that the token limit cut
// is an answer. A request that fails fails alone, with a Failure, unless every one would.
type HTTP struct {
	o       HTTPOptions
	ids     map[string]*expert
	experts []*expert
	bodies  wire.Bodies
	name    string // of this client in request ids
	keyHost string // that is sent the key of the options; empty: none is
	asked   atomic.Uint64
	strange sync.Map // finish reasons that nobody knows and that were mentioned

	mu   sync.Mutex // guards servers and experts
	all  []*server
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	busy sync.WaitGroup // probes
}

// state is whether a server takes requests.
type state string

const (
	ready   state = "ready"
	loading state = "loading" // it answers, but not yet to requests
	limited state = "limited" // it asked to be left alone for a while
	down    state = "down"
)

// server is one address, with one key. It is guarded by HTTP.mu but for vllm.
type server struct {
	base string // ending in /v1
	key  string
	via  http.RoundTripper // carries requests to it
	vllm atomic.Bool       // it has a /version, as vLLM does

	version string

	state    state
	why      string    // of the last trouble
	since    time.Time // of the first trouble since it last answered; zero: there is none
	until    time.Time // it is left alone until then
	refusals int       // in a row that did not say how long to wait
	limits   int       // how often it was left alone since it asked for that
	probing  bool
	gone     int           // how often it went, that is, was loading or down after it had been ready
	level    slog.Level    // of the last word about its state
	again    map[Class]int // requests that were asked again, by why

	inflight int
	most     float64   // of requests in flight
	window   float64   // of requests in flight, as it has shown to bear: at least 1
	cut      time.Time // when the window was last made smaller: what was sent before says nothing new
}

func (s *server) root() string { return strings.TrimSuffix(s.base, "/v1") }

// expert is an endpoint and who has it. It is guarded by HTTP.mu but for what is atomic.
type expert struct {
	Endpoint
	servers  []*server
	whole    atomic.Bool  // its servers were found not to stream
	off      atomic.Int32 // how its servers are told what is off, one of offs
	early    atomic.Int64 // answers that were cut before max_tokens
	cut      atomic.Int64 // streams that a server ended before their answers
	unspoken atomic.Int64 // answers that were not cut and hold thinking alone, as long as all do
	spoke    atomic.Bool  // one of them holds an answer
	room     int          // tokens of prompt and answer at the server that has least, set by Preflight; 0: none says
	narrow   *server      // that server
	forgets  bool         // a server forgets what does not fit into its room
	listed   bool         // a server that Preflight looked at says that it has the model

	inflight int
	most     int // of requests in flight
	requests bucket
	tokens   bucket
	mean     float64 // tokens of an answer; 0: there was none
	waiting  []*waiter
	timer    *time.Timer // wakes those who wait

	signs    int // of life so far: answers, and what one request alone was refused for
	answered bool
	failed   Class // what the last requests have in common since one was answered
	streak   int   // how many they are
	ill      illness
}

// illness is what an expert has whose servers are there and fail whatever they are asked, as a proxy does that has lost the server
// behind it. It ends with an answer.
type illness struct {
	requests int       // that have met it
	since    time.Time // when the first one did
	waited   bool      // one waits for its end
}

// waiter is a request that waits for its turn.
type waiter struct {
	turn   chan turn // of one
	prompt int       // bytes
	limit  int       // tokens
	gone   bool
}

// turn is a request's place at a server, or why it gets none.
type turn struct {
	s      *server
	tokens float64 // that were set aside for it
	err    *trouble
}

// post sends a request for a model, and says whether on a connection that was kept from an earlier one.
func (h *HTTP) post(ctx context.Context, s *server, path string, body []byte, id string) (response *http.Response, kept bool, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { kept = c.Reused }})
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, err
	}
	q.Header = make(http.Header, 3)
	q.Header["Content-Type"] = jsonType
	q.Header["X-Request-Id"] = []string{id}
	if s.key != "" {
		q.Header["Authorization"] = []string{"Bearer " + s.key}
	}
	response, err = s.via.RoundTrip(q)
	return response, kept, err
}

var jsonType = []string{"application/json"}

// patience is how long a short answer may take, where its caller says nothing else.
const patience = 30 * time.Second

// get fetches a short answer that is not for a model.
func (h *HTTP) get(ctx context.Context, s *server, address string) (*http.Response, []byte, error) {
	return h.fetch(ctx, s, s.key, http.MethodGet, address, nil)
}

// fetch is get with a key or none, and with a body of JSON.
func (h *HTTP) fetch(ctx context.Context, s *server, key, method, address string, send []byte) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	begun := time.Now()
	response, body, err := h.carry(ctx, s, key, method, address, send)
	if errors.Is(err, context.DeadlineExceeded) {
		err = late(fmt.Sprintf("%s did not answer within %s: is the server well, and is the url right?", address, time.Since(begun).Round(time.Second)))
	}
	return response, body, err
}

func (h *HTTP) carry(ctx context.Context, s *server, key, method, address string, send []byte) (*http.Response, []byte, error) {
	q, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(send))
	if err != nil {
		return nil, nil, err
	}
	if send != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		q.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := s.via.RoundTrip(q)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 8<<20))
	return response, body, err
}
