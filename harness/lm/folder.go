// A Hugging Face folder, written.

package lm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/entrorouter/entrorouter/harness/safetensors"
)

// Values returns a weight by its name in a folder.
type Values func(name string) ([]float32, error)

// Write writes the folder of a model with this config into dir, which is created if needed: config.json,
// model.safetensors in F32 or BF16, and generation_config.json. What says how texts become tokens is copied unchanged from
// base, if that is a folder.
func Write(dir string, c Config, values Values, dtype safetensors.DType, base *Base) error {
	if err := write(dir, c, values, dtype, base); err != nil {
		return fmt.Errorf("write language model %s: %w", dir, err)
	}
	return nil
}

func write(dir string, c Config, values Values, dtype safetensors.DType, base *Base) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	config, err := c.encode(dtype)
	if err != nil {
		return err
	}
	var infos []safetensors.Info
	for _, t := range c.tensors() {
		infos = append(infos, safetensors.Info{Name: t.name, DType: dtype, Dims: t.dims})
	}
	err = create(filepath.Join(dir, safetensors.ModelFile), func(w io.Writer) error {
		return safetensors.Write(w, map[string]string{"format": "pt"}, infos, func(i safetensors.Info, w io.Writer) error {
			v, err := values(i.Name)
			if err != nil {
				return err
			}
			data, err := dtype.Narrow(v)
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		})
	})
	if err != nil {
		return err
	}
	if err := writeGeneration(dir, c); err != nil {
		return err
	}
	if base != nil && base.dir != "" {
		for _, name := range vocabularyFiles {
			if err := copyFile(dir, base.dir, name); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(dir, configFile), config, 0o666)
}

// writeGeneration writes what transformers' generate reads.
func writeGeneration(dir string, c Config) error {
	raw, err := json.MarshalIndent(struct {
		Greedy bool            `json:"do_sample"`
		BOS    json.RawMessage `json:"bos_token_id,omitempty"`
		EOS    json.RawMessage `json:"eos_token_id,omitempty"`
	}{false, c.BOS, c.EOS}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, generationFile), append(raw, '\n'), 0o666)
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
