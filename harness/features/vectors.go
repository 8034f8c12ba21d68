// Vectors of texts in files.

package features

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/entrorouter/entrorouter/harness/internal/strict"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// Source has the vectors of texts, all of one size. It is safe for concurrent use.
type Source interface {
	// Of returns the vectors of texts in their order, which readers must not change. It fails if there is none of a text.
	Of(ctx context.Context, texts []string) ([][]float32, error)
}

// IDs returns the ids of problems by text.
type IDs func(ctx context.Context) (map[string]string, error)

// Vectors are the vectors of texts, of one size, found by the text or by the id of the problem that has it. They are a Source.
type Vectors struct {
	name   string
	size   int
	byText map[string][]float32
	byID   map[string][]float32

	problems IDs // nil: no problem is known
	mu       sync.Mutex
	ids      map[string]string // by text; nil: not asked for yet
}

// Of implements Source. The error counts the texts without a vector, names the first and wraps spec.ErrUsage.
func (v *Vectors) Of(ctx context.Context, texts []string) ([][]float32, error) {
	ids, err := v.known(ctx)
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	lacking, first := 0, 0
	for i, text := range texts {
		var ok bool
		if out[i], ok = v.byText[text]; !ok {
			if id, known := ids[text]; known {
				out[i], ok = v.byID[id]
			}
		}
		if !ok {
			if lacking++; lacking == 1 {
				first = i
			}
		}
	}
	if lacking > 0 {
		problem := "no problem of this experiment"
		if id, known := ids[texts[first]]; known {
			problem = "problem " + id
		}
		return nil, fmt.Errorf("%w: %s has no vector of %d of %d problems, the first of them %s, %.60q; add the vectors of all training and test problems", spec.ErrUsage, v.name, lacking, len(texts), problem, texts[first])
	}
	return out, nil
}

// known returns the ids of problems by text; nil if there are none.
func (v *Vectors) known(ctx context.Context) (map[string]string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ids != nil || v.problems == nil {
		return v.ids, nil
	}
	ids, err := v.problems(ctx)
	v.ids = ids
	return ids, err
}

// ReadVectors reads vectors from a file and returns them with the SHA-256 of the file: from a .npz archive of NumPy with the arrays ids or
// texts, and vectors; from any other JSON lines {"id": of a problem, "vector": its numbers}, or with "text" in place of "id". name is
// the file's in messages, and problems knows the ids. It fails on anything else, an id or a text that is there twice, vectors of different
// sizes, and numbers that are not finite; the error names the line or the row.
func ReadVectors(path, name string, problems IDs) (v *Vectors, sum string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	v = &Vectors{name: name, byText: map[string][]float32{}, byID: map[string][]float32{}, problems: problems}
	if filepath.Ext(path) == ".npz" {
		err = v.readArchive(data)
	} else {
		err = v.readLines(data)
	}
	if err == nil && v.size == 0 {
		err = fmt.Errorf("%s has no vector", name)
	}
	if err != nil {
		return nil, "", err
	}
	return v, fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

func (v *Vectors) readLines(data []byte) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := v.read(line); err != nil {
				return fmt.Errorf("%s:%d: %w", v.name, n, err)
			}
		}
	}
	return nil
}

func (v *Vectors) read(line []byte) error {
	var l struct {
		ID     *string         `json:"id"`
		Text   *string         `json:"text"`
		Vector json.RawMessage `json:"vector"`
	}
	if err := strict.JSON(line, &l); err != nil {
		return err
	}
	var numbers []float64
	if l.Vector != nil {
		if err := json.Unmarshal(l.Vector, &numbers); err != nil {
			return fmt.Errorf("vector: %w", err)
		}
	}
	if bytes.Contains(l.Vector, []byte("null")) { // which would be read as 0
		return errors.New("vector: null is no number")
	}
	vector := make([]float32, len(numbers))
	for i, x := range numbers {
		if vector[i] = float32(x); math.IsInf(float64(vector[i]), 0) {
			return fmt.Errorf("%g is too large", x)
		}
	}
	switch {
	case l.ID != nil && l.Text == nil && len(vector) > 0:
		return v.add(v.byID, "id", *l.ID, vector)
	case l.Text != nil && l.ID == nil && len(vector) > 0:
		return v.add(v.byText, "text", *l.Text, vector)
	}
	return errors.New(`want {"id": of a problem, "vector": its numbers}, or "text" in place of "id"`)
}

// add adds a vector under a key of a kind, which is id or text.
func (v *Vectors) add(to map[string][]float32, kind, key string, vector []float32) error {
	if _, twice := to[key]; twice {
		return fmt.Errorf("the %s %.60q is there already", kind, key)
	}
	if v.size == 0 {
		v.size = len(vector)
	}
	if len(vector) != v.size {
		return fmt.Errorf("a vector of %d numbers among vectors of %d", len(vector), v.size)
	}
	to[key] = vector
	return nil
}

// readArchive reads what numpy.savez(file, ids=..., vectors=...) writes, compressed or not: ids, or texts in their place, are an array of
// [n] texts, vectors one of [n][size] float32 or float64.
func (v *Vectors) readArchive(data []byte) error {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("%s: %w; want an archive of numpy.savez", v.name, err)
	}
	arrays := map[string]array{}
	for _, f := range r.File {
		a, err := openArray(f)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", v.name, f.Name, err)
		}
		arrays[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	vectors, have := arrays["vectors"]
	kind, to := "id", v.byID
	keys, named := arrays["ids"]
	if texts, ok := arrays["texts"]; ok && !named {
		kind, to, keys, named = "text", v.byText, texts, true
	}
	switch {
	case !have || !named || len(arrays) != 2:
		return fmt.Errorf("%s: want the arrays ids and vectors, or texts and vectors", v.name)
	case len(vectors.shape) != 2 || vectors.shape[1] == 0 || vectors.kind != 'f':
		return fmt.Errorf("%s: vectors: want float32 or float64 of shape (n, size), got %s of shape %v", v.name, vectors.dtype, vectors.shape)
	case len(keys.shape) != 1 || keys.kind != 'U':
		return fmt.Errorf("%s: %ss: want texts (dtype U) of shape (n,), got %s of shape %v", v.name, kind, keys.dtype, keys.shape)
	case keys.shape[0] != vectors.shape[0]:
		return fmt.Errorf("%s: %d %ss and %d vectors", v.name, keys.shape[0], kind, vectors.shape[0])
	}
	for i := range keys.shape[0] {
		key, err := keys.text(i)
		if err == nil {
			var vector []float32
			if vector, err = vectors.row(i); err == nil {
				err = v.add(to, kind, key, vector)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: row %d: %w", v.name, i, err)
		}
	}
	return nil
}
