package protocol

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/entrorouter/entrorouter/harness/cost"
	"github.com/entrorouter/entrorouter/harness/internal/toy"
	"github.com/entrorouter/entrorouter/harness/memory"
	"github.com/entrorouter/entrorouter/harness/spec"
	"github.com/entrorouter/entrorouter/harness/steps"
)

// What is remembered of another experiment in the same process moves no number, also where both learn from the same pass rates and the
// prompt of their language model shows other prices.
func TestMemoryOfAnotherPoolMovesNothing(t *testing.T) {
	load := func(dear float64) *spec.Resolved {
		path := filepath.Join(t.TempDir(), "states.yaml")
		toy.Put(t, path, `
name: states
base: base.yaml
title: States of a frozen model
pools: [sim]
prices: paper-novita
profile: {rollouts: 2, concurrency: 16}
train: {sft: {benchmark: sim-train-sft, size: 12}, rl: {benchmark: sim-train-sft, size: 12}, seen: 0}
test: [sim-aime25]
large: 0
policy:
  kind: lm
  model: {arch: qwen3, hidden: 16, inner: 32, layers: 1, heads: 2, kv_heads: 1, head_dim: 8}
  tune: head
  rationale: none
  max_tokens: 1024
  compute: float32
evaluate: {seeds: [1], bootstrap: 20, max_problems: 3, max_runs: 1}
methods: [{name: logistic, params: {cost: mean, features: {read: [vectors], vectors: {frozen: true}}}}]
outputs: [{kind: table}]
`)
		r := toy.Load(t, path)
		r.Prices.Models["Qwen3-235B-A22B-Thinking-2507"] = cost.Price{In: 0.2, Out: dear}
		return r
	}
	learned := func(r *spec.Resolved, m *memory.Lasting) string {
		run := open(t, r, steps.Options{Out: t.TempDir(), Memory: m})
		if _, err := run.Measurements(t.Context()); err != nil {
			t.Fatal(err)
		}
		entry, err := run.Get(t.Context(), run.split.fits[0][0].Step)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(entry.Path("learned.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	m := new(memory.Lasting)
	want, other := learned(load(0.8), nil), learned(load(70), m)
	if want == other {
		t.Fatal("prices do not show in what is learned")
	}
	if d := cmp.Diff(want, learned(load(0.8), m)); d != "" {
		t.Error(d)
	}
}
