package vllm

// What clients of the server read, byte by byte where vLLM's own words or stored answers depend on it.

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var quiet = slog.New(slog.DiscardHandler)

// always answers every request in the same way.
func always(a Answer) Func {
	return func(context.Context, Request) (Answer, error) { return a, nil }
}

var four = Answer{Text: `\boxed{4}`, Finish: "stop", In: 3, Out: 9}

// post sends a body to a server of the model m, whose window is 100 tokens.
func post(answer Func, o Options, path, body string) *httptest.ResponseRecorder {
	o.Log = quiet
	return send(New([]Model{{Name: "m", Alias: "short", Window: 100}}, answer, o), "POST", path, body)
}

func send(s *Server, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

const (
	chat = "/v1/chat/completions"
	user = `"messages":[{"role":"system","content":"?"},{"role":"user","content":"What is 2+2?"}]`
)

func TestTheWholeResponse(t *testing.T) {
	for name, c := range map[string]struct {
		answer     Answer
		o          Options
		body, want string
	}{
		"plain": {four, Options{}, `{"model":"m",` + user + `,"seed":41,"n":1}`,
			`{"id":"chatcmpl-15","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"\\boxed{4}"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":9,"total_tokens":12}}`},
		"two choices, the prompt counted once": {four, Options{}, `{"model":"short",` + user + `,"n":2,"request_id":"r7"}`,
			`{"id":"chatcmpl-r7","object":"chat.completion","created":0,"model":"short","choices":[{"index":0,"message":{"role":"assistant","content":"\\boxed{4}"},"logprobs":null,"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"\\boxed{4}"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":18,"total_tokens":21}}`},
		"a stop string": {Answer{Text: "one two three four", Finish: "length", In: 3, Out: 18}, Options{}, `{"model":"m",` + user + `,"stop":["four"," three"]}`,
			`{"id":"chatcmpl-0","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"one two"},"logprobs":null,"finish_reason":"stop","stop_reason":" three"}],"usage":{"prompt_tokens":3,"completion_tokens":13,"total_tokens":16}}`},
		"thinking in the text": {Answer{Text: "<think>a</think>b", Finish: "stop", In: 1, Out: 2}, Options{}, `{"model":"m",` + user + `}`,
			`{"id":"chatcmpl-0","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"<think>a</think>b"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`},
		"thinking apart": {Answer{Text: "<think>a</think>b", Finish: "stop", In: 1, Out: 2}, Options{Reasoning: true}, `{"model":"m",` + user + `}`,
			`{"id":"chatcmpl-0","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"b","reasoning":"a"},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`},
		"cut while thinking": {Answer{Text: "<think>a", Finish: "length", In: 1, Out: 2}, Options{Reasoning: true}, `{"model":"m",` + user + `}`,
			`{"id":"chatcmpl-0","object":"chat.completion","created":0,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"reasoning":"a"},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := post(always(c.answer), c.o, chat, c.body)
			if diff := cmp.Diff(c.want, w.Body.String()); diff != "" || w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%d %v\n%s", w.Code, w.Header(), diff)
			}
		})
	}
}

func TestAStreamByteByByte(t *testing.T) {
	text := strings.Repeat("a", deltaBytes-1) + "é!"
	w := post(always(Answer{Text: text, Finish: "length", In: 3, Out: 258}), Options{}, chat, `{"model":"m",`+user+`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)
	const head = `data: {"id":"chatcmpl-0","object":"chat.completion.chunk","created":0,"model":"m",`
	want := head + `"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":0,"total_tokens":3}}` + "\n\n" +
		head + `"choices":[{"index":0,"delta":{"content":"` + text[:deltaBytes-1] + `"},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":255,"total_tokens":258}}` + "\n\n" +
		head + `"choices":[{"index":0,"delta":{"content":"é!"},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":258,"total_tokens":261}}` + "\n\n" +
		head + `"choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":258,"total_tokens":261}}` + "\n\n" +
		head + `"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":258,"total_tokens":261}}` + "\n\ndata: [DONE]\n\n"
	if diff := cmp.Diff(want, w.Body.String()); diff != "" || !w.Flushed || w.Header().Get("Content-Type") != "text/event-stream; charset=utf-8" || w.Header().Get("Content-Length") != "" {
		t.Errorf("%v\n%s", w.Header(), diff)
	}
}

// A stream, put together, is the whole response; its tokens never fall and end at the usage.
func TestAStreamSaysWhatTheWholeResponseSays(t *testing.T) {
	type one struct {
		Role, Content, Reasoning string
	}
	type body struct {
		Choices []struct {
			Index          int
			Message, Delta one
			Finish         string `json:"finish_reason"`
			Stop           string `json:"stop_reason"`
		}
		Usage struct {
			Completion int64 `json:"completion_tokens"`
		}
	}
	type got struct {
		One          one
		Finish, Stop string
	}
	rapid.Check(t, func(t *rapid.T) {
		answer := Answer{Text: rapid.StringN(0, 300, -1).Draw(t, "text"), Finish: rapid.SampledFrom([]string{"stop", "length"}).Draw(t, "finish"), In: 5, Out: rapid.Int64Range(1, 1<<40).Draw(t, "out")}
		if rapid.Bool().Draw(t, "thinks") {
			answer.Text = "<think>" + rapid.StringN(0, 300, -1).Draw(t, "thinking") + "</think>" + answer.Text
		}
		n := rapid.IntRange(1, 3).Draw(t, "n")
		q := map[string]any{"model": "m", "n": n, "messages": []message{{"user", "?"}}, "stop": rapid.SliceOfN(rapid.StringN(1, 1, -1), 0, 2).Draw(t, "stop")}
		o := Options{Reasoning: rapid.Bool().Draw(t, "parser")}
		ask := func() string {
			text, _ := json.Marshal(q)
			return post(always(answer), o, chat, string(text)).Body.String()
		}
		var whole body
		if err := json.Unmarshal([]byte(ask()), &whole); err != nil {
			t.Fatal(err)
		}
		want, sum := make([]got, n), make([]got, n)
		for i, c := range whole.Choices {
			want[i] = got{c.Message, c.Finish, c.Stop}
		}
		q["stream"], q["stream_options"] = true, streaming{Usage: true, Continuous: true}
		events, ok := strings.CutSuffix(ask(), "data: [DONE]\n\n")
		if !ok {
			t.Fatal("no end")
		}
		var out int64
		for event := range strings.SplitSeq(strings.TrimSuffix(events, "\n\n"), "\n\n") {
			var b body
			if err := json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &b); err != nil {
				t.Fatalf("%v: %s", err, event)
			}
			if b.Usage.Completion < out {
				t.Fatalf("%d tokens after %d", b.Usage.Completion, out)
			}
			out = b.Usage.Completion
			for _, c := range b.Choices {
				s := &sum[c.Index]
				s.One.Role += c.Delta.Role
				s.One.Content += c.Delta.Content
				s.One.Reasoning += c.Delta.Reasoning
				s.Finish += c.Finish
				s.Stop += c.Stop
			}
		}
		if diff := cmp.Diff(want, sum); diff != "" || out != whole.Usage.Completion {
			t.Fatalf("%d tokens, want %d\n%s", out, whole.Usage.Completion, diff)
		}
	})
}

func TestChoicesHaveTheSeedsThatVLLMGivesThem(t *testing.T) {
	var asked []Request
	post(func(_ context.Context, r Request) (Answer, error) {
		asked = append(asked, r)
		return four, nil
	}, Options{}, chat, `{"model":"short",`+user+`,"n":3,"seed":7,"max_tokens":50,"max_completion_tokens":40,"temperature":0.6,"top_p":0.95,"top_k":20}`)
	want := make([]Request, 3)
	for i := range want {
		want[i] = Request{Model: "m", Prompt: "What is 2+2?", Seed: 7 + int64(i), MaxTokens: 40, Temperature: 0.6, TopP: 0.95, TopK: 20}
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// To vLLM a limit of 0 in max_completion_tokens is none.
func TestTheLimitThatCounts(t *testing.T) {
	for limits, want := range map[string]int{
		`"max_completion_tokens":0`: 0, `"max_tokens":null`: 0, `"max_tokens":50`: 50,
		`"max_tokens":0,"max_completion_tokens":40`: 40, `"max_tokens":50,"max_completion_tokens":0`: 50,
	} {
		got := -1
		post(func(_ context.Context, r Request) (Answer, error) {
			got = r.MaxTokens
			return four, nil
		}, Options{}, chat, `{"model":"m",`+user+`,`+limits+`}`)
		if got != want {
			t.Errorf("%s: the model is asked for %d tokens, want %d", limits, got, want)
		}
	}
}

func TestRefusalsInTheWordsOfVLLM(t *testing.T) {
	for name, c := range map[string]struct {
		path, body string
		status     int
		kind, want string
	}{
		"an unknown model":             {chat, `{"model":"x",` + user + `}`, 404, NotFound, "The model `x` does not exist."},
		"an unknown model to tokenize": {"/tokenize", `{"model":"x","prompt":"?"}`, 404, NotFound, "The model `x` does not exist."},
		"too long a prompt":            {chat, `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a", 401) + `"}]}`, 400, BadRequest, "This model's maximum context length is 100 tokens. However, your request has 101 input tokens. Please reduce the length of the input messages."},
		"too many tokens":              {chat, `{"model":"m",` + user + `,"max_tokens":98}`, 400, BadRequest, "'max_tokens' or 'max_completion_tokens' is too large: 98. This model's maximum context length is 100 tokens and your request has 3 input tokens (98 > 100 - 3)."},
		"more than any tokens":         {chat, `{"model":"m",` + user + `,"max_tokens":9223372036854775807}`, 400, BadRequest, "'max_tokens' or 'max_completion_tokens' is too large: 9223372036854775807. This model's maximum context length is 100 tokens and your request has 3 input tokens (9223372036854775807 > 100 - 3)."},
		"options without a stream":     {chat, `{"model":"m",` + user + `,"stream_options":{"include_usage":true}}`, 400, BadRequest, "Stream options can only be defined when `stream=True`."},
		"greedy choices":               {chat, `{"model":"m",` + user + `,"n":2,"temperature":0}`, 400, BadRequest, "n must be 1 when using greedy sampling, got 2."},
		"no choice":                    {chat, `{"model":"m",` + user + `,"n":0}`, 400, BadRequest, "n must be at least 1 and at most 128, got 0."},
		"a negative limit":             {chat, `{"model":"m",` + user + `,"max_tokens":-1}`, 400, BadRequest, "max_tokens must be at least 1, got -1."},
		"no tokens":                    {chat, `{"model":"m",` + user + `,"max_tokens":0,"max_completion_tokens":0}`, 400, BadRequest, "max_tokens must be at least 1, got 0."},
		"negative completion tokens":   {chat, `{"model":"m",` + user + `,"max_tokens":9,"max_completion_tokens":-2}`, 400, BadRequest, "max_tokens must be at least 1, got -2."},
		"a negative temperature":       {chat, `{"model":"m",` + user + `,"temperature":-1}`, 400, BadRequest, "temperature must be non-negative, got -1.0."},
		"a little below zero":          {chat, `{"model":"m",` + user + `,"temperature":-0.25,"n":2}`, 400, BadRequest, "temperature must be non-negative, got -0.25."},
		"a great temperature":          {chat, `{"model":"m",` + user + `,"temperature":3}`, 400, BadRequest, "temperature must be in [0, 2], got 3.0."},
		"no share of tokens":           {chat, `{"model":"m",` + user + `,"top_p":0}`, 400, BadRequest, "top_p must be in (0, 1], got 0.0."},
		"more than all tokens":         {chat, `{"model":"m",` + user + `,"top_p":1.5}`, 400, BadRequest, "top_p must be in (0, 1], got 1.5."},
		"fewer than no tokens":         {chat, `{"model":"m",` + user + `,"top_k":-2}`, 400, BadRequest, "top_k must be 0 (disable), or at least 1, got -2."},
		"more than the likeliest":      {chat, `{"model":"m",` + user + `,"min_p":2}`, 400, BadRequest, "min_p must be in [0, 1], got 2.0."},
		"nobody speaks":                {chat, `{"model":"m","messages":[]}`, 400, BadRequest, "messages holds no message of role user"},
		"another path":                 {"/v1/completions", `{}`, 404, NotFound, "there is no POST /v1/completions here; there are: POST /v1/chat/completions and /tokenize, GET /v1/models, /health, /version and /metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			w := post(always(four), Options{}, c.path, c.body)
			want := &Error{c.status, c.kind, c.want}
			if diff := cmp.Diff(string(want.JSON()), w.Body.String()); diff != "" || w.Code != c.status {
				t.Errorf("%d %s", w.Code, diff)
			}
		})
	}
	w := post(func(context.Context, Request) (Answer, error) { return Answer{}, errors.New("broken") }, Options{}, chat, `{"model":"m",`+user+`,"stream":true}`)
	if want := `{"error":{"message":"broken","type":"InternalServerError","param":null,"code":500}}`; w.Code != 500 || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	r := httptest.NewRequest("POST", chat, strings.NewReader("{}"))
	r.Header.Set("Content-Type", "text/plain")
	w = httptest.NewRecorder()
	New([]Model{{Name: "m"}}, always(four), Options{Log: quiet}).ServeHTTP(w, r)
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"Unsupported Media Type: Only 'application/json' is allowed"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAKeyGuardsTheModels(t *testing.T) {
	s := New([]Model{{Name: "m"}}, always(four), Options{Key: "sesame", Log: quiet})
	for _, c := range []struct {
		path, key string
		want      int
	}{{"/v1/models", "", 401}, {"/v1/models", "Bearer sesam", 401}, {"/v1/models", "Bearer sesame", 200}, {"/health", "", 200}, {"/version", "", 200}, {"/metrics", "", 200}} {
		r := httptest.NewRequest("GET", c.path, nil)
		if c.key != "" {
			r.Header.Set("Authorization", c.key)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want || c.want == 401 && w.Body.String() != `{"error":"Unauthorized"}` {
			t.Errorf("%s with %q: %d %s", c.path, c.key, w.Code, w.Body)
		}
	}
}

func TestWhatAServerSaysAboutItself(t *testing.T) {
	s := New([]Model{{Name: "m", Window: 100}, {Name: "other"}}, always(four), Options{Log: quiet})
	for range 2 {
		send(s, "POST", chat, `{"model":"m",`+user+`,"n":2}`)
	}
	for path, want := range map[string]string{
		"GET /health ":    "",
		"GET /ping ":      "",
		"GET /version ":   `{"version":"0.12.0+entrorouter"}`,
		"GET /v1/models ": `{"object":"list","data":[{"object":"model","created":0,"owned_by":"entrorouter","id":"m","max_model_len":100},{"object":"model","created":0,"owned_by":"entrorouter","id":"other"}]}`,
		`POST /tokenize {"model":"m","prompt":"abcde"}`: `{"count":2,"max_model_len":100,"tokens":[1684234849,101],"token_strs":null}`,
		`POST /tokenize {"model":"other",` + user + `}`: `{"count":3,"max_model_len":0,"tokens":[1952540759,544434464,1060252466],"token_strs":null}`,
		"GET /metrics ": `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="m"} 0
vllm:num_requests_running{engine="0",model_name="other"} 0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 0
vllm:num_requests_waiting{engine="0",model_name="other"} 0
# HELP vllm:prompt_tokens_total Number of prefill tokens processed.
# TYPE vllm:prompt_tokens_total counter
vllm:prompt_tokens_total{engine="0",model_name="m"} 6
vllm:prompt_tokens_total{engine="0",model_name="other"} 0
# HELP vllm:generation_tokens_total Number of generation tokens processed.
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="m"} 36
vllm:generation_tokens_total{engine="0",model_name="other"} 0
# HELP vllm:request_success_total Count of successfully processed requests.
# TYPE vllm:request_success_total counter
vllm:request_success_total{engine="0",finished_reason="abort",model_name="m"} 0
vllm:request_success_total{engine="0",finished_reason="length",model_name="m"} 0
vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 4
vllm:request_success_total{engine="0",finished_reason="abort",model_name="other"} 0
vllm:request_success_total{engine="0",finished_reason="length",model_name="other"} 0
vllm:request_success_total{engine="0",finished_reason="stop",model_name="other"} 0
`,
	} {
		part := strings.SplitN(path, " ", 3)
		w := send(s, part[0], part[1], part[2])
		if diff := cmp.Diff(want, w.Body.String()); diff != "" || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", path, w.Code, diff)
		}
	}
}

// Whatever is asked gets an answer or is refused, in JSON or as a stream that ends.
func FuzzRequests(f *testing.F) {
	f.Add([]byte(`{"model":"m",`+user+`,"stream":true,"n":2,"stop":"a"}`), true)
	f.Add([]byte(`{"model":"m",`+user+`,"seed":-1,"max_tokens":9223372036854775807}`), false)
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}`), false)
	f.Fuzz(func(t *testing.T, body []byte, apart bool) {
		w := post(always(Answer{Text: "<think>é</think>aé", Finish: "stop", In: 1, Out: 1}), Options{Reasoning: apart}, chat, string(body))
		text, _ := io.ReadAll(w.Body)
		stream := strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
		switch {
		case w.Code != 200 && w.Code != 400 && w.Code != 404,
			stream && !strings.HasSuffix(string(text), "data: [DONE]\n\n"),
			!stream && !json.Valid(text):
			t.Errorf("%d %s", w.Code, text)
		}
	})
}
