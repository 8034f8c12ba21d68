package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/units"
)

// One prompt is refused for good and one expert fails at another: the run ends with its tables, which say so. When the server
// is well again the same command asks for what may now be had, and for nothing else.
func TestARunGoesOnPastWhatIsNotToBeHad(t *testing.T) {
	dir := t.TempDir()
	r := toy.Tiny(t)
	x := &r.Experiment
	x.Large, x.Outputs = 0, []spec.Output{{Kind: "table", File: "t"}, {Kind: "routing-distribution", File: "d"}}
	x.Methods = append(x.Methods[:2:2], spec.Method{Name: "logistic"}, spec.Method{Name: "entrorouter"})
	x.Evaluate.Seeds = x.Evaluate.Seeds[:1]
	runIn(t, r, filepath.Join(dir, "sim"))
	over, address := overHTTP(t, r, dir)
	over.Pools[0].Asking.Tries = 1

	texts := map[string][]string{} // of problems, by benchmark
	for name, data := range entries(t, filepath.Join(dir, "sim")) {
		if strings.HasSuffix(name, "/problems.jsonl") {
			for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
				var of struct{ Problem routing.Problem }
				if err := json.Unmarshal([]byte(line), &of); err != nil {
					t.Fatal(err)
				}
				p := of.Problem
				texts[p.Benchmark] = append(texts[p.Benchmark], p.Text)
			}
		}
	}
	test := texts["sim-aime25"]
	var asked atomic.Int64
	count := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/v1/chat/completions" {
				asked.Add(1)
			}
			next.ServeHTTP(w, q)
		})
	}
	ill := fault.Plan{
		{Contains: test[0], Model: over.Pools[0].Experts[0].Model, Status: http.StatusBadRequest},
		{Contains: test[1], Model: over.Pools[0].Experts[1].Model, Status: http.StatusInternalServerError},
		{Contains: texts["sim-train-sft"][3], Status: http.StatusBadRequest}, // of the training set
	}
	run := func() (*Result, int64) {
		t.Helper()
		asked.Store(0)
		result, err := Run(t.Context(), over, Options{Out: filepath.Join(dir, "http"), Data: filepath.Join(dir, "data")})
		if err != nil {
			t.Fatal(err)
		}
		return result, asked.Load()
	}
	lost := func(result *Result) (out string) {
		for _, m := range result.Measurements.Where(metrics.Keys("benchmark", "sim-aime25")...) {
			if v, ok := m.Value(units.LostQuestions); ok {
				out += fmt.Sprintf("%s %g of %d; ", m.Key("expert"), v.Number, m.N)
			}
		}
		return out
	}
	stop := serving(t, r, address, func(next http.Handler) http.Handler { return count(fault.Wrap(next, ill, fault.Options{})) })
	result, _ := run()
	if got, want := lost(result), " 2 of 8; qwen3-30b 1 of 8; qwen3-4b 1 of 8; "; got != want {
		t.Errorf("lost: %q, want %q", got, want)
	}
	if text := render(t, result); !strings.Contains(text, "2 of 16 questions are scored for nobody, since not every model answered them: qwen3-30b 1, qwen3-4b 1.") {
		t.Errorf("the table does not say what is missing:\n%s", text)
	}
	if result.MayBeHad != 2+5 { // runs of the test question, and rollouts of its profile
		t.Errorf("%d answers may be had by running again, want 7", result.MayBeHad)
	}
	stop()

	stop = serving(t, r, address, func(next http.Handler) http.Handler { return count(fault.Wrap(next, ill[:1], fault.Options{})) })
	result, n := run()
	if n != 2+5 {
		t.Errorf("%d requests after the server was well again, want those of the one question", n)
	}
	if got, want := lost(result), " 1 of 8; qwen3-4b 1 of 8; "; got != want {
		t.Errorf("lost: %q, want %q", got, want)
	}
	if result.MayBeHad != 0 {
		t.Errorf("%d answers may be had by running again", result.MayBeHad)
	}
	stop()

	again, n := run() // nobody is there to ask
	if n != 0 || again.Stored != again.Steps || render(t, again) != render(t, result) {
		t.Errorf("%d requests, %d of %d steps stored in a run of what is finished", n, again.Stored, again.Steps)
	}
}
