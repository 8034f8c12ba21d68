package harness

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/asking/askingtest"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/metrics"
	"github.com/entrorouter/entrorouter/harness/routing"
	"github.com/entrorouter/entrorouter/harness/store"
	"github.com/entrorouter/entrorouter/verify"
)

// tapeFiles writes an experiment on a tape below a folder: spec, and the pool that pool writes, at the prices of all.
func tapeFiles(t *testing.T, dir, spec, pool string) string {
	t.Helper()
	toy.Put(t, filepath.Join(dir, "prices", "tape.yaml"), "date: 2026-01-01\nbasis: assumed\nsource: made up\nmodels: {a: {in: 1, out: 2}, b: {in: 2, out: 5}, c: {in: 4, out: 11}}\n")
	toy.Put(t, filepath.Join(dir, "pools", "tape.yaml"), "name: tape\n"+pool)
	path := filepath.Join(dir, "taped.yaml")
	toy.Put(t, path, `name: taped
base: base.yaml
title: Taped
pools: [tape]
prices: tape
count_input: true
targets: {gate: false}
evaluate: {bootstrap: 50, seeds: [1]}
methods:
  - {name: fixed, id: cheapest, params: {expert: cheapest}}
  - {name: fixed, id: strongest, params: {expert: strongest}}
  - {name: random}
  - {name: oracle}
  - {name: mixture}
  - {name: logistic}
outputs: [{kind: table}]
`+spec)
	return path
}

// folded is an experiment of protocol folds on a recording.
func folded(t *testing.T, queries, outcomes string) *metrics.Set {
	t.Helper()
	dir := t.TempDir()
	toy.Put(t, filepath.Join(dir, "queries.jsonl"), queries)
	toy.Put(t, filepath.Join(dir, "outcomes.jsonl"), outcomes)
	path := tapeFiles(t, dir, `
protocol: folds
folds: {k: 5, probe: none, kappa: "01", seeds: [0, 1]}
`, fmt.Sprintf(`
kind: recorded
experts: [{id: small, model: a}, {id: mid, model: b}, {id: big, model: c}]
recorded:
  queries: {path: queries.jsonl, sha256: %x, source: made up, licence: none}
  outcomes: {path: outcomes.jsonl, sha256: %x, source: made up, licence: none}
  prompt_tokens: 0
`, sha256.Sum256([]byte(queries)), sha256.Sum256([]byte(outcomes))))
	return runFile(t, path, Options{Out: filepath.Join(dir, "out"), Data: dir}).Measurements
}

// lines writes a line of JSON for each value.
func lines(t *testing.T, values ...map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", line)
	}
	return b.String()
}

// A recorded pool that is asked through the HTTP client, which counts tokens by the server's usage and grades texts, measures what
// it does without a network in between, to the last digit and interval:
//
//   - as a recording: what the client stored, written as a recording again, has all measurements of the first one;
//   - as a pool that is asked: a pool whose answers are read from files has all measurements of the one that is served.
//
// The two kinds cannot be held against each other in all numbers: a recording is measured inside the folds of all its questions,
// a pool that is asked on its test questions by what was learned on others. What both have, what a fixed expert gets and costs,
// follows from the tape by hand.
func TestARecordedPoolAskedOverHTTPMeasuresTheSame(t *testing.T) {
	tape := askingtest.NewTape([]string{"a", "b", "c"}, []string{"study", "exam"}, 60)
	ids := map[string]string{"a": "small", "b": "mid", "c": "big"}
	var queries, outcomes []map[string]any
	files := map[string][]map[string]any{}
	byText := map[store.TextKey]askingtest.Taped{}
	right, usd := map[string]float64{}, map[string]float64{} // of the exam
	for _, q := range tape.Questions {
		byText[store.KeyOfText(q.Text)] = q
		queries = append(queries, map[string]any{"query_id": q.ID, "benchmark": q.Benchmark, "problem": q.Text, "gold": fmt.Sprint(q.Gold), "prompt_tokens": q.In})
		files[q.Benchmark+".jsonl"] = append(files[q.Benchmark+".jsonl"], map[string]any{"id": q.ID, "problem": q.Text, "answer": fmt.Sprint(q.Gold)})
		for _, m := range tape.Models {
			said := q.Said[m]
			outcomes = append(outcomes, map[string]any{"query_id": q.ID, "model": m, "correct": said.Correct, "no_answer": said.NoAnswer, "output_tokens": said.Out})
			files[m+".jsonl"] = append(files[m+".jsonl"], map[string]any{"text": q.Text, "response": q.Response(m), "tokens_in": q.In, "tokens_out": said.Out})
			if q.Benchmark == "exam" {
				if said.Correct {
					right[m]++
				}
				usd[m] += (float64(q.In)*map[string]float64{"a": 1, "b": 2, "c": 4}[m] + float64(said.Out)*map[string]float64{"a": 2, "b": 5, "c": 11}[m]) / 1e6
			}
		}
	}
	recorded := folded(t, lines(t, queries...), lines(t, outcomes...))

	const asked = `
large: 0
train: {sft: {benchmark: study, size: 60}, rl: {benchmark: study, size: 60}}
test: [exam]
profile: {rollouts: 1, concurrency: 8}
`
	data := t.TempDir()
	sum := map[string]string{}
	for name, of := range files {
		text := lines(t, of...)
		toy.Put(t, filepath.Join(data, name), text)
		sum[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	}
	benchmarks := fmt.Sprintf("study: {title: Study, split: train, runs: 1, size: 60, file: {path: study.jsonl, sha256: %s, source: made up, licence: none}}\n"+
		"exam: {title: Exam, split: test, runs: 1, size: 60, file: {path: exam.jsonl, sha256: %s, source: made up, licence: none}}\n", sum["study.jsonl"], sum["exam.jsonl"])
	var requests atomic.Int64
	models := tape.Serve()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			requests.Add(1)
		}
		models.ServeHTTP(w, r)
	}))
	defer server.Close()
	from := map[string]func(model string) string{
		"http": func(string) string { return fmt.Sprintf("url: %q", server.URL+"/v1") },
		"files": func(m string) string {
			return fmt.Sprintf("answers: {path: %s.jsonl, sha256: %s, source: made up, licence: none}", m, sum[m+".jsonl"])
		},
	}
	measured, tables, out := map[string]*metrics.Set{}, map[string]string{}, t.TempDir()
	for name, where := range from {
		pool := "kind: http\nsampling: {temperature: 1, top_p: 1, top_k: 0, prompt: \"{problem}\"}\nexperts:\n"
		for _, m := range tape.Models {
			pool += fmt.Sprintf("  - {id: %s, model: %s, max_tokens: 500, %s}\n", ids[m], m, where(m))
		}
		dir := t.TempDir()
		toy.Put(t, filepath.Join(dir, "benchmarks.yaml"), benchmarks)
		result := runFile(t, tapeFiles(t, dir, asked, pool), Options{Out: filepath.Join(out, name), Data: data})
		measured[name], tables[name] = ofAnyRecipe(result.Measurements), render(t, result)
	}
	if n := requests.Load(); n != int64(3*len(tape.Questions)) {
		t.Errorf("%d requests, want one a question and model", n)
	}
	if diff := cmp.Diff(measured["files"], measured["http"]); diff != "" {
		t.Error("measurements of answers from files and over HTTP:", diff)
	}
	if diff := cmp.Diff(tables["files"], tables["http"]); diff != "" {
		t.Error("tables of answers from files and over HTTP:", diff)
	}
	for row, m := range map[string]string{"cheapest": "a", "strongest": "c"} {
		of, ok, err := measured["http"].Find(metrics.Keys("method", row, "benchmark", "exam", "seed", "")...)
		if err != nil || !ok {
			t.Fatalf("%s: %v", row, err)
		}
		accuracy, _ := of.Value(metrics.Accuracy)
		dollars, _ := of.Value(metrics.USD)
		if math.Abs(accuracy.Number-100*right[m]/60) > 5e-4 || math.Abs(dollars.Number-usd[m]) > 1e-6*usd[m]+5e-10 {
			t.Errorf("%s gets %v %% for %v dollars, want %v and %v", row, accuracy.Number, dollars.Number, 100*right[m]/60, usd[m])
		}
	}

	// What the client stored is the recording.
	db, err := store.ReadRollouts(t.Context(), filepath.Join(out, "http", "rollouts.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	status, err := store.ReadStatus(t.Context(), filepath.Join(out, "http"))
	if err != nil {
		t.Fatal(err)
	}
	var again []map[string]any
	for _, s := range status.Scopes {
		for r, err := range db.Load(t.Context(), s.Scope, verify.Version) {
			if err != nil {
				t.Fatal(err)
			}
			q := byText[r.Key.Problem]
			if r.In != q.In {
				t.Errorf("%s read %d tokens, want %d", q.ID, r.In, q.In)
			}
			again = append(again, map[string]any{"query_id": q.ID, "model": s.Scope.Model, "correct": r.Verdict.Bucket == routing.Correct, "no_answer": r.Verdict.Bucket == routing.NoAnswer, "output_tokens": r.Out})
		}
	}
	if len(again) != len(outcomes) {
		t.Errorf("%d answers are stored, want %d", len(again), len(outcomes))
	}
	heard := ofAnyRecipe(folded(t, lines(t, queries...), lines(t, again...)))
	recorded = ofAnyRecipe(recorded)
	// The answers are two files: each says which it is of, and all else is the same.
	mine := fmt.Sprintf(" Made of outcomes.jsonl, SHA-256 %x.", sha256.Sum256([]byte(lines(t, again...))))
	if at := slices.Index(heard.Comment, mine); at < 0 || slices.Contains(recorded.Comment, mine) {
		t.Errorf("%q do not say once %q", heard.Comment, mine)
	} else {
		heard.Comment[at] = recorded.Comment[at]
	}
	if diff := cmp.Diff(recorded, heard); diff != "" {
		t.Error("measurements of the recording and of what was asked over HTTP:", diff)
	}
	if len(recorded.Measurements) < 20 || len(measured["http"].Measurements) < 12 {
		t.Errorf("%d and %d measurements", len(recorded.Measurements), len(measured["http"].Measurements))
	}
}

// ofAnyRecipe are measurements without the recipes that they were made under, which name what was read.
func ofAnyRecipe(set *metrics.Set) *metrics.Set {
	return &metrics.Set{Comment: set.Said(), Measurements: set.Measurements}
}
