// How the values of a tensor are stored, and how they become float32.

package gguf

import (
	"cmp"
	"fmt"

	"github.com/entrorouter/entrorouter/harness/safetensors"
)

// Type is how the values of a tensor are stored, by its number in the format.
type Type uint32

// The types that are known. Those with a block store so many values together with their scale:
//
//	Q4_0: float16 d, 16 bytes q:            x[j] = d*((q[j] and 15) - 8),  x[j+16] = d*((q[j] >> 4) - 8)
//	Q4_1: float16 d, float16 m, 16 bytes q: x[j] = d*(q[j] and 15) + m,    x[j+16] = d*(q[j] >> 4) + m
//	Q8_0: float16 d, 32 int8 q:             x[j] = d*q[j]
const (
	F32  Type = 0
	F16  Type = 1
	Q4_0 Type = 2
	Q4_1 Type = 3
	Q8_0 Type = 8
	BF16 Type = 30
)

// block is how many values the types with a scale store together.
const block = 32

// layout is how a type stores values: so many of them together, in so many bytes, of which the first are float16.
type layout struct {
	name          string
	values, bytes int
	halves        int // in numbers, not in bytes
}

// layouts are those of the types that are known.
var layouts = map[Type]layout{
	F32: {"F32", 1, 4, 0}, F16: {"F16", 1, 2, 0}, BF16: {"BF16", 1, 2, 0},
	Q4_0: {"Q4_0", block, 2 + block/2, 1}, Q4_1: {"Q4_1", block, 4 + block/2, 2}, Q8_0: {"Q8_0", block, 2 + block, 1},
}

// unread are names of types that are not read, for messages.
var unread = map[Type]string{6: "Q5_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 20: "IQ4_NL", 23: "IQ4_XS", 39: "MXFP4"}

func (t Type) String() string {
	return cmp.Or(layouts[t].name, unread[t], fmt.Sprintf("type %d", uint32(t)))
}

// bytes returns how many bytes a tensor takes.
func (t Tensor) bytes() (int64, error) {
	l := layouts[t.Type]
	if l.name == "" {
		return 0, fmt.Errorf("tensor %q is stored as %v, which is not known; known are F32, F16, BF16, Q8_0, Q4_0 and Q4_1", t.Name, t.Type)
	}
	if l.values > 1 && (len(t.Dims) == 0 || t.Dims[len(t.Dims)-1]%l.values != 0) {
		return 0, fmt.Errorf("tensor %q of shape %v is stored as %s, in rows of a multiple of %d values", t.Name, t.Dims, l.name, l.values)
	}
	return int64(t.Elements()/l.values) * int64(l.bytes), nil
}

// decode turns stored bytes, as many as the type wants for a number of values, into these.
func (t Type) decode(raw []byte) []float32 {
	switch t {
	case F32:
		return safetensors.F32.Widen(raw)
	case F16:
		return safetensors.F16.Widen(raw)
	case BF16:
		return safetensors.BF16.Widen(raw)
	}
	l := layouts[t]
	blocks := len(raw) / l.bytes
	var heads []byte
	for b := range blocks {
		heads = append(heads, raw[b*l.bytes:][:2*l.halves]...)
	}
	halves := safetensors.F16.Widen(heads)
	out := make([]float32, blocks*block)
	for b := range blocks {
		x, q, h := out[b*block:][:block], raw[b*l.bytes+2*l.halves:][:l.bytes-2*l.halves], halves[b*l.halves:]
		for j, q := range q {
			switch t {
			case Q8_0:
				x[j] = h[0] * float32(int8(q))
			case Q4_0:
				x[j], x[j+block/2] = h[0]*float32(int(q&15)-8), h[0]*float32(int(q>>4)-8)
			case Q4_1: // the conversion keeps the product and the sum from being one operation, which rounds otherwise
				x[j], x[j+block/2] = float32(h[0]*float32(q&15))+h[1], float32(h[0]*float32(q>>4))+h[1]
			}
		}
	}
	return out
}

// Tensor says where a tensor is and how its values are stored.
type Tensor struct {
	Name string
	// Dims has the slowest dimension first, as safetensors and PyTorch write shapes; the file has them the other way round.
	Dims []int
	Type Type

	offset int64 // from the beginning of the data
}

// Elements returns how many values a tensor has.
func (t Tensor) Elements() int {
	n := 1
	for _, d := range t.Dims {
		n *= d
	}
	return n
}
