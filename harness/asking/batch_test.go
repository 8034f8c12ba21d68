package asking

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
)

// Files of results are taken in with the words that a run has for answers that it asks for: what failed first, and whose tokens nobody counted.
func TestWhatIsOddInBatchesIsSaid(t *testing.T) {
	server := httptest.NewServer(&asker{})
	t.Cleanup(server.Close)
	e := engine(t, server.URL, t.TempDir(), 1)
	var log bytes.Buffer
	e.plan.Options.Log = slog.New(slog.NewTextHandler(&log, nil))
	blocks := []Block{{[]routing.Expert{one}, routing.Test, sevens(4), 1}}
	all, err := e.wants(t.Context(), blocks)
	if err != nil {
		t.Fatal(err)
	}
	var results strings.Builder
	for i, q := range all[0].questions {
		answer := `{"status_code":200,"body":{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}}`
		if i < 2 {
			answer = fmt.Sprintf(`{"status_code":500,"body":{"error":{"message":"out of order %d"}}}`, i+1)
		}
		fmt.Fprintf(&results, `{"custom_id":"%s","response":%s,"error":null}`+"\n", q.id(all[0].scope), answer)
	}
	file := filepath.Join(t.TempDir(), "results.jsonl")
	if err := os.WriteFile(file, []byte(results.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := e.Import(t.Context(), blocks, []string{file}); err != nil || n.Answered != 2 || n.Failed != 2 {
		t.Fatalf("%+v, %v", n, err)
	}
	for _, want := range []string{`msg="a request failed" err="expert one: answered 500 Internal Server Error: out of order 1"`, `expert=one split=test "counted here"=2 of=2`} {
		if strings.Count(log.String(), want) != 1 || strings.Contains(log.String(), "out of order 2") {
			t.Errorf("no %q once in\n%s", want, log.String())
		}
	}
	if err := os.WriteFile(file, []byte(strings.Replace(results.String(), "500", `"500"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Import(t.Context(), blocks, []string{file}); err == nil || !strings.HasSuffix(err.Error(), "results.jsonl:1: not a line of batch results (status_code is of type string; want a number)") {
		t.Error(err)
	}
}

// A folder beside that which is written, whatever its name, is somebody's.
func TestExportingRemovesNoFolderBeside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "batch")
	mine := filepath.Join(dir+".part", "mine")
	if err := store.WriteFile(mine, nil); err != nil {
		t.Fatal(err)
	}
	e := engine(t, "http://nobody.example", t.TempDir(), 1)
	b := Block{Split: routing.Train, Problems: sevens(3), Runs: 1, Experts: []routing.Expert{one}}
	if out, err := e.Export(t.Context(), []Block{b}, dir, 2); err != nil || len(out) != 1 || out[0].Shards != 2 {
		t.Fatal(out, err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}
