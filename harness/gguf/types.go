// How the values of a tensor are stored, and how they become float32.

package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
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

// layout returns the name of a type, and the values and bytes of what is stored together. The name of an unknown type is empty.
func (t Type) layout() (name string, values, bytes int) {
	switch t {
	case F32:
		return "F32", 1, 4
	case F16:
		return "F16", 1, 2
	case BF16:
		return "BF16", 1, 2
	case Q4_0:
		return "Q4_0", block, 2 + block/2
	case Q4_1:
		return "Q4_1", block, 4 + block/2
	case Q8_0:
		return "Q8_0", block, 2 + block
	}
	return "", 0, 0
}

func (t Type) String() string {
	if name, _, _ := t.layout(); name != "" {
		return name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// bytes returns how many bytes a tensor takes.
func (t Tensor) bytes() (int64, error) {
	name, values, bytes := t.Type.layout()
	if name == "" {
		return 0, fmt.Errorf("tensor %q is stored as %v, which is not known; known are F32, F16, BF16, Q8_0, Q4_0 and Q4_1", t.Name, t.Type)
	}
	if values > 1 && (len(t.Dims) == 0 || t.Dims[len(t.Dims)-1]%values != 0) {
		return 0, fmt.Errorf("tensor %q of shape %v is stored as %s, in rows of %d values", t.Name, t.Dims, name, values)
	}
	return int64(t.Elements()/values) * int64(bytes), nil
}

// decode turns stored bytes into n values. The bytes are as many as the type wants.
func (t Type) decode(raw []byte, n int) []float32 {
	out := make([]float32, n)
	_, values, bytes := t.layout()
	for i := 0; i < n; i += values {
		from, to := raw[:bytes], out[i:i+values]
		raw = raw[bytes:]
		switch t {
		case F32:
			to[0] = math.Float32frombits(binary.LittleEndian.Uint32(from))
		case F16:
			to[0] = half(from)
		case BF16:
			to[0] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(from)) << 16)
		case Q4_0:
			d := half(from)
			for j, q := range from[2:] {
				to[j] = d * float32(int(q&15)-8)
				to[j+block/2] = d * float32(int(q>>4)-8)
			}
		case Q4_1:
			d, m := half(from), half(from[2:])
			for j, q := range from[4:] {
				to[j] = float32(d*float32(q&15)) + m // rounded twice on every machine
				to[j+block/2] = float32(d*float32(q>>4)) + m
			}
		case Q8_0:
			d := half(from)
			for j, q := range from[2:] {
				to[j] = d * float32(int8(q))
			}
		}
	}
	return out
}

// half returns the float16 with which b begins.
func half(b []byte) float32 {
	v := uint32(binary.LittleEndian.Uint16(b))
	sign, exponent, fraction := v>>15<<31, v>>10&31, v&1023
	switch exponent {
	case 0: // zero and subnormal numbers
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31: // infinite, or no number
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
