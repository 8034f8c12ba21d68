// Package convert makes a Hugging Face folder, which transformers, vLLM and this program load, of a GGUF file.
package convert

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/entrorouter/entrorouter/harness/folder"
	"github.com/entrorouter/entrorouter/harness/gguf"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// Made says what a folder has.
type Made struct {
	Architecture string
	Weights      int // numbers, embeddings of a tied head once
	Tokens       int // of the tokenizer
}

// Folder writes dir with the weights as dtype (F32 or BF16), the configuration, the tokenizer and the chat template of a GGUF
// file of a Llama or Qwen3 model. The folder is made by folder.Make. Whatever of the
// file is not understood is an error that names it: an architecture, a key of the model, a tensor, a type of values, a tokenizer.
func Folder(file *gguf.File, dir string, dtype safetensors.DType) (made Made, err error) {
	if dtype != safetensors.F32 && dtype != safetensors.BF16 {
		return made, fmt.Errorf("weights are written as %s or %s, not %q", safetensors.F32, safetensors.BF16, dtype)
	}
	m, err := readModel(file)
	if err != nil {
		return made, err
	}
	weights, err := m.weights(file)
	if err != nil {
		return made, err
	}
	words, err := readTokenizer(file, m.vocabulary)
	if err != nil {
		return made, err
	}
	err = folder.Make(dir, func(dir string) error {
		texts := map[string]any{"config.json": m.config(words.special, dtype), "generation_config.json": words.special, "tokenizer_config.json": words.config(m)}
		for name, value := range texts {
			if err := tokenizer.WriteJSON(filepath.Join(dir, name), value); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), words.file, 0o666); err != nil {
			return err
		}
		return writeWeights(filepath.Join(dir, "model.safetensors"), file, weights, dtype)
	})
	if err != nil {
		return made, err
	}
	for _, w := range weights {
		made.Weights += w.from.Elements()
	}
	made.Architecture, made.Tokens = m.architecture, words.tokens
	return made, nil
}

// writeWeights writes model.safetensors, a tensor at a time.
func writeWeights(path string, file *gguf.File, weights []weight, dtype safetensors.DType) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	infos := make([]safetensors.Info, len(weights))
	byName := make(map[string]weight, len(weights))
	for i, w := range weights {
		infos[i] = safetensors.Info{Name: w.name, DType: dtype, Dims: w.dims}
		byName[w.name] = w
	}
	return safetensors.Write(out, map[string]string{"format": "pt"}, infos, func(info safetensors.Info, to io.Writer) error {
		w := byName[info.Name]
		values, err := file.Values(w.from)
		if err != nil {
			return err
		}
		if w.heads > 0 {
			values = unpermute(values, w.heads, w.dims)
		}
		raw, err := dtype.Narrow(values)
		if err != nil {
			return err
		}
		_, err = to.Write(raw)
		return err
	})
}

// unpermute undoes what llama.cpp does to the rows of query and key projections of Llama models, so that their rotary embedding
// pairs neighbours: row i of the first and of the second half of a head became rows 2i and 2i+1.
func unpermute(values []float32, heads int, dims []int) []float32 {
	rows, width := dims[0], dims[1]
	size := rows / heads
	out := make([]float32, len(values))
	for row := range rows {
		head, i := row/size, row%size
		to := head*size + i%2*(size/2) + i/2
		copy(out[to*width:], values[row*width:][:width])
	}
	return out
}

// words is what the file says about text.
type words struct {
	definition tokenizer.Definition
	file       []byte // tokenizer.json
	tokens     int    // one more than the largest number
	special    ids
	template   string
}

// The types of tokens, by their numbers in the format.
const (
	tokenNormal  = 1
	tokenControl = 3
	tokenUser    = 4
	tokenUnused  = 5
)

// readTokenizer reads the tokenizer, whose numbers must be below vocabulary.
func readTokenizer(file *gguf.File, vocabulary int) (w words, err error) {
	k := &keys{of: file}
	if kind := get[string](k, "tokenizer.ggml.model"); k.err == nil && kind != "gpt2" {
		return w, fmt.Errorf("tokenizer.ggml.model is %q: byte-level encoding is known, which is called gpt2", kind)
	}
	for _, key := range []string{"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_space_prefix"} {
		if set, ok := file.Metadata[key].(bool); ok && set {
			return w, fmt.Errorf("%s is set: a tokenizer that puts something before or after a text is not known", key)
		}
	}
	w.definition.Scheme = tokenizer.Scheme(get[string](k, "tokenizer.ggml.pre"))
	tokens, types, merges := get[[]string](k, "tokenizer.ggml.tokens"), get[[]int32](k, "tokenizer.ggml.token_type"), get[[]string](k, "tokenizer.ggml.merges")
	if k.err != nil {
		return w, k.err
	}
	if len(types) != len(tokens) || len(tokens) > vocabulary {
		return w, fmt.Errorf("%d tokens, %d types of tokens, %d rows of embeddings do not fit together", len(tokens), len(types), vocabulary)
	}
	if w.definition.Merges, err = tokenizer.ParseMerges(merges); err != nil {
		return w, fmt.Errorf("tokenizer.ggml.merges: %w", err)
	}
	last := 0
	for id, token := range tokens {
		switch types[id] {
		case tokenNormal:
			last = id + 1
		case tokenControl, tokenUser:
			w.definition.Added = append(w.definition.Added, tokenizer.Added{ID: int32(id), Content: token, Special: types[id] == tokenControl})
		case tokenUnused: // fills the table of embeddings up
			tokens[id] = ""
		default:
			return w, fmt.Errorf("token %d, %q, is of type %d, which is not known", id, token, types[id])
		}
	}
	w.definition.Tokens = tokens[:last]
	t, err := tokenizer.New(w.definition)
	if err != nil {
		return w, err
	}
	w.tokens = t.Size()
	if w.file, err = w.definition.JSON(); err != nil {
		return w, err
	}
	for key, to := range map[string]**uint32{"bos": &w.special.BOS, "eos": &w.special.EOS, "padding": &w.special.Pad, "unknown": &w.special.unk} {
		key = "tokenizer.ggml." + key + "_token_id"
		if file.Metadata[key] == nil {
			continue
		}
		id := get[uint32](k, key)
		if k.err == nil && (int(id) >= len(tokens) || tokens[id] == "") {
			return w, fmt.Errorf("%s is %d, which is no token", key, id)
		}
		*to = &id
	}
	if file.Metadata["tokenizer.chat_template"] != nil {
		w.template = get[string](k, "tokenizer.chat_template")
	}
	return w, k.err
}

// config returns tokenizer_config.json.
func (w words) config(m model) map[string]any {
	added := map[string]any{}
	for _, a := range w.definition.Added {
		added[strconv.Itoa(int(a.ID))] = map[string]any{"content": a.Content, "lstrip": false, "normalized": false, "rstrip": false, "single_word": false, "special": a.Special}
	}
	config := map[string]any{
		"added_tokens_decoder": added, "clean_up_tokenization_spaces": false, "model_max_length": m.context,
		// The class that takes everything from tokenizer.json. GPT2Tokenizer would not cut out digits.
		"tokenizer_class": "PreTrainedTokenizerFast",
	}
	if w.definition.Scheme == tokenizer.Qwen2 {
		config["tokenizer_class"] = "Qwen2Tokenizer"
	}
	texts := map[uint32]string{}
	for _, a := range w.definition.Added {
		texts[uint32(a.ID)] = a.Content
	}
	for name, id := range map[string]*uint32{"bos_token": w.special.BOS, "eos_token": w.special.EOS, "pad_token": w.special.Pad, "unk_token": w.special.unk} {
		if id != nil && texts[*id] != "" {
			config[name] = texts[*id]
		}
	}
	if w.template != "" {
		config["chat_template"] = w.template
	}
	return config
}
