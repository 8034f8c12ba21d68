// The types of values, and float32 made of each and each of float32.

package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
)

// DType is the type of a tensor's values, as files write it.
type DType string

// The floating-point types in which models are published.
const (
	F32  DType = "F32"
	F16  DType = "F16"
	BF16 DType = "BF16"
)

// Size returns the bytes of a value; 0 for a type that is not known.
func (d DType) Size() int {
	switch d {
	case F32:
		return 4
	case F16, BF16:
		return 2
	}
	return 0
}

func unknownType(name string, d DType) error {
	return fmt.Errorf("tensor %q has type %q; known: F32, F16, BF16; convert integer and quantised weights first", name, d)
}

// Widen returns the values that bytes of the type hold. It is exact.
func (d DType) Widen(data []byte) []float32 {
	values := make([]float32, len(data)/d.Size())
	for i := range values {
		switch d {
		case F32:
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		case BF16:
			values[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		case F16:
			values[i] = fromHalf(binary.LittleEndian.Uint16(data[2*i:]))
		}
	}
	return values
}

// Narrow returns the bytes of values in F32 or BF16; it rounds to nearest, ties to even. F16 is only read: its range is
// too small for some weights.
func (d DType) Narrow(values []float32) ([]byte, error) {
	data := make([]byte, 0, len(values)*d.Size())
	for _, v := range values {
		bits := math.Float32bits(v)
		switch {
		case d == F32:
			data = binary.LittleEndian.AppendUint32(data, bits)
		case d != BF16:
			return nil, fmt.Errorf("values are written in F32 or BF16, not %q", d)
		case v != v:
			data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16)|0x40) // rounding could make a NaN infinite
		default:
			data = binary.LittleEndian.AppendUint16(data, uint16((bits+0x7fff+bits>>16&1)>>16))
		}
	}
	return data, nil
}

// fromHalf returns the value of an IEEE 754 half.
func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero, or subnormal: fraction * 2^-24
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity and NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
