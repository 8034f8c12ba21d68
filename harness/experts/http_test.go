package experts

// The HTTP client against servers that misbehave in every way a script can write down.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/entrorouter/entrorouter/harness/experts/internal/fixture"
	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = slog.New(slog.DiscardHandler)

// answer is a complete response of a well-behaved server.
const answer = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"\\boxed{4}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}`

// scripted is a server that plays one response a request and repeats the last.
func scripted(t testing.TB, o HTTPOptions, script ...func(w http.ResponseWriter, r *http.Request)) (*HTTP, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // the server notices that a client has gone only once the body is read
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.URL.Path == "/health" {
			return
		}
		script[min(int(asked.Add(1)), len(script))-1](w, r)
	}))
	if o.Log == nil {
		o.Log = quiet
	}
	o.Wait, o.Probe = time.Millisecond, 10*time.Millisecond
	h, err := NewHTTP([]Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 100}, URL: srv.URL + "/v1/"}}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(); srv.Close() })
	return h, &asked
}

func say(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func TestFailuresThatPassAreRetried(t *testing.T) {
	hangUp := func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}
	for name, script := range map[string][]func(http.ResponseWriter, *http.Request){
		"500 twice":                  {say(500, ""), say(500, "<html>bad gateway</html>"), say(200, answer)},
		"HTML with status 200":       {say(200, "<html>welcome</html>"), say(200, answer)},
		"an error with status 200":   {say(200, `{"error":{"message":"out of memory"}}`), say(200, answer)},
		"no choices":                 {say(200, `{"choices":[]}`), say(200, answer)},
		"nothing":                    {say(200, ""), say(200, answer)},
		"a failed generation":        {say(200, strings.Replace(answer, `"stop"`, `"error"`, 1)), say(200, answer)},
		"a connection that is reset": {hangUp, hangUp, say(200, answer)},
		"a body that ends too early": {say(200, answer[:len(answer)-20]), say(200, answer)},
		"a body shorter than declared": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, answer)
		}, say(200, answer)},
		"an aborted generation":                {say(200, strings.Replace(answer, `"stop"`, `"abort"`, 1)), say(200, answer)},
		"a generation without a finish reason": {say(200, strings.Replace(answer, `"stop"`, `null`, 1)), say(200, answer)},
	} {
		t.Run(name, func(t *testing.T) {
			h, asked := scripted(t, HTTPOptions{}, script...)
			c, err := h.Complete(context.Background(), Request{Expert: "e", Prompt: "2+2"})
			if err != nil {
				t.Fatal(err)
			}
			c.Server = ""
			want := Completion{Text: `\boxed{4}`, Finish: routing.Stop, Usage: cost.Usage{In: 3, Out: 9}}
			if diff := cmp.Diff(want, c); diff != "" || int(asked.Load()) != len(script) {
				t.Errorf("%d requests; %s", asked.Load(), diff)
			}
		})
	}
}

// llama.cpp promises to keep a connection open and closes it after an answer. A request that meets this was not tried.
func TestAConnectionThatWasNotKeptTakesNoTry(t *testing.T) {
	var used sync.Map // connections
	once := func(w http.ResponseWriter, r *http.Request) {
		if _, again := used.LoadOrStore(r.RemoteAddr, true); again {
			panic(http.ErrAbortHandler) // closes the connection without a byte
		}
		say(http.StatusOK, answer)(w, r)
	}
	h, asked := scripted(t, HTTPOptions{Tries: 1}, once)
	for range 3 {
		if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); err != nil {
			t.Error(err)
		}
	}
	if asked.Load() != 5 {
		t.Errorf("%d requests came, want 3 and 2 that met a closed connection", asked.Load())
	}

	h, asked = scripted(t, HTTPOptions{Tries: 1}, say(http.StatusOK, answer), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); err != nil {
		t.Error(err)
	}
	if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a server that ends every connection: %v", err)
	}
	if asked.Load() != 3 {
		t.Errorf("%d requests came, want 3: the one that takes no try is asked again once", asked.Load())
	}
}

func TestFailuresAreOneClearSentence(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		tries  int
		want   string
		class  Class
		again  bool
		is     error
	}{
		"an unknown model":       {404, `{"error":{"message":"The model m does not exist.","code":404}}`, 1, "404 Not Found: The model m does not exist.: is \"m\" the name", Model, false, ErrUnknownExpert},
		"a wrong path":           {404, `{"detail":"Not Found"}`, 1, "answered 404 Not Found: Not Found", Model, false, ErrUnknownExpert},
		"a missing key":          {401, `{"error":"Unauthorized"}`, 1, "401 Unauthorized: Unauthorized: set ENTROROUTER_API_KEY to a key of this server", Key, false, ErrMisconfigured},
		"too long a prompt":      {400, `{"error":{"message":"This model's maximum context length is 9"}}`, 1, "larger --max-model-len, or lower the expert's max_tokens (100)", Refused, true, ErrRefused},
		"too long an answer":     {400, `{"error":{"message":"max_tokens is too large: 100. This model supports at most 64 completion tokens, whereas you provided 100."}}`, 1, "whereas you provided 100.: lower the expert's max_tokens (100) in the pool file", Refused, true, ErrRefused},
		"a body too large":       {413, "", 1, "413 Request Entity Too Large", Refused, true, ErrRefused},
		"a server that fails":    {500, "", 4, "500 Internal Server Error, and none of 4 tries went better", Unavailable, true, ErrUnavailable},
		"text that is not JSON":  {200, "<html>welcome</html>", 3, "is not what an OpenAI-compatible server sends", Protocol, true, nil},
		"a page":                 {200, "<!DOCTYPE html>\n<html>sign in</html>", 3, `(it begins with "<!DOCTYPE html> <html>sign in</html>"), and none of 3 tries went better: that is a page for people; does url lead to the API?`, Protocol, true, nil},
		"nothing":                {200, "", 3, "the answer is empty, and none", Protocol, true, nil},
		"no money":               {402, `{"error":{"message":"Insufficient credits"}}`, 1, "402 Payment Required: Insufficient credits: pay the service that is asked, or raise what may be spent there, and the same command goes on", Key, false, ErrMisconfigured},
		"no money with 200":      {200, `{"error":{"message":"Insufficient credits","code":402}}`, 1, "Insufficient credits: pay the service that is asked, or raise what may be spent there, and the same command goes on", Key, false, ErrMisconfigured},
		"a quota":                {429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, 1, "429 Too Many Requests: You exceeded your current quota.: pay the service that is asked, or raise what may be spent there, and the same command goes on", Key, false, ErrMisconfigured},
		"a quota by its type":    {429, `{"error":{"message":"Your account is suspended","type":"exceeded_current_quota_error"}}`, 1, "Your account is suspended: pay the service", Key, false, ErrMisconfigured},
		"a hard limit":           {400, `{"error":{"message":"Billing hard limit has been reached","type":"invalid_request_error","code":"billing_hard_limit_reached"}}`, 1, "400 Bad Request: Billing hard limit has been reached: pay the service", Key, false, ErrMisconfigured},
		"a quota with 200":       {200, `{"error":{"message":"No quota","code":"insufficient_quota"}}`, 1, "answered with an error: No quota: pay the service", Key, false, ErrMisconfigured},
		"JSON of something else": {200, `{"status":"ok"}`, 3, "holds 0 choices, not 1", Protocol, true, nil},
		"several choices":        {200, `{"choices":[{},{}],"usage":{}}`, 3, "holds 2 choices, not 1", Protocol, true, nil},
		"half a stream":          {200, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"4\"}}]}\n\n", 4, "the stream ended without a finish_reason (events: 1), and none of 4 tries went better: if the server cannot stream, or something on the way cuts streams, set whole: true of the expert in the pool file", Unfinished, true, ErrUnavailable},
		"what is withheld":       {200, strings.Replace(answer, `"stop"`, `"content_filter"`, 1), 1, "withheld", Filtered, true, nil},
		"an aborted generation":  {200, strings.Replace(answer, `"stop"`, `"abort"`, 1), 4, `finish_reason "abort"`, Unfinished, true, ErrUnavailable},
		"control characters":     {400, `{"error":{"message":"\u001b[2J\u001b]0;title\u0007 sec` + `ret\nsecond line"}}`, 1, `400 Bad Request: [2J]0;title [key] second line`, Refused, true, ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			o := HTTPOptions{Tries: 4}
			if name == "control characters" {
				o.Key = "secret"
			}
			h, asked := scripted(t, o, say(c.status, c.body))
			_, err := h.Complete(context.Background(), Request{Expert: "e", Prompt: "2+2"})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b\a") || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v does not say %q", err, c.want)
			}
			var f *Failure
			all := c.class == Model || c.class == Key
			if errors.As(err, &f) == all || errors.Is(err, ErrMisconfigured) != all || f != nil && (f.Class != c.class || (f.Again || f.Early) != c.again) {
				t.Errorf("error %#v is of the wrong class", f)
			}
			if c.is != nil && !errors.Is(err, c.is) || errors.Is(err, ErrUnavailable) != (c.is == ErrUnavailable) || errors.Is(err, ErrRefused) != (c.is == ErrRefused) {
				t.Errorf("error %v is of the wrong kind", err)
			}
			if int(asked.Load()) != c.tries {
				t.Errorf("%d requests, want %d", asked.Load(), c.tries)
			}
		})
	}
}

// What servers say is cut before it is said again, also where a key stands that they repeat.
func TestNoPartOfAKeyIsSaid(t *testing.T) {
	const key = "sk-0123456789abcdef"
	for name, body := range map[string]struct {
		status int
		text   string
	}{
		"a message":          {400, `{"error":{"message":"PAD ` + key + ` is no key"}}`},
		"a page":             {400, "PAD Authorization: Bearer " + key},
		"a page for people":  {200, "<html>PAD Authorization: Bearer " + key + "</html>"},
		"an error in a page": {200, `{"error":{"message":"PAD ` + key + ` is no key"}}`},
		"another address":    {307, ""},
	} {
		pad, log := 0, &bytes.Buffer{}
		h, _ := scripted(t, HTTPOptions{Key: key, Tries: 2, ServerWait: -1, Log: slog.New(slog.NewTextHandler(log, nil))}, func(w http.ResponseWriter, r *http.Request) {
			text := strings.Replace(body.text, "PAD", strings.Repeat("p", pad), 1)
			if name == "a page" { // cut where it is read
				text = strings.Repeat(" ", maxHead-330) + text
			}
			w.Header().Set("Location", "http://b.example/"+strings.Repeat("p", pad)+key)
			say(body.status, text)(w, r)
		})
		for ; pad < 330; pad++ {
			log.Reset()
			_, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"})
			if said := err.Error() + log.String(); strings.Contains(said, key[:4]) {
				t.Fatalf("%s, %d letters before the key: %s", name, pad, said)
			}
		}
	}
}

// A service with a limit meets it every few seconds, for hours.
func TestLimitsAreSpokenOfAtTheFirstAndTheTenth(t *testing.T) {
	limit := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "0.01")
		say(429, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`)(w, r)
	}
	var heard bytes.Buffer
	h, asked := scripted(t, HTTPOptions{Log: slog.New(slog.NewTextHandler(&heard, &slog.HandlerOptions{Level: slog.LevelWarn}))}, append(slices.Repeat([]func(http.ResponseWriter, *http.Request){limit}, 12), say(200, answer))...)
	if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); err != nil || asked.Load() != 13 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
	if n := strings.Count(heard.String(), "waiting for a server that is limited"); n != 2 {
		t.Errorf("it is said %d times, want 2:\n%s", n, heard.String())
	}
}

// Proxies lose the type of a stream.
func TestAStreamMayComeUnderAnotherType(t *testing.T) {
	for _, comment := range []string{"", ": processing\n\n", "event: message\n"} {
		h, asked := scripted(t, HTTPOptions{}, say(200, comment+"data: {\"choices\":[{\"delta\":{\"content\":\"4\"},\"finish_reason\":null}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n"))
		c, err := h.Complete(context.Background(), Request{Expert: "e", Prompt: "2+2"})
		if err != nil || c.Text != "4" || c.Usage.Out != 9 || asked.Load() != 1 {
			t.Errorf("%+v after %d requests: %v", c, asked.Load(), err)
		}
	}
}

// read reads an answer that comes whole.
func read(body string) (*reply, *trouble) {
	r := newReply()
	t := r.whole(strings.NewReader(body), new(wire.Bodies))
	return r, t
}

func TestReasoningMayComeApartOrInTheText(t *testing.T) {
	reply := func(message, usage string) string {
		return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"length"}],"usage":` + usage + `}`
	}
	const counted = `{"prompt_tokens":1,"completion_tokens":5,"total_tokens":6}`
	for name, c := range map[string]struct {
		body string
		want Completion
	}{
		"in the text":                 {reply(`{"content":"<think>2</think>\n4"}`, counted), Completion{Text: "<think>2</think>\n4", Usage: cost.Usage{In: 1, Out: 5}}},
		"in the text, opened before":  {reply(`{"content":"2</think>\n4"}`, counted), Completion{Text: "2</think>\n4", Usage: cost.Usage{In: 1, Out: 5}}},
		"as reasoning":                {reply(`{"content":"4","reasoning":"2"}`, counted), Completion{Text: "4", Reasoning: "2", Usage: cost.Usage{In: 1, Out: 5}}},
		"as reasoning_content":        {reply(`{"content":"4","reasoning_content":"2"}`, counted), Completion{Text: "4", Reasoning: "2", Usage: cost.Usage{In: 1, Out: 5}}},
		"as both":                     {reply(`{"content":"4","reasoning_content":"2","reasoning":"2"}`, counted), Completion{Text: "4", Reasoning: "2", Usage: cost.Usage{In: 1, Out: 5}}},
		"as the other, one null":      {reply(`{"content":"4","reasoning":null,"reasoning_content":"2"}`, counted), Completion{Text: "4", Reasoning: "2", Usage: cost.Usage{In: 1, Out: 5}}},
		"cut while thinking":          {reply(`{"content":null,"reasoning":"2"}`, counted), Completion{Reasoning: "2", Usage: cost.Usage{In: 1, Out: 5}}},
		"cut while thinking, in text": {reply(`{"content":"<think>\n2"}`, counted), Completion{Text: "<think>\n2", Usage: cost.Usage{In: 1, Out: 5}}},
		"counted in the total only":   {reply(`{"content":"4"}`, `{"prompt_tokens":1,"completion_tokens":5,"total_tokens":56}`), Completion{Text: "4", Usage: cost.Usage{In: 1, Out: 55}}},
		"in parts":                    {reply(`{"content":[{"type":"text","text":"4"},{"type":"text","text":"2"}]}`, counted), Completion{Text: "42", Usage: cost.Usage{In: 1, Out: 5}}},
	} {
		c.want.Finish = routing.Length
		r, trouble := read(c.body)
		if trouble != nil {
			t.Fatalf("%s: %v", name, trouble.err)
		}
		got := r.completion()
		got.Usage, got.Estimated = r.tokens(0, 0)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What a server says of tokens counts unless it cannot be: then they are counted here, and never as nothing.
func TestTokensAreNeverNothingAndNeverMoreThanCanBe(t *testing.T) {
	const text = "8 bytes." // two tokens
	for usage, want := range map[string]struct {
		usage     cost.Usage
		estimated bool
	}{
		`{"prompt_tokens":3,"completion_tokens":9}`:     {cost.Usage{In: 3, Out: 9}, false},
		`{"prompt_tokens":3.0,"completion_tokens":1e1}`: {cost.Usage{In: 3, Out: 10}, false},
		`null`: {cost.Usage{In: 5, Out: 2}, true},
		`{}`:   {cost.Usage{In: 5, Out: 2}, true},
		`{"prompt_tokens":3,"completion_tokens":0}`:                       {cost.Usage{In: 5, Out: 2}, true},
		`{"prompt_tokens":-5,"completion_tokens":9}`:                      {cost.Usage{In: 5, Out: 2}, true},
		`{"prompt_tokens":3,"completion_tokens":-100}`:                    {cost.Usage{In: 5, Out: 2}, true},
		`{"prompt_tokens":3,"completion_tokens":9223372036854775807}`:     {cost.Usage{In: 5, Out: 2}, true},
		`{"prompt_tokens":4611686018427387904,"completion_tokens":9}`:     {cost.Usage{In: 5, Out: 2}, true},
		`{"prompt_tokens":null,"completion_tokens":9,"details":{"x":[]}}`: {cost.Usage{In: 0, Out: 9}, false},
		// Thinking is among the tokens of the answer already, and what was read from a cache among those of the prompt.
		`{"prompt_tokens":30,"completion_tokens":90,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":80}}`: {cost.Usage{In: 30, Out: 90}, false},
	} {
		r, trouble := read(`{"choices":[{"message":{"content":"` + text + `"},"finish_reason":"stop"}],"usage":` + usage + `}`)
		if trouble != nil {
			t.Errorf("%s: %v", usage, trouble.err)
			continue
		}
		if got, estimated := r.tokens(20, 100); got != want.usage || estimated != want.estimated {
			t.Errorf("%s: %+v, estimated %v", usage, got, estimated)
		}
	}
}

func TestCancelledContextsEndRequestsAndWaits(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	h, _ := scripted(t, HTTPOptions{}, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := h.Complete(ctx, Request{Expert: "e"}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) {
		t.Errorf("cancelled under way: %v", err)
	}

	ctx, cancel = context.WithCancel(context.Background())
	h, _ = scripted(t, HTTPOptions{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "200")
		w.WriteHeader(503)
		time.AfterFunc(20*time.Millisecond, cancel)
	})
	if _, err := h.Complete(ctx, Request{Expert: "e"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a wait: %v", err)
	}
}

func TestUnreachableServersAreNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/v1"
	l.Close() // nobody listens there now
	h, err := NewHTTP([]Endpoint{{Expert: routing.Expert{ID: "a", Model: "m"}, URL: url}, {Expert: routing.Expert{ID: "b", Model: "n"}, URL: url}}, HTTPOptions{ServerWait: -1, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for name, err := range map[string]error{
		"complete":  func() error { _, err := h.Complete(context.Background(), Request{Expert: "a"}); return err }(),
		"preflight": h.Preflight(context.Background(), -1),
	} {
		if err == nil || !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "expert a: "+url+": ") || !strings.Contains(err.Error(), "no connection (") || !strings.Contains(err.Error(), "is the server running") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, address := range []string{"localhost:8001", "http://localhost/v1?key=1", "http://localhost/v1#a", "http://a:b@localhost/v1"} {
		if err := CheckURL(address); err == nil || !strings.Contains(err.Error(), "want a base URL") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := NewHTTP([]Endpoint{{Expert: routing.Expert{ID: "a"}, URL: "localhost:8001"}}, HTTPOptions{}); err == nil || !strings.Contains(err.Error(), `url "localhost:8001": want a base URL`) {
		t.Errorf("a URL without a scheme: %v", err)
	}
}

func TestEndpointsHaveTheAddressesOfThePoolFile(t *testing.T) {
	pool, experts := fixture.Load(t, "../../experiments/pools/vllm.yaml", priceFile)
	var got []string
	for _, e := range Endpoints(pool, experts) {
		got = append(got, e.ID+" "+e.URL)
	}
	want := []string{"qwen3-4b http://localhost:8001/v1", "qwen3-30b http://localhost:8002/v1", "qwen3-235b http://localhost:8003/v1", "qwen3-1.7b http://localhost:8004/v1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPreflightNamesWhatIsServed(t *testing.T) {
	h, _ := scripted(t, HTTPOptions{}, say(200, `{"data":[{"id":"x"},{"id":"y"}]}`))
	if err := h.Preflight(context.Background(), time.Minute); err == nil || !strings.Contains(err.Error(), `does not serve the model "m"; it serves: x, y`) {
		t.Errorf("a model that is not served: %v", err)
	}
	// SGLang's router lists a model of a vLLM behind it as "unknown", and takes its name.
	h, _ = scripted(t, HTTPOptions{}, say(200, `{"data":[{"id":"unknown"}]}`))
	if h.experts[0].Unlisted = true; h.Preflight(t.Context(), time.Minute) != nil {
		t.Error("a model that need not be listed is looked for in the list")
	}
	h, _ = scripted(t, HTTPOptions{}, say(200, `{"data":[{"id":"m","max_model_len":100}]}`))
	if err := h.Preflight(context.Background(), time.Minute); err == nil || !strings.Contains(err.Error(), "room for 100 tokens in all, so every request for max_tokens 100 would be refused") {
		t.Errorf("a window without room for the prompt: %v", err)
	}
	// vLLM says no length of an adapter: it is that of the model that it lies over.
	h, _ = scripted(t, HTTPOptions{}, say(200, `{"data":[{"id":"base","parent":null,"max_model_len":100},{"id":"m","parent":"base","max_model_len":null}]}`))
	if err := h.Preflight(context.Background(), time.Minute); err == nil || !strings.Contains(err.Error(), "room for 100 tokens in all") {
		t.Errorf("adapter of a small server: %v", err)
	}
	h, _ = scripted(t, HTTPOptions{}, say(200, `{"data":[{"id":"m","max_model_len":200}]}`))
	if err := h.Preflight(context.Background(), time.Minute); err != nil {
		t.Error(err)
	}
}

// Ollama lists no window and forgets what does not fit into the one that it has: a model has to be loaded to tell. The words are those of Ollama 0.17.4.
func TestOllamasWindowIsLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		id, version string
		loaded      int // status
		ps          string
		want        string
		asked       string
	}{
		"too small":        {"m:1b", `{"version":"0.17.4"}`, 200, `{"models":[{"name":"other:1b","context_length":9},{"name":"m:1b","model":"m:1b","context_length":100}]}`, `serves "m:1b" with room for 100 tokens in all, and forgets without a word what does not fit, so answers of up to max_tokens 100 would be written without the question: start it with OLLAMA_CONTEXT_LENGTH above 100, or lower max_tokens`, "version generate ps"},
		"large enough":     {"m:1b", `{"version":"0.17.4"}`, 200, `{"models":[{"name":"m:1b","context_length":101}]}`, "", "version generate ps"},
		"not loaded":       {"m:1b", `{"version":"0.17.4"}`, 500, "", "", "version generate"},
		"not told":         {"m:1b", `{"version":"0.17.4"}`, 200, `{"models":[{"name":"m:1b"}]}`, "", "version generate ps"},
		"not Ollama":       {"m:1b", "page not found", 0, "", "", "version"},
		"another's name":   {"m", "", 0, "", "", ""},
		"another's window": {`m:1b","max_model_len":200,"x":"`, "", 0, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			h, _ := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
				if rest, is := strings.CutPrefix(r.URL.Path, "/api/"); is {
					asked = append(asked, rest)
				}
				switch r.URL.Path {
				case "/v1/models":
					say(200, `{"object":"list","data":[{"id":"`+c.id+`","object":"model","owned_by":"library"}]}`)(w, r)
				case "/api/version":
					say(200, c.version)(w, r)
				case "/api/generate":
					if body, _ := io.ReadAll(r.Body); string(body) != `{"model":"m:1b"}` {
						t.Errorf("loaded by %s", body)
					}
					say(c.loaded, `{"model":"m:1b","response":"","done":true,"done_reason":"load"}`)(w, r)
				case "/api/ps":
					say(200, c.ps)(w, r)
				default:
					say(404, "404 page not found")(w, r)
				}
			})
			h.experts[0].Model, _, _ = strings.Cut(c.id, `"`)
			if err := h.Preflight(t.Context(), time.Minute); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if got := strings.Join(asked, " "); got != c.asked {
				t.Errorf("asked for %q, want %q", got, c.asked)
			}
		})
	}
}

// A vLLM without a parser for calls refuses every request with tools, and so does one that serves vectors any text. Both list the model; the words are those of
// vLLM 0.32.0.
func TestVLLMIsAskedForWhatItWasStartedFor(t *testing.T) {
	list, version := say(200, `{"data":[{"id":"m","max_model_len":200}]}`), say(200, `{"version":"0.32.0"}`)
	for _, c := range []struct{ said, want string }{
		{`{"error":{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}}`, "takes no tools, with which it is to be asked (it says: \"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set): start it with these flags"},
		{`{"error":{"message":"max_tokens=201 cannot be greater than max_model_len=200. Please request fewer output tokens. (parameter=max_tokens, value=201)","type":"BadRequestError","param":"max_tokens","code":400}}`, ""},
	} {
		var sent map[string]any
		h, asked := scripted(t, HTTPOptions{}, list, version, func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			say(400, c.said)(w, r)
		})
		h.experts[0].Tools = true
		err := h.Preflight(t.Context(), time.Minute)
		if (err == nil) != (c.want == "") || err != nil && !(errors.Is(err, ErrMisconfigured) && strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if sent["max_tokens"] != 201.0 || sent["tools"] == nil || asked.Load() != 3 {
			t.Errorf("%d requests, the last was %v", asked.Load(), sent)
		}
	}
	h, _ := scripted(t, HTTPOptions{}, list, version, say(404, `{"detail":"Not Found"}`))
	if err := h.Preflight(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Complete(t.Context(), Request{Expert: "e"}); err == nil || !strings.HasSuffix(err.Error(), `it lists "m", and takes no such requests of it: with vLLM, --runner pooling serves vectors and --runner generate answers`) {
		t.Error(err)
	}
}

// Where a reasoning parser finds no end of the thinking, vLLM sends the whole answer as thinking.
func TestAnswersThatAreThinkingAloneAreSpokenOf(t *testing.T) {
	thought := func(finish string) func(http.ResponseWriter, *http.Request) {
		return say(200, `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning":"2 + 3 = 5"},"finish_reason":"`+finish+`"}],"usage":{"prompt_tokens":3,"completion_tokens":9}}`)
	}
	for finish, want := range map[string]int{"stop": 1, "length": 0, "stop, once one has said something": 0} {
		var log bytes.Buffer
		finish, spoken := strings.CutSuffix(finish, ", once one has said something")
		h, _ := scripted(t, HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}, thought(finish))
		if spoken {
			h, _ = scripted(t, HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}, say(200, answer), thought(finish))
			if _, err := h.Complete(t.Context(), Request{Expert: "e"}); err != nil {
				t.Error(err)
			}
		}
		for range 11 {
			if c, err := h.Complete(t.Context(), Request{Expert: "e"}); err != nil || c.Text != "" || c.Reasoning != "2 + 3 = 5" {
				t.Errorf("%+v, %v", c, err)
			}
		}
		if n := strings.Count(log.String(), "does the server's reasoning parser fit the model?"); n != want {
			t.Errorf("%s: said %d times, want %d: %s", finish, n, want, log.String())
		}
	}
}

// A vLLM that was told to stop, with --shutdown-timeout, finishes what it has, and refuses the rest in these words; it says that it is well meanwhile.
func TestAServerThatStopsIsWaitedFor(t *testing.T) {
	h, asked := scripted(t, HTTPOptions{Tries: 1}, say(500, `{"error":{"message":"cannot schedule new futures after shutdown","type":"InternalServerError","param":null,"code":500}}`), say(200, answer))
	if got, err := h.Complete(t.Context(), Request{Expert: "e"}); err != nil || got.Text != `\boxed{4}` || asked.Load() != 2 {
		t.Errorf("%+v, %v after %d requests", got, err, asked.Load())
	}
}

// vLLM sends the head of an answer at once, and then nothing while the request waits for its turn. One that was told to stop does so for ever, and its health is
// not to be had.
func TestAnAnswerMayBeginLongAfterItsHead(t *testing.T) {
	for _, c := range []struct {
		ill   int64 // looks at its health that find it ill
		tries int64
	}{{0, 1}, {2, 2}} {
		var asked, looks atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/health" {
				if looks.Add(1) <= c.ill {
					w.WriteHeader(503)
				}
				return
			}
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			if asked.Add(1) == 1 {
				select {
				case <-time.After(300 * time.Millisecond):
				case <-r.Context().Done():
				}
			}
			io.WriteString(w, "data: "+strings.Replace(answer, `"message"`, `"delta"`, 1)+"\n\n")
		}))
		h, err := NewHTTP([]Endpoint{{Expert: routing.Expert{ID: "e", Model: "m", MaxTokens: 100}, URL: srv.URL + "/v1"}},
			HTTPOptions{Idle: 30 * time.Millisecond, FirstByte: time.Minute, Wait: time.Millisecond, Probe: time.Millisecond, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Complete(t.Context(), Request{Expert: "e"})
		if err != nil || got.Text != `\boxed{4}` || asked.Load() != c.tries {
			t.Errorf("ill %d times: %+v, %v after %d requests, want %d", c.ill, got, err, asked.Load(), c.tries)
		}
		h.Close()
		srv.Close()
	}
}

// llama-cpp-python refuses the id of a request that is no UUID.
var uuid = regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$")

func TestRequestsCarryEverythingThatShapesTheAnswer(t *testing.T) {
	var got map[string]any
	var header http.Header
	h, _ := scripted(t, HTTPOptions{Key: "secret"}, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		json.NewDecoder(r.Body).Decode(&got)
		say(200, answer)(w, r)
	})
	_, err := h.Complete(context.Background(), Request{Expert: "e", Prompt: "2+\"2\"\n", Seed: 1<<63 + 5, Sampling: spec.Sampling{Temperature: 0.6, TopP: 0.95, TopK: 20}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"model": "m", "messages": []any{map[string]any{"role": "user", "content": "2+\"2\"\n"}},
		"n": 1.0, "seed": 5.0, "max_tokens": 100.0, "temperature": 0.6, "top_p": 0.95, "top_k": 20.0, "min_p": 0.0,
		"stream": true, "stream_options": map[string]any{"include_usage": true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if header.Get("Authorization") != "Bearer secret" || !uuid.MatchString(header.Get("X-Request-Id")) || header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", header)
	}
}

// Whoever does not know a field has it off, so that it need not be said. What is on is left out by nobody but the pool file.
func TestWhatIsOffIsNotSaidToWhoeverDoesNotKnowIt(t *testing.T) {
	for name, c := range map[string]struct {
		sampling spec.Sampling
		sent     string // by each request once the server has said what it does not know
		refused  bool
	}{
		"both":                {spec.Sampling{Temperature: 0.6}, "", false},
		"one of them":         {spec.Sampling{Temperature: 0.6, LeaveOut: `["top_k"]`}, "", false},
		"neither":             {spec.Sampling{Temperature: 0.6, LeaveOut: `["top_k","min_p"]`}, "", false},
		"one of them is on":   {spec.Sampling{Temperature: 0.6, TopK: 20}, "top_k", true},
		"the other one is on": {spec.Sampling{Temperature: 0.6, MinP: 0.1}, "min_p", true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			var last atomic.Value
			h, _ := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
				var got map[string]any
				json.NewDecoder(r.Body).Decode(&got)
				asked.Add(1)
				var strange []string
				for _, field := range []string{"top_k", "min_p"} {
					if _, is := got[field]; is {
						strange = append(strange, field)
					}
				}
				if last.Store(strings.Join(strange, " ")); strange != nil {
					say(422, `{"detail":"Unexpected fields in the request: `+strings.Join(strange, ", ")+`"}`)(w, r)
					return
				}
				say(200, answer)(w, r)
			})
			var all sync.WaitGroup
			for i := range 9 {
				ask := func() {
					_, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2", Sampling: c.sampling})
					if (err != nil) != c.refused || c.refused && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "in leave_out of the pool file's sampling")) {
						t.Error(err)
					}
				}
				if all.Go(ask); i == 7 {
					all.Wait()
					asked.Store(0)
				}
			}
			all.Wait()
			if asked.Load() != 1 || last.Load() != c.sent {
				t.Errorf("the last request was sent %d times, with %q", asked.Load(), last.Load())
			}
		})
	}
}

// Servers differ in how a field is said to be off. One that refuses a value of top_k is told the other one before it is left out, since a server that
// knows a field fills in what is missing.
func TestATopKThatIsRefusedAsOffIsSaidInAnotherWay(t *testing.T) {
	// llama-cpp-python answers 500 where FastAPI finds a field wrong, with the list of what it found.
	const found = `{"error":{"message":"1 validation error:\n  {'type': 'greater_than_equal', 'loc': ('body', 'top_k'), 'msg': 'Input should be greater than or equal to 0', 'input': -1, 'ctx': {'ge': 0}}","type":"internal_server_error","param":null,"code":null}}`
	var sent []string
	h, _ := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			TopK *int     `json:"top_k"`
			MinP *float64 `json:"min_p"`
		}
		json.NewDecoder(r.Body).Decode(&got)
		sent = append(sent, fmt.Sprint(got.TopK != nil && *got.TopK == 0, got.MinP != nil && *got.MinP == 0))
		if got.TopK == nil || *got.TopK < 0 {
			say(500, found)(w, r)
			return
		}
		say(200, answer)(w, r)
	})
	for range 2 {
		if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"false true", "true true", "true true"}; !slices.Equal(sent, want) {
		t.Errorf("top_k is 0, min_p is 0: sent %q, want %q", sent, want)
	}
}

// What a server finds wrong with a request it will find wrong again, whatever its status says.
func TestAFieldThatIsFoundWrongIsARefusal(t *testing.T) {
	h, asked := scripted(t, HTTPOptions{}, say(500, `{"error":{"message":"[{'type': 'less_than_equal', 'loc': ('body', 'temperature'), 'msg': 'Input should be less than or equal to 2', 'input': 3.0}]"}}`))
	if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); !errors.Is(err, ErrRefused) || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// A proxy's word for the server behind it is no word about streams.
func TestAnUpstreamIsNoStream(t *testing.T) {
	h, asked := scripted(t, HTTPOptions{}, say(400, `{"error":{"message":"the upstream refuses the prompt"}}`))
	if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); !errors.Is(err, ErrRefused) || asked.Load() != 1 {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// Some servers shorten what they may write where the window is too small for max_tokens, and say no more than "length".
func TestAnAnswerCutBeforeMaxTokensIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		said bool
	}{
		"counted":        {`{"choices":[{"message":{"content":"a b c"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":40,"total_tokens":43}}`, true},
		"not counted":    {`{"choices":[{"message":{"content":"a b c"},"finish_reason":"length"}]}`, true},
		"at the limit":   {`{"choices":[{"message":{"content":"a b c"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":99,"total_tokens":102}}`, false},
		"perhaps":        {`{"choices":[{"message":{"content":"` + strings.Repeat("a", 200) + `"},"finish_reason":"length"}]}`, false},
		"not cut":        {`{"choices":[{"message":{"content":"a b c"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":40,"total_tokens":43}}`, false},
		"what cannot be": {`{"choices":[{"message":{"content":"` + strings.Repeat("a", 200) + `"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":0}}`, false},
	} {
		var log bytes.Buffer
		h, _ := scripted(t, HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}, say(200, c.body))
		if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(log.String(), "before max_tokens"); said != c.said {
			t.Errorf("%s: the log is %q", name, log.String())
		}
	}
}

// begins writes the head of a stream and these lines, and breaks the connection off.
func begins(lines string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, lines)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// llama-cpp-python ends the stream that it writes once another request comes, so that no two streams come to their end.
func TestAServerThatInterruptsStreamsIsAskedForWholeAnswers(t *testing.T) {
	var whole atomic.Int64
	h, asked := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"stream":true`)) {
			begins("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"},\"finish_reason\":null}]}\n\ndata: [DONE]\n\n")(w, r)
		}
		whole.Add(1)
		say(200, answer)(w, r)
	})
	for range 5 {
		b := &heard{}
		if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2", Attempts: b}); err != nil {
			t.Fatal(err)
		}
		if asked.Load() == 2 && b.classes[0] != Unfinished {
			t.Errorf("classes %v", b.classes)
		}
	}
	if asked.Load() != 5+3 || whole.Load() != 5 {
		t.Errorf("%d requests, %d of them for whole answers", asked.Load(), whole.Load())
	}
}

// heard keeps the classes of attempts.
type heard struct{ classes []Class }

func (h *heard) Begin(context.Context, string) error { return nil }
func (h *heard) End(a Attempt)                       { h.classes = append(h.classes, a.Class) }

// Where a server breaks a stream off before it says anything, its answer as a whole says why.
func TestAStreamOfNothingIsAskedForWhole(t *testing.T) {
	h, asked := scripted(t, HTTPOptions{}, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"stream":true`)) {
			begins("")(w, r)
		}
		say(400, `{"error":{"message":"This model's maximum context length is 2048 tokens."}}`)(w, r)
	})
	if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); !errors.Is(err, ErrRefused) || asked.Load() != 3 || !strings.Contains(err.Error(), "lower the expert's max_tokens") {
		t.Errorf("%v after %d requests", err, asked.Load())
	}
}

// SGLang's router says that it is well, and 503 to each request while no server is behind it.
func TestAProxyThatIsWellWithoutAServerIsLeftAlone(t *testing.T) {
	var log bytes.Buffer
	begun := time.Now()
	h, _ := scripted(t, HTTPOptions{Log: slog.New(slog.NewTextHandler(&log, nil))}, func(w http.ResponseWriter, r *http.Request) {
		if time.Since(begun) < 500*time.Millisecond {
			time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
			say(503, `{"error":{"message":"No available workers"}}`)(w, r)
			return
		}
		say(200, answer)(w, r)
	})
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if _, err := h.Complete(t.Context(), Request{Expert: "e", Prompt: "2+2"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	h.Close()
	if n := strings.Count(log.String(), "waiting for a server"); n != 1 {
		t.Errorf("it is said %d times that the server is waited for:\n%s", n, log.String())
	}
}

// FuzzReply: whatever a server sends, whole or as a stream, is a trouble or an answer with a cost, and its error is one line.
func FuzzReply(f *testing.F) {
	f.Add([]byte(answer), false)
	f.Add([]byte(`{"error":{"message":"no"}}`), false)
	f.Add([]byte(`{"choices":[{"message":{"content":null},"finish_reason":"length"}],"usage":{"prompt_tokens":-1}}`), false)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"4\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n"), true)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		r := newReply()
		defer r.free()
		var trouble *trouble
		if stream {
			trouble = r.stream(bytes.NewReader(body))
		} else {
			trouble = r.whole(bytes.NewReader(body), new(wire.Bodies))
		}
		u, _ := r.tokens(10, 100)
		if u.In < 0 || u.Out < 0 || u.Out == 0 && len(r.text) > 0 || trouble == nil && r.finish == "" {
			t.Errorf("accepted %+v of %+v", u, r)
		}
		if text := said(body, ""); strings.ContainsAny(text, "\n\x1b") || len(text) > 320 {
			t.Errorf("an error body became %q", text)
		}
	})
}
