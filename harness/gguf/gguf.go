// Package gguf reads files in the GGUF format, versions 2 and 3: what they say about a model and its tensors, whose values are
// read one tensor at a time and turned into float32.
//
// The format is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, little-endian.
package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// File is a GGUF file whose header has been read.
type File struct {
	// Metadata has what the file says about the model, by key. Values are uint8 to uint64, int8 to int64, float32, float64, bool,
	// string, or slices of these.
	Metadata map[string]any
	// Tensors in the order of the file.
	Tensors []Tensor

	data  io.ReaderAt // from the beginning of the file
	start int64       // of the data
	close func() error
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

// Bounds of what a header may say. They are far beyond what models have, and keep a damaged file from asking for much memory.
const (
	maxTensors  = 1 << 20
	maxKeys     = 1 << 16
	maxString   = 1 << 24
	maxDims     = 4
	maxElements = 1 << 40
	maxNesting  = 2
)

// Open reads the header of a file. The caller closes it.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var file *File
		if file, err = Read(f, info.Size()); err == nil {
			file.close = f.Close
			return file, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", path, errors.Join(err, f.Close()))
}

// Close closes a file that Open opened.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close()
}

// Read reads the header of a file of a size. What a tensor holds is read from r when it is asked for.
func Read(r io.ReaderAt, size int64) (*File, error) {
	h := &header{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 1<<16), left: size}
	f := &File{Metadata: map[string]any{}, data: r}
	if err := h.file(f, size); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("the file ends in its header, after %d bytes", size)
		}
		return nil, err
	}
	return f, nil
}

// header reads what lies before the data.
type header struct {
	r    *bufio.Reader
	left int64 // bytes
}

func (h *header) bytes(n int) ([]byte, error) {
	if int64(n) > h.left {
		return nil, io.ErrUnexpectedEOF
	}
	h.left -= int64(n)
	out := make([]byte, n)
	_, err := io.ReadFull(h.r, out)
	return out, err
}

func (h *header) uint32() (uint32, error) {
	b, err := h.bytes(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (h *header) uint64() (uint64, error) {
	b, err := h.bytes(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// count reads how many of something follow.
func (h *header) count(what string, limit uint64) (int, error) {
	n, err := h.uint64()
	if err == nil && n > limit {
		err = fmt.Errorf("%d %s: at most %d are read", n, what, limit)
	}
	return int(n), err
}

func (h *header) string() (string, error) {
	n, err := h.count("bytes in a text", maxString)
	if err != nil {
		return "", err
	}
	b, err := h.bytes(n)
	return string(b), err
}

func (h *header) file(f *File, size int64) error {
	magic, err := h.bytes(4)
	if err != nil {
		return err
	}
	if string(magic) != "GGUF" {
		return fmt.Errorf("no GGUF file: it begins with %q", magic)
	}
	version, err := h.uint32()
	if err != nil {
		return err
	}
	if version != 2 && version != 3 {
		return fmt.Errorf("GGUF version %d: versions 2 and 3, little-endian, are known", version)
	}
	tensors, err := h.count("tensors", maxTensors)
	if err != nil {
		return err
	}
	keys, err := h.count("keys", maxKeys)
	if err != nil {
		return err
	}
	for range keys {
		key, err := h.string()
		if err != nil {
			return err
		}
		kind, err := h.uint32()
		if err != nil {
			return err
		}
		if _, ok := f.Metadata[key]; ok {
			return fmt.Errorf("key %q is there twice", key)
		}
		if f.Metadata[key], err = h.value(kind, maxNesting); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	names := map[string]bool{}
	for range tensors {
		t, err := h.tensor()
		if err != nil {
			return err
		}
		if names[t.Name] {
			return fmt.Errorf("tensor %q is there twice", t.Name)
		}
		names[t.Name] = true
		f.Tensors = append(f.Tensors, t)
	}
	alignment := int64(32)
	if a, ok := f.Metadata["general.alignment"]; ok {
		n, ok := a.(uint32)
		if !ok || n == 0 || n%8 != 0 || n > 1<<20 {
			return fmt.Errorf("general.alignment is %v: want a multiple of 8", a)
		}
		alignment = int64(n)
	}
	f.start = (size - h.left + alignment - 1) / alignment * alignment
	return f.checkPlaces(size, alignment)
}

// The kinds of values, by their numbers in the format.
const (
	kindString = 8
	kindArray  = 9
)

// value reads a value of a kind; arrays nested at most so deep.
func (h *header) value(kind uint32, deep int) (any, error) {
	switch kind {
	case 0:
		return scalar[uint8](h)
	case 1:
		return scalar[int8](h)
	case 2:
		return scalar[uint16](h)
	case 3:
		return scalar[int16](h)
	case 4:
		return scalar[uint32](h)
	case 5:
		return scalar[int32](h)
	case 6:
		return scalar[float32](h)
	case 7:
		return scalar[bool](h)
	case kindString:
		return h.string()
	case kindArray:
		if deep == 0 {
			return nil, errors.New("arrays in arrays in arrays are not known")
		}
		return h.array(deep - 1)
	case 10:
		return scalar[uint64](h)
	case 11:
		return scalar[int64](h)
	case 12:
		return scalar[float64](h)
	}
	return nil, fmt.Errorf("a value of kind %d is not known", kind)
}

func scalar[T any](h *header) (T, error) {
	var v T
	b, err := h.bytes(binary.Size(v))
	if err == nil {
		_, err = binary.Decode(b, binary.LittleEndian, &v)
	}
	return v, err
}

// array reads an array as a slice of its elements' type, of arrays as []any.
func (h *header) array(deep int) (any, error) {
	kind, err := h.uint32()
	if err != nil {
		return nil, err
	}
	n, err := h.count("values", uint64(max(h.left, 0))) // each takes a byte at least
	if err != nil {
		return nil, err
	}
	switch kind {
	case 0:
		return scalars[uint8](h, n)
	case 1:
		return scalars[int8](h, n)
	case 2:
		return scalars[uint16](h, n)
	case 3:
		return scalars[int16](h, n)
	case 4:
		return scalars[uint32](h, n)
	case 5:
		return scalars[int32](h, n)
	case 6:
		return scalars[float32](h, n)
	case 7:
		return scalars[bool](h, n)
	case kindString:
		return several(n, h.string)
	case 10:
		return scalars[uint64](h, n)
	case 11:
		return scalars[int64](h, n)
	case 12:
		return scalars[float64](h, n)
	}
	return several(n, func() (any, error) { return h.value(kind, deep) })
}

func scalars[T any](h *header, n int) ([]T, error) {
	return several(n, func() (T, error) { return scalar[T](h) })
}

// several reads n values. It grows with what is there and not with what is promised.
func several[T any](n int, read func() (T, error)) (out []T, err error) {
	for range n {
		v, err := read()
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (h *header) tensor() (t Tensor, err error) {
	if t.Name, err = h.string(); err != nil {
		return t, err
	}
	dims, err := h.uint32()
	if err != nil {
		return t, err
	}
	if dims > maxDims {
		return t, fmt.Errorf("tensor %q has %d dimensions: at most %d are known", t.Name, dims, maxDims)
	}
	elements := uint64(1)
	for range dims {
		d, err := h.uint64()
		if err != nil {
			return t, err
		}
		if d == 0 || d > maxElements || elements > maxElements/d {
			return t, fmt.Errorf("tensor %q has a dimension of %d: its size is out of range", t.Name, d)
		}
		elements *= d
		t.Dims = append(t.Dims, int(d))
	}
	slices.Reverse(t.Dims)
	kind, err := h.uint32()
	if err != nil {
		return t, err
	}
	t.Type = Type(kind)
	offset, err := h.uint64()
	if err != nil {
		return t, err
	}
	if offset > math.MaxInt64/2 {
		return t, fmt.Errorf("tensor %q begins at byte %d of the data", t.Name, offset)
	}
	t.offset = int64(offset)
	return t, nil
}

// checkPlaces wants the tensors of known types to lie in the file, at aligned places. Others are an error when they are read.
func (f *File) checkPlaces(size, alignment int64) error {
	for _, t := range f.Tensors {
		if t.offset%alignment != 0 {
			return fmt.Errorf("tensor %q begins at byte %d of the data, which is no multiple of %d", t.Name, t.offset, alignment)
		}
		n, err := t.bytes()
		if err != nil {
			n = 0
		}
		if t.offset > size-f.start || n > size-f.start-t.offset {
			return fmt.Errorf("tensor %q of %d bytes lies at byte %d of the data, which has %d", t.Name, n, t.offset, max(size-f.start, 0))
		}
	}
	return nil
}

// Values reads the values of a tensor, row-major. A type that is not known is an error that names it.
func (f *File) Values(t Tensor) ([]float32, error) {
	n, err := t.bytes()
	if err != nil {
		return nil, err
	}
	raw := make([]byte, n)
	if _, err := f.data.ReadAt(raw, f.start+t.offset); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return t.Type.decode(raw), nil
}
