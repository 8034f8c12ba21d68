// Package vllm answers over HTTP as vLLM does, for models that are functions: simulated ones, and those of tests. It speaks
// the part of the protocol that clients of chat models meet.
package vllm

// The server: who is asked what, and which requests it refuses.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
	"github.com/entrorouter/entrorouter/harness/lines"
)

// Options say how models are served.
type Options struct {
	Key       string       // what a client must send as bearer token to paths below /v1; empty: nothing
	Reasoning bool         // thinking is taken out of the text and sent apart, as by a server with a reasoning parser
	Log       *slog.Logger // hears of failures that are not the caller's fault; must be set
}

// Server is the handler: POST /v1/chat/completions and /tokenize, GET /v1/models, /health, /ping, /version and /metrics.
//
// Fields of a request that it does not know are ignored, as vLLM ignores them; so are tools and log-probabilities. Whatever
// takes time in a real server takes none here: a stream is written at once.
type Server struct {
	models []Model
	index  map[string]int // by name and alias
	answer Func
	o      Options
	mux    *http.ServeMux
	bodies wire.Bodies
	counts []*counts // in the order of models
}

// New returns the server of models.
func New(models []Model, answer Func, o Options) *Server {
	s := &Server{models: slices.Clone(models), index: map[string]int{}, answer: answer, o: o, mux: http.NewServeMux()}
	for i, m := range models {
		if m.Alias != "" {
			s.index[m.Alias] = i
		}
	}
	for i, m := range models {
		s.index[m.Name] = i
		s.counts = append(s.counts, newCounts())
	}
	empty := func(http.ResponseWriter, *http.Request) {}
	s.mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, list(s.models)) })
	s.mux.HandleFunc("GET /health", empty)
	s.mux.HandleFunc("GET /ping", empty)
	s.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, []byte(`{"version":"`+version+`"}`))
	})
	s.mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		w.Write(metrics(s.models, s.counts))
	})
	s.mux.HandleFunc("POST /tokenize", s.tokenize)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&Error{http.StatusNotFound, NotFound, fmt.Sprintf("there is no %s %s here; there are: POST /v1/chat/completions and /tokenize, GET /v1/models, /health, /version and /metrics", r.Method, r.URL.Path)}).Write(w)
	})
	return s
}

// version is that of vLLM whose words and fields these are, and whose work it is not.
const version = "0.12.0+entrorouter"

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.o.Key != "" && strings.HasPrefix(r.URL.Path, "/v1") && r.Header.Get("Authorization") != "Bearer "+s.o.Key {
		writeJSON(w, http.StatusUnauthorized, []byte(Unauthorized))
		return
	}
	s.mux.ServeHTTP(w, r)
}

// MaxRequest is the most bytes of a request that is not refused.
const MaxRequest = 1 << 20

// read reads the JSON of a request.
func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) error {
	kind, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Content-Type")), ";")
	if kind != "application/json" {
		return &Error{http.StatusBadRequest, BadRequest, "Unsupported Media Type: Only 'application/json' is allowed"}
	}
	buf := s.bodies.Get()
	defer s.bodies.Put(buf)
	if _, err := buf.ReadFrom(http.MaxBytesReader(w, r.Body, MaxRequest)); err != nil {
		return &Error{http.StatusBadRequest, BadRequest, "cannot read the request: " + err.Error()}
	}
	if err := json.Unmarshal(buf.Bytes(), into); err != nil {
		return &Error{http.StatusBadRequest, BadRequest, "the request is not one for " + r.URL.Path + ": " + lines.Worded(err).Error()}
	}
	return nil
}

// tokenize counts the tokens of a prompt, or of the last user message of a chat.
func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Model    string    `json:"model"`
		Prompt   string    `json:"prompt"`
		Messages []message `json:"messages"`
	}
	if err := s.read(w, r, &q); err != nil {
		s.fail(w, err)
		return
	}
	i, ok := s.index[q.Model]
	if !ok && q.Model != "" {
		s.fail(w, &Error{http.StatusNotFound, NotFound, fmt.Sprintf("The model `%s` does not exist.", q.Model)})
		return
	}
	if q.Messages != nil {
		var fault string
		if q.Prompt, fault = (chatRequest{TopP: 1, N: 1, Messages: q.Messages}).prompt(); fault != "" {
			s.fail(w, &Error{http.StatusBadRequest, BadRequest, fault})
			return
		}
	}
	writeJSON(w, http.StatusOK, tokenized(q.Prompt, s.models[i].Window))
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	q := chatRequest{Temperature: 1, TopP: 1, N: 1}
	err := s.read(w, r, &q)
	var choices []choice
	if err == nil {
		choices, err = s.choices(r.Context(), q)
	}
	if err != nil {
		if r.Context().Err() == nil { // else the client has gone
			s.fail(w, err)
		}
		return
	}
	s.counts[s.index[q.Model]].add(choices)
	reply := reply{id: cmp.Or(r.Header.Get("X-Request-Id"), q.RequestID, strconv.FormatInt(q.Seed, 36)), model: q.Model, choices: choices}
	if !q.Stream {
		writeJSON(w, http.StatusOK, reply.append(make([]byte, 0, reply.size()+512)))
		return
	}
	var o streaming
	if q.StreamOptions != nil {
		o = *q.StreamOptions
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Write(reply.appendStream(make([]byte, 0, 4*reply.size()+1024), o))
	http.NewResponseController(w).Flush() // a stream has no Content-Length; a writer that cannot flush has sent it all
}

// choices asks for the responses of a request.
func (s *Server) choices(ctx context.Context, q chatRequest) ([]choice, error) {
	i, ok := s.index[q.Model]
	if !ok {
		return nil, &Error{http.StatusNotFound, NotFound, fmt.Sprintf("The model `%s` does not exist.", q.Model)}
	}
	prompt, fault := q.prompt()
	if fault == "" {
		fault = q.room(s.models[i].Window, tokens(prompt))
	}
	if fault != "" {
		return nil, &Error{http.StatusBadRequest, BadRequest, fault}
	}
	one := Request{Model: s.models[i].Name, Prompt: prompt, Seed: q.Seed, MaxTokens: q.limit(), Temperature: q.Temperature, TopP: q.TopP, TopK: q.TopK}
	s.counts[i].running.Add(1)
	defer s.counts[i].running.Add(-1)
	choices := make([]choice, q.N)
	for k := range choices {
		one.Seed = q.Seed + int64(k) // as vLLM has it, so seeds 1 and 2 of five share four
		a, err := s.answer(ctx, one)
		if err != nil {
			return nil, err
		}
		choices[k] = newChoice(a, q.Stop, s.o.Reasoning)
	}
	return choices, nil
}

func (s *Server) fail(w http.ResponseWriter, err error) {
	var e *Error
	if !errors.As(err, &e) {
		s.o.Log.Error("completion failed", "err", err)
		e = &Error{http.StatusInternalServerError, InternalError, err.Error()}
	}
	e.Write(w)
}
