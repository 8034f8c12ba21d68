package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/protocol"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// There is room for the states of texts wherever a row trains a language model, the experiment's or one of its own.
func TestThereIsRoomForStatesOfTextsWhereARowHasThem(t *testing.T) {
	const own = "name: own\nbase: smoke.yaml\nmore_methods:\n" +
		"  - {name: sft, id: lm, label: lm, params: {policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: head, rationale: none, max_tokens: 1024, compute: float32}}}\n"
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte(own), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, states := range map[string]bool{"smoke": false, "lm-tiny": true, "lm-collapse": true, file: true} {
		fsys, found, err := spec.Find(name, experiments.FS)
		if err != nil {
			t.Fatal(err)
		}
		r, err := spec.Load(fsys, found, spec.Known{Methods: methods.Kinds()}, spec.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(memoryLimit)
		if states {
			want += protocol.RememberedStates
		}
		if got := limitOf(r); got != want {
			t.Errorf("%s: memory is collected harder from %d bytes on, want %d", name, got, want)
		}
	}
}
