package fault_test

// Each fault as a client meets it, on real connections; time is a clock of the test.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	plain  = `{"model":"m","messages":[{"role":"user","content":"2+2"}],"seed":1}`
	stream = `{"model":"m","messages":[{"role":"user","content":"2+2"}],"seed":1,"stream":true,"stream_options":{"include_usage":true}}`
)

// start sends a request; the caller closes the body.
func start(t *testing.T, s *fault.Server, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer sesame")
	return (&http.Transport{DisableKeepAlives: true, DisableCompression: true}).RoundTrip(r)
}

// send sends a request and reads what comes, also where it breaks off.
func send(t *testing.T, s *fault.Server, body string) (*http.Response, string, error) {
	t.Helper()
	response, err := start(t, s, body)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		rule    fault.Rule
		request string
		events  int // that came
		done    bool
		err     error
		served  fault.Served
	}{
		"no fault":                {fault.Rule{Model: "other"}, stream, 5, true, nil, fault.Served{Status: 200, Out: 9, Sent: 9, Whole: true}},
		"a reset":                 {fault.Rule{End: fault.Reset, After: fault.Events(2)}, stream, 2, false, syscall.ECONNRESET, fault.Served{Fault: 1, Status: 200, Out: 9, Sent: 9}},
		"a stream that closes":    {fault.Rule{End: fault.Close, After: fault.Events(2)}, stream, 2, false, io.ErrUnexpectedEOF, fault.Served{Fault: 1, Status: 200, Out: 9, Sent: 9}},
		"an end too early":        {fault.Rule{End: fault.Early, After: fault.Events(4)}, stream, 4, false, nil, fault.Served{Fault: 1, Status: 200, Out: 9, Sent: 9}},
		"an error":                {fault.Rule{End: fault.Erred, After: fault.Events(2)}, stream, 4, true, nil, fault.Served{Fault: 1, Status: 200, Out: 9, Sent: 9}},
		"a reset after the head":  {fault.Rule{End: fault.Reset}, stream, 0, false, syscall.ECONNRESET, fault.Served{Fault: 1, Status: 200, Out: 9}},
		"a reset after nothing":   {fault.Rule{End: fault.Reset, After: fault.Nothing()}, stream, 0, false, syscall.ECONNRESET, fault.Served{Fault: 1, Out: 9}},
		"a close after nothing":   {fault.Rule{End: fault.Close, After: fault.Nothing()}, plain, 0, false, io.EOF, fault.Served{Fault: 1, Out: 9}},
		"a body that is cut":      {fault.Rule{End: fault.Close, After: fault.Bytes(40)}, plain, 0, false, io.ErrUnexpectedEOF, fault.Served{Fault: 1, Status: 200, Out: 9}},
		"JSON that is cut":        {fault.Rule{End: fault.Early, After: fault.Bytes(40)}, plain, 0, false, nil, fault.Served{Fault: 1, Status: 200, Out: 9}},
		"a server without engine": {fault.Rule{End: fault.Erred}, plain, 0, false, nil, fault.Served{Fault: 1, Status: 500, Out: 9, Whole: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fault.New(t, fault.Script{Plan: fault.Plan{c.rule}})
			_, text, err := send(t, s, c.request)
			if !errors.Is(err, c.err) || strings.Count(text, "\n\n") != c.events || strings.HasSuffix(text, "data: [DONE]\n\n") != c.done {
				t.Errorf("error %v after %q", err, text)
			}
			c.served.Model, c.served.Prompt, c.served.Seed, c.served.Attempt, c.served.In = "m", "2+2", 1, 1, 3
			if diff := cmp.Diff([]fault.Served{c.served}, s.Wait(1)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// text is a body of a rule.
func text(s string) *string { return &s }

func TestAnswersOfAnotherKind(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		rule   fault.Rule
		status int
		header string // of the response, and its value
		body   string
	}{
		"a limit in seconds":  {fault.Rule{Status: 429, Headers: map[string]string{"Retry-After": "-5"}}, 429, "Retry-After: -5", `{"error":{"message":"Rate limit reached.","type":"TooManyRequestsError","param":null,"code":429}}`},
		"a limit by a date":   {fault.Rule{Status: 429, Headers: map[string]string{"Retry-After": "{in 30s}"}}, 429, "Retry-After: Fri, 02 Jan 2026 03:04:35 GMT", `{"error":{"message":"Rate limit reached.","type":"TooManyRequestsError","param":null,"code":429}}`},
		"a date":              {fault.Rule{Status: 429}, 429, "Date: Fri, 02 Jan 2026 03:04:05 GMT", `{"error":{"message":"Rate limit reached.","type":"TooManyRequestsError","param":null,"code":429}}`},
		"loading":             {fault.Rule{Status: 503}, 503, "Content-Type: application/json", `{"error":{"message":"Loading model","type":"unavailable_error","param":null,"code":503}}`},
		"a wrong key":         {fault.Rule{Status: 401}, 401, "Content-Type: application/json", `{"error":"Unauthorized"}`},
		"a wrong model":       {fault.Rule{Status: 404}, 404, "Content-Type: application/json", "{\"error\":{\"message\":\"The model `m` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}}"},
		"too long a prompt":   {fault.Rule{Status: 400}, 400, "Content-Type: application/json", `{"error":{"message":"This model's maximum context length is 32768 tokens. However, your request has 40000 input tokens. Please reduce the length of the input messages.","type":"BadRequestError","param":null,"code":400}}`},
		"a dead engine":       {fault.Rule{Status: 500}, 500, "Content-Length: 0", ""},
		"a proxy":             {fault.Rule{Status: 502}, 502, "Content-Type: text/html", "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"},
		"another host":        {fault.Rule{Status: 307, Headers: map[string]string{"Location": "http://127.0.0.1:1/v1"}}, 307, "Location: http://127.0.0.1:1/v1", ""},
		"no body":             {fault.Rule{Status: 200}, 200, "Content-Length: 0", ""},
		"an error as success": {fault.Rule{Status: 200, Body: text(`{"error":{"message":"no"}}`)}, 200, "Content-Type: application/json", `{"error":{"message":"no"}}`},
		"the key, echoed":     {fault.Rule{Status: 401, Body: text(`{"error":"Incorrect API key: {key}"}`)}, 401, "Content-Type: application/json", `{"error":"Incorrect API key: sesame"}`},
		"no gzip":             {fault.Rule{Status: 200, Headers: map[string]string{"Content-Encoding": "gzip"}, Body: text("\x1f\x8bnot")}, 200, "Content-Encoding: gzip", "\x1f\x8bnot"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fault.New(t, fault.Script{Plan: fault.Plan{c.rule}, Clock: clockwork.NewFakeClockAt(now)})
			response, body, err := send(t, s, plain)
			if err != nil {
				t.Fatal(err)
			}
			key, value, _ := strings.Cut(c.header, ": ")
			if got := response.Header.Get(key); response.StatusCode != c.status || got != value || body != c.body {
				t.Errorf("%s, %s: %s, %q", response.Status, key, got, body)
			}
			if n := s.Wait(1)[0]; n.Out != 0 || !n.Whole || n.Status != c.status {
				t.Errorf("%+v", n)
			}
		})
	}
}

func TestValuesThatAreOtherThanTheyShouldBe(t *testing.T) {
	const (
		before = `{"id":"chatcmpl-1","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"\\boxed{4}"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}`
		events = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"\\boxed{4}"},"logprobs":null,"finish_reason":null}]}` + "\n\n" +
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}` + "\n\ndata: [DONE]\n\n"
	)
	replaced := strings.NewReplacer
	for name, c := range map[string]struct {
		rule  fault.Rule
		edits []string // old and new of the whole response
		both  bool     // and of the events
	}{
		"a finish reason":         {fault.Rule{Set: map[string]string{"choices.0.finish_reason": `"abort"`}}, []string{`"stop"`, `"abort"`}, true},
		"no finish reason":        {fault.Rule{Set: map[string]string{"choices.0.finish_reason": `null`}}, []string{`"stop"`, `null`}, true},
		"beyond the limit":        {fault.Rule{Set: map[string]string{"usage.completion_tokens": "9223372036854775808"}}, []string{`completion_tokens":9`, `completion_tokens":9223372036854775808`}, true},
		"a float":                 {fault.Rule{Set: map[string]string{"usage.completion_tokens": "1e2"}}, []string{`completion_tokens":9`, `completion_tokens":1e2`}, true},
		"NaN":                     {fault.Rule{Set: map[string]string{"usage.completion_tokens": "NaN"}}, []string{`completion_tokens":9`, `completion_tokens":NaN`}, true},
		"no usage":                {fault.Rule{Drop: []string{"usage"}}, []string{`,"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}`, ``}, true},
		"created as text":         {fault.Rule{Set: map[string]string{"created": `"now"`}}, []string{`"created":0`, `"created":"now"`}, true},
		"one id for all":          {fault.Rule{Set: map[string]string{"id": `"same"`}}, []string{`chatcmpl-1`, `same`}, true},
		"no choices":              {fault.Rule{Set: map[string]string{"choices": `[]`}}, []string{`"choices":[{"index":0,"message":{"role":"assistant","content":"\\boxed{4}"},"logprobs":null,"finish_reason":"stop"}]`, `"choices":[]`}, false},
		"a stop reason":           {fault.Rule{Set: map[string]string{"choices.0.stop_reason": `151645`}}, []string{`"finish_reason":"stop"`, `"finish_reason":"stop","stop_reason":151645`}, false},
		"escapes for a terminal":  {fault.Rule{Set: map[string]string{"choices.0.message.content": `"\u001b[2J\u0007"`}}, []string{`\\boxed{4}`, `\u001b[2J\u0007`}, false},
		"thinking and no content": {fault.Rule{Move: map[string]string{"choices.0.message.content": "reasoning"}}, []string{`"content":"\\boxed{4}"`, `"content":null,"reasoning":"\\boxed{4}"`}, false},
		"two at once":             {fault.Rule{Set: map[string]string{"choices.0.finish_reason": `"length"`}, Drop: []string{"usage.completion_tokens"}}, []string{`"stop"`, `"length"`, `"completion_tokens":9,`, ``}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := fault.New(t, fault.Script{Plan: fault.Plan{c.rule}})
			_, got, err := send(t, s, plain)
			if diff := cmp.Diff(replaced(c.edits...).Replace(before), got); diff != "" || err != nil {
				t.Error(err, diff)
			}
			_, got, err = send(t, s, stream)
			if diff := cmp.Diff(replaced(c.edits...).Replace(events), got); c.both && diff != "" || err != nil {
				t.Error(err, diff)
			}
			for _, n := range s.Wait(2) {
				if n.Out != 9 || n.Sent != 9 || !n.Whole {
					t.Errorf("the server's own count is %+v", n)
				}
			}
		})
	}
	s := fault.New(t, fault.Script{Plan: fault.Plan{{Move: map[string]string{"choices.0.message.content": "reasoning"}}}})
	if _, got, err := send(t, s, stream); err != nil || strings.Count(got, `"delta":{"content":null,"reasoning":"\\boxed{4}"}`) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

// Ways of writing the same leave the same.
func TestLinesThatAreWrittenOtherwise(t *testing.T) {
	long := vllm.Answer{Text: strings.Repeat("é", 300), Finish: "stop", In: 3, Out: 9}
	answer := func(context.Context, vllm.Request) (vllm.Answer, error) { return long, nil }
	_, want, err := send(t, fault.New(t, fault.Script{Answer: answer}), stream)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		rule fault.Rule
		is   func(string) bool
		undo func(string) string
	}{
		"a byte order mark": {fault.Rule{BOM: true}, func(s string) bool { return strings.HasPrefix(s, "\ufeffdata") }, func(s string) string { return strings.TrimPrefix(s, "\ufeff") }},
		"lines of Windows":  {fault.Rule{CRLF: true}, func(s string) bool { return strings.Count(s, "\r\n\r\n") == 7 }, func(s string) string { return strings.ReplaceAll(s, "\r", "") }},
		"no space":          {fault.Rule{Tight: true}, func(s string) bool { return strings.Count(s, "data:{") == 6 }, func(s string) string { return strings.ReplaceAll(s, "data:", "data: ") }},
		"comments":          {fault.Rule{Comments: true}, func(s string) bool { return strings.Count(s, ": still at it\n\n") == 7 }, func(s string) string { return strings.ReplaceAll(s, ": still at it\n\n", "") }},
		"a line of 1 MiB":   {fault.Rule{Padding: 1 << 20}, func(s string) bool { return strings.Index(s, "\n") > 1<<20 }, func(s string) string { return strings.Replace(s, `"padding":"`+strings.Repeat("x", 1<<20)+`",`, "", 1) }},
		"bytes, one by one": {fault.Rule{Split: 1}, func(string) bool { return true }, func(s string) string { return s }},
		"all of it": {fault.Rule{BOM: true, CRLF: true, Tight: true, Split: 7}, func(s string) bool { return strings.HasPrefix(s, "\ufeffdata:{") }, func(s string) string {
			return strings.NewReplacer("\ufeff", "", "\r", "", "data:", "data: ").Replace(s)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fault.New(t, fault.Script{Answer: answer, Plan: fault.Plan{c.rule}})
			_, got, err := send(t, s, stream)
			if diff := cmp.Diff(want, c.undo(got)); diff != "" || err != nil || !c.is(got) {
				t.Error(err, diff)
			}
		})
	}
}

// A character lies in two chunks, as chunks of HTTP.
func TestSplitCutsCharacters(t *testing.T) {
	s := fault.New(t, fault.Script{
		Answer: func(context.Context, vllm.Request) (vllm.Answer, error) {
			return vllm.Answer{Text: "é", Finish: "stop", Out: 1}, nil
		},
		Plan: fault.Plan{{Split: 1}},
	})
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(stream), stream)
	if got, err := io.ReadAll(c); err != nil || !strings.Contains(string(got), "\r\n1\r\n\xc3\r\n1\r\n\xa9\r\n") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestHangingResponsesEndWithTheClientAndWithTheServer(t *testing.T) {
	s := fault.New(t, fault.Script{Plan: fault.Plan{{End: fault.Hang, After: fault.Events(1)}}})
	for range 2 { // the second is left to the end of the server
		response, err := start(t, s, stream)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil || !strings.HasPrefix(got, "data: {") {
			t.Errorf("%q, %v", got, err)
		}
		if len(s.Served()) == 0 {
			response.Body.Close()
			if n := s.Wait(1)[0]; n.Whole || n.Out != 9 || n.Sent != 0 {
				t.Errorf("%+v", n)
			}
		} else {
			t.Cleanup(func() { response.Body.Close() })
		}
	}
}

func TestAServerThatIsDownRefuses(t *testing.T) {
	clock := clockwork.NewFakeClock()
	s := fault.New(t, fault.Script{Down: true, Clock: clock, Plan: fault.Plan{{Requests: fault.First(1), Down: 13 * time.Second}}})
	if _, _, err := send(t, s, plain); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	s.Up()
	if _, _, err := send(t, s, plain); !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	if _, _, err := send(t, s, plain); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(err)
	}
	if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(13 * time.Second)
	for { // the server comes up in its own time
		if _, _, err := send(t, s, plain); err == nil {
			break
		} else if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatal(err)
		}
	}
}

// ticks advances a clock each time that the server waits for it, so many times.
func ticks(t *testing.T, clock *clockwork.FakeClock, n int, d time.Duration) {
	t.Helper()
	for range n {
		if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
			t.Error(err)
		}
		clock.Advance(d)
	}
}

func TestAnAnswerTricklesAsTheClockTicks(t *testing.T) {
	clock := clockwork.NewFakeClock()
	s := fault.New(t, fault.Script{Clock: clock, Plan: fault.Plan{{Delay: time.Minute, Pace: &fault.Pace{Bytes: 100, Every: time.Second, Head: true}}}})
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(plain), plain)
	ticks(t, clock, 1, time.Minute)
	for range 2 { // the head is longer than 100 bytes, and comes in two parts
		ticks(t, clock, 1, time.Second)
		got := make([]byte, 200)
		n, err := c.Read(got)
		if err != nil || n > 100 {
			t.Errorf("%d bytes in a tick: %q, %v", n, got[:n], err)
		}
	}
	ticks(t, clock, 3, time.Second)
	if got, err := io.ReadAll(c); err != nil || !json.Valid(got) {
		t.Errorf("%q, %v", got, err)
	}
}

// A client that does not wait for a late answer has not got it, and it was written.
func TestALateAnswerIsCounted(t *testing.T) {
	clock := clockwork.NewFakeClock()
	s := fault.New(t, fault.Script{Clock: clock, Plan: fault.Plan{{Attempts: fault.First(1), Delay: time.Hour}}})
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/chat/completions", strings.NewReader(plain))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	go func() {
		if clock.BlockUntilContext(ctx, 1) == nil {
			leave()
		}
	}()
	if _, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	s.Wait(1)
	if _, _, err := send(t, s, plain); err != nil {
		t.Error(err)
	}
	want := []fault.Served{
		{Model: "m", Prompt: "2+2", Seed: 1, Attempt: 1, Fault: 1, In: 3, Out: 9},
		{Model: "m", Prompt: "2+2", Seed: 1, Attempt: 2, Status: 200, In: 3, Out: 9, Sent: 9, Whole: true},
	}
	if diff := cmp.Diff(want, s.Wait(2)); diff != "" {
		t.Error(diff)
	}
}

// ask is the body of a request.
func ask(model, prompt string, seed int) string {
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":%q}],"seed":%d}`, model, prompt, seed)
}

func TestWhichRequestsMeetAFault(t *testing.T) {
	type request struct {
		body string
		at   time.Duration
	}
	a := func(seed int) request { return request{body: ask("a", "x", seed)} }
	for name, c := range map[string]struct {
		rule     fault.Rule
		requests []request
		met      []int // numbers of the requests that met the fault
	}{
		"all":              {fault.Rule{}, []request{a(1), a(2)}, []int{1, 2}},
		"a model":          {fault.Rule{Model: "b"}, []request{a(1), {body: ask("b", "x", 1)}}, []int{2}},
		"a text":           {fault.Rule{Contains: "ring"}, []request{a(1), {body: ask("a", "strings", 1)}}, []int{2}},
		"a first attempt":  {fault.Rule{Attempts: fault.First(1)}, []request{a(1), a(1), a(2), a(1)}, []int{1, 3}},
		"later attempts":   {fault.Rule{Attempts: fault.Range{From: 2}}, []request{a(1), a(1), a(2), a(1)}, []int{2, 4}},
		"some requests":    {fault.Rule{Requests: fault.Range{From: 2, To: 3}}, []request{a(1), a(2), a(3), a(4)}, []int{2, 3}},
		"each third":       {fault.Rule{Every: 3}, []request{a(1), a(2), a(3), a(4), a(5), a(6)}, []int{3, 6}},
		"each second of b": {fault.Rule{Every: 2, Model: "b"}, []request{{body: ask("b", "x", 1)}, a(2), a(3), {body: ask("b", "x", 2)}}, []int{4}},
		"a time":           {fault.Rule{Since: time.Second, Until: 3 * time.Second}, []request{a(1), {ask("a", "x", 2), time.Second}, {ask("a", "x", 3), 3 * time.Second}}, []int{2}},
		"another path":     {fault.Rule{Path: "/health"}, []request{a(1)}, nil},
		"any path":         {fault.Rule{Path: "/"}, []request{a(1)}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clockwork.NewFakeClock()
			began := clock.Now()
			c.rule.Status = 500
			s := fault.New(t, fault.Script{Plan: fault.Plan{c.rule}, Models: []vllm.Model{{Name: "a"}, {Name: "b"}}, Clock: clock})
			var met []int
			for i, r := range c.requests {
				clock.Advance(r.at - clock.Since(began))
				response, _, err := send(t, s, r.body)
				if err != nil {
					t.Fatal(err)
				}
				if response.StatusCode == 500 {
					met = append(met, i+1)
				}
			}
			if !slices.Equal(met, c.met) {
				t.Errorf("requests %v met the fault, want %v", met, c.met)
			}
		})
	}
}

func TestTheFirstRuleThatMatchesIsApplied(t *testing.T) {
	s := fault.New(t, fault.Script{Plan: fault.Plan{{Attempts: fault.First(1), Status: 503}, {Status: 429}}})
	for _, want := range []int{503, 429, 429} {
		if response, _, err := send(t, s, plain); err != nil || response.StatusCode != want {
			t.Errorf("%v, %v, want %d", response, err, want)
		}
	}
}

// A share holds whole requests, about as many as it says, and the same ones each time.
func TestAShareOfRequests(t *testing.T) {
	s := fault.New(t, fault.Script{Plan: fault.Plan{{Share: 0.3, Status: 500}}})
	var met [2]int
	for pass := range met {
		for seed := range 200 {
			if response, _, err := send(t, s, ask("m", "x", seed)); err != nil {
				t.Fatal(err)
			} else if response.StatusCode == 500 {
				met[pass] += 1 << (seed % 50)
			}
		}
	}
	n := 0
	for _, r := range s.Served()[:200] {
		n += r.Fault
	}
	if met[0] != met[1] || n < 40 || n > 80 {
		t.Errorf("%d of 200; %d and %d", n, met[0], met[1])
	}
}

func TestARequestMayBeAnotherToTheServer(t *testing.T) {
	s := fault.New(t, fault.Script{
		Answer: func(_ context.Context, r vllm.Request) (vllm.Answer, error) {
			return vllm.Answer{Text: fmt.Sprint(r.Prompt, r.Seed), Finish: "stop", In: 1, Out: 1}, nil
		},
		Plan: fault.Plan{{Request: map[string]string{"seed": "7"}}},
	})
	for seed := range 2 {
		if _, body, err := send(t, s, ask("m", "seed ", seed)); err != nil || !strings.Contains(body, `"seed 7"`) {
			t.Errorf("%s, %v", body, err)
		}
	}
}

// Whatever a plan does, the server's own count holds what a client can have got.
func TestTheServerCountsNoLessThanAClientGets(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rule := fault.Rule{
			Share: rapid.SampledFrom([]float64{0, 0.5}).Draw(r, "share"),
			End:   rapid.SampledFrom([]fault.End{fault.Whole, fault.Reset, fault.Close, fault.Early, fault.Erred}).Draw(r, "end"),
			Split: rapid.IntRange(0, 50).Draw(r, "split"), CRLF: rapid.Bool().Draw(r, "crlf"), Comments: rapid.Bool().Draw(r, "comments"),
		}
		if rule.End != fault.Whole {
			rule.After = rapid.SampledFrom([]fault.Point{{}, fault.Events(1), fault.Events(3), fault.Bytes(500), fault.Events(1000)}).Draw(r, "after")
		}
		answer := vllm.Answer{Text: rapid.StringN(0, 500, -1).Draw(r, "text"), Finish: "stop", In: 2, Out: rapid.Int64Range(1, 1000).Draw(r, "out")}
		s := fault.New(t, fault.Script{Plan: fault.Plan{rule}, Answer: func(context.Context, vllm.Request) (vllm.Answer, error) { return answer, nil }})
		defer s.Close()
		_, body, err := send(t, s, strings.Replace(stream, `"include_usage":true`, `"include_usage":true,"continuous_usage_stats":true`, 1))
		told, text := int64(0), ""
		for line := range strings.Lines(body) {
			var event struct {
				Choices []struct{ Delta struct{ Content string } }
				Usage   struct {
					Completion int64 `json:"completion_tokens"`
				}
			}
			if json.Unmarshal([]byte(strings.TrimPrefix(strings.TrimSpace(line), "data: ")), &event) == nil {
				told = max(told, event.Usage.Completion)
				for _, c := range event.Choices {
					text += c.Delta.Content
				}
			}
		}
		n := s.Wait(1)[0]
		switch {
		case !strings.HasPrefix(answer.Text, text), told > n.Out, n.Sent > n.Out, n.Out != answer.Out:
			r.Fatalf("a client got %d tokens and %q, and the server counts %+v", told, text, n)
		case n.Whole && (err != nil || text != answer.Text || n.Sent != n.Out):
			r.Fatalf("%+v, but a client got %q and %v", n, text, err)
		case rule.Split == 0 && n.Sent != told && rule.End != fault.Reset: // a reset may destroy what was sent
			r.Fatalf("%d tokens told, %+v", told, n)
		}
	})
}

// endless is a body without an end, and how much of it was read.
type endless int

func (e *endless) Read(b []byte) (int, error) {
	*e += endless(len(b))
	return len(b), nil
}

func TestABodyWithoutAnEndIsRefused(t *testing.T) {
	var body endless
	h := fault.Wrap(vllm.New([]vllm.Model{{Name: "m"}}, nil, vllm.Options{}), nil, fault.Options{})
	r := httptest.NewRequest("POST", "/v1/chat/completions", io.LimitReader(&body, 64<<20))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "request body too large") || body > 4<<20 {
		t.Errorf("%d bytes were read: %d %s", body, w.Code, w.Body)
	}
}

func TestWithoutAPlanAnswersAreThoseOfTheServer(t *testing.T) {
	server := vllm.New([]vllm.Model{{Name: "m"}}, func(context.Context, vllm.Request) (vllm.Answer, error) {
		return vllm.Answer{Text: "four", Finish: "stop", In: 3, Out: 9}, nil
	}, vllm.Options{Log: slog.New(slog.DiscardHandler)})
	bare := strings.Replace(stream, `,"stream_options":{"include_usage":true}`, "", 1)
	for _, body := range []string{plain, stream, bare, bare + "x", stream[:len(stream)-1], "", "{}"} {
		var got [2]*httptest.ResponseRecorder
		for i, h := range []http.Handler{server, fault.Wrap(server, nil, fault.Options{})} {
			r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			got[i] = httptest.NewRecorder()
			h.ServeHTTP(got[i], r)
		}
		if got[0].Code != got[1].Code || got[0].Body.String() != got[1].Body.String() {
			t.Errorf("%q: %d %q, and with a handler before it %d %q", body, got[0].Code, got[0].Body, got[1].Code, got[1].Body)
		}
	}
}
