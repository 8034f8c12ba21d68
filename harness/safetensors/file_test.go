package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryHalfAndBrainFloatWidensExactly(t *testing.T) {
	for bits := range 1 << 16 {
		data := binary.LittleEndian.AppendUint16(nil, uint16(bits))
		got := float64(F16.Widen(data)[0])
		sign, exponent, fraction := 1-2*float64(bits>>15), bits>>10&31, float64(bits&1023)
		want := sign * math.Ldexp(1+fraction/1024, exponent-15)
		switch {
		case exponent == 0:
			want = sign * math.Ldexp(fraction, -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		}
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("half %#x is %v, want %v", bits, got, want)
		}
		brain := BF16.Widen(data)
		if again, err := BF16.Narrow(brain); err != nil || (!bytes.Equal(again, data) && brain[0] == brain[0]) {
			t.Fatalf("bfloat16 %#x became %x (%v)", bits, again, err)
		} else if brain[0] != brain[0] && BF16.Widen(again)[0] == BF16.Widen(again)[0] {
			t.Fatalf("the NaN %#x became %x", bits, again)
		}
	}
}

func TestNarrowingRoundsToNearestTiesToEven(t *testing.T) {
	for _, c := range []struct{ value, want float32 }{
		{1, 1}, {1 + 1.0/256, 1}, {1 + 3.0/256, 1 + 4.0/256}, {1 + 1.01/256, 1 + 2.0/256}, {-1 - 1.01/256, -1 - 2.0/256},
		{math.MaxFloat32, float32(math.Inf(1))},
	} {
		data, err := BF16.Narrow([]float32{c.value})
		if got := BF16.Widen(data)[0]; err != nil || got != c.want {
			t.Errorf("%v became %v (%v), want %v", c.value, got, err, c.want)
		}
	}
	if _, err := F16.Narrow([]float32{1}); err == nil {
		t.Error("half precision is written")
	}
}

// shard writes tensors of small whole numbers.
func shard(t *testing.T, path string, infos ...Info) {
	t.Helper()
	var out bytes.Buffer
	err := Write(&out, map[string]string{"format": "pt"}, infos, func(i Info, w io.Writer) error {
		values := make([]float32, i.elements())
		for k := range values {
			values[k] = float32(len(i.Name) + k)
		}
		data, err := i.DType.Narrow(values)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestShardsAreReadAsOne(t *testing.T) {
	dir := t.TempDir()
	shard(t, filepath.Join(dir, "m-2.safetensors"), Info{"bb", BF16, []int{3}})
	shard(t, filepath.Join(dir, "m-1.safetensors"), Info{"a", F32, []int{2, 2}}, Info{"ccc", BF16, []int{1}})
	index := filepath.Join(dir, IndexFile)
	os.WriteFile(index, []byte(`{"metadata":{},"weight_map":{"a":"m-1.safetensors","bb":"m-2.safetensors","ccc":"m-1.safetensors"}}`), 0o644)
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for _, i := range f.Tensors() {
		values, err := f.Floats(i.Name)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprint(i.Name, i.DType, i.Dims, values))
	}
	if want := []string{"aF32[2 2] [1 2 3 4]", "cccBF16[1] [3]", "bbBF16[3] [2 3 4]"}; !slices.Equal(names, want) {
		t.Errorf("read %q, want %q", names, want)
	}
	if err := f.Read("a", make([]byte, 8)); err == nil || !strings.Contains(err.Error(), "has 16 bytes, not 8") {
		t.Errorf("half a tensor: %v", err)
	}
	if _, err := f.Floats("none"); err == nil || !strings.Contains(err.Error(), `tensor "none" is missing`) {
		t.Errorf("a missing tensor: %v", err)
	}
	for name, c := range map[string]struct{ index, want string }{
		"a tensor the index does not list": {`{"weight_map":{"a":"m-1.safetensors"}}`, `"ccc" lies in m-1.safetensors, where the index does not list it`},
		"a tensor that is in no shard":     {`{"weight_map":{"a":"m-1.safetensors","ccc":"m-1.safetensors","d":"m-1.safetensors"}}`, `"d" is not in m-1.safetensors`},
		"a shard elsewhere":                {`{"weight_map":{"a":"../m-1.safetensors"}}`, "is not a file of the folder"},
		"a shard that is gone":             {`{"weight_map":{"a":"m-3.safetensors"}}`, "no such file"},
	} {
		os.WriteFile(index, []byte(c.index), 0o644)
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %q in it", name, err, c.want)
		}
	}
	os.Remove(index)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "neither model.safetensors nor") {
		t.Errorf("a folder without a model: %v", err)
	}
	shard(t, filepath.Join(dir, ModelFile), Info{"whole", F32, nil})
	if f, err := Open(dir); err != nil || len(f.Tensors()) != 1 {
		t.Errorf("one file: %v", err)
	} else {
		f.Close()
	}
}

func TestAWriterThatBreaksItsWordIsRefused(t *testing.T) {
	none := func(Info, io.Writer) error { return nil }
	for want, infos := range map[string][]Info{
		`tensor "a": 0 bytes were written`: {{"a", F32, []int{1}}},
		`tensor "a" is given twice`:        {{"a", F32, []int{0}}, {"a", F32, []int{0}}},
		`tensor "a" has type "I8"`:         {{"a", "I8", []int{0}}},
	} {
		if err := Write(io.Discard, nil, infos, none); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
	}
}
