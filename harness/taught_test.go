package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/experts"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/seed"
	"github.com/entrorouter/entrorouter/harness/stages"
	"github.com/entrorouter/entrorouter/harness/units"
)

// Rows of a recorded pool may ask models of their own: one that routes, and one that teaches a policy to write. They are asked once, for
// all folds together, and never again.
func TestRowsOfRecordedPoolsAskModelsOfTheirOwn(t *testing.T) {
	var asked, chosen atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			io.WriteString(w, `{"object":"list","data":[{"id":"brain","object":"model","max_model_len":100000}]}`)
			return
		}
		var q struct {
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
			http.Error(w, "?", http.StatusNotFound)
			return
		}
		asked.Add(1)
		prompt := q.Messages[len(q.Messages)-1].Content
		text := "no idea"
		if id, ok := experts.ReadChosen(prompt); ok {
			text = fmt.Sprintf("Sums, as on line %d.\n{\"model\": %q}", asked.Load(), id)
		} else if of, problem, err := experts.ReadRoutingPrompt(prompt); err == nil && seed.Hash(problem)%3 > 0 {
			chosen.Add(1)
			text = fmt.Sprintf(`{"model": %q}`, of[len(of)-1].ID)
		}
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"index": 0, "message": map[string]string{"role": "assistant", "content": text}, "finish_reason": "stop"}},
			"usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}})
	}))
	defer server.Close()
	url := server.URL + "/v1"
	dir, _ := toy.Folder(t, ", k: 2", fmt.Sprintf(`
policy: {kind: lm, model: {arch: qwen3, hidden: 8, inner: 8, layers: 1, heads: 1, kv_heads: 1, head_dim: 8}, tune: full, rationale: cot, writes: {tokens: 24}, max_tokens: 1024, compute: float32, micro_batch: 16}
teacher: {model: brain, url: %q, temperature: 1, top_p: 1, max_tokens: 100, attempts: 2}
sft: {epochs: 1, batch: 64}
methods:
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: llmrouter, id: brain, params: {model: brain, url: %q}}
  - {name: sft, kappa: "01"}
outputs: [{kind: table}]
`, url, url))
	path := filepath.Join(dir, "constants.yaml")
	options := Options{Out: filepath.Join(dir, "out"), Data: dir}
	result := runFile(t, path, options)
	if failed := find(t, result, "toy", "brain", metrics.BothStrata, methods.ParseFail); failed <= 0 || failed >= 100 {
		t.Errorf("%v%% of the decisions could not be read", failed)
	}
	if a, b := find(t, result, "toy", "brain", metrics.BothStrata, metrics.Accuracy), find(t, result, "toy", "strongest", metrics.BothStrata, metrics.Accuracy); a != b || chosen.Load() == 0 {
		t.Errorf("a router that names the strongest or nobody has %v%%, the strongest %v%%", a, b)
	}
	if cut := find(t, result, "toy", "sft", metrics.BothStrata, stages.CutRationale); cut < 0 || cut > 100 {
		t.Errorf("%v%% of the rationales are cut", cut)
	}
	if tokens := find(t, result, "toy", "brain", metrics.BothStrata, units.RouterTokens); tokens < 12 || tokens > 24 {
		t.Errorf("the router reads and writes %v tokens per question", tokens)
	}
	n := asked.Load()
	server.Close()
	options.Offline = true
	again := runFile(t, path, options)
	if diff := cmp.Diff(result.Measurements, again.Measurements); diff != "" || asked.Load() != n {
		t.Errorf("%d questions more, and\n%s", asked.Load()-n, diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	toy.Put(t, path, strings.Replace(string(text), fmt.Sprintf("params: {model: brain, url: %q}", url), "params: {model: brain}", 1))
	if _, err := Run(t.Context(), toy.Load(t, path), options); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "recorded pools have no simulated routers") {
		t.Errorf("error is %v", err)
	}
}
