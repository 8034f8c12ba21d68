package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/gguf/gguftest"
)

func read(file []byte) (*File, error) { return Read(bytes.NewReader(file), int64(len(file))) }

func TestMetadataAndTensorsSurviveAFile(t *testing.T) {
	entries := []gguftest.Entry{
		{Key: "a", Value: uint8(255)}, {Key: "b", Value: int8(-1)}, {Key: "c", Value: uint16(65535)}, {Key: "d", Value: int16(-2)}, {Key: "e", Value: uint32(4e9)},
		{Key: "f", Value: int32(-3)}, {Key: "g", Value: float32(0.1)}, {Key: "h", Value: true}, {Key: "i", Value: "Ġä"}, {Key: "j", Value: uint64(1 << 63)},
		{Key: "k", Value: int64(-4)}, {Key: "l", Value: 0.1}, {Key: "m", Value: []string{"x", "", "yz"}}, {Key: "n", Value: []int32{1, -1}},
	}
	file, err := read(gguftest.Encode(entries, []gguftest.Tensor{
		{Name: "one", Dims: []int{3}, Type: 0, Raw: binary.LittleEndian.AppendUint32(make([]byte, 8), math.Float32bits(1.5))},
		{Name: "two", Dims: []int{2, 1}, Type: 0, Raw: binary.LittleEndian.AppendUint32(make([]byte, 4), math.Float32bits(-2))},
		{Name: "strange", Dims: []int{2, 256}, Type: 12, Raw: make([]byte, 288)},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if got := file.Metadata[e.Key]; !reflect.DeepEqual(got, e.Value) {
			t.Errorf("%s is %#v, want %#v", e.Key, got, e.Value)
		}
	}
	for i, want := range [][]float32{{0, 0, 1.5}, {0, -2}} {
		if got, err := file.Values(file.Tensors[i]); err != nil || !slices.Equal(got, want) {
			t.Errorf("tensor %d is %v (%v), want %v", i, got, err, want)
		}
	}
	if !slices.Equal(file.Tensors[1].Dims, []int{2, 1}) {
		t.Errorf("shape %v", file.Tensors[1].Dims)
	}
	if _, err := file.Values(file.Tensors[2]); err == nil || !strings.Contains(err.Error(), `"strange" is stored as Q4_K, which is not known`) {
		t.Errorf("an unknown type: %v", err)
	}
}

// Each by hand from the formulas of the type.
func TestStoredValuesBecomeFloats(t *testing.T) {
	nibbles := make([]byte, 16) // low halves 0 to 15, high halves 15 to 0
	for i := range nibbles {
		nibbles[i] = byte(i | (15-i)<<4)
	}
	var q40, q41, q80 [32]float32
	for i := range 16 {
		q40[i], q40[i+16] = 0.5*float32(i-8), 0.5*float32(7-i)       // d = 0.5
		q41[i], q41[i+16] = -2*float32(i)+0.25, -2*float32(15-i)+.25 // d = -2, m = 0.25
		q80[i], q80[i+16] = float32(i), -float32(i+1)                // d = 1
	}
	signed := make([]byte, 32)
	for i := range 16 {
		signed[i], signed[i+16] = byte(i), byte(-i-1)
	}
	for _, c := range []struct {
		kind Type
		raw  []byte
		want []float32
	}{
		{F32, []byte{0, 0, 0x20, 0x41, 0, 0, 0x80, 0xbf}, []float32{10, -1}},
		{F16, []byte{0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b}, []float32{1, -2, 1. / (1 << 24), 65504}},
		{BF16, []byte{0x80, 0x3f, 0x49, 0x40}, []float32{1, 3.140625}},
		{Q4_0, slices.Concat([]byte{0, 0x38}, nibbles), q40[:]},
		{Q4_1, slices.Concat([]byte{0, 0xc0, 0, 0x34}, nibbles), q41[:]},
		{Q8_0, slices.Concat([]byte{0, 0x3c}, signed), q80[:]},
		{Q8_0, slices.Concat([]byte{0, 0x3c}, signed, []byte{0, 0}, signed), append(slices.Clone(q80[:]), make([]float32, 32)...)},
	} {
		file, err := read(gguftest.Encode(nil, []gguftest.Tensor{{Name: "pad", Dims: []int{1}, Raw: make([]byte, 4)}, {Name: "x", Dims: []int{len(c.want)}, Type: uint32(c.kind), Raw: c.raw}}))
		if err != nil {
			t.Fatalf("%v: %v", c.kind, err)
		}
		if got, err := file.Values(file.Tensors[1]); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v (%v), want %v", c.kind, got, err, c.want)
		}
	}
}

func TestAFileIsOpenedAndItsPlaceNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.gguf")
	if err := os.WriteFile(path, gguftest.Encode(nil, []gguftest.Tensor{{Name: "x", Dims: []int{1}, Raw: make([]byte, 4)}}), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := file.Values(file.Tensors[0]); err != nil || !slices.Equal(got, []float32{0}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("GGML"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), `x.gguf: no GGUF file: it begins with "GGML"`) {
		t.Errorf("%v", err)
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	tensor := gguftest.Tensor{Name: "x", Dims: []int{1}, Raw: make([]byte, 4)}
	good := gguftest.Encode([]gguftest.Entry{{Key: "key", Value: uint32(1)}}, []gguftest.Tensor{tensor})
	patch := func(at int, b ...byte) []byte {
		out := slices.Clone(good)
		copy(out[at:], b)
		return out
	}
	// magic 0, version 4, tensors 8, keys 16, key 24 to 35, kind 35, value 39, name 43 to 52, dims 52, dim 56, type 64, offset 68
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "the file ends in its header, after 0 bytes"},
		{"cut in the header", good[:50], "the file ends in its header, after 50 bytes"},
		{"cut in the data", good[:97], `tensor "x" of 4 bytes lies at byte 0 of the data, which has 1`},
		{"magic", patch(0, 'g'), "no GGUF file"},
		{"version", patch(4, 1), "GGUF version 1"},
		{"big endian", patch(4, 0, 0, 0, 3), "little-endian"},
		{"tensors", patch(12, 1), "tensors: at most"},
		{"keys", patch(20, 1), "keys: at most"},
		{"kind", patch(35, 13), `key "key": a value of kind 13`},
		{"text", patch(31, 1), "bytes in a text: at most"},
		{"dimensions", patch(52, 5), "5 dimensions"},
		{"no values", patch(56, 0), "a dimension of 0"},
		{"many values", patch(56, 0, 0, 0, 0, 0, 0, 0, 1), "out of range"},
		{"offset", patch(68, 1), "no multiple of 32"},
		{"far offset", patch(68, 32, 0, 0, 0, 1), "lies at byte"},
		{"huge offset", patch(68, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "begins at byte"},
		{"key twice", gguftest.Encode([]gguftest.Entry{{Key: "k", Value: true}, {Key: "k", Value: true}}, nil), `key "k" is there twice`},
		{"tensor twice", gguftest.Encode(nil, []gguftest.Tensor{tensor, tensor}), `tensor "x" is there twice`},
		{"alignment", gguftest.Encode([]gguftest.Entry{{Key: "general.alignment", Value: uint32(7)}}, nil), "want a multiple of 8"},
	} {
		if _, err := read(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	rows := gguftest.Encode(nil, []gguftest.Tensor{{Name: "q", Dims: []int{32, 2}, Type: uint32(Q8_0), Raw: make([]byte, 68)}})
	file, err := read(rows)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Values(file.Tensors[0]); err == nil || !strings.Contains(err.Error(), "rows of a multiple of 32 values") {
		t.Errorf("rows that are no blocks: %v", err)
	}
}

func FuzzDamagedFiles(f *testing.F) {
	f.Add(gguftest.Encode([]gguftest.Entry{{Key: "a", Value: []string{"x", "y"}}, {Key: "b", Value: []int32{1}}, {Key: "c", Value: 0.5}},
		[]gguftest.Tensor{{Name: "x", Dims: []int{2, 32}, Type: uint32(Q4_1), Raw: make([]byte, 40)}, {Name: "y", Dims: []int{2}, Type: uint32(BF16), Raw: make([]byte, 4)}}))
	f.Add([]byte("GGUF\x03\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := read(in)
		if err == nil && len(file.Tensors) > 0 { // tensors may share their bytes, so that all of them are many
			tensor := file.Tensors[0]
			if values, err := file.Values(tensor); err == nil && len(values) != tensor.Elements() {
				t.Errorf("%d values of %d", len(values), tensor.Elements())
			}
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(1<<20+200*len(in)) {
			t.Errorf("%d bytes of memory for a file of %d", got, len(in))
		}
	})
}
