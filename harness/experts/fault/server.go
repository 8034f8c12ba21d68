// A server for tests: it answers what it is told to, fails as planned, and keeps its own books.

package fault

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/entrorouter/entrorouter/harness/experts/vllm"
)

// TB is the part of testing.TB that a Server needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Script is what a Server of a test answers. Zero fields take the default in parentheses.
type Script struct {
	Plan    Plan
	Models  []vllm.Model // (one called m)
	Answer  vllm.Func    // (four)
	Options vllm.Options // (no key, no reasoning parser, no log)
	Clock   Clock        // (the real one)
	Down    bool         // it does not listen before Up
}

// four answers every request with \boxed{4}: 3 tokens in, 9 out.
func four(context.Context, vllm.Request) (vllm.Answer, error) {
	return vllm.Answer{Text: `\boxed{4}`, Finish: "stop", In: 3, Out: 9}, nil
}

// Server is a server on loopback for the length of a test.
type Server struct {
	*Listener
	URL string // base URL, ending in /v1

	mu     sync.Mutex
	more   *sync.Cond // that served has grown
	served []Served
}

// New starts a server, and has it closed when the test ends.
func New(t TB, script Script) *Server {
	t.Helper()
	if script.Plan != nil {
		if err := script.Plan.Check(); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if script.Models == nil {
		script.Models = []vllm.Model{{Name: "m"}}
	}
	if script.Answer == nil {
		script.Answer = four
	}
	script.Options.Log = cmp.Or(script.Options.Log, slog.New(slog.DiscardHandler))
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatalf("cannot listen on the loopback interface: %v", err)
	}
	if script.Down {
		l.Down()
	}
	s := &Server{Listener: l, URL: "http://" + l.Addr().String() + "/v1"}
	s.more = sync.NewCond(&s.mu)
	h := Wrap(vllm.New(script.Models, script.Answer, script.Options), script.Plan, Options{Clock: script.Clock, Listener: l, Served: s.count})
	server := &http.Server{Handler: h, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Serve(l)
	}()
	t.Cleanup(func() {
		server.Close()
		h.Close()
		<-done
	})
	return s
}

func (s *Server) count(served Served) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served = append(s.served, served)
	s.more.Broadcast()
}

// Served returns the count of every request that is over, in the order in which they ended.
func (s *Server) Served() []Served { return s.Wait(0) }

// Wait waits until n requests are over, since a server may notice the end of one later than its client, and returns the
// count of each.
func (s *Server) Wait(n int) []Served {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.served) < n {
		s.more.Wait()
	}
	return slices.Clone(s.served)
}
