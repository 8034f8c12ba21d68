package wire

// What is written comes back through any JSON reader.

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestTextSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		var got string
		if err := json.Unmarshal(AppendJSON(nil, text), &got); err != nil {
			t.Fatal(err)
		}
		var reference bytes.Buffer
		e := json.NewEncoder(&reference)
		e.SetEscapeHTML(false)
		var want string
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(reference.Bytes(), &want); err != nil || got != want {
			t.Fatalf("%q became %q, encoding/json has %q", text, got, want)
		}
	})
}
