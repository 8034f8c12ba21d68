// Simulated models behind the HTTP protocol of real ones.

package sim

// The server that puts simulated experts and routers behind the protocol of real ones, in this process or for others.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/entrorouter/entrorouter/harness/crash"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// NewServer returns the handler that answers for a pool as vLLM does. A model may be asked for by its name or by the
// expert's id. Tokens are the pool's own counts.
//
// A model says that it has room for its limit and headroom tokens of prompt more.
func NewServer(pool experts.Pool, o vllm.Options) *vllm.Server {
	ids := map[string]string{}
	var models []vllm.Model
	for _, e := range pool.Experts() {
		m := vllm.Model{Name: e.Model, Alias: e.ID}
		if e.MaxTokens > 0 {
			m.Window = e.MaxTokens + headroom
		}
		ids[m.Name] = e.ID
		models = append(models, m)
	}
	return vllm.New(models, func(ctx context.Context, r vllm.Request) (vllm.Answer, error) {
		c, err := pool.Complete(ctx, experts.Request{
			Expert:    ids[r.Model],
			Prompt:    r.Prompt,
			Seed:      seed.Seed(r.Seed),
			Sampling:  spec.Sampling{Temperature: r.Temperature, TopP: r.TopP, TopK: r.TopK},
			MaxTokens: r.MaxTokens,
		})
		if errors.Is(err, experts.ErrUnknownProblem) || errors.Is(err, experts.ErrUnknownExpert) {
			err = &vllm.Error{Status: http.StatusNotFound, Type: vllm.NotFound, Message: err.Error()}
		}
		return vllm.Answer{Text: c.Text, Reasoning: c.Reasoning, Finish: string(c.Finish), In: c.Usage.In, Out: c.Usage.Out}, err
	}, o)
}

const headroom = 8192

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
	return experts.Completion{}, fmt.Errorf("%w %q; the pool has: %s", experts.ErrUnknownExpert, q.Expert, list(j.of))
}

// grace is how long requests under way may take once a server is told to stop.
const grace = 5 * time.Second

// Serve answers on l until ctx ends, then lets requests under way finish for a short while. It closes l.
// The error is nil if ctx ended.
func Serve(ctx context.Context, l net.Listener, h http.Handler, log *slog.Logger) error {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() {
		defer crash.Exit()
		failed <- srv.Serve(l)
	}()
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

// Address names models that are asked in this process, by a handler that NewServer returns.
const Address = "http://simulated/v1"
