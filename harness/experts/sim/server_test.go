package sim

// The server, asked by the client of real servers and by requests that client never sends.

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestOverHTTPThePoolAnswersAsItDoesInProcess(t *testing.T) {
	s, pool, problems := simulated(t, 50)
	h := loopback(t, s, experts.HTTPOptions{Concurrency: 8})
	if err := h.Preflight(context.Background(), time.Minute); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, e := range s.Experts() {
		wg.Go(func() {
			for i, p := range problems {
				r := experts.Request{Expert: e.ID, Prompt: experts.Prompt(pool.Sampling.Prompt, p.Text), Seed: seed.Derive("run", i), Sampling: pool.Sampling}
				want, err := s.Complete(context.Background(), r)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := h.Complete(context.Background(), r)
				if err != nil {
					t.Error(err)
					return
				}
				got.Server = ""
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s on %s: %s", e.ID, p.ID, diff)
				}
			}
		})
	}
	wg.Wait()
}

func TestRequestsThatCannotBeAnsweredAreNotRetried(t *testing.T) {
	s, pool, problems := simulated(t, 1)
	h := loopback(t, s, experts.HTTPOptions{})
	ok := experts.Request{Expert: "qwen3-4b", Prompt: experts.Prompt(pool.Sampling.Prompt, problems[0].Text)}
	for name, c := range map[string]struct {
		change func(*experts.Request)
		want   string
		is     error
	}{
		"an expert outside the pool": {func(r *experts.Request) { r.Expert = "gpt" }, `unknown expert "gpt"; the pool has: qwen3-4b, qwen3-30b, qwen3-235b, qwen3-1.7b`, experts.ErrUnknownExpert},
		"an unknown problem":         {func(r *experts.Request) { r.Prompt = "What is 1+1?" }, `404 Not Found: unknown problem: "What is 1+1?"`, nil},
	} {
		r := ok
		c.change(&r)
		_, err := h.Complete(context.Background(), r)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || errors.Is(err, experts.ErrUnavailable) {
			t.Errorf("%s: error %v does not say %q", name, err, c.want)
		}
	}
}

func TestServerRefusesWhatItCannotDo(t *testing.T) {
	s, _, problems := simulated(t, 1)
	srv := httptest.NewServer(NewServer(s, vllm.Options{Log: quiet}))
	defer srv.Close()
	message := string(wire.AppendJSON(nil, problems[0].Text))
	for name, c := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"no user message":       {"/v1/chat/completions", `{"model":"qwen3-4b","messages":[]}`, 400, "no message of role user"},
		"an unknown model":      {"/v1/chat/completions", `{"model":"gpt","messages":[{"role":"user","content":` + message + `}]}`, 404, `The model ` + "`gpt`" + ` does not exist.`},
		"an unknown problem":    {"/v1/chat/completions", `{"model":"qwen3-4b","messages":[{"role":"user","content":"?"}]}`, 404, "unknown problem"},
		"something else":        {"/v1/chat/completions", `[1]`, 400, "the request is not one for /v1/chat/completions: it is of type array"},
		"a model with a number": {"/v1/chat/completions", `{"model":3}`, 400, "the request is not one for /v1/chat/completions: model is of type number"},
		"a negative limit":      {"/v1/chat/completions", `{"model":"qwen3-4b","messages":[{"role":"user","content":` + message + `}],"max_tokens":-1}`, 400, "max_tokens must be at least 1"},
		"a request of 2 MB":     {"/v1/chat/completions", strings.Repeat(" ", 2<<20), 400, "request body too large"},
		"a path without model":  {"/v1/embeddings", `{}`, 404, "there is no POST /v1/embeddings here"},
	} {
		response, err := http.Post(srv.URL+c.path, "application/json", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Error struct {
				Message string
				Code    int
			}
		}
		if err := json.NewDecoder(response.Body).Decode(&e); err != nil {
			t.Errorf("%s: the body is no JSON: %v", name, err)
		}
		response.Body.Close()
		if response.StatusCode != c.status || e.Error.Code != c.status || !strings.Contains(e.Error.Message, c.want) {
			t.Errorf("%s: %d %+v does not say %q", name, response.StatusCode, e, c.want)
		}
	}
	response, err := http.Get(srv.URL + "/health")
	if err != nil || response.StatusCode != 200 {
		t.Errorf("health: %v %v", response, err)
	}
	response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
}

func TestServerReadsTheNewerNameOfTheLimitFirst(t *testing.T) {
	s, _, problems := simulated(t, 1)
	body := `{"model":"qwen3-4b","messages":[{"role":"system","content":"?"},{"role":"user","content":` + string(wire.AppendJSON(nil, problems[0].Text)) + `}],"max_tokens":60000,"max_completion_tokens":16,"unknown":1}`
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	NewServer(s, vllm.Options{Log: quiet}).ServeHTTP(w, r)
	var c struct {
		Choices []struct {
			Finish routing.Finish `json:"finish_reason"`
		} `json:"choices"`
		Usage struct {
			Out int64 `json:"completion_tokens"`
		} `json:"usage"`
	}
	err := json.Unmarshal(w.Body.Bytes(), &c)
	if err != nil || c.Usage.Out != 16 || len(c.Choices) != 1 || c.Choices[0].Finish != routing.Length {
		t.Errorf("%+v, %v", c, err)
	}
}

// blocking is a pool whose only expert answers when told to.
type blocking struct {
	started, release chan struct{}
}

func (b blocking) Experts() []routing.Expert { return []routing.Expert{{ID: "e", Model: "m"}} }

func (b blocking) Complete(ctx context.Context, _ experts.Request) (experts.Completion, error) {
	close(b.started)
	select {
	case <-b.release:
		return experts.Completion{Text: "4", Finish: routing.Stop, Usage: cost.Usage{In: 1, Out: 1}}, nil
	case <-ctx.Done():
		return experts.Completion{}, ctx.Err()
	}
}

func TestServeLetsRequestsUnderWayFinish(t *testing.T) {
	b := blocking{make(chan struct{}), make(chan struct{})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, NewServer(b, vllm.Options{Log: quiet}), quiet) }()
	h, err := experts.NewHTTP([]experts.Endpoint{{Expert: b.Experts()[0], URL: "http://" + l.Addr().String() + "/v1"}}, experts.HTTPOptions{Tries: 1, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	go func() {
		<-b.started
		stop()
		time.Sleep(10 * time.Millisecond) // lets Shutdown begin; the order does not change the outcome
		close(b.release)
	}()
	c, err := h.Complete(context.Background(), experts.Request{Expert: "e"})
	if err != nil || c.Text != "4" {
		t.Errorf("%v, %v", c, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := Serve(context.Background(), l, NewServer(b, vllm.Options{Log: quiet}), quiet); err == nil || !strings.Contains(err.Error(), "serving on 127.0.0.1") {
		t.Errorf("a closed listener: %v", err)
	}
}

func TestJoinedPoolsAnswerForBoth(t *testing.T) {
	s, pool, problems := simulated(t, 1)
	j := Join(s, NewRouters(s, map[string]spec.SimRouter{"r": {Skill: 1, Tau: 0.8}}, s.lookup))
	if all := j.Experts(); len(all) != len(s.Experts())+1 || all[len(all)-1].ID != "r" {
		t.Errorf("the pools have %v", all)
	}
	text := problems[0].Text
	for expert, prompt := range map[string]string{"qwen3-4b": experts.Prompt(pool.Sampling.Prompt, text), "r": routingPrompt(t, s.Experts()[:3], text)} {
		if _, err := j.Complete(t.Context(), experts.Request{Expert: expert, Prompt: prompt}); err != nil {
			t.Errorf("%s: %v", expert, err)
		}
	}
	if _, err := j.Complete(t.Context(), experts.Request{Expert: "x"}); !errors.Is(err, experts.ErrUnknownExpert) {
		t.Error(err)
	}
}

// BenchmarkAsked is the way of a profile, storage aside: client, server in this process (the default of simulated experts) or on
// loopback, solution, grading.
func BenchmarkAsked(b *testing.B) {
	s, pool, problems := simulated(b, 100)
	o := experts.HTTPOptions{Concurrency: 64}
	b.Run("here", func(b *testing.B) { benchmarkAsked(b, asking(b, s, inside(s), o), pool, problems) })
	b.Run("loopback", func(b *testing.B) { benchmarkAsked(b, loopback(b, s, o), pool, problems) })
}

func benchmarkAsked(b *testing.B, h *experts.HTTP, pool spec.Pool, problems []routing.Problem) {
	b.ReportAllocs()
	b.SetParallelism(32)
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := int(n.Add(1))
			p := problems[i%len(problems)]
			c, err := h.Complete(context.Background(), experts.Request{Expert: "qwen3-4b", Prompt: experts.Prompt(pool.Sampling.Prompt, p.Text), Seed: seed.Seed(i), Sampling: pool.Sampling})
			if err != nil {
				b.Error(err)
				return
			}
			p.Key().Grade(c.Text)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rollouts/s")
}
