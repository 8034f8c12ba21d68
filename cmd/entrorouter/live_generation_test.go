// Trials of this program's language models beside llama.cpp and vLLM with the same weights: what both write, and what an exported
// router chooses behind their servers. make test-live and make test-vllm run them; elsewhere they skip.

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"

	"github.com/entrorouter/entrorouter/harness/gguf/gguftest"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// ggufOf writes a folder of a Llama or Qwen3 model as a GGUF file in float32, which llama.cpp computes with unrounded.
func ggufOf(t *testing.T, dir string) string {
	t.Helper()
	var c struct {
		Type     string  `json:"model_type"`
		Layers   int     `json:"num_hidden_layers"`
		Hidden   int     `json:"hidden_size"`
		Inner    int     `json:"intermediate_size"`
		Heads    int     `json:"num_attention_heads"`
		KeyHeads int     `json:"num_key_value_heads"`
		HeadDim  int     `json:"head_dim"`
		Context  int     `json:"max_position_embeddings"`
		Epsilon  float32 `json:"rms_norm_eps"`
		Theta    float32 `json:"rope_theta"`
		Vocab    int     `json:"vocab_size"`
		End      int     `json:"eos_token_id"`
	}
	var texts struct {
		Template string `json:"chat_template"`
	}
	decode(t, filepath.Join(dir, "config.json"), &c)
	decode(t, filepath.Join(dir, "tokenizer_config.json"), &texts)
	words, err := tokenizer.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var merges []string
	for _, m := range words.Merges {
		merges = append(merges, m[0]+" "+m[1])
	}
	const normal, control, unused = 1, 3, 5
	tokens, types := make([]string, c.Vocab), slices.Repeat([]int32{unused}, c.Vocab)
	for id := range tokens {
		tokens[id] = fmt.Sprintf("[PAD%d]", id)
	}
	for id, token := range words.Tokens {
		if token != "" {
			tokens[id], types[id] = token, normal
		}
	}
	for _, a := range words.Added {
		tokens[a.ID], types[a.ID] = a.Content, control
	}
	entries := []gguftest.Entry{
		{Key: "general.architecture", Value: c.Type}, {Key: "tokenizer.ggml.model", Value: "gpt2"}, {Key: "tokenizer.ggml.pre", Value: string(words.Scheme)},
		{Key: "tokenizer.ggml.tokens", Value: tokens}, {Key: "tokenizer.ggml.token_type", Value: types}, {Key: "tokenizer.ggml.merges", Value: merges},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(c.End)}, {Key: "tokenizer.ggml.bos_token_id", Value: uint32(c.End)}, {Key: "tokenizer.ggml.add_bos_token", Value: false},
		{Key: "tokenizer.chat_template", Value: texts.Template},
		{Key: c.Type + ".rope.freq_base", Value: c.Theta}, {Key: c.Type + ".attention.layer_norm_rms_epsilon", Value: c.Epsilon},
	}
	for name, n := range map[string]int{
		"block_count": c.Layers, "context_length": max(c.Context, 2048), "embedding_length": c.Hidden, "feed_forward_length": c.Inner, "vocab_size": c.Vocab,
		"attention.head_count": c.Heads, "attention.head_count_kv": c.KeyHeads, "attention.key_length": c.HeadDim, "attention.value_length": c.HeadDim, "rope.dimension_count": c.HeadDim,
	} {
		entries = append(entries, gguftest.Entry{Key: c.Type + "." + name, Value: uint32(n)})
	}
	weights, err := safetensors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer weights.Close()
	var tensors []gguftest.Tensor
	for _, info := range weights.Tensors() {
		values, err := weights.Floats(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if c.Type == "llama" && strings.HasSuffix(info.Name, "q_proj.weight") || c.Type == "llama" && strings.HasSuffix(info.Name, "k_proj.weight") {
			values = interleaved(values, c.HeadDim, info.Dims)
		}
		raw := make([]byte, 0, 4*len(values))
		for _, v := range values {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
		tensors = append(tensors, gguftest.Tensor{Name: ggufName(info.Name), Dims: info.Dims, Raw: raw})
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, gguftest.Encode(entries, tensors), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// readable is a Hugging Face folder in float32 as the engine reads it.
func (e engine) readable(t *testing.T, dir string) string {
	t.Helper()
	if e.vllm {
		return dir
	}
	return ggufOf(t, dir)
}

// ggufName is what llama.cpp calls a tensor of a folder.
func ggufName(name string) string {
	return strings.NewReplacer(
		"model.layers.", "blk.", "model.embed_tokens", "token_embd", "model.norm", "output_norm", "lm_head", "output",
		"input_layernorm", "attn_norm", "post_attention_layernorm", "ffn_norm",
		"self_attn.q_proj", "attn_q", "self_attn.k_proj", "attn_k", "self_attn.v_proj", "attn_v", "self_attn.o_proj", "attn_output",
		"self_attn.q_norm", "attn_q_norm", "self_attn.k_norm", "attn_k_norm",
		"mlp.gate_proj", "ffn_gate", "mlp.up_proj", "ffn_up", "mlp.down_proj", "ffn_down",
	).Replace(name)
}

// interleaved puts the rows of both halves of a head in turn, as llama.cpp wants those of Llama's queries and keys.
func interleaved(values []float32, head int, dims []int) []float32 {
	out, width := make([]float32, len(values)), dims[1]
	for row := range dims[0] {
		at, i := row/head*head, row%head
		copy(out[row*width:][:width], values[(at+i%2*(head/2)+i/2)*width:])
	}
	return out
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// writtenToken is what a server says of a token that it wrote: the log-probabilities of the likeliest.
type writtenToken struct {
	id  int32
	top map[int32]float64
}

// writes has a server continue a prompt by its likeliest tokens, also behind one that ends an answer.
func (s *modelServer) writes(t *testing.T, prompt []int32, most, top int) (all []writtenToken) {
	t.Helper()
	path, body := "/completion", map[string]any{"prompt": prompt, "n_predict": most, "temperature": 0, "n_probs": top, "cache_prompt": false}
	if s.engine.vllm {
		path, body = "/v1/completions", map[string]any{"prompt": prompt, "max_tokens": most, "temperature": 0, "logprobs": top, "ignore_eos": true, "return_tokens_as_token_ids": true}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d%s", s.port, path), "application/json", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var said struct {
		Tokens []struct {
			ID  int32 `json:"id"`
			Top []struct {
				ID      int32   `json:"id"`
				LogProb float64 `json:"logprob"`
			} `json:"top_logprobs"`
		} `json:"completion_probabilities"`
		Choices []struct {
			LogProbs struct {
				Tokens []string             `json:"tokens"`
				Top    []map[string]float64 `json:"top_logprobs"`
			} `json:"logprobs"`
		} `json:"choices"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.NewDecoder(r.Body).Decode(&said); err != nil || len(said.Tokens)+len(said.Choices) == 0 {
		t.Fatalf("the server said %s: %v", said.Error, err)
	}
	for _, x := range said.Tokens {
		token := writtenToken{x.ID, map[int32]float64{}}
		for _, y := range x.Top {
			token.top[y.ID] = y.LogProb
		}
		all = append(all, token)
	}
	id := func(token string) int32 {
		n, err := strconv.Atoi(strings.TrimPrefix(token, "token_id:"))
		if err != nil {
			t.Fatal(err)
		}
		return int32(n)
	}
	for _, x := range said.Choices {
		for i, token := range x.LogProbs.Tokens {
			written := writtenToken{id(token), map[int32]float64{}}
			for other, p := range x.LogProbs.Top[i] {
				written.top[id(other)] = p
			}
			all = append(all, written)
		}
	}
	return all
}

// logProbs are the log-probabilities of scores.
func logProbs(scores []float32) []float64 {
	top, sum := float64(slices.Max(scores)), 0.0
	for _, s := range scores {
		sum += math.Exp(float64(s) - top)
	}
	out := make([]float64, len(scores))
	for i, s := range scores {
		out[i] = float64(s) - top - math.Log(sum)
	}
	return out
}

// SmolLM2 writes the same here and behind a server, both with a cache of keys and values. With llama.cpp's cache in float16, its default, log-probabilities
// differ by some hundredths.
func TestLiveGenerationIsThatOfTheServer(t *testing.T) {
	const most, top, tolerance = 24, 10, 0.001 // nats
	e := liveEngine(t)
	dir := e.smollm2()
	if !e.vllm {
		dir = filepath.Join(t.TempDir(), "hf")
		command(t, "model", "import", e.smollm2(), "--out", dir)
	}
	server := e.serve(t, e.readable(t, dir), []string{"smol"}, 0, "--float32")

	words, err := tokenizer.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var prompts [][]int32
	for _, text := range []string{
		"The capital of France is",
		"<|im_start|>user\nWhat is 17 + 25? Answer with a number.<|im_end|>\n<|im_start|>assistant\n",
		"<|im_start|>user\nA train leaves at 9:40 and arrives at 12:05. How long does it take? Think first.<|im_end|>\n<|im_start|>assistant\n",
	} {
		prompts = append(prompts, words.Encode(text))
	}
	base, err := lm.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	backend, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	net, err := lm.NewNetwork(backend, lm.Decoder{Config: base.Config, Compute: dtypes.Float32}, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	end, ok := words.ID("<|im_end|>")
	if !ok {
		t.Fatal("no token ends a message")
	}
	var steps [][]float32
	texts, err := net.Greedy(t.Context(), prompts, most, []int32{end}, func(scores []float32) { steps = append(steps, scores) })
	if err != nil {
		t.Fatal(err)
	}
	worst, compared := 0.0, 0
	for i, prompt := range prompts {
		ours := texts[i]
		if ours[len(ours)-1] == end {
			ours = ours[:len(ours)-1] // the server does not send it
		}
		theirs := server.writes(t, prompt, most, top)
		if len(theirs) < len(ours) {
			t.Errorf("prompt %d: %d tokens here, %d from the server", i, len(ours), len(theirs))
			continue
		}
		for k, id := range ours {
			p := logProbs(steps[k][i*base.Config.Vocab:][:base.Config.Vocab])
			if theirs[k].id != id {
				t.Errorf("prompt %d, token %d: %d here, %d from the server", i, k, id, theirs[k].id)
				break
			}
			for other, q := range theirs[k].top {
				worst, compared = max(worst, math.Abs(p[other]-q)), compared+1
			}
		}
		said, _ := words.Decode(texts[i])
		t.Logf("prompt %d, %d tokens: %q", i, len(prompt), said)
	}
	t.Logf("%d log-probabilities: the largest difference is %.2g nats", compared, worst)
	if !(worst < tolerance) || compared < 3*top {
		t.Errorf("%d log-probabilities differ by up to %g, want less than %g", compared, worst, tolerance)
	}
}

// A router that was trained and exported here decides behind a server as it does in the run that trained it. llama.cpp is asked for all tokens, since it
// cannot be asked for the letters; vLLM is asked for them.
func TestLiveExportedRouterIsAskedBehindTheServer(t *testing.T) {
	e := liveEngine(t)
	dir := t.TempDir()
	spec, out, hf, asked := filepath.Join(dir, "small.yaml"), filepath.Join(dir, "runs"), filepath.Join(dir, "hf"), filepath.Join(dir, "asked.jsonl")
	write(t, spec, smallRouter)
	write(t, asked, askedOfRouters)
	command(t, "run", spec, "--out", out, "--figures", "", "--quiet")
	command(t, "export", spec, "--row", "sft", "--out", out, "--hf", hf)
	server := e.serve(t, e.readable(t, hf), []string{"router"}, 0, "--context", "1024", "--float32")
	url := server.url()
	if !e.vllm {
		url = askingForAll(t, server.port) + "/v1"
	}
	route := []string{"--row", "sft", "--out", out, spec, asked}
	sameChoices(t, routed(t, route...), routed(t, append([]string{"--server", url}, route...)...))
}

// smallRouter trains a decoder in seconds, which both engines serve: heads of less than 32 are nothing for vLLM on the CPU.
const smallRouter = `name: small
base: lm-tiny.yaml
title: A router that is exported
train: {sft: {size: 64}, rl: {size: 64}}
test: [sim-aime25]
evaluate: {max_problems: 2}
policy: {model: {arch: qwen3, hidden: 64, inner: 64, layers: 1, heads: 2, kv_heads: 1, head_dim: 32}}
methods: [{name: sft}]
outputs: [{kind: table}]
`

const askedOfRouters = `{"id": "sum", "problem": "What is 2 + 2?"}
{"id": "log", "problem": "How many real solutions has $x^{\\log_2 x} = 16 x^3$?"}
{"id": "rings", "problem": "Find the number of ring homomorphisms from $\\mathbb{Z}/12$ to $\\mathbb{Z}/18$ that need not preserve 1."}
`

// chosen is a line of route.
type chosen struct {
	ID     string             `json:"id"`
	Expert string             `json:"expert"`
	Prob   map[string]float64 `json:"prob"`
}

// routed is what route prints.
func routed(t *testing.T, args ...string) (said []chosen) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"entrorouter", "route"}, args...), nil, &stdout, &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	for dec := json.NewDecoder(&stdout); dec.More(); {
		var line chosen
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		said = append(said, line)
	}
	return said
}

// sameChoices wants the same decisions about three problems, and the same probabilities but for rounding.
func sameChoices(t *testing.T, here, there []chosen) {
	t.Helper()
	if len(here) != 3 || len(there) != 3 {
		t.Fatalf("here %+v, behind the server %+v", here, there)
	}
	worst := 0.0
	for i, x := range here {
		if there[i].ID != x.ID || there[i].Expert != x.Expert || len(x.Prob) != 3 {
			t.Fatalf("here %+v, behind the server %+v", here, there)
		}
		for expert, p := range x.Prob {
			worst = max(worst, math.Abs(p-there[i].Prob[expert]))
		}
	}
	t.Logf("the largest difference of a probability is %.2g", worst)
	if !(worst < 1e-5) {
		t.Errorf("here %+v, behind the server %+v", here, there)
	}
}

// askingForAll passes requests on to a server and asks for the log-probabilities of all tokens: a router that was trained on letters alone
// has not learned that no other token comes first, so its letters need not be among the 20 likeliest.
func askingForAll(t *testing.T, port int) string {
	to, err := url.Parse(fmt.Sprint("http://127.0.0.1:", port))
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		raw = bytes.Replace(raw, []byte(`"top_logprobs":20`), []byte(`"top_logprobs":4096`), 1)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}
