package convert

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/gguf"
	"github.com/entrorouter/entrorouter/harness/gguf/gguftest"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

func open(t *testing.T, metadata []gguftest.Entry, tensors []gguftest.Tensor) *gguf.File {
	t.Helper()
	raw := gguftest.Encode(metadata, tensors)
	file, err := gguf.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(file, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAFolderHasWhatTheFileSays(t *testing.T) {
	for _, architecture := range []string{"llama", "qwen3"} {
		for _, dtype := range []safetensors.DType{safetensors.F32, safetensors.BF16} {
			dir := filepath.Join(t.TempDir(), "below", "it")
			made, err := Folder(small(t, architecture), dir, dtype)
			if err != nil {
				t.Fatal(err)
			}
			if made.Architecture != architecture || made.Tokens != 262 || made.Weights < 10_000 {
				t.Errorf("made %+v", made)
			}
			weights, err := safetensors.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer weights.Close()
			checkWeights(t, architecture, dtype, weights)
			checkTexts(t, architecture, dir)
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

func small(t *testing.T, architecture string) *gguf.File {
	metadata, tensors := gguftest.Model(architecture)
	return open(t, metadata, tensors)
}

func checkWeights(t *testing.T, architecture string, dtype safetensors.DType, weights *safetensors.File) {
	t.Helper()
	perLayer, size := 9, gguftest.Hidden/gguftest.Heads
	if architecture == "qwen3" {
		perLayer, size = 11, 128
	}
	if got, want := len(weights.Tensors()), 2+perLayer*gguftest.Layers; got != want {
		t.Errorf("%d tensors, want %d", got, want)
	}
	for _, info := range weights.Tensors() {
		if info.DType != dtype {
			t.Errorf("%s is %s", info.Name, info.DType)
		}
	}
	values := func(name string) []float32 {
		v, err := weights.Floats(name)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	embeddings := values("model.embed_tokens.weight")
	if embeddings[0] != -50./64 || embeddings[33] != float32((1+1)%101-50)/64 {
		t.Errorf("embeddings begin %v", embeddings[:40])
	}
	// Row i of the first half of a head comes from row 2i, of the second half from row 2i+1; in qwen3 rows stay where they are.
	for _, c := range []struct {
		name          string
		tensor, heads int
	}{{"q_proj", 2, gguftest.Heads}, {"k_proj", 3, gguftest.KeyHeads}} {
		got := values("model.layers.0.self_attn." + c.name + ".weight")
		for row := range c.heads * size {
			head, half, i := row/size, row%size/(size/2), row%(size/2)
			from := head*size + 2*i + half
			if architecture == "qwen3" {
				from = row
			}
			for col := range gguftest.Hidden {
				if want := gguftest.Value(c.tensor, from*gguftest.Hidden+col); got[row*gguftest.Hidden+col] != want {
					t.Fatalf("%s of %s: row %d, column %d is %v, want %v", c.name, architecture, row, col, got[row*gguftest.Hidden+col], want)
				}
			}
		}
	}
	if got := values("model.layers.0.self_attn.v_proj.weight"); got[40] != gguftest.Value(4, 40) {
		t.Errorf("v_proj: %v", got[:41])
	}
}

func checkTexts(t *testing.T, architecture, dir string) {
	t.Helper()
	config := readJSON(t, filepath.Join(dir, "config.json"))
	want := map[string]any{"model_type": architecture, "hidden_size": 32., "head_dim": 8., "num_key_value_heads": 2., "rms_norm_eps": 1e-5, "rope_theta": 1e5,
		"tie_word_embeddings": true, "vocab_size": 263., "eos_token_id": 260., "num_hidden_layers": 2.}
	if architecture == "qwen3" {
		want["head_dim"] = 128.
	}
	for key, value := range want {
		if config[key] != value {
			t.Errorf("%s is %v, want %v", key, config[key], value)
		}
	}
	if got := readJSON(t, filepath.Join(dir, "generation_config.json")); got["eos_token_id"] != 260. || got["bos_token_id"] != 259. {
		t.Errorf("generation: %v", got)
	}
	tok, err := tokenizer.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode(" the<|im_end|><tool>"); !slices.Equal(got, []int32{258, 260, 261}) {
		t.Errorf("tokens %v", got)
	}
	chat, err := tokenizer.OpenChat(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := chat.Render([]tokenizer.Message{{Role: "user", Content: "<&>"}}, false); err != nil || got != "<|im_start|>user\n<&><|im_end|>\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatIsNotUnderstoodIsNamed(t *testing.T) {
	set := func(key string, value any) func([]gguftest.Entry, []gguftest.Tensor) ([]gguftest.Entry, []gguftest.Tensor) {
		return func(m []gguftest.Entry, ts []gguftest.Tensor) ([]gguftest.Entry, []gguftest.Tensor) {
			m = slices.DeleteFunc(m, func(e gguftest.Entry) bool { return e.Key == key })
			if value != nil {
				m = append(m, gguftest.Entry{Key: key, Value: value})
			}
			return m, ts
		}
	}
	tensor := func(i int, edit func(*gguftest.Tensor)) func([]gguftest.Entry, []gguftest.Tensor) ([]gguftest.Entry, []gguftest.Tensor) {
		return func(m []gguftest.Entry, ts []gguftest.Tensor) ([]gguftest.Entry, []gguftest.Tensor) {
			edit(&ts[i])
			return m, ts
		}
	}
	for _, c := range []struct {
		name string
		edit func([]gguftest.Entry, []gguftest.Tensor) ([]gguftest.Entry, []gguftest.Tensor)
		want string
	}{
		{"architecture", set("general.architecture", "gemma3"), `general.architecture is "gemma3"`},
		{"experts", set("llama.expert_count", uint32(8)), "llama.expert_count is 8"},
		{"measure", set("llama.block_count", nil), "the file does not say llama.block_count"},
		{"kind", set("llama.block_count", "two"), "llama.block_count is of type string"},
		{"zero", set("llama.attention.head_count", uint32(0)), "llama.attention.head_count is 0"},
		{"heads", set("llama.attention.head_count", uint32(5)), "5 heads cannot share 2"},
		{"rotation", set("llama.rope.dimension_count", uint32(4)), "rotation of 4"},
		{"rows", set("llama.vocab_size", uint32(7)), "llama.vocab_size is 7"},
		{"layers", set("llama.block_count", uint32(3)), `no tensor "blk.2.attn_norm.weight"`},
		{"surplus", tensor(1, func(t *gguftest.Tensor) { t.Name = "rope_freqs.weight" }), `no tensor "blk.0.attn_norm.weight"`},
		{"fewer layers", set("llama.block_count", uint32(1)), `tensor "blk.1.attn_k.weight" of shape [16 32] has no place`},
		{"shape", set("llama.feed_forward_length", uint32(65)), `"blk.0.ffn_gate.weight" has the shape [64 32]; the model wants [65 32]`},
		{"type", tensor(1, func(t *gguftest.Tensor) { t.Type = 14 }), `"blk.0.attn_norm.weight" is stored as Q6_K`},
		{"tokenizer", set("tokenizer.ggml.model", "llama"), `tokenizer.ggml.model is "llama"`},
		{"pre-tokenizer", set("tokenizer.ggml.pre", "llama-bpe"), `pre-tokenizer "llama-bpe" is not known`},
		{"first token", set("tokenizer.ggml.add_bos_token", true), "tokenizer.ggml.add_bos_token is set"},
		{"types", set("tokenizer.ggml.token_type", []int32{1}), "1 types of tokens"},
		{"no such token", set("tokenizer.ggml.eos_token_id", uint32(262)), "tokenizer.ggml.eos_token_id is 262, which is no token"},
		{"merges", set("tokenizer.ggml.merges", []string{"th"}), "tokenizer.ggml.merges: merge 1"},
	} {
		metadata, tensors := c.edit(gguftest.Model("llama"))
		dir := t.TempDir()
		if _, err := Folder(open(t, metadata, tensors), filepath.Join(dir, "out"), safetensors.F32); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%s: left behind: %v", c.name, left)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(small(t, "llama"), dir, safetensors.F32); err == nil || !strings.Contains(err.Error(), "holds notes already") {
		t.Errorf("a folder that holds something: %v", err)
	}
	if _, err := Folder(nil, dir, safetensors.F16); err == nil || !strings.Contains(err.Error(), "not \"F16\"") {
		t.Errorf("another type: %v", err)
	}
}
