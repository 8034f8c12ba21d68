//go:build unix

// Clientbench measures the client of package experts beside another one: it is the scripted server of both, and the
// program that asks it with ours. `make bench-client` runs it.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		fail(serve(os.Args[2]))
		return
	}
	if len(os.Args) != 6 || os.Args[1] != "ask" {
		fmt.Fprintln(os.Stderr, "clientbench serve ADDRESS, or clientbench ask URL whole|stream INFLIGHT REQUESTS")
		os.Exit(2)
	}
	inflight, err := strconv.Atoi(os.Args[4])
	fail(err)
	n, err := strconv.Atoi(os.Args[5])
	fail(err)
	fail(ask(os.Args[2], os.Args[3] == "whole", inflight, n))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "clientbench:", err)
		os.Exit(1)
	}
}

// think is how long the server takes for an answer: as many are in flight as may be.
const think = 500 * time.Millisecond

func serve(address string) error {
	whole := []byte(`{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat("abcd ", 80) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":30,"completion_tokens":100,"total_tokens":130}}`)
	event := func(finish string) []byte {
		return []byte(`data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"abcd"},"logprobs":null,"finish_reason":` + finish + "}]}\n\n")
	}
	one, last := event("null"), append(event(`"stop"`), "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":100,\"total_tokens\":130}}\n\ndata: [DONE]\n\n"...)
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(strings.ReplaceAll(string(body), " ", ""), `"stream":true`) {
			time.Sleep(think)
			w.Header().Set("Content-Type", "application/json")
			w.Write(whole)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 10 { // ten events at a time, as they come from a busy server
			time.Sleep(think / 10)
			for range 9 {
				w.Write(one)
			}
			if i < 9 {
				w.Write(one)
			} else {
				w.Write(last)
			}
			w.(http.Flusher).Flush()
		}
	}))
}

// ask prints microseconds of CPU a request and the largest resident memory in megabytes.
func ask(url string, whole bool, inflight, n int) error {
	h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 200}, URL: url, Whole: whole}},
		experts.HTTPOptions{Concurrency: inflight, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer h.Close()
	var next, failed atomic.Int64
	var wait sync.WaitGroup
	for range inflight {
		wait.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				c, err := h.Complete(context.Background(), experts.Request{
					Expert: "e", Prompt: "What is 2+2?", Seed: seed.Seed(i), Sampling: spec.Sampling{Temperature: 0.6, TopP: 0.95, TopK: 20},
				})
				if err != nil || len(c.Text) != 400 || c.Usage.Out != 100 {
					failed.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if failed.Load() > 0 {
		return fmt.Errorf("%d requests failed", failed.Load())
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return err
	}
	cpu := float64(u.Utime.Nano()+u.Stime.Nano()) / 1e3 / float64(n)
	rss := float64(u.Maxrss) / 1024 // kilobytes on Linux
	if runtime.GOOS == "darwin" {
		rss /= 1024
	}
	fmt.Printf("%.0f %.0f\n", cpu, rss)
	return nil
}
