package experts_test

// The faults of shared servers, each as the client meets it: what it answers, what its books say, how often the server is
// asked, and that nothing is left behind.

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// book is a ledger of attempts.
type book struct {
	t     interface{ Errorf(string, ...any) }
	mu    sync.Mutex
	begun int
	ended []experts.Attempt
}

func (b *book) Begin(context.Context, string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun++
	return nil
}

func (b *book) End(a experts.Attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, a)
	if (a.Class == experts.Answered) != (a.Error == "") || strings.ContainsAny(a.Error, "\n\x1b") || len(a.Error) > 300 {
		b.t.Errorf("attempt %+v", a)
	}
}

// classes are what became of the attempts, in order.
func (b *book) classes() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.begun != len(b.ended) {
		b.t.Errorf("%d attempts begun, %d ended", b.begun, len(b.ended))
	}
	var all []string
	for _, a := range b.ended {
		all = append(all, string(a.Class))
	}
	return strings.Join(all, " ")
}

var silent = slog.New(slog.DiscardHandler)

// client asks servers that are to be told apart by nothing but their address, without waiting long for anything.
func client(t testing.TB, o experts.HTTPOptions, urls ...string) *experts.HTTP {
	t.Helper()
	o.Log, o.Wait, o.Probe = silent, time.Millisecond, 5*time.Millisecond
	h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 100}, URL: urls[0], Replicas: urls[1:]}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h
}

var sampling = spec.Sampling{Temperature: 0.6, TopP: 0.95, TopK: 20}

func ask(ctx context.Context, h *experts.HTTP, b *book, s seed.Seed) (experts.Completion, error) {
	return h.Complete(ctx, experts.Request{Expert: "e", Prompt: "2+2", Seed: s, Sampling: sampling, Attempts: b})
}

// askAll asks as many times at once, with a seed each, and wants an answer each time.
func askAll(t *testing.T, h *experts.HTTP, times int) {
	t.Helper()
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			if _, err := ask(t.Context(), h, newBook(t), seed.Seed(i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func text(s string) *string { return &s }

const answered = string(experts.Answered)

// Faults that pass: one answer, with the same seed each time, and the books of both sides agree.
func TestFaultsThatPass(t *testing.T) {
	first := fault.Range{From: 1, To: 1}
	for name, c := range map[string]struct {
		rule    fault.Rule
		classes string
		o       experts.HTTPOptions
		whole   bool
	}{
		"1 reset within a stream":             {rule: fault.Rule{Attempts: first, End: fault.Reset, After: fault.Events(2)}, classes: "broken answered"},
		"1 reset before the first byte":       {rule: fault.Rule{Attempts: first, End: fault.Reset, After: fault.Nothing()}, classes: "unavailable answered"},
		"2 close within a stream":             {rule: fault.Rule{Attempts: first, End: fault.Close, After: fault.Events(2)}, classes: "broken answered"},
		"2 a stream that ends early":          {rule: fault.Rule{Attempts: first, End: fault.Early, After: fault.Events(2)}, classes: "unfinished answered"},
		"2 [DONE] without a finish_reason":    {rule: fault.Rule{Attempts: first, Drop: []string{"choices.0.finish_reason"}}, classes: "unfinished answered"},
		"3 silence within a stream":           {rule: fault.Rule{Attempts: first, End: fault.Hang, After: fault.Events(1)}, classes: "idle answered", o: experts.HTTPOptions{Idle: 50 * time.Millisecond}},
		"3 silence before the head":           {rule: fault.Rule{Attempts: first, End: fault.Hang, After: fault.Nothing()}, classes: "idle answered", o: experts.HTTPOptions{FirstByte: 50 * time.Millisecond}},
		"6 a slow head":                       {rule: fault.Rule{Attempts: first, Pace: &fault.Pace{Bytes: 1, Every: 20 * time.Millisecond, Head: true}}, classes: "idle answered", o: experts.HTTPOptions{FirstByte: 100 * time.Millisecond}},
		"6 a slow body is alive":              {rule: fault.Rule{Pace: &fault.Pace{Bytes: 64, Every: 5 * time.Millisecond}}, classes: "answered", o: experts.HTTPOptions{Idle: 500 * time.Millisecond}},
		"7 an event that is cut":              {rule: fault.Rule{Attempts: first, Status: 200, Body: text("data: {\"cho"), Headers: map[string]string{"Content-Type": "text/event-stream"}}, classes: "protocol answered"},
		"7 HTML with 502":                     {rule: fault.Rule{Attempts: first, Status: 502, Body: text("<html>bad gateway</html>")}, classes: "unavailable answered"},
		"7 gzip garbage":                      {rule: fault.Rule{Attempts: first, Status: 200, Body: text("\x1f\x8b\x08\x00garbage")}, classes: "protocol answered"},
		"7 nothing":                           {rule: fault.Rule{Attempts: first, Status: 200, Body: text("")}, classes: "protocol answered"},
		"7 an error with 200":                 {rule: fault.Rule{Attempts: first, Status: 200, Body: text(`{"error":"Unavailable"}`)}, classes: "unavailable answered"},
		"7 an error event":                    {rule: fault.Rule{Attempts: first, End: fault.Erred, After: fault.Events(2)}, classes: "unavailable answered"},
		"7 a byte order mark":                 {rule: fault.Rule{BOM: true}, classes: "answered"},
		"7 a byte order mark, whole":          {rule: fault.Rule{BOM: true}, classes: "answered", whole: true},
		"7 CRLF":                              {rule: fault.Rule{CRLF: true}, classes: "answered"},
		"7 no space after data":               {rule: fault.Rule{Tight: true}, classes: "answered"},
		"7 comments":                          {rule: fault.Rule{Comments: true}, classes: "answered"},
		"7 a line of a megabyte":              {rule: fault.Rule{Padding: 1 << 20}, classes: "answered"},
		"7 one byte at a time":                {rule: fault.Rule{Split: 1}, classes: "answered"},
		"7 a whole body that is cut":          {rule: fault.Rule{Attempts: first, End: fault.Close, After: fault.Bytes(40)}, classes: "broken answered", whole: true},
		"10 aborted":                          {rule: fault.Rule{Attempts: first, Set: map[string]string{"choices.0.finish_reason": `"abort"`}}, classes: "unfinished answered"},
		"10 error":                            {rule: fault.Rule{Attempts: first, Set: map[string]string{"choices.0.finish_reason": `"error"`}}, classes: "unfinished answered", whole: true},
		"11 NaN among the log-probabilities":  {rule: fault.Rule{Attempts: first, Set: map[string]string{"choices.0.logprobs": "NaN"}}, classes: "protocol answered", whole: true},
		"11 an integer stop_reason, a date":   {rule: fault.Rule{Set: map[string]string{"choices.0.stop_reason": "151643", "created": `"now"`, "x": `[{}]`}}, classes: "answered", whole: true},
		"11 tokens as a float":                {rule: fault.Rule{Set: map[string]string{"usage.completion_tokens": "9.0"}}, classes: "answered", whole: true},
		"12 the answer to another request":    {rule: fault.Rule{Attempts: first, Set: map[string]string{"id": `"chatcmpl-e47e0000-0000-4000-8000-000000000007"`}}, classes: "protocol answered"},
		"4 too many requests, a date":         {rule: fault.Rule{Attempts: first, Status: 429, Headers: map[string]string{"Retry-After": "Mon, 02 Jan 2006 15:04:05 GMT", "Date": "Mon, 02 Jan 2006 15:04:05 GMT"}}, classes: "limited answered"},
		"5 a server that goes away for a bit": {rule: fault.Rule{Requests: first, Down: 100 * time.Millisecond}, classes: "unavailable answered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fault.New(t, fault.Script{Plan: fault.Plan{c.rule}})
			b := &book{t: t}
			o := c.o
			h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 100}, URL: s.URL, Whole: c.whole}},
				experts.HTTPOptions{Idle: o.Idle, FirstByte: o.FirstByte, Log: silent, Wait: time.Millisecond, Probe: 5 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			got, err := ask(t.Context(), h, b, 7)
			if err != nil || got.Text != `\boxed{4}` || got.Usage.In != 3 || got.Usage.Out != 9 || got.Estimated || got.Server != s.URL {
				t.Errorf("%+v, %v", got, err)
			}
			classes := b.classes()
			if strings.HasPrefix(name, "5") { // how often it is found away depends on when it is looked at
				classes = strings.Replace(classes, "unavailable unavailable", "unavailable", -1)
			}
			if classes != c.classes {
				t.Errorf("attempts: %s, want %s", classes, c.classes)
			}
			for _, served := range s.Served() {
				if served.Seed != 7 {
					t.Errorf("asked with seed %d", served.Seed)
				}
			}
		})
	}
}

// Answers that are none: what they cost is in the books, and nothing is tried more often than it deserves.
func TestFaultsThatStay(t *testing.T) {
	for name, c := range map[string]struct {
		rule    fault.Rule
		class   experts.Class
		asked   int
		o       experts.HTTPOptions
		usage   int64 // tokens out of the last attempt
		again   bool
		refused bool
	}{
		"6 longer than a try may take": {fault.Rule{Pace: &fault.Pace{Bytes: 1, Every: 20 * time.Millisecond}}, experts.Slow, 1, experts.HTTPOptions{RequestTime: 100 * time.Millisecond}, 0, true, false},
		"7 never JSON":                 {fault.Rule{Status: 200, Body: text("<html>")}, experts.Protocol, 3, experts.HTTPOptions{}, 0, true, false},
		"10 withheld":                  {fault.Rule{Set: map[string]string{"choices.0.finish_reason": `"content_filter"`}}, experts.Filtered, 1, experts.HTTPOptions{}, 9, true, false},
		"1 reset each time":            {fault.Rule{End: fault.Reset, After: fault.Events(2)}, experts.Broken, 4, experts.HTTPOptions{Tries: 4}, 0, true, false},
		"8 one prompt too long":        {fault.Rule{Status: 400}, experts.Refused, 1, experts.HTTPOptions{}, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fault.New(t, fault.Script{Plan: fault.Plan{c.rule}})
			b := &book{t: t}
			h := client(t, c.o, s.URL)
			_, err := ask(t.Context(), h, b, 7)
			var f *experts.Failure
			if !errors.As(err, &f) || f.Class != c.class || (f.Again || f.Early) != c.again || errors.Is(err, experts.ErrRefused) != c.refused || errors.Is(err, experts.ErrMisconfigured) {
				t.Errorf("%#v: %v", f, err)
			}
			if b.classes(); b.begun != c.asked || b.ended[b.begun-1].Class != c.class || b.ended[b.begun-1].Usage.Out < c.usage {
				t.Errorf("%d attempts, the last %+v", b.begun, b.ended[len(b.ended)-1])
			}
		})
	}
}

// 8: what is wrong for all is said once; what is wrong for one prompt fails that one.
func TestTheRunStopsOnlyIfAllFailAlike(t *testing.T) {
	for status, want := range map[int]string{401: "set ENTROROUTER_API_KEY", 404: `is "m" the name`} {
		s := fault.New(t, fault.Script{Plan: fault.Plan{{Status: status}}})
		b := &book{t: t}
		if _, err := ask(t.Context(), client(t, experts.HTTPOptions{}, s.URL), b, 1); !errors.Is(err, experts.ErrMisconfigured) || !strings.Contains(err.Error(), want) || b.begun != 1 {
			t.Errorf("%d: %v after %d attempts", status, err, b.begun)
		}
	}

	// Money that is spent and a key that is revoked are missing for all, also where there were answers before.
	for _, rule := range []fault.Rule{{Status: 429, Body: text(`{"error":{"code":"insufficient_quota"}}`)}, {Status: 401}, {Status: 200, Body: text(`{"error":{"message":"no such key","code":401}}`)}} {
		rule.Requests = fault.Range{From: 2}
		h := client(t, experts.HTTPOptions{}, fault.New(t, fault.Script{Plan: fault.Plan{rule}}).URL)
		for i := range 2 {
			if _, err := ask(t.Context(), h, newBook(t), seed.Seed(i)); errors.Is(err, experts.ErrMisconfigured) != (i == 1) {
				t.Errorf("%+v, request %d: %v", rule, i+1, err)
			}
		}
	}

	s := fault.New(t, fault.Script{Plan: fault.Plan{{Status: 400, Requests: fault.First(20)}}})
	h := client(t, experts.HTTPOptions{}, s.URL)
	for i := range 20 {
		_, err := ask(t.Context(), h, newBook(t), seed.Seed(i))
		if errors.Is(err, experts.ErrMisconfigured) != (i == 19) || err == nil {
			t.Errorf("request %d: %v", i+1, err)
		}
	}

	s = fault.New(t, fault.Script{Plan: fault.Plan{{Status: 400, Requests: fault.Range{From: 2}}}})
	h = client(t, experts.HTTPOptions{}, s.URL)
	for i := range 30 {
		_, err := ask(t.Context(), h, newBook(t), seed.Seed(i))
		var f *experts.Failure
		if (err == nil) != (i == 0) || err != nil && (!errors.As(err, &f) || f.Again) {
			t.Errorf("request %d: %v", i+1, err)
		}
	}
}

func newBook(t *testing.T) *book { return &book{t: t} }

// 9: thinking that was cut is a billed answer, and so is an empty one.
func TestNoTextIsAnAnswerToo(t *testing.T) {
	for name, set := range map[string]map[string]string{
		"cut while thinking": {"choices.0.message.content": "null", "choices.0.message.reasoning": `"so"`, "choices.0.finish_reason": `"length"`},
		"empty":              {"choices.0.message.content": `""`},
	} {
		s := fault.New(t, fault.Script{Plan: fault.Plan{{Set: set}}})
		h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 100}, URL: s.URL, Whole: true}}, experts.HTTPOptions{Log: silent})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		b := newBook(t)
		c, err := ask(t.Context(), h, b, 1)
		if err != nil || c.Text != "" || c.Usage.Out != 9 || (c.Reasoning == "so") != (c.Finish == routing.Length) || b.classes() != answered {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// 11: a stream that says nothing of tokens is counted here.
func TestAStreamWithoutUsageIsCounted(t *testing.T) {
	s := fault.New(t, fault.Script{Plan: fault.Plan{{Drop: []string{"usage"}}}})
	b := &book{t: t}
	c, err := ask(t.Context(), client(t, experts.HTTPOptions{}, s.URL), b, 1)
	if err != nil || !c.Estimated || c.Usage.Out == 0 || c.Usage.In == 0 || !b.ended[0].Estimated || b.ended[0].Usage != c.Usage {
		t.Errorf("%+v, %v", c, err)
	}
}

// A server that is known to be vLLM counts the tokens of a stream that breaks off.
func TestABrokenStreamOfVLLMIsCountedByTheServer(t *testing.T) {
	s := fault.New(t, fault.Script{
		Plan: fault.Plan{{Attempts: fault.First(1), End: fault.Reset, After: fault.Events(2)}},
		Answer: func(context.Context, vllm.Request) (vllm.Answer, error) {
			return vllm.Answer{Text: strings.Repeat("long ", 400), Finish: "stop", In: 3, Out: 90}, nil
		},
	})
	b := &book{t: t}
	h := client(t, experts.HTTPOptions{}, s.URL)
	if err := h.Preflight(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if len(h.Versions()) != 1 {
		t.Errorf("versions %v", h.Versions())
	}
	if _, err := ask(t.Context(), h, b, 1); err != nil {
		t.Fatal(err)
	}
	served := s.Served()
	if b.classes() != "broken answered" || b.ended[0].Usage.In != 3 || b.ended[0].Usage.Out != served[0].Sent || served[0].Sent == 0 || !b.ended[0].Estimated {
		t.Errorf("%+v, the server counts %+v", b.ended, served)
	}
}

// A replica that is down is drained, and gets requests again once it is back.
func TestReplicasShareTheRequests(t *testing.T) {
	one, two := fault.New(t, fault.Script{}), fault.New(t, fault.Script{Down: true})
	h := client(t, experts.HTTPOptions{Concurrency: 4}, one.URL, two.URL)
	askAll(t, h, 20)
	if len(one.Served()) != 20 {
		t.Errorf("the one that is up was asked %d times", len(one.Served()))
	}
	two.Up()
	for len(two.Served()) == 0 {
		askAll(t, h, 8)
	}
}

// Redirects are not followed: prompts and keys go to the servers of the pool alone.
func TestNothingIsSentElsewhere(t *testing.T) {
	elsewhere := fault.New(t, fault.Script{})
	s := fault.New(t, fault.Script{Plan: fault.Plan{{Status: 307, Headers: map[string]string{"Location": elsewhere.URL + "/chat/completions"}}}})
	_, err := ask(t.Context(), client(t, experts.HTTPOptions{Key: "secret"}, s.URL), newBook(t), 1)
	if !errors.Is(err, experts.ErrMisconfigured) || !strings.Contains(err.Error(), "is not followed") || len(elsewhere.Served()) != 0 {
		t.Errorf("%v, %d requests elsewhere", err, len(elsewhere.Served()))
	}

	t.Setenv("MY_KEY", "theirs")
	endpoints := []experts.Endpoint{{Expert: routing.Expert{ID: "a", Model: "m"}, URL: "http://a.example/v1"}, {Expert: routing.Expert{ID: "b", Model: "m"}, URL: "http://b.example/v1"}}
	if _, err := experts.NewHTTP(endpoints, experts.HTTPOptions{Key: "secret", Log: silent}); err == nil || !strings.Contains(err.Error(), "say with key_env") {
		t.Errorf("one key for two hosts: %v", err)
	}
	endpoints[1].KeyEnv = "MY_KEY"
	sent := map[string]string{}
	carry := carrier(func(r *http.Request) (*http.Response, error) {
		sent[r.URL.Host] = r.Header.Get("Authorization")
		return respond(400, ""), nil
	})
	h, err := experts.NewHTTP(endpoints, experts.HTTPOptions{Key: "secret", Log: silent, Transport: carry})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, id := range []string{"a", "b"} {
		h.Complete(t.Context(), experts.Request{Expert: id})
	}
	if sent["a.example"] != "Bearer secret" || sent["b.example"] != "Bearer theirs" {
		t.Errorf("keys %v", sent)
	}
	endpoints[1].KeyEnv = ""
	h, err = experts.NewHTTP(endpoints, experts.HTTPOptions{Key: "secret", KeyHost: "a.example", Log: silent, Transport: carry})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	clear(sent)
	for _, id := range []string{"a", "b"} {
		h.Complete(t.Context(), experts.Request{Expert: id})
	}
	if sent["a.example"] != "Bearer secret" || sent["b.example"] != "" {
		t.Errorf("keys %v", sent)
	}
	replicated := []experts.Endpoint{{Expert: routing.Expert{ID: "b", Model: "m"}, URL: "http://b.example/v1", Replicas: []string{"http://a.example/v1"}}}
	var both sync.WaitGroup // a replica is asked while the first server is
	both.Add(2)
	keys := make(chan [2]string, 2)
	h, err = experts.NewHTTP(replicated, experts.HTTPOptions{Key: "secret", KeyHost: "a.example", Log: silent, Transport: carrier(func(r *http.Request) (*http.Response, error) {
		keys <- [2]string{r.URL.Host, r.Header.Get("Authorization")}
		both.Done()
		both.Wait()
		return respond(400, ""), nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range 2 {
		go h.Complete(t.Context(), experts.Request{Expert: "b"})
	}
	clear(sent)
	for range 2 {
		x := <-keys
		sent[x[0]] = x[1]
	}
	if key, asked := sent["b.example"]; !asked || key != "" || sent["a.example"] != "Bearer secret" {
		t.Errorf("keys of replicas %v", sent)
	}
	endpoints[1].KeyEnv = "NO_SUCH_KEY"
	if _, err := experts.NewHTTP(endpoints, experts.HTTPOptions{Log: silent}); err == nil || !strings.Contains(err.Error(), "environment variable NO_SUCH_KEY") {
		t.Errorf("a key that is not set: %v", err)
	}
}

// carrier carries requests without a network.
type carrier func(*http.Request) (*http.Response, error)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func respond(status int, body string, headers ...string) *http.Response {
	w := &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Header: http.Header{}, Body: http.NoBody}
	if body != "" {
		w.Body = content{strings.NewReader(body)}
	}
	for i := 0; i < len(headers); i += 2 {
		w.Header.Set(headers[i], headers[i+1])
	}
	return w
}

type content struct{ *strings.Reader }

func (content) Close() error { return nil }

const four = `{"choices":[{"index":0,"message":{"content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":9}}`

// 4 and 15: an hour of 429 passes on a clock of its own, takes no tries, and ends in an answer; so does a time that the
// server gives by a clock that is a day off.
func TestAnHourOfLimitsTakesNoTries(t *testing.T) {
	for name, c := range map[string]struct {
		headers []string
		most    time.Duration // between the requests
	}{
		"no word":         {nil, 80 * time.Second},
		"seconds":         {[]string{"Retry-After", "120"}, 3 * time.Minute},
		"zero":            {[]string{"Retry-After", "0"}, 80 * time.Second},
		"negative":        {[]string{"Retry-After", "-5"}, 80 * time.Second},
		"garbage":         {[]string{"Retry-After", "soon"}, 80 * time.Second},
		"another clock":   {[]string{"Retry-After", "Mon, 02 Jan 2006 15:14:05 GMT", "Date", "Mon, 02 Jan 2006 15:04:05 GMT"}, 11 * time.Minute},
		"no clock":        {[]string{"Retry-After", "Mon, 02 Jan 2006 15:14:05 GMT"}, 80 * time.Second},
		"for a whole day": {[]string{"Retry-After", "86400"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var last time.Time
				n := 0
				h := client(t, experts.HTTPOptions{Tries: 2, ServerWait: 2 * time.Hour, Transport: carrier(func(*http.Request) (*http.Response, error) {
					if n++; n > 1 && time.Since(last) > c.most {
						t.Errorf("asked again after %s", time.Since(last))
					}
					if last = time.Now(); time.Since(begin) < time.Hour {
						return respond(429, "", c.headers...), nil
					}
					return respond(200, four), nil
				})}, "http://a.example/v1")
				b := &book{t: t}
				got, err := ask(t.Context(), h, b, 1)
				if c.most == 0 {
					var f *experts.Failure
					if !errors.As(err, &f) || f.Class != experts.Limited || !f.Again || n != 1 || time.Since(begin) > time.Second || !strings.Contains(err.Error(), "left alone for 24h0m0s") {
						t.Errorf("%v after %d requests and %s", err, n, time.Since(begin))
					}
					return
				}
				if err != nil || got.Text != "4" || time.Since(begin) < time.Hour || n < 5 || n > 100 {
					t.Errorf("%+v, %v after %d requests and %s", got, err, n, time.Since(begin))
				}
			})
		})
	}
}

// 5: a server that is not there and then loads is looked after, not asked, and requests begin by themselves; they fail
// once it has been waited for long enough.
func TestALoadingServerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var asked atomic.Int64
		carry := carrier(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/v1/chat/completions" {
				asked.Add(1)
			}
			switch since := time.Since(begin); {
			case since < 10*time.Second:
				return nil, refusedConnection()
			case since < 40*time.Second:
				return respond(503, `{"error":{"message":"Loading model","code":503}}`), nil
			case r.URL.Path == "/v1/models":
				return respond(200, `{"data":[{"id":"m"}]}`), nil
			}
			return respond(200, four), nil
		})
		h := client(t, experts.HTTPOptions{Tries: 1, Transport: carry}, "http://a.example/v1")
		for range 8 {
			go func() {
				if _, err := ask(t.Context(), h, newBook(t), 1); err != nil {
					t.Error(err)
				}
			}()
		}
		if err := h.Preflight(t.Context(), time.Minute); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		if synctest.Wait(); asked.Load() > 24 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		h := client(t, experts.HTTPOptions{ServerWait: 5 * time.Minute, Transport: carrier(func(*http.Request) (*http.Response, error) { return nil, refusedConnection() })}, "http://a.example/v1")
		_, err := ask(t.Context(), h, newBook(t), 1)
		var f *experts.Failure
		if !errors.As(err, &f) || !f.Again || !errors.Is(err, experts.ErrUnavailable) || time.Since(begin) < 5*time.Minute || time.Since(begin) > 6*time.Minute {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// A run that is stopped while a server is down does not say that the server is back.
func TestNobodyIsSaidToBeReadyAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://a.example/v1"}},
			experts.HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, nil)), Transport: carrier(func(*http.Request) (*http.Response, error) { return nil, refusedConnection() })})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		ask(ctx, h, newBook(t), 1)
		h.Close()
		if !strings.Contains(log.String(), "waiting for a server that is down") || strings.Contains(log.String(), "ready again") {
			t.Error(log.String())
		}
	})
}

// A server that asks to be left alone for longer than it is waited for is not waited for at all.
func TestPreflightWaitsNoLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		h := client(t, experts.HTTPOptions{Transport: carrier(func(*http.Request) (*http.Response, error) { return respond(503, "", "Retry-After", "3600"), nil })}, "http://a.example/v1")
		if err := h.Preflight(t.Context(), 10*time.Minute); !errors.Is(err, experts.ErrUnavailable) || time.Since(begin) > time.Minute {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		if err := h.Preflight(t.Context(), 2*time.Hour); !errors.Is(err, experts.ErrUnavailable) || time.Since(begin) < time.Hour || time.Since(begin) > 2*time.Hour {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// A server that takes the connection and says nothing is given up, whatever it is asked for before a run.
func TestPreflightDoesNotHang(t *testing.T) {
	for path, want := range map[string]string{"/health": "http://a.example/health did not answer within 10s", "/v1/models": "http://a.example/v1/models did not answer within 30s", "/version": ""} {
		synctest.Test(t, func(t *testing.T) {
			h := client(t, experts.HTTPOptions{Transport: carrier(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == path {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				return respond(200, `{"data":[{"id":"m"}]}`), nil
			})}, "http://a.example/v1")
			ctx, done := context.WithTimeout(t.Context(), time.Hour)
			defer done()
			err := h.Preflight(ctx, 0)
			if want == "" && err != nil || want != "" && (!errors.Is(err, experts.ErrUnavailable) || err.Error() != "expert e: "+want+": is the server well, and is the url right?") {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		})
	}
}

// Of the servers of a model one is enough to begin with: the others are looked after and get requests once they are there. One that is there
// and serves another model is a fault all the same.
func TestARunBeginsWithTheReplicasThatAreThere(t *testing.T) {
	for _, c := range []struct {
		at    time.Duration // when b is there
		wait  time.Duration
		model string // that b serves
		want  string
	}{{time.Hour, 0, "m", ""}, {time.Hour, 2 * time.Hour, "m", ""}, {0, 0, "x", "http://b.example/v1 does not serve"}, {5 * time.Second, time.Hour, "x", "http://b.example/v1 does not serve"}} {
		synctest.Test(t, func(t *testing.T) {
			begin, atB := time.Now(), atomic.Int64{}
			h := client(t, experts.HTTPOptions{Concurrency: 1, Transport: carrier(func(r *http.Request) (*http.Response, error) {
				model := "m"
				if r.URL.Host == "b.example" {
					if model = c.model; time.Since(begin) < c.at {
						return nil, refusedConnection()
					}
				}
				if r.URL.Path != "/v1/chat/completions" {
					return respond(200, `{"data":[{"id":"`+model+`"}]}`), nil
				}
				if r.URL.Host == "b.example" {
					atB.Add(1)
				}
				time.Sleep(time.Second)
				return respond(200, four), nil
			})}, "http://a.example/v1", "http://b.example/v1")
			err := h.Preflight(t.Context(), c.wait)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			if took := time.Since(begin); err != nil || took > time.Minute {
				t.Fatalf("%v after %s", err, took)
			}
			askAll(t, h, 4)
			if atB.Load() > 0 {
				t.Error("a server that is not there was asked")
			}
			time.Sleep(2 * time.Hour)
			if askAll(t, h, 4); atB.Load() == 0 {
				t.Error("a server that came later was not asked")
			}
		})
	}
}

// What is wrong before a run is said with what to do about it, at once where no waiting mends it.
func TestPreflightSaysWhatToDo(t *testing.T) {
	t.Setenv("MINE", "secret")
	for name, c := range map[string]struct {
		o    experts.HTTPOptions
		own  string // key_env
		get  func(path string) (*http.Response, error)
		want string
	}{
		"a key of its own": {own: "MINE", get: func(string) (*http.Response, error) { return respond(401, "no"), nil },
			want: "answered 401 Unauthorized: no: set the environment variable MINE, which key_env names, to a key of this server"},
		"an address without the server": {get: func(string) (*http.Response, error) { return respond(404, ""), nil },
			want: "http://a.example/v1/models: answered 404 Not Found: does url end as the server's address does?"},
		"a key that only requests want": {own: "MINE", get: func(path string) (*http.Response, error) {
			if path == "/v1/chat/completions" {
				return respond(401, "no"), nil
			}
			return respond(404, ""), nil
		}, want: "answered 401 Unauthorized: no: set the environment variable MINE, which key_env names, to a key of this server"},
		"loading": {get: func(string) (*http.Response, error) { return respond(503, "loading"), nil },
			want: "answered 503 Service Unavailable: loading: try again when it is ready, or say with asking: {server_wait: SECONDS} of the pool how long to wait for it"},
		"a certificate": {get: func(string) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
		}, want: "x509: certificate signed by unknown authority): have this machine trust it, by SSL_CERT_FILE=FILE for one"},
		"no certificate": {get: func(string) (*http.Response, error) {
			return nil, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}
		}, want: "it does not speak https (tls: first record does not look like a TLS handshake): write http:// in url, if that may be"},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.o.Log, c.o.Transport = silent, carrier(func(r *http.Request) (*http.Response, error) { return c.get(r.URL.Path) })
			h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://a.example/v1", KeyEnv: c.own}}, c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			wait := time.Hour
			if name == "loading" {
				wait = 0
			}
			begin := time.Now()
			if err := h.Preflight(t.Context(), wait); err == nil || !strings.Contains(err.Error(), c.want) || time.Since(begin) > time.Minute {
				t.Errorf("%s: %v after %s, want %q", name, err, time.Since(begin), c.want)
			}
		})
	}
}

// Not every service has a list of its models: that it takes requests is enough, which one without content tells.
func TestAServerNeedHaveNoListOfModels(t *testing.T) {
	for path, embeds := range map[string]bool{"/v1/chat/completions": false, "/v1/embeddings": true} {
		for _, status := range []int{400, 422} {
			synctest.Test(t, func(t *testing.T) {
				h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://a.example/v1", Embeds: embeds}},
					experts.HTTPOptions{Log: silent, Transport: carrier(func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodPost && r.URL.Path == path {
							return respond(status, `{"error":{"message":"model is missing"}}`), nil
						}
						return respond(404, ""), nil
					})})
				if err != nil {
					t.Fatal(err)
				}
				defer h.Close()
				if err := h.Preflight(t.Context(), 0); err != nil {
					t.Errorf("%s with status %d: %v", path, status, err)
				}
			})
		}
	}
}

// A server that turns some requests away as overloaded, and answers others at the same time, is waited for by those too.
func TestAnOverloadedServerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		h := client(t, experts.HTTPOptions{Concurrency: 64, Transport: carrier(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/health" {
				return respond(404, ""), nil
			}
			n := asked.Add(1)
			time.Sleep(time.Duration(n) * time.Millisecond)
			if n%5 == 1 && n < 40 {
				return respond(503, "overloaded"), nil
			}
			return respond(200, four), nil
		})}, "http://a.example/v1")
		askAll(t, h, 40)
	})
}

// What a server does to many requests is said a few times, and each time how often it was.
func TestWhatHappensOftenIsSaidSeldom(t *testing.T) {
	for said, c := range map[string]struct {
		status int
		body   string
		want   int
	}{"asking again": {500, "", 3}, "this server does not stream": {400, "no stream", 1}} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://a.example/v1"}},
				experts.HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Transport: carrier(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path != "/v1/chat/completions" {
						return respond(404, ""), nil
					}
					time.Sleep(time.Second)
					return respond(c.status, c.body), nil
				})})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			var all sync.WaitGroup
			for i := range 30 {
				all.Go(func() { ask(t.Context(), h, newBook(t), seed.Seed(i)) })
			}
			all.Wait()
			if n := strings.Count(log.String(), said); n != c.want {
				t.Errorf("%d lines, want %d:\n%s", n, c.want, log.String())
			}
		})
	}
}

// A key with the line break of the file that it was read from is no key, and is not waited for as a server that is down.
func TestAKeyIsOneLine(t *testing.T) {
	t.Setenv("MINE", "secret\n")
	for name, c := range map[string]struct {
		o experts.HTTPOptions
		e experts.Endpoint
	}{"MINE": {e: experts.Endpoint{KeyEnv: "MINE"}}, "ENTROROUTER_API_KEY": {o: experts.HTTPOptions{Key: "secret\r"}}} {
		c.e.Expert, c.e.URL, c.o.Log = routing.Expert{ID: "e", Model: "m"}, "http://a.example/v1", silent
		_, err := experts.NewHTTP([]experts.Endpoint{c.e}, c.o)
		if want := "the environment variable " + name + " holds a line break or another control character: set it to the key alone"; err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Requests per minute and tokens per minute are kept, whatever the number of requests that wait.
func TestLimitsPerMinuteAreKept(t *testing.T) {
	for name, limits := range map[string]spec.Limits{"requests": {Requests: 60}, "tokens": {Tokens: 12 * 60}, "concurrency": {Concurrency: 2}} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			begin, inflight, most := time.Now(), 0, 0
			h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 10}, URL: "http://a.example/v1", Limits: limits}},
				experts.HTTPOptions{Log: silent, Transport: carrier(func(*http.Request) (*http.Response, error) {
					mu.Lock()
					inflight++
					most = max(most, inflight)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					inflight--
					mu.Unlock()
					return respond(200, four), nil
				})})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			askAll(t, h, 120)
			// 120 requests of 12 tokens: two minutes at one a second, a minute at two at a time.
			least, longest := 100*time.Second, 140*time.Second
			if name == "concurrency" {
				least, longest = time.Minute, 61*time.Second
				if most != 2 {
					t.Errorf("%d in flight", most)
				}
			}
			if took := time.Since(begin); took < least || took > longest {
				t.Errorf("%s: 120 requests took %s", name, took)
			}
		})
	}
}

func refusedConnection() error {
	return &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

// Whatever happens, a request ends in one answer or one failure, every attempt that began has ended, and the books hold no
// less than the answers.
func TestWhateverHappensTheBooksAreRight(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var plan fault.Plan
		for range rapid.IntRange(0, 3).Draw(rt, "rules") {
			r := fault.Rule{Share: rapid.Float64Range(0.05, 1).Draw(rt, "share"), Attempts: fault.First(rapid.IntRange(1, 4).Draw(rt, "attempts"))}
			switch rapid.IntRange(0, 5).Draw(rt, "fault") {
			case 0:
				r.Status = rapid.SampledFrom([]int{400, 429, 500, 502, 503}).Draw(rt, "status")
				if r.Status == 429 || r.Status == 503 {
					r.Headers = map[string]string{"Retry-After": "0.001"}
				}
			case 1:
				r.End = rapid.SampledFrom([]fault.End{fault.Reset, fault.Close, fault.Early, fault.Erred}).Draw(rt, "end")
				r.After = fault.Events(rapid.IntRange(0, 4).Draw(rt, "after"))
			case 2:
				r.Set = map[string]string{"choices.0.finish_reason": rapid.SampledFrom([]string{`"abort"`, `"length"`, `"content_filter"`, `"odd"`}).Draw(rt, "finish")}
			case 3:
				r.Split = rapid.IntRange(1, 50).Draw(rt, "split")
			case 4:
				r.Drop = []string{"usage"}
			case 5:
				r.Status, r.Body = 200, text(rapid.SampledFrom([]string{"", "{", "[]", "data: {", "<html>"}).Draw(rt, "body"))
			}
			plan = append(plan, r)
		}
		s := fault.New(t, fault.Script{Plan: plan})
		h, err := experts.NewHTTP([]experts.Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 100}, URL: s.URL, Whole: rapid.Bool().Draw(rt, "whole")}},
			experts.HTTPOptions{Log: silent, Wait: time.Microsecond, Probe: time.Millisecond, Tries: 3})
		if err != nil {
			rt.Fatal(err)
		}
		defer h.Close()
		var wait sync.WaitGroup
		for i := range 12 {
			wait.Go(func() {
				b := &book{t: rt}
				c, err := ask(t.Context(), h, b, seed.Seed(i))
				b.classes()
				answers := 0
				for _, a := range b.ended {
					if a.Class == experts.Answered {
						answers++
						if a.Usage != c.Usage || a.Usage.Out == 0 {
							rt.Errorf("the books say %+v, the answer %+v", a, c)
						}
					}
				}
				var f *experts.Failure
				if (err == nil) != (answers == 1) || answers > 1 || err != nil && !errors.As(err, &f) && !errors.Is(err, experts.ErrMisconfigured) {
					rt.Errorf("%d answers, %v", answers, err)
				}
			})
		}
		wait.Wait()
	})
}
