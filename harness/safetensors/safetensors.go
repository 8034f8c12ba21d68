// Package safetensors reads and writes named tensors in the safetensors format: the length of a JSON header as a
// little-endian uint64, the header padded with spaces to 8 bytes, then the values. A file is read tensor by tensor, so
// that a model larger than memory can be looked at.
package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/entrorouter/entrorouter/harness/internal/strict"
)

// Info is what a header says of a tensor.
type Info struct {
	Name  string
	DType DType
	Dims  []int
}

// elements returns the number of values.
func (i Info) elements() int {
	n := 1
	for _, d := range i.Dims {
		n *= d
	}
	return n
}

// Bytes returns the size of the values.
func (i Info) Bytes() int64 { return int64(i.elements()) * int64(i.DType.Size()) }

// maxHeader bounds the JSON header of a file, as the format's reference implementation does.
const maxHeader = 100 << 20

const metadataKey = "__metadata__"

// tensorInfo is the header entry of one tensor.
type tensorInfo struct {
	DType   DType    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"` // into the bytes after the header
}

// Write writes tensors to w, one after another: values writes the bytes of each, row-major and little-endian. metadata is
// written as it is; nil: none. The same arguments always give the same bytes: names are sorted in the header, data is
// stored in the order given.
func Write(w io.Writer, metadata map[string]string, tensors []Info, values func(Info, io.Writer) error) error {
	header := make(map[string]any, len(tensors)+1)
	if metadata != nil {
		header[metadataKey] = metadata
	}
	var end int64
	for _, t := range tensors {
		if _, twice := header[t.Name]; twice {
			return fmt.Errorf("tensor %q is given twice, or its name is taken", t.Name)
		}
		if t.DType.Size() == 0 {
			return unknownType(t.Name, t.DType)
		}
		start := end
		end += t.Bytes()
		header[t.Name] = tensorInfo{DType: t.DType, Shape: t.Dims, Offsets: [2]int64{start, end}}
	}
	head, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)); err != nil {
		return err
	}
	for _, t := range tensors {
		count := &counter{w: w}
		if err := values(t, count); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if count.n != t.Bytes() {
			return fmt.Errorf("tensor %q: %d bytes were written; %s of shape %v has %d", t.Name, count.n, t.DType, t.Dims, t.Bytes())
		}
	}
	return nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// File is an opened file, or the shards of a folder taken as one. It may be used by several goroutines.
type File struct {
	infos []Info
	at    map[string]place
	files []*os.File
}

// place is where the values of a tensor are.
type place struct {
	Info
	in  io.ReaderAt
	off int64
}

// Names of a model's files in a Hugging Face folder.
const (
	ModelFile = "model.safetensors"
	IndexFile = "model.safetensors.index.json"
)

// ErrNone is the error of a folder without weights.
var ErrNone = errors.New("name the folder of a model")

// Open opens a file, or a Hugging Face folder: its model.safetensors, or else the shards that
// model.safetensors.index.json names, which must hold exactly the tensors it lists. Headers are read and checked at once,
// values when they are asked for. The caller closes the file.
func Open(path string) (*File, error) {
	f := &File{at: map[string]place{}}
	if err := f.open(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open(path string) error {
	stat, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !stat.IsDir() {
		return f.add(path)
	}
	whole := filepath.Join(path, ModelFile)
	if _, err := os.Stat(whole); err == nil {
		return f.add(whole)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	index := filepath.Join(path, IndexFile)
	raw, err := os.ReadFile(index)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s holds neither %s nor %s; %w", path, ModelFile, IndexFile, ErrNone)
	} else if err != nil {
		return err
	}
	var listed struct {
		Weights map[string]string `json:"weight_map"` // tensor -> file
	}
	if err := json.Unmarshal(raw, &listed); err != nil {
		return fmt.Errorf("%s: %w", index, err)
	}
	for _, shard := range slices.Compact(slices.Sorted(maps.Values(listed.Weights))) {
		if shard != filepath.Base(shard) {
			return fmt.Errorf("%s: the shard %q is not a file of the folder", index, shard)
		}
		before := len(f.infos)
		if err := f.add(filepath.Join(path, shard)); err != nil {
			return err
		}
		for _, t := range f.infos[before:] {
			if listed.Weights[t.Name] != shard {
				return fmt.Errorf("%s: tensor %q lies in %s, where the index does not list it", index, t.Name, shard)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed.Weights)) {
		if _, ok := f.at[name]; !ok {
			return fmt.Errorf("%s: tensor %q is not in %s", index, name, listed.Weights[name])
		}
	}
	return nil
}

func (f *File) add(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	f.files = append(f.files, file)
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	if err := f.parse(file, stat.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// parse adds the tensors of a file of a size. The values must fill it without gaps or overlaps.
func (f *File) parse(r io.ReaderAt, size int64) error {
	var length [8]byte
	if size < int64(len(length)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || n > uint64(size-8) {
		return fmt.Errorf("header of %d bytes in a file of %d", n, size)
	}
	head, start := make([]byte, n), 8+int64(n)
	if _, err := r.ReadAt(head, 8); err != nil {
		return err
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(head, &header); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	delete(header, metadataKey)
	infos := make(map[string]tensorInfo, len(header))
	names := make([]string, 0, len(header))
	for name, raw := range header {
		var info tensorInfo
		if err := strict.JSON(raw, &info); err != nil {
			return fmt.Errorf("header: tensor %q: %w", name, err)
		}
		infos[name] = info
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		x, y := infos[a].Offsets, infos[b].Offsets
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	end, room := int64(0), size-start
	for _, name := range names {
		info := infos[name]
		if info.DType.Size() == 0 {
			return unknownType(name, info.DType)
		}
		count, err := elements(info.Shape)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		want := count * int64(info.DType.Size())
		if info.Offsets[0] != end || info.Offsets[1]-info.Offsets[0] != want || info.Offsets[1] > room {
			return fmt.Errorf("tensor %q of shape %v lies at bytes %d to %d of %d; expected %d bytes from %d",
				name, info.Shape, info.Offsets[0], info.Offsets[1], room, want, end)
		}
		end = info.Offsets[1]
		if _, twice := f.at[name]; twice {
			return fmt.Errorf("tensor %q lies in two files", name)
		}
		t := Info{Name: name, DType: info.DType, Dims: info.Shape}
		f.infos = append(f.infos, t)
		f.at[name] = place{Info: t, in: r, off: start + info.Offsets[0]}
	}
	if end != room {
		return fmt.Errorf("%d bytes after the last tensor", room-end)
	}
	return nil
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

// Tensors lists what the file holds, in the order of the data, shards by name.
func (f *File) Tensors() []Info { return slices.Clone(f.infos) }

// Find returns what the file says of a tensor.
func (f *File) Find(name string) (info Info, ok bool) {
	p, ok := f.at[name]
	return p.Info, ok
}

// Read fills data, which has the size of the tensor, with its bytes.
func (f *File) Read(name string, data []byte) error {
	p, ok := f.at[name]
	if !ok {
		return fmt.Errorf("tensor %q is missing", name)
	}
	if int64(len(data)) != p.Bytes() {
		return fmt.Errorf("tensor %q has %d bytes, not %d", name, p.Bytes(), len(data))
	}
	if _, err := p.in.ReadAt(data, p.off); err != nil && len(data) > 0 {
		return fmt.Errorf("tensor %q: %w", name, err)
	}
	return nil
}

// Floats returns the values of a tensor of any type.
func (f *File) Floats(name string) ([]float32, error) {
	data := make([]byte, f.at[name].Bytes())
	if err := f.Read(name, data); err != nil {
		return nil, err
	}
	return f.at[name].DType.Widen(data), nil
}

// Files are the paths of the files that it is.
func (f *File) Files() (paths []string) {
	for _, file := range f.files {
		paths = append(paths, file.Name())
	}
	return paths
}

// Close closes the files behind it.
func (f *File) Close() error {
	var errs []error
	for _, file := range f.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
