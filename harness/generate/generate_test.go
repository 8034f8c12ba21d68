package generate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/train"
)

var pool = []lm.Expert{{ID: "small"}, {ID: "large"}}

// world is a folder of a tiny model, adapters on it, and a server that has the same model and loads adapters as vLLM does.
type world struct {
	t       *testing.T
	backend policy.Backend
	policy  policy.Policy
	model   *policy.Model
	rows    []policy.Row

	mu     sync.Mutex
	loaded map[string]*policy.Model
	deaf   bool // it takes adapters and computes without them
	room   int  // of a prompt and what is behind it
	rank   int  // of adapters at most
	before func(path string, body map[string]any, w http.ResponseWriter) bool
	asked  []map[string]any
}

func newWorld(t *testing.T) *world {
	t.Helper()
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	models := lm.NewModels(1<<20, "")
	t.Cleanup(func() { models.Close() })
	fresh := spec.LanguageModel{Arch: "qwen3", Hidden: 8, Inner: 8, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 8}
	whole, err := models.New(b, spec.Policy{Kind: "lm", Model: &fresh, Tune: &spec.Tune{Part: "full"}, Rationale: "none", MaxTokens: 400, Compute: "float32"}, pool)
	if err != nil {
		t.Fatal(err)
	}
	base := &world{t: t, backend: b}
	from := base.new(whole, nil)
	folder := filepath.Join(t.TempDir(), "base")
	if err := (lm.Export{DType: safetensors.F32}).Write(from, folder); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, backend: b, loaded: map[string]*policy.Model{}, room: 307, rank: 2} // as the policy below needs
	w.policy, err = models.New(b, spec.Policy{
		Kind: "lm", Model: &spec.LanguageModel{Folder: folder}, Tune: &spec.Tune{LoRA: &spec.LoRA{R: 2, Alpha: 8, Targets: spec.Projections}},
		Rationale: "cot", Writes: &spec.Writes{Tokens: 5, TestTokens: 7}, MaxTokens: 300, Compute: "float32",
	}, pool)
	if err != nil {
		t.Fatal(err)
	}
	w.model = w.new(w.policy, nil)
	if w.rows, err = w.policy.Encode(t.Context(), []string{"Compute 1 + 1.", "Prove it."}); err != nil {
		t.Fatal(err)
	}
	return w
}

// new returns a model of a policy, with weights or as it starts.
func (w *world) new(p policy.Policy, weights []safetensors.Tensor) *policy.Model {
	w.t.Helper()
	m, err := policy.New(w.backend, p, 1)
	if weights != nil {
		m, err = policy.With(w.backend, p, weights)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(m.Close)
	return m
}

// serve answers as vLLM's server.
func (w *world) serve() *Server {
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		body := map[string]any{}
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				w.t.Error(err)
			}
		}
		path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
		if w.before != nil && w.before(path, body, out) {
			return
		}
		if r.Header.Get("Authorization") != "Bearer sesame" {
			http.Error(out, `{"error":"Unauthorized"}`, http.StatusUnauthorized)
			return
		}
		switch path {
		case "load_lora_adapter":
			m, err := w.adapter(body["lora_path"].(string))
			if err != nil {
				http.Error(out, fmt.Sprintf(`{"error":{"message":%q}}`, err), http.StatusBadRequest)
				return
			}
			w.loaded[body["lora_name"].(string)] = m
			io.WriteString(out, "Success: LoRA adapter added successfully.")
		case "unload_lora_adapter":
			if w.loaded[body["lora_name"].(string)] == nil {
				http.Error(out, "no such adapter", http.StatusNotFound)
				return
			}
			delete(w.loaded, body["lora_name"].(string))
		case "version":
			io.WriteString(out, `{"version":"0.12.0"}`)
		case "models":
			data := []map[string]any{{"id": "base", "parent": nil, "max_model_len": w.room}}
			for name := range w.loaded {
				data = append(data, map[string]any{"id": name, "parent": "base"})
			}
			json.NewEncoder(out).Encode(map[string]any{"data": data})
		case "completions":
			w.asked = append(w.asked, body)
			w.obeys(body)
			json.NewEncoder(out).Encode(w.complete(body))
		default:
			http.NotFound(out, r)
		}
	}))
	w.t.Cleanup(server.Close)
	return &Server{URL: server.URL + "/v1", Key: "sesame", Folder: w.t.TempDir(), Flight: 4, Wait: 20 * time.Millisecond}
}

// adapter reads a folder as PEFT has them.
func (w *world) adapter(dir string) (*policy.Model, error) {
	raw, err := os.ReadFile(filepath.Join(dir, "adapter_config.json"))
	if err != nil {
		return nil, err
	}
	var config struct {
		Type string `json:"peft_type"`
		R    int    `json:"r"`
		Base string `json:"base_model_name_or_path"`
	}
	if err := json.Unmarshal(raw, &config); err != nil || config.Type != "LORA" || config.R != 2 {
		return nil, fmt.Errorf("config %s: %v", raw, err)
	}
	if config.R > w.rank {
		return nil, fmt.Errorf("LoRA rank %d is greater than max_lora_rank %d.", config.R, w.rank)
	}
	if _, err := os.Stat(filepath.Join(config.Base, "model.safetensors")); err != nil {
		return nil, err
	}
	tensors, err := os.ReadFile(filepath.Join(dir, "adapter_model.safetensors"))
	if err != nil {
		return nil, err
	}
	as := w.t.TempDir() // under the name that a folder of a model has them
	if err := os.WriteFile(filepath.Join(as, "model.safetensors"), tensors, 0o666); err != nil {
		return nil, err
	}
	file, err := safetensors.Open(as)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var weights []safetensors.Tensor
	for _, x := range w.policy.Weights() {
		if x.Frozen != nil {
			continue
		}
		values, err := file.Floats("base_model.model." + x.Name)
		if err != nil {
			return nil, err
		}
		if w.deaf && strings.HasSuffix(x.Name, "lora_B.weight") {
			clear(values)
		}
		weights = append(weights, safetensors.Tensor{Name: x.Name, Dims: x.Dims, Data: values})
	}
	return w.new(w.policy, weights), nil
}

// obeys checks what every request for a text has to say, so that a server takes nothing from elsewhere: nothing of the model's own way to
// sample or to end, tokens by their numbers, the log-probability of each, and where a text ends.
func (w *world) obeys(body map[string]any) {
	end, _ := w.policy.(*lm.Policy).Bound(false)
	want := map[string]any{
		"n": 1., "top_p": 1., "top_k": -1., "min_p": 0., "repetition_penalty": 1., "logprobs": 0., "return_tokens_as_token_ids": true,
		"skip_special_tokens": false, "stop_token_ids": []any{float64(end)}, "ignore_eos": true,
	}
	said := maps.Clone(body)
	for _, own := range []string{"model", "prompt", "max_tokens", "temperature", "seed"} {
		if _, ok := said[own]; !ok {
			w.t.Errorf("a request without %s", own)
		}
		delete(said, own)
	}
	if diff := cmp.Diff(want, said); diff != "" {
		w.t.Error(diff)
	}
}

// complete writes a text and says its tokens' log-probabilities.
func (w *world) complete(body map[string]any) any {
	m := w.loaded[body["model"].(string)]
	var row policy.Row
	for _, id := range body["prompt"].([]any) {
		row.IDs = append(row.IDs, int32(id.(float64)))
	}
	p := w.policy.(*lm.Policy)
	rows, err := p.Write(context.Background(), m, []string{"x"}, []policy.Row{row}, 1, body["temperature"] == 0., seed.Seed(uint64(body["seed"].(float64))))
	if err != nil {
		w.t.Error(err)
		return nil
	}
	inputs, err := p.Inputs(rows, 1)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	exec, err := model.NewExec(w.backend, m.Store(), func(_ *model.Scope, in []*graph.Node) *graph.Node {
		return p.Forward(m.Scope(), in, 0).Written
	})
	if err != nil {
		w.t.Error(err)
		return nil
	}
	defer exec.Finalize()
	said, err := policy.Call(exec, inputs)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	var tokens []string
	for _, id := range rows[0].Written {
		tokens = append(tokens, fmt.Sprintf("token_id:%d", id))
	}
	finish := "stop"
	if most := int(body["max_tokens"].(float64)); rows[0].Cut || len(tokens) > most {
		tokens, finish = tokens[:min(len(tokens), most)], "length"
	}
	return map[string]any{"choices": []any{map[string]any{"finish_reason": finish, "logprobs": map[string]any{"tokens": tokens, "token_logprobs": said[0][:len(tokens)]}}}}
}

// Stage II with the rollouts of a server: each step's adapter is the one that wrote, and the server's log-probabilities are ours.
func TestAServerWritesWithTheAdaptersThatAreTrained(t *testing.T) {
	w := newWorld(t)
	s := w.serve()
	var examples []train.Example
	for i, row := range w.rows {
		row.Written, _ = w.policy.(*lm.Policy).Compose("ok")
		examples = append(examples, train.Example{ID: fmt.Sprint(i), Row: row, Prob: []float64{1, 0}, Weight: 1})
	}
	if _, err := (train.Conduct{}).SFT(t.Context(), w.model, examples, spec.SFT{Epochs: 20, Batch: 2, LR: .05}, 1); err != nil {
		t.Fatal(err) // adapters that are not nought, and texts that end
	}
	run := func() *train.Curve {
		t.Helper()
		var prompts []train.Prompt
		for i, row := range w.rows {
			prompts = append(prompts, train.Prompt{ID: fmt.Sprint(i), Row: row, Reward: []float64{float64(i), 1 - float64(i)}, Cut: -3})
		}
		w.model.WrittenBy(s.Write)
		curve, err := (train.Conduct{}).GRPO(t.Context(), w.model, prompts, spec.GRPO{Estimator: train.Sampled, Steps: 3, Batch: 2, Group: 4, LR: .1, ClipLow: .2, ClipHigh: .2, DualClip: 3, Epochs: 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		return curve
	}
	for _, at := range run().Points {
		if !(at.Gap < 1e-4) || !(at.Written > 0) {
			t.Errorf("step %d: the server's log-probabilities are %v from ours, %v tokens", at.Step, at.Gap, at.Written)
		}
	}
	if len(w.loaded) != 0 {
		t.Errorf("the server still has the adapters %v", w.loaded)
	}
	if left, _ := os.ReadDir(s.Folder); len(left) != 0 {
		t.Errorf("left in the folder: %v", left)
	}
	seeds := map[any]bool{}
	for _, body := range w.asked {
		seeds[body["seed"]] = true
		if body["temperature"] != 1. || body["max_tokens"] != 5. {
			t.Errorf("asked %v", body)
		}
	}
	if len(seeds) != len(w.asked) || len(seeds) != 3*2*4 {
		t.Errorf("%d seeds in %d requests", len(seeds), len(w.asked))
	}
	// A server that takes adapters and goes on without them is seen.
	w.deaf = true
	if last := run().Points[2]; !(last.Gap > 1e-3) {
		t.Errorf("a server without the adapters is %v from us", last.Gap)
	}
}

func TestAServerWritesTheLikeliestTextToTheBoundOfTheTest(t *testing.T) {
	w := newWorld(t)
	s := w.serve()
	want, err := w.model.Written(t.Context(), w.rows)
	if err != nil {
		t.Fatal(err)
	}
	w.model.WrittenBy(s.Write)
	got, err := w.model.Written(t.Context(), w.rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if fmt.Sprint(got[i].Written, got[i].Cut) != fmt.Sprint(want[i].Written, want[i].Cut) {
			t.Errorf("the server wrote %v, we write %v", got[i].Written, want[i].Written)
		}
	}
	if w.asked[0]["temperature"] != 0. || w.asked[0]["max_tokens"] != 7. {
		t.Errorf("asked %v", w.asked[0])
	}
}

// What a server cannot do is found out by one token, before anything is paid; it is left as it was.
func TestAWriterIsLookedAtBeforeItIsNeeded(t *testing.T) {
	w := newWorld(t)
	p := w.policy.(*lm.Policy)
	answer := func(at, text string, status int) func(string, map[string]any, http.ResponseWriter) bool {
		return func(path string, _ map[string]any, out http.ResponseWriter) bool {
			if path == at {
				out.WriteHeader(status)
				io.WriteString(out, text)
			}
			return path == at
		}
	}
	for name, c := range map[string]struct {
		change func()
		want   string // of the error; empty: none
	}{
		"as it should be":          {func() {}, ""},
		"it does not say its room": {func() { w.room = 0 }, ""},
		"a token too little":       {func() { w.room = 306 }, "has room for 306 tokens, and the longest prompt has 300 (policy.max_tokens) with at most 7 behind it (policy.writes): start it with --max-model-len 307 or more"},
		"a smaller rank":           {func() { w.rank = 1 }, "LoRA rank 2 is greater than max_lora_rank 1.\"}}; the server must read that folder and take adapters while it runs (--enable-lora, --max-lora-rank of at least policy.tune.lora.r, "},
		"no vLLM":                  {func() { w.before = answer("version", "no such page", 404) }, "404 Not Found: no such page; the writer is to be a vLLM, which says its version"},
		"no token ids": {func() {
			w.before = answer("completions", `{"choices":[{"logprobs":{"tokens":["a"],"token_logprobs":[-1]}}]}`, 200)
		}, "it must obey logprobs and return_tokens_as_token_ids"},
		"it gives nothing back": {func() { w.before = answer("unload_lora_adapter", "no", 400) }, "unload_lora_adapter: 400 Bad Request: no"},
	} {
		w.room, w.rank, w.before, w.asked, w.loaded = 307, 2, nil, nil, map[string]*policy.Model{}
		c.change()
		s := w.serve()
		version, err := s.Look(t.Context(), p)
		switch {
		case c.want == "" && (err != nil || version != "0.12.0" || len(w.asked) != 1 || w.asked[0]["max_tokens"] != 1. || len(w.loaded) != 0):
			t.Errorf("%s: version %q, error %v, %d requests, left %v", name, version, err, len(w.asked), w.loaded)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
		}
		if left, _ := os.ReadDir(s.Folder); len(left) != 0 {
			t.Errorf("%s: left in the folder: %v", name, left)
		}
	}
}

func TestTheNextTokensAreThoseThatAServerNames(t *testing.T) {
	w := newWorld(t)
	row := w.rows[0]
	row.Written = []int32{7}
	for text, want := range map[string]string{
		`{"choices":[{"logprobs":{"top_logprobs":[{"token_id:3":-1,"token_id:5":-2}]}}]}`: "map[3:-1 5:-2] <nil>",
		`{"choices":[{"logprobs":null}]}`:                                                 "map[] <nil>",
		`{"choices":[]}`:                                                                  "map[] <nil>",
		`{"choices":[{"logprobs":{"top_logprobs":[{"A":-1}]}}]}`:                          `"A" where a token was asked for; it must obey return_tokens_as_token_ids`,
	} {
		w.before = func(_ string, body map[string]any, out http.ResponseWriter) bool {
			if prompt := body["prompt"].([]any); len(prompt) != len(row.IDs)+1 || prompt[len(prompt)-1] != 7. || body["max_tokens"] != 1. || body["logprobs"] != 20. || body["model"] != "router" {
				t.Errorf("asked %v", body)
			}
			io.WriteString(out, text)
			return true
		}
		next, err := w.serve().Next(t.Context(), "router", row, 20)
		if got := fmt.Sprint(next, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s in it", text, got, want)
		}
	}
}

// Tokens that a server can be asked for have their log-probabilities by token, in whatever order it reads the texts.
func TestALetterIsAskedForWhereItIsUnlikely(t *testing.T) {
	w := newWorld(t)
	row := policy.Row{IDs: []int32{5}, Written: []int32{7}}
	for text, want := range map[string]string{
		`{"choices":[{"index":1,"logprobs":{"tokens":["token_id:5","token_id:7","token_id:66"],"token_logprobs":[null,-1,-9999]}},{"index":0,"logprobs":{"tokens":["token_id:5","token_id:7","token_id:65"],"token_logprobs":[null,-1,-2.5]}}]}`: "[-2.5 -9999] <nil>",
		`{"choices":[{"index":0,"logprobs":{"tokens":["token_id:65"],"token_logprobs":[-2.5]}}]}`:                             "read 1 of 2 texts",
		`{"choices":[{"index":0,"logprobs":{"tokens":["A"],"token_logprobs":[-2.5]}},{"index":1}]}`:                           `ended a text with "A" where token 65 was its last; it must obey return_tokens_as_token_ids and a max_tokens of 0`,
		`{"choices":[{"index":0,"logprobs":{"tokens":["token_id:65","token_id:9"],"token_logprobs":[-2.5,-1]}},{"index":1}]}`: `ended a text with "token_id:9" where token 65 was its last`,
		`{"choices":[{"index":0,"text":"A"},{"index":1,"text":"B"}]}`:                                                         "named no log-probabilities; it must obey echo and logprobs",
		`{"choices":[{"index":0,"logprobs":{"tokens":["token_id:65"],"token_logprobs":[null]}},{"index":1}]}`:                 "named no log-probabilities",
		`{"choices":[{"index":0,"logprobs":{"tokens":["token_id:4","token_id:65"],"token_logprobs":[-1]}},{"index":1}]}`:      "named no log-probabilities",
	} {
		w.before = func(_ string, body map[string]any, out http.ResponseWriter) bool {
			if got := fmt.Sprintln(body["prompt"], body["max_tokens"], body["echo"], body["logprobs"], body["model"]); got != "[[5 7 65] [5 7 66]] 0 true 0 router\n" {
				t.Errorf("asked %s", got)
			}
			io.WriteString(out, text)
			return true
		}
		said, err := w.serve().After(t.Context(), "router", row, []int32{65, 66})
		if got := fmt.Sprint(said, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s in it", text, got, want)
		}
	}
	for text, want := range map[string]string{`{"tokens":[65]}`: "65 <nil>", `{"tokens":[1,65]}`: `reads "A" as 2 tokens, not as one`, `{"content":"A"}`: "named no tokens; it must be that of vLLM", `{"tokens":[]}`: "named no tokens"} {
		w.before = func(path string, body map[string]any, out http.ResponseWriter) bool {
			if path != "tokenize" || body["prompt"] != "A" || body["add_special_tokens"] != false || body["model"] != "router" {
				t.Errorf("asked %s %v", path, body)
			}
			io.WriteString(out, text)
			return true
		}
		id, err := w.serve().Token(t.Context(), "router", "A")
		if got := fmt.Sprintln(id, err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s in it", text, got, want)
		}
	}
}

func TestWhatAServerDoesWrongIsSaid(t *testing.T) {
	w := newWorld(t)
	fails := 0
	answer := func(text string, status int) func(string, map[string]any, http.ResponseWriter) bool {
		return func(path string, _ map[string]any, out http.ResponseWriter) bool {
			if path != "completions" {
				return false
			}
			out.WriteHeader(status)
			io.WriteString(out, text)
			return true
		}
	}
	for name, c := range map[string]struct {
		before func(path string, body map[string]any, out http.ResponseWriter) bool
		want   string
	}{
		"no adapters": {func(path string, _ map[string]any, out http.ResponseWriter) bool {
			if path == "load_lora_adapter" {
				http.Error(out, "Not Found", http.StatusNotFound)
			}
			return path == "load_lora_adapter"
		}, "404 Not Found: Not Found; the server must read that folder and take adapters while it runs (--enable-lora"},
		"an adapter that it does not serve": {func(path string, _ map[string]any, out http.ResponseWriter) bool {
			if path == "models" {
				io.WriteString(out, `{"data":[{"id":"base"}]}`)
			}
			return path == "models"
		}, "and does not serve it"},
		"no token ids":      {answer(`{"choices":[{"logprobs":{"tokens":["a"],"token_logprobs":[-1]}}]}`, 200), "it must obey logprobs and return_tokens_as_token_ids"},
		"no probability":    {answer(`{"choices":[{"logprobs":{"tokens":["token_id:1"],"token_logprobs":[null]}}]}`, 200), "it must obey logprobs"},
		"fewer of them":     {answer(`{"choices":[{"logprobs":{"tokens":["token_id:1"],"token_logprobs":[]}}]}`, 200), "1 tokens with 0 log-probabilities"},
		"nothing":           {answer(`{"choices":[]}`, 200), "0 texts where one was asked for"},
		"no probabilities":  {answer(`{"choices":[{"text":"Easy.","logprobs":null}]}`, 200), "sent a text without its tokens; it must obey logprobs and return_tokens_as_token_ids"},
		"too long a text":   {answer(`{"choices":[{"logprobs":{"tokens":["token_id:1","token_id:1","token_id:1","token_id:1","token_id:1","token_id:1"],"token_logprobs":[-1,-1,-1,-1,-1,-1]}}]}`, 200), "wrote 6 tokens where 1 to 5"},
		"no JSON":           {answer(`<html>`, 200), "no JSON as expected"},
		"a request refused": {answer(`bad`, 400), "400 Bad Request: bad"},
		"never well": {func(path string, _ map[string]any, out http.ResponseWriter) bool {
			if path == "completions" {
				http.Error(out, "engine dead", http.StatusInternalServerError)
			}
			return path == "completions"
		}, "500 Internal Server Error: engine dead"},
		"well at the third try": {func(path string, _ map[string]any, out http.ResponseWriter) bool {
			if fails++; fails > 2 {
				return false
			}
			http.Error(out, "", []int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[fails-1])
			return true
		}, ""},
	} {
		w.before = c.before
		s := w.serve()
		_, err := s.Write(t.Context(), w.model, []string{"a", "b"}, w.rows, 1, false, 1)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
		}
		if left, _ := os.ReadDir(s.Folder); len(left) != 0 {
			t.Errorf("%s: left in the folder: %v", name, left)
		}
	}
	w.before = nil
	s := w.serve()
	s.Key = ""
	if _, err := s.Write(t.Context(), w.model, []string{"a", "b"}, w.rows, 1, false, 1); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("without a key the error is %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Write(ended, w.model, []string{"a", "b"}, w.rows, 1, false, 1); err == nil {
		t.Error("a context that has ended stops nothing")
	}
}

// A run that was killed leaves its adapters in the folder and on the server; one that goes on, or goes on elsewhere under the same number of
// a process, as programs in containers have it, takes no name a second time.
func TestNoNameOfAdaptersComesBack(t *testing.T) {
	w := newWorld(t)
	names := map[string]bool{}
	w.before = func(path string, body map[string]any, _ http.ResponseWriter) bool {
		if path == "load_lora_adapter" {
			if name := body["lora_name"].(string); names[name] {
				t.Errorf("adapters are called %s again", name)
			} else {
				names[name] = true
			}
		}
		return false
	}
	for range 2 {
		s := w.serve()
		for range 2 {
			if _, err := s.Write(t.Context(), w.model, []string{"a", "b"}, w.rows, 1, false, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(names) != 4 {
		t.Errorf("%d names of four", len(names))
	}
}

// Adapters that a server has loaded are taken away again wherever their use ends, and a server that does not answer to that holds nothing up.
func TestAdaptersAreTakenAwayWhereverTheirUseEnds(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	w.before = func(path string, _ map[string]any, out http.ResponseWriter) bool {
		if path == "models" {
			stop() // between loading and looking
			http.Error(out, "", http.StatusServiceUnavailable)
		}
		return path == "models"
	}
	if _, err := w.serve().Write(ctx, w.model, []string{"a", "b"}, w.rows, 1, false, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if len(w.loaded) != 0 {
		t.Errorf("the server still has the adapters %v", w.loaded)
	}

	hang := make(chan struct{})
	w.before = nil
	s := w.serve()
	served := s.URL
	mute := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "unload_lora_adapter") {
			<-hang
			return
		}
		to, _ := url.Parse(strings.TrimSuffix(served, "/v1"))
		httputil.NewSingleHostReverseProxy(to).ServeHTTP(out, r)
	}))
	defer mute.Close()
	defer close(hang)
	s.URL = mute.URL + "/v1"
	ended := make(chan error, 1)
	go func() {
		_, err := s.Write(t.Context(), w.model, []string{"a", "b"}, w.rows, 1, false, 1)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "unload_lora_adapter") {
			t.Errorf("a server that does not answer: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a server that does not answer holds a training up for good")
	}
}
