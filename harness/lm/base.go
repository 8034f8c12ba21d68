// The weights a model starts from: those of a folder, or fresh ones that a seed decides.

package lm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// freshSD is the deviation of fresh weights, as transformers draws them (initializer_range).
const freshSD = 0.02

// Base is a model before any training: its config and where its weights are. It is read only and safe for concurrent use.
type Base struct {
	Config Config
	Digest string // of everything that decides what the model computes, in hexadecimal

	dir  string            // folder; empty: fresh
	file *safetensors.File // nil: fresh
	seed seed.Seed         // of fresh weights

	vocabulary func() (Vocabulary, error) // how its texts become tokens; read when it is asked for first
}

// Open opens a Hugging Face folder. A weight that is missing, of another shape, or not the model's is an error with its name.
// The caller closes the base.
func Open(dir string) (*Base, error) {
	b := &Base{dir: dir}
	b.vocabulary = sync.OnceValues(b.readVocabulary)
	var err error
	if b.Config, err = readConfig(dir); err != nil {
		return nil, err
	}
	if b.file, err = safetensors.Open(dir); err != nil {
		return nil, fmt.Errorf("language model %s: %w", dir, err)
	}
	if err = b.check(); err == nil {
		b.Digest, err = digest(dir, b.file.Files())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("language model %s: %w", dir, err), b.file.Close())
	}
	return b, nil
}

// Fresh returns a model that no file holds: norms are 1, all other weights normal with deviation 0.02, drawn on the host
// from the stream of s.
func Fresh(c Config, s seed.Seed) (*Base, error) {
	if _, ok := classes[c.Arch]; !ok {
		return nil, fmt.Errorf("fresh language model: unknown arch %q; known: llama, qwen3", c.Arch)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("fresh language model: %w", err)
	}
	c.Stored = safetensors.F32
	b := &Base{Config: c, seed: s.Derive("language model")}
	b.vocabulary = sync.OnceValues(b.readVocabulary)
	b.Digest = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%+v %d", c, b.seed)))
	return b, nil
}

// Close closes the files.
func (b *Base) Close() error {
	if b.file == nil {
		return nil
	}
	return b.file.Close()
}

// check compares what the files hold with what the config asks for.
func (b *Base) check() error {
	known := map[string]bool{}
	for _, t := range b.Config.Sizes() {
		known[t.Name] = true
		switch info, ok := b.file.Find(t.Name); {
		case !ok:
			return fmt.Errorf("tensor %q is missing; %s asks for it", t.Name, configFile)
		case !slices.Equal(info.Dims, t.Dims):
			return fmt.Errorf("tensor %q has shape %v; %s asks for %v", t.Name, info.Dims, configFile, t.Dims)
		}
	}
	for _, info := range b.file.Tensors() {
		switch {
		case known[info.Name]:
		case b.Config.Tied && info.Name == headName:
			if err := b.checkTied(info); err != nil {
				return err
			}
		default:
			return fmt.Errorf("tensor %q is in the file; %s does not ask for it", info.Name, configFile)
		}
	}
	return nil
}

// checkTied compares a head that is stored beside the embedding it is tied to, as in some published folders.
func (b *Base) checkTied(head safetensors.Info) error {
	embed, _ := b.file.Find(embedName)
	if head.DType != embed.DType || !slices.Equal(head.Dims, embed.Dims) {
		return fmt.Errorf("tensor %q is %s %v; tie_word_embeddings makes it the embedding, %s %v", headName, head.DType, head.Dims, embed.DType, embed.Dims)
	}
	x, y := make([]byte, head.Bytes()), make([]byte, head.Bytes())
	if err := errors.Join(b.file.Read(headName, x), b.file.Read(embedName, y)); err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("tensor %q differs from the embedding, to which tie_word_embeddings ties it", headName)
	}
	return nil
}

// values returns a weight in float32.
func (b *Base) values(t Size) ([]float32, error) {
	if b.file != nil {
		return b.file.Floats(t.Name)
	}
	values := make([]float32, size(t.Dims))
	if t.norm() {
		for i := range values {
			values[i] = 1
		}
		return values, nil
	}
	r := b.seed.Derive(t.Name).Rand()
	for i := range values {
		values[i] = float32(freshSD * r.NormFloat64())
	}
	return values, nil
}

// kept is the type in which a weight is kept: BF16 stays, everything else is float32. Without files the config says it.
func (b *Base) kept(t Size) dtypes.DType {
	stored := b.Config.Stored
	if b.file != nil {
		info, _ := b.file.Find(t.Name)
		stored = info.DType
	}
	if stored == safetensors.BF16 {
		return dtypes.BFloat16
	}
	return dtypes.Float32
}

// stored returns a weight in the type in which it is kept.
func (b *Base) stored(t Size) (*tensors.Tensor, error) {
	if b.kept(t) == dtypes.BFloat16 {
		value := tensors.FromShape(shapes.Make(dtypes.BFloat16, t.Dims...))
		var err error
		if access := value.MutableBytes(func(data []byte) { err = b.file.Read(t.Name, data) }); access != nil {
			err = access
		}
		return value, err
	}
	values, err := b.values(t)
	if err != nil {
		return nil, err
	}
	return tensors.FromFlatDataAndDimensions(values, t.Dims...), nil
}

// rows returns rows of a weight [rows,width] in float32, one after another.
func (b *Base) rows(t Size, rows []int32) ([]float32, error) {
	values, err := b.values(t)
	if err != nil {
		return nil, err
	}
	width := t.Dims[1]
	picked := make([]float32, 0, len(rows)*width)
	for _, r := range rows {
		picked = append(picked, values[int(r)*width:(int(r)+1)*width]...)
	}
	return picked, nil
}

// embeds says that a text has tokens for which the model has no embedding.
func (b *Base) embeds(what string, tokens ...int32) error {
	if most := slices.Max(tokens); int(most) >= b.Config.Vocab {
		return fmt.Errorf("language model %s: %s has token %d, and vocab_size is %d; take the tokenizer that belongs to the weights", b.dir, what, most, b.Config.Vocab)
	}
	return nil
}

// vocabularyFiles are the files of a folder that say how texts become tokens and conversations texts, and how to generate.
var vocabularyFiles = []string{"tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja", generationFile}

const generationFile = "generation_config.json"

// digest is the SHA-256 of the config, the weights and the vocabulary of a folder, with the names of the files.
func digest(dir string, weights []string) (string, error) {
	files := []string{configFile, safetensors.IndexFile}
	for _, path := range weights {
		files = append(files, filepath.Base(path))
	}
	sum := sha256.New()
	for _, name := range append(files, vocabularyFiles...) {
		f, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return "", err
		}
		own := sha256.New()
		_, err = io.Copy(own, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %x\n", name, own.Sum(nil))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// readVocabulary returns how the model's texts become tokens.
func (b *Base) readVocabulary() (Vocabulary, error) {
	if b.dir == "" {
		return freshVocabulary()
	}
	v, err := openVocabulary(b.dir)
	if err != nil {
		return nil, fmt.Errorf("language model %s: %w", b.dir, err)
	}
	return v, nil
}
