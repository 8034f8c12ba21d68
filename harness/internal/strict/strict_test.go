package strict

import (
	"strings"
	"testing"
)

func TestJSONIsOneValueOfKnownKeys(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1}`:          "",
		" {\"a\": 1}\n":     "",
		`{"a": 1, "b": 2}`:  "unknown field",
		`{"a": 1} {"a": 2}`: "more than one JSON value",
		`{"a": 1}]`:         "more than one JSON value",
		`{"a": "1"}`:        "cannot unmarshal",
		`{"a": 1`:           "unexpected EOF",
		``:                  "EOF",
	} {
		var into struct{ A int }
		err := JSON([]byte(text), &into)
		if want == "" && (err != nil || into.A != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %+v; want %q", text, err, into, want)
		}
	}
}
