// Package gguftest writes GGUF files for tests.
package gguftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Entry is a key of the metadata. Value is one of those that gguf.File.Metadata may have, but for arrays of arrays.
type Entry struct {
	Key   string
	Value any
}

// Tensor is a tensor with its values as they are stored.
type Tensor struct {
	Name string
	Dims []int // the slowest first
	Type uint32
	Raw  []byte
}

// Encode returns a file of version 3 whose data is aligned to 32 bytes.
func Encode(metadata []Entry, tensors []Tensor) []byte {
	w := &writer{}
	w.WriteString("GGUF")
	w.number(uint32(3))
	w.number(uint64(len(tensors)))
	w.number(uint64(len(metadata)))
	for _, e := range metadata {
		w.text(e.Key)
		kind := kindOf(e.Value)
		w.number(kind)
		w.value(e.Value)
	}
	offset := 0
	for _, t := range tensors {
		w.text(t.Name)
		w.number(uint32(len(t.Dims)))
		for _, d := range slices.Backward(t.Dims) {
			w.number(uint64(d))
		}
		w.number(t.Type)
		w.number(uint64(offset))
		offset += (len(t.Raw) + 31) / 32 * 32
	}
	for _, t := range tensors {
		w.pad()
		w.Write(t.Raw)
	}
	w.pad()
	return w.Bytes()
}

type writer struct{ bytes.Buffer }

func (w *writer) number(v any) {
	if err := binary.Write(w, binary.LittleEndian, v); err != nil {
		panic(err)
	}
}

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.WriteString(s)
}

func (w *writer) pad() {
	for w.Len()%32 != 0 {
		w.WriteByte(0)
	}
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case string:
		w.text(v)
	case []string:
		w.number(kindOf(""))
		w.number(uint64(len(v)))
		for _, s := range v {
			w.text(s)
		}
	case []int32:
		w.number(kindOf(int32(0)))
		w.number(uint64(len(v)))
		w.number(v)
	default:
		w.number(v)
	}
}

// kindOf returns the number of a kind of value.
func kindOf(v any) uint32 {
	switch v.(type) {
	case uint8:
		return 0
	case int8:
		return 1
	case uint16:
		return 2
	case int16:
		return 3
	case uint32:
		return 4
	case int32:
		return 5
	case float32:
		return 6
	case bool:
		return 7
	case string:
		return 8
	case []string, []int32:
		return 9
	case uint64:
		return 10
	case int64:
		return 11
	case float64:
		return 12
	}
	panic(fmt.Sprintf("a value of type %T cannot be written", v))
}
