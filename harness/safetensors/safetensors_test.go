package safetensors

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTensorsSurviveAFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tensors []Tensor
		for _, name := range rapid.SliceOfDistinct(rapid.StringMatching(`[a-z.]{1,8}`), rapid.ID[string]).Draw(t, "names") {
			dims := rapid.SliceOfN(rapid.IntRange(1, 4), 0, 3).Draw(t, "dims")
			data := rapid.SliceOfN(rapid.Float32(), size(dims), size(dims)).Draw(t, "data")
			tensors = append(tensors, Tensor{name, dims, data})
		}
		file, err := Encode(tensors)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := Encode(tensors); !bytes.Equal(file, again) {
			t.Fatal("the same tensors gave other bytes")
		}
		got, err := Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, tensors) {
			t.Fatalf("got %v, want %v", got, tensors)
		}
	})
}

// file builds a safetensors file from a header and n bytes of data.
func file(header string, n int) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), make([]byte, n)...)
}

func TestAMalformedTensorFileIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"an empty file", nil, "unexpected EOF"},
		{"a header longer than the file", []byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "header of 18446744073709551615 bytes"},
		{"a header that is no JSON", file("nope", 0), "header:"},
		{"an unknown type", file(`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, 8), `"F64"; known: F32, F16, BF16`},
		{"an integer type", file(`{"a":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}}`, 8), `"I8"; known: F32, F16, BF16; convert integer and quantised weights first`},
		{"a half of the wrong size", file(`{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,4]}}`, 4), "expected 2 bytes from 0"},
		{"a shape that is not the size", file(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8), "expected 12 bytes from 0"},
		{"a negative shape", file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,-4]}}`, 0), "out of range"},
		{"a shape that overflows", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), "out of range"},
		{"an overlap", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "expected 4 bytes from 4"},
		{"a gap", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "expected 4 bytes from 0"},
		{"data cut short", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 4), "lies at bytes 0 to 8 of 4"},
		{"data left over", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 5), "1 bytes after the last tensor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Decode(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q in it", err, c.want)
			}
		})
	}
	if got, err := Decode(file(`{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4)); err != nil || len(got) != 1 {
		t.Errorf("metadata is not skipped: %v, %v", got, err)
	}
}

func FuzzDecodeTensors(f *testing.F) {
	good, _ := Encode([]Tensor{{"a", []int{2}, []float32{1, 2}}, {"b", []int{1, 1}, []float32{3}}})
	f.Add(good)
	f.Add(file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`, 0))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Decode(raw)
		if err != nil {
			return
		}
		again, err := Encode(got)
		if err != nil {
			t.Fatal(err)
		}
		once, err := Decode(again)
		if err != nil || len(once) != len(got) {
			t.Fatalf("what was read cannot be written and read: %v", err)
		}
		for i := range got {
			if got[i].Name != once[i].Name || len(got[i].Data) != len(once[i].Data) {
				t.Fatalf("tensor %d changed", i)
			}
		}
	})
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
