// Package safetensors reads and writes named tensors in the safetensors format.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// Tensor is a named float32 array.
type Tensor struct {
	Name string
	Dims []int
	Data []float32 // row-major
}

// maxHeader bounds the JSON header of a safetensors file, as the format's reference implementation does.
const maxHeader = 100 << 20

// tensorInfo is the header entry of one tensor.
type tensorInfo struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // into the bytes after the header
}

// Encode returns tensors in the format: the length of a JSON header as a little-endian uint64,
// the header padded with spaces to 8 bytes, then the values. The same tensors always give the same bytes: names are
// sorted in the header, data is stored in the order given.
func Encode(tensors []Tensor) ([]byte, error) {
	header := make(map[string]tensorInfo, len(tensors))
	var data bytes.Buffer
	for _, t := range tensors {
		start := int64(data.Len())
		for _, v := range t.Data {
			data.Write(binary.LittleEndian.AppendUint32(data.AvailableBuffer(), math.Float32bits(v)))
		}
		header[t.Name] = tensorInfo{DType: "F32", Shape: t.Dims, Offsets: [2]int64{start, int64(data.Len())}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(head)))
	return append(append(out, head...), data.Bytes()...), nil
}

// Decode reads what Encode wrote, or any safetensors file of float32 values, in the order of the data.
// The values must fill the file without gaps or overlaps.
func Decode(file []byte) ([]Tensor, error) {
	if len(file) < 8 {
		return nil, io.ErrUnexpectedEOF
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader || n > uint64(len(file)-8) {
		return nil, fmt.Errorf("header of %d bytes in a file of %d", n, len(file))
	}
	head, data := file[8:8+n], file[8+n:]
	var header map[string]json.RawMessage
	if err := json.Unmarshal(head, &header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	delete(header, "__metadata__")
	infos := make(map[string]tensorInfo, len(header))
	names := make([]string, 0, len(header))
	for name, raw := range header {
		var info tensorInfo
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		if err := d.Decode(&info); err != nil {
			return nil, fmt.Errorf("header: tensor %q: %w", name, err)
		}
		infos[name] = info
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := infos[a].Offsets, infos[b].Offsets
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	var tensors []Tensor
	var end int64
	for _, name := range names {
		info := infos[name]
		if info.DType != "F32" {
			return nil, fmt.Errorf("tensor %q has type %q; known: F32", name, info.DType)
		}
		size, err := elements(info.Shape)
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		if info.Offsets[0] != end || info.Offsets[1]-info.Offsets[0] != 4*size || info.Offsets[1] > int64(len(data)) {
			return nil, fmt.Errorf("tensor %q of shape %v lies at bytes %d to %d of %d; expected %d bytes from %d",
				name, info.Shape, info.Offsets[0], info.Offsets[1], len(data), 4*size, end)
		}
		end = info.Offsets[1]
		values := make([]float32, size)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[info.Offsets[0]+4*int64(i):]))
		}
		tensors = append(tensors, Tensor{Name: name, Dims: info.Shape, Data: values})
	}
	if end != int64(len(data)) {
		return nil, fmt.Errorf("%d bytes after the last tensor", int64(len(data))-end)
	}
	return tensors, nil
}

// elements returns the product of a shape, which must fit a file.
func elements(shape []int) (int64, error) {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || (d > 0 && n > math.MaxInt32*16/int64(d)) {
			return 0, fmt.Errorf("shape %v is out of range", shape)
		}
		n *= int64(d)
	}
	return n, nil
}
