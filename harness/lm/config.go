// The sizes of a decoder, read from config.json of a Hugging Face folder and written as one.

package lm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// configFile is where a Hugging Face folder says what its model is.
const configFile = "config.json"

// Config is what the decoder needs to know of a model.
type Config struct {
	Arch     string  // qwen3, which normalises queries and keys, or llama
	Vocab    int     // tokens
	Hidden   int     // D, width of the hidden states
	Inner    int     // width between the two products of the feed-forward part
	Layers   int     // blocks
	Heads    int     // of the queries
	KVHeads  int     // of keys and values; divides Heads
	HeadDim  int     // width of a head; even
	Epsilon  float64 // of the norms
	Theta    float64 // base of the rotations
	Tied     bool    // the head is the embedding
	Stored   safetensors.DType
	Position int             // longest text it was made for, tokens; 0: not said
	BOS, EOS json.RawMessage // token ids as the folder writes them, a number or a list; nil: none
}

// classes are the architectures, as config.json names their classes.
var classes = map[string]string{"qwen3": "Qwen3ForCausalLM", "llama": "LlamaForCausalLM"}

// stored are the names of types in config.json.
var stored = map[string]safetensors.DType{"float32": safetensors.F32, "float16": safetensors.F16, "bfloat16": safetensors.BF16}

// rotation is how config.json writes the rotations: rope_parameters of transformers 5, rope_scaling before.
type rotation struct {
	Theta float64 `json:"rope_theta,omitempty"`
	Type  string  `json:"rope_type,omitempty"`
	Old   string  `json:"type,omitempty"` // rope_type of old folders

	// What would make other rotations, to be refused.
	Factor  float64         `json:"factor,omitempty"`
	Partial float64         `json:"partial_rotary_factor,omitempty"` // share of a head that is rotated
	Full    json.RawMessage `json:"full_attention,omitempty"`        // rotations of layers of this type
}

// configJSON is config.json. Keys that do not matter here are passed over; those that would make it another network are
// here to be refused.
type configJSON struct {
	Architectures []string        `json:"architectures"`
	ModelType     string          `json:"model_type"`
	Vocab         int             `json:"vocab_size"`
	Hidden        int             `json:"hidden_size"`
	Inner         int             `json:"intermediate_size"`
	Layers        int             `json:"num_hidden_layers"`
	Heads         int             `json:"num_attention_heads"`
	KVHeads       int             `json:"num_key_value_heads"`
	HeadDim       int             `json:"head_dim"`
	Activation    string          `json:"hidden_act"`
	Position      int             `json:"max_position_embeddings"`
	Epsilon       float64         `json:"rms_norm_eps"`
	Tied          bool            `json:"tie_word_embeddings"`
	AttentionBias bool            `json:"attention_bias"`
	MLPBias       bool            `json:"mlp_bias"`
	Sliding       bool            `json:"use_sliding_window"`
	LayerTypes    []string        `json:"layer_types,omitempty"`
	Quantization  json.RawMessage `json:"quantization_config,omitempty"`
	Theta         float64         `json:"rope_theta"`
	Scaling       *rotation       `json:"rope_scaling"`
	Rotation      *rotation       `json:"rope_parameters"`
	Partial       float64         `json:"partial_rotary_factor,omitempty"`
	DType         string          `json:"dtype"`
	TorchDType    string          `json:"torch_dtype"`
	BOS           json.RawMessage `json:"bos_token_id,omitempty"`
	EOS           json.RawMessage `json:"eos_token_id,omitempty"`
}

// errNoFolder is the error of a folder that is none of a model.
var errNoFolder = errors.New("name a Hugging Face folder (make smollm2 makes build/smollm2/hf, entrorouter model import one of a GGUF file)")

// readConfig reads config.json of a folder, with the keys of transformers 4 or 5. A model that the decoder would compute
// wrongly is an error that names the key.
func readConfig(dir string) (Config, error) {
	path := filepath.Join(dir, configFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, fmt.Errorf("language model %s: there is no %s; %w", dir, configFile, errNoFolder)
	}
	if err != nil {
		return Config{}, fmt.Errorf("language model: %w", err)
	}
	c, err := parseConfig(raw)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parseConfig(raw []byte) (Config, error) {
	j := configJSON{Activation: "silu"}
	if err := json.Unmarshal(raw, &j); err != nil {
		return Config{}, err
	}
	if err := j.check(); err != nil {
		return Config{}, err
	}
	c := Config{
		Arch: j.ModelType, Vocab: j.Vocab, Hidden: j.Hidden, Inner: j.Inner, Layers: j.Layers, Heads: j.Heads,
		KVHeads: cmp.Or(j.KVHeads, j.Heads), HeadDim: j.HeadDim, Epsilon: cmp.Or(j.Epsilon, 1e-6), Theta: j.Theta, Tied: j.Tied,
		Stored: safetensors.F32, Position: j.Position, BOS: j.BOS, EOS: j.EOS,
	}
	if c.HeadDim == 0 && c.Heads > 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	for _, r := range []*rotation{j.Rotation, j.Scaling} { // the last one wins
		if r != nil && r.Theta != 0 {
			c.Theta = r.Theta
		}
	}
	if name := cmp.Or(j.DType, j.TorchDType); name != "" {
		var ok bool
		if c.Stored, ok = stored[name]; !ok {
			return Config{}, fmt.Errorf("dtype is %q; known: float32, float16, bfloat16", name)
		}
	}
	for _, id := range []*json.RawMessage{&c.BOS, &c.EOS} {
		if string(*id) == "null" {
			*id = nil
		}
	}
	return c, c.check()
}

// check refuses what would make the model another network than the decoder.
func (j configJSON) check() error {
	class, ok := classes[j.ModelType]
	switch {
	case !ok:
		return fmt.Errorf("model_type is %q; known: llama, qwen3", j.ModelType)
	case len(j.Architectures) > 0 && !slices.Contains(j.Architectures, class):
		return fmt.Errorf("architectures are %q; a model of type %s must be a %s", j.Architectures, j.ModelType, class)
	case j.Activation != "silu":
		return fmt.Errorf("hidden_act is %q; only silu is computed here", j.Activation)
	case j.AttentionBias || j.MLPBias:
		return errors.New("attention_bias or mlp_bias is true; only products without a bias are computed here")
	case j.Sliding || slices.ContainsFunc(j.LayerTypes, func(t string) bool { return t != "full_attention" }):
		return errors.New("use_sliding_window or layer_types ask for windows; only full attention is computed here")
	case len(j.Quantization) > 0 && string(j.Quantization) != "null":
		return errors.New("quantization_config is set; convert the model to bfloat16 first")
	}
	partial := []float64{j.Partial}
	for key, r := range map[string]*rotation{"rope_scaling": j.Scaling, "rope_parameters": j.Rotation} {
		if r == nil {
			continue
		}
		switch kind := r.Type + r.Old; {
		case kind != "" && kind != "default" && kind != "defaultdefault":
			return fmt.Errorf("%s asks for rotations of type %q; only default ones are computed here", key, kind)
		case r.Factor != 0 && r.Factor != 1:
			return fmt.Errorf("%s has a factor of %v; only default rotations are computed here", key, r.Factor)
		case len(r.Full) > 0:
			return fmt.Errorf("%s has other rotations for full_attention; all layers are rotated alike here", key)
		}
		partial = append(partial, r.Partial)
	}
	for _, share := range partial {
		if share != 0 && share != 1 {
			return fmt.Errorf("partial_rotary_factor is %v; only whole heads are rotated here", share)
		}
	}
	return nil
}

// check refuses sizes that no network has.
func (c Config) check() error {
	for _, size := range []struct {
		key string
		n   int
	}{
		{"vocab_size", c.Vocab}, {"hidden_size", c.Hidden}, {"intermediate_size", c.Inner}, {"num_hidden_layers", c.Layers},
		{"num_attention_heads", c.Heads}, {"num_key_value_heads", c.KVHeads}, {"head_dim", c.HeadDim},
	} {
		if size.n < 1 {
			return fmt.Errorf("%s is %d; it must be at least 1", size.key, size.n)
		}
	}
	switch {
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("%d attention heads cannot share %d heads of keys and values", c.Heads, c.KVHeads)
	case c.HeadDim%2 != 0:
		return fmt.Errorf("head_dim is %d; rotations need an even number", c.HeadDim)
	case !(c.Theta > 0):
		return errors.New("neither rope_theta nor rope_parameters.rope_theta is set; rotations need their base")
	case !(c.Epsilon > 0):
		return fmt.Errorf("rms_norm_eps is %v; it must be above 0", c.Epsilon)
	}
	return nil
}

// encode returns config.json with the keys of transformers 4 and 5, weights being stored in a type.
func (c Config) encode(dtype safetensors.DType) ([]byte, error) {
	name := ""
	for n, d := range stored {
		if d == dtype {
			name = n
		}
	}
	j := configJSON{
		Architectures: []string{classes[c.Arch]}, ModelType: c.Arch, Vocab: c.Vocab, Hidden: c.Hidden, Inner: c.Inner, Layers: c.Layers,
		Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Activation: "silu", Position: c.Position, Epsilon: c.Epsilon,
		Tied: c.Tied, Theta: c.Theta, Rotation: &rotation{Theta: c.Theta, Type: "default"}, DType: name, TorchDType: name,
		BOS: c.BOS, EOS: c.EOS,
	}
	raw, err := json.MarshalIndent(j, "", "  ")
	return append(raw, '\n'), err
}

// Names of the weights outside the layers.
const (
	embedName = "model.embed_tokens.weight"
	normName  = "model.norm.weight"
	headName  = "lm_head.weight"
)

// headWeight is the name of the head's weight.
func (c Config) headWeight() string {
	if c.Tied {
		return embedName
	}
	return headName
}

// layerName is the name of something in a layer.
func layerName(layer int, name string) string { return fmt.Sprintf("model.layers.%d.%s", layer, name) }

// projection is the name of a projection in a layer, without .weight.
func projection(layer int, name string) string {
	part := "self_attn."
	if slices.Contains([]string{"gate_proj", "up_proj", "down_proj"}, name) {
		part = "mlp."
	}
	return layerName(layer, part+name)
}

// shape is the shape [out,in] of a projection.
func (c Config) shape(name string) []int {
	switch name {
	case "q_proj":
		return []int{c.Heads * c.HeadDim, c.Hidden}
	case "k_proj", "v_proj":
		return []int{c.KVHeads * c.HeadDim, c.Hidden}
	case "o_proj":
		return []int{c.Hidden, c.Heads * c.HeadDim}
	case "down_proj":
		return []int{c.Hidden, c.Inner}
	}
	return []int{c.Inner, c.Hidden}
}

// Size is the name and the shape of a weight.
type Size struct {
	Name string
	Dims []int // [out,in] of a product, [V,D] of embedding and head, one axis of a norm
}

// norm says whether a weight scales a norm: it starts at 1 and does not decay.
func (t Size) norm() bool { return len(t.Dims) == 1 }

// Sizes lists every weight in the order in which a folder has them: the embedding, the layers from the first to the last, the last norm,
// and the head unless it is tied.
func (c Config) Sizes() []Size {
	all := []Size{{embedName, []int{c.Vocab, c.Hidden}}}
	for l := range c.Layers {
		all = append(all, c.layer(l)...)
	}
	all = append(all, Size{normName, []int{c.Hidden}})
	if !c.Tied {
		all = append(all, Size{headName, []int{c.Vocab, c.Hidden}})
	}
	return all
}

// layer lists the weights of a layer.
func (c Config) layer(l int) []Size {
	all := []Size{{layerName(l, "input_layernorm.weight"), []int{c.Hidden}}}
	for _, p := range spec.Projections {
		if p == "gate_proj" {
			all = append(all, Size{layerName(l, "post_attention_layernorm.weight"), []int{c.Hidden}})
		}
		all = append(all, Size{projection(l, p) + ".weight", c.shape(p)})
	}
	if c.Arch == "qwen3" {
		all = append(all, Size{layerName(l, "self_attn.q_norm.weight"), []int{c.HeadDim}}, Size{layerName(l, "self_attn.k_norm.weight"), []int{c.HeadDim}})
	}
	return all
}

// Parameters counts the weights.
func (c Config) Parameters() int {
	n := 0
	for _, t := range c.Sizes() {
		n += size(t.Dims)
	}
	return n
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// inLayer returns the layer that a weight belongs to; ok is false for the embedding, the last norm and the head.
func inLayer(name string) (layer int, ok bool) {
	rest, ok := strings.CutPrefix(name, "model.layers.")
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(rest, "%d.", &layer)
	return layer, err == nil
}
