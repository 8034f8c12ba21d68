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

// header reads what lies before the data. The first fault stays; what is read after it is nothing.
type header struct {
	r    *bufio.Reader
	left int64 // bytes
	err  error
}

func (h *header) fail(err error) {
	if h.err == nil {
		h.err = err
	}
}

// bytes reads n of them; nil once anything has failed.
func (h *header) bytes(n int) []byte {
	if int64(n) > h.left {
		h.fail(io.ErrUnexpectedEOF)
	}
	if h.err != nil {
		return nil
	}
	h.left -= int64(n)
	out := make([]byte, n)
	if _, err := io.ReadFull(h.r, out); err != nil {
		h.fail(err)
		return nil
	}
	return out
}

// scalar reads a number or a truth value.
func scalar[T any](h *header) (v T) {
	if b := h.bytes(binary.Size(v)); h.err == nil {
		if _, err := binary.Decode(b, binary.LittleEndian, &v); err != nil {
			h.fail(err)
		}
	}
	return v
}

// count reads how many of something follow.
func (h *header) count(what string, limit uint64) int {
	n := scalar[uint64](h)
	if n > limit {
		h.fail(fmt.Errorf("%d %s: at most %d are read", n, what, limit))
		return 0
	}
	return int(n)
}

func (h *header) string() string { return string(h.bytes(h.count("bytes in a text", maxString))) }

func (h *header) file(f *File, size int64) error {
	if magic := h.bytes(4); h.err == nil && string(magic) != "GGUF" {
		return fmt.Errorf("no GGUF file: it begins with %q", magic)
	}
	if version := scalar[uint32](h); h.err == nil && version != 2 && version != 3 {
		return fmt.Errorf("GGUF version %d: versions 2 and 3, little-endian, are known", version)
	}
	tensors := h.count("tensors", maxTensors)
	keys := h.count("keys", maxKeys)
	for range keys {
		key, kind := h.string(), scalar[uint32](h)
		if h.err != nil {
			return h.err
		}
		if _, ok := f.Metadata[key]; ok {
			return fmt.Errorf("key %q is there twice", key)
		}
		if f.Metadata[key] = h.value(kind, maxNesting); h.err != nil {
			return fmt.Errorf("key %q: %w", key, h.err)
		}
	}
	names := map[string]bool{}
	for range tensors {
		t := h.tensor()
		if h.err != nil {
			return h.err
		}
		if names[t.Name] {
			return fmt.Errorf("tensor %q is there twice", t.Name)
		}
		names[t.Name] = true
		f.Tensors = append(f.Tensors, t)
	}
	if h.err != nil {
		return h.err
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

// kind is how one value of a kind is read, and several of them.
type kind struct {
	one     func(h *header) any
	several func(h *header, n int) any
}

func of[T any](read func(h *header) T) kind {
	return kind{func(h *header) any { return read(h) }, func(h *header, n int) any { return several(h, n, read) }}
}

// kinds are the kinds of values but arrays, by their numbers in the format.
var kinds = map[uint32]kind{
	0: of(scalar[uint8]), 1: of(scalar[int8]), 2: of(scalar[uint16]), 3: of(scalar[int16]), 4: of(scalar[uint32]), 5: of(scalar[int32]),
	6: of(scalar[float32]), 7: of(scalar[bool]), 8: of((*header).string), 10: of(scalar[uint64]), 11: of(scalar[int64]), 12: of(scalar[float64]),
}

const kindArray = 9

// value reads a value of a kind; arrays nested at most so deep. An array is a slice of its elements' type, of arrays []any.
func (h *header) value(number uint32, deep int) any {
	if k, ok := kinds[number]; ok {
		return k.one(h)
	}
	switch {
	case number != kindArray:
		h.fail(fmt.Errorf("a value of kind %d is not known", number))
	case deep == 0:
		h.fail(errors.New("arrays in arrays in arrays are not known"))
	default:
		elements := scalar[uint32](h)
		n := h.count("values", uint64(max(h.left, 0))) // each takes a byte at least
		if k, ok := kinds[elements]; ok {
			return k.several(h, n)
		}
		return several(h, n, func(h *header) any { return h.value(elements, deep-1) })
	}
	return nil
}

// several reads n values. It grows with what is there and not with what is promised.
func several[T any](h *header, n int, read func(h *header) T) (out []T) {
	for i := 0; i < n && h.err == nil; i++ {
		out = append(out, read(h))
	}
	return out
}

func (h *header) tensor() (t Tensor) {
	t.Name = h.string()
	dims := scalar[uint32](h)
	if dims > maxDims {
		h.fail(fmt.Errorf("tensor %q has %d dimensions: at most %d are known", t.Name, dims, maxDims))
	}
	elements := uint64(1)
	for i := uint32(0); i < dims && h.err == nil; i++ {
		d := scalar[uint64](h)
		if d == 0 || d > maxElements || elements > maxElements/d {
			h.fail(fmt.Errorf("tensor %q has a dimension of %d: its size is out of range", t.Name, d))
			return t
		}
		elements *= d
		t.Dims = append(t.Dims, int(d))
	}
	slices.Reverse(t.Dims)
	t.Type = Type(scalar[uint32](h))
	offset := scalar[uint64](h)
	if offset > math.MaxInt64/2 {
		h.fail(fmt.Errorf("tensor %q begins at byte %d of the data", t.Name, offset))
	}
	t.offset = int64(offset)
	return t
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
