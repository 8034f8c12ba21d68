// A Hugging Face folder, written.

package lm

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/tokenizer"
)

// values returns a weight by its name in a folder.
type values func(name string) ([]float32, error)

// write writes the folder of a model with this config into dir, which is empty: config.json,
// model.safetensors in F32 or BF16, one weight at a time, and generation_config.json. What says how texts become tokens is
// that of base, copied unchanged from its folder if it has one; nil: nothing is written.
func write(dir string, c Config, values values, dtype safetensors.DType, base *Base) error {
	config, err := c.encode(dtype)
	if err != nil {
		return err
	}
	var infos []safetensors.Info
	for _, t := range c.Sizes() {
		infos = append(infos, safetensors.Info{Name: t.Name, DType: dtype, Dims: t.Dims})
	}
	if err := writeWeights(filepath.Join(dir, safetensors.ModelFile), infos, values); err != nil {
		return err
	}
	if err := writeGeneration(dir, c); err != nil {
		return err
	}
	if base != nil {
		if err := base.writeVocabulary(dir); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, configFile), config, 0o666)
}

// writeWeights writes a file, one tensor after another.
func writeWeights(path string, infos []safetensors.Info, values values) error {
	return create(path, func(w io.Writer) error {
		return safetensors.Write(w, map[string]string{"format": "pt"}, infos, func(i safetensors.Info, w io.Writer) error {
			v, err := values(i.Name)
			if err != nil {
				return err
			}
			for part := range slices.Chunk(v, 1<<16) { // no second copy of a large weight
				data, err := i.DType.Narrow(part)
				if err != nil {
					return err
				}
				if _, err := w.Write(data); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// writeVocabulary writes what says how texts become tokens.
func (b *Base) writeVocabulary(dir string) error {
	if b.dir != "" {
		for _, name := range vocabularyFiles {
			if err := copyFile(dir, b.dir, name); err != nil {
				return err
			}
		}
		return nil
	}
	words, err := freshDefinition().JSON()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tokenizer.json"), words, 0o666); err != nil {
		return err
	}
	return tokenizer.WriteJSON(filepath.Join(dir, "tokenizer_config.json"), map[string]any{
		"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": false,
		"eos_token": freshEnd, "pad_token": freshEnd, "chat_template": freshChat,
	})
}

// writeGeneration writes what transformers' generate reads.
func writeGeneration(dir string, c Config) error {
	return tokenizer.WriteJSON(filepath.Join(dir, generationFile), struct {
		Greedy bool            `json:"do_sample"`
		BOS    json.RawMessage `json:"bos_token_id,omitempty"`
		EOS    json.RawMessage `json:"eos_token_id,omitempty"`
	}{false, c.BOS, c.EOS})
}

// copyFile copies a file that may be missing.
func copyFile(to, from, name string) error {
	in, err := os.Open(filepath.Join(from, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer in.Close()
	return create(filepath.Join(to, name), func(w io.Writer) error { _, err := io.Copy(w, in); return err })
}

func create(path string, fill func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return fill(f)
}
