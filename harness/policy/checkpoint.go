// Checkpoints: a model as two files, written and read.

package policy

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"github.com/entrorouter/entrorouter/harness/internal/strict"
	"github.com/entrorouter/entrorouter/harness/safetensors"
)

// Files of a checkpoint.
const (
	configFile  = "config.json"
	weightsFile = "weights.safetensors"
)

const checkpointFormat = 1

// checkpointConfig is config.json.
type checkpointConfig struct {
	Format  int             `json:"format"`
	Policy  string          `json:"policy"` // Policy.Kind
	Config  json.RawMessage `json:"config"` // Policy.Config
	Weights string          `json:"weights_sha256"`
}

// Save writes the model into dir, which is created if needed: config.json with everything but the weights, and
// weights.safetensors with the trained weights. The same model gives the same bytes. config.json is written last and names the digest of the
// weights, so a checkpoint that was interrupted does not load.
func (m *Model) Save(dir string) error {
	values, err := m.Weights()
	if err != nil {
		return err
	}
	weights, err := safetensors.Encode(values)
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	inner, err := json.Marshal(m.policy.Config())
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	config, err := json.MarshalIndent(checkpointConfig{
		Format: checkpointFormat, Policy: m.policy.Kind(), Config: inner, Weights: digest(weights),
	}, "", "\t")
	if err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("save checkpoint: %w", err)
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{weightsFile, weights}, {configFile, append(config, '\n')}} {
		err := WriteFile(filepath.Join(dir, file.name), func(w io.Writer) error {
			_, err := w.Write(file.data)
			return err
		})
		if err != nil {
			return fmt.Errorf("save checkpoint: %w", err)
		}
	}
	return nil
}

// Read returns the policy of a kind from what its Config returned, as JSON.
type Read func(kind string, config []byte) (Policy, error)

// Load reads a checkpoint that Save wrote. It fails on anything missing, damaged or of another shape; it never fills
// in weights.
func Load(backend compute.Backend, read Read, dir string) (*Model, error) {
	m, err := load(backend, read, dir)
	if err != nil {
		return nil, fmt.Errorf("load checkpoint %s: %w", dir, err)
	}
	return m, nil
}

func load(backend compute.Backend, read Read, dir string) (*Model, error) {
	raw, err := os.ReadFile(filepath.Join(dir, configFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no %s: the folder holds no finished checkpoint; train again", configFile)
	} else if err != nil {
		return nil, err
	}
	var config checkpointConfig
	if err := strict.JSON(raw, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	if config.Format != checkpointFormat {
		return nil, fmt.Errorf("%s: format %d; this program reads format %d", configFile, config.Format, checkpointFormat)
	}
	policy, err := read(config.Policy, config.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	weights, err := os.ReadFile(filepath.Join(dir, weightsFile))
	if err != nil {
		return nil, err
	}
	if got := digest(weights); got != config.Weights {
		return nil, fmt.Errorf("%s has sha256 %s, %s expects %s: the files are damaged or of two checkpoints; train again",
			weightsFile, got, configFile, config.Weights)
	}
	values, err := safetensors.Decode(weights)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", weightsFile, err)
	}
	if values, err = match(trained(policy), values); err != nil {
		return nil, fmt.Errorf("%s: %w", weightsFile, err)
	}
	return With(backend, policy, values)
}

// match returns values in the order of weights, if there is exactly one of each and every shape is right.
func match(weights []Weight, values []safetensors.Tensor) ([]safetensors.Tensor, error) {
	ordered := make([]safetensors.Tensor, 0, len(weights))
	for _, w := range weights {
		i := slices.IndexFunc(values, func(t safetensors.Tensor) bool { return t.Name == w.Name })
		if i < 0 {
			return nil, fmt.Errorf("weight %q is missing", w.Name)
		}
		if !slices.Equal(values[i].Dims, w.Dims) {
			return nil, fmt.Errorf("weight %q has shape %v; the policy needs %v", w.Name, values[i].Dims, w.Dims)
		}
		ordered = append(ordered, values[i])
	}
	if len(values) > len(weights) {
		return nil, fmt.Errorf("%d tensors for %d weights of the policy", len(values), len(weights))
	}
	return ordered, nil
}

func digest(data []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// part is what the name of a file has behind it while WriteFile writes it; the * is of os.CreateTemp.
const part = ".tmp*"

// WriteFile replaces a file by what fill writes, in one step, so that no reader and no crash sees half of it. A kill may leave what was
// written beside it; RemoveParts removes that.
func WriteFile(path string, fill func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+part)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = fill(f); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// RemoveParts removes what kills left beside a file that WriteFile was writing. Nobody may be writing it now.
func RemoveParts(path string) error {
	files, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), filepath.Base(path)+strings.TrimSuffix(part, "*")) {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), f.Name())))
		}
	}
	return err
}
