// Package askingtest has a small experiment whose models are asked over HTTP, and the laws that hold of its store whatever
// the servers, the disk or the process did.
package askingtest

// The experiment: its files, and what its models answer.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/entrorouter/entrorouter/harness/experts/fault"
	"github.com/entrorouter/entrorouter/harness/experts/vllm"
	"github.com/entrorouter/entrorouter/harness/seed"
)

// World is an experiment in files below a folder. Its two models answer every request as its text, its seed and their
// name have it.
type World struct {
	Spec string   // path of asked.yaml
	Data string   // the data folder
	Keys int      // answers that a run wants
	Test []string // the texts of the test problems

	dir   string
	golds map[string]int
}

// Models are the names of the models.
var Models = []vllm.Model{{Name: "s", Window: 32768}, {Name: "b", Window: 32768}}

const (
	train, trainRuns = 8, 2
	testRuns         = 2
)

// New writes the experiment with so many test problems below a folder. Reach says where its models are.
func New(t testing.TB, tests int) *World {
	t.Helper()
	dir := t.TempDir()
	w := &World{
		Spec: filepath.Join(dir, "asked.yaml"), Data: filepath.Join(dir, "data"), dir: dir,
		Keys: len(Models) * (train*trainRuns + tests*testRuns), golds: map[string]int{},
	}
	w.put(t, "asked.yaml", `
name: asked
base: base.yaml
title: Asked
pools: [asked]
prices: asked
profile: {rollouts: 2, concurrency: 8}
train: {sft: {benchmark: asked-train, size: 8}, rl: {benchmark: asked-train, size: 8}}
test: [asked-test]
targets: {gate: false}
evaluate: {seeds: [1], bootstrap: 20}
methods: [{name: random}, {name: fixed, id: big, params: {expert: strongest}}, {name: logistic}]
outputs: [{kind: table}]
`)
	w.put(t, "prices/asked.yaml", "date: 2026-01-01\nbasis: assumed\nsource: made up for this test\nmodels: {s: {in: 1, out: 1}, b: {in: 2, out: 3}}\n")
	benchmarks := ""
	for _, set := range []struct {
		name, split string
		n, runs     int
	}{{"train", "train", train, 1}, {"test", "test", tests, testRuns}} {
		var lines strings.Builder
		for i := range set.n {
			text := fmt.Sprintf("What is %d + %d, asked for the %s?", i, len(w.golds), set.name)
			w.golds[text] = i + len(w.golds)
			if set.name == "test" {
				w.Test = append(w.Test, text)
			}
			fmt.Fprintf(&lines, `{"id": "%d", "problem": "%s", "answer": "%d"}`+"\n", i, text, w.golds[text])
		}
		w.put(t, "data/"+set.name+".jsonl", lines.String())
		benchmarks += fmt.Sprintf("asked-%s: {title: Asked, split: %s, runs: %d, size: %d, file: {path: %s.jsonl, sha256: %x, source: made up, licence: none}}\n",
			set.name, set.split, set.runs, set.n, set.name, sha256.Sum256([]byte(lines.String())))
	}
	w.put(t, "benchmarks.yaml", benchmarks)
	return w
}

// Reach writes the pool file: where the models are, base URLs ending in /v1, and how long they are waited for, as a pool
// file says it below asking.
func (w *World) Reach(t testing.TB, asking string, urls ...string) {
	t.Helper()
	w.put(t, "pools/asked.yaml", fmt.Sprintf(`
name: asked
kind: http
sampling: {temperature: 0.6, top_p: 0.95, top_k: 20, prompt: "{problem}"}
asking: {%[1]s}
experts:
  - {id: small, model: s, max_tokens: 100, urls: [%[2]s]}
  - {id: big, model: b, max_tokens: 100, urls: [%[2]s]}
`, asking, strings.Join(urls, ", ")))
}

func (w *World) put(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Handler serves the models by a plan of faults.
func (w *World) Handler(t testing.TB, plan fault.Plan, o fault.Options) *fault.Handler {
	t.Helper()
	if plan != nil {
		if err := plan.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return fault.Wrap(vllm.New(Models, w.Answer, vllm.Options{Log: slog.New(slog.DiscardHandler)}), plan, o)
}

// Answer answers for the models: right or wrong, in 5 to 24 tokens.
func (w *World) Answer(_ context.Context, r vllm.Request) (vllm.Answer, error) {
	gold, ok := w.golds[r.Prompt]
	if !ok {
		return vllm.Answer{}, fmt.Errorf("nobody wrote the problem %q", r.Prompt)
	}
	u := seed.Derive("asked", r.Model, r.Prompt, r.Seed).Uniform()
	if u > map[string]float64{"s": 0.4, "b": 0.8}[r.Model] {
		gold--
	}
	return vllm.Answer{Text: fmt.Sprintf(`By way %d it is \boxed{%d}.`, r.Seed, gold), Finish: "stop", In: 12, Out: 5 + int64(u*1000)%20}, nil
}
