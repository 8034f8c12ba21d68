// Experiments whose routers read vectors that a server has, run as a person would.

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// Every question is asked for once in a run, by whichever rows and folds read it, and never again: neither by the same run nor by another
// of the store, nor where the server has moved.
func TestARunAsksAServerForVectorsOnce(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		asked.Add(int64(len(q.Input)))
		var data []any
		for i, text := range q.Input {
			data = append(data, map[string]any{"index": i, "embedding": []int{len(text) % 2, 1}})
		}
		json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer server.Close()

	dir := t.TempDir()
	var lines strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, `{"query_id": "q%d", "benchmark": "toy", "problem": "How much is 1+%d?", "gold": "%d", "prompt_tokens": 9, "correct": {"s": %d, "b": 1}, "output_tokens": {"s": 10, "b": %d}}`+"\n", i, 1<<i, 1+1<<i, i%2, 20+i)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(lines.String())))
	write(t, filepath.Join(dir, "data", "outcomes.jsonl"), lines.String())
	write(t, filepath.Join(dir, "prices", "toy.yaml"), "date: 2026-01-01\nbasis: assumed\nsource: made up\nmodels: {s: {in: 1, out: 1}, b: {in: 10, out: 10}}\n")
	file := fmt.Sprintf("{path: outcomes.jsonl, sha256: %s, source: made up, licence: none}", sum)
	write(t, filepath.Join(dir, "pools", "toy.yaml"), "name: toy\nkind: recorded\nexperts: [{id: small, model: s}, {id: big, model: b}]\nrecorded: {queries: "+file+", outcomes: "+file+", format: {layout: wide}, prompt_tokens: 0}\n")
	spec := filepath.Join(dir, "mine.yaml")
	at := func(url, rows string) {
		write(t, spec, `name: mine
base: base.yaml
title: Mine
protocol: folds
pools: [toy]
prices: toy
folds: {k: 2, probe: none, kappa: "01", seeds: [0, 1]}
evaluate: {bootstrap: 10, seeds: [1]}
targets: {gate: false}
features: {read: [vectors], vectors: {model: v, url: "`+url+`"}}
methods: [`+rows+`]
outputs: [{kind: table}]
`)
	}
	args := func(command string, more ...string) []string {
		return append([]string{command, spec, "--out", filepath.Join(dir, "out"), "--data", filepath.Join(dir, "data")}, more...)
	}
	const rows = "{name: logistic}, {name: knn, params: {k: [2]}}, {name: sft}, {name: entroplus}"
	at(server.URL+"/v1", rows)
	first := command(t, args("run", "--figures", "")...)
	if asked.Load() != 20 {
		t.Errorf("%d texts were asked for, want 20", asked.Load())
	}
	at("http://127.0.0.1:1/v1", rows) // nobody is there
	if again := command(t, args("run", "--figures", "")...); untimed(again) != untimed(first) {
		t.Errorf("another table:\n%s", again)
	}
	at("http://127.0.0.1:1/v1", rows+", {name: bag}")
	command(t, args("run", "--figures", "", "--offline")...)

	at(server.URL+"/v1", rows)
	var out, errs bytes.Buffer
	if code := run(append([]string{"entrorouter"}, args("run", "--figures", "", "--offline", "--out", filepath.Join(dir, "empty"))...), nil, &out, &errs); code != 4 || !strings.Contains(errs.String(), "vectors of v are not stored and --offline forbids asking for them") {
		t.Errorf("offline, from an empty store: exit code %d, %s", code, errs.String())
	}
	if asked.Load() != 20 {
		t.Errorf("%d texts were asked for in all, want 20", asked.Load())
	}
}
