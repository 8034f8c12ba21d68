// Package gguftest writes GGUF files for tests.
package gguftest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
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

// kinds are the numbers of the kinds of values.
var kinds = map[reflect.Kind]uint32{
	reflect.Uint8: 0, reflect.Int8: 1, reflect.Uint16: 2, reflect.Int16: 3, reflect.Uint32: 4, reflect.Int32: 5, reflect.Float32: 6,
	reflect.Bool: 7, reflect.String: 8, reflect.Slice: 9, reflect.Uint64: 10, reflect.Int64: 11, reflect.Float64: 12,
}

// kindOf returns the number of a kind of value.
func kindOf(v any) uint32 {
	kind, ok := kinds[reflect.TypeOf(v).Kind()]
	if !ok {
		panic(fmt.Sprintf("a value of type %T cannot be written", v))
	}
	return kind
}
