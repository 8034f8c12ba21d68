// Vectors of texts in files.

package features

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Vectors are the vectors of texts, of one size.
type Vectors struct {
	name string
	size int
	of   map[string][]float32 // by text
}

// Size is how many numbers a vector has.
func (v *Vectors) Size() int { return v.size }

// Of returns the vectors of texts. It fails if there is none of a text.
func (v *Vectors) Of(texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		var ok bool
		if out[i], ok = v.of[text]; !ok {
			return nil, fmt.Errorf("no vector of the text %.60q in %s, which has those of %d; add the vectors of all training and test problems", text, v.name, len(v.of))
		}
	}
	return out, nil
}

// ReadVectors reads JSON lines {"text": a text, "vector": its numbers} from a file and returns them with the SHA-256 of the file. name is
// the file's in messages. It fails on anything else, a text that is there twice, vectors of different sizes, and
// numbers that are not finite.
func ReadVectors(path, name string) (v *Vectors, sum string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, "", err
	}
	v = &Vectors{name: name, of: map[string][]float32{}}
	r := bufio.NewReader(bytes.NewReader(data))
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := v.read(line); err != nil {
				return nil, "", fmt.Errorf("%s:%d: %w", name, n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	if len(v.of) == 0 {
		return nil, "", fmt.Errorf("%s has no vector", name)
	}
	return v, fmt.Sprintf("%x", sha256.Sum256(data)), nil
}

func (v *Vectors) read(line []byte) error {
	var l struct {
		Text   *string   `json:"text"`
		Vector []float64 `json:"vector"`
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value on a line")
	}
	if l.Text == nil || len(l.Vector) == 0 {
		return errors.New(`want {"text": a text, "vector": its numbers}`)
	}
	if _, twice := v.of[*l.Text]; twice {
		return fmt.Errorf("the text %.60q is there already", *l.Text)
	}
	if v.size == 0 {
		v.size = len(l.Vector)
	}
	if len(l.Vector) != v.size {
		return fmt.Errorf("a vector of %d numbers among vectors of %d", len(l.Vector), v.size)
	}
	vector := make([]float32, v.size)
	for i, x := range l.Vector {
		if vector[i] = float32(x); math.IsInf(float64(vector[i]), 0) {
			return fmt.Errorf("%g is too large", x)
		}
	}
	v.of[*l.Text] = vector
	return nil
}
