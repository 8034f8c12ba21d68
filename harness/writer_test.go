// Tests of a server that writes for a policy, as a run meets it.
package harness

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/lm"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/safetensors"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// modelFolder is the folder of a tiny language model.
func modelFolder(t *testing.T) string {
	t.Helper()
	b, err := policy.OpenBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Finalize()
	models := lm.NewModels(0, "")
	defer models.Close()
	fresh := spec.LanguageModel{Arch: "qwen3", Hidden: 8, Inner: 8, Layers: 1, Heads: 1, KVHeads: 1, HeadDim: 8}
	p, err := models.New(b, spec.Policy{Kind: "lm", Model: &fresh, Tune: &spec.Tune{Part: "full"}, Rationale: "none", MaxTokens: 2048, Compute: "float32"}, []lm.Expert{{ID: "a"}, {ID: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := policy.New(b, p, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	folder := filepath.Join(t.TempDir(), "model")
	if err := (lm.Export{DType: safetensors.F32}).Write(m, folder); err != nil {
		t.Fatal(err)
	}
	return folder
}

// A writer with too little room would be noticed behind Stage I: it is before the first answer is asked for. A plan needs none.
func TestAWriterWithTooLittleRoomStopsARunBeforeAnythingIsAsked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/version":
			io.WriteString(w, `{"version":"0.12.0"}`)
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"base","max_model_len":1047}]}`)
		default:
			t.Errorf("asked %s", r.URL)
		}
	}))
	defer server.Close()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Policy = spec.Policy{
		Kind: "lm", Backend: "go", Model: &spec.LanguageModel{Folder: modelFolder(t)}, Tune: &spec.Tune{LoRA: &spec.LoRA{R: 2, Alpha: 4, Targets: []string{"q_proj"}}},
		Rationale: "cot", Writes: &spec.Writes{Tokens: 16, TestTokens: 24}, MaxTokens: 1024, Compute: "float32",
	}
	x.Writer = &spec.Writer{URL: server.URL + "/v1", Flight: 4}
	x.Teacher = &spec.Teacher{Model: "router-0.8", Temperature: 1, TopP: 1, MaxTokens: 100, Attempts: 1}
	out := filepath.Join(t.TempDir(), "out")
	if _, needs, err := Plan(t.Context(), r, Options{Out: out}); err != nil || needs.Rollouts.Texts == 0 {
		t.Fatal(needs, err)
	}
	_, err := Run(t.Context(), r, Options{Out: out})
	if want := fmt.Sprintf("row sft: its writer: generate: %s/v1 has room for 1047 tokens, and the longest prompt has 1024 (policy.max_tokens) with at most 24 behind it", server.URL); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want %q in it", err, want)
	}
	if stored, err := filepath.Glob(filepath.Join(out, "stages", "profile", "*")); err != nil || stored != nil {
		t.Errorf("%v is stored, %v", stored, err)
	}
	if left, _ := os.ReadDir(out); len(left) == 0 {
		t.Error("the store was not opened")
	}
}
