// What a server answers to a request for vectors.

package experts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/entrorouter/entrorouter/harness/experts/internal/wire"
)

// vectors is where those of an answer go.
type vectors struct {
	want int
	of   [][]float32
}

// read takes in a whole answer, and what it cost into r. Servers may send vectors in any order, each with its index.
func (v *vectors) read(body io.Reader, r *reply, bodies *wire.Bodies) *trouble {
	b := bodies.Get()
	defer bodies.Put(b)
	data, t := r.body(body, b)
	if t != nil {
		return t
	}
	strange := func(format string, args ...any) *trouble {
		return &trouble{class: Protocol, err: fmt.Errorf(format, args...), head: head(data)}
	}
	var said struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage *struct {
			In    float64 `json:"prompt_tokens"`
			Total float64 `json:"total_tokens"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &said); err != nil {
		return strange("the answer is not what an OpenAI-compatible server sends, or ends in the middle")
	}
	if len(said.Error) > 0 && string(said.Error) != "null" {
		return erred(data, r.key)
	}
	if len(said.Data) != v.want {
		return strange("%d vectors for %d texts", len(said.Data), v.want)
	}
	of := make([][]float32, v.want)
	for place, d := range said.Data {
		if d.Index != nil {
			place = *d.Index
		}
		if place < 0 || place >= v.want || of[place] != nil {
			return strange("the vectors of %d texts have the index %d, or twice", v.want, place)
		}
		x, err := floats(d.Embedding)
		if err != nil {
			return strange("vector %d: %w", place, err)
		}
		of[place] = x
	}
	for place, x := range of {
		if len(x) != len(of[0]) {
			return strange("vector %d has %d numbers, and vector 0 has %d", place, len(x), len(of[0]))
		}
	}
	if u := said.Usage; u != nil {
		r.counted, r.in, r.total = true, u.In, u.Total
	}
	v.of = of
	return nil
}

// floats reads a list of numbers that are finite as float32.
func floats(raw json.RawMessage) ([]float32, error) {
	var numbers []float64
	if err := json.Unmarshal(raw, &numbers); err != nil || len(numbers) == 0 || bytes.Contains(raw, []byte("null")) {
		return nil, errors.New("no list of numbers")
	}
	x := make([]float32, len(numbers))
	for i, n := range numbers {
		if x[i] = float32(n); math.IsInf(float64(x[i]), 0) {
			return nil, fmt.Errorf("%g is too large", n)
		}
	}
	return x, nil
}
