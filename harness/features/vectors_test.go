package features

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// problems knows two problems by text.
func problems(context.Context) (map[string]string, error) {
	return map[string]string{"Find x.": "p1", "Find y.": "p2"}, nil
}

// readFile reads a file of vectors of some name.
func readFile(t *testing.T, name string, content []byte) (*Vectors, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	v, _, err := ReadVectors(path, name, problems)
	return v, err
}

func TestVectorsAreFoundByTextAndByID(t *testing.T) {
	v, err := readFile(t, "v.jsonl", []byte("{\"text\": \"Find x.\", \"vector\": [1, -2.5]}\n\n{\"id\": \"p2\", \"vector\": [0, 1e-3]}\n{\"id\": \"p1\", \"vector\": [7, 7]}"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Of(t.Context(), []string{"Find y.", "Find x."})
	if err != nil || !slices.Equal(got[0], []float32{0, 1e-3}) || !slices.Equal(got[1], []float32{1, -2.5}) { // the text itself comes first
		t.Errorf("%v, %v", got, err)
	}
}

func TestProblemsWithoutAVectorAreNamed(t *testing.T) {
	v, err := readFile(t, "v.jsonl", []byte(`{"id": "p1", "vector": [1]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Find y.": `v.jsonl has no vector of 1 of 2 problems, the first of them problem p2, "Find y."`,
		"Find z.": `the first of them no problem of this experiment, "Find z."`,
	} {
		if _, err := v.Of(t.Context(), []string{"Find x.", text}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// What failed is asked for again.
	gone := errors.New("gone")
	v.problems, v.ids = func(context.Context) (map[string]string, error) { return nil, gone }, nil
	if _, err := v.Of(t.Context(), []string{"Find x."}); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	v.problems = problems
	if _, err := v.Of(t.Context(), []string{"Find x."}); err != nil {
		t.Error(err)
	}
}

func TestLinesOfVectorsAreReadStrictly(t *testing.T) {
	for lines, want := range map[string]string{
		"":                                        "has no vector",
		`{"text": "a"}`:                           "v.jsonl:1: want",
		`{"vector": [1]}`:                         "v.jsonl:1: want",
		`{"text": "a", "vector": [1e39]}`:         "v.jsonl:1: 1e+39 is too large",
		`{"text": "a", "vector": [NaN]}`:          "v.jsonl:1:",
		`{"text": "a", "vector": [1, null]}`:      "v.jsonl:1: vector: null is no number",
		`{"text": "a", "vector": null}`:           "v.jsonl:1: vector: null",
		`{"text": "a", "vector": [1, "x"]}`:       "v.jsonl:1:",
		`{"text": "a", "vector": [1], "id": 3}`:   "v.jsonl:1:",
		`{"text": "a", "vector": [1], "id": "b"}`: "v.jsonl:1: want",
		`{"text": "a", "vector": [1], "x": 3}`:    "unknown field",
		"{\"text\": \"a\", \"vector\": [1]} 3":    "more than one JSON value",
		"{\"id\": \"a\", \"vector\": [1]}\n\n{\"id\": \"a\", \"vector\": [2]}":      "v.jsonl:3: the id \"a\" is there already",
		"{\"text\": \"a\", \"vector\": [1]}\n{\"id\": \"b\", \"vector\": [2, 3]}":   "v.jsonl:2: a vector of 2 numbers among vectors of 1",
		"{\"text\": \"a\", \"vector\": [1]}\n{\"text\": \"a\", \"vector\": [2]}":    "v.jsonl:2: the text \"a\" is there already",
		"{\"text\": \"a\", \"vector\": [1]}\n{\"text\": \"b\", \"vector\": [2, 3]}": "a vector of 2 numbers among vectors of 1",
		"{\"text\": \"a\", \"vector\": [1]}\n{\"text\": \"b\", \"vector\": [2]":     "v.jsonl:2:",
	} {
		if _, err := readFile(t, "v.jsonl", []byte(lines)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", lines, err, want)
		}
	}
}

// npy is a file of numpy.save, as the format's description has it (version 1.0).
func npy(descr, shape string, data any) []byte {
	return npyOf(fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape), data)
}

func npyOf(header string, data any) []byte {
	for (10+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	b, err := binary.Append(append(b, header...), binary.LittleEndian, data)
	if err != nil {
		panic(err)
	}
	return b
}

func npz(arrays map[string][]byte) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range arrays {
		f, err := w.Create(name + ".npy")
		if err == nil {
			_, err = f.Write(data)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestAnArchiveOfNumPyIsRead(t *testing.T) {
	ids := npy("<U3", "2,", []rune{'p', '2', 0, 'p', '1', 0})
	for kind, vectors := range map[string][]byte{
		"float32": npy("<f4", "2, 2", []float32{1, 2, 3, 4}),
		"float64": npy("<f8", "2, 2", []float64{1, 2, 3, 4}),
	} {
		v, err := readFile(t, "v.npz", npz(map[string][]byte{"ids": ids, "vectors": vectors}))
		if err != nil {
			t.Fatal(kind, err)
		}
		if got, err := v.Of(t.Context(), []string{"Find x.", "Find y."}); err != nil || !slices.Equal(got[0], []float32{3, 4}) || !slices.Equal(got[1], []float32{1, 2}) {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	v, err := readFile(t, "v.npz", npz(map[string][]byte{"texts": npy("<U2", "1,", []rune("πa")), "vectors": npy("<f4", "1, 1", []float32{5})}))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := v.Of(t.Context(), []string{"πa"}); err != nil || got[0][0] != 5 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestArchivesOfNumPyAreReadStrictly(t *testing.T) {
	ids, vectors := npy("<U1", "2,", []rune("ab")), npy("<f4", "2, 1", []float32{1, 2})
	both := func(ids, vectors []byte) []byte { return npz(map[string][]byte{"ids": ids, "vectors": vectors}) }
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"no archive":         {[]byte("vectors"), "want an archive of numpy.savez"},
		"no ids":             {npz(map[string][]byte{"vectors": vectors}), "want the arrays ids and vectors"},
		"three arrays":       {npz(map[string][]byte{"vectors": vectors, "ids": ids, "texts": ids}), "want the arrays ids and vectors"},
		"one dimension":      {both(ids, npy("<f4", "2,", []float32{1, 2})), "vectors: want float32 or float64 of shape (n, size), got <f4 of shape [2]"},
		"whole numbers":      {both(ids, npy("<i8", "2, 1", []int64{1, 2})), `vectors.npy: an array of "<i8"`},
		"numbers as ids":     {both(vectors, vectors), "ids: want texts"},
		"fewer ids":          {both(npy("<U1", "1,", []rune("a")), vectors), "1 ids and 2 vectors"},
		"an id twice":        {both(npy("<U1", "2,", []rune("aa")), vectors), `row 1: the id "a" is there already`},
		"no number":          {both(ids, npy("<f8", "2, 1", []float64{1, math.NaN()})), "row 1: number 0 is NaN"},
		"beyond float32":     {both(ids, npy("<f8", "2, 1", []float64{1e39, 1})), "row 0: number 0 is 1e+39"},
		"cut off":            {both(ids, vectors[:len(vectors)-1]), "has more elements"},
		"too long":           {both(ids, append(slices.Clone(vectors), 0)), "9 bytes for the shape (2, 1), which has 8"},
		"in Fortran's order": {both(ids, npyOf("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", []float32{1, 2})), "order of Fortran"},
		"a header cut off":   {both(ids, vectors[:20]), "not an array as numpy.save writes it"},
		"no character":       {both(npy("<U1", "2,", []uint32{0xd800, 'b'}), vectors), "row 0: 0xd800 is no character"},
	} {
		if _, err := readFile(t, "v.npz", c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Whatever the bytes are, an array that is read has an element for each place of its shape.
func FuzzArrays(f *testing.F) {
	f.Add(npy("<f4", "2, 1", []float32{1, 2}))
	f.Add(npy("<U1", "2,", []rune("ab")))
	f.Add(npy("<U0", "99999999999999,", []rune{}))
	f.Add(npy("<f8", "9223372036854775807, 9223372036854775807", []rune{}))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseArray(data)
		if err != nil {
			return
		}
		n := a.size
		for _, d := range a.shape {
			n *= d
		}
		if n != len(a.data) {
			t.Fatalf("%d bytes of shape %v", len(a.data), a.shape)
		}
	})
}
