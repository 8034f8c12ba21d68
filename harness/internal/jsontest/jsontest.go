// Package jsontest reads for tests what a run left in JSON.
package jsontest

import (
	"encoding/json"
	"errors"
	"io"
	"testing"
)

// Lines reads values that follow one another, a line each.
func Lines[T any](t testing.TB, r io.Reader) (all []T) {
	t.Helper()
	for dec := json.NewDecoder(r); ; {
		var v T
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("value %d: %v", len(all)+1, err)
		}
		all = append(all, v)
	}
}
