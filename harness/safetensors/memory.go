// Small files of float32 values, held in memory.

package safetensors

import (
	"bytes"
	"io"
)

// Tensor is a named float32 array.
type Tensor struct {
	Name string
	Dims []int
	Data []float32 // row-major
}

// Encode returns tensors as Write writes them in F32 without metadata.
func Encode(tensors []Tensor) ([]byte, error) {
	infos := make([]Info, len(tensors))
	for i, t := range tensors {
		infos[i] = Info{Name: t.Name, DType: F32, Dims: t.Dims}
	}
	var out bytes.Buffer
	next := 0
	err := Write(&out, nil, infos, func(_ Info, w io.Writer) error {
		data, err := F32.Narrow(tensors[next].Data)
		if err != nil {
			return err
		}
		next++
		_, err = w.Write(data)
		return err
	})
	return out.Bytes(), err
}

// Decode reads a whole file, widened to float32, in the order of the data.
func Decode(file []byte) ([]Tensor, error) {
	f := &File{at: map[string]place{}}
	if err := f.parse(bytes.NewReader(file), int64(len(file))); err != nil {
		return nil, err
	}
	var tensors []Tensor
	for _, info := range f.infos {
		values, err := f.Floats(info.Name)
		if err != nil {
			return nil, err
		}
		tensors = append(tensors, Tensor{Name: info.Name, Dims: info.Dims, Data: values})
	}
	return tensors, nil
}
