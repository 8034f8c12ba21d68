// Small models as GGUF files.

package gguftest

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The measures of the small models. Their values are float32 but for the embeddings, which are Q8_0.
const (
	Layers, Hidden, Inner, Heads, KeyHeads = 2, 32, 64, 4, 2
	Vocabulary                             = 263
)

// Model returns a small model of an architecture, llama or qwen3, with a byte-level tokenizer of three merges, two control tokens
// and a chat template. Value i of tensor n is Value(n, i), embeddings excepted.
func Model(architecture string) ([]Entry, []Tensor) {
	pre, size := "smollm", Hidden/Heads
	key := func(name string) string { return architecture + "." + name }
	metadata := []Entry{
		{"general.architecture", architecture},
		{key("block_count"), uint32(Layers)}, {key("context_length"), uint32(128)}, {key("embedding_length"), uint32(Hidden)},
		{key("feed_forward_length"), uint32(Inner)}, {key("attention.head_count"), uint32(Heads)}, {key("attention.head_count_kv"), uint32(KeyHeads)},
		{key("rope.freq_base"), float32(1e5)}, {key("attention.layer_norm_rms_epsilon"), float32(1e-5)},
	}
	if architecture == "qwen3" {
		pre, size = "qwen2", 128 // transformers reads no other from a GGUF file
		metadata = append(metadata, Entry{key("attention.key_length"), uint32(size)}, Entry{key("attention.value_length"), uint32(size)})
	}
	metadata = append(metadata, words(pre)...)
	tensors := []Tensor{{Name: "token_embd.weight", Dims: []int{Vocabulary, Hidden}, Type: 8, Raw: embeddings()}}
	add := func(name string, dims ...int) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		var raw []byte
		for i := range n {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(Value(len(tensors), i)))
		}
		tensors = append(tensors, Tensor{Name: name, Dims: dims, Raw: raw})
	}
	for l := range Layers {
		block := fmt.Sprintf("blk.%d.", l)
		add(block+"attn_norm.weight", Hidden)
		add(block+"attn_q.weight", Heads*size, Hidden)
		add(block+"attn_k.weight", KeyHeads*size, Hidden)
		add(block+"attn_v.weight", KeyHeads*size, Hidden)
		add(block+"attn_output.weight", Hidden, Heads*size)
		if architecture == "qwen3" {
			add(block+"attn_q_norm.weight", size)
			add(block+"attn_k_norm.weight", size)
		}
		add(block+"ffn_norm.weight", Hidden)
		add(block+"ffn_gate.weight", Inner, Hidden)
		add(block+"ffn_up.weight", Inner, Hidden)
		add(block+"ffn_down.weight", Hidden, Inner)
	}
	add("output_norm.weight", Hidden)
	return metadata, tensors
}

// Value is value i of tensor n of a small model, which bfloat16 has as well.
func Value(n, i int) float32 { return float32((n*31+i*7)%255-127) / 256 }

// embeddings returns rows of Q8_0: value j of row r is (r+j)%101 - 50, over 64.
func embeddings() []byte {
	var raw []byte
	for r := range Vocabulary {
		raw = append(raw, 0, 0x24) // 1/64
		for j := range Hidden {
			raw = append(raw, byte(int8((r+j)%101-50)))
		}
	}
	return raw
}

// words returns the keys of the tokenizer.
func words(pre string) []Entry {
	tokens := make([]string, 256)
	next := rune(256)
	for b := range tokens {
		if b > ' ' && b < 127 || b > 160 && b != 173 {
			tokens[b] = string(rune(b))
		} else {
			tokens[b] = string(next)
			next++
		}
	}
	merges := []string{"t h", "Ġ th", "Ġth e"}
	tokens = append(tokens, "th", "Ġth", "Ġthe", "<|im_start|>", "<|im_end|>", "<tool>", "[PAD262]")
	types := slices.Repeat([]int32{1}, len(tokens))
	types[259], types[260], types[261], types[262] = 3, 3, 4, 5
	return []Entry{
		{"tokenizer.ggml.model", "gpt2"}, {"tokenizer.ggml.pre", pre}, {"tokenizer.ggml.tokens", tokens}, {"tokenizer.ggml.token_type", types},
		{"tokenizer.ggml.merges", merges}, {"tokenizer.ggml.bos_token_id", uint32(259)}, {"tokenizer.ggml.eos_token_id", uint32(260)},
		{"tokenizer.ggml.padding_token_id", uint32(260)}, {"tokenizer.ggml.add_bos_token", false},
		{"tokenizer.chat_template", "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"},
	}
}
