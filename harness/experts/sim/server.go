// Simulated models behind the HTTP protocol of real ones.

package sim

// The server that puts simulated experts and routers behind the protocol of real ones, on loopback or for others.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Server puts a pool behind the part of the OpenAI protocol that experts.HTTP speaks: POST /v1/chat/completions, GET
// /v1/models and GET /health. A model may be asked for by its name or by the expert's id.
//
// It answers with the pool's own token counts. It has no streaming, no n above 1 and no authentication, and says
// so; fields it does not know are ignored, as vLLM ignores them. A request without a seed has seed 0, so the same
// request gets the same response.
type Server struct {
	pool   experts.Pool
	names  map[string]string // model or id -> id
	models []string
	log    *slog.Logger
	mux    *http.ServeMux
	bodies wire.Bodies
}

// NewServer returns the handler. log receives failures that are not the caller's fault.
func NewServer(pool experts.Pool, log *slog.Logger) *Server {
	s := &Server{pool: pool, names: map[string]string{}, log: log, mux: http.NewServeMux()}
	for _, e := range pool.Experts() {
		s.names[e.ID] = e.ID
	}
	for _, e := range pool.Experts() {
		s.names[e.Model] = e.ID
		s.models = append(s.models, e.Model)
	}
	s.mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.mux.HandleFunc("GET /v1/models", s.list)
	s.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "NotFoundError", fmt.Sprintf("there is no %s %s here; there are: POST /v1/chat/completions, GET /v1/models, GET /health", r.Method, r.URL.Path))
	})
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

const maxRequest = 1 << 20 // bytes

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	buf := s.bodies.Get()
	defer s.bodies.Put(buf)
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, maxRequest)); err != nil {
		writeError(w, http.StatusBadRequest, "BadRequestError", "cannot read the request: "+err.Error())
		return
	}
	var q chatRequest
	if err := json.Unmarshal(buf.Bytes(), &q); err != nil {
		writeError(w, http.StatusBadRequest, "BadRequestError", "the request is not a chat completion request: "+err.Error())
		return
	}
	prompt, fault := q.prompt()
	if fault != "" {
		writeError(w, http.StatusBadRequest, "BadRequestError", fault)
		return
	}
	id, ok := s.names[q.Model]
	if !ok {
		writeError(w, http.StatusNotFound, "NotFoundError", fmt.Sprintf("the model %q does not exist; there are: %s", q.Model, list(s.models)))
		return
	}
	c, err := s.pool.Complete(r.Context(), experts.Request{
		Expert:    id,
		Prompt:    prompt,
		Seed:      seed.Seed(q.Seed),
		Sampling:  spec.Sampling{Temperature: q.Temperature, TopP: q.TopP, TopK: q.TopK},
		MaxTokens: q.limit(),
	})
	switch {
	case err == nil:
	case r.Context().Err() != nil:
		return // the client has gone
	case errors.Is(err, experts.ErrUnknownProblem), errors.Is(err, experts.ErrUnknownExpert):
		writeError(w, http.StatusNotFound, "NotFoundError", err.Error())
		return
	default:
		s.log.Error("completion failed", "expert", id, "err", err)
		writeError(w, http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	}
	b := appendChatResponse(make([]byte, 0, len(c.Text)+len(c.Reasoning)+512), q, c)
	w.Header()["Content-Type"] = jsonType
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.Write(b)
}

var jsonType = []string{"application/json"}

func (s *Server) list(w http.ResponseWriter, _ *http.Request) {
	b := []byte(`{"object":"list","data":[`)
	for i, m := range s.models {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"object":"model","created":0,"owned_by":"entrorouter","id":`...)
		b = append(wire.AppendJSON(b, m), '}')
	}
	w.Header()["Content-Type"] = jsonType
	w.Write(append(b, `]}`...))
}

// writeError answers with an error body as OpenAI and vLLM write it.
func writeError(w http.ResponseWriter, status int, kind, message string) {
	b := wire.AppendJSON([]byte(`{"error":{"message":`), message)
	b = wire.AppendJSON(append(b, `,"type":`...), kind)
	b = strconv.AppendInt(append(b, `,"param":null,"code":`...), int64(status), 10)
	w.Header()["Content-Type"] = jsonType
	w.WriteHeader(status)
	w.Write(append(b, "}}"...))
}

// chatRequest is the part of a chat completion request that is read.
type chatRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Seed                int64   `json:"seed"`
	MaxTokens           int     `json:"max_tokens"`
	MaxCompletionTokens int     `json:"max_completion_tokens"`
	Temperature         float64 `json:"temperature"`
	TopP                float64 `json:"top_p"`
	TopK                int     `json:"top_k"`
	N                   int     `json:"n"`
	Stream              bool    `json:"stream"`
}

// prompt returns the last user message, or what is wrong with the request.
func (q chatRequest) prompt() (prompt, fault string) {
	switch {
	case q.Stream:
		return "", "stream must be false: this server does not stream"
	case q.N > 1:
		return "", fmt.Sprintf("n is %d: it must be 1, send one request a response", q.N)
	case q.MaxTokens < 0 || q.MaxCompletionTokens < 0:
		return "", "max_tokens must be at least 1"
	}
	for i := len(q.Messages) - 1; i >= 0; i-- {
		if q.Messages[i].Role == "user" {
			return q.Messages[i].Content, ""
		}
	}
	return "", "messages holds no message of role user"
}

// limit is the token limit; max_completion_tokens wins, as in vLLM.
func (q chatRequest) limit() int {
	if q.MaxCompletionTokens > 0 {
		return q.MaxCompletionTokens
	}
	return q.MaxTokens
}

func appendChatResponse(b []byte, q chatRequest, c experts.Completion) []byte {
	b = append(b, `{"id":"chatcmpl-`...)
	b = strconv.AppendInt(b, q.Seed, 36)
	b = wire.AppendJSON(append(b, `","object":"chat.completion","created":0,"model":`...), q.Model)
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	b = wire.AppendJSON(b, c.Text)
	if c.Reasoning != "" {
		b = wire.AppendJSON(append(b, `,"reasoning":`...), c.Reasoning)
	}
	b = wire.AppendJSON(append(b, `},"logprobs":null,"finish_reason":`...), string(c.Finish))
	b = strconv.AppendInt(append(b, `}],"usage":{"prompt_tokens":`...), c.Usage.In, 10)
	b = strconv.AppendInt(append(b, `,"completion_tokens":`...), c.Usage.Out, 10)
	b = strconv.AppendInt(append(b, `,"total_tokens":`...), c.Usage.In+c.Usage.Out, 10)
	return append(b, "}}"...)
}

// Join makes one pool of two. Of models with one id those of the first answer.
func Join(a, b experts.Pool) experts.Pool {
	j := joined{all: append(a.Experts(), b.Experts()...), of: map[string]experts.Pool{}}
	for _, p := range []experts.Pool{b, a} {
		for _, e := range p.Experts() {
			j.of[e.ID] = p
		}
	}
	return j
}

type joined struct {
	all []routing.Expert
	of  map[string]experts.Pool
}

func (j joined) Experts() []routing.Expert { return slices.Clone(j.all) }

func (j joined) Complete(ctx context.Context, q experts.Request) (experts.Completion, error) {
	if p, ok := j.of[q.Expert]; ok {
		return p.Complete(ctx, q)
	}
	return experts.Completion{}, fmt.Errorf("%w %q; the pool has: %s", experts.ErrUnknownExpert, q.Expert, list(slices.Sorted(maps.Keys(j.of))))
}

// grace is how long requests under way may take once a server is told to stop.
const grace = 5 * time.Second

// Serve answers on l until ctx ends, then lets requests under way finish for a short while. It closes l.
// The error is nil if ctx ended.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving on %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := srv.Shutdown(limit); err != nil {
		srv.Close()
	}
	<-failed
	return nil
}

// Loopback is a server on a free port of this machine.
type Loopback struct {
	URL  string // base URL, ending in /v1
	stop context.CancelFunc
	done chan error
}

// StartLoopback serves a pool until Close.
func StartLoopback(pool experts.Pool, log *slog.Logger) (*Loopback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the loopback interface: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Loopback{URL: "http://" + l.Addr().String() + "/v1", stop: stop, done: make(chan error, 1)}
	go func() { s.done <- Serve(ctx, l, NewServer(pool, log), log) }()
	return s, nil
}

// Endpoints returns models at the address of this server.
func (s *Loopback) Endpoints(models []routing.Expert) []experts.Endpoint {
	endpoints := make([]experts.Endpoint, len(models))
	for i, e := range models {
		endpoints[i] = experts.Endpoint{Expert: e, URL: s.URL}
	}
	return endpoints
}

// Close stops the server and waits until it has stopped.
func (s *Loopback) Close() error {
	s.stop()
	err := <-s.done
	s.done <- nil // a second Close has nothing to wait for
	return err
}
