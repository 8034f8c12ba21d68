// The model of a GGUF file: its measures, config.json, and the names and shapes of its tensors.

package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/gguf"
	"github.com/entrorouter/entrorouter/harness/safetensors"
)

// model has the measures of a decoder.
type model struct {
	architecture                   string // llama or qwen3
	layers, context, hidden, inner int
	heads, keyHeads, headSize      int
	vocabulary                     int // rows of embeddings
	theta, epsilon                 float32
	tied                           bool
}

// readModel reads the measures. Every key of the architecture must be one that is understood, since any other may
// change what the model computes.
func readModel(file *gguf.File) (m model, err error) {
	k := &keys{of: file}
	if m.architecture = get[string](k, "general.architecture"); k.err != nil {
		return m, k.err
	}
	if m.architecture != "llama" && m.architecture != "qwen3" {
		return m, fmt.Errorf("general.architecture is %q: llama and qwen3 are known", m.architecture)
	}
	keyLength, valueLength, rotated, vocabulary := 0, 0, 0, 0
	measures := map[string]struct {
		to   *int
		must bool
	}{
		"block_count": {&m.layers, true}, "context_length": {&m.context, true}, "embedding_length": {&m.hidden, true}, "feed_forward_length": {&m.inner, true},
		"attention.head_count": {&m.heads, true}, "attention.head_count_kv": {&m.keyHeads, true},
		"attention.key_length": {&keyLength, m.architecture == "qwen3"}, "attention.value_length": {&valueLength, false},
		"rope.dimension_count": {&rotated, false}, "vocab_size": {&vocabulary, false},
	}
	factors := map[string]*float32{"rope.freq_base": &m.theta, "attention.layer_norm_rms_epsilon": &m.epsilon}
	for key, value := range file.Metadata {
		name, ok := strings.CutPrefix(key, m.architecture+".")
		_, measure := measures[name]
		if ok && !measure && factors[name] == nil {
			return m, fmt.Errorf("%s is %v: what this changes in the model is not known", key, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(measures)) {
		key := m.architecture + "." + name
		if file.Metadata[key] == nil && !measures[name].must {
			continue
		}
		v := get[uint32](k, key)
		if k.err != nil {
			return m, k.err
		}
		if v == 0 || v > 1<<24 {
			return m, fmt.Errorf("%s is %d, which is out of range", key, v)
		}
		*measures[name].to = int(v)
	}
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		*factors[name] = get[float32](k, m.architecture+"."+name)
	}
	if k.err != nil {
		return m, k.err
	}
	m.headSize = keyLength
	if m.headSize == 0 {
		m.headSize = m.hidden / m.heads
	}
	switch {
	case m.heads%m.keyHeads != 0:
		return m, fmt.Errorf("%d heads cannot share %d heads of keys", m.heads, m.keyHeads)
	case m.headSize == 0 || m.headSize%2 != 0 || keyLength == 0 && m.hidden%m.heads != 0:
		return m, fmt.Errorf("%d heads of %d values do not fit an embedding of %d", m.heads, m.headSize, m.hidden)
	case valueLength != 0 && valueLength != m.headSize || rotated != 0 && rotated != m.headSize:
		return m, fmt.Errorf("keys of %d values, values of %d and rotation of %d: these must be one number", m.headSize, valueLength, rotated)
	case m.layers > 4096:
		return m, fmt.Errorf("%d layers are out of range", m.layers)
	}
	for _, t := range file.Tensors {
		if t.Name == "token_embd.weight" && len(t.Dims) == 2 {
			m.vocabulary = t.Dims[0]
		}
	}
	if vocabulary != 0 && vocabulary != m.vocabulary {
		return m, fmt.Errorf("%s.vocab_size is %d, and token_embd.weight has %d rows", m.architecture, vocabulary, m.vocabulary)
	}
	m.tied = !slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == headName })
	return m, nil
}

const headName = "output.weight"

// config returns config.json. The keys are those that transformers 4 writes and 5 reads too.
func (m model) config(special ids, dtype safetensors.DType) map[string]any {
	config := map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "model_type": m.architecture,
		"attention_bias": false, "attention_dropout": 0.0, "hidden_act": "silu", "initializer_range": 0.02,
		"hidden_size": m.hidden, "intermediate_size": m.inner, "num_hidden_layers": m.layers,
		"num_attention_heads": m.heads, "num_key_value_heads": m.keyHeads, "head_dim": m.headSize,
		"max_position_embeddings": m.context, "rms_norm_eps": m.epsilon, "rope_theta": m.theta, "rope_scaling": nil,
		"vocab_size": m.vocabulary, "tie_word_embeddings": m.tied, "use_cache": true,
		"torch_dtype": map[safetensors.DType]string{safetensors.F32: "float32", safetensors.BF16: "bfloat16"}[dtype],
	}
	if m.architecture == "qwen3" {
		config["architectures"] = []string{"Qwen3ForCausalLM"}
		config["use_sliding_window"], config["sliding_window"] = false, nil
	} else {
		config["mlp_bias"] = false
	}
	for name, id := range map[string]*uint32{"bos_token_id": special.BOS, "eos_token_id": special.EOS, "pad_token_id": special.Pad} {
		if id != nil {
			config[name] = *id
		}
	}
	return config
}

// A weight is a tensor of the folder and where its values are.
type weight struct {
	name  string
	dims  []int
	heads int // whose rows are permuted; 0: none
	from  gguf.Tensor
}

// weights returns the tensors of the folder. A tensor that is missing, superfluous or of another shape is an error with its name.
func (m model) weights(file *gguf.File) ([]weight, error) {
	there := make(map[string]gguf.Tensor, len(file.Tensors))
	for _, t := range file.Tensors {
		there[t.Name] = t
	}
	var out []weight
	var fault error
	want := func(from, name string, heads int, dims ...int) {
		t, ok := there[from]
		delete(there, from)
		switch {
		case fault != nil:
		case !ok:
			fault = fmt.Errorf("the file has no tensor %q", from)
		case !slices.Equal(t.Dims, dims):
			fault = fmt.Errorf("tensor %q has the shape %v; the model wants %v", from, t.Dims, dims)
		default:
			out = append(out, weight{name: name, dims: dims, heads: heads, from: t})
		}
	}
	queries, keys := m.heads*m.headSize, m.keyHeads*m.headSize
	permuted := func(heads int) int {
		if m.architecture == "llama" {
			return heads
		}
		return 0
	}
	want("token_embd.weight", "model.embed_tokens.weight", 0, m.vocabulary, m.hidden)
	for l := range m.layers {
		from, to := fmt.Sprintf("blk.%d.", l), fmt.Sprintf("model.layers.%d.", l)
		want(from+"attn_norm.weight", to+"input_layernorm.weight", 0, m.hidden)
		want(from+"attn_q.weight", to+"self_attn.q_proj.weight", permuted(m.heads), queries, m.hidden)
		want(from+"attn_k.weight", to+"self_attn.k_proj.weight", permuted(m.keyHeads), keys, m.hidden)
		want(from+"attn_v.weight", to+"self_attn.v_proj.weight", 0, keys, m.hidden)
		want(from+"attn_output.weight", to+"self_attn.o_proj.weight", 0, m.hidden, queries)
		if m.architecture == "qwen3" {
			want(from+"attn_q_norm.weight", to+"self_attn.q_norm.weight", 0, m.headSize)
			want(from+"attn_k_norm.weight", to+"self_attn.k_norm.weight", 0, m.headSize)
		}
		want(from+"ffn_norm.weight", to+"post_attention_layernorm.weight", 0, m.hidden)
		want(from+"ffn_gate.weight", to+"mlp.gate_proj.weight", 0, m.inner, m.hidden)
		want(from+"ffn_up.weight", to+"mlp.up_proj.weight", 0, m.inner, m.hidden)
		want(from+"ffn_down.weight", to+"mlp.down_proj.weight", 0, m.hidden, m.inner)
	}
	want("output_norm.weight", "model.norm.weight", 0, m.hidden)
	if !m.tied {
		want(headName, "lm_head.weight", 0, m.vocabulary, m.hidden)
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if fault == nil {
			fault = fmt.Errorf("tensor %q of shape %v has no place in a model of architecture %s", name, there[name].Dims, m.architecture)
		}
	}
	return out, fault
}

// ids are the numbers of special tokens, as generation_config.json has them; nil where the file does not say.
type ids struct {
	BOS *uint32 `json:"bos_token_id,omitempty"`
	EOS *uint32 `json:"eos_token_id,omitempty"`
	Pad *uint32 `json:"pad_token_id,omitempty"`
	unk *uint32
}
